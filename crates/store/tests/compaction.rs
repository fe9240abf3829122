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
