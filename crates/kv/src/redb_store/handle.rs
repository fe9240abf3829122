//! An open redb database: commits, checkpoints of the memtable, and opening it again after an
//! error.

use std::cell::Cell;
use std::iter::Peekable;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{mem, process, thread};

use leafbase_model::{Error, ErrorKind, Result};
use redb::{
    Builder, ConcurrencyMode, Database, ReadableDatabase, StorageBackend, Table, WriteTransaction,
};

use super::committed_state::CommittedState;
use super::compaction;
use super::cursor::InsertCursor;
use super::file_format::{HEADER_BYTES, check_header, last_commit};
use super::integrity::check_tables;
use super::page_verifier::PageVerifier;
use super::panic_boundary::HandleHealth;
use super::read_view::ReadView;
use super::sync_tracker::{SyncTracker, UnsyncedRanges};
use super::tables::{ENTRIES, WAL_HEADER};
use super::write_barrier::{LockMode, WriteBarrier};
use super::write_transaction::WriteTransaction as EntryTransaction;
use crate::io_errors::io_error;
use crate::memtable::{Entry, Memtable};
use crate::options::OpenOptions;
use crate::store::Transaction;
use crate::store_files::StoreFiles;
use crate::wal::file::WalEpoch;
use crate::wal::manager::WalHeader;

/// How often a wait for readers looks again.
pub(super) const POLL: Duration = Duration::from_millis(1);
/// How long compaction waits for readers. No snapshot begins in that time.
pub(super) const MAX_READER_WAIT: Duration = Duration::from_secs(2);
/// Checkpoints of at least this many entries look for runs of new keys.
const MIN_ENTRIES_FOR_RUNS: usize = 256;
/// A run of this length was worth the search.
const MIN_RUN: usize = 4;
/// After this many shorter runs in a row, a checkpoint stops looking.
const MAX_SHORT_RUNS: usize = 8;

/// Opens the same store each time.
pub(super) struct HandleSource {
    files: Arc<dyn StoreFiles>,
    options: OpenOptions,
    unsynced: UnsyncedRanges,
}

impl HandleSource {
    pub(super) fn new(files: Arc<dyn StoreFiles>, options: &OpenOptions) -> Self {
        Self { files, options: options.clone(), unsynced: UnsyncedRanges::default() }
    }

    pub(super) fn files(&self) -> Arc<dyn StoreFiles> {
        Arc::clone(&self.files)
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.options.read_only
    }

    pub(super) fn is_temporary(&self) -> bool {
        self.files.are_temporary()
    }

    /// The age from which on relaxed writes are synced.
    pub(super) fn sync_relaxed_after_millis(&self) -> u64 {
        u64::try_from(self.options.sync_relaxed_after.as_millis()).unwrap_or(u64::MAX)
    }

    /// Opens the file to read it without redb.
    pub(super) fn open_to_read(&self) -> Result<Box<dyn StorageBackend>> {
        self.files.open_to_read().map_err(|error| io_error("the store could not be opened", error))
    }

    /// The size of the store's files.
    pub(super) fn bytes(&self) -> Result<u64> {
        let bytes = self.files.bytes();
        bytes.map_err(|error| io_error("the size of the store's file could not be read", error))
    }

    /// Whether other processes may have the file open.
    fn is_shared(&self) -> bool {
        self.options.shared
    }

    fn open_database(&self) -> Result<OpenDatabase, redb::Error> {
        let verifier = PageVerifier::new(self.options.entries, self.options.verify_pages);
        let mut builder = Builder::new();
        builder.set_cache_size(self.options.cache_bytes);
        if self.is_shared() {
            let barrier = WriteBarrier::shared(self.files.open()?, verifier);
            builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
            let database = builder.create_with_backend(barrier.clone())?;
            return Ok(OpenDatabase { database, barrier });
        }
        let files = &self.files;
        let tracker = SyncTracker::new(files.open()?, &self.unsynced, files.are_temporary())?;
        // Not even the lock of a handle that only reads excludes another one.
        let lock_mode = if self.options.read_only { LockMode::Shared } else { LockMode::Exclusive };
        let barrier = WriteBarrier::new(tracker, lock_mode, verifier)?;
        let database = builder.create_with_backend(barrier.clone())?;
        // redb may cache the pages that it reads from here on, so the root has to be known before.
        // Which commit is the last one is known only now, after redb's recovery.
        barrier.verifier().learn_root(&barrier);
        Ok(OpenDatabase { database, barrier })
    }

