//! Random sequences of requests on the engine, on disk and reopened on the way, beside the naive model: equal replies, equal
//! errors, equal dumps, and every law of the store.

use std::cell::Cell;
use std::sync::Once;

use leafbase::{BlockData, BlockDraft, Destination};
use leafbase_test_outline::{Numbers, Request};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use pair::{Pair, canonical};

#[path = "model/pair.rs"]
mod pair;

const OPERATIONS: usize = 100;
const SEQUENCES: u32 = 2_000;

fn run(numbers: &[u32]) {
    let mut numbers = Numbers::new(numbers);
    let directory = tempfile::tempdir().unwrap();
    let mut pair = Pair::new(Some(directory.path().join("space")));
    let home = BlockDraft::new(BlockData::page("home"));
    pair.step(1, Request::CreateDocument { root: home, destination: Destination::Unsorted });
    for number in 2..=OPERATIONS {
        let request = canonical(Request::new(&mut numbers, &pair.naive), &pair.naive);
        pair.step(number as u64, request);
        if number % 25 == 0 {
            pair.compare_dumps();
        }
        if numbers.below(40) == 39 {
            pair.reopen();
        }
    }
    pair.reopen();
    pair.compare_dumps();
    pair.check();
}

/// The numbers that a sequence is made of; too many to be printed.
struct Tape(Vec<u32>);

impl std::fmt::Debug for Tape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} numbers", self.0.len())
    }
}

thread_local! {
    /// Whether this thread looks for a sequence that fails: the panics on the way are no news, the smallest one is printed.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Panics of other threads are told as ever.
fn quiet_where_asked() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let told = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                told(panic);
            }
        }));
    });
}

fn sequences(cases: u32, test: impl Fn(&[u32])) {
    let config =
        ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 1_000, ..ProptestConfig::default() };
    let numbers = prop::collection::vec(any::<u32>(), OPERATIONS * 24).prop_map(Tape);
    quiet_where_asked();
    QUIET.set(true);
    let outcome = TestRunner::new(config).run(&numbers, |numbers| {
        test(&numbers.0);
        Ok(())
    });
    QUIET.set(false);
    outcome.unwrap();
}

#[test]
fn the_engine_answers_as_the_naive_model_does() {
    sequences(SEQUENCES, run);
}

/// The control: a model that forgets a deletion is told from the engine.
#[test]
#[should_panic(expected = "document")]
fn a_model_that_forgets_is_found_out() {
    sequences(50, |numbers| {
        let mut numbers = Numbers::new(numbers);
        let mut pair = Pair::new(None);
        let home = BlockDraft::new(BlockData::page("home"));
        pair.step(1, Request::CreateDocument { root: home, destination: Destination::Unsorted });
        for number in 2..=OPERATIONS {
            let request = canonical(Request::new(&mut numbers, &pair.naive), &pair.naive);
            let before = pair.naive.clone();
            let is_deletion = matches!(request, Request::Delete(_));
            pair.step(number as u64, request);
            if is_deletion {
                pair.naive = before;
            }
            pair.compare_dumps();
        }
    });
}
