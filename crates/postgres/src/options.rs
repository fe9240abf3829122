//! How a database is connected to.

use std::time::Duration;

/// How a database is connected to.
///
/// ```
/// use std::time::Duration;
/// use leafbase_postgres::PostgresOptions;
/// let options = PostgresOptions::new().max_connections(8).lock_timeout(Duration::from_secs(5));
/// assert_eq!(options.max_connections, 8);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PostgresOptions {
    /// The number of connections that are open at once. A snapshot uses one while it lives, and so
    /// does a write; a call waits for one. Default: 32.
    pub max_connections: usize,
    /// The number of unused connections that are kept. Default: 8.
    pub max_idle: usize,
    /// How long a call waits for a connection before it fails. Default: 30 seconds.
    pub pool_timeout: Duration,
    /// How long a write waits for that of another host before it fails. Default: 30 seconds.
    pub lock_timeout: Duration,
    /// Whether a write notifies the other hosts, so that those who wait for changes read at once.
    /// `PostgreSQL` delivers the notifications of a whole database one commit after the other.
    /// Default: `false`.
    pub notify: bool,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            max_connections: 32,
            max_idle: 8,
            pool_timeout: Duration::from_secs(30),
            lock_timeout: Duration::from_secs(30),
            notify: false,
        }
    }
}

impl PostgresOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`Self::max_connections`].
    pub fn max_connections(self, max_connections: usize) -> Self {
        Self { max_connections, ..self }
    }

    /// Sets [`Self::max_idle`].
    pub fn max_idle(self, max_idle: usize) -> Self {
        Self { max_idle, ..self }
    }

    /// Sets [`Self::pool_timeout`].
    pub fn pool_timeout(self, pool_timeout: Duration) -> Self {
        Self { pool_timeout, ..self }
    }

    /// Sets [`Self::lock_timeout`].
    pub fn lock_timeout(self, lock_timeout: Duration) -> Self {
        Self { lock_timeout, ..self }
    }

    /// Sets [`Self::notify`].
    pub fn notify(self, notify: bool) -> Self {
        Self { notify, ..self }
    }
}
