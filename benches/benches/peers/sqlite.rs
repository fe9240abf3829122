//! What both `SQLite` layouts share: documents with an index by time, the change log, a block's
//! columns.

use crate::app::{Block, Document, Mode, Task};
use benches::sqlite::{self, Sharing, Sync};
use benches::workload::Id;
use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row};
use serde::{Serialize, Serializer};
use std::path::Path;

const SCHEMA: &str = "
    CREATE TABLE documents (key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, title TEXT NOT NULL,
        created INTEGER NOT NULL, modified INTEGER NOT NULL);
    CREATE INDEX documents_modified ON documents (modified);
    CREATE TABLE changes (sequence INTEGER PRIMARY KEY, change BLOB NOT NULL);
    PRAGMA user_version = 1;";

/// The columns of a block, in the order that `block` reads them.
pub const COLUMNS: &str =
    "id, rev, kind, indentation, list_style, style, created, modified, markdown, color, created_by,
    modified_by, task_state, scheduled, deadline, completed, canceled, attributes";
pub const COLUMN_TYPES: &str = "rev INTEGER NOT NULL, kind INTEGER NOT NULL, indentation INTEGER NOT NULL,
    list_style INTEGER NOT NULL, style INTEGER NOT NULL, created INTEGER NOT NULL, modified INTEGER NOT NULL,
    markdown TEXT NOT NULL, color INTEGER, created_by TEXT, modified_by TEXT, task_state INTEGER, scheduled INTEGER,
    deadline INTEGER, completed INTEGER, canceled INTEGER, attributes TEXT";

pub struct Database {
    pub connection: Connection,
    mode: Mode,
}

impl Database {
    pub fn open(directory: &Path, mode: Mode, sharing: Sharing, schema: &str) -> Self {
        let connection = sqlite::open(&directory.join("space.sqlite"), sharing).expect("open");
        let db = Self { connection, mode };
        if mode == Mode::Cold {
            db.connection.execute_batch("PRAGMA mmap_size = 0").expect("pragma");
        }
        // Room for every batch that is measured: its checkpoint is counted where a flush is.
        db.connection.execute_batch("PRAGMA wal_autocheckpoint = 8000").expect("pragma");
        let sync = if mode == Mode::Durable { Sync::Full } else { Sync::Normal };
        sqlite::set_sync(&db.connection, sync).expect("pragma");
        let version: i64 =
            db.connection.query_row("PRAGMA user_version", (), |row| row.get(0)).expect("version");
        if version == 0 {
            db.connection
                .execute_batch(&format!("BEGIN; {schema} {SCHEMA} COMMIT;"))
                .expect("schema");
        }
        db
    }

    /// A commit for each call.
    pub fn write<R>(&mut self, run: impl FnOnce(&Self) -> R) -> R {
        self.run("BEGIN IMMEDIATE", ());
        let result = run(self);
        self.run("COMMIT", ());
        result
    }

