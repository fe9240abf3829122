//! The search index of a space. Documents that have changed since its last update are dirty and are
//! searched in memory, so no write waits for the index and no search misses a write. Catching up
//! makes searches cheaper.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use leafbase_model::{Error, ErrorKind, Language, Result};
use leafbase_search::{
    Analyzer, Attributes, DocumentSubset, Index, IndexSnapshot, IndexWatermark, Languages,
    SearchDocument, SearchOverlay,
};
use leafbase_store::{SpaceSnapshot, SpaceStore};

use super::catch_up::CatchUpPace;
use super::dirty_documents::{self, DirtyDocuments, DirtyOverlay};
use super::index_home::{IndexGeneration, IndexHome, catch_index_panic};
use super::subset_cache::SubsetCache;
use super::update_lock::{UpdateGuard, UpdateLock};
use super::worker::{IndexWorker, WorkerTasks};
use crate::core::scope_roots::ScopeRoots;
use crate::core::tree::VisibleSnapshot;
use crate::core::visibility::Visibility;

mod update;

/// How long a call that has to change the index waits for another process that does.
const MAX_PROCESS_WAIT: Duration = Duration::from_secs(10);
const PROCESS_POLL: Duration = Duration::from_millis(10);
/// Dirty documents above which a search lets the index catch up first: analyzing them costs about
/// as much.
const MAX_DIRTY_DOCUMENTS: usize = 1_000;
/// Dirty documents from which the thread catches up without waiting for a pause.
const MANY_DIRTY_DOCUMENTS: usize = 500;

/// Who keeps the search index of a space up to date. Searches find every write in both modes; they
/// are cheaper for documents that the index contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SearchIndexing {
    /// A thread of the space, about a second after the last write, or during bulk writes. It starts
    /// with the first search or the first bulk write, and ends with the space.
    #[default]
    Background,
    /// [`Space::flush_search`](crate::Space::flush_search), imports of many documents, and searches
    /// that find many dirty documents. No thread outlives a call.
    OnDemand,
}

pub(crate) struct SearchIndexer {
    home: IndexHome,
    /// The ID of the space, and the languages that its texts are analyzed in.
    owner: String,
    languages: Languages,
    mode: SearchIndexing,
    /// Whether writes have to be made durable before an index may contain them.
    has_relaxed_writes: AtomicBool,
    state: Mutex<IndexerState>,
    /// Held while an index is updated or rebuilt. Taken before `state`.
    update_lock: UpdateLock,
    worker: IndexWorker,
    subsets: SubsetCache,
    /// A snapshot of an empty index, for scoped searches without an index.
    empty: OnceLock<Arc<IndexSnapshot>>,
}

#[derive(Default)]
struct IndexerState {
    current: Option<CurrentIndex>,
    dirty: DirtyDocuments,
    /// Whether the index on disk has failed and must not be opened again.
    invalidated: bool,
}

/// The index that searches read.
#[derive(Clone)]
struct CurrentIndex {
    generation: Arc<IndexGeneration>,
    snapshot: Arc<IndexSnapshot>,
}

/// A consistent view for one search: an index snapshot, the documents that are dirty in it, and a
/// snapshot of the space that both together describe.
pub(crate) struct SearchSnapshot {
    index: Arc<IndexSnapshot>,
    overlay: Arc<DirtyOverlay>,
    /// The visible part of the index; `None` for all of it.
    subset: Option<Arc<DocumentSubset>>,
    pub(crate) space: VisibleSnapshot,
}

/// The time in which this handle alone changes the index: among the threads of this process, and
/// among processes if they share it. Another process that has it is not waited for: until it ends,
/// this handle only reads the index.
struct IndexUpdate<'i> {
    indexer: &'i SearchIndexer,
    _guard: UpdateGuard<'i>,
}

impl<'i> IndexUpdate<'i> {
    fn begin(indexer: &'i SearchIndexer, guard: UpdateGuard<'i>) -> Self {
        indexer.home.begin_shared_write();
        Self { indexer, _guard: guard }
    }

    /// Waits for another process that changes the index.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] if that takes long.
    fn wait_for_processes(&self) -> Result<()> {
        let (home, until) = (&self.indexer.home, Instant::now() + MAX_PROCESS_WAIT);
        while home.is_written_elsewhere() {
            if Instant::now() >= until {
                let message = "another process is updating the search index: try again later";
                return Err(Error::new(ErrorKind::Storage, message));
            }
            thread::sleep(PROCESS_POLL);
            home.begin_shared_write();
        }
        Ok(())
    }
}

