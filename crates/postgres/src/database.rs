//! A database of spaces.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{try_join, try_join5};
use leafbase_model::{Error, ErrorKind, Result};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Config, NoTls, Row, Socket};

use crate::options::PostgresOptions;
use crate::pool::SessionPool;
use crate::schema::migrate;
use crate::session_link::Connector;
use crate::store::PostgresStore;

/// How long a connection attempt takes at most, unless the parameters say so.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection to a host that does not answer is kept, unless the parameters say so: half
/// of it idle, and the rest until the last of these probes is not answered. The server does the
/// same: `TIMEOUTS` of a session.
const SILENCE: Duration = Duration::from_secs(30);
const IDLE: Duration = Duration::from_secs(15);
const PROBES: u32 = 3;
const PROBE_INTERVAL: Duration = Duration::from_secs(5);

/// A database of spaces. Cheap to clone; its connections are shared by the stores of all spaces.
///
/// ```no_run
/// use std::sync::Arc;
/// use leafbase::Space;
/// use leafbase_postgres::{PostgresDatabase, PostgresOptions};
/// # fn main() -> leafbase::Result<()> {
/// let parameters = "host=localhost user=notes password=secret dbname=notes";
/// let database = PostgresDatabase::connect(parameters, PostgresOptions::new())?;
/// let store = Arc::new(database.create_store("ada")?);
/// let space = Space::builder().name("Ada's notes").over(store, true)?;
/// space.connect().create_document("Trip to Lisbon")?;
///
/// // Another host, at the same time:
/// let store = Arc::new(database.open_store("ada")?);
/// let space = Space::builder().over(store, false)?;
/// assert_eq!(space.connect().documents()?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PostgresDatabase {
    pool: Arc<SessionPool>,
}

impl PostgresDatabase {
    /// Connects without encryption and creates the tables, if there are none.
    ///
    /// `parameters` are those of `libpq`, as `key=value` pairs or as a URL. The tables are in the
    /// first schema of the user's search path, which `options=-csearch_path=..` sets.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] at `parameters`; [`ErrorKind::NewerFormat`] if a later version of
    /// this crate made the tables; [`ErrorKind::Storage`] if the database cannot be reached or
    /// refuses, with its reason and without a password.
    pub fn connect(parameters: &str, options: PostgresOptions) -> Result<Self> {
        Self::connect_with_tls(parameters, NoTls, options)
    }

