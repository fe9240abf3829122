//! Schedules of threads that share a store, explored by shuttle: writers, readers, flushes and
//! compactions, with and without failures of the disk.
//!
//! ```sh
//! RUSTFLAGS="--cfg shuttle" cargo test -p leafbase-kv --features testkit --test schedules
//! ```
//!
//! A failure prints its schedule, which `shuttle::replay` repeats.

#![cfg(shuttle)]
#![expect(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use leafbase_kv::testkit::{Disk, Fault, WalOnDisk, open_backends};
use leafbase_kv::{Durability, OpenOptions, Read, RedbStore, Snapshot, Store, WriteOptions};
use leafbase_model::{Error, Result};
use redb::StorageBackend;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner, thread};

const WRITERS: u8 = 3;
const WRITES: u8 = 4;
const SUM: &[u8] = b"sum";
/// Stack of an explored thread: the default of 32 KiB is too small for redb.
const STACK_BYTES: usize = 1 << 20;

/// The WAL, whose fsync lets the other threads run. The main file has no such point: redb holds
/// locks of the standard library over its operations, on which explored threads would block.
#[derive(Debug)]
struct PausingWal(WalOnDisk);

impl StorageBackend for PausingWal {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        thread::yield_now();
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
}

fn open(disk: &Disk) -> Result<RedbStore> {
    let (disk, wal) = (disk.clone(), disk.wal());
    open_backends(move || disk.clone(), move || PausingWal(wal.clone()), &OpenOptions::new())
}

fn number(read: &dyn Read, key: &[u8]) -> Result<u64> {
    let mut number = 0;
    read.get(key, &mut |value| {
        number = value.try_into().map_or(u64::MAX, u64::from_be_bytes);
        Ok(())
    })?;
    Ok(number)
}

/// The key that holds the number of the writer's newest write.
fn key_of(writer: u8) -> [u8; 2] {
    [b'w', writer]
}

/// Increments the sum and the writer's own number in one closure.
fn increment(
    store: &dyn Store,
    writer: u8,
    durability: Durability,
    is_refused: bool,
) -> Result<()> {
    store.write(WriteOptions::durability(durability), &mut |transaction| {
        for key in [SUM, &key_of(writer)] {
            let next = number(transaction, key)? + 1;
            transaction.put(key, &next.to_be_bytes())?;
        }
        if is_refused { Err(Error::validation("refused")) } else { Ok(()) }
    })
}

/// The sum of a snapshot; each snapshot has whole writes.
fn sum(store: &dyn Store) -> Result<u64> {
    sum_of(&*store.snapshot()?)
}

fn sum_of(snapshot: &dyn Snapshot) -> Result<u64> {
    let numbers: Result<Vec<u64>> =
        (0..WRITERS).map(|writer| number(snapshot, &key_of(writer))).collect();
    let sum = number(snapshot, SUM)?;
    assert_eq!(numbers?.iter().sum::<u64>(), sum, "a snapshot has half of a write");
    Ok(sum)
}

/// The counts that the threads share. Atomics of the standard library are not points of a schedule.
#[derive(Default)]
struct Outcomes {
    acknowledged: AtomicU64,
    durable: AtomicU64,
    failed: AtomicU64,
    /// The sum in each version that a snapshot had.
    versions: Mutex<BTreeMap<u64, u64>>,
}

