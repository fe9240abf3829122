//! Candidates for the layout of blocks over bare redb, beside two of `SQLite`, on the hot
//! operations of documents.
//!
//! `cargo bench -p benches --bench layout`; LAYOUT_ROUNDS, LAYOUT_DOCUMENTS and LAYOUT_LARGE change
//! its size, LAYOUT_RUN the bytes of a run, and LAYOUT_EXCLUSIVE=0 lets `SQLite` share its file.

#[path = "layout/adjacency.rs"]
mod adjacency;
#[path = "layout/clustered.rs"]
mod clustered;
#[path = "layout/model.rs"]
mod model;
#[path = "layout/peer.rs"]
mod peer;
#[path = "layout/record.rs"]
mod record;
#[path = "layout/rows.rs"]
mod rows;
#[path = "layout/runs.rs"]
mod runs;
#[path = "layout/sqlite.rs"]
mod sqlite;
#[path = "layout/store.rs"]
mod store;
#[path = "layout/whole.rs"]
mod whole;

use benches::measure::{Board, median, setting, shown, sync_probe, timed};
use benches::workload::{Block, Document, Generator, Id, TEXT};
use peer::{Mode, Open, Peer, Position};
use std::path::Path;

const CANDIDATES: [(&str, Open); 5] = [
    ("SQLite adjacency", adjacency::open),
    ("SQLite clustered", clustered::open),
    ("A rows", rows::open),
    ("B runs", runs::open),
    ("C one value", whole::open),
];
const SQLITES: usize = 2;
/// Above this many microseconds a sync measures the neighbours: the round's durable figures are
/// left out.
const NOISY_SYNC: f64 = 400.0;
/// Writes that share a transaction in the relaxed rows (of moves and imports: half or a quarter).
const BATCH: usize = 64;
const READING: usize = 0;
const DURABLE: usize = 1;
const RELAXED: usize = 2;
const OWN: usize = 3;
const SHARED: usize = 4;
const TITLES: [&str; 5] = [
    "reading",
    "durable",
    "relaxed (redb: shared commit, SQLite: own)",
    "relaxed, each write its own commit",
    "relaxed, writes share a commit",
];

/// Documents by shape, and the blocks that edits name. Edits keep every named block where a later
/// one expects it.
struct Space {
    flat: Vec<Document>,
    pages: Vec<Document>,
    /// Fifty blocks, then a page of forty-nine.
    section: Vec<Document>,
    large: Document,
}

enum Edit {
    Note(Id),
    Insert(Block, Position),
    Update(Id, String),
    Move(Vec<Id>, Position),
    Import(Box<Document>),
}

fn main() {
    let rounds = setting("LAYOUT_ROUNDS", 15);
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let directory = |name: &str| {
        let path = root.path().join(name.replace(' ', "-"));
        std::fs::create_dir_all(&path).expect("a directory");
        path
    };
    for (name, open) in CANDIDATES {
        model::check(
            name,
            open,
            &directory(&format!("check {name}")),
            setting("LAYOUT_CHECKS", 1500),
        );
    }
    println!("Every candidate gives the model's trees, before and after reopening.");

    let mut make = Generator::new(7);
    let space =
        Space::new(&mut make, setting("LAYOUT_DOCUMENTS", 1000), setting("LAYOUT_LARGE", 10_000));
    let all = space.all();
    let blocks: usize = all.iter().map(|document| document.tree.len()).sum();
    let mut peers: Vec<Box<dyn Peer>> = Vec::new();
    for (name, open) in CANDIDATES {
        let mut peer = open(&directory(name));
        peer.import(&all, true, make.now());
        peers.push(peer);
    }

    let mut bench = Bench {
        boards: TITLES.map(|title| Board::new(title, &CANDIDATES.map(|(name, _)| name), SQLITES)),
        durable: Vec::new(),
        probes: Vec::new(),
        peers,
        round: 0,
    };
    for round in 0..rounds {
        bench.round = round;
        bench.reads(&space, &mut make);
        bench.probes.push((f64::NAN, f64::NAN));
        let before = sync_probe(root.path()).expect("probe");
        bench.imports(&all, root.path(), &mut make);
        bench.durable_edits(&space, &mut make);
        bench.probes[round] = (before, sync_probe(root.path()).expect("probe"));
        bench.relaxed_edits(&space, &mut make);
        bench.agree(&space);
        eprintln!("round {} of {rounds}", round + 1);
    }
    bench.print(blocks);
    sizes(root.path(), &CANDIDATES.map(|(name, _)| name));
}

