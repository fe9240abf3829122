//! The change feed of a scope. Its rows are numbered on their own, so that writes to the rest of
//! the space leave no gap.

use std::collections::VecDeque;
use std::sync::{MutexGuard, PoisonError};

use leafbase_model::{Change, Result, ScopedChange};

use crate::core::access::Scoped;
use crate::core::connection::Connection;
use crate::core::scope_changes::{self, ScopeChanges};
use crate::core::tree::Tree;

/// The writes to the documents of a scope after a sequence number, oldest first. Each read takes
/// the newest state of the log, so that no snapshot is held while the caller works and writes made
/// in the meantime are returned as well.
#[derive(Debug)]
pub struct ScopedChanges {
    connection: Connection<Scoped>,
    after: u64,
    read: VecDeque<ScopedChange>,
    has_ended: bool,
}

impl Connection<Scoped> {
    /// The writes to documents of the scope after the one numbered `sequence`, oldest first; 0 for
    /// all since the scope was created. Rows are numbered from 1 within the scope, without gaps,
    /// for as long as the scope lives.
    ///
    /// A row names the documents to read again and the blocks that were written in them. It covers
    /// the documents that are in the scope when the row is first read; documents removed from the
    /// scope since then are omitted. Documents that [`Scope::add`](crate::Scope::add) adds have a
    /// separate row without blocks, with the time of that call; earlier writes to them are
    /// omitted. Moving a document between folders is not a change, nor are
    /// relations and links from outside of the scope. Moving a document to the trash is a change:
    /// afterwards the document is not found.
    ///
    /// ```
    /// use leafbase::Space;
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::in_memory()?;
    /// let notes = space.connect();
    /// let (trip, diary) = (notes.create_document("Trip")?, notes.create_document("Diary")?);
    /// let guest = space.scoped([trip.id()]);
    /// notes.insert_markdown("rain", diary.id())?;
    /// let added = notes.insert_markdown("passport", trip.id())?;
    ///
    /// let changes: Vec<_> = guest.changes_since(0).collect::<Result<_, _>>()?;
    /// assert_eq!((changes.len(), changes[0].sequence), (1, 1));
    /// assert_eq!(
    ///     (&changes[0].documents[..], &changes[0].blocks[..]),
    ///     (&[trip.id()][..], &[added[0].id][..]),
    /// );
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// An item is [`crate::ErrorKind::HistoryGone`], and the last one, if
    /// [`Space::compact_with`](crate::Space::compact_with) dropped the write from the change log:
    /// the scope's client reads its documents again and goes on after [`Self::last_sequence`].
    /// Errors of the store.
    ///
    /// # Cost
    /// Reading costs the rows that the log of the space gained since the last read, and 24 bytes
    /// of memory for each row of the scope. On a scope of pages the rows are read twice, with a
    /// lookup for each ancestor of a written block, and the IDs of written blocks are kept.
    pub fn changes_since(&self, sequence: u64) -> ScopedChanges {
        ScopedChanges {
            connection: self.clone(),
            after: sequence,
            read: VecDeque::new(),
            has_ended: false,
        }
    }

    /// The number of the last write to documents of the scope since it was created; 0 if there was
    /// none.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?;
    /// let guest = space.scoped([trip.id()]);
    /// space.connect().create_document("Diary")?; // not visible, not counted
    /// guest.insert_markdown("passport", trip.id())?;
    /// assert_eq!(guest.last_sequence()?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of the store.
    pub fn last_sequence(&self) -> Result<u64> {
        self.read_feed("last_sequence", |_, changes| Ok(changes.len()))
    }

    /// A write of this connection as a row of the feed. It names no documents if all of them left
    /// the scope in the meantime.
    pub(crate) fn scoped_change(&self, change: &Change) -> Result<ScopedChange> {
        self.read_feed("changes_since", |tree, changes| {
            let (row, last, added_after) =
                (changes.row_of_write(change.sequence), changes.len(), changes.added_after());
            drop(changes);
            if let Some((number, row)) = row
                && let Some(visible) =
                    scope_changes::visible_change(tree, number, &row, &added_after)?
            {
                return Ok(visible);
            }
            let (at, by) = (change.stamp.at, change.stamp.by.clone());
            let (documents, blocks) = (Vec::new(), Vec::new());
            Ok(ScopedChange { sequence: last, at, by, documents, blocks })
        })
    }

    /// Reads the feed to the end of the log in an operation.
    fn read_feed<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&Tree<'_>, MutexGuard<'_, ScopeChanges>) -> Result<T>,
    ) -> Result<T> {
        let state = &self.access().state;
        let operation = self.operation(name);
        // Locked before the call fixes its visibility and its snapshot: these are never older than
        // the rows that other calls have recorded, nor than the additions of the host.
        let mut changes = state.changes.lock().unwrap_or_else(PoisonError::into_inner);
        operation.read(|tree| {
            changes.read_on(tree, &state.folders)?;
            read(tree, changes)
        })
    }

    /// The next rows after the one numbered `after`.
    fn next_rows(&self, after: u64) -> Result<Vec<ScopedChange>> {
        self.read_feed("changes_since", |tree, changes| {
            let (rows, added_after) = (changes.rows_after(after), changes.added_after());
            drop(changes);
            let change =
                |(row, number)| scope_changes::visible_change(tree, number, &row, &added_after);
            let numbers = after.saturating_add(1)..;
            rows.into_iter().zip(numbers).map(change).map_while(Result::transpose).collect()
        })
    }
}

impl Iterator for ScopedChanges {
    type Item = Result<ScopedChange>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.read.is_empty() && !self.has_ended {
            match self.connection.next_rows(self.after) {
                Ok(rows) => self.read = rows.into(),
                Err(error) => {
                    self.has_ended = true;
                    return Some(Err(error));
                }
            }
        }
        let change = self.read.pop_front();
        match &change {
            Some(change) => self.after = change.sequence,
            None => self.has_ended = true,
        }
        change.map(Ok)
    }
}
