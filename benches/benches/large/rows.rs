//! What is done and measured, in three stages.

use crate::plan::{BLOCKS, COMMON, Plan, RARE, unheard};
use benches::cold::{evict, warm};
use benches::measure::{median, timed};
use benches::workload::{Id, Rng};
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What both can be asked.
pub trait Peer {
    /// Fills a new space, words included, and syncs it.
    fn build(&mut self, plan: &Plan);
    /// A document with all its blocks: how many there are.
    fn fetch(&mut self, document: Id) -> usize;
    /// The text of a block.
    fn block(&mut self, id: Id) -> String;
    fn document_of(&mut self, block: Id) -> Id;
    /// The titles of the documents that changed last.
    fn latest(&mut self, count: usize) -> Vec<String>;
    /// The documents that have a word, the best twenty with snippets: how many are shown.
    fn search(&mut self, word: &str) -> usize;
    /// The twenty documents with most blocks that match.
    fn pattern(&mut self, pattern: &str) -> usize;
    /// Changes a text; durable, without its words.
    fn update(&mut self, block: Id, text: &str);
    /// Changes a text with its words, so that the next search finds them.
    fn update_words(&mut self, block: Id, text: &str);
    /// Inserts a block behind another one; durable.
    fn insert(&mut self, after: Id, text: &str);
    fn check(&mut self);
    fn backup(&mut self, to: &Path);
    fn compact(&mut self);
    /// Everything is in the file.
    fn close(self: Box<Self>);
}

/// Opens the space; told whether nothing of it is in memory.
type Open<'o> = &'o dyn Fn(bool) -> Box<dyn Peer>;
type Stage = fn(Open<'_>, &Plan, &Path) -> Vec<Measured>;

/// Each in a process of its own.
pub const STAGES: [(&str, Stage); 3] = [("build", build), ("ask", ask), ("keep", keep)];

/// A row of one peer.
#[derive(Debug)]
pub struct Measured {
    pub name: String,
    /// Nanoseconds, or bytes.
    pub value: f64,
    /// The most anonymous memory that the process had meanwhile.
    pub memory: u64,
    /// What both have to give alike.
    pub answer: String,
}

impl Measured {
    pub fn line(&self) -> String {
        format!("{}\t{}\t{}\t{}", self.name, self.value, self.memory, self.answer)
    }

    pub fn read(line: &str) -> Self {
        let mut parts = line.splitn(4, '\t');
        let mut next = || parts.next().expect("four parts").to_owned();
        let (name, value, memory, answer) = (next(), next(), next(), next());
        Self {
            name,
            value: value.parse().expect("a number"),
            memory: memory.parse().expect("a number"),
            answer,
        }
    }
}

/// Looks at the memory of this process every few milliseconds.
struct Sampler {
    most: Arc<AtomicU64>,
    is_done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Bytes of memory that no file has; 0 where the system does not tell.
fn anonymous() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1_024
}

impl Sampler {
    fn start() -> Self {
        let (most, is_done) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (seen, ends) = (Arc::clone(&most), Arc::clone(&is_done));
        let thread = thread::spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                seen.fetch_max(anonymous(), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(5));
            }
        });
        Self { most, is_done, thread: Some(thread) }
    }

    /// The most since the last look.
    fn take(&self) -> u64 {
        self.most.swap(0, Ordering::Relaxed).max(anonymous())
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The rows of a stage.
struct Rows {
    rows: Vec<Measured>,
    sampler: Sampler,
}

/// Calls that take longer in all are not repeated.
const LONG: Duration = Duration::from_secs(2);

impl Rows {
    fn new() -> Self {
        Self { rows: Vec::new(), sampler: Sampler::start() }
    }

    fn push(&mut self, name: &str, value: f64, answer: String) {
        let memory = self.sampler.take();
        self.rows.push(Measured { name: name.to_owned(), value, memory, answer });
    }

    /// The median of up to `calls` calls; `answer` is what the first one gave.
    fn calls<T: ToString>(&mut self, name: &str, calls: usize, mut call: impl FnMut(usize) -> T) {
        let (mut samples, mut answer, began) = (Vec::new(), None, Instant::now());
        for at in 0..calls {
            let (took, given) = timed(|| black_box(call(at)));
            samples.push(took.as_secs_f64() * 1e9);
            answer.get_or_insert_with(|| given.to_string());
            if began.elapsed() > LONG {
                break;
            }
        }
        self.push(name, median(samples), answer.unwrap_or_default());
    }

    fn once(&mut self, name: &str, call: impl FnOnce()) {
        let (took, ()) = timed(call);
        self.push(name, took.as_secs_f64() * 1e9, String::new());
    }
}

/// Bytes of the files in a directory and those below.
fn bytes(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let size = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.expect("an entry");
        match entry.metadata().expect("a file") {
            known if known.is_dir() => bytes(&entry.path()),
            known => known.len(),
        }
    };
    entries.map(size).sum()
}

