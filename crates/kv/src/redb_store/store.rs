//! The embedded store: one redb file, with a memtable and a write-ahead log in front of it.
//!
//! A write closure changes its own version of the memtable. A small write appends a record to the
//! WAL, which a durable one fsyncs, and publishes its version. A large write, a flush, a close or a
//! full memtable checkpoints: one redb commit writes all entries, and an empty memtable starts. So
//! a failed closure has nothing to roll back, a snapshot never waits for a closure, a key written a
//! hundred times between two checkpoints is written to redb once, and relaxed writes survive an I/O
//! error of the file.
//!
//! The cost: the writes of one call are in memory twice, and reads search the memtable first.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::{fmt, process};

use leafbase_model::{Error, ErrorKind, Result, invariant};

use super::group_commit::{
    BaseVersion, ClosureWrites, CommitHandle, GroupCommit, Outcome, Version, WaitResult,
};
use super::handle::{Handle, HandleSource, read_only_error};
use super::integrity::is_intact;
use super::read_view::ReadView;
use super::store_core::StoreCore;
use super::write_transaction::WriteTransaction;
use crate::commit_signal::CommitSignal;
use crate::lock::FileLock;
use crate::memtable::Memtable;
use crate::options::OpenOptions;
use crate::store::{Read, Snapshot, Store, Transaction, WriteOptions};
use crate::store_files::StoreFiles;
use crate::sync::{Mutex, MutexGuard};
use crate::wal::manager::WalManager;

/// Inspects the contents of a store before it is opened; an error refuses it.
pub type VerifyContent<'f> = &'f mut dyn FnMut(&dyn Read) -> Result<()>;

/// A store in one redb file.
pub struct RedbStore {
    core: StoreCore,
    read_only: bool,
    /// Held while a closure runs, and by operations that exclude one.
    writer_lock: Mutex<()>,
    group: GroupCommit,
    /// The process that opened the store. A forked process shares its files and locks.
    owner: u32,
    signal: Arc<CommitSignal>,
    /// Excludes other handles. The last field, so that it is released last.
    #[cfg_attr(not(test), expect(dead_code, reason = "held until the store is dropped"))]
    lock: Option<FileLock>,
}

impl fmt::Debug for RedbStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedbStore").field("read_only", &self.read_only).finish_non_exhaustive()
    }
}

impl RedbStore {
    /// Opens a store on the given files, or creates it if the main file is empty.
    ///
    /// # Errors
    /// [`ErrorKind::NotASpace`], [`ErrorKind::NewerFormat`], [`ErrorKind::Corrupted`], I/O errors.
    pub fn with_files(files: impl StoreFiles, options: &OpenOptions) -> Result<Self> {
        Self::create(Arc::new(files), options)
    }

    /// Opens a store on the given files if `verify` accepts its contents. After an error the files
    /// are unchanged.
    ///
    /// # Errors
    /// As [`Self::with_files`], and errors of `verify`.
    pub fn with_verified_files(
        files: impl StoreFiles,
        options: &OpenOptions,
        verify: VerifyContent<'_>,
    ) -> Result<Self> {
        Self::open(Arc::new(files), options, None, verify)
    }

    /// The same, holding `lock` until the store is closed.
    pub(super) fn open(
        files: Arc<dyn StoreFiles>,
        options: &OpenOptions,
        lock: Option<FileLock>,
        verify: VerifyContent<'_>,
    ) -> Result<Self> {
        Self::start(HandleSource::new(files, options), lock, false, verify)
    }

    /// Opens a store that may have no table yet.
    pub(super) fn create(files: Arc<dyn StoreFiles>, options: &OpenOptions) -> Result<Self> {
        Self::start(HandleSource::new(files, options), None, true, &mut |_| Ok(()))
    }

