//! Compaction of the change log: the bodies of older changes are compressed.
//!
//! A write does not wait for compression, and a recent change is read a few times soon after; so
//! changes are compressed when the space is compacted, before the store is rewritten. Of a space of
//! 100,000 blocks, rewrite and LZ4 together save about a third of the bytes.

use std::ops::{Bound, ControlFlow};

use leafbase_model::{ChangeToken, Result};

use crate::change_parts::{ChangeParts, PartHeader};
use crate::keyspaces::{self, CHANGES};
use crate::kv::{Durability, KeyRange, Store, WriteOptions};
use crate::records::{self, compressed};

/// Bytes of compressed changes that are written in one transaction: bounds memory.
const BATCH_BYTES: usize = 4 << 20;

/// The compressed form of a change.
struct CompressedChange {
    sequence: u64,
    token: ChangeToken,
    /// Number of parts before compression, of which the surplus ones are deleted.
    parts_before: u32,
    body: Vec<u8>,
}

/// Compresses each change that gets smaller and is not compressed yet. Changes are immutable, so
/// concurrent writes do not interfere.
pub(crate) fn compress_changes(store: &dyn Store) -> Result<()> {
    // A read-only store reports so before anything is read.
    store.write(WriteOptions::durability(Durability::Relaxed), &mut |_| Ok(()))?;
    let snapshot = store.snapshot()?;
    // All pages are read before anything is written: a damaged store stays as it is.
    let all = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
    snapshot.scan(all, &mut |_, _| Ok(ControlFlow::Continue(())))?;
    let (mut parts, mut batch, mut bytes) = (ChangeParts::default(), Vec::new(), 0);
    let (prefix, end) = ([CHANGES.tag], keyspaces::prefix_end([CHANGES.tag]));
    snapshot.scan(KeyRange::half_open(&prefix, &end), &mut |key, value| {
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
            bytes += body.len();
            batch.push(CompressedChange {
                sequence: change.sequence,
                token: change.token(),
                parts_before: change.parts(),
                body,
            });
        }
        if bytes >= BATCH_BYTES {
            bytes = 0;
            write(store, &std::mem::take(&mut batch))?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    write(store, &batch)
}

fn write(store: &dyn Store, batch: &[CompressedChange]) -> Result<()> {
    if batch.is_empty() {
        return Ok(());
    }
    store.write(WriteOptions::durability(Durability::Durable), &mut |rows| {
        for CompressedChange { sequence, token, parts_before, body } in batch {
            let chunks = body.chunks(keyspaces::CHANGE_PART_BYTES);
            let header = PartHeader::new(chunks.len(), true, *token)?;
            for (part, bytes) in header.numbers().zip(chunks) {
                let key = keyspaces::change_part(*sequence, part);
                let value = records::seal(&key, |out| {
                    header.encode(out);
                    out.extend_from_slice(bytes);
                });
                rows.put(&key, &value)?;
            }
            // In the same transaction: surplus parts would corrupt the change.
            for part in header.numbers().end..*parts_before {
                rows.delete(&keyspaces::change_part(*sequence, part))?;
            }
        }
        Ok(())
    })
}
