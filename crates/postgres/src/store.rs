//! The store of one space in a database.

use std::fmt;
use std::ops::{Bound, ControlFlow};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use futures_util::future::try_join5;
use leafbase_kv::{
    CommitSignal, Durability, KeyRange, Read, ReadHint, Snapshot, Store, Transaction, WriteOptions,
};
use leafbase_model::{Error, ErrorKind, Result};
use tokio_postgres::types::Type;

use crate::failure::{FailureKind, RequestFailure, is_unsupported};
use crate::listener::listen;
use crate::pool::{MAX_ATTEMPTS, SessionPool, pause_after};
use crate::remote_reader::{RemoteReader, TransactionStart};
use crate::snapshot::PostgresSnapshot;
use crate::transaction::{CommitMark, CommitOutcome, PostgresTransaction, last_commit};

/// The store of one space in a database: a [`Store`] to make a space over.
///
/// Any number of handles, in any number of processes, may have the same space open. Writes run one
/// after the other; reads wait for none. A call blocks its thread until the database answers, and
/// must not be made from within an asynchronous task: call it where blocking is allowed.
pub struct PostgresStore {
    pool: Arc<SessionPool>,
    space: i64,
    name: String,
    writer: Mutex<CommitCounter>,
    /// Of this handle: those of other ones are noticed at an interval, or by notifications.
    signal: Arc<CommitSignal>,
    listens: Once,
}

/// The commits of a handle.
#[derive(Debug)]
struct CommitCounter {
    /// The name of the handle in the database.
    writer: String,
    /// The number of its last commit, attempts included.
    number: i64,
    /// Whether a relaxed write has returned since the last durable one.
    has_relaxed: bool,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("pool", &self.pool)
            .field("space", &self.name)
            .finish_non_exhaustive()
    }
}

const READ_ONLY: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

impl PostgresStore {
    /// The store of the space with the number `space`; `writer` names this handle.
    pub(crate) fn new(pool: Arc<SessionPool>, space: i64, name: String, writer: String) -> Self {
        let counter = CommitCounter { writer, number: 0, has_relaxed: false };
        let signal = Arc::new(CommitSignal::polling(CommitSignal::DEFAULT_POLL_INTERVAL));
        Self { pool, space, name, writer: Mutex::new(counter), signal, listens: Once::new() }
    }

    /// The name of the space in the database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the store has no entry.
    pub(crate) fn is_empty(&self) -> Result<bool> {
        let (mut is_empty, all) = (true, KeyRange::half_open(&[], &[]));
        let all = KeyRange { upper: Bound::Unbounded, ..all };
        let snapshot = PostgresSnapshot(self.reader());
        snapshot.prefetch(&[ReadHint::Range(all, 1)])?;
        snapshot.scan(all, &mut |_, _| {
            is_empty = false;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(is_empty)
    }

    /// Reads of a snapshot, which begins with the first one.
    fn reader(&self) -> RemoteReader {
        let start = TransactionStart { text: READ_ONLY.to_owned(), locks: false };
        RemoteReader::new(Arc::clone(&self.pool), self.space, start)
    }

    /// Serialises the writes of this handle, which so use one connection.
    fn writer(&self) -> MutexGuard<'_, CommitCounter> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, durability: Durability) -> TransactionStart {
        // Each statement after the lock reads what was committed last, and nothing is committed
        // while the lock is held.
        let timeout = self.pool.options().lock_timeout.as_millis();
        let mut text = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = {timeout}"
        );
        if durability == Durability::Relaxed {
            text.push_str("; SET LOCAL synchronous_commit = off");
        }
        TransactionStart { text, locks: true }
    }

