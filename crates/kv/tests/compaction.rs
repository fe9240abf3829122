//! Compaction: waits for snapshots, leaves full pages, and loses nothing if the disk fails.

#![expect(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use std::io;
use std::ops::{Bound, ControlFlow};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use leafbase_kv::directory;
use leafbase_kv::testkit::{Disk, Fault, open_backends};
use leafbase_kv::{Durability, KeyRange, OpenOptions, RedbStore, Store, WriteOptions};

#[test]
fn a_store_is_compacted_while_others_read_and_write() {
    let place = tempfile::tempdir().unwrap();
    let store = directory::create(place.path().join("notes"), &OpenOptions::new()).unwrap();
    let put = |number: u32| {
        let options = WriteOptions::durability(Durability::Relaxed);
        store.write(options, &mut |rows| rows.put(&number.to_be_bytes(), &[7; 500])).unwrap();
    };
    (0..500).for_each(put);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let snapshot = store.snapshot().unwrap();
                    assert!(snapshot.get(&3_u32.to_be_bytes(), &mut |_| Ok(())).unwrap());
                }
            });
        }
        for round in 0..20 {
            put(1_000 + round);
            store.compact().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(store.verify().unwrap());
}

#[test]
fn a_compacted_store_stays_small_when_it_is_closed() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("notes");
    let store = directory::create(&path, &OpenOptions::new()).unwrap();
    let options = WriteOptions::durability(Durability::Relaxed);
    let keys = || (0..6_000_u32).map(u32::to_be_bytes);
    store
        .write(options, &mut |rows| keys().try_for_each(|key| rows.put(&key, &[7; 1_000])))
        .unwrap();
    store.flush().unwrap();
    // With a WAL, and free pages throughout the file.
    for key in keys().step_by(40) {
        store.write(WriteOptions::default(), &mut |rows| rows.put(&key, &[8; 1_000])).unwrap();
    }
    store.compact().unwrap();
    let compacted = store.bytes().unwrap();
    assert!(compacted < 9_000_000, "{compacted} bytes for 6 MB");
    store.close().unwrap();
    let store = directory::open(&path, &OpenOptions::new()).unwrap();
    assert!(
        store.bytes().unwrap() <= compacted,
        "{} bytes, {compacted} before",
        store.bytes().unwrap()
    );
    assert!(store.verify().unwrap());
    assert!(keys().all(|key| store.snapshot().unwrap().get(&key, &mut |_| Ok(())).unwrap()));
}

type Row = (Vec<u8>, Vec<u8>);

/// Inserts in random order, after which pages are two thirds full.
fn scattered(store: &dyn Store) {
    let options = WriteOptions::durability(Durability::Relaxed);
    for round in 0..8_u32 {
        let keys = (0..700_u32).map(|number| (number * 8 + (round * 5) % 8).to_be_bytes());
        let write = &mut |rows: &mut dyn leafbase_kv::Transaction| {
            keys.clone()
                .try_for_each(|key| rows.put(&key, &vec![key[3]; 200 + usize::from(key[3])]))
        };
        store.write(options, write).unwrap();
        store.flush().unwrap();
    }
}

fn content(store: &dyn Store) -> Vec<Row> {
    let mut rows = Vec::new();
    let all = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
    let take = &mut |key: &[u8], value: &[u8]| {
        rows.push((key.to_vec(), value.to_vec()));
        Ok(ControlFlow::Continue(()))
    };
    store.snapshot().unwrap().scan(all, take).unwrap();
    rows
}

#[test]
fn pages_are_full_in_a_compacted_store() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("notes");
    let store = directory::create(&path, &OpenOptions::new()).unwrap();
    scattered(&store);
    let (rows, before) = (content(&store), store.bytes().unwrap());
    let bytes: usize = rows.iter().map(|(key, value)| key.len() + value.len() + 8).sum();
    assert!(before > bytes as u64 * 5 / 4, "{before} bytes for {bytes}");
    store.compact().unwrap();
    let compacted = store.bytes().unwrap();
    assert!(compacted < bytes as u64 * 21 / 20 + 100_000, "{compacted} bytes for {bytes}");
    assert_eq!(content(&store), rows);
    store.compact().unwrap();
    assert!(store.bytes().unwrap() <= compacted);
    store.write(WriteOptions::default(), &mut |rows| rows.put(b"one more", &[1; 300])).unwrap();
    store.close().unwrap();
    let store = directory::open(&path, &OpenOptions::new()).unwrap();
    assert!(store.verify().unwrap());
    assert_eq!(content(&store).len(), rows.len() + 1);
}

