//! Group commit: concurrent writers share one fsync. With fsyncs of 4 ms four writers wrote 3.3
//! times as much as one; with fsyncs of 0.07 ms an update takes 0.60 of its time alone.
//!
//! Write closures run one at a time, each on the newest version, committed or not
//! ([`GroupCommit::base_version`]). A finished closure adds its entries to the pending batch
//! ([`GroupCommit::enqueue`]) and waits. The first waiter that finds no batch in flight becomes the
//! leader: it takes the pending batch and commits it while the next closures already run. Writers
//! and snapshots observe a batch only after it has committed.
//!
//! If a batch fails and nothing of it is in the file, each of its writers reruns its closure alone,
//! because one of them may have been the cause (out of space, for example). Writers whose closures
//! had read the failed batch rerun theirs as well ([`Outcome::BaseFailed`]). If it is unknown
//! whether the batch is in the file, all of its writers fail.
//!
//! On slow disks the leader waits for the writers of the previous batch to return, for at most a
//! quarter of the last commit's duration, so that they share this fsync instead of needing the next
//! one. A single writer never waits.

use std::sync::{Arc, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use leafbase_model::{Error, ErrorKind, Result, invariant};

use crate::memtable::{Entry, Memtable};
use crate::store::WriteOptions;
use crate::sync::{Condvar, Mutex, MutexGuard, wait_while_for};

/// A leader waits for more writers for this fraction of the last durable commit's duration.
const GATHER_WAIT_DIVISOR: u32 = 4;
/// Upper bound of that wait.
const MAX_GATHER_WAIT: Duration = Duration::from_millis(2);

/// A version of the memtable: all entries since `checkpoints` checkpoints. A later checkpoint makes
/// some of them redundant.
#[derive(Clone, Default)]
pub(super) struct Version {
    pub(super) memtable: Memtable,
    pub(super) checkpoints: u64,
}

impl Version {
    /// Rebases the entries of this version whose keys were `written` onto another version.
    pub(super) fn rebased_onto(&self, mut base: Self, written: &[Entry]) -> Result<Self> {
        invariant!(
            self.checkpoints < base.checkpoints,
            "a version is rebased onto a newer checkpoint"
        );
        for key in written.iter().map(Entry::key) {
            let Some(entry) = self.memtable.get(key) else {
                invariant!("a version holds every key that its writers wrote")
            };
            base.memtable.insert(entry)?;
        }
        Ok(base)
    }
}

/// Entries that commit together.
pub(super) struct CommitBatch {
    /// The version that the batch produces, including everything below it.
    pub(super) version: Version,
    /// The entries written, possibly several of one key.
    pub(super) written: Vec<Entry>,
    pub(super) bytes: usize,
    /// Durable if any writer asked for it.
    pub(super) options: WriteOptions,
    writers: usize,
    handle: CommitHandle,
}

/// Resolves once the batch has committed or failed.
pub(super) type CommitHandle = Arc<OnceLock<Outcome>>;

#[derive(Clone, Debug)]
pub(super) enum Outcome {
    Committed,
    /// Failed, or indeterminate: the store has to be reopened to find out.
    Failed(Error),
    /// The batch failed as a whole and nothing of it is in the file; each writer retries alone.
    BatchFailed,
    /// A version that the closure had read failed; the closure reruns.
    BaseFailed,
}

/// The version that a closure runs on.
pub(super) struct BaseVersion {
    /// The newest version that has not committed yet; `None` if all have.
    pub(super) uncommitted: Option<(Version, CommitHandle)>,
    /// The failure count when the closure started: detects that the base failed meanwhile.
    failures: u64,
}

/// The writes of a closure.
pub(super) struct ClosureWrites {
    /// The closure's base with its entries.
    pub(super) version: Version,
    pub(super) written: Vec<Entry>,
    pub(super) bytes: usize,
}

pub(super) enum WaitResult<'g> {
    Resolved(Outcome),
    /// The caller is the leader and must commit this batch, which includes its own entries.
    Lead(CommitBatch, LeaderGuard<'g>),
}

/// The batches of a store.
#[derive(Default)]
pub(super) struct GroupCommit {
    state: Mutex<GroupState>,
    /// Notified when a batch has committed or failed.
    resolved: Condvar,
    /// Notified when a writer joins a batch whose leader gathers.
    joined: Condvar,
}

#[derive(Default)]
struct GroupState {
    pending: Option<CommitBatch>,
    in_flight: Option<(Version, CommitHandle)>,
    /// A leader is waiting for more writers.
    is_gathering: bool,
    /// Writers seen concurrently in the last commit.
    recent_writers: usize,
    last_durable_commit: Duration,
    failures: u64,
    /// Threads blocked on `resolved`. Waking none costs a system call, too.
    waiters: usize,
}

impl GroupCommit {
    fn lock(&self) -> MutexGuard<'_, GroupState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The base of the next closure. The caller holds the writer lock until [`Self::enqueue`].
    pub(super) fn base_version(&self) -> BaseVersion {
        let state = self.lock();
        let pending = state.pending.as_ref().map(|batch| (&batch.version, &batch.handle));
        let in_flight = state.in_flight.as_ref().map(|(version, handle)| (version, handle));
        let newest = pending.or(in_flight);
        BaseVersion {
            uncommitted: newest.map(|(version, handle)| (version.clone(), Arc::clone(handle))),
            failures: state.failures,
        }
    }

    /// Adds the writes of a closure that ran on `base` to the pending batch. `committed` gives the
    /// committed version. Returns `None` if the base has failed meanwhile.
    pub(super) fn enqueue(
        &self,
        base: &BaseVersion,
        writes: ClosureWrites,
        options: WriteOptions,
        committed: impl FnOnce() -> Version,
    ) -> Result<Option<CommitHandle>> {
        let ClosureWrites { mut version, written, bytes } = writes;
        let mut state = self.lock();
        if state.failures != base.failures {
            return Ok(None);
        }
        if let Some(batch) = &mut state.pending {
            // A checkpoint since the closure started has emptied the memtable below the batch.
            batch.version = if version.checkpoints == batch.version.checkpoints {
                version
            } else {
                version.rebased_onto(batch.version.clone(), &written)?
            };
            batch.written.extend(written);
            batch.bytes += bytes;
            batch.options = batch.options.joined(options);
            batch.writers += 1;
            let handle = Arc::clone(&batch.handle);
            if state.is_gathering {
                self.joined.notify_one();
            }
            return Ok(Some(handle));
        }
        let below = match &state.in_flight {
            Some((version, _)) => version.clone(),
            None => committed(),
        };
        if version.checkpoints != below.checkpoints {
            version = version.rebased_onto(below, &written)?;
        }
        let handle = CommitHandle::default();
        state.pending = Some(CommitBatch {
            version,
            written,
            bytes,
            options,
            writers: 1,
            handle: Arc::clone(&handle),
        });
        Ok(Some(handle))
    }

    /// Blocks until the batch of `handle` has committed or failed, or until the caller has to lead
    /// a commit.
    pub(super) fn wait(&self, handle: &CommitHandle) -> WaitResult<'_> {
        let mut state = self.lock();
        loop {
            if let Some(outcome) = handle.get() {
                return WaitResult::Resolved(outcome.clone());
            }
            if state.in_flight.is_none() && !state.is_gathering {
                // `gather` may release the lock; `is_gathering` keeps other waiters from leading.
                state = self.gather(state);
                if let Some(batch) = state.pending.take() {
                    debug_assert!(
                        state.in_flight.is_none(),
                        "broken invariant: one batch is in flight at a time"
                    );
                    state.in_flight = Some((batch.version.clone(), Arc::clone(&batch.handle)));
                    let stats = BatchStats::new(&batch);
                    let guard = LeaderGuard { group: self, stats, is_resolved: false };
                    return WaitResult::Lead(batch, guard);
                }
            }
            state.waiters += 1;
            state = self.resolved.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiters -= 1;
        }
    }

    /// Waits for the recent writers to join the pending batch.
    fn gather<'g>(&'g self, mut state: MutexGuard<'g, GroupState>) -> MutexGuard<'g, GroupState> {
        let max_wait = (state.last_durable_commit / GATHER_WAIT_DIVISOR).min(MAX_GATHER_WAIT);
        let expects_more = |state: &GroupState| {
            let pending = state.pending.as_ref();
            pending.is_some_and(|batch| {
                batch.options.is_durable() && batch.writers < state.recent_writers
            })
        };
        if expects_more(&state) && !max_wait.is_zero() {
            state.is_gathering = true;
            state = wait_while_for(&self.joined, &self.state, state, max_wait, expects_more);
            state.is_gathering = false;
        }
        // Writers that did not return are not waited for again.
        if let Some(batch) = &state.pending {
            state.recent_writers = batch.writers;
        }
        state
    }

    /// Resolves the batch in flight. `committed` gives the committed version.
    fn resolve(
        &self,
        stats: &BatchStats,
        outcome: Outcome,
        committed: impl FnOnce() -> Version,
    ) -> Result<()> {
        let mut state = self.lock();
        let pending_writers = state.pending.as_ref().map_or(0, |batch| batch.writers);
        state.recent_writers = state.recent_writers.max(stats.writers + pending_writers);
        if stats.is_durable {
            state.last_durable_commit = stats.started.elapsed();
        }
        let has_failed = !matches!(outcome, Outcome::Committed);
        let mut is_first = true;
        let resolved = state.in_flight.take();
        if let Some((_, handle)) = &resolved {
            is_first &= handle.set(outcome).is_ok();
        }
        let mut failed_base = None;
        if has_failed {
            state.failures += 1;
            // The pending batch was written on the failed one.
            failed_base = state.pending.take();
            if let Some(batch) = &failed_base {
                is_first &= batch.handle.set(Outcome::BaseFailed).is_ok();
            }
        }
        let mut rebased = Ok(());
        if let Some(batch) = &mut state.pending {
            let committed = committed();
            if batch.version.checkpoints != committed.checkpoints {
                rebased = batch
                    .version
                    .rebased_onto(committed, &batch.written)
                    .map(|version| batch.version = version);
            }
        }
        let has_waiters = state.waiters > 0;
        drop(state);
        if has_waiters {
            self.resolved.notify_all();
        }
        let was_in_flight = resolved.is_some();
        // Freeing versions must not block the next writer.
        drop((resolved, failed_base));
        invariant!(was_in_flight, "the batch that a leader commits is in flight");
        invariant!(is_first, "a batch resolves exactly once");
        rebased
    }
}

