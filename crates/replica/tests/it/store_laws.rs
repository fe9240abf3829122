//! What every store of objects has to do, alone and under a leader and its followers.

use std::sync::Arc;

use leafbase::Space;
use leafbase_replica::{Follower, Leader, LeaderOptions, ReplicaStore, RestorePoint, restore};

use crate::dump::{assert_same, dump};
use crate::programs::Program;

/// What the trait promises, of any store.
pub(crate) fn conforms(store: &dyn ReplicaStore) {
    assert_eq!(store.get("manifest").unwrap(), None);
    assert_eq!(store.list("").unwrap(), [""; 0]);
    let first = store.put_if("manifest", b"one", None).unwrap().unwrap();
    assert_eq!(store.put_if("manifest", b"two", None).unwrap(), None);
    assert_eq!(store.get("manifest").unwrap().unwrap().version, first);
    let second = store.put_if("manifest", b"two", Some(&first)).unwrap().unwrap();
    assert_eq!(store.put_if("manifest", b"three", Some(&first)).unwrap(), None);
    assert_eq!(store.put_if("other", b"one", Some(&second)).unwrap(), None);
    let found = store.get("manifest").unwrap().unwrap();
    assert_eq!((found.bytes.as_slice(), &found.version), (&b"two"[..], &second));
    store.put("segments/b", b"").unwrap();
    store.put("segments/a/000001", &vec![7; 100_000]).unwrap();
    store.put("segments/b", b"again").unwrap();
    assert_eq!(store.list("").unwrap(), ["manifest", "segments/a/000001", "segments/b"]);
    assert_eq!(store.list("segments/a/").unwrap(), ["segments/a/000001"]);
    assert_eq!(store.get("segments/b").unwrap().unwrap().bytes, b"again");
    for name in ["segments/a/000001", "segments/b", "segments/c", "manifest"] {
        store.delete(name).unwrap();
    }
    assert_eq!(store.list("").unwrap(), [""; 0]);
    for name in ["../manifest", "", "a//b", ".hidden", "/manifest"] {
        assert!(store.put(name, b"").is_err(), "{name:?}");
    }
}

/// A leader, a follower that takes over, and a restore.
pub(crate) fn ships(store: &Arc<dyn ReplicaStore>) {
    let directory = tempfile::tempdir().unwrap();
    let scratch = directory.path().join("scratch");
    let options = LeaderOptions::new("leader", &scratch);
    let mut program = Program::new(50, true);
    let mut leader = Leader::acquire(program.space(), store.clone(), options).unwrap();
    let mut follower = Follower::open(directory.path().join("copy"), store.clone()).unwrap();
    for _ in 0..20 {
        program.step();
        leader.ship().unwrap();
        if follower.catch_up().is_err() {
            follower = follower.start_over().unwrap();
            follower.catch_up().unwrap();
        }
        assert_same(&dump(&follower.connect()), &dump(&program.notes()), "the follower");
    }
    let path = directory.path().join("restored");
    restore(&**store, &path, RestorePoint::Newest).unwrap();
    let restored = Space::open(&path).unwrap();
    assert_same(&dump(&restored.connect()), &dump(&program.notes()), "restored");
    let (copy, mut new) =
        follower.promote(LeaderOptions::new("other", &scratch).take_over(true)).unwrap();
    copy.connect().create_document("new").unwrap();
    new.ship().unwrap();
    assert!(leader.ship().is_err());
}
