//! Power losses that take names: of the main file, of the write-ahead log, and of the directory.
//! And sectors, which lie at multiples of their size in a file, so that small records are torn.

#![expect(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use std::collections::BTreeMap;
use std::io;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use leafbase_kv::testkit::{Disk, DiskDirectory, DiskFiles, Loss, Moment, NewDirectory, create_in};
use leafbase_kv::{Durability, KeyRange, OpenOptions, RedbStore, Store, StoreFiles, WriteOptions};
use leafbase_model::Result;
use redb::StorageBackend;

/// An fsync that a wrapper leaves out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sync {
    Store,
    Names,
    Parent,
    WalName,
}

#[derive(Debug)]
struct LacksSync<T> {
    inner: T,
    lacking: Option<Sync>,
}

impl NewDirectory for LacksSync<DiskDirectory> {
    fn sync_store(&self) -> Result<()> {
        if self.lacking == Some(Sync::Store) { Ok(()) } else { self.inner.sync_store() }
    }

    fn sync_names(&self) -> Result<()> {
        if self.lacking == Some(Sync::Names) { Ok(()) } else { self.inner.sync_names() }
    }

    fn rename(&mut self) -> Result<()> {
        self.inner.rename()
    }

    fn sync_parent(&self) -> Result<()> {
        if self.lacking == Some(Sync::Parent) { Ok(()) } else { self.inner.sync_parent() }
    }
}

impl StoreFiles for LacksSync<DiskFiles> {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.inner.open()
    }

    fn open_wal(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.inner.open_wal()
    }

    fn create_wal(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.inner.create_wal()
    }

    fn sync_wal_name(&self) -> io::Result<()> {
        if self.lacking == Some(Sync::WalName) { Ok(()) } else { self.inner.sync_wal_name() }
    }

    fn remove_wal(&self) {
        self.inner.remove_wal();
    }
}

type Content = BTreeMap<Vec<u8>, Vec<u8>>;

fn open(files: impl StoreFiles) -> Result<RedbStore> {
    RedbStore::with_verified_files(files, &OpenOptions::new(), &mut |_| Ok(()))
}

fn content(store: &dyn Store) -> Result<Content> {
    let mut content = Content::new();
    let all = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
    store.snapshot()?.scan(all, &mut |key, value| {
        content.insert(key.to_vec(), value.to_vec());
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(content)
}

/// What a store held when so many operations of the disk were done.
struct State {
    operations: u64,
    content: Content,
    is_durable: bool,
}

/// Creates a store, opens it twice, and writes: the log is created, removed and created again.
fn live(lacking: Option<Sync>) -> (Vec<Moment>, Vec<State>) {
    let disk = Disk::without_names();
    (1..3_000).for_each(|ahead| disk.await_operation(ahead));
    let mut directory = LacksSync { inner: DiskDirectory::new(&disk), lacking };
    let files = Arc::new(DiskFiles::temporary(&disk));
    let fill = |store: &RedbStore| {
        store.write(WriteOptions::default(), &mut |rows| rows.put(b"first", b"value"))
    };
    create_in(files, &mut directory, &OpenOptions::new(), fill).unwrap();
    let mut states = Vec::new();
    let mut record = |store: &RedbStore, is_durable: bool| {
        let operations = disk.operations();
        states.push(State { operations, content: content(store).unwrap(), is_durable });
    };
    for life in 0..2_u8 {
        let store = open(LacksSync { inner: DiskFiles::new(&disk), lacking }).unwrap();
        record(&store, true);
        for number in 0..8_u8 {
            let is_durable = number % 3 != 1;
            let durability = if is_durable { Durability::Durable } else { Durability::Relaxed };
            let value = vec![number; 200 + 40 * usize::from(number)];
            store
                .write(WriteOptions::durability(durability), &mut |rows| {
                    rows.put(&[life, number], &value)
                })
                .unwrap();
            record(&store, is_durable);
        }
        store.close().unwrap();
    }
    (disk.moments(), states)
}

/// What is wrong after power losses at every operation, in each way.
fn failures(lacking: Option<Sync>) -> usize {
    let (moments, states) = live(lacking);
    assert!(moments.len() > 60, "{} operations", moments.len());
    let mut failures = 0;
    for (moment, loss) in moments.iter().flat_map(|moment| Loss::ALL.map(|loss| (moment, loss))) {
        let returned = |state: &State| state.operations < moment.operations();
        let survives =
            |state: &State| returned(state) && (state.is_durable || loss == Loss::Nothing);
        let first = states.iter().rposition(survives);
        let disk = moment.after(loss, moment.operations());
        let is_right = if disk.has_directory() {
            let found = open(DiskFiles::new(&disk)).and_then(|store| content(&store));
            let possible = states.get(first.unwrap_or_default()..).unwrap();
            found.is_ok_and(|found| possible.iter().any(|state| state.content == found))
        } else {
            first.is_none()
        };
        failures += usize::from(!is_right);
    }
    failures
}

#[test]
fn names_that_were_not_synced_may_be_lost() {
    assert_eq!(failures(None), 0);
}

/// The controls: without one of the fsyncs a power loss takes something acknowledged, or leaves a
/// directory that does not open.
#[test]
fn a_missing_sync_is_detected() {
    for lacking in [Sync::Store, Sync::Names, Sync::Parent, Sync::WalName] {
        assert!(failures(Some(lacking)) > 0, "{lacking:?}");
    }
}

/// A log of 300-byte records without checksums, whose reader believes what it finds: the control of
/// torn records. Returns how often a record is neither old nor new.
fn torn_records(loss: Loss) -> usize {
    const RECORD: usize = 300;
    let disk = Disk::new();
    let wal = disk.wal();
    wal.set_len(16 * RECORD as u64).unwrap();
    wal.sync_data().unwrap();
    let mut torn = 0;
    for seed in 1..200 {
        let disk = disk.copy();
        let wal = disk.wal();
        for number in 0..16_u8 {
            wal.write(u64::from(number) * RECORD as u64, &[1 + number; RECORD]).unwrap();
        }
        let wal = disk.moment().after(loss, seed).wal();
        let mut bytes = vec![0; 16 * RECORD];
        wal.read(0, &mut bytes).unwrap();
        let is_torn = |record: &&[u8]| record.windows(2).any(|pair| pair.first() != pair.last());
        torn += bytes.chunks(RECORD).filter(is_torn).count();
    }
    torn
}

#[test]
fn a_record_smaller_than_a_sector_is_torn() {
    for loss in [Loss::Suffix, Loss::Sectors, Loss::Lengths] {
        assert!(torn_records(loss) > 0, "{loss:?}");
    }
    assert_eq!(torn_records(Loss::Unsynced) + torn_records(Loss::Nothing), 0);
}
