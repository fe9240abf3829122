//! The embedded store: one redb file, with the writes since its last commit laid over it in memory,
//! and a journal of the durable ones.
//!
//! A call's writes are collected in a tree of edits that shares its nodes with earlier versions. A
//! relaxed write that returns publishes its version, and that is all it does. A durable write, a
//! flush, a close, or too much held in memory writes all edits to redb in one commit and starts an
//! empty tree. Where there is a journal, a small durable write is a record of it instead, and its
//! edits stay in memory like those of relaxed ones. So redb is touched only by a commit: a call
//! that fails has nothing to undo, a snapshot never waits for a writer's closure, a row written a
//! hundred times since the last commit is written to the file once, and relaxed writes outlive an
//! I/O error of the file.
//!
//! What this costs: one call's writes are held in memory twice, and reads compare with the edits
//! while there are any.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use std::{fmt, mem, thread};

use leafbase_model::{Error, ErrorKind, Result};

use super::base::Base;
use super::group::{Batch, Ground, Group, Made, Outcome, Task, Ticket, Tip, copy};
use super::image::Image;
use super::inspect::is_whole;
use super::journaling::{Appended, JOURNAL_FILE, Journaling, Place};
use super::lock::Lock;
use super::opener::{Failed, Handle, Opener, Source, compact_when_unread, create_file, read_only};
use super::options::OpenOptions;
use super::recovery::{Doubtful, closed};
use super::rewrite;
use super::view::{Draft, Edits, Row, View};
use super::{Durability, Read, Snapshot, Store, Transaction, WriteOptions};

/// Writes are committed once so many keys, or so many bytes, have gathered: it bounds memory, and
/// what a crash loses.
const MAX_PENDING_KEYS: usize = 16_384;
const MAX_PENDING_BYTES: usize = 8 << 20;
/// How often a file is compacted at once, at most.
const MOST_COMPACTIONS: usize = 8;
/// How long compacting waits for readers to end. No snapshot begins meanwhile.
pub(super) const READER_PATIENCE: Duration = Duration::from_secs(2);

/// Looks at what a store holds before it is opened for good.
pub type Verify<'f> = &'f mut dyn FnMut(&dyn Read) -> Result<()>;

/// A store in one file, through redb.
pub struct RedbStore {
    pub(super) opener: Opener,
    pub(super) read_only: bool,
    /// What a snapshot gets. Held only to copy or to set it, but by [`Store::compact`].
    published: Mutex<Published>,
    /// Held while a write's closure runs, and by what must not have one running. Always taken
    /// before `slot`.
    turn: Mutex<()>,
    /// Writes whose closures have run.
    group: Group,
    /// Held by who writes to the files, or opens them again. Always taken before `published`.
    slot: Mutex<Slot>,
    /// Keeps other handles out while this one lives; declared last, so released last.
    _lock: Option<Lock>,
}

pub(super) struct Published {
    /// The last commit; none while the file cannot be opened.
    pub(super) base: Option<Arc<Base>>,
    /// The writes since.
    edits: Edits,
    /// How often all writes were committed.
    commits: u64,
}

impl Published {
    fn tip(&self) -> Tip {
        Tip { edits: self.edits.clone(), commits: self.commits }
    }
}

pub(super) struct Slot {
    /// None while the file cannot be opened.
    pub(super) handle: Option<Handle>,
    pub(super) journal: Journaling,
    /// Bytes put by the writes since the last commit.
    pending_bytes: usize,
    /// Whether the last commit lets a crash be recovered from without reading the whole file.
    pub(super) quick_to_open: bool,
    /// A commit that failed, when the file could not be opened to see whether it took place.
    pub(super) unresolved: Option<Doubtful>,
    /// Whether the journal may hold a record of a write that did not take place.
    pub(super) is_record_in_doubt: bool,
}

/// A store that was opened, before anybody has it.
struct Begun {
    handle: Handle,
    view: View,
    journal: Journaling,
}

impl fmt::Debug for RedbStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedbStore").field("read_only", &self.read_only).finish_non_exhaustive()
    }
}

impl RedbStore {
    /// Opens the file at `path`, which [`create_store_file`] made, if `verify` is content with what
    /// it holds, and keeps `lock` until it is closed. A file that does not open stays as it was.
    pub(crate) fn open_file(
        path: &Path,
        options: &OpenOptions,
        lock: Option<Lock>,
        verify: Verify<'_>,
    ) -> Result<Self> {
        let path = path.to_owned();
        let place = Place::File(path.with_file_name(JOURNAL_FILE));
        let source =
            if options.read_only { Source::ReadOnlyFile(path) } else { Source::File(path) };
        Self::open_source(Opener::new(source, options), place, lock, verify)
    }

