//! Who changed what, and when: the rows of the change log.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::ser::{Serialize, Serializer};

use crate::{DocumentId, Edit, Error, Result, Timestamp};

/// Who acts: a display name. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Author(Option<Arc<str>>);

impl Author {
    /// Nobody in particular.
    pub const NOBODY: Self = Self(None);

    /// The author of this name; an empty one is [`Self::NOBODY`].
    pub fn new(name: &str) -> Self {
        Self((!name.is_empty()).then(|| name.into()))
    }

    /// The name; empty for nobody.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Whether no name is known.
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

/// When, and by whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: Author,
}

/// One write: a row of the change log.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its number: 1 for the first write of a space, and one more for each.
    pub sequence: u64,
    /// When, and by whom.
    pub stamp: Stamp,
    /// The documents it touched, sorted.
    pub documents: Vec<DocumentId>,
    /// What was done, in order, each with what it replaced.
    pub edits: Vec<Edit>,
}

impl Change {
    /// The edits that undo this change, in the order to apply them.
    pub fn inverse(&self) -> Vec<Edit> {
        self.edits.iter().rev().map(Edit::inverse).collect()
    }
}
