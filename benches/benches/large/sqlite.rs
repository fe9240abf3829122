//! `SQLite` as an expert sets it up: blocks clustered by document, a block's fields as one value,
//! and the words of each document in a full-text table without a copy of them.

use crate::plan::{Plan, made_at};
use crate::rows::Peer;
use benches::baseline::{Database, Sharing, Sync, id as blob};
use benches::order;
use benches::workload::Id;
use regex::{Regex, RegexBuilder};
use rusqlite::params;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Documents of a transaction.
const BATCH: usize = 1_000;

const SCHEMA: &str = "
    CREATE TABLE documents (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE,
        title TEXT NOT NULL, created INTEGER NOT NULL, modified INTEGER NOT NULL);
    CREATE INDEX documents_modified ON documents (modified);
    CREATE TABLE changes (sequence INTEGER PRIMARY KEY, change BLOB NOT NULL);
    CREATE TABLE blocks (document INTEGER NOT NULL, parent BLOB NOT NULL, ord BLOB NOT NULL,
        fields BLOB NOT NULL, PRIMARY KEY (document, parent, ord)) WITHOUT ROWID;
    CREATE TABLE places (block BLOB PRIMARY KEY, document INTEGER NOT NULL, parent BLOB NOT NULL,
        ord BLOB NOT NULL) WITHOUT ROWID;
    CREATE VIRTUAL TABLE words USING
        fts5(title, body, content='', contentless_delete=1, tokenize='unicode61');";

const PLACE: &str = "SELECT document, parent, ord FROM places WHERE block = ?1";
const FIELDS: &str = "SELECT fields FROM blocks WHERE document = ?1 AND parent = ?2 AND ord = ?3";
const OF_DOCUMENT: &str =
    "SELECT parent, fields FROM blocks WHERE document = ?1 ORDER BY parent, ord";

pub struct Sqlite {
    db: Database,
    now: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Fields {
    id: Id,
    rev: u64,
    kind: u8,
    markdown: String,
    created: i64,
    modified: i64,
}

struct Place {
    document: i64,
    parent: Id,
    order: Vec<u8>,
}

fn encoded(value: &impl Serialize) -> Vec<u8> {
    rmp_serde::to_vec(value).expect("writing to memory")
}

fn decoded(bytes: &[u8]) -> Fields {
    rmp_serde::from_slice(bytes).expect("fields")
}

impl Sqlite {
    pub fn open(directory: &Path, is_cold: bool) -> Self {
        let db = Database::open(directory, Sharing::Exclusive, Sync::Normal, SCHEMA);
        if is_cold {
            db.unmap();
        }
        Self { db, now: made_at() }
    }

    fn place(&self, block: Id) -> Place {
        self.db.one(PLACE, [block], |row| {
            Ok(Place { document: row.get(0)?, parent: blob(row, 1)?, order: row.get(2)? })
        })
    }

    fn fields(&self, place: &Place) -> Fields {
        let key = (place.document, place.parent, &place.order);
        self.db.one(FIELDS, key, |row| Ok(decoded(row.get_ref(0)?.as_blob()?)))
    }

    fn create(&self, plan: &Plan, number: usize) {
        let (document, id) = (plan.document(number), plan.document_id(number));
        let sql = "INSERT INTO documents VALUES (?1, ?2, ?3, ?4, ?4)";
        self.db.run(sql, params![number as i64, id, document.title, self.now]);
        let mut blocks = self.db.statement("INSERT INTO blocks VALUES (?1, ?2, ?3, ?4)");
        let mut places = self.db.statement("INSERT INTO places VALUES (?1, ?2, ?3, ?4)");
        let mut all = Vec::with_capacity(document.blocks.len());
        for (at, markdown) in document.blocks.iter().enumerate() {
            let (block, order) = (plan.block_id(number, at), order::nth(at));
            let (created, modified) = (self.now, self.now);
            let markdown = markdown.clone();
            let fields = Fields { id: block, rev: 1, kind: 0, markdown, created, modified };
            let fields = encoded(&fields);
            blocks.execute(params![number as i64, id, order, fields]).expect("insert");
            places.execute(params![block, number as i64, id, order]).expect("insert");
            all.push(fields);
        }
        self.log(&(self.now, number, all));
        let sql = "INSERT INTO words (rowid, title, body) VALUES (?1, ?2, ?3)";
        self.db.run(sql, params![number as i64, document.title, document.blocks.join("\n")]);
    }

    fn log(&self, change: &impl Serialize) {
        self.db.run("INSERT INTO changes (change) VALUES (?1)", [encoded(change)]);
    }

    fn touch(&mut self, document: i64) {
        self.now += 1;
        let sql = "UPDATE documents SET modified = ?2 WHERE number = ?1";
        self.db.run(sql, [document, self.now]);
    }

    /// Changes a text within a transaction. Returns its document.
    fn set(&mut self, block: Id, text: &str) -> i64 {
        let place = self.place(block);
        let before = self.fields(&place);
        self.touch(place.document);
        let (rev, modified) = (before.rev + 1, self.now);
        let after = Fields { rev, modified, markdown: text.to_owned(), ..before.clone() };
        let sql = "UPDATE blocks SET fields = ?4 WHERE document = ?1 AND parent = ?2 AND ord = ?3";
        self.db.run(sql, params![place.document, place.parent, place.order, encoded(&after)]);
        self.log(&(self.now, place.document, before, after));
        place.document
    }

