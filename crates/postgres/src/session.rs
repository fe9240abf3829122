//! A session of the database with its prepared statements.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use futures_util::future::{try_join_all, try_join3};
use leafbase_model::{Result, invariant};
use tokio_postgres::{Client, Config, Error as DriverError, Statement};

use crate::session_link::{Connector, LinkError, SessionLink};

/// A session of the database. Its parts are borrowed apart: a request borrows client and
/// statements while the link waits for it.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) link: SessionLink,
    /// `None` until they are prepared, which the tables have to exist for.
    pub(crate) statements: Option<Statements>,
}

/// The statements of a session.
#[derive(Clone, Debug)]
pub(crate) struct Statements {
    pub(crate) get: Statement,
    /// Entries from a key on: ascending, ascending up to a bound, and both descending.
    pub(crate) scan: Statement,
    pub(crate) scan_within: Statement,
    pub(crate) scan_back: Statement,
    pub(crate) scan_back_within: Statement,
    /// Entries of keys, of up to three ascending spans and of a descending one: see
    /// `entry_request::RequestBatch`.
    pub(crate) batch: Statement,
    /// Entries of an index up to a bound, ascending and descending, each with its record.
    pub(crate) index: Statement,
    pub(crate) index_back: Statement,
    /// Locks the space, until the transaction ends. The row changes, so that a database which does
    /// not read the newest state after a wait refuses the lock, and the write runs again.
    pub(crate) lock: Statement,
    pub(crate) put: Statement,
    /// Puts entries, and sets the number of a writer's last commit.
    pub(crate) put_and_count: Statement,
    pub(crate) delete: Statement,
    pub(crate) delete_range: Statement,
    /// The number of the last commit of a writer.
    pub(crate) commits: Statement,
}

// In the order in which `Statements::of` takes them.
const TEXTS: [&str; 14] = [
    "SELECT key, value FROM leafbase_entries WHERE space = $1 AND key = ANY($2)",
    "SELECT key, value FROM leafbase_entries WHERE space = $1 AND key >= $2 \
     ORDER BY key LIMIT $3",
    "SELECT key, value FROM leafbase_entries WHERE space = $1 AND key >= $2 AND key < $4 \
     ORDER BY key LIMIT $3",
    "SELECT key, value FROM leafbase_entries WHERE space = $1 AND key >= $2 \
     ORDER BY key DESC LIMIT $3",
    "SELECT key, value FROM leafbase_entries WHERE space = $1 AND key >= $2 AND key < $4 \
     ORDER BY key DESC LIMIT $3",
    "(SELECT key, value, 0::int4 FROM leafbase_entries WHERE space = $1 AND key = ANY($2)) \
     UNION ALL (SELECT key, value, 1::int4 FROM leafbase_entries \
     WHERE space = $1 AND key >= $3 AND key < $4 ORDER BY key LIMIT $5) \
     UNION ALL (SELECT key, value, 2::int4 FROM leafbase_entries \
     WHERE space = $1 AND key >= $6 AND key < $7 ORDER BY key LIMIT $8) \
     UNION ALL (SELECT key, value, 3::int4 FROM leafbase_entries \
     WHERE space = $1 AND key >= $9 AND key < $10 ORDER BY key LIMIT $11) \
     UNION ALL (SELECT key, value, 4::int4 FROM leafbase_entries \
     WHERE space = $1 AND key >= $12 AND key < $13 ORDER BY key DESC LIMIT $14)",
    "SELECT i.key, i.value, r.value FROM \
     (SELECT key, value FROM leafbase_entries WHERE space = $1 AND key >= $2 AND key < $4 \
     ORDER BY key LIMIT $3) AS i LEFT JOIN leafbase_entries AS r ON r.space = $1 \
     AND r.key = $5 || substring(i.key FROM length(i.key) - $6::int4 + 1) ORDER BY i.key",
    "SELECT i.key, i.value, r.value FROM \
     (SELECT key, value FROM leafbase_entries WHERE space = $1 AND key >= $2 AND key < $4 \
     ORDER BY key DESC LIMIT $3) AS i LEFT JOIN leafbase_entries AS r ON r.space = $1 \
     AND r.key = $5 || substring(i.key FROM length(i.key) - $6::int4 + 1) ORDER BY i.key DESC",
    "UPDATE leafbase_spaces SET writes = writes + 1 WHERE id = $1 RETURNING id",
    "INSERT INTO leafbase_entries (space, key, value) SELECT $1, written.key, written.value \
     FROM unnest($2::bytea[], $3::bytea[]) AS written (key, value) \
     ON CONFLICT (space, key) DO UPDATE SET value = excluded.value",
    "WITH counted AS (INSERT INTO leafbase_writers (writer, space, commits) VALUES ($4, $1, $5) \
     ON CONFLICT (writer) DO UPDATE SET commits = excluded.commits, last_at = excluded.last_at) \
     INSERT INTO leafbase_entries (space, key, value) SELECT $1, written.key, written.value \
     FROM unnest($2::bytea[], $3::bytea[]) AS written (key, value) \
     ON CONFLICT (space, key) DO UPDATE SET value = excluded.value",
    "DELETE FROM leafbase_entries WHERE space = $1 AND key = ANY($2)",
    "DELETE FROM leafbase_entries WHERE space = $1 AND key >= $2 AND key < $3",
    "SELECT commits FROM leafbase_writers WHERE writer = $1",
];

