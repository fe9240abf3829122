//! The embedded store, with what it is asked for counted: reads and commits at the trait, syncs at
//! the files.

use std::fs::{self, File};
use std::io;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use leafbase::Result;
use leafbase_store::kv::{
    CommitSignal, KeyRange, OpenOptions, Read, RedbStore, Snapshot, Store, StoreFiles, Transaction,
    Visit, VisitMany, WriteBatch, WriteOptions,
};
use redb::StorageBackend;
use redb::backends::FileBackend;

/// What a store was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoreCounts {
    /// Keys that were looked up.
    pub(crate) lookups: u64,
    /// Ranges that were scanned.
    pub(crate) ranges: u64,
    /// Entries that were read of them.
    pub(crate) entries: u64,
    /// Transactions that committed.
    pub(crate) commits: u64,
    /// Syncs of a file or a directory.
    pub(crate) syncs: u64,
}

/// Counts that the store, its transactions and its files add to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counter(Arc<Mutex<StoreCounts>>);

impl Counter {
    fn add(&self, count: impl FnOnce(&mut StoreCounts) -> &mut u64, more: usize) {
        count(&mut self.0.lock().unwrap()).add_assign(more as u64);
    }

    /// What was counted since the last call.
    pub(crate) fn take(&self) -> StoreCounts {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A store in a directory that counts.
#[derive(Debug)]
pub(crate) struct CountedStore {
    store: RedbStore,
    counter: Counter,
}

impl CountedStore {
    /// Creates an empty store in the directory `folder`.
    pub(crate) fn create(folder: &Path, counter: &Counter) -> Result<Self> {
        let files = CountedFiles { folder: folder.to_owned(), counter: counter.clone() };
        let store = RedbStore::with_files(files, &OpenOptions::new())?;
        Ok(Self { store, counter: counter.clone() })
    }
}

impl Store for CountedStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let snapshot = self.store.snapshot()?;
        Ok(Box::new(CountedSnapshot { snapshot, counter: self.counter.clone() }))
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        self.store.write(options, &mut |transaction| {
            f(&mut CountedTransaction { transaction, counter: &self.counter })
        })?;
        self.counter.add(|counts| &mut counts.commits, 1);
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        self.store.flush()
    }

    fn sync_overdue(&self, now: &dyn Fn() -> i64) -> Result<()> {
        self.store.sync_overdue(now)
    }

    fn commit_signal(&self) -> Option<Arc<CommitSignal>> {
        self.store.commit_signal()
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

fn get(
    read: &(impl Read + ?Sized),
    counter: &Counter,
    key: &[u8],
    visit: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<bool> {
    counter.add(|counts| &mut counts.lookups, 1);
    read.get(key, visit)
}

fn get_many(
    read: &(impl Read + ?Sized),
    counter: &Counter,
    keys: &[&[u8]],
    visit: VisitMany<'_>,
) -> Result<()> {
    counter.add(|counts| &mut counts.lookups, keys.len());
    read.get_many(keys, visit)
}

fn scan(
    read: &(impl Read + ?Sized),
    counter: &Counter,
    range: KeyRange<'_>,
    visit: Visit<'_>,
) -> Result<()> {
    counter.add(|counts| &mut counts.ranges, 1);
    read.scan(range, &mut |key, value| {
        counter.add(|counts| &mut counts.entries, 1);
        visit(key, value)
    })
}

struct CountedSnapshot {
    snapshot: Box<dyn Snapshot>,
    counter: Counter,
}

impl Read for CountedSnapshot {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        get(&*self.snapshot, &self.counter, key, visit)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        scan(&*self.snapshot, &self.counter, range, visit)
    }

    fn get_many(&self, keys: &[&[u8]], visit: VisitMany<'_>) -> Result<()> {
        get_many(&*self.snapshot, &self.counter, keys, visit)
    }
}

impl Snapshot for CountedSnapshot {
    fn approximate_len(&self) -> Option<u64> {
        self.snapshot.approximate_len()
    }

    fn version(&self) -> Option<u64> {
        self.snapshot.version()
    }
}

struct CountedTransaction<'a> {
    transaction: &'a mut dyn Transaction,
    counter: &'a Counter,
}

impl Read for CountedTransaction<'_> {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        get(&*self.transaction, self.counter, key, visit)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        scan(&*self.transaction, self.counter, range, visit)
    }

    fn get_many(&self, keys: &[&[u8]], visit: VisitMany<'_>) -> Result<()> {
        get_many(&*self.transaction, self.counter, keys, visit)
    }
}

impl Transaction for CountedTransaction<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.transaction.put(key, value)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.transaction.delete(key)
    }

    fn apply(&mut self, batch: &WriteBatch) -> Result<()> {
        self.transaction.apply(batch)
    }

    fn delete_range(&mut self, lower: &[u8], upper: &[u8]) -> Result<()> {
        self.transaction.delete_range(lower, upper)
    }
}

#[derive(Debug)]
struct CountedFiles {
    folder: PathBuf,
    counter: Counter,
}

impl CountedFiles {
    fn backend(&self, file: File) -> io::Result<Box<dyn StorageBackend>> {
        let file = FileBackend::new(file).map_err(io::Error::other)?;
        Ok(Box::new(CountedFile { file, counter: self.counter.clone() }))
    }

    fn wal(&self) -> PathBuf {
        self.folder.join("wal")
    }
}

impl StoreFiles for CountedFiles {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        self.backend(options.open(self.folder.join("store"))?)
    }

    fn open_wal(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.backend(File::open(self.wal())?)
    }

    fn create_wal(&self) -> io::Result<Box<dyn StorageBackend>> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(true);
        self.backend(options.open(self.wal())?)
    }

    fn sync_wal_name(&self) -> io::Result<()> {
        self.counter.add(|counts| &mut counts.syncs, 1);
        Ok(())
    }

    fn remove_wal(&self) {
        let _ = fs::remove_file(self.wal());
    }
}

#[derive(Debug)]
struct CountedFile {
    file: FileBackend,
    counter: Counter,
}

impl StorageBackend for CountedFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    /// What is counted need not reach the disk.
    fn sync_data(&self) -> io::Result<()> {
        self.counter.add(|counts| &mut counts.syncs, 1);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }
}
