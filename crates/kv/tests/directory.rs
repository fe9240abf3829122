//! Creation and opening of directories: their errors, and that files of others are left alone.
#![expect(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use leafbase_kv::directory::{self, LOCK_FILE, STORE_FILE, WAL_FILE};
use leafbase_kv::{Durability, OpenOptions, RedbStore, Store, WriteOptions};
use leafbase_model::{Error, ErrorKind};

/// A directory with one closed space `notes` in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let store = directory::create(place.space(), &OpenOptions::new()).unwrap();
        put(&store, b"key", b"value");
        place
    }

    fn space(&self) -> PathBuf {
        self.0.path().join("notes")
    }

    fn store_file(&self) -> PathBuf {
        self.space().join(STORE_FILE)
    }

    /// The error of opening the store; it must not change any file.
    fn open_error(&self) -> Error {
        let before = files(self.0.path());
        let reading =
            directory::open(self.space(), &OpenOptions::new().read_only(true)).unwrap_err();
        let writing = directory::open(self.space(), &OpenOptions::new()).unwrap_err();
        assert_eq!(files(self.0.path()), before, "the files are unchanged");
        assert_eq!(reading.kind(), writing.kind(), "{reading:?}");
        writing
    }
}

fn put(store: &RedbStore, key: &[u8], value: &[u8]) {
    store.write(WriteOptions::default(), &mut |transaction| transaction.put(key, value)).unwrap();
}

fn get(store: &RedbStore, key: &[u8]) -> Option<Vec<u8>> {
    let mut found = None;
    let visit = &mut |value: &[u8]| {
        found = Some(value.to_vec());
        Ok(())
    };
    store.snapshot().unwrap().get(key, visit).unwrap();
    found
}

/// Length and hash of every file below `path`; `None` for directories.
fn files(path: &Path) -> BTreeMap<PathBuf, Option<(usize, u64)>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut files(&path));
            found.insert(path, None);
        } else {
            let content = fs::read(&path).unwrap();
            found.insert(path, Some((content.len(), hash(&content))));
        }
    }
    found
}

fn hash(content: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}

#[test]
fn a_space_is_created_closed_and_opened() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("notes");
    let store = directory::create(&path, &OpenOptions::new()).unwrap();
    put(&store, b"durable", b"1");
    let relaxed = WriteOptions::durability(Durability::Relaxed);
    store.write(relaxed, &mut |transaction| transaction.put(b"relaxed", b"2")).unwrap();
    store.close().unwrap();
    let store = directory::open(&path, &OpenOptions::new()).unwrap();
    assert_eq!(get(&store, b"durable"), Some(b"1".to_vec()));
    assert_eq!(
        get(&store, b"relaxed"),
        Some(b"2".to_vec()),
        "closing makes relaxed writes durable"
    );
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing else is left there");
}

#[test]
fn dropping_makes_relaxed_writes_durable() {
    let place = Place::new();
    let store = directory::open(place.space(), &OpenOptions::new()).unwrap();
    let relaxed = WriteOptions::durability(Durability::Relaxed);
    store.write(relaxed, &mut |transaction| transaction.put(b"relaxed", b"2")).unwrap();
    drop(store);
    assert_eq!(
        get(&directory::open(place.space(), &OpenOptions::new()).unwrap(), b"relaxed"),
        Some(b"2".to_vec())
    );
}

#[test]
fn an_existing_path_is_not_overwritten() {
    let place = Place::new();
    fs::write(place.0.path().join("file"), "text").unwrap();
    fs::create_dir(place.0.path().join("empty")).unwrap();
    let before = files(place.0.path());
    for name in ["notes", "file", "empty"] {
        let error = directory::create(place.0.path().join(name), &OpenOptions::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Validation, "{name}: {error:?}");
        assert!(error.message().contains("already"), "{error:?}");
    }
    let error =
        directory::create(place.0.path().join("absent/notes"), &OpenOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Storage, "no parent: {error:?}");
    assert_eq!(
        directory::create("..", &OpenOptions::new()).unwrap_err().kind(),
        ErrorKind::Validation
    );
    assert_eq!(files(place.0.path()), before);
}

