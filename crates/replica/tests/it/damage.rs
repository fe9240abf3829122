//! Damage in a store: an error that names the object, never a wrong space.

use std::path::Path;
use std::sync::Arc;

use leafbase::{ErrorKind, Space, UploadFile};
use leafbase_replica::{Leader, LeaderOptions, RestorePoint, restore};

use crate::dump::{assert_same, dump};
use crate::programs::Random;
use crate::stores::MemoryObjects;

/// A space with files and a few segments, and what was shipped of it.
fn shipped(directory: &Path) -> (Space, Arc<MemoryObjects>) {
    let store = MemoryObjects::new();
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let options = LeaderOptions::new("leader", directory.join("scratch"));
    let mut leader = Leader::acquire(&space, store.clone(), options).unwrap();
    for title in ["Trip", "Diary", "Packing"] {
        let document = notes.create_document(title).unwrap();
        notes.insert_markdown("- [ ] passport\n- [ ] charger", document.id()).unwrap();
        let request = UploadFile::new(document.id()).named("seat.txt");
        notes.upload_file(request, title.as_bytes()).unwrap();
        leader.ship().unwrap();
    }
    (space, store)
}

#[test]
fn a_changed_byte_in_any_object_is_an_error_that_names_it() {
    let directory = tempfile::tempdir().unwrap();
    let (space, store) = shipped(directory.path());
    let expected = dump(&space.connect());
    let mut random = Random::new(7);
    let names = store.names();
    assert!(names.iter().any(|name| name.starts_with("files/")));
    for name in &names {
        let whole = store.bytes(name);
        for round in 0..12 {
            let at = random.below(whole.len());
            store.alter(name, |bytes| bytes[at] ^= 1 << random.below(8));
            let path = directory.path().join("copy");
            let error = restore(&*store, &path, RestorePoint::Newest)
                .expect_err(&format!("{name} with byte {at} changed, {round}"));
            let kinds = [ErrorKind::Corrupted, ErrorKind::NewerFormat];
            assert!(kinds.contains(&error.kind()), "{name} at {at}: {error:?}");
            let is_named = error.message().contains(name) || error.kind() == ErrorKind::NewerFormat;
            assert!(is_named, "{name}: {error}");
            assert!(!path.exists(), "nothing is left");
            store.alter(name, |bytes| whole.clone_into(bytes));
        }
    }
    let path = directory.path().join("whole");
    restore(&*store, &path, RestorePoint::Newest).unwrap();
    assert_same(&dump(&Space::open(&path).unwrap().connect()), &expected, "all whole again");
    let left = std::fs::read_dir(directory.path()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn a_missing_object_is_an_error_that_names_it() {
    use leafbase_replica::ReplicaStore;
    let directory = tempfile::tempdir().unwrap();
    let (_space, store) = shipped(directory.path());
    for name in store.names() {
        let whole = store.bytes(&name);
        store.delete(&name).unwrap();
        let error =
            restore(&*store, directory.path().join("copy"), RestorePoint::Newest).unwrap_err();
        if name == "manifest" {
            assert_eq!(error.kind(), ErrorKind::NotFound);
        } else {
            assert_eq!(error.kind(), ErrorKind::Corrupted, "{name}: {error:?}");
            assert!(error.message().contains(&name), "{name}: {error}");
        }
        store.put(&name, &whole).unwrap();
    }
}

/// A segment in place of another one, with all its checksums right.
#[test]
fn a_segment_of_another_history_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (_space, store) = shipped(directory.path());
    let (_other, others) = shipped(directory.path());
    let segments = |store: &MemoryObjects| -> Vec<String> {
        store.names().into_iter().filter(|name| name.starts_with("segments/")).collect()
    };
    let name = segments(&store).pop().unwrap();
    assert_eq!(segments(&others).last(), Some(&name));
    let foreign = others.bytes(&name);
    store.alter(&name, |bytes| *bytes = foreign);
    let error = restore(&*store, directory.path().join("copy"), RestorePoint::Newest).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::HistoryGone, "{error:?}");
}
