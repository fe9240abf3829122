//! What every [`Store`] must do: a suite that an implementation runs in its own tests.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed expectation is what the suite reports"
)]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the numbers drawn here are small"
)]

use std::ops::{Bound, ControlFlow};

use leafbase_model::{Error, ErrorKind, Result};

use crate::{Durability, KeyRange, Read, Store, Transaction, WriteOptions};

mod disk;
mod files;
mod random;
mod threads;

pub use disk::{Disk, Fault, Loss, Moment};
pub use files::{ImageFiles, open_backend, open_backends};
pub use random::random_operations;

/// Both things a commit may promise.
const DURABILITIES: [Durability; 2] = [Durability::Durable, Durability::Relaxed];

type Entry = (Vec<u8>, Vec<u8>);

/// Runs the whole suite; `make` gives an empty store each time.
///
/// # Panics
/// If the store breaks a rule of the traits.
pub fn conformance(make: &mut dyn FnMut() -> Box<dyn Store>) {
    for durability in DURABILITIES {
        reads_what_was_written(&*make(), durability);
        bounds_are_kept(&*make(), durability);
        a_break_ends_a_scan(&*make(), durability);
        ranges_are_deleted(&*make(), durability);
        sizes_are_taken(&*make(), durability);
        an_error_rolls_back(&*make(), durability);
        a_transaction_reads_its_own_writes(&*make(), durability);
        visits_may_read(&*make(), durability);
        errors_of_visits_are_passed_on(&*make(), durability);
        a_snapshot_stays(&*make(), durability);
        a_panic_rolls_back(&*make(), durability);
    }
    relaxed_and_durable_writes_mix(&*make());
    upkeep_changes_nothing(&*make());
    for seed in 1..=4 {
        random_operations(&*make(), seed, 150);
    }
    threads::readers_do_not_wait(&*make());
    threads::no_reader_sees_half_a_write(&*make());
    threads::no_update_is_lost(&*make());
}

fn write(
    store: &dyn Store,
    durability: Durability,
    mut f: impl FnMut(&mut dyn Transaction) -> Result<()>,
) {
    store.write(WriteOptions::durability(durability), &mut f).expect("a write");
}

fn put_all(store: &dyn Store, durability: Durability, entries: &[(&[u8], &[u8])]) {
    write(store, durability, |transaction| {
        entries.iter().try_for_each(|(key, value)| transaction.put(key, value))
    });
}

/// The value of `key`.
fn get(read: &dyn Read, key: &[u8]) -> Option<Vec<u8>> {
    let mut visited = None;
    let found = read
        .get(key, &mut |value| {
            assert!(visited.is_none(), "a get visits once");
            visited = Some(value.to_vec());
            Ok(())
        })
        .expect("a get");
    assert_eq!(found, visited.is_some(), "a get says whether it visited");
    visited
}

fn range<'a>(lower: Bound<&'a [u8]>, upper: Bound<&'a [u8]>) -> KeyRange<'a> {
    KeyRange { lower, upper, reverse: false }
}

fn everything() -> KeyRange<'static> {
    range(Bound::Unbounded, Bound::Unbounded)
}

/// All entries of `range`.
fn scan(read: &dyn Read, range: KeyRange<'_>) -> Vec<Entry> {
    let mut entries = Vec::new();
    read.scan(range, &mut |key, value| {
        entries.push((key.to_vec(), value.to_vec()));
        Ok(ControlFlow::Continue(()))
    })
    .expect("a scan");
    entries
}

fn keys(read: &dyn Read, range: KeyRange<'_>) -> Vec<Vec<u8>> {
    scan(read, range).into_iter().map(|(key, _)| key).collect()
}

