//! The index is derived: whatever becomes of it, the same is found.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use leafbase::{SearchDocuments, SearchIndexing, Space, SpaceBuilder};

use super::{Shelf, copy};

fn on_demand() -> SpaceBuilder {
    Space::builder().search_indexing(SearchIndexing::OnDemand)
}

fn open(path: &Path) -> Shelf {
    Shelf { notes: on_demand().open(path).unwrap().connect() }
}

/// A space of three documents in `path`, whose index has all of them.
fn make(path: &Path, extra: &str) {
    let shelf = Shelf { notes: on_demand().create(path).unwrap().connect() };
    shelf.put("one", "word and more");
    assert_eq!(shelf.found("word"), "one");
    shelf.put("two", "another word");
    shelf.put("three", extra);
    shelf.notes.space().flush_search().unwrap();
}

/// The one directory that the index is in.
fn generation(space: &Path) -> PathBuf {
    let mut found: Vec<_> =
        fs::read_dir(space.join("index")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort_unstable();
    files
}

fn assert_all_is_found(shelf: &Shelf, what: &str) {
    assert_eq!(shelf.sorted("word"), "one, two", "{what}");
    assert_eq!(shelf.sorted("extra"), "three", "{what}");
    assert_eq!(shelf.sorted(SearchDocuments::pattern("ano.her")), "two", "{what}");
    let new = shelf.put("four", "new word");
    assert_eq!(shelf.sorted("word"), "four, one, two", "{what}");
    shelf.notes.space().flush_search().unwrap();
    assert_eq!(shelf.sorted("word"), "four, one, two", "{what}");
    shelf.notes.delete_documents(leafbase::DeleteDocuments::new([new])).unwrap();
    assert_eq!(shelf.sorted("word"), "one, two", "{what}");
}

/// Damages a copy of the space by `damage`, and searches it.
fn after(space: &Path, what: &str, damage: impl FnOnce(&Path)) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    copy(space, &path);
    damage(&path);
    for _ in 0..2 {
        assert_all_is_found(&open(&path), what);
    }
}

#[test]
fn an_index_that_is_whole_is_used_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    make(&path, "extra");
    let before = generation(&path);
    assert_all_is_found(&open(&path), "whole");
    assert_eq!(generation(&path), before);
}

#[test]
fn what_is_damaged_or_gone_costs_a_new_index_at_most() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    make(&path, "extra");
    after(&path, "no index", |space| fs::remove_dir_all(space.join("index")).unwrap());
    after(&path, "a file", |space| {
        fs::remove_dir_all(space.join("index")).unwrap();
        fs::write(space.join("index"), "x").unwrap();
    });
    after(&path, "nothing in it", |space| {
        files(&generation(space)).iter().for_each(|file| fs::remove_file(file).unwrap());
    });
    after(&path, "one begun", |space| fs::create_dir(space.join("index/7")).unwrap());
    after(&path, "other names", |space| fs::create_dir(space.join("index/mine")).unwrap());
    for (number, file) in files(&generation(&path)).iter().enumerate() {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let at = |space: &Path| files(&generation(space))[number].clone();
        let bytes = fs::read(file).unwrap();
        after(&path, &format!("without {name}"), |space| fs::remove_file(at(space)).unwrap());
        after(&path, &format!("half of {name}"), |space| {
            fs::write(at(space), &bytes[..bytes.len() / 2]).unwrap()
        });
        after(&path, &format!("empty {name}"), |space| fs::write(at(space), "").unwrap());
        for place in [0, bytes.len() / 3, bytes.len() / 2, bytes.len().saturating_sub(1)] {
            after(&path, &format!("byte {place} of {name}"), |space| {
                let mut bytes = bytes.clone();
                if let Some(byte) = bytes.get_mut(place) {
                    *byte ^= 0x20;
                }
                fs::write(at(space), bytes).unwrap();
            });
        }
    }
}

/// Names of what is in it have no checksum.
#[test]
fn a_byte_of_the_list_of_files_costs_a_new_index_at_most() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    make(&path, "extra");
    let bytes = fs::read(generation(&path).join("meta.json")).unwrap();
    for place in (0..bytes.len()).step_by(61) {
        let mut bytes = bytes.clone();
        bytes[place] ^= 0x01;
        let damaged = directory.path().join(format!("damaged{place}"));
        copy(&path, &damaged);
        fs::write(generation(&damaged).join("meta.json"), bytes).unwrap();
        let shelf = open(&damaged);
        let found = [
            shelf.sorted("word"),
            shelf.sorted("extra"),
            shelf.sorted(SearchDocuments::pattern("ano.her")),
        ];
        assert_eq!(found, ["one, two", "three", "two"], "byte {place}");
    }
}

#[test]
fn another_spaces_index_is_not_used() {
    let directory = tempfile::tempdir().unwrap();
    let [path, other] = ["space", "other"].map(|name| directory.path().join(name));
    make(&path, "extra");
    make(&other, "foreign");
    after(&path, "another space's", |space| {
        fs::remove_dir_all(space.join("index")).unwrap();
        copy(&other.join("index"), &space.join("index"));
    });
}