fn on(disk: &Disk) -> RedbStore {
    let (disk, wal) = (disk.clone(), disk.wal());
    let options = OpenOptions::new().cache_bytes(256 << 10);
    open_backends(move || disk.clone(), move || wal.clone(), &options).unwrap()
}

/// A disk with such a store, closed, and its contents.
fn disk() -> (Disk, Vec<Row>) {
    let disk = Disk::new();
    let store = on(&disk);
    scattered(&store);
    let rows = content(&store);
    drop(store);
    (disk, rows)
}

#[test]
fn io_errors_during_compaction() {
    let (whole, rows) = disk();
    let operations = {
        let disk = whole.copy();
        let (store, start) = (on(&disk), disk.operations());
        store.compact().unwrap();
        disk.operations() - start
    };
    let compact_with = |fault: fn(u64) -> Fault, kind| {
        for at in (0..operations).step_by(usize::try_from(operations / 60).unwrap().max(1)) {
            let disk = whole.copy();
            let store = on(&disk);
            disk.fail(fault(disk.operations() + at), kind);
            let _ = store.compact();
            let powerless = on(&disk.after_power_loss(at));
            assert_eq!(content(&powerless), rows, "operation {at}: after a loss of power");
            disk.heal();
            assert_eq!(content(&store), rows, "operation {at}");
            store.compact().unwrap();
            assert!(store.verify().unwrap());
            assert_eq!(content(&store), rows, "operation {at}: compacted again");
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| compact_with(Fault::Once, io::ErrorKind::Other));
        scope.spawn(|| compact_with(Fault::From, io::ErrorKind::StorageFull));
    });
}

/// Twice, because each attempt could leave a copy of all entries behind.
#[test]
fn compaction_next_to_a_snapshot_does_not_grow_the_file() {
    let (disk, _) = disk();
    let store = on(&disk);
    // No page is free at first, so that any write extends the file.
    store.compact().unwrap();
    for round in 0..4_u32 {
        let keys = (0..350_u32).map(|number| (number * 16 + round * 5).to_be_bytes());
        let write = &mut |rows: &mut dyn leafbase_kv::Transaction| {
            keys.clone().try_for_each(|key| rows.put(&[&key[..], b"more"].concat(), &[7; 300]))
        };
        store.write(WriteOptions::durability(Durability::Relaxed), write).unwrap();
        store.flush().unwrap();
    }
    let (rows, before) = (content(&store), store.bytes().unwrap());
    let reading = store.snapshot().unwrap();
    for _ in 0..2 {
        let error = store.compact().unwrap_err();
        assert!(error.message().contains("being read"), "{error}");
        assert!(
            store.bytes().unwrap() <= before + 64 * 1024,
            "{} bytes, {before} before",
            store.bytes().unwrap()
        );
    }
    drop(reading);
    store.compact().unwrap();
    assert!(store.bytes().unwrap() < before);
    assert_eq!(content(&store), rows);
}

#[test]
fn a_snapshot_of_an_earlier_state_is_waited_for() {
    let (disk, _) = disk();
    let store = on(&disk);
    let reading = store.snapshot().unwrap();
    let write = &mut |rows: &mut dyn leafbase_kv::Transaction| rows.put(b"later", &[7; 300]);
    store.write(WriteOptions::durability(Durability::Relaxed), write).unwrap();
    store.flush().unwrap();
    let (rows, before) = (content(&store), store.bytes().unwrap());
    let error = store.compact().unwrap_err();
    assert!(error.message().contains("being read"), "{error}");
    assert_eq!(store.bytes().unwrap(), before, "nothing was written");
    drop(reading);
    store.compact().unwrap();
    assert_eq!(content(&store), rows);
}

#[test]
fn compaction_works_on_a_full_disk() {
    let (disk, rows) = disk();
    let disk = disk.takes_room_at_once();
    let store = on(&disk);
    let before = disk.used();
    disk.limit(Some(before + 100_000));
    store.compact().unwrap();
    assert!(disk.used() <= before, "{} bytes, {before} before", disk.used());
    assert_eq!(content(&store), rows);
    assert!(store.verify().unwrap());
}
