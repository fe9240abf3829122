//! Group commit: writes of several threads that wait for one sync together.
//!
//! A closure runs alone, on what the one before it made, whether that is settled yet or not. Then
//! its edits join the batch that waits, and the first writer that finds no batch being settled
//! settles the one that waits, with all that is in it, while the next closures run. Nobody is told
//! anything before the batch is settled: neither the writer, nor a snapshot. If it fails, and none
//! of it is there, those in it run their closures again, each alone: it may have been one of them
//! that asked for too much. Those whose closures had read it run them again, too. Where it is not
//! known what is there, all in it have failed.
//!
//! Where a sync takes long, the writers of the batch before it come back sooner than it would end:
//! so who is about to settle waits for as many as were met last, for a quarter of that time at
//! most. If they do not come, they are not waited for again. A writer alone is its own batch, and
//! waits for nobody.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use leafbase_model::{Error, ErrorKind, Result};

use super::view::{Edits, Row};

/// Which part of the time that settling takes is waited for others, and how long at most.
const PATIENCE: u32 = 4;
const MOST_PATIENCE: Duration = Duration::from_millis(2);

/// All edits since a commit, and how many commits there were before them: later ones make part of
/// them superfluous.
#[derive(Clone, Default)]
pub(super) struct Tip {
    pub(super) edits: Edits,
    pub(super) commits: u64,
}

impl Tip {
    /// The edits of `keys` in this one, over another one.
    pub(super) fn laid_over(&self, mut below: Self, keys: &[Row]) -> Self {
        for row in keys.iter().filter_map(|row| self.edits.get(row.key())) {
            below.edits.insert(row);
        }
        below
    }
}

/// Writes that are settled together.
pub(super) struct Batch {
    /// What they made, with all below it.
    pub(super) tip: Tip,
    /// The keys that they put or removed, some of them more than once.
    pub(super) keys: Vec<Row>,
    /// Bytes that they put.
    pub(super) bytes: usize,
    /// Whether one of them has to survive the loss of power.
    pub(super) is_durable: bool,
    writers: usize,
    ticket: Ticket,
}

/// Tells what became of a batch, once it is settled.
pub(super) type Ticket = Arc<OnceLock<Outcome>>;

/// What became of a batch.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    Done,
    Failed(Arc<Error>),
    /// It failed with all the writes that are in it, and none of them is there.
    Together,
    /// It was made on one that failed, and is not there either.
    Groundless,
}

/// What a closure is run on.
pub(super) struct Ground {
    /// What is not settled yet, and its ticket; none if nothing is.
    pub(super) unsettled: Option<(Tip, Ticket)>,
    failures: u64,
}

/// What a writer that waits has to do.
pub(super) enum Task<'g> {
    /// Its batch is settled.
    Go(Outcome),
    /// To settle this one, of which its own edits are a part.
    Settle(Batch, Settling<'g>),
}

/// The batches of a store.
#[derive(Default)]
pub(super) struct Group {
    state: Mutex<State>,
    /// Whenever one is settled.
    settled: Condvar,
    /// Whenever a writer joins one that waits for it.
    joined: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Option<Batch>,
    /// Whether somebody is about to settle it.
    is_led: bool,
    settling: Option<(Tip, Ticket)>,
    /// How many writers were met at the same time of late.
    met: usize,
    /// How long it took to settle the last batch that is durable.
    took: Duration,
    /// How many batches have failed.
    failures: u64,
    /// How many wait to be told that one is settled: to tell nobody is a call of the system, too.
    listeners: usize,
}

impl Group {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the next closure is run on. Only one runs at a time, up to [`Self::join`].
    pub(super) fn ground(&self) -> Ground {
        let state = self.state();
        let waiting = state.waiting.as_ref().map(|batch| (&batch.tip, &batch.ticket));
        let unsettled = waiting.or(state.settling.as_ref().map(|(tip, ticket)| (tip, ticket)));
        Ground {
            unsettled: unsettled.map(|(tip, ticket)| (tip.clone(), Arc::clone(ticket))),
            failures: state.failures,
        }
    }

    /// Adds what a closure made on `ground` to the batch that waits; `published` tells what is
    /// settled. None if what it was made on has failed meanwhile.
    pub(super) fn join(
        &self,
        ground: &Ground,
        made: Made,
        is_durable: bool,
        published: impl FnOnce() -> Tip,
    ) -> Option<Ticket> {
        let Made { mut tip, keys, bytes } = made;
        let mut state = self.state();
        if state.failures != ground.failures {
            return None;
        }
        if let Some(batch) = &mut state.waiting {
            batch.tip = if tip.commits == batch.tip.commits {
                tip
            } else {
                tip.laid_over(batch.tip.clone(), &keys)
            };
            batch.keys.extend(keys);
            batch.bytes += bytes;
            batch.is_durable |= is_durable;
            batch.writers += 1;
            let ticket = Arc::clone(&batch.ticket);
            if state.is_led {
                self.joined.notify_one();
            }
            return Some(ticket);
        }
        let below = state.settling.as_ref().map_or_else(published, |(tip, _)| tip.clone());
        if tip.commits != below.commits {
            tip = tip.laid_over(below, &keys);
        }
        let ticket = Ticket::default();
        state.waiting =
            Some(Batch { tip, keys, bytes, is_durable, writers: 1, ticket: Arc::clone(&ticket) });
        Some(ticket)
    }

