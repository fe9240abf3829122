//! The sessions of a database: a bounded number of them, shared by all of its spaces.

use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use leafbase_model::{Error, ErrorKind, Result};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::failure::{FailureKind, RequestFailure};
use crate::options::PostgresOptions;
use crate::session::Session;
use crate::session_link::{Connector, LinkError};

/// Attempts of a request whose connection is lost before it is certain to have an effect, and of a
/// transaction that the server rolled back.
pub(crate) const MAX_ATTEMPTS: u32 = 6;
/// The pause before the second attempt; it doubles with each one.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// Sleeps between two attempts; the first is number 0.
pub(crate) fn pause_after(attempt: u32) {
    thread::sleep(FIRST_PAUSE.saturating_mul(1 << attempt.min(6)));
}

/// The sessions of a database.
pub(crate) struct SessionPool {
    config: Config,
    connector: Connector,
    options: PostgresOptions,
    /// The database in messages, without its password.
    name: String,
    sessions: Mutex<PooledSessions>,
    returned: Condvar,
    round_trips: Arc<AtomicU64>,
}

#[derive(Debug, Default)]
struct PooledSessions {
    idle: Vec<Session>,
    /// Sessions that are idle or in use.
    open: usize,
}

impl fmt::Debug for SessionPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionPool").field("database", &self.name).finish_non_exhaustive()
    }
}

impl SessionPool {
    /// A pool without a session yet.
    pub(crate) fn new(config: Config, connector: Connector, options: PostgresOptions) -> Self {
        let name = database_name(&config);
        let (sessions, returned) = (Mutex::default(), Condvar::new());
        Self { config, connector, options, name, sessions, returned, round_trips: Arc::default() }
    }

    pub(crate) const fn options(&self) -> &PostgresOptions {
        &self.options
    }

    /// How often an answer of the database was waited for.
    pub(crate) fn round_trips(&self) -> u64 {
        self.round_trips.load(Ordering::Relaxed)
    }

    /// The meaning of an error of this database.
    pub(crate) fn failure(&self, error: &LinkError) -> RequestFailure {
        RequestFailure::of(&self.name, error)
    }

    fn sessions(&self) -> MutexGuard<'_, PooledSessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An idle session, or a new one. Waits while the maximum is in use.
    pub(crate) fn lease(self: &Arc<Self>) -> Result<Lease, RequestFailure> {
        let sessions = self.sessions();
        // With a limit of none each call would wait for its timeout.
        let limit = self.options.max_connections.max(1);
        let is_full =
            |sessions: &mut PooledSessions| sessions.idle.is_empty() && sessions.open >= limit;
        let timeout = self.options.pool_timeout;
        let waited = self.returned.wait_timeout_while(sessions, timeout, is_full);
        let (mut sessions, _) = waited.unwrap_or_else(PoisonError::into_inner);
        // A new session takes its place before it is connected.
        let idle = sessions.idle.pop();
        if idle.is_none() && sessions.open >= limit {
            let message = format!("{}: all {limit} connections are in use", self.name);
            let error = Error::new(ErrorKind::Storage, message);
            return Err(RequestFailure { kind: FailureKind::Refused, error });
        }
        if idle.is_none() {
            sessions.open += 1;
            debug_assert!(sessions.open <= limit, "{} sessions of {limit}", sessions.open);
        }
        drop(sessions);
        // A lease before it connects: if that fails, dropping it returns the place.
        let mut lease = Lease { pool: Arc::clone(self), session: idle, is_open: false };
        if lease.session.is_none() {
            lease.session = Some(self.connect().map_err(|error| self.failure(&error))?);
        }
        Ok(lease)
    }

    /// A session that is not one of the pool.
    pub(crate) fn connect(&self) -> Result<Session, LinkError> {
        Session::connect(&self.connector, &self.config, Arc::clone(&self.round_trips))
    }

    /// Runs `request` on a session, and on another one while connections are lost.
    pub(crate) fn retry<T>(
        self: &Arc<Self>,
        request: impl FnMut(Lease) -> Result<T, RequestFailure>,
    ) -> Result<T, RequestFailure> {
        self.retry_while(|attempt| attempt < MAX_ATTEMPTS, request)
    }

    /// [`Self::retry`] after each attempt for which `may_retry` holds; the first is number 0.
    pub(crate) fn retry_while<T>(
        self: &Arc<Self>,
        may_retry: impl Fn(u32) -> bool,
        mut request: impl FnMut(Lease) -> Result<T, RequestFailure>,
    ) -> Result<T, RequestFailure> {
        let mut attempt = 0;
        loop {
            match self.lease().and_then(&mut request) {
                Err(failure) if failure.kind != FailureKind::Refused && may_retry(attempt) => {
                    self.close_idle();
                    pause_after(attempt);
                    attempt += 1;
                }
                answered => return answered,
            }
        }
    }

    /// Closes the idle sessions: when one connection is lost, because the server restarts, mostly
    /// all are.
    pub(crate) fn close_idle(&self) {
        let mut sessions = self.sessions();
        let idle = mem::take(&mut sessions.idle);
        debug_assert!(sessions.open >= idle.len(), "idle sessions are counted as open");
        sessions.open = sessions.open.saturating_sub(idle.len());
        drop(sessions);
        self.returned.notify_all();
    }

    fn take_back(&self, session: Option<Session>) {
        let mut sessions = self.sessions();
        let kept = session.filter(|session| {
            session.link.is_open() && sessions.idle.len() < self.options.max_idle
        });
        if let Some(session) = kept {
            sessions.idle.push(session);
        } else {
            debug_assert!(sessions.open > 0, "a lease was counted as open");
            sessions.open = sessions.open.saturating_sub(1);
        }
        drop(sessions);
        self.returned.notify_one();
    }
}

/// A session of a pool, which takes it back.
#[derive(Debug)]
pub(crate) struct Lease {
    pool: Arc<SessionPool>,
    /// `None` once it is dropped, or if it could not be made.
    session: Option<Session>,
    /// Whether a transaction is open, which ends with the lease.
    is_open: bool,
}

impl Lease {
    pub(crate) const fn pool(&self) -> &Arc<SessionPool> {
        &self.pool
    }

    /// Sets whether a transaction is open: it is rolled back when the lease is dropped.
    pub(crate) fn set_open(&mut self, is_open: bool) {
        self.is_open = is_open;
    }

    /// The session.
    ///
    /// # Errors
    /// [`FailureKind::Lost`] if it could not be made.
    pub(crate) fn session(&mut self) -> Result<&mut Session, LinkError> {
        self.session.as_mut().ok_or(LinkError::Ended)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut session = self.session.take();
        if self.is_open {
            // During a panic the session is closed instead: the server then rolls back as well.
            session = session.filter(|_| !thread::panicking()).map(|mut session| {
                // The next request over the session discards the answer.
                session.link.send(session.client.batch_execute("ROLLBACK"));
                session
            });
        }
        self.pool.take_back(session);
    }
}

/// The name of a database in messages: its name and where it is, without user and password.
fn database_name(config: &Config) -> String {
    let host = |host: &Host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    };
    let hosts: Vec<String> = config.get_hosts().iter().map(host).collect();
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("database {database:?} at {}", hosts.join(","))
}
