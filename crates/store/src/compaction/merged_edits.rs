//! Edits of one text that compaction merges: a change per keystroke becomes one per session.
//!
//! A merged change covers the sequences of all that it is made of, has what the first of them
//! replaced and what the last one wrote, and keeps the token, time and author of the last one.

use std::mem;
use std::ops::ControlFlow;

use leafbase_model::{BlockData, Change, Edit, Result, invariant};

use super::batches::BATCH_BYTES;
use crate::change_parts::{ChangeBody, ChangeParts, put_change};
use crate::keyspaces;
use crate::kv::{KeyRange, Transaction};
use crate::records::change::{ChangeEncoder, ChangeIdentity, EncodedBlocks, TouchedDocument};

/// Changes of one author to one text, in a row, that become one.
struct EditSession {
    /// The merged change.
    change: Change,
    /// What it touches, as the first of them names it.
    touched: Vec<TouchedDocument>,
    /// Last sequence and number of parts of each.
    rows: Vec<(u64, u32)>,
}

impl EditSession {
    /// A session of one change, if that does nothing but edit one text.
    fn begin(body: &ChangeBody) -> Result<Option<Self>> {
        let change = body.change()?;
        if !is_text_edit(&change) {
            return Ok(None);
        }
        let rows = vec![(body.sequence, body.parts())];
        Ok(Some(Self { change, touched: body.documents()?, rows }))
    }

    /// Adds the session `next`, if it goes on with the same text, by the same author and in time.
    /// Returns `next` otherwise.
    fn join(&mut self, mut next: Self, within_millis: u64) -> Option<Self> {
        let (one, other) = (&mut self.change, &mut next.change);
        let gap = other.stamp.at.as_millis().checked_sub(one.stamp.at.as_millis());
        let is_in_time =
            gap.is_some_and(|gap| u64::try_from(gap).is_ok_and(|gap| gap <= within_millis));
        let ([Edit::Update { after, .. }], [Edit::Update { before, after: last, .. }]) =
            (one.edits.as_mut_slice(), other.edits.as_mut_slice())
        else {
            return Some(next);
        };
        if !is_in_time
            || other.first_sequence != one.sequence + 1
            || other.stamp.by != one.stamp.by
            || other.documents != one.documents
            || before != after
        {
            return Some(next);
        }
        mem::swap(after, last);
        one.sequence = other.sequence;
        one.token = other.token;
        mem::swap(&mut one.stamp, &mut other.stamp);
        self.rows.append(&mut next.rows);
        None
    }

    /// Writes the merged change in place of those that it is made of.
    fn write(self, rows: &mut dyn Transaction) -> Result<()> {
        let Self { change, touched, rows: merged } = self;
        if merged.len() < 2 {
            return Ok(());
        }
        for (sequence, parts) in merged {
            for part in 0..parts {
                rows.delete(&keyspaces::change_part(sequence, part))?;
            }
        }
        let mut log = ChangeEncoder::default();
        for edit in &change.edits {
            let Edit::Update { before, after, .. } = edit else {
                // Left out of the merged change it would be lost: the changes that it replaces are
                // gone.
                invariant!("a session of edits updates one text")
            };
            log.push(edit, &EncodedBlocks::of([&**before, &**after].into_iter()));
        }
        let Change { sequence, first_sequence, token, .. } = change;
        let identity = ChangeIdentity { first_sequence, sequence, token };
        put_change(rows, identity, log.body(&change.stamp, &touched))?;
        Ok(())
    }
}

/// Whether a change updates the text of one block and nothing else.
fn is_text_edit(change: &Change) -> bool {
    let [Edit::Update { before, after, .. }] = change.edits.as_slice() else { return false };
    let text = &after.data.inline;
    !before.is_redacted()
        && before.rev != after.rev
        && before.data.inline != *text
        && BlockData { inline: text.clone(), ..before.data.clone() } == after.data
}

/// Merges the next changes up to the sequence `last`, beginning with `first`. Returns the sequence
/// to go on with; `None` at the end.
pub(super) fn merge_batch(
    rows: &mut dyn Transaction,
    first: u64,
    last: u64,
    within_millis: u64,
) -> Result<Option<u64>> {
    let lower = keyspaces::change_part(first, 0);
    let upper = keyspaces::change_part(last, u32::MAX);
    if lower >= upper {
        return Ok(None);
    }
    let (mut parts, mut sessions, mut bytes, mut next) =
        (ChangeParts::default(), Vec::<EditSession>::new(), 0, None);
    let mut is_open = false;
    rows.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
        bytes += value.len();
        let Some(body) = parts.push(key, value)? else { return Ok(ControlFlow::Continue(())) };
        let begun = EditSession::begin(&body)?;
        let ends = begun.is_none();
        let rest = match (begun, sessions.last_mut().filter(|_| is_open)) {
            (Some(begun), Some(session)) => session.join(begun, within_millis),
            (begun, _) => begun,
        };
        sessions.extend(rest);
        is_open = !ends;
        if bytes < BATCH_BYTES {
            return Ok(ControlFlow::Continue(()));
        }
        // A session goes on in the next batch, where it is one change; a change alone is passed.
        let goes_on = is_open && sessions.last().is_some_and(|session| session.rows.len() > 1);
        next = if goes_on { Some(body.sequence) } else { body.sequence.checked_add(1) };
        Ok(ControlFlow::Break(()))
    })?;
    for session in sessions {
        session.write(rows)?;
    }
    Ok(next)
}