/// Statistics of a batch that predict the next ones.
struct BatchStats {
    writers: usize,
    is_durable: bool,
    started: Instant,
}

impl BatchStats {
    fn new(batch: &CommitBatch) -> Self {
        let is_durable = batch.options.is_durable();
        Self { writers: batch.writers, is_durable, started: Instant::now() }
    }
}

/// Held by the leader while it commits. Dropping it without [`LeaderGuard::finish`] (a panic) fails
/// the batch, so that no writer waits for ever.
pub(super) struct LeaderGuard<'g> {
    group: &'g GroupCommit,
    stats: BatchStats,
    is_resolved: bool,
}

impl LeaderGuard<'_> {
    /// Starts the measurement of the commit, which excludes waiting for the lock.
    pub(super) fn start_timer(&mut self) {
        self.stats.started = Instant::now();
    }

    /// Resolves the batch for all of its writers and returns the outcome for the leader. The
    /// committed version is unknown if the commit is indeterminate.
    pub(super) fn finish(
        mut self,
        result: Result<()>,
        is_indeterminate: bool,
        committed: impl FnOnce() -> Version,
    ) -> Result<Outcome> {
        self.is_resolved = true;
        let outcome = match result {
            Ok(()) => Outcome::Committed,
            // A retry would meet a bug again.
            Err(error) if error.kind() == ErrorKind::Internal => Outcome::Failed(error),
            Err(_) if self.stats.writers > 1 && !is_indeterminate => Outcome::BatchFailed,
            Err(error) => Outcome::Failed(error),
        };
        self.group.resolve(&self.stats, outcome.clone(), committed)?;
        Ok(outcome)
    }
}

impl Drop for LeaderGuard<'_> {
    fn drop(&mut self) {
        if !self.is_resolved {
            let error = Error::new(
                ErrorKind::Storage,
                "the write shared a commit with another one that panicked",
            );
            // Every batch that resolves here fails, so no version is rebased.
            let _ = self.group.resolve(&self.stats, Outcome::Failed(error), Version::default);
        }
    }
}
