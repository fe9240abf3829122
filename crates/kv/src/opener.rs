//! A redb handle: where it comes from, so that it can be had anew after an error, and what is done
//! with it.

use std::cell::Cell;
use std::fs::{self, File};
use std::iter::Peekable;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{mem, thread};

use leafbase_model::{Error, ErrorKind, Result};
use redb::ReadableDatabase;
use redb::backends::FileBackend;
use redb::{
    Builder, CursorMut, Database, StorageBackend, Table, TableDefinition, WriteTransaction,
};

use super::base::{Base, TABLE};
use super::failure::{Health, from_io, from_redb};
use super::fixed::Fixed;
use super::gate::Gate;
use super::guard::Guard;
use super::image::Image;
use super::inspect::check_structure;
use super::journal::Epoch;
use super::journaling::{JOURNAL_FILE, Mark};
use super::nameless::Nameless;
use super::options::OpenOptions;
use super::redb_store::READER_PATIENCE;
use super::rewrite;
use super::tracked::{Tracked, Unsynced};
use super::view::{Edits, Row};

/// What the file says of its journal: epoch, salt, and whether it is in use. Only commits that
/// begin an epoch write it, so that the others do not pay for a second table.
const JOURNAL: TableDefinition<'_, (), (u64, u64, bool)> = TableDefinition::new(JOURNAL_TABLE);
pub(super) const JOURNAL_TABLE: &str = "journal";

/// A database, and the gate that its bytes go through.
struct Opened {
    database: Database,
    gate: Gate,
}

/// Where a store's bytes are.
pub(super) enum Source {
    /// A file that [`create_file`] made.
    File(PathBuf),
    /// The same, in a directory that has not got its name yet.
    NamelessFile(PathBuf),
    /// The same, for reading only.
    ReadOnlyFile(PathBuf),
    /// What a caller made up.
    Backend(Box<dyn Fn() -> Box<dyn StorageBackend> + Send + Sync>),
    /// The bytes of a file that [`create_file`] made: they are read, and never written.
    Image(Arc<[u8]>),
}

/// Opens the same store each time it is asked.
pub(super) struct Opener {
    source: Source,
    options: OpenOptions,
    unsynced: Unsynced,
}

impl Opener {
    pub(super) fn new(source: Source, options: &OpenOptions) -> Self {
        Self { source, options: options.clone(), unsynced: Unsynced::default() }
    }

    /// Whether no commit is ever made.
    pub(super) fn is_fixed(&self) -> bool {
        match self.source {
            Source::ReadOnlyFile(_) => true,
            Source::Image(_) => true,
            Source::Backend(_) => false,
            Source::File(_) | Source::NamelessFile(_) => false,
        }
    }

    fn open(&self) -> Result<Opened, redb::Error> {
        let mut builder = Builder::new();
        builder.set_cache_size(self.options.cache_bytes);
        let below: Box<dyn StorageBackend> = match &self.source {
            Source::ReadOnlyFile(path) => Box::new(Fixed(FileBackend::new(File::open(path)?)?)),
            Source::File(path) => {
                Box::new(FileBackend::new(File::options().read(true).write(true).open(path)?)?)
            }
            Source::NamelessFile(path) => Box::new(Nameless(FileBackend::new(
                File::options().read(true).write(true).open(path)?,
            )?)),
            Source::Backend(make) => make(),
            Source::Image(bytes) => Box::new(Image(Arc::clone(bytes))),
        };
        let guard = Guard::new(self.options.entries, self.options.verify_pages);
        let gate = Gate::over(Box::new(Tracked::over(below, &self.unsynced)?), guard)?;
        let database = builder.create_with_backend(gate.clone())?;
        // What redb reads it may keep, and the root is read first. Before it opened the file nobody
        // knew which commit is the last.
        gate.guard().learn_root(&gate);
        if matches!(self.source, Source::Backend(_)) && !has_table(&database)? {
            gate.release()?;
            ensure_table(&database)?;
        }
        Ok(Opened { database, gate })
    }