impl Drop for IndexUpdate<'_> {
    fn drop(&mut self) {
        if !self.indexer.home.is_shared() {
            return;
        }
        // Runs before the guard is dropped, so that no thread of this process gets in between.
        // The writer knows the commit that it has made last; the next one may be another process's.
        let current = self.indexer.state().current.clone();
        if let Some(current) = current {
            current.generation.index.release_writer();
        }
        self.indexer.home.end_shared_write();
    }
}

/// The outcome of taking a snapshot.
enum SnapshotAttempt {
    Ready(Box<SearchSnapshot>),
    NoIndex,
    TooManyDirty,
}

impl SearchSnapshot {
    /// Runs `search` on the index and the overlay, restricted to documents that pass `filter`. A
    /// panic of `search` is an error of the index.
    pub(crate) fn search<T>(
        &self,
        filter: &dyn Fn(&Attributes) -> bool,
        search: impl FnOnce(&IndexSnapshot, &SearchOverlay<'_>) -> Result<T>,
    ) -> Result<T> {
        let dirty: Vec<&SearchDocument> =
            self.overlay.documents.iter().map(AsRef::as_ref).collect();
        let (dirty_ids, subset) = (&self.overlay.ids, self.subset.as_deref());
        let overlay = SearchOverlay { dirty: &dirty, dirty_ids, filter, subset };
        catch_index_panic(|| search(&self.index, &overlay))
    }
}

impl IndexerState {
    fn is_current(&self, generation: &Arc<IndexGeneration>) -> bool {
        self.current.as_ref().is_some_and(|current| Arc::ptr_eq(&current.generation, generation))
    }

    /// Takes a store snapshot and reads the change log up to it. Returns `None`, and invalidates
    /// the index, if the snapshot does not continue what was read before.
    fn read_changes(&mut self, store: &SpaceStore) -> Result<Option<SpaceSnapshot>> {
        let snapshot = store.snapshot()?;
        let version = snapshot.version();
        if version.is_some() && self.dirty.read_version == version {
            return Ok(Some(snapshot));
        }
        snapshot.reader().prefetch_log(self.dirty.read_to().sequence());
        let last = snapshot.reader().last_sequence()?;
        match self.dirty.read_changes(snapshot.reader(), last) {
            Err(error) if matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::HistoryGone) => {
                self.invalidate(&error);
                Ok(None)
            }
            read => {
                read?;
                self.dirty.read_version = version;
                Ok(Some(snapshot))
            }
        }
    }

    fn invalidate(&mut self, error: &Error) {
        // A scoped call may cause this, and an error of the store may name hidden documents.
        let reason = if error.kind() == ErrorKind::Corrupted {
            "the space is corrupt"
        } else {
            error.message()
        };
        tracing::warn!(error = reason, "the search index is rebuilt");
        *self = Self { invalidated: true, ..Self::default() };
    }
}

impl SearchIndexer {
    pub(crate) fn new(
        home: IndexHome,
        space: &str,
        mode: SearchIndexing,
        languages: Vec<Language>,
    ) -> Self {
        let languages = Languages::new(languages);
        Self {
            home,
            // An index of other languages is rebuilt, like one of another space.
            owner: format!("{space} {}", languages.codes()),
            languages,
            mode,
            has_relaxed_writes: AtomicBool::new(false),
            state: Mutex::default(),
            update_lock: UpdateLock::default(),
            worker: IndexWorker::default(),
            subsets: SubsetCache::default(),
            empty: OnceLock::new(),
        }
    }

    /// The languages of the texts.
    pub(crate) const fn languages(&self) -> &Languages {
        &self.languages
    }