fn reads_what_was_written(store: &dyn Store, durability: Durability) {
    assert_eq!(scan(&*store.snapshot().unwrap(), everything()), []);
    assert_eq!(get(&*store.snapshot().unwrap(), b"absent"), None);
    put_all(
        store,
        durability,
        &[(b"b", b"2"), (b"a", b"1"), (b"", b"empty key"), (b"c", b""), (b"\xFF\xFF", b"last")],
    );
    put_all(store, durability, &[(b"a", b"one"), (b"d", b"4")]);
    write(store, durability, |transaction| {
        transaction.delete(b"b")?;
        transaction.delete(b"never there")
    });
    let snapshot = store.snapshot().unwrap();
    assert_eq!(get(&*snapshot, b"a"), Some(b"one".to_vec()), "the later value counts");
    assert_eq!(get(&*snapshot, b"b"), None, "it was deleted");
    assert_eq!(get(&*snapshot, b""), Some(b"empty key".to_vec()));
    assert_eq!(get(&*snapshot, b"c"), Some(Vec::new()), "an empty value is a value");
    assert_eq!(keys(&*snapshot, everything()), [&b""[..], b"a", b"c", b"d", b"\xFF\xFF"]);

    let wanted: [&[u8]; 5] = [b"d", b"absent", b"", b"d", b"c"];
    let mut seen = Vec::new();
    snapshot
        .get_many(&wanted, &mut |index, value| {
            seen.push((index, value.map(<[u8]>::to_vec)));
            Ok(())
        })
        .unwrap();
    let expected: Vec<_> = wanted.iter().map(|key| get(&*snapshot, key)).enumerate().collect();
    assert_eq!(seen, expected, "each key is answered, in the order asked");
}

fn bounds_are_kept(store: &dyn Store, durability: Durability) {
    let stored: [&[u8]; 7] = [b"", b"\x00", b"a", b"a\x00", b"b", b"b\xFF", b"\xFF"];
    for key in stored {
        put_all(store, durability, &[(key, key)]);
    }
    let probes: [&[u8]; 12] = [
        b"",
        b"\x00",
        b"\x00\x00",
        b"A",
        b"a",
        b"a\x00",
        b"a\x01",
        b"b",
        b"b\xFE",
        b"b\xFF",
        b"\xFF",
        b"\xFF\x00",
    ];
    let all_bounds = |key| [Bound::Unbounded, Bound::Included(key), Bound::Excluded(key)];
    let snapshot = store.snapshot().unwrap();
    for (lower, upper) in
        probes.iter().flat_map(|lower| probes.iter().map(move |upper| (*lower, *upper)))
    {
        for (lower, upper) in
            all_bounds(lower).into_iter().flat_map(|l| all_bounds(upper).map(|u| (l, u)))
        {
            let above = |key: &[u8]| match lower {
                Bound::Unbounded => true,
                Bound::Included(lower) => key >= lower,
                Bound::Excluded(lower) => key > lower,
            };
            let below = |key: &[u8]| match upper {
                Bound::Unbounded => true,
                Bound::Included(upper) => key <= upper,
                Bound::Excluded(upper) => key < upper,
            };
            let mut expected: Vec<_> =
                stored.iter().filter(|key| above(key) && below(key)).copied().collect();
            let range = range(lower, upper);
            assert_eq!(keys(&*snapshot, range), expected, "{range:?}");
            expected.reverse();
            assert_eq!(keys(&*snapshot, range.reversed()), expected, "{range:?} reversed");
        }
    }
}

