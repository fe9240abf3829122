//! Undo and redo: the inverse of a change, applied where it still fits, as a new change.

use std::collections::BTreeSet;

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::{
    Change, Detail, Edit, Error, ErrorKind as Kind, Result, ScopedChange, UndoChanges, invariant,
};
use leafbase_store::SpaceReader;

use crate::core::access::{AccessScope, Full, Scoped};
use crate::core::batch::BatchAccess;
use crate::core::connection::Connection;
use crate::core::scope_undo::{UndoSight, VisibleInverse};
use crate::core::transaction::OperationTransaction;
use crate::operations::changes::constraints::TouchedCollections;

use named_changes::{ChangeInverse, ChangeNumbers, ScopeRows, nothing_left};
use obstacles::Obstacle;
use rebase::Rebase;

mod documents;
mod later_writes;
pub(crate) mod manager;
mod named_changes;
pub(crate) mod obstacles;
mod past_children;
mod rebase;
mod removal;
mod subtree_match;

impl Connection<Full> {
    /// Undoes a change, or a group of changes as one: applies their inverse as a new change, which
    /// is returned. Undoing that one is a redo.
    ///
    /// Later writes are kept. If one of them conflicts with the inverse (an inserted block was
    /// edited, or the page of a deleted block was removed), nothing is written, and the details of
    /// the error name the conflicting blocks. A daily note that the change created stays if more
    /// was written to it, and so does the inbox. Revisions only grow: undoing revision 3 gives 4.
    /// Relations are undone at both ends. Deleting the last block of a file erases its bytes, so
    /// that deletion cannot be undone.
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
    /// log after the change is read once, and so are the children of each place that changed since.
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
        self.write_undo(&ChangeNumbers::Shown(&sequences))?.ok_or_else(nothing_left)
    }
}

impl Connection<Scoped> {
    /// Undoes writes to documents of the scope, which have these numbers in it
    /// ([`Self::changes_since`]), as one new write, which is returned; also those of others. As on
    /// a full connection, restricted to the scope: writes of the change to other documents stay,
    /// and so do its edits of relations that lead there. A document that was moved to the trash or
    /// back, and a block that came from elsewhere or went there, is in the way.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?.id();
    /// let guest = space.scoped([trip]);
    /// guest.insert_markdown("passport", trip)?;
    /// let undone = guest.undo(guest.last_sequence()?)?;
    /// assert_eq!((undone.sequence, guest.content_markdown(trip)?.as_str()), (2, ""));
    /// guest.undo(undone.sequence)?; // redone
    /// assert_eq!(guest.content_markdown(trip)?, "passport");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As on a full connection. [`ErrorKind::Conflict`] at `sequences[n]` for a row that adds
    /// documents to the scope. A file of a deleted block is in the way (`files.ID`) unless a block
    /// of the scope shows it.
    pub fn undo(&self, request: impl Into<UndoChanges>) -> Result<ScopedChange> {
        let UndoChanges { sequences, .. } = request.into();
        let change = self.write_undo(&ChangeNumbers::Shown(&sequences))?;
        self.scoped_change(&change.ok_or_else(nothing_left)?)
    }
}

impl<A: AccessScope> Connection<BatchAccess<'_, A>> {
    /// Undoes a change, or a group of changes as one, within the batch: as
    /// [`Connection::undo`] of the connection that began it.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// notes.insert_markdown("passport", trip)?;
    /// let inserted = notes.last_sequence()?;
    /// notes.batch(|batch| {
    ///     batch.undo(inserted)?;
    ///     batch.insert_markdown("towel", trip)
    /// })?;
    /// assert_eq!(notes.content_markdown(trip)?, "towel");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Connection::undo`], but for what nothing is left of: there is nothing to do then.
    pub fn undo(&self, request: impl Into<UndoChanges>) -> Result<()> {
        let UndoChanges { sequences, .. } = request.into();
        self.write_undo(&ChangeNumbers::Shown(&sequences)).map(drop)
    }
}

