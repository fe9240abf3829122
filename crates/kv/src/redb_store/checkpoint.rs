//! Commits: batches into the memtable and the WAL, and checkpoints into the redb file.

use std::mem;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use leafbase_model::{Error, ErrorKind, Result, invariant};

use super::compaction;
use super::group_commit::{CommitBatch, Version};
use super::handle::{CommitError, Handle, MAX_READER_WAIT, POLL};
use super::read_view::ReadView;
use super::recovery::failed_again;
use super::store_core::{CommitState, IndeterminateCheckpoint, StoreCore};
use crate::memtable::Memtable;
use crate::store::{Durability, WriteOptions};
use crate::wal::manager::Appended;

/// Bounds of the memtable. They limit memory, and the length of the WAL.
const MAX_MEMTABLE_KEYS: usize = 16_384;
const MAX_MEMTABLE_BYTES: usize = 8 << 20;
/// Most rounds of redb's compaction in one call.
const MAX_COMPACTION_ROUNDS: usize = 8;

fn being_read() -> Error {
    Error::new(ErrorKind::Storage, "the store is being read; try again later")
}

impl StoreCore {
    /// Commits a batch with the durability that its writers asked for, and publishes it.
    pub(super) fn commit_batch(&self, state: &mut CommitState, batch: CommitBatch) -> Result<()> {
        let CommitBatch { mut version, written, bytes, options, .. } = batch;
        // An indeterminate checkpoint is resolved first: if it took place, it holds everything that
        // was published by then.
        let (base, current) = self.recovered(state)?;
        drop(base);
        invariant!(
            version.checkpoints <= current.checkpoints,
            "a batch is not newer than the last checkpoint"
        );
        if version.checkpoints != current.checkpoints {
            version = version.rebased_onto(current, &written)?;
        }
        let Version { memtable, .. } = version;
        let buffered_bytes = state.buffered_bytes + bytes;
        let fits = memtable.len() <= MAX_MEMTABLE_KEYS && buffered_bytes <= MAX_MEMTABLE_BYTES;
        // A durable batch without entries syncs the relaxed writes before it, if there are any.
        if written.is_empty() && (state.wal.is_clean() || !options.is_durable()) {
            return Ok(());
        }
        let appended = if !fits {
            Appended::NeedsCheckpoint
        } else if self.source.is_temporary() {
            // A crash discards the files, whatever they hold.
            Appended::Logged
        } else {
            state.wal.append(&written, bytes, options)?
        };
        match appended {
            Appended::Logged => {
                state.buffered_bytes = buffered_bytes;
                self.publish_memtable(memtable);
                Ok(())
            }
            Appended::NeedsCheckpoint => self.checkpoint(state, memtable, false, false),
            Appended::Failed(error) => {
                tracing::warn!(%error, "the write-ahead log failed and is no longer used");
                let checkpointed = self.checkpoint(state, memtable, false, false);
                checkpointed.map_err(|error| self.remove_failed_record(state, error))
            }
        }
    }

    /// Makes all writes durable if a relaxed one has waited for too long.
    pub(super) fn sync_overdue(
        &self,
        state: &mut CommitState,
        now: &dyn Fn() -> i64,
        check_process: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        if !state.wal.is_overdue(self.source.sync_relaxed_after_millis(), now) {
            return Ok(());
        }
        check_process()?;
        match state.wal.append(&[], 0, WriteOptions::durability(Durability::Durable))? {
            Appended::Logged => Ok(()),
            Appended::NeedsCheckpoint | Appended::Failed(_) => self.flush(state, false),
        }
    }

    /// Writes `memtable`, which holds everything since the last checkpoint, to the redb file. This
    /// truncates the WAL; it is not used any more if the checkpoint `is_last` of the handle.
    pub(super) fn checkpoint(
        &self,
        state: &mut CommitState,
        memtable: Memtable,
        quick_repair: bool,
        is_last: bool,
    ) -> Result<()> {
        // A read of the closure may have poisoned the handle.
        drop(self.recovered_view(state)?);
        let Some(handle) = &state.handle else { return Err(failed_again()) };
        let header = state.wal.next_header(&memtable, is_last);
        match handle.checkpoint(&memtable, quick_repair, header) {
            Ok(()) => {}
            Err(CommitError::NotStarted(error)) => {
                // If the handle is poisoned and the file does not open now, the next call tries
                // again.
                drop(self.recovered_view(state));
                return Err(error);
            }
            Err(CommitError::Indeterminate(error)) => {
                let checkpoint = IndeterminateCheckpoint { memtable, header };
                return self.resolve_checkpoint(state, checkpoint, error);
            }
        }
        state.is_quick_to_open = quick_repair;
        state.wal.checkpointed(header.unwrap_or(state.wal.header()));
        if let Ok(base) = handle.committed_state() {
            self.publish(state, base, true);
        } else {
            // The checkpoint is durable. Until the file is opened again, the old base with all
            // entries over it reads the same.
            handle.health.poison();
            self.publish_memtable(memtable.clone());
            state.indeterminate = Some(IndeterminateCheckpoint { memtable, header });
        }
        Ok(())
    }

