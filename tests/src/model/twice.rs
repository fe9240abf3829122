//! A store that runs the closure of each write twice, as one may where several writers meet: what
//! it computes has to be the same again.

use std::fmt;

use leafbase::{Error, ErrorKind, Result};
use leafbase_store::kv::{MemoryStore, Snapshot, Store, Transaction, WriteOptions};

/// Over memory. `begin` is called before each closure, and again before its second run.
pub struct Twice<B> {
    store: MemoryStore,
    begin: B,
}

impl<B: Fn(bool) + Send + Sync + 'static> Twice<B> {
    /// An empty one. `begin` is told whether a closure is run for the second time.
    pub fn new(begin: B) -> Self {
        Self { store: MemoryStore::new(), begin }
    }
}

impl<B> fmt::Debug for Twice<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Twice").finish_non_exhaustive()
    }
}

impl<B: Fn(bool) + Send + Sync + 'static> Store for Twice<B> {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.store.snapshot()
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        (self.begin)(false);
        let mut refused = None;
        let undone = self.store.write(options, &mut |rows| {
            refused = f(rows).err();
            Err(Error::new(ErrorKind::Storage, "what this was decided on is not there"))
        });
        debug_assert!(undone.is_err(), "nothing is kept of the first run");
        (self.begin)(true);
        let done = self.store.write(options, f);
        assert_eq!(refused.is_some(), done.is_err(), "both runs end alike: {refused:?}, {done:?}");
        done
    }

    fn flush(&self) -> Result<()> {
        self.store.flush()
    }

    fn compact(&self) -> Result<()> {
        self.store.compact()
    }

    fn verify(&self) -> Result<bool> {
        self.store.verify()
    }

    fn bytes(&self) -> Result<u64> {
        self.store.bytes()
    }
}
