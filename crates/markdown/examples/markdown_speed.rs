//! How long reading and writing take, beside the bare walk over the events of a markdown parser:
//! over the `.md` files of a folder.
//!
//! `cargo run --release -p leafbase-markdown --example markdown_speed -- <folder>`
#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measurement, shown to whoever runs it"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use leafbase_markdown::{EmptyFirstItem, ParseOptions, links, parse, plain_text, render};
use pulldown_cmark::{Options, Parser};

const ROUNDS: usize = 9;

fn main() {
    let Some(folder) = std::env::args().nth(1) else {
        return println!("name a folder with markdown files");
    };
    let mut texts = Vec::new();
    collect(Path::new(&folder), &mut texts);
    let bytes = texts.iter().map(String::len).sum::<usize>();
    let options = ParseOptions::default().with_empty_first_item(EmptyFirstItem::Drop);
    let extensions = Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_MATH;
    let read: Vec<_> = texts.iter().filter_map(|text| parse(text, &options).ok()).collect();
    let blocks = read.iter().flat_map(|parsed| &parsed.blocks);
    println!(
        "{} files, {bytes} bytes, {} read, {} blocks",
        texts.len(),
        read.len(),
        blocks.clone().count()
    );

    let walk = best(|| {
        texts.iter().map(|text| Parser::new_ext(text, extensions).into_offset_iter().count()).sum()
    });
    let parsing = best(|| {
        texts
            .iter()
            .filter_map(|text| parse(text, &options).ok())
            .map(|read| read.blocks.len())
            .sum()
    });
    let writing = best(|| read.iter().map(|parsed| render(&parsed.blocks).len()).sum());
    let plain = best(|| blocks.clone().map(|block| plain_text(&block.data.inline).len()).sum());
    let linking = best(|| {
        let mut found = 0;
        blocks.clone().for_each(|block| links(&block.data.inline, &mut |_| found += 1));
        found
    });
    for (name, time) in [
        ("walk", walk),
        ("parse", parsing),
        ("render", writing),
        ("plain_text", plain),
        ("links", linking),
    ] {
        let share = time.as_secs_f64() / walk.as_secs_f64();
        println!(
            "{name:10} {time:>12.2?} {:>8.1} MB/s {share:>6.2} of the walk",
            bytes as f64 / 1e6 / time.as_secs_f64()
        );
    }
}

/// The shortest of some rounds: what the machine does besides only adds.
fn best(mut round: impl FnMut() -> usize) -> Duration {
    let timed = |_| {
        let start = Instant::now();
        std::hint::black_box(round());
        start.elapsed()
    };
    (0..ROUNDS).map(timed).min().unwrap_or_default()
}

fn collect(folder: &Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, texts);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            texts.extend(std::fs::read_to_string(&path).ok());
        }
    }
}
