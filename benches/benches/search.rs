//! The searches beside `SQLite` with FTS5, and beside bare tantivy as a floor.
//!
//! `cargo bench -p benches --bench search` prints the table of ratios and writes `search.json` into
//! the target directory; searches by vectors, beside a loop over their bytes, have a table of their
//! own and `vectors.json`. SEARCH_BLOCKS (100,000), SEARCH_ROUNDS and SEARCH_IMPORTS change its
//! size, SEARCH_ONLY keeps the rows whose name has that text: `vectors` those by vectors. Run as a
//! test (`cargo test -p benches --bench search`) it is small and over in a moment.

#[path = "search/bare.rs"]
mod bare;
#[path = "search/leaf.rs"]
mod leaf;
#[path = "search/peer.rs"]
mod peer;
#[path = "search/plan.rs"]
mod plan;
#[path = "search/report.rs"]
mod report;
#[path = "search/sqlite.rs"]
mod sqlite;
#[path = "search/vectors.rs"]
mod vectors;

use benches::measure::{setting, shown, sync_probe, timed};
use benches::ratio::{alike, typical};
use benches::saved;
use peer::{Build, Peer};
use plan::{Plan, Question, Row};
use report::{BARE, BY_BLOCK, BY_DOCUMENT, LEAFBASE, PEERS, Report, STEMS};
use sqlite::{Kind, Sqlite};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A sample is the median of so many calls, fewer if they take long.
const CALLS: usize = 21;
const LONG: Duration = Duration::from_millis(250);
/// Edits, each followed by a search, that a sample is the median of.
const EDITS: usize = 32;

type Peers = Vec<(usize, Box<dyn Peer>)>;

/// The row of a search whose only hit is a block three quarters into the document.
const RARE_IN_LARGE: &str = "a rare word in a document of 10,000 blocks";

fn rare_in_large() -> Question {
    Question::Words(vec!["crystallize".to_owned()])
}

struct Bench {
    root: tempfile::TempDir,
    report: Report,
    plan: Plan,
    peers: Peers,
    large: Peers,
    /// Words that were made up so far.
    unheard: usize,
    round: usize,
    only: String,
    /// Whether some questions may have no answer.
    may_be_none: bool,
}

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let (rounds, blocks, large, imports) =
        if measured { (5, 100_000, plan::LARGE, 5) } else { (1, 4_000, 1_000, 1) };
    let (rounds, blocks) = (setting("SEARCH_ROUNDS", rounds), setting("SEARCH_BLOCKS", blocks));
    let imports = setting("SEARCH_IMPORTS", imports);
    let only = std::env::var("SEARCH_ONLY").unwrap_or_default();
    if only.is_empty() || only == VECTORS {
        vectors(measured, blocks / plan::BLOCKS, rounds);
    }
    if only == VECTORS {
        return;
    }
    let mut bench = Bench::new(blocks / plan::BLOCKS, large);
    // The rarest words are in no document of a small space.
    bench.may_be_none = !measured;
    bench.agree();
    let mut probes = Vec::new();
    for round in 0..rounds {
        bench.round = round;
        bench.questions();
        bench.within();
        probes.push(shown(sync_probe(bench.root.path()).expect("probe")));
        bench.edits();
        if (1..imports).contains(&round) {
            bench.import();
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    bench.agree();
    bench.openings(if measured { 5 } else { 1 });
    println!("All gave the same documents before and after.");
    println!("{rounds} rounds; to append 200 bytes and sync them took {}\n", probes.join(", "));
    let results = bench.report.results();
    println!("{}", results.table());
    if measured {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
        saved::save(&target.join("search.json"), rounds, &bench.only, results)
            .expect("search.json");
    }
}

/// What SEARCH_ONLY says for the rows of vectors alone.
const VECTORS: &str = "vectors";

/// Searches by vectors, in a table of their own.
fn vectors(measured: bool, documents: usize, rounds: usize) {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let results = vectors::measure(root.path(), documents, rounds).results();
    println!("{}", results.table());
    if measured {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
        saved::save(&target.join("vectors.json"), rounds, "", results).expect("vectors.json");
    }
}

fn directory(root: &Path, who: usize, name: &str) -> PathBuf {
    let path = root.join(format!("{who}-{name}"));
    std::fs::create_dir_all(&path).expect("a directory");
    path
}

/// Bytes of the files in a directory and those below.
fn bytes(directory: &Path) -> u64 {
    let entries =
        std::fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry"));
    let size = |entry: std::fs::DirEntry| match entry.metadata().expect("a file") {
        known if known.is_dir() => bytes(&entry.path()),
        known => known.len(),
    };
    entries.map(size).sum()
}

fn boxed<P: Peer + 'static>(build: Build<P>) -> Build<Box<dyn Peer>> {
    Build { whole: build.whole, indexing: build.indexing, peer: Box::new(build.peer) }
}

fn kind(who: usize) -> Kind {
    match who {
        BY_BLOCK => Kind::Block,
        BY_DOCUMENT => Kind::Document,
        _ => Kind::Stems,
    }
}