    /// Fails unless the file is empty or in the format that this crate knows: a later redb 4.x
    /// might open others.
    fn check_format(&self) -> Result<()> {
        let file = self.open_to_read()?;
        let read_header = || {
            let length = usize::try_from(file.len()?).map_err(std::io::Error::other)?;
            let mut header = vec![0; length.min(HEADER_BYTES)];
            if !header.is_empty() {
                file.read(0, &mut header)?;
            }
            Ok(header)
        };
        let header = read_header()
            .map_err(|error| io_error("the header of the store's file could not be read", error))?;
        if header.is_empty() { Ok(()) } else { check_header("the file", &header) }
    }
}

struct OpenDatabase {
    database: Database,
    barrier: WriteBarrier,
}

/// A failed commit.
pub(super) enum CommitError {
    /// Nothing of it is in the file.
    NotStarted(Error),
    /// The file holds it entirely or not at all.
    Indeterminate(Error),
}

/// An open database and its health.
pub(super) struct Handle {
    /// `None` only while it is dropped.
    database: Option<OpenDatabase>,
    /// The process that opened the file.
    pub(super) owner: u32,
    is_read_only: bool,
    is_shared: bool,
    pub(super) health: Arc<HandleHealth>,
}

impl Handle {
    /// Opens the file. Nothing is written to it before [`Self::persist_repairs`] or a commit.
    pub(super) fn open(source: &HandleSource) -> Result<Self> {
        source.check_format()?;
        // Pages change meanwhile if other processes write. They were checked by the first one.
        if !source.is_shared() {
            check_tables(&|| source.open_to_read())?;
        }
        let health = Arc::new(HandleHealth::default());
        let database =
            health.catch(|| source.open_database().map_err(|error| health.report(error)))?;
        let (is_read_only, is_shared) = (source.is_read_only(), source.is_shared());
        let owner = process::id();
        Ok(Self { database: Some(database), owner, is_read_only, is_shared, health })
    }

    /// Creates the table of entries if the file has none.
    pub(super) fn ensure_table(&self) -> Result<()> {
        let OpenDatabase { database, barrier } = self.database()?;
        let has_table = || match database.begin_read()?.open_table(ENTRIES) {
            Ok(_) => Ok(true),
            Err(redb::TableError::TableDoesNotExist(_)) => Ok(false),
            Err(error) => Err(redb::Error::from(error)),
        };
        let create = || -> Result<(), redb::Error> {
            let transaction = database.begin_write()?;
            drop(transaction.open_table(ENTRIES)?);
            Ok(transaction.commit()?)
        };
        let health = &self.health;
        if health.catch(|| has_table().map_err(|error| health.report(error)))? {
            return Ok(());
        }
        self.release(barrier)?;
        health.catch(|| create().map_err(|error| health.report(error)))
    }

    /// The number of its committed states that something still refers to.
    pub(super) fn states(&self) -> usize {
        // Each of them shares the health of the handle.
        Arc::strong_count(&self.health) - 1
    }

    /// Begins to read the last commit.
    pub(super) fn committed_state(&self) -> Result<Arc<CommittedState>> {
        let OpenDatabase { database, barrier } = self.database()?;
        let verifier = barrier.verifier();
        if !self.is_shared {
            verifier.learn_root(barrier);
        }
        CommittedState::begin(database, &self.health, verifier.clone(), || {
            if self.is_shared {
                verifier.follow_commits(barrier);
            }
        })
        .map(Arc::new)
    }

    /// Runs a write closure on the last commit of any process, while no other one may write, and
    /// commits its entries durably.
    pub(super) fn write(
        &self,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        let OpenDatabase { database, barrier } = self.database()?;
        let mut transaction = self.begin_write(database)?;
        let before = last_commit_of(barrier);
        let base = self.committed_state()?;
        let view = ReadView { base, memtable: Memtable::default(), version: None };
        let mut writes = EntryTransaction::new(view);
        // Caught, because redb does not roll back while a panic unwinds.
        let decided = catch_unwind(AssertUnwindSafe(|| f(&mut writes)));
        let memtable = writes.view.memtable;
        if !matches!(decided, Ok(Ok(()))) || memtable.is_empty() {
            self.health.catch(|| {
                drop(transaction);
                Ok(())
            })?;
            return decided.unwrap_or_else(|panic| resume_unwind(panic));
        }
        // The state that the closure has read need not be kept any longer.
        drop(writes.view.base);
        let is_started = Cell::new(false);
        let committed = self.health.catch(|| {
            let filled = fill(&mut transaction, &memtable);
            filled.map_err(|error| self.health.report(error))?;
            barrier.verifier().check_unaltered()?;
            is_started.set(true);
            transaction.commit().map_err(|error| self.health.report(error))
        });
        committed.map_err(|error| {
            if !is_started.get() || last_commit_of(barrier) == before {
                return error;
            }
            let message = "the write failed, and whether it took place shows when the store can \
                           be read again";
            Error::new(ErrorKind::Storage, message).with_source(error)
        })
    }

