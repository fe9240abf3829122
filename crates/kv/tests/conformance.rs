//! The stores pass the conformance suite, and deliberately broken stores fail it.
#![allow(clippy::unwrap_used, reason = "test helpers are not test functions")]

use std::ops::{Bound, ControlFlow};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leafbase_kv::{
    Durability, KeyRange, MemoryStore, OpenOptions, Read, ReadHint, Snapshot, Store, Transaction,
    Visit, WriteOptions,
};
use leafbase_kv::{directory, testkit};
use leafbase_model::{Error, Result};

#[test]
fn the_store_in_memory_conforms() {
    testkit::conformance(&mut || Box::new(MemoryStore::new()));
}

#[test]
fn the_store_on_a_file_conforms() {
    let place = tempfile::tempdir().unwrap();
    let mut number = 0;
    testkit::conformance(&mut || {
        number += 1;
        Box::new(
            directory::create(place.path().join(number.to_string()), &OpenOptions::new()).unwrap(),
        )
    });
}

#[test]
fn the_store_on_a_backend_conforms_with_a_tiny_cache() {
    testkit::conformance(&mut || {
        let options = OpenOptions::new().cache_bytes(64 << 10);
        let disk = testkit::Disk::new();
        Box::new(testkit::open_backend(move || disk.clone(), &options).unwrap())
    });
}

#[test]
fn handles_of_one_store_agree() {
    testkit::handles(&mut |count| {
        let store = Arc::new(MemoryStore::new());
        (0..count).map(|_| Arc::clone(&store) as Arc<dyn Store>).collect()
    });
    let place = tempfile::tempdir().unwrap();
    let mut number = 0;
    testkit::handles(&mut |count| {
        number += 1;
        let path = place.path().join(number.to_string());
        let store = Arc::new(directory::create(path, &OpenOptions::new()).unwrap());
        (0..count).map(|_| Arc::clone(&store) as Arc<dyn Store>).collect()
    });
}

/// How the handles of a store are broken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum WrongHandles {
    /// A handle reads the state of its own last write.
    ReadsItsOwnWritesAlone,
    /// A handle reads again what it has read a few reads before.
    GoesBack,
    /// A closure reads what its handle has read before, so that writes in between are lost.
    WritesOverAStaleState,
    /// Two writers at a time, of which each writes what it has read.
    HasNoLock,
    /// Others see a write before it is complete.
    ShowsHalfAWrite,
    /// What another handle reads of a refused write stays.
    ShowsARefusedWrite,
    /// A snapshot follows later writes.
    FollowsLaterWrites,
    /// All states have one number.
    NumbersNothing,
    /// The numbers of states begin again.
    NumbersBackwards,
}

/// One of several handles of a store.
#[derive(Debug)]
struct WrongHandle {
    store: Arc<MemoryStore>,
    wrong: WrongHandles,
    /// What the handle has read before.
    earlier: Mutex<Option<MemoryStore>>,
    reads: AtomicU64,
}

struct NumberedSnapshot(Box<dyn Snapshot>, Option<u64>);

impl Read for NumberedSnapshot {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        self.0.get(key, visit)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        self.0.scan(range, visit)
    }
}

impl Snapshot for NumberedSnapshot {
    fn version(&self) -> Option<u64> {
        self.1
    }
}

/// Replaces all entries of the transaction by those of another store.
fn replace(rows: &mut dyn Transaction, other: &MemoryStore) -> Result<()> {
    rows.delete_range(b"", &[0xFF; 2_000])?;
    let all = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
    other.snapshot()?.scan(all, &mut |key, value| rows.put(key, value).map(ControlFlow::Continue))
}

