//! Leafbase, through its public interface, beside an expert's `SQLite` that does the same work, and
//! beside floors.
//!
//! `cargo bench -p benches --bench peers` prints the tables and writes `peers.json` into the target
//! directory. PEERS_ROUNDS, PEERS_DOCUMENTS,
//! PEERS_LARGE and PEERS_CHECKS change its size, PEERS_CORPUS names a directory of markdown,
//! PEERS_ONLY keeps the operations whose name has that text. Several numbers of documents, with
//! commas between them, are spaces whose times for the same answer are compared:
//! `peers-growth.json`.

#[path = "peers/app.rs"]
mod app;
#[path = "peers/check.rs"]
mod check;
#[path = "peers/floor.rs"]
mod floor;
#[path = "peers/growth.rs"]
mod growth;
#[path = "peers/keys.rs"]
mod keys;
#[path = "peers/leaf.rs"]
mod leaf;
#[path = "peers/markdown.rs"]
mod markdown;
#[path = "peers/report.rs"]
mod report;
#[path = "peers/space.rs"]
mod space;
#[path = "peers/sqlite.rs"]
mod sqlite;

use app::{Document, Edit, File, Mode, Open, Peer, Ready};
use benches::cold;
use benches::measure::{hundredth, median, setting, shown, sync_probe, timed};
use benches::saved;
use benches::workload::{Generator, Id};
use floor::Floor;
use markdown::Texts;
use report::{Column, Report};
use space::{Space, Work};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

type Entry = (&'static str, Column, Open);

const PEERS: &[Entry] = &[
    ("Leafbase", Column::Leafbase, leaf::open),
    ("SQLite", Column::Sqlite, sqlite::exclusive),
    ("SQLite, file shared", Column::SharedSqlite, sqlite::shared),
];
/// Writes that a relaxed figure is the mean of.
const BATCH: usize = 256;
/// Durable edits of a round: enough for the slowest hundredth.
const SINGLE: usize = 100;
/// Durable batches of a round.
const BATCHES: usize = 15;
/// Updates between two flushes in the row that counts the flush, too.
const SUSTAINED: usize = 2_000;

struct Bench {
    root: tempfile::TempDir,
    /// Who takes part.
    entries: &'static [Entry],
    report: Report,
    space: Space,
    make: Generator,
    durable: Vec<Box<dyn Peer>>,
    relaxed: Vec<Box<dyn Peer>>,
    floor: Floor,
    round: usize,
    only: String,
}

fn main() {
    let rounds = setting("PEERS_ROUNDS", 7);
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let checked: Vec<(&str, Open)> =
        PEERS[..=1].iter().map(|(name, _, open)| (*name, *open)).collect();
    check::check(&checked, root.path(), setting("PEERS_CHECKS", 250));
    println!(
        "All peers give the same trees after the same edits, before and after they are opened anew."
    );

    let sizes = std::env::var("PEERS_DOCUMENTS").unwrap_or_else(|_| "1000".to_owned());
    let sizes: Vec<usize> =
        sizes.split(',').map(|size| size.trim().parse().expect("a number of documents")).collect();
    if sizes.len() > 1 {
        return growth::measure(rounds, &sizes);
    }

    let mut make = Generator::new(7);
    let space = apart(|| Space::new(&mut make, sizes[0], setting("PEERS_LARGE", 10_000)));
    let corpus = std::env::var_os("PEERS_CORPUS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"),
        PathBuf::from,
    );
    let files = markdown::corpus(&corpus, &mut make);
    let mut texts = vec![Texts::generated(&space.all())];
    if !files.is_empty() {
        texts.push(Texts::of_corpus(&files));
    }

    let mut bench = Bench::new(root, PEERS, space, make);
    let mut probes = Vec::new();
    for round in 0..rounds {
        bench.round = round;
        bench.reads();
        probes.push(sync_probe(bench.root.path()).expect("probe"));
        bench.durable_edits();
        bench.relaxed_edits();
        bench.sustained_edits();
        bench.reads_over_writes();
        bench.agree();
        bench.imports();
        if round % 2 == 0 && !files.is_empty() {
            bench.corpus_imports(&files);
        }
        bench.openings();
        if bench.wants("markdown") {
            texts.iter().for_each(|texts| texts.measure(round, &mut bench.report));
        }
        eprintln!("round {} of {rounds}", round + 1);
    }

    bench.sizes();
    if bench.wants(keys::OP) {
        println!("\n{}", keys::measure(bench.root.path()));
    }

    let (blocks, bytes) = markdown::size(&files);
    println!(
        "\n{} blocks generated; corpus: {} files, {bytes} bytes, {blocks} blocks",
        bench.space.blocks(),
        files.len()
    );
    let probes: Vec<String> = probes.into_iter().map(shown).collect();
    println!("{rounds} rounds; to append 200 bytes and sync them took {}\n", probes.join(", "));
    let results = bench.report.results();
    println!("{}", results.table());
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
    saved::save(&target.join("peers.json"), rounds, &bench.only, results).expect("peers.json");
}