    /// Runs `work` while no process writes.
    pub(super) fn without_writers<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let transaction = self.begin_write(&self.database()?.database)?;
        let outcome = work();
        self.health.catch(|| {
            drop(transaction);
            Ok(())
        })?;
        outcome
    }

    fn begin_write(&self, database: &Database) -> Result<WriteTransaction> {
        let begin = || database.begin_write().map_err(|error| self.health.report(error));
        self.health.catch(begin)
    }

    /// Writes redb's repairs to the file, if it made any and the store is not read-only, so that
    /// they need not be repeated.
    pub(super) fn persist_repairs(&self) -> Result<()> {
        let barrier = &self.database()?.barrier;
        if barrier.has_staged_repairs() && !self.is_read_only {
            return self.release(barrier);
        }
        Ok(())
    }

    fn database(&self) -> Result<&OpenDatabase> {
        self.database.as_ref().ok_or_else(|| self.health.report(redb::Error::DatabaseClosed))
    }

    fn release(&self, barrier: &WriteBarrier) -> Result<()> {
        if !barrier.is_staged() {
            return Ok(());
        }
        barrier.release().map_err(|error| self.health.report(redb::Error::Io(error)))
    }

    /// The WAL header in the file.
    pub(super) fn wal_header(&self) -> Result<WalHeader> {
        let database = &self.database()?.database;
        let read = || {
            let transaction = database.begin_read()?;
            match transaction.open_table(WAL_HEADER) {
                Ok(table) => Ok(table
                    .get(())?
                    .map_or_else(WalHeader::default, |row| decode_header(row.value()))),
                Err(redb::TableError::TableDoesNotExist(_)) => Ok(WalHeader::default()),
                Err(error) => Err(redb::Error::from(error)),
            }
        };
        self.health.catch(|| read().map_err(|error| self.health.report(error)))
    }

    /// Writes `memtable`, and the WAL header if it changes, in one durable commit.
    pub(super) fn checkpoint(
        &self,
        memtable: &Memtable,
        quick_repair: bool,
        header: Option<WalHeader>,
    ) -> Result<(), CommitError> {
        let is_started = Cell::new(false);
        let commit = || {
            let OpenDatabase { database, barrier } = self.database()?;
            self.release(barrier)?;
            let filled = fill_transaction(database, memtable, quick_repair, header);
            let transaction = filled.map_err(|error| self.health.report(error))?;
            // The transaction may hold copies of altered pages that it read on its way.
            barrier.verifier().check_unaltered()?;
            is_started.set(true);
            transaction.commit().map_err(|error| self.health.report(error))
        };
        self.health.catch(commit).map_err(|error| {
            if is_started.get() {
                CommitError::Indeterminate(error)
            } else {
                CommitError::NotStarted(error)
            }
        })
    }

    /// Rewrites all entries of the last commit into full pages in one durable commit. Whether it
    /// happens changes no entry.
    pub(super) fn rewrite(&self) -> Result<()> {
        self.health.catch(|| {
            let OpenDatabase { database, barrier } = self.database()?;
            self.release(barrier)?;
            let transaction = self.begin_write(database)?;
            // Read after the transaction has begun: until then another process may commit.
            let base = self.committed_state()?;
            let transaction = compaction::rewrite(transaction, &base, &self.health)?;
            barrier.verifier().check_unaltered()?;
            transaction.commit().map_err(|error| self.health.report(error))
        })
    }

    /// Overwrites all free pages, so that they have no remains of deleted entries: in one commit
    /// they are filled, in another one freed.
    pub(super) fn overwrite_free_pages(&self, bytes: &dyn Fn() -> Result<u64>) -> Result<()> {
        self.health.catch(|| {
            let OpenDatabase { database, barrier } = self.database()?;
            self.release(barrier)?;
            let filled = compaction::fill_free_pages(database, bytes, &self.health)?;
            barrier.verifier().check_unaltered()?;
            filled.commit().map_err(|error| self.health.report(error))?;
            let emptied = compaction::drop_filler(database, &self.health)?;
            barrier.verifier().check_unaltered()?;
            emptied.commit().map_err(|error| self.health.report(error))
        })
    }

    /// Moves pages to the front of the file and truncates it. Waits for read transactions on
    /// earlier states, up to [`MAX_READER_WAIT`].
    pub(super) fn shrink(&mut self) -> Result<()> {
        let barrier = &self.database()?.barrier;
        barrier.verifier().check_unaltered()?;
        self.release(barrier)?;
        let health = &self.health;
        let Some(OpenDatabase { database, .. }) = &mut self.database else {
            return Err(health.report(redb::Error::DatabaseClosed));
        };
        health.catch(|| compact_when_unread(database).map_err(|error| health.report(error)))
    }
}

