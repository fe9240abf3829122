//! The index of a space, kept up with it. What was written after it is searched as it is now, so
//! that no write waits for the index, and no search misses a write; what the index has caught up
//! with is cheaper to search.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use leafbase_model::{DocumentId, Error, ErrorKind, Result};
use leafbase_search::{
    Analyzer, Attributes, DocumentSubset, Index, IndexSnapshot, SearchDocument, SearchOverlay,
};
use leafbase_store::{SpaceSnapshot, SpaceStore};

use super::generations::{Generation, Home, guarded};
use super::recent::{self, Overlay, Recent};
use super::selections::Selections;
use super::worker::Worker;
use crate::core::tree::VisibleSnapshot;
use crate::core::visibility::Visibility;

mod updating;

/// A search that finds more documents changed since the index lets it catch up first: to make them
/// ready costs about as much.
const MANY_CHANGED: usize = 1_000;
/// From so many on the index catches up without waiting for a pause.
const SOME_CHANGED: usize = 500;
/// Who brings the index of a space up to date. Searches find what was written in either case; they
/// are cheaper for what the index has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchIndexing {
    /// A thread of the space, about a second after the last write, or while many documents are
    /// written. The first search starts it, or the first writes of many documents, and it ends with
    /// the space.
    #[default]
    Background,
    /// [`Space::flush_search`](crate::Space::flush_search), and searches that find much written
    /// since. No thread outlives a call.
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
    nothing: OnceLock<Arc<IndexSnapshot>>,
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
    view: Arc<IndexSnapshot>,
}

/// What a search works on: an index, what was changed since, and the state of the space that both
/// together show.
pub(crate) struct Moment {
    view: Arc<IndexSnapshot>,
    overlay: Arc<Overlay>,
    /// What alone is seen of the index; none for all of it.
    only: Option<Arc<DocumentSubset>>,
    pub(crate) snapshot: VisibleSnapshot,
}

/// What there is to search.
enum Ground {
    Ready(Box<Moment>),
    NoIndex,
    TooMuchChanged,
}

impl Moment {
    /// Asks the index, and what was changed since, for what `accepts` takes. Whatever fails in
    /// `ask` is the index's fault.
    pub(crate) fn ask<T>(
        &self,
        accepts: &dyn Fn(&Attributes) -> bool,
        ask: impl FnOnce(&IndexSnapshot, &SearchOverlay<'_>) -> Result<T>,
    ) -> Result<T> {
        let fresh: Vec<&SearchDocument> = self.overlay.fresh.iter().map(AsRef::as_ref).collect();
        let only = self.only.as_deref();
        let scope = SearchOverlay {
            dirty: &fresh,
            dirty_ids: &self.overlay.changed,
            filter: accepts,
            subset: only,
        };
        guarded(|| ask(&self.view, &scope))
    }
}

impl State {
    /// Whether this is the index that is searched.
    fn is_of(&self, generation: &Arc<Generation>) -> bool {
        self.current.as_ref().is_some_and(|current| Arc::ptr_eq(&current.generation, generation))
    }

    /// Reads on in the change log up to the state that is given back; none if that does not follow
    /// from what was read before.
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
        let told = if error.kind() == ErrorKind::Corrupted {
            "the space is damaged"
        } else {
            error.message()
        };
        tracing::warn!(error = told, "the search index is made anew");
        *self = Self { distrusted: true, ..Self::default() };
    }
}

impl Indexer {
    pub(crate) fn new(home: Home, owner: String, mode: SearchIndexing) -> Self {
        let flushes = AtomicBool::new(false);
        let (state, updating) = (Mutex::default(), Mutex::default());
        let (worker, selections, nothing) =
            (Worker::default(), Selections::default(), OnceLock::new());
        Self { home, owner, mode, flushes, state, updating, worker, selections, nothing }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody changes the index. Who waits there for more to be written does not any
    /// longer.
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
        if self.worker.wrote(documents)
            && self.mode == SearchIndexing::Background
            && !self.home.is_read_only()
        {
            self.worker.start(self, store);
        }
    }

    /// Ends the thread, and lets go of the index.
    pub(crate) fn close(&self) {
        self.worker.stop();
        *self.state() = State::default();
    }

    /// What a search that begins now works on. Waits for an index to be made, if there is none.
    pub(crate) fn moment(
        self: &Arc<Self>,
        store: &SpaceStore,
        seen: &Visibility,
    ) -> Result<Moment> {
        if self.mode == SearchIndexing::Background {
            self.worker.start(self, store);
        }
        if let Visibility::Documents(named) = seen {
            return self.seen(store, seen, named);
        }
        let mut most = MANY_CHANGED;
        loop {
            match self.ground(store, most)? {
                Ground::Ready(moment) => return Ok(*moment),
                Ground::NoIndex => self.begin(store)?,
                Ground::TooMuchChanged => {
                    // If it fails, for want of room to make durable what was written, more is
                    // searched beside the index.
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
        Ok(Ground::Ready(Box::new(Moment {
            view,
            overlay,
            only: None,
            snapshot: VisibleSnapshot::new(snapshot, Visibility::All),
        })))
    }

    /// The same for those who see these documents alone: how much else was changed, or is damaged,
    /// must make no difference to them.
    fn seen(
        &self,
        store: &SpaceStore,
        seen: &Visibility,
        named: &Arc<BTreeSet<DocumentId>>,
    ) -> Result<Moment> {
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
        seen: &Visibility,
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
        let only = Some(self.selections.of(&view, seen, named)?);
        let snapshot = VisibleSnapshot::new(snapshot, seen.clone());
        Ok(Ground::Ready(Box::new(Moment { view, overlay: Arc::new(overlay), only, snapshot })))
    }

    /// What is seen by itself, where no index can be made: something else in the space may be
    /// damaged. Costs by the size of it.
    fn apart(
        &self,
        store: &SpaceStore,
        seen: &Visibility,
        named: &BTreeSet<DocumentId>,
    ) -> Result<Moment> {
        let view = if let Some(view) = self.nothing.get() {
            view
        } else {
            let view = Index::in_memory(&self.owner)?.snapshot()?;
            self.nothing.get_or_init(|| view)
        };
        let snapshot = store.snapshot()?;
        let (mut overlay, mut analyzer) = (Overlay::default(), Analyzer::default());
        for document in named {
            overlay.fresh.extend(recent::read(snapshot.reader(), *document, &mut analyzer)?);
        }
        let (view, overlay) = (Arc::clone(view), Arc::new(overlay.seen(seen)));
        let snapshot = VisibleSnapshot::new(snapshot, seen.clone());
        Ok(Moment { view, overlay, only: Some(Arc::default()), snapshot })
    }

    /// Gives up an index that failed a search.
    pub(crate) fn give_up(&self, moment: &Moment, error: &Error) {
        let mut state = self.state();
        if state.current.as_ref().is_some_and(|current| Arc::ptr_eq(&current.view, &moment.view)) {
            state.give_up(error);
        }
    }

    /// Lets go of what is needed to write only.
    pub(super) fn rest(&self) {
        let current = self.state().current.clone();
        if let Some(current) = current {
            current.generation.index.release_writer();
        }
    }
}
