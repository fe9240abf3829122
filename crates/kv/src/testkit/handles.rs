//! The conformance suite of several handles of one store: random programs on all of them, each
//! reply compared with the states of one naive model.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::access::{DURABILITIES, KeyValue, closure_error, everything, get, scan};
use super::random::{MapModel, SuiteRandom, random_operations_on};
use super::threads;
use crate::store::{Durability, Read, Snapshot, Store, Transaction, WriteOptions};

/// Steps of each handle in a program.
const STEPS: usize = 60;
const PROGRAMS: u64 = 3;
/// The key of the number of the last write.
const NUMBER: &[u8] = b"number";
/// Snapshots that a handle keeps open at most.
const MAX_KEPT: usize = 3;

/// Runs the whole suite. `make` returns as many handles as it is asked for of one empty store: they
/// may be clones, or stores of their own that open the same files or the same database.
///
/// # Panics
/// If the handles violate the contract of the traits, or do not agree.
pub fn handles(make: &mut dyn FnMut(usize) -> Vec<Arc<dyn Store>>) {
    let mut some = |count: usize| {
        let handles = make(count);
        assert_eq!(handles.len(), count, "as many handles as were asked for");
        handles
    };
    for count in [2, 3] {
        for seed in 1..=PROGRAMS {
            random_operations_on(&some(count), seed, 60 * count);
            concurrent_program(&some(count), seed);
        }
        no_update_is_lost(&some(count));
    }
    let handles = some(2);
    writes_are_seen_by_all(&handles);
    a_closed_handle_takes_nothing_with_it(some(3));
    if let [writer, reader] = &*some(2) {
        threads::no_reader_sees_half_a_write(&**writer, &**reader);
    }
}

/// Each handle sees each write of another one as soon as it has returned, of both durabilities, and
/// nothing of one that is refused. What was opened before stays.
fn writes_are_seen_by_all(handles: &[Arc<dyn Store>]) {
    let mut before: Vec<(Box<dyn Snapshot>, Vec<KeyValue>)> = Vec::new();
    for round in 0..20_u8 {
        for (writer, durability) in handles.iter().zip(DURABILITIES.into_iter().cycle()) {
            let written = writer.write(WriteOptions::durability(durability), &mut |rows| {
                let next = number_of(rows) + 1;
                rows.put(NUMBER, &next.to_be_bytes())?;
                rows.put(&[round], b"row")
            });
            written.expect("a write");
            let refused = writer.write(WriteOptions::durability(durability), &mut |rows| {
                rows.put(NUMBER, b"refused!")?;
                Err(closure_error())
            });
            assert_eq!(refused, Err(closure_error()), "the error of the closure is returned");
            let states: Vec<Vec<KeyValue>> =
                handles.iter().map(|handle| read_all(&**handle)).collect();
            assert!(
                states.iter().all(|state| Some(state) == states.first()),
                "all handles see the same"
            );
        }
        for handle in handles {
            let snapshot = handle.snapshot().expect("a snapshot");
            let entries = scan(&*snapshot, everything());
            before.push((snapshot, entries));
        }
        if before.len() > MAX_KEPT * handles.len() {
            for (snapshot, entries) in before.drain(..handles.len()) {
                assert_eq!(scan(&*snapshot, everything()), entries, "a snapshot stays");
            }
        }
    }
}

/// Handles come and go while others write.
fn a_closed_handle_takes_nothing_with_it(mut handles: Vec<Arc<dyn Store>>) {
    let mut written = 0;
    while let Some(handle) = handles.pop() {
        for _ in 0..5 {
            increment(&*handle, Durability::Relaxed);
            written += 1;
        }
        drop(handle);
        for handle in &handles {
            assert_eq!(number_of(&*handle.snapshot().expect("a snapshot")), written);
        }
    }
}

/// Concurrent increments on all handles are not lost.
fn no_update_is_lost(handles: &[Arc<dyn Store>]) {
    const ADDITIONS: u64 = 30;
    thread::scope(|scope| {
        for handle in handles {
            scope.spawn(move || {
                for number in 0..ADDITIONS {
                    let is_durable = number % 8 == 0;
                    increment(
                        &**handle,
                        if is_durable { Durability::Durable } else { Durability::Relaxed },
                    );
                }
            });
        }
    });
    for handle in handles {
        let sum = number_of(&*handle.snapshot().expect("a snapshot"));
        assert_eq!(sum, ADDITIONS * handles.len() as u64, "no increment is lost");
    }
}

fn increment(store: &dyn Store, durability: Durability) {
    let written = store.write(WriteOptions::durability(durability), &mut |rows| {
        let next = number_of(rows) + 1;
        rows.put(NUMBER, &next.to_be_bytes())
    });
    written.expect("a write");
}

/// The number of the last write.
fn number_of(read: &(impl Read + ?Sized)) -> u64 {
    let value = get(read, NUMBER);
    value.map_or(0, |value| value.try_into().map_or(u64::MAX, u64::from_be_bytes))
}

fn read_all(store: &dyn Store) -> Vec<KeyValue> {
    scan(&*store.snapshot().expect("a snapshot"), everything())
}

/// A change of one entry; without a value it is deleted.
type ModelChange = (Vec<u8>, Option<Vec<u8>>);

/// What a handle was told of the store at some moment between `floor`, the last write that had
/// returned before the call, and `ceiling`, the last one that had begun when it returned.
struct HandleReply {
    floor: u64,
    ceiling: u64,
    entries: Vec<KeyValue>,
}

/// What all handles did.
#[derive(Default)]
struct ProgramLog {
    /// The greatest number of a write that has returned.
    returned: AtomicU64,
    /// The greatest number of a write whose closure has run.
    begun: AtomicU64,
    changes: Mutex<BTreeMap<u64, Vec<ModelChange>>>,
    replies: Mutex<Vec<HandleReply>>,
    has_failed: AtomicBool,
}