impl Space {
    fn new(make: &mut Generator, documents: usize, large: usize) -> Self {
        let third = documents / 3;
        Self {
            flat: (0..documents - 2 * third).map(|_| make.document(100, 0, 0)).collect(),
            pages: (0..third).map(|_| make.document(0, 5, 19)).collect(),
            section: (0..third).map(|_| make.document(50, 1, 49)).collect(),
            large: make.document(large / 2, large / 200, 99),
        }
    }

    fn all(&self) -> Vec<Document> {
        let parts = [&self.flat, &self.pages, &self.section];
        let mut all: Vec<Document> = parts.into_iter().flatten().cloned().collect();
        all.push(self.large.clone());
        all.sort_unstable_by_key(|document| document.id);
        all
    }

    fn any(&self, make: &mut Generator) -> Id {
        let of = make.rng.below(3);
        let document = make.rng.pick([&self.flat, &self.pages, &self.section][of]);
        make.rng.pick(&document.tree).block.id
    }

    fn flat_except_moved(&self, make: &mut Generator) -> &Document {
        let rest = &self.flat[100..];
        make.rng.pick(rest)
    }
}

/// A block near the middle of a document's own children.
fn middle(document: &Document, make: &mut Generator) -> Position {
    let top =
        document.tree.iter().filter(|node| node.depth == 0 && node.block.kind == TEXT).count();
    Position::After(document.tree[top / 4 + make.rng.below(top / 2)].block.id)
}

fn end(document: &Document) -> Position {
    Position::End { document: document.id, parent: document.id }
}

fn apply(peer: &mut dyn Peer, edit: &Edit, now: u64) {
    match edit {
        Edit::Note(document) => peer.note(*document, now),
        Edit::Insert(block, position) => peer.insert(block, position, now),
        Edit::Update(id, markdown) => peer.update(*id, markdown, now),
        Edit::Move(ids, position) => peer.relocate(ids, position, now),
        Edit::Import(document) => peer.import(std::slice::from_ref(document), false, now),
    }
}

/// One sample: where, and in which round, a cell was measured.
struct Durable {
    row: &'static str,
    column: usize,
    round: usize,
    micros: f64,
}

struct Bench {
    boards: [Board; TITLES.len()],
    durable: Vec<Durable>,
    probes: Vec<(f64, f64)>,
    peers: Vec<Box<dyn Peer>>,
    round: usize,
}

impl Bench {
    /// Peers in an order that turns with the round.
    fn turn(&self) -> Vec<usize> {
        (0..self.peers.len()).map(|at| (at + self.round) % self.peers.len()).collect()
    }

    fn read<T>(&mut self, row: &str, targets: &[T], run: impl Fn(&mut dyn Peer, &T)) {
        for column in self.turn() {
            let peer = self.peers[column].as_mut();
            run(peer, &targets[0]);
            let samples =
                targets.iter().map(|target| timed(|| run(peer, target)).0.as_secs_f64() * 1e6);
            self.boards[READING].record(row, column, median(samples.collect()));
        }
    }

    fn reads(&mut self, space: &Space, make: &mut Generator) {
        let mut some = |documents: &[Document]| {
            (0..100).map(|_| make.rng.pick(documents).id).collect::<Vec<Id>>()
        };
        let fetch = |peer: &mut dyn Peer, id: &Id| drop(std::hint::black_box(peer.fetch(*id)));
        let (flat, pages) = (some(&space.flat), some(&space.pages));
        self.read("fetch 100 blocks", &flat, fetch);
        self.read("fetch 100 blocks over 5 pages", &pages, fetch);
        self.read("fetch 10,000 blocks", &[space.large.id; 5], fetch);
        let ids: Vec<Id> = (0..1000).map(|_| space.any(make)).collect();
        self.read("block by ID", &ids, |peer, id| drop(std::hint::black_box(peer.block(*id))));
        let large: Vec<Id> = (0..200).map(|_| make.rng.pick(&space.large.tree).block.id).collect();
        self.read("block by ID, in 10,000", &large, |peer, id| {
            drop(std::hint::black_box(peer.block(*id)))
        });
        self.read("block to document", &ids, |peer, id| {
            std::hint::black_box(peer.document_of(*id));
        });
        self.peers.iter_mut().for_each(|peer| peer.keep_snapshot(true));
        self.read("fetch 100 blocks, snapshot kept", &flat, fetch);
        self.read("block by ID, snapshot kept", &ids, |peer, id| {
            drop(std::hint::black_box(peer.block(*id)))
        });
        self.read("block to document, snapshot kept", &ids, |peer, id| {
            std::hint::black_box(peer.document_of(*id));
        });
        self.peers.iter_mut().for_each(|peer| peer.keep_snapshot(false));
    }