#[test]
fn a_leftover_temporary_directory_is_ignored() {
    let place = tempfile::tempdir().unwrap();
    for number in 0..3 {
        // The name that this process would use.
        let left = place.path().join(format!(".notes.new-{}-{number}", std::process::id()));
        fs::create_dir(&left).unwrap();
        fs::write(left.join(STORE_FILE), vec![0; 4_096]).unwrap();
    }
    put(
        &directory::create(place.path().join("notes"), &OpenOptions::new()).unwrap(),
        b"key",
        b"value",
    );
}

#[test]
fn creating_a_store_removes_abandoned_temporary_directories() {
    let place = tempfile::tempdir().unwrap();
    let leave = |name: &str, names: &[&str]| {
        let left = place.path().join(name);
        fs::create_dir(&left).unwrap();
        for name in names {
            fs::write(left.join(name), "left").unwrap();
        }
        left
    };
    let abandoned = [
        leave(".notes.new-4000000000-0", &[STORE_FILE, WAL_FILE, LOCK_FILE]),
        leave(".notes.new-4000000000-1", &[LOCK_FILE]),
        leave(".backup of June.new-7-3", &[]),
    ];
    let kept = [
        leave(".notes.new-7-0", &[STORE_FILE, LOCK_FILE, "a file of another program"]),
        leave(".notes.new-7", &[LOCK_FILE]),
        leave(".notes.new-x-0", &[LOCK_FILE]),
        leave("notes.new-7-0", &[LOCK_FILE]),
    ];
    let in_use = leave(".other.new-8-0", &[STORE_FILE, LOCK_FILE]);
    let lock = fs::File::open(in_use.join(LOCK_FILE)).unwrap();
    lock.try_lock().unwrap();
    let before = files(&in_use);
    drop(directory::create(place.path().join("notes"), &OpenOptions::new()).unwrap());
    assert_eq!(abandoned.each_ref().map(|path| path.exists()), [false; 3]);
    assert_eq!(kept.each_ref().map(|path| path.exists()), [true; 4]);
    assert_eq!(files(&in_use), before, "another process creates it");
}

/// Each creation looks for abandoned directories, and finds those of the others.
#[test]
fn stores_are_created_next_to_each_other_at_the_same_time() {
    let place = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let place = place.path();
            scope.spawn(move || {
                for number in 0..25 {
                    let path = place.join(format!("{thread}-{number}"));
                    drop(directory::create(path, &OpenOptions::new()).unwrap());
                }
            });
        }
    });
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 100, "nothing else is left there");
}

#[test]
fn one_handle_at_a_time() {
    let place = Place::new();
    let writing = directory::open(place.space(), &OpenOptions::new()).unwrap();
    assert_eq!(place.open_error().kind(), ErrorKind::AlreadyOpen);
    assert!(place.open_error().is_retryable());
    drop(writing);
    let read_only = OpenOptions::new().read_only(true);
    let first = directory::open(place.space(), &read_only).unwrap();
    let second = directory::open(place.space(), &read_only).unwrap();
    let error = directory::open(place.space(), &OpenOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyOpen, "readers share it, a writer does not");
    drop((first, second));
    directory::open(place.space(), &OpenOptions::new()).unwrap();
}

#[test]
fn the_lock_outlives_a_replaced_store_file() {
    let place = Place::new();
    let _open = directory::open(place.space(), &OpenOptions::new()).unwrap();
    let copy = fs::read(place.store_file()).unwrap();
    fs::remove_file(place.store_file()).unwrap();
    fs::write(place.store_file(), copy).unwrap();
    assert_eq!(place.open_error().kind(), ErrorKind::AlreadyOpen);
}

#[test]
fn read_only() {
    let place = Place::new();
    let before = files(place.0.path());
    let store = directory::open(place.space(), &OpenOptions::new().read_only(true)).unwrap();
    assert_eq!(get(&store, b"key"), Some(b"value".to_vec()));
    let refused =
        store.write(WriteOptions::default(), &mut |transaction| transaction.put(b"key", b"other"));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(store.compact().unwrap_err().kind(), ErrorKind::ReadOnly);
    store.flush().unwrap();
    assert!(store.verify().unwrap());
    drop(store);
    assert_eq!(files(place.0.path()), before, "the files are unchanged");
    fs::remove_file(place.space().join(LOCK_FILE)).unwrap();
    directory::open(place.space(), &OpenOptions::new().read_only(true)).unwrap();
}

