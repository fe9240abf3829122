//! The `SQLite` baseline: one way to open a database and to run statements, as an expert sets it
//! up. Every bench builds its tables and queries on it, so that all ratios are against the same
//! peer.
//!
//! The default is [`Sharing::Exclusive`]: the connection owns its file, as a Leafbase space does.

use rusqlite::config::DbConfig;
use rusqlite::types::FromSql;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row};
use std::path::Path;

use crate::workload::Id;

/// Who may have the file open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// One connection: no locks and no shared memory, the fastest.
    Exclusive,
    /// Several connections, for a program that reads on several threads.
    Shared,
}

/// What a committed write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Power loss: `synchronous = FULL`.
    Full,
    /// The end of the process: `synchronous = NORMAL`.
    Normal,
}

/// Pages of the write-ahead log after which `SQLite` checkpoints by itself: more than any measured
/// batch writes, so that its checkpoint is counted where a flush is.
const CHECKPOINT_PAGES: u32 = 8_000;

/// Prepared statements that a connection keeps.
const CACHED_STATEMENTS: usize = 128;

/// A connection with a 64 MiB page cache, mapped reads, a write-ahead log and cached statements.
#[derive(Debug)]
pub struct Database {
    pub connection: Connection,
    sync: Sync,
}

impl Database {
    /// Opens `space.sqlite` in `directory`; a new file gets the tables of `schema`.
    ///
    /// The planner's stability guarantee is on: without it the bundled build plans a cached
    /// statement again whenever a binding changes.
    ///
    /// # Panics
    /// If `SQLite` fails: a bench has no use for a part of a measurement.
    pub fn open(directory: &Path, sharing: Sharing, sync: Sync, schema: &str) -> Self {
        let connection = Connection::open(directory.join("space.sqlite")).expect("open");
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).expect("config");
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        let database = Self { connection, sync };
        if sharing == Sharing::Exclusive {
            database.execute_batch("PRAGMA locking_mode = EXCLUSIVE");
        }
        database.execute_batch(&format!(
            "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA cache_size = -65536;
             PRAGMA mmap_size = 1073741824; PRAGMA temp_store = MEMORY;
             PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES};"
        ));
        database.set_sync(sync);
        let version: i64 = database.one("PRAGMA user_version", (), |row| row.get(0));
        if version == 0 {
            database.execute_batch(&format!("BEGIN; {schema} PRAGMA user_version = 1; COMMIT;"));
        }
        database
    }

    /// Reads without a map, for an opening that finds nothing in memory.
    pub fn unmap(&self) {
        self.execute_batch("PRAGMA mmap_size = 0");
    }

    /// Later commits survive what `sync` says.
    pub fn set_sync(&self, sync: Sync) {
        self.execute_batch(match sync {
            Sync::Full => "PRAGMA synchronous = FULL",
            Sync::Normal => "PRAGMA synchronous = NORMAL",
        });
    }

    /// Runs statements that return no rows.
    pub fn execute_batch(&self, sql: &str) {
        self.connection.execute_batch(sql).expect("statements");
    }

    /// The prepared statement of `sql`, from the cache.
    pub fn statement(&self, sql: &str) -> CachedStatement<'_> {
        self.connection.prepare_cached(sql).expect("statement")
    }

    /// Executes a statement.
    pub fn run(&self, sql: &str, params: impl Params) {
        self.statement(sql).execute(params).expect("execute");
    }

    /// Executes an insertion and returns the row's integer key.
    pub fn insert(&self, sql: &str, params: impl Params) -> i64 {
        self.statement(sql).insert(params).expect("insert")
    }

    /// The only row of a query.
    pub fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> T {
        self.maybe(sql, params, read).expect("one row")
    }

    /// The first row of a query, if there is one.
    pub fn maybe<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Option<T> {
        self.statement(sql).query_row(params, read).optional().expect("query")
    }

    /// All rows of a query.
    pub fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Vec<T> {
        let mut statement = self.statement(sql);
        let rows = statement.query_map(params, read).expect("query");
        rows.map(|row| row.expect("row")).collect()
    }

    /// The first column of the first row, if there is one.
    pub fn value<T: FromSql>(&self, sql: &str, params: impl Params) -> Option<T> {
        self.maybe(sql, params, |row| row.get(0))
    }

    /// Begins a transaction that writes.
    pub fn begin(&self) {
        self.run("BEGIN IMMEDIATE", ());
    }

    /// Commits it.
    pub fn commit(&self) {
        self.run("COMMIT", ());
    }

    /// Moves the write-ahead log into the file. With [`Sync::Full`] a commit is durable already and
    /// nothing is done.
    pub fn flush(&self) {
        if self.sync == Sync::Normal {
            self.one("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()));
        }
    }

    /// Moves the whole write-ahead log into the file and truncates it.
    pub fn checkpoint(&self) {
        self.one("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()));
    }

    /// Rewrites the file without free pages and truncates the log.
    pub fn compact(&self) {
        self.execute_batch("VACUUM");
        self.checkpoint();
    }
}

/// An ID of 16 bytes, without an allocation.
///
/// # Errors
/// Those of the column.
///
/// # Panics
/// If the column holds another number of bytes.
pub fn id(row: &Row<'_>, column: usize) -> rusqlite::Result<Id> {
    Ok(row.get_ref(column)?.as_blob()?.try_into().expect("sixteen bytes"))
}
