//! The change feed: every write in order, with its edits and their inverses.

use std::collections::VecDeque;

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::{Author, Change, ChangePosition, Edit, Error, Result};

use constraints::TouchedCollections;

use crate::core::access::Full;
use crate::core::connection::Connection;
use crate::core::space::Space;
use crate::core::space::settings::known_zone;

mod arrivals;
pub(crate) mod constraints;
mod rows;
mod scoped;

pub use scoped::ScopedChanges;

/// How many rows of the change log are read at a time.
const PAGE: usize = 64;

/// The writes after a position in the change log, oldest first. Each read takes the newest state of
/// the log, so that no snapshot is held while the caller works and writes made in the meantime are
/// returned as well.
#[derive(Debug)]
pub struct Changes {
    connection: Connection<Full>,
    after: ChangePosition,
    read: VecDeque<Change>,
    ended: bool,
}

impl Connection<Full> {
    /// The writes after a position in the change log, oldest first; 0 for all. A position is that
    /// of a change ([`Change::position`]), of the end of the log ([`Self::last_position`]), or a
    /// sequence number alone.
    ///
    /// A follower keeps the position of the last change that it has processed, and resumes there.
    /// If the space then has another history, because a backup was restored or its directory was
    /// replaced, or if [`Space::compact_with`] dropped changes after it, or merged the change at it
    /// with a later one, the position is refused: the follower has to start over, with
    /// [`Self::log_begins_at`]. A sequence number alone has no token to compare.
    ///
    /// ```
    /// use leafbase::{ChangePosition, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// notes.create_document("Trip")?;
    /// let mut seen = ChangePosition::BEGINNING;
    /// for change in notes.changes_since(seen) {
    ///     let change = change?;
    ///     assert_eq!((change.sequence, change.documents.len()), (1, 1));
    ///     seen = change.position();
    /// }
    /// let saved = seen.to_string(); // kept between runs: `1:9f86d081884c7d65`
    /// assert_eq!(notes.changes_since(saved.parse::<ChangePosition>()?).count(), 0);
    ///
    /// let other = Space::in_memory()?.connect();
    /// other.create_document("Diary")?;
    /// let refused = other.changes_since(seen).next().unwrap().unwrap_err();
    /// assert_eq!(refused.code(), "HISTORY_GONE");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Items are [`ErrorKind::HistoryGone`] if the log does not go on from the position, and errors
    /// of the store. An error is the last item.
    pub fn changes_since(&self, position: impl Into<ChangePosition>) -> Changes {
        Changes {
            connection: self.clone(),
            after: position.into(),
            read: VecDeque::new(),
            ended: false,
        }
    }

    /// The position after the last write: where a follower begins that needs no earlier ones. Two
    /// lookups.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// notes.create_document("Trip")?;
    /// let seen = notes.last_position()?;
    /// notes.create_document("Diary")?;
    /// assert_eq!((seen.sequence(), notes.changes_since(seen).count()), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of the store.
    pub fn last_position(&self) -> Result<ChangePosition> {
        self.operation("last_position").read_all(|reader| reader.last_position())
    }

    /// Where the change log begins: the position after the last change that
    /// [`Space::compact_with`] dropped, from which a follower gets all that are left. One lookup.
    ///
    /// ```
    /// use leafbase::{ChangePosition, CompactOptions, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::in_memory()?;
    /// let notes = space.connect();
    /// notes.create_document("Trip")?;
    /// assert_eq!(notes.log_begins_at()?, ChangePosition::BEGINNING);
    /// space.compact_with(CompactOptions::new().keep_changes(0))?;
    /// notes.create_document("Diary")?;
    /// assert_eq!(notes.changes_since(notes.log_begins_at()?).count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of the store.
    pub fn log_begins_at(&self) -> Result<ChangePosition> {
        self.operation("log_begins_at").read_all(|reader| reader.log_begins_at())
    }

    /// The number of the last write; 0 if there was none.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// notes.create_document("Trip")?;
    /// let seen = notes.last_sequence()?;
    /// notes.create_document("Diary")?;
    /// assert_eq!(notes.changes_since(seen).count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of the store.
    pub fn last_sequence(&self) -> Result<u64> {
        self.operation("last_sequence").read_all(|reader| reader.last_sequence())
    }
}

impl Space {
    /// Applies edits verbatim, for a history that a host keeps above the change log: an inverse to
    /// undo, the edits themselves to redo. Edits that no longer fit are refused and nothing is
    /// written: those that operations plan are valid by construction, these are checked.
    #[doc(hidden)]
    pub fn apply(&self, by: &Author, edits: &[Edit]) -> Result<Option<Change>> {
        if edits.iter().any(Edit::is_redacted) {
            return Err(Error::history_gone("a purge redacted the edits: they cannot be applied"));
        }
        for edit in edits {
            // Without a zone that is known here the space would have no `today`.
            if let Edit::UpdateSpace { after, .. } = edit {
                known_zone(&after.zone)?;
            }
        }
        let touched = TouchedCollections::by(edits);
        let connection = self.connect().acting_as(by.as_str());
        let ((), change) = connection.operation("apply").write(|transaction| {
            transaction.apply_without_cascades(edits.to_vec())?;
            if touched.is_empty() {
                return Ok(());
            }
            transaction.plan(|tree, _| touched.verify(tree))
        })?;
        Ok(change)
    }
}

impl Iterator for Changes {
    type Item = Result<Change>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.read.is_empty() && !self.ended {
            match self
                .connection
                .operation("changes_since")
                .read_all(|reader| reader.changes_after(self.after, PAGE))
            {
                Ok(rows) => self.read = rows.into(),
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        let change = self.read.pop_front();
        match &change {
            Some(change) => self.after = change.position(),
            None => self.ended = true,
        }
        change.map(Ok)
    }
}
