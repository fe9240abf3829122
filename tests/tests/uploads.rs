//! Uploads in processes of their own: one that is killed leaves nothing behind, and one that goes
//! through takes little memory.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs};

use leafbase::{DeleteBlocks, ErrorKind, Space, UploadFile};
use leafbase_store::directory;
use leafbase_store::kv::{KeyRange, OpenOptions, Store};

const MIB: usize = 1 << 20;
/// Where the space of a child process is.
const PLACE: &str = "LEAFBASE_UPLOAD_PLACE";

/// Starts one of the ignored tests below with the space at `path`.
fn child(test: &str, path: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .env(PLACE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn place() -> Option<PathBuf> {
    env::var_os(PLACE).map(PathBuf::from)
}

/// Bytes of `length`, after each MiB of which `told` is called with how many there were.
struct Stream<F> {
    at: usize,
    length: usize,
    told: F,
}

impl<F: FnMut(usize)> Read for Stream<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at.is_multiple_of(MIB) {
            (self.told)(self.at / MIB);
        }
        let count = out.len().min(MIB - self.at % MIB).min(self.length - self.at);
        for (place, byte) in out[..count].iter_mut().enumerate() {
            *byte = ((self.at + place) / 251).to_le_bytes()[0];
        }
        self.at += count;
        Ok(count)
    }
}

#[test]
#[ignore = "run by the test of kills"]
fn upload_without_end() {
    let Some(path) = place() else { return };
    let space = Space::open(path).unwrap();
    let document = space.connect().documents().unwrap().0[0].id();
    let stream = Stream { at: 0, length: usize::MAX, told: |mib| println!("\nMiB {mib}") };
    space.connect().upload_file(UploadFile::new(document), stream).unwrap();
}

/// The rows of files, of their chunks and of uploads in the closed space.
fn rows(path: &Path) -> [usize; 3] {
    let store = directory::open(path, &OpenOptions::new()).unwrap();
    let rows = [0x61, 0x62, 0x63].map(|tag| {
        let mut rows = 0;
        let mut count = |_: &[u8], _: &[u8]| {
            rows += 1;
            Ok(ControlFlow::Continue(()))
        };
        store
            .snapshot()
            .unwrap()
            .scan(KeyRange::half_open(&[tag], &[tag + 1]), &mut count)
            .unwrap();
        rows
    });
    store.close().unwrap();
    rows
}

fn length(path: &Path) -> u64 {
    fs::metadata(path.join(directory::STORE_FILE)).unwrap().len()
}

#[test]
fn an_upload_that_is_killed_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes");
    let space = Space::create(&path).unwrap();
    let document = space.connect().create_document("kept").unwrap().id();
    space.connect().upload_file(UploadFile::new(document), &[1; 100_000][..]).unwrap();
    space.close().unwrap();
    let rounds = [40, 1, 23, 8, 9, 17, 40, 31, 40];
    let mut lengths = Vec::new();
    for (round, mib) in rounds.into_iter().chain(rounds).enumerate() {
        let mut child = child("upload_without_end", &path);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let reached = lines.map_while(Result::ok).any(|line| line == format!("MiB {mib}"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(reached, "the upload ended before {mib} MiB");
        // The control: without the sweep of opening, the bytes would stay.
        let left = rows(&path);
        assert!(left[2] == 1 || mib <= 8, "round {round}: {left:?}");

        let space = Space::open(&path).unwrap();
        assert!(space.check().unwrap().is_clean());
        assert_eq!(space.connect().documents().unwrap().0.len(), 1);
        space.close().unwrap();
        assert_eq!(rows(&path), [1, 2, 0], "after {mib} MiB");
        lengths.push(length(&path));
    }
    // Freed pages are reused or given back: the second time the same uploads leave no longer file.
    // One round is no measure: redb gives them back after some and keeps them after others.
    let (first, second) = lengths.split_at(rounds.len());
    let longest = |lengths: &[u64]| lengths.iter().copied().max();
    assert!(longest(second) <= longest(first).map(|bytes| bytes + MIB as u64), "{lengths:?}");
    // The longest upload, and some.
    let most = 40 + 10;
    assert!(longest(first) <= Some(most * MIB as u64), "{lengths:?}");
    let space = Space::open(&path).unwrap();
    space.compact().unwrap();
    space.close().unwrap();
    assert!(length(&path) < 2 * MIB as u64);
}

/// The most memory that the process has had resident so far.
fn memory() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? * 1_024)
}

const UPLOADED: usize = 64 * MIB;

/// What storing a file takes, and reading and deleting it; if `whole`, with a copy of it in memory.
fn tell_memory(whole: bool) {
    let Some(path) = place() else { return };
    let space = Space::builder().cache_bytes(8 * MIB).create(path).unwrap();
    let notes = space.connect();
    let document = notes.create_document("files").unwrap().id();
    let Some(before) = memory() else { return println!("\nmemory unknown") };
    let uploaded = if whole {
        let mut bytes = Vec::new();
        Stream { at: 0, length: UPLOADED, told: |_| () }.read_to_end(&mut bytes).unwrap();
        notes.upload_file(UploadFile::new(document), &*bytes).unwrap()
    } else {
        notes
            .upload_file(
                UploadFile::new(document),
                Stream { at: 0, length: UPLOADED, told: |_| () },
            )
            .unwrap()
    };
    let mut file = notes.open_file(uploaded.asset_url.id()).unwrap();
    let mut expected = Stream { at: 0, length: UPLOADED, told: |_| () };
    let (mut left, mut right) = (vec![0; MIB], vec![0; MIB]);
    for _ in 0..UPLOADED / MIB {
        file.read_exact(&mut left).unwrap();
        expected.read_exact(&mut right).unwrap();
        assert!(left == right, "what is read is not what was uploaded");
    }
    assert_eq!(file.read(&mut left).unwrap(), 0);
    notes.delete_blocks(DeleteBlocks::from(uploaded.block_id)).unwrap();
    assert_eq!(notes.file(uploaded.asset_url.id()).unwrap_err().kind(), ErrorKind::NotFound);
    println!("\nmemory {}", memory().unwrap() - before);
}

#[test]
#[ignore = "run by the test of memory"]
fn upload_a_stream() {
    tell_memory(false);
}

#[test]
#[ignore = "run by the test of memory"]
fn upload_what_is_in_memory() {
    tell_memory(true);
}

#[test]
fn an_upload_takes_little_memory() {
    let taken = |test| {
        let directory = tempfile::tempdir().unwrap();
        let output = child(test, &directory.path().join("notes")).wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        text.lines()
            .find_map(|line| line.strip_prefix("memory ").map(str::to_owned))
            .unwrap()
            .parse::<usize>()
            .ok()
    };
    // Where the system does not tell, there is nothing to compare.
    if let (Some(stream), Some(whole)) =
        (taken("upload_a_stream"), taken("upload_what_is_in_memory"))
    {
        println!(
            "{} KiB for a stream, {} KiB for what is in memory",
            stream / 1_024,
            whole / 1_024
        );
        assert!(stream < 24 * MIB, "{stream} bytes for a file of {UPLOADED}");
        // The control: what is held in memory is seen.
        assert!(whole > UPLOADED, "{whole} bytes for a file of {UPLOADED} in memory");
    }
}
