//! Documents in `SQLite` as an expert keeps them: blocks clustered by (document, parent, order) in
//! a table without row IDs, a block's fields as one MessagePack value, and a table of block
//! locations.

use crate::app::{
    self, Block, Document, Edit, Fetched, File, Mode, PAGE, Peer, Position, Ready, TASK_DONE,
};
use crate::leaf::{kept, parsed};
use benches::baseline::{Database, Sharing, Sync, id as blob};
use benches::order;
use benches::workload::Id;
use rusqlite::Row;
use serde::{Serialize, Serializer};
use std::path::Path;

struct Sqlite(Database);

const SCHEMA: &str = "
    CREATE TABLE documents (id BLOB PRIMARY KEY, title TEXT NOT NULL, created INTEGER NOT NULL,
        modified INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX documents_modified ON documents (modified);
    CREATE TABLE changes (sequence INTEGER PRIMARY KEY, change BLOB NOT NULL);
    CREATE TABLE blocks (document BLOB NOT NULL, parent BLOB NOT NULL, ord BLOB NOT NULL,
        fields BLOB NOT NULL, PRIMARY KEY (document, parent, ord)) WITHOUT ROWID;
    CREATE TABLE places (block BLOB PRIMARY KEY, document BLOB NOT NULL, parent BLOB NOT NULL,
        ord BLOB NOT NULL) WITHOUT ROWID;";

const FETCH: &str = "SELECT parent, fields FROM blocks WHERE document = ?1 ORDER BY parent, ord";
const AT: &str = "SELECT fields FROM blocks WHERE document = ?1 AND parent = ?2 AND ord = ?3";
const BLOCK: &str = "SELECT b.fields FROM places p
    JOIN blocks b ON b.document = p.document AND b.parent = p.parent AND b.ord = p.ord
    WHERE p.block = ?1";
const PUT: &str = "INSERT INTO blocks (document, parent, ord, fields) VALUES (?1, ?2, ?3, ?4)";
const TAKE: &str =
    "DELETE FROM blocks WHERE document = ?1 AND parent = ?2 AND ord = ?3 RETURNING fields";
const TAKE_BELOW: &str = "DELETE FROM blocks WHERE document = ?1 AND parent = ?2 RETURNING fields";

struct Place {
    document: Id,
    parent: Id,
    order: Vec<u8>,
}

pub fn shared(directory: &Path, mode: Mode) -> Box<dyn Peer> {
    open(directory, mode, Sharing::Shared)
}

pub fn exclusive(directory: &Path, mode: Mode) -> Box<dyn Peer> {
    open(directory, mode, Sharing::Exclusive)
}

/// A full-text index of one row per document, without a copy of its text.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "the bench `vault` imports, not `peers`")]
pub enum FullText {
    Words,
    Trigrams,
}

impl FullText {
    fn sql(self) -> (&'static str, &'static str) {
        match self {
            Self::Words => (
                "CREATE VIRTUAL TABLE words USING fts5(title, body, content='',
                    contentless_delete=1, tokenize='unicode61');",
                "INSERT INTO words (title, body) VALUES (?1, ?2)",
            ),
            Self::Trigrams => (
                "CREATE VIRTUAL TABLE trigrams USING fts5(title, body, content='',
                    contentless_delete=1, detail=none, tokenize='trigram');",
                "INSERT INTO trigrams (title, body) VALUES (?1, ?2)",
            ),
        }
    }
}

/// Imports files in one durable transaction, with these indexes.
#[allow(dead_code, reason = "the bench `vault` imports, not `peers`")]
pub fn import(directory: &Path, files: &[File], now: i64, indexes: &[FullText]) {
    let tables = indexes.iter().map(|index| index.sql().0);
    let schema: String = std::iter::once(SCHEMA).chain(tables).collect();
    let db = Database::open(directory, Sharing::Exclusive, Sync::Full, &schema);
    db.begin();
    for file in files {
        let document = imported(file, now);
        create(&db, &document, now);
        if !indexes.is_empty() {
            let blocks = Block::all(&document.blocks).into_iter();
            let body: Vec<&str> = blocks.map(|(block, _)| block.markdown.as_str()).collect();
            let body = body.join("\n");
            for index in indexes {
                db.run(index.sql().1, (&document.title, &body));
            }
        }
    }
    db.commit();
}

fn imported(file: &File, now: i64) -> Document {
    let blocks = kept(parsed(&file.text), &mut file.ids.iter().copied(), now);
    Document { id: file.id, title: file.title.clone(), blocks }
}

fn open(directory: &Path, mode: Mode, sharing: Sharing) -> Box<dyn Peer> {
    let sync = if mode == Mode::Durable { Sync::Full } else { Sync::Normal };
    let db = Database::open(directory, sharing, sync, SCHEMA);
    if mode == Mode::Cold {
        db.unmap();
    }
    Box::new(Sqlite(db))
}