    /// The bytes below redb, for reading.
    pub(super) fn storage(&self) -> Result<Box<dyn StorageBackend>> {
        let open = || -> Result<Box<dyn StorageBackend>, redb::Error> {
            Ok(match &self.source {
                Source::File(path) | Source::NamelessFile(path) | Source::ReadOnlyFile(path) => {
                    Box::new(FileBackend::new(File::open(path)?)?)
                }
                Source::Backend(make) => make(),
                Source::Image(bytes) => Box::new(Image(Arc::clone(bytes))),
            })
        };
        open().map_err(from_redb)
    }

    /// How long the file is, and the journal beside it.
    pub(super) fn bytes(&self) -> Result<u64> {
        let length = match &self.source {
            Source::File(path) | Source::NamelessFile(path) | Source::ReadOnlyFile(path) => {
                let journal = fs::metadata(path.with_file_name(JOURNAL_FILE))
                    .map_or(0, |metadata| metadata.len());
                fs::metadata(path).map(|metadata| metadata.len() + journal)
            }
            Source::Backend(make) => make().len(),
            Source::Image(bytes) => Ok(bytes.len() as u64),
        };
        length.map_err(|error| from_io("the size of the store's file could not be read", error))
    }
}

/// A commit that failed.
pub(super) enum Failed {
    /// Before it began: nothing of it is in the file.
    Before(Error),
    /// All of it may be in the file, or nothing.
    InDoubt(Error),
}

/// An open store and its health.
pub(super) struct Handle {
    /// Taken only to be dropped.
    opened: Option<Opened>,
    is_fixed: bool,
    pub(super) health: Arc<Health>,
}

impl Handle {
    /// Opens it. Nothing is written but by [`Self::settle`] and by changes.
    pub(super) fn open(opener: &Opener) -> Result<Self> {
        check_structure(&|| opener.storage())?;
        let health = Arc::new(Health::default());
        let database = health.guard(|| opener.open().map_err(|error| health.report(error)))?;
        Ok(Self { opened: Some(database), is_fixed: opener.is_fixed(), health })
    }

    /// Begins reading what was committed last.
    pub(super) fn base(&self) -> Result<Arc<Base>> {
        let Opened { database, gate } = self.opened()?;
        gate.guard().learn_root(gate);
        Base::begin(database, &self.health, gate.guard().clone()).map(Arc::new)
    }

    /// Keeps what redb mended when it opened the store, if anything, so that it need not do so
    /// again; unless nothing may be written.
    pub(super) fn settle(&self) -> Result<()> {
        let gate = &self.opened()?.gate;
        if gate.holds_repairs() && !self.is_fixed { self.release(gate) } else { Ok(()) }
    }

    fn opened(&self) -> Result<&Opened> {
        self.opened.as_ref().ok_or_else(|| self.health.report(redb::Error::DatabaseClosed))
    }

    fn release(&self, gate: &Gate) -> Result<()> {
        gate.release().map_err(|error| self.health.report(redb::Error::Io(error)))
    }

    /// What the file says of the journal.
    pub(super) fn mark(&self) -> Result<Mark> {
        let read = |transaction: redb::ReadTransaction| match transaction.open_table(JOURNAL) {
            Ok(table) => Ok(table.get(())?.map_or_else(Mark::default, |row| mark(row.value()))),
            Err(redb::TableError::TableDoesNotExist(_)) => Ok(Mark::default()),
            Err(error) => Err(redb::Error::from(error)),
        };
        let database = &self.opened()?.database;
        let begun = || read(database.begin_read()?);
        self.health.guard(|| begun().map_err(|error| self.health.report(error)))
    }