/// Every statement goes by the one index of its table, whatever its values are: to plan it for each
/// call would take half of the time of a short one. Without statistics each record of an index
/// would be a bitmap scan, which takes 1.5 times as long.
const SETTINGS: &str = "SELECT set_config(name, CASE name WHEN 'plan_cache_mode' \
     THEN 'force_generic_plan' ELSE 'off' END, false) \
     FROM pg_settings WHERE name IN ('plan_cache_mode', 'enable_seqscan', 'enable_bitmapscan')";

/// How long the server keeps the session of a host that does not answer, and with it the lock of a
/// write: half a minute, as the host does, unless the parameters say so. Sockets of one machine
/// have no such timeouts.
const TIMEOUTS: &str = "SELECT set_config(name, CASE name WHEN 'tcp_user_timeout' THEN '30000' \
     WHEN 'tcp_keepalives_idle' THEN '15' WHEN 'tcp_keepalives_interval' THEN '5' ELSE '3' END, \
     false) FROM pg_settings WHERE name IN ('tcp_user_timeout', 'tcp_keepalives_idle', \
     'tcp_keepalives_interval', 'tcp_keepalives_count') AND source IS DISTINCT FROM 'client'";

impl Session {
    /// Connects.
    pub(crate) fn connect(
        connector: &Connector,
        config: &Config,
        round_trips: Arc<AtomicU64>,
    ) -> Result<Self, LinkError> {
        let (client, link) = SessionLink::connect(connector, config, round_trips)?;
        Ok(Self { client, link, statements: None })
    }

    /// Prepares the statements, in one round trip, if that was not done.
    pub(crate) fn prepare(&mut self) -> Result<(), LinkError> {
        let Self { client, link, statements } = self;
        if statements.is_none() {
            let texts = TEXTS.iter().map(|text| client.prepare(text));
            let settings = async { Ok(client.batch_execute(SETTINGS).await) };
            let timeouts = async { Ok(client.batch_execute(TIMEOUTS).await) };
            let prepared = try_join3(settings, timeouts, try_join_all(texts));
            // What a database refuses of the settings costs time alone.
            let (_, _, prepared) = link.wait(prepared)?;
            *statements = Some(Statements::of(prepared).map_err(LinkError::Internal)?);
        }
        Ok(())
    }

    /// Sends what `request` sends, with the statements, and waits for its answer.
    pub(crate) fn wait<'s, T, F>(
        &'s mut self,
        request: impl FnOnce(&'s Client, &'s Statements) -> F,
    ) -> Result<T, LinkError>
    where
        F: Future<Output = Result<T, DriverError>> + 's,
    {
        self.prepare()?;
        let Self { client, link, statements } = self;
        let Some(statements) = statements else { return Err(LinkError::Ended) };
        link.wait(request(client, statements))
    }
}

impl Statements {
    fn of(prepared: Vec<Statement>) -> Result<Self> {
        let Ok(prepared) = <[Statement; TEXTS.len()]>::try_from(prepared) else {
            invariant!("each text of a statement is prepared");
        };
        let [get, scan, scan_within, scan_back, scan_back_within, rest @ ..] = prepared;
        let [batch, index, index_back, lock, put, put_and_count, delete, delete_range, commits] =
            rest;
        Ok(Self {
            get,
            scan,
            scan_within,
            scan_back,
            scan_back_within,
            batch,
            index,
            index_back,
            lock,
            put,
            put_and_count,
            delete,
            delete_range,
            commits,
        })
    }
}
