//! What an answer of the same size costs in spaces of 2,000, 20,000 and 200,000 documents, beside
//! an expert's `SQLite`.
//!
//! `cargo bench -p benches --bench scale` prints the table, names the rows that grow by more than
//! they may, and writes `scale.json` into the target directory. SCALE_ROUNDS changes its length,
//! SCALE_DOCUMENTS the sizes (thousands, with commas between them), SCALE_ONLY keeps the rows whose
//! name has that text.

#[path = "scale/ask.rs"]
mod ask;
#[path = "scale/facts.rs"]
mod facts;
#[path = "scale/leaf.rs"]
mod leaf;
#[path = "scale/plan.rs"]
mod plan;
#[path = "scale/report.rs"]
mod report;
#[path = "scale/sqlite.rs"]
mod sqlite;

use ask::{Peer, Question, WRITES, questions};
use benches::measure::{median, setting, shown, sync_probe, timed};
use benches::ratio::alike;
use benches::saved::{self, grouped};
use benches::workload::Rng;
use facts::{Facts, Target};
use leaf::Leafbase;
use plan::Plan;
use report::{Report, Who};
use sqlite::Sqlite;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Calls that a figure is the median of, in each round: reads, relaxed writes, durable writes.
const CALLS: usize = 40;
const RELAXED: usize = 64;
const DURABLE: usize = 12;

/// Set for the process that builds: the directory and the number of documents.
const BUILD: &str = "SCALE_BUILD";

/// A space of one size, kept by both in this directory.
struct Scale {
    directory: PathBuf,
    facts: Arc<Facts>,
}

struct Bench {
    scales: Vec<Scale>,
    report: Report,
    rng: Rng,
    round: usize,
    only: String,
}

fn main() {
    if let Ok(size) = std::env::var(BUILD) {
        return build(size.parse().expect("a number of documents"));
    }
    let rounds = setting("SCALE_ROUNDS", 5);
    let sizes = std::env::var("SCALE_DOCUMENTS").unwrap_or_else(|_| "2000,20000,200000".to_owned());
    let sizes: Vec<usize> =
        sizes.split(',').map(|size| size.trim().parse().expect("a number of documents")).collect();
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let scales = sizes.iter().map(|size| Scale::new(root.path(), *size)).collect();
    let only = std::env::var("SCALE_ONLY").unwrap_or_default();
    let mut bench = Bench { scales, report: Report::new(&sizes), rng: Rng::new(3), round: 0, only };
    bench.agree();
    let mut probes = Vec::new();
    for round in 0..rounds {
        bench.round = round;
        bench.openings();
        bench.relaxed();
        probes.push(shown(sync_probe(root.path()).expect("probe")));
        bench.durable();
        eprintln!("round {} of {rounds}", round + 1);
    }
    bench.scales.iter().for_each(|scale| scale.leaf(false).check());
    println!("Every space is in order after all rounds.");
    println!("{rounds} rounds; to append 200 bytes and sync them took {}\n", probes.join(", "));
    let results =
        bench.report.results(bench.scales.iter().map(|scale| scale.facts.blocks).collect());
    println!("{}", results.table());
    results.above().for_each(|(row, growth)| println!("{row}: {growth:.2}, above {}", results.bar));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
    saved::save(&target.join("scale.json"), rounds, &bench.only, results).expect("scale.json");
}

/// Builds both spaces in the present directory: in a process of its own, whose memory is not that
/// of the measurement.
fn build(size: usize) {
    let (here, plan) = (Path::new("."), Plan::new(size));
    let (took, facts) = timed(|| leaf::build(here, &plan));
    let (beside, ()) = timed(|| Sqlite::build(here, &plan, &facts));
    std::fs::write("facts.json", serde_json::to_vec(&facts).expect("JSON")).expect("a file");
    println!(
        "{} documents, {} blocks: Leafbase made them in {:.1} s, one call each; SQLite in {:.1} s, in one transaction",
        grouped(size),
        grouped(plan.blocks()),
        took.as_secs_f64(),
        beside.as_secs_f64()
    );
}

impl Scale {
    fn new(root: &Path, size: usize) -> Self {
        let directory = root.join(size.to_string());
        std::fs::create_dir_all(&directory).expect("a directory");
        let mut builder = Command::new(std::env::current_exe().expect("this program"));
        let built = builder
            .env(BUILD, size.to_string())
            .current_dir(&directory)
            .status()
            .expect("a process");
        assert!(built.success(), "a space of {size} documents could not be built");
        let facts = std::fs::read(directory.join("facts.json")).expect("a file");
        Self { directory, facts: Arc::new(serde_json::from_slice(&facts).expect("JSON")) }
    }

    fn documents(&self) -> usize {
        self.facts.documents.len()
    }

    fn leaf(&self, durable: bool) -> Leafbase {
        Leafbase::open(&self.directory, durable, &self.facts)
    }

    fn sqlite(&self, durable: bool) -> Sqlite {
        Sqlite::open(&self.directory, durable, &self.facts)
    }

    fn open(&self, who: Who, durable: bool) -> Box<dyn Peer> {
        match who {
            Who::Leafbase => {
                let mut peer = self.leaf(durable);
                peer.turn_pages();
                Box::new(peer)
            }
            Who::Sqlite => {
                let mut peer = self.sqlite(durable);
                peer.turn_pages();
                Box::new(peer)
            }
        }
    }
}

