//! `SQLite`, adjacency list: blocks by integer key, found by ID, and in order by an index on
//! (document, parent, order).

use crate::app::{self, Block, Document, Edit, Fetched, Mode, PAGE, Peer, Position, Ready};
use crate::leaf::{kept, parsed};
use crate::sqlite::{COLUMN_TYPES, COLUMNS, Database, Groups, WIDTH, bind, blob, block};
use benches::order;
use benches::sqlite::Sharing;
use benches::workload::Id;
use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

struct Adjacency(Database);

/// A parent (0 is the document itself) and order keys in it.
struct Slots {
    document: i64,
    parent: i64,
    orders: Vec<Vec<u8>>,
}

static FETCH: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT key, parent, {COLUMNS} FROM blocks WHERE document = ?1 ORDER BY parent, ord")
});
static BLOCK: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {COLUMNS} FROM blocks WHERE id = ?1"));
static CHANGED: LazyLock<String> =
    LazyLock::new(|| format!("SELECT key, document, {COLUMNS} FROM blocks WHERE id = ?1"));
static PUT: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<String> = (1..=WIDTH + 3).map(|place| format!("?{place}")).collect();
    format!("INSERT INTO blocks (document, parent, ord, {COLUMNS}) VALUES ({})", places.join(", "))
});
static TAKE: LazyLock<String> = LazyLock::new(|| {
    format!("DELETE FROM blocks WHERE id = ?1 RETURNING key, document, parent, ord, {COLUMNS}")
});
static TAKE_BELOW: LazyLock<String> = LazyLock::new(|| {
    format!("DELETE FROM blocks WHERE document = ?1 AND parent = ?2 RETURNING key, {COLUMNS}")
});

pub fn shared(directory: &Path, mode: Mode) -> Box<dyn Peer> {
    open(directory, mode, Sharing::Shared)
}

pub fn exclusive(directory: &Path, mode: Mode) -> Box<dyn Peer> {
    open(directory, mode, Sharing::Exclusive)
}

fn open(directory: &Path, mode: Mode, sharing: Sharing) -> Box<dyn Peer> {
    let schema = format!(
        "CREATE TABLE blocks (key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, document INTEGER NOT NULL,
            parent INTEGER NOT NULL, ord BLOB NOT NULL, {COLUMN_TYPES});
         CREATE INDEX blocks_order ON blocks (document, parent, ord);"
    );
    Box::new(Adjacency(Database::open(directory, mode, sharing, &schema)))
}

fn slots(db: &Database, position: Position, count: usize) -> Slots {
    let (document, parent, last) = match position {
        Position::After(sibling) => {
            let (document, parent, order) = db.one(
                "SELECT document, parent, ord FROM blocks WHERE id = ?1",
                [sibling],
                |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, Vec<u8>>(2)?)),
            );
            let next: Option<Vec<u8>> = db.maybe(
                "SELECT ord FROM blocks WHERE document = ?1 AND parent = ?2 AND ord > ?3 ORDER BY ord LIMIT 1",
                (document, parent, &order),
                |row| row.get(0),
            );
            return Slots {
                document,
                parent,
                orders: order::several(count, Some(&order), next.as_deref()),
            };
        }
        Position::Start { document, parent } => (document, parent, false),
        Position::End { document, parent } => (document, parent, true),
    };
    let key = db.one("SELECT key FROM documents WHERE id = ?1", [document], |row| row.get(0));
    let parent = if parent == document {
        0
    } else {
        db.one("SELECT key FROM blocks WHERE id = ?1", [parent], |row| row.get(0))
    };
    let sql = if last {
        "SELECT ord FROM blocks WHERE document = ?1 AND parent = ?2 ORDER BY ord DESC LIMIT 1"
    } else {
        "SELECT ord FROM blocks WHERE document = ?1 AND parent = ?2 ORDER BY ord LIMIT 1"
    };
    let edge: Option<Vec<u8>> = db.maybe(sql, (key, parent), |row| row.get(0));
    let (low, high) = if last { (edge, None) } else { (None, edge) };
    Slots { document: key, parent, orders: order::several(count, low.as_deref(), high.as_deref()) }
}

