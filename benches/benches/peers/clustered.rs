//! `SQLite`, clustered: blocks in a table without row IDs by (document, parent, order), and a table
//! of places.

use crate::app::{self, Block, Document, Edit, Fetched, Mode, PAGE, Peer, Position, Ready};
use crate::leaf::{kept, parsed};
use crate::sqlite::{COLUMN_TYPES, COLUMNS, Database, Groups, WIDTH, bind, blob, block};
use benches::order;
use benches::sqlite::Sharing;
use benches::workload::Id;
use std::path::Path;
use std::sync::LazyLock;

struct Clustered(Database);

struct Place {
    document: Id,
    parent: Id,
    order: Vec<u8>,
}

static FETCH: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT parent, {COLUMNS} FROM blocks WHERE document = ?1 ORDER BY parent, ord")
});
static AT: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT {COLUMNS} FROM blocks WHERE document = ?1 AND parent = ?2 AND ord = ?3")
});
static BLOCK: LazyLock<String> = LazyLock::new(|| {
    let columns: Vec<String> =
        COLUMNS.split(", ").map(|column| format!("b.{}", column.trim())).collect();
    format!(
        "SELECT {} FROM places p JOIN blocks b ON b.document = p.document AND b.parent = p.parent AND b.ord = p.ord
         WHERE p.block = ?1",
        columns.join(", ")
    )
});
static PUT: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<String> = (1..=WIDTH + 3).map(|place| format!("?{place}")).collect();
    format!("INSERT INTO blocks (document, parent, ord, {COLUMNS}) VALUES ({})", places.join(", "))
});
static TAKE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "DELETE FROM blocks WHERE document = ?1 AND parent = ?2 AND ord = ?3 RETURNING {COLUMNS}"
    )
});
static TAKE_BELOW: LazyLock<String> = LazyLock::new(|| {
    format!("DELETE FROM blocks WHERE document = ?1 AND parent = ?2 RETURNING {COLUMNS}")
});

pub fn shared(directory: &Path, mode: Mode) -> Box<dyn Peer> {
    open(directory, mode, Sharing::Shared)
}

pub fn exclusive(directory: &Path, mode: Mode) -> Box<dyn Peer> {
    open(directory, mode, Sharing::Exclusive)
}

fn open(directory: &Path, mode: Mode, sharing: Sharing) -> Box<dyn Peer> {
    let schema = format!(
        "CREATE TABLE blocks (document BLOB NOT NULL, parent BLOB NOT NULL, ord BLOB NOT NULL, id BLOB NOT NULL,
            {COLUMN_TYPES}, PRIMARY KEY (document, parent, ord)) WITHOUT ROWID;
         CREATE TABLE places (block BLOB PRIMARY KEY, document BLOB NOT NULL, parent BLOB NOT NULL,
            ord BLOB NOT NULL) WITHOUT ROWID;"
    );
    Box::new(Clustered(Database::open(directory, mode, sharing, &schema)))
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
    let mut statement = db.statement(&PUT);
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
        statement.raw_bind_parameter(1, document).expect("bind");
        statement.raw_bind_parameter(2, above).expect("bind");
        statement.raw_bind_parameter(3, order).expect("bind");
        bind(&mut statement, 4, block, now).expect("bind");
        statement.raw_execute().expect("insert");
        note.execute((block.id, document, above, order)).expect("insert");
    }
}

fn create(db: &Database, document: &Document, now: i64) {
    db.create(document, now);
    let orders: Vec<Vec<u8>> = (0..document.blocks.len()).map(order::nth).collect();
    put(db, document.id, document.id, &document.blocks, &orders, now);
}

fn insert(db: &Database, blocks: &[Block], position: Position, now: i64) {
    let (document, parent, orders) = slots(db, position, blocks.len());
    put(db, document, parent, blocks, &orders, now);
    db.touch(document, now);
    let places: Vec<&[u8]> =
        std::iter::once(&parent[..]).chain(orders.iter().map(Vec::as_slice)).collect();
    let all: Vec<&Block> = Block::all(blocks).into_iter().map(|(block, _)| block).collect();
    db.log(now, document, "insert", &places, &all);
}

fn update(db: &Database, id: Id, markdown: &str, now: i64) {
    let place = place(db, id);
    let before = db.one(&AT, (place.document, place.parent, &place.order), |row| block(row, 0));
    let mut after = before.clone();
    after.rev += 1;
    after.modified = now;
    markdown.clone_into(&mut after.markdown);
    db.run(
        "UPDATE blocks SET rev = ?4, markdown = ?5, modified = ?6 WHERE document = ?1 AND parent = ?2 AND ord = ?3",
        (place.document, place.parent, &place.order, after.rev as i64, &after.markdown, now),
    );
    db.touch(place.document, now);
    db.log(now, place.document, "update", &[], &[&before, &after]);
}

