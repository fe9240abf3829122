//! Errors of the index: every failure of tantivy or of a file becomes [`ErrorKind::Storage`].

use std::fmt::Display;
use std::io;

use leafbase_model::{Error, ErrorKind};
use tantivy::TantivyError;

/// An error of the search index with the kind [`ErrorKind::Storage`].
pub(crate) fn storage_error(error: impl Display) -> Error {
    Error::new(ErrorKind::Storage, format!("the search index failed: {error}"))
}

/// An error of this crate, convertible from those of tantivy and of files, so that code that reads
/// the index can use `?`.
pub(crate) struct IndexFailure(pub(crate) Error);

impl IndexFailure {
    /// Files that pass their checksums but hold what no writer of this format writes.
    pub(crate) fn corrupt(what: &str) -> Self {
        Self(storage_error(format_args!("{what}; the index has to be rebuilt")))
    }
}

impl From<TantivyError> for IndexFailure {
    fn from(error: TantivyError) -> Self {
        Self(storage_error(error))
    }
}

impl From<io::Error> for IndexFailure {
    fn from(error: io::Error) -> Self {
        Self(storage_error(error))
    }
}

impl From<Error> for IndexFailure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}
