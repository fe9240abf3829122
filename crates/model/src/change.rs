//! The rows of the change log.

use crate::{ChangePosition, ChangeToken, DocumentId, Edit, Error, Result, Stamp};

/// One row of the change log: a committed write.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The sequence number: 1 for the first write of a space, incremented by each write.
    pub sequence: u64,
    /// The first of the writes that the change covers: [`Self::sequence`], unless compaction merged
    /// several edits of one text into this change.
    pub first_sequence: u64,
    /// Identifies the write among all writes that ever had this sequence number.
    pub token: ChangeToken,
    /// Time and author.
    pub stamp: Stamp,
    /// The IDs of the documents that the write touched, sorted.
    pub documents: Vec<DocumentId>,
    /// The edits in the order of their application, each with the data for its inverse.
    pub edits: Vec<Edit>,
}

impl Change {
    /// The inverse edits, in the order to apply them.
    ///
    /// # Errors
    /// [`crate::ErrorKind::HistoryGone`] for a purge, and if one redacted the change; the message
    /// names the change.
    pub fn inverse(&self) -> Result<Vec<Edit>> {
        let gone = |error: Error| {
            Error::history_gone(format!("change {}: {}", self.sequence, error.message()))
        };
        // Reversed: each edit describes the state that the previous ones produced.
        self.edits.iter().rev().map(|edit| edit.inverse().map_err(gone)).collect()
    }

    /// Whether a purge redacted something in the change.
    pub fn is_redacted(&self) -> bool {
        self.edits.iter().any(Edit::is_redacted)
    }

    /// The position right after this change: a feed that resumes there begins with the next one.
    pub const fn position(&self) -> ChangePosition {
        ChangePosition::new(self.sequence, self.token)
    }
}
