//! A store that lies over another one: it counts the rows that snapshots read, and its writes may
//! fail.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use leafbase::{Error, ErrorKind};
use leafbase_store::kv::{
    KeyRange, MemoryStore, Read, Snapshot, Store, Transaction, Visit, WriteOptions,
};

#[derive(Clone, Debug)]
pub struct Wrapped {
    store: Arc<dyn Store>,
    counts: Counts,
    fails: Arc<Mutex<Option<ErrorKind>>>,
}

/// Rows that were read, by the first byte of their keys.
#[derive(Clone, Debug)]
struct Counts(Arc<[AtomicUsize; 256]>);

impl Counts {
    fn add(&self, key: &[u8]) {
        let tag = key.first().copied().unwrap_or_default();
        self.0[usize::from(tag)].fetch_add(1, Ordering::Relaxed);
    }
}

impl Wrapped {
    /// A store in memory.
    pub fn new() -> Self {
        Self::over(Arc::new(MemoryStore::new()))
    }

    pub fn over(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            counts: Counts(Arc::new([const { AtomicUsize::new(0) }; 256])),
            fails: Arc::default(),
        }
    }

    /// From now on every write fails so, or none does.
    pub fn fail(&self, kind: Option<ErrorKind>) {
        *self.fails.lock().unwrap() = kind;
    }

    /// What `look` gives, and how many rows of this keyspace it reads in snapshots.
    pub fn counting<T>(&self, keyspace: u8, look: impl FnOnce() -> T) -> (T, usize) {
        let counted = || self.counts.0[usize::from(keyspace)].load(Ordering::Relaxed);
        let before = counted();
        let found = look();
        (found, counted() - before)
    }
}

struct Watched(Box<dyn Snapshot>, Counts);

impl Snapshot for Watched {
    fn version(&self) -> Option<u64> {
        self.0.version()
    }
}

impl Read for Watched {
    fn get(
        &self,
        key: &[u8],
        visit: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        self.1.add(key);
        self.0.get(key, visit)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<(), Error> {
        self.0.scan(range, &mut |key, value| {
            self.1.add(key);
            visit(key, value)
        })
    }
}

impl Store for Wrapped {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, Error> {
        Ok(Box::new(Watched(self.store.snapshot()?, self.counts.clone())))
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let fails = *self.fails.lock().unwrap();
        match fails {
            Some(kind) => Err(Error::new(kind, "no write")),
            None => self.store.write(options, f),
        }
    }

    fn flush(&self) -> Result<(), Error> {
        self.store.flush()
    }

    fn compact(&self) -> Result<(), Error> {
        self.store.compact()
    }

    fn verify(&self) -> Result<bool, Error> {
        self.store.verify()
    }

    fn bytes(&self) -> Result<u64, Error> {
        self.store.bytes()
    }
}
