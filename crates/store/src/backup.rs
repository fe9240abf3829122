//! Backups: a copy of a snapshot, in sorted batches into a new directory, or into another store.

use std::mem;
use std::ops::{Bound, ControlFlow};
use std::path::Path;

use leafbase_model::{Error, ErrorKind, Result};

use crate::directory;
use crate::kv::{KeyRange, OpenOptions, Read, Store, WriteBatch, WriteOptions};
use crate::progress::ProgressFn;
use crate::records;

/// Size of a transaction in bytes: it bounds memory.
const TRANSACTION_BYTES: usize = 4 << 20;
/// Entries between two reports of the progress of a copy.
const ENTRIES_PER_REPORT: u64 = 64;

const ALL_KEYS: KeyRange<'static> =
    KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };

/// Copies every entry of `source`. Each checksum is verified, because a copy of corrupt data would
/// pass for a backup.
pub(crate) fn backup(source: &dyn Read, path: &Path, progress: ProgressFn<'_>) -> Result<()> {
    directory::create_with(path, &OpenOptions::default(), |target| copy(source, target, progress))
        .map(drop)
}

/// Writes `batch`, and leaves it empty. The closure may run twice, so it must not drain the batch.
fn write(target: &dyn Store, batch: &mut WriteBatch) -> Result<()> {
    let batch = mem::take(batch);
    target.write(WriteOptions::default(), &mut |transaction| transaction.apply(&batch))
}

fn copy(source: &dyn Read, target: &dyn Store, progress: ProgressFn<'_>) -> Result<()> {
    let mut batch = WriteBatch::default();
    let mut batch_bytes = 0;
    let mut copied = 0_u64;
    if progress(copied).is_break() {
        return Err(canceled());
    }
    source.scan(ALL_KEYS, &mut |key, value| {
        records::check(key, value)?;
        batch.put(key, |out| out.extend_from_slice(value));
        batch_bytes += key.len() + value.len();
        copied += 1;
        if batch_bytes >= TRANSACTION_BYTES {
            write(target, &mut batch)?;
            batch_bytes = 0;
            if progress(copied).is_break() {
                return Err(canceled());
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    write(target, &mut batch)?;
    // The copy is complete, so a cancellation comes too late.
    let _ = progress(copied);
    Ok(())
}

fn canceled() -> Error {
    Error::new(ErrorKind::Canceled, "the backup was canceled and its files were removed")
}

/// Copies every entry of `source` into the empty store `target`, in one transaction. Each checksum
/// is verified.
pub(crate) fn copy_into(
    source: &dyn Read,
    target: &dyn Store,
    progress: ProgressFn<'_>,
) -> Result<()> {
    target.write(WriteOptions::default(), &mut |rows| {
        check_empty(&*rows)?;
        let mut copied = 0_u64;
        source.scan(ALL_KEYS, &mut |key, value| {
            records::check(key, value)?;
            if copied.is_multiple_of(ENTRIES_PER_REPORT) && progress(copied).is_break() {
                return Err(Error::new(ErrorKind::Canceled, "the copy was canceled"));
            }
            rows.put(key, value)?;
            copied += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        // The copy is complete, so a cancellation comes too late.
        let _ = progress(copied);
        Ok(())
    })
}

/// Fails if the store has an entry.
pub(crate) fn check_empty(rows: &dyn Read) -> Result<()> {
    let mut is_empty = true;
    rows.scan(ALL_KEYS, &mut |_, _| {
        is_empty = false;
        Ok(ControlFlow::Break(()))
    })?;
    if is_empty { Ok(()) } else { Err(Error::validation("the store is not empty")) }
}