    /// As [`Self::connect`], with connections that `tls` encrypts, as far as `sslmode` of the
    /// parameters asks for it: a connector of the crates `postgres-native-tls` or
    /// `tokio-postgres-rustls`, with the certificates that the host trusts.
    ///
    /// # Errors
    /// As [`Self::connect`].
    pub fn connect_with_tls<T>(parameters: &str, tls: T, options: PostgresOptions) -> Result<Self>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::TlsConnect: Send,
        T::Stream: Send + 'static,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        // The reason may quote a part of the password.
        let mut config: Config = parameters.parse().map_err(|_| {
            Error::new(ErrorKind::Validation, "not the parameters of a connection").at("parameters")
        })?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        if !parameters.contains("keepalives_idle") {
            config.keepalives_idle(IDLE);
        }
        if config.get_keepalives_interval().is_none() {
            config.keepalives_interval(PROBE_INTERVAL);
        }
        if config.get_keepalives_retries().is_none() {
            config.keepalives_retries(PROBES);
        }
        if config.get_application_name().is_none() {
            config.application_name("leafbase");
        }
        let pool = Arc::new(SessionPool::new(config, Connector::new(tls), options));
        let migrated = pool.retry(|mut lease| {
            let pool = Arc::clone(lease.pool());
            let session = lease.session().map_err(|error| pool.failure(&error))?;
            migrate(&pool, session)
        });
        migrated.map_err(|failure| failure.error)?;
        Ok(Self { pool })
    }

    /// The store of a new space, which is empty: pass it to
    /// `SpaceBuilder::over` with `create`.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] at `name` if the database has a space of this name; errors of the
    /// database.
    pub fn create_store(&self, name: &str) -> Result<PostgresStore> {
        let text = "INSERT INTO leafbase_spaces (name) VALUES ($1) ON CONFLICT (name) DO NOTHING";
        self.query(text, &[(&name, Type::TEXT)])?;
        let store = self.open_store(name)?;
        // A host that ended between the two steps of a creation left a name without entries.
        if store.is_empty()? {
            return Ok(store);
        }
        let message = format!("the database has a space {name:?}");
        Err(Error::new(ErrorKind::Validation, message).at("name"))
    }

    /// The store of an existing space.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] at `name`; errors of the database.
    pub fn open_store(&self, name: &str) -> Result<PostgresStore> {
        let text = "SELECT id, gen_random_uuid()::text FROM leafbase_spaces WHERE name = $1";
        let rows = self.query(text, &[(&name, Type::TEXT)])?;
        let Some(row) = rows.first() else {
            let message = format!("the database has no space {name:?}");
            return Err(Error::new(ErrorKind::NotFound, message).at("name"));
        };
        let (id, writer) = (self.column(row, 0)?, self.column(row, 1)?);
        Ok(PostgresStore::new(Arc::clone(&self.pool), id, name.to_owned(), writer))
    }

    /// The names of all spaces, sorted.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn space_names(&self) -> Result<Vec<String>> {
        let rows = self.query("SELECT name FROM leafbase_spaces", &[])?;
        let mut names: Vec<String> =
            rows.iter().map(|row| self.column(row, 0)).collect::<Result<_>>()?;
        // Here, because the order of the database depends on its collation.
        names.sort_unstable();
        Ok(names)
    }

    /// Deletes a space with all that is in it, if it exists. Handles that have it open fail from
    /// then on.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn remove_space(&self, name: &str) -> Result<()> {
        let space = "(SELECT id FROM leafbase_spaces WHERE name = $1)";
        let entries = &format!("DELETE FROM leafbase_entries WHERE space = {space}");
        let writers = &format!("DELETE FROM leafbase_writers WHERE space = {space}");
        let removed = self.pool.retry(|mut lease| {
            let pool = Arc::clone(lease.pool());
            lease.set_open(true);
            let removed = lease.session().and_then(|session| {
                session.wait(|client, _| async {
                    let params: &[(&(dyn ToSql + Sync), Type)] = &[(&name, Type::TEXT)];
                    let execute = |text| client.execute_typed(text, params);
                    // After the lock each statement sees what the last writer committed.
                    let lock = "SELECT id FROM leafbase_spaces WHERE name = $1 FOR UPDATE";
                    try_join5(
                        client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED"),
                        execute(lock),
                        try_join(execute(entries), execute(writers)),
                        execute("DELETE FROM leafbase_spaces WHERE name = $1"),
                        client.batch_execute("COMMIT"),
                    )
                    .await
                    .map(drop)
                })
            });
            // After a failed statement the server is still within the transaction.
            lease.set_open(removed.is_err());
            removed.map_err(|error| pool.failure(&error))
        });
        removed.map_err(|failure| failure.error)
    }

    /// How often an answer of the database was waited for since the database was connected to: a
    /// measure of what calls cost over a network.
    pub fn round_trips(&self) -> u64 {
        self.pool.round_trips()
    }

    fn column<'r, T: tokio_postgres::types::FromSql<'r>>(
        &self,
        row: &'r Row,
        index: usize,
    ) -> Result<T> {
        row.try_get(index).map_err(|error| self.pool.failure(&error.into()).error)
    }

    fn query(&self, text: &str, params: &[(&(dyn ToSql + Sync), Type)]) -> Result<Vec<Row>> {
        let rows = self.pool.retry(|mut lease| {
            let pool = Arc::clone(lease.pool());
            let rows = lease
                .session()
                .and_then(|session| session.wait(|client, _| client.query_typed(text, params)));
            rows.map_err(|error| pool.failure(&error))
        });
        rows.map_err(|failure| failure.error)
    }
}