    fn start(
        source: HandleSource,
        lock: Option<FileLock>,
        creates_table: bool,
        verify: VerifyContent<'_>,
    ) -> Result<Self> {
        match Self::open_handle(&source, creates_table, verify) {
            Ok((handle, view, wal)) => {
                let has_crashed = wal.header().in_use;
                let store = Self {
                    read_only: source.is_read_only(),
                    core: StoreCore::new(source, handle, view, wal),
                    writer_lock: Mutex::default(),
                    group: GroupCommit::default(),
                    owner: process::id(),
                    signal: Arc::default(),
                    lock,
                };
                if has_crashed && !store.read_only {
                    store.checkpoint_replayed();
                }
                Ok(store)
            }
            // Corruption can look like the file of another program.
            Err(error) if error.kind() == ErrorKind::NotASpace => {
                if is_intact(source.open_to_read()?)? {
                    return Err(error);
                }
                Err(Error::corrupted("the store's structure").with_source(error))
            }
            Err(error) => Err(error),
        }
    }

    fn open_handle(
        source: &HandleSource,
        creates_table: bool,
        verify: VerifyContent<'_>,
    ) -> Result<(Handle, ReadView, WalManager)> {
        let handle = Handle::open(source)?;
        if creates_table {
            handle.ensure_table()?;
        }
        let base = handle.committed_state()?;
        let (wal, memtable) = match WalManager::open(source.files(), handle.wal_header()?) {
            Ok(opened) => opened,
            Err(error) => {
                // A file of another program or a later version is reported as that, not by its WAL.
                let view = ReadView { base, memtable: Memtable::default(), version: None };
                return Err(verify(&view).err().unwrap_or(error));
            }
        };
        let view = ReadView { base, memtable, version: None };
        verify(&view)?;
        handle.persist_repairs()?;
        Ok((handle, view, wal))
    }

    /// Checkpoints the entries that were replayed from the WAL of a crashed process. If that fails,
    /// out of space for example, the WAL still holds them.
    fn checkpoint_replayed(&self) {
        let mut state = self.core.commit_state();
        let memtable = self.core.current_version().memtable;
        if let Err(error) = self.core.checkpoint(&mut state, memtable, true, true) {
            tracing::warn!(%error, "the replayed write-ahead log could not be checkpointed");
        }
    }

    /// Makes all writes durable and closes the file. Dropping the store does the same and logs
    /// errors.
    ///
    /// # Errors
    /// As [`Store::flush`].
    pub fn close(self) -> Result<()> {
        self.flush_and_remove_wal()
    }

    fn flush_and_remove_wal(&self) -> Result<()> {
        self.check_process()?;
        if self.read_only {
            return Ok(());
        }
        self.core.flush(&mut self.core.commit_state(), true)
    }

    /// Fails in a process other than the one that opened the store.
    fn check_process(&self) -> Result<()> {
        if self.owner == process::id() {
            return Ok(());
        }
        let message = "the store was opened by another process: after a fork only the parent may \
                       use its handle";
        Err(Error::new(ErrorKind::Storage, message))
    }

    fn writer_lock(&self) -> MutexGuard<'_, ()> {
        // A closure that panicked has changed nothing: its writes join a batch only after it.
        self.writer_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The view of a closure on `base`, and the number of checkpoints below its memtable.
    fn closure_view(&self, base: &BaseVersion) -> Result<(ReadView, u64)> {
        // The committed state is taken after the version over it. It may hold some entries of that
        // version already, but never lacks one that the version lacks.
        let (committed, current) = match self.core.healthy() {
            Some(healthy) => healthy,
            None => self.core.recovered(&mut self.core.commit_state())?,
        };
        let newest = base.uncommitted.as_ref().map(|(version, _)| version.clone());
        let Version { memtable, checkpoints } = newest.unwrap_or(current);
        Ok((ReadView { base: committed, memtable, version: None }, checkpoints))
    }

