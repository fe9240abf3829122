//! The changes that one connection makes, for those who undo them.

use std::sync::{Mutex, PoisonError};

use leafbase_model::{BlockData, BlockId, Change, Edit, Timestamp};

/// A change that a connection made.
#[derive(Clone, Debug)]
pub(crate) struct RecordedChange {
    pub(crate) sequence: u64,
    pub(crate) at: Timestamp,
    /// The block, if the change is an edit of one text and nothing else.
    pub(crate) typed_in: Option<BlockId>,
}

/// Records changes until they are taken.
#[derive(Debug, Default)]
pub(crate) struct ChangeRecorder(Mutex<Vec<RecordedChange>>);

impl ChangeRecorder {
    pub(crate) fn record(&self, change: &Change) {
        let typed_in = match change.edits.as_slice() {
            [Edit::Update { before, after, .. }] => {
                let is_text = before.data.inline != after.data.inline;
                let typed = BlockData { inline: after.data.inline.clone(), ..before.data.clone() };
                (is_text && typed.is_same_content(&after.data)).then_some(after.id)
            }
            _ => None,
        };
        let recorded = RecordedChange { sequence: change.sequence, at: change.stamp.at, typed_in };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(recorded);
    }

    /// Takes a change back that was taken and not needed.
    pub(crate) fn put_back(&self, change: RecordedChange) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(change);
    }

    /// The changes since the last call, in order.
    pub(crate) fn take(&self) -> Vec<RecordedChange> {
        let mut changes =
            std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        // Threads that share the connection record in the order in which their calls return.
        changes.sort_by_key(|change| change.sequence);
        changes
    }
}