impl Bench {
    fn wants(&self, row: &str) -> bool {
        row.contains(&self.only)
    }

    /// Sizes and peers in an order that turns with the round.
    fn turn(&self) -> Vec<(usize, Who)> {
        let mut turn: Vec<_> = (0..self.scales.len())
            .flat_map(|at| [(at, Who::Leafbase), (at, Who::Sqlite)])
            .collect();
        let first = self.round % turn.len();
        turn.rotate_left(first);
        turn
    }

    fn open(&self, durable: bool) -> Vec<(usize, Who, Box<dyn Peer>)> {
        self.turn()
            .into_iter()
            .map(|(at, who)| (at, who, self.scales[at].open(who, durable)))
            .collect()
    }

    /// Both give the same answers, and as long ones at every size.
    fn agree(&self) {
        let mut lengths: Vec<Vec<usize>> = Vec::new();
        for scale in &self.scales {
            let mut peers = [scale.open(Who::Leafbase, false), scale.open(Who::Sqlite, false)];
            let answers = questions().into_iter().map(|(row, question)| {
                let [ours, theirs] = peers.each_mut().map(|peer| peer.ask(question).lines());
                alike(&format!("{row}, {} documents", scale.documents()), &ours, &theirs);
                ours.len()
            });
            lengths.push(answers.collect());
            for at in (0..scale.documents()).step_by(97) {
                let [ours, theirs] =
                    peers.each_mut().map(|peer| peer.ask(Question::Fetch(at)).lines());
                alike(&format!("document {at}"), &ours, &theirs);
            }
        }
        for (at, (row, _)) in questions().iter().enumerate() {
            assert!(
                lengths.iter().all(|of| of[at] == lengths[0][at] && of[at] > 0),
                "{row}: not as long everywhere"
            );
        }
        println!("Both give the same answers, which are as long at every size.");
    }

    /// From nothing to the first answer; the file is in memory.
    fn openings(&mut self) {
        let row = "open and list 50";
        if !self.wants(row) {
            return;
        }
        let (_, question) = questions()[0];
        for (at, who) in self.turn() {
            let scale = &self.scales[at];
            let open = || -> Box<dyn Peer> {
                match who {
                    Who::Leafbase => Box::new(scale.leaf(false)),
                    Who::Sqlite => Box::new(scale.sqlite(false)),
                }
            };
            let opened = || {
                let mut peer = open();
                (black_box(peer.ask(question)), peer)
            };
            let samples = (0..5).map(|_| timed(opened).0).collect();
            self.report.record(row, who, at, typical(samples));
        }
    }

    /// Spaces opened anew: first the questions, then the writes.
    fn relaxed(&mut self) {
        let mut peers = self.open(false);
        for (row, question) in questions() {
            self.read(row, &mut peers, question);
        }
        self.any(&mut peers);
        for (row, write) in WRITES {
            if !self.wants(row) {
                continue;
            }
            for (at, who, peer) in &mut peers {
                let targets = self.targets(*at, RELAXED);
                // Once for the pages, which a larger space has more of; then for the work.
                drop(peer.write(write, &targets));
                peer.flush();
                let times = peer.write(write, &targets);
                self.report.record(row, *who, *at, typical(times));
            }
        }
        peers.iter_mut().for_each(|(_, _, peer)| peer.flush());
    }

    fn read(&mut self, row: &str, peers: &mut [(usize, Who, Box<dyn Peer>)], question: Question) {
        if !self.wants(row) {
            return;
        }
        for (at, who, peer) in peers {
            drop(peer.ask(question));
            let samples = (0..CALLS).map(|_| timed(|| drop(black_box(peer.ask(question)))).0);
            self.report.record(row, *who, *at, typical(samples.collect()));
        }
    }

    /// Documents that were not asked for before, whose pages come out of the file, and the same
    /// again.
    fn any(&mut self, peers: &mut [(usize, Who, Box<dyn Peer>)]) {
        let rows = ["fetch any document, first time", "fetch any document, again"];
        for (at, who, peer) in peers {
            let size = self.scales[*at].documents();
            let some: Vec<usize> = (0..CALLS).map(|_| self.rng.below(size)).collect();
            for row in rows {
                if !self.wants(row) {
                    continue;
                }
                let samples = some
                    .iter()
                    .map(|at| timed(|| drop(black_box(peer.ask(Question::Fetch(*at))))).0);
                self.report.record(row, *who, *at, typical(samples.collect()));
            }
        }
    }

    fn durable(&mut self) {
        let mut peers = self.open(true);
        for (row, write) in WRITES {
            let row = format!("durable: {row}");
            if !self.wants(&row) {
                continue;
            }
            for (at, who, peer) in &mut peers {
                let targets = self.targets(*at, DURABLE);
                let times = peer.write(write, &targets);
                self.report.record(
                    &row,
                    *who,
                    *at,
                    median(times.into_iter().map(|took| took.as_secs_f64() * 1e6).collect()),
                );
            }
        }
    }

    /// As many at every size, and the same in every round: evenly among those that there are.
    fn targets(&self, at: usize, count: usize) -> Vec<Target> {
        let all = &self.scales[at].facts.targets;
        (0..count).map(|place| all[place * all.len() / count]).collect()
    }
}

/// The median in microseconds.
fn typical(samples: Vec<Duration>) -> f64 {
    median(samples.into_iter().map(|took| took.as_secs_f64() * 1e6).collect())
}
