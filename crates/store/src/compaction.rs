//! Compaction of the change log: old changes are dropped, edits of one text are merged, and the
//! bodies of the rest are compressed.
//!
//! A write does not wait for compression, and a recent change is read a few times soon after; so
//! changes are compressed when the space is compacted, before the store is rewritten. Of a space of
//! 100,000 blocks, rewrite and LZ4 together save about a third of the bytes.

use std::ops::{Bound, ControlFlow};

use leafbase_model::Result;

use crate::change_parts::{ChangeParts, PartHeader};
use crate::keyspaces::{self, CHANGES};
use crate::kv::{Durability, KeyRange, Store, Transaction, WriteOptions};
use crate::log_retention::LogRetention;
use crate::lookup::space_totals;
use crate::records::change::ChangeIdentity;
use crate::records::{self, compressed};

mod batches;
mod dropped_changes;
mod merged_edits;

use batches::{BATCH_BYTES, in_batches};

/// The compressed form of a change.
struct CompressedChange {
    identity: ChangeIdentity,
    /// Number of parts before compression, of which the surplus ones are deleted.
    parts_before: u32,
    body: Vec<u8>,
}

/// Drops, merges and compresses changes.
pub(crate) fn compact_log(store: &dyn Store, retention: &LogRetention) -> Result<()> {
    // A read-only store reports so before anything is read.
    store.write(WriteOptions::durability(Durability::Relaxed), &mut |_| Ok(()))?;
    // All pages are read before anything is written: a damaged store stays as it is.
    let all = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
    let snapshot = store.snapshot()?;
    snapshot.scan(all, &mut |_, _| Ok(ControlFlow::Continue(())))?;
    let newest = space_totals(&*snapshot)?.sequence;
    let last = retention.last_sequence.map_or(newest, |last| last.min(newest));
    let cut = dropped_changes::last_to_drop(&*snapshot, retention, last)?;
    // A snapshot would keep the pages of every row that is replaced from here on.
    drop(snapshot);
    in_batches(store, |rows, first| dropped_changes::drop_batch(rows, first, cut))?;
    if let Some(within) = retention.merge_within_millis {
        in_batches(store, |rows, first| merged_edits::merge_batch(rows, first, last, within))?;
    }
    in_batches(store, compress_batch)
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
                identity: change.identity(),
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
    let ChangeIdentity { sequence, .. } = change.identity;
    let header = PartHeader::new(change.body.len(), true, change.identity)?;
    for (part, bytes) in header.numbers().zip(change.body.chunks(header.bytes_per_part())) {
        let key = keyspaces::change_part(sequence, part);
        let value = records::seal(&key, |out| {
            header.encode(out);
            out.extend_from_slice(bytes);
        });
        rows.put(&key, &value)?;
    }
    // In the same transaction: surplus parts would corrupt the change.
    for part in header.numbers().end..change.parts_before {
        rows.delete(&keyspaces::change_part(sequence, part))?;
    }
    Ok(())
}
