//! The background thread of the search index. It lets the index catch up after a pause in writing,
//! or when many documents are dirty, and merges segments when nothing is written.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use leafbase_model::Result;

use super::catch_up::CatchUpPace;
use crate::support::named_thread::NamedThread;

/// Idle time after which the index catches up.
const IDLE_BEFORE_CATCH_UP: Duration = Duration::from_secs(1);
/// Pauses after which it catches up although each had a write.
const MAX_PAUSES: u32 = 10;
/// Writes after which it catches up without a pause.
const MAX_PENDING_WRITES: u64 = 10_000;
/// New documents after which it catches up while more are created, as in an import, so that the
/// index is complete soon after the last one.
const BULK_DOCUMENTS: usize = 100;
/// Idle time that ends such a turn.
const IDLE_IN_BULK: Duration = Duration::from_millis(250);
/// The longest time that such a turn waits for more.
const MAX_BULK_TURN: Duration = Duration::from_secs(10);
/// Idle time after which segments are merged, and the writer's threads and memory are released.
const IDLE_BEFORE_RELEASE: Duration = Duration::from_secs(5);

/// The work that the thread does.
pub(super) trait WorkerTasks: Send + 'static {
    /// Catches up unless another thread does. Returns whether the index is then complete.
    fn try_catch_up(&self, pace: &dyn CatchUpPace) -> Result<bool>;
    /// Merges segments unless another thread changes the index.
    fn try_merge(&self);
    /// Releases what only writes need.
    fn release_writer(&self);
}

/// The thread and its state. Without a thread it only counts.
#[derive(Default)]
pub(super) struct IndexWorker {
    shared: Arc<WorkerShared>,
    thread: Mutex<Option<NamedThread>>,
}

#[derive(Default)]
struct WorkerShared {
    state: Mutex<WorkerState>,
    changed: Condvar,
}

/// How many dirty documents searches found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum DirtyLevel {
    #[default]
    Clean,
    Some,
    /// Number of documents from which the index catches up without a pause.
    Many,
}

#[derive(Default)]
struct WorkerState {
    /// Writes since the last turn began.
    pending_writes: u64,
    /// Documents created by these writes without a pause.
    new_documents: usize,
    last_created: Option<Instant>,
    /// What searches found since the last turn began.
    dirty: DirtyLevel,
    /// Whether the last turn failed: the next one waits for a pause.
    has_failed: bool,
    /// Threads that wait for exclusive access to the index. The worker yields to them.
    waiters: usize,
    thread: ThreadStatus,
    is_closed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ThreadStatus {
    #[default]
    NotStarted,
    Started,
    /// The system had no thread left. Only a search tries again.
    Refused,
}

impl WorkerState {
    fn is_due(&self) -> bool {
        self.is_closed
            || self.dirty == DirtyLevel::Many
            || self.pending_writes >= MAX_PENDING_WRITES
            || self.is_bulk()
    }

    /// Whether many documents are being created.
    const fn is_bulk(&self) -> bool {
        self.new_documents >= BULK_DOCUMENTS && !self.has_failed
    }

    fn is_idle(&self) -> bool {
        self.pending_writes == 0 && self.dirty == DirtyLevel::Clean && !self.is_due()
    }

    fn add_documents(&mut self, documents: usize) {
        if documents == 0 {
            return;
        }
        let now = Instant::now();
        let last = self.last_created.replace(now);
        if last.is_none_or(|last| now.duration_since(last) > IDLE_BEFORE_CATCH_UP) {
            self.new_documents = 0;
        }
        self.new_documents = self.new_documents.saturating_add(documents);
    }
}

impl IndexWorker {
    /// Counts a write that created `documents` documents. Returns whether a thread should be
    /// started.
    pub(super) fn record_write(&self, documents: usize) -> bool {
        let mut state = self.shared.lock();
        let was_due = state.is_due();
        state.pending_writes += 1;
        state.add_documents(documents);
        if state.thread != ThreadStatus::Started {
            let may_start = state.thread == ThreadStatus::NotStarted && !state.is_closed;
            return may_start && state.is_bulk();
        }
        // The thread wakes up for the first write and when a bound is reached: waking it for every
        // write would cost a system call each.
        if state.pending_writes == 1 || state.is_due() && !was_due {
            self.shared.changed.notify_all();
        }
        false
    }

    /// Runs `wait`, which waits for exclusive access to the index. Meanwhile the thread waits for
    /// no more writes and starts no other work; otherwise it could take the lock again and again.
    pub(super) fn yield_to<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.shared.lock().waiters += 1;
        self.shared.changed.notify_all();
        let done = wait();
        let mut state = self.shared.lock();
        debug_assert!(state.waiters > 0, "each waiter is counted once");
        state.waiters -= 1;
        drop(state);
        self.shared.changed.notify_all();
        done
    }

    /// Records how many dirty documents a search found, and whether that is many.
    pub(super) fn record_dirty(&self, documents: usize, is_many: bool) {
        if documents == 0 {
            return;
        }
        let mut state = self.shared.lock();
        let level = if is_many { DirtyLevel::Many } else { DirtyLevel::Some };
        if level > state.dirty {
            state.dirty = level;
            self.shared.changed.notify_all();
        }
    }

