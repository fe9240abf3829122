//! The write-ahead log: what it keeps when the disk fails or is full, and relaxed writes in it.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use leafbase_kv::testkit::{Disk, Fault, Loss, WalOnDisk, open_backend, open_backends};
use leafbase_kv::{Durability, OpenOptions, RedbStore, Store, WriteOptions};
use leafbase_model::{ErrorKind, Result};
use redb::StorageBackend;

use super::{content, is_indeterminate, open};

/// A store after durable writes of one kilobyte: the first ones are checkpoints, the others records
/// of the WAL.
fn with_wal(disk: &Disk, writes: u8) -> RedbStore {
    let store = open(disk).unwrap();
    for number in 0..writes {
        store
            .write(WriteOptions::default(), &mut |transaction| {
                transaction.put(&[number], &[number; 1_000])
            })
            .unwrap();
    }
    store
}

#[test]
fn the_log_is_replayed_on_open_and_takes_small_writes() {
    let disk = Disk::new();
    let store = with_wal(&disk, 2);
    let before = disk.image();
    for number in 2..9 {
        store
            .write(WriteOptions::default(), &mut |transaction| {
                transaction.put(&[number], &[number; 1_000])
            })
            .unwrap();
    }
    assert!(disk.image() == before, "the store's file is as it was");
    let expected = content(&store).unwrap();
    let crashed = disk.after_power_loss(0);
    assert_eq!(content(&open(&crashed).unwrap()).unwrap(), expected);
    assert_eq!(content(&open(&crashed).unwrap()).unwrap(), expected, "opened once more");
    store.flush().unwrap();
    assert!(disk.image() != before, "a flush moves all to the store's file");
}

type Damage = fn(&mut Vec<u8>);

#[test]
fn a_corrupt_or_missing_log_is_reported() {
    let disk = Disk::new();
    let store = with_wal(&disk, 9);
    let damages: [(&str, Damage); 3] = [
        ("damaged: record 2 of the write-ahead log", |bytes| bytes[1_200] ^= 1),
        ("damaged: record 1 of the write-ahead log", |bytes| bytes[..900].fill(0)),
        ("damaged: the write-ahead log, which is truncated", Vec::clear),
    ];
    for (message, damage) in damages {
        let crashed = disk.after_power_loss(0);
        crashed.corrupt_wal(damage);
        let error = open(&crashed).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Corrupted, message));
    }
    drop(store);
    disk.corrupt_wal(Vec::clear);
    assert_eq!(content(&open(&disk).unwrap()).unwrap().len(), 9, "a closed store has no log");
}

#[test]
fn a_store_without_space_for_a_log_works() {
    let disk = Disk::new().takes_room_at_once();
    let store = with_wal(&disk, 1);
    // One block for the main file, which has space for an entry.
    disk.fail(Fault::Full, io::ErrorKind::StorageFull);
    for number in 1..9 {
        store
            .write(WriteOptions::default(), &mut |transaction| {
                transaction.put(&[number], &[number; 10])
            })
            .unwrap();
    }
    let powerless = disk.after_power_loss(0);
    assert_eq!(content(&open(&powerless).unwrap()).unwrap().len(), 9);
}

#[test]
fn a_log_without_space_to_grow_keeps_its_records() {
    /// The growth of a log file.
    const STEP: usize = 256 << 10;
    /// The overhead of a record with one value under a key of one byte.
    const REST: usize = 40 + 8 + 1;
    for left in (0..64).step_by(8) {
        let disk = Disk::new();
        let store = with_wal(&disk, 2);
        let put = |key: u8, length: usize| {
            let value = vec![key; length];
            store.write(WriteOptions::default(), &mut |transaction| transaction.put(&[key], &value))
        };
        // The second write created the log. Three records leave this many bytes of it.
        for (key, record) in [(10, 100_000), (11, 100_000), (12, STEP - 200_000 - left)] {
            put(key, record - REST).unwrap();
        }
        let before = content(&store).unwrap();
        disk.fail(Fault::Full, io::ErrorKind::StorageFull);
        assert_eq!(put(13, 60_000).unwrap_err().kind(), ErrorKind::NoSpace, "{left} bytes left");
        assert_eq!(content(&store).unwrap(), before, "{left} bytes left");
        assert_eq!(
            content(&open(&disk.after_power_loss(0)).unwrap()).unwrap(),
            before,
            "{left} bytes left"
        );
        disk.heal();
        put(13, 60_000).unwrap();
        assert_eq!(content(&store).unwrap().len(), before.len() + 1);
    }
}

