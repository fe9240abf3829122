//! The index of a space, kept up with it. What was written after it is searched as it is now, so that no write waits for the index, and no search
//! misses a write; what the index has caught up with is cheaper to search.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::iter;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use leafbase_model::{DocumentId, Error, ErrorKind, Result};
use leafbase_search::{Attributes, Index, Maker, Scope, SearchDocument, Selection, View};
use leafbase_store::{SpaceSnapshot, SpaceStore};

use super::catching::{AtOnce, Catching, Pace, Records};
use super::generations::{Generation, Home, guarded};
use super::recent::{self, Overlay, Recent};
use super::selections::Selections;
use super::worker::Worker;
use crate::sight::Seen;
use crate::space::Progress;

/// A search that finds more documents changed since the index lets it catch up first: to make them ready costs about as much.
const MANY_CHANGED: usize = 1_000;
/// From so many on the index catches up without waiting for a pause.
const SOME_CHANGED: usize = 500;
/// Of no more documents an index in memory is not made before it has to be: what tantivy sets up for one costs more than to make them ready.
const FEW: usize = 64;

/// Who brings the index of a space up to date. Searches find what was written in either case; they are cheaper for what the index has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchIndexing {
    /// A thread of the space, about a second after the last write, or while many documents are written. The first search starts it, or the first writes of
    /// many documents, and it ends with the space.
    #[default]
    Background,
    /// [`Space::flush_search`](crate::Space::flush_search), and searches that find much written since. No thread outlives a call.
    OnDemand,
}

/// The index of a space.
pub(crate) struct Indexer {
    home: Home,
    /// The ID of the space.
    owner: String,
    mode: SearchIndexing,
    /// Whether what was written has to be made durable before an index may know of it.
    flushes: AtomicBool,
    state: Mutex<State>,
    /// Held while an index is changed or made. Taken before `state`.
    updating: Mutex<()>,
    worker: Worker,
    selections: Selections,
    /// An index of nothing.
    nothing: OnceLock<Arc<View>>,
}

#[derive(Default)]
struct State {
    current: Option<Current>,
    recent: Recent,
    /// Whether the index in the directory has failed.
    distrusted: bool,
}

/// The index that is searched.
#[derive(Clone)]
struct Current {
    generation: Arc<Generation>,
    view: Arc<View>,
}

/// What a search works on: an index, what was changed since, and the state of the space that both together show.
pub(super) struct Moment {
    view: Arc<View>,
    overlay: Arc<Overlay>,
    /// What alone is seen of the index; none for all of it.
    only: Option<Arc<Selection>>,
    pub(super) snapshot: SpaceSnapshot,
}

/// What there is to search.
enum Ground {
    Ready(Box<Moment>),
    NoIndex,
    TooMuchChanged,
}

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

impl Moment {
    /// Asks the index, and what was changed since, for what `accepts` takes. Whatever fails in `ask` is the index's fault.
    pub(super) fn ask<T>(
        &self,
        accepts: &dyn Fn(&Attributes) -> bool,
        ask: impl FnOnce(&View, &Scope<'_>) -> Result<T>,
    ) -> Result<T> {
        let fresh: Vec<&SearchDocument> = self.overlay.fresh.iter().map(AsRef::as_ref).collect();
        let only = self.only.as_deref();
        let scope = Scope { fresh: &fresh, changed: &self.overlay.changed, accepts, only };
        guarded(|| ask(&self.view, &scope))
    }
}

impl State {
    /// Reads on in the change log up to the state that is given back; none if that does not follow from what was read before.
    fn read_on(&mut self, store: &SpaceStore) -> Result<Option<SpaceSnapshot>> {
        let snapshot = store.snapshot()?;
        let (reader, last) = (snapshot.reader(), snapshot.reader().last_sequence()?);
        let read = if last < self.recent.read_to() {
            Err(Error::new(ErrorKind::Corrupted, "the search index knows of writes that were lost"))
        } else {
            self.recent.read_on(reader, last)
        };
        match read {
            Err(error) if error.kind() == ErrorKind::Corrupted => {
                self.give_up(&error);
                Ok(None)
            }
            read => read.map(|()| Some(snapshot)),
        }
    }

