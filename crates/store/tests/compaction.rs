//! Compaction beside readers: it waits for those that are reading, and no longer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use leafbase_store::directory;
use leafbase_store::kv::{Durability, OpenOptions, Store, WriteOptions};

#[test]
fn a_store_is_compacted_while_others_read_and_write() {
    let place = tempfile::tempdir().unwrap();
    let store = directory::create(place.path().join("notes"), &OpenOptions::new()).unwrap();
    let put = |number: u32| {
        let options = WriteOptions::durability(Durability::Relaxed);
        store.write(options, &mut |rows| rows.put(&number.to_be_bytes(), &[7; 500])).unwrap();
    };
    (0..500).for_each(put);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let snapshot = store.snapshot().unwrap();
                    assert!(snapshot.get(&3_u32.to_be_bytes(), &mut |_| Ok(())).unwrap());
                }
            });
        }
        for round in 0..20 {
            put(1_000 + round);
            store.compact().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(store.verify().unwrap());
}

#[test]
fn a_compacted_store_stays_small_when_it_is_closed() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("notes");
    let store = directory::create(&path, &OpenOptions::new()).unwrap();
    let options = WriteOptions::durability(Durability::Relaxed);
    let keys = || (0..6_000_u32).map(u32::to_be_bytes);
    store.write(options, &mut |rows| keys().try_for_each(|key| rows.put(&key, &[7; 1_000]))).unwrap();
    store.flush().unwrap();
    // With a journal, and pages that were freed all over.
    for key in keys().step_by(40) {
        store.write(WriteOptions::default(), &mut |rows| rows.put(&key, &[8; 1_000])).unwrap();
    }
    store.compact().unwrap();
    let compacted = store.bytes().unwrap();
    assert!(compacted < 9_000_000, "{compacted} bytes for 6 MB");
    store.close().unwrap();
    let store = directory::open(&path, &OpenOptions::new()).unwrap();
    assert!(store.bytes().unwrap() <= compacted, "{} bytes, {compacted} before", store.bytes().unwrap());
    assert!(store.verify().unwrap());
    assert!(keys().all(|key| store.snapshot().unwrap().get(&key, &mut |_| Ok(())).unwrap()));
}