/// The fields of a row, which has them in the column of this number.
fn block(row: &Row<'_>, column: usize) -> rusqlite::Result<Block> {
    Ok(rmp_serde::from_slice(row.get_ref(column)?.as_blob()?).expect("a block"))
}

pub fn encoded(block: &Block) -> Vec<u8> {
    rmp_serde::to_vec(block).expect("writing to memory")
}

/// The fields of a new block, as [`encoded`] writes them.
pub fn created(block: &Block, now: i64) -> Vec<u8> {
    let mut task = block.task;
    if let Some(task) = task.as_mut().filter(|task| task.state == TASK_DONE) {
        task.completed.get_or_insert(now);
    }
    let fields = (
        Bytes(&block.id),
        1,
        block.kind,
        &block.markdown,
        block.indentation,
        block.list_style,
        block.style,
        block.color,
        task,
        &block.attributes,
        now,
        &block.created_by,
        now,
        &block.modified_by,
    );
    rmp_serde::to_vec(&fields).expect("writing to memory")
}

struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

fn touch(db: &Database, document: Id, now: i64) {
    db.run("UPDATE documents SET modified = ?2 WHERE id = ?1", (document, now));
}

/// A row of the change log: when, in which document, what, where, with the blocks as they were and
/// are.
pub fn change(now: i64, document: Id, kind: &str, places: &[&[u8]], blocks: &[&Block]) -> Vec<u8> {
    let places: Vec<Bytes<'_>> = places.iter().map(|place| Bytes(place)).collect();
    rmp_serde::to_vec(&(now, Bytes(&document), kind, places, blocks)).expect("writing to memory")
}

/// Appends to the change log.
fn log(db: &Database, now: i64, document: Id, kind: &str, places: &[&[u8]], blocks: &[&Block]) {
    let change = change(now, document, kind, places, blocks);
    db.run("INSERT INTO changes (change) VALUES (?1)", [change]);
}

fn place(db: &Database, block: Id) -> Place {
    db.one("SELECT document, parent, ord FROM places WHERE block = ?1", [block], |row| {
        Ok(Place { document: blob(row, 0)?, parent: blob(row, 1)?, order: row.get(2)? })
    })
}

fn slots(db: &Database, position: Position, count: usize) -> (Id, Id, Vec<Vec<u8>>) {
    let (document, parent, last) = match position {
        Position::After(sibling) => {
            let place = place(db, sibling);
            let next: Option<Vec<u8>> = db.maybe(
                "SELECT ord FROM blocks WHERE document = ?1 AND parent = ?2 AND ord > ?3 ORDER BY ord LIMIT 1",
                (place.document, place.parent, &place.order),
                |row| row.get(0),
            );
            let orders = order::several(count, Some(&place.order), next.as_deref());
            return (place.document, place.parent, orders);
        }
        Position::Start { document, parent } => (document, parent, false),
        Position::End { document, parent } => (document, parent, true),
    };
    let sql = if last {
        "SELECT ord FROM blocks WHERE document = ?1 AND parent = ?2 ORDER BY ord DESC LIMIT 1"
    } else {
        "SELECT ord FROM blocks WHERE document = ?1 AND parent = ?2 ORDER BY ord LIMIT 1"
    };
    let edge: Option<Vec<u8>> = db.maybe(sql, (document, parent), |row| row.get(0));
    let (low, high) = if last { (edge, None) } else { (None, edge) };
    (document, parent, order::several(count, low.as_deref(), high.as_deref()))
}

/// Puts blocks with all below them under `parent`, the top ones at these orders.
fn put(db: &Database, document: Id, parent: Id, blocks: &[Block], orders: &[Vec<u8>], now: i64) {
    let mut rows = app::rows(parent, blocks);
    if rows.len() > blocks.len() {
        rows.sort_by_key(|(above, ..)| *above);
    }
    let mut statement = db.statement(PUT);
    let mut note =
        db.statement("INSERT INTO places (block, document, parent, ord) VALUES (?1, ?2, ?3, ?4)");
    for (above, at, block) in rows {
        let made;
        let order = if above == parent {
            &orders[at]
        } else {
            made = order::nth(at);
            &made
        };
        statement.execute((document, above, order, created(block, now))).expect("insert");
        note.execute((block.id, document, above, order)).expect("insert");
    }
}

