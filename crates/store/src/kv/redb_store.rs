//! The embedded store: one redb file, with the relaxed writes since its last commit laid over it in memory.
//!
//! A call's writes are collected in a tree of edits that shares its nodes with earlier versions. A relaxed write that returns
//! publishes its version, and that is all it does. A durable write, a flush, a close, or too much held in memory writes
//! all edits to redb in one commit and starts an empty tree. So redb is touched only by a commit: a call that fails has
//! nothing to undo, a snapshot never waits for a writer's closure, a row written a hundred times since the last commit is
//! written to the file once, and relaxed writes outlive an I/O error of the file.
//!
//! What this costs: one call's writes are held in memory twice, and reads compare with the edits while there are any.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use std::{fmt, mem, thread};

use leafbase_model::{Error, ErrorKind, Result};
use redb::Database;

use super::base::Base;
use super::inspect::is_whole;
use super::opener::{Handle, Opener, Source, compact_when_unread, create_file, read_only};
use super::options::OpenOptions;
use super::view::{Draft, Edits, View};
use super::{Durability, Read, Snapshot, Store, Transaction, WriteOptions};

/// Relaxed writes are committed once so many keys, or so many bytes, have gathered: it bounds memory, and what a crash loses.
const MAX_PENDING_KEYS: usize = 8_192;
const MAX_PENDING_BYTES: usize = 8 << 20;
/// How often a failed store is opened again before a call gives up; the next call tries anew.
const REOPENINGS: usize = 3;
/// How long compacting waits for readers to end. No snapshot begins meanwhile.
pub(super) const READER_PATIENCE: Duration = Duration::from_secs(2);

/// Looks at what a store holds before it is opened for good.
pub(crate) type Verify<'f> = &'f mut dyn FnMut(&dyn Read) -> Result<()>;

/// A store in one file, through redb.
pub struct RedbStore {
    opener: Opener,
    read_only: bool,
    /// What a snapshot gets. Held only to copy or to set it, but by [`Store::compact`].
    published: Mutex<Published>,
    /// Held by the one writer at a time, its closure included. Always taken before `published`.
    slot: Mutex<Slot>,
    /// Keeps other handles out while this one lives; declared last, so released last.
    _lock: Option<File>,
}

struct Published {
    /// The last commit; none while the file cannot be opened.
    base: Option<Arc<Base>>,
    /// The relaxed writes since.
    edits: Edits,
}

struct Slot {
    /// None while the file cannot be opened.
    handle: Option<Handle>,
    /// Bytes put by the relaxed writes since the last commit.
    pending_bytes: usize,
    /// Whether the last commit lets a crash be recovered from without reading the whole file.
    quick_to_open: bool,
    /// Edits of a commit that failed, when the file could not be opened to see whether it holds them.
    unresolved: Option<Edits>,
}

impl fmt::Debug for RedbStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedbStore").field("read_only", &self.read_only).finish_non_exhaustive()
    }
}

impl RedbStore {
    /// Opens the file at `path`, which [`create_store_file`] made, if `verify` is content with what it holds, and keeps
    /// `lock` until it is closed. A file that does not open stays as it was.
    pub(crate) fn open_file(
        path: &Path,
        options: &OpenOptions,
        lock: Option<File>,
        verify: Verify<'_>,
    ) -> Result<Self> {
        let path = path.to_owned();
        let source = if options.read_only { Source::ReadOnlyFile(path) } else { Source::File(path) };
        Self::open_source(Opener::new(source, options.cache_bytes), lock, verify)
    }

    /// The same for the bytes of such a file, which stay as they are.
    #[cfg(feature = "testkit")]
    pub(crate) fn open_image(bytes: Arc<[u8]>, options: &OpenOptions, verify: Verify<'_>) -> Result<Self> {
        Self::open_source(Opener::new(Source::Image(bytes), options.cache_bytes), None, verify)
    }

    fn open_source(opener: Opener, lock: Option<File>, verify: Verify<'_>) -> Result<Self> {
        match Self::begin(&opener, verify) {
            Ok(begun) => Ok(Self::start(opener, begun, lock)),
            // Damage can make it look like somebody else's, or like one that was not closed.
            Err(error) => {
                let looks_unclosed = error.kind() == ErrorKind::Storage && opener.is_read_only();
                let may_be_damage = error.kind() == ErrorKind::NotASpace || looks_unclosed;
                if may_be_damage && !is_whole(opener.storage()?)? {
                    return Err(Error::corrupted("the store's structure").with_source(error));
                }
                Err(error)
            }
        }
    }

    /// A store on what `backend` makes: called again whenever the store is opened anew, it must give the same bytes.
    ///
    /// # Errors
    /// What redb reports.
    #[cfg(feature = "testkit")]
    pub fn with_backend<B: redb::StorageBackend>(
        backend: impl Fn() -> B + Send + Sync + 'static,
        options: &OpenOptions,
    ) -> Result<Self> {
        let source = Source::Backend(Box::new(move || Box::new(backend())));
        let opener = Opener::new(source, options.cache_bytes);
        let begun = Self::begin(&opener, &mut |_| Ok(()))?;
        Ok(Self::start(opener, begun, None))
    }

