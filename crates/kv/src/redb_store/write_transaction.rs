//! A write transaction: changes its own version of the memtable, which commits or is dropped.

use std::mem;
use std::ops::ControlFlow;

use leafbase_model::{Result, invariant};

use super::read_view::ReadView;
use super::written_entries::WrittenEntries;
use crate::memtable::Entry;
use crate::store::{KeyRange, Read, Transaction, Visit};
use crate::write_batch::WriteBatch;

/// Batches of at least this many entries are sorted and inserted at once.
const MIN_SORTED_BATCH: usize = 8;

/// The writes of one closure.
pub(super) struct WriteTransaction {
    pub(super) view: ReadView,
    pub(super) written: WrittenEntries,
    /// Memory for the entries of a batch; empty between batches.
    batched: Vec<Entry>,
    scratch: Vec<u8>,
}

impl WriteTransaction {
    pub(super) fn new(view: ReadView) -> Self {
        let (written, batched) = (WrittenEntries::default(), Vec::new());
        Self { view, written, batched, scratch: Vec::new() }
    }

    fn write(&mut self, entry: Entry) -> Result<()> {
        let replaced = self.view.memtable.insert(&entry)?;
        self.written.push(entry, replaced.as_ref())
    }

    fn insert(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        let entry = Entry::with_scratch(&mut self.scratch, key, value)?;
        self.write(entry)
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
        let mut entries = mem::take(&mut self.batched);
        Entry::append_batch(batch, &mut entries)?;
        let (count, before) = (entries.len(), self.view.memtable.len());
        if count < MIN_SORTED_BATCH {
            entries.drain(..).try_for_each(|entry| self.write(entry))?;
        } else {
            // One entry of each key is left: large ones may be written before the others.
            Entry::sort(&mut entries);
            entries.extract_if(.., |entry| entry.is_large()).try_for_each(|it| self.write(it))?;
            self.view.memtable.insert_sorted(&entries)?;
            self.written.append(&mut entries);
        }
        self.batched = entries;
        invariant!(
            (before..=before + count).contains(&self.view.memtable.len()),
            "a batch adds at most its own keys to the memtable, and removes none"
        );
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
