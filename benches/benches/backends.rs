//! Leafbase over each of its stores, beside `SQLite` and beside tables in `PostgreSQL` that are
//! written by hand.
//!
//! `cargo bench -p benches --bench backends` prints the table and writes `backends.json` into the
//! target directory. BACKENDS_ROUNDS and BACKENDS_DOCUMENTS change its size, BACKENDS_ONLY keeps
//! the rows whose name has that text. It starts a `PostgreSQL` server of its own, which syncs its
//! log, and needs one installed: without, it says so and measures nothing. BACKENDS_AWAY has each
//! round trip to it take that many microseconds more, as over a network; the table is printed only.
//! Run as a test (`cargo test -p benches --bench backends`) it is small.

#![allow(dead_code, reason = "the peers are those of the bench `peers`, which uses more of them")]

#[path = "peers/app.rs"]
mod app;
#[path = "peers/check.rs"]
mod check;
#[path = "backends/distance.rs"]
mod distance;
#[path = "peers/floor.rs"]
mod floor;
#[path = "peers/leaf.rs"]
mod leaf;
#[path = "../../crates/postgres/tests/postgres/server.rs"]
mod server;
#[path = "peers/space.rs"]
mod space;
#[path = "peers/sqlite.rs"]
mod sqlite;
#[path = "backends/tables.rs"]
mod tables;

use app::{Edit, Mode, Peer};
use benches::comparison::Comparison;
use benches::measure::{setting, shown, sync_probe, timed};
use benches::ratio::typical;
use benches::saved::{self, Unit};
use benches::workload::{Generator, Id};
use leafbase_postgres::{PostgresDatabase, PostgresOptions};
use server::Server;
use space::{Space, Work};
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tables::Sending;

const NAMES: [&str; 7] = [
    "memory",
    "redb",
    "redb, shared",
    "SQLite",
    "PostgreSQL",
    "tables",
    "tables, statements one by one",
];
const POSTGRES: usize = 4;
const TABLES: usize = 5;
/// The most that Leafbase may take over `PostgreSQL`, as a share of the tables' time.
const BAR: f64 = 1.2;
/// Operations that have it, by what a row's name begins with.
const BARRED: [&str; 3] = ["fetch 100", "durable insert", "list"];
/// Calls of an operation in a round.
const CALLS: usize = 100;

/// Somebody who keeps the documents, and how often it waited for an answer of a server so far.
struct Contender {
    peer: Box<dyn Peer>,
    trips: Option<Box<dyn Fn() -> u64>>,
}

struct Bench {
    contenders: Vec<Contender>,
    space: Space,
    make: Generator,
    report: Comparison<7>,
    only: String,
    round: usize,
    calls: usize,
}

fn bar(row: &str) -> Option<f64> {
    let is_barred = BARRED.iter().any(|start| row.starts_with(start)) && !row.ends_with(TRIPS);
    is_barred.then_some(BAR)
}

/// At the end of the names of rows that count them.
const TRIPS: &str = ", round trips";