#[test]
fn an_index_that_knows_too_much_is_not_used() {
    let directory = tempfile::tempdir().unwrap();
    let [path, earlier] = ["space", "earlier"].map(|name| directory.path().join(name));
    make(&path, "extra");
    copy(&path, &earlier);
    let shelf = open(&path);
    shelf.put("later", "word extra another");
    shelf.notes.space().flush_search().unwrap();
    drop(shelf);
    fs::remove_dir_all(earlier.join("index")).unwrap();
    copy(&path.join("index"), &earlier.join("index"));
    assert_all_is_found(&open(&earlier), "from the future");
}

#[test]
fn a_directory_that_goes_while_the_space_is_open_is_not_missed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    make(&path, "extra");
    let shelf = open(&path);
    assert_eq!(shelf.found("extra"), "three");
    fs::remove_dir_all(path.join("index")).unwrap();
    assert_all_is_found(&shelf, "removed");
    assert_all_is_found(&shelf, "removed");
}

#[test]
fn an_index_that_somebody_else_writes_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    make(&path, "extra");
    let lock = fs::File::create(generation(&path).join(".tantivy-writer.lock")).unwrap();
    lock.lock().unwrap();
    assert_all_is_found(&open(&path), "locked");
    assert_all_is_found(&open(&path), "locked before");
}

#[test]
fn a_space_that_is_only_read_is_searched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    make(&path, "extra");
    for what in ["with an index", "without"] {
        let before = files(&path);
        let shelf = Shelf { notes: on_demand().read_only(true).open(&path).unwrap().connect() };
        assert_eq!(
            (shelf.sorted("word"), shelf.found("extra")),
            ("one, two".into(), "three".into()),
            "{what}"
        );
        shelf.notes.space().flush_search().unwrap();
        assert_eq!((shelf.sorted("word"), files(&path)), ("one, two".into(), before), "{what}");
        drop(shelf);
        let _ = fs::remove_dir_all(path.join("index"));
    }
}

#[test]
fn a_backup_has_no_index_and_is_whole() {
    let directory = tempfile::tempdir().unwrap();
    let [path, backup] = ["space", "backup"].map(|name| directory.path().join(name));
    make(&path, "extra");
    open(&path).notes.space().backup_to(&backup).unwrap();
    assert!(!backup.join("index").exists());
    drop(open(&backup));
    assert!(!backup.join("index").exists(), "to open a space costs no index");
    assert_all_is_found(&open(&backup), "backup");
}

#[test]
fn an_index_is_made_anew_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    make(&path, "extra");
    let shelf = open(&path);
    let before = generation(&path);
    let mut told = Vec::new();
    let mut note = |progress: leafbase::Progress| {
        told.push(progress.done);
        ControlFlow::Continue(())
    };
    shelf.notes.space().rebuild_search_with(&mut note).unwrap();
    assert_eq!(told, [1, 2, 3]);
    let made = generation(&path);
    assert_ne!(made, before);
    let error =
        shelf.notes.space().rebuild_search_with(&mut |_| ControlFlow::Break(())).unwrap_err();
    assert_eq!(error.kind(), leafbase::ErrorKind::Canceled);
    assert_eq!(generation(&path), made);
    assert_all_is_found(&shelf, "made anew");
}

#[test]
fn a_space_is_opened_again_as_soon_as_its_last_handle_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    make(&path, "extra");
    for number in 0..20 {
        let shelf = Shelf { notes: Space::open(&path).unwrap().connect() };
        shelf.put(&format!("title{number}"), "fresh");
        assert_eq!(shelf.search("word").len(), 2);
        if number % 2 == 0 {
            let other = shelf.notes.clone();
            shelf.notes.space().clone().close().unwrap();
            assert_eq!(other.search("word").unwrap_err().kind(), leafbase::ErrorKind::Closed);
        }
    }
    assert_eq!(open(&path).search("fresh").len(), 20);
}

fn threads() -> Option<usize> {
    Some(fs::read_dir("/proc/self/task").ok()?.count())
}

/// The number of threads, once as many are left or it is clear that more are: the end of one is not
/// told.
fn left(expected: usize) -> Option<usize> {
    let is_over = |_: &u32| threads() <= Some(expected);
    (0..1_000_000).inspect(|_| std::thread::yield_now()).find(is_over);
    threads()
}

/// Threads can be counted only where no other test runs: in a process of its own.
#[test]
fn no_thread_is_there_that_was_not_allowed() {
    const ALONE: &str = "LEAFBASE_TESTS_ALONE";
    let Some(before) = threads() else { return };
    if env::var_os(ALONE).is_none() {
        let name = "indexes::no_thread_is_there_that_was_not_allowed";
        let mut test = process::Command::new(env::current_exe().unwrap());
        let outcome =
            test.args([name, "--exact", "--test-threads=1"]).env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&outcome.stdout);
        assert!(outcome.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let made = on_demand().create(directory.path().join("space")).unwrap();
    for space in [on_demand().in_memory().unwrap(), made] {
        let shelf = Shelf { notes: space.connect() };
        shelf.put("one", "word");
        assert_eq!(shelf.found("word"), "one");
        assert_eq!(left(before), Some(before));
        shelf.put("two", "word");
        space.flush_search().unwrap();
        space.rebuild_search().unwrap();
        assert_eq!(shelf.sorted("word"), "one, two");
        assert_eq!(left(before), Some(before));
    }
    // One that is allowed is seen by this test, and goes with the space.
    let shelf = Shelf::of(&[("one", "word")]);
    assert_eq!((threads(), shelf.found("word")), (Some(before), "one".to_owned()));
    assert!(threads() > Some(before));
    drop(shelf);
    assert_eq!(left(before), Some(before));
}
