//! A store in memory: a persistent tree, of which each snapshot holds a version.

use std::fmt;
use std::mem;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use leafbase_model::Result;

use crate::commit_signal::CommitSignal;
use crate::memtable::{Entry, Memtable};
use crate::store::{KeyRange, Read, Snapshot, Store, Transaction, Visit, WriteOptions};

/// A store in memory, dropped with its last handle. Writes cost the logarithm of its size, a
/// snapshot costs one reference count. Both durabilities are the same.
#[derive(Default)]
pub struct MemoryStore {
    /// Serialises write closures.
    writer_lock: Mutex<()>,
    /// The last committed state. Held only to clone or to replace it.
    committed: Mutex<MemoryState>,
    signal: Arc<CommitSignal>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// A second store with the current contents of this one. Costs one reference count.
    pub fn copy(&self) -> Self {
        Self { committed: Mutex::new(self.current()), ..Self::default() }
    }

    fn current(&self) -> MemoryState {
        self.committed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

/// A version of the tree. It never holds a tombstone.
#[derive(Clone, Default)]
struct MemoryState {
    entries: Memtable,
    /// The number of commits that led to it.
    commits: u64,
}

impl Snapshot for MemoryState {
    fn approximate_len(&self) -> Option<u64> {
        Some(self.entries.len() as u64)
    }

    fn version(&self) -> Option<u64> {
        Some(self.commits)
    }
}

impl Read for MemoryState {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        match self.entries.get(key).and_then(Entry::value) {
            Some(value) => visit(value).map(|()| true),
            None => Ok(false),
        }
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        for entry in self.entries.range(range.lower, range.upper, range.reverse) {
            debug_assert!(entry.value().is_some(), "broken invariant: deletes leave no tombstone");
            if let Some(value) = entry.value()
                && visit(entry.key(), value)?.is_break()
            {
                break;
            }
        }
        Ok(())
    }
}

impl Transaction for MemoryState {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.entries.insert(&Entry::new(key, Some(value))?).map(drop)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.entries.remove(key);
        Ok(())
    }

    fn delete_range(&mut self, lower: &[u8], upper: &[u8]) -> Result<()> {
        let mut keys = Vec::new();
        self.scan(KeyRange::half_open(lower, upper), &mut |key, _| {
            keys.push(Arc::<[u8]>::from(key));
            Ok(ControlFlow::Continue(()))
        })?;
        keys.iter().try_for_each(|key| self.delete(key))
    }
}

impl Store for MemoryStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(self.current()))
    }

    fn write(
        &self,
        _: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        let _writer = self.writer_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.current();
        f(&mut state)?;
        state.commits += 1;
        let previous = {
            let mut committed = self.committed.lock().unwrap_or_else(PoisonError::into_inner);
            mem::replace(&mut *committed, state)
        };
        // Freeing nodes that no snapshot shares must not block `snapshot`.
        drop(previous);
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }

    fn commit_signal(&self) -> Option<Arc<CommitSignal>> {
        Some(Arc::clone(&self.signal))
    }

    fn compact(&self) -> Result<()> {
        Ok(())
    }

    fn verify(&self) -> Result<bool> {
        Ok(true)
    }

    fn bytes(&self) -> Result<u64> {
        Ok(self.current().entries.iter().map(|entry| entry.len() as u64).sum())
    }
}