    /// Waits for the outcome of a batch, and commits it if this thread has to lead.
    fn commit(&self, handle: &CommitHandle) -> Result<Outcome> {
        match self.group.wait(handle) {
            WaitResult::Resolved(outcome) => Ok(outcome),
            WaitResult::Lead(batch, mut guard) => {
                let mut state = self.core.commit_state();
                guard.start_timer();
                let committed = self.core.commit_batch(&mut state, batch);
                let is_indeterminate =
                    state.indeterminate.is_some() || state.has_indeterminate_record;
                drop(state);
                guard.finish(committed, is_indeterminate, || self.core.current_version())
            }
        }
    }

    /// Waits until all batches have resolved. The caller holds the writer lock, so no more join.
    fn wait_for_batches(&self) -> Result<()> {
        while let Some((_, handle)) = self.group.base_version().uncommitted {
            // Its writers get the outcome.
            let _outcome = self.commit(&handle)?;
        }
        Ok(())
    }

    /// Runs `f` once and commits its writes. Returns `None` if it has to run again, with
    /// `is_alone` set if that has to happen without other writers in its batch.
    fn try_write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
        is_alone: &mut bool,
    ) -> Result<Option<Result<()>>> {
        let mut writer = Some(self.writer_lock());
        if *is_alone {
            self.wait_for_batches()?;
        }
        let base = self.group.base_version();
        let (view, checkpoints) = self.closure_view(&base)?;
        let mut transaction = WriteTransaction::new(view);
        let refusal = f(&mut transaction).err();
        let WriteTransaction { view, written, .. } = transaction;
        let (written, bytes) = written.into_parts();
        let ReadView { base: committed, memtable, .. } = view;
        drop(committed);
        let handle = match (&refusal, &base.uncommitted) {
            // The closure may have refused because of writes that fail: wait for them.
            (Some(_), Some((_, handle))) => Arc::clone(handle),
            (Some(_), None) => return Ok(Some(refusal.map_or(Ok(()), Err))),
            (None, _) => {
                invariant!(
                    written.is_empty() || !memtable.is_empty(),
                    "the entries of a transaction are in its memtable"
                );
                let version = Version { memtable, checkpoints };
                let writes = ClosureWrites { version, written, bytes };
                let current = || self.core.current_version();
                match self.group.enqueue(&base, writes, options, current)? {
                    Some(handle) => handle,
                    None => return Ok(None),
                }
            }
        };
        // Alone, the writer keeps the lock, so that no other one joins its batch.
        if !*is_alone {
            writer = None;
        }
        let outcome = self.commit(&handle)?;
        drop(writer);
        Ok(match (outcome, refusal) {
            (Outcome::Committed, None) => Some(Ok(())),
            (Outcome::Committed, Some(refusal)) => Some(Err(refusal)),
            (Outcome::Failed(error), None) => Some(Err(error)),
            (Outcome::BatchFailed, None) => {
                *is_alone = true;
                None
            }
            // The closure read writes that failed.
            (Outcome::BaseFailed, _) | (Outcome::Failed(_) | Outcome::BatchFailed, Some(_)) => None,
        })
    }
}

