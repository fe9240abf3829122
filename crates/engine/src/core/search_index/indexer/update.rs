//! Builds, updates and merges the index.

use std::cell::RefCell;
use std::iter;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use leafbase_model::{ChangePosition, DocumentId, Error, ErrorKind, Result};
use leafbase_search::{Index, IndexSnapshot, IndexWatermark, SearchDocument};
use leafbase_store::{SpaceReader, SpaceStore};

use super::{CurrentIndex, IndexUpdate, IndexerState, SearchIndexer, SearchIndexing};
use crate::core::progress::Progress;
use crate::core::search_index::catch_up::{
    CatchUpPace, CatchUpSource, DocumentRecords, SinglePass,
};
use crate::core::search_index::dirty_documents::{self, DirtyDocuments};
use crate::core::search_index::index_home::{IndexGeneration, catch_index_panic};

#[cfg(test)]
mod tests;

/// Documents up to which an index in memory is not built at once: opening tantivy's writer costs
/// more than analyzing them.
const MAX_UNINDEXED_DOCUMENTS: usize = 64;

/// Segments above which an update merges them, even if the thread could do it later.
const MAX_SEGMENTS: usize = 32;

/// The cause of a failed update.
enum UpdateFailure {
    /// The index failed: it is rebuilt.
    Index(Error),
    /// The space could not be read, or the update was canceled: the index is unchanged.
    Space(Error),
}

impl From<Error> for UpdateFailure {
    fn from(error: Error) -> Self {
        Self::Space(error)
    }
}

impl From<UpdateFailure> for Error {
    fn from((UpdateFailure::Index(error) | UpdateFailure::Space(error)): UpdateFailure) -> Self {
        error
    }
}

impl SearchIndexer {
    /// Opens the index on disk, or builds one.
    pub(super) fn open_or_build(&self, store: &SpaceStore) -> Result<()> {
        let lock = self.lock_update()?;
        self.open_or_build_locked(store, &lock, &SinglePass)
    }

    fn open_or_build_locked(
        &self,
        store: &SpaceStore,
        lock: &IndexUpdate<'_>,
        pace: &dyn CatchUpPace,
    ) -> Result<()> {
        let is_valid = {
            let state = self.state();
            // Another thread may have built it before this one got the lock.
            if state.current.is_some() {
                return Ok(());
            }
            !state.invalidated
        };
        if is_valid && self.open(store)? || self.start_empty(store)? {
            return Ok(());
        }
        self.build(store, lock, &mut |_| ControlFlow::Continue(()), pace)
    }

    /// Opens the index on disk, if it is intact and of the history that the store has.
    fn open(&self, store: &SpaceStore) -> Result<bool> {
        let Some(generation) = self.home.open_newest(&self.owner) else { return Ok(false) };
        let Ok((Some(watermark), snapshot)) = self.read_index(&generation.index) else {
            return Ok(false);
        };
        let space = store.snapshot()?;
        let Some(position) = Self::indexed_position(space.reader(), watermark)? else {
            tracing::info!("the search index is of another history of the space: it is rebuilt");
            return Ok(false);
        };
        // One of another process may be behind what was indexed here: no document counts as clean.
        self.state().current = None;
        self.publish(generation, snapshot, DirtyDocuments::after(position));
        Ok(true)
    }

    /// The last commit of an index, and a watermark up to which that is complete.
    pub(super) fn read_index(
        &self,
        index: &Index,
    ) -> Result<(Option<IndexWatermark>, Arc<IndexSnapshot>)> {
        catch_index_panic(|| {
            let watermark = index.watermark()?;
            // Another process may have committed before the watermark was read, and after the index
            // was opened.
            if self.home.is_shared() {
                index.refresh()?;
            }
            Ok((watermark, index.snapshot()?))
        })
    }

    /// Takes over what another process has done to an index that is shared. A failure leaves the
    /// present index, which goes on being right.
    fn follow_shared(&self, store: &SpaceStore) -> Result<()> {
        let Some(current) = self.state().current.clone() else { return Ok(()) };
        let newest = self.home.newest();
        if newest != current.generation.number() {
            // Its first generation, or one that replaces a damaged one.
            return if newest.is_some() { self.open(store).map(drop) } else { Ok(()) };
        }
        let Ok((Some(watermark), snapshot)) = self.read_index(&current.generation.index) else {
            return Ok(());
        };
        let space = store.snapshot()?;
        let Some(position) = Self::indexed_position(space.reader(), watermark)? else {
            return Ok(());
        };
        let mut state = self.state();
        if state.is_current(&current.generation) {
            state.current = Some(CurrentIndex { snapshot, ..current });
            state.dirty.mark_indexed_to(position);
        }
        Ok(())
    }

