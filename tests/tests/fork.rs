//! A process that forks: the child has a copy of every handle, and none of the threads.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, process, thread};

use fork::Fork;
use leafbase::{
    DocumentId, Durability, Error, ErrorKind, ListDocuments, Position, SearchDocuments,
    SearchIndexing, Space,
};

/// A child that takes this long is blocked.
const PATIENCE: Duration = Duration::from_secs(30);
/// Documents after which the index catches up in a thread of its own.
const DOCUMENTS: usize = 200;

/// Each file below a directory, and its bytes.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            let below = self::files(&entry.path()).into_iter();
            files.extend(below.map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else {
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    files
}

/// Runs `child` in a forked process, which ends without returning to the test. Returns its exit
/// code.
fn in_child(child: impl FnOnce() -> i32) -> i32 {
    let Fork::Parent(pid) = fork::fork().unwrap() else {
        // A panic must not return to the copy of the test harness.
        let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
        process::exit(code.unwrap_or(101));
    };
    let started = Instant::now();
    loop {
        if let Some(status) = fork::waitpid_nohang(pid).unwrap() {
            assert!(fork::WIFEXITED(status), "the child was killed");
            return fork::WEXITSTATUS(status);
        }
        assert!(started.elapsed() < PATIENCE, "the child is blocked");
        thread::sleep(Duration::from_millis(5));
    }
}

fn is_refused<T>(result: Result<T, Error>) -> bool {
    result.is_err_and(|error| error.kind() == ErrorKind::Storage)
}

/// Every call of the child is refused, and neither its calls nor the end of its handles change a
/// file or end the lock.
#[test]
fn a_child_can_neither_use_nor_close_the_spaces_of_its_parent() {
    for indexing in [SearchIndexing::Background, SearchIndexing::OnDemand] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notes");
        let mut space = Some(Space::builder().search_indexing(indexing).create(&path).unwrap());
        let last = fill(space.as_ref().unwrap());
        // The thread of a watcher holds the space as well, so that not each child drops the last
        // handle.
        let is_watched = indexing == SearchIndexing::OnDemand;
        let mut watched = is_watched.then(|| {
            let listed = space.as_ref().unwrap().connect().watch(ListDocuments::new()).unwrap();
            listed.on_change(|_| ()).unwrap()
        });
        let before = files(&path);

        let code = in_child(|| {
            let refused = refused_calls(space.as_ref().unwrap(), last);
            // The last handles of the child.
            drop((watched.take(), space.take()));
            let used = refused.iter().position(|is_refused| !is_refused);
            used.map_or(0, |call| i32::try_from(call).unwrap() + 1)
        });
        assert_eq!(code, 0, "the number of the call that was not refused");
        assert!(files(&path) == before, "the files are unchanged");
        let again = Space::open(&path).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AlreadyOpen, "the parent holds the lock");

        let space = space.unwrap();
        let notes = space.connect();
        notes.insert_markdown("passport", Position::end_of(last)).unwrap();
        assert_eq!(notes.search("passport").unwrap().len(), 1);
        assert_eq!(space.check().unwrap().problems, []);
        drop((notes, watched));
        space.close().unwrap();
        let space = Space::open(&path).unwrap();
        assert_eq!(space.connect().search("passport").unwrap().len(), 1);
    }
}

/// Documents, of which the last one is durable and the index has all but that. Returns it.
fn fill(space: &Space) -> DocumentId {
    let notes = space.connect().with_durability(Durability::Relaxed);
    for number in 0..DOCUMENTS {
        notes.create_document(&format!("Trip {number}")).unwrap();
    }
    space.flush_search().unwrap();
    space.connect().create_document("Packing").unwrap().id()
}

/// Whether each call of a child is refused.
fn refused_calls(space: &Space, document: DocumentId) -> [bool; 9] {
    let notes = space.connect();
    [
        is_refused(notes.create_document("Child")),
        is_refused(notes.insert_markdown("child", Position::end_of(document))),
        is_refused(notes.documents()),
        is_refused(notes.content_markdown(document)),
        is_refused(notes.search("trip")),
        is_refused(notes.search(SearchDocuments::pattern("Tr.p"))),
        is_refused(space.flush()),
        is_refused(space.flush_search()),
        is_refused(space.compact()),
    ]
}

/// The control: a child that writes a file is noticed.
#[test]
fn a_changed_file_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let before = files(directory.path());
    let code = in_child(|| i32::from(fs::write(directory.path().join("file"), "child").is_err()));
    assert_eq!(code, 0);
    assert!(files(directory.path()) != before);
}
