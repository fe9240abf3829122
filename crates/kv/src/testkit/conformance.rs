//! The conformance suite of [`Store`].

use std::ops::{Bound, ControlFlow};

use super::access::{
    DURABILITIES, KeyValue, closure_error, everything, get, keys, put_all, range, scan, write,
};
use super::random::random_operations;
use super::threads;
use crate::store::{Durability, IndexHint, KeyRange, Read, ReadHint, Store, WriteOptions};

/// Runs the whole suite. `make` returns an empty store each time.
///
/// # Panics
/// If the store violates the contract of the traits.
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
        hints_change_no_read(&*make(), durability);
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
    let store = make();
    threads::no_reader_sees_half_a_write(&*store, &*store);
    threads::no_update_is_lost(&*make());
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
    assert_eq!(get(&*snapshot, b"a"), Some(b"one".to_vec()), "the later value wins");
    assert_eq!(get(&*snapshot, b"b"), None, "the key was deleted");
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
    assert_eq!(seen, expected, "every key is answered in order");
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
        transaction.put(b"b", b"again")
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
    let entries: Vec<KeyValue> = sizes
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

fn an_error_rolls_back(store: &dyn Store, durability: Durability) {
    put_all(store, durability, &[(b"kept", b"1"), (b"also kept", b"2")]);
    let before = scan(&*store.snapshot().unwrap(), everything());
    let refused = store.write(WriteOptions::durability(durability), &mut |transaction| {
        transaction.put(b"kept", b"changed")?;
        transaction.put(b"new", b"3")?;
        transaction.delete(b"also kept")?;
        transaction.delete_range(b"", b"\xFF")?;
        Err(closure_error())
    });
    assert_eq!(refused, Err(closure_error()), "the error of the closure is returned");
    assert_eq!(scan(&*store.snapshot().unwrap(), everything()), before);
    put_all(store, durability, &[(b"later", b"4")]);
    store.flush().unwrap();
    assert_eq!(
        scan(&*store.snapshot().unwrap(), everything()).len(),
        3,
        "a later write does not commit it"
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
        assert_eq!(keys(&*outside, everything()), [b"a", b"c"], "uncommitted writes are invisible");
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

/// Entries of an index and records: one of each is without the other, and one key is too short to
/// name a record.
const INDEXED: [(&[u8], &[u8]); 9] = [
    (b"h", b"before the index"),
    (b"i", b"too short"),
    (b"ia11", b""),
    (b"ib22", b""),
    (b"ic33", b"of no record"),
    (b"j", b"after the index"),
    (b"r11", b"one"),
    (b"r22", b"two"),
    (b"r55", b"of no index"),
];

fn hints() -> Vec<ReadHint<'static>> {
    let index = KeyRange::half_open(b"i", b"j");
    let from = range(Bound::Excluded(b"i"), Bound::Unbounded);
    let ranges = [index, index.reversed(), from, from.reversed(), KeyRange::half_open(b"j", b"i")];
    let named = |range, entries| {
        let hint = |id_bytes| IndexHint { range, entries, record_prefix: b"r", id_bytes };
        [0, 2, 100].map(|id_bytes| ReadHint::Index(hint(id_bytes)))
    };
    let of_range = |range| {
        let scans = [0, 1, 2, 100].map(|entries| ReadHint::Range(range, entries));
        scans.into_iter().chain([1, 2, 100].into_iter().flat_map(move |most| named(range, most)))
    };
    let keys = [ReadHint::Key(b"r11"), ReadHint::Key(b"r44")];
    ranges.into_iter().flat_map(of_range).chain(keys).collect()
}

fn hints_change_no_read(store: &dyn Store, durability: Durability) {
    put_all(store, durability, &INDEXED);
    let mut expected: Vec<KeyValue> =
        INDEXED.iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
    let all: Vec<_> = hints();
    let each: Vec<&[ReadHint<'_>]> = all.chunks(1).chain([&*all]).collect();
    for hints in &each {
        let snapshot = store.snapshot().unwrap();
        snapshot.prefetch(hints).unwrap();
        reads_are(&*snapshot, &expected, hints);
    }
    // A transaction writes over what it loads: another record, another name, another entry.
    expected.retain(|(key, _)| key != b"ia11");
    expected.push((b"id44".to_vec(), Vec::new()));
    expected.push((b"r44".to_vec(), b"four".to_vec()));
    expected.sort_unstable();
    for hints in &each {
        let refused = store.write(WriteOptions::durability(durability), &mut |transaction| {
            transaction.put(b"id44", b"")?;
            transaction.prefetch(hints)?;
            transaction.put(b"r44", b"four")?;
            transaction.delete(b"ia11")?;
            reads_are(transaction, &expected, hints);
            Err(closure_error())
        });
        assert_eq!(refused, Err(closure_error()), "{hints:?}");
    }
}

/// Asserts that `read` has the `expected` entries, by each way to read them, from few to all, and
/// has loaded what `hints` name and what was read.
fn reads_are(read: &(impl Read + ?Sized), expected: &[KeyValue], hints: &[ReadHint<'_>]) {
    for hint in hints {
        if let ReadHint::Key(key) = hint {
            assert!(read.is_loaded(key), "{key:?} after {hints:?}");
        }
    }
    let value_of = |key: &[u8]| {
        let found = expected.iter().find(|(other, _)| other == key);
        found.map(|(_, value)| value.clone())
    };
    let wanted: [&[u8]; 6] = [b"r55", b"r11", b"r33", b"r", b"ri", b"i"];
    for key in wanted {
        assert_eq!(get(read, key), value_of(key), "{key:?} after {hints:?}");
        assert!(read.is_loaded(key), "{key:?} was read");
    }
    for (lower, upper) in [(&b"i"[..], &b"j"[..]), (b"ib", b"r2"), (b"", b"s")] {
        let within = |(key, _): &&KeyValue| **key >= *lower && **key < *upper;
        let mut entries: Vec<_> = expected.iter().filter(within).cloned().collect();
        let range = KeyRange::half_open(lower, upper);
        assert_eq!(scan(read, range), entries, "{range:?} after {hints:?}");
        entries.reverse();
        assert_eq!(scan(read, range.reversed()), entries, "{range:?} reversed after {hints:?}");
    }
    let keys: Vec<&[u8]> = INDEXED.iter().map(|(key, _)| *key).chain([&b"r44"[..]]).collect();
    let mut values = Vec::new();
    read.get_many(&keys, &mut |_, value| {
        values.push(value.map(<[u8]>::to_vec));
        Ok(())
    })
    .unwrap();
    assert!(values.into_iter().eq(keys.iter().map(|key| value_of(key))), "after {hints:?}");
}

fn errors_of_visits_are_passed_on(store: &dyn Store, durability: Durability) {
    put_all(store, durability, &[(b"a", b"1"), (b"b", b"2")]);
    let snapshot = store.snapshot().unwrap();
    assert_eq!(snapshot.get(b"a", &mut |_| Err(closure_error())), Err(closure_error()));
    assert_eq!(
        snapshot.get_many(&[b"absent"], &mut |_, _| Err(closure_error())),
        Err(closure_error())
    );
    let mut visits = 0;
    let visit = &mut |_: &[u8], _: &[u8]| {
        visits += 1;
        Err(closure_error())
    };
    assert_eq!(snapshot.scan(everything(), visit), Err(closure_error()));
    assert_eq!(visits, 1, "an error ends a scan");
    assert_eq!(get(&*snapshot, b"b"), Some(b"2".to_vec()), "the snapshot is still usable");
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
            "a write that returned is visible"
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
            // Unlike `panic!` this prints nothing.
            std::panic::resume_unwind(Box::new("the closure gives up"))
        })
    }));
    assert!(attempt.is_err(), "the panic reaches the caller");
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
            "the latest value, whatever its durability"
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
    assert!(store.verify().unwrap(), "the store is intact");
    assert!(store.bytes().unwrap() > 0);
    assert_eq!(scan(&*store.snapshot().unwrap(), everything()), before);
    put_all(store, Durability::Durable, &[(b"still", b"written")]);
    assert_eq!(scan(&*store.snapshot().unwrap(), everything()).len(), before.len() + 1);
}
