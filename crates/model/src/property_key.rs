//! Keys of properties as replies hold them.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The key of a property in a reply: a text that all items of the reply share, so that to clone it copies nothing.
///
/// ```
/// use leafbase_model::PropertyKey;
///
/// let key = PropertyKey::from("due");
/// assert_eq!(key, "due");
/// assert!(key.starts_with('d'));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PropertyKey(Arc<str>);

impl PropertyKey {
    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for PropertyKey {
    fn default() -> Self {
        Self::from("")
    }
}

impl Deref for PropertyKey {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for PropertyKey {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for PropertyKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for PropertyKey {
    fn from(key: &str) -> Self {
        Self(key.into())
    }
}

impl From<String> for PropertyKey {
    fn from(key: String) -> Self {
        Self(key.into())
    }
}

impl From<PropertyKey> for String {
    fn from(key: PropertyKey) -> Self {
        key.as_str().to_owned()
    }
}

impl PartialEq<str> for PropertyKey {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for PropertyKey {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for PropertyKey {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other
    }
}

impl fmt::Display for PropertyKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self)
    }
}

impl serde::Serialize for PropertyKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}
