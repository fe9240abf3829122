//! The tables in the redb file.

use redb::TableDefinition;

/// All entries. One table, since each further one adds 45 µs or more to a durable commit.
pub(super) const ENTRIES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new(ENTRIES_NAME);
pub(super) const ENTRIES_NAME: &str = "leafbase";

/// The WAL header: epoch number, salt, and whether the log is in use. Only commits that start an
/// epoch write it, so that the others do not pay for two tables.
pub(super) const WAL_HEADER: TableDefinition<'_, (), (u64, u64, bool)> =
    TableDefinition::new(WAL_HEADER_NAME);
pub(super) const WAL_HEADER_NAME: &str = "journal";

/// The table that compaction fills. No commit contains it.
pub(super) const REWRITTEN: TableDefinition<'_, &[u8], &[u8]> =
    TableDefinition::new("leafbase.next");

/// The table with which compaction overwrites free pages. A crash may leave it to the next one.
pub(super) const ZEROS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("leafbase.zeros");
