//! What redb reports, in the words of the one error; and the wall that keeps its panics in.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use leafbase_model::{Error, ErrorKind, Result};

/// Whether a redb handle can still be used. redb refuses most work after one I/O error, and a panic
/// may have left one of its locks poisoned: either way the handle has to be opened anew.
#[derive(Debug, Default)]
pub(super) struct Health {
    broken: AtomicBool,
}

impl Health {
    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    pub(super) fn mark_broken(&self) {
        self.broken.store(true, Ordering::Release);
    }

    /// The error for the caller; remembers if the handle is of no more use.
    pub(super) fn report(&self, error: impl Into<redb::Error>) -> Error {
        let error = error.into();
        if breaks_handle(&error) {
            self.mark_broken();
        }
        from_redb(error)
    }

    /// Runs `work`, which calls redb, and turns a panic of redb into an error: damaged pages make
    /// it panic.
    pub(super) fn guard<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.guard_visits(&Cell::new(false), work)
    }

    /// The same for work that calls back: while `visiting` is set a panic is the caller's own, and
    /// goes on.
    pub(super) fn guard_visits<T>(
        &self,
        visiting: &Cell<bool>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(result) => result,
            Err(panic) if visiting.get() => resume_unwind(panic),
            Err(_) => {
                self.mark_broken();
                Err(Error::corrupted("a page of the store"))
            }
        }
    }
}

fn breaks_handle(error: &redb::Error) -> bool {
    matches!(
        error,
        redb::Error::Io(_)
            | redb::Error::PreviousIo
            | redb::Error::LockPoisoned(_)
            | redb::Error::DatabaseClosed
    )
}

/// The error for what redb reports.
pub(super) fn from_redb(error: redb::Error) -> Error {
    match error {
        // What redb says of a file that is shorter than it must be, or has no sense.
        redb::Error::Io(error)
            if matches!(
                error.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData
            ) =>
        {
            Error::corrupted("the store's structure").with_source(error)
        }
        redb::Error::Io(error) => from_io("the store could not be read or written", error),
        redb::Error::Corrupted(what) => Error::corrupted("the store's structure").with_source(what),
        redb::Error::DatabaseAlreadyOpen => {
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
            Error::new(ErrorKind::NotASpace, "the store's file holds something else")
                .with_source(error)
        }
        redb::Error::DatabaseClosed => {
            Error::new(ErrorKind::Storage, "the store was reopened after an error: read again")
                .with_source(error)
        }
        redb::Error::TransactionInProgress => {
            Error::new(ErrorKind::Storage, "the store is being read: try again").with_source(error)
        }
        error => Error::new(ErrorKind::Storage, "the store failed").with_source(error),
    }
}

/// The error for what the operating system reports: `what` says what could not be done.
pub(super) fn from_io(what: &str, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            ErrorKind::NoSpace
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => ErrorKind::ReadOnly,
        _ => ErrorKind::Storage,
    };
    let message = match kind {
        ErrorKind::NoSpace => format!("{what}: no room is left on the device"),
        ErrorKind::ReadOnly => format!("{what}: it may not be written"),
        _ => what.to_owned(),
    };
    Error::new(kind, message).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_operating_system_reports_has_a_kind() {
        let kinds = [
            (io::ErrorKind::StorageFull, ErrorKind::NoSpace),
            (io::ErrorKind::QuotaExceeded, ErrorKind::NoSpace),
            (io::ErrorKind::ReadOnlyFilesystem, ErrorKind::ReadOnly),
            (io::ErrorKind::PermissionDenied, ErrorKind::ReadOnly),
            (io::ErrorKind::Other, ErrorKind::Storage),
        ];
        for (below, above) in kinds {
            let error = from_redb(redb::Error::Io(io::Error::new(below, "as reported")));
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
                from_io("work", io::Error::from_raw_os_error(number)).kind(),
                above,
                "error {number}"
            );
        }
    }

    #[test]
    fn what_redb_reports_has_a_kind() {
        let kinds = [
            (redb::Error::Corrupted("a page".to_owned()), ErrorKind::Corrupted, false),
            (redb::Error::DatabaseAlreadyOpen, ErrorKind::AlreadyOpen, false),
            (redb::Error::TableDoesNotExist("leafbase".to_owned()), ErrorKind::NotASpace, false),
            (redb::Error::UpgradeRequired(1), ErrorKind::NotASpace, false),
            (redb::Error::PreviousIo, ErrorKind::Storage, true),
            (redb::Error::DatabaseClosed, ErrorKind::Storage, true),
        ];
        for (below, above, breaks) in kinds {
            let health = Health::default();
            let error = health.report(below);
            assert_eq!((error.kind(), health.is_broken()), (above, breaks), "{error:?}");
        }
    }

    #[test]
    fn a_panic_of_redb_is_damage_and_a_panic_of_a_visit_goes_on() {
        let health = Health::default();
        // Unlike a panic this prints nothing.
        let give_up = || -> Result<()> { resume_unwind(Box::new("gives up")) };
        assert_eq!(health.guard(give_up).map_err(|error| error.kind()), Err(ErrorKind::Corrupted));
        assert!(health.is_broken());

        let health = Health::default();
        let visiting = Cell::new(true);
        assert!(
            catch_unwind(AssertUnwindSafe(|| health.guard_visits(&visiting, give_up))).is_err()
        );
        assert!(!health.is_broken());
    }
}
