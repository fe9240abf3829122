//! Reads of the change log.

use std::ops::ControlFlow;

use leafbase_model::{Change, DocumentId, Result};

use super::{SpaceReader, totals};
use crate::keyspaces::{self, CHANGES, PACKED};
use crate::kv::KeyRange;
use crate::msgpack::Decoded;
use crate::records::{self, change, packed};

/// Reads the body of a change, by its number.
type Decode<T> = fn(u64, &[u8]) -> Decoded<T>;

/// A change whose parts are being read.
#[derive(Default)]
pub(crate) struct ChangeAssembler {
    /// The sequence of the change begun, and what its parts say of all of them.
    begun: Option<(u64, u32)>,
    read: u32,
    bytes: Vec<u8>,
}

impl ChangeAssembler {
    /// Takes the next part; gives the change if it was the last one.
    pub(crate) fn take(&mut self, key: &[u8], value: &[u8]) -> Result<Option<Change>> {
        self.take_as(change::decode, key, value)
    }

    /// The same, of which only some is read.
    fn take_as<T>(&mut self, decode: Decode<T>, key: &[u8], value: &[u8]) -> Result<Option<T>> {
        let damaged = || records::damaged(key);
        let (sequence, part) = keyspaces::read_change_part(key).ok_or_else(damaged)?;
        let (head, bytes) =
            records::body(key, value)?.split_first_chunk::<4>().ok_or_else(damaged)?;
        let head = u32::from_be_bytes(*head);
        let (count, is_packed) = (head & !PACKED, head & PACKED != 0);
        let begun = self.begun.unwrap_or((sequence, head));
        if begun != (sequence, head) || part != self.read || part >= count {
            return Err(damaged());
        }
        self.begun = Some(begun);
        self.read += 1;
        self.bytes.extend_from_slice(bytes);
        if self.read < count {
            return Ok(None);
        }
        let decoded = if is_packed {
            packed::unpack(&self.bytes).and_then(|body| decode(sequence, &body))
        } else {
            decode(sequence, &self.bytes)
        };
        let change = decoded.map_err(|fault| records::fault(key, fault))?;
        *self = Self::default();
        Ok(Some(change))
    }

    /// The change that lacks parts, if any.
    pub(crate) fn unfinished(&self) -> Option<u64> {
        self.begun.map(|(sequence, _)| sequence)
    }
}

impl SpaceReader<'_> {
    /// At most `limit` rows of the change log after the one numbered `sequence`.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`leafbase_model::ErrorKind::Corrupted`] also if a change is missing.
    pub fn changes_after(&self, sequence: u64, limit: usize) -> Result<Vec<Change>> {
        let changes = self.rows_after(sequence, limit, change::decode)?;
        Ok(changes.into_iter().map(|(_, change)| change).collect())
    }

    /// The documents that these rows name, each with its row's number. Costs less than the rows,
    /// whose edits are not looked at.
    ///
    /// # Errors
    /// As [`Self::changes_after`].
    pub fn changed_after(
        &self,
        sequence: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Vec<DocumentId>)>> {
        self.rows_after(sequence, limit, change::decode_documents)
    }

    fn rows_after<T>(
        &self,
        sequence: u64,
        limit: usize,
        decode: Decode<T>,
    ) -> Result<Vec<(u64, T)>> {
        let mut changes = Vec::new();
        let Some(first) = sequence.checked_add(1).filter(|_| limit > 0) else { return Ok(changes) };
        let (lower, upper) = (keyspaces::change_part(first, 0), keyspaces::end_of([CHANGES.tag]));
        let (mut parts, mut expected) = (ChangeAssembler::default(), first);
        self.read.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
            let row = keyspaces::read_change_part(key).map(|(sequence, _)| sequence);
            if row.is_some_and(|row| row != expected) {
                return Err(records::damaged(&keyspaces::change_part(expected, 0)));
            }
            let Some(change) = parts.take_as(decode, key, value)? else {
                return Ok(ControlFlow::Continue(()));
            };
            changes.push((expected, change));
            expected += 1;
            Ok(if changes.len() < limit {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        let is_missing = parts.unfinished().is_some()
            || changes.len() < limit && expected <= self.last_sequence()?;
        if is_missing {
            Err(records::damaged(&keyspaces::change_part(expected, 0)))
        } else {
            Ok(changes)
        }
    }

    /// The number of the last row of the change log; 0 if there is none.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn last_sequence(&self) -> Result<u64> {
        Ok(totals(self.read)?.sequence)
    }
}