fn main() {
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let Some(binaries) = server::binaries() else {
        println!("SKIPPED: PostgreSQL is not installed");
        return;
    };
    let server = Server::start(&binaries, &[], &["listen_addresses=", "fsync=on"], 5432);
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (rounds, documents, large, calls) =
        if is_measured { (7, 300, 10_000, CALLS) } else { (1, 60, 1_000, 5) };
    let rounds = setting("BACKENDS_ROUNDS", rounds);
    let databases = [server.new_database(), server.new_database()];
    let away = setting("BACKENDS_AWAY", 0);
    let near = if away == 0 { server.directory.clone() } else { root.path().to_owned() };
    if away > 0 {
        let socket = |directory: &Path| directory.join(".s.PGSQL.5432");
        let round_trip = Duration::from_micros(away as u64);
        distance::listen(&socket(&near), socket(&server.directory), round_trip);
    }
    let mut make = Generator::new(7);
    let space = Space::new(&mut make, setting("BACKENDS_DOCUMENTS", documents), large);
    let mut bench = Bench {
        contenders: contenders(root.path(), &near, &databases),
        space,
        make,
        report: Comparison::of(NAMES, (POSTGRES, TABLES), bar),
        only: std::env::var("BACKENDS_ONLY").unwrap_or_default(),
        round: 0,
        calls,
    };
    bench.apply(&[Edit::Import(bench.space.all())]);
    bench.agree();
    for database in databases.iter().map(String::as_str).chain(["postgres"]) {
        server.psql(database, "VACUUM ANALYZE");
    }
    for round in 0..rounds {
        bench.round = round;
        bench.reads();
        bench.writes();
        bench.agree();
        eprintln!("round {} of {rounds}", round + 1);
    }
    let blocks = bench.space.blocks();
    let probe = shown(sync_probe(root.path()).expect("a probe"));
    println!(
        "{blocks} blocks; to append 200 bytes and sync them took {probe}. All hold the same.\n"
    );
    let results = bench.report.results();
    println!("{}", results.table());
    if is_measured && away == 0 {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
        let path = target.join("backends.json");
        saved::save(&path, rounds, &bench.only, results).expect("backends.json");
    }
}

/// The socket of the server is in `near`; the tables are in `databases` of their own.
fn contenders(root: &Path, near: &Path, databases: &[String; 2]) -> Vec<Contender> {
    let alone = |peer| Contender { peer, trips: None };
    let [shared, sqlite] = ["shared", "sqlite"].map(|name| root.join(name));
    std::fs::create_dir(&sqlite).expect("a directory");
    let parameters = server::parameters(near);
    let database = PostgresDatabase::connect(&parameters, PostgresOptions::new());
    let database = Arc::new(database.expect("the server"));
    let store = Arc::new(database.create_store("bench").expect("a store"));
    let by_hand = |database: &str, sending| {
        let (peer, trips) = tables::create(&format!("{parameters} dbname={database}"), sending);
        Contender { peer, trips: Some(Box::new(move || trips.get())) }
    };
    vec![
        alone(leaf::over(Mode::Durable, leafbase::SpaceBuilder::in_memory)),
        alone(leaf::open(root, Mode::Durable)),
        alone(leaf::over(Mode::Durable, |builder| builder.shared(true).create(shared))),
        alone(sqlite::exclusive(&sqlite, Mode::Durable)),
        Contender {
            peer: leaf::over(Mode::Durable, |builder| builder.over(store, true)),
            trips: Some(Box::new(move || database.round_trips())),
        },
        by_hand(&databases[0], Sending::Together),
        by_hand(&databases[1], Sending::OneByOne),
    ]
}

impl Bench {
    fn wants(&self, op: &str) -> bool {
        op.contains(&self.only)
    }

    /// Contenders in an order that turns with the round.
    fn turn(&self) -> impl Iterator<Item = usize> + use<> {
        let (round, count) = (self.round, self.contenders.len());
        (0..count).map(move |at| (at + round) % count)
    }

    /// Records the median of the calls, and the round trips of one of them.
    fn record(&mut self, op: &str, at: usize, calls: Vec<std::time::Duration>, trips: Option<u64>) {
        if let Some(trips) = trips {
            let each = trips as f64 / calls.len() as f64;
            self.report.record_in(Unit::RoundTrips, &format!("{op}{TRIPS}"), at, each);
        }
        self.report.record(op, at, typical(calls));
    }

    fn read(&mut self, op: &str, targets: &[Id], run: impl Fn(&mut dyn Peer, Id)) {
        if !self.wants(op) {
            return;
        }
        for at in self.turn() {
            let Contender { peer, trips } = &mut self.contenders[at];
            run(peer.as_mut(), targets[0]);
            let before = trips.as_ref().map(|trips| trips());
            let took = targets.iter().map(|id| timed(|| run(peer.as_mut(), *id)).0).collect();
            let count = trips.as_ref().zip(before).map(|(trips, before)| trips() - before);
            self.record(op, at, took, count);
        }
    }

