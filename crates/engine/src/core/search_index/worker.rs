//! The thread that lets the index of a space catch up: after a pause in writing, or when much was
//! written.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use leafbase_store::SpaceStore;

use super::catching::Pace;
use super::indexer::Indexer;

/// Nothing was written for so long: then the index catches up.
const PAUSE: Duration = Duration::from_secs(1);
/// It does so after this many pauses in which something was written.
const PATIENCE: u32 = 10;
/// It does so after this many writes.
const MANY_WRITES: u64 = 10_000;
/// It does so while this many documents are made: to be ready soon after the last one.
const MANY_DOCUMENTS: usize = 100;
/// Many documents are being made until for so long nothing is written,
const CALM: Duration = Duration::from_millis(250);
/// or for so long.
const LONG: Duration = Duration::from_secs(10);
/// Nothing was written for so long: then the index is tidied up, and memory and threads that are
/// needed to write it are let go of.
const REST: Duration = Duration::from_secs(5);

/// A thread, and what it is told.
#[derive(Default)]
pub(super) struct Worker {
    told: Mutex<Told>,
    wake: Condvar,
}

/// What searches found changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    #[default]
    Nothing,
    Something,
    /// So much that the index catches up at once.
    Much,
}

#[derive(Default)]
struct Told {
    /// Writes since the thread went to work last.
    writes: u64,
    /// Documents that they made, each soon after the one before.
    documents: usize,
    /// When the last of these was made.
    made_last: Option<Instant>,
    /// By searches, since then.
    found: Found,
    /// The last turn failed: the next one waits for a pause.
    is_discouraged: bool,
    /// How many wait until the thread has done its work.
    hurried: usize,
    /// No thread could be started.
    is_refused: bool,
    is_over: bool,
    thread: Option<JoinHandle<()>>,
}

impl Told {
    fn is_due(&self) -> bool {
        self.is_over || self.found == Found::Much || self.writes >= MANY_WRITES || self.has_many()
    }

    /// Whether many documents are being made.
    const fn has_many(&self) -> bool {
        self.documents >= MANY_DOCUMENTS && !self.is_discouraged
    }

    /// Whether there is nothing to do.
    fn is_idle(&self) -> bool {
        self.writes == 0 && self.found == Found::Nothing && !self.is_due()
    }

    fn made(&mut self, documents: usize) {
        if documents == 0 {
            return;
        }
        let now = Instant::now();
        if self.made_last.replace(now).is_none_or(|last| now.duration_since(last) > PAUSE) {
            self.documents = 0;
        }
        self.documents = self.documents.saturating_add(documents);
    }
}

impl Worker {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of a write that made so many documents. Says whether a thread should be started.
    pub(super) fn wrote(&self, documents: usize) -> bool {
        let mut told = self.told();
        let was_due = told.is_due();
        told.writes += 1;
        told.made(documents);
        if told.thread.is_none() {
            return told.has_many() && !told.is_over && !told.is_refused;
        }
        if told.writes == 1 || told.is_due() && !was_due {
            self.wake.notify_all();
        }
        false
    }