fn create(db: &Database, document: &Document, now: i64) {
    let blocks: Vec<&Block> =
        Block::all(&document.blocks).into_iter().map(|(block, _)| block).collect();
    log(db, now, document.id, "create", &[document.title.as_bytes()], &blocks);
    db.run(
        "INSERT INTO documents (id, title, created, modified) VALUES (?1, ?2, ?3, ?3)",
        (document.id, &document.title, now),
    );
    let orders: Vec<Vec<u8>> = (0..document.blocks.len()).map(order::nth).collect();
    put(db, document.id, document.id, &document.blocks, &orders, now);
}

fn insert(db: &Database, blocks: &[Block], position: Position, now: i64) {
    let (document, parent, orders) = slots(db, position, blocks.len());
    put(db, document, parent, blocks, &orders, now);
    touch(db, document, now);
    let places: Vec<&[u8]> =
        std::iter::once(&parent[..]).chain(orders.iter().map(Vec::as_slice)).collect();
    let all: Vec<&Block> = Block::all(blocks).into_iter().map(|(block, _)| block).collect();
    log(db, now, document, "insert", &places, &all);
}

fn update(db: &Database, id: Id, markdown: &str, now: i64) {
    let place = place(db, id);
    let before = db.one(AT, (place.document, place.parent, &place.order), |row| block(row, 0));
    let mut after = before.clone();
    after.rev += 1;
    after.modified = now;
    markdown.clone_into(&mut after.markdown);
    db.run(
        "UPDATE blocks SET fields = ?4 WHERE document = ?1 AND parent = ?2 AND ord = ?3",
        (place.document, place.parent, &place.order, encoded(&after)),
    );
    touch(db, place.document, now);
    log(db, now, place.document, "update", &[], &[&before, &after]);
}

fn relocate(db: &Database, ids: &[Id], position: Position, now: i64) {
    let (document, parent, orders) = slots(db, position, ids.len());
    let mut sources: Vec<Id> = Vec::new();
    let mut old: Vec<Place> = Vec::with_capacity(ids.len());
    let mut pages: Vec<(Id, Id)> = Vec::new();
    {
        let mut shift = db.statement(
            "UPDATE blocks SET document = ?4, parent = ?5, ord = ?6
             WHERE document = ?1 AND parent = ?2 AND ord = ?3 RETURNING fields",
        );
        let mut note =
            db.statement("UPDATE places SET document = ?2, parent = ?3, ord = ?4 WHERE block = ?1");
        for (id, order) in ids.iter().zip(&orders) {
            let from = place(db, *id);
            let kind = shift
                .query_row(
                    (from.document, from.parent, &from.order, document, parent, order),
                    |row| Ok(block(row, 0)?.kind),
                )
                .expect("a block");
            note.execute((id, document, parent, order)).expect("a place");
            if from.document != document {
                if !sources.contains(&from.document) {
                    sources.push(from.document);
                }
                if kind == PAGE {
                    pages.push((from.document, *id));
                }
            }
            old.push(from);
        }
    }
    while let Some((from, page)) = pages.pop() {
        let mut below =
            db.statement("SELECT fields FROM blocks WHERE document = ?1 AND parent = ?2");
        let mut note = db.statement("UPDATE places SET document = ?2 WHERE block = ?1");
        let mut rows = below.query((from, page)).expect("query");
        while let Some(row) = rows.next().expect("row") {
            let found = block(row, 0).expect("a block");
            note.execute((found.id, document)).expect("a place");
            if found.kind == PAGE {
                pages.push((from, found.id));
            }
        }
        db.run(
            "UPDATE blocks SET document = ?3 WHERE document = ?1 AND parent = ?2",
            (from, page, document),
        );
    }
    for source in sources {
        touch(db, source, now);
    }
    touch(db, document, now);
    let mut places: Vec<&[u8]> = vec![&parent];
    for (at, id) in ids.iter().enumerate() {
        places.extend([&id[..], &old[at].document, &old[at].parent, &old[at].order, &orders[at]]);
    }
    log(db, now, document, "move", &places, &[]);
}

