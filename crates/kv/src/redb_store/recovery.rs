//! Recovery from I/O errors: opens the files again and finds out which commits they hold.

use std::sync::Arc;

use leafbase_model::{Error, ErrorKind, Result, invariant};

use super::committed_state::CommittedState;
use super::group_commit::Version;
use super::handle::Handle;
use super::read_view::ReadView;
use super::store_core::{CommitState, IndeterminateCheckpoint, StoreCore};
use crate::io_errors::io_error;
use crate::memtable::Memtable;
use crate::wal::manager::WalHeader;

/// How often a call opens the files again before it fails. The next call tries again.
const MAX_REOPENINGS: usize = 3;

const UNAVAILABLE: &str = "the store is unavailable: its file cannot be opened again";
const INDETERMINATE: &str = "the store is unavailable: its file cannot be opened again, and \
                             whether this write took place shows when it can";

impl StoreCore {
    /// The current version with its base, after opening the file again if the handle is poisoned.
    pub(super) fn recovered(
        &self,
        state: &mut CommitState,
    ) -> Result<(Arc<CommittedState>, Version)> {
        if let Some(healthy) = self.healthy() {
            return Ok(healthy);
        }
        self.recover(state)?;
        self.healthy().ok_or_else(failed_again)
    }

    pub(super) fn recovered_view(&self, state: &mut CommitState) -> Result<ReadView> {
        if let Some(view) = self.healthy_view() {
            return Ok(view);
        }
        self.recover(state)?;
        self.healthy_view().ok_or_else(failed_again)
    }

    /// Opens the file again and publishes its contents.
    fn recover(&self, state: &mut CommitState) -> Result<()> {
        let mut result = Ok(());
        for _ in 0..MAX_REOPENINGS {
            result = self.try_recover(state);
            // A bug would only repeat.
            if !matches!(&result, Err(error) if error.kind() != ErrorKind::Internal) {
                break;
            }
        }
        result.map_err(|error| unavailable(UNAVAILABLE, error))
    }

    fn try_recover(&self, state: &mut CommitState) -> Result<()> {
        let base = self.reopen(state)?;
        let is_checkpoint = match &state.indeterminate {
            Some(checkpoint) => has_committed(&base, state.wal.header(), checkpoint)?,
            None => false,
        };
        // The failed write must not be replayed, so its record goes before anything else happens.
        if state.has_indeterminate_record {
            let truncated = state.wal.truncate_tail();
            truncated
                .map_err(|error| io_error("the write-ahead log could not be written", error))?;
            state.has_indeterminate_record = false;
        }
        state.indeterminate = None;
        self.publish(state, base, is_checkpoint);
        Ok(())
    }

    fn reopen(&self, state: &mut CommitState) -> Result<Arc<CommittedState>> {
        // The old handle holds redb's lock on the file.
        let old_base = self.current().base.take();
        drop(old_base);
        state.handle = None;
        let (handle, base) = self.open_handle(state)?;
        state.handle = Some(handle);
        state.is_quick_to_open = false;
        Ok(base)
    }

    /// Opens the file, of which no handle is open.
    pub(super) fn open_handle(
        &self,
        state: &mut CommitState,
    ) -> Result<(Handle, Arc<CommittedState>)> {
        invariant!(
            state.handle.is_none(),
            "a handle is closed before the file is opened again: both would commit"
        );
        let handle = Handle::open(&self.source)?;
        let base = handle.committed_state()?;
        handle.persist_repairs()?;
        let header = handle.wal_header()?;
        if !self.source.is_read_only() {
            state.wal.reopened(header);
        }
        Ok((handle, base))
    }

    /// Finds out whether a checkpoint that failed with `error` is in the file.
    pub(super) fn resolve_checkpoint(
        &self,
        state: &mut CommitState,
        checkpoint: IndeterminateCheckpoint,
        error: Error,
    ) -> Result<()> {
        for _ in 0..MAX_REOPENINGS {
            let Ok(base) = self.reopen(state) else { continue };
            let Ok(is_committed) = has_committed(&base, state.wal.header(), &checkpoint) else {
                continue;
            };
            self.publish(state, base, is_committed);
            return if is_committed { Ok(()) } else { Err(error) };
        }
        self.current().base = None;
        state.handle = None;
        state.indeterminate = Some(checkpoint);
        Err(unavailable(INDETERMINATE, error))
    }

    /// Removes the WAL record of a write that then failed as a checkpoint, too. If that is not
    /// possible now, nothing is readable before it has happened.
    pub(super) fn remove_failed_record(&self, state: &mut CommitState, error: Error) -> Error {
        if state.wal.truncate_tail().is_ok() {
            return error;
        }
        self.current().base = None;
        state.handle = None;
        state.has_indeterminate_record = true;
        unavailable(INDETERMINATE, error)
    }
}

/// Whether the file holds a checkpoint. One that truncates the WAL is recognised by the header that
/// it writes, since it may change no entry of the file.
fn has_committed(
    base: &CommittedState,
    header: WalHeader,
    checkpoint: &IndeterminateCheckpoint,
) -> Result<bool> {
    match checkpoint.header {
        Some(expected) => Ok(header == expected),
        None => contains_all(base, &checkpoint.memtable),
    }
}

/// Whether the file holds all entries of `memtable`. A checkpoint that changes no entry counts as
/// committed.
fn contains_all(base: &CommittedState, memtable: &Memtable) -> Result<bool> {
    for entry in memtable {
        let mut is_equal = false;
        let is_present = base.get(entry.key(), &mut |value| {
            is_equal = entry.value() == Some(value);
            Ok(())
        })?;
        if is_present != entry.value().is_some() || is_present && !is_equal {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The error after a second failure during recovery.
pub(super) fn failed_again() -> Error {
    Error::new(ErrorKind::Storage, "the store failed again during recovery; try again")
}

fn unavailable(message: &str, cause: Error) -> Error {
    if cause.kind() == ErrorKind::Internal {
        return cause;
    }
    Error::new(ErrorKind::Storage, message).with_source(cause)
}
