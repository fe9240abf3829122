//! What the embedded store does after an error of its files: it opens them again and finds out what
//! took place.

use std::sync::Arc;

use leafbase_model::{Error, ErrorKind, Result};

use super::base::Base;
use super::failure::from_io;
use super::group::Tip;
use super::journaling::Mark;
use super::opener::Handle;
use super::redb_store::{RedbStore, Slot};
use super::view::{Edits, View};

/// How often a failed store is opened again before a call gives up; the next call tries anew.
const REOPENINGS: usize = 3;

/// A commit of which it is not known whether it took place.
pub(super) struct Doubtful {
    pub(super) edits: Edits,
    /// What the file says of the journal if it did; none if it says the same either way.
    pub(super) mark: Option<Mark>,
}

const IN_DOUBT: &str = "the store is unavailable: its file cannot be opened again, and whether this write took place shows when it can";

impl RedbStore {
    /// The published state for the holder of the slot, after opening the file again where that is
    /// needed.
    pub(super) fn mended_view(&self, slot: &mut Slot) -> Result<View> {
        let (base, Tip { edits, .. }) = self.mended(slot)?;
        Ok(View { base, edits })
    }

    /// The same, with the number of commits before the edits.
    pub(super) fn mended(&self, slot: &mut Slot) -> Result<(Arc<Base>, Tip)> {
        if let Some(settled) = self.settled() {
            return Ok(settled);
        }
        self.mend(slot)?;
        self.settled().ok_or_else(closed)
    }

    /// Opens the file again and publishes what it holds.
    fn mend(&self, slot: &mut Slot) -> Result<()> {
        let mut result = Ok(());
        for _ in 0..REOPENINGS {
            result = self.try_mend(slot);
            if result.is_ok() {
                break;
            }
        }
        result.map_err(|error| {
            unavailable("the store is unavailable: its file cannot be opened again", error)
        })
    }

    fn try_mend(&self, slot: &mut Slot) -> Result<()> {
        let base = self.reopen(slot)?;
        let all_committed = slot
            .unresolved
            .as_ref()
            .map_or(Ok(false), |commit| took_place(&base, slot.journal.mark(), commit))?;
        if slot.is_record_in_doubt {
            slot.journal
                .retract()
                .map_err(|error| from_io("the journal could not be written", error))?;
            slot.is_record_in_doubt = false;
        }
        slot.unresolved = None;
        self.publish(slot, base, all_committed);
        Ok(())
    }

    fn reopen(&self, slot: &mut Slot) -> Result<Arc<Base>> {
        // The file is locked by the old handle: it goes first.
        let old = self.published().base.take();
        drop(old);
        slot.handle = None;
        let (handle, base) = self.opened(slot)?;
        slot.handle = Some(handle);
        slot.quick_to_open = false;
        Ok(base)
    }

    /// A handle on the file, which no other one has.
    pub(super) fn opened(&self, slot: &mut Slot) -> Result<(Handle, Arc<Base>)> {
        let handle = Handle::open(&self.opener)?;
        let base = handle.base()?;
        handle.settle()?;
        let mark = handle.mark()?;
        if !self.read_only {
            slot.journal.opened(mark);
        }
        Ok((handle, base))
    }

    /// Finds out whether a commit that reported `error` took place: it is in the file whole or not
    /// at all.
    pub(super) fn settle(&self, slot: &mut Slot, commit: Doubtful, error: Error) -> Result<()> {
        for _ in 0..REOPENINGS {
            let Ok(base) = self.reopen(slot) else { continue };
            let Ok(committed) = took_place(&base, slot.journal.mark(), &commit) else { continue };
            self.publish(slot, base, committed);
            return if committed { Ok(()) } else { Err(error) };
        }
        self.published().base = None;
        slot.handle = None;
        slot.unresolved = Some(commit);
        Err(unavailable(IN_DOUBT, error))
    }

    /// A write whose record failed and that is no commit either did not take place: its record must
    /// not be there. If that can't be seen to now, nobody is told anything before it is.
    pub(super) fn retract(&self, slot: &mut Slot, error: Error) -> Error {
        if slot.journal.retract().is_ok() {
            return error;
        }
        self.published().base = None;
        slot.handle = None;
        slot.is_record_in_doubt = true;
        unavailable(IN_DOUBT, error)
    }
}

/// Whether a commit took place, by what the file says of the journal and by what it holds. A commit
/// that ends what the journal has may change nothing of what the file held before that: it is known
/// by its mark.
fn took_place(base: &Base, mark: Mark, commit: &Doubtful) -> Result<bool> {
    commit.mark.map_or_else(|| holds(base, &commit.edits), |expected| Ok(mark == expected))
}

/// Whether the file holds every one of `edits`. An edit that changes nothing is held either way,
/// and it doesn't matter: no journal says otherwise.
fn holds(base: &Base, edits: &Edits) -> Result<bool> {
    for edit in edits {
        let mut equal = false;
        let found = base.get(edit.key(), &mut |value| {
            equal = edit.value() == Some(value);
            Ok(())
        })?;
        if found != edit.value().is_some() || found && !equal {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What a mended store answers to nobody: the next call opens the file again.
pub(super) fn closed() -> Error {
    Error::new(ErrorKind::Storage, "the store failed again: try again")
}

fn unavailable(message: &str, cause: Error) -> Error {
    Error::new(ErrorKind::Storage, message).with_source(cause)
}
