//! The changes that an undo names, by the numbers of the space or of a scope.

use std::sync::{Arc, PoisonError};

use leafbase_model::{Error, ErrorKind, Result};

use crate::core::access::Scoped;
use crate::core::scope_changes::{AdditionSequences, ScopeChanges, ScopeRow};
use crate::core::scope_undo::{VisibleInverse, visible_inverse};
use crate::core::tree::Tree;

/// The changes to undo.
pub(crate) enum ChangeNumbers<'a> {
    /// By the numbers that the connection shows: the numbers of its scope, if it has one.
    Shown(&'a [u64]),
    /// By the numbers of the space.
    Recorded(&'a [u64]),
}

impl ChangeNumbers<'_> {
    pub(super) fn all(&self) -> &[u64] {
        let (Self::Shown(numbers) | Self::Recorded(numbers)) = self;
        numbers
    }
}

/// What undoes a change, as far as the connection sees it.
pub(super) struct ChangeInverse {
    pub(super) sequence: u64,
    pub(super) inverse: VisibleInverse,
}

/// Rows of a scope's feed, with their numbers.
pub(super) struct ScopeRows {
    rows: Vec<(u64, ScopeRow)>,
    added_after: Arc<AdditionSequences>,
}

impl ScopeRows {
    /// The rows of these changes, from the committed version in `tree`.
    pub(super) fn read(
        scoped: &Scoped,
        tree: &Tree<'_>,
        changes: &ChangeNumbers<'_>,
    ) -> Result<Self> {
        let state = &scoped.state;
        let mut feed = state.changes.lock().unwrap_or_else(PoisonError::into_inner);
        feed.read_on(tree, &state.folders)?;
        let row = |(index, number): (usize, &u64)| {
            let row = match changes {
                ChangeNumbers::Shown(_) => Ok(feed.row(*number).map(|row| (*number, row))),
                ChangeNumbers::Recorded(_) => recorded_row(&feed, tree, *number).map(Some),
            };
            row?.ok_or_else(|| Error::no_change().at(format_args!("sequences[{index}]")))
        };
        let rows = changes.all().iter().enumerate().map(row).collect::<Result<_>>()?;
        Ok(Self { rows, added_after: feed.added_after() })
    }

    /// What undoes them, in the state of `tree`.
    pub(super) fn inverses(&self, tree: &Tree<'_>) -> Result<Vec<ChangeInverse>> {
        let mut found = Vec::with_capacity(self.rows.len());
        for (index, (number, row)) in self.rows.iter().enumerate() {
            debug_assert!(
                *number > 0 || matches!(row, ScopeRow::Write(_, None)),
                "a row of the feed has a number"
            );
            let (sequence, inverse) = visible_inverse(tree, *number, row, &self.added_after)
                .map_err(|error| error.at(format_args!("sequences[{index}]")))?;
            found.push(ChangeInverse { sequence, inverse });
        }
        Ok(found)
    }
}

/// The row of the write `sequence`, with its number.
fn recorded_row(feed: &ScopeChanges, tree: &Tree<'_>, sequence: u64) -> Result<(u64, ScopeRow)> {
    let row = feed.row_of_merged(tree, sequence)?;
    // Without a row nothing of it is in the scope.
    Ok(row.unwrap_or((0, ScopeRow::Write(sequence, None))))
}

pub(super) fn nothing_left() -> Error {
    Error::new(ErrorKind::Conflict, "nothing is left of it to undo").at("sequences")
}
