//! The write barrier: redb's uppermost storage backend.
//!
//! redb writes to a file before it knows whether the file is intact or belongs to another program,
//! and again when it closes it. The barrier starts *staged*: writes stay in memory until the first
//! change of the caller ([`WriteBarrier::release`]). So a store that fails to open, as in 41,857 of
//! 198,170 damage trials (`tests/TRUST.md`), or is opened for reading only, leaves its file
//! unchanged.
//!
//! Reads pass through page verification (`page_verifier`) and the bounds of page pointers
//! (`page_bounds`). A *closed* barrier fails every access, so that destructors of redb cannot
//! panic on corrupt pages while another panic unwinds, which would abort the process.

use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use redb::{BackendError, StorageBackend};

use super::page_bounds::{PageKind, clear_pointers_past_end, table_root_pages};
use super::page_verifier::PageVerifier;
use super::sync_tracker::SyncTracker;
use super::write_buffer::WriteBuffer;

/// How redb's locks reach the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockMode {
    /// As redb asks for them.
    Exclusive,
    /// Shared among handles that only read.
    Shared,
    /// Not at all: the file is read next to the handle that holds its lock.
    Unlocked,
}

/// The byte of redb's locks that each handle of several processes holds shared. It is the last one
/// of a range that redb asks for.
const SHARED_WRITER_BYTE: u64 = (1 << 62) + 1;

/// The barrier. Clones are the same one.
#[derive(Clone, Debug)]
pub(super) struct WriteBarrier(Arc<BarrierState>);

/// The file below a barrier.
#[derive(Debug)]
enum TrackedFile {
    Tracked(SyncTracker),
    /// One that other processes write to. redb relies on the order of its writes there, so none is
    /// buffered, and ranges of an earlier handle may be those of another process by now, so none is
    /// written again.
    Shared(Box<dyn StorageBackend>),
}

impl TrackedFile {
    fn backend(&self) -> &dyn StorageBackend {
        match self {
            Self::Tracked(tracker) => tracker,
            Self::Shared(file) => &**file,
        }
    }
}

#[derive(Debug)]
struct BarrierState {
    below: TrackedFile,
    lock_mode: LockMode,
    /// `None` once writes pass through.
    staged: RwLock<Option<StagedWrites>>,
    is_closed: AtomicBool,
    verifier: PageVerifier,
    /// Offsets of the roots of the trees of tables when the barrier was made. A write to one of
    /// them removes it.
    table_roots: RwLock<Vec<u64>>,
}

#[derive(Debug)]
struct StagedWrites {
    buffer: WriteBuffer,
    /// All operations in redb's order: a crash between two of them is one that redb recovers from.
    operations: Vec<StagedOperation>,
}

#[derive(Debug)]
enum StagedOperation {
    Write(u64, Vec<u8>),
    SetLength(u64),
    Sync,
}

impl WriteBarrier {
    /// A staged barrier over `below`.
    pub(super) fn new(
        below: SyncTracker,
        lock_mode: LockMode,
        verifier: PageVerifier,
    ) -> io::Result<Self> {
        let staged = StagedWrites { buffer: WriteBuffer::new(&below)?, operations: Vec::new() };
        let table_roots = RwLock::new(table_root_pages(&below));
        Ok(Self(Arc::new(BarrierState {
            below: TrackedFile::Tracked(below),
            lock_mode,
            staged: RwLock::new(Some(staged)),
            is_closed: AtomicBool::new(false),
            verifier,
            table_roots,
        })))
    }

    /// A barrier that lets everything pass, over a file that several processes write to: what one
    /// of them stages the others would not see.
    pub(super) fn shared(file: Box<dyn StorageBackend>, verifier: PageVerifier) -> Self {
        Self(Arc::new(BarrierState {
            below: TrackedFile::Shared(file),
            lock_mode: LockMode::Exclusive,
            staged: RwLock::default(),
            is_closed: AtomicBool::new(false),
            verifier,
            // Another process may write entries where a table's root was.
            table_roots: RwLock::default(),
        }))
    }

    /// The verifier of the pages that were read.
    pub(super) fn verifier(&self) -> &PageVerifier {
        &self.0.verifier
    }