    /// The log is written back into the file; in `Mode::Durable` a commit is safe already.
    pub fn flush(&self) {
        if self.mode != Mode::Durable {
            self.one("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()));
        }
    }

    /// The file is written anew without what is free, and the log emptied.
    pub fn compact(&self) {
        self.connection
            .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
            .expect("nobody reads");
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

    pub fn touch(&self, document: Id, now: i64) {
        self.run("UPDATE documents SET modified = ?2 WHERE id = ?1", (document, now));
    }

    /// A row of the change log: when, in which document, what, where, with the blocks as they were
    /// and are.
    pub fn log(&self, now: i64, document: Id, kind: &str, places: &[&[u8]], blocks: &[&Block]) {
        let places: Vec<Bytes<'_>> = places.iter().map(|place| Bytes(place)).collect();
        let change = rmp_serde::to_vec(&(now, Bytes(&document), kind, places, blocks))
            .expect("writing to memory");
        self.run("INSERT INTO changes (change) VALUES (?1)", [change]);
    }

    /// A document's row, and its row of the change log, which has all blocks.
    pub fn create(&self, document: &Document, now: i64) -> i64 {
        let blocks: Vec<&Block> =
            Block::all(&document.blocks).into_iter().map(|(block, _)| block).collect();
        self.log(now, document.id, "create", &[document.title.as_bytes()], &blocks);
        self.statement(
            "INSERT INTO documents (id, title, created, modified) VALUES (?1, ?2, ?3, ?3)",
        )
        .insert((document.id, &document.title, now))
        .expect("insert")
    }

    /// A document's key, and the document itself, without its blocks.
    pub fn root(&self, document: Id) -> (i64, Block) {
        self.one(
            "SELECT key, id, title, created, modified FROM documents WHERE id = ?1",
            [document],
            |row| {
                let root = Block {
                    id: blob(row, 1)?,
                    markdown: row.get_ref(2)?.as_str()?.to_owned(),
                    created: row.get(3)?,
                    modified: row.get(4)?,
                    ..Block::default()
                };
                Ok((row.get(0)?, root))
            },
        )
    }
}

struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// Reads a block from `COLUMNS`, the first of which is column `at`.
pub fn block(row: &Row<'_>, at: usize) -> rusqlite::Result<Block> {
    Ok(Block {
        id: blob(row, at)?,
        rev: row.get::<_, i64>(at + 1)? as u64,
        kind: row.get(at + 2)?,
        indentation: row.get(at + 3)?,
        list_style: row.get(at + 4)?,
        style: row.get(at + 5)?,
        created: row.get(at + 6)?,
        modified: row.get(at + 7)?,
        markdown: row.get_ref(at + 8)?.as_str()?.to_owned(),
        color: row.get(at + 9)?,
        created_by: text(row, at + 10)?,
        modified_by: text(row, at + 11)?,
        task: match row.get_ref(at + 12)? {
            ValueRef::Integer(state) => Some(Task {
                state: state as u8,
                scheduled: row.get(at + 13)?,
                deadline: row.get(at + 14)?,
                completed: row.get(at + 15)?,
                canceled: row.get(at + 16)?,
            }),
            _ => None,
        },
        attributes: text(row, at + 17)?,
        children: Vec::new(),
    })
}

/// How many columns `COLUMNS` has.
pub const WIDTH: usize = 18;

fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Box<str>>> {
    Ok(row.get_ref(at)?.as_str_or_null()?.map(Into::into))
}

/// An ID without an allocation.
pub fn blob(row: &Row<'_>, at: usize) -> rusqlite::Result<Id> {
    Ok(row.get_ref(at)?.as_blob()?.try_into().expect("sixteen bytes"))
}

/// Binds the columns of a new block from parameter `at` on.
pub fn bind(
    statement: &mut CachedStatement<'_>,
    at: usize,
    block: &Block,
    now: i64,
) -> rusqlite::Result<()> {
    let task = block.task.as_ref();
    statement.raw_bind_parameter(at, block.id)?;
    statement.raw_bind_parameter(at + 1, 1)?;
    statement.raw_bind_parameter(at + 2, block.kind)?;
    statement.raw_bind_parameter(at + 3, block.indentation)?;
    statement.raw_bind_parameter(at + 4, block.list_style)?;
    statement.raw_bind_parameter(at + 5, block.style)?;
    statement.raw_bind_parameter(at + 6, now)?;
    statement.raw_bind_parameter(at + 7, now)?;
    statement.raw_bind_parameter(at + 8, &block.markdown)?;
    statement.raw_bind_parameter(at + 9, block.color)?;
    statement.raw_bind_parameter(at + 10, block.created_by.as_deref())?;
    statement.raw_bind_parameter(at + 11, block.modified_by.as_deref())?;
    statement.raw_bind_parameter(at + 12, task.map(|task| task.state))?;
    statement.raw_bind_parameter(at + 13, task.and_then(|task| task.scheduled))?;
    statement.raw_bind_parameter(at + 14, task.and_then(|task| task.deadline))?;
    let done = task.is_some_and(|task| task.state == crate::app::TASK_DONE).then_some(now);
    statement.raw_bind_parameter(at + 15, task.and_then(|task| task.completed).or(done))?;
    statement.raw_bind_parameter(at + 16, task.and_then(|task| task.canceled))?;
    statement.raw_bind_parameter(at + 17, block.attributes.as_deref())
}

/// Parents' keys with their children, sorted by parent: a scan by (parent, order).
pub struct Groups<K> {
    groups: Vec<(K, Vec<K>, Vec<Block>)>,
}

impl<K: Ord + Copy> Groups<K> {
    pub fn new() -> Self {
        Self { groups: Vec::new() }
    }

    pub fn push(&mut self, parent: K, key: K, block: Block) {
        if self.groups.last().is_none_or(|(known, ..)| *known != parent) {
            self.groups.push((parent, Vec::with_capacity(32), Vec::with_capacity(32)));
        }
        if let Some((_, keys, blocks)) = self.groups.last_mut() {
            keys.push(key);
            blocks.push(block);
        }
    }

    /// The children of `parent`, with all below them. Pages nest only so deep.
    pub fn take(&mut self, parent: K) -> Vec<Block> {
        let Ok(at) = self.groups.binary_search_by(|(known, ..)| known.cmp(&parent)) else {
            return Vec::new();
        };
        let (keys, mut blocks) = {
            let (_, keys, blocks) = &mut self.groups[at];
            (std::mem::take(keys), std::mem::take(blocks))
        };
        if self.groups.len() > 1 {
            for (key, block) in keys.iter().zip(&mut blocks) {
                if block.kind == crate::app::PAGE {
                    block.children = self.take(*key);
                }
            }
        }
        blocks
    }
}