fn build(who: usize, directory: &Path, plan: &Plan) -> Build<Box<dyn Peer>> {
    match who {
        LEAFBASE => boxed(leaf::build(directory, plan)),
        BARE => boxed(bare::build(directory, plan)),
        _ => boxed(sqlite::build(directory, plan, kind(who))),
    }
}

impl Bench {
    fn new(documents: usize, large: usize) -> Self {
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let (report, only) = (Report::default(), std::env::var("SEARCH_ONLY").unwrap_or_default());
        let mut bench = Self {
            root,
            report,
            plan: Plan::new(documents, plan::BLOCKS),
            peers: Vec::new(),
            large: Vec::new(),
            unheard: 0,
            round: 0,
            only,
            may_be_none: false,
        };
        for who in 0..PEERS.len() {
            let peer = bench.filled(who, "space");
            bench.peers.push((who, peer));
        }
        bench.sizes();
        let mut plan = Plan::new(1, large);
        plan.documents[0].blocks[large * 3 / 4].push_str(" crystallize");
        for who in [LEAFBASE, BY_BLOCK, BY_DOCUMENT, BARE] {
            let peer = build(who, &directory(bench.root.path(), who, "large"), &plan).peer;
            bench.large.push((who, peer));
        }
        bench
    }

    /// A new space with everything, and what that took.
    fn filled(&mut self, who: usize, name: &str) -> Box<dyn Peer> {
        let Build { whole, indexing, peer } =
            build(who, &directory(self.root.path(), who, name), &self.plan);
        let documents = self.plan.documents.len();
        if who != BARE {
            self.report.record(
                &format!("import of {documents} documents"),
                who,
                whole.as_secs_f64() * 1e9,
            );
        }
        if !indexing.is_zero() {
            self.report.record("of that, the index", who, indexing.as_secs_f64() * 1e9);
        }
        peer
    }

    fn sizes(&self) {
        let (text, root) = (self.plan.bytes() as f64, self.root.path());
        let index = bytes(&directory(root, LEAFBASE, "space").join("space.leafbase/index")) as f64;
        let mega = |bytes: f64| bytes / 1e6;
        println!("{:.1} MB of text; bytes of an index to those of the text:", mega(text));
        println!("- {}: {:.1} MB, {:.2} (bar 1.2)", PEERS[LEAFBASE], mega(index), index / text);
        for (who, peer) in &self.peers {
            if let Some(index) = peer.index_bytes() {
                let index = index as f64;
                println!("- {}: {:.1} MB, {:.2}", PEERS[*who], mega(index), index / text);
            }
        }
        let index = bytes(&directory(root, BARE, "space")) as f64;
        println!("- bare tantivy: {:.1} MB, {:.2}", mega(index), index / text);
    }

    fn wants(&self, row: &str) -> bool {
        row.contains(&self.only)
    }

    /// The same sets of documents, and among them those that are shown; patterns have one order.
    fn agree(&mut self) {
        for row in plan::rows() {
            let mut ours: Option<Vec<usize>> = None;
            for (who, peer) in self.peers.iter_mut().filter(|(who, _)| answers(*who, &row)) {
                let all = peer.all(&row.question);
                let top = peer.top(&row.question);
                assert!(
                    self.may_be_none || !all.is_empty(),
                    "{}: {} finds nothing",
                    row.name,
                    PEERS[*who]
                );
                let limit = row.question.limit();
                assert_eq!(top.len(), all.len().min(limit), "{}: {}", row.name, PEERS[*who]);
                assert!(
                    top.iter().all(|found| all.binary_search(found).is_ok()),
                    "{}: {}",
                    row.name,
                    PEERS[*who]
                );
                let known = ours.get_or_insert_with(|| all.clone());
                // For Leafbase a word of most documents finds none by itself.
                let is_subset = matches!(row.question, Question::Sentence(_))
                    && known.iter().all(|found| all.binary_search(found).is_ok());
                assert!(
                    *known == all || is_subset,
                    "{}: {} finds {}, Leafbase {}",
                    row.name,
                    PEERS[*who],
                    all.len(),
                    known.len()
                );
            }
            if self.round == 0 {
                println!("{}: {} documents", row.name, ours.map_or(0, |all| all.len()));
            }
            if let Question::Pattern(_) = row.question {
                let [ours, theirs] = [0, 1].map(|at| self.peers[at].1.top(&row.question));
                assert_eq!(ours, theirs, "{}", row.name);
            }
        }
        for (row, pattern) in plan::IN_DOCUMENT {
            let [ours, theirs] = [0, 1].map(|at| self.large[at].1.within(pattern));
            assert!(!ours.is_empty(), "{row}: nothing");
            alike(row, &ours, &theirs);
            if self.round == 0 {
                println!("{row}: {} blocks", ours.len());
            }
        }
        for (who, peer) in &mut self.large {
            assert_eq!(peer.all(&rare_in_large()), [0], "{RARE_IN_LARGE}: {}", PEERS[*who]);
        }
    }

