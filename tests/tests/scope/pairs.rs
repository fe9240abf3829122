//! Many pairs of worlds, and what is broken on purpose.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::calls::OPERATIONS;
use crate::leak::Leak;
use crate::pair::Counts;
use crate::stories::{CALLS, check, shortest};

/// Runs the pairs of these seeds. The first that fails ends it, if `shortens` with its shortest
/// story.
fn run(seeds: std::ops::Range<u64>, leak: Leak, shortens: bool) -> Result<Counts, String> {
    let (next, end) = (AtomicU64::new(seeds.start), seeds.end);
    let (counts, failed) = (Mutex::new(Counts::new()), Mutex::new(None));
    let work = || {
        let mut own = Counts::new();
        while failed.lock().unwrap().is_none() {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                break;
            }
            let steps: Vec<u64> = (0..CALLS).collect();
            if let Err((error, _)) = check(seed, &steps, leak, &mut own) {
                failed.lock().unwrap().get_or_insert((seed, error));
            }
        }
        let mut counts = counts.lock().unwrap();
        for (operation, [refused, done]) in own {
            let count = counts.entry(operation).or_default();
            (count[0], count[1]) = (count[0] + refused, count[1] + done);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    match failed.into_inner().unwrap() {
        None => Ok(counts.into_inner().unwrap()),
        Some((seed, error)) if !shortens => Err(format!("seed {seed}: {error}")),
        Some((seed, _)) => {
            let (steps, error, story) = shortest(seed, leak);
            Err(format!("seed {seed}, steps {steps:?}\n{story}\n{error}"))
        }
    }
}

fn nothing_is_told(pairs: u64) {
    let counts = run(0..pairs, Leak::None, true).unwrap_or_else(|error| panic!("{error}"));
    for (operation, [refused, done]) in &counts {
        println!("{operation}: {done} done, {refused} refused");
    }
    for operation in OPERATIONS {
        let [refused, done] = counts.get(operation).copied().unwrap_or_default();
        let share = done * 100 / (refused + done).max(1);
        assert!(share >= 10, "{operation}: {share} in a hundred are done");
    }
}

#[test]
fn two_worlds_that_agree_on_the_scope_answer_alike() {
    nothing_is_told(100);
}

#[test]
#[ignore = "takes minutes: run it in release"]
fn two_thousand_pairs_of_worlds_answer_alike() {
    nothing_is_told(2_000);
}

/// The control: with a leak injected into the replies, some pair differs.
fn is_noticed(leak: Leak) {
    let outcome = run(0..400, leak, false);
    let noticed = outcome.expect_err("some pair tells the worlds apart");
    println!("{noticed}");
}

#[test]
fn errors_that_leak_are_noticed() {
    is_noticed(Leak::Errors);
}

#[test]
fn links_that_leak_are_noticed() {
    is_noticed(Leak::Links);
}

#[test]
fn relations_that_leak_are_noticed() {
    is_noticed(Leak::Relations);
}

#[test]
fn statistics_that_leak_are_noticed() {
    is_noticed(Leak::Statistics);
}

#[test]
fn searches_that_leak_are_noticed() {
    is_noticed(Leak::Query);
}
