//! Random sequences of requests on both sides.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use leafbase_test_outline::{Numbers, Request};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestError, TestRng, TestRunner};

use super::pair::Pair;

pub const OPERATIONS: usize = 100;
/// Numbers that a request takes, at most for most.
const EACH: usize = 40;

/// Does a sequence, and tells `see` each request and whether it was done.
pub fn run(numbers: &[u32], mut pair: Pair, mut see: impl FnMut(&Request, bool)) {
    let mut numbers = Numbers::new(numbers);
    for number in 2..=OPERATIONS {
        let request = pair.next(&mut numbers);
        let asked = request.clone();
        see(&asked, pair.step(request));
        if number % 25 == 0 {
            pair.compare_dumps();
        }
        if pair.with_collections && number == OPERATIONS / 2 {
            pair.check();
        }
        if numbers.below(160) == 159 {
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
    /// Whether this thread looks for a sequence that fails: the panics on the way are no news, the
    /// smallest one is printed.
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

/// Does random sequences until one fails, and then smaller ones of its kind; on two threads of each
/// processor, because sequences on disk mostly wait for it.
pub fn sequences(cases: u32, smaller: u32, test: impl Fn(&[u32]) + Sync) -> Result<(), String> {
    let threads = thread::available_parallelism().map_or(1, |count| 2 * count.get() as u32);
    let has_failed = AtomicBool::new(false);
    let part = |index| {
        let config = config(cases / threads + u32::from(index < cases % threads), smaller);
        let outcome = smallest(&mut TestRunner::new(config), |numbers| {
            // The rest of a thread is left out once another one has found a failure.
            if !has_failed.load(Ordering::Relaxed) {
                test(numbers);
            }
        });
        has_failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
        outcome.map_err(|error| error.to_string())
    };
    thread::scope(|scope| {
        let parts: Vec<_> = (0..threads).map(|index| scope.spawn(move || part(index))).collect();
        // All are joined, so that no failure is left for the end of the scope.
        let outcomes: Vec<_> = parts.into_iter().map(|part| part.join().unwrap()).collect();
        outcomes.into_iter().collect()
    })
}

/// Does the sequence of this seed, and then smaller ones of its kind if it fails. Returns the
/// smallest that fails, and how.
pub fn sequence(seed: u64, smaller: u32, test: impl Fn(&[u32])) -> Result<(), (Vec<u32>, String)> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    smallest(&mut TestRunner::new_with_rng(config(1, smaller), random), test).map_err(|error| {
        match error {
            TestError::Fail(why, numbers) => (numbers.0, why.to_string()),
            TestError::Abort(why) => (Vec::new(), why.to_string()),
        }
    })
}

fn config(cases: u32, smaller: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: smaller,
        ..ProptestConfig::default()
    }
}

fn smallest(runner: &mut TestRunner, test: impl Fn(&[u32])) -> Result<(), TestError<Tape>> {
    let numbers = prop::collection::vec(any::<u32>(), OPERATIONS * EACH).prop_map(Tape);
    quiet_where_asked();
    QUIET.set(true);
    let outcome = runner.run(&numbers, |numbers| {
        test(&numbers.0);
        Ok(())
    });
    QUIET.set(false);
    outcome
}

/// How many requests of each kind were refused, and done.
pub type Counts = BTreeMap<String, [usize; 2]>;

/// Tells of each kind, and checks that requests were mostly done, and refused now and then: chance
/// may leave no refusal of kinds that were asked for less often than `ASKED_OFTEN` times.
pub fn check_counts(counts: &Counts) {
    for (name, [refused, done]) in counts {
        println!("{name}: {done} done, {refused} refused");
    }
    let never_refused = ["Documents Tags", "Folders Tree"];
    for (name, [refused, done]) in counts {
        let share = done * 100 / (refused + done);
        assert!(share >= 15, "{name}: {share} in a hundred are done");
        let rarely_asked = refused + done < ASKED_OFTEN;
        assert!(
            *refused > 0 || rarely_asked || never_refused.contains(&name.as_str()),
            "{name}: none of {done} was refused"
        );
    }
}

/// Requests of a kind after which one that was refused is expected.
const ASKED_OFTEN: usize = 1_000;
