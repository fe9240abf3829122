//! The rows of the change log.

use crate::{DocumentId, Edit, Stamp};

/// One row of the change log: a committed write.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The sequence number: 1 for the first write of a space, incremented by each write.
    pub sequence: u64,
    /// Time and author.
    pub stamp: Stamp,
    /// The IDs of the documents that the write touched, sorted.
    pub documents: Vec<DocumentId>,
    /// The edits in the order of their application, each with the data for its inverse.
    pub edits: Vec<Edit>,
}

impl Change {
    /// The inverse edits, in the order to apply them.
    pub fn inverse(&self) -> Vec<Edit> {
        // Reversed: each edit describes the state that the previous ones produced.
        self.edits.iter().rev().map(Edit::inverse).collect()
    }
}
