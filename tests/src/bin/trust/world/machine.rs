//! A space on a simulated disk, its search index with it.

use std::collections::HashSet;
use std::hash::Hasher;
use std::io;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use leafbase::{
    Clock, Connection, Durability, IdSource, IndexDirectories, IndexStorage, Result,
    SearchIndexing, Space, SpaceBuilder, Timestamp,
};
use leafbase_store::directory::RECORD_FORMAT;
use leafbase_store::kv::{KeyRange, OpenOptions, RedbStore, Store};
use leafbase_store::testkit::{Disk, DiskFiles};

/// 2026-01-01T00:00:00Z.
const BEGINNING: u64 = 1_767_225_600_000;

/// Time that goes on by a second with each call that asks for it, and IDs that count. Copies are
/// the same.
#[derive(Clone, Debug, Default)]
pub struct Present(Arc<AtomicU64>);

impl IdSource for Present {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        let number = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        // Spread, as random IDs are.
        let spread = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (u128::from(spread) << 64 | u128::from(number)).to_be_bytes()
    }
}

impl Clock for Present {
    fn now(&self) -> Timestamp {
        let seconds = self.0.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_millis(i64::try_from(BEGINNING + 1_000 * seconds).unwrap_or_default())
    }
}

/// How a space is opened.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    pub present: Present,
    pub is_relaxed: bool,
    /// Bytes that the store may keep in memory: the fewer, the more is read from the disk.
    pub cache_bytes: usize,
}

impl Setting {
    pub fn new(is_relaxed: bool) -> Self {
        Self { is_relaxed, cache_bytes: 1 << 20, ..Self::default() }
    }

    /// The same, with time and IDs from here on that are not shared.
    pub fn same(&self) -> Self {
        let present = Present(Arc::new(AtomicU64::new(self.present.0.load(Ordering::Relaxed))));
        Self { present, ..self.clone() }
    }

    pub fn builder(&self) -> SpaceBuilder {
        let durability = if self.is_relaxed { Durability::Relaxed } else { Durability::Durable };
        let builder = Space::builder().clock(self.present.clone()).ids(self.present.clone());
        builder.durability(durability).search_indexing(SearchIndexing::OnDemand)
    }
}

/// An open space, and the store below it.
pub struct Machine {
    pub disk: Disk,
    pub space: Space,
    pub store: Arc<RedbStore>,
}

impl Machine {
    /// Makes a space on a disk with nothing on it.
    pub fn create(disk: &Disk, setting: &Setting) -> Result<Self> {
        Self::start(disk, setting, true)
    }

    /// Opens the space on a disk.
    pub fn open(disk: &Disk, setting: &Setting) -> Result<Self> {
        Self::start(disk, setting, false)
    }

    fn start(disk: &Disk, setting: &Setting, create: bool) -> Result<Self> {
        // Each call is a second after the one before: where all calls are relaxed, none is overdue.
        let overdue = Duration::from_secs(if setting.is_relaxed { u64::MAX } else { 1 });
        let options = OpenOptions::new().cache_bytes(setting.cache_bytes).entries(RECORD_FORMAT);
        let options = options.sync_relaxed_after(overdue);
        let store = Arc::new(RedbStore::with_files(DiskFiles::new(disk), &options)?);
        let device = Arc::new(Indexes { disk: disk.clone() });
        let space =
            setting.builder().over_with_index(Arc::<RedbStore>::clone(&store), device, create)?;
        Ok(Self { disk: disk.clone(), space, store })
    }

    pub fn notes(&self) -> Connection {
        self.space.connect()
    }

    /// A number that stands for all that is stored: two states that differ in anything differ in
    /// it.
    pub fn digest(&self) -> Result<u64> {
        digest(&*self.store)
    }
}

/// The tags of keys of file chunks, and of uploads in flight (`docs/FORMAT.md`).
const CHUNKS: u8 = 0x62;
const UPLOADS: u8 = 0x63;

pub fn digest(store: &dyn Store) -> Result<u64> {
    #[expect(deprecated, reason = "a hash that is the same in every run")]
    let mut hasher = std::hash::SipHasher::new();
    let all = || KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
    let snapshot = store.snapshot()?;
    // An upload that a loss of power abandoned is not a state of the space: a store of the host may
    // have other handles, so that opening it leaves young ones.
    let mut abandoned = HashSet::new();
    snapshot.scan(all(), &mut |key, _| {
        if let Some((&UPLOADS, file)) = key.split_first() {
            abandoned.insert(file.to_vec());
        }
        Ok(ControlFlow::Continue(()))
    })?;
    snapshot.scan(all(), &mut |key, value| {
        let is_abandoned = match key.split_first() {
            Some((&UPLOADS, _)) => true,
            Some((&CHUNKS, rest)) => rest.get(..16).is_some_and(|file| abandoned.contains(file)),
            _ => false,
        };
        if is_abandoned {
            return Ok(ControlFlow::Continue(()));
        }
        hasher.write_usize(key.len());
        hasher.write(key);
        hasher.write_usize(value.len());
        hasher.write(value);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(hasher.finish())
}

/// The indexes on a disk.
#[derive(Debug)]
struct Indexes {
    disk: Disk,
}

impl IndexDirectories for Indexes {
    fn directories(&self) -> io::Result<Vec<u64>> {
        self.disk.directories()
    }

    fn make_directory(&self, number: u64) -> io::Result<()> {
        self.disk.make_directory(number)
    }

    fn remove_directory(&self, number: u64) -> io::Result<()> {
        self.disk.remove_directory(number)
    }

    fn storage(&self, number: u64) -> Arc<dyn IndexStorage> {
        Arc::new(Directory(self.disk.clone(), number))
    }
}

/// One directory of a disk.
#[derive(Debug)]
struct Directory(Disk, u64);

impl IndexStorage for Directory {
    fn names(&self) -> io::Result<Vec<String>> {
        self.0.files(self.1)
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        self.0.read_file(self.1, name)
    }

    fn create(&self, name: &str) -> io::Result<()> {
        self.0.make_file(self.1, name)
    }

    fn append(&self, name: &str, data: &[u8]) -> io::Result<()> {
        self.0.append(self.1, name, data)
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        self.0.sync_file(self.1, name)
    }

    fn replace(&self, name: &str, data: &[u8]) -> io::Result<()> {
        self.0.replace_file(self.1, name, data)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove_file(self.1, name)
    }

    fn sync_names(&self) -> io::Result<()> {
        self.0.sync_directory(self.1)
    }
}