/// Puts blocks with all below them under `parent`, the top ones at these orders.
fn put(db: &Database, document: i64, parent: i64, blocks: &[Block], orders: &[Vec<u8>], now: i64) {
    let mut pages: HashMap<Id, i64> = HashMap::from([([0; 16], parent)]);
    let mut statement = db.statement(&PUT);
    for (above, at, block) in app::rows([0; 16], blocks) {
        let top = above == [0; 16];
        statement.raw_bind_parameter(1, document).expect("bind");
        statement.raw_bind_parameter(2, pages[&above]).expect("bind");
        if top {
            statement.raw_bind_parameter(3, &orders[at]).expect("bind");
        } else {
            statement.raw_bind_parameter(3, order::nth(at)).expect("bind");
        }
        bind(&mut statement, 4, block, now).expect("bind");
        statement.raw_execute().expect("insert");
        if block.kind == PAGE {
            pages.insert(block.id, db.connection.last_insert_rowid());
        }
    }
}

fn create(db: &Database, document: &Document, now: i64) {
    let key = db.create(document, now);
    let orders: Vec<Vec<u8>> = (0..document.blocks.len()).map(order::nth).collect();
    put(db, key, 0, &document.blocks, &orders, now);
}

fn id_of(db: &Database, document: i64) -> Id {
    db.one("SELECT id FROM documents WHERE key = ?1", [document], |row| blob(row, 0))
}

fn insert(db: &Database, blocks: &[Block], position: Position, now: i64) {
    let slots = slots(db, position, blocks.len());
    put(db, slots.document, slots.parent, blocks, &slots.orders, now);
    let document = id_of(db, slots.document);
    db.touch(document, now);
    let parent = slots.parent.to_le_bytes();
    let places: Vec<&[u8]> =
        std::iter::once(&parent[..]).chain(slots.orders.iter().map(Vec::as_slice)).collect();
    let all: Vec<&Block> = Block::all(blocks).into_iter().map(|(block, _)| block).collect();
    db.log(now, document, "insert", &places, &all);
}

fn update(db: &Database, id: Id, markdown: &str, now: i64) {
    let (key, document, before): (i64, i64, Block) =
        db.one(&CHANGED, [id], |row| Ok((row.get(0)?, row.get(1)?, block(row, 2)?)));
    let mut after = before.clone();
    after.rev += 1;
    after.modified = now;
    markdown.clone_into(&mut after.markdown);
    db.run(
        "UPDATE blocks SET rev = ?2, markdown = ?3, modified = ?4 WHERE key = ?1",
        (key, after.rev as i64, &after.markdown, now),
    );
    let document = id_of(db, document);
    db.touch(document, now);
    db.log(now, document, "update", &[], &[&before, &after]);
}

fn relocate(db: &Database, ids: &[Id], position: Position, now: i64) {
    let slots = slots(db, position, ids.len());
    let target = id_of(db, slots.document);
    let mut sources: Vec<i64> = Vec::new();
    let mut old: Vec<[u8; 16]> = Vec::with_capacity(ids.len());
    let mut orders: Vec<Vec<u8>> = Vec::with_capacity(ids.len());
    let mut pages: Vec<(i64, i64)> = Vec::new();
    {
        let mut find =
            db.statement("SELECT key, document, parent, ord, kind FROM blocks WHERE id = ?1");
        let mut shift =
            db.statement("UPDATE blocks SET document = ?2, parent = ?3, ord = ?4 WHERE key = ?1");
        for (id, order) in ids.iter().zip(&slots.orders) {
            let (key, document, parent, before, kind): (i64, i64, i64, Vec<u8>, u8) = find
                .query_row([id], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
                })
                .expect("a block");
            shift.execute((key, slots.document, slots.parent, order)).expect("update");
            if document != slots.document {
                if !sources.contains(&document) {
                    sources.push(document);
                }
                if kind == PAGE {
                    pages.push((document, key));
                }
            }
            let mut from = [0; 16];
            from[..8].copy_from_slice(&document.to_le_bytes());
            from[8..].copy_from_slice(&parent.to_le_bytes());
            old.push(from);
            orders.push(before);
        }
    }
    while let Some((document, parent)) = pages.pop() {
        let mut below =
            db.statement("SELECT key FROM blocks WHERE document = ?1 AND parent = ?2 AND kind = 1");
        let found = below.query_map((document, parent), |row| row.get::<_, i64>(0)).expect("query");
        pages.extend(found.map(|key| (document, key.expect("row"))));
        db.run(
            "UPDATE blocks SET document = ?3 WHERE document = ?1 AND parent = ?2",
            (document, parent, slots.document),
        );
    }
    for source in sources {
        db.touch(id_of(db, source), now);
    }
    db.touch(target, now);
    let parent = slots.parent.to_le_bytes();
    let mut places: Vec<&[u8]> = vec![&parent];
    for (at, id) in ids.iter().enumerate() {
        places.extend([&id[..], &old[at], &orders[at], &slots.orders[at]]);
    }
    db.log(now, target, "move", &places, &[]);
}