    fn reads(&mut self) {
        let fetch = |peer: &mut dyn Peer, id| drop(black_box(peer.fetch(id)));
        let flat: Vec<Id> =
            (0..self.calls).map(|_| self.make.rng.pick(&self.space.flat).id).collect();
        self.read("fetch 100 blocks", &flat, fetch);
        let pages: Vec<Id> =
            (0..self.calls).map(|_| self.make.rng.pick(&self.space.pages).id).collect();
        self.read("fetch 100 blocks over 5 pages", &pages, fetch);
        let large = [self.space.large.id; 5];
        self.read("fetch 10,000 blocks", &large, fetch);
        let ids = self.space.fresh(&mut self.make, self.calls);
        self.read("block by ID", &ids, |peer, id| drop(black_box(peer.block(id))));
        let ids = self.space.fresh(&mut self.make, self.calls);
        self.read("block to document", &ids, |peer, id| {
            black_box(peer.document_of(id));
        });
        for count in [50, 200] {
            let op = format!("list of {count} documents, the latest first");
            self.read(&op, &flat, |peer, _| drop(black_box(peer.latest(count))));
        }
    }

    /// A client names blocks that it has read: every document is fetched before the edits.
    fn read_all(&mut self) {
        let Space { flat, pages, large, .. } = &self.space;
        for document in flat.iter().chain(pages).chain([large]) {
            for Contender { peer, .. } in &mut self.contenders {
                black_box(peer.fetch(document.id));
            }
        }
    }

    fn writes(&mut self) {
        self.read_all();
        // The tables have no moves.
        let work = self.space.work(&mut self.make, self.calls).into_iter();
        for (op, work) in work.filter(|(op, _)| !op.starts_with("move")) {
            self.write(&format!("durable {op}"), &work);
        }
    }

    fn write(&mut self, op: &str, work: &Work) {
        if !self.wants(op) {
            return;
        }
        self.apply(&work.before);
        let first = self.instants(work.edits.len());
        for at in self.turn() {
            let Contender { peer, trips } = &mut self.contenders[at];
            let before = trips.as_ref().map(|trips| trips());
            let mut took = Vec::with_capacity(work.edits.len());
            for (edit, now) in work.edits.iter().zip(first..) {
                let ready = peer.ready(edit);
                took.push(timed(|| peer.apply(edit, ready, now)).0);
            }
            let count = trips.as_ref().zip(before).map(|(trips, before)| trips() - before);
            self.record(op, at, took, count);
        }
        self.apply(&work.after);
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
    fn apply(&mut self, edits: &[Edit]) {
        let first = self.instants(edits.len());
        for Contender { peer, .. } in &mut self.contenders {
            for (edit, now) in edits.iter().zip(first..) {
                let ready = peer.ready(edit);
                peer.apply(edit, ready, now);
            }
        }
    }

    /// All hold the same, and list it alike.
    fn agree(&mut self) {
        let lists: Vec<_> = self.contenders.iter_mut().map(|who| who.peer.latest(50)).collect();
        for (name, list) in NAMES.iter().zip(&lists) {
            assert!(list == &lists[0], "{name} lists {list:?}, {} {:?}", NAMES[0], lists[0]);
        }
        for document in self.space.sample() {
            let trees: Vec<_> = (self.contenders.iter_mut())
                .map(|who| check::normal(who.peer.fetch(document).tree()))
                .collect();
            for (name, tree) in NAMES.iter().zip(&trees) {
                let difference = || check::difference(&trees[0], tree);
                assert!(tree == &trees[0], "{name} differs from {}: {}", NAMES[0], difference());
            }
        }
    }
}
