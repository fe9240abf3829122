//! Spaces of a million blocks and more, beside `SQLite` with the same blocks, cache and words.
//!
//! `cargo bench -p benches --bench large` prints a table for each size. LARGE_BLOCKS names the
//! sizes, with commas between them (1,000,000 blocks: `LARGE_BLOCKS=1000000,10000000`), LARGE_ROOT
//! the directory, which needs about a kilobyte of room for each block. Run as a test (`cargo test
//! -p benches --bench large`) it is small and over in a moment.
//!
//! Each peer is asked in processes of its own: what it keeps in memory is then its own, and an
//! opening is one.

#[path = "large/leaf.rs"]
mod leaf;
#[path = "large/plan.rs"]
mod plan;
#[path = "large/rows.rs"]
mod rows;
#[path = "large/sqlite.rs"]
mod sqlite;

use benches::measure::shown;
use plan::Plan;
use rows::{Measured, Peer, STAGES};
use std::path::Path;
use std::process::Command;

const PEERS: [&str; 2] = ["SQLite", "Leafbase"];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, peer, stage, blocks, directory] = arguments.as_slice()
        && flag == "--peer"
    {
        let plan = Plan::new(blocks.parse().expect("a number of blocks"));
        child(peer, stage, &plan, Path::new(directory));
        return;
    }
    let is_measured = arguments.iter().any(|argument| argument == "--bench");
    let sizes = std::env::var("LARGE_BLOCKS").ok().filter(|_| is_measured);
    let default = if is_measured { "1000000" } else { "4000" };
    let root = std::env::var("LARGE_ROOT").unwrap_or(env!("CARGO_TARGET_TMPDIR").to_owned());
    for size in sizes.as_deref().unwrap_or(default).split(',') {
        let root = tempfile::tempdir_in(&root).expect("a directory");
        compare(size, root.path());
    }
}

fn child(peer: &str, stage: &str, plan: &Plan, directory: &Path) {
    let open: &dyn Fn(bool) -> Box<dyn Peer> = match peer {
        "SQLite" => &|is_cold| Box::new(sqlite::Sqlite::open(directory, is_cold)),
        _ => &|_| Box::new(leaf::Leafbase::open(directory)),
    };
    let (_, run) = STAGES.iter().find(|(name, _)| *name == stage).expect("a stage");
    run(open, plan, directory).iter().for_each(|row| println!("{}", row.line()));
}

/// Runs all stages of both peers, and prints the table.
fn compare(size: &str, root: &Path) {
    let mut columns: [Vec<Measured>; 2] = Default::default();
    for (stage, _) in STAGES {
        for (name, column) in PEERS.iter().zip(&mut columns) {
            let directory = root.join(name);
            std::fs::create_dir_all(&directory).expect("a directory");
            let program = std::env::current_exe().expect("this program");
            let arguments = ["--peer", name, stage, size];
            let output = Command::new(program).args(arguments).arg(&directory).output();
            let output = output.expect("a process");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name}, {stage}: {errors}");
            let lines = String::from_utf8(output.stdout).expect("text");
            column.extend(lines.lines().map(Measured::read));
            eprintln!("{size} blocks: {stage} of {name}");
        }
    }
    let [theirs, ours] = columns;
    println!("| {size} blocks | SQLite | Leafbase | ratio | memory of SQLite | of Leafbase |");
    println!("|---|---:|---:|---:|---:|---:|");
    for (theirs, ours) in theirs.iter().zip(&ours) {
        assert_eq!(theirs.name, ours.name, "both do the same");
        assert_eq!(theirs.answer, ours.answer, "{}: both find the same", ours.name);
        let value = |row: &Measured| match row.name.as_str() {
            name if name.starts_with("bytes") => format!("{:.1} MB", row.value / 1e6),
            _ => shown(row.value / 1e3),
        };
        println!(
            "| {} | {} | {} | {:.2} | {:.0} MB | {:.0} MB |",
            ours.name,
            value(theirs),
            value(ours),
            ours.value / theirs.value,
            theirs.memory as f64 / 1e6,
            ours.memory as f64 / 1e6,
        );
    }
    println!();
}
