//! What creating and opening a space's directory answers, and that it leaves alone what is not its own.

use leafbase_store::directory;
use leafbase_store::kv::{Durability, OpenOptions, Read, Store, WriteOptions};

#[test]
fn a_space_is_created_closed_and_opened() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("notes");
    let store = directory::create(&path, &OpenOptions::new()).unwrap();
    store.write(WriteOptions::default(), &mut |transaction| transaction.put(b"durable", b"1")).unwrap();
    let relaxed = WriteOptions::durability(Durability::Relaxed);
    store.write(relaxed, &mut |transaction| transaction.put(b"relaxed", b"2")).unwrap();
    drop(store);
    let store = directory::open(&path, &OpenOptions::new()).unwrap();
    let snapshot = store.snapshot().unwrap();
    let mut seen = Vec::new();
    snapshot
        .get_many(&[b"durable", b"relaxed", b"absent"], &mut |_, value| {
            seen.push(value.map(<[u8]>::to_vec));
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, [Some(b"1".to_vec()), Some(b"2".to_vec()), None]);
}
