//! I/O errors and power losses: every outcome is definite, no acknowledged write is lost, and the
//! store stays usable.

#![expect(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use leafbase_kv::testkit::{Disk, open_backends};
use leafbase_kv::{Durability, KeyRange, OpenOptions, RedbStore, Store, WriteOptions};
use leafbase_model::Result;

mod damage;
mod disks;
mod wal;

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