    fn imports(&mut self, all: &[Document], root: &Path, make: &mut Generator) {
        let now = make.now();
        for column in self.turn() {
            let directory = tempfile::tempdir_in(root).expect("a directory");
            let mut peer = CANDIDATES[column].1(directory.path());
            let (took, ()) = timed(|| peer.import(all, true, now));
            let row = "import of all, one commit";
            self.durable.push(Durable {
                row,
                column,
                round: self.round,
                micros: took.as_secs_f64() * 1e6,
            });
        }
    }

    /// The edits of a row, and those that put things back, which are not measured.
    fn edits(
        space: &Space,
        make: &mut Generator,
        count: usize,
    ) -> Vec<(&'static str, Vec<Edit>, Vec<Edit>)> {
        let few = count.div_ceil(4);
        let insert = |make: &mut Generator, document: &Document| {
            let block = make.block(TEXT);
            Edit::Insert(block, middle(document, make))
        };
        let tops = |document: &Document, from: usize, to: usize| -> Vec<Id> {
            document.tree[from..to].iter().map(|node| node.block.id).collect()
        };
        let small = (0..count)
            .map(|_| {
                let document = space.flat_except_moved(make);
                insert(make, document)
            })
            .collect();
        let large = (0..count).map(|_| insert(make, &space.large)).collect();
        let updates = (0..count)
            .map(|_| {
                let id = space.any(make);
                Edit::Update(id, make.words.text(&mut make.rng, benches::workload::TEXT_BYTES))
            })
            .collect();
        let update_large = (0..count)
            .map(|_| {
                let id = make.rng.pick(&space.large.tree).block.id;
                Edit::Update(id, make.words.text(&mut make.rng, benches::workload::TEXT_BYTES))
            })
            .collect();
        let mut within = (Vec::new(), Vec::new());
        let mut across = (Vec::new(), Vec::new());
        let mut page_within = (Vec::new(), Vec::new());
        let mut page_across = (Vec::new(), Vec::new());
        // Of the flat documents the first hundred are for moves: pairs, from one to the other and
        // back.
        for step in 0..few {
            let pair = make.rng.below(25);
            let (from, to) = (&space.flat[pair], &space.flat[pair + 25]);
            let ids = tops(from, 20, 70);
            if step % 2 == 0 {
                within.0.push(Edit::Move(ids.clone(), end(from)));
                within.1.push(Edit::Move(ids, Position::After(from.tree[19].block.id)));
            } else {
                let ids = tops(to, 20, 70);
                within.0.push(Edit::Move(ids.clone(), Position::After(to.tree[5].block.id)));
                within.1.push(Edit::Move(ids, Position::After(to.tree[19].block.id)));
            }
            let (from, to) = (&space.flat[50 + pair], &space.flat[75 + pair]);
            let ids = tops(from, 20, 70);
            across.0.push(Edit::Move(ids.clone(), Position::After(to.tree[49].block.id)));
            across.1.push(Edit::Move(ids, Position::After(from.tree[19].block.id)));
            let pair = make.rng.below(space.section.len() / 2);
            let (from, to) = (&space.section[2 * pair], &space.section[2 * pair + 1]);
            let page = vec![from.tree[50].block.id];
            page_within.0.push(Edit::Move(page.clone(), Position::After(from.tree[20].block.id)));
            page_within.1.push(Edit::Move(page.clone(), end(from)));
            page_across.0.push(Edit::Move(page.clone(), Position::After(to.tree[20].block.id)));
            page_across.1.push(Edit::Move(page, end(from)));
        }
        let imports = (0..few).map(|_| Edit::Import(Box::new(make.document(50, 1, 49)))).collect();
        let notes = (0..count).map(|_| Edit::Note(space.flat_except_moved(make).id)).collect();
        vec![
            ("no blocks: document time and log", notes, Vec::new()),
            ("insert in the middle of 100", small, Vec::new()),
            ("insert in the middle of 10,000", large, Vec::new()),
            ("update", updates, Vec::new()),
            ("update in 10,000", update_large, Vec::new()),
            ("move 50 siblings within", within.0, within.1),
            ("move 50 siblings across", across.0, across.1),
            ("move a page of 49 within", page_within.0, page_within.1),
            ("move a page of 49 across", page_across.0, page_across.1),
            ("import a document of 100", imports, Vec::new()),
        ]
    }

