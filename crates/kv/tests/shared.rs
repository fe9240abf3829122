//! Stores that several handles and processes share: both suites, who is let in beside whom, and
//! processes that are killed.
#![expect(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::{env, fs};

use leafbase_kv::{
    Durability, OpenOptions, Read, SharedRedbStore, Store, WriteOptions, directory, testkit,
};
use leafbase_model::{Error, ErrorKind, Result};

/// Where the store of a child process is.
const PLACE: &str = "LEAFBASE_SHARED_PLACE";
const SUM: &[u8] = b"sum";

fn create(path: &Path) -> SharedRedbStore {
    directory::create_shared_with(path, &OpenOptions::new(), |_| Ok(())).unwrap()
}

fn open(path: &Path) -> Result<SharedRedbStore> {
    directory::open_shared(path, &OpenOptions::new(), &mut |_| Ok(()))
}

fn number(read: &dyn Read, key: &[u8]) -> u64 {
    let mut number = 0;
    read.get(key, &mut |value| {
        number = value.try_into().map_or(u64::MAX, u64::from_be_bytes);
        Ok(())
    })
    .unwrap();
    number
}

/// Adds one to the sum, and to the own number of a writer.
fn increment(store: &dyn Store, writer: &[u8]) {
    let written = store.write(WriteOptions::default(), &mut |rows| {
        for key in [SUM, writer] {
            let next = number(&*rows, key) + 1;
            rows.put(key, &next.to_be_bytes())?;
        }
        Ok(())
    });
    written.unwrap();
}

#[test]
fn a_shared_store_conforms() {
    let place = tempfile::tempdir().unwrap();
    let mut made = 0;
    testkit::conformance(&mut || {
        made += 1;
        Box::new(create(&place.path().join(made.to_string())))
    });
}

#[test]
fn handles_of_a_shared_store_agree() {
    let place = tempfile::tempdir().unwrap();
    let mut made = 0;
    testkit::handles(&mut |count| {
        made += 1;
        let path = place.path().join(made.to_string());
        drop(create(&path));
        (0..count).map(|_| Arc::new(open(&path).unwrap()) as Arc<dyn Store>).collect()
    });
}

/// Handles that share a store and those that do not exclude each other, with an error that says
/// what to do; readers of both kinds, too.
#[test]
fn handles_that_do_not_share_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("store");
    let shared = create(&path);
    increment(&shared, b"a");
    let refused = |opened: Result<()>, says: &str| {
        let error = opened.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyOpen, "{error:?}");
        assert!(error.to_string().contains(says), "{error}");
    };
    let exclusive = OpenOptions::new();
    let reading = OpenOptions::new().read_only(true);
    refused(directory::open(&path, &exclusive).map(drop), "open it shared, too");
    refused(directory::open(&path, &reading).map(drop), "open it shared, too");
    let second = open(&path).unwrap();
    drop(shared);
    refused(directory::open(&path, &exclusive).map(drop), "open it shared, too");
    assert_eq!(number(&*second.snapshot().unwrap(), SUM), 1);
    drop(second);

    let alone = directory::open(&path, &exclusive).unwrap();
    refused(open(&path).map(drop), "is open in another handle");
    drop(alone);
    let reader = directory::open(&path, &reading).unwrap();
    refused(open(&path).map(drop), "does not share it");
    drop(reader);
    assert_eq!(number(&*open(&path).unwrap().snapshot().unwrap(), SUM), 1);
}

#[test]
fn a_shared_handle_that_only_reads_follows_the_others() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("store");
    let writer = create(&path);
    let options = OpenOptions::new().read_only(true);
    let reader = directory::open_shared(&path, &options, &mut |_| Ok(())).unwrap();
    for written in 1..=5 {
        increment(&writer, b"a");
        assert_eq!(number(&*reader.snapshot().unwrap(), SUM), written);
    }
    let refused = reader.write(WriteOptions::default(), &mut |rows| rows.put(b"a", b"b"));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(reader.compact().unwrap_err().kind(), ErrorKind::ReadOnly);
}

/// What a handle that does not share has left in its write-ahead log is recovered.
#[test]
fn a_write_ahead_log_is_replayed_before_a_store_is_shared() {
    let place = tempfile::tempdir().unwrap();
    let (path, copy) = (place.path().join("store"), place.path().join("copy"));
    let store = directory::create(&path, &OpenOptions::new()).unwrap();
    for _ in 0..20 {
        let relaxed = WriteOptions::durability(Durability::Relaxed);
        let added = store.write(relaxed, &mut |rows| {
            let next = number(&*rows, SUM) + 1;
            rows.put(SUM, &next.to_be_bytes())
        });
        added.unwrap();
    }
    // As a crash leaves it.
    fs::create_dir(&copy).unwrap();
    for name in [directory::STORE_FILE, directory::WAL_FILE] {
        fs::copy(path.join(name), copy.join(name)).unwrap();
    }
    let shared = open(&copy).unwrap();
    assert_eq!(number(&*shared.snapshot().unwrap(), SUM), 20);
    assert!(!copy.join(directory::WAL_FILE).exists());
}

