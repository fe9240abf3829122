//! Write transactions: they hold the lock of their space, and send their writes together.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{join3, try_join, try_join3};
use leafbase_kv::{KeyRange, Read, ReadHint, Transaction, Visit, VisitMany};
use leafbase_model::{Error, Result, invariant};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error as DriverError};

use crate::failure::{RequestFailure, is_rolled_back};
use crate::key_span::KeySpan;
use crate::overlay::{Overlay, OverlayWrites};
use crate::pool::SessionPool;
use crate::remote_reader::{RemoteReader, TransactionStart, begin, space_is_gone};
use crate::session::Statements;

/// Bytes of writes from which on they are sent before the commit: bounds memory.
const MAX_OVERLAY_BYTES: usize = 8 << 20;
/// Bytes of a key: an entry of the primary key takes at most a third of a page.
const MAX_KEY_BYTES: usize = 2_600;
/// Bytes of a value, whose request has to be encoded before the commit is sent with it.
const MAX_VALUE_BYTES: usize = 256 << 20;

/// How long it is tried to find out whether a commit happened: another server takes the place of
/// one that failed.
const LOOKUP_PERIOD: Duration = Duration::from_secs(30);
/// Deletes the numbers of handles that have not written for long.
const PRUNE_WRITERS: &str = "DELETE FROM leafbase_writers \
     WHERE space = $1 AND last_at < now() - INTERVAL '30 days'";

/// A write transaction. It is rolled back when it is dropped.
#[derive(Debug)]
pub(crate) struct PostgresTransaction {
    reader: RemoteReader,
    space: i64,
    overlay: Overlay,
    /// Whether something was written, sent or not.
    has_written: bool,
}

/// What becomes of a commit.
#[derive(Debug)]
pub(crate) enum CommitOutcome {
    Committed,
    /// Nothing is committed.
    Failed(RequestFailure),
    /// The connection was lost, or the server failed, before it answered whether it committed.
    InDoubt(RequestFailure),
}

/// The number of a commit, by which it is found if its answer is lost.
#[derive(Clone, Debug)]
pub(crate) struct CommitMark<'w> {
    pub(crate) writer: &'w str,
    pub(crate) number: i64,
    /// The channel to notify of the commit.
    pub(crate) channel: Option<&'w str>,
}

impl PostgresTransaction {
    /// A transaction that begins with its first request.
    pub(crate) fn new(pool: Arc<SessionPool>, space: i64, start: TransactionStart) -> Self {
        let reader = RemoteReader::new(pool, space, start);
        Self { reader, space, overlay: Overlay::default(), has_written: false }
    }

    /// The failure of a request, after which the transaction cannot commit.
    pub(crate) fn failure(&self) -> Option<RequestFailure> {
        self.reader.connection().failure().cloned()
    }

    fn write(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        let value_bytes = value.map_or(0, <[u8]>::len);
        if key.len() > MAX_KEY_BYTES {
            return Err(Error::limit("bytes of a key", MAX_KEY_BYTES, key.len()));
        }
        if value_bytes > MAX_VALUE_BYTES {
            return Err(Error::limit("bytes of a value", MAX_VALUE_BYTES, value_bytes));
        }
        self.has_written = true;
        self.overlay.write(key, value);
        if self.overlay.bytes() > MAX_OVERLAY_BYTES { self.send(None) } else { Ok(()) }
    }

    /// Sends the writes, then deletes the keys of `range`.
    fn send(&mut self, range: Option<(&[u8], &[u8])>) -> Result<()> {
        let (space, writes) = (self.space, self.overlay.take());
        self.reader.clear_cache();
        let connection = self.reader.connection_mut();
        // In one round trip and in this order: a key of the range that was put before is deleted.
        let sent = connection.send(|client, statements, start| async move {
            let deleted = async {
                let Some((lower, upper)) = range else { return Ok(0) };
                client.execute(&statements.delete_range, &[&space, &lower, &upper]).await
            };
            let begun = begin(client, statements, space, start);
            let written = write_all(client, statements, space, &writes, None);
            try_join3(begun, written, deleted).await
        });
        match sent {
            Ok((true, ..)) => Ok(()),
            Ok((false, ..)) => {
                connection.fail(RequestFailure::refused(space_is_gone()));
                Err(space_is_gone())
            }
            Err(failure) => Err(failure.error),
        }
    }