fn run_writer(store: &dyn Store, writer: u8, outcomes: &Outcomes) {
    for round in 0..WRITES {
        let durability =
            if (round + writer) % 2 == 0 { Durability::Durable } else { Durability::Relaxed };
        let is_refused = round == 2;
        let acknowledged_before = outcomes.acknowledged.load(Ordering::SeqCst);
        match increment(store, writer, durability, is_refused) {
            Ok(()) => {
                outcomes.acknowledged.fetch_add(1, Ordering::SeqCst);
                if durability == Durability::Durable {
                    // Its fsync made the writes durable that had returned before it began.
                    outcomes.durable.fetch_max(acknowledged_before + 1, Ordering::SeqCst);
                }
            }
            Err(_) if is_refused => {}
            Err(_) => {
                outcomes.failed.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

fn run_reader(store: &dyn Store, outcomes: &Outcomes) {
    let mut last = 0;
    for _ in 0..WRITES {
        let acknowledged = outcomes.acknowledged.load(Ordering::SeqCst);
        let read = || {
            let snapshot = store.snapshot()?;
            Ok::<_, Error>((snapshot.version().unwrap(), sum_of(&*snapshot)?))
        };
        if let Ok((version, seen)) = read() {
            let mut versions = outcomes.versions.lock().unwrap();
            assert_eq!(*versions.entry(version).or_insert(seen), seen, "states of one version");
            drop(versions);
            assert!(seen >= last.max(acknowledged), "a snapshot lacks an acknowledged write");
            last = seen;
        }
        thread::yield_now();
    }
}

type Maintenance = fn(&dyn Store) -> Result<()>;

/// All threads on one store. Returns its disk, and what the writers were told.
fn run_threads(fault: Option<Fault>, maintenance: Maintenance) -> (Disk, RedbStore, Arc<Outcomes>) {
    let disk = Disk::new();
    let store = Arc::new(open(&disk).unwrap());
    // The second durable write starts the WAL.
    for _ in 0..2 {
        let write = &mut |transaction: &mut dyn leafbase_kv::Transaction| {
            transaction.put(b"first", b"write")
        };
        store.write(WriteOptions::durability(Durability::Durable), write).unwrap();
    }
    if let Some(fault) = fault {
        disk.fail(fault, io::ErrorKind::Other);
    }
    let outcomes = Arc::new(Outcomes::default());
    let writers = (0..WRITERS).map(|writer| {
        let (store, outcomes) = (Arc::clone(&store), Arc::clone(&outcomes));
        thread::spawn(move || run_writer(&*store, writer, &outcomes))
    });
    let mut threads: Vec<_> = writers.collect();
    let (read, counts) = (Arc::clone(&store), Arc::clone(&outcomes));
    threads.push(thread::spawn(move || run_reader(&*read, &counts)));
    let (kept, fails) = (Arc::clone(&store), fault.is_some());
    threads.push(thread::spawn(move || {
        let done = maintenance(&*kept);
        assert!(fails || done.is_ok(), "{done:?}");
    }));
    for thread in threads {
        thread.join().unwrap();
    }
    (disk, Arc::into_inner(store).unwrap(), outcomes)
}

/// Explores schedules at random, and those with few preemptions in the hard places.
fn explore(schedules: usize, run: impl Fn() + Send + Sync + Clone + 'static) {
    let mut config = Config::new();
    config.stack_size = STACK_BYTES;
    Runner::new(RandomScheduler::new(schedules), config.clone()).run(run.clone());
    Runner::new(PctScheduler::new(3, schedules), config).run(run);
}

/// Without failures every write that is not refused counts, once.
fn all_writes_count(maintenance: Maintenance) {
    explore(300, move || {
        let (_, store, outcomes) = run_threads(None, maintenance);
        let expected = u64::from(WRITERS) * u64::from(WRITES - 1);
        assert_eq!(outcomes.acknowledged.load(Ordering::SeqCst), expected);
        assert_eq!(sum(&store).unwrap(), expected);
    });
}

#[test]
fn writers_share_commits_beside_a_flush() {
    all_writes_count(|store| store.flush());
}

#[test]
fn writers_share_commits_beside_a_verification() {
    all_writes_count(|store| store.verify().map(|is_intact| assert!(is_intact)));
}

#[test]
fn writers_share_commits_beside_an_overdue_sync() {
    all_writes_count(|store| store.sync_overdue(&|| i64::MAX));
}

/// Each failure is reported to its writers, and nothing that was acknowledged is lost, with the
/// power neither.
fn acknowledged_writes_are_kept(fault: Fault, failures: &Arc<AtomicU64>) {
    let failures = Arc::clone(failures);
    explore(300, move || {
        let (disk, store, outcomes) = run_threads(Some(fault), |store| store.flush());
        disk.heal();
        let [acknowledged, durable, failed] =
            [&outcomes.acknowledged, &outcomes.durable, &outcomes.failed]
                .map(|count| count.load(Ordering::SeqCst));
        failures.fetch_add(failed, Ordering::SeqCst);
        let counted = sum(&store).unwrap();
        assert!(counted >= acknowledged, "{counted} of {acknowledged}");
        // Whether the disk has a write that failed may be unknown until it is read again.
        assert!(counted <= acknowledged + failed, "{counted}, {acknowledged} and {failed}");
        let after_loss = open(&disk.after_power_loss(0)).unwrap();
        let kept = sum(&after_loss).unwrap();
        assert!(kept >= durable, "{kept} of {durable} durable ones");
        drop(store);
        assert!(sum(&open(&disk).unwrap()).unwrap() >= acknowledged);
    });
}

/// One failure of the WAL is answered by a checkpoint, so writers are told of several in a row.
#[test]
fn acknowledged_writes_survive_failures_in_a_row() {
    let failures = Arc::new(AtomicU64::new(0));
    for first in [20, 40, 60, 80] {
        acknowledged_writes_are_kept(Fault::Between(first, first + 30), &failures);
    }
    assert!(failures.load(Ordering::SeqCst) > 0, "no write has failed");
}

#[test]
fn acknowledged_writes_survive_scattered_failures() {
    let failures = Arc::new(AtomicU64::new(0));
    acknowledged_writes_are_kept(Fault::OneIn(3), &failures);
    assert!(failures.load(Ordering::SeqCst) > 0, "no write has failed");
}

/// The control: increments decided outside of their closures are lost in some schedule.
#[test]
#[should_panic(expected = "increments are lost")]
fn lost_increments_are_noticed() {
    explore(100, || {
        let store = Arc::new(open(&Disk::new()).unwrap());
        let threads = [0, 1].map(|_| {
            let store = Arc::clone(&store);
            thread::spawn(move || {
                let next = number(&*store.snapshot().unwrap(), SUM).unwrap() + 1;
                let put = &mut |transaction: &mut dyn leafbase_kv::Transaction| {
                    transaction.put(SUM, &next.to_be_bytes())
                };
                store.write(WriteOptions::durability(Durability::Relaxed), put).unwrap();
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        let sum = number(&*store.snapshot().unwrap(), SUM).unwrap();
        assert_eq!(sum, 2, "increments are lost");
    });
}