#[test]
fn a_crashed_store_opens_read_only_and_stays_unchanged() {
    let place = Place::new();
    let store = directory::open(place.space(), &OpenOptions::new()).unwrap();
    put(&store, b"key", b"later");
    let crashed = fs::read(place.store_file()).unwrap();
    drop(store);
    fs::write(place.store_file(), crashed).unwrap();
    let before = files(place.0.path());
    let read_only = OpenOptions::new().read_only(true);
    let [first, second] = [0, 1].map(|_| directory::open(place.space(), &read_only).unwrap());
    for store in [first, second] {
        assert_eq!(get(&store, b"key"), Some(b"later".to_vec()), "mended in memory");
    }
    assert_eq!(files(place.0.path()), before, "and nowhere else");
    assert_eq!(
        get(&directory::open(place.space(), &OpenOptions::new()).unwrap(), b"key"),
        Some(b"later".to_vec())
    );
    directory::open(place.space(), &read_only).unwrap();
}

#[test]
fn a_read_only_handle_replays_the_log_in_memory() {
    let place = Place::new();
    let store = directory::open(place.space(), &OpenOptions::new()).unwrap();
    let keys = [b"a", b"b", b"c", b"d"];
    for key in keys {
        put(&store, key, b"kept");
    }
    let copy = place.0.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for name in [directory::STORE_FILE, WAL_FILE] {
        fs::copy(place.space().join(name), copy.join(name)).unwrap();
    }
    let before = files(&copy);
    let read_only = OpenOptions::new().read_only(true);
    for _ in 0..2 {
        let store = directory::open(&copy, &read_only).unwrap();
        assert_eq!(keys.map(|key| get(&store, key)), keys.map(|_| Some(b"kept".to_vec())));
        drop(store);
        assert_eq!(files(&copy), before, "the files are unchanged");
    }
}

#[test]
fn other_files_are_not_a_space() {
    let place = Place::new();
    let image = fs::read(place.store_file()).unwrap();
    for content in
        [Vec::new(), b"red".to_vec(), b"a text, not a store".repeat(500), vec![0; 1_056_768]]
    {
        fs::write(place.store_file(), content).unwrap();
        assert_eq!(place.open_error().kind(), ErrorKind::NotASpace);
    }
    fs::remove_file(place.store_file()).unwrap();
    assert_eq!(place.open_error().kind(), ErrorKind::NotASpace, "no store");
    fs::create_dir(place.store_file()).unwrap();
    assert_eq!(place.open_error().kind(), ErrorKind::NotASpace, "a directory for a store");
    fs::remove_dir_all(place.space()).unwrap();
    fs::write(place.space(), image).unwrap();
    assert_eq!(place.open_error().kind(), ErrorKind::NotASpace, "a file for a directory");
    fs::remove_file(place.space()).unwrap();
    assert_eq!(place.open_error().kind(), ErrorKind::NotFound);
    assert!(
        place.open_error().message().contains("notes"),
        "it names the path that the caller gave"
    );
}

#[test]
fn a_redb_file_of_another_program() {
    let place = Place::new();
    fs::remove_file(place.store_file()).unwrap();
    let database = redb::Database::create(place.store_file()).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction
        .open_table(redb::TableDefinition::<u64, u64>::new("theirs"))
        .unwrap()
        .insert(1, 2)
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    assert_eq!(place.open_error().kind(), ErrorKind::NotASpace);
}

#[test]
fn a_later_format() {
    let place = Place::new();
    let mut image = fs::read(place.store_file()).unwrap();
    for slot in [64, 192] {
        image[slot] = 4;
    }
    fs::write(place.store_file(), image).unwrap();
    assert_eq!(place.open_error().kind(), ErrorKind::NewerFormat);
}