    /// Runs `f` once and commits.
    fn attempt(
        &self,
        counter: &mut CommitCounter,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<(), RequestFailure> {
        let (pool, start) = (Arc::clone(&self.pool), self.start(options.durability));
        let mut transaction = PostgresTransaction::new(pool, self.space, start);
        let planned = f(&mut transaction);
        // What the closure returned rests on a request that failed.
        if let Some(failure) = transaction.failure() {
            return Err(failure);
        }
        planned.map_err(RequestFailure::refused)?;
        // Of each attempt its own: a commit in doubt must not be taken for the one after it.
        counter.number += 1;
        let channel = self.pool.options().notify.then(|| self.channel());
        let mark = CommitMark {
            writer: &counter.writer,
            number: counter.number,
            channel: channel.as_deref(),
        };
        match transaction.commit(&mark) {
            CommitOutcome::Committed => Ok(()),
            CommitOutcome::Failed(failure) => Err(failure),
            CommitOutcome::InDoubt(failure) => self.resolve(counter, failure),
        }
    }

    /// Finds out whether the last commit happened, which ended with `failure`.
    fn resolve(
        &self,
        counter: &CommitCounter,
        failure: RequestFailure,
    ) -> Result<(), RequestFailure> {
        let start = self.start(Durability::Durable);
        match last_commit(&self.pool, self.space, &counter.writer, &start) {
            Ok(number) if number == Some(counter.number) => Ok(()),
            // The lookup held the lock, so the transaction in doubt has ended without its commit.
            Ok(_) => Err(failure),
            Err(unreachable) => {
                let message = format!(
                    "{}; whether the write happened is known only when the database can be \
                     reached again",
                    failure.error.message()
                );
                let error = Error::new(ErrorKind::Storage, message).with_source(unreachable.error);
                Err(RequestFailure::refused(error))
            }
        }
    }

    /// The name of the channel on which writes are announced.
    pub(crate) fn channel(&self) -> String {
        format!("leafbase_{}", self.space)
    }
}

impl Store for PostgresStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let reader = self.reader();
        reader.load(&[])?;
        Ok(Box::new(PostgresSnapshot(reader)))
    }

    fn snapshot_at_first_read(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(PostgresSnapshot(self.reader())))
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn commit_signal(&self) -> Option<Arc<CommitSignal>> {
        if self.pool.options().notify {
            self.listens.call_once(|| {
                let pool = Arc::clone(&self.pool);
                if let Err(error) = listen(pool, self.channel(), &self.signal) {
                    tracing::warn!(%error, "writes of other hosts are noticed at an interval");
                }
            });
        }
        Some(Arc::clone(&self.signal))
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        let mut counter = self.writer();
        let mut attempt = 0;
        loop {
            match self.attempt(&mut counter, options, f) {
                Ok(()) => break,
                Err(failure) if failure.kind == FailureKind::Refused || attempt == MAX_ATTEMPTS => {
                    return Err(failure.error);
                }
                Err(failure) => {
                    tracing::debug!(error = %failure.error, attempt, "a write runs again");
                    if failure.kind == FailureKind::Lost {
                        self.pool.close_idle();
                    }
                    pause_after(attempt);
                    attempt += 1;
                }
            }
        }
        // A durable commit syncs the log up to its end, with the relaxed ones before it.
        counter.has_relaxed = options.durability == Durability::Relaxed;
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        if !self.writer().has_relaxed {
            return Ok(());
        }
        // The lock writes to the log of the database, and the commit syncs that up to its end.
        self.write(WriteOptions::durability(Durability::Durable), &mut |_| Ok(()))
    }

    fn compact(&self) -> Result<()> {
        let vacuumed = self.pool.retry(|mut lease| {
            let pool = Arc::clone(lease.pool());
            let vacuumed = lease.session().and_then(|session| {
                session.wait(|client, _| client.batch_execute("VACUUM leafbase_entries"))
            });
            match vacuumed {
                // A database that keeps no old versions in its tables has no such statement.
                Err(error) if is_unsupported(&error) => Ok(()),
                vacuumed => vacuumed.map_err(|error| pool.failure(&error)),
            }
        });
        vacuumed.map_err(|failure| failure.error)
    }

    fn verify(&self) -> Result<bool> {
        let counted = self.pool.retry(|mut lease| {
            let pool = Arc::clone(lease.pool());
            lease.set_open(true);
            let count = "SELECT count(*), count(value) FROM leafbase_entries WHERE space = $1";
            let space = &self.space;
            let counted = lease.session().and_then(|session| {
                session.wait(|client, _| async {
                    let by_heap = "SET LOCAL enable_indexscan = off; \
                                   SET LOCAL enable_indexonlyscan = off; \
                                   SET LOCAL enable_bitmapscan = off";
                    let by_index = "RESET enable_indexscan; RESET enable_indexonlyscan; \
                                    SET LOCAL enable_seqscan = off";
                    let count = || async {
                        let row = client.query_typed_one(count, &[(space, Type::INT8)]).await?;
                        Ok((row.try_get::<_, i64>(0)?, row.try_get::<_, i64>(1)?))
                    };
                    let ((), (), heap, (), index) = try_join5(
                        client.batch_execute(READ_ONLY),
                        client.batch_execute(by_heap),
                        count(),
                        client.batch_execute(by_index),
                        count(),
                    )
                    .await?;
                    Ok(heap == index)
                })
            });
            counted.map_err(|error| pool.failure(&error))
        });
        match counted {
            Err(failure) if failure.error.kind() == ErrorKind::Corrupted => Ok(false),
            counted => counted.map_err(|failure| failure.error),
        }
    }

    fn bytes(&self) -> Result<u64> {
        let sum = "SELECT coalesce(sum(octet_length(key) + octet_length(value)), 0)::bigint \
                   FROM leafbase_entries WHERE space = $1";
        let space = &self.space;
        let bytes = self.pool.retry(|mut lease| {
            let pool = Arc::clone(lease.pool());
            let summed = lease.session().and_then(|session| {
                session.wait(|client, _| async {
                    let row = client.query_typed_one(sum, &[(space, Type::INT8)]).await?;
                    row.try_get::<_, i64>(0)
                })
            });
            summed.map_err(|error| pool.failure(&error))
        });
        let bytes = bytes.map_err(|failure| failure.error)?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    }
}
