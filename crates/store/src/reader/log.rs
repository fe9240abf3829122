//! Reads of the change log.

use std::ops::ControlFlow;

use leafbase_model::{Change, DocumentId, Result};

use super::SpaceReader;
use crate::change_parts::ChangeParts;
use crate::keyspaces::{self, CHANGES};
use crate::kv::KeyRange;
use crate::lookup::space_totals;
use crate::msgpack::Decoded;
use crate::records::{self, change};

impl SpaceReader<'_> {
    /// The changes after `sequence`, at most `limit`.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`leafbase_model::ErrorKind::Corrupted`] also if a change is missing.
    pub fn changes_after(&self, sequence: u64, limit: usize) -> Result<Vec<Change>> {
        let changes = self.decode_after(sequence, limit, change::decode)?;
        Ok(changes.into_iter().map(|(_, change)| change).collect())
    }

    /// The sequence of each of these changes with the documents that it touches. Does not decode
    /// their edits.
    ///
    /// # Errors
    /// As [`Self::changes_after`].
    pub fn changed_after(
        &self,
        sequence: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Vec<DocumentId>)>> {
        self.decode_after(sequence, limit, change::decode_documents)
    }

    fn decode_after<T>(
        &self,
        sequence: u64,
        limit: usize,
        decode: fn(u64, &[u8]) -> Decoded<T>,
    ) -> Result<Vec<(u64, T)>> {
        let mut changes = Vec::new();
        let Some(first) = sequence.checked_add(1).filter(|_| limit > 0) else { return Ok(changes) };
        let lower = keyspaces::change_part(first, 0);
        let upper = keyspaces::prefix_end([CHANGES.tag]);
        let (mut parts, mut expected) = (ChangeParts::default(), first);
        self.read.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
            let found = keyspaces::parse_change_part(key).map(|(sequence, _)| sequence);
            // Sequences have no gap: another one here means that a change is missing.
            if found.is_some_and(|found| found != expected) {
                return Err(records::corrupt(&keyspaces::change_part(expected, 0)));
            }
            let Some(body) = parts.push(key, value)? else {
                return Ok(ControlFlow::Continue(()));
            };
            changes.push((expected, body.decode(decode)?));
            expected += 1;
            Ok(if changes.len() < limit {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        // The totals reveal changes that are missing at the end.
        let is_missing = parts.incomplete().is_some()
            || changes.len() < limit && expected <= self.last_sequence()?;
        if is_missing {
            Err(records::corrupt(&keyspaces::change_part(expected, 0)))
        } else {
            Ok(changes)
        }
    }

    /// The sequence of the last change; 0 without changes.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn last_sequence(&self) -> Result<u64> {
        Ok(space_totals(self.read)?.sequence)
    }
}
