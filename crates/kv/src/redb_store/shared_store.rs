//! A store in one redb file that several processes have open at the same time.
//!
//! redb's multi-writer mode does the work: byte-range locks on the file let one process write at a
//! time, keep the pages that a reader of any process needs, and end with a process, however it
//! ends. Each write is one redb commit in two phases, so there is no write-ahead log, no memtable
//! across writes, and no group commit: what one process holds in memory the others do not see.
//!
//! The cost, against a store of one process: a commit takes two fsyncs, and a snapshot several
//! system calls.
//!
//! A process that is killed in a commit may have written all of it and not said so. Until another
//! one writes, the state before that commit is read, and from then on the one after it.

use std::fmt;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use leafbase_model::{Error, ErrorKind, Result};

use super::compaction::verify_entries;
use super::handle::{Handle, HandleSource, MAX_READER_WAIT, POLL, read_only_error};
use super::integrity::is_intact;
use super::read_view::ReadView;
use super::recovery::failed_again;
use super::store::VerifyContent;
use crate::commit_signal::CommitSignal;
use crate::lock::FileLock;
use crate::memtable::Memtable;
use crate::options::OpenOptions;
use crate::store::{Snapshot, Store, Transaction, WriteOptions};
use crate::store_files::StoreFiles;

/// A store in one redb file, which other processes may have open as well.
///
/// Both durabilities are durable. A wait for commits looks again at
/// [`CommitSignal::DEFAULT_POLL_INTERVAL`], since other processes do not give its signal.
pub struct SharedRedbStore {
    source: HandleSource,
    /// `None` while the file cannot be opened.
    handle: Mutex<Option<Arc<Handle>>>,
    /// Held while a closure of this process runs: redb's lock is between processes.
    writer_lock: Mutex<()>,
    signal: Arc<CommitSignal>,
    read_only: bool,
    /// The process that opened the store. A forked process shares its locks.
    owner: u32,
    /// Excludes handles that do not share the store. The last field, so that it is released last.
    _lock: FileLock,
}

impl fmt::Debug for SharedRedbStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedRedbStore")
            .field("read_only", &self.read_only)
            .finish_non_exhaustive()
    }
}

impl SharedRedbStore {
    /// Opens the store in files whose `lock` is held shared, if `verify` accepts its contents.
    pub(super) fn open(
        files: Arc<dyn StoreFiles>,
        options: &OpenOptions,
        lock: FileLock,
        verify: VerifyContent<'_>,
    ) -> Result<Self> {
        let source = HandleSource::new(files, options);
        let handle = Handle::open(&source)?;
        if handle.wal_header()?.in_use {
            // The caller recovers before it shares the store, so this is a file without its log.
            return Err(Error::corrupted("the write-ahead log, which is missing"));
        }
        verify(&view_of(&handle)?)?;
        Ok(Self {
            read_only: source.is_read_only(),
            source,
            handle: Mutex::new(Some(Arc::new(handle))),
            writer_lock: Mutex::default(),
            signal: Arc::new(CommitSignal::polling(CommitSignal::DEFAULT_POLL_INTERVAL)),
            owner: process::id(),
            _lock: lock,
        })
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<Handle>>> {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer_lock(&self) -> MutexGuard<'_, ()> {
        // A closure that panicked has changed nothing.
        self.writer_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handle, after opening the file again if an error has poisoned it.
    fn handle(&self) -> Result<Arc<Handle>> {
        if self.owner != process::id() {
            let message = "the store was opened by another process: after a fork only the parent \
                           may use its handle";
            return Err(Error::new(ErrorKind::Storage, message));
        }
        let mut slot = self.slot();
        if let Some(handle) = slot.as_ref().filter(|handle| !handle.health.is_poisoned()) {
            return Ok(Arc::clone(handle));
        }
        *slot = None;
        let handle = Arc::new(Handle::open(&self.source)?);
        *slot = Some(Arc::clone(&handle));
        Ok(handle)
    }

    fn writable(&self) -> Result<Arc<Handle>> {
        if self.read_only {
            return Err(read_only_error());
        }
        self.handle()
    }

    /// Runs `work` with the only reference to the handle, once the calls of other threads that have
    /// one have ended. No snapshot of this process begins meanwhile.
    fn with_exclusive_handle(&self, work: impl FnOnce(&mut Handle) -> Result<()>) -> Result<()> {
        let mut slot = self.slot();
        let started = Instant::now();
        loop {
            // The slot stays locked, so that the number of references only falls.
            let Some(handle) = slot.as_mut() else { return Err(failed_again()) };
            match Arc::get_mut(handle) {
                Some(handle) => return work(handle),
                None if started.elapsed() > MAX_READER_WAIT => {
                    let message = "the store is being read; try again later";
                    return Err(Error::new(ErrorKind::Storage, message));
                }
                None => thread::sleep(POLL),
            }
        }
    }
}

/// The last commit of any process.
fn view_of(handle: &Handle) -> Result<ReadView> {
    let base = handle.committed_state()?;
    Ok(ReadView { base, memtable: Memtable::default(), version: None })
}

impl Store for SharedRedbStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(view_of(&*self.handle()?)?))
    }

    /// Waits while another process writes.
    fn write(
        &self,
        _: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        let _writer = self.writer_lock();
        self.writable()?.write(f)
    }

    /// Every write that has returned is durable. Settles the commit of a process that was killed
    /// during it.
    fn flush(&self) -> Result<()> {
        let handle = self.handle()?;
        if self.read_only {
            return Ok(());
        }
        let _writer = self.writer_lock();
        handle.without_writers(|| Ok(()))
    }

    fn commit_signal(&self) -> Option<Arc<CommitSignal>> {
        Some(Arc::clone(&self.signal))
    }

    /// Waits up to two seconds for snapshots to be dropped, of other processes as well.
    fn compact(&self) -> Result<()> {
        let _writer = self.writer_lock();
        let handle = self.writable()?;
        // Reads every page, so that a corrupt one does not get a new checksum.
        verify_entries(&view_of(&handle)?)?;
        // This reference would never let it be exclusive.
        drop(handle);
        self.with_exclusive_handle(Handle::shrink)?;
        self.with_exclusive_handle(|handle| without_space(handle.rewrite()))?;
        self.with_exclusive_handle(Handle::shrink)?;
        self.with_exclusive_handle(|handle| {
            without_space(handle.overwrite_free_pages(&|| self.source.bytes()))
        })?;
        self.with_exclusive_handle(Handle::shrink)
    }

    fn verify(&self) -> Result<bool> {
        let _writer = self.writer_lock();
        // While this process may write, no other one does, and the file stays as it is.
        self.handle()?.without_writers(|| is_intact(self.source.open_to_read()?))
    }

    fn bytes(&self) -> Result<u64> {
        self.source.bytes()
    }
}

/// Without space for a copy, the pages stay as they are.
fn without_space(replaced: Result<()>) -> Result<()> {
    match replaced {
        Err(error) if error.kind() == ErrorKind::NoSpace => Ok(()),
        replaced => replaced,
    }
}
