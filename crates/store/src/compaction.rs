//! Compaction of the change log: the bodies of older changes are compressed.
//!
//! A write does not wait for compression, and a recent change is read a few times soon after; so
//! changes are compressed when the space is compacted, before the store is rewritten. Of a space of
//! 100,000 blocks, rewrite and LZ4 together save about a third of the bytes.

use std::ops::{Bound, ControlFlow};

use leafbase_model::{ChangeToken, Result};

use crate::change_parts::{ChangeParts, PartHeader};
use crate::keyspaces::{self, CHANGES};
use crate::kv::{Durability, KeyRange, Store, Transaction, WriteOptions};
use crate::records::{self, compressed};

/// Bytes of the log that are read in one transaction: bounds memory, and how long writers wait.
const BATCH_BYTES: usize = 4 << 20;

/// The compressed form of a change.
struct CompressedChange {
    sequence: u64,
    token: ChangeToken,
    /// Number of parts before compression, of which the surplus ones are deleted.
    parts_before: u32,
    body: Vec<u8>,
}

/// Compresses each change that gets smaller and is not compressed yet.
pub(crate) fn compress_changes(store: &dyn Store) -> Result<()> {
    // A read-only store reports so before anything is read.
    store.write(WriteOptions::durability(Durability::Relaxed), &mut |_| Ok(()))?;
    // All pages are read before anything is written: a damaged store stays as it is.
    let all = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
    store.snapshot()?.scan(all, &mut |_, _| Ok(ControlFlow::Continue(())))?;
    let mut next = Some(0);
    while let Some(first) = next {
        // Read and written in one transaction: a purge may redact the changes in between.
        store.write(WriteOptions::durability(Durability::Durable), &mut |rows| {
            next = compress_batch(rows, first)?;
            Ok(())
        })?;
    }
    Ok(())
}

/// Compresses the next changes, beginning with the sequence `first`. Returns the sequence to go on
/// with; `None` at the end of the log.
fn compress_batch(rows: &mut dyn Transaction, first: u64) -> Result<Option<u64>> {
    let (mut parts, mut batch, mut bytes, mut next) = (ChangeParts::default(), Vec::new(), 0, None);
    let lower = keyspaces::change_part(first, 0);
    let upper = keyspaces::prefix_end([CHANGES.tag]);
    rows.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
        bytes += value.len();
        let change = match parts.push(key, value) {
            Ok(Some(change)) => change,
            Ok(None) => return Ok(ControlFlow::Continue(())),
            Err(_) => {
                // A corrupt change stays as it is: check and salvage report it.
                parts = ChangeParts::default();
                return Ok(ControlFlow::Continue(()));
            }
        };
        // Compressed ones are left: compacting again writes nothing.
        if !change.is_compressed()
            && let Some(body) = compressed::compress(&change.bytes)
        {
            debug_assert!(body.len() < change.bytes.len(), "compression saves bytes");
            batch.push(CompressedChange {
                sequence: change.sequence,
                token: change.token(),
                parts_before: change.parts(),
                body,
            });
        }
        if bytes < BATCH_BYTES {
            return Ok(ControlFlow::Continue(()));
        }
        next = change.sequence.checked_add(1);
        Ok(ControlFlow::Break(()))
    })?;
    for change in &batch {
        write(rows, change)?;
    }
    Ok(next)
}

fn write(rows: &mut dyn Transaction, change: &CompressedChange) -> Result<()> {
    let chunks = change.body.chunks(keyspaces::CHANGE_PART_BYTES);
    let header = PartHeader::new(chunks.len(), true, change.token)?;
    for (part, bytes) in header.numbers().zip(chunks) {
        let key = keyspaces::change_part(change.sequence, part);
        let value = records::seal(&key, |out| {
            header.encode(out);
            out.extend_from_slice(bytes);
        });
        rows.put(&key, &value)?;
    }
    // In the same transaction: surplus parts would corrupt the change.
    for part in header.numbers().end..change.parts_before {
        rows.delete(&keyspaces::change_part(change.sequence, part))?;
    }
    Ok(())
}
