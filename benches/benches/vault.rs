//! Pages that were edited as markdown: one changed line, beside parsing the text.
//!
//! `cargo bench -p benches --bench vault` prints a table of medians. VAULT_ROUNDS changes the
//! rounds, VAULT_BLOCKS the blocks of the page.

use std::hint::black_box;

use benches::measure::{Board, median, setting, timed};
use benches::workload::Generator;
use leafbase::{ApplyMarkdown, Durability, Space};
use leafbase_markdown::{ParseOptions, parse};

/// Edits of a round.
const EDITS: usize = 25;

fn main() {
    let (rounds, blocks) = (setting("VAULT_ROUNDS", 9), setting("VAULT_BLOCKS", 1_000));
    let mut make = Generator::new(7);
    let space = Space::builder().in_memory().expect("a space");
    let notes = space.connect().with_durability(Durability::Relaxed);
    let page = notes.create_document("page").expect("made").id();
    let lines: Vec<_> = (0..blocks).map(|_| make.block_of(0, 80).markdown).collect();
    notes.insert_markdown(&lines.join("\n\n"), page).expect("inserted");
    let columns = ["parse the text", "read the page", "apply the text", "apply the same text"];
    let mut board = Board::new("one changed line of a page", &columns, 0);
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
