//! Batches beside `SQLite`, the history of a document in logs of different lengths, and patches of
//! watched queries beside asking again.
//!
//! `cargo bench -p benches --bench batch` prints three tables of medians. BATCH_ROUNDS changes the
//! rounds, BATCH_DOCUMENTS the documents that batches write to, BATCH_LOG the changes of the longer
//! log, BATCH_ITEMS the items that are watched.

#![allow(dead_code, reason = "the peers are those of the bench `peers`, which uses more of them")]

#[path = "peers/app.rs"]
mod app;
#[path = "peers/floor.rs"]
mod floor;
#[path = "peers/leaf.rs"]
mod leaf;
#[path = "peers/space.rs"]
mod space;
#[path = "peers/sqlite.rs"]
mod sqlite;

use std::cell::Cell;
use std::hint::black_box;
use std::path::Path;

use app::{Edit, Mode, Open};
use benches::measure::{Board, median, setting, timed};
use benches::workload::Generator;
use leafbase::{
    AddItems, Connection, CreateCollection, CreateDocuments, DocumentOrder, Durability, Fetch,
    Full, ItemDraft, ItemUpdate, ListDocuments, Position, PropertyDraft, PropertyKind, QueryItems,
    SchemaDraft, Sort, UpdateItems, WatchQuery,
};

/// Batches of a round.
const BATCHES: usize = 15;
/// Changes of the document whose history is read.
const OWN_CHANGES: usize = 20;
const PEERS: [(&str, Open); 2] = [("SQLite", sqlite::exclusive), ("Leafbase", leaf::open)];

fn main() {
    let rounds = setting("BATCH_ROUNDS", 7);
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    batches(root.path(), rounds);
    history(rounds);
    watch(rounds);
}

/// Each batch is one durable transaction.
fn batches(root: &Path, rounds: usize) {
    let mut make = Generator::new(7);
    let space = space::Space::new(&mut make, setting("BATCH_DOCUMENTS", 1_000), 100);
    let now = make.now() as i64;
    let mut peers: Vec<_> = PEERS
        .iter()
        .map(|(name, open)| {
            let path = root.join(name);
            std::fs::create_dir_all(&path).expect("a directory");
            let mut peer = open(&path, Mode::Durable);
            let all = Edit::Import(space.all());
            let ready = peer.ready(&all);
            peer.apply(&all, ready, now);
            peer.flush();
            peer
        })
        .collect();
    let mut board = Board::new("durable batches", &PEERS.map(|(name, _)| name), 1);
    for round in 0..rounds {
        for (op, work) in space.batched(&mut make, BATCHES) {
            for turn in 0..peers.len() {
                let at = (turn + round) % peers.len();
                let took = work.edits.iter().map(|edit| {
                    let (ready, now) = (peers[at].ready(edit), make.now() as i64);
                    timed(|| peers[at].apply(edit, ready, now)).0.as_secs_f64() * 1e6
                });
                board.record(op, at, median(took.collect()));
            }
            for peer in &mut peers {
                for edit in &work.after {
                    let ready = peer.ready(edit);
                    peer.apply(edit, ready, now);
                }
            }
        }
    }
    println!("{}", board.table());
}

/// The last changes of a document, where the log has few others and where it has many.
fn history(rounds: usize) {
    let long = setting("BATCH_LOG", 50_000);
    let spaces: Vec<_> = [1_000, long]
        .into_iter()
        .map(|changes| {
            let space = leafbase::Space::builder().in_memory().expect("a space");
            let notes = space.connect().with_durability(Durability::Relaxed);
            let [document, other] =
                ["seen", "other"].map(|title| notes.create_document(title).expect("made").id());
            let line = notes.insert_markdown("a", other).expect("inserted")[0].id;
            for change in 0..changes {
                if change % (changes / OWN_CHANGES) == 0 {
                    notes.insert_markdown("b", document).expect("inserted");
                } else {
                    notes.update_markdown(line, &change.to_string()).expect("updated");
                }
            }
            (space, document)
        })
        .collect();
    let columns = ["1,000 changes".to_owned(), format!("{long} changes")];
    let mut board = Board::new("history", &columns.each_ref().map(String::as_str), 1);
    for _ in 0..rounds {
        for (column, (space, document)) in spaces.iter().enumerate() {
            let notes = space.connect();
            let took = (0..200).map(|_| {
                let read = || black_box(notes.history(*document, None, OWN_CHANGES)).is_ok();
                timed(read).0.as_secs_f64() * 1e6
            });
            board.record("20 versions of a document", column, median(took.collect()));
        }
    }
    println!("{}", board.table());
}