    fn begin(opener: &Opener, verify: Verify<'_>) -> Result<(Handle, Arc<Base>)> {
        let handle = Handle::open(opener)?;
        let base = handle.base()?;
        verify(&View { base: Arc::clone(&base), edits: Edits::default() })?;
        handle.settle()?;
        Ok((handle, base))
    }

    fn start(opener: Opener, (handle, base): (Handle, Arc<Base>), lock: Option<File>) -> Self {
        let published = Published { base: Some(base), edits: Edits::default() };
        let slot = Slot { handle: Some(handle), pending_bytes: 0, quick_to_open: true, unresolved: None };
        Self {
            read_only: opener.is_read_only(),
            opener,
            published: Mutex::new(published),
            slot: Mutex::new(slot),
            _lock: lock,
        }
    }

    /// Makes all writes durable and closes the file. Dropping does the same, but has nobody to tell of an error.
    ///
    /// # Errors
    /// As [`Store::flush`].
    pub fn close(self) -> Result<()> {
        self.flush()
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        // A closure that panicked left nothing half done: edits are published, and the file written, only after it.
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn published(&self) -> MutexGuard<'_, Published> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The published state, if the handle behind it is in order.
    fn view(&self) -> Option<View> {
        let published = self.published();
        let base = published.base.as_ref().filter(|base| !base.health.is_broken())?;
        Some(View { base: Arc::clone(base), edits: published.edits.clone() })
    }

    /// The published state for the holder of the slot, after opening the file again where that is needed.
    fn mended_view(&self, slot: &mut Slot) -> Result<View> {
        if let Some(view) = self.view() {
            return Ok(view);
        }
        self.mend(slot)?;
        self.view().ok_or_else(closed)
    }

    /// Opens the file again and publishes what it holds.
    fn mend(&self, slot: &mut Slot) -> Result<()> {
        let mut result = Ok(());
        for _ in 0..REOPENINGS {
            result = self.try_mend(slot);
            if result.is_ok() {
                break;
            }
        }
        result.map_err(|error| unavailable("the store is unavailable: its file cannot be opened again", error))
    }

    fn try_mend(&self, slot: &mut Slot) -> Result<()> {
        let base = self.reopen(slot)?;
        let all_committed = slot.unresolved.as_ref().map_or(Ok(false), |edits| holds(&base, edits))?;
        slot.unresolved = None;
        self.publish(slot, base, all_committed);
        Ok(())
    }

    fn reopen(&self, slot: &mut Slot) -> Result<Arc<Base>> {
        // The file is locked by the old handle: it goes first.
        let old = self.published().base.take();
        drop(old);
        slot.handle = None;
        let handle = Handle::open(&self.opener)?;
        let base = handle.base()?;
        handle.settle()?;
        slot.handle = Some(handle);
        slot.quick_to_open = false;
        Ok(base)
    }

    /// Sets what snapshots get from now on; `all_committed` if the base holds every edit.
    fn publish(&self, slot: &mut Slot, base: Arc<Base>, all_committed: bool) {
        let mut published = self.published();
        let old_base = published.base.replace(base);
        let old_edits = all_committed.then(|| {
            slot.pending_bytes = 0;
            mem::take(&mut published.edits)
        });
        drop(published);
        // Freeing them must not hold up a snapshot.
        drop((old_base, old_edits));
    }

    /// Writes `edits`, which hold all that is pending, to the file.
    fn commit(&self, slot: &mut Slot, edits: Edits, quick_repair: bool) -> Result<()> {
        // A read of the closure may have broken the handle; what the closure made of that is its own affair.
        drop(self.mended_view(slot)?);
        let Some(handle) = &slot.handle else { return Err(closed()) };
        if let Err(error) = handle.apply(&edits, quick_repair) {
            return self.settle(slot, edits, error);
        }
        slot.quick_to_open = quick_repair;
        if let Ok(base) = handle.base() {
            self.publish(slot, base, true);
        } else {
            // It is committed: the old base with all edits over it reads the same, until the file is opened again.
            handle.health.mark_broken();
            self.published().edits = edits.clone();
            slot.unresolved = Some(edits);
        }
        Ok(())
    }

    /// Finds out whether a commit that reported `error` took place: it is in the file whole or not at all.
    fn settle(&self, slot: &mut Slot, edits: Edits, error: Error) -> Result<()> {
        for _ in 0..REOPENINGS {
            let Ok(base) = self.reopen(slot) else { continue };
            let Ok(committed) = holds(&base, &edits) else { continue };
            self.publish(slot, base, committed);
            return if committed { Ok(()) } else { Err(error) };
        }
        self.published().base = None;
        slot.handle = None;
        slot.unresolved = Some(edits);
        let message = "the store is unavailable: its file cannot be opened again, and whether this write took place shows \
                       when it can";
        Err(unavailable(message, error))
    }

    /// Lets `work` have the redb handle while nobody reads.
    fn alone<T>(&self, slot: &mut Slot, work: impl FnOnce(&mut Database) -> Result<T, redb::Error>) -> Result<T> {
        let mut published = self.published();
        let Some(mut base) = published.base.take() else { return Err(closed()) };
        let started = Instant::now();
        loop {
            match Arc::try_unwrap(base) {
                Ok(base) => break drop(base),
                Err(shared) if started.elapsed() > READER_PATIENCE => {
                    published.base = Some(shared);
                    return Err(Error::new(ErrorKind::Storage, "the store is being read: try again"));
                }
                Err(shared) => base = shared,
            }
            thread::sleep(Duration::from_millis(1));
        }
        let Some(handle) = &mut slot.handle else { return Err(closed()) };
        let result = handle.alone(work);
        // Where this fails the next call opens the file again.
        published.base = handle.base().ok();
        result
    }

    fn flush_with(&self, slot: &mut Slot) -> Result<()> {
        let View { edits, base } = self.mended_view(slot)?;
        drop(base);
        if edits.is_empty() && slot.quick_to_open {
            return Ok(());
        }
        self.commit(slot, edits, true)
    }
}

/// Makes a store's file, closed properly.
pub(crate) fn create_store_file(path: &Path, options: &OpenOptions) -> Result<()> {
    create_file(path, options.cache_bytes)
}

/// Whether the file holds every one of `edits`. An edit that changes nothing is held either way, and it doesn't matter.
fn holds(base: &Base, edits: &Edits) -> Result<bool> {
    for (key, edit) in edits {
        let mut equal = false;
        let found = base.get(key, &mut |value| {
            equal = edit.as_deref() == Some(value);
            Ok(())
        })?;
        if found != edit.is_some() || found && !equal {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What a mended store answers to nobody: the next call opens the file again.
fn closed() -> Error {
    Error::new(ErrorKind::Storage, "the store failed again: try again")
}

fn unavailable(message: &str, cause: Error) -> Error {
    Error::new(ErrorKind::Storage, message).with_source(cause)
}

impl Store for RedbStore {
    /// Waits for no closure: it copies what is published. If the file failed and a writer is busy with it, reads of the
    /// snapshot may report the error.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        if let Some(view) = self.view() {
            return Ok(Box::new(view));
        }
        let mut slot = match self.slot.try_lock() {
            Ok(slot) => slot,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let published = self.published();
                if let Some(base) = &published.base {
                    return Ok(Box::new(View { base: Arc::clone(base), edits: published.edits.clone() }));
                }
                drop(published);
                self.slot()
            }
        };
        Ok(Box::new(self.mended_view(&mut slot)?))
    }

    fn write(&self, options: WriteOptions, f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>) -> Result<()> {
        if self.read_only {
            return Err(read_only());
        }
        let mut slot = self.slot();
        let mut draft = Draft::new(self.mended_view(&mut slot)?);
        f(&mut draft)?;
        let Draft { view: View { base, edits }, bytes, changed } = draft;
        drop(base);
        let pending_bytes = slot.pending_bytes + bytes;
        let fits = edits.size() <= MAX_PENDING_KEYS && pending_bytes <= MAX_PENDING_BYTES;
        if options.durability == Durability::Relaxed && fits {
            if changed {
                slot.pending_bytes = pending_bytes;
                let old = mem::replace(&mut self.published().edits, edits);
                drop(old);
            }
            return Ok(());
        }
        if edits.is_empty() { Ok(()) } else { self.commit(&mut slot, edits, false) }
    }

    fn flush(&self) -> Result<()> {
        if self.read_only {
            return Ok(());
        }
        self.flush_with(&mut self.slot())
    }

    /// Needs the file to itself: new snapshots wait, and living ones are waited for, up to two seconds.
    fn compact(&self) -> Result<()> {
        if self.read_only {
            return Err(read_only());
        }
        let mut slot = self.slot();
        self.flush_with(&mut slot)?;
        slot.quick_to_open = false;
        self.alone(&mut slot, compact_when_unread).map(|_| ())
    }

    /// Readers go on meanwhile, and a store that is open for reading only can be verified too.
    fn verify(&self) -> Result<bool> {
        let mut slot = self.slot();
        // Without anything to be flushed nothing is written: the file may be damaged.
        if !self.read_only && !self.mended_view(&mut slot)?.edits.is_empty() {
            self.flush_with(&mut slot)?;
        }
        is_whole(self.opener.storage()?)
    }

    fn bytes(&self) -> Result<u64> {
        self.opener.bytes()
    }
}

impl Drop for RedbStore {
    fn drop(&mut self) {
        let flushed = catch_unwind(AssertUnwindSafe(|| self.flush()));
        if !matches!(flushed, Ok(Ok(()))) {
            tracing::error!("relaxed writes were lost: the store could not be flushed when it was dropped");
        }
    }
}
