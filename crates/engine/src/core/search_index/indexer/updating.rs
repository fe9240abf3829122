//! How an index is made, brought up to date, and tidied up.

use std::cell::RefCell;
use std::iter;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, TryLockError};

use leafbase_model::{DocumentId, Error, ErrorKind, Result};
use leafbase_search::{Index, IndexSnapshot, SearchDocument};
use leafbase_store::SpaceStore;

use super::{Current, Indexer, SearchIndexing};
use crate::core::progress::Progress;
use crate::core::search_index::catching::{AtOnce, Catching, Pace, Records};
use crate::core::search_index::generations::{Generation, guarded};
use crate::core::search_index::recent::Recent;

#[cfg(test)]
mod tests;

/// Of no more documents an index in memory is not made before it has to be: what tantivy sets up
/// for one costs more than to make them ready.
const FEW: usize = 64;

/// An index of more segments is tidied up by whoever writes to it, even where there is a thread for
/// that.
const MOST_SEGMENTS: usize = 32;

/// What went wrong while an index was made or changed.
enum Fault {
    Index(Error),
    /// The space could not be read, or was told to stop.
    Space(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Space(error)
    }
}

impl From<Fault> for Error {
    fn from((Fault::Index(error) | Fault::Space(error)): Fault) -> Self {
        error
    }
}

impl Indexer {
    /// Opens the index that there is, or makes one.
    pub(super) fn begin(&self, store: &SpaceStore) -> Result<()> {
        let alone = self.alone();
        self.begin_alone(store, &alone, &AtOnce)
    }

    fn begin_alone(
        &self,
        store: &SpaceStore,
        alone: &MutexGuard<'_, ()>,
        pace: &dyn Pace,
    ) -> Result<()> {
        let is_trusted = {
            let state = self.state();
            if state.current.is_some() {
                return Ok(());
            }
            !state.distrusted
        };
        if is_trusted && self.open(store)? || self.begin_empty(store)? {
            return Ok(());
        }
        self.make(store, alone, &mut |_| ControlFlow::Continue(()), pace)
    }

    /// Opens the index in the directory, if it is whole and knows of no write that the store does
    /// not.
    fn open(&self, store: &SpaceStore) -> Result<bool> {
        let Some(generation) = self.home.newest(&self.owner) else { return Ok(false) };
        let opened = guarded(|| Ok((generation.index.sequence()?, generation.index.snapshot()?)));
        let Ok((Some(sequence), view)) = opened else { return Ok(false) };
        if sequence > store.snapshot()?.reader().last_sequence()? {
            return Ok(false);
        }
        self.publish(generation, view, Recent::after(sequence));
        Ok(true)
    }

    /// Where an index would be kept in memory, and there are few documents: begins with one of
    /// nothing, beside which all of them are searched.
    fn begin_empty(&self, store: &SpaceStore) -> Result<bool> {
        if self.home.is_written() {
            return Ok(false);
        }
        let snapshot = store.snapshot()?;
        let mut records = Records::default();
        let few = iter::from_fn(|| records.next(snapshot.reader()).transpose()).take(FEW + 1);
        let few = few.map(|record| record.map(|record| record.id)).collect::<Result<Vec<_>>>()?;
        if few.len() > FEW {
            return Ok(false);
        }
        let generation = Generation::in_memory(&self.owner)?;
        let view = generation.index.snapshot()?;
        self.publish(generation, view, Recent::of(few, snapshot.reader().last_sequence()?));
        Ok(true)
    }

    /// From now on this index is searched; `recent` is what was changed since, as far as is known.
    fn publish(&self, generation: Generation, view: Arc<IndexSnapshot>, recent: Recent) {
        self.home.sweep(&generation);
        let mut state = self.state();
        if state.current.is_some() {
            state.recent.forget(recent.read_to());
        } else {
            state.recent = recent;
        }
        state.current = Some(Current { generation: Arc::new(generation), view });
        state.distrusted = false;
    }