    /// Requests another turn.
    pub(super) fn request_turn(&self) {
        self.shared.request_turn();
    }

    /// Starts the thread unless it runs. If the system has no thread left, searches catch up
    /// themselves.
    pub(super) fn start(&self, tasks: impl FnOnce() -> Box<dyn WorkerTasks>) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.shared.lock();
        if state.thread == ThreadStatus::Started || state.is_closed {
            return;
        }
        let (shared, tasks) = (Arc::clone(&self.shared), tasks());
        *thread = NamedThread::spawn("leafbase-search", move || shared.run(&*tasks)).ok();
        state.thread = if thread.is_some() { ThreadStatus::Started } else { ThreadStatus::Refused };
    }

    /// Ends the thread and waits for its end.
    pub(super) fn stop(&self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
        // The locks are taken one after the other: `start` takes the thread's first.
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // Panics of its work have been caught and logged.
            let _ = thread.join();
        }
    }
}

impl WorkerShared {
    fn lock(&self) -> MutexGuard<'_, WorkerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request_turn(&self) {
        self.lock().pending_writes += 1;
        self.changed.notify_all();
    }

    fn run(&self, tasks: &dyn WorkerTasks) {
        while let Some(turn) = self.next_turn(tasks) {
            let outcome = catch_unwind(AssertUnwindSafe(|| tasks.try_catch_up(&turn)));
            self.lock().has_failed = !matches!(outcome, Ok(Ok(_)));
            match outcome {
                // A bulk turn leaves many segments. They are merged once nothing is written.
                Ok(Ok(true)) if turn.deadline.is_none() && self.lock().waiters == 0 => {
                    tasks.try_merge();
                }
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => self.request_turn(),
                Ok(Err(error)) => tracing::debug!(%error, "the search index could not catch up"),
                Err(_) => tracing::warn!("the search index panicked while it caught up"),
            }
        }
    }

    /// Waits until there is work; `None` when the worker is closed.
    fn next_turn(&self, tasks: &dyn WorkerTasks) -> Option<CatchUpTurn<'_>> {
        let mut state = self.lock();
        let mut is_released = false;
        while state.is_idle() {
            if is_released {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let (locked, waited) = self
                .changed
                .wait_timeout(state, IDLE_BEFORE_RELEASE)
                .unwrap_or_else(PoisonError::into_inner);
            state = locked;
            if waited.timed_out() {
                // The tasks take the index's lock, so this one is free meanwhile.
                drop(state);
                tasks.try_merge();
                tasks.release_writer();
                is_released = true;
                state = self.lock();
            }
        }
        let state = self.wait_for_pause(state);
        let has_waiters = |state: &mut WorkerState| state.waiters > 0 && !state.is_closed;
        let mut state =
            self.changed.wait_while(state, has_waiters).unwrap_or_else(PoisonError::into_inner);
        let deadline = state.is_bulk().then(|| Instant::now() + MAX_BULK_TURN);
        // Before the turn reads the log: a write after this is counted for the next turn, even if
        // this one still reads it.
        state.pending_writes = 0;
        state.new_documents = 0;
        state.dirty = DirtyLevel::Clean;
        (!state.is_closed).then_some(CatchUpTurn {
            shared: self,
            deadline,
            has_yielded: Cell::default(),
        })
    }

    /// Waits until nothing is written for a while, or a turn is due.
    fn wait_for_pause<'w>(
        &'w self,
        mut state: MutexGuard<'w, WorkerState>,
    ) -> MutexGuard<'w, WorkerState> {
        for _ in 0..MAX_PAUSES {
            let writes = state.pending_writes;
            let is_calm = |state: &mut WorkerState| !state.is_due();
            (state, _) = self
                .changed
                .wait_timeout_while(state, IDLE_BEFORE_CATCH_UP, is_calm)
                .unwrap_or_else(PoisonError::into_inner);
            if state.is_due() || state.pending_writes == writes {
                return state;
            }
        }
        state
    }

    /// Waits for more writes; `false` if none come for a while. Once a thread waits for the index,
    /// the writes up to then are the last ones of the turn.
    fn wait_for_more(&self, has_yielded: &Cell<bool>) -> bool {
        let is_calm = |state: &mut WorkerState| {
            state.pending_writes == 0 && state.waiters == 0 && !state.is_closed
        };
        let waited = self.changed.wait_timeout_while(self.lock(), IDLE_IN_BULK, is_calm);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_closed || has_yielded.get() {
            return false;
        }
        has_yielded.set(state.waiters > 0);
        state.new_documents = 0;
        std::mem::take(&mut state.pending_writes) > 0
    }
}

/// One turn of the thread.
struct CatchUpTurn<'w> {
    shared: &'w WorkerShared,
    /// The end of a bulk turn; `None` for a turn that does not wait for more.
    deadline: Option<Instant>,
    /// Whether a waiting thread was noticed.
    has_yielded: Cell<bool>,
}

impl CatchUpPace for CatchUpTurn<'_> {
    fn is_cancelled(&self) -> bool {
        self.shared.lock().is_closed
    }

    fn expects_more(&self) -> bool {
        self.deadline.is_some()
    }

    fn wait_for_more(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() < deadline)
            && self.shared.wait_for_more(&self.has_yielded)
    }
}