    /// Writes `edits` in one durable commit, and what is new of the journal.
    pub(super) fn apply(
        &self,
        edits: &Edits,
        quick_repair: bool,
        mark: Option<Mark>,
    ) -> Result<(), Failed> {
        let is_begun = Cell::new(false);
        let applied = || {
            let Opened { database, gate } = self.opened()?;
            if gate.is_held() {
                self.release(gate)?;
            }
            let written = written(database, edits, quick_repair, mark);
            let transaction = written.map_err(|error| self.health.report(error))?;
            // What it read on its way it may have taken over.
            gate.guard().check_unaltered()?;
            is_begun.set(true);
            transaction.commit().map_err(|error| self.health.report(error))
        };
        let failed =
            |error| if is_begun.get() { Failed::InDoubt(error) } else { Failed::Before(error) };
        self.health.guard(applied).map_err(failed)
    }

    /// Writes the rows of `base`, which are all there are, into full pages, in one durable commit.
    /// Whether it takes place changes no row.
    pub(super) fn rewrite(&self, base: &Base) -> Result<()> {
        let applied = || {
            let Opened { database, gate } = self.opened()?;
            if gate.is_held() {
                self.release(gate)?;
            }
            let transaction = rewrite::written(database, base, &self.health)?;
            gate.guard().check_unaltered()?;
            transaction.commit().map_err(|error| self.health.report(error))
        };
        self.health.guard(applied)
    }

    /// Lets `work` have the handle to itself.
    pub(super) fn alone<T>(
        &mut self,
        work: impl FnOnce(&mut Database) -> Result<T, redb::Error>,
    ) -> Result<T> {
        let gate = &self.opened()?.gate;
        gate.guard().check_unaltered()?;
        if gate.is_held() {
            self.release(gate)?;
        }
        let health = &self.health;
        let Some(Opened { database, .. }) = &mut self.opened else {
            return Err(health.report(redb::Error::DatabaseClosed));
        };
        health.guard(|| work(database).map_err(|error| health.report(error)))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let opened = self.opened.take();
        let is_broken = self.health.is_broken();
        let _ = catch_unwind(AssertUnwindSafe(|| match opened {
            Some(Opened { database, gate }) if is_broken || gate.is_held() => {
                abandon(database, &gate)
            }
            opened => drop(opened),
        }));
    }
}

/// Closes a database without writing: redb would commit once more, and might meet the damage that
/// was the reason to close.
fn abandon(mut database: Database, gate: &Gate) {
    gate.shut();
    // It syncs first, so it meets the gate; and after an error of the file redb writes nothing any
    // more.
    let latched =
        !matches!(database.check_integrity(), Err(redb::DatabaseError::TransactionInProgress));
    if !latched && cfg!(panic = "unwind") {
        // Somebody still reads. Nor does redb write while a panic goes on, which says nothing: it
        // is caught at once.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _dropped_by_it = database;
            resume_unwind(Box::new(()))
        }));
    }
}

fn mark((number, salt, in_use): (u64, u64, bool)) -> Mark {
    Mark { epoch: Epoch { number, salt }, in_use }
}

/// A transaction with these edits, to be committed.
fn written(
    database: &Database,
    edits: &Edits,
    quick_repair: bool,
    mark: Option<Mark>,
) -> Result<WriteTransaction, redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_quick_repair(quick_repair);
    if let Some(Mark { epoch, in_use }) = mark {
        transaction.open_table(JOURNAL)?.insert((), (epoch.number, epoch.salt, in_use))?;
    }
    {
        let mut table = transaction.open_table(TABLE)?;
        let mut waiting = edits.iter().peekable();
        // Imports put many new rows between the same two; other writes meet few such places, and
        // soon stop looking for them.
        let mut misses = if edits.size() < RUN_SOUGHT_FROM { RUN_MISSES } else { 0 };
        while let Some(edit) = waiting.peek().copied() {
            if edit.value().is_some() && misses < RUN_MISSES {
                let inserted = insert_run(&mut table, &mut waiting)?;
                misses = if inserted < RUN_WORTH { misses + 1 } else { 0 };
                if inserted > 0 {
                    continue;
                }
            }
            match edit.value() {
                Some(value) => drop(table.insert(edit.key(), value)?),
                None => drop(table.remove(edit.key())?),
            }
            waiting.next();
        }
    }
    Ok(transaction)
}

