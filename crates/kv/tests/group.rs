//! Group commit: concurrent writes share fsyncs, are isolated, and survive I/O errors and power
//! losses.

#![expect(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use leafbase_kv::testkit::{Disk, Fault, Loss, open_backends};
use leafbase_kv::{Durability, OpenOptions, Read, RedbStore, Store, WriteOptions};
use leafbase_model::{Error, ErrorKind, Result};
use redb::StorageBackend;
use redb::backends::InMemoryBackend;

const DURABLE: WriteOptions = WriteOptions::durability(Durability::Durable);
const RELAXED: WriteOptions = WriteOptions::durability(Durability::Relaxed);

/// A thread that is blocked for this long has deadlocked.
const PATIENCE: Duration = Duration::from_secs(20);

/// A file whose fsyncs wait at a gate, and whose next writes and fsyncs fail on demand.
#[derive(Clone, Debug, Default)]
struct Gated {
    file: Arc<Mutex<Option<Arc<InMemoryBackend>>>>,
    gate: Arc<Gate>,
}

#[derive(Debug, Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_closed: bool,
    /// The number of writes and fsyncs that will fail.
    failing: usize,
    /// Whether the file cannot be extended.
    is_full: bool,
    waiting: usize,
    syncs: usize,
}

impl Gate {
    fn close(&self) {
        self.state.lock().unwrap().is_closed = true;
    }

    /// Opens the gate. The next `failing` writes and fsyncs fail.
    fn open(&self, failing: usize) {
        let mut state = self.state.lock().unwrap();
        (state.is_closed, state.failing) = (false, failing);
        self.changed.notify_all();
    }

    fn wait_for_a_sync(&self) {
        let (state, timeout) = self
            .changed
            .wait_timeout_while(self.state.lock().unwrap(), PATIENCE, |state| state.waiting == 0)
            .unwrap();
        drop(state);
        assert!(!timeout.timed_out(), "nobody syncs");
    }

    fn syncs(&self) -> usize {
        self.state.lock().unwrap().syncs
    }

    fn pass(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.waiting += 1;
        self.changed.notify_all();
        let mut state = self.changed.wait_while(state, |state| state.is_closed).unwrap();
        state.waiting -= 1;
        state.syncs += 1;
        drop(state);
        self.fail()
    }

    fn fail(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        let fails = state.failing > 0;
        state.failing = state.failing.saturating_sub(1);
        if fails { Err(io::Error::other("a fault of the disk")) } else { Ok(()) }
    }
}

impl Gated {
    fn below(&self) -> Arc<InMemoryBackend> {
        Arc::clone(
            self.file.lock().unwrap().get_or_insert_with(|| Arc::new(InMemoryBackend::new())),
        )
    }
}

