//! Two related collections, beside the same in an expert's `SQLite`: typed tables with indexes,
//! join tables for what is many.
//!
//! `cargo bench -p benches --bench collections` prints the table of ratios and writes
//! `collections.json` into the target directory. COLLECTIONS_ROUNDS, COLLECTIONS_ITEMS and
//! COLLECTIONS_LARGE change its size, COLLECTIONS_ONLY keeps the rows whose name has that text. Run
//! as a test (`cargo test -p benches --bench collections`) it is small and over in a moment.

#[path = "collections/ask.rs"]
mod ask;
#[path = "collections/leaf.rs"]
mod leaf;
#[path = "collections/plan.rs"]
mod plan;
#[path = "collections/report.rs"]
mod report;
#[path = "collections/sqlite.rs"]
mod sqlite;

use ask::{Edit, Mode, Open, Peer, Question, Ready};
use benches::cold;
use benches::comparison::Comparison;
use benches::measure::{setting, shown, sync_probe, timed};
use benches::ratio::{alike, typical};
use benches::saved;
use benches::workload::Rng;
use plan::Plan;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The first is compared with the second.
const PEERS: [(&str, Open); 2] = [("leafbase", leaf::open), ("sqlite", sqlite::open)];
/// Items that a request adds.
const BATCH: usize = 100;
/// Relaxed writes that a figure is the mean of.
const RELAXED: usize = 256;
/// Durable writes that a figure is the median of.
const DURABLE: usize = 24;

/// A space that is written to, by both in the same way.
struct Side {
    peers: Vec<Box<dyn Peer>>,
    /// What is in it by now.
    plan: Plan,
}

struct Bench {
    root: tempfile::TempDir,
    report: Comparison,
    sides: [Side; 2],
    /// Asked, and never written to.
    large: Vec<Box<dyn Peer>>,
    plan: Plan,
    rng: Rng,
    round: usize,
    only: String,
}

type Edits = fn(&mut Plan, &mut Rng, usize) -> Vec<Edit>;

/// An item is changed, or what it is related to.
const EDITS: [(&str, Edits); 3] = [
    ("update one item", ask::updates),
    ("relation set at the end that owns it", ask::relations),
    ("relation set at the other end, of 20", ask::inverse_relations),
];

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let (rounds, items, large) = if measured { (5, 10_000, 100_000) } else { (1, 300, 1_000) };
    let rounds = setting("COLLECTIONS_ROUNDS", rounds);
    let (items, large) = (setting("COLLECTIONS_ITEMS", items), setting("COLLECTIONS_LARGE", large));
    let mut bench = Bench::new(items, large);
    bench.agree();
    let mut probes = Vec::new();
    for round in 0..rounds {
        bench.round = round;
        bench.reads();
        probes.push(shown(sync_probe(bench.root.path()).expect("probe")));
        bench.edits();
        bench.adds();
        bench.sides.iter_mut().for_each(Side::agree);
        eprintln!("round {} of {rounds}", round + 1);
    }
    bench.sides.iter().for_each(|side| side.peers.iter().for_each(|peer| peer.check()));
    println!(
        "Both gave the same items before, after each round and to each edit; the spaces are in order."
    );
    println!("{rounds} rounds; to append 200 bytes and sync them took {}\n", probes.join(", "));
    let results = bench.report.results();
    println!("{}", results.table());
    if measured {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
        saved::save(&target.join("collections.json"), rounds, &bench.only, results)
            .expect("collections.json");
    }
}

fn directory(root: &Path, name: &str) -> PathBuf {
    let path = root.join(name);
    std::fs::create_dir_all(&path).expect("a directory");
    path
}

fn apply(peer: &mut dyn Peer, edit: &Edit) {
    let ready = peer.ready(edit);
    drop(peer.apply(edit, ready));
}