    /// Peers in an order that turns with the round.
    fn turn(&self, count: usize) -> Vec<usize> {
        let mut turn: Vec<usize> = (0..count).collect();
        turn.rotate_left(self.round % count);
        turn
    }

    fn questions(&mut self) {
        for row in &plan::rows() {
            if !self.wants(row.name) {
                continue;
            }
            for at in self.turn(self.peers.len()) {
                let (who, peer) = &mut self.peers[at];
                if answers(*who, row) {
                    let took = sampled(|| peer.ask(&row.question));
                    self.report.record(row.name, *who, took);
                }
            }
        }
    }

    fn within(&mut self) {
        for (row, pattern) in plan::IN_DOCUMENT {
            if !self.wants(row) {
                continue;
            }
            for at in self.turn(self.large.len()) {
                let (who, peer) = &mut self.large[at];
                if *who != BY_DOCUMENT {
                    let took = sampled(|| peer.within(pattern));
                    self.report.record(row, *who, took);
                }
            }
        }
        let row = RARE_IN_LARGE;
        if self.wants(row) {
            let question = rare_in_large();
            for at in self.turn(self.large.len()) {
                let (who, peer) = &mut self.large[at];
                let took = sampled(|| peer.ask(&question));
                self.report.record(row, *who, took);
            }
        }
    }

    /// Each of these edits is of another document, and each search finds the one that it made.
    fn edits(&mut self) {
        for (row, word) in [
            ("edit a block, then search for what it says", None),
            ("edit a block, then search for a common word", Some("harvest")),
        ] {
            if !self.wants(row) {
                continue;
            }
            let first = self.unheard;
            self.unheard += EDITS;
            for at in self.turn(self.peers.len()) {
                let documents = self.plan.documents.len();
                let (who, peer) = &mut self.peers[at];
                peer.settle();
                let times = (0..EDITS).map(|number| {
                    let (document, block) =
                        ((first + number) * 37 % documents, (first + number) % plan::BLOCKS);
                    let heard = plan::unheard(first + number);
                    let text = format!("{} {heard}", self.plan.documents[document].blocks[block]);
                    let question = Question::Words(vec![word.map_or(heard, str::to_owned)]);
                    let edit = peer.edit(document, block, &text);
                    let (search, found) = timed(|| black_box(peer.ask(&question)));
                    assert_eq!(
                        found,
                        if word.is_some() { 20.min(found) } else { 1 },
                        "{row}: {}",
                        PEERS[*who]
                    );
                    edit + search
                });
                let took = typical(times.collect::<Vec<_>>());
                peer.settle();
                self.report.record(row, *who, took);
            }
        }
    }

    fn import(&mut self) {
        if !self.wants("import") {
            return;
        }
        for who in self.turn(PEERS.len()) {
            let name = format!("again-{}", self.round);
            drop(self.filled(who, &name));
            std::fs::remove_dir_all(directory(self.root.path(), who, &name))
                .expect("a directory less");
        }
    }

    /// From nothing to the first answer; the files are in memory.
    fn openings(&mut self, rounds: usize) {
        let row = "open, then search for a rare word";
        if !self.wants(row) {
            return;
        }
        let question = Question::Words(vec!["zephyr".to_owned()]);
        self.peers.clear();
        for _ in 0..rounds {
            for who in [LEAFBASE, BY_BLOCK, BY_DOCUMENT] {
                let path = directory(self.root.path(), who, "space");
                let (took, found) = timed(|| match who {
                    LEAFBASE => leaf::open_and_ask(&path, &question),
                    _ => <Sqlite as Peer>::ask(&mut sqlite::open(&path, kind(who)), &question),
                });
                assert!(self.may_be_none || found > 0, "{}: nothing", PEERS[who]);
                self.report.record(row, who, took.as_secs_f64() * 1e9);
            }
        }
    }
}

/// Whether a peer is asked this at all: FTS5 corrects no words, only words with stems are found in
/// other forms, and only who has texts can match them.
fn answers(who: usize, row: &Row) -> bool {
    match row.question {
        Question::Pattern(_) => [LEAFBASE, BY_BLOCK, BARE].contains(&who),
        Question::Misspelt(_) => who == LEAFBASE || who == BARE,
        _ if row.is_stemmed => who == LEAFBASE || who == STEMS,
        _ => true,
    }
}

/// The median of calls, after one that brings what is needed into memory.
fn sampled<T>(mut call: impl FnMut() -> T) -> f64 {
    let mut call = || drop(black_box(call()));
    let start = Instant::now();
    let (first, ()) = timed(&mut call);
    if first > LONG * 2 {
        return first.as_secs_f64() * 1e9;
    }
    let mut times = Vec::with_capacity(CALLS);
    while times.len() < CALLS && (times.len() < 3 || start.elapsed() < LONG) {
        times.push(timed(&mut call).0);
    }
    typical(times)
}
