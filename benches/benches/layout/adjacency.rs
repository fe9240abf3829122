//! `SQLite`, adjacency list: blocks by integer key, found by ID, and in order by an index on
//! (document, parent, order).

use crate::peer::{Mode, Peer, Position, assemble};
use crate::record;
use crate::sqlite::{COLUMN_TYPES, COLUMNS, Database, blob, block};
use benches::order;
use benches::workload::{Block, Document, Id, PAGE, Tree};
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

pub struct Adjacency(Database);

/// A parent (0 is the document itself) and order keys in it.
struct Slots {
    document: i64,
    parent: i64,
    orders: Vec<Vec<u8>>,
}

pub fn open(directory: &Path) -> Box<dyn Peer> {
    let schema = format!(
        "CREATE TABLE IF NOT EXISTS blocks (key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, document INTEGER NOT NULL,
            parent INTEGER NOT NULL, ord BLOB NOT NULL, {COLUMN_TYPES});
         CREATE INDEX IF NOT EXISTS blocks_order ON blocks (document, parent, ord);"
    );
    Box::new(Adjacency(Database::open(directory, &schema)))
}

fn slots(db: &Database, position: &Position, count: usize) -> Slots {
    match position {
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
            Slots { document, parent, orders: order::several(count, Some(&order), next.as_deref()) }
        }
        Position::End { document, parent } => {
            let key =
                db.one("SELECT key FROM documents WHERE id = ?1", [document], |row| row.get(0));
            let parent = if parent == document {
                0
            } else {
                db.one("SELECT key FROM blocks WHERE id = ?1", [parent], |row| row.get(0))
            };
            let last: Option<Vec<u8>> = db.maybe(
                "SELECT ord FROM blocks WHERE document = ?1 AND parent = ?2 ORDER BY ord DESC LIMIT 1",
                (key, parent),
                |row| row.get(0),
            );
            Slots { document: key, parent, orders: order::several(count, last.as_deref(), None) }
        }
    }
}