    /// Does what waits for the thread's work to be done, which waits for no more writes meanwhile,
    /// and goes to no other work: it would be first, always.
    pub(super) fn hurry<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.told().hurried += 1;
        self.wake.notify_all();
        let done = wait();
        self.told().hurried -= 1;
        self.wake.notify_all();
        done
    }

    /// Waits for more to be written; false if nothing is for a while. Once somebody waits for the
    /// thread, what was written by then is the last that there is.
    fn waits_for_more(&self, is_hurried: &Cell<bool>) -> bool {
        let is_calm = |told: &mut Told| told.writes == 0 && told.hurried == 0 && !told.is_over;
        let waited = self.wake.wait_timeout_while(self.told(), CALM, is_calm);
        let (mut told, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if told.is_over || is_hurried.get() {
            return false;
        }
        is_hurried.set(told.hurried > 0);
        told.documents = 0;
        std::mem::take(&mut told.writes) > 0
    }

    fn is_hurried(&self) -> bool {
        self.told().hurried > 0
    }

    /// Tells what a search found changed.
    pub(super) fn found(&self, changed: usize, is_urgent: bool) {
        if changed == 0 {
            return;
        }
        let mut told = self.told();
        let found = if is_urgent { Found::Much } else { Found::Something };
        if found > told.found {
            told.found = found;
            self.wake.notify_all();
        }
    }

    /// There is more to do for the thread than what is written from now on.
    pub(super) fn has_left_some(&self) {
        self.told().writes += 1;
        self.wake.notify_all();
    }

    /// Starts the thread, unless there is one. Where none can be started, searches do its work.
    pub(super) fn start(&self, indexer: &Arc<Indexer>, store: &SpaceStore) {
        let mut told = self.told();
        if told.thread.is_some() || told.is_over {
            return;
        }
        let (indexer, store) = (Arc::clone(indexer), store.clone());
        let name = "leafbase-search".to_owned();
        told.thread = thread::Builder::new().name(name).spawn(move || work(&indexer, &store)).ok();
        told.is_refused = told.thread.is_none();
    }

    /// Ends the thread, and waits for that.
    pub(super) fn stop(&self) {
        let thread = {
            let mut told = self.told();
            told.is_over = true;
            self.wake.notify_all();
            told.thread.take()
        };
        if let Some(thread) = thread {
            // What it could say by a panic was caught.
            let _ = thread.join();
        }
    }

    fn is_over(&self) -> bool {
        self.told().is_over
    }

    /// Waits until there is work; none if it is over. `rest` is called when nothing was written for
    /// a while.
    fn wait(&self, rest: &dyn Fn()) -> Option<Turn<'_>> {
        let mut told = self.told();
        let mut is_rested = false;
        while told.is_idle() {
            if is_rested {
                told = self.wake.wait(told).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let (again, waited) =
                self.wake.wait_timeout(told, REST).unwrap_or_else(PoisonError::into_inner);
            told = again;
            if waited.timed_out() {
                drop(told);
                rest();
                is_rested = true;
                told = self.told();
            }
        }
        let told = self.pause(told);
        let others = |told: &mut Told| told.hurried > 0 && !told.is_over;
        let mut told = self.wake.wait_while(told, others).unwrap_or_else(PoisonError::into_inner);
        let until = told.has_many().then(|| Instant::now() + LONG);
        (told.writes, told.documents, told.found) = (0, 0, Found::Nothing);
        (!told.is_over).then_some(Turn { worker: self, until, is_hurried: Cell::default() })
    }

    /// Waits until nothing was written for a while, or there is much to do.
    fn pause<'w>(&'w self, mut told: MutexGuard<'w, Told>) -> MutexGuard<'w, Told> {
        for _ in 0..PATIENCE {
            let writes = told.writes;
            let is_calm = |told: &mut Told| !told.is_due();
            (told, _) = self
                .wake
                .wait_timeout_while(told, PAUSE, is_calm)
                .unwrap_or_else(PoisonError::into_inner);
            if told.is_due() || told.writes == writes {
                break;
            }
        }
        told
    }
}

/// Work that the thread has been given.
struct Turn<'w> {
    worker: &'w Worker,
    /// While many documents are made, it goes on until then.
    until: Option<Instant>,
    /// Whether somebody waits for it, who has been heard.
    is_hurried: Cell<bool>,
}

impl Pace for Turn<'_> {
    fn is_over(&self) -> bool {
        self.worker.is_over()
    }

    fn goes_on(&self) -> bool {
        self.until.is_some()
    }

    fn waits(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() < until)
            && self.worker.waits_for_more(&self.is_hurried)
    }
}

fn work(indexer: &Arc<Indexer>, store: &SpaceStore) {
    let worker = indexer.worker();
    let rest = || {
        indexer.try_tidy();
        indexer.rest();
    };
    while let Some(turn) = worker.wait(&rest) {
        let outcome = catch_unwind(AssertUnwindSafe(|| indexer.try_catch_up(store, &turn)));
        worker.told().is_discouraged = !matches!(outcome, Ok(Ok(_)));
        match outcome {
            // Many documents come with many segments, which are put together when nothing is
            // written any more.
            Ok(Ok(true)) if turn.until.is_none() && !worker.is_hurried() => indexer.try_tidy(),
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => worker.has_left_some(),
            Ok(Err(error)) => tracing::debug!(%error, "the search index stays behind"),
            Err(_) => tracing::warn!("the search index stays behind"),
        }
    }
}
