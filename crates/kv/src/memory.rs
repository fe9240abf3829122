//! A store without a file: a persistent tree, of which each snapshot keeps a version.

use std::fmt;
use std::ops::{Bound, ControlFlow};
use std::sync::{Arc, Mutex, PoisonError};

use leafbase_model::Result;
use rpds::RedBlackTreeMapSync;

use super::{KeyRange, Read, Snapshot, Store, Transaction, Visit, WriteOptions};

type Tree = RedBlackTreeMapSync<Arc<[u8]>, Arc<[u8]>>;

/// A store that lives in memory and goes with its last handle. A write costs the logarithm of what
/// is stored, a snapshot next to nothing; both durabilities promise the same.
#[derive(Default)]
pub struct MemoryStore {
    /// Held by the one writer at a time.
    writer: Mutex<()>,
    /// The state of the last write that returned. Held only to copy it or to set it.
    tree: Mutex<Tree>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Another store with what is in this one now. Costs next to nothing, whatever that is.
    pub fn copy(&self) -> Self {
        Self { writer: Mutex::default(), tree: Mutex::new(self.current()) }
    }

    fn current(&self) -> Tree {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

struct State(Tree);

impl Snapshot for State {
    fn approximate_len(&self) -> Option<u64> {
        Some(self.0.size() as u64)
    }
}

impl Read for State {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        match self.0.get(key) {
            Some(value) => visit(value).map(|()| true),
            None => Ok(false),
        }
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (range.lower, range.upper);
        let mut entries = self.0.range::<[u8], _>(bounds);
        while let Some((key, value)) =
            if range.reverse { entries.next_back() } else { entries.next() }
        {
            if visit(key, value)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Transaction for State {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.insert_mut(Arc::from(key), Arc::from(value));
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.0.remove_mut(key);
        Ok(())
    }

    fn delete_range(&mut self, lower: &[u8], upper: &[u8]) -> Result<()> {
        let mut keys: Vec<Arc<[u8]>> = Vec::new();
        self.scan(KeyRange::half_open(lower, upper), &mut |key, _| {
            keys.push(Arc::from(key));
            Ok(ControlFlow::Continue(()))
        })?;
        for key in keys {
            self.0.remove_mut(&*key);
        }
        Ok(())
    }
}

impl Store for MemoryStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(State(self.current())))
    }

    fn write(
        &self,
        _: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        let _writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = State(self.current());
        f(&mut state)?;
        let before = {
            let mut tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *tree, state.0)
        };
        // Freeing what nobody reads any more must not hold up a snapshot.
        drop(before);
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }

    fn compact(&self) -> Result<()> {
        Ok(())
    }

    fn verify(&self) -> Result<bool> {
        Ok(true)
    }

    fn bytes(&self) -> Result<u64> {
        Ok(self.current().iter().map(|(key, value)| (key.len() + value.len()) as u64).sum())
    }
}
