//! One trial after the other on some threads. What panics is caught, and what takes too long ends
//! the process.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::kind::{Failure, Fault, Kind, Trial};
use crate::options::Options;

type Run = fn(seed: u64) -> Result<Trial, Failure>;

/// A trial that takes longer hangs; one that has parts, if a part does: see [`finish_part`].
const PATIENCE: Duration = Duration::from_secs(120);
/// After so many failures a kind has shown enough.
const ENOUGH: usize = 5;

/// What the trials of a kind showed.
#[derive(Default)]
pub struct Outcome {
    pub trial: Trial,
    /// How many calls that was.
    pub calls: u64,
    pub failures: Vec<(u64, Failure)>,
    pub time: Duration,
}

thread_local! {
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A trial that is under way, for the watchdog.
struct UnderWay {
    name: &'static str,
    seed: u64,
    thread: ThreadId,
    /// When it began, or the part that it is at.
    since: Instant,
}

static UNDER_WAY: Mutex<Vec<UnderWay>> = Mutex::new(Vec::new());

/// Panics are told with the trial that they end. Those that the library catches are no news.
pub fn keep_panics_quiet() {
    std::panic::set_hook(Box::new(|panic| {
        SAID.with(|said| *said.borrow_mut() = panic.to_string())
    }));
}

/// Ends the process when a trial hangs, after `tell`.
pub fn watch(tell: impl Fn() + Send + 'static) {
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(1));
            let hanging = under_way(|trials| {
                let trial = trials.iter().find(|trial| trial.since.elapsed() > PATIENCE);
                trial.map(|trial| (trial.name, trial.seed))
            });
            if let Some((name, seed)) = hanging {
                eprintln!(
                    "{}",
                    told(name, seed, &Failure::new(Fault::Hang, "the trial does not end"))
                );
                tell();
                std::process::exit(1);
            }
        }
    });
}

fn under_way<T>(work: impl FnOnce(&mut Vec<UnderWay>) -> T) -> T {
    work(&mut UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Ends a part of this thread's trial: from here on the watchdog measures the next one.
pub fn finish_part() {
    let thread = thread::current().id();
    under_way(|trials| {
        for trial in trials.iter_mut().filter(|trial| trial.thread == thread) {
            trial.since = Instant::now();
        }
    });
}

/// A failure, and how to repeat it.
pub fn told(name: &str, seed: u64, failure: &Failure) -> String {
    let fault = failure.fault.name();
    format!("{name}: {fault}: {}\n  again: --kind {name} --seed {seed} --trials 1", failure.what)
}

/// One trial.
pub fn one(name: &'static str, run: Run, seed: u64) -> Result<Trial, Failure> {
    let thread = thread::current().id();
    under_way(|trials| trials.push(UnderWay { name, seed, thread, since: Instant::now() }));
    let outcome = catch_unwind(AssertUnwindSafe(|| run(seed)));
    under_way(|trials| trials.retain(|trial| trial.thread != thread));
    outcome.unwrap_or_else(|panic| Err(Failure::new(Fault::Panic, words(&*panic))))
}

fn words(panic: &dyn Any) -> String {
    let said = SAID.with(|said| std::mem::take(&mut *said.borrow_mut()));
    let payload = panic.downcast_ref::<String>().cloned();
    if said.is_empty() { payload.unwrap_or_else(|| "a panic".to_owned()) } else { said }
}

/// Trials of one kind for `time`, and on until a long run has its least; or as many as are asked
/// for.
pub fn many(kind: &Kind, options: &Options, time: Duration) -> Outcome {
    let (name, run) = (kind.name, kind.trial);
    let (started, next, outcome) =
        (Instant::now(), AtomicU64::new(0), Mutex::new(Outcome::default()));
    let (failed, next) = (AtomicUsize::new(0), &next);
    let is_enough = || {
        let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
        !options.is_long() || kind.least.is_reached(outcome.trial.trials, outcome.calls)
    };
    let is_time_over = |number| number > 0 && started.elapsed() >= time && is_enough();
    let work = || {
        while failed.load(Ordering::Relaxed) < ENOUGH {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let is_over =
                options.calls.map_or_else(|| is_time_over(number), |calls| number >= calls);
            if is_over {
                break;
            }
            let seed = options.seed.wrapping_add(number);
            let shown = one(name, run, seed);
            let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
            outcome.calls += 1;
            match shown {
                Ok(trial) => outcome.trial.add(&trial),
                Err(failure) => {
                    eprintln!("{}", told(name, seed, &failure));
                    outcome.trial.trials += 1;
                    outcome.failures.push((seed, failure));
                    failed.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    };
    thread::scope(|scope| (0..options.threads).for_each(|_| drop(scope.spawn(work))));
    let mut outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcome.time = started.elapsed();
    outcome
}
