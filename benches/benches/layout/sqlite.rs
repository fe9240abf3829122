//! What both `SQLite` layouts share: documents with an index by time, the change log, transactions.

use crate::peer::Mode;
use crate::record;
use benches::measure::setting;
use benches::sqlite::{self, Sharing, Sync};
use benches::workload::{Block, Document, Id};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row};
use std::path::Path;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS documents (key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, title TEXT NOT NULL,
        created INTEGER NOT NULL, modified INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS documents_modified ON documents (modified);
    CREATE TABLE IF NOT EXISTS changes (sequence INTEGER PRIMARY KEY, change BLOB NOT NULL);";

/// The columns of a block, in the order that `block` reads them.
pub const COLUMNS: &str = "id, rev, kind, markdown, indentation, list_style, created, modified";
pub const COLUMN_TYPES: &str = "rev INTEGER NOT NULL, kind INTEGER NOT NULL, markdown TEXT NOT NULL,
    indentation INTEGER NOT NULL, list_style INTEGER NOT NULL, created INTEGER NOT NULL, modified INTEGER NOT NULL";

pub struct Database {
    pub connection: Connection,
    mode: Mode,
    open: bool,
}

impl Database {
    pub fn open(directory: &Path, schema: &str) -> Self {
        let exclusive = setting("LAYOUT_EXCLUSIVE", 1) == 1;
        let sharing = if exclusive { Sharing::Exclusive } else { Sharing::Shared };
        let connection = sqlite::open(&directory.join("space.sqlite"), sharing).expect("open");
        connection.execute_batch(SCHEMA).expect("schema");
        connection.execute_batch(schema).expect("schema");
        Self { connection, mode: Mode::Durable, open: false }
    }

    pub fn set_mode(&mut self, mode: Mode) {
        self.publish();
        let sync = if mode == Mode::Durable { Sync::Full } else { Sync::Normal };
        sqlite::set_sync(&self.connection, sync).expect("pragma");
        // Each mode starts with an empty log, so that a checkpoint does not fall into whichever row
        // comes next; a first write pays for the log's new start.
        self.one("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()));
        self.connection.execute_batch("PRAGMA user_version = 1").expect("write");
        self.mode = mode;
    }

    pub fn publish(&mut self) {
        if std::mem::take(&mut self.open) {
            self.run("COMMIT", ());
        }
    }

    pub fn write<R>(&mut self, run: impl FnOnce(&Self) -> R) -> R {
        if !self.open {
            self.run("BEGIN IMMEDIATE", ());
        }
        let result = run(self);
        self.open = self.mode == Mode::Shared;
        if !self.open {
            self.run("COMMIT", ());
        }
        result
    }

    pub fn statement(&self, sql: &str) -> CachedStatement<'_> {
        self.connection.prepare_cached(sql).expect("statement")
    }

    pub fn run(&self, sql: &str, params: impl Params) {
        self.statement(sql).execute(params).expect("execute");
    }

    pub fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> T {
        self.statement(sql).query_row(params, read).expect("one row")
    }

    pub fn maybe<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Option<T> {
        self.statement(sql).query_row(params, read).optional().expect("a row or none")
    }

    pub fn touch(&self, document: Id, now: u64) {
        self.run("UPDATE documents SET modified = ?2 WHERE id = ?1", (document, now as i64));
    }

    pub fn log(&self, now: u64, document: Id, kind: &str, parts: &[&[u8]]) {
        self.run(
            "INSERT INTO changes (change) VALUES (?1)",
            [record::change(now, document, kind, parts)],
        );
    }

    /// A document's row and its change-log row.
    pub fn import(&self, document: &Document, now: u64) {
        self.run(
            "INSERT INTO documents (id, title, created, modified) VALUES (?1, ?2, ?3, ?4)",
            (document.id, &document.title, document.created as i64, now as i64),
        );
        let ids: Vec<&[u8]> = document.tree.iter().map(|node| &node.block.id[..]).collect();
        self.log(now, document.id, "import", &ids);
    }
}

/// Reads a block from `COLUMNS`, the first of which is column `at`.
pub fn block(row: &Row<'_>, at: usize) -> rusqlite::Result<Block> {
    Ok(Block {
        id: blob(row, at)?,
        rev: row.get(at + 1)?,
        kind: row.get(at + 2)?,
        markdown: row.get_ref(at + 3)?.as_str()?.to_owned(),
        indentation: row.get(at + 4)?,
        list_style: row.get(at + 5)?,
        created: row.get::<_, i64>(at + 6)? as u64,
        modified: row.get::<_, i64>(at + 7)? as u64,
    })
}

/// An ID without an allocation.
pub fn blob(row: &Row<'_>, at: usize) -> rusqlite::Result<Id> {
    Ok(record::id(row.get_ref(at)?.as_blob()?))
}