    fn durable_edits(&mut self, space: &Space, make: &mut Generator) {
        for (row, edits, undo) in Self::edits(space, make, 40) {
            let now = make.now();
            for column in self.turn() {
                let peer = self.peers[column].as_mut();
                let mut samples = Vec::with_capacity(edits.len());
                for (at, edit) in edits.iter().enumerate() {
                    samples.push(timed(|| apply(peer, edit, now)).0.as_secs_f64() * 1e6);
                    if let Some(undo) = undo.get(at) {
                        samples.push(timed(|| apply(peer, undo, now)).0.as_secs_f64() * 1e6);
                    }
                }
                self.durable.push(Durable {
                    row,
                    column,
                    round: self.round,
                    micros: median(samples),
                });
            }
        }
    }

    /// Time for a batch, publishing included, over its edits.
    fn relaxed_edits(&mut self, space: &Space, make: &mut Generator) {
        for mode in [Mode::Own, Mode::Shared] {
            for (row, edits, undo) in Self::edits(space, make, BATCH) {
                let now = make.now();
                for column in self.turn() {
                    let peer = self.peers[column].as_mut();
                    peer.set_mode(mode);
                    let (took, ()) = timed(|| {
                        for (at, edit) in edits.iter().enumerate() {
                            apply(peer, edit, now);
                            if let Some(undo) = undo.get(at) {
                                apply(peer, undo, now);
                            }
                        }
                        peer.publish();
                    });
                    peer.set_mode(Mode::Durable);
                    let micros = took.as_secs_f64() * 1e6 / (edits.len() + undo.len()) as f64;
                    self.boards[if mode == Mode::Own { OWN } else { SHARED }]
                        .record(row, column, micros);
                    // The headline: what each would be used with.
                    if (mode == Mode::Own) == (column < SQLITES) {
                        self.boards[RELAXED].record(row, column, micros);
                    }
                }
            }
        }
    }

    /// After the round's edits all peers still hold the same.
    fn agree(&mut self, space: &Space) {
        let mut documents: Vec<Id> = [&space.flat, &space.pages, &space.section]
            .into_iter()
            .flat_map(|documents| documents.iter().step_by(17).map(|document| document.id))
            .collect();
        documents.push(space.large.id);
        for document in documents {
            let (first, rest) = self.peers.split_at_mut(1);
            let tree = first[0].fetch(document);
            assert!(
                !tree.is_empty() && rest.iter_mut().all(|peer| peer.fetch(document) == tree),
                "peers differ"
            );
        }
    }

    fn print(mut self, blocks: usize) {
        let calm: Vec<usize> = (0..self.probes.len())
            .filter(|&round| self.probes[round].0.max(self.probes[round].1) < NOISY_SYNC)
            .collect();
        let enough = calm.len() >= self.probes.len().min(3);
        for sample in self.durable {
            if !enough || calm.contains(&sample.round) {
                self.boards[DURABLE].record(sample.row, sample.column, sample.micros);
            }
        }
        let probes: Vec<String> = self
            .probes
            .iter()
            .map(|(before, after)| format!("{} {}", shown(*before), shown(*after)))
            .collect();
        println!(
            "\n{blocks} blocks, {} rounds; a sync before and after each: {}",
            probes.len(),
            probes.join(", ")
        );
        match (enough, calm.len() == probes.len()) {
            (true, true) => {}
            (true, false) => {
                println!("durable figures are of the {} rounds with quick syncs", calm.len())
            }
            (false, _) => {
                println!("too few rounds had quick syncs: durable figures measure the neighbours")
            }
        }
        println!(
            "medians; in brackets the better SQLite's time over this one's (above 1: faster); spread is highest over lowest round\n"
        );
        for board in &self.boards {
            println!("{}", board.table());
        }
    }
}

fn sizes(root: &Path, names: &[&str]) {
    println!();
    for name in names {
        let files = std::fs::read_dir(root.join(name.replace(' ', "-"))).expect("a directory");
        let (mut length, mut held) = (0, 0);
        for file in files {
            let meta = file.and_then(|file| file.metadata()).expect("a file");
            length += meta.len();
            held += std::os::unix::fs::MetadataExt::blocks(&meta) * 512;
        }
        println!(
            "{name}: {:.1} MB on disk, length {:.1} MB",
            held as f64 / 1e6,
            length as f64 / 1e6
        );
    }
}