fn bytes_below(path: &Path) -> u64 {
    let Ok(files) = std::fs::read_dir(path) else { return path.metadata().expect("a file").len() };
    files.map(|file| bytes_below(&file.expect("a name").path())).sum()
}

fn directory(root: &Path, name: &str) -> PathBuf {
    let path = root.join(name.replace([' ', ','], "-"));
    std::fs::create_dir_all(&path).expect("a directory");
    path
}

/// What `make` makes, by a thread of its own. The documents of a large space are a million small
/// pieces of memory: most allocators keep apart what different threads take, and so no peer gets
/// what is free between those pieces.
fn apart<T: Send>(make: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(make).join().expect("it is made"))
}

/// A space with these documents, made and closed.
fn build(open: Open, path: &Path, mode: Mode, documents: &Edit, now: i64) {
    let mut peer = open(path, mode);
    let ready = peer.ready(documents);
    peer.apply(documents, ready, now);
    peer.flush();
}

impl Bench {
    fn new(
        root: tempfile::TempDir,
        entries: &'static [Entry],
        space: Space,
        mut make: Generator,
    ) -> Self {
        let now = make.now() as i64;
        let floor = apart(|| {
            let all = Edit::Import(space.all());
            for (name, _, open) in entries.iter().copied() {
                let path = directory(root.path(), name);
                build(open, &path, Mode::Relaxed, &all, now);
                for copied in ["cold", "relaxed"] {
                    cold::copy(&path, &directory(root.path(), &format!("{name} {copied}")))
                        .expect("a copy");
                }
            }
            drop(floor::load(
                &directory(root.path(), "floor cold"),
                &floor::all_rows(&space.all(), 1),
            ));
            Floor::new(&directory(root.path(), "floor"), &space.all())
        });
        let (mut durable, mut relaxed) = (Vec::new(), Vec::new());
        for (name, _, open) in entries.iter().copied() {
            durable.push(open(&directory(root.path(), name), Mode::Durable));
            relaxed.push(open(&directory(root.path(), &format!("{name} relaxed")), Mode::Relaxed));
        }
        let only = std::env::var("PEERS_ONLY").unwrap_or_default();
        Self {
            root,
            entries,
            report: Report::default(),
            space,
            make,
            durable,
            relaxed,
            floor,
            round: 0,
            only,
        }
    }

    fn wants(&self, op: &str) -> bool {
        op.contains(&self.only) || self.only.contains(op)
    }

    /// Peers in an order that turns with the round.
    fn turn(&self) -> Vec<usize> {
        (0..self.entries.len()).map(|at| (at + self.round) % self.entries.len()).collect()
    }

    fn peers(&mut self, mode: Mode) -> &mut Vec<Box<dyn Peer>> {
        if mode == Mode::Durable { &mut self.durable } else { &mut self.relaxed }
    }

    /// A round's sample is the median of its calls.
    fn read(
        &mut self,
        op: &str,
        mode: Mode,
        targets: &[Id],
        run: impl Fn(&mut dyn Peer, Id),
        floor: impl Fn(&Floor, Id),
    ) {
        if !self.wants(op) {
            return;
        }
        let typical = |samples: Vec<Duration>| {
            median(samples.into_iter().map(|took| took.as_secs_f64() * 1e9).collect())
        };
        for at in self.turn() {
            let peer = self.peers(mode)[at].as_mut();
            run(peer, targets[0]);
            let samples = targets.iter().map(|target| timed(|| run(peer, *target)).0).collect();
            self.report.record_nanos(op, self.entries[at].1, typical(samples));
        }
        let samples =
            targets.iter().map(|target| timed(|| floor(&self.floor, *target)).0).collect();
        self.report.record_nanos(op, Column::Floor, typical(samples));
    }

