//! Undo and redo: the inverse of a change, applied where it still fits, as a new change.

use std::collections::BTreeSet;

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::{
    Change, Detail, Edit, Error, ErrorKind as Kind, Result, UndoChanges, invariant,
};
use leafbase_store::SpaceReader;

use crate::core::access::Full;
use crate::core::connection::Connection;
use crate::core::transaction::OperationTransaction;
use crate::operations::changes::constraints::TouchedCollections;

use obstacles::Obstacle;
use rebase::Rebase;

mod documents;
mod later_writes;
pub(crate) mod manager;
pub(crate) mod obstacles;
mod rebase;
mod subtree_match;

impl Connection<Full> {
    /// Undoes a change, or a group of changes as one: what they wrote becomes what it was before,
    /// as a new change, which is returned. To redo is to undo that one.
    ///
    /// Later writes stay. Where one is in the way, as when a block that was inserted has been
    /// edited, or the page that a deleted block was in is gone, nothing is written, and the details
    /// of the error name what is in the way. Revisions go up: what was 3 and is undone is 4.
    /// Relations are undone at both ends. A file that was deleted with its last block has lost its
    /// bytes, so that deletion is not undone.
    ///
    /// ```
    /// use leafbase::{DeleteBlocks, ErrorKind};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// let line = notes.insert_markdown("passport", trip)?[0].id;
    /// let inserted = notes.last_sequence()?;
    /// notes.delete_blocks(DeleteBlocks::from(line))?;
    ///
    /// let undone = notes.undo(notes.last_sequence()?)?;
    /// assert_eq!(notes.content_markdown(trip)?, "passport");
    /// notes.undo(undone.sequence)?; // redone
    /// assert_eq!(notes.content_markdown(trip)?, "");
    ///
    /// let refused = notes.undo(inserted).unwrap_err(); // there is nothing left of it
    /// assert_eq!(refused.kind(), ErrorKind::Conflict);
    /// assert_eq!(refused.details()[0].path, format!("blocks.{line}"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// That of the edits. If blocks return to a place after others, or are moved back, the change
    /// log after the change is read once.
    ///
    /// # Errors
    /// At `sequences[n]`: [`ErrorKind::NotFound`] for a change that does not exist,
    /// [`ErrorKind::HistoryGone`] for one that compaction dropped or a purge redacted.
    /// [`ErrorKind::Conflict`] with a detail for each thing in the way, whose path is its kind and
    /// ID: `blocks.ID`, `documents.ID`, `folders.ID`, `collections.ID`, `comments.ID`, `files.ID`,
    /// or `space` for its settings. [`ErrorKind::Validation`] and [`ErrorKind::LimitExceeded`] at
    /// `sequences`.
    pub fn undo(&self, request: impl Into<UndoChanges>) -> Result<Change> {
        let UndoChanges { sequences, .. } = request.into();
        if sequences.is_empty() {
            return Err(Error::validation("name a change").at("sequences"));
        }
        self.check_ids("sequences", Some(&sequences))?;
        let ((), change) = self.operation("undo").write(|transaction| {
            let changes = transaction.plan_with_reader(|reader, _| read(reader, &sequences))?;
            undo(transaction, &changes)
        })?;
        let nothing = || Error::new(Kind::Conflict, "nothing is left of it to undo");
        change.ok_or_else(|| nothing().at("sequences"))
    }
}

/// The changes, the newest first. One that covers several of the sequences counts once.
fn read(reader: SpaceReader<'_>, sequences: &[u64]) -> Result<Vec<Change>> {
    let (last, mut found) = (reader.last_sequence()?, Vec::new());
    for (index, sequence) in sequences.iter().enumerate() {
        let at = |error: Error| error.at(format_args!("sequences[{index}]"));
        if *sequence == 0 || *sequence > last {
            return Err(at(Error::not_found()));
        }
        let gone = || Error::history_gone(format!("change {sequence} is no longer in the log"));
        let change = reader.change_over(*sequence)?.ok_or_else(|| at(gone()))?;
        // Before anything else is read.
        change.inverse().map_err(at)?;
        found.push(change);
    }
    found.sort_by_key(|change| std::cmp::Reverse(change.sequence));
    found.dedup_by_key(|change| change.sequence);
    Ok(found)
}

/// Undoes `changes`, which are sorted from the newest.
fn undo(transaction: &mut OperationTransaction<'_, '_>, changes: &[Change]) -> Result<()> {
    invariant!(
        changes.is_sorted_by(|one, other| one.sequence > other.sequence),
        "changes are undone from the newest"
    );
    let group: BTreeSet<u64> = changes.iter().map(|change| change.sequence).collect();
    let mut rebase = Rebase::new(group);
    let (mut applied, mut obstacles) = (Vec::new(), Vec::<Obstacle>::new());
    for change in changes {
        for edit in change.inverse()? {
            // Beyond the first obstacle only what does not build on what was left out can be told.
            if !obstacles.is_empty() && !rebase.is_first_of(&edit) {
                continue;
            }
            let rebased = transaction
                .plan(|tree, context| rebase.rebase(tree, context, change.sequence, &edit))?;
            match rebased {
                Ok(edits) if obstacles.is_empty() => {
                    rebase.record(&edits);
                    transaction.apply_without_cascades(edits.clone())?;
                    applied.extend(edits);
                }
                Ok(_) => {}
                Err(mut found) => obstacles.append(&mut found),
            }
        }
    }
    if !obstacles.is_empty() {
        return Err(conflict(obstacles));
    }
    finish(transaction, &applied)
}

/// Erases the files that no block shows any more, and checks that relations are in step and folders
/// not too deep.
fn finish(transaction: &mut OperationTransaction<'_, '_>, applied: &[Edit]) -> Result<()> {
    let deep = transaction
        .plan(|tree, context| documents::nested_too_deep(tree, context.limits, applied))?;
    if !deep.is_empty() {
        return Err(conflict(deep));
    }
    transaction.erase_unshown_files(applied)?;
    let touched = TouchedCollections::by(applied);
    if touched.is_empty() {
        return Ok(());
    }
    transaction.plan(|tree, _| touched.verify(tree))
}

pub(crate) fn conflict(obstacles: Vec<Obstacle>) -> Error {
    let mut details: Vec<Detail> = Vec::with_capacity(obstacles.len());
    for Obstacle { path, message } in obstacles {
        if !details.iter().any(|known| known.path == path) {
            details.push(Detail { path, message });
        }
    }
    let message = match details.as_slice() {
        [only] => format!("{} {}", only.path, only.message),
        [first, rest @ ..] => {
            format!("{} {}, and {} more are in the way", first.path, first.message, rest.len())
        }
        [] => "something is in the way".to_owned(),
    };
    Error::new(Kind::Conflict, message).with_details(details)
}
