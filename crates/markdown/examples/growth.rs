//! How the time grows with texts that are made to be slow: sixteen times the input should take
//! about sixteen times as long, where a square would take 256 times.
//!
//! `cargo run --release -p leafbase-markdown --example growth`
#![expect(clippy::print_stdout, reason = "a measurement, shown to whoever runs it")]

use std::time::{Duration, Instant};

use leafbase_markdown::{canonical, links, parse, plain_text, render};
use leafbase_model::BlockData;

const SMALL: usize = 50_000;
const TIMES: usize = 16;

const PIECES: [&str; 16] = [
    "- ",
    "> ",
    "- > ",
    "1. ",
    "*a_ ",
    "`",
    "``` ",
    "[",
    "[a](",
    "![",
    "<callout>a</callout>",
    "<highlight>",
    "<!-- ",
    "| a ",
    "$$ ",
    "\\",
];

fn main() {
    println!(
        "{:24} {:>12} {:>12} {:>8}",
        "piece",
        format!("{SMALL} B"),
        format!("{} B", SMALL * TIMES),
        "growth"
    );
    for piece in PIECES {
        let (few, many) = (fastest(piece, SMALL), fastest(piece, SMALL * TIMES));
        let growth = many.as_secs_f64() / few.as_secs_f64();
        println!("{piece:24} {few:>12.2?} {many:>12.2?} {growth:>8.1}");
    }
}

fn fastest(piece: &str, size: usize) -> Duration {
    let text = piece.repeat(size / piece.len());
    let timed = |_| {
        let start = Instant::now();
        std::hint::black_box(everything(&text));
        start.elapsed()
    };
    (0..3).map(timed).min().unwrap_or_default()
}

fn everything(text: &str) -> usize {
    let written = parse(text, &leafbase_markdown::ParseOptions::default())
        .map_or(0, |read| render(&read.blocks).len());
    let mut data = BlockData::text(text);
    canonical(&mut data);
    let mut found = 0;
    links(&data.inline, &mut |_| found += 1);
    written + found + plain_text(&data.inline).len()
}
