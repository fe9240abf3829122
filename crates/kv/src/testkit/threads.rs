//! Concurrent readers and writers: reads are atomic, monotonic, and never blocked by a writer.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::access::{DURABILITIES, everything, get, put_all, write};
use crate::store::{Durability, Read, Store, WriteOptions};

const READERS: usize = 3;
const WRITES: u64 = 400;
const COUNTERS: u8 = 12;
/// A thread that is blocked for this long has deadlocked.
const DEADLOCK_TIMEOUT: Duration = Duration::from_secs(20);

/// A snapshot is available while a closure runs, and contains every write that has returned.
pub(super) fn readers_do_not_wait(store: &dyn Store) {
    for durability in DURABILITIES {
        put_all(store, Durability::Relaxed, &[(b"a", b"relaxed"), (b"b", b"relaxed")]);
        put_all(store, durability, &[(b"b", b"returned")]);
        let (started, wait_for_start) = mpsc::channel();
        let (read, wait_for_read) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || {
                wait_for_start.recv_timeout(DEADLOCK_TIMEOUT).expect("the writer starts");
                let snapshot = store.snapshot().expect("a snapshot");
                read.send((get(&*snapshot, b"a"), get(&*snapshot, b"b")))
                    .expect("the writer waits");
            });
            write(store, durability, |transaction| {
                transaction.put(b"a", b"unfinished")?;
                started.send(()).expect("the reader waits");
                let seen = wait_for_read
                    .recv_timeout(DEADLOCK_TIMEOUT)
                    .expect("a snapshot does not wait for a writer");
                assert_eq!(seen, (Some(b"relaxed".to_vec()), Some(b"returned".to_vec())));
                Ok(())
            });
        });
    }
}

/// Each write sets all counters to its number: a read of two numbers has seen half a write.
/// `reader` may be another handle of the store.
pub(super) fn no_reader_sees_half_a_write(store: &dyn Store, reader: &dyn Store) {
    let returned = AtomicU64::new(0);
    let done = AtomicBool::new(false);
    write(store, Durability::Relaxed, |transaction| set_counters(transaction, 0));
    thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|_| {
                scope.spawn(|| {
                    let mut last = 0;
                    while !done.load(Ordering::Acquire) {
                        let at_least = returned.load(Ordering::Acquire).max(last);
                        last = read_counters(&*reader.snapshot().expect("a snapshot"));
                        assert!(last >= at_least, "write {at_least} had returned, {last} is seen");
                    }
                })
            })
            .collect();
        for number in 1..=WRITES {
            let durability =
                if number % 20 == 0 { Durability::Durable } else { Durability::Relaxed };
            write(store, durability, |transaction| set_counters(transaction, number));
            returned.store(number, Ordering::Release);
            if number % 50 == 0 {
                store.flush().expect("a flush");
            }
        }
        done.store(true, Ordering::Release);
        for reader in readers {
            reader.join().expect("all reads of a thread are consistent");
        }
    });
    assert_eq!(read_counters(&*store.snapshot().expect("a snapshot")), WRITES);
}

fn set_counters(
    transaction: &mut dyn crate::store::Transaction,
    number: u64,
) -> leafbase_model::Result<()> {
    let mut value = vec![0; 200];
    value.splice(..8, number.to_be_bytes());
    for counter in 0..COUNTERS {
        transaction.put(&[counter], &value)?;
    }
    // A key that is present after odd numbers only.
    if number % 2 == 1 { transaction.put(b"odd", b"") } else { transaction.delete(b"odd") }
}

fn read_counters(read: &dyn Read) -> u64 {
    let number = |value: &[u8]| value.first_chunk().copied().map_or(0, u64::from_be_bytes);
    let by_get = get(read, &[COUNTERS - 1]).map_or(0, |value| number(&value));
    let (mut counters, mut odd) = (0, false);
    read.scan(everything(), &mut |key, value| {
        if key == b"odd" {
            odd = true;
        } else {
            counters += 1;
            assert_eq!(number(value), by_get, "a write is atomic");
        }
        Ok(ControlFlow::Continue(()))
    })
    .expect("a scan");
    assert_eq!((counters, odd), (COUNTERS, by_get % 2 == 1));
    by_get
}

/// Concurrent increments are not lost.
pub(super) fn no_update_is_lost(store: &dyn Store) {
    const WRITERS: u64 = 3;
    const ADDITIONS: u64 = 60;
    let add = |durability| {
        let options = WriteOptions::durability(durability);
        let result = store.write(options, &mut |transaction| {
            let before = get(transaction, b"sum")
                .and_then(|value| value.try_into().ok())
                .map_or(0, u64::from_be_bytes);
            transaction.put(b"sum", &(before + 1).to_be_bytes())
        });
        result.expect("a write");
    };
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                for number in 0..ADDITIONS {
                    add(if (number + writer) % 8 == 0 {
                        Durability::Durable
                    } else {
                        Durability::Relaxed
                    });
                }
            });
        }
    });
    let sum = get(&*store.snapshot().expect("a snapshot"), b"sum");
    assert_eq!(sum, Some((WRITERS * ADDITIONS).to_be_bytes().to_vec()));
}
