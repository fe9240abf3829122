//! Random sequences of requests on the engine, on disk and reopened on the way, beside the naive
//! model: equal replies, equal errors, equal dumps, and every law of the store.

use std::sync::Mutex;

use leafbase_test_outline::{Broken, Request};

use tests::model::pair::Pair;
use tests::model::sequences::{Counts, check_counts, run, sequences};

fn run_on_disk(numbers: &[u32], see: impl FnMut(&Request, bool)) {
    let directory = tempfile::tempdir().unwrap();
    run(numbers, Pair::new(Some(directory.path().join("space"))), see);
}

#[test]
fn the_engine_answers_as_the_naive_model_does() {
    let counts = Mutex::new(Counts::new());
    let count = |request: &Request, done| {
        counts.lock().unwrap().entry(request.name()).or_default()[usize::from(done)] += 1;
    };
    let kept = sequences(tests::cases(240, 2_000), 1_000, |numbers| run_on_disk(numbers, count));
    kept.unwrap_or_else(|error| panic!("{error}"));
    let counts = counts.into_inner().unwrap();
    check_counts(&counts);
    assert_eq!(counts.len(), 30);
}

/// Where several writers meet, a write may have to be decided again.
#[test]
fn writes_that_are_decided_twice_are_what_they_were() {
    let kept = sequences(60, 1_000, |numbers| run(numbers, Pair::twice(), |_, _| ()));
    kept.unwrap_or_else(|error| panic!("{error}"));
    let kept = sequences(40, 1_000, |numbers| {
        let mut pair = Pair::twice();
        pair.with_collections = true;
        run(numbers, pair, |_, _| ());
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
}

/// The control: a model that does not keep one of the rules is told from the engine.
#[test]
fn a_model_that_breaks_a_rule_is_found_out() {
    for rule in Broken::OF_DOCUMENTS {
        let kept = sequences(1_000, 0, |numbers| {
            let mut pair = Pair::new(None);
            pair.naive.broken = Some(*rule);
            run(numbers, pair, |_, _| ());
        });
        assert!(kept.is_err(), "nothing shows that {rule:?}");
    }
}
