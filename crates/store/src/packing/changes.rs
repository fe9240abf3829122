//! Changes packed, and cut so that their parts fill pages.
//!
//! Whoever writes a change is waiting, and it is read a few times soon after; so it is packed late,
//! when the space is compacted.

use std::ops::{Bound, ControlFlow};

use leafbase_model::Result;

use crate::keyspaces::{self, CHANGES, PACKED};
use crate::kv::{Durability, KeyRange, PageFill, Store, WriteOptions};
use crate::records::{self, FRAME_BYTES, packed};

/// What is packed is written in transactions of about so many bytes: it bounds memory.
const BATCH_BYTES: usize = 4 << 20;
/// What a row of a part takes besides its bytes: key, frame, and the number of parts.
const PART_OVERHEAD: usize = 13 + FRAME_BYTES + 4;
/// A part of fewer bytes isn't worth a row to fill a page with.
const LEAST_PART: usize = 64;

/// A change as it is to be: its number, and the bytes of each part.
struct Packed {
    sequence: u64,
    /// How many parts it had.
    before: u32,
    parts: Vec<Vec<u8>>,
}

/// A change whose parts are being read.
#[derive(Default)]
struct Reading {
    sequence: u64,
    /// What its first part says of all of them.
    head: u32,
    /// Those read so far, by how long their rows are.
    rows: Vec<usize>,
    body: Vec<u8>,
    is_packed: bool,
}

/// Packs each change that gets smaller and is not packed yet. Changes are never written anew, so
/// that a packed one says what it said whatever is written meanwhile.
pub(super) fn pack_changes(store: &dyn Store) -> Result<()> {
    let snapshot = store.snapshot()?;
    let (mut page, mut reading) = (PageFill::default(), Reading::default());
    let (mut batch, mut bytes) = (Vec::new(), 0);
    let all = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
    snapshot.scan(all, &mut |key, value| {
        if key.first() != Some(&CHANGES.tag) {
            page.put(key.len() + value.len());
            return Ok(ControlFlow::Continue(()));
        }
        match reading.take(key, value) {
            Ok(true) => {}
            Ok(false) => return Ok(ControlFlow::Continue(())),
            // What isn't in order is for others to find.
            Err(_) => {
                page.put(key.len() + value.len());
                reading = Reading::default();
                return Ok(ControlFlow::Continue(()));
            }
        }
        let Reading { sequence, head, rows, body, is_packed } = std::mem::take(&mut reading);
        let shorter = if is_packed { None } else { packed::pack(&body) };
        match shorter {
            Some(shorter) => {
                bytes += shorter.len();
                batch.push(Packed { sequence, before: head, parts: cut(&shorter, &mut page) });
            }
            None => rows.into_iter().for_each(|bytes| {
                page.put(bytes);
            }),
        }
        if bytes >= BATCH_BYTES {
            bytes = 0;
            write(store, &std::mem::take(&mut batch))?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    write(store, &batch)
}

impl Reading {
    /// Takes the next part, and says whether it is the last one.
    fn take(&mut self, key: &[u8], value: &[u8]) -> Result<bool> {
        let damaged = || records::damaged(key);
        let (sequence, part) = keyspaces::read_change_part(key).ok_or_else(damaged)?;
        let (head, bytes) =
            records::body(key, value)?.split_first_chunk::<4>().ok_or_else(damaged)?;
        let head = u32::from_be_bytes(*head);
        if part == 0 {
            *self = Self { sequence, head, is_packed: head & PACKED != 0, ..Self::default() };
        }
        if (sequence, head) != (self.sequence, self.head)
            || usize::try_from(part).ok() != Some(self.rows.len())
        {
            return Err(damaged());
        }
        self.rows.push(key.len() + value.len());
        if self.body.len() <= packed::MAX_BYTES {
            self.body.extend_from_slice(bytes);
        }
        Ok(part.checked_add(1) == Some(head & !PACKED))
    }
}

/// Cuts what is packed into parts that fill the page they begin in, and those after it.
fn cut(bytes: &[u8], page: &mut PageFill) -> Vec<Vec<u8>> {
    let (mut parts, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let room = page.room().saturating_sub(PART_OVERHEAD);
        let most = if room < LEAST_PART { PageFill::whole() - PART_OVERHEAD } else { room };
        let (part, after) = rest.split_at_checked(most).unwrap_or((rest, &[]));
        page.put(PART_OVERHEAD + part.len());
        parts.push(part.to_vec());
        rest = after;
    }
    parts
}

fn write(store: &dyn Store, batch: &[Packed]) -> Result<()> {
    if batch.is_empty() {
        return Ok(());
    }
    store.write(WriteOptions::durability(Durability::Durable), &mut |rows| {
        for Packed { sequence, before, parts } in batch {
            let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
            for (part, bytes) in (0..count).zip(parts) {
                let key = keyspaces::change_part(*sequence, part);
                let value = records::seal(&key, |out| {
                    out.extend_from_slice(&(count | PACKED).to_be_bytes());
                    out.extend_from_slice(bytes);
                });
                rows.put(&key, &value)?;
            }
            // Those that it had more of before.
            for part in count..*before {
                rows.delete(&keyspaces::change_part(*sequence, part))?;
            }
        }
        Ok(())
    })
}
