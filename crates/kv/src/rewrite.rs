//! The table written anew in the order of its keys, so that its pages are full: those that rows
//! were put into here and there are two thirds full.

use std::ops::{Bound, ControlFlow};

use leafbase_model::Result;
use redb::{Database, Table, TableDefinition, WriteTransaction};

use super::base::{Base, TABLE};
use super::failure::Health;
use super::opener::OpenCursor;
use super::page_fill::PageFill;
use super::structure::PAGE_BYTES;
use super::{KeyRange, Read};

/// The table in the making. No commit has it.
const NEXT: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("leafbase.next");
/// So many bytes are handed to redb at once. Of twice as many it would put some into pages before
/// it has the rest.
const RUN_BYTES: usize = 512 << 10;
const ALL: KeyRange<'static> =
    KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };

/// Whether a file of so many bytes would get clearly shorter. Reads every row, and fails where one
/// may be hidden.
pub(super) fn is_worth_it(rows: &dyn Read, file_bytes: u64) -> Result<bool> {
    let (mut page, mut full) = (PageFill::default(), 0);
    rows.scan(ALL, &mut |key, value| {
        let bytes = key.len() + value.len();
        if page.put(bytes) {
            full += PAGE_BYTES.max((bytes as u64).next_power_of_two());
        }
        Ok(ControlFlow::Continue(()))
    })?;
    // Branches, and what redb has for itself.
    Ok(file_bytes > full + full / 32 + 16 * PAGE_BYTES)
}

/// A transaction, to be committed, in which the table has the rows of `base` in full pages.
pub(super) fn written(
    database: &Database,
    base: &Base,
    health: &Health,
) -> Result<WriteTransaction> {
    let report = |error: redb::Error| health.report(error);
    let mut transaction = database.begin_write().map_err(|error| report(error.into()))?;
    transaction.set_quick_repair(true);
    {
        let mut table = transaction.open_table(NEXT).map_err(|error| report(error.into()))?;
        let (mut page, mut run, mut bytes) = (PageFill::default(), Vec::new(), 0);
        base.scan(ALL, &mut |key, value| {
            // What is handed over ends with a page, as redb would go on with one that is half full
            // by evening out the last two.
            if page.put(key.len() + value.len()) && bytes >= RUN_BYTES {
                bytes = 0;
                append(&mut table, &std::mem::take(&mut run)).map_err(report)?;
            }
            bytes += key.len() + value.len();
            run.push((key.to_vec(), value.to_vec()));
            Ok(ControlFlow::Continue(()))
        })?;
        append(&mut table, &run).map_err(report)?;
    }
    transaction.delete_table(TABLE).map_err(|error| report(error.into()))?;
    transaction.rename_table(NEXT, TABLE).map_err(|error| report(error.into()))?;
    Ok(transaction)
}

fn append(
    table: &mut Table<'_, &'static [u8], &'static [u8]>,
    rows: &[(Vec<u8>, Vec<u8>)],
) -> Result<(), redb::Error> {
    let end: Bound<&[u8]> = Bound::Unbounded;
    let mut cursor = OpenCursor(Some(table.upper_bound_mut(end)?));
    for (key, value) in rows {
        cursor.insert(key, value)?;
    }
    cursor.close()
}