    /// Sends what is left to write and commits, in one round trip.
    pub(crate) fn commit(mut self, mark: &CommitMark<'_>) -> CommitOutcome {
        let (space, writes) = (self.space, self.overlay.take());
        let mark = self.has_written.then_some(mark);
        let connection = self.reader.connection_mut();
        let answered = connection.send(|client, statements, start| async move {
            let begun = begin(client, statements, space, start);
            let written = write_all(client, statements, space, &writes, mark);
            let notified = notify_commit(client, space, mark);
            let written = async { try_join(written, notified).await.map(drop) };
            // Each answer is looked at: after a failed statement the server answers `COMMIT` with a
            // rollback, which is not an error.
            Ok(join3(begun, written, client.batch_execute("COMMIT")).await)
        });
        let (begun, written, committed) = match answered {
            Ok(answers) => answers,
            // Nothing was sent.
            Err(failure) => return CommitOutcome::Failed(failure),
        };
        // It has ended in any case, or is lost with its connection.
        connection.end();
        let error = match (begun, written, committed) {
            (Ok(true), Ok(()), Ok(())) => return CommitOutcome::Committed,
            (Ok(false), ..) => {
                return CommitOutcome::Failed(RequestFailure::refused(space_is_gone()));
            }
            (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => error.into(),
        };
        let failure = connection.pool().failure(&error);
        if is_rolled_back(&error) {
            CommitOutcome::Failed(failure)
        } else {
            CommitOutcome::InDoubt(failure)
        }
    }
}

/// Writes the entries, and the number of the commit with them, so that both are there or none is.
async fn write_all(
    client: &Client,
    statements: &Statements,
    space: i64,
    writes: &OverlayWrites,
    mark: Option<&CommitMark<'_>>,
) -> Result<(), DriverError> {
    let OverlayWrites { keys, values, deleted } = writes;
    // Deletes and puts are of different keys, so that their order does not matter.
    let delete = async {
        if deleted.is_empty() {
            return Ok(0);
        }
        client.execute(&statements.delete, &[&space, deleted]).await
    };
    let put = async {
        match mark {
            Some(CommitMark { writer, number, .. }) => {
                let parameters: [&(dyn ToSql + Sync); 5] = [&space, keys, values, writer, number];
                client.execute(&statements.put_and_count, &parameters).await
            }
            None if keys.is_empty() => Ok(0),
            None => client.execute(&statements.put, &[&space, keys, values]).await,
        }
    };
    try_join(delete, put).await.map(drop)
}

/// Notifies other hosts of the commit, and deletes the numbers of old ones.
async fn notify_commit(
    client: &Client,
    space: i64,
    mark: Option<&CommitMark<'_>>,
) -> Result<(), DriverError> {
    let Some(CommitMark { number, channel, .. }) = mark else { return Ok(()) };
    let pruned = async {
        // Once for each handle.
        if *number > 1 {
            return Ok(());
        }
        client.execute_typed(PRUNE_WRITERS, &[(&space, Type::INT8)]).await.map(drop)
    };
    let notified = async {
        let Some(channel) = channel else { return Ok(()) };
        client.batch_execute(&format!("NOTIFY {channel}")).await
    };
    try_join(pruned, notified).await.map(drop)
}

impl Read for PostgresTransaction {
    fn get(&self, key: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        if let Some(written) = self.overlay.get(key) {
            return written.value().map_or(Ok(false), |value| visit(value).map(|()| true));
        }
        match self.reader.get(key)? {
            Some(value) => visit(&value).map(|()| true),
            None => Ok(false),
        }
    }

    fn scan(&self, range: KeyRange<'_>, visit: Visit<'_>) -> Result<()> {
        let (span, reverse) = (KeySpan::of(range), range.reverse);
        let stored = |visit: Visit<'_>| self.reader.scan(span.clone(), reverse, visit);
        self.overlay.merge(&span, reverse, visit, stored)
    }

    fn get_many(&self, keys: &[&[u8]], visit: VisitMany<'_>) -> Result<()> {
        let is_stored = |key: &&&[u8]| self.overlay.get(key).is_none();
        let stored: Vec<&[u8]> = keys.iter().filter(is_stored).copied().collect();
        let mut values = self.reader.get_all(&stored)?.into_iter();
        for (index, key) in keys.iter().enumerate() {
            if let Some(written) = self.overlay.get(key) {
                visit(index, written.value())?;
                continue;
            }
            let Some(value) = values.next() else {
                invariant!("a key that is not written over has an answer")
            };
            visit(index, value.as_deref())?;
        }
        Ok(())
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn is_loaded(&self, key: &[u8]) -> bool {
        self.overlay.get(key).is_some() || self.reader.is_loaded(key)
    }

    fn prefetch(&self, hints: &[ReadHint<'_>]) -> Result<()> {
        self.reader.load(hints)
    }
}

impl Transaction for PostgresTransaction {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.write(key, Some(value))
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.write(key, None)
    }

    fn delete_range(&mut self, lower: &[u8], upper: &[u8]) -> Result<()> {
        if lower >= upper {
            return Ok(());
        }
        self.has_written = true;
        let span = KeySpan::of(KeyRange::half_open(lower, upper));
        if !self.reader.has_cached(&span) {
            return self.send(Some((lower, upper)));
        }
        // Its keys are known, and are deleted with the other writes: what was read stays cached.
        let mut keys = Vec::new();
        self.scan(KeyRange::half_open(lower, upper), &mut |key, _| {
            keys.push(key.to_vec());
            Ok(ControlFlow::Continue(()))
        })?;
        keys.iter().try_for_each(|key| self.delete(key))
    }
}

/// The number of the last commit of `writer`, after those under way have ended.
pub(crate) fn last_commit(
    pool: &Arc<SessionPool>,
    space: i64,
    writer: &str,
    start: &TransactionStart,
) -> Result<Option<i64>, RequestFailure> {
    let began = Instant::now();
    pool.retry_while(
        |_| began.elapsed() < LOOKUP_PERIOD,
        |mut lease| {
            let pool = Arc::clone(lease.pool());
            lease.set_open(true);
            let answered = lease.session().and_then(|session| {
                session.wait(|client, statements| async {
                    // The lock is free once the transaction in doubt has ended.
                    let begun = begin(client, statements, space, Some(start.clone()));
                    let read = async { client.query_opt(&statements.commits, &[&writer]).await };
                    let (_, row) = try_join(begun, read).await?;
                    row.map(|row| row.try_get(0)).transpose()
                })
            });
            answered.map_err(|error| pool.failure(&error))
        },
    )
}
