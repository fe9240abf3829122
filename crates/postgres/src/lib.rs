//! Spaces of Leafbase in a `PostgreSQL` database, which any number of hosts share.
//!
//! A [`PostgresDatabase`] has the stores of many spaces; the space is made over one of them. All
//! else is as for a space in a directory: operations, guarantees, errors.
//!
//! ```no_run
//! use std::sync::Arc;
//! use leafbase::{Position, Space};
//! use leafbase_postgres::{PostgresDatabase, PostgresOptions};
//! # fn main() -> leafbase::Result<()> {
//! let database = PostgresDatabase::connect(
//!     "postgresql://notes:secret@db.example/notes", PostgresOptions::new())?;
//! let store = match database.open_store("ada") {
//!     Ok(store) => Arc::new(store),
//!     Err(_) => {
//!         let store = Arc::new(database.create_store("ada")?);
//!         Space::builder().name("Ada's notes").over(store.clone(), true)?.close()?;
//!         store
//!     }
//! };
//! // The search index is on the disk of this host and follows the change log.
//! let space = Space::builder().over_in(store, "/var/lib/notes/ada.index", false)?;
//! let notes = space.connect().acting_as("Ada");
//! let trip = notes.create_document("Trip to Lisbon")?;
//! notes.insert_markdown("- [ ] passport", Position::end_of(trip.id()))?;
//!
//! // A backup in a directory, which is a space of its own; and back.
//! space.backup_to("/var/backups/ada.leafbase")?;
//! Space::open("/var/backups/ada.leafbase")?.copy_into(&database.create_store("restored")?)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Guarantees
//!
//! Every write is one transaction of the database, and writes of a space run one after the other,
//! on whatever host. A call that fails because a connection was lost has not happened, unless its
//! message says that the outcome is open: a commit whose answer was lost is looked up. A relaxed
//! write survives the end of the process; a crash of the server may take the last ones.
//!
//! # Threads
//!
//! Calls block, and no thread is started but with [`PostgresOptions::notify`], where one listens
//! for the writes of other hosts once something waits for changes. Calls must not be made from
//! within an asynchronous task: an async host makes them where blocking is allowed, such as in
//! `tokio::task::spawn_blocking`.
//!
//! # Encryption
//!
//! [`PostgresDatabase::connect_with_tls`] takes a connector of the host's choice, so that this
//! crate depends on no implementation of TLS.

mod database;
mod entry_request;
mod failure;
mod key_span;
mod known_entry;
mod listener;
mod options;
mod overlay;
mod pool;
mod read_cache;
mod remote_reader;
mod schema;
mod session;
mod session_link;
mod snapshot;
mod store;
mod transaction;

pub use database::PostgresDatabase;
pub use options::PostgresOptions;
pub use store::PostgresStore;