/// Puts everything into a new space.
fn fill(peer: &mut dyn Peer, plan: &Plan) {
    for projects in plan.projects.chunks(BATCH) {
        apply(peer, &Edit::AddProjects(projects.to_vec()));
    }
    for tasks in plan.tasks.chunks(BATCH) {
        apply(peer, &Edit::Add(tasks.to_vec()));
    }
    peer.flush();
}

/// Makes the space of this name, and what it is opened with.
fn build(root: &Path, name: &str, plan: &Plan) -> Vec<PathBuf> {
    let made = PEERS.iter().map(|(who, open)| {
        let path = directory(root, &format!("{who}-{name}"));
        let (took, ()) = timed(|| fill(open(&path, Mode::Relaxed).as_mut(), plan));
        println!(
            "{who}: {} items in batches of {BATCH} in {:.1} s",
            plan.tasks.len(),
            took.as_secs_f64()
        );
        path
    });
    made.collect()
}

fn open_all(paths: &[PathBuf], mode: Mode) -> Vec<Box<dyn Peer>> {
    PEERS.iter().zip(paths).map(|((_, open), path)| open(path, mode)).collect()
}

impl Side {
    /// Both hold the same, and tell it alike.
    fn agree(&mut self) {
        for question in [Question::Tasks(None), Question::Projects] {
            let answers: Vec<_> =
                self.peers.iter_mut().map(|peer| peer.ask(question).lines()).collect();
            alike(&format!("{question:?}"), &answers[0], &answers[1]);
        }
        let titles: Vec<_> = self.plan.tasks.iter().map(|task| &task.title).collect();
        let told = self.peers[0].ask(Question::Tasks(None)).lines();
        assert!(
            titles.iter().zip(&told).all(|(title, line)| line.starts_with(title.as_str())),
            "not as planned"
        );
    }
}

impl Bench {
    fn new(items: usize, large: usize) -> Self {
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let plan = Plan::new(items);
        let relaxed = build(root.path(), "relaxed", &plan);
        let durable: Vec<_> =
            PEERS.iter().map(|(who, _)| root.path().join(format!("{who}-durable"))).collect();
        for (from, to) in relaxed.iter().zip(&durable) {
            cold::copy(from, to).expect("a copy");
        }
        let side =
            |mode, paths: &[PathBuf]| Side { peers: open_all(paths, mode), plan: plan.clone() };
        let mut sides = [side(Mode::Relaxed, &relaxed), side(Mode::Durable, &durable)];
        sides.iter_mut().for_each(Side::agree);
        let paths = build(root.path(), "large", &Plan::new(large));
        let mut large = open_all(&paths, Mode::Relaxed);
        large.iter_mut().for_each(|peer| peer.settle());
        let only = std::env::var("COLLECTIONS_ONLY").unwrap_or_default();
        Self {
            root,
            report: report::report(),
            sides,
            large,
            plan,
            rng: Rng::new(5),
            round: 0,
            only,
        }
    }

    fn wants(&self, row: &str) -> bool {
        row.contains(&self.only)
    }

    /// Peers in an order that turns with the round.
    fn turn(&self) -> [usize; 2] {
        [self.round % 2, (self.round + 1) % 2]
    }

    /// Both give the same answers, and some.
    fn agree(&mut self) {
        let asked = ask::queries().into_iter().map(|(_, question, _)| question);
        for question in asked.chain(ask::others()) {
            let answers: Vec<_> =
                self.large.iter_mut().map(|peer| peer.ask(question).lines()).collect();
            alike(&format!("{question:?}"), &answers[0], &answers[1]);
            assert!(!answers[0].is_empty(), "{question:?}: nothing");
        }
    }

    fn reads(&mut self) {
        let items = self.plan.tasks.len();
        let (all, some) =
            (format!("get all {items} items, depth 0"), "get the first 1,000 items, depth 0");
        let small =
            [(all.as_str(), Question::Tasks(None), 7), (some, Question::Tasks(Some(1_000)), 20)];
        for (row, question, calls) in small {
            self.read(row, question, calls, false);
        }
        for (row, question, calls) in ask::queries() {
            self.read(row, question, calls, true);
        }
    }

