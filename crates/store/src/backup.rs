//! Backup: a consistent copy of a space through a snapshot, in sorted batches, into a new
//! directory.

use std::ops::{Bound, ControlFlow};
use std::path::Path;

use leafbase_model::{Error, ErrorKind, Result};

use crate::directory;
use crate::kv::{KeyRange, OpenOptions, Read, Store, WriteOptions};
use crate::progress::ProgressFn;
use crate::records;

/// Bytes written in one transaction: bounds memory.
const BATCH_BYTES: usize = 4 << 20;

/// Copies every row of `source` and verifies its checksum: a copy of damage must not pass for a
/// backup.
pub(crate) fn backup(source: &dyn Read, path: &Path, progress: ProgressFn<'_>) -> Result<()> {
    directory::create_with(path, &OpenOptions::default(), |target| copy(source, target, progress))
        .map(drop)
}

#[derive(Default)]
struct Batch {
    rows: Vec<(Vec<u8>, Vec<u8>)>,
    bytes: usize,
}

impl Batch {
    fn take(&mut self, key: &[u8], value: &[u8]) {
        self.bytes += key.len() + value.len();
        self.rows.push((key.to_owned(), value.to_owned()));
    }

    fn write(&mut self, target: &dyn Store) -> Result<()> {
        let Self { rows, .. } = std::mem::take(self);
        target.write(WriteOptions::default(), &mut |transaction| {
            rows.iter().try_for_each(|(key, value)| transaction.put(key, value))
        })
    }
}

fn copy(source: &dyn Read, target: &dyn Store, progress: ProgressFn<'_>) -> Result<()> {
    let all = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
    let (mut batch, mut done) = (Batch::default(), 0_u64);
    if progress(done).is_break() {
        return Err(broken_off());
    }
    source.scan(all, &mut |key, value| {
        // redb does not verify what it reads: without this the copy would seal damage in.
        records::check(key, value)?;
        batch.take(key, value);
        done += 1;
        if batch.bytes >= BATCH_BYTES {
            batch.write(target)?;
            if progress(done).is_break() {
                return Err(broken_off());
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    batch.write(target)?;
    // The copy is complete, so it is too late to cancel.
    let _ = progress(done);
    Ok(())
}

fn broken_off() -> Error {
    Error::new(ErrorKind::Canceled, "the backup was canceled and its files were removed")
}
