//! Folders in and out: the import of a corpus beside SQLite that parses the same texts, with the
//! indexes of words and trigrams that searches and patterns need, and with fewer; its export, and
//! its mirror beside a walk of the folder; and pages that were edited as markdown: one changed
//! line, beside parsing the text.
//!
//! `cargo bench -p benches --bench vault` prints tables of medians. VAULT_ROUNDS changes the
//! rounds, VAULT_BLOCKS the blocks of the page, VAULT_CORPUS the folder of the corpus.

#![allow(dead_code, reason = "the peers of another bench are used in part")]

#[path = "peers/app.rs"]
mod app;
#[path = "peers/leaf.rs"]
mod leaf;
#[path = "peers/markdown.rs"]
mod markdown;
#[path = "peers/report.rs"]
mod report;
#[path = "peers/sqlite.rs"]
mod sqlite;

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use benches::measure::{Board, median, setting, timed};
use benches::workload::Generator;
use leafbase::{ApplyMarkdown, Durability, Progress, Space};
use leafbase_markdown::{ParseOptions, parse};
use leafbase_vault::{
    ExportOptions, ImportOptions, MirrorOptions, export_folder, import_folder, mirror,
};

use sqlite::FullText;

/// Edits of a round.
const EDITS: usize = 25;

fn main() {
    let rounds = setting("VAULT_ROUNDS", 9);
    folders(rounds);
    edits(rounds);
}

fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn corpus() -> PathBuf {
    std::env::var_os("VAULT_CORPUS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"),
        PathBuf::from,
    )
}

/// The corpus in, out, and mirrored while nothing changes.
fn folders(rounds: usize) {
    let corpus = corpus();
    let mut make = Generator::new(11);
    let files = markdown::corpus(&corpus, &mut make);
    if files.is_empty() {
        println!("there is no corpus in {}", corpus.display());
        return;
    }
    // As many indexes as Leafbase has, then fewer.
    let indexes = [&[FullText::Words, FullText::Trigrams][..], &[FullText::Words], &[]];
    let columns = ["SQLite, words and trigrams", "SQLite, words", "SQLite", "Leafbase"];
    let mut import = Board::new("import of the corpus", &columns, 1);
    let mut export = Board::new("export of the corpus", &["copy of the files", "Leafbase"], 1);
    let mut quiet = Board::new("unchanged folder", &["walk with stat", "mirror"], 1);
    let name = format!("{} files", files.len());
    for _ in 0..rounds {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        for (column, indexes) in indexes.into_iter().enumerate() {
            let home = at(columns[column]);
            std::fs::create_dir(&home).expect("made");
            let imported = || sqlite::import(&home, &files, 0, indexes);
            import.record(&name, column, micros(timed(imported).0));
        }
        let space = Space::create(at("notes.leafbase")).expect("a space");
        let notes = space.connect();
        let imported =
            || import_folder(&notes, &corpus, &ImportOptions::new(), &mut go_on).expect("imported");
        import.record(&name, indexes.len(), micros(timed(imported).0));

        let (out, again) = (at("out"), at("again"));
        let exported =
            || export_folder(&notes, &out, &ExportOptions::new(), &mut go_on).expect("exported");
        export.record(&name, 1, micros(timed(exported).0));
        export.record(&name, 0, micros(timed(|| copy(&out, &again)).0));

        let mirrored =
            || mirror(&notes, &out, &MirrorOptions::new(), &mut go_on).expect("mirrored");
        mirrored();
        // Modification times are relied on once they are old enough.
        std::thread::sleep(std::time::Duration::from_secs(3));
        mirrored();
        mirrored();
        let (took, report) = timed(mirrored);
        assert!(report.is_unchanged());
        quiet.record(&name, 1, micros(took));
        quiet.record(&name, 0, micros(timed(|| walk(&out)).0));
        space.close().expect("closed");
    }
    for board in [import, export, quiet] {
        println!("{}", board.table());
    }
}

fn micros(took: std::time::Duration) -> f64 {
    took.as_secs_f64() * 1e6
}

fn entries(directory: &Path) -> impl Iterator<Item = std::fs::DirEntry> {
    std::fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry"))
}

/// The bytes of all files, from their descriptions.
fn walk(directory: &Path) -> u64 {
    let (mut bytes, mut waiting) = (0, vec![directory.to_owned()]);
    while let Some(next) = waiting.pop() {
        for entry in entries(&next) {
            if entry.file_type().expect("a type").is_dir() {
                waiting.push(entry.path());
            } else {
                bytes += std::fs::symlink_metadata(entry.path()).expect("a file").len();
            }
        }
    }
    black_box(bytes)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("made");
    for entry in entries(from) {
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// One changed line of a page, beside parsing its text.
fn edits(rounds: usize) {
    let blocks = setting("VAULT_BLOCKS", 1_000);
    let mut make = Generator::new(7);
    let space = Space::builder().in_memory().expect("a space");
    let notes = space.connect().with_durability(Durability::Relaxed);
    let page = notes.create_document("page").expect("made").id();
    let lines: Vec<_> = (0..blocks).map(|_| make.block_of(0, 80).markdown).collect();
    notes.insert_markdown(&lines.join("\n\n"), page).expect("inserted");
    let columns = ["parse the text", "read the page", "apply the text", "apply the same text"];
    let mut board = Board::new("one changed line of a page", &columns, 1);
    let operation = format!("{blocks} blocks");
    for _ in 0..rounds {
        let mut took: [Vec<f64>; 4] = Default::default();
        for edit in 0..EDITS {
            let (time, text) = timed(|| notes.content_markdown(page).expect("read"));
            took[1].push(time.as_secs_f64() * 1e6);
            let at = (edit * 37) % blocks;
            let mut lines: Vec<_> = text.split("\n\n").map(str::to_owned).collect();
            lines[at].push_str(" more");
            let edited = lines.join("\n\n");
            let applied = || notes.apply_markdown(ApplyMarkdown::new(page, &*edited));
            let parsed = || black_box(parse(&edited, &ParseOptions::default())).is_ok();
            took[0].push(timed(parsed).0.as_secs_f64() * 1e6);
            let (time, done) = timed(applied);
            assert_eq!(done.expect("applied").updated.len(), 1);
            took[2].push(time.as_secs_f64() * 1e6);
            took[3].push(timed(applied).0.as_secs_f64() * 1e6);
        }
        for (column, took) in took.into_iter().enumerate() {
            board.record(&operation, column, median(took));
        }
    }
    println!("{}", board.table());
}
