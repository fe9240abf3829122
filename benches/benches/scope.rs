//! A scoped connection beside a full one of the same space: what the guard, the links and the
//! statistics of a scope cost.
//!
//! `cargo bench -p benches --bench scope` prints the table of ratios and writes `scope.json` into
//! the target directory. SCOPE_ROUNDS and SCOPE_DOCUMENTS (1,000) change its size, SCOPE_ONLY keeps
//! the rows whose name has that text. Run as a test (`cargo test -p benches --bench scope`) it is
//! small and over in a moment.

#[path = "search/plan.rs"]
#[expect(dead_code, reason = "only its texts are needed")]
mod plan;
#[path = "scope/report.rs"]
mod report;
#[path = "scope/world.rs"]
mod world;

use benches::comparison::Comparison;
use benches::measure::{setting, timed};
use benches::ratio::typical;
use benches::saved;
use leafbase::{AccessScope, Connection, Fetch, GetItems, SearchDocuments, Unbatched};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};
use world::World;

/// A sample is the median of so many calls, fewer if they take long.
const CALLS: usize = 201;
const LONG: Duration = Duration::from_millis(400);

/// Asked over ten documents.
const SEARCHES: [(&str, &str); 4] = [
    ("search of 10 documents: a common word", "harvest"),
    ("search of 10 documents: a rare word", "zephyr"),
    ("search of 10 documents: two words", "harvest lantern"),
    ("search of 10 documents: the beginning of words", "cryst"),
];
const PATTERNS: [(&str, &str); 2] = [
    ("search of 10 documents: a pattern, selective", "zeph[xy]r"),
    ("search of 10 documents: a pattern, unselective", r"\w+ck\b"),
];

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let (rounds, documents) = if measured { (7, 1_000) } else { (1, 100) };
    let (rounds, documents) =
        (setting("SCOPE_ROUNDS", rounds), setting("SCOPE_DOCUMENTS", documents));
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let world = World::new(root.path(), documents);
    let mut bench = Bench {
        world,
        report: report::report(),
        only: std::env::var("SCOPE_ONLY").unwrap_or_default(),
    };
    bench.agree(measured);
    for round in 0..rounds {
        bench.round();
        eprintln!("round {} of {rounds}", round + 1);
    }
    let results = bench.report.results();
    println!("Both found the same documents; {rounds} rounds.\n\n{}", results.table());
    if measured {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
        saved::save(&target.join("scope.json"), rounds, &bench.only, results).expect("scope.json");
    }
}

struct Bench {
    world: World,
    report: Comparison,
    only: String,
}

impl Bench {
    /// The same documents, whoever asks.
    fn agree(&self, measured: bool) {
        for (row, request) in self.searches() {
            let ids = |found: leafbase::SearchPage| {
                let mut ids: Vec<_> = found.iter().map(|found| found.document_id).collect();
                ids.sort_unstable();
                ids
            };
            let named = request.clone().within_documents(self.world.ten.clone());
            let full = ids(self.world.full.search(named).expect("a search"));
            let scoped = ids(self.world.of_ten.search(request).expect("a search"));
            assert!(
                full == scoped && !(measured && full.is_empty()),
                "{row}: {full:?}, {scoped:?}"
            );
            println!("{row}: {} documents", full.len());
        }
        let hidden = |text: String| text.matches("invalid:out_of_scope").count();
        let World { scoped, some_linked, linked, plain, .. } = &self.world;
        let json = |id| {
            hidden(
                serde_json::to_string(&scoped.fetch(Fetch::new(id)).expect("blocks"))
                    .expect("JSON"),
            )
        };
        let links = [*plain, *some_linked, *linked].map(json);
        assert_eq!(links, [0, world::BLOCKS / 20, world::BLOCKS / 2], "links to what is hidden");
    }

    fn searches(&self) -> Vec<(&'static str, SearchDocuments)> {
        // All words: which words weigh nothing depends on the documents of a scope.
        let words = SEARCHES.map(|(row, words)| (row, SearchDocuments::words(words).all_words()));
        let patterns = PATTERNS.map(|(row, pattern)| (row, SearchDocuments::pattern(pattern)));
        words.into_iter().chain(patterns).collect()
    }

    fn round(&mut self) {
        for (row, request) in self.searches() {
            let World { full, of_ten, ten, .. } = &self.world;
            let named = request.clone().within_documents(ten.clone());
            let (mut one, mut other) = (|| search(full, &named), || search(of_ten, &request));
            compare(&mut self.report, &self.only, row, &mut one, &mut other);
        }
        let World { full, scoped, plain, some_linked, linked, block, items, .. } = &self.world;
        for (row, id) in [
            ("fetch of 100 blocks", *plain),
            ("fetch of 100 blocks, a link in every tenth", *some_linked),
            ("fetch of 100 blocks, a link in each", *linked),
            ("fetch of a block by ID", *block),
        ] {
            let (mut one, mut other) = (|| fetch(full, id), || fetch(scoped, id));
            compare(&mut self.report, &self.only, row, &mut one, &mut other);
        }
        let (mut one, mut other) = (|| get(full, *items), || get(scoped, *items));
        compare(
            &mut self.report,
            &self.only,
            "1,000 items, of whose three properties one is hidden",
            &mut one,
            &mut other,
        );
    }
}

fn search<S: Unbatched>(connection: &Connection<S>, request: &SearchDocuments) {
    black_box(connection.search(request.clone()).expect("a search"));
}

fn fetch<S: AccessScope>(connection: &Connection<S>, id: leafbase::BlockId) {
    black_box(connection.fetch(Fetch::new(id)).expect("blocks"));
}

fn get<S: AccessScope>(connection: &Connection<S>, collection: leafbase::BlockId) {
    black_box(connection.items(GetItems::of(collection).depth(0)).expect("items"));
}

/// Calls both by turns.
fn compare(
    report: &mut Comparison,
    only: &str,
    row: &str,
    full: &mut dyn FnMut(),
    scoped: &mut dyn FnMut(),
) {
    if !row.contains(only) {
        return;
    }
    let start = Instant::now();
    let (mut fulls, mut scopeds) = (Vec::new(), Vec::new());
    full();
    scoped();
    while fulls.len() < CALLS && (fulls.len() < 5 || start.elapsed() < LONG) {
        if fulls.len().is_multiple_of(2) {
            fulls.push(timed(&mut *full).0);
            scopeds.push(timed(&mut *scoped).0);
        } else {
            scopeds.push(timed(&mut *scoped).0);
            fulls.push(timed(&mut *full).0);
        }
    }
    report.record(row, 0, typical(fulls));
    report.record(row, 1, typical(scopeds));
}
