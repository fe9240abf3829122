//! Stores of named objects that a replica is kept in.

use std::fmt;

use leafbase::{Error, Result};

/// The version of an object, as its store tells it: an object with the same one has not changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectVersion {
    /// The entity tag, or whatever else changes with the content.
    pub tag: Option<String>,
    /// The number of the version, in stores that keep several.
    pub number: Option<String>,
}

/// An object as it was read.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredObject {
    /// Its content.
    pub bytes: Vec<u8>,
    /// Its version.
    pub version: ObjectVersion,
}

impl fmt::Debug for StoredObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, version } = self;
        f.debug_struct("StoredObject")
            .field("bytes", &bytes.len())
            .field("version", version)
            .finish()
    }
}

/// A store of named objects: a directory, a bucket. Any number of processes use it at a time.
///
/// Names are parts of lowercase letters, digits, `-`, `.` and `_` with `/` between them. An object
/// is put as a whole or not at all, a get that begins after a put returned sees it, and a put that
/// returned survives the loss of power.
///
/// Every error that may go away is an [`ErrorKind::Storage`](leafbase::ErrorKind::Storage).
pub trait ReplicaStore: fmt::Debug + Send + Sync {
    /// The object of this name, if there is one.
    ///
    /// # Errors
    /// Errors of the store.
    fn get(&self, name: &str) -> Result<Option<StoredObject>>;

    /// Writes an object, in place of the one that has the name.
    ///
    /// # Errors
    /// Errors of the store.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<()>;

    /// Writes an object if the one of its name has this version, or, with `None`, if there is none.
    /// Returns the new version; `None` if the condition does not hold, and then nothing is written.
    /// Of several such calls with the same condition one succeeds.
    ///
    /// # Errors
    /// Errors of the store: the object may be written or not then.
    fn put_if(
        &self,
        name: &str,
        bytes: &[u8],
        expected: Option<&ObjectVersion>,
    ) -> Result<Option<ObjectVersion>>;

    /// The names that begin with `prefix`, which is empty or ends with `/`, sorted.
    ///
    /// # Errors
    /// Errors of the store.
    fn list(&self, prefix: &str) -> Result<Vec<String>>;

    /// Deletes an object, if it exists.
    ///
    /// # Errors
    /// Errors of the store.
    fn delete(&self, name: &str) -> Result<()>;
}

/// Fails for names that the trait does not allow: none of them leads out of a directory.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part
                .bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_'))
    };
    if name.split('/').all(is_part) {
        return Ok(());
    }
    Err(Error::validation(format!("{name:?} does not name an object of a replica")))
}

/// The error of an object whose bytes are not what they have to be.
pub(crate) fn damaged(name: &str, what: impl fmt::Display) -> Error {
    Error::corrupted(format_args!("object {name} of the replica: {what}"))
}

/// The error of an object that the manifest names and the store does not have.
pub(crate) fn missing(name: &str) -> Error {
    damaged(name, "it is missing")
}