fn put(db: &Database, block: &Block, document: i64, parent: i64, order: &[u8]) -> i64 {
    db.statement(
        "INSERT INTO blocks (id, document, parent, ord, rev, kind, markdown, indentation, list_style, created, modified)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )
    .insert((
        block.id,
        document,
        parent,
        order,
        block.rev,
        block.kind,
        &block.markdown,
        block.indentation,
        block.list_style,
        block.created as i64,
        block.modified as i64,
    ))
    .expect("insert")
}

fn id_of(db: &Database, document: i64) -> Id {
    db.one("SELECT id FROM documents WHERE key = ?1", [document], |row| blob(row, 0))
}

impl Peer for Adjacency {
    fn set_mode(&mut self, mode: Mode) {
        self.0.set_mode(mode);
    }

    fn publish(&mut self) {
        self.0.publish();
    }

    fn import(&mut self, documents: &[Document], _empty: bool, now: u64) {
        self.0.write(|db| {
            for document in documents {
                db.import(document, now);
                let key = db.one("SELECT key FROM documents WHERE id = ?1", [document.id], |row| {
                    row.get(0)
                });
                let mut pages: HashMap<Id, i64> = HashMap::from([(document.id, 0)]);
                let mut children: HashMap<Id, usize> = HashMap::new();
                for (parent, block) in document.with_parents() {
                    let index = children.entry(parent).or_default();
                    let made = put(db, block, key, pages[&parent], &order::nth(*index));
                    *index += 1;
                    if block.kind == PAGE {
                        pages.insert(block.id, made);
                    }
                }
            }
        });
    }

    fn note(&mut self, document: Id, now: u64) {
        self.0.write(|db| {
            db.touch(document, now);
            db.log(now, document, "note", &[&document]);
        });
    }

    fn insert(&mut self, block: &Block, position: &Position, now: u64) {
        self.0.write(|db| {
            let slots = slots(db, position, 1);
            put(db, block, slots.document, slots.parent, &slots.orders[0]);
            let document = id_of(db, slots.document);
            db.touch(document, now);
            let parent = slots.parent.to_le_bytes();
            db.log(
                now,
                document,
                "insert",
                &[&parent, &slots.orders[0], &block.id, &record::encode(block)],
            );
        });
    }

    fn update(&mut self, id: Id, markdown: &str, now: u64) {
        self.0.write(|db| {
            let sql = format!("SELECT key, document, {COLUMNS} FROM blocks WHERE id = ?1");
            let (key, document, mut block): (i64, i64, Block) =
                db.one(&sql, [id], |row| Ok((row.get(0)?, row.get(1)?, block(row, 2)?)));
            let old = record::encode(&block);
            block.rev += 1;
            block.modified = now;
            markdown.clone_into(&mut block.markdown);
            db.run(
                "UPDATE blocks SET rev = ?2, markdown = ?3, modified = ?4 WHERE key = ?1",
                (key, block.rev, &block.markdown, now as i64),
            );
            let document = id_of(db, document);
            db.touch(document, now);
            db.log(now, document, "update", &[&id, &old, &record::encode(&block)]);
        });
    }

    fn relocate(&mut self, ids: &[Id], position: &Position, now: u64) {
        self.0.write(|db| {
            let from: (i64, i64, Vec<u8>) =
                db.one("SELECT document, parent, ord FROM blocks WHERE id = ?1", [ids[0]], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                });
            let slots = slots(db, position, ids.len());
            let document = id_of(db, slots.document);
            let mut pages: Vec<i64> = Vec::new();
            {
                let sql = "UPDATE blocks SET document = ?2, parent = ?3, ord = ?4 WHERE id = ?1 RETURNING key, kind";
                let mut statement = db.statement(sql);
                for (id, order) in ids.iter().zip(&slots.orders) {
                    let (key, kind): (i64, u8) = statement
                        .query_row((id, slots.document, slots.parent, order), |row| Ok((row.get(0)?, row.get(1)?)))
                        .expect("a block");
                    if kind == PAGE {
                        pages.push(key);
                    }
                }
            }
            let old = if from.0 == slots.document { document } else { id_of(db, from.0) };
            if from.0 != slots.document {
                while let Some(parent) = pages.pop() {
                    let mut statement =
                        db.statement("SELECT key FROM blocks WHERE document = ?1 AND parent = ?2 AND kind = 1");
                    let below = statement.query_map((from.0, parent), |row| row.get::<_, i64>(0)).expect("query");
                    pages.extend(below.map(|key| key.expect("row")));
                    db.run(
                        "UPDATE blocks SET document = ?3 WHERE document = ?1 AND parent = ?2",
                        (from.0, parent, slots.document),
                    );
                }
                db.touch(old, now);
            }
            db.touch(document, now);
            let (parent, target) = (from.1.to_le_bytes(), slots.parent.to_le_bytes());
            db.log(now, document, "move", &[&old, &parent, &from.2, &target, ids.as_flattened()]);
        });
    }

    fn fetch(&mut self, document: Id) -> Tree {
        let sql = format!(
            "SELECT key, parent, {COLUMNS} FROM blocks WHERE document = (SELECT key FROM documents WHERE id = ?1)
             ORDER BY parent, ord"
        );
        let mut statement = self.0.statement(&sql);
        let mut rows = statement.query([document]).expect("query");
        let mut keys: Vec<i64> = Vec::new();
        let mut blocks: Vec<Block> = Vec::new();
        let mut groups: Vec<(i64, Range<usize>)> = Vec::new();
        while let Some(row) = rows.next().expect("row") {
            let parent: i64 = row.get(1).expect("parent");
            if groups.last().is_none_or(|(known, _)| *known != parent) {
                groups.push((parent, blocks.len()..blocks.len()));
            }
            keys.push(row.get(0).expect("key"));
            blocks.push(block(row, 2).expect("block"));
            if let Some((_, range)) = groups.last_mut() {
                range.end += 1;
            }
        }
        assemble(0, &groups, |at, _| keys[at], &mut blocks)
    }

    fn block(&mut self, id: Id) -> Block {
        self.0.one(BLOCK, [id], |row| block(row, 0))
    }

    fn document_of(&mut self, id: Id) -> Id {
        self.0.one(
            "SELECT documents.id FROM blocks JOIN documents ON documents.key = blocks.document WHERE blocks.id = ?1",
            [id],
            |row| blob(row, 0),
        )
    }
}

const BLOCK: &str = "SELECT id, rev, kind, markdown, indentation, list_style, created, modified FROM blocks WHERE id = ?1";
