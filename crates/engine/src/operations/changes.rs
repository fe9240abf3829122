//! The change feed: every write, in order, with what it did and what it replaced.

use std::collections::VecDeque;

use leafbase_model::{Change, Result};

use crate::core::connection::Connection;
use crate::core::sight::Full;

/// How many rows one look-up reads.
const PAGE: usize = 64;

/// The writes after a sequence number, oldest first. Each look-up reads the log as it is then, so
/// that no state is held back while the caller works: writes made meanwhile are found, too.
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
    /// What the store reports.
    pub fn last_sequence(&self) -> Result<u64> {
        self.read(|_, snapshot| snapshot.reader().last_sequence())
    }
}

impl Iterator for Changes {
    type Item = Result<Change>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.read.is_empty() && !self.ended {
            match self
                .connection
                .read(|_, snapshot| snapshot.reader().changes_after(self.after, PAGE))
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
