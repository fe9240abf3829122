//! Prints the slowest of the hostile patterns on 64 KiB, with the steps that they take: `cargo run
//! --release -p leafbase-pattern --example hostile`.
#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use std::time::{Duration, Instant};

use leafbase_pattern::{Pattern, StepBudget};

#[path = "../tests/it/hostile/patterns.rs"]
mod patterns;

/// Steps of one text.
const STEPS: u64 = 20_000_000;

fn main() {
    let mut runs: Vec<(Duration, String)> =
        patterns::texts(64 << 10).iter().flat_map(|text| run(text)).collect();
    runs.sort_unstable_by(|one, other| other.cmp(one));
    for (time, line) in runs.iter().take(12) {
        println!("{:7.1} ms  {line}", time.as_secs_f64() * 1e3);
    }
    println!("{} searches", runs.len());
}

/// Each pattern on one text: how long it takes, and what comes of it.
fn run(text: &str) -> Vec<(Duration, String)> {
    let one = |source: String| {
        let pattern = Pattern::new(&source, true).ok()?;
        let (mut budget, start) = (StepBudget::new(STEPS), Instant::now());
        let found = pattern.matcher().find_all(text, 100, &mut budget);
        let outcome =
            found.map_or_else(|_| "exhausted".to_owned(), |found| format!("{} found", found.len()));
        Some((
            start.elapsed(),
            format!("{:9} steps  {outcome}  {source}", STEPS - budget.remaining()),
        ))
    };
    patterns::hostile().filter_map(one).collect()
}