impl Store for WrongHandle {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let mut earlier = self.earlier.lock().unwrap();
        let reads = self.reads.fetch_add(1, Ordering::SeqCst);
        let (snapshot, number) = match self.wrong {
            WrongHandles::ReadsItsOwnWritesAlone => {
                (earlier.get_or_insert_with(|| self.store.copy()).snapshot()?, None)
            }
            WrongHandles::GoesBack => {
                let snapshot = match &*earlier {
                    Some(earlier) if reads % 8 == 7 => earlier.snapshot()?,
                    _ => self.store.snapshot()?,
                };
                if reads.is_multiple_of(8) {
                    *earlier = Some(self.store.copy());
                }
                (snapshot, None)
            }
            WrongHandles::FollowsLaterWrites => {
                let store = Arc::clone(&self.store);
                let (inner, wrong) = (store.snapshot()?, Wrong::SnapshotSeesLaterWrites);
                let hinted = Mutex::default();
                return Ok(Box::new(WrongSnapshot { inner, store, wrong, hinted }));
            }
            WrongHandles::NumbersNothing => (self.store.snapshot()?, Some(1)),
            WrongHandles::NumbersBackwards => {
                let snapshot = self.store.snapshot()?;
                let version = snapshot.version().map(|version| u64::MAX - version);
                (snapshot, version)
            }
            WrongHandles::WritesOverAStaleState => {
                if reads.is_multiple_of(4) {
                    *earlier = Some(self.store.copy());
                }
                (self.store.snapshot()?, None)
            }
            _ => (self.store.snapshot()?, None),
        };
        Ok(Box::new(NumberedSnapshot(snapshot, number)))
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        match self.wrong {
            WrongHandles::ReadsItsOwnWritesAlone => {
                self.store.write(options, f)?;
                *self.earlier.lock().unwrap() = Some(self.store.copy());
                Ok(())
            }
            WrongHandles::WritesOverAStaleState => self.store.write(options, &mut |rows| {
                if let Some(earlier) = self.earlier.lock().unwrap().take() {
                    replace(rows, &earlier)?;
                }
                f(rows)
            }),
            WrongHandles::HasNoLock => {
                let own = self.store.copy();
                own.write(options, f)?;
                std::thread::yield_now();
                self.store.write(options, &mut |rows| replace(rows, &own))
            }
            WrongHandles::ShowsHalfAWrite => {
                let before = self.store.copy();
                self.store.write(options, f)?;
                let after = self.store.copy();
                self.store.write(options, &mut |rows| {
                    replace(rows, &before)?;
                    rows.put(&[0], b"half")
                })?;
                std::thread::sleep(Duration::from_millis(1));
                self.store.write(options, &mut |rows| replace(rows, &after))
            }
            WrongHandles::ShowsARefusedWrite => {
                let mut refused = Ok(());
                self.store.write(options, &mut |rows| {
                    refused = f(rows);
                    Ok(())
                })?;
                refused
            }
            _ => self.store.write(options, f),
        }
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }

    fn compact(&self) -> Result<()> {
        Ok(())
    }

    fn verify(&self) -> Result<bool> {
        Ok(true)
    }

    fn bytes(&self) -> Result<u64> {
        self.store.bytes()
    }
}

#[test]
fn wrong_handles_do_not_agree() {
    // Expected panics are not printed.
    std::panic::set_hook(Box::new(|_| {}));
    let wrongs = [
        WrongHandles::ReadsItsOwnWritesAlone,
        WrongHandles::GoesBack,
        WrongHandles::WritesOverAStaleState,
        WrongHandles::HasNoLock,
        WrongHandles::ShowsHalfAWrite,
        WrongHandles::ShowsARefusedWrite,
        WrongHandles::FollowsLaterWrites,
        WrongHandles::NumbersNothing,
        WrongHandles::NumbersBackwards,
    ];
    let passed: Vec<_> = wrongs
        .into_iter()
        .filter(|&wrong| {
            let mut make = |count: usize| -> Vec<Arc<dyn Store>> {
                let store = Arc::new(MemoryStore::new());
                let handle = |_| WrongHandle {
                    store: Arc::clone(&store),
                    wrong,
                    earlier: Mutex::default(),
                    reads: AtomicU64::default(),
                };
                (0..count).map(handle).map(|one| Arc::new(one) as Arc<dyn Store>).collect()
            };
            catch_unwind(AssertUnwindSafe(|| testkit::handles(&mut make))).is_ok()
        })
        .collect();
    let _ = std::panic::take_hook();
    assert_eq!(passed, [], "the suite let these pass");
}