    /// Waits until the batch of this ticket is settled, or is to be settled by who asks.
    pub(super) fn wait(&self, ticket: &Ticket) -> Task<'_> {
        let mut state = self.state();
        loop {
            if let Some(outcome) = ticket.get() {
                return Task::Go(outcome.clone());
            }
            if state.settling.is_none() && !state.is_led {
                state = self.gather(state);
                if let Some(batch) = state.waiting.take() {
                    state.settling = Some((batch.tip.clone(), Arc::clone(&batch.ticket)));
                    let settling =
                        Settling { group: self, of: Measure::of(&batch), is_told: false };
                    return Task::Settle(batch, settling);
                }
            }
            state.listeners += 1;
            state = self.settled.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.listeners -= 1;
        }
    }

    /// Waits for the writers met of late to join the batch that waits.
    fn gather<'g>(&self, mut state: MutexGuard<'g, State>) -> MutexGuard<'g, State> {
        let patience = (state.took / PATIENCE).min(MOST_PATIENCE);
        let lacks = |state: &State| {
            state
                .waiting
                .as_ref()
                .is_some_and(|batch| batch.is_durable && batch.writers < state.met)
        };
        if lacks(&state) && !patience.is_zero() {
            state.is_led = true;
            let waited = self.joined.wait_timeout_while(state, patience, |state| lacks(state));
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            state.is_led = false;
        }
        state.met = state.waiting.as_ref().map_or(state.met, |batch| batch.writers);
        state
    }

    /// Ends the settling of a batch. `published` tells what is settled now.
    fn settled(&self, of: &Measure, outcome: Outcome, published: impl FnOnce() -> Tip) {
        let mut state = self.state();
        state.met =
            state.met.max(of.writers + state.waiting.as_ref().map_or(0, |batch| batch.writers));
        if of.is_durable {
            state.took = of.began.elapsed();
        }
        let has_failed = !matches!(outcome, Outcome::Done);
        let settled = state.settling.take();
        if let Some((_, ticket)) = &settled {
            tell(ticket, outcome);
        }
        let groundless = has_failed.then(|| {
            state.failures += 1;
            state.waiting.take().inspect(|batch| tell(&batch.ticket, Outcome::Groundless))
        });
        if let Some(batch) = &mut state.waiting {
            let published = published();
            if batch.tip.commits != published.commits {
                batch.tip = batch.tip.laid_over(published, &batch.keys);
            }
        }
        let has_listeners = state.listeners > 0;
        drop(state);
        if has_listeners {
            self.settled.notify_all();
        }
        // Freeing them must not hold up a writer.
        drop((settled, groundless));
    }
}

/// Nobody else tells it: a batch is settled once.
fn tell(ticket: &Ticket, outcome: Outcome) {
    let told = ticket.set(outcome);
    debug_assert!(told.is_ok(), "a batch is settled once");
}

/// What a closure made.
pub(super) struct Made {
    /// All edits, those below included, of the commits of what is below.
    pub(super) tip: Tip,
    pub(super) keys: Vec<Row>,
    pub(super) bytes: usize,
}

/// What is learnt from a batch for the next ones.
struct Measure {
    writers: usize,
    is_durable: bool,
    began: Instant,
}

impl Measure {
    fn of(batch: &Batch) -> Self {
        Self { writers: batch.writers, is_durable: batch.is_durable, began: Instant::now() }
    }
}

/// A batch that is being settled. If it is dropped before its outcome is told, by a panic, the
/// batch has failed.
pub(super) struct Settling<'g> {
    group: &'g Group,
    of: Measure,
    is_told: bool,
}

impl Settling<'_> {
    /// From here on it takes time: what was waited for before is none of it.
    pub(super) fn begin(&mut self) {
        self.of.began = Instant::now();
    }

    /// Tells everybody what became of the batch, and who settled it, too. `published` tells what is
    /// settled now, which is not known if the batch is in doubt.
    pub(super) fn end(
        mut self,
        result: Result<()>,
        is_in_doubt: bool,
        published: impl FnOnce() -> Tip,
    ) -> Result<Outcome> {
        self.is_told = true;
        let outcome = match &result {
            Ok(()) => Outcome::Done,
            Err(_) if self.of.writers > 1 && !is_in_doubt => Outcome::Together,
            Err(error) => Outcome::Failed(Arc::new(copy(error))),
        };
        self.group.settled(&self.of, outcome.clone(), published);
        match outcome {
            Outcome::Failed(_) => result.map(|()| outcome),
            told => Ok(told),
        }
    }
}

impl Drop for Settling<'_> {
    fn drop(&mut self) {
        if !self.is_told {
            let error = Error::new(
                ErrorKind::Storage,
                "a write that this one was to be stored with ended in a panic",
            );
            self.group.settled(&self.of, Outcome::Failed(Arc::new(error)), Tip::default);
        }
    }
}

/// The same error for one more writer, with the words of what caused it.
pub(super) fn copy(error: &Error) -> Error {
    let copy = Error::new(error.kind(), error.message()).at(error.path());
    match std::error::Error::source(error) {
        Some(source) => copy.with_source(source.to_string()),
        None => copy,
    }
}
