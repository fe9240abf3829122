//! A committed state with a version of the memtable over it.

use std::ops::ControlFlow;
use std::sync::Arc;

use leafbase_model::Result;

use super::committed_state::CommittedState;
use crate::memtable::{Entry, Memtable};
use crate::store::{KeyRange, Read, Snapshot, Visit};

/// The state that a snapshot or a transaction reads.
pub(super) struct ReadView {
    pub(super) base: Arc<CommittedState>,
    pub(super) memtable: Memtable,
    /// The number of the committed version; `None` for the view of a closure.
    pub(super) version: Option<u64>,
}

impl Snapshot for ReadView {
    /// Ignores the memtable: it is small, and most of its entries replace one of the base.
    fn approximate_len(&self) -> Option<u64> {
        self.base.len().ok()
    }

    fn version(&self) -> Option<u64> {
        self.version
    }
}

impl Read for ReadView {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        if !self.memtable.is_empty()
            && let Some(entry) = self.memtable.get(key)
        {
            return entry.value().map_or(Ok(false), |value| visit(value).map(|()| true));
        }
        self.base.get(key, visit)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        if self.memtable.is_empty() {
            return self.base.scan(range, visit);
        }
        let entries = self.memtable.range(range.lower, range.upper, range.reverse);
        if range.reverse {
            self.merge(range, entries, |entry, key| entry > key, visit)
        } else {
            self.merge(range, entries, |entry, key| entry < key, visit)
        }
    }
}

impl ReadView {
    /// Merges the base with `entries`, both in scan order. An entry of the memtable replaces the
    /// one of the base with the same key; a tombstone hides it.
    fn merge<'e>(
        &self,
        range: KeyRange<'_>,
        entries: impl Iterator<Item = &'e Entry>,
        precedes: impl Fn(&[u8], &[u8]) -> bool,
        visit: Visit<'_>,
    ) -> Result<()> {
        let mut entries = entries.peekable();
        let mut is_stopped = false;
        self.base.scan(range, &mut |key, value| {
            while let Some(entry) = entries.next_if(|entry| precedes(entry.key(), key)) {
                if let Some(value) = entry.value()
                    && visit(entry.key(), value)?.is_break()
                {
                    is_stopped = true;
                    return Ok(ControlFlow::Break(()));
                }
            }
            let flow = match entries.next_if(|entry| entry.key() == key).map(Entry::value) {
                Some(Some(newer)) => visit(key, newer)?,
                Some(None) => ControlFlow::Continue(()),
                None => visit(key, value)?,
            };
            is_stopped = flow.is_break();
            Ok(flow)
        })?;
        if is_stopped {
            return Ok(());
        }
        // Entries past the last key of the base.
        for entry in entries {
            if let Some(value) = entry.value()
                && visit(entry.key(), value)?.is_break()
            {
                break;
            }
        }
        Ok(())
    }
}