    fn give_up(&mut self, error: &Error) {
        // A scoped call may bring this about: damage would name what is hidden.
        let told = if error.kind() == ErrorKind::Corrupted { "the space is damaged" } else { error.message() };
        tracing::warn!(error = told, "the search index is made anew");
        *self = Self { distrusted: true, ..Self::default() };
    }
}

impl Indexer {
    pub(crate) fn new(home: Home, owner: String, mode: SearchIndexing) -> Self {
        let flushes = AtomicBool::new(false);
        let (state, updating) = (Mutex::default(), Mutex::default());
        let (worker, selections, nothing) = (Worker::default(), Selections::default(), OnceLock::new());
        Self { home, owner, mode, flushes, state, updating, worker, selections, nothing }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody changes the index. Who waits there for more to be written does not any longer.
    fn alone(&self) -> MutexGuard<'_, ()> {
        self.worker.hurry(|| self.updating.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) const fn worker(&self) -> &Worker {
        &self.worker
    }

    /// A write is about to be made that a crash may take back.
    pub(crate) fn will_relax(&self) {
        self.flushes.store(true, Ordering::SeqCst);
    }

    /// Does what the index must not be read or written for.
    pub(crate) fn undisturbed<T>(&self, work: impl FnOnce() -> T) -> T {
        self.worker.hurry(|| {
            let _alone = self.updating.lock().unwrap_or_else(PoisonError::into_inner);
            work()
        })
    }

    /// Tells of a write that made so many documents.
    pub(crate) fn wrote(self: &Arc<Self>, store: &SpaceStore, documents: usize) {
        if self.worker.wrote(documents) && self.mode == SearchIndexing::Background && !self.home.is_read_only() {
            self.worker.start(self, store);
        }
    }

    /// Ends the thread, and lets go of the index.
    pub(crate) fn close(&self) {
        self.worker.stop();
        *self.state() = State::default();
    }

    /// What a search that begins now works on. Waits for an index to be made, if there is none.
    pub(super) fn moment(self: &Arc<Self>, store: &SpaceStore, seen: &Seen) -> Result<Moment> {
        if self.mode == SearchIndexing::Background {
            self.worker.start(self, store);
        }
        if let Seen::Documents(named, _) = seen {
            return self.seen(store, seen, named);
        }
        let mut most = MANY_CHANGED;
        loop {
            match self.ground(store, most)? {
                Ground::Ready(moment) => return Ok(*moment),
                Ground::NoIndex => self.begin(store)?,
                Ground::TooMuchChanged => {
                    // If it fails, for want of room to make durable what was written, more is searched beside the index.
                    let _ = self.catch_up(store);
                    // What is written meanwhile is searched, however much it is.
                    most = usize::MAX;
                }
            }
        }
    }

    /// The index, and then the state of the space: so the index never knows more.
    fn ground(&self, store: &SpaceStore, most: usize) -> Result<Ground> {
        let mut state = self.state();
        let Some(Current { view, .. }) = state.current.clone() else { return Ok(Ground::NoIndex) };
        let Some(snapshot) = state.read_on(store)? else { return Ok(Ground::NoIndex) };
        let changed = state.recent.len();
        if changed > most {
            return Ok(Ground::TooMuchChanged);
        }
        let overlay = state.recent.overlay(snapshot.reader())?;
        drop(state);
        self.worker.found(changed, changed >= SOME_CHANGED);
        Ok(Ground::Ready(Box::new(Moment { view, overlay, only: None, snapshot })))
    }

    /// The same for those who see these documents alone: how much else was changed, or is damaged, must make no difference to them.
    fn seen(&self, store: &SpaceStore, seen: &Seen, named: &Arc<BTreeSet<DocumentId>>) -> Result<Moment> {
        let mut most = MANY_CHANGED;
        loop {
            match self.ground_of(store, seen, named, most)? {
                Ground::Ready(moment) => return Ok(*moment),
                Ground::NoIndex => {
                    if self.begin(store).is_err() {
                        return self.apart(store, seen, named);
                    }
                }
                Ground::TooMuchChanged => {
                    // If it fails, more is searched beside the index.
                    let _ = self.catch_up(store);
                    most = usize::MAX;
                }
            }
        }
    }

    fn ground_of(
        &self,
        store: &SpaceStore,
        seen: &Seen,
        named: &Arc<BTreeSet<DocumentId>>,
        most: usize,
    ) -> Result<Ground> {
        let mut state = self.state();
        let Some(Current { view, .. }) = state.current.clone() else { return Ok(Ground::NoIndex) };
        let Some(snapshot) = state.read_on(store)? else { return Ok(Ground::NoIndex) };
        let (changed, named_of_them) = (state.recent.len(), state.recent.among(named));
        if named_of_them.len() > most {
            return Ok(Ground::TooMuchChanged);
        }
        let overlay = state.recent.overlay_of(snapshot.reader(), &named_of_them)?.seen(seen);
        drop(state);
        self.worker.found(changed, changed >= SOME_CHANGED);
        let only = Some(self.selections.of(&view, seen, named));
        Ok(Ground::Ready(Box::new(Moment { view, overlay: Arc::new(overlay), only, snapshot })))
    }

    /// What is seen by itself, where no index can be made: something else in the space may be damaged. Costs by the size of it.
    fn apart(&self, store: &SpaceStore, seen: &Seen, named: &BTreeSet<DocumentId>) -> Result<Moment> {
        let view = if let Some(view) = self.nothing.get() {
            view
        } else {
            let view = Index::in_memory(&self.owner)?.view()?;
            self.nothing.get_or_init(|| view)
        };
        let snapshot = store.snapshot()?;
        let (mut overlay, mut maker) = (Overlay::default(), Maker::default());
        for document in named {
            overlay.fresh.extend(recent::read(snapshot.reader(), *document, &mut maker)?);
        }
        let (view, overlay) = (Arc::clone(view), Arc::new(overlay.seen(seen)));
        Ok(Moment { view, overlay, only: Some(Arc::default()), snapshot })
    }

    /// Gives up an index that failed a search.
    pub(super) fn give_up(&self, moment: &Moment, error: &Error) {
        let mut state = self.state();
        if state.current.as_ref().is_some_and(|current| Arc::ptr_eq(&current.view, &moment.view)) {
            state.give_up(error);
        }
    }

    /// Opens the index that there is, or makes one.
    fn begin(&self, store: &SpaceStore) -> Result<()> {
        let alone = self.alone();
        self.begin_alone(store, &alone, &AtOnce)
    }

    fn begin_alone(&self, store: &SpaceStore, alone: &MutexGuard<'_, ()>, pace: &dyn Pace) -> Result<()> {
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

    /// Opens the index in the directory, if it is whole and knows of no write that the store does not.
    fn open(&self, store: &SpaceStore) -> Result<bool> {
        let Some(generation) = self.home.newest(&self.owner) else { return Ok(false) };
        let opened = guarded(|| Ok((generation.index.sequence()?, generation.index.view()?)));
        let Ok((Some(sequence), view)) = opened else { return Ok(false) };
        if sequence > store.snapshot()?.reader().last_sequence()? {
            return Ok(false);
        }
        self.publish(generation, view, Recent::after(sequence));
        Ok(true)
    }

    /// Where an index would be kept in memory, and there are few documents: begins with one of nothing, beside which all of them are searched.
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
        let view = generation.index.view()?;
        self.publish(generation, view, Recent::of(few, snapshot.reader().last_sequence()?));
        Ok(true)
    }

    /// From now on this index is searched; `recent` is what was changed since, as far as is known.
    fn publish(&self, generation: Generation, view: Arc<View>, recent: Recent) {
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
    pub(super) fn remake(
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
    ) -> Result<(Arc<View>, Catching), Fault> {
        self.make_durable(store, generation).map_err(Fault::Index)?;
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

    /// Puts `documents` into an index, and takes those out that `end` says, which also says up to which write that goes.
    fn update(
        &self,
        index: &Index,
        documents: &mut dyn Iterator<Item = Result<SearchDocument>>,
        end: &mut dyn FnMut() -> Result<(Vec<DocumentId>, u64)>,
    ) -> Result<Arc<View>, Fault> {
        let failed = RefCell::new(None);
        let of_space = |error: Error| {
            let told = Error::new(error.kind(), "the space cannot be read");
            *failed.borrow_mut() = Some(error);
            told
        };
        let mut told = documents.map(|document| document.map_err(of_space));
        let outcome = guarded(|| {
            index.update_with(&mut told, &mut || end().map_err(of_space))?;
            index.tidy()?;
            index.view()
        });
        if self.mode == SearchIndexing::OnDemand {
            index.rest();
        }
        match failed.into_inner() {
            Some(error) => Err(Fault::Space(error)),
            None => outcome.map_err(Fault::Index),
        }
    }

    /// Lets what was written survive the loss of power: an index on disk that knew of lost writes would tell of them for ever.
    fn make_durable(&self, store: &SpaceStore, generation: &Generation) -> Result<()> {
        if self.flushes.load(Ordering::SeqCst) && generation.is_on_disk() { store.make_durable() } else { Ok(()) }
    }

    /// Puts what was changed since into the index; makes one if there is none, or it fails.
    pub(super) fn catch_up(&self, store: &SpaceStore) -> Result<()> {
        let alone = self.alone();
        self.catch_up_alone(store, &alone, &AtOnce).map(drop)
    }

    /// The same, unless somebody else is at it, as long as `pace` has it. Says whether nothing is left to do.
    pub(super) fn try_catch_up(&self, store: &SpaceStore, pace: &dyn Pace) -> Result<bool> {
        let alone = match self.updating.try_lock() {
            Ok(alone) => alone,
            Err(TryLockError::Poisoned(alone)) => alone.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(true),
        };
        self.catch_up_alone(store, &alone, pace)
    }

    fn catch_up_alone(&self, store: &SpaceStore, alone: &MutexGuard<'_, ()>, pace: &dyn Pace) -> Result<bool> {
        let mut due = self.due(store)?;
        if due.is_none() {
            self.begin_alone(store, alone, pace)?;
            due = self.due(store)?;
        }
        let Some((current, mut catching)) = due else { return Ok(true) };
        if self.home.skips_a_change() {
            catching.skip_one();
        }
        if self.home.is_read_only() || catching.is_empty() {
            return Ok(true);
        }
        // What finds no room now finds none at the end.
        self.make_durable(store, &current.generation)?;
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
                let is_same = |now: &Current| Arc::ptr_eq(&now.generation, &current.generation);
                if state.current.as_ref().is_some_and(is_same) {
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

    /// Where documents were changed again while the index took them over, it says of itself that it knows less than it does; it is known here which of
    /// them it has as they are. Says whether it has all.
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

    /// Lets go of what is needed to write only.
    pub(super) fn rest(&self) {
        let current = self.state().current.clone();
        if let Some(current) = current {
            current.generation.index.rest();
        }
    }
}
