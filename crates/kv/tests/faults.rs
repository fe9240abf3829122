//! I/O errors and power losses: every outcome is definite, no acknowledged write is lost, and the
//! store stays usable.

#![expect(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use std::collections::BTreeMap;
use std::io;
use std::ops::{Bound, ControlFlow};
use std::sync::Mutex;

use leafbase_kv::testkit::{Disk, Fault, Loss, WalOnDisk, open_backend, open_backends};
use leafbase_kv::{Durability, KeyRange, OpenOptions, RedbStore, Store, Transaction, WriteOptions};
use leafbase_model::{ErrorKind, Result};
use redb::StorageBackend;

type Content = BTreeMap<Vec<u8>, Vec<u8>>;

/// With a cache this small reads go to the disk, where they can fail.
fn open(disk: &Disk) -> Result<RedbStore> {
    let (disk, wal) = (disk.clone(), disk.wal());
    open_backends(
        move || disk.clone(),
        move || wal.clone(),
        &OpenOptions::new().cache_bytes(16 << 10),
    )
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

/// The changes of step `number` of the workload: some keys repeat, some are deleted, one value is
/// large.
fn step(number: u8) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    let mut changes = vec![
        (b"head".to_vec(), Some(vec![number; 900])),
        (vec![b'k', number], Some(vec![number; 60])),
        (vec![b'm', number % 3], Some(vec![number; 2_500])),
    ];
    if number % 4 == 3 {
        changes.push((vec![b'k', number - 2], None));
    }
    if number == 5 {
        changes.push((b"big".to_vec(), Some(vec![number; 70_000])));
    }
    changes
}

fn changed(content: &Content, number: u8) -> Content {
    let mut content = content.clone();
    for (key, value) in step(number) {
        match value {
            Some(value) => content.insert(key, value),
            None => content.remove(&key),
        };
    }
    content
}

/// Every other step at first, so that the WAL starts early.
fn is_durable(number: u8) -> bool {
    number.is_multiple_of(if number < 6 { 2 } else { 3 })
}

fn write_step(store: &dyn Store, number: u8) -> Result<()> {
    // The second durable write starts the WAL.
    let durability = if is_durable(number) { Durability::Durable } else { Durability::Relaxed };
    store.write(WriteOptions::durability(durability), &mut |transaction| {
        transaction.get(b"head", &mut |_| Ok(()))?;
        for (key, value) in step(number) {
            match value {
                Some(value) => transaction.put(&key, &value)?,
                None => transaction.delete(&key)?,
            }
        }
        Ok(())
    })
}

const STEPS: u8 = 14;

fn is_indeterminate(error: &leafbase_model::Error) -> bool {
    error.message().contains("whether this write took place")
}

/// The possible contents after the workload: one, or several after indeterminate writes.
struct Expected(Vec<Content>);

impl Expected {
    fn only(content: Content) -> Self {
        Self(vec![content])
    }

    fn settle(&mut self, found: Content, when: &str) {
        assert!(self.0.contains(&found), "{when}: {:?}", found.keys());
        self.0 = vec![found];
    }

    fn write(&mut self, store: &dyn Store, number: u8, when: &str) -> bool {
        let result = write_step(store, number);
        let succeeded = result.is_ok();
        match result {
            Ok(()) => {
                // The store has resolved earlier indeterminate commits by now.
                self.0.iter_mut().for_each(|content| *content = changed(content, number));
            }
            Err(error) if is_indeterminate(&error) => {
                let applied: Vec<_> =
                    self.0.iter().map(|content| changed(content, number)).collect();
                self.0.extend(applied);
            }
            Err(error) => {
                assert!(
                    matches!(error.kind(), ErrorKind::Storage | ErrorKind::NoSpace),
                    "{when}: {error:?}"
                );
            }
        }
        succeeded
    }
}