    /// Opens the file at `path`, which [`create_store_file`] made, in a directory that has not got
    /// its name yet. What is written to it waits for no disk: the file has to be synced before the
    /// directory gets its name.
    pub(crate) fn open_nameless(path: &Path, options: &OpenOptions) -> Result<Self> {
        let place = Place::File(path.with_file_name(JOURNAL_FILE));
        let opener = Opener::new(Source::NamelessFile(path.to_owned()), options);
        Self::open_source(opener, place, None, &mut |_| Ok(()))
    }

    /// A store on the bytes of such a file, and those of the journal beside it, if there is one.
    /// They stay as they are.
    ///
    /// # Errors
    /// As [`crate::directory::open`], and what `verify` returned.
    pub fn open_image(
        bytes: Arc<[u8]>,
        journal: Option<Arc<[u8]>>,
        options: &OpenOptions,
        verify: Verify<'_>,
    ) -> Result<Self> {
        let place = journal.map_or(Place::Nowhere, |journal| {
            Place::Backend(Box::new(move || Box::new(Image(Arc::clone(&journal)))))
        });
        Self::open_source(Opener::new(Source::Image(bytes), options), place, None, verify)
    }

    fn open_source(
        opener: Opener,
        place: Place,
        lock: Option<Lock>,
        verify: Verify<'_>,
    ) -> Result<Self> {
        match Self::begin(&opener, place, verify) {
            Ok(begun) => Ok(Self::start(opener, begun, lock)),
            // Damage can make it look like somebody else's.
            Err(error) => {
                if error.kind() == ErrorKind::NotASpace && !is_whole(opener.storage()?)? {
                    return Err(Error::corrupted("the store's structure").with_source(error));
                }
                Err(error)
            }
        }
    }

    /// A store on what `backend` makes: called again whenever the store is opened anew, it must
    /// give the same bytes. Without a journal.
    ///
    /// # Errors
    /// What redb reports.
    pub fn with_backend<B: redb::StorageBackend>(
        backend: impl Fn() -> B + Send + Sync + 'static,
        options: &OpenOptions,
    ) -> Result<Self> {
        Self::on(Source::Backend(Box::new(move || Box::new(backend()))), Place::Nowhere, options)
    }

    /// The same with a journal on what `journal` makes.
    ///
    /// # Errors
    /// What redb reports; [`ErrorKind::Corrupted`] if the journal is damaged.
    pub fn with_backends<B: redb::StorageBackend, J: redb::StorageBackend>(
        backend: impl Fn() -> B + Send + Sync + 'static,
        journal: impl Fn() -> J + Send + Sync + 'static,
        options: &OpenOptions,
    ) -> Result<Self> {
        let place = Place::Backend(Box::new(move || Box::new(journal())));
        Self::on(Source::Backend(Box::new(move || Box::new(backend()))), place, options)
    }

    fn on(source: Source, place: Place, options: &OpenOptions) -> Result<Self> {
        let opener = Opener::new(source, options);
        let begun = Self::begin(&opener, place, &mut |_| Ok(()))?;
        Ok(Self::start(opener, begun, None))
    }

    fn begin(opener: &Opener, place: Place, verify: Verify<'_>) -> Result<Begun> {
        let handle = Handle::open(opener)?;
        let view = View { base: handle.base()?, edits: Edits::default() };
        let (journal, edits) = match Journaling::open(place, handle.mark()?) {
            Ok(both) => both,
            // Somebody else's file, or a later version's, is told as what it is before its journal
            // is.
            Err(error) => return Err(verify(&view).err().unwrap_or(error)),
        };
        let view = View { edits, ..view };
        verify(&view)?;
        handle.settle()?;
        Ok(Begun { handle, view, journal })
    }

    fn start(opener: Opener, begun: Begun, lock: Option<Lock>) -> Self {
        let Begun { handle, view: View { base, edits }, journal } = begun;
        let has_crashed = journal.mark().in_use;
        let pending_bytes = edits.iter().map(Row::len).sum();
        let slot = Slot {
            handle: Some(handle),
            journal,
            pending_bytes,
            quick_to_open: true,
            unresolved: None,
            is_record_in_doubt: false,
        };
        let store = Self {
            read_only: opener.is_fixed(),
            opener,
            published: Mutex::new(Published { base: Some(base), edits, commits: 0 }),
            turn: Mutex::default(),
            group: Group::default(),
            slot: Mutex::new(slot),
            _lock: lock,
        };
        if has_crashed && !store.read_only {
            store.take_over_journal();
        }
        store
    }

