//! Errors of the operating system as errors of the store.

use std::io;

use leafbase_model::{Error, ErrorKind};

/// Wraps an I/O error; `what` is a sentence without a full stop that says what failed.
pub(crate) fn io_error(what: &str, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            ErrorKind::NoSpace
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => ErrorKind::ReadOnly,
        _ => ErrorKind::Storage,
    };
    let message = match kind {
        ErrorKind::NoSpace => format!("{what}: no space is left on the device"),
        ErrorKind::ReadOnly => format!("{what}: write access is denied"),
        _ => what.to_owned(),
    };
    Error::new(kind, message).with_source(error)
}