/// Runs the workload with `fault`, counted from its start, and returns the disk and its possible
/// contents, or `None` if the fault did not occur.
fn run(fault: Fault, kind: io::ErrorKind) -> Option<(Disk, Expected)> {
    let disk = Disk::new();
    let store = open(&disk).unwrap();
    let start = disk.operations();
    let fault = match fault {
        Fault::Once(at) => Fault::Once(start + at),
        Fault::From(at) => Fault::From(start + at),
        other => other,
    };
    disk.fail(fault, kind);
    let mut expected = Expected::only(Content::new());
    for number in 0..STEPS {
        let when = format!("{fault:?}, step {number}");
        expected.write(&store, number, &when);
        // Reads may fail with the disk, but never return wrong data.
        if let Ok(found) = content(&store) {
            expected.settle(found, &when);
        }
    }
    let flushed = store.flush().is_ok();
    if disk.failures() == 0 {
        return None;
    }
    let powerless = disk.after_power_loss(0);
    if flushed && expected.0.len() == 1 {
        let found = content(&open(&powerless).unwrap()).unwrap();
        assert!(
            expected.0.contains(&found),
            "{fault:?}: what was flushed survives the loss of power"
        );
    }
    disk.heal();
    let when = format!("{fault:?}, after healing");
    expected.settle(content(&store).unwrap(), &when);
    assert!(expected.write(&store, STEPS, &when), "{when}: writes work again");
    store.flush().unwrap();
    expected.settle(content(&store).unwrap(), &when);
    assert!(store.verify().unwrap(), "{when}: whole");
    let powerless = open(&disk.after_power_loss(0)).unwrap();
    expected.settle(content(&powerless).unwrap(), "after healing, a flush and a loss of power");
    drop(store);
    Some((disk, expected))
}

fn at_every_operation(fault: fn(u64) -> Fault, kind: io::ErrorKind) {
    let mut failed = 0;
    for at in 1.. {
        let Some((disk, mut expected)) = run(fault(at), kind) else { break };
        failed += 1;
        expected.settle(content(&open(&disk).unwrap()).unwrap(), "opened again");
    }
    assert!(failed > 50, "the workload has more than {failed} operations");
}

#[test]
fn a_disk_that_fails_once_at_any_operation() {
    at_every_operation(Fault::Once, io::ErrorKind::Other);
}

#[test]
fn a_disk_that_fails_for_good_from_any_operation_on() {
    at_every_operation(Fault::From, io::ErrorKind::Other);
}

#[test]
fn a_disk_that_fails_again_and_again() {
    for every in 3..60 {
        let (disk, mut expected) = run(Fault::OneIn(every), io::ErrorKind::StorageFull).unwrap();
        expected.settle(content(&open(&disk).unwrap()).unwrap(), "opened again");
    }
}

/// Disks that allocate space when a file is extended, and on the first write to a block.
fn disks() -> [(&'static str, Disk); 2] {
    [("at once", Disk::new().takes_room_at_once()), ("when it is written", Disk::new())]
}

#[test]
fn a_disk_that_is_full() {
    for (when, disk) in disks() {
        let store = open(&disk).unwrap();
        for number in 0..3 {
            write_step(&store, number).unwrap();
        }
        disk.fail(Fault::Full, io::ErrorKind::StorageFull);
        let mut before = content(&store).unwrap();
        for length in [4 << 20, 200_000, 3_000, 4 << 20] {
            let value = vec![1; length];
            let written = store.write(WriteOptions::default(), &mut |transaction| {
                transaction.put(b"value", &value)
            });
            match written {
                // The free pages of the file may suffice.
                Ok(()) if length < 1 << 20 => drop(before.insert(b"value".to_vec(), value)),
                written => {
                    assert_eq!(
                        written.unwrap_err().kind(),
                        ErrorKind::NoSpace,
                        "{length} bytes, room taken {when}"
                    );
                }
            }
            assert_eq!(content(&store).unwrap(), before, "{length} bytes, room taken {when}");
            let reopened = open(&disk.after_power_loss(0)).unwrap();
            assert_eq!(
                content(&reopened).unwrap(),
                before,
                "{length} bytes, room taken {when}: after a loss of power"
            );
        }
        drop(store);
        assert_eq!(
            content(&open(&disk).unwrap()).unwrap(),
            before,
            "opened while it is full, room taken {when}"
        );
    }
}

#[test]
fn a_disk_that_was_full() {
    let disk = Disk::new().takes_room_at_once();
    let store = open(&disk).unwrap();
    for number in 0..3 {
        write_step(&store, number).unwrap();
    }
    disk.fail(Fault::Full, io::ErrorKind::StorageFull);
    let before = content(&store).unwrap();
    let big = vec![1; 4 << 20];
    let refused = store
        .write(WriteOptions::default(), &mut |transaction| transaction.put(b"big", &big))
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NoSpace, "{refused:?}");
    assert_eq!(content(&store).unwrap(), before, "it did not happen");
    store
        .write(WriteOptions::default(), &mut |transaction| transaction.put(b"small", b"fits"))
        .unwrap();
    disk.heal();
    store.write(WriteOptions::default(), &mut |transaction| transaction.put(b"big", &big)).unwrap();
    drop(store);
    assert_eq!(content(&open(&disk).unwrap()).unwrap().len(), before.len() + 2);
}

