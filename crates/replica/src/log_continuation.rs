//! Whether the log of a space continues what its replica has: compaction may have merged or dropped
//! changes that were not shipped, and a store may go back under its space.

use leafbase::{ChangePosition, Connection, Error, ErrorKind, Result, Space};

use crate::manifest::Manifest;

/// How the log of a space continues the shipped changes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LogContinuation {
    /// With the rows after the last one that was shipped.
    Next,
    /// Compaction merged the last change that was shipped with later ones. The rows after this
    /// position have all of them.
    Merged(ChangePosition),
    /// Compaction dropped changes that were not shipped.
    Dropped,
    /// The shipped changes are not its past.
    Diverged,
}

impl LogContinuation {
    pub(crate) fn of(space: &Space, manifest: &Manifest) -> Result<Self> {
        let Some(end) = manifest.end() else { return Ok(Self::Next) };
        let notes = space.connect();
        let segments = manifest.segments.iter().map(|segment| segment.last);
        let snapshots = manifest.snapshots.iter().map(|snapshot| snapshot.position);
        let mut shipped: Vec<ChangePosition> = segments.chain(snapshots).collect();
        shipped.sort_by_key(|position| std::cmp::Reverse(position.sequence()));
        // Newest first: if the last change was merged, the one before it says whose past it is.
        for position in shipped {
            match has_change(&notes, position)? {
                Some(true) if position == end => return Ok(Self::Next),
                Some(true) => return Ok(Self::Merged(position)),
                Some(false) => return Ok(Self::Diverged),
                None => {}
            }
        }
        let begins = notes.log_begins_at()?;
        Ok(if begins.sequence() <= end.sequence() { Self::Merged(begins) } else { Self::Dropped })
    }
}

/// Whether the change at `position` is the one of the log; `None` if compaction dropped or merged
/// it.
fn has_change(notes: &Connection, position: ChangePosition) -> Result<Option<bool>> {
    // Without its token, a position names a change of any history.
    for (is_same, position) in [(true, position), (false, position.sequence().into())] {
        match notes.change_rows(position, 0) {
            Ok(_) => return Ok(Some(is_same)),
            Err(error) if error.kind() == ErrorKind::HistoryGone => {}
            Err(error) => return Err(error),
        }
    }
    Ok((position.sequence() > notes.last_sequence()?).then_some(false))
}

/// Fails with [`ErrorKind::HistoryGone`] unless the space continues the shipped changes.
pub(crate) fn check_past(space: &Space, manifest: &Manifest) -> Result<()> {
    let end = manifest.end().unwrap_or(ChangePosition::BEGINNING);
    match LogContinuation::of(space, manifest)? {
        LogContinuation::Next | LogContinuation::Merged(_) => Ok(()),
        LogContinuation::Dropped => Err(Error::history_gone(format!(
            "compaction dropped changes of this space after {}, the last one that was shipped",
            end.sequence()
        ))),
        LogContinuation::Diverged => Err(diverged(end)),
    }
}

/// The error of a space whose past the shipped changes are not; `end` is the last of them.
pub(crate) fn diverged(end: ChangePosition) -> Error {
    let end = end.sequence();
    Error::history_gone(format!(
        "what was shipped is not the past of this space: it has no change {end}, or another one"
    ))
}