fn delete(db: &Database, ids: &[Id], now: i64) {
    let mut documents: Vec<i64> = Vec::new();
    let mut places: Vec<(i64, Vec<u8>)> = Vec::with_capacity(ids.len());
    let mut taken: Vec<Block> = Vec::with_capacity(ids.len());
    let mut pages: Vec<(i64, i64)> = Vec::new();
    {
        let mut take = db.statement(&TAKE);
        for id in ids {
            let row = take.query_row([id], |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    row.get::<_, i64>(2)?,
                    row.get::<_, Vec<u8>>(3)?,
                    block(row, 4)?,
                ))
            });
            let (key, document, parent, order, block): (i64, i64, _, _, _) = row.expect("a block");
            if !documents.contains(&document) {
                documents.push(document);
            }
            if block.kind == PAGE {
                pages.push((document, key));
            }
            places.push((parent, order));
            taken.push(block);
        }
    }
    while let Some((document, parent)) = pages.pop() {
        let mut take = db.statement(&TAKE_BELOW);
        let mut rows = take.query((document, parent)).expect("query");
        while let Some(row) = rows.next().expect("row") {
            let block = block(row, 1).expect("block");
            if block.kind == PAGE {
                pages.push((document, row.get(0).expect("key")));
            }
            taken.push(block);
        }
    }
    let mut first = None;
    for document in documents {
        let id = id_of(db, document);
        db.touch(id, now);
        first.get_or_insert(id);
    }
    let parents: Vec<[u8; 8]> = places.iter().map(|(parent, _)| parent.to_le_bytes()).collect();
    let slots: Vec<&[u8]> =
        parents.iter().zip(&places).flat_map(|(parent, (_, order))| [&parent[..], order]).collect();
    db.log(now, first.unwrap_or_default(), "delete", &slots, &taken.iter().collect::<Vec<_>>());
}

impl Peer for Adjacency {
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
        let (key, mut root) = self.0.root(document);
        let mut statement = self.0.statement(&FETCH);
        let mut rows = statement.query([key]).expect("query");
        let mut groups = Groups::new();
        while let Some(row) = rows.next().expect("row") {
            groups.push(
                row.get(1).expect("parent"),
                row.get(0).expect("key"),
                block(row, 2).expect("block"),
            );
        }
        root.children = groups.take(0);
        Fetched::Plain(root)
    }

    fn block(&mut self, id: Id) -> Fetched {
        Fetched::Plain(self.0.one(&BLOCK, [id], |row| block(row, 0)))
    }

    fn document_of(&mut self, id: Id) -> Id {
        self.0.one(
            "SELECT documents.id FROM blocks JOIN documents ON documents.key = blocks.document WHERE blocks.id = ?1",
            [id],
            |row| blob(row, 0),
        )
    }

    fn flush(&mut self) {
        self.0.flush();
    }

    fn compact(&mut self) {
        self.0.compact();
    }
}