#[test]
fn a_disk_that_is_full_is_verified_with_writes_in_the_log() {
    let disk = Disk::new();
    let store = open(&disk).unwrap();
    write_step(&store, 0).unwrap();
    write_step(&store, 1).unwrap();
    let (relaxed, big) = (WriteOptions::durability(Durability::Relaxed), vec![1; 1 << 20]);
    store.write(relaxed, &mut |transaction| transaction.put(b"big", &big)).unwrap();
    disk.fail(Fault::Full, io::ErrorKind::StorageFull);
    let written = content(&store).unwrap();
    // Another one finds no room in the log, and is refused before it is visible.
    let refused = store.write(relaxed, &mut |transaction| transaction.put(b"more", &big));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::NoSpace);
    assert_eq!(store.flush().unwrap_err().kind(), ErrorKind::NoSpace);
    assert!(store.verify().unwrap(), "the file as it is");
    assert_eq!(content(&store).unwrap(), written);
    assert_eq!(content(&open(&disk.copy()).unwrap()).unwrap(), written, "after a kill");
    disk.heal();
    assert!(store.verify().unwrap());
    drop(store);
    assert_eq!(content(&open(&disk).unwrap()).unwrap(), written);
}

#[test]
fn power_lost_at_any_moment() {
    for seed in 0..4 {
        let disk = Disk::new();
        let store = open(&disk).unwrap();
        let mut states = vec![Content::new()];
        // The last durable state.
        let mut durable = 0;
        for number in 0..STEPS {
            write_step(&store, number).unwrap();
            states.push(changed(states.last().unwrap(), number));
            if is_durable(number) {
                durable = states.len() - 1;
            }
            let found = content(&open(&disk.after_power_loss(seed)).unwrap()).unwrap();
            assert!(
                states[durable..].contains(&found),
                "seed {seed}, step {number}: no mixture, nothing lost"
            );
        }
    }
}

/// How often a durable write is lost, over power losses at any operation of the workload and all
/// models of loss. The one that loses nothing is the end of the process, which no write may be lost
/// by.
fn lost(ignore_one_sync_in: Option<u64>) -> usize {
    let disk = Disk::new();
    let store = open(&disk).unwrap();
    if let Some(every) = ignore_one_sync_in {
        disk.ignore_one_sync_in(every);
    }
    (1..2_000).for_each(|ahead| disk.await_operation(disk.operations() + ahead));
    let (mut states, mut durable) = (vec![(disk.operations(), Content::new())], Vec::new());
    for number in 0..2 * STEPS {
        write_step(&store, number).unwrap();
        states.push((disk.operations(), changed(&states.last().unwrap().1, number)));
        if is_durable(number) {
            durable.push((disk.operations(), states.len() - 1));
        }
    }
    let moments = disk.moments();
    assert!(moments.len() > 50, "the workload has more than {} operations", moments.len());
    let mut lost = 0;
    for (moment, loss) in moments.iter().flat_map(|moment| Loss::ALL.map(|loss| (moment, loss))) {
        let has_returned = |operations: u64| operations < moment.operations();
        let first = if loss == Loss::Nothing {
            states.iter().rposition(|(operations, _)| has_returned(*operations))
        } else {
            let last = durable.iter().rev().find(|(operations, _)| has_returned(*operations));
            last.map(|(_, state)| *state)
        };
        let kept = states.get(first.unwrap_or_default()..).unwrap();
        let found =
            open(&moment.after(loss, moment.operations())).and_then(|store| content(&store));
        lost +=
            usize::from(!found.is_ok_and(|found| kept.iter().any(|(_, state)| *state == found)));
    }
    lost
}

#[test]
fn power_lost_at_any_operation_in_each_way() {
    assert_eq!(lost(None), 0);
}

/// The control: a disk that reports fsyncs which it did not perform.
#[test]
fn a_disk_that_ignores_fsyncs_is_detected() {
    assert!(lost(Some(7)) > 0);
}