    fn reads(&mut self) {
        let fetch = |peer: &mut dyn Peer, id| drop(black_box(peer.fetch(id)));
        let fetch_floor = |floor: &Floor, id| drop(black_box(floor.fetch(id)));
        let some = |make: &mut Generator, from: &[Document]| -> Vec<Id> {
            (0..150).map(|_| make.rng.pick(from).id).collect()
        };
        let flat = some(&mut self.make, &self.space.flat);
        self.read("fetch 100 blocks", Mode::Durable, &flat, fetch, fetch_floor);
        let pages = some(&mut self.make, &self.space.pages);
        self.read("fetch 100 blocks over 5 pages", Mode::Durable, &pages, fetch, fetch_floor);
        let large = [self.space.large.id; 7];
        self.read("fetch 10,000 blocks", Mode::Durable, &large, fetch, fetch_floor);
        let block = |peer: &mut dyn Peer, id| drop(black_box(peer.block(id)));
        let block_floor = |floor: &Floor, id| drop(black_box(floor.block(id)));
        let of = |peer: &mut dyn Peer, id| {
            black_box(peer.document_of(id));
        };
        let of_floor = |floor: &Floor, id| {
            black_box(floor.document_of(id));
        };
        // Leafbase keeps places that it has looked up: the first time and the next are told apart.
        let ids = self.space.fresh(&mut self.make, 1000);
        self.read("block by ID", Mode::Durable, &ids, block, block_floor);
        self.read("block by ID, again", Mode::Durable, &ids, block, block_floor);
        let ids = self.space.fresh(&mut self.make, 1000);
        self.read("block to document", Mode::Durable, &ids, of, of_floor);
        self.read("block to document, again", Mode::Durable, &ids, of, of_floor);
    }

    /// Reads while relaxed writes wait to be written to the file.
    fn reads_over_writes(&mut self) {
        let (small, block) =
            ("fetch 100 blocks over 500 relaxed updates", "block by ID over 500 relaxed updates");
        if !self.wants(small) && !self.wants(block) {
            return;
        }
        let updates = self.space.updates(&mut self.make, 500);
        self.settle(Mode::Relaxed);
        self.apply(Mode::Relaxed, &updates.edits);
        let flat: Vec<Id> = (0..150).map(|_| self.make.rng.pick(&self.space.flat).id).collect();
        self.read(
            small,
            Mode::Relaxed,
            &flat,
            |peer, id| drop(black_box(peer.fetch(id))),
            |floor, id| drop(black_box(floor.fetch(id))),
        );
        let ids: Vec<Id> = (0..1000).map(|_| self.space.text(&mut self.make)).collect();
        self.read(
            block,
            Mode::Relaxed,
            &ids,
            |peer, id| drop(black_box(peer.block(id))),
            |floor, id| drop(black_box(floor.block(id))),
        );
    }

    fn settle(&mut self, mode: Mode) {
        self.peers(mode).iter_mut().for_each(|peer| peer.flush());
    }

    /// Instants that no edit had before.
    fn instants(&mut self, count: usize) -> i64 {
        let first = self.make.now();
        for _ in 1..count {
            self.make.now();
        }
        first as i64
    }

    /// Edits that are not measured.
    fn apply(&mut self, mode: Mode, edits: &[Edit]) {
        let first = self.instants(edits.len());
        for peer in self.peers(mode) {
            for (edit, now) in edits.iter().zip(first..) {
                let ready = peer.ready(edit);
                peer.apply(edit, ready, now);
            }
        }
    }