impl ProgramLog {
    /// Reads everything, by `read`, which may be a snapshot or a transaction.
    fn add_reply(&self, floor: u64, entries: Vec<KeyValue>) {
        let ceiling = self.begun.load(Ordering::SeqCst);
        let reply = HandleReply { floor, ceiling, entries };
        self.replies.lock().unwrap_or_else(PoisonError::into_inner).push(reply);
    }
}

/// A random program on each handle, all at the same time. Each write carries the next number, so
/// the order of the writes is known afterwards: the model makes them in this order, and each reply
/// has to be one of its states, at a moment between the call and its return. No handle goes back.
fn concurrent_program(handles: &[Arc<dyn Store>], seed: u64) {
    let log = ProgramLog::default();
    thread::scope(|scope| {
        let log = &log;
        for (number, handle) in (1_u64..).zip(handles) {
            scope.spawn(move || {
                let random = SuiteRandom::of_seed(seed.wrapping_mul(31).wrapping_add(number));
                run_handle(&**handle, random, log);
            });
        }
    });
    assert!(!log.has_failed.load(Ordering::SeqCst), "a write failed");
    let changes = log.changes.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut replies = log.replies.into_inner().unwrap_or_else(PoisonError::into_inner);
    let last = changes.keys().next_back().copied().unwrap_or_default();
    assert_eq!(changes.len() as u64, last, "each write has a number of its own");
    for handle in handles {
        replies.push(HandleReply { floor: last, ceiling: last, entries: read_all(&**handle) });
    }
    let mut by_number: BTreeMap<u64, Vec<HandleReply>> = BTreeMap::new();
    for reply in replies {
        let number = reply.entries.iter().find(|(key, _)| key == NUMBER);
        let number = number.and_then(|(_, value)| value.as_slice().try_into().ok());
        let number = number.map_or(0, u64::from_be_bytes);
        assert!(number >= reply.floor, "write {} had returned, {number} is seen", reply.floor);
        assert!(number <= reply.ceiling, "write {number} is seen before it begins");
        by_number.entry(number).or_default().push(reply);
    }
    let mut model = MapModel::new();
    for number in 0..=last {
        for (key, value) in changes.get(&number).into_iter().flatten() {
            match value {
                Some(value) => drop(model.insert(key.clone(), value.clone())),
                None => drop(model.remove(key)),
            }
        }
        for reply in by_number.get(&number).into_iter().flatten() {
            let entries: Vec<KeyValue> =
                model.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
            assert_eq!(reply.entries, entries, "the state after write {number}");
        }
    }
}

fn run_handle(store: &dyn Store, mut random: SuiteRandom, log: &ProgramLog) {
    let mut kept: Vec<(Box<dyn Snapshot>, u64)> = Vec::new();
    let mut versions = BTreeMap::new();
    for _ in 0..STEPS {
        if random.one_in(2) {
            write_step(store, &mut random, log);
            continue;
        }
        let floor = log.returned.load(Ordering::SeqCst);
        let snapshot = store.snapshot().expect("a snapshot");
        let entries = scan(&*snapshot, everything());
        if let Some(version) = snapshot.version() {
            // States of one number are equal, and later ones do not have a lower number.
            let number = number_of(&*snapshot);
            assert_eq!(*versions.entry(version).or_insert(number), number, "one number, one state");
            assert_eq!(versions.keys().next_back(), Some(&version), "numbers do not decrease");
        }
        kept.push((snapshot, floor));
        log.add_reply(floor, entries);
        if kept.len() > MAX_KEPT {
            // Whatever was written since, an open snapshot is the state of its moment.
            let (snapshot, floor) = kept.swap_remove(random.below(MAX_KEPT as u64) as usize);
            log.add_reply(floor, scan(&*snapshot, everything()));
        }
    }
}

/// A write of random changes, whose closure reads everything first.
fn write_step(store: &dyn Store, random: &mut SuiteRandom, log: &ProgramLog) {
    let durability = if random.one_in(8) { Durability::Durable } else { Durability::Relaxed };
    let is_refused = random.one_in(6);
    let changes: Vec<ModelChange> = (0..=random.below(4))
        .map(|_| (random.key(), (random.below(4) > 0).then(|| random.value())))
        .collect();
    let floor = log.returned.load(Ordering::SeqCst);
    let (mut number, mut entries) = (0, Vec::new());
    let written = store.write(WriteOptions::durability(durability), &mut |rows| {
        entries = scan(&*rows, everything());
        number = number_of(rows) + 1;
        apply(rows, &changes)?;
        rows.put(NUMBER, &number.to_be_bytes())?;
        log.begun.fetch_max(number, Ordering::SeqCst);
        if is_refused { Err(closure_error()) } else { Ok(()) }
    });
    log.add_reply(floor, entries);
    if is_refused {
        assert_eq!(written, Err(closure_error()), "the error of the closure is returned");
        return;
    }
    if written.is_err() {
        log.has_failed.store(true, Ordering::SeqCst);
        return;
    }
    let mut made = changes;
    made.push((NUMBER.to_vec(), Some(number.to_be_bytes().to_vec())));
    log.changes.lock().unwrap_or_else(PoisonError::into_inner).insert(number, made);
    log.returned.fetch_max(number, Ordering::SeqCst);
}

fn apply(rows: &mut dyn Transaction, changes: &[ModelChange]) -> leafbase_model::Result<()> {
    changes.iter().try_for_each(|(key, value)| match value {
        Some(value) => rows.put(key, value),
        None => rows.delete(key),
    })
}