#[test]
fn damaged_pages_are_an_error_and_not_a_panic() {
    // redb's panics are caught, and not printed.
    std::panic::set_hook(Box::new(|_| {}));
    let disk = Disk::new();
    let store = open(&disk).unwrap();
    for number in 0..STEPS {
        write_step(&store, number).unwrap();
    }
    drop(store);
    let image = disk.image();
    let mut found_by_verify = 0;
    let mut errors = 0;
    let places: Vec<_> = (4_096..image.len()).step_by(97).filter(|at| image[*at] != 0).collect();
    for at in places.iter().copied().step_by(places.len() / 400 + 1) {
        let damaged = Disk::new();
        damaged.corrupt(|bytes| {
            bytes.clone_from(&image);
            bytes[at] ^= 0x55;
        });
        let Ok(store) = open(&damaged) else {
            errors += 1;
            continue;
        };
        errors +=
            usize::from(content(&store).is_err_and(|error| error.kind() == ErrorKind::Corrupted));
        found_by_verify += usize::from(!store.verify().unwrap_or(false));
        let _ = write_step(&store, STEPS);
        let _ = content(&store);
    }
    let _ = std::panic::take_hook();
    assert!(found_by_verify > 10, "verify found {found_by_verify}");
    println!("{errors} errors on reading, {found_by_verify} found by verifying");
}

/// A leaf in the place of another one holds keys that a scan did not ask for. They are no end of
/// what it asked for.
#[test]
fn a_leaf_in_the_place_of_another_hides_nothing() {
    const PAGE: usize = 4_096;
    const LEAF: u8 = 1;
    let key = |number: u16| number.to_be_bytes();
    let disk = Disk::new();
    let store = open(&disk).unwrap();
    let put = |transaction: &mut dyn Transaction| {
        (0..300).try_for_each(|number| transaction.put(&key(number), &[7; 100]))
    };
    store.write(WriteOptions::default(), &mut |transaction| put(transaction)).unwrap();
    store.flush().unwrap();
    drop(store);
    let image = disk.image();
    let has_entries = |page: &usize| {
        let page = &image[page * PAGE..][..PAGE];
        page[0] == LEAF && page.windows(100).any(|bytes| bytes == [7; 100])
    };
    let leaves: Vec<usize> = (1..image.len() / PAGE).filter(has_entries).collect();
    let (mut errors, mut found) = (0, 0);
    for (from, to) in leaves.iter().flat_map(|from| leaves.iter().map(move |to| (*from, *to))) {
        let damaged = Disk::new();
        damaged.corrupt(|bytes| {
            bytes.clone_from(&image);
            bytes.copy_within(from * PAGE..(from + 1) * PAGE, to * PAGE);
        });
        let Ok(store) = open(&damaged) else { continue };
        let snapshot = store.snapshot().unwrap();
        let starts = (0..270).step_by(3).flat_map(|number| [(number, false), (number, true)]);
        for (number, reverse) in starts {
            // Ends at the last key that it wants, and at a key that it does not expect.
            let mut wanted: Vec<_> = (number..number + 30).map(key).collect();
            let (lower, upper) = (key(number), key(number + 30));
            let range = if reverse {
                KeyRange { reverse, ..KeyRange::half_open(&[0], &upper) }
            } else {
                wanted.reverse();
                KeyRange::half_open(&lower, &[0xff])
            };
            let scanned = snapshot.scan(range, &mut |found, _| {
                let is_wanted = wanted.pop_if(|next| *next == found).is_some();
                let goes_on = is_wanted && !wanted.is_empty();
                Ok(if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            });
            match scanned {
                Ok(()) => assert!(wanted.is_empty(), "page {from} at {to}: {wanted:?} are hidden"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupted),
            }
            *if wanted.is_empty() { &mut found } else { &mut errors } += 1;
        }
    }
    assert!(leaves.len() > 5 && errors > 100 && found > 100, "{leaves:?} {errors} {found}");
}

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
/// are no prefix.
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
    let mut opened_under_faults = 0;
    for every in 2..120 {
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
            opened_under_faults += 1;
            next.heal();
            let found = last(&reopened).unwrap();
            assert!(possible.contains(&found), "{when}, opened: {found:?} of {possible:?}");
            (disk, store, possible) = (next, reopened, vec![found]);
        }
    }
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
