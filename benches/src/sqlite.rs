//! `SQLite` as an expert sets it up.

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::path::Path;

/// Who may have the file open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// One connection: no locks and no shared memory, the fastest.
    Exclusive,
    /// Several connections, as a program that reads on many threads needs.
    Shared,
}

/// What a finished write has survived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// A loss of power.
    Full,
    /// The end of the process.
    Normal,
}

/// Opens with a write-ahead log, a 64 MiB page cache, mapped reads, room for every statement, and
/// the planner's stability guarantee, without which the bundled build plans a cached statement
/// again whenever a binding changes.
pub fn open(path: &Path, sharing: Sharing) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(128);
    if sharing == Sharing::Exclusive {
        connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE")?;
    }
    connection.execute_batch(
        "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL;
         PRAGMA cache_size = -65536; PRAGMA mmap_size = 1073741824; PRAGMA temp_store = MEMORY;
         PRAGMA synchronous = FULL;",
    )?;
    Ok(connection)
}

pub fn set_sync(connection: &Connection, sync: Sync) -> rusqlite::Result<()> {
    connection.execute_batch(match sync {
        Sync::Full => "PRAGMA synchronous = FULL",
        Sync::Normal => "PRAGMA synchronous = NORMAL",
    })
}