    fn state(&self) -> MutexGuard<'_, IndexerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for exclusive access to the index. The thread yields to the caller.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] in a progress callback of a call that has it.
    fn lock_update(&self) -> Result<IndexUpdate<'_>> {
        let guard = self.worker.yield_to(|| self.update_lock.lock())?;
        Ok(IndexUpdate::begin(self, guard))
    }

    /// Announces a write that a crash may undo. Before an index on disk contains it, it has to be
    /// made durable.
    pub(crate) fn will_relax(&self) {
        self.has_relaxed_writes.store(true, Ordering::SeqCst);
    }

    /// Runs `work` while the index neither reads nor writes the store.
    ///
    /// # Errors
    /// Those of `work`, and [`ErrorKind::Conflict`] in a progress callback of a call that updates
    /// the index.
    pub(crate) fn exclusive<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        // The thread yields until the work is done, not only until the lock is taken.
        self.worker.yield_to(|| {
            let _update = IndexUpdate::begin(self, self.update_lock.lock()?);
            work()
        })
    }

    /// Records a write that created `documents` documents.
    pub(crate) fn wrote(self: &Arc<Self>, store: &SpaceStore, documents: usize) {
        if self.worker.record_write(documents)
            && self.mode == SearchIndexing::Background
            && !self.home.is_read_only()
        {
            self.start_worker(store);
        }
    }

    fn start_worker(self: &Arc<Self>, store: &SpaceStore) {
        self.worker
            .start(|| Box::new(IndexerTasks { indexer: Arc::clone(self), store: store.clone() }));
    }

    /// Closes an index on disk if its path leads to another directory now: that of another space,
    /// which may have the same ID. The next index is kept in memory.
    fn leave_moved_directory(&self) {
        let mut state = self.state();
        let is_on_disk =
            state.current.as_ref().is_some_and(|current| current.generation.is_on_disk());
        if is_on_disk && self.home.is_moved() {
            tracing::warn!("the space was moved while it is open: its search index is in memory");
            *state = IndexerState::default();
        }
    }

    /// Ends the thread and closes the index.
    pub(crate) fn close(&self) {
        self.worker.stop();
        *self.state() = IndexerState::default();
    }

    /// Takes a snapshot for a search. Builds the index if there is none.
    pub(crate) fn snapshot(
        self: &Arc<Self>,
        store: &SpaceStore,
        visibility: &Visibility,
    ) -> Result<SearchSnapshot> {
        if self.mode == SearchIndexing::Background {
            self.start_worker(store);
        }
        if let Visibility::Roots(roots) = visibility {
            return self.scoped_snapshot(store, visibility, roots);
        }
        let mut max_dirty = MAX_DIRTY_DOCUMENTS;
        loop {
            match self.try_snapshot(store, max_dirty)? {
                SnapshotAttempt::Ready(snapshot) => return Ok(*snapshot),
                SnapshotAttempt::NoIndex => self.open_or_build(store)?,
                SnapshotAttempt::TooManyDirty => {
                    // If it fails, for lack of disk space, the overlay is searched all the same.
                    let _ = self.catch_up(store);
                    // Concurrent writes may add as many again: one attempt is enough.
                    max_dirty = usize::MAX;
                }
            }
        }
    }

    fn try_snapshot(&self, store: &SpaceStore, max_dirty: usize) -> Result<SnapshotAttempt> {
        // The index snapshot is taken before the store's, so the index never contains a write that
        // the store snapshot does not.
        let mut state = self.state();
        let Some(current) = state.current.clone() else { return Ok(SnapshotAttempt::NoIndex) };
        let Some(snapshot) = state.read_changes(store)? else {
            return Ok(SnapshotAttempt::NoIndex);
        };
        let dirty = state.dirty.len();
        if dirty > max_dirty {
            return Ok(SnapshotAttempt::TooManyDirty);
        }
        let overlay = state.dirty.overlay(snapshot.reader())?;
        drop(state);
        self.worker.record_dirty(dirty, dirty >= MANY_DIRTY_DOCUMENTS);
        Ok(SnapshotAttempt::Ready(Box::new(SearchSnapshot {
            index: current.snapshot,
            overlay,
            subset: None,
            space: VisibleSnapshot::new(snapshot, Visibility::All),
        })))
    }

    /// Like [`Self::snapshot`] for a scoped connection: the number of other dirty documents, and
    /// whether one of them is corrupt, must have no effect.
    fn scoped_snapshot(
        &self,
        store: &SpaceStore,
        visibility: &Visibility,
        roots: &Arc<ScopeRoots>,
    ) -> Result<SearchSnapshot> {
        let mut max_dirty = MAX_DIRTY_DOCUMENTS;
        loop {
            match self.try_scoped_snapshot(store, visibility, roots, max_dirty)? {
                SnapshotAttempt::Ready(snapshot) => return Ok(*snapshot),
                SnapshotAttempt::NoIndex => {
                    if self.open_or_build(store).is_err() {
                        return self.snapshot_without_index(store, visibility, roots);
                    }
                }
                SnapshotAttempt::TooManyDirty => {
                    // As in `snapshot`, a failure leaves more to search in the overlay.
                    let _ = self.catch_up(store);
                    max_dirty = usize::MAX;
                }
            }
        }
    }

    fn try_scoped_snapshot(
        &self,
        store: &SpaceStore,
        visibility: &Visibility,
        roots: &Arc<ScopeRoots>,
        max_dirty: usize,
    ) -> Result<SnapshotAttempt> {
        let mut state = self.state();
        let Some(current) = state.current.clone() else { return Ok(SnapshotAttempt::NoIndex) };
        let Some(snapshot) = state.read_changes(store)? else {
            return Ok(SnapshotAttempt::NoIndex);
        };
        let (dirty, in_scope) = (state.dirty.len(), state.dirty.intersection(&roots.documents));
        if in_scope.len() > max_dirty {
            return Ok(SnapshotAttempt::TooManyDirty);
        }
        let overlay = state.dirty.overlay_of(snapshot.reader(), &in_scope)?;
        drop(state);
        self.worker.record_dirty(dirty, dirty >= MANY_DIRTY_DOCUMENTS);
        let subset = self.subsets.get(&current.snapshot, visibility, roots)?;
        let space = VisibleSnapshot::new(snapshot, visibility.clone());
        let overlay = overlay.visible(visibility).with_pages(&space, roots, &self.languages)?;
        Ok(SnapshotAttempt::Ready(Box::new(SearchSnapshot {
            index: current.snapshot,
            overlay: Arc::new(overlay),
            subset: Some(subset),
            space,
        })))
    }

    /// Analyzes all documents of a scope. The index could not be built, possibly because of a
    /// corrupt document outside the scope.
    fn snapshot_without_index(
        &self,
        store: &SpaceStore,
        visibility: &Visibility,
        roots: &ScopeRoots,
    ) -> Result<SearchSnapshot> {
        let index = if let Some(index) = self.empty.get() {
            index
        } else {
            let index = Index::in_memory(&self.owner)?.snapshot()?;
            self.empty.get_or_init(|| index)
        };
        let snapshot = store.snapshot()?;
        let mut overlay = DirtyOverlay::default();
        let mut analyzer = Analyzer::new(self.languages.clone());
        for document in &roots.documents {
            let found = dirty_documents::read(snapshot.reader(), *document, &mut analyzer)?;
            overlay.documents.extend(found);
        }
        let space = VisibleSnapshot::new(snapshot, visibility.clone());
        Ok(SearchSnapshot {
            index: Arc::clone(index),
            overlay: Arc::new(overlay.visible(visibility).with_pages(
                &space,
                roots,
                &self.languages,
            )?),
            subset: Some(Arc::default()),
            space,
        })
    }

    /// The current index, if it is on disk, and the documents that were dirty when it was last
    /// read.
    pub(super) fn current_on_disk(&self) -> Option<(Arc<IndexSnapshot>, DirtyDocuments)> {
        let state = self.state();
        let current = state.current.as_ref()?;
        let is_on_disk = current.generation.is_on_disk();
        is_on_disk.then(|| (Arc::clone(&current.snapshot), state.dirty.unread_copy()))
    }

    /// The index on disk with its watermark, without making it the current one.
    pub(super) fn stored_index(&self) -> Option<(Arc<IndexSnapshot>, IndexWatermark)> {
        let IndexGeneration { index, .. } = &self.home.open_newest(&self.owner)?;
        let (watermark, snapshot) = self.read_index(index).ok()?;
        Some((snapshot, watermark?))
    }

    /// The number of documents that are dirty in the index; `None` if there is none.
    pub(crate) fn unindexed(&self, store: &SpaceStore) -> Result<Option<u64>> {
        let mut state = self.state();
        if state.current.is_some() {
            let read = state.read_changes(store)?;
            return Ok(read.map(|_| state.dirty.len() as u64));
        }
        drop(state);
        let Some((_, watermark)) = self.stored_index() else { return Ok(None) };
        let space = store.snapshot()?;
        let Some(position) = Self::indexed_position(space.reader(), watermark)? else {
            return Ok(None);
        };
        let mut dirty = DirtyDocuments::after(position);
        dirty.read_changes(space.reader(), space.reader().last_sequence()?)?;
        Ok(Some(dirty.len() as u64))
    }

    /// Invalidates the index of a snapshot whose search failed, unless it was replaced since.
    pub(crate) fn invalidate(&self, snapshot: &SearchSnapshot, error: &Error) {
        let mut state = self.state();
        let current = state.current.as_ref();
        if current.is_some_and(|current| Arc::ptr_eq(&current.snapshot, &snapshot.index)) {
            state.invalidate(error);
        }
    }
}

/// The work of the indexer's thread.
struct IndexerTasks {
    indexer: Arc<SearchIndexer>,
    store: SpaceStore,
}

impl WorkerTasks for IndexerTasks {
    fn try_catch_up(&self, pace: &dyn CatchUpPace) -> Result<bool> {
        self.indexer.try_catch_up(&self.store, pace)
    }

    fn try_merge(&self) {
        self.indexer.try_merge();
    }

    fn release_writer(&self) {
        let current = self.indexer.state().current.clone();
        if let Some(current) = current {
            current.generation.index.release_writer();
        }
    }
}
