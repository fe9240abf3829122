//! The state of an open redb store: the committed version, and what commits change.

use std::mem;
use std::sync::{Arc, PoisonError, TryLockError};

use super::committed_state::CommittedState;
use super::group_commit::Version;
use super::handle::{Handle, HandleSource};
use super::read_view::ReadView;
use crate::memtable::Memtable;
use crate::sync::{Mutex, MutexGuard};
use crate::wal::manager::{WalHeader, WalManager};

/// The state that snapshots and commits share.
///
/// Lock order: the writer lock of the store, then `commit_state`, then `current`.
pub(super) struct StoreCore {
    pub(super) source: HandleSource,
    /// The version that a snapshot clones. Held only to clone or to replace it, except by
    /// compaction.
    current: Mutex<CurrentVersion>,
    /// Held while the files are written or opened again.
    commit_state: Mutex<CommitState>,
}

/// The current version: the last redb commit, and the entries committed since.
pub(super) struct CurrentVersion {
    /// `None` while the file cannot be opened.
    pub(super) base: Option<Arc<CommittedState>>,
    pub(super) memtable: Memtable,
    /// Checkpoints since the store was opened.
    pub(super) checkpoints: u64,
    /// How often another version was published since then: the number of this one.
    published: u64,
}

impl CurrentVersion {
    pub(super) fn version(&self) -> Version {
        Version { memtable: self.memtable.clone(), checkpoints: self.checkpoints }
    }

    /// The view of this version over `base`, which is its own.
    pub(super) fn view_over(&self, base: &Arc<CommittedState>) -> ReadView {
        let (base, memtable) = (Arc::clone(base), self.memtable.clone());
        ReadView { base, memtable, version: Some(self.published) }
    }
}

/// The open files and their state.
pub(super) struct CommitState {
    /// `None` while the file cannot be opened.
    pub(super) handle: Option<Handle>,
    pub(super) wal: WalManager,
    /// Bytes written to the memtable since the last checkpoint.
    pub(super) buffered_bytes: usize,
    /// Whether the last commit recorded the allocator state, so that opening the file after a crash
    /// does not read all of it.
    pub(super) is_quick_to_open: bool,
    /// A failed checkpoint of which it is unknown whether the file holds it.
    pub(super) indeterminate: Option<IndeterminateCheckpoint>,
    /// Whether the WAL may hold a record of a write that failed.
    pub(super) has_indeterminate_record: bool,
}

/// A checkpoint that may be in the file entirely or not at all.
pub(super) struct IndeterminateCheckpoint {
    pub(super) memtable: Memtable,
    /// The WAL header that it writes; `None` if it leaves the header unchanged.
    pub(super) header: Option<WalHeader>,
}

impl StoreCore {
    pub(super) fn new(
        source: HandleSource,
        handle: Handle,
        view: ReadView,
        wal: WalManager,
    ) -> Self {
        let ReadView { base, memtable, .. } = view;
        let buffered_bytes = memtable.iter().map(crate::memtable::Entry::len).sum();
        Self {
            source,
            current: Mutex::new(CurrentVersion {
                base: Some(base),
                memtable,
                checkpoints: 0,
                published: 0,
            }),
            commit_state: Mutex::new(CommitState {
                handle: Some(handle),
                wal,
                buffered_bytes,
                is_quick_to_open: true,
                indeterminate: None,
                has_indeterminate_record: false,
            }),
        }
    }

    pub(super) fn current(&self) -> MutexGuard<'_, CurrentVersion> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn commit_state(&self) -> MutexGuard<'_, CommitState> {
        self.commit_state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, if no other thread holds it.
    pub(super) fn try_commit_state(&self) -> Option<MutexGuard<'_, CommitState>> {
        match self.commit_state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(super) fn current_version(&self) -> Version {
        self.current().version()
    }

    /// The current version and its base; `None` if the handle is poisoned.
    pub(super) fn healthy(&self) -> Option<(Arc<CommittedState>, Version)> {
        let current = self.current();
        let base = current.base.as_ref().filter(|base| !base.health.is_poisoned())?;
        Some((Arc::clone(base), current.version()))
    }

    pub(super) fn healthy_view(&self) -> Option<ReadView> {
        let current = self.current();
        let base = current.base.as_ref().filter(|base| !base.health.is_poisoned())?;
        Some(current.view_over(base))
    }

    /// Replaces the base of the current version. `is_checkpoint` if it holds every entry, so that
    /// the memtable starts empty.
    pub(super) fn publish(
        &self,
        state: &mut CommitState,
        base: Arc<CommittedState>,
        is_checkpoint: bool,
    ) {
        let mut current = self.current();
        let old_base = current.base.replace(base);
        current.published += 1;
        let mut old_memtable = None;
        if is_checkpoint {
            state.buffered_bytes = 0;
            state.wal.mark_clean();
            current.checkpoints += 1;
            old_memtable = Some(mem::take(&mut current.memtable));
            debug_assert!(
                state.wal.is_clean(),
                "broken invariant: a checkpoint makes every write durable"
            );
        }
        drop(current);
        // Freeing them must not block a snapshot.
        drop((old_base, old_memtable));
    }

    /// Publishes a memtable that the WAL holds.
    pub(super) fn publish_memtable(&self, memtable: Memtable) {
        let mut current = self.current();
        let old = mem::replace(&mut current.memtable, memtable);
        current.published += 1;
        drop(current);
        drop(old);
    }
}
