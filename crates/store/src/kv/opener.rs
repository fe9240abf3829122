//! A redb handle: where it comes from, so that it can be had anew after an error, and what is done with it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs, io};

use leafbase_model::{Error, ErrorKind, Result};
use redb::{Builder, Database, ReadOnlyDatabase};

use super::base::{Base, TABLE};
use super::failure::Health;
use super::view::Edits;

/// Opens the same store each time it is asked.
pub(super) trait Open: fmt::Debug + Send + Sync {
    fn open(&self) -> Result<Opened, redb::Error>;

    /// Bytes of the file.
    fn bytes(&self) -> io::Result<u64>;
}

/// redb has a type for each way of opening.
pub(super) enum Opened {
    Writable(Database),
    ReadOnly(ReadOnlyDatabase),
}

/// A file that exists and was made by [`create_file`].
#[derive(Debug)]
pub(super) struct FileOpener {
    pub(super) path: PathBuf,
    pub(super) cache_bytes: usize,
    pub(super) read_only: bool,
}

impl Open for FileOpener {
    fn open(&self) -> Result<Opened, redb::Error> {
        let mut builder = Builder::new();
        builder.set_cache_size(self.cache_bytes);
        Ok(if self.read_only {
            Opened::ReadOnly(builder.open_read_only(&self.path)?)
        } else {
            Opened::Writable(builder.open(&self.path)?)
        })
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(fs::metadata(&self.path)?.len())
    }
}

/// A backend of the caller's, for simulated disks.
#[cfg(feature = "testkit")]
pub(super) struct BackendOpener<F> {
    pub(super) backend: F,
    pub(super) cache_bytes: usize,
}

#[cfg(feature = "testkit")]
impl<F> fmt::Debug for BackendOpener<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackendOpener").finish_non_exhaustive()
    }
}

#[cfg(feature = "testkit")]
impl<B: redb::StorageBackend, F: Fn() -> B + Send + Sync> Open for BackendOpener<F> {
    fn open(&self) -> Result<Opened, redb::Error> {
        let database = Builder::new().set_cache_size(self.cache_bytes).create_with_backend((self.backend)())?;
        ensure_table(&database)?;
        Ok(Opened::Writable(database))
    }

    fn bytes(&self) -> io::Result<u64> {
        (self.backend)().len()
    }
}

/// An open store and its health.
pub(super) struct Handle {
    /// Taken only to be dropped.
    database: Option<Opened>,
    pub(super) health: Arc<Health>,
}

impl Handle {
    pub(super) fn open(opener: &dyn Open) -> Result<Self> {
        let health = Arc::new(Health::default());
        let database = health.guard(|| opener.open().map_err(|error| health.report(error)))?;
        Ok(Self { database: Some(database), health })
    }

    /// Begins reading what was committed last.
    pub(super) fn base(&self) -> Result<Arc<Base>> {
        let base = match &self.database {
            Some(Opened::Writable(database)) => Base::begin(database, &self.health),
            Some(Opened::ReadOnly(database)) => Base::begin(database, &self.health),
            None => Err(read_only()),
        };
        base.map(Arc::new)
    }

    /// Writes `edits` in one durable commit. After an error they may all have been written, or none.
    pub(super) fn apply(&self, edits: &Edits, quick_repair: bool) -> Result<()> {
        let Some(Opened::Writable(database)) = &self.database else { return Err(read_only()) };
        self.health.guard(|| apply(database, edits, quick_repair).map_err(|error| self.health.report(error)))
    }

    /// Lets `work` have the handle to itself.
    pub(super) fn alone<T>(&mut self, work: impl FnOnce(&mut Database) -> Result<T, redb::Error>) -> Result<T> {
        let Some(Opened::Writable(database)) = &mut self.database else { return Err(read_only()) };
        let health = &self.health;
        health.guard(|| work(database).map_err(|error| health.report(error)))
    }
}

impl Drop for Handle {
    /// Closing writes too, and may meet the damage that was the reason for it.
    fn drop(&mut self) {
        let database = self.database.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(database)));
    }
}

fn apply(database: &Database, edits: &Edits, quick_repair: bool) -> Result<(), redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_quick_repair(quick_repair);
    {
        let mut table = transaction.open_table(TABLE)?;
        for (key, value) in edits {
            match value {
                Some(value) => drop(table.insert(&**key, &**value)?),
                None => drop(table.remove(&**key)?),
            }
        }
    }
    transaction.commit()?;
    Ok(())
}

/// Makes a store: an empty file with the one table.
pub(super) fn create_file(path: &Path, cache_bytes: usize) -> Result<()> {
    let health = Health::default();
    health.guard(|| {
        let create = || {
            let database = Builder::new().set_cache_size(cache_bytes).create(path)?;
            ensure_table(&database)
        };
        create().map_err(|error| health.report(error))
    })
}

/// Makes the one table, where it is not there yet.
pub(super) fn ensure_table(database: &Database) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    drop(transaction.open_table(TABLE)?);
    transaction.commit()?;
    Ok(())
}

pub(super) fn read_only() -> Error {
    Error::new(ErrorKind::ReadOnly, "the store is open for reading only")
}