fn build(open: Open<'_>, plan: &Plan, directory: &Path) -> Vec<Measured> {
    let mut rows = Rows::new();
    let mut peer = open(false);
    rows.once("import, with the words", || peer.build(plan));
    rows.once("close", || peer.close());
    rows.push("bytes on disk", bytes(directory) as f64, String::new());
    rows.rows
}

fn ask(open: Open<'_>, plan: &Plan, directory: &Path) -> Vec<Measured> {
    let mut rows = Rows::new();
    let mut rng = Rng::new(5);
    let mut any = || 1 + rng.below(plan.documents - 1);
    let picked: Vec<usize> = (0..2_000).map(|_| any()).collect();
    let document = |at: usize| plan.document_id(picked[at % picked.len()]);
    let block = |at: usize| plan.block_id(picked[at % picked.len()], at * 7 % BLOCKS);
    let mut samples = Vec::new();
    for at in 0..5 {
        evict(directory).expect("files that can be forgotten");
        let (took, peer) = timed(|| {
            let mut peer = open(true);
            peer.fetch(document(at));
            peer
        });
        samples.push(took.as_secs_f64() * 1e9);
        peer.close();
    }
    rows.push("open and fetch, nothing in memory", median(samples), String::new());
    let mut samples = Vec::new();
    for _ in 0..3 {
        evict(directory).expect("files that can be forgotten");
        let (took, peer) = timed(|| {
            let mut peer = open(true);
            peer.search(RARE);
            peer
        });
        samples.push(took.as_secs_f64() * 1e9);
        peer.close();
    }
    rows.push("open and search for a rare word, nothing in memory", median(samples), String::new());
    warm(directory).expect("files that are read");
    rows.calls("open, then search for a rare word", 5, |_| {
        let mut peer = open(false);
        let found = peer.search(RARE);
        peer.close();
        found
    });
    let mut peer = open(false);
    let peer = &mut *peer;
    rows.calls("fetch of 100 blocks, the first time", 500, |at| peer.fetch(document(at)));
    rows.calls("fetch of 100 blocks, again", 500, |at| peer.fetch(document(at % 50)));
    rows.calls("fetch of the large document", 5, |_| peer.fetch(plan.document_id(0)));
    rows.calls("block by ID", 1_000, |at| peer.block(block(at)));
    rows.calls("document of a block", 1_000, |at| {
        format!("{:?}", peer.document_of(block(at + 900)))
    });
    rows.calls("latest 50 documents", 200, |_| peer.latest(50).len());
    rows.calls("a rare word", 200, |_| peer.search(RARE));
    rows.calls("a common word", 50, |_| peer.search(COMMON));
    rows.calls("a pattern: zeph[xy]r", 5, |_| peer.pattern("zeph[xy]r"));
    // Before the durable edits, which leave the words of SQLite as they are.
    rows.calls("edit, then search for what it says", 30, |at| {
        let word = unheard(at);
        peer.update_words(block(at + 400), &word);
        peer.search(&word)
    });
    rows.calls("edit of the large document, then search", 5, |at| {
        let word = unheard(100 + at);
        peer.update_words(plan.block_id(0, at * 13 % plan.large), &word);
        peer.search(&word)
    });
    rows.calls("durable update of a block", 200, |at| {
        peer.update(block(at), &format!("what was changed as number {at}"));
        at
    });
    rows.calls("durable insertion into the large document", 200, |at| {
        let after = plan.block_id(0, at * 13 % plan.large);
        peer.insert(after, &format!("what was inserted as number {at}"));
        at
    });
    rows.rows
}

fn keep(open: Open<'_>, _: &Plan, directory: &Path) -> Vec<Measured> {
    let mut rows = Rows::new();
    let mut peer = open(false);
    rows.once("check", || peer.check());
    let to = directory.join("backup");
    rows.once("backup", || peer.backup(&to));
    if to.is_dir() { std::fs::remove_dir_all(&to) } else { std::fs::remove_file(&to) }
        .expect("gone");
    rows.once("compact", || peer.compact());
    peer.close();
    rows.push("bytes on disk, compacted", bytes(directory) as f64, String::new());
    rows.rows
}
