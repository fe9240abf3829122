//! Reads and writes of the conformance suite.

use std::ops::{Bound, ControlFlow};

use leafbase_model::{Error, ErrorKind, Result};

use crate::store::{Durability, KeyRange, Read, Store, Transaction, WriteOptions};

/// Both guarantees of a commit.
pub(super) const DURABILITIES: [Durability; 2] = [Durability::Durable, Durability::Relaxed];

pub(super) type KeyValue = (Vec<u8>, Vec<u8>);

pub(super) fn write(
    store: &dyn Store,
    durability: Durability,
    mut f: impl FnMut(&mut dyn Transaction) -> Result<()>,
) {
    store.write(WriteOptions::durability(durability), &mut f).expect("a write");
}

pub(super) fn put_all(store: &dyn Store, durability: Durability, entries: &[(&[u8], &[u8])]) {
    write(store, durability, |transaction| {
        entries.iter().try_for_each(|(key, value)| transaction.put(key, value))
    });
}

/// The value of `key`.
pub(super) fn get(read: &(impl Read + ?Sized), key: &[u8]) -> Option<Vec<u8>> {
    let mut visited = None;
    let found = read
        .get(key, &mut |value| {
            assert!(visited.is_none(), "a get calls back once");
            visited = Some(value.to_vec());
            Ok(())
        })
        .expect("a get");
    assert_eq!(found, visited.is_some(), "a get returns whether it called back");
    visited
}

pub(super) fn range<'a>(lower: Bound<&'a [u8]>, upper: Bound<&'a [u8]>) -> KeyRange<'a> {
    KeyRange { lower, upper, reverse: false }
}

pub(super) fn everything() -> KeyRange<'static> {
    range(Bound::Unbounded, Bound::Unbounded)
}

/// The entries of `range`.
pub(super) fn scan(read: &(impl Read + ?Sized), range: KeyRange<'_>) -> Vec<KeyValue> {
    let mut entries = Vec::new();
    read.scan(range, &mut |key, value| {
        entries.push((key.to_vec(), value.to_vec()));
        Ok(ControlFlow::Continue(()))
    })
    .expect("a scan");
    entries
}

pub(super) fn keys(read: &(impl Read + ?Sized), range: KeyRange<'_>) -> Vec<Vec<u8>> {
    scan(read, range).into_iter().map(|(key, _)| key).collect()
}

pub(super) fn closure_error() -> Error {
    Error::new(ErrorKind::Conflict, "the closure fails")
}