    /// Checkpoints everything; `is_last` removes the WAL as well.
    pub(super) fn flush(&self, state: &mut CommitState, is_last: bool) -> Result<()> {
        let ReadView { memtable, base, .. } = self.recovered_view(state)?;
        drop(base);
        let removes_wal = is_last && state.wal.header().in_use;
        if memtable.is_empty() && state.is_quick_to_open && !removes_wal {
            return Ok(());
        }
        self.checkpoint(state, memtable, true, is_last)
    }

    /// Compacts the file, which holds everything. No closure runs and nothing is pending. Deleted
    /// entries leave no byte in it, provided that there is space for a copy of all entries.
    pub(super) fn compact(&self, state: &mut CommitState) -> Result<()> {
        // Fails if the directory was moved. Opening the file again would fail as well, but only
        // after the handle was given up.
        self.source.bytes()?;
        // Without the WAL: recording its end later would make the file longer again.
        self.flush(state, true)?;
        // Reads every page, so that a corrupt one does not get a new checksum.
        compaction::verify_entries(&self.recovered_view(state)?)?;
        // Readers keep pages from being freed, and the file would stay as long as both copies.
        // This fails before anything is written.
        self.wait_until_unread(state)?;
        // Copied entries lie in new pages. Pages that were changed in place may contain remains.
        self.replace_pages(state, |handle, _| handle.rewrite())?;
        self.shrink(state)?;
        self.replace_pages(state, |handle, bytes| handle.overwrite_free_pages(bytes))?;
        self.shrink(state)
    }

    /// Runs a step of compaction, which changes pages and no entry. Without space for it the pages
    /// stay as they are.
    fn replace_pages(
        &self,
        state: &mut CommitState,
        step: impl FnOnce(&Handle, &dyn Fn() -> Result<u64>) -> Result<()>,
    ) -> Result<()> {
        drop(self.recovered_view(state)?);
        let Some(handle) = &state.handle else { return Err(failed_again()) };
        match step(handle, &|| self.source.bytes()) {
            Ok(()) => {
                let replaced = handle.committed_state()?;
                self.publish(state, replaced, true);
            }
            Err(error) if error.kind() == ErrorKind::NoSpace => drop(self.recovered_view(state)?),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Waits up to [`MAX_READER_WAIT`] for snapshots to be dropped, of earlier states as well.
    fn wait_until_unread(&self, state: &CommitState) -> Result<()> {
        // It stays locked: no snapshot begins, so that there are only fewer readers.
        let current = self.current();
        let (Some(handle), Some(base)) = (&state.handle, &current.base) else {
            return Err(failed_again());
        };
        let started = Instant::now();
        while Arc::strong_count(base) > 1 || handle.states() > 1 {
            if started.elapsed() > MAX_READER_WAIT {
                return Err(being_read());
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// Truncates the file with redb's compaction. Waits up to [`MAX_READER_WAIT`] for snapshots to
    /// be dropped, and blocks new ones.
    fn shrink(&self, state: &mut CommitState) -> Result<()> {
        let mut current = self.current();
        let Some(mut base) = current.base.take() else { return Err(failed_again()) };
        // `current` stays locked: no snapshot begins, so that references to the base only get
        // fewer.
        let started = Instant::now();
        loop {
            match Arc::try_unwrap(base) {
                Ok(base) => break drop(base),
                Err(shared) if started.elapsed() > MAX_READER_WAIT => {
                    current.base = Some(shared);
                    return Err(being_read());
                }
                Err(shared) => base = shared,
            }
            thread::sleep(POLL);
        }
        state.is_quick_to_open = false;
        let mut bytes = self.source.bytes()?;
        for round in 0..MAX_COMPACTION_ROUNDS {
            let Some(handle) = &mut state.handle else { return Err(failed_again()) };
            if let Err(error) = handle.shrink() {
                // Without a base the next call opens the file again.
                current.base = handle.committed_state().ok();
                return if round == 0 { Err(error) } else { Ok(()) };
            }
            // redb stops at the last page that has no free page of its order before it, mostly its
            // allocator state. Closing the file moves that page forward and truncates the file, so
            // each round gets further, until one gains nothing.
            state.handle = None;
            let Ok((handle, base)) = self.open_handle(state) else { return Ok(()) };
            state.handle = Some(handle);
            state.is_quick_to_open = true;
            let before = mem::replace(&mut bytes, self.source.bytes()?);
            if bytes >= before || round + 1 == MAX_COMPACTION_ROUNDS {
                current.base = Some(base);
                break;
            }
            drop(base);
        }
        Ok(())
    }
}