    fn staged(&self) -> io::Result<RwLockReadGuard<'_, Option<StagedWrites>>> {
        self.check_open()?;
        Ok(self.0.staged.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn staged_mut(&self) -> io::Result<RwLockWriteGuard<'_, Option<StagedWrites>>> {
        self.check_open()?;
        Ok(self.0.staged.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn table_roots(&self) -> RwLockReadGuard<'_, Vec<u64>> {
        self.0.table_roots.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_open(&self) -> io::Result<()> {
        if self.0.is_closed.load(Ordering::Acquire) {
            return Err(io::Error::other("the handle on the store's file is closed"));
        }
        Ok(())
    }

    /// Applies the staged operations to the file and lets later ones pass. After an error the
    /// barrier stays staged.
    pub(super) fn release(&self) -> io::Result<()> {
        let mut staged = self.staged_mut()?;
        // Locked until the last one: a write that passed in between would be overwritten by an
        // older one. After an error all run again from the first, which changes nothing that was
        // written.
        for operation in staged.iter().flat_map(|staged| &staged.operations) {
            match operation {
                StagedOperation::Write(offset, data) => self.below().write(*offset, data)?,
                StagedOperation::SetLength(length) => self.below().set_len(*length)?,
                StagedOperation::Sync => self.below().sync_data()?,
            }
        }
        *staged = None;
        Ok(())
    }

    /// Whether nothing was written to the file.
    pub(super) fn is_staged(&self) -> bool {
        self.0.staged.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Whether redb repaired the file when it opened it: it always stages one write, the flag that
    /// the file is open.
    pub(super) fn has_staged_repairs(&self) -> bool {
        let staged = self.0.staged.read().unwrap_or_else(PoisonError::into_inner);
        let operations = staged.iter().flat_map(|staged| &staged.operations);
        operations.filter(|operation| !matches!(operation, StagedOperation::Sync)).count() > 1
    }

    /// Makes every access fail from now on.
    pub(super) fn close_access(&self) {
        self.0.is_closed.store(true, Ordering::Release);
    }

    fn read_unverified(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        match &*self.staged()? {
            Some(staged) => staged.buffer.read(self.below(), offset, out),
            None => self.below().read(offset, out),
        }
    }

    fn below(&self) -> &dyn StorageBackend {
        self.0.below.backend()
    }

    /// The file, for its locks.
    fn file(&self) -> &dyn StorageBackend {
        match &self.0.below {
            TrackedFile::Tracked(tracker) => tracker.file(),
            TrackedFile::Shared(file) => &**file,
        }
    }
}

/// The end of a range without [`SHARED_WRITER_BYTE`].
fn without_shared_writers(end: Bound<u64>) -> Bound<u64> {
    if end == Bound::Included(SHARED_WRITER_BYTE) {
        Bound::Excluded(SHARED_WRITER_BYTE)
    } else {
        end
    }
}

impl WriteBarrier {
    /// Locks a range among handles that only read, unless handles share the file to write. Those
    /// lock the byte shared as well, so it is left free and looked at: they would overwrite pages
    /// that this handle reads, and wait for its lock.
    fn try_lock_to_read(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        let until = without_shared_writers(end);
        if !self.file().try_lock_shared_range(start, until)? {
            return Ok(false);
        }
        // After the lock: a handle that shares the file looks at that one after it has its own.
        let byte = Bound::Included(SHARED_WRITER_BYTE);
        if until != end && self.file().query_lock_range(byte, byte)? {
            self.file().unlock_range(start, until)?;
            return Ok(false);
        }
        Ok(true)
    }
}

impl StorageBackend for WriteBarrier {
    fn len(&self) -> io::Result<u64> {
        match &*self.staged()? {
            Some(staged) => Ok(staged.buffer.len()),
            None => self.below().len(),
        }
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.read_unverified(offset, out)?;
        let kind = match offset {
            0 => PageKind::Header,
            _ if self.table_roots().contains(&offset) => PageKind::Tables,
            _ => PageKind::Entries,
        };
        let is_altered = clear_pointers_past_end(kind, out, &|| self.len())?;
        let read = |offset, out: &mut [u8]| self.read_unverified(offset, out).is_ok();
        self.0.verifier.verify_read(&read, offset, out, is_altered).map_err(io::Error::other)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut staged = self.staged_mut()?;
        let Some(staged) = &mut *staged else { return self.below().set_len(length) };
        staged.buffer.set_len(length)?;
        staged.operations.push(StagedOperation::SetLength(length));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut staged = self.staged_mut()?;
        let Some(staged) = &mut *staged else { return self.below().sync_data() };
        staged.operations.push(StagedOperation::Sync);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        // Before the write: a page read in between is verified against its new parent or not at
        // all.
        self.0.verifier.forget_written(offset, data.len());
        if self.table_roots().contains(&offset) {
            let mut roots = self.0.table_roots.write().unwrap_or_else(PoisonError::into_inner);
            roots.retain(|root| *root != offset);
        }
        let mut staged = self.staged_mut()?;
        let Some(staged) = &mut *staged else { return self.below().write(offset, data) };
        staged.buffer.write(self.below(), offset, data)?;
        staged.operations.push(StagedOperation::Write(offset, data.to_vec()));
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.below().close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        match self.0.lock_mode {
            LockMode::Exclusive => self.file().try_lock_range(start, end),
            LockMode::Shared => self.try_lock_to_read(start, end),
            LockMode::Unlocked => Err(BackendError::Unsupported),
        }
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        match self.0.lock_mode {
            LockMode::Exclusive | LockMode::Shared => self.file().try_lock_shared_range(start, end),
            LockMode::Unlocked => Err(BackendError::Unsupported),
        }
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        match self.0.lock_mode {
            LockMode::Exclusive => self.file().lock_range(start, end),
            // redb asks for an exclusive lock. Readers of one file do not exclude each other.
            LockMode::Shared => self.file().lock_shared_range(start, end),
            LockMode::Unlocked => Err(BackendError::Unsupported),
        }
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        match self.0.lock_mode {
            LockMode::Exclusive | LockMode::Shared => self.file().lock_shared_range(start, end),
            LockMode::Unlocked => Err(BackendError::Unsupported),
        }
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        match self.0.lock_mode {
            LockMode::Exclusive => self.file().unlock_range(start, end),
            LockMode::Shared => self.file().unlock_range(start, without_shared_writers(end)),
            LockMode::Unlocked => Err(BackendError::Unsupported),
        }
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        match self.0.lock_mode {
            LockMode::Exclusive | LockMode::Shared => self.file().query_lock_range(start, end),
            LockMode::Unlocked => Err(BackendError::Unsupported),
        }
    }
}
