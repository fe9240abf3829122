//! `SQLite`, clustered: blocks in a table without row IDs by (document, parent, order), and a table
//! of places.

use crate::peer::{Mode, Peer, Position, assemble};
use crate::record;
use crate::sqlite::{COLUMN_TYPES, Database, blob, block};
use benches::order;
use benches::workload::{Block, Document, Id, PAGE, Tree};
use std::ops::Range;
use std::path::Path;

pub struct Clustered(Database);

struct Place {
    document: Id,
    parent: Id,
    order: Vec<u8>,
}

const FETCH: &str =
    "SELECT parent, id, rev, kind, markdown, indentation, list_style, created, modified
    FROM blocks WHERE document = ?1 ORDER BY parent, ord";
const AT: &str = "SELECT id, rev, kind, markdown, indentation, list_style, created, modified
    FROM blocks WHERE document = ?1 AND parent = ?2 AND ord = ?3";
const BLOCK: &str = "SELECT b.id, b.rev, b.kind, b.markdown, b.indentation, b.list_style, b.created, b.modified
    FROM places p JOIN blocks b ON b.document = p.document AND b.parent = p.parent AND b.ord = p.ord WHERE p.block = ?1";

pub fn open(directory: &Path) -> Box<dyn Peer> {
    let schema = format!(
        "CREATE TABLE IF NOT EXISTS blocks (document BLOB NOT NULL, parent BLOB NOT NULL, ord BLOB NOT NULL,
            id BLOB NOT NULL, {COLUMN_TYPES}, PRIMARY KEY (document, parent, ord)) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS places (block BLOB PRIMARY KEY, document BLOB NOT NULL, parent BLOB NOT NULL,
            ord BLOB NOT NULL) WITHOUT ROWID;"
    );
    Box::new(Clustered(Database::open(directory, &schema)))
}

fn place(db: &Database, block: Id) -> Place {
    db.one("SELECT document, parent, ord FROM places WHERE block = ?1", [block], |row| {
        Ok(Place { document: blob(row, 0)?, parent: blob(row, 1)?, order: row.get(2)? })
    })
}

fn slots(db: &Database, position: &Position, count: usize) -> (Id, Id, Vec<Vec<u8>>) {
    match position {
        Position::After(sibling) => {
            let place = place(db, *sibling);
            let next: Option<Vec<u8>> = db.maybe(
                "SELECT ord FROM blocks WHERE document = ?1 AND parent = ?2 AND ord > ?3 ORDER BY ord LIMIT 1",
                (place.document, place.parent, &place.order),
                |row| row.get(0),
            );
            (
                place.document,
                place.parent,
                order::several(count, Some(&place.order), next.as_deref()),
            )
        }
        Position::End { document, parent } => {
            let last: Option<Vec<u8>> = db.maybe(
                "SELECT ord FROM blocks WHERE document = ?1 AND parent = ?2 ORDER BY ord DESC LIMIT 1",
                (document, parent),
                |row| row.get(0),
            );
            (*document, *parent, order::several(count, last.as_deref(), None))
        }
    }
}

fn put(db: &Database, block: &Block, document: Id, parent: Id, order: &[u8]) {
    db.run(
        "INSERT INTO blocks (document, parent, ord, id, rev, kind, markdown, indentation, list_style, created, modified)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        (
            document,
            parent,
            order,
            block.id,
            block.rev,
            block.kind,
            &block.markdown,
            block.indentation,
            block.list_style,
            block.created as i64,
            block.modified as i64,
        ),
    );
    db.run(
        "INSERT INTO places (block, document, parent, ord) VALUES (?1, ?2, ?3, ?4)",
        (block.id, document, parent, order),
    );
}