impl<A: AccessScope> Connection<A> {
    /// Undoes changes in one write; in a batch, and if nothing is left of them, without a change.
    pub(crate) fn write_undo(&self, changes: &ChangeNumbers<'_>) -> Result<Option<Change>> {
        let numbers = changes.all();
        let rows = self.prepare(|| {
            self.check_writable()?;
            if numbers.is_empty() {
                return Err(Error::validation("name a change").at("sequences"));
            }
            self.check_ids("sequences", Some(&numbers.to_vec()))?;
            let Some(scoped) = self.access().scoped() else { return Ok(None) };
            // The log may be read to its end only where it is committed.
            let committed = self.operation("undo");
            committed.read_committed(|tree| ScopeRows::read(scoped, tree, changes)).map(Some)
        })?;
        let ((), change) = self.operation("undo").write(|transaction| {
            let inverses = transaction.plan(|tree, _| {
                let mut inverses = match &rows {
                    Some(rows) => rows.inverses(tree)?,
                    None => inverses(tree.full_reader()?, numbers)?,
                };
                inverses.sort_by_key(|change| std::cmp::Reverse(change.sequence));
                inverses.dedup_by_key(|change| change.sequence);
                Ok(inverses)
            })?;
            undo(transaction, &inverses)
        })?;
        Ok(change)
    }
}

/// What undoes these changes of the space.
fn inverses(reader: SpaceReader<'_>, sequences: &[u64]) -> Result<Vec<ChangeInverse>> {
    let (last, mut found) = (reader.last_sequence()?, Vec::new());
    for (index, sequence) in sequences.iter().enumerate() {
        let at = |error: Error| error.at(format_args!("sequences[{index}]"));
        if *sequence == 0 || *sequence > last {
            return Err(at(Error::no_change()));
        }
        let gone = |what: &str| at(reader.history_gone(what));
        let dropped = || gone(&format!("change {sequence} is no longer in the log"));
        let change = reader.change_over(*sequence)?.ok_or_else(dropped)?;
        let edits = change.inverse().map_err(|redacted| gone(redacted.message()))?;
        let inverse = VisibleInverse { edits, ..VisibleInverse::default() };
        found.push(ChangeInverse { sequence: change.sequence, inverse });
    }
    Ok(found)
}

/// Undoes changes, which are sorted from the newest; one that covers several counts once.
fn undo(transaction: &mut OperationTransaction<'_, '_>, changes: &[ChangeInverse]) -> Result<()> {
    invariant!(
        changes.is_sorted_by(|one, other| one.sequence > other.sequence),
        "changes are undone from the newest"
    );
    let group: BTreeSet<u64> = changes.iter().map(|change| change.sequence).collect();
    let sight = transaction
        .plan(|tree, _| Ok(UndoSight::of(tree, changes.iter().map(|change| &change.inverse))))?;
    let mut rebase = Rebase::new(group, sight, transaction.applied().to_vec());
    let (mut applied, mut obstacles) = (Vec::new(), Vec::<Obstacle>::new());
    for ChangeInverse { sequence, inverse } in changes {
        obstacles.extend(out_of_scope(inverse));
        for edit in &inverse.edits {
            // After the first obstacle only edits independent of the skipped ones can be judged.
            if !obstacles.is_empty() && !rebase.is_first_of(edit) {
                continue;
            }
            let rebased =
                transaction.plan(|tree, context| rebase.rebase(tree, context, *sequence, edit))?;
            match rebased {
                Ok(edits) if obstacles.is_empty() => {
                    rebase.record(*sequence, edit, &edits)?;
                    transaction.apply_undo(edits.clone())?;
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

/// What cannot be undone within a scope.
fn out_of_scope(inverse: &VisibleInverse) -> Vec<Obstacle> {
    let crossed = inverse.crossed.iter();
    let blocks = crossed.map(|block| Obstacle::block(*block, "came from elsewhere or went there"));
    let documents = inverse.documents.iter().map(|document| {
        Obstacle::new("documents", *document, "was made, or moved to the trash or back")
    });
    blocks.chain(documents).collect()
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
    transaction.check_all(|tree| touched.verify(tree))
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
