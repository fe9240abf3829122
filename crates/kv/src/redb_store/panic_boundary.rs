//! The boundary around redb: maps its errors, and turns its panics into errors.
//!
//! redb panics on some corrupt pages. Without the boundary, 1.8 % of random bit flips end the
//! calling thread. A broken invariant of this crate is not a panic of redb: it continues to unwind.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use leafbase_model::{Error, ErrorKind, Result, is_broken_invariant};

use crate::io_errors::io_error;

/// Whether a redb handle is usable. redb refuses most work after an I/O error, and a panic may have
/// poisoned one of its locks: either way the file has to be opened again.
#[derive(Debug, Default)]
pub(super) struct HandleHealth {
    is_poisoned: AtomicBool,
}

impl HandleHealth {
    pub(super) fn is_poisoned(&self) -> bool {
        self.is_poisoned.load(Ordering::Acquire)
    }

    pub(super) fn poison(&self) {
        self.is_poisoned.store(true, Ordering::Release);
    }

    /// Maps an error of redb, and poisons the handle if redb refuses work after it.
    pub(super) fn report(&self, error: impl Into<redb::Error>) -> Error {
        let error = error.into();
        if poisons_handle(&error) {
            self.poison();
        }
        map_redb_error(error)
    }

    /// Runs `work`, which calls redb. A panic poisons the handle and becomes
    /// [`ErrorKind::Corrupted`].
    pub(super) fn catch<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.catch_unless(&Cell::new(false), work)
    }

    /// The same for work with callbacks. While `in_callback` is set, a panic is the caller's own
    /// and continues to unwind.
    pub(super) fn catch_unless<T>(
        &self,
        in_callback: &Cell<bool>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(result) => result,
            Err(panic) if in_callback.get() || is_broken_invariant(&*panic) => resume_unwind(panic),
            Err(_) => {
                self.poison();
                Err(Error::corrupted("a page of the store"))
            }
        }
    }
}

fn poisons_handle(error: &redb::Error) -> bool {
    matches!(
        error,
        redb::Error::Io(_)
            | redb::Error::PreviousIo
            | redb::Error::LockPoisoned(_)
            | redb::Error::DatabaseClosed
    )
}

pub(super) fn map_redb_error(error: redb::Error) -> Error {
    match error {
        // redb reports these for a file that is too short or malformed.
        redb::Error::Io(error)
            if matches!(
                error.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData
            ) =>
        {
            Error::corrupted("the store's structure").with_source(error)
        }
        redb::Error::Io(error) => io_error("the store could not be read or written", error),
        redb::Error::Corrupted(what) => Error::corrupted("the store's structure").with_source(what),
        // A handle that only reads locks the bytes of other protocols as well.
        redb::Error::DatabaseAlreadyOpen | redb::Error::LockProtocolMismatch => {
            Error::new(ErrorKind::AlreadyOpen, "the store is open in another handle")
                .with_source(error)
        }
        redb::Error::UpgradeRequired(_) => Error::new(
            ErrorKind::NotASpace,
            "the store's file has a format that no version of Leafbase wrote",
        )
        .with_source(error),
        redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableDoesNotExist(_)
        | redb::Error::TableIsMultimap(_)
        | redb::Error::TypeDefinitionChanged { .. } => {
            Error::new(ErrorKind::NotASpace, "the store's file belongs to another program")
                .with_source(error)
        }
        redb::Error::DatabaseClosed => {
            Error::new(ErrorKind::Storage, "the store was reopened after an error; repeat the read")
                .with_source(error)
        }
        redb::Error::TransactionInProgress => {
            Error::new(ErrorKind::Storage, "the store is being read; try again later")
                .with_source(error)
        }
        error => Error::new(ErrorKind::Storage, "the store failed").with_source(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_errors_have_a_kind() {
        let kinds = [
            (io::ErrorKind::StorageFull, ErrorKind::NoSpace),
            (io::ErrorKind::QuotaExceeded, ErrorKind::NoSpace),
            (io::ErrorKind::ReadOnlyFilesystem, ErrorKind::ReadOnly),
            (io::ErrorKind::PermissionDenied, ErrorKind::ReadOnly),
            (io::ErrorKind::Other, ErrorKind::Storage),
        ];
        for (below, above) in kinds {
            let error = map_redb_error(redb::Error::Io(io::Error::new(below, "as reported")));
            assert_eq!(error.kind(), above, "{below:?}");
            assert_eq!(
                std::error::Error::source(&error).map(ToString::to_string),
                Some("as reported".to_owned())
            );
        }
        #[cfg(target_os = "linux")]
        for (number, above) in
            [(28, ErrorKind::NoSpace), (30, ErrorKind::ReadOnly), (13, ErrorKind::ReadOnly)]
        {
            assert_eq!(
                io_error("work", io::Error::from_raw_os_error(number)).kind(),
                above,
                "error {number}"
            );
        }
    }

    #[test]
    fn errors_of_redb_have_a_kind() {
        let kinds = [
            (redb::Error::Corrupted("a page".to_owned()), ErrorKind::Corrupted, false),
            (redb::Error::DatabaseAlreadyOpen, ErrorKind::AlreadyOpen, false),
            (redb::Error::LockProtocolMismatch, ErrorKind::AlreadyOpen, false),
            (redb::Error::TableDoesNotExist("leafbase".to_owned()), ErrorKind::NotASpace, false),
            (redb::Error::UpgradeRequired(1), ErrorKind::NotASpace, false),
            (redb::Error::PreviousIo, ErrorKind::Storage, true),
            (redb::Error::DatabaseClosed, ErrorKind::Storage, true),
        ];
        for (below, above, poisons) in kinds {
            let health = HandleHealth::default();
            let error = health.report(below);
            assert_eq!((error.kind(), health.is_poisoned()), (above, poisons), "{error:?}");
        }
    }

    #[test]
    fn a_panic_of_redb_is_corruption_and_others_go_on() {
        let health = HandleHealth::default();
        // Unlike a panic this prints nothing.
        let give_up = || -> Result<()> { resume_unwind(Box::new("gives up")) };
        assert_eq!(health.catch(give_up).map_err(|error| error.kind()), Err(ErrorKind::Corrupted));
        assert!(health.is_poisoned());

        let health = HandleHealth::default();
        let in_callback = Cell::new(true);
        assert!(
            catch_unwind(AssertUnwindSafe(|| health.catch_unless(&in_callback, give_up))).is_err()
        );
        assert!(!health.is_poisoned());

        let broken = || -> Result<()> { resume_unwind(Box::new("broken invariant: of ours")) };
        assert!(catch_unwind(AssertUnwindSafe(|| health.catch(broken))).is_err());
        assert!(!health.is_poisoned());
    }
}
