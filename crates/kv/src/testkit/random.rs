//! Random transactions, compared after each step with a map of the standard library.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::access::{KeyValue, closure_error, everything, get, range, scan};
use crate::store::{Durability, IndexHint, Read, ReadHint, Snapshot, Store, WriteOptions};

pub(super) type MapModel = BTreeMap<Vec<u8>, Vec<u8>>;

/// A small random generator: the suite has no dependency for it, and a seed gives the same run on
/// every platform.
pub(super) struct SuiteRandom(u64);

impl SuiteRandom {
    pub(super) fn of_seed(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(super) fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    /// Keys of few distinct bytes repeat, and are prefixes of each other.
    pub(super) fn key(&mut self) -> Vec<u8> {
        let length = if self.one_in(40) { 1_024 } else { self.below(4) };
        (0..length).map(|_| if self.one_in(2) { 0xFF } else { (self.next() % 4) as u8 }).collect()
    }

    pub(super) fn value(&mut self) -> Vec<u8> {
        let length = match self.below(12) {
            0 => 0,
            1 => self.below(9_000),
            _ => self.below(120),
        };
        (0..length).map(|_| self.next() as u8).collect()
    }
}

/// Runs `transactions` random transactions, determined by `seed`, on an empty store.
///
/// # Panics
/// If the store and the map differ.
pub fn random_operations(store: &dyn Store, seed: u64, transactions: usize) {
    run(&[store], seed, transactions);
}

/// The same on several handles of the store, each step on one of them.
pub(super) fn random_operations_on(handles: &[Arc<dyn Store>], seed: u64, transactions: usize) {
    let handles: Vec<&dyn Store> = handles.iter().map(AsRef::as_ref).collect();
    run(&handles, seed, transactions);
}

fn run(handles: &[&dyn Store], seed: u64, transactions: usize) {
    let mut random = SuiteRandom::of_seed(seed);
    let mut model = MapModel::new();
    let mut kept: Vec<(Box<dyn Snapshot>, MapModel)> = Vec::new();
    for _ in 0..transactions {
        transaction(choose(handles, &mut random), &mut random, &mut model);
        if random.one_in(4) {
            let reader = choose(handles, &mut random);
            kept.push((reader.snapshot().unwrap(), model.clone()));
        }
        if random.one_in(25) {
            choose(handles, &mut random).flush().unwrap();
        }
        if kept.len() > 5 {
            let (snapshot, model) = kept.swap_remove(random.below(5) as usize);
            compare(&*snapshot, &model, &mut random);
        }
    }
    for (snapshot, model) in &kept {
        compare(&**snapshot, model, &mut random);
    }
    drop(kept);
    for store in handles {
        compare(&*store.snapshot().unwrap(), &model, &mut random);
    }
}

fn choose<'s>(handles: &[&'s dyn Store], random: &mut SuiteRandom) -> &'s dyn Store {
    let index = random.below(handles.len() as u64) as usize;
    *handles.get(index).expect("there is a handle")
}

fn transaction(store: &dyn Store, random: &mut SuiteRandom, model: &mut MapModel) {
    let durability = if random.one_in(3) { Durability::Durable } else { Durability::Relaxed };
    let refuse = random.one_in(5);
    // The closure may run again: it starts with the same random state and the same map.
    let start = random.0;
    let mut changed = model.clone();
    let result = store.write(WriteOptions::durability(durability), &mut |transaction| {
        random.0 = start;
        changed.clone_from(model);
        for _ in 0..random.below(8) {
            match random.below(8) {
                0..=3 => {
                    let (key, value) = (random.key(), random.value());
                    transaction.put(&key, &value)?;
                    changed.insert(key, value);
                }
                4 | 5 => {
                    let key = random.key();
                    transaction.delete(&key)?;
                    changed.remove(&key);
                }
                6 => {
                    let (lower, upper) = (random.key(), random.key());
                    transaction.delete_range(&lower, &upper)?;
                    changed.retain(|key, _| !(*key >= lower && *key < upper));
                }
                _ => compare(&*transaction, &changed, random),
            }
        }
        if refuse { Err(closure_error()) } else { Ok(()) }
    });
    if refuse {
        assert_eq!(result, Err(closure_error()));
    } else {
        result.expect("a write");
        *model = changed;
    }
}

fn compare(read: &(impl Read + ?Sized), model: &MapModel, random: &mut SuiteRandom) {
    let within = |lower: Bound<&[u8]>, upper: Bound<&[u8]>| -> Vec<KeyValue> {
        let above = |key: &Vec<u8>| match lower {
            Bound::Unbounded => true,
            Bound::Included(lower) => **key >= *lower,
            Bound::Excluded(lower) => **key > *lower,
        };
        let below = |key: &Vec<u8>| match upper {
            Bound::Unbounded => true,
            Bound::Included(upper) => **key <= *upper,
            Bound::Excluded(upper) => **key < *upper,
        };
        let entries = model.iter().filter(|(key, _)| above(key) && below(key));
        entries.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let (lower, upper) = (random.key(), random.key());
    let bound = |key, kind| match kind {
        0 => Bound::Unbounded,
        1 => Bound::Excluded(key),
        _ => Bound::Included(key),
    };
    let (lower, upper) = (bound(&*lower, random.below(3)), bound(&*upper, random.below(3)));
    hint(read, random);
    let mut expected = within(lower, upper);
    assert_eq!(scan(read, range(lower, upper)), expected);
    expected.reverse();
    assert_eq!(scan(read, range(lower, upper).reversed()), expected);
    let key = random.key();
    assert_eq!(get(read, &key), model.get(&key).cloned());
    assert_eq!(scan(read, everything()), within(Bound::Unbounded, Bound::Unbounded));
}

/// Gives hints, which must change no read.
fn hint(read: &(impl Read + ?Sized), random: &mut SuiteRandom) {
    let (lower, upper, prefix) = (random.key(), random.key(), random.key());
    let range = range(Bound::Included(&lower), Bound::Excluded(&upper));
    let range = if random.one_in(2) { range.reversed() } else { range };
    let (entries, id_bytes) = (random.below(4) as usize, random.below(3) as usize);
    let index = IndexHint { range, entries, record_prefix: &prefix, id_bytes };
    let hints = [ReadHint::Key(&lower), ReadHint::Range(range, entries), ReadHint::Index(index)];
    let given = hints.get(random.below(4) as usize..).unwrap_or_default();
    read.prefetch(given).unwrap();
}