    /// Starts with an empty index in memory, where all documents are dirty, if there are few.
    fn start_empty(&self, store: &SpaceStore) -> Result<bool> {
        if self.home.is_persistent() {
            return Ok(false);
        }
        let snapshot = store.snapshot()?;
        let mut records = DocumentRecords::default();
        let few = iter::from_fn(|| records.next(snapshot.reader()).transpose());
        let few =
            few.take(MAX_UNINDEXED_DOCUMENTS + 1).map(|record| record.map(|record| record.id));
        let few = few.collect::<Result<Vec<_>>>()?;
        if few.len() > MAX_UNINDEXED_DOCUMENTS {
            return Ok(false);
        }
        let generation = IndexGeneration::in_memory(&self.owner)?;
        let index = generation.index.snapshot()?;
        let dirty = DirtyDocuments::of(few, dirty_documents::end_of_log(snapshot.reader())?);
        self.publish(generation, index, dirty);
        Ok(true)
    }

    /// Makes an index the current one. `dirty` has the documents that it lacks.
    fn publish(
        &self,
        generation: IndexGeneration,
        snapshot: Arc<IndexSnapshot>,
        dirty: DirtyDocuments,
    ) {
        self.home.retain(&generation);
        let mut state = self.state();
        debug_assert!(
            self.update_lock.try_lock().is_none(),
            "an index is published under the update lock"
        );
        if state.current.is_some() {
            // Searches have gone on during the rebuild: the documents that they analyzed stay.
            state.dirty.mark_indexed_to(dirty.read_to());
        } else {
            state.dirty = dirty.in_languages(&self.languages);
        }
        state.current = Some(CurrentIndex { generation: Arc::new(generation), snapshot });
        state.invalidated = false;
    }

