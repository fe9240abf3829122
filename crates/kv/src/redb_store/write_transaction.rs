//! A write transaction: changes its own version of the memtable, which commits or is dropped.

use std::ops::ControlFlow;

use leafbase_model::{Result, invariant};

use super::read_view::ReadView;
use crate::memtable::Entry;
use crate::store::{KeyRange, Read, Transaction, Visit};
use crate::write_batch::WriteBatch;

/// Batches of at least this many entries are sorted and inserted at once.
const MIN_SORTED_BATCH: usize = 8;

/// The writes of one closure.
pub(super) struct WriteTransaction {
    pub(super) view: ReadView,
    /// Bytes written, for the bounds of the memtable.
    pub(super) bytes: usize,
    /// The entries written, possibly several of one key.
    pub(super) written: Vec<Entry>,
    scratch: Vec<u8>,
}

impl WriteTransaction {
    pub(super) fn new(view: ReadView) -> Self {
        Self { view, bytes: 0, written: Vec::new(), scratch: Vec::new() }
    }

    fn insert(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        let entry = Entry::with_scratch(&mut self.scratch, key, value)?;
        self.bytes += entry.len();
        self.view.memtable.insert(&entry)?;
        self.written.push(entry);
        Ok(())
    }
}

impl Read for WriteTransaction {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        self.view.get(key, visit)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        self.view.scan(range, visit)
    }
}

impl Transaction for WriteTransaction {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert(key, Some(value))
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.insert(key, None)
    }

    fn apply(&mut self, batch: &WriteBatch) -> Result<()> {
        let mut entries = Entry::from_batch(batch)?;
        let before = self.view.memtable.len();
        self.bytes += entries.iter().map(Entry::len).sum::<usize>();
        if entries.len() < MIN_SORTED_BATCH {
            for entry in &entries {
                self.view.memtable.insert(entry)?;
            }
        } else {
            Entry::sort(&mut entries);
            self.view.memtable.insert_sorted(&entries)?;
        }
        invariant!(
            (before..=before + entries.len()).contains(&self.view.memtable.len()),
            "a batch adds at most its own keys to the memtable, and removes none"
        );
        self.written.extend(entries);
        Ok(())
    }

    fn delete_range(&mut self, lower: &[u8], upper: &[u8]) -> Result<()> {
        let mut tombstones = WriteBatch::default();
        self.view.scan(KeyRange::half_open(lower, upper), &mut |key, _| {
            tombstones.delete(key);
            Ok(ControlFlow::Continue(()))
        })?;
        self.apply(&tombstones)
    }
}