    /// Makes an index of the space as it is. What there is before is searched meanwhile.
    pub(crate) fn remake(
        &self,
        store: &SpaceStore,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<()> {
        let alone = self.alone();
        self.make(store, &alone, progress, &AtOnce)
    }

    fn make(
        &self,
        store: &SpaceStore,
        _: &MutexGuard<'_, ()>,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
        pace: &dyn Pace,
    ) -> Result<()> {
        let mut generation = self.home.begin(&self.owner)?;
        loop {
            match self.fill(store, &generation, progress, pace) {
                Ok((view, catching)) => {
                    self.publish(generation, view, Recent::after(catching.sequence()));
                    // The thread has its segments to put together.
                    self.worker.has_left_some();
                    return self.settle(store, &catching).map(drop);
                }
                Err(Fault::Index(error)) if generation.is_on_disk() => {
                    tracing::warn!(%error, "the search index is kept in memory");
                    self.home.give_up(generation);
                    generation = Generation::in_memory(&self.owner)?;
                }
                Err(fault) => {
                    self.home.give_up(generation);
                    return Err(fault.into());
                }
            }
        }
    }

    /// Puts the whole space into an empty index.
    fn fill(
        &self,
        store: &SpaceStore,
        generation: &Generation,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
        pace: &dyn Pace,
    ) -> Result<(Arc<IndexSnapshot>, Catching), Fault> {
        if !pace.goes_on() {
            // What finds no room now finds none at the end.
            self.make_durable(store, generation).map_err(Fault::Index)?;
        }
        let (catching, mut done) = (RefCell::new(Catching::all(store.snapshot()?)?), 0);
        let mut documents = iter::from_fn(|| {
            let found = catching.borrow_mut().next(store, pace)?;
            done += 1;
            let is_over = found.is_ok() && progress(Progress::new(done, None)).is_break();
            Some(if is_over {
                Err(Error::new(ErrorKind::Canceled, "the search index was not made anew"))
            } else {
                found
            })
        });
        let mut is_durable = true;
        let mut end = || {
            let reached = catching.borrow().sequence();
            let made_durable = self.make_durable(store, generation);
            is_durable = made_durable.is_ok();
            made_durable.map(|()| (Vec::new(), reached))
        };
        match self.update(&generation.index, &mut documents, &mut end) {
            Ok(view) => Ok((view, catching.into_inner())),
            // Where there is no room for that, an index in memory needs none.
            Err(Fault::Space(error)) if !is_durable => Err(Fault::Index(error)),
            Err(fault) => Err(fault),
        }
    }

    /// Puts `documents` into an index, and takes those out that `end` says, which also says up to
    /// which write that goes.
    fn update(
        &self,
        index: &Index,
        documents: &mut dyn Iterator<Item = Result<SearchDocument>>,
        end: &mut dyn FnMut() -> Result<(Vec<DocumentId>, u64)>,
    ) -> Result<Arc<IndexSnapshot>, Fault> {
        let failed = RefCell::new(None);
        let of_space = |error: Error| {
            let told = Error::new(error.kind(), "the space cannot be read");
            *failed.borrow_mut() = Some(error);
            told
        };
        let mut told = documents.map(|document| document.map_err(of_space));
        let outcome = guarded(|| {
            index.update_with(&mut told, &mut || end().map_err(of_space))?;
            // Who waits for what was written to be in the index need not wait for that, too, where
            // the thread does it afterwards.
            if self.mode == SearchIndexing::OnDemand || index.segments()? > MOST_SEGMENTS {
                index.merge()?;
            }
            index.snapshot()
        });
        if self.mode == SearchIndexing::OnDemand {
            index.release_writer();
        }
        match failed.into_inner() {
            Some(error) => Err(Fault::Space(error)),
            None => outcome.map_err(Fault::Index),
        }
    }

    /// Lets what was written survive the loss of power: an index on disk that knew of lost writes
    /// would tell of them for ever.
    fn make_durable(&self, store: &SpaceStore, generation: &Generation) -> Result<()> {
        if self.flushes.load(Ordering::SeqCst) && generation.is_on_disk() {
            store.make_durable()
        } else {
            Ok(())
        }
    }

    /// Puts what was changed since into the index; makes one if there is none, or it fails.
    pub(crate) fn catch_up(&self, store: &SpaceStore) -> Result<()> {
        let alone = self.alone();
        self.catch_up_alone(store, &alone, &AtOnce).map(drop)
    }

    /// The same, unless somebody else is at it, as long as `pace` has it. Says whether nothing is
    /// left to do.
    pub(in crate::core::search_index) fn try_catch_up(
        &self,
        store: &SpaceStore,
        pace: &dyn Pace,
    ) -> Result<bool> {
        self.try_alone().map_or(Ok(true), |alone| self.catch_up_alone(store, &alone, pace))
    }

    /// None if somebody else changes the index.
    fn try_alone(&self) -> Option<MutexGuard<'_, ()>> {
        match self.updating.try_lock() {
            Ok(alone) => Some(alone),
            Err(TryLockError::Poisoned(alone)) => Some(alone.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Puts segments of the index together where there are many, unless somebody else is at it.
    pub(in crate::core::search_index) fn try_tidy(&self) {
        let Some(alone) = self.try_alone() else { return };
        let current = self.state().current.clone();
        if let Some(current) = current {
            self.tidy(&alone, current);
        }
    }

    fn tidy(&self, _: &MutexGuard<'_, ()>, current: Current) {
        if self.home.is_read_only() && current.generation.is_on_disk() {
            return;
        }
        let index = &current.generation.index;
        let tidied = guarded(|| {
            index.merge()?;
            index.snapshot()
        });
        if self.mode == SearchIndexing::OnDemand {
            index.release_writer();
        }
        let mut state = self.state();
        match tidied {
            Ok(view) if state.is_of(&current.generation) => {
                state.current = Some(Current { view, ..current })
            }
            Ok(_) => {}
            // For want of room, mostly: the index is as it was.
            Err(error) => tracing::warn!(%error, "segments of the search index stay apart"),
        }
    }

    fn catch_up_alone(
        &self,
        store: &SpaceStore,
        alone: &MutexGuard<'_, ()>,
        pace: &dyn Pace,
    ) -> Result<bool> {
        let mut due = self.due(store)?;
        if due.is_none() {
            self.begin_alone(store, alone, pace)?;
            due = self.due(store)?;
        }
        let Some((current, catching)) = due else { return Ok(true) };
        if catching.is_empty() && self.mode == SearchIndexing::OnDemand {
            self.tidy(alone, current);
            return Ok(true);
        }
        if self.home.is_read_only() || catching.is_empty() {
            return Ok(true);
        }
        if !pace.goes_on() {
            self.make_durable(store, &current.generation)?;
        }
        let (catching, mut reached) = (RefCell::new(catching), 0);
        let mut documents = iter::from_fn(|| catching.borrow_mut().next(store, pace));
        let mut end = || {
            self.make_durable(store, &current.generation)?;
            let catching = catching.borrow();
            reached = catching.sequence();
            Ok((catching.taken().keys().copied().collect(), reached))
        };
        match self.update(&current.generation.index, &mut documents, &mut end) {
            Ok(view) => {
                let mut state = self.state();
                if state.is_of(&current.generation) {
                    state.current = Some(Current { view, ..current });
                    state.recent.forget(reached);
                }
                drop(state);
                self.settle(store, &catching.into_inner())
            }
            Err(Fault::Space(error)) => Err(error),
            Err(Fault::Index(error)) => {
                self.state().give_up(&error);
                self.begin_alone(store, alone, pace).map(|()| true)
            }
        }
    }

    /// Where documents were changed again while the index took them over, it says of itself that it
    /// knows less than it does; it is known here which of them it has as they are. Says whether it
    /// has all.
    fn settle(&self, store: &SpaceStore, catching: &Catching) -> Result<bool> {
        if !catching.is_whole() {
            let mut state = self.state();
            if state.current.is_some() && state.read_on(store)?.is_some() {
                state.recent.forget_taken(catching.taken());
            }
        }
        Ok(catching.is_whole())
    }

    /// What was changed since the index; none if there is no index.
    fn due(&self, store: &SpaceStore) -> Result<Option<(Current, Catching)>> {
        let mut state = self.state();
        let Some(current) = state.current.clone() else { return Ok(None) };
        let Some(snapshot) = state.read_on(store)? else { return Ok(None) };
        Ok(Some((current, Catching::of(state.recent.documents(), snapshot)?)))
    }
}
