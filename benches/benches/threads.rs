//! Several threads on one space: what more readers read, and what more writers write whose writes
//! have to survive a loss of power.
//!
//! `cargo bench -p benches --bench threads` prints a table of times for one operation, by one
//! thread and by several, with SQLite beside, and writes `threads.json` into the target directory.
//! THREADS_ROUNDS and THREADS_DOCUMENTS (600) change its size. Run as a test (`cargo test -p
//! benches --bench threads`) it is small and over in a moment.

#[path = "peers/app.rs"]
#[expect(dead_code, reason = "only some of the edits are made")]
mod app;
#[path = "peers/floor.rs"]
#[expect(dead_code, reason = "only its weights are needed")]
mod floor;
#[path = "peers/leaf.rs"]
mod leaf;
#[path = "peers/space.rs"]
#[expect(dead_code, reason = "only some of its work is done")]
mod space;
#[path = "peers/sqlite.rs"]
#[expect(dead_code, reason = "its file is shared")]
mod sqlite;

use app::{Document, Edit, Fetched, Mode};
use benches::comparison::Comparison;
use benches::measure::{setting, shown, sync_probe, timed};
use benches::saved;
use benches::workload::{Generator, Id, Rng};
use leafbase::{BlockId, BlockPatch, Fetch, UpdateBlocks};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::{Barrier, Mutex, PoisonError};
use std::time::Duration;

const READERS: usize = 8;
const WRITERS: usize = 4;

/// A row: who reads or writes, and the most that one operation of several threads may take of one
/// thread's time, on two cores.
struct Row {
    name: &'static str,
    threads: usize,
    is_write: bool,
    is_sqlite: bool,
}

const ROWS: [Row; 4] = [
    Row {
        name: "8 readers: fetch 100 blocks",
        threads: READERS,
        is_write: false,
        is_sqlite: false,
    },
    Row {
        name: "8 readers: fetch 100 blocks, SQLite",
        threads: READERS,
        is_write: false,
        is_sqlite: true,
    },
    Row { name: "4 writers: durable update", threads: WRITERS, is_write: true, is_sqlite: false },
    Row {
        name: "4 writers: durable update, SQLite",
        threads: WRITERS,
        is_write: true,
        is_sqlite: true,
    },
];

/// 1.8 times what one reader reads, 2.5 times what one durable writer writes.
fn bar(row: &str) -> Option<f64> {
    let row = ROWS.iter().find(|known| known.name == row).filter(|row| !row.is_sqlite)?;
    Some(if row.is_write { 0.4 } else { 0.56 })
}

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let (rounds, documents, reads, writes) =
        if measured { (7, 600, 8_000, 800) } else { (1, 600, 16, 8) };
    let (rounds, documents) =
        (setting("THREADS_ROUNDS", rounds), setting("THREADS_DOCUMENTS", documents));
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let mut bench = Bench::new(root.path(), documents);
    let mut probes = Vec::new();
    for round in 0..rounds {
        probes.push(sync_probe(root.path()).expect("a sync"));
        bench.round(round, reads, writes);
        eprintln!("round {} of {rounds}", round + 1);
    }
    let probes: Vec<String> = probes.into_iter().map(shown).collect();
    println!("{rounds} rounds; to append 200 bytes and sync them took {}\n", probes.join(", "));
    let results = bench.report.results();
    println!("{}", results.table());
    bench.agree();
    if measured {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
        saved::save(&target.join("threads.json"), rounds, "", results).expect("threads.json");
    }
}

struct Bench {
    leafbase: leafbase::Space,
    /// The directory of the SQLite file.
    sqlite: PathBuf,
    documents: Vec<Document>,
    report: Comparison,
}

impl Bench {
    fn new(root: &Path, documents: usize) -> Self {
        let mut make = Generator::new(11);
        let all = space::Space::new(&mut make, documents, 200);
        let (imported, now) = (Edit::Import(all.all()), make.now() as i64);
        let open: [(&str, app::Open); 2] = [("leafbase", leaf::open), ("sqlite", sqlite::shared)];
        let [leafbase, sqlite] = open.map(|(name, open)| {
            let path = root.join(name);
            std::fs::create_dir_all(&path).expect("a directory");
            let mut peer = open(&path, Mode::Relaxed);
            let ready = peer.ready(&imported);
            peer.apply(&imported, ready, now);
            peer.flush();
            path
        });
        let leafbase = leafbase::Space::open(leafbase.join("space.leafbase")).expect("a space");
        let report = Comparison::new(["1 thread", "several"], 1, bar);
        Self { leafbase, sqlite, documents: all.flat, report }
    }

