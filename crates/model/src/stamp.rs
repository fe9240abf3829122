//! Stamps: the time and the author of a write.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::ser::{Serialize, Serializer};

use crate::json::from_text;
use crate::{Error, Result, Timestamp};

/// The display name of an author. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Author(Option<Arc<str>>);

impl Author {
    /// An anonymous author.
    pub const ANONYMOUS: Self = Self(None);

    /// The author of this name; the empty name is [`Self::ANONYMOUS`].
    pub fn new(name: &str) -> Self {
        Self((!name.is_empty()).then(|| name.into()))
    }

    /// The name; empty for an anonymous author.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or("")
    }

    /// Whether the author is anonymous.
    pub const fn is_anonymous(&self) -> bool {
        self.0.is_none()
    }
}

impl Default for Author {
    fn default() -> Self {
        Self::ANONYMOUS
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

from_text!(Author: "a string");