fn delete(db: &Database, ids: &[Id], now: i64) {
    let mut documents: Vec<Id> = Vec::new();
    let mut places: Vec<Place> = Vec::with_capacity(ids.len());
    let mut taken: Vec<Block> = Vec::with_capacity(ids.len());
    let mut pages: Vec<(Id, Id)> = Vec::new();
    {
        let mut forget =
            db.statement("DELETE FROM places WHERE block = ?1 RETURNING document, parent, ord");
        let mut take = db.statement(TAKE);
        for id in ids {
            let place = forget
                .query_row([id], |row| {
                    Ok(Place { document: blob(row, 0)?, parent: blob(row, 1)?, order: row.get(2)? })
                })
                .expect("a place");
            let block = take
                .query_row((place.document, place.parent, &place.order), |row| block(row, 0))
                .expect("a block");
            if !documents.contains(&place.document) {
                documents.push(place.document);
            }
            if block.kind == PAGE {
                pages.push((place.document, *id));
            }
            places.push(place);
            taken.push(block);
        }
    }
    while let Some((document, parent)) = pages.pop() {
        let mut take = db.statement(TAKE_BELOW);
        let mut forget = db.statement("DELETE FROM places WHERE block = ?1");
        let mut rows = take.query((document, parent)).expect("query");
        while let Some(row) = rows.next().expect("row") {
            let block = block(row, 0).expect("block");
            forget.execute([block.id]).expect("a place");
            if block.kind == PAGE {
                pages.push((document, block.id));
            }
            taken.push(block);
        }
    }
    documents.iter().for_each(|document| touch(db, *document, now));
    let slots: Vec<&[u8]> =
        places.iter().flat_map(|place| [&place.parent[..], &place.order]).collect();
    let first = documents.first().copied().unwrap_or_default();
    log(db, now, first, "delete", &slots, &taken.iter().collect::<Vec<_>>());
}

/// Blocks by parent, as a scan of the primary key yields them.
#[derive(Default)]
pub struct Groups {
    groups: Vec<(Id, Vec<Block>)>,
}

impl Groups {
    pub fn push(&mut self, parent: Id, block: Block) {
        if self.groups.last().is_none_or(|(known, ..)| *known != parent) {
            self.groups.push((parent, Vec::with_capacity(32)));
        }
        if let Some((_, blocks)) = self.groups.last_mut() {
            blocks.push(block);
        }
    }

    /// The children of `parent` with their descendants. The depth of pages is bounded.
    pub fn take(&mut self, parent: Id) -> Vec<Block> {
        let Ok(at) = self.groups.binary_search_by(|(known, ..)| known.cmp(&parent)) else {
            return Vec::new();
        };
        let mut blocks = std::mem::take(&mut self.groups[at].1);
        if self.groups.len() > 1 {
            for block in blocks.iter_mut().filter(|block| block.kind == PAGE) {
                block.children = self.take(block.id);
            }
        }
        blocks
    }
}

/// An edit within a transaction.
fn apply(db: &Database, edit: &Edit, now: i64) {
    match edit {
        Edit::Insert(blocks, position) => insert(db, blocks, *position, now),
        Edit::Update(id, markdown) => update(db, *id, markdown, now),
        Edit::Move(ids, position) => relocate(db, ids, *position, now),
        Edit::Delete(ids) => delete(db, ids, now),
        Edit::Batch(edits) => edits.iter().for_each(|edit| apply(db, edit, now)),
        Edit::Import(documents) => documents.iter().for_each(|document| create(db, document, now)),
        Edit::ImportMarkdown(files) => {
            for file in files {
                create(db, &imported(file, now), now);
            }
        }
    }
}

impl Peer for Sqlite {
    fn apply(&mut self, edit: &Edit, _: Ready, now: i64) {
        let db = &self.0;
        db.begin();
        apply(db, edit, now);
        db.commit();
    }

    fn fetch(&mut self, document: Id) -> Fetched {
        let root = "SELECT id, title, created, modified FROM documents WHERE id = ?1";
        let mut root = self.0.one(root, [document], |row| {
            Ok(Block {
                id: blob(row, 0)?,
                markdown: row.get_ref(1)?.as_str()?.to_owned(),
                created: row.get(2)?,
                modified: row.get(3)?,
                ..Block::default()
            })
        });
        let mut statement = self.0.statement(FETCH);
        let mut rows = statement.query([document]).expect("query");
        let mut groups = Groups::default();
        while let Some(row) = rows.next().expect("row") {
            let block = block(row, 1).expect("block");
            groups.push(blob(row, 0).expect("parent"), block);
        }
        root.children = groups.take(document);
        Fetched::Plain(root)
    }

    fn block(&mut self, id: Id) -> Fetched {
        Fetched::Plain(self.0.one(BLOCK, [id], |row| block(row, 0)))
    }

    fn document_of(&mut self, id: Id) -> Id {
        self.0.one("SELECT document FROM places WHERE block = ?1", [id], |row| blob(row, 0))
    }

    fn latest(&mut self, count: usize) -> Vec<String> {
        let sql = "SELECT id, title, created, modified FROM documents
            ORDER BY modified DESC, id DESC LIMIT ?1";
        let read = |row: &Row<'_>| {
            let times: (i64, i64) = (row.get(2)?, row.get(3)?);
            Ok((blob(row, 0)?, row.get::<_, String>(1)?, times))
        };
        self.0.rows(sql, [count as i64], read).into_iter().map(|(_, title, _)| title).collect()
    }

    fn flush(&mut self) {
        self.0.flush();
    }

    fn compact(&mut self) {
        self.0.compact();
    }
}
