//! What an error of the driver means: whether the server rolled back, whether the connection is
//! lost, and what a caller is told.

use std::error::Error as _;
use std::io;

use leafbase_model::{Error, ErrorKind};
use tokio_postgres::Error as DriverError;
use tokio_postgres::error::{Severity, SqlState};

use crate::session_link::LinkError;

/// What can be done after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The server rolled the transaction back for the sake of another one: it can run again.
    Conflict,
    /// The connection is lost, and with it its transaction: it can run again over another one,
    /// unless its commit was under way.
    Lost,
    /// The request was refused, and would be again.
    Refused,
}

/// A failed request to the database.
#[derive(Clone, Debug)]
pub(crate) struct RequestFailure {
    pub(crate) kind: FailureKind,
    pub(crate) error: Error,
}

impl RequestFailure {
    /// A refusal with `error`.
    pub(crate) fn refused(error: Error) -> Self {
        Self { kind: FailureKind::Refused, error }
    }

    /// The meaning of an error; `database` names the database.
    pub(crate) fn of(database: &str, error: &LinkError) -> Self {
        let (kind, error_kind, text) = match error {
            LinkError::Internal(error) => {
                return Self { kind: FailureKind::Refused, error: error.clone() };
            }
            LinkError::Driver(error) => (kind(error), error_kind(error), description(error)),
            LinkError::System(error) => {
                (FailureKind::Refused, ErrorKind::Storage, error.to_string())
            }
            LinkError::Ended => {
                let text = "the connection was closed".to_owned();
                (FailureKind::Lost, ErrorKind::Storage, text)
            }
        };
        Self { kind, error: Error::new(error_kind, format!("{database}: {text}")) }
    }
}

fn kind(error: &DriverError) -> FailureKind {
    let Some(reported) = error.as_db_error() else {
        let is_io = error.source().is_some_and(<dyn std::error::Error>::is::<io::Error>);
        return if error.is_closed() || is_io { FailureKind::Lost } else { FailureKind::Refused };
    };
    let code = reported.code();
    if is_conflict(code) {
        FailureKind::Conflict
    } else if is_loss(code) {
        FailureKind::Lost
    } else {
        FailureKind::Refused
    }
}

fn is_conflict(code: &SqlState) -> bool {
    [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code)
}

/// Whether the server ended the session or cannot begin one at present.
fn is_loss(code: &SqlState) -> bool {
    const ENDED: [SqlState; 6] = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::IDLE_SESSION_TIMEOUT,
        SqlState::TOO_MANY_CONNECTIONS,
    ];
    // Class 08 has the exceptions of connections.
    code.code().starts_with("08") || ENDED.contains(code)
}

/// Whether the server answered that the transaction was rolled back. Otherwise a commit that was
/// sent may have happened: a server that fails while it commits may have written the commit.
pub(crate) fn is_rolled_back(error: &LinkError) -> bool {
    let LinkError::Driver(error) = error else { return false };
    let Some(reported) = error.as_db_error() else { return false };
    let unknown =
        [SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN, SqlState::TRANSACTION_RESOLUTION_UNKNOWN];
    // A related database may send the severity as text alone.
    let is_error = reported
        .parsed_severity()
        .map_or(reported.severity() == "ERROR", |severity| severity == Severity::Error);
    is_error && !unknown.contains(reported.code())
}

/// Whether the database has no such statement.
pub(crate) fn is_unsupported(error: &LinkError) -> bool {
    let LinkError::Driver(error) = error else { return false };
    let unsupported = [SqlState::SYNTAX_ERROR, SqlState::FEATURE_NOT_SUPPORTED];
    error.code().is_some_and(|code| unsupported.contains(code))
}

fn error_kind(error: &DriverError) -> ErrorKind {
    match error.code() {
        Some(code) if *code == SqlState::DISK_FULL => ErrorKind::NoSpace,
        Some(code) if *code == SqlState::READ_ONLY_SQL_TRANSACTION => ErrorKind::ReadOnly,
        Some(code) if [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(code) => {
            ErrorKind::Corrupted
        }
        _ => ErrorKind::Storage,
    }
}

/// The error with its causes. Neither the driver nor the server repeats a password.
fn description(error: &DriverError) -> String {
    if let Some(reported) = error.as_db_error() {
        if *reported.code() == SqlState::LOCK_NOT_AVAILABLE {
            return "another host has been writing to the space for too long".to_owned();
        }
        return format!("{} (SQLSTATE {})", reported.message(), reported.code().code());
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