fn relocate(db: &Database, ids: &[Id], position: Position, now: i64) {
    let (document, parent, orders) = slots(db, position, ids.len());
    let mut sources: Vec<Id> = Vec::new();
    let mut old: Vec<Place> = Vec::with_capacity(ids.len());
    let mut pages: Vec<(Id, Id)> = Vec::new();
    {
        let mut shift = db.statement(
            "UPDATE blocks SET document = ?4, parent = ?5, ord = ?6
             WHERE document = ?1 AND parent = ?2 AND ord = ?3 RETURNING kind",
        );
        let mut note =
            db.statement("UPDATE places SET document = ?2, parent = ?3, ord = ?4 WHERE block = ?1");
        for (id, order) in ids.iter().zip(&orders) {
            let from = place(db, *id);
            let kind: u8 = shift
                .query_row(
                    (from.document, from.parent, &from.order, document, parent, order),
                    |row| row.get(0),
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
            db.statement("SELECT id, kind FROM blocks WHERE document = ?1 AND parent = ?2");
        let mut note = db.statement("UPDATE places SET document = ?2 WHERE block = ?1");
        let mut rows = below.query((from, page)).expect("query");
        while let Some(row) = rows.next().expect("row") {
            let id = blob(row, 0).expect("id");
            note.execute((id, document)).expect("a place");
            if row.get::<_, u8>(1).expect("kind") == PAGE {
                pages.push((from, id));
            }
        }
        db.run(
            "UPDATE blocks SET document = ?3 WHERE document = ?1 AND parent = ?2",
            (from, page, document),
        );
    }
    for source in sources {
        db.touch(source, now);
    }
    db.touch(document, now);
    let mut places: Vec<&[u8]> = vec![&parent];
    for (at, id) in ids.iter().enumerate() {
        places.extend([&id[..], &old[at].document, &old[at].parent, &old[at].order, &orders[at]]);
    }
    db.log(now, document, "move", &places, &[]);
}

fn delete(db: &Database, ids: &[Id], now: i64) {
    let mut documents: Vec<Id> = Vec::new();
    let mut places: Vec<Place> = Vec::with_capacity(ids.len());
    let mut taken: Vec<Block> = Vec::with_capacity(ids.len());
    let mut pages: Vec<(Id, Id)> = Vec::new();
    {
        let mut forget =
            db.statement("DELETE FROM places WHERE block = ?1 RETURNING document, parent, ord");
        let mut take = db.statement(&TAKE);
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
        let mut take = db.statement(&TAKE_BELOW);
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
    documents.iter().for_each(|document| db.touch(*document, now));
    let slots: Vec<&[u8]> =
        places.iter().flat_map(|place| [&place.parent[..], &place.order]).collect();
    let first = documents.first().copied().unwrap_or_default();
    db.log(now, first, "delete", &slots, &taken.iter().collect::<Vec<_>>());
}

impl Peer for Clustered {
    fn apply(&mut self, edit: &Edit, _: Ready, now: i64) {
        self.0.write(|db| match edit {
            Edit::Insert(blocks, position) => insert(db, blocks, *position, now),
            Edit::Update(id, markdown) => update(db, *id, markdown, now),
            Edit::Move(ids, position) => relocate(db, ids, *position, now),
            Edit::Delete(ids) => delete(db, ids, now),
            Edit::Import(documents) => {
                documents.iter().for_each(|document| create(db, document, now))
            }
            Edit::ImportMarkdown(files) => {
                for file in files {
                    let blocks = kept(parsed(&file.text), &mut file.ids.iter().copied(), now);
                    create(db, &Document { id: file.id, title: file.title.clone(), blocks }, now);
                }
            }
        });
    }

    fn fetch(&mut self, document: Id) -> Fetched {
        let (_, mut root) = self.0.root(document);
        let mut statement = self.0.statement(&FETCH);
        let mut rows = statement.query([document]).expect("query");
        let mut groups = Groups::new();
        while let Some(row) = rows.next().expect("row") {
            let block = block(row, 1).expect("block");
            groups.push(blob(row, 0).expect("parent"), block.id, block);
        }
        root.children = groups.take(document);
        Fetched::Plain(root)
    }

    fn block(&mut self, id: Id) -> Fetched {
        Fetched::Plain(self.0.one(&BLOCK, [id], |row| block(row, 0)))
    }

    fn document_of(&mut self, id: Id) -> Id {
        self.0.one("SELECT document FROM places WHERE block = ?1", [id], |row| blob(row, 0))
    }

    fn flush(&mut self) {
        self.0.flush();
    }

    fn compact(&mut self) {
        self.0.compact();
    }
}
