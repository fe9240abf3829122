//! Times updates and searches of an index of 25,000 documents with 40 texts each:
//! `cargo run --release -p leafbase-search --example index_speed`.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a program that prints figures"
)]

use std::collections::HashSet;
use std::time::{Duration, Instant};

use leafbase_model::{DocumentId, Location, Result, TermMode, Timestamp};
use leafbase_pattern::Pattern;
use leafbase_search::{Analyzer, Attributes, Index, ParsedQuery, SearchDocument, SearchOverlay};

const DOCUMENTS: u32 = 25_000;
const TEXTS: u32 = 40;
const WORDS: u32 = 12;

/// A deterministic random number generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// One of 30,000 words, few frequent and most rare.
    fn word(&mut self) -> String {
        let rank = 30_000_u64 >> self.below(16);
        let mut number = self.below(rank.max(1)).wrapping_mul(2_654_435_761) % 450_000_000;
        let mut word = String::new();
        while number > 0 {
            word.push(char::from(
                b"etaoinshrdlucmfwypvbgkjqxz"[usize::try_from(number % 26).expect("small")],
            ));
            number /= 26;
        }
        word
    }

    fn document(&mut self, maker: &mut Analyzer, number: u32) -> (SearchDocument, usize) {
        let id = DocumentId::from_bytes(
            (u128::from(number) << 64 | u128::from(self.below(1 << 31))).to_be_bytes(),
        );
        let now = Timestamp::from_millis(i64::from(number));
        let attributes = Attributes {
            id,
            location: Location::Unsorted,
            day: None,
            created_at: now,
            modified_at: now,
        };
        let mut filling = maker.begin(attributes, &self.word());
        let mut bytes = 0;
        for text in 0..TEXTS {
            let mut words: Vec<String> = (0..WORDS).map(|_| self.word()).collect();
            match text {
                0 if number.is_multiple_of(2) => words.push("common".to_owned()),
                1 if number.is_multiple_of(3) => words.push("second".to_owned()),
                2 if number.is_multiple_of(2_500) => words.push("rareword".to_owned()),
                3 if number.is_multiple_of(100) => words.push("night train".to_owned()),
                _ => {}
            }
            let text = words.join(" ");
            bytes += text.len();
            filling.add_words(&text);
            filling.add_pattern_text(&text);
        }
        (filling.finish_unsorted(), bytes)
    }
}

/// The median time of 21 runs.
fn timed<T>(mut run: impl FnMut() -> T) -> Duration {
    let mut times: Vec<Duration> = (0..21)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(run());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn main() -> Result<()> {
    let home = tempfile::tempdir().expect("a directory");
    let index = Index::create(&home.path().join("index"), "speed")?;
    let (mut dice, mut maker, mut bytes, mut making) =
        (Dice(7), Analyzer::default(), 0, Duration::ZERO);
    let start = Instant::now();
    let mut documents = (0..DOCUMENTS).map(|number| {
        let start = Instant::now();
        let (made, length) = dice.document(&mut maker, number);
        making += start.elapsed();
        bytes += length;
        Ok(made)
    });
    index.update(&mut documents, &[], 1)?;
    println!(
        "built in {:?}, of which generating and analyzing documents {making:?}",
        start.elapsed()
    );
    let start = Instant::now();
    index.merge()?;
    println!("merged in {:?}", start.elapsed());
    let start = Instant::now();
    index.snapshot()?;
    println!("snapshot in {:?}", start.elapsed());
    let files = std::fs::read_dir(home.path().join("index"))
        .expect("the index")
        .map(|entry| entry.expect("a file"));
    let mut total = 0;
    for file in files {
        let length = file.metadata().map(|data| data.len()).unwrap_or_default();
        total += length;
        if length > 100_000 {
            println!(
                "  {:>12} {}",
                length,
                file.file_name().to_string_lossy().rsplit('.').next().unwrap_or_default()
            );
        }
    }
    println!("text {bytes} bytes, index {total} bytes: {:.2}", total as f64 / bytes as f64);

    for some in [0_u32, 500] {
        let dirty: Vec<SearchDocument> =
            (0..some).map(|number| dice.document(&mut maker, number * 50).0).collect();
        let dirty_ids: HashSet<DocumentId> = dirty.iter().map(SearchDocument::id).collect();
        let dirty: Vec<&SearchDocument> = dirty.iter().collect();
        let scope =
            SearchOverlay { dirty: &dirty, dirty_ids: &dirty_ids, filter: &|_| true, subset: None };
        let view = index.snapshot()?;
        println!("{some} dirty documents:");
        for (name, terms) in [
            ("rare", "rareword"),
            ("common", "common"),
            ("common, no prefix", "common \"common\""),
            ("two terms", "common second"),
            ("one letter", "s"),
            ("phrase", "\"night train\""),
            ("phrase with a prefix", "night_t"),
        ] {
            let found = view
                .search(&ParsedQuery::new(&[terms], TermMode::All)?, &scope, usize::MAX)?
                .hits
                .len();
            let time = timed(|| {
                ParsedQuery::new(&[terms], TermMode::All)
                    .and_then(|terms| view.search(&terms, &scope, 20))
            });
            println!("  {name}: {time:?} ({found} found)");
        }
        for pattern in ["rarew.rd", "common", "[0-9]+x"] {
            let pattern = Pattern::new(pattern, false)?;
            let found = view.candidates(&[pattern.trigram_query()], &scope)?.len();
            let time = timed(|| view.candidates(&[pattern.trigram_query()], &scope));
            println!("  candidates of a pattern: {time:?} ({found})");
        }
    }

    let one = dice.document(&mut maker, 77).0;
    let mut sequence = 1;
    let time = timed(|| {
        sequence += 1;
        index.update(&mut [Ok(one.clone())].into_iter(), &[], sequence).and_then(|()| index.merge())
    });
    println!("update by one document: {time:?}");
    let time = timed(|| {
        sequence += 1;
        index
            .update(&mut [Ok(one.clone())].into_iter(), &[], sequence)
            .and_then(|()| index.snapshot())
    });
    println!("update by one document, with a snapshot: {time:?}");
    drop(index);
    let time = timed(|| Index::open(&home.path().join("index"), "speed").is_some());
    println!("opened in {time:?}");
    Ok(())
}