    /// Commits what a journal held that was not closed. Where that fails, for want of room or
    /// whatever, the journal goes on holding it.
    fn take_over_journal(&self) {
        let mut slot = self.slot();
        let edits = self.published().edits.clone();
        if let Err(error) = self.commit(&mut slot, edits, true, true) {
            tracing::warn!(%error, "what the journal holds could not be moved to the store's file");
        }
    }

    /// Makes all writes durable and closes the file. Dropping does the same, but has nobody to tell
    /// of an error.
    ///
    /// # Errors
    /// As [`Store::flush`].
    pub fn close(self) -> Result<()> {
        self.flush_and_end()
    }

    /// Commits all there is and takes the journal away.
    fn flush_and_end(&self) -> Result<()> {
        if self.read_only { Ok(()) } else { self.flush_with(&mut self.slot(), true) }
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        // A closure that panicked left nothing half done: its edits join a batch only after it.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn published(&self) -> MutexGuard<'_, Published> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The published state, if the handle behind it is in order.
    pub(super) fn view(&self) -> Option<View> {
        let (base, Tip { edits, .. }) = self.settled()?;
        Some(View { base, edits })
    }

    /// The same, with the number of commits before the edits.
    pub(super) fn settled(&self) -> Option<(Arc<Base>, Tip)> {
        let published = self.published();
        let base = published.base.as_ref().filter(|base| !base.health.is_broken())?;
        Some((Arc::clone(base), published.tip()))
    }

    /// Sets what snapshots get from now on; `all_committed` if the base holds every edit.
    pub(super) fn publish(&self, slot: &mut Slot, base: Arc<Base>, all_committed: bool) {
        let mut published = self.published();
        let old_base = published.base.replace(base);
        let old_edits = all_committed.then(|| {
            slot.pending_bytes = 0;
            slot.journal.settled();
            published.commits += 1;
            mem::take(&mut published.edits)
        });
        drop(published);
        // Freeing them must not hold up a snapshot.
        drop((old_base, old_edits));
    }

    /// Writes `edits`, which hold all that is pending, to the file. So the journal is empty after
    /// it, and not used any more if this is the last commit of the handle.
    fn commit(
        &self,
        slot: &mut Slot,
        edits: Edits,
        quick_repair: bool,
        is_last: bool,
    ) -> Result<()> {
        // A read of the closure may have broken the handle; what the closure made of that is its
        // own affair.
        drop(self.mended_view(slot)?);
        let Some(handle) = &slot.handle else { return Err(closed()) };
        let mark = slot.journal.next_mark(&edits, is_last);
        match handle.apply(&edits, quick_repair, mark) {
            Ok(()) => {}
            Err(Failed::Before(error)) => {
                // If the handle is of no more use and the file does not open now, the next call
                // tries again.
                drop(self.mended_view(slot));
                return Err(error);
            }
            Err(Failed::InDoubt(error)) => {
                return self.settle(slot, Doubtful { edits, mark }, error);
            }
        }
        slot.quick_to_open = quick_repair;
        slot.journal.committed(mark.unwrap_or(slot.journal.mark()));
        if let Ok(base) = handle.base() {
            self.publish(slot, base, true);
        } else {
            // It is committed: the old base with all edits over it reads the same, until the file
            // is opened again.
            handle.health.mark_broken();
            self.published().edits = edits.clone();
            slot.unresolved = Some(Doubtful { edits, mark });
        }
        Ok(())
    }

    /// What a closure on `ground` reads, and the number of commits before the edits of that.
    fn view_over(&self, ground: &Ground) -> Result<(View, u64)> {
        // Taken after the edits that lie over it: of those it may hold more than they know, but
        // never lack one that they lack.
        let settled = self.settled();
        let (base, tip) = settled.map_or_else(|| self.mended(&mut self.slot()), Ok)?;
        let Tip { edits, commits } =
            ground.unsettled.as_ref().map_or(tip, |(unsettled, _)| unsettled.clone());
        Ok((View { base, edits }, commits))
    }

    /// What became of the batch with this ticket, once that is known. What an error says is told by
    /// who settled it.
    fn outcome(&self, ticket: &Ticket) -> Result<Outcome> {
        match self.group.wait(ticket) {
            Task::Go(outcome) => Ok(outcome),
            Task::Settle(batch, mut settling) => {
                let mut slot = self.slot();
                settling.begin();
                let settled = self.settle_batch(&mut slot, batch);
                let is_in_doubt = slot.unresolved.is_some() || slot.is_record_in_doubt;
                drop(slot);
                settling.end(settled, is_in_doubt, || self.published().tip())
            }
        }
    }

    /// Waits for all that other writers have made, while none of them makes more: whoever asks has
    /// the turn.
    fn wait_for_others(&self) {
        while let Some((_, ticket)) = self.group.ground().unsettled {
            // Those whose it is are told.
            drop(self.outcome(&ticket));
        }
    }

    /// Makes writes survive as they ask for it, and publishes them.
    fn settle_batch(&self, slot: &mut Slot, batch: Batch) -> Result<()> {
        let Batch { mut tip, keys, bytes, is_durable, .. } = batch;
        // Whether an earlier commit took place has to be known first: if it did, all that is
        // published by then counts as committed.
        let (base, published) = self.mended(slot)?;
        drop(base);
        if tip.commits != published.commits {
            tip = tip.laid_over(published, &keys);
        }
        let Tip { edits, .. } = tip;
        let pending_bytes = slot.pending_bytes + bytes;
        let fits = edits.size() <= MAX_PENDING_KEYS && pending_bytes <= MAX_PENDING_BYTES;
        if !is_durable && fits {
            if !keys.is_empty() {
                slot.journal.touch(keys, bytes);
                self.hold(slot, edits, pending_bytes);
            }
            return Ok(());
        }
        if keys.is_empty() && slot.journal.is_settled() {
            return Ok(());
        }
        match if fits { slot.journal.append(&edits, &keys, bytes) } else { Appended::Refused } {
            Appended::Done => {
                self.hold(slot, edits, pending_bytes);
                Ok(())
            }
            Appended::Refused => self.commit(slot, edits, false, false),
            Appended::Failed(error) => {
                tracing::warn!(%error, "the journal failed: writes are commits from now on");
                self.commit(slot, edits, false, false).map_err(|error| self.retract(slot, error))
            }
        }
    }

    /// Publishes `edits` to be held in memory.
    fn hold(&self, slot: &mut Slot, edits: Edits, pending_bytes: usize) {
        slot.pending_bytes = pending_bytes;
        let old = mem::replace(&mut self.published().edits, edits);
        drop(old);
    }

    /// Fills the pages of the file, which holds all writes. While this lasts the file is up to
    /// twice as long: where there is no room for that, pages stay as they are.
    fn rewrite(&self, slot: &mut Slot) -> Result<()> {
        let View { base, .. } = self.mended_view(slot)?;
        let Some(handle) = &slot.handle else { return Err(closed()) };
        match handle.rewrite(&base) {
            Ok(()) => self.publish(slot, handle.base()?, true),
            Err(error) if error.kind() == ErrorKind::NoSpace => drop(self.mended_view(slot)?),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Compacts the file, which holds all writes, while nobody reads: those who want to wait.
    fn compact_alone(&self, slot: &mut Slot) -> Result<()> {
        let mut published = self.published();
        let Some(mut base) = published.base.take() else { return Err(closed()) };
        let started = Instant::now();
        loop {
            match Arc::try_unwrap(base) {
                Ok(base) => break drop(base),
                Err(shared) if started.elapsed() > READER_PATIENCE => {
                    published.base = Some(shared);
                    return Err(Error::new(
                        ErrorKind::Storage,
                        "the store is being read: try again",
                    ));
                }
                Err(shared) => base = shared,
            }
            thread::sleep(Duration::from_millis(1));
        }
        slot.quick_to_open = false;
        let mut bytes = self.opener.bytes()?;
        for round in 0..MOST_COMPACTIONS {
            let Some(handle) = &mut slot.handle else { return Err(closed()) };
            if let Err(error) = handle.alone(compact_when_unread) {
                // Where there is no base the next call opens the file again.
                published.base = handle.base().ok();
                return if round == 0 { Err(error) } else { Ok(()) };
            }
            // redb stops at the first page from the end that finds no room of its size, mostly its
            // own account of its pages. As it closes it writes that anew, as far in front as it
            // can, and cuts off what is behind: so it is closed, opened, and asked again as long as
            // that helps.
            slot.handle = None;
            let Ok((handle, base)) = self.opened(slot) else { return Ok(()) };
            slot.handle = Some(handle);
            slot.quick_to_open = true;
            let before = mem::replace(&mut bytes, self.opener.bytes().unwrap_or_default());
            if bytes >= before || round + 1 == MOST_COMPACTIONS {
                published.base = Some(base);
                break;
            }
            drop(base);
        }
        Ok(())
    }

    fn flush_with(&self, slot: &mut Slot, is_last: bool) -> Result<()> {
        let View { edits, base } = self.mended_view(slot)?;
        drop(base);
        let leaves_journal = is_last && slot.journal.mark().in_use;
        if edits.is_empty() && slot.quick_to_open && !leaves_journal {
            return Ok(());
        }
        self.commit(slot, edits, true, is_last)
    }
}

/// Makes a store's file, closed properly.
pub(crate) fn create_store_file(path: &Path, options: &OpenOptions) -> Result<()> {
    create_file(path, options.cache_bytes)
}

impl Store for RedbStore {
    /// Waits for no closure: it copies what is published. If the file failed and a writer is busy
    /// with it, reads of the snapshot may report the error.
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
                    return Ok(Box::new(View {
                        base: Arc::clone(base),
                        edits: published.edits.clone(),
                    }));
                }
                drop(published);
                self.slot()
            }
        };
        Ok(Box::new(self.mended_view(&mut slot)?))
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        if self.read_only {
            return Err(read_only());
        }
        let mut is_alone = false;
        loop {
            let mut turn = Some(self.turn());
            if is_alone {
                self.wait_for_others();
            }
            let ground = self.group.ground();
            let (view, commits) = self.view_over(&ground)?;
            let mut draft = Draft::new(view);
            let refused = f(&mut draft).err();
            let Draft { view: View { base, edits }, bytes, keys, .. } = draft;
            drop(base);
            let ticket = if refused.is_some() {
                match &ground.unsettled {
                    // What it was refused for may not come to be: see below.
                    Some((_, ticket)) => Arc::clone(ticket),
                    None => return refused.map_or(Ok(()), Err),
                }
            } else {
                let made = Made { tip: Tip { edits, commits }, keys, bytes };
                let is_durable = options.durability == Durability::Durable;
                let Some(ticket) =
                    self.group.join(&ground, made, is_durable, || self.published().tip())
                else {
                    continue;
                };
                ticket
            };
            if !is_alone {
                turn = None;
            }
            let outcome = self.outcome(&ticket);
            drop(turn);
            match (outcome, refused) {
                (Ok(Outcome::Done), refused) => return refused.map_or(Ok(()), Err),
                (Ok(Outcome::Failed(error)), None) => return Err(copy(&error)),
                (Err(error), None) => return Err(error),
                (Ok(Outcome::Together), None) => is_alone = true,
                // What the closure read is not there.
                (Ok(Outcome::Groundless), _)
                | (Ok(Outcome::Failed(_) | Outcome::Together) | Err(_), Some(_)) => {}
            }
        }
    }

    fn flush(&self) -> Result<()> {
        if self.read_only {
            return Ok(());
        }
        self.flush_with(&mut self.slot(), false)
    }

    /// Needs the file to itself: new snapshots wait, and living ones are waited for, up to two
    /// seconds.
    fn compact(&self) -> Result<()> {
        if self.read_only {
            return Err(read_only());
        }
        let _turn = self.turn();
        self.wait_for_others();
        let mut slot = self.slot();
        // Without a journal: to say at the end that it is gone, a commit would make the file longer
        // again.
        self.flush_with(&mut slot, true)?;
        // Pages are moved as they are: those that are damaged must not get checksums that make them
        // right.
        if rewrite::is_worth_it(&self.mended_view(&mut slot)?, self.opener.bytes()?)? {
            // While somebody reads, no page can be freed, and the file would stay as long as both
            // are: this tells, before anything is written.
            self.compact_alone(&mut slot)?;
            self.rewrite(&mut slot)?;
        }
        self.compact_alone(&mut slot)
    }

    /// Readers go on meanwhile, and a store that is open for reading only can be verified too.
    fn verify(&self) -> Result<bool> {
        let _turn = self.turn();
        self.wait_for_others();
        let mut slot = self.slot();
        // Without anything to be flushed nothing is written: the file may be damaged.
        if !self.read_only && !self.mended_view(&mut slot)?.edits.is_empty() {
            match self.flush_with(&mut slot, false) {
                // What finds no room stays in memory, and in the journal: the file is verified as
                // it is.
                Err(error) if error.kind() == ErrorKind::NoSpace => {}
                flushed => flushed?,
            }
        }
        is_whole(self.opener.storage()?)
    }

    fn bytes(&self) -> Result<u64> {
        self.opener.bytes()
    }
}

impl Drop for RedbStore {
    fn drop(&mut self) {
        let flushed = catch_unwind(AssertUnwindSafe(|| self.flush_and_end()));
        if !matches!(flushed, Ok(Ok(()))) {
            tracing::error!(
                "relaxed writes were lost: the store could not be flushed when it was dropped"
            );
        }
    }
}
