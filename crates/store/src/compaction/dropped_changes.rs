//! Changes that compaction drops: those before the bounds of a retention.

use std::ops::ControlFlow;

use leafbase_model::{ChangePosition, Result};

use super::batches::BATCH_BYTES;
use crate::change_parts::{ChangeParts, PartHeader};
use crate::keyspaces::{self, CHANGES};
use crate::kv::{KeyRange, Read, Transaction};
use crate::log_retention::LogRetention;
use crate::lookup::put_log_beginning;
use crate::records;

/// The sequence up to which changes are dropped, at most `last`; 0 for none.
pub(super) fn last_to_drop(read: &dyn Read, retention: &LogRetention, last: u64) -> Result<u64> {
    let mut cut = retention.changes.map_or(0, |kept| last.saturating_sub(kept));
    if let Some(kept) = retention.bytes {
        cut = cut.max(last_beyond(read, kept)?);
    }
    if let Some(since) = retention.since {
        let mut parts = ChangeParts::default();
        let (lower, upper) = ([CHANGES.tag], keyspaces::prefix_end([CHANGES.tag]));
        read.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
            let Some(body) = parts.push(key, value)? else {
                return Ok(ControlFlow::Continue(()));
            };
            if body.stamp()?.at >= since {
                return Ok(ControlFlow::Break(()));
            }
            cut = cut.max(body.sequence);
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(cut.min(last))
}

/// The last change that does not fit into `kept` bytes with all that follow it.
fn last_beyond(read: &dyn Read, kept: u64) -> Result<u64> {
    let (lower, upper) = ([CHANGES.tag], keyspaces::prefix_end([CHANGES.tag]));
    let newest_first = KeyRange { reverse: true, ..KeyRange::half_open(&lower, &upper) };
    let (mut bytes, mut beyond) = (0, 0);
    read.scan(newest_first, &mut |key, value| {
        bytes += (key.len() + value.len()) as u64;
        if bytes <= kept {
            return Ok(ControlFlow::Continue(()));
        }
        let (sequence, _) =
            keyspaces::parse_change_part(key).ok_or_else(|| records::corrupt(key))?;
        beyond = sequence;
        Ok(ControlFlow::Break(()))
    })?;
    Ok(beyond)
}

/// Drops the next changes up to `cut`, and records where the log begins then. Returns the sequence
/// to go on with; `None` at the end. A merged change goes with its last sequence.
pub(super) fn drop_batch(rows: &mut dyn Transaction, first: u64, cut: u64) -> Result<Option<u64>> {
    let lower = keyspaces::change_part(first, 0);
    let upper = keyspaces::change_part(cut.saturating_add(1), 0);
    if lower >= upper {
        return Ok(None);
    }
    let (mut keys, mut bytes, mut last, mut next) = (Vec::new(), 0, None, None);
    rows.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
        let (sequence, part) =
            keyspaces::parse_change_part(key).ok_or_else(|| records::corrupt(key))?;
        // A change goes as a whole.
        if part == 0 && bytes >= BATCH_BYTES {
            next = Some(sequence);
            return Ok(ControlFlow::Break(()));
        }
        let token = PartHeader::read(key, value)?.0.token;
        last = Some(ChangePosition::new(sequence, token));
        bytes += value.len();
        keys.push(key.to_vec());
        Ok(ControlFlow::Continue(()))
    })?;
    for key in &keys {
        rows.delete(key)?;
    }
    if let Some(last) = last {
        put_log_beginning(rows, last)?;
    }
    Ok(next)
}