/// A key returns to its value in the main file while the log has another one, and the checkpoint of
/// that fails.
#[test]
fn a_failed_checkpoint_is_distinguished_from_one_without_changes() {
    let put = |store: &RedbStore, value: &[u8], durability| {
        store.write(WriteOptions::durability(durability), &mut |transaction| {
            transaction.put(b"key", value)
        })
    };
    let (mut done, mut refused) = (0, 0);
    for is_flush in [true, false] {
        for (first, count) in (1..40).flat_map(|first| [1, 3, 6, 10].map(|count| (first, count))) {
            let disk = Disk::new();
            let store = open(&disk).unwrap();
            for _ in 0..4 {
                put(&store, b"in the file", Durability::Durable).unwrap();
            }
            store.flush().unwrap();
            put(&store, b"in the log", Durability::Durable).unwrap();
            let fail = || {
                let from = disk.operations() + first;
                disk.fail(Fault::Between(from, from + count), io::ErrorKind::Other);
            };
            let returned = if is_flush {
                put(&store, b"in the file", Durability::Relaxed).unwrap();
                fail();
                store.flush()
            } else {
                fail();
                put(&store, b"in the file", Durability::Durable)
            };
            disk.heal();
            let lost = content(&open(&disk.moment().after(Loss::Unsynced, 0)).unwrap()).unwrap();
            match returned {
                Ok(()) => {
                    done += 1;
                    let case = (is_flush, first, count);
                    assert_eq!(
                        lost.get(&b"key"[..]).unwrap(),
                        b"in the file",
                        "flushed, first and count of faults: {case:?}"
                    );
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(done > 20 && refused > 20, "{done} {refused}");
}

#[test]
fn the_next_record_makes_relaxed_writes_durable() {
    let disk = Disk::new();
    let store = with_wal(&disk, 3);
    let relaxed = WriteOptions::durability(Durability::Relaxed);
    for (number, options) in
        [(10, relaxed), (11, relaxed), (12, WriteOptions::default()), (13, relaxed)]
    {
        store.write(options, &mut |transaction| transaction.put(&[number], b"value")).unwrap();
    }
    store.write(relaxed, &mut |transaction| transaction.delete(&[0])).unwrap();
    let keys = |disk: &Disk| {
        content(&open(disk).unwrap()).unwrap().into_keys().flatten().collect::<Vec<_>>()
    };
    assert_eq!(keys(&disk.after_power_loss(0)), [0, 1, 2, 10, 11, 12]);
    assert_eq!(keys(&disk.copy()), [1, 2, 10, 11, 12, 13], "after the end of the process");
    // One that changes nothing makes them durable, too.
    store.write(WriteOptions::default(), &mut |_| Ok(())).unwrap();
    assert_eq!(keys(&disk.after_power_loss(0)), [1, 2, 10, 11, 12, 13]);
}

/// A log that leaves its writes in the process until they are synced.
#[derive(Debug)]
struct WalInProcess {
    below: WalOnDisk,
    held: Mutex<Vec<(u64, Vec<u8>)>>,
}

impl StorageBackend for WalInProcess {
    fn len(&self) -> io::Result<u64> {
        self.below.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.below.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.below.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        for (offset, data) in self.held.lock().unwrap().drain(..) {
            self.below.write(offset, &data)?;
        }
        self.below.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.held.lock().unwrap().push((offset, data.to_vec()));
        Ok(())
    }
}

/// Numbers of relaxed writes that are there after the end of the process, of 200; `None` if they
/// are not a prefix.
fn relaxed_after_a_kill(store: &RedbStore, disk: &Disk) -> Option<usize> {
    let relaxed = WriteOptions::durability(Durability::Relaxed);
    for number in 0..200_u8 {
        let value = vec![number; usize::from(number) * 7];
        store.write(relaxed, &mut |transaction| transaction.put(&[number], &value)).unwrap();
    }
    let found = content(&open(&disk.copy()).unwrap()).unwrap();
    let is_prefix = found.keys().flatten().copied().eq((0..200).take(found.len()));
    is_prefix.then_some(found.len())
}

#[test]
fn relaxed_writes_survive_the_process_and_power_takes_a_suffix() {
    for seed in 0..100 {
        let disk = Disk::new();
        let store = open(&disk).unwrap();
        assert_eq!(relaxed_after_a_kill(&store, &disk), Some(200));
        let mut taken = 0;
        for loss in Loss::ALL {
            let found = content(&open(&disk.moment().after(loss, seed)).unwrap()).unwrap();
            assert!(found.keys().flatten().copied().eq((0..200).take(found.len())), "{loss:?}");
            taken += usize::from(found.len() < 200);
        }
        assert!(taken > 0, "nothing was synced");
    }
}

/// The control: what stays in the process goes with it.
#[test]
fn a_log_that_stays_in_the_process_is_detected() {
    let disk = Disk::new();
    let (below, wal) = (disk.clone(), disk.wal());
    let in_process = move || WalInProcess { below: wal.clone(), held: Mutex::default() };
    let store = open_backends(move || below.clone(), in_process, &OpenOptions::new()).unwrap();
    assert_eq!(relaxed_after_a_kill(&store, &disk), Some(2), "the checkpoints before the log");
}

/// A store whose files have no log commits relaxed writes as it does durable ones.
#[test]
fn relaxed_writes_survive_without_a_log() {
    let disk = Disk::new();
    let below = disk.clone();
    let store = open_backend(move || below.clone(), &OpenOptions::new()).unwrap();
    assert_eq!(relaxed_after_a_kill(&store, &disk), Some(200));
}

#[test]
fn relaxed_writes_are_synced_when_they_are_overdue() {
    let disk = Disk::new();
    let store = with_wal(&disk, 2);
    let put = |key: u8, at: i64| {
        let relaxed = WriteOptions::durability(Durability::Relaxed).at_millis(at);
        store.write(relaxed, &mut |transaction| transaction.put(&[key], b"value")).unwrap();
    };
    let is_durable = |key: u8| {
        let lost = disk.moment().after(Loss::Unsynced, 0);
        content(&open(&lost).unwrap()).unwrap().contains_key(&[key][..])
    };
    let sync_at = |at: i64| store.sync_overdue(&|| at).unwrap();
    store.sync_overdue(&|| panic!("all is durable")).unwrap();
    put(10, 5_000);
    put(11, 5_900);
    sync_at(6_000);
    assert!(!is_durable(10), "one second is not more than one second");
    sync_at(6_001);
    assert!(is_durable(10) && is_durable(11));
    put(12, 6_500);
    sync_at(7_200);
    assert!(!is_durable(12), "the oldest one that is not durable counts");
    sync_at(6_499);
    assert!(is_durable(12), "the clock was set back");
    // Without the log's sync, a checkpoint makes them durable.
    put(13, 7_000);
    disk.fail(Fault::Once(disk.operations() + 1), io::ErrorKind::Other);
    sync_at(9_000);
    assert_eq!(disk.failures(), 1);
    assert!(is_durable(13));
}

/// Durable writes, every fifth of which is too large for a record.
fn durable_write(store: &dyn Store, number: u8) -> Result<()> {
    let length = if number % 5 == 4 { 140_000 } else { 300 };
    store.write(WriteOptions::default(), &mut |transaction| {
        transaction.put(&[number % 4], &vec![number; length])?;
        transaction.put(b"last", &[number])
    })
}

fn last(store: &dyn Store) -> Result<Option<u8>> {
    let mut last = None;
    store.snapshot()?.get(b"last", &mut |value| {
        last = value.first().copied();
        Ok(())
    })?;
    Ok(last)
}

/// After a kill without power loss a reopened store holds every acknowledged write, while the disk
/// fails from time to time.
#[test]
fn killed_again_and_again_while_the_disk_fails() {
    let opened_under_faults = AtomicU32::new(0);
    let run = |every| {
        let mut disk = Disk::new();
        let mut store = open(&disk).unwrap();
        // The possible last writes: one, or two after an indeterminate commit.
        let mut possible = vec![None];
        for number in 0..40_u8 {
            disk.fail(Fault::OneIn(every), io::ErrorKind::Other);
            let when = format!("one in {every} fails, write {number}");
            match durable_write(&store, number) {
                Ok(()) => possible = vec![Some(number)],
                Err(error) if is_indeterminate(&error) => possible.push(Some(number)),
                Err(_) => {}
            }
            let killed = disk.copy();
            killed.heal();
            let found = last(&open(&killed.copy()).unwrap()).unwrap();
            assert!(possible.contains(&found), "{when}: {found:?} of {possible:?}");
            if number % 7 != 6 {
                continue;
            }
            // The next process may meet the faults while it opens the store.
            let next = killed.copy();
            next.fail(Fault::OneIn(every), io::ErrorKind::Other);
            let Ok(reopened) = open(&next) else { continue };
            opened_under_faults.fetch_add(1, Ordering::Relaxed);
            next.heal();
            let found = last(&reopened).unwrap();
            assert!(possible.contains(&found), "{when}, opened: {found:?} of {possible:?}");
            (disk, store, possible) = (next, reopened, vec![found]);
        }
    };
    thread::scope(|scope| {
        for first in [2, 3] {
            let run = &run;
            scope.spawn(move || (first..120).step_by(2).for_each(run));
        }
    });
    let opened_under_faults = opened_under_faults.into_inner();
    assert!(opened_under_faults > 100, "{opened_under_faults}");
}

/// A write whose record and whose checkpoint failed is absent after the next open.
#[test]
fn a_record_of_a_failed_write_is_truncated() {
    let before = Disk::new();
    let store = with_wal(&before, 4);
    let write = |store: &dyn Store| {
        store.write(WriteOptions::default(), &mut |transaction| transaction.put(b"last", b"!"))
    };
    let mut told = [0, 0];
    for attempt in 0..60 {
        let disk = before.copy();
        let store = open(&disk).unwrap();
        for number in 10..14 {
            store
                .write(WriteOptions::default(), &mut |transaction| transaction.put(b"k", &[number]))
                .unwrap();
        }
        // The record is written, its fsync fails, and so do the next operations.
        let sync = disk.operations() + 2;
        let fault = Fault::Between(sync, sync + 1 + attempt);
        disk.fail(fault, io::ErrorKind::Other);
        let result = write(&store);
        disk.heal();
        let found = last(&store).unwrap();
        let killed = disk.copy();
        assert_eq!(last(&open(&killed).unwrap()).unwrap(), found, "{fault:?}, {result:?}");
        if let Err(error) = result {
            assert!(found.is_none() || is_indeterminate(&error), "{fault:?}: {error:?}");
            told[usize::from(is_indeterminate(&error))] += 1;
        }
    }
    drop(store);
    assert!(told[0] > 3 && told[1] > 20, "{told:?}");
}

/// A reopened store still has relaxed writes, and the next durable write makes them durable.
#[test]
fn a_durable_write_after_recovery_includes_relaxed_ones() {
    let mut reopened = 0;
    for number in 1..60 {
        let disk = Disk::new();
        let store = open(&disk).unwrap();
        let put = |key: &[u8], durability| {
            store.write(WriteOptions::durability(durability), &mut |rows| rows.put(key, &[7; 100]))
        };
        for key in [b"a", b"b", b"c"] {
            put(key, Durability::Durable).unwrap();
        }
        put(b"relaxed", Durability::Relaxed).unwrap();
        disk.fail(Fault::Once(disk.operations() + number), io::ErrorKind::Other);
        let flushed = store.flush();
        disk.heal();
        reopened += u32::from(flushed.is_err());
        put(b"durable", Durability::Durable).unwrap();
        let found = content(&open(&disk.moment().after(Loss::Unsynced, number)).unwrap()).unwrap();
        assert!(
            found.contains_key(&b"durable"[..]) && found.contains_key(&b"relaxed"[..]),
            "operation {number}"
        );
    }
    assert!(reopened > 0, "a flush fails");
}
