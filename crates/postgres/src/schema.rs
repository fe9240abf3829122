//! The tables of a database, and how they are brought to the present version.

use leafbase_model::{Error, ErrorKind};
use tokio_postgres::Error as DriverError;
use tokio_postgres::error::SqlState;

use crate::failure::{FailureKind, RequestFailure};
use crate::pool::{MAX_ATTEMPTS, SessionPool, pause_after};
use crate::session::Session;
use crate::session_link::LinkError;

/// The steps from an empty database to the present version, each in a transaction of its own. A
/// step that was released is never changed: what follows is a further step.
///
/// They use types and clauses that `CockroachDB` and `YugabyteDB` have as well, unless they are
/// optional.
const MIGRATIONS: [Migration; 2] = [
    Migration { statements: TABLES, is_optional: false },
    Migration { statements: INLINE_VALUES, is_optional: true },
];

struct Migration {
    statements: &'static str,
    /// Whether a database may refuse it.
    is_optional: bool,
}

const TABLES: &str = "
    CREATE TABLE leafbase_spaces (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        writes BIGINT NOT NULL DEFAULT 0
    );
    CREATE TABLE leafbase_entries (
        space BIGINT NOT NULL,
        key BYTEA NOT NULL,
        value BYTEA NOT NULL,
        PRIMARY KEY (space, key)
    );
    CREATE TABLE leafbase_writers (
        writer TEXT PRIMARY KEY,
        space BIGINT NOT NULL,
        commits BIGINT NOT NULL,
        last_at TIMESTAMPTZ NOT NULL DEFAULT now()
    )";
/// A run of blocks has up to 4 KiB. `PostgreSQL` would compress values of more than 2 KiB and store
/// them elsewhere if they are still longer: to write one takes twice as long then.
const INLINE_VALUES: &str = "ALTER TABLE leafbase_entries SET (toast_tuple_target = 8160)";

const VERSION_TABLE: &str = "
    CREATE TABLE IF NOT EXISTS leafbase_version (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        version INTEGER NOT NULL
    );
    INSERT INTO leafbase_version (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING";
const READ_VERSION: &str = "SELECT version FROM leafbase_version WHERE id = 1";

/// Creates the tables of an empty database, or brings older ones to the present version.
///
/// # Errors
/// [`ErrorKind::NewerFormat`] if a later version of this crate made them; errors of the database.
pub(crate) fn migrate(pool: &SessionPool, session: &mut Session) -> Result<(), RequestFailure> {
    let mut attempt = 0;
    loop {
        let failure = match step(session) {
            Ok(Some(())) => return Ok(()),
            Ok(None) => continue,
            Err(MigrationError::Newer(version)) => {
                let message =
                    format!("the tables have version {version}, which a later release made");
                return Err(RequestFailure::refused(Error::new(ErrorKind::NewerFormat, message)));
            }
            Err(MigrationError::Link(error)) => {
                // Hosts that begin at the same time create the same names: one of them has to look
                // once more.
                let is_taken = is_taken(&error);
                let failure = pool.failure(&error);
                let again = is_taken || failure.kind == FailureKind::Conflict;
                if again && attempt < MAX_ATTEMPTS { None } else { Some(failure) }
            }
        };
        if let Some(failure) = failure {
            return Err(failure);
        }
        pause_after(attempt);
        attempt += 1;
    }
}

enum MigrationError {
    Link(LinkError),
    Newer(i32),
}

impl<E: Into<LinkError>> From<E> for MigrationError {
    fn from(error: E) -> Self {
        Self::Link(error.into())
    }
}

/// Whether another host created the same object in between.
fn is_taken(error: &LinkError) -> bool {
    const TAKEN: [SqlState; 3] =
        [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_OBJECT];
    let LinkError::Driver(error) = error else { return false };
    error.code().is_some_and(|code| TAKEN.contains(code))
}

/// Makes one step. `Some` if none is left.
fn step(session: &mut Session) -> Result<Option<()>, MigrationError> {
    let version = version(session)?;
    let Some(version) = version else {
        execute(session, VERSION_TABLE)?;
        return Ok(None);
    };
    let next = usize::try_from(version).ok().and_then(|at| MIGRATIONS.get(at));
    let Some(migration) = next else {
        let newest = i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX);
        return if version == newest { Ok(Some(())) } else { Err(MigrationError::Newer(version)) };
    };
    match execute(session, &transaction(version, migration.statements)) {
        Err(LinkError::Driver(error)) if migration.is_optional && is_unknown(&error) => {
            execute(session, &transaction(version, "SELECT 1"))?;
        }
        executed => executed?,
    }
    Ok(None)
}

/// A step from `version` to the next one. The row of the version is the lock. Of two hosts the
/// second one fails on names that exist by then, rolls back, and reads the version again.
fn transaction(version: i32, statements: &str) -> String {
    let next = version + 1;
    format!(
        "BEGIN; SELECT version FROM leafbase_version WHERE id = 1 FOR UPDATE; {statements}; \
         UPDATE leafbase_version SET version = {next} WHERE id = 1 AND version = {version}; \
         COMMIT"
    )
}

/// Whether the database does not know what a statement asks for.
fn is_unknown(error: &DriverError) -> bool {
    const UNKNOWN: [SqlState; 3] = [
        SqlState::FEATURE_NOT_SUPPORTED,
        SqlState::INVALID_PARAMETER_VALUE,
        SqlState::SYNTAX_ERROR,
    ];
    error.code().is_some_and(|code| UNKNOWN.contains(code))
}

fn execute(session: &mut Session, text: &str) -> Result<(), LinkError> {
    let Session { client, link, .. } = session;
    let executed = link.wait(client.batch_execute(text));
    if executed.is_err() && link.is_open() {
        // A statement of a transaction failed: what follows it in the text was not run.
        link.wait(client.batch_execute("ROLLBACK"))?;
    }
    executed
}

/// The version of the tables, if there are any.
fn version(session: &mut Session) -> Result<Option<i32>, LinkError> {
    let Session { client, link, .. } = session;
    let read = link.wait(async {
        let row = client.query_typed_opt(READ_VERSION, &[]).await?;
        row.map(|row| row.try_get::<_, i32>(0)).transpose()
    });
    match read {
        Err(LinkError::Driver(error)) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => {
            Ok(None)
        }
        read => read,
    }
}