/// A closure that fails or panics changes nothing, and lets the others write.
#[test]
fn a_closure_that_gives_up_releases_the_lock() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("store");
    let (first, second) = (create(&path), open(&path).unwrap());
    increment(&first, b"a");
    let refused = first.write(WriteOptions::default(), &mut |rows| {
        rows.put(SUM, b"wrong")?;
        Err(Error::validation("refused"))
    });
    assert!(refused.is_err());
    increment(&second, b"b");
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        first.write(WriteOptions::default(), &mut |rows| {
            rows.put(SUM, b"wrong")?;
            std::panic::resume_unwind(Box::new("gives up"))
        })
    }));
    assert!(panicked.is_err());
    increment(&second, b"b");
    increment(&first, b"a");
    assert_eq!(number(&*second.snapshot().unwrap(), SUM), 4);
    assert!(first.verify().unwrap() && second.verify().unwrap());
}

#[test]
fn compaction_waits_for_no_reader_of_another_handle() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("store");
    let (first, second) = (create(&path), open(&path).unwrap());
    for round in 0..60_u8 {
        let put = first
            .write(WriteOptions::default(), &mut |rows| rows.put(&[round], &vec![round; 20_000]));
        put.unwrap();
    }
    let cleared = second.write(WriteOptions::default(), &mut |rows| rows.delete_range(&[1], &[60]));
    cleared.unwrap();
    let reading = second.snapshot().unwrap();
    assert_eq!(first.compact().unwrap_err().kind(), ErrorKind::Storage, "another handle reads");
    let mut first_row = Vec::new();
    let read = |value: &[u8]| {
        first_row = value.to_vec();
        Ok(())
    };
    let mut read = read;
    assert!(reading.get(&[0], &mut read).unwrap());
    drop(reading);
    let before = first.bytes().unwrap();
    first.compact().unwrap();
    assert!(first.bytes().unwrap() < before / 4);
    let mut same = false;
    let mut compare = |value: &[u8]| {
        same = value == first_row;
        Ok(())
    };
    assert!(second.snapshot().unwrap().get(&[0], &mut compare).unwrap());
    assert!(same, "the other handle reads the moved pages");
    increment(&second, b"b");
    assert_eq!(number(&*first.snapshot().unwrap(), SUM), 1);
    assert!(second.verify().unwrap());
}

fn child(path: &Path, writer: u8) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["write_until_killed", "--exact", "--ignored", "--nocapture"])
        .env(PLACE, path)
        .env("LEAFBASE_SHARED_WRITER", writer.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "run by the test of killed processes"]
fn write_until_killed() {
    let Some(path) = env::var_os(PLACE).map(PathBuf::from) else { return };
    let writer: u8 = env::var("LEAFBASE_SHARED_WRITER").unwrap().parse().unwrap();
    let store = open(&path).unwrap();
    println!("\nready");
    for written in 1_u64.. {
        increment(&store, &[writer]);
        println!("\nwritten {written}");
    }
}

/// Two processes write until they are killed, again and again, beside one that reads and writes:
/// what they were told is there, once, and nothing is half.
#[test]
fn killed_processes_harm_no_other() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("store");
    let store = create(&path);
    let (mut told, mut seen) = ([0_u64; 2], 0);
    for round in 0..6_u64 {
        let mut children: Vec<_> = (0..2).map(|writer| child(&path, writer)).collect();
        let outputs: Vec<_> = children
            .iter_mut()
            .map(|child| {
                let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
                lines.find(|line| line.as_ref().unwrap() == "ready").unwrap().unwrap();
                lines
            })
            .collect();
        for _ in 0..5 + 7 * round {
            increment(&store, b"own");
            let snapshot = store.snapshot().unwrap();
            let parts = [&[0][..], &[1], b"own"].map(|key| number(&*snapshot, key));
            let sum = number(&*snapshot, SUM);
            assert_eq!(sum, parts.iter().sum::<u64>(), "a write is whole");
            assert!(sum > seen, "a reader does not go back");
            seen = sum;
        }
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        // A commit that a process was killed in is read from the next write or flush on.
        store.flush().unwrap();
        let snapshot = store.snapshot().unwrap();
        for (writer, output) in (0_u8..).zip(outputs) {
            let acknowledged = output
                .filter_map(|line| line.ok()?.strip_prefix("written ")?.parse::<u64>().ok())
                .last()
                .unwrap_or(0);
            let before = &mut told[usize::from(writer)];
            let after = number(&*snapshot, &[writer]);
            let written = after - *before;
            // The last one may have been written and not been told of.
            assert!(
                (acknowledged..=acknowledged + 1).contains(&written),
                "{acknowledged} {written}"
            );
            *before = after;
        }
        assert!(store.verify().unwrap());
    }
    drop(store);
    let alone = directory::open(&path, &OpenOptions::new()).unwrap();
    let snapshot = alone.snapshot().unwrap();
    assert_eq!(number(&*snapshot, SUM), told.iter().sum::<u64>() + number(&*snapshot, b"own"));
}