fn a_break_ends_a_scan(store: &dyn Store, durability: Durability) {
    put_all(store, durability, &[(b"a", b""), (b"b", b""), (b"c", b"")]);
    put_all(store, durability, &[(b"bb", b""), (b"d", b"")]);
    let snapshot = store.snapshot().unwrap();
    for range in [everything(), everything().reversed()] {
        let all = keys(&*snapshot, range);
        for wanted in 1..=all.len() {
            let mut seen = Vec::new();
            let visit = &mut |key: &[u8], _: &[u8]| {
                seen.push(key.to_vec());
                Ok(if seen.len() == wanted {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            };
            snapshot.scan(range, visit).unwrap();
            assert_eq!(seen, all.get(..wanted).unwrap_or_default(), "after {wanted} entries");
        }
    }
}

fn ranges_are_deleted(store: &dyn Store, durability: Durability) {
    put_all(
        store,
        durability,
        &[(b"a", b""), (b"b", b""), (b"b\x00", b""), (b"c", b""), (b"d", b"")],
    );
    write(store, durability, |transaction| {
        transaction.put(b"bb", b"of this call")?;
        transaction.delete_range(b"b", b"c")?;
        assert_eq!(keys(transaction, everything()), [b"a", b"c", b"d"]);
        transaction.put(b"b", b"anew")
    });
    assert_eq!(keys(&*store.snapshot().unwrap(), everything()), [b"a", b"b", b"c", b"d"]);
    write(store, durability, |transaction| {
        transaction.delete_range(b"d", b"a")?;
        transaction.delete_range(b"c", b"c")?;
        transaction.delete_range(b"x", b"z")
    });
    assert_eq!(keys(&*store.snapshot().unwrap(), everything()).len(), 4, "ranges without a key");
    write(store, durability, |transaction| transaction.delete_range(b"", b"c"));
    assert_eq!(keys(&*store.snapshot().unwrap(), everything()), [b"c", b"d"]);
}

fn sizes_are_taken(store: &dyn Store, durability: Durability) {
    let sizes = [0, 1, 100, 4_095, 4_096, 70_000, 2 << 20];
    let entries: Vec<Entry> = sizes
        .iter()
        .zip(1_u8..)
        .map(|(size, number)| {
            (vec![number; 1_024], (0..*size).map(|at| (at % 251) as u8 ^ number).collect())
        })
        .collect();
    for (key, value) in &entries {
        put_all(store, durability, &[(key, value)]);
    }
    assert!(scan(&*store.snapshot().unwrap(), everything()) == entries, "values up to 2 MiB");
}

fn refusal() -> Error {
    Error::new(ErrorKind::Conflict, "the closure refuses")
}

fn an_error_rolls_back(store: &dyn Store, durability: Durability) {
    put_all(store, durability, &[(b"kept", b"1"), (b"also kept", b"2")]);
    let before = scan(&*store.snapshot().unwrap(), everything());
    let refused = store.write(WriteOptions::durability(durability), &mut |transaction| {
        transaction.put(b"kept", b"changed")?;
        transaction.put(b"new", b"3")?;
        transaction.delete(b"also kept")?;
        transaction.delete_range(b"", b"\xFF")?;
        Err(refusal())
    });
    assert_eq!(refused, Err(refusal()), "the closure's error comes back");
    assert_eq!(scan(&*store.snapshot().unwrap(), everything()), before);
    put_all(store, durability, &[(b"later", b"4")]);
    store.flush().unwrap();
    assert_eq!(
        scan(&*store.snapshot().unwrap(), everything()).len(),
        3,
        "nor does it come with a later write"
    );
    assert_eq!(get(&*store.snapshot().unwrap(), b"kept"), Some(b"1".to_vec()));
}

fn a_transaction_reads_its_own_writes(store: &dyn Store, durability: Durability) {
    put_all(store, durability, &[(b"a", b"1"), (b"c", b"3")]);
    write(store, durability, |transaction| {
        transaction.put(b"b", b"2")?;
        transaction.put(b"a", b"one")?;
        transaction.delete(b"c")?;
        assert_eq!(get(transaction, b"a"), Some(b"one".to_vec()));
        assert_eq!(get(transaction, b"c"), None);
        assert_eq!(keys(transaction, everything()), [b"a", b"b"]);
        assert_eq!(keys(transaction, everything().reversed()), [b"b", b"a"]);
        let outside = store.snapshot().unwrap();
        assert_eq!(keys(&*outside, everything()), [b"a", b"c"], "nobody else sees them");
        Ok(())
    });
    assert_eq!(keys(&*store.snapshot().unwrap(), everything()), [b"a", b"b"]);
}

fn visits_may_read(store: &dyn Store, durability: Durability) {
    put_all(store, durability, &[(b"a", b"b"), (b"b", b"c"), (b"c", b"a")]);
    let nested = |read: &dyn Read| {
        let mut trail = Vec::new();
        read.scan(everything(), &mut |key, value| {
            let mut inner = Vec::new();
            read.get(value, &mut |next| {
                inner = keys(read, range(Bound::Included(next), Bound::Unbounded));
                Ok(())
            })?;
            trail.push((key.to_vec(), inner.len()));
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        assert_eq!(trail, [(b"a".to_vec(), 1), (b"b".to_vec(), 3), (b"c".to_vec(), 2)]);
    };
    nested(&*store.snapshot().unwrap());
    write(store, durability, |transaction| {
        transaction.put(b"b", b"c")?;
        nested(transaction);
        Ok(())
    });
}

fn errors_of_visits_are_passed_on(store: &dyn Store, durability: Durability) {
    put_all(store, durability, &[(b"a", b"1"), (b"b", b"2")]);
    let snapshot = store.snapshot().unwrap();
    assert_eq!(snapshot.get(b"a", &mut |_| Err(refusal())), Err(refusal()));
    assert_eq!(snapshot.get_many(&[b"absent"], &mut |_, _| Err(refusal())), Err(refusal()));
    let mut visits = 0;
    let visit = &mut |_: &[u8], _: &[u8]| {
        visits += 1;
        Err(refusal())
    };
    assert_eq!(snapshot.scan(everything(), visit), Err(refusal()));
    assert_eq!(visits, 1, "an error ends a scan");
    assert_eq!(get(&*snapshot, b"b"), Some(b"2".to_vec()), "the snapshot is none the worse");
}

fn a_snapshot_stays(store: &dyn Store, durability: Durability) {
    let mut kept = vec![(store.snapshot().unwrap(), Vec::new())];
    for number in 0..20_u8 {
        write(store, durability, |transaction| {
            transaction.put(b"changing", &[number; 300])?;
            transaction.put(&[b'k', number], b"new")?;
            transaction.delete(&[b'k', number.wrapping_sub(2)])
        });
        let snapshot = store.snapshot().unwrap();
        let entries = scan(&*snapshot, everything());
        assert_eq!(
            get(&*snapshot, b"changing"),
            Some(vec![number; 300]),
            "a write that returned is seen"
        );
        kept.push((snapshot, entries));
    }
    store.flush().unwrap();
    for (snapshot, entries) in &kept {
        assert_eq!(scan(&**snapshot, everything()), *entries);
        assert_eq!(get(&**snapshot, b"changing").is_some(), !entries.is_empty());
    }
}

fn a_panic_rolls_back(store: &dyn Store, durability: Durability) {
    put_all(store, durability, &[(b"a", b"1")]);
    let attempt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.write(WriteOptions::durability(durability), &mut |transaction| {
            transaction.put(b"a", b"2")?;
            // Unlike a panic this prints nothing.
            std::panic::resume_unwind(Box::new("the closure gives up"))
        })
    }));
    assert!(attempt.is_err(), "the panic is the caller's own");
    assert_eq!(get(&*store.snapshot().unwrap(), b"a"), Some(b"1".to_vec()));
    put_all(store, durability, &[(b"a", b"3")]);
    assert_eq!(get(&*store.snapshot().unwrap(), b"a"), Some(b"3".to_vec()));
}

fn relaxed_and_durable_writes_mix(store: &dyn Store) {
    let mut expected = Vec::new();
    for number in 0..60_u8 {
        let durability = if number % 7 == 6 { Durability::Durable } else { Durability::Relaxed };
        put_all(store, durability, &[(&[number], &[number]), (b"\xF0last", &[number])]);
        expected.push(vec![number]);
        let snapshot = store.snapshot().unwrap();
        assert_eq!(keys(&*snapshot, range(Bound::Unbounded, Bound::Excluded(b"\xF0"))), expected);
        assert_eq!(
            get(&*snapshot, b"\xF0last"),
            Some(vec![number]),
            "the latest value, whatever its promise"
        );
        if number % 20 == 19 {
            store.flush().unwrap();
        }
    }
}

fn upkeep_changes_nothing(store: &dyn Store) {
    for number in 0..50_u8 {
        put_all(store, Durability::Relaxed, &[(&[number], &[number; 2_000])]);
    }
    write(store, Durability::Durable, |transaction| transaction.delete_range(&[10], &[40]));
    put_all(store, Durability::Relaxed, &[(b"relaxed", b"")]);
    let before = scan(&*store.snapshot().unwrap(), everything());
    store.flush().unwrap();
    store.flush().unwrap();
    store.compact().unwrap();
    assert!(store.verify().unwrap(), "the store is whole");
    assert!(store.bytes().unwrap() > 0);
    assert_eq!(scan(&*store.snapshot().unwrap(), everything()), before);
    put_all(store, Durability::Durable, &[(b"still", b"written")]);
    assert_eq!(scan(&*store.snapshot().unwrap(), everything()).len(), before.len() + 1);
}