    /// Rebuilds the index. Searches read the old one meanwhile.
    pub(crate) fn rebuild(
        &self,
        store: &SpaceStore,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<()> {
        let lock = self.lock_update()?;
        lock.wait_for_processes()?;
        self.build(store, &lock, progress, &SinglePass)
    }

    fn build(
        &self,
        store: &SpaceStore,
        _lock: &IndexUpdate<'_>,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
        pace: &dyn CatchUpPace,
    ) -> Result<()> {
        let mut generation = self.home.create_next(&self.owner)?;
        loop {
            match self.fill(store, &generation, progress, pace) {
                Ok((snapshot, source)) => {
                    let dirty = DirtyDocuments::after(source.complete_to());
                    self.publish(generation, snapshot, dirty);
                    // The thread merges its segments.
                    self.worker.request_turn();
                    return self.mark_indexed(store, &source).map(drop);
                }
                Err(UpdateFailure::Index(error)) if generation.is_on_disk() => {
                    tracing::warn!(%error, "the search index is kept in memory");
                    self.home.discard(generation);
                    generation = IndexGeneration::in_memory(&self.owner)?;
                }
                Err(failure) => {
                    self.home.discard(generation);
                    return Err(failure.into());
                }
            }
        }
    }

    /// Indexes all documents of the space.
    fn fill(
        &self,
        store: &SpaceStore,
        generation: &IndexGeneration,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
        pace: &dyn CatchUpPace,
    ) -> Result<(Arc<IndexSnapshot>, CatchUpSource), UpdateFailure> {
        if !pace.expects_more() {
            // Without space for this now there is none at the end either.
            self.make_durable(store, generation).map_err(UpdateFailure::Index)?;
        }
        let source = RefCell::new(CatchUpSource::all(store.snapshot()?, &self.languages)?);
        let mut done = 0;
        let mut documents = iter::from_fn(|| {
            let found = source.borrow_mut().next(store, pace)?;
            done += 1;
            let is_cancelled = found.is_ok() && progress(Progress::new(done, None)).is_break();
            Some(if is_cancelled {
                let message = "the rebuild of the search index was canceled";
                Err(Error::new(ErrorKind::Canceled, message))
            } else {
                found
            })
        });
        let mut is_durable = true;
        let mut end = || {
            let watermark = source.borrow().watermark();
            let made_durable = self.make_durable(store, generation);
            is_durable = made_durable.is_ok();
            made_durable.map(|()| (Vec::new(), watermark))
        };
        match self.update(&generation.index, &mut documents, &mut end) {
            Ok(snapshot) => Ok((snapshot, source.into_inner())),
            // An index in memory needs no durable writes, so the build is retried there.
            Err(UpdateFailure::Space(error)) if !is_durable => Err(UpdateFailure::Index(error)),
            Err(failure) => Err(failure),
        }
    }

    /// Adds `documents` to an index. `end` returns the documents to delete and the watermark.
    fn update(
        &self,
        index: &Index,
        documents: &mut dyn Iterator<Item = Result<SearchDocument>>,
        end: &mut dyn FnMut() -> Result<(Vec<DocumentId>, IndexWatermark)>,
    ) -> Result<Arc<IndexSnapshot>, UpdateFailure> {
        // The index returns errors of the space unchanged. They are kept aside to tell them from
        // its own.
        let space_error = RefCell::new(None);
        let keep_error = |error: Error| {
            *space_error.borrow_mut() = Some(error.clone());
            error
        };
        let mut documents = documents.map(|document| document.map_err(keep_error));
        let outcome = catch_index_panic(|| {
            index.update_with(&mut documents, &mut || end().map_err(keep_error))?;
            // Where the thread can merge later, nobody has to wait for it now.
            if self.mode == SearchIndexing::OnDemand || index.segments()? > MAX_SEGMENTS {
                index.merge()?;
            }
            index.snapshot()
        });
        self.release_on_demand(index);
        match space_error.into_inner() {
            Some(error) => Err(UpdateFailure::Space(error)),
            None => outcome.map_err(UpdateFailure::Index),
        }
    }

    /// Ends the writer's threads where no thread may outlive a call.
    fn release_on_demand(&self, index: &Index) {
        if self.mode == SearchIndexing::OnDemand {
            index.release_writer();
        }
    }

    /// Makes all writes durable: an index on disk must not contain writes that a loss of power may
    /// undo, or searches would find them afterwards.
    fn make_durable(&self, store: &SpaceStore, generation: &IndexGeneration) -> Result<()> {
        if self.has_relaxed_writes.load(Ordering::SeqCst) && generation.is_on_disk() {
            store.make_durable()
        } else {
            Ok(())
        }
    }

    /// Indexes the dirty documents. Builds the index if there is none, or if it fails.
    pub(crate) fn catch_up(&self, store: &SpaceStore) -> Result<()> {
        let lock = self.lock_update()?;
        self.catch_up_locked(store, &lock, &SinglePass).map(drop)
    }

    /// Like [`Self::catch_up`] at a given pace, unless another thread updates the index. Returns
    /// whether the index is complete.
    pub(in crate::core::search_index) fn try_catch_up(
        &self,
        store: &SpaceStore,
        pace: &dyn CatchUpPace,
    ) -> Result<bool> {
        self.update_lock
            .try_lock()
            .map(|guard| IndexUpdate::begin(self, guard))
            .map_or(Ok(true), |lock| self.catch_up_locked(store, &lock, pace))
    }

    /// Merges segments, unless another thread updates the index.
    pub(in crate::core::search_index) fn try_merge(&self) {
        let Some(guard) = self.update_lock.try_lock() else { return };
        let lock = IndexUpdate::begin(self, guard);
        let current = self.state().current.clone();
        if let Some(current) = current {
            self.merge(&lock, current);
        }
    }

    fn merge(&self, _lock: &IndexUpdate<'_>, current: CurrentIndex) {
        if current.generation.is_on_disk() && !self.home.is_persistent() {
            return;
        }
        let index = &current.generation.index;
        let merged = catch_index_panic(|| {
            index.merge()?;
            index.snapshot()
        });
        self.release_on_demand(index);
        let mut state = self.state();
        match merged {
            Ok(snapshot) if state.is_current(&current.generation) => {
                state.current = Some(CurrentIndex { snapshot, ..current });
            }
            Ok(_) => {}
            // Mostly for lack of disk space. The index is unchanged.
            Err(error) => tracing::warn!(%error, "segments of the search index were not merged"),
        }
    }

    /// Catches up and rewrites the segments with deleted documents, so that no file of the index
    /// has their terms. An index for which that fails is removed: the next search builds another.
    ///
    /// # Errors
    /// As [`Self::lock_update`].
    pub(crate) fn erase_deleted(&self, store: &SpaceStore) -> Result<()> {
        let lock = self.lock_update()?;
        lock.wait_for_processes()?;
        if !self.home.is_persistent() {
            return Ok(());
        }
        match self.rewrite_deleted(store, &lock) {
            // Compaction reports damage of the space itself.
            Err(error) if error.kind() != ErrorKind::Corrupted => {
                // Mostly for lack of disk space, which the removal gives back.
                tracing::warn!(%error, "the search index is removed");
                *self.state() = IndexerState::default();
                self.home.clear();
            }
            _ => {}
        }
        Ok(())
    }

    fn rewrite_deleted(&self, store: &SpaceStore, lock: &IndexUpdate<'_>) -> Result<()> {
        let is_open = {
            let state = self.state();
            state.current.is_some() || state.invalidated
        };
        if !is_open && !self.open(store)? {
            self.home.clear();
            return Ok(());
        }
        self.catch_up_locked(store, lock, &SinglePass)?;
        let Some(current) = self.state().current.clone() else { return Ok(()) };
        let CurrentIndex { generation, snapshot } = current;
        drop(snapshot);
        let rewritten = catch_index_panic(|| {
            generation.index.merge_deleted()?;
            generation.index.snapshot()
        });
        let outcome = rewritten.and_then(|snapshot| {
            // The old snapshot holds the files of the old segments.
            self.state().current =
                Some(CurrentIndex { generation: Arc::clone(&generation), snapshot });
            catch_index_panic(|| generation.index.remove_unused_files())
        });
        self.release_on_demand(&generation.index);
        outcome
    }

    fn catch_up_locked(
        &self,
        store: &SpaceStore,
        lock: &IndexUpdate<'_>,
        pace: &dyn CatchUpPace,
    ) -> Result<bool> {
        self.leave_moved_directory();
        if self.home.is_shared() {
            self.follow_shared(store)?;
        }
        let mut due = self.dirty_source(store)?;
        if due.is_none() {
            self.open_or_build_locked(store, lock, pace)?;
            due = self.dirty_source(store)?;
        }
        let Some((current, source)) = due else { return Ok(true) };
        if source.is_empty() && self.mode == SearchIndexing::OnDemand {
            self.merge(lock, current);
            return Ok(true);
        }
        let is_written_elsewhere = current.generation.is_on_disk() && !self.home.is_persistent();
        if self.home.is_read_only() || is_written_elsewhere || source.is_empty() {
            return Ok(true);
        }
        if !pace.expects_more() {
            self.make_durable(store, &current.generation)?;
        }
        let (source, mut reached) = (RefCell::new(source), ChangePosition::BEGINNING);
        let mut documents = iter::from_fn(|| source.borrow_mut().next(store, pace));
        let mut end = || {
            self.make_durable(store, &current.generation)?;
            let source = source.borrow();
            reached = source.complete_to();
            Ok((source.indexed().keys().copied().collect(), source.watermark()))
        };
        match self.update(&current.generation.index, &mut documents, &mut end) {
            Ok(snapshot) => {
                let mut state = self.state();
                if state.is_current(&current.generation) {
                    state.current = Some(CurrentIndex { snapshot, ..current });
                    state.dirty.mark_indexed_to(reached);
                }
                drop(state);
                self.mark_indexed(store, &source.into_inner())
            }
            Err(UpdateFailure::Space(error)) => Err(error),
            Err(UpdateFailure::Index(error)) => {
                self.state().invalidate(&error);
                self.open_or_build_locked(store, lock, pace).map(|()| true)
            }
        }
    }

    /// Marks the documents of an update clean that are still current. If some were written again
    /// during it, the index's sequence stays below theirs, although it contains most of the later
    /// writes. Returns whether it contains all.
    fn mark_indexed(&self, store: &SpaceStore, source: &CatchUpSource) -> Result<bool> {
        if !source.is_complete() {
            let mut state = self.state();
            if state.current.is_some() && state.read_changes(store)?.is_some() {
                state.dirty.mark_indexed(source.indexed());
            }
        }
        Ok(source.is_complete())
    }

    /// The current index, and the documents that are dirty in it.
    fn dirty_source(&self, store: &SpaceStore) -> Result<Option<(CurrentIndex, CatchUpSource)>> {
        let mut state = self.state();
        let Some(current) = state.current.clone() else { return Ok(None) };
        let Some(snapshot) = state.read_changes(store)? else { return Ok(None) };
        let source = CatchUpSource::of(state.dirty.documents(), snapshot, &self.languages)?;
        Ok(Some((current, source)))
    }

    /// The position up to which an index with this watermark contains all changes; `None` if it
    /// contains changes that the store does not have.
    pub(in crate::core::search_index) fn indexed_position(
        reader: SpaceReader<'_>,
        watermark: IndexWatermark,
    ) -> Result<Option<ChangePosition>> {
        let IndexWatermark { sequence, newest } = watermark;
        // Without a token only the beginning can be trusted: nothing was indexed there.
        if newest.token().is_none() && newest != ChangePosition::BEGINNING
            || sequence > newest.sequence()
        {
            return Ok(None);
        }
        let position = reader.check_position(newest).and_then(|()| reader.position_at(sequence));
        match position {
            Err(error) if matches!(error.kind(), ErrorKind::HistoryGone | ErrorKind::Corrupted) => {
                Ok(None)
            }
            position => position.map(Some),
        }
    }
}