    fn round(&mut self, round: usize, reads: usize, writes: usize) {
        for at in 0..ROWS.len() {
            let row = &ROWS[(at + round) % ROWS.len()];
            let count = if row.is_write { writes } else { reads };
            for (several, threads) in [1, row.threads].into_iter().enumerate() {
                let seed = (round * 2 + several) as u64;
                let took = match (row.is_write, row.is_sqlite) {
                    (false, false) => self.read_leafbase(threads, count),
                    (false, true) => self.read_sqlite(threads, count),
                    (true, false) => self.write_leafbase(threads, count, seed),
                    (true, true) => self.write_sqlite(threads, count, seed),
                };
                self.report.record(row.name, several, took.as_secs_f64() * 1e9 / count as f64);
            }
        }
    }

    /// Who has how many documents: each thread reads and writes its own part.
    fn part(&self, thread: usize, threads: usize) -> &[Document] {
        let each = self.documents.len() / threads;
        &self.documents[thread * each..(thread + 1) * each]
    }

    /// So many texts, one after another in the part of the thread, and what they shall be.
    fn updates(&self, thread: usize, threads: usize, count: usize, seed: u64) -> Vec<(Id, String)> {
        let (part, mut rng) = (self.part(thread, threads), Rng::new(seed * 100 + thread as u64));
        let text = |rng: &mut Rng, at: usize| {
            let document = &part[at % part.len()];
            let texts: Vec<Id> = document
                .blocks
                .iter()
                .filter(|block| block.kind == app::TEXT)
                .map(|b| b.id)
                .collect();
            (
                *rng.pick(&texts),
                format!("text {at} of round {seed}, which is about as long as the other texts are"),
            )
        };
        (0..count / threads).map(|at| text(&mut rng, at)).collect()
    }

    fn read_leafbase(&self, threads: usize, reads: usize) -> Duration {
        side_by_side(threads, |thread, start| {
            let (notes, part) = (self.leafbase.connect(), self.part(thread, threads));
            start.wait();
            for at in 0..reads / threads {
                let id = BlockId::from_bytes(part[at % part.len()].id);
                black_box(notes.fetch(Fetch::new(id).with_metadata()).expect("a document"));
            }
        })
    }

    fn read_sqlite(&self, threads: usize, reads: usize) -> Duration {
        side_by_side(threads, |thread, start| {
            let (mut peer, part) =
                (sqlite::shared(&self.sqlite, Mode::Durable), self.part(thread, threads));
            start.wait();
            for at in 0..reads / threads {
                black_box(peer.fetch(part[at % part.len()].id));
            }
        })
    }

    fn write_leafbase(&self, threads: usize, writes: usize, seed: u64) -> Duration {
        side_by_side(threads, |thread, start| {
            let (notes, updates) =
                (self.leafbase.connect(), self.updates(thread, threads, writes, seed));
            start.wait();
            for (id, text) in updates {
                let blocks = vec![BlockPatch::markdown(BlockId::from_bytes(id), text)];
                notes.update_blocks(UpdateBlocks::new(blocks)).expect("an update");
            }
        })
    }

    /// Writers of one process take turns by a lock: SQLite's own makes them sleep.
    fn write_sqlite(&self, threads: usize, writes: usize, seed: u64) -> Duration {
        let turn = Mutex::new(());
        side_by_side(threads, |thread, start| {
            let mut peer = sqlite::shared(&self.sqlite, Mode::Durable);
            let updates = self.updates(thread, threads, writes, seed);
            start.wait();
            for (id, text) in updates {
                let edit = Edit::Update(id, text);
                let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
                peer.apply(&edit, app::Ready::Same, 1);
            }
        })
    }

    /// Both hold the same texts, whoever wrote them.
    fn agree(&self) {
        let (notes, mut sqlite) =
            (self.leafbase.connect(), sqlite::shared(&self.sqlite, Mode::Durable));
        for document in &self.documents {
            let ours = notes
                .fetch(Fetch::new(BlockId::from_bytes(document.id)).with_metadata())
                .expect("a document");
            let texts =
                |fetched: Fetched| fetched.tree().children.into_iter().map(|block| block.markdown);
            assert!(
                texts(Fetched::Leafbase(ours)).eq(texts(sqlite.fetch(document.id))),
                "{:?}",
                document.id
            );
        }
        println!("Both hold the same texts.");
    }
}

/// How long the threads take together, from when all are ready.
fn side_by_side(threads: usize, run: impl Fn(usize, &Barrier) + Sync) -> Duration {
    let start = Barrier::new(threads + 1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn({
                    let (run, start) = (&run, &start);
                    move || run(thread, start)
                })
            })
            .collect();
        start.wait();
        timed(|| threads.into_iter().for_each(|thread| thread.join().expect("a thread"))).0
    })
}
