//! Random sequences of requests on the engine, on disk and reopened on the way, beside the naive model: equal replies, equal
//! errors, equal dumps, and every law of the store.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Mutex, Once};

use leafbase_test_outline::{Broken, Numbers};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use pair::Pair;

#[path = "model/pair.rs"]
mod pair;

const OPERATIONS: usize = 100;
const SEQUENCES: u32 = 2_000;
/// A sequence on disk mostly waits for it.
const THREADS: u32 = 8;

/// Does a sequence, and tells `see` the name of each request and whether it was done.
fn run(numbers: &[u32], mut pair: Pair, mut see: impl FnMut(String, bool)) {
    let mut numbers = Numbers::new(numbers);
    for number in 2..=OPERATIONS {
        let request = pair.next(&mut numbers);
        let name = request.name();
        see(name, pair.step(request));
        if number % 25 == 0 {
            pair.compare_dumps();
        }
        if numbers.below(160) == 159 {
            pair.reopen();
        }
    }
    pair.reopen();
    pair.compare_dumps();
    pair.check();
}

fn run_on_disk(numbers: &[u32], see: impl FnMut(String, bool)) {
    let directory = tempfile::tempdir().unwrap();
    run(numbers, Pair::new(Some(directory.path().join("space"))), see);
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

/// Does random sequences until one fails, and then smaller ones of its kind.
fn sequences(cases: u32, smaller: u32, test: impl Fn(&[u32])) -> Result<(), String> {
    let config =
        ProptestConfig { cases, failure_persistence: None, max_shrink_iters: smaller, ..ProptestConfig::default() };
    let numbers = prop::collection::vec(any::<u32>(), OPERATIONS * 24).prop_map(Tape);
    quiet_where_asked();
    QUIET.set(true);
    let outcome = TestRunner::new(config).run(&numbers, |numbers| {
        test(&numbers.0);
        Ok(())
    });
    QUIET.set(false);
    outcome.map_err(|error| error.to_string())
}

/// How many requests of each kind were refused, and done.
type Counts = BTreeMap<String, [usize; 2]>;

#[test]
fn the_engine_answers_as_the_naive_model_does() {
    let counts = Mutex::new(Counts::new());
    let count = |name, done| counts.lock().unwrap().entry(name).or_default()[usize::from(done)] += 1;
    let part = || sequences(SEQUENCES / THREADS, 1_000, |numbers| run_on_disk(numbers, count));
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..THREADS).map(|_| scope.spawn(part)).collect();
        for part in parts {
            part.join().unwrap().unwrap_or_else(|error| panic!("{error}"));
        }
    });
    let counts = counts.into_inner().unwrap();
    for (name, [refused, done]) in &counts {
        println!("{name}: {done} done, {refused} refused");
    }
    for (name, [refused, done]) in counts.iter().filter(|(name, _)| *name != "Folders Tree") {
        let share = done * 100 / (refused + done);
        assert!((15..=99).contains(&share), "{name}: {share} in a hundred are done");
    }
    assert_eq!(counts.len(), 24);
}

/// The control: a model that does not keep one of the rules is told from the engine.
#[test]
fn a_model_that_breaks_a_rule_is_found_out() {
    for rule in Broken::ALL {
        let kept = sequences(1_000, 0, |numbers| {
            let mut pair = Pair::new(None);
            pair.naive.broken = Some(*rule);
            run(numbers, pair, |_, _| ());
        });
        assert!(kept.is_err(), "nothing shows that {rule:?}");
    }
}