impl Store for RedbStore {
    /// Clones the current version. If the file has failed and another thread is recovering it,
    /// reads of the snapshot may report the error.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.check_process()?;
        if let Some(view) = self.core.healthy_view() {
            return Ok(Box::new(view));
        }
        let mut state = if let Some(state) = self.core.try_commit_state() {
            state
        } else {
            let current = self.core.current();
            if let Some(base) = &current.base {
                return Ok(Box::new(current.view_over(base)));
            }
            // The other thread holds the commit state and needs the current version to recover.
            drop(current);
            self.core.commit_state()
        };
        Ok(Box::new(self.core.recovered_view(&mut state)?))
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        self.check_process()?;
        if self.read_only {
            return Err(read_only_error());
        }
        let mut is_alone = false;
        loop {
            if let Some(result) = self.try_write(options, f, &mut is_alone)? {
                return result;
            }
        }
    }

    fn flush(&self) -> Result<()> {
        self.check_process()?;
        if self.read_only {
            return Ok(());
        }
        self.core.flush(&mut self.core.commit_state(), false)
    }

    fn sync_overdue(&self, now: &dyn Fn() -> i64) -> Result<()> {
        // The holder commits or recovers: a later call finds what it leaves.
        let Some(mut state) = self.core.try_commit_state() else { return Ok(()) };
        // Every operation asks, and mostly nothing is overdue: it costs no system call then.
        self.core.sync_overdue(&mut state, now, &|| self.check_process())
    }

    fn commit_signal(&self) -> Option<Arc<CommitSignal>> {
        Some(Arc::clone(&self.signal))
    }

    /// Waits up to two seconds for snapshots to be dropped, and blocks new ones.
    fn compact(&self) -> Result<()> {
        self.check_process()?;
        if self.read_only {
            return Err(read_only_error());
        }
        let _writer = self.writer_lock();
        self.wait_for_batches()?;
        self.core.compact(&mut self.core.commit_state())
    }

    /// Readers are not blocked. Works on a store that is open for reading only.
    fn verify(&self) -> Result<bool> {
        self.check_process()?;
        let _writer = self.writer_lock();
        self.wait_for_batches()?;
        let mut state = self.core.commit_state();
        // With an empty memtable nothing is written: the file may be corrupt.
        if !self.read_only && !self.core.recovered_view(&mut state)?.memtable.is_empty() {
            match self.core.flush(&mut state, false) {
                // Without space the entries stay in the memtable and the WAL.
                Err(error) if error.kind() == ErrorKind::NoSpace => {}
                flushed => flushed?,
            }
        }
        is_intact(self.core.source.open_to_read()?)
    }

    fn bytes(&self) -> Result<u64> {
        self.core.source.bytes()
    }
}

impl Drop for RedbStore {
    fn drop(&mut self) {
        if self.owner != process::id() {
            // The parent still uses the files.
            return;
        }
        let flushed = catch_unwind(AssertUnwindSafe(|| self.flush_and_remove_wal()));
        if !matches!(flushed, Ok(Ok(()))) {
            tracing::error!("the store could not be flushed on drop");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::redb_store::directory::{self, LOCK_FILE, STORE_FILE, WAL_FILE};

    /// A child process has a copy of the handle, which differs in nothing but the process ID.
    #[test]
    fn a_forked_process_can_neither_use_nor_close_the_store() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("store");
        let mut store = directory::create(&path, &OpenOptions::new()).unwrap();
        for key in [b"a", b"b", b"c"] {
            let write = &mut |transaction: &mut dyn Transaction| transaction.put(key, b"value");
            store.write(WriteOptions::default(), write).unwrap();
        }
        let bytes = |name: &str| fs::read(path.join(name)).unwrap();
        let before = [bytes(STORE_FILE), bytes(WAL_FILE)];
        let child = store.owner.wrapping_add(1);
        store.owner = child;
        if let Some(handle) = &mut store.core.commit_state().handle {
            handle.owner = child;
        }
        if let Some(lock) = &mut store.lock {
            lock.set_owner(child);
        }
        let write = &mut |_: &mut dyn Transaction| Ok(());
        assert!(store.write(WriteOptions::default(), write).is_err());
        assert!(store.snapshot().is_err() && store.flush().is_err() && store.compact().is_err());
        assert!(store.verify().is_err());
        // The descriptor of the parent stays open, as it would after a fork.
        let lock_file = fs::File::open(path.join(LOCK_FILE)).unwrap();
        let parent = store.lock.as_ref().map(FileLock::duplicate);
        drop(store);
        assert!([bytes(STORE_FILE), bytes(WAL_FILE)] == before, "the files are unchanged");
        assert!(lock_file.try_lock().is_err(), "the parent still holds the lock");
        drop(parent);
    }
}