    /// A round's sample is the median of its calls.
    fn read(&mut self, row: &str, question: Question, calls: usize, is_large: bool) {
        if !self.wants(row) {
            return;
        }
        for at in self.turn() {
            let peer = if is_large { &mut self.large[at] } else { &mut self.sides[0].peers[at] };
            drop(peer.ask(question));
            let samples = (0..calls).map(|_| timed(|| drop(black_box(peer.ask(question)))).0);
            self.report.record(row, at, typical(samples));
        }
    }

    fn edits(&mut self) {
        for (name, edits) in EDITS {
            self.relaxed(&format!("relaxed: {name}"), edits);
        }
        for (name, edits) in EDITS {
            self.durable(&format!("durable: {name}"), edits);
        }
    }

    /// The mean of a batch, which begins with nothing waiting and syncs nothing.
    fn relaxed(&mut self, row: &str, edits: Edits) {
        if !self.wants(row) {
            return;
        }
        let edits = edits(&mut self.sides[0].plan, &mut self.rng, RELAXED);
        for at in self.turn() {
            let peer = self.sides[0].peers[at].as_mut();
            peer.flush();
            let ready: Vec<Ready> = edits.iter().map(|edit| peer.ready(edit)).collect();
            let write = |(edit, ready): (&Edit, Ready)| drop(black_box(peer.apply(edit, ready)));
            let (took, ()) = timed(|| edits.iter().zip(ready).for_each(write));
            self.report.record(row, at, took.as_secs_f64() * 1e9 / edits.len() as f64);
        }
    }

    /// Each call its own sample: the round's is their median. Both give the same replies.
    fn durable(&mut self, row: &str, edits: Edits) {
        if !self.wants(row) {
            return;
        }
        let edits = edits(&mut self.sides[1].plan, &mut self.rng, DURABLE);
        let mut replies = [vec![], vec![]];
        for at in self.turn() {
            let peer = self.sides[1].peers[at].as_mut();
            let mut times: Vec<Duration> = Vec::with_capacity(edits.len());
            for edit in &edits {
                let ready = peer.ready(edit);
                let (took, reply) = timed(|| peer.apply(edit, ready));
                times.push(took);
                replies[at].extend(reply.lines());
            }
            self.report.record(row, at, typical(times));
        }
        alike(row, &replies[0], &replies[1]);
    }

    /// Into a new space that has the projects; all is safe from a loss of power at the end.
    fn adds(&mut self) {
        for (mode, name) in [(Mode::Relaxed, "relaxed, with a flush"), (Mode::Durable, "durable")] {
            let row = format!("{name}: add {} items, {BATCH} at a time", self.plan.tasks.len());
            if !self.wants(&row) {
                continue;
            }
            for at in self.turn() {
                let directory = tempfile::tempdir_in(self.root.path()).expect("a directory");
                let mut peer = PEERS[at].1(directory.path(), mode);
                self.report.record(&row, at, add(peer.as_mut(), &self.plan));
            }
        }
    }
}

/// Nanoseconds to add the tasks.
fn add(peer: &mut dyn Peer, plan: &Plan) -> f64 {
    fill(peer, &Plan { projects: plan.projects.clone(), tasks: Vec::new() });
    let edits: Vec<Edit> =
        plan.tasks.chunks(BATCH).map(|tasks| Edit::Add(tasks.to_vec())).collect();
    let ready: Vec<Ready> = edits.iter().map(|edit| peer.ready(edit)).collect();
    let (took, ()) = timed(|| {
        edits.iter().zip(ready).for_each(|(edit, ready)| drop(black_box(peer.apply(edit, ready))));
        peer.flush();
    });
    took.as_secs_f64() * 1e9
}
