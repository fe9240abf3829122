//! The thread that lets the index of a space catch up: after a pause in writing, or when much was written.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use leafbase_store::SpaceStore;

use super::indexer::Indexer;

/// Nothing was written for so long: then the index catches up.
const PAUSE: Duration = Duration::from_secs(1);
/// It does so after this many pauses in which something was written.
const PATIENCE: u32 = 10;
/// It does so after this many writes.
const MANY_WRITES: u64 = 10_000;
/// Nothing was written for so long: then memory and threads that are needed to write an index are let go of.
const REST: Duration = Duration::from_secs(5);

/// A thread, and what it is told.
#[derive(Default)]
pub(super) struct Worker {
    told: Mutex<Told>,
    wake: Condvar,
}

#[derive(Default)]
struct Told {
    /// Writes since the thread went to work last.
    writes: u64,
    is_urgent: bool,
    is_over: bool,
    thread: Option<JoinHandle<()>>,
}

impl Told {
    const fn is_due(&self) -> bool {
        self.is_over || self.is_urgent || self.writes >= MANY_WRITES
    }
}

impl Worker {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of a write.
    pub(super) fn wrote(&self) {
        let mut told = self.told();
        if told.thread.is_none() {
            return;
        }
        told.writes += 1;
        if told.writes == 1 || told.writes == MANY_WRITES {
            self.wake.notify_all();
        }
    }

    /// Tells what a search found changed.
    pub(super) fn found(&self, changed: usize, is_urgent: bool) {
        if changed == 0 {
            return;
        }
        let mut told = self.told();
        if told.writes == 0 || is_urgent && !told.is_urgent {
            told.writes = told.writes.max(1);
            told.is_urgent |= is_urgent;
            self.wake.notify_all();
        }
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

    /// Waits until there is work; false if it is over. `rest` is called when nothing was written for a while.
    fn wait(&self, rest: &dyn Fn()) -> bool {
        let mut told = self.told();
        let mut is_rested = false;
        while !told.is_due() && told.writes == 0 {
            if is_rested {
                told = self.wake.wait(told).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let (again, waited) = self.wake.wait_timeout(told, REST).unwrap_or_else(PoisonError::into_inner);
            told = again;
            if waited.timed_out() {
                drop(told);
                rest();
                is_rested = true;
                told = self.told();
            }
        }
        let mut told = self.pause(told);
        (told.writes, told.is_urgent) = (0, false);
        !told.is_over
    }

    /// Waits until nothing was written for a while, or there is much to do.
    fn pause<'w>(&'w self, mut told: MutexGuard<'w, Told>) -> MutexGuard<'w, Told> {
        for _ in 0..PATIENCE {
            let writes = told.writes;
            let is_calm = |told: &mut Told| !told.is_due();
            (told, _) = self.wake.wait_timeout_while(told, PAUSE, is_calm).unwrap_or_else(PoisonError::into_inner);
            if told.is_due() || told.writes == writes {
                break;
            }
        }
        told
    }
}

fn work(indexer: &Arc<Indexer>, store: &SpaceStore) {
    let worker = indexer.worker();
    while worker.wait(&|| indexer.rest()) {
        let is_over = || worker.is_over();
        match catch_unwind(AssertUnwindSafe(|| indexer.try_catch_up(store, &is_over))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "the search index stays behind"),
            Err(_) => tracing::warn!("the search index stays behind"),
        }
    }
}
