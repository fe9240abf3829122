//! A store that lies over another one counts what is looked up in it, by reads and by writes, and
//! may fail.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use leafbase::{Error, ErrorKind, Result};
use leafbase_store::kv::{
    KeyRange, MemoryStore, Read, Snapshot, Store, Transaction, Visit, WriteOptions,
};

#[derive(Clone, Debug, Default)]
pub struct Counting {
    store: Arc<MemoryStore>,
    counts: Arc<Counts>,
    fails: Arc<Mutex<Option<Fault>>>,
}

/// What snapshots and writes say, after how many more of them.
type Fault = (ErrorKind, &'static str, usize);

#[derive(Debug, Default)]
struct Counts {
    gets: AtomicUsize,
    scans: AtomicUsize,
    /// After so many more of them one fails.
    left: Mutex<Option<usize>>,
}

impl Counts {
    fn check(&self) -> Result<()> {
        let mut left = self.left.lock().unwrap();
        let fails = *left == Some(0);
        *left = left.and_then(|left| left.checked_sub(1));
        if fails { Err(Error::new(ErrorKind::Storage, "a read of zqcanary")) } else { Ok(()) }
    }
}

impl Counting {
    /// Every snapshot and write fails so after so many more, or none.
    pub fn fail(&self, how: Option<Fault>) {
        *self.fails.lock().unwrap() = how;
    }

    /// One read of a key or a range fails after so many more, or none. Whether the one that was to
    /// fail did so.
    pub fn fail_read(&self, left: Option<usize>) -> bool {
        std::mem::replace(&mut *self.counts.left.lock().unwrap(), left).is_none()
    }

    fn check(&self) -> Result<()> {
        match &mut *self.fails.lock().unwrap() {
            Some((kind, message, 0)) => Err(Error::new(*kind, *message)),
            Some((_, _, left)) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// How many keys and ranges were read since the store was made.
    pub fn counts(&self) -> [usize; 2] {
        let Counts { gets, scans, .. } = &*self.counts;
        [gets, scans].map(|count| count.load(Ordering::Relaxed))
    }
}

fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn get(
    read: &dyn Read,
    counts: &Counts,
    key: &[u8],
    visit: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<bool> {
    count(&counts.gets);
    counts.check()?;
    read.get(key, visit)
}

fn scan(read: &dyn Read, counts: &Counts, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
    count(&counts.scans);
    counts.check()?;
    read.scan(range, visit)
}

struct Watched<'c>(Box<dyn Snapshot + 'c>, Arc<Counts>);

impl Snapshot for Watched<'_> {
    fn version(&self) -> Option<u64> {
        self.0.version()
    }
}

impl Read for Watched<'_> {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        get(&*self.0, &self.1, key, visit)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        scan(&*self.0, &self.1, range, visit)
    }
}

struct Writing<'t>(&'t mut dyn Transaction, Arc<Counts>);

impl Read for Writing<'_> {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        get(&*self.0, &self.1, key, visit)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        scan(&*self.0, &self.1, range, visit)
    }
}

impl Transaction for Writing<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.put(key, value)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.0.delete(key)
    }

    fn delete_range(&mut self, lower: &[u8], upper: &[u8]) -> Result<()> {
        self.0.delete_range(lower, upper)
    }
}

impl Store for Counting {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.check()?;
        Ok(Box::new(Watched(self.store.snapshot()?, Arc::clone(&self.counts))))
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        self.check()?;
        self.store.write(options, &mut |transaction| {
            f(&mut Writing(transaction, Arc::clone(&self.counts)))
        })
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