/// What a watcher does after a write, and what asking again costs.
fn watch(rounds: usize) {
    let count = setting("BATCH_ITEMS", 10_000);
    let space = leafbase::Space::builder().in_memory().expect("a space");
    let notes = space.connect().with_durability(Durability::Relaxed);
    let [home, other] =
        ["home", "other"].map(|title| notes.create_document(title).expect("made").id());
    let schema = SchemaDraft::new("Rows", [PropertyDraft::new("N", PropertyKind::Number)]);
    let schema = CreateCollection::new(schema, Position::end_of(home));
    let rows = notes.create_collection(schema).expect("made").id;
    let mut items = Vec::new();
    for first in (0..count).step_by(1_000) {
        let drafts = (first..first + 1_000)
            .map(|number| ItemDraft::new(format!("row {number}")).with("n", number as i64));
        let added = notes.add_items(AddItems::new(rows, drafts.collect::<Vec<_>>()));
        items.extend(added.expect("added").iter().map(|item| item.id));
    }
    let page = notes.create_document("page").expect("made").id();
    let lines = notes.insert_markdown(&"a line\n\n".repeat(2_000), page).expect("inserted");
    for first in (0..count).step_by(1_000) {
        let titles = (first..first + 1_000).map(|number| format!("document {number}"));
        notes.create_documents(CreateDocuments::titled(titles)).expect("created");
    }
    let mut board = Board::new("a watched query", &["asking again", "the watcher"], 1);
    let turn = Cell::new(0);
    let next = || {
        turn.set(turn.get() + 1);
        turn.get()
    };
    let elsewhere = || drop(notes.insert_markdown("x", other).expect("inserted"));
    let item = || {
        let turn = next();
        let update = ItemUpdate::of(items[turn * 7 % items.len()]).with("n", turn as i64);
        notes.update_items(UpdateItems::new(rows, [update])).expect("updated");
    };
    let line = || {
        let turn = next();
        let text = format!("line {turn}");
        notes.update_markdown(lines[turn * 7 % lines.len()].id, &text).expect("updated");
    };
    let query = QueryItems::of(rows).sorted(Sort::descending("n")).depth(0);
    let fetch = Fetch::new(page);
    let listing = ListDocuments::new().order_by(DocumentOrder::Modified).descending();
    for _ in 0..rounds {
        let what = "items, after a write elsewhere";
        sample(&mut board, what, &notes, query.clone(), &elsewhere);
        sample(&mut board, "items, after a write to one", &notes, query.clone(), &item);
        sample(&mut board, "a page, after a write to a line", &notes, fetch, &line);
        sample(&mut board, "a listing, after a write to one", &notes, listing.clone(), &line);
    }
    println!("{}", board.table());
}

/// What a watcher does after each write, and what asking again costs.
fn sample<Q: WatchQuery<Full> + Clone>(
    board: &mut Board,
    row: &str,
    notes: &Connection,
    query: Q,
    write: &dyn Fn(),
) {
    let mut watcher = notes.watch(query.clone()).expect("watched");
    let (mut asked, mut watched) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        write();
        let (took, list) = timed(|| query.ask(notes).expect("asked"));
        asked.push(took.as_secs_f64() * 1e6);
        let (took, patch) = timed(|| watcher.try_next());
        black_box(patch.expect("followed"));
        watched.push(took.as_secs_f64() * 1e6);
        assert!(list.entries == watcher.entries(), "{row}");
    }
    board.record(row, 0, median(asked));
    board.record(row, 1, median(watched));
}