/// How a store is broken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    KeepsWhatWasRefused,
    IncludesTheEndOfARange,
    SnapshotSeesLaterWrites,
    IgnoresReverse,
    IgnoresBreak,
    HidesRelaxedWrites,
    WritesInTwoHalves,
    DeletesTheEndOfARange,
    DropsEmptyValues,
    SwallowsErrorsOfVisits,
    DoesNotReadItsOwnWrites,
    /// A scan ends after the entries of a hint.
    TakesAHintForAll,
    /// The records that a hint asks for do not exist.
    LosesHintedRecords,
    /// What was read is still said to be on another machine.
    ForgetsWhatItLoads,
}

#[derive(Debug)]
struct WrongStore {
    inner: Arc<MemoryStore>,
    /// The visible state of a store that hides relaxed writes.
    durable: MemoryStore,
    wrong: Wrong,
}

struct WrongSnapshot {
    inner: Box<dyn Snapshot>,
    store: Arc<MemoryStore>,
    wrong: Wrong,
    hinted: Mutex<Hinted>,
}

/// What hints said.
#[derive(Default)]
struct Hinted {
    entries: Option<usize>,
    record_prefix: Option<Vec<u8>>,
}

struct WrongTransaction<'a> {
    inner: &'a mut dyn Transaction,
    before: Box<dyn Snapshot>,
    wrong: Wrong,
}

fn wrong_get(
    read: &dyn Read,
    wrong: Wrong,
    key: &[u8],
    visit: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<bool> {
    let mut dropped = false;
    let found = read.get(key, &mut |value| {
        dropped = wrong == Wrong::DropsEmptyValues && value.is_empty();
        let result = if dropped { Ok(()) } else { visit(value) };
        if wrong == Wrong::SwallowsErrorsOfVisits { Ok(()) } else { result }
    })?;
    Ok(found && !dropped)
}

fn wrong_scan(
    read: &dyn Read,
    wrong: Wrong,
    mut range: KeyRange<'_>,
    visit: Visit<'_>,
) -> Result<()> {
    match (wrong, range.upper) {
        (Wrong::IncludesTheEndOfARange, Bound::Excluded(upper)) => {
            range.upper = Bound::Included(upper);
        }
        (Wrong::IgnoresReverse, _) => range.reverse = false,
        _ => {}
    }
    read.scan(range, &mut |key, value| {
        let flow = visit(key, value)?;
        Ok(if wrong == Wrong::IgnoresBreak { ControlFlow::Continue(()) } else { flow })
    })
}

impl Read for WrongSnapshot {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        if self.wrong == Wrong::SnapshotSeesLaterWrites {
            return self.store.snapshot()?.get(key, visit);
        }
        let lost = self.hinted.lock().unwrap().record_prefix.clone();
        if self.wrong == Wrong::LosesHintedRecords && lost.is_some_and(|it| key.starts_with(&it)) {
            return Ok(false);
        }
        wrong_get(&*self.inner, self.wrong, key, visit)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        if self.wrong == Wrong::SnapshotSeesLaterWrites {
            return self.store.snapshot()?.scan(range, visit);
        }
        let mut left = self.hinted.lock().unwrap().entries.unwrap_or(usize::MAX);
        wrong_scan(&*self.inner, self.wrong, range, &mut |key, value| {
            let flow = visit(key, value)?;
            left = left.saturating_sub(1);
            let ends = self.wrong == Wrong::TakesAHintForAll && left == 0;
            Ok(if ends { ControlFlow::Break(()) } else { flow })
        })
    }

    fn is_loaded(&self, key: &[u8]) -> bool {
        self.wrong != Wrong::ForgetsWhatItLoads && self.inner.is_loaded(key)
    }

    fn prefetch(&self, hints: &[ReadHint<'_>]) -> Result<()> {
        let mut hinted = self.hinted.lock().unwrap();
        for hint in hints {
            match hint {
                ReadHint::Range(_, entries) => hinted.entries = Some(*entries),
                ReadHint::Index(index) => hinted.record_prefix = Some(index.record_prefix.to_vec()),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Snapshot for WrongSnapshot {}

impl WrongTransaction<'_> {
    fn read(&self) -> &dyn Read {
        if self.wrong == Wrong::DoesNotReadItsOwnWrites { &*self.before } else { &*self.inner }
    }
}

impl Read for WrongTransaction<'_> {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        wrong_get(self.read(), self.wrong, key, visit)
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        wrong_scan(self.read(), self.wrong, range, visit)
    }
}

impl Transaction for WrongTransaction<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.inner.put(key, value)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.inner.delete(key)
    }

    fn delete_range(&mut self, lower: &[u8], upper: &[u8]) -> Result<()> {
        self.inner.delete_range(lower, upper)?;
        if self.wrong == Wrong::DeletesTheEndOfARange { self.inner.delete(upper) } else { Ok(()) }
    }
}