impl Peer for Clustered {
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
                for (parent, children) in document.groups() {
                    for (index, block) in children.into_iter().enumerate() {
                        put(db, block, document.id, parent, &order::nth(index));
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
            let (document, parent, orders) = slots(db, position, 1);
            put(db, block, document, parent, &orders[0]);
            db.touch(document, now);
            db.log(
                now,
                document,
                "insert",
                &[&parent, &orders[0], &block.id, &record::encode(block)],
            );
        });
    }

    fn update(&mut self, id: Id, markdown: &str, now: u64) {
        self.0.write(|db| {
            let place = place(db, id);
            let mut block =
                db.one(AT, (place.document, place.parent, &place.order), |row| block(row, 0));
            let old = record::encode(&block);
            block.rev += 1;
            block.modified = now;
            markdown.clone_into(&mut block.markdown);
            db.run(
                "UPDATE blocks SET rev = ?4, markdown = ?5, modified = ?6
                 WHERE document = ?1 AND parent = ?2 AND ord = ?3",
                (
                    place.document,
                    place.parent,
                    &place.order,
                    block.rev,
                    &block.markdown,
                    now as i64,
                ),
            );
            db.touch(place.document, now);
            db.log(now, place.document, "update", &[&id, &old, &record::encode(&block)]);
        });
    }

    fn relocate(&mut self, ids: &[Id], position: &Position, now: u64) {
        self.0.write(|db| {
            let from = place(db, ids[0]);
            let (document, parent, orders) = slots(db, position, ids.len());
            let mut pages: Vec<Id> = Vec::new();
            {
                let mut find =
                    db.statement("SELECT document, parent, ord FROM places WHERE block = ?1");
                let mut shift = db.statement(
                    "UPDATE blocks SET document = ?4, parent = ?5, ord = ?6
                     WHERE document = ?1 AND parent = ?2 AND ord = ?3 RETURNING kind",
                );
                let mut note = db.statement(
                    "UPDATE places SET document = ?2, parent = ?3, ord = ?4 WHERE block = ?1",
                );
                for (id, order) in ids.iter().zip(&orders) {
                    let old: Vec<u8> = find.query_row([id], |row| row.get(2)).expect("a place");
                    let kind: u8 = shift
                        .query_row(
                            (from.document, from.parent, &old, document, parent, order),
                            |row| row.get(0),
                        )
                        .expect("a block");
                    if kind == PAGE {
                        pages.push(*id);
                    }
                    note.execute((id, document, parent, order)).expect("a place");
                }
            }
            if from.document != document {
                while let Some(parent) = pages.pop() {
                    let mut below = db.statement(
                        "SELECT id, kind FROM blocks WHERE document = ?1 AND parent = ?2",
                    );
                    let mut note = db.statement("UPDATE places SET document = ?2 WHERE block = ?1");
                    let mut rows = below.query((from.document, parent)).expect("query");
                    while let Some(row) = rows.next().expect("row") {
                        let id = blob(row, 0).expect("id");
                        note.execute((id, document)).expect("a place");
                        if row.get::<_, u8>(1).expect("kind") == PAGE {
                            pages.push(id);
                        }
                    }
                    db.run(
                        "UPDATE blocks SET document = ?3 WHERE document = ?1 AND parent = ?2",
                        (from.document, parent, document),
                    );
                }
                db.touch(from.document, now);
            }
            db.touch(document, now);
            let parts =
                [&from.document[..], &from.parent, &from.order, &parent, ids.as_flattened()];
            db.log(now, document, "move", &parts);
        });
    }

    fn fetch(&mut self, document: Id) -> Tree {
        let mut statement = self.0.statement(FETCH);
        let mut rows = statement.query([document]).expect("query");
        let mut blocks: Vec<Block> = Vec::new();
        let mut groups: Vec<(Id, Range<usize>)> = Vec::new();
        while let Some(row) = rows.next().expect("row") {
            let parent = blob(row, 0).expect("parent");
            if groups.last().is_none_or(|(known, _)| *known != parent) {
                groups.push((parent, blocks.len()..blocks.len()));
            }
            blocks.push(block(row, 1).expect("block"));
            if let Some((_, range)) = groups.last_mut() {
                range.end += 1;
            }
        }
        assemble(document, &groups, |_, block| block.id, &mut blocks)
    }

    fn block(&mut self, id: Id) -> Block {
        self.0.one(BLOCK, [id], |row| block(row, 0))
    }

    fn document_of(&mut self, id: Id) -> Id {
        self.0.one("SELECT document FROM places WHERE block = ?1", [id], |row| blob(row, 0))
    }
}
