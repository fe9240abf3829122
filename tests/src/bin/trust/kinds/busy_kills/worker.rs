//! The process that is killed: a thread for each job, and one that searches. Each call is told when
//! it has returned, before the next one of its thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use leafbase::{Connection, Durability, Result, SearchDocuments, SearchIndexing, Space};

use super::job::Job;
use crate::kinds::kills::say;
use crate::random::Random;
use crate::world::work::WORDS;

/// What starts this program as a worker.
pub const BUSY_ARGUMENT: &str = "--be-busy-until-killed";

/// Calls of each thread, so that a worker that nobody kills ends.
const MAX_CALLS: u64 = 5_000;
/// Microseconds between two calls of a thread, at most: one of these for each worker.
const MAX_PAUSES: [u64; 3] = [1, 800, 4_000];

/// How the space of a trial is opened, by the worker and by those who look at it afterwards.
pub fn open(path: &Path, in_background: bool) -> Result<Space> {
    let indexing =
        if in_background { SearchIndexing::Background } else { SearchIndexing::OnDemand };
    Space::builder().search_indexing(indexing).durability(Durability::Durable).open(path)
}

/// The arguments of a worker.
#[derive(Clone, Debug)]
pub struct Orders {
    pub seed: u64,
    pub in_background: bool,
    /// Whether it compacts the space; a compaction takes longer than all other calls of its thread.
    pub compacts: bool,
    /// A control: each upload is told before it is made.
    pub lies: bool,
    /// The numbers of the first calls, in the order of [`Job::ALL`].
    pub next: [u64; Job::ALL.len()],
}

impl Orders {
    pub fn arguments(&self) -> Vec<String> {
        let flags =
            [self.in_background, self.compacts, self.lies].map(|flag| u64::from(flag).to_string());
        let numbers = self.next.map(|number| number.to_string());
        [self.seed.to_string()].into_iter().chain(flags).chain(numbers).collect()
    }

    fn read(arguments: &[String]) -> Option<Self> {
        let numbers: Option<Vec<u64>> =
            arguments.iter().map(|argument| argument.parse().ok()).collect();
        let numbers = numbers?;
        let [seed, in_background, compacts, lies, next @ ..] = numbers.as_slice() else {
            return None;
        };
        Some(Self {
            seed: *seed,
            in_background: *in_background == 1,
            compacts: *compacts == 1,
            lies: *lies == 1,
            next: next.try_into().ok()?,
        })
    }
}

/// The worker, until it is killed.
pub fn work(path: &Path, arguments: &[String]) -> ExitCode {
    let Some(orders) = Orders::read(arguments) else { return ExitCode::from(2) };
    match open(path, orders.in_background) {
        Ok(space) => work_at(&space, &orders),
        Err(error) => say(&format!("failed: the worker opens the space: {error:?}")),
    }
    ExitCode::SUCCESS
}

fn work_at(space: &Space, orders: &Orders) {
    say("open");
    let mut random = Random::new(orders.seed);
    let max = MAX_PAUSES[random.place(MAX_PAUSES.len())];
    let mut pauses = || CallPauses { random: Random::new(random.next()), max };
    thread::scope(|scope| {
        for (job, next) in Job::ALL.into_iter().zip(orders.next) {
            let notes = space.connect().acting_as(job.name());
            let pauses = pauses();
            scope.spawn(move || {
                tell_failure(job.name(), || call_on(job, &notes, next, pauses, orders));
            });
        }
        let notes = space.connect();
        let pauses = pauses();
        scope.spawn(move || tell_failure("searches", || search_on(&notes, pauses)));
    });
}

/// Tells an error or a panic of a thread.
fn tell_failure(name: &str, work: impl FnOnce() -> Result<()>) {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => say(&format!("failed: {name}: {error:?}")),
        Err(_) => say(&format!("failed: {name}: a panic")),
    }
}

/// Draws the pauses between the calls of a thread.
#[derive(Clone, Debug)]
struct CallPauses {
    random: Random,
    max: u64,
}

impl CallPauses {
    fn sleep(&mut self) {
        thread::sleep(Duration::from_micros(self.random.below(self.max)));
    }
}

fn call_on(
    job: Job,
    notes: &Connection,
    next: u64,
    mut pauses: CallPauses,
    orders: &Orders,
) -> Result<()> {
    for number in next..next + MAX_CALLS {
        let is_early = orders.lies && job == Job::Uploads;
        let told = format!("{} {number}", job.name());
        if is_early {
            say(&told);
        }
        job.call(notes, number, orders.compacts)?;
        if !is_early {
            say(&told);
        }
        pauses.sleep();
    }
    Ok(())
}

fn search_on(notes: &Connection, mut pauses: CallPauses) -> Result<()> {
    for _ in 0..MAX_CALLS {
        let word = WORDS[pauses.random.place(WORDS.len())];
        notes.search(SearchDocuments::words(word))?;
        if pauses.random.one_in(8) {
            notes.space().flush_search()?;
        }
        pauses.sleep();
    }
    Ok(())
}
