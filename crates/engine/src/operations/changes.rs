//! The change feed: every write in order, with its edits and their inverses.

use std::collections::VecDeque;

use leafbase_model::{Author, Change, Edit, Result};

use constraints::TouchedCollections;

use crate::core::access::Full;
use crate::core::connection::Connection;
use crate::core::space::Space;

mod constraints;
mod scoped;

pub use scoped::ScopedChanges;

/// How many rows of the change log are read at a time.
const PAGE: usize = 64;

/// The writes after a sequence number, oldest first. Each read takes the newest state of the log,
/// so that no snapshot is held while the caller works and writes made in the meantime are returned
/// as well.
#[derive(Debug)]
pub struct Changes {
    connection: Connection<Full>,
    after: u64,
    read: VecDeque<Change>,
    ended: bool,
}

impl Connection<Full> {
    /// The writes after the one numbered `sequence`, oldest first; 0 for all.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// notes.create_document("Trip")?;
    /// for change in notes.changes_since(0) {
    ///     let change = change?;
    ///     assert_eq!((change.sequence, change.documents.len()), (1, 1));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn changes_since(&self, sequence: u64) -> Changes {
        Changes { connection: self.clone(), after: sequence, read: VecDeque::new(), ended: false }
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
            Some(change) => self.after = change.sequence,
            None => self.ended = true,
        }
        change.map(Ok)
    }
}
