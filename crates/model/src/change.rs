//! The rows of the change log: time, author and edits of each write.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::ser::{Serialize, Serializer};

use crate::{DocumentId, Edit, Error, Result, Timestamp};

/// The display name of an author. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Author(Option<Arc<str>>);

impl Author {
    /// An anonymous author.
    pub const NOBODY: Self = Self(None);

    /// The author of this name; the empty name is [`Self::NOBODY`].
    pub fn new(name: &str) -> Self {
        Self((!name.is_empty()).then(|| name.into()))
    }

    /// The name; empty for an anonymous author.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or("")
    }

    /// Whether the author is anonymous.
    pub const fn is_nobody(&self) -> bool {
        self.0.is_none()
    }
}

impl Default for Author {
    fn default() -> Self {
        Self::NOBODY
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl FromStr for Author {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(Self::new(name))
    }
}

impl Serialize for Author {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Time and author of a write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The time.
    pub at: Timestamp,
    /// The author.
    pub by: Author,
}

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