impl StorageBackend for Gated {
    fn len(&self) -> io::Result<u64> {
        self.below().len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.below().read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if self.gate.state.lock().unwrap().is_full && len > self.below().len()? {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.below().set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.gate.pass()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.gate.fail()?;
        self.below().write(offset, data)
    }
}

/// A store with a WAL, and the gates of its two files.
fn store() -> (RedbStore, Arc<Gate>, Arc<Gate>) {
    let (file, wal) = (Gated::default(), Gated::default());
    let gates = (Arc::clone(&file.gate), Arc::clone(&wal.gate));
    let store =
        open_backends(move || file.clone(), move || wal.clone(), &OpenOptions::new()).unwrap();
    for _ in 0..3 {
        add(&store, DURABLE, b"a", 0).unwrap();
    }
    (store, gates.0, gates.1)
}

fn number(read: &dyn Read, key: &[u8]) -> Result<u64> {
    let mut number = 0;
    read.get(key, &mut |value| {
        number = value.try_into().map_or(u64::MAX, u64::from_be_bytes);
        Ok(())
    })?;
    Ok(number)
}

/// Adds to the number at `key`.
fn add(store: &dyn Store, options: WriteOptions, key: &[u8], more: u64) -> Result<()> {
    store.write(options, &mut |transaction| {
        let sum = number(transaction, key)? + more;
        transaction.put(key, &sum.to_be_bytes())
    })
}

fn published(store: &dyn Store, key: &[u8]) -> u64 {
    number(&*store.snapshot().unwrap(), key).unwrap()
}

/// Numbers from here on are written with a large value.
const LONG: u64 = 1 << 40;

/// The new number for the current one; `None` if the closure fails.
type Decide<'s> = Box<dyn FnMut(u64) -> Option<u64> + Send + 's>;

/// Runs closures one after the other, each in its own thread. The first one waits for its fsync;
/// then `open` opens gates.
fn behind_a_sync<'s>(
    (store, gate): (&'s RedbStore, &Gate),
    writes: Vec<(WriteOptions, Decide<'s>)>,
    open: impl FnOnce(),
) -> Vec<Result<()>> {
    gate.close();
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for (options, mut decide) in writes {
            let has_run = Arc::new(AtomicBool::new(false));
            let ran = Arc::clone(&has_run);
            threads.push(scope.spawn(move || {
                store.write(options, &mut |transaction| {
                    let decided = decide(number(transaction, b"a")?);
                    ran.store(true, Ordering::Release);
                    match decided {
                        Some(number) => {
                            if number >= LONG {
                                transaction.put(b"long", &vec![1; 4 << 20])?;
                            }
                            transaction.put(b"a", &number.to_be_bytes())
                        }
                        None => Err(Error::validation("refused")),
                    }
                })
            }));
            let begun = std::time::Instant::now();
            while !has_run.load(Ordering::Acquire) {
                assert!(begun.elapsed() < PATIENCE, "a closure waits for a sync");
                thread::sleep(Duration::from_millis(1));
            }
            gate.wait_for_a_sync();
            // The closure has run, but its writes may not have joined a batch yet.
            thread::sleep(Duration::from_millis(30));
        }
        open();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn writes_behind_a_sync_share_the_next_one() {
    let (store, _, gate) = store();
    let before = gate.syncs();
    let plus_one = || Box::new(|seen: u64| Some(seen + 1)) as Box<_>;
    let writes = vec![
        (DURABLE, plus_one()),
        (DURABLE, plus_one()),
        (RELAXED, plus_one()),
        (DURABLE, plus_one()),
    ];
    let outcomes = behind_a_sync((&store, &gate), writes, || {
        assert_eq!(published(&store, b"a"), 0, "nobody sees what is not settled");
        gate.open(0);
    });
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!((published(&store, b"a"), gate.syncs() - before), (4, 2), "four writes, two syncs");
}

#[test]
fn a_failed_closure_waits_for_its_base() {
    let (store, _, gate) = store();
    let runs = AtomicU64::new(0);
    let refuse = |seen: u64| {
        runs.fetch_add(1, Ordering::Relaxed);
        (seen == 0).then_some(7)
    };
    let writes: Vec<(_, Decide<'_>)> =
        vec![(DURABLE, Box::new(|_| Some(1))), (DURABLE, Box::new(refuse))];
    let outcomes = behind_a_sync((&store, &gate), writes, || gate.open(0));
    assert_eq!(outcomes[1].as_ref().unwrap_err().kind(), ErrorKind::Validation);
    assert_eq!((published(&store, b"a"), runs.into_inner()), (1, 1));
}

#[test]
fn a_closure_on_a_failed_base_runs_again() {
    let (store, file, gate) = store();
    let seen = Mutex::new(Vec::new());
    let adds = |more: u64| {
        let seen = &seen;
        Box::new(move |found: u64| {
            seen.lock().unwrap().push(found);
            Some(found + more)
        }) as Box<_>
    };
    let refuses = Box::new(|found: u64| (found < 100).then_some(found + 3)) as Box<_>;
    let writes =
        vec![(DURABLE, adds(100)), (DURABLE, adds(1)), (RELAXED, adds(2)), (DURABLE, refuses)];
    let outcomes = behind_a_sync((&store, &gate), writes, || {
        // The record of the first write, and the checkpoint that replaces it.
        file.open(1);
        gate.open(1);
    });
    assert_eq!(outcomes[0].as_ref().unwrap_err().kind(), ErrorKind::Storage, "{outcomes:?}");
    assert!(outcomes[1..].iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(
        seen.into_inner().unwrap()[..3],
        [0, 100, 101],
        "they had run on what was not settled yet"
    );
    assert_eq!(published(&store, b"a"), 1 + 2 + 3);
}

#[test]
fn a_write_without_space_fails_alone() {
    let (store, file, gate) = store();
    file.state.lock().unwrap().is_full = true;
    let plus = |more: u64| Box::new(move |seen: u64| Some(seen + more)) as Box<_>;
    let writes = vec![
        (DURABLE, plus(1)),
        (DURABLE, plus(10)),
        (RELAXED, plus(100)),
        (DURABLE, plus(LONG)),
        (DURABLE, plus(1_000)),
        (RELAXED, Box::new(|seen: u64| (seen >= LONG).then_some(0_u64)) as Box<_>),
    ];
    let outcomes = behind_a_sync((&store, &gate), writes, || gate.open(0));
    let kinds: Vec<_> =
        outcomes.iter().map(|outcome| outcome.as_ref().map_err(Error::kind).err()).collect();
    let (refused, none) = (Some(ErrorKind::Validation), Some(ErrorKind::NoSpace));
    assert_eq!(kinds, [None, None, None, none, None, refused], "{outcomes:?}");
    assert_eq!(
        published(&store, b"a"),
        1_111,
        "the last one had seen what is not there, and looked again"
    );
}

/// The outcomes of a writer.
struct Told {
    key: [u8; 2],
    /// Committed writes, and indeterminate ones.
    sure: u64,
    open: u64,
    /// After each durable write, the operations of the disk and the committed writes so far.
    durable: Vec<(u64, u64)>,
}

const WRITERS: usize = 4;
const WRITES: u64 = 25;

/// Writers increment a counter of their own and a shared one while the disk fails. Acknowledged
/// writes are present, failed ones absent, and none is partial, also after a power loss.
fn side_by_side(seed: u64, fault: Option<Fault>, kind: io::ErrorKind) {
    let disk = Disk::new();
    let (file, wal) = (disk.clone(), disk.wal());
    let options = OpenOptions::new().cache_bytes(16 << 10);
    let store = open_backends(move || file.clone(), move || wal.clone(), &options).unwrap();
    for _ in 0..3 {
        add(&store, DURABLE, b"all", 0).unwrap();
    }
    if let Some(fault) = fault {
        disk.fail(fault, kind);
    }
    disk.await_operation(disk.operations() + 5 + seed * 7 % 90);
    let told: Vec<Told> = thread::scope(|scope| {
        let write = |writer: usize| {
            let (store, disk) = (&store, &disk);
            move || {
                let key = [b'w', u8::try_from(writer).unwrap()];
                let (mut sure, mut open, mut durable) = (0, 0, Vec::new());
                for at in 0..WRITES {
                    let is_durable = !(seed + at + writer as u64).is_multiple_of(5);
                    let wrote = store.write(
                        if is_durable { DURABLE } else { RELAXED },
                        &mut |transaction| {
                            let (all, own) =
                                (number(transaction, b"all")?, number(transaction, &key)?);
                            transaction.put(b"all", &(all + 1).to_be_bytes())?;
                            if (seed + at) % 11 == 10 {
                                return Err(Error::validation("refused"));
                            }
                            transaction.put(&key, &(own + 1).to_be_bytes())?;
                            transaction
                                .put(&[b'x', key[1], u8::try_from(at).unwrap()], &vec![1; 3_000])
                        },
                    );
                    match wrote {
                        Ok(()) => {
                            sure += 1;
                            // After an indeterminate commit the count of the writer is unknown.
                            if is_durable && open == 0 {
                                durable.push((disk.operations(), sure));
                            }
                        }
                        Err(error) if error.message().contains("whether this write took place") => {
                            open += 1;
                        }
                        Err(error) => assert!(
                            matches!(
                                error.kind(),
                                ErrorKind::Validation | ErrorKind::Storage | ErrorKind::NoSpace
                            ),
                            "{error:?}"
                        ),
                    }
                    if let Ok(snapshot) = store.snapshot()
                        && let Ok(own) = number(&*snapshot, &key)
                    {
                        assert!((sure..=sure + open).contains(&own), "{own} of {sure} and {open}");
                    }
                }
                Told { key, sure, open, durable }
            }
        };
        let threads: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(write(writer))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    disk.heal();
    add(&store, DURABLE, b"end", 1).unwrap();
    let check = |store: &dyn Store, when: &str, least: &dyn Fn(&Told) -> u64| {
        let snapshot = store.snapshot().unwrap();
        let mut sum = 0;
        for writer in &told {
            let Told { key, sure, open, .. } = writer;
            let own = number(&*snapshot, key).unwrap();
            assert!(
                (least(writer)..=sure + open).contains(&own),
                "{when}: {own} of {sure} and {open}, seed {seed}"
            );
            sum += own;
        }
        assert_eq!(number(&*snapshot, b"all").unwrap(), sum, "{when}: together, seed {seed}");
    };
    check(&store, "at the end", &|writer| writer.sure);
    for moment in disk.moments() {
        // Acknowledged by a call that had returned, with no indeterminate commit before.
        let by_then = |writer: &Told| {
            let durable =
                writer.durable.iter().filter(|(operations, _)| *operations < moment.operations());
            durable.map(|(_, sure)| *sure).max().unwrap_or_default()
        };
        for loss in Loss::ALL {
            let disk = moment.after(loss, seed);
            let (file, wal) = (disk.clone(), disk.wal());
            let store = open_backends(move || file.clone(), move || wal.clone(), &options).unwrap();
            check(&store, "after a loss of power", &by_then);
        }
    }
}

#[test]
fn concurrent_writers_keep_acknowledged_writes() {
    for seed in 0..60 {
        side_by_side(seed, None, io::ErrorKind::Other);
        let (from, kind) = (
            8 + seed * 5 % 60,
            if seed % 2 == 0 { io::ErrorKind::Other } else { io::ErrorKind::StorageFull },
        );
        side_by_side(seed, Some(Fault::Once(from)), kind);
        side_by_side(seed, Some(Fault::Between(from, from + 6)), kind);
        side_by_side(seed, Some(Fault::OneIn(9)), kind);
    }
}

/// Operations that wait for writers wait for their commit, not only for their closures.
#[test]
fn exclusive_operations_wait_for_commits() {
    let ways: [fn(&RedbStore); 2] =
        [|store| assert!(store.verify().unwrap()), |store| store.compact().unwrap()];
    for wait in ways {
        for _ in 0..20 {
            let (store, _, gate) = store();
            gate.close();
            let found = thread::scope(|scope| {
                let first = scope.spawn(|| add(&store, DURABLE, b"a", 1));
                gate.wait_for_a_sync();
                let (runs, is_running) = mpsc::channel();
                let store = &store;
                let second = scope.spawn(move || {
                    store.write(DURABLE, &mut |transaction| {
                        runs.send(()).unwrap();
                        let sum = number(transaction, b"a")? + 10;
                        transaction.put(b"a", &sum.to_be_bytes())
                    })
                });
                is_running.recv_timeout(PATIENCE).expect("the second one's closure runs");
                let waiting = scope.spawn(|| {
                    wait(store);
                    published(store, b"a")
                });
                thread::sleep(Duration::from_millis(3));
                gate.open(0);
                first.join().unwrap().unwrap();
                second.join().unwrap().unwrap();
                waiting.join().unwrap()
            });
            assert_eq!(found, 11);
        }
    }
}

/// A write on top of an indeterminate flush is acknowledged only if it is kept.
#[test]
fn a_write_after_an_indeterminate_flush_is_kept() {
    let mut done = 0;
    for failing in 1..40 {
        let (store, file, _) = store();
        add(&store, RELAXED, b"a", 1).unwrap();
        file.close();
        let wrote = thread::scope(|scope| {
            let flush = scope.spawn(|| store.flush());
            file.wait_for_a_sync();
            let write = scope.spawn(|| add(&store, RELAXED, b"b", 1));
            thread::sleep(Duration::from_millis(3));
            file.open(failing);
            let _ = flush.join().unwrap();
            write.join().unwrap()
        });
        file.open(0);
        done += usize::from(wrote.is_ok());
        add(&store, DURABLE, b"c", 1).unwrap();
        assert_eq!(published(&store, b"a"), 1, "{failing} failures");
        assert_eq!(
            published(&store, b"b"),
            u64::from(wrote.is_ok()),
            "{failing} failures: {wrote:?}"
        );
    }
    assert!(done > 0, "none is done");
}