    /// Each call its own sample: the round's is their median.
    fn durable(&mut self, op: &str, work: &Work) {
        if !self.wants(op) {
            return;
        }
        self.apply(Mode::Durable, &work.before);
        let first = self.instants(work.edits.len());
        for at in self.turn() {
            let peer = &mut self.durable[at];
            let mut samples = Vec::with_capacity(work.edits.len());
            for (edit, now) in work.edits.iter().zip(first..) {
                let ready = peer.ready(edit);
                samples.push(timed(|| peer.apply(edit, ready, now)).0.as_secs_f64() * 1e9);
            }
            self.record_calls(op, self.entries[at].1, samples);
        }
        let floor = &mut self.floor;
        // A batch weighs as much as its edits together.
        let took = work
            .weights
            .chunks(work.weights.len() / work.edits.len())
            .map(|edits| timed(|| floor.write(true, edits)).0.as_secs_f64() * 1e9)
            .collect();
        self.record_calls(op, Column::Floor, took);
        self.floor.renew();
        self.apply(Mode::Durable, &work.after);
    }

    /// Their median, and what one in a hundred takes at least.
    fn record_calls(&mut self, op: &str, column: Column, samples: Vec<f64>) {
        self.report.record_nanos(op, column, median(samples.clone()));
        if samples.len() >= SINGLE {
            self.report.record_nanos(&format!("{op}, 99th percentile"), column, hundredth(samples));
        }
    }

    /// The mean of a batch, which begins with nothing waiting; with what comes after each write,
    /// and at the end.
    fn relaxed(
        &mut self,
        op: &str,
        work: &Work,
        each: impl Fn(&mut dyn Peer, &Edit),
        end: impl Fn(&mut dyn Peer),
    ) {
        if !self.wants(op) {
            return;
        }
        self.apply(Mode::Relaxed, &work.before);
        self.settle(Mode::Relaxed);
        let first = self.instants(work.edits.len());
        let count = work.edits.len() as f64;
        for at in self.turn() {
            let peer = self.relaxed[at].as_mut();
            let ready: Vec<Ready> = work.edits.iter().map(|edit| peer.ready(edit)).collect();
            let (took, ()) = timed(|| {
                for ((edit, ready), now) in work.edits.iter().zip(ready).zip(first..) {
                    peer.apply(edit, ready, now);
                    each(peer, edit);
                }
                end(peer);
            });
            self.report.record_nanos(op, self.entries[at].1, took.as_secs_f64() * 1e9 / count);
        }
        let (took, ()) = timed(|| self.floor.write(false, &work.weights));
        self.report.record_nanos(op, Column::Floor, took.as_secs_f64() * 1e9 / count);
        self.floor.renew();
        self.apply(Mode::Relaxed, &work.after);
    }

    fn durable_edits(&mut self) {
        for (op, work) in self.space.work(&mut self.make, SINGLE) {
            self.durable(&format!("durable {op}"), &work);
        }
        for (op, work) in self.space.batched(&mut self.make, BATCHES) {
            self.durable(&format!("durable {op}"), &work);
        }
    }

    fn relaxed_edits(&mut self) {
        let nothing = |_: &mut dyn Peer, _: &Edit| ();
        for (op, work) in self.space.work(&mut self.make, BATCH) {
            self.relaxed(&format!("relaxed {op}"), &work, nothing, |_| ());
        }
        let updates = self.space.updates(&mut self.make, BATCH);
        let read_back = |peer: &mut dyn Peer, edit: &Edit| {
            if let Edit::Update(id, _) = edit {
                drop(black_box(peer.block(*id)));
            }
        };
        self.relaxed("relaxed update, then read it back", &updates, read_back, |_| ());
    }

    fn sustained_edits(&mut self) {
        let updates = self.space.updates(&mut self.make, SUSTAINED);
        self.relaxed(
            "2,000 relaxed updates and a flush, each",
            &updates,
            |_, _| (),
            |peer| peer.flush(),
        );
    }

    /// After the round's edits all still hold the same.
    fn agree(&mut self) {
        for document in self.space.sample() {
            for mode in [Mode::Durable, Mode::Relaxed] {
                let trees: Vec<_> = self
                    .peers(mode)
                    .iter_mut()
                    .map(|peer| check::normal(peer.fetch(document).tree()))
                    .collect();
                for tree in &trees[1..] {
                    assert!(
                        tree == &trees[0],
                        "peers differ: {}",
                        check::difference(&trees[0], tree)
                    );
                }
            }
        }
    }