#[test]
fn damage() {
    let place = Place::new();
    let image = fs::read(place.store_file()).unwrap();
    let ways: [fn(&mut Vec<u8>); 4] = [
        |image| image.truncate(40),
        |image| image.truncate(300),
        |image| image.truncate(image.len() / 2),
        |image| image[64..320].fill(3),
    ];
    for (number, damage) in ways.iter().enumerate() {
        let mut damaged = image.clone();
        damage(&mut damaged);
        fs::write(place.store_file(), damaged).unwrap();
        assert_eq!(place.open_error().kind(), ErrorKind::Corrupted, "damage {number}");
    }
}

const KEYS: [&[u8]; 4] = [b"a", b"b", b"c", b"d"];

/// Durable writes, the later ones in the write-ahead log.
fn put_all(store: &RedbStore, value: &[u8]) {
    for key in KEYS {
        put(store, key, value);
    }
}

/// The values of all keys after the process that has the store open is killed.
fn after_kill(space: &Path, copy: &Path) -> Vec<Option<Vec<u8>>> {
    fs::create_dir(copy).unwrap();
    for name in [STORE_FILE, WAL_FILE] {
        fs::copy(space.join(name), copy.join(name)).unwrap();
    }
    let store = directory::open(copy, &OpenOptions::new()).unwrap();
    KEYS.iter().map(|key| get(&store, key)).collect()
}

/// A handle whose directory is replaced under its name uses its own files alone.
fn replaced(replace: impl Fn(&Place)) -> (Place, Vec<Option<Vec<u8>>>) {
    let place = Place::new();
    let old = directory::open(place.space(), &OpenOptions::new()).unwrap();
    put_all(&old, b"old");
    replace(&place);
    let new = directory::create(place.space(), &OpenOptions::new()).unwrap();
    put_all(&new, b"new");
    // Whether it succeeds or not, it must not reach the files of the new store.
    let _ = old.write(WriteOptions::default(), &mut |transaction| transaction.put(b"a", b"old"));
    drop(old);
    assert!(place.space().join(WAL_FILE).exists(), "the log of the new store is in use");
    let values = after_kill(&place.space(), &place.0.path().join("copy"));
    drop(new);
    (place, values)
}

#[test]
fn a_handle_on_a_moved_directory_leaves_the_new_one_alone() {
    let moved = |place: &Place| place.0.path().join("moved");
    let (place, values) = replaced(|place| fs::rename(place.space(), moved(place)).unwrap());
    assert_eq!(values, vec![Some(b"new".to_vec()); 4]);
    let old = directory::open(moved(&place), &OpenOptions::new()).unwrap();
    assert!(KEYS.iter().all(|key| get(&old, key) == Some(b"old".to_vec())));
}

#[cfg(unix)]
#[test]
fn compaction_of_a_moved_directory_fails_and_leaves_the_handle_usable() {
    let place = Place::new();
    let moved = place.0.path().join("moved");
    let store = directory::open(place.space(), &OpenOptions::new()).unwrap();
    put_all(&store, b"old");
    fs::rename(place.space(), &moved).unwrap();
    assert_eq!(store.compact().unwrap_err().kind(), ErrorKind::Storage);
    put_all(&store, b"later");
    drop(store);
    let store = directory::open(moved, &OpenOptions::new()).unwrap();
    assert!(KEYS.iter().all(|key| get(&store, key) == Some(b"later".to_vec())));
    store.compact().unwrap();
}

#[test]
fn a_handle_on_a_removed_directory_leaves_the_new_one_alone() {
    let (_place, values) = replaced(|place| fs::remove_dir_all(place.space()).unwrap());
    assert_eq!(values, vec![Some(b"new".to_vec()); 4]);
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_is_resolved_when_the_store_is_opened() {
    let place = Place::new();
    let link = place.0.path().join("current");
    let other = place.0.path().join("other");
    std::os::unix::fs::symlink(place.space(), &link).unwrap();
    let first = directory::open(&link, &OpenOptions::new()).unwrap();
    fs::remove_file(&link).unwrap();
    let second = directory::create(&other, &OpenOptions::new()).unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    put_all(&second, b"second");
    put_all(&first, b"first");
    drop(first);
    assert!(!place.space().join(WAL_FILE).exists(), "a closed store is one file");
    let values = after_kill(&other, &place.0.path().join("copy"));
    assert_eq!(values, vec![Some(b"second".to_vec()); 4]);
}
