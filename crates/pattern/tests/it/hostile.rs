//! Hostile patterns end: within the steps that they are given, and each time with the same verdict.

use std::collections::BTreeSet;

use leafbase_model::ErrorKind;
use leafbase_pattern::{BudgetExhausted, Pattern, StepBudget};

use patterns::{hostile, texts};

mod patterns;

/// What is found, and the steps that it took.
type Verdict = (Result<bool, BudgetExhausted>, Result<usize, BudgetExhausted>, u64);

fn verdict(pattern: &Pattern, text: &str, steps: u64) -> Verdict {
    let (mut matcher, mut budget) = (pattern.matcher(), StepBudget::new(steps));
    let is_match = matcher.is_match(text, &mut budget);
    let found = matcher.find_all(text, usize::MAX, &mut budget).map(|found| found.len());
    (is_match, found, steps - budget.remaining())
}

/// Those that are not too large to be read.
fn read() -> Vec<(String, Pattern)> {
    let read = |pattern: String| match Pattern::new(&pattern, true) {
        Ok(read) => Some((pattern, read)),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{pattern}");
            None
        }
    };
    hostile().filter_map(read).collect()
}

#[test]
fn there_are_two_hundred_and_most_can_be_read() {
    let all: BTreeSet<_> = hostile().collect();
    assert!(all.len() >= 200 && read().len() >= 180, "{} of {}", read().len(), all.len());
}

#[test]
fn each_ends_with_the_same_verdict_each_time() {
    let (texts, mut exhausted) = (texts(64 << 10), 0);
    for (index, (source, pattern)) in read().iter().enumerate() {
        let text = &texts[index % texts.len()];
        let first = verdict(pattern, text, 100_000);
        assert_eq!(verdict(pattern, text, 100_000), first, "{source}");
        assert!(first.2 <= 100_000, "{source}");
        exhausted += usize::from(first.1.is_err());
    }
    // Patterns that cost nothing show nothing.
    assert!(exhausted >= 50, "{exhausted}");
}

#[test]
fn a_few_on_a_mebibyte() {
    let text = &texts(1 << 20)[0];
    for (source, pattern) in read().iter().step_by(20) {
        assert_eq!(verdict(pattern, text, 200_000), verdict(pattern, text, 200_000), "{source}");
    }
}

/// A verdict does not change with the steps that are given, if they suffice.
#[test]
fn more_steps_than_needed_change_nothing() {
    let text = &texts(2 << 10)[1];
    for (source, pattern) in read().iter().step_by(7) {
        let (is_match, found, steps) = verdict(pattern, text, 20_000_000);
        assert_eq!(verdict(pattern, text, steps), (is_match, found, steps), "{source}");
        if steps > 1 && found.is_ok() {
            assert!(verdict(pattern, text, steps - 1).1.is_err(), "{source}");
        }
    }
}