    /// Into a new space; safe from a loss of power at the end.
    fn import(&mut self, op: &str, edit: &Edit) -> Vec<(tempfile::TempDir, Box<dyn Peer>)> {
        let now = self.make.now() as i64;
        let mut made = Vec::new();
        for at in self.turn() {
            let directory = tempfile::tempdir_in(self.root.path()).expect("a directory");
            let (_, column, open) = self.entries[at];
            // Leafbase's calls share commits until a flush, `SQLite` does everything in one
            // transaction.
            let mode = if column == Column::Leafbase { Mode::Relaxed } else { Mode::Durable };
            let mut peer = open(directory.path(), mode);
            let ready = peer.ready(edit);
            let (took, ()) = timed(|| {
                peer.apply(edit, ready, now);
                peer.flush();
            });
            self.report.record(op, column, took);
            made.push((directory, peer));
        }
        made
    }

    fn imports(&mut self) {
        let op = "import of the generated space";
        if !self.wants(op) {
            return;
        }
        drop(self.import(op, &Edit::Import(self.space.all())));
        self.import_floor(op, &self.space.all());
    }

    fn import_floor(&mut self, op: &str, documents: &[Document]) {
        let directory = tempfile::tempdir_in(self.root.path()).expect("a directory");
        let rows = floor::all_rows(documents, 1);
        let (took, database) = timed(|| floor::load(directory.path(), &rows));
        drop(database);
        self.report.record(op, Column::Floor, took);
    }

    fn corpus_imports(&mut self, files: &[File]) {
        let op = "import of the corpus, from markdown";
        if self.wants(op) {
            let made = self.import(op, &Edit::ImportMarkdown(files.to_vec()));
            if self.round == 0 {
                self.compare(files, made);
            }
            let now = self.make.now() as i64;
            let documents: Vec<Document> =
                files.iter().map(|file| markdown::document(file, now)).collect();
            self.import_floor(op, &documents);
        }
    }

    fn compare(&self, files: &[File], mut made: Vec<(tempfile::TempDir, Box<dyn Peer>)>) {
        for file in files {
            let trees: Vec<_> = made
                .iter_mut()
                .map(|(_, peer)| check::normal(peer.fetch(file.id).tree()))
                .collect();
            for tree in &trees[1..] {
                let title = &file.title;
                assert!(
                    tree == &trees[0],
                    "peers differ in {title}: {}",
                    check::difference(&trees[0], tree)
                );
            }
        }
    }

    /// What the files take that had all durable edits, once what is free in them was given back.
    fn sizes(&mut self) {
        if !self.wants(report::SIZE) {
            return;
        }
        for (mut peer, (name, column, _)) in self.durable.drain(..).zip(self.entries) {
            peer.compact();
            drop(peer);
            self.report.record_nanos(
                report::SIZE,
                *column,
                bytes_below(&directory(self.root.path(), name)) as f64,
            );
        }
    }

    fn openings(&mut self) {
        let fetched = |open: Open, path: &Path, id: Id| {
            let mut peer = open(path, Mode::Cold);
            let tree = black_box(peer.fetch(id));
            (peer, tree)
        };
        for (op, evicted) in
            [("cold open and first fetch", true), ("open and first fetch, file in memory", false)]
        {
            if !self.wants(op) {
                continue;
            }
            let ids: Vec<Id> = (0..5).map(|_| self.make.rng.pick(&self.space.flat).id).collect();
            for at in self.turn() {
                let (name, column, open) = self.entries[at];
                let path = directory(self.root.path(), &format!("{name} cold"));
                let mut samples = Vec::new();
                if !evicted {
                    // What an opening reads for the first time since the file was evicted would
                    // come from the disk.
                    cold::warm(&path).expect("warm");
                }
                for id in &ids {
                    if evicted {
                        cold::evict(&path).expect("evict");
                    }
                    samples.push(timed(|| fetched(open, &path, *id)).0.as_secs_f64() * 1e9);
                }
                self.report.record_nanos(op, column, median(samples));
            }
            let path = directory(self.root.path(), "floor cold");
            let mut samples = Vec::new();
            if !evicted {
                cold::warm(&path).expect("warm");
            }
            for id in &ids {
                if evicted {
                    cold::evict(&path).expect("evict");
                }
                samples.push(timed(|| black_box(floor::open(&path, *id))).0.as_secs_f64() * 1e9);
            }
            self.report.record_nanos(op, Column::Floor, median(samples));
        }
    }
}