/// Runs of new rows are sought in commits of so many edits.
const RUN_SOUGHT_FROM: usize = 256;
/// A run of so many rows was worth the search.
const RUN_WORTH: usize = 4;
/// After so many searches in a row that were not, no more are made in this commit.
const RUN_MISSES: usize = 8;

/// Inserts the next rows as far as they are new and lie between the same two rows of the table: the
/// tree is sought once for all of them, and its pages are filled one after the other. Gives their
/// number.
fn insert_run<'e>(
    table: &mut Table<'_, &'static [u8], &'static [u8]>,
    edits: &mut Peekable<impl Iterator<Item = &'e Row>>,
) -> Result<usize, redb::Error> {
    let Some(first) = edits.peek() else { return Ok(0) };
    let mut open = OpenCursor(Some(table.lower_bound_mut(Bound::Included(first.key()))?));
    let Some(cursor) = &mut open.0 else { return Ok(0) };
    let end = cursor.peek_next()?.map(|(key, _)| key.value().to_vec());
    let is_within = |key: &[u8]| end.as_deref().is_none_or(|end| key < end);
    let mut inserted = 0;
    let is_next = |edit: &&Row| edit.value().is_some() && is_within(edit.key());
    while let Some((key, value)) =
        edits.next_if(is_next).and_then(|edit| Some((edit.key(), edit.value()?)))
    {
        open.insert(key, value)?;
        inserted += 1;
    }
    open.close()?;
    Ok(inserted)
}

/// A cursor that a panic doesn't drop: it would go on with the page that redb panicked on, and a
/// second panic ends the process.
pub(super) struct OpenCursor<'t>(pub(super) Option<CursorMut<'t, &'static [u8], &'static [u8]>>);

impl OpenCursor<'_> {
    /// Inserts a row where the cursor is, before what follows.
    pub(super) fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<(), redb::Error> {
        self.0.as_mut().map_or(Ok(()), |cursor| cursor.insert_before(key, value))?;
        Ok(())
    }

    /// What went wrong with rows put together is told only now.
    pub(super) fn close(mut self) -> Result<(), redb::Error> {
        self.0.take().map_or(Ok(()), CursorMut::close)?;
        Ok(())
    }
}

impl Drop for OpenCursor<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            mem::forget(self.0.take());
        }
    }
}

/// Readers may still be at states before the last one: they are waited for, too.
pub(super) fn compact_when_unread(database: &mut Database) -> Result<bool, redb::Error> {
    let started = Instant::now();
    loop {
        match database.compact() {
            Err(redb::CompactionError::TransactionInProgress)
                if started.elapsed() < READER_PATIENCE =>
            {
                thread::sleep(Duration::from_millis(1));
            }
            compacted => return Ok(compacted?),
        }
    }
}

/// Makes a store in a directory that has not got its name yet: an empty file with the one table.
pub(super) fn create_file(path: &Path, cache_bytes: usize) -> Result<()> {
    let health = Health::default();
    health.guard(|| {
        let create = || {
            let file = File::options().read(true).write(true).create_new(true).open(path)?;
            let backend = Nameless(FileBackend::new(file)?);
            let database =
                Builder::new().set_cache_size(cache_bytes).create_with_backend(backend)?;
            ensure_table(&database)
        };
        create().map_err(|error| health.report(error))
    })
}

fn has_table(database: &Database) -> Result<bool, redb::Error> {
    match database.begin_read()?.open_table(TABLE) {
        Ok(_) => Ok(true),
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
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