    /// The first block of a document that has the word, with asterisks round it.
    fn snippet(&self, document: i64, word: &Regex) -> String {
        let mut statement = self.db.statement(OF_DOCUMENT);
        let mut rows = statement.query([document]).expect("query");
        while let Some(row) = rows.next().expect("row") {
            let fields = decoded(row.get_ref(1).expect("a column").as_blob().expect("a blob"));
            if word.is_match(&fields.markdown) {
                return word.replace_all(&fields.markdown, "**$0**").into_owned();
            }
        }
        String::new()
    }
}

fn regex(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).case_insensitive(true).build().expect("a pattern")
}

impl Peer for Sqlite {
    fn build(&mut self, plan: &Plan) {
        let numbers: Vec<usize> = (0..plan.documents).collect();
        for batch in numbers.chunks(BATCH) {
            self.db.begin();
            batch.iter().for_each(|number| self.create(plan, *number));
            self.db.commit();
        }
        self.db.checkpoint();
    }

    fn fetch(&mut self, document: Id) -> usize {
        let sql = "SELECT number, title, created, modified FROM documents WHERE id = ?1";
        let number: i64 = self.db.one(sql, [document], |row| {
            let title = row.get::<_, String>(1)?;
            std::hint::black_box((title, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?));
            row.get(0)
        });
        let blocks = self.db.rows(OF_DOCUMENT, [number], |row| {
            Ok((blob(row, 0)?, decoded(row.get_ref(1)?.as_blob()?)))
        });
        std::hint::black_box(blocks).len()
    }

    fn block(&mut self, id: Id) -> String {
        self.fields(&self.place(id)).markdown
    }

    fn document_of(&mut self, block: Id) -> Id {
        let sql = "SELECT id FROM places JOIN documents ON number = document WHERE block = ?1";
        self.db.one(sql, [block], |row| blob(row, 0))
    }

    fn latest(&mut self, count: usize) -> Vec<String> {
        let sql = "SELECT title FROM documents ORDER BY modified DESC, number DESC LIMIT ?1";
        self.db.rows(sql, [count as i64], |row| row.get(0))
    }

    fn search(&mut self, word: &str) -> usize {
        let sql = "SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT 20";
        let found: Vec<i64> = self.db.rows(sql, [format!("\"{word}\"")], |row| row.get(0));
        let marked = regex(&format!(r"\b{word}\b"));
        found.iter().filter(|document| !self.snippet(**document, &marked).is_empty()).count()
    }

    fn pattern(&mut self, pattern: &str) -> usize {
        let pattern = regex(pattern);
        let mut statement = self.db.statement("SELECT document, fields FROM blocks");
        let mut rows = statement.query(()).expect("query");
        let mut counts: Vec<(u32, i64)> = Vec::new();
        while let Some(row) = rows.next().expect("row") {
            let fields = row.get_ref(1).expect("a column").as_blob().expect("a blob");
            if !pattern.is_match(&decoded(fields).markdown) {
                continue;
            }
            let document = row.get(0).expect("a number");
            match counts.last_mut() {
                Some((count, last)) if *last == document => *count += 1,
                _ => counts.push((1, document)),
            }
        }
        drop(rows);
        counts.sort_unstable_by_key(|(count, document)| (std::cmp::Reverse(*count), *document));
        counts.truncate(20);
        counts.iter().filter(|(_, found)| !self.snippet(*found, &pattern).is_empty()).count()
    }

    fn update(&mut self, block: Id, text: &str) {
        self.db.set_sync(Sync::Full);
        self.db.begin();
        self.set(block, text);
        self.db.commit();
        self.db.set_sync(Sync::Normal);
    }

    fn update_words(&mut self, block: Id, text: &str) {
        self.db.begin();
        let document = self.set(block, text);
        let sql = "SELECT title FROM documents WHERE number = ?1";
        let title: String = self.db.one(sql, [document], |row| row.get(0));
        let texts = self
            .db
            .rows(OF_DOCUMENT, [document], |row| Ok(decoded(row.get_ref(1)?.as_blob()?).markdown));
        let sql = "UPDATE words SET title = ?2, body = ?3 WHERE rowid = ?1";
        self.db.run(sql, params![document, title, texts.join("\n")]);
        self.db.commit();
    }

    fn insert(&mut self, after: Id, text: &str) {
        self.db.set_sync(Sync::Full);
        self.db.begin();
        let place = self.place(after);
        let sql = "SELECT ord FROM blocks WHERE document = ?1 AND parent = ?2 AND ord > ?3
            ORDER BY ord LIMIT 1";
        let key = params![place.document, place.parent, place.order];
        let next: Option<Vec<u8>> = self.db.value(sql, key);
        let orders = order::several(1, Some(&place.order), next.as_deref());
        self.touch(place.document);
        let id = crate::plan::id(self.now as u64);
        let (created, modified) = (self.now, self.now);
        let fields = Fields { id, rev: 1, kind: 0, markdown: text.to_owned(), created, modified };
        let row = params![place.document, place.parent, orders[0], encoded(&fields)];
        self.db.run("INSERT INTO blocks VALUES (?1, ?2, ?3, ?4)", row);
        let row = params![id, place.document, place.parent, orders[0]];
        self.db.run("INSERT INTO places VALUES (?1, ?2, ?3, ?4)", row);
        self.log(&(self.now, place.document, fields));
        self.db.commit();
        self.db.set_sync(Sync::Normal);
    }

    fn check(&mut self) {
        let found: String = self.db.one("PRAGMA integrity_check", (), |row| row.get(0));
        assert_eq!(found, "ok");
    }

    fn backup(&mut self, to: &Path) {
        let to = to.to_str().expect("a path of text");
        self.db.execute_batch(&format!("VACUUM INTO '{to}'"));
    }

    fn compact(&mut self) {
        self.db.compact();
    }

    fn close(self: Box<Self>) {
        self.db.checkpoint();
    }
}