impl Store for WrongStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let inner = if self.wrong == Wrong::HidesRelaxedWrites {
            self.durable.snapshot()?
        } else {
            self.inner.snapshot()?
        };
        let (store, hinted) = (Arc::clone(&self.inner), Mutex::default());
        Ok(Box::new(WrongSnapshot { inner, store, wrong: self.wrong, hinted }))
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        let wrong = self.wrong;
        let mut refused: Option<Error> = None;
        self.inner.write(options, &mut |inner| {
            let before = self.inner.snapshot()?;
            let result = f(&mut WrongTransaction { inner, before, wrong });
            match result {
                Err(error) if wrong == Wrong::KeepsWhatWasRefused => {
                    refused = Some(error);
                    Ok(())
                }
                result => result,
            }
        })?;
        if wrong == Wrong::WritesInTwoHalves {
            // The pause lets readers run between the halves even on a busy machine.
            let mut half = None;
            self.inner.snapshot()?.get(&[0], &mut |value| {
                half = Some(value.to_vec());
                Ok(())
            })?;
            if let Some(value) = half {
                let other = vec![1; value.len()];
                self.inner.write(options, &mut |inner| inner.put(&[0], &other))?;
                std::thread::sleep(Duration::from_millis(1));
                self.inner.write(options, &mut |inner| inner.put(&[0], &value))?;
            }
        }
        if options.durability == Durability::Durable {
            self.flush()?;
        }
        refused.map_or(Ok(()), Err)
    }

    fn flush(&self) -> Result<()> {
        let snapshot = self.inner.snapshot()?;
        let all = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
        self.durable.write(WriteOptions::default(), &mut |durable| {
            durable.delete_range(b"", &[0xFF; 2_000])?;
            snapshot.scan(all, &mut |key, value| durable.put(key, value).map(ControlFlow::Continue))
        })
    }

    fn compact(&self) -> Result<()> {
        Ok(())
    }

    fn verify(&self) -> Result<bool> {
        Ok(true)
    }

    fn bytes(&self) -> Result<u64> {
        self.inner.bytes()
    }
}

#[test]
fn wrong_stores_do_not_conform() {
    // Expected panics are not printed. The threads of the suite report by joining.
    std::panic::set_hook(Box::new(|_| {}));
    let wrongs = [
        Wrong::KeepsWhatWasRefused,
        Wrong::IncludesTheEndOfARange,
        Wrong::SnapshotSeesLaterWrites,
        Wrong::IgnoresReverse,
        Wrong::IgnoresBreak,
        Wrong::HidesRelaxedWrites,
        Wrong::WritesInTwoHalves,
        Wrong::DeletesTheEndOfARange,
        Wrong::DropsEmptyValues,
        Wrong::SwallowsErrorsOfVisits,
        Wrong::DoesNotReadItsOwnWrites,
        Wrong::TakesAHintForAll,
        Wrong::LosesHintedRecords,
        Wrong::ForgetsWhatItLoads,
    ];
    let passed: Vec<_> = wrongs
        .into_iter()
        .filter(|&wrong| {
            let mut make = || -> Box<dyn Store> {
                Box::new(WrongStore { inner: Arc::default(), durable: MemoryStore::new(), wrong })
            };
            catch_unwind(AssertUnwindSafe(|| testkit::conformance(&mut make))).is_ok()
        })
        .collect();
    let _ = std::panic::take_hook();
    assert_eq!(passed, [], "the suite let these pass");
}