fn compact_when_unread(database: &mut Database) -> Result<(), redb::Error> {
    let started = Instant::now();
    loop {
        match database.compact() {
            Err(redb::CompactionError::TransactionInProgress)
                if started.elapsed() < MAX_READER_WAIT =>
            {
                thread::sleep(POLL);
            }
            compacted => return Ok(compacted.map(drop)?),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let Some(open) = self.database.take() else {
            debug_assert!(false, "broken invariant: a handle is dropped once");
            return;
        };
        if self.owner != process::id() {
            // After a fork the parent still uses the file: redb would write to it, and release the
            // parent's lock.
            mem::forget(open);
            return;
        }
        let is_abandoned = self.health.is_poisoned() || open.barrier.is_staged();
        let _ =
            catch_unwind(AssertUnwindSafe(
                || {
                    if is_abandoned { abandon(open) } else { drop(open) }
                },
            ));
    }
}

/// Closes a database without a write: redb would commit once more, and might panic on the
/// corruption for which the handle is closed.
fn abandon(OpenDatabase { mut database, barrier }: OpenDatabase) {
    barrier.close_access();
    // The check starts with an fsync, which fails now. After an I/O error redb writes nothing.
    let checked = database.check_integrity();
    let is_being_read = matches!(checked, Err(redb::DatabaseError::TransactionInProgress));
    if is_being_read && cfg!(panic = "unwind") {
        // With readers the check ends before the fsync. redb does not write while a panic unwinds
        // either; this one prints nothing and is caught at once.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _database = database;
            resume_unwind(Box::new(()))
        }));
    }
}

fn decode_header((number, salt, in_use): (u64, u64, bool)) -> WalHeader {
    WalHeader { epoch: WalEpoch { number, salt }, in_use }
}

/// A transaction with the entries of `memtable`, ready to commit.
fn fill_transaction(
    database: &Database,
    memtable: &Memtable,
    quick_repair: bool,
    header: Option<WalHeader>,
) -> Result<WriteTransaction, redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_quick_repair(quick_repair);
    if let Some(WalHeader { epoch, in_use }) = header {
        transaction.open_table(WAL_HEADER)?.insert((), (epoch.number, epoch.salt, in_use))?;
    }
    fill(&mut transaction, memtable)?;
    Ok(transaction)
}

/// Writes the entries of `memtable`.
fn fill(transaction: &mut WriteTransaction, memtable: &Memtable) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(ENTRIES)?;
    let mut entries = memtable.iter().peekable();
    // An import puts many new keys between the same two. Other writes rarely do, and a search for a
    // run costs as much as an insert.
    let looks_for_runs = memtable.len() >= MIN_ENTRIES_FOR_RUNS;
    let mut short_runs = if looks_for_runs { 0 } else { MAX_SHORT_RUNS };
    while let Some(entry) = entries.peek().copied() {
        if entry.value().is_some() && short_runs < MAX_SHORT_RUNS {
            let inserted = insert_run(&mut table, entry, &mut entries)?;
            short_runs = if inserted < MIN_RUN { short_runs + 1 } else { 0 };
            if inserted > 0 {
                continue;
            }
        }
        match entry.value() {
            Some(value) => drop(table.insert(entry.key(), value)?),
            None => drop(table.remove(entry.key())?),
        }
        entries.next();
    }
    Ok(())
}

/// The number of the last commit in the file; `None` if it cannot be read.
fn last_commit_of(storage: &dyn StorageBackend) -> Option<u64> {
    let mut header = [0; HEADER_BYTES];
    storage.read(0, &mut header).ok()?;
    last_commit(&header)
}

/// Inserts the next entries as long as they are new and lie between the same two keys of the table:
/// redb searches its tree once for all of them. Returns their number.
fn insert_run<'e>(
    table: &mut Table<'_, &'static [u8], &'static [u8]>,
    first: &Entry,
    entries: &mut Peekable<impl Iterator<Item = &'e Entry>>,
) -> Result<usize, redb::Error> {
    // The next key of the table ends the run. If it is that of the first entry the run is empty:
    // the entry replaces a value.
    let mut cursor = InsertCursor::new(table.lower_bound_mut(Bound::Included(first.key()))?);
    let end = cursor.peek_next_key()?;
    let is_in_run = |entry: &&Entry| {
        entry.value().is_some() && end.as_deref().is_none_or(|end| entry.key() < end)
    };
    let mut inserted = 0;
    while let Some(entry) = entries.next_if(is_in_run) {
        if let Some(value) = entry.value() {
            cursor.insert(entry.key(), value)?;
            inserted += 1;
        }
    }
    cursor.close()?;
    Ok(inserted)
}

/// The error of a write to a store that is open for reading only.
pub(super) fn read_only_error() -> Error {
    Error::new(ErrorKind::ReadOnly, "the store is open for reading only")
}
