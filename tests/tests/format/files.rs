//! The files of a space: the two tables of the store, and the write-ahead log laid over them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use redb::{
    Database, ReadableDatabase as _, ReadableTable as _, TableDefinition, TableHandle as _,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::message_pack::take;
use crate::{Refused, refuse};

/// All entries by key.
pub(crate) type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

const ENTRIES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("leafbase");
const EPOCH: TableDefinition<'_, (), (u64, u64, bool)> = TableDefinition::new("journal");
const HEADER_BYTES: usize = 40;
const GROWTH_BYTES: usize = 256 << 10;

/// The entries of a space in a directory that no handle has open.
pub(crate) fn read(directory: &Path) -> Refused<Entries> {
    let store = Database::open(directory.join("space.redb")).unwrap();
    let transaction = store.begin_read().unwrap();
    let mut tables: Vec<_> =
        transaction.list_tables().unwrap().map(|table| table.name().to_owned()).collect();
    tables.sort();
    // The second one comes with the first use of the log.
    if tables != ["journal", "leafbase"] && tables != ["leafbase"] {
        return refuse(format!("the tables {tables:?}"));
    }
    let entries = transaction.open_table(ENTRIES).unwrap();
    let mut entries: Entries = entries
        .iter()
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|(key, value)| (key.value().to_vec(), value.value().to_vec()))
        .collect();
    let epoch = transaction.open_table(EPOCH).ok();
    let epoch = epoch.and_then(|epoch| epoch.get(()).unwrap().map(|epoch| epoch.value()));
    let log = directory.join("space.journal");
    match epoch {
        Some((number, salt, true)) => replay(&fs::read(log).unwrap(), number, salt, &mut entries)?,
        _ if log.exists() => return refuse("a log that the store does not use"),
        _ => {}
    }
    Ok(entries)
}

/// A number of the log, whose integers are little-endian.
fn uint(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The number of a record, how many were synced before it, and its payload.
type LogRecord<'b> = (u64, u64, &'b [u8]);

/// The record at the beginning of `bytes`, if it is one of the epoch.
fn record(bytes: &[u8], epoch: u64, salt: u64) -> Option<LogRecord<'_>> {
    let word = |at: usize| bytes.get(at..at + 8).map(uint);
    let length = usize::try_from(word(32)?).ok()?;
    let end = HEADER_BYTES.checked_add(length)?;
    let is_valid = word(8)? == epoch && xxh3_64_with_seed(bytes.get(8..end)?, salt) == word(0)?;
    is_valid.then_some((word(16)?, word(24)?, &bytes[HEADER_BYTES..end]))
}

/// Applies the records of the epoch in order.
fn replay(log: &[u8], epoch: u64, salt: u64, entries: &mut Entries) -> Refused<()> {
    if log.is_empty() || !log.len().is_multiple_of(GROWTH_BYTES) {
        return refuse(format!("a log of {} bytes", log.len()));
    }
    let (mut at, mut number) = (0, 0);
    while let Some((_, _, mut payload)) =
        record(&log[at..], epoch, salt).filter(|(found, _, _)| *found == number)
    {
        at += (HEADER_BYTES + payload.len()).next_multiple_of(8);
        number += 1;
        while !payload.is_empty() {
            let key_bytes = usize::try_from(uint(take(&mut payload, 4)?)).unwrap();
            let value_bytes = uint(take(&mut payload, 4)?);
            let key = take(&mut payload, key_bytes)?.to_vec();
            if value_bytes == u64::from(u32::MAX) {
                entries.remove(&key);
            } else {
                let value = take(&mut payload, usize::try_from(value_bytes).unwrap())?;
                entries.insert(key, value.to_vec());
            }
        }
    }
    // A valid record that counts the invalid one among the synced ones.
    let mut later = (at..log.len()).step_by(8).filter_map(|at| record(&log[at..], epoch, salt));
    if later.any(|(found, synced, _)| found > number && synced > number) {
        return refuse(format!("record {number} of the log"));
    }
    Ok(())
}
