//! Errors of edits that do not match the stored state.

use leafbase_model::{Error, ErrorKind};

/// An edit names a missing record.
pub(super) fn missing(what: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("{what} does not exist"))
}

/// An edit does not match the stored record.
pub(super) fn conflict(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Conflict, message)
}
