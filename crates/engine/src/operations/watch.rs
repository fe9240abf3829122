//! Live views: a query that is kept up to date by patches.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use leafbase_model::{Change, DocumentId, Error, ErrorKind, Result, invariant};
use leafbase_store::kv::CommitSignal;

use crate::core::access::{Full, Scoped, Unbatched};
use crate::core::connection::Connection;
use crate::core::tree::Tree;
use crate::core::visibility::Visibility;
use crate::operations::list_patch::{ListPatch, PatchStep, steps_between};

mod follow;
pub(crate) mod queries;
#[cfg(feature = "stream")]
mod stream;
pub(crate) mod watch_thread;

use watch_thread::WatchThread;

/// For how long a watcher waits that waits without a limit, before it waits again.
const LONG_WAIT: Duration = Duration::from_secs(3_600);
/// After how long a watcher that waits asks a query again that failed.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Changes that are followed at most; after more of them the query is asked again.
const MAX_FOLLOWED: usize = 16;

/// A query whose result can be watched: a list of entries, each of which has a key.
///
/// Implemented by the requests of listings: [`Fetch`](crate::Fetch),
/// [`ListDocuments`](crate::ListDocuments), [`ListScopedDocuments`](crate::ListScopedDocuments),
/// [`ListTasks`](crate::ListTasks), [`QueryItems`](crate::QueryItems) and
/// [`SearchDocuments`](crate::SearchDocuments). A host may implement it for views of its own.
pub trait WatchQuery<A: Unbatched> {
    /// An entry of the result.
    type Entry: Clone + PartialEq;
    /// What an entry keeps when it changes or moves; no two entries of a result have the same.
    type Key: Eq + Hash;

    /// The key of an entry.
    fn key(entry: &Self::Entry) -> Self::Key;

    /// Asks for the result.
    ///
    /// # Errors
    /// Those of the query.
    fn ask(&self, notes: &Connection<A>) -> Result<WatchedList<Self::Entry>>;

    /// The steps to the result after some changes, without asking again; `None` if that costs as
    /// much.
    #[doc(hidden)]
    fn follow(
        &self,
        notes: &Connection<A>,
        list: &WatchedList<Self::Entry>,
        since: &FollowedChanges<'_>,
    ) -> Result<Option<Vec<PatchStep<Self::Entry>>>> {
        let _ = (notes, list, since);
        Ok(None)
    }
}

/// The changes since a result was asked for, with the state after them.
#[allow(missing_debug_implementations, reason = "it is not part of the interface")]
pub struct FollowedChanges<'a> {
    pub(crate) tree: &'a Tree<'a>,
    pub(crate) changes: &'a [Change],
}

/// The result of a [`WatchQuery`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchedList<E> {
    /// The entries, in order.
    pub entries: Vec<E>,
    /// The documents that the result follows from, so that writes to others need not be looked at;
    /// none if it may follow from any.
    pub documents: Option<BTreeSet<DocumentId>>,
}

impl<E> WatchedList<E> {
    /// A result that may follow from any document.
    pub fn new(entries: Vec<E>) -> Self {
        Self { entries, documents: None }
    }

    /// Says that the result follows from these documents alone.
    pub fn of_documents(mut self, documents: impl IntoIterator<Item = DocumentId>) -> Self {
        self.documents = Some(documents.into_iter().collect());
        self
    }
}

/// Access whose changes can be followed.
pub trait FollowedAccess: Unbatched {
    #[doc(hidden)]
    fn last_change(notes: &Connection<Self>) -> Result<u64>;

    /// The steps to the result after the changes since `sequence`, with the last of these; `None`
    /// if the query has to be asked again.
    #[doc(hidden)]
    fn follow<Q: WatchQuery<Self>>(
        notes: &Connection<Self>,
        query: &Q,
        list: &WatchedList<Q::Entry>,
        sequence: u64,
    ) -> Option<(u64, Vec<PatchStep<Q::Entry>>)>;
}

impl FollowedAccess for Full {
    fn last_change(notes: &Connection<Self>) -> Result<u64> {
        notes.last_sequence()
    }

    fn follow<Q: WatchQuery<Self>>(
        notes: &Connection<Self>,
        query: &Q,
        list: &WatchedList<Q::Entry>,
        sequence: u64,
    ) -> Option<(u64, Vec<PatchStep<Q::Entry>>)> {
        // In one snapshot: a place among other entries is that of the last change that is followed.
        let followed = notes.operation("watch").read(|tree| {
            let reader = tree.full_reader()?;
            let (last, position) = (reader.last_sequence()?, reader.position_at(sequence)?);
            if let Some(documents) = &list.documents {
                let mut changed = reader.changed_after(position, usize::MAX)?.into_iter();
                if !changed.any(|(_, written)| written.iter().any(|id| documents.contains(id))) {
                    return Ok(Some((last, Vec::new())));
                }
            }
            let changes = reader.changes_after(position, MAX_FOLLOWED + 1)?;
            if changes.len() > MAX_FOLLOWED {
                return Ok(None);
            }
            let steps = query.follow(notes, list, &FollowedChanges { tree, changes: &changes })?;
            Ok(steps.map(|steps| (last, steps)))
        });
        // Where the log does not say, all is asked again.
        followed.ok().flatten()
    }
}

impl FollowedAccess for Scoped {
    fn last_change(notes: &Connection<Self>) -> Result<u64> {
        notes.last_sequence()
    }

    /// Not known: what a scope shows of its documents may follow from others.
    fn follow<Q: WatchQuery<Self>>(
        _: &Connection<Self>,
        _: &Q,
        _: &WatchedList<Q::Entry>,
        _: u64,
    ) -> Option<(u64, Vec<PatchStep<Q::Entry>>)> {
        None
    }
}

/// A query with its result, which it keeps up to date: see [`Connection::watch`].
///
/// As an iterator it waits for changes and yields patches, until the space is closed.
pub struct Watcher<A: FollowedAccess, Q: WatchQuery<A>> {
    notes: Connection<A>,
    query: Q,
    list: WatchedList<Q::Entry>,
    /// All changes up to this one are in the list.
    sequence: u64,
    visibility: Visibility,
    /// The error of the last attempt to ask, if it failed: then the list may be an earlier one.
    failure: Option<Error>,
    /// Whether the store could not be read at the last attempt, which was reported.
    is_unreadable: bool,
    is_closed: bool,
    is_stopped: Arc<AtomicBool>,
}

impl<A: FollowedAccess, Q: WatchQuery<A> + std::fmt::Debug> std::fmt::Debug for Watcher<A, Q> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watcher")
            .field("query", &self.query)
            .field("sequence", &self.sequence)
            .finish_non_exhaustive()
    }
}

impl<A: FollowedAccess> Connection<A> {
    /// Asks a query, and watches its result: whenever it differs, the watcher has a patch of
    /// insertions, removals, moves and updates that makes the result so far the present one.
    ///
    /// A watcher holds one result and no queue: one that is slow gets a patch for all that happened
    /// since. It is woken by the writes of this [`crate::Space`], its clones, and the other spaces
    /// over its store, on whatever thread and connection, and on a scoped connection by those of
    /// its scope alone, or when the scope becomes another one. Writes of other processes are
    /// noticed within a quarter of a second; by a `Stream`, when it is polled for another reason,
    /// unless the store hears of them. It is not woken by time: a query of `today` is that of the
    /// last write.
    ///
    /// A watcher is an iterator, which waits for the next patch; [`Watcher::next_within`] waits for
    /// some time and [`Watcher::try_next`] not at all. [`Watcher::on_change`] calls a function on a
    /// thread of its own. With the feature `stream` it is a `Stream`, for any runtime.
    ///
    /// ```
    /// use leafbase::{ListTasks, Space, TaskScope};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let mut watcher = notes.watch(ListTasks::new(TaskScope::Document(trip.id())))?;
    /// let mut shown = watcher.entries().to_vec();
    ///
    /// notes.insert_markdown("- [ ] passport\n- [ ] tickets", trip.id())?;
    /// let patch = watcher.next().expect("the space is open")?;
    /// patch.apply(&mut shown)?;
    /// assert_eq!((shown.len(), shown.as_slice()), (2, watcher.entries()));
    /// assert!(watcher.try_next()?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// While it waits, two lookups for each write. On a full connection these are followed without
    /// asking again, at a cost that does not grow with the result but for a look at its keys: for a
    /// fetch to any depth the updates of blocks, for a listing of documents a write to one of them,
    /// and for a query of items without relations a write to one of them, both without `limit` and
    /// days such as `today`; for tasks, but those of [`Active`](crate::TaskScope::Active) and
    /// [`Upcoming`](crate::TaskScope::Upcoming), writes to blocks that are none. A write to another
    /// document than the one that a fetch without related items, tasks of a document, or items
    /// without relations are in costs a read of its row in the log. After other writes the query is
    /// asked again, and the entries are compared.
    ///
    /// # Errors
    /// Those of the query.
    pub fn watch<Q: WatchQuery<A>>(&self, query: Q) -> Result<Watcher<A, Q>> {
        // Before the query: a write in between is looked at again.
        let sequence = A::last_change(self)?;
        let visibility = self.newest_visibility(&self.visibility())?;
        let list = query.ask(self)?;
        Ok(Watcher {
            notes: self.clone(),
            query,
            list,
            sequence,
            visibility,
            failure: None,
            is_unreadable: false,
            is_closed: false,
            is_stopped: Arc::default(),
        })
    }
}

impl<A: FollowedAccess, Q: WatchQuery<A>> Watcher<A, Q> {
    /// The result as of the last patch.
    pub fn entries(&self) -> &[Q::Entry] {
        &self.list.entries
    }

    /// All changes up to this one are in the result; it may have later ones, too.
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The query.
    pub const fn query(&self) -> &Q {
        &self.query
    }

    /// The patch to the present result, without waiting; none if it is the same.
    ///
    /// # Errors
    /// Errors of the query, each reported once until there is a change, and of a store that cannot
    /// be read, reported once: the last result is kept, the query is asked again each time, and the
    /// next result is compared with the last one. [`ErrorKind::Closed`] once the space is closed.
    pub fn try_next(&mut self) -> Result<Option<ListPatch<Q::Entry>>> {
        let newest = match self.newest() {
            Err(error) if self.is_unreadable && !is_closed(&error) => return Ok(None),
            newest => newest,
        };
        self.is_unreadable = newest.is_err();
        let (last, visibility) = newest?;
        let is_same_scope = visibility.is_same(&self.visibility);
        let is_unchanged = last == self.sequence && is_same_scope;
        // A failure may have had a passing reason: it is asked again without a change, too.
        if is_unchanged && self.failure.is_none() {
            return Ok(None);
        }
        let can_follow = is_same_scope && self.failure.is_none();
        let followed = if can_follow {
            A::follow(&self.notes, &self.query, &self.list, self.sequence)
        } else {
            None
        };
        self.visibility = visibility;
        if let Some((sequence, steps)) = followed {
            self.sequence = sequence;
            let patch = ListPatch { sequence, steps };
            let is_applied = patch.apply(&mut self.list.entries);
            invariant!(is_applied.is_ok(), "the steps of a patch fit the result that they are of");
            return Ok((!patch.steps.is_empty()).then_some(patch));
        }
        self.sequence = last;
        let list = match self.query.ask(&self.notes) {
            Ok(list) => list,
            Err(error) => {
                let is_reported = is_unchanged && self.failure.as_ref() == Some(&error);
                self.failure = Some(error.clone());
                return if is_reported { Ok(None) } else { Err(error) };
            }
        };
        self.failure = None;
        let steps = steps_between(&self.list.entries, &list.entries, Q::key);
        self.list = list;
        Ok((!steps.is_empty()).then_some(ListPatch { sequence: last, steps }))
    }

    /// The next patch; none if there was no change of the result within `timeout`. A query that
    /// failed is asked again each second.
    ///
    /// # Errors
    /// As [`Self::try_next`].
    pub fn next_within(&mut self, timeout: Duration) -> Result<Option<ListPatch<Q::Entry>>> {
        let end = Instant::now().checked_add(timeout);
        loop {
            if let Some(patch) = self.try_next()? {
                return Ok(Some(patch));
            }
            let left = end.map_or(LONG_WAIT, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() || self.is_stopped.load(Ordering::Acquire) {
                return Ok(None);
            }
            let retry = self.failure.as_ref().map_or(left, |_| left.min(RETRY_AFTER));
            self.wait(retry);
        }
    }

    /// The last change, and what is visible by now.
    fn newest(&self) -> Result<(u64, Visibility)> {
        let last = A::last_change(&self.notes)?;
        Ok((last, self.notes.newest_visibility(&self.notes.visibility())?))
    }

    /// Waits until there may be something new.
    fn wait(&self, timeout: Duration) {
        let mut timeout = timeout;
        if self.is_unreadable {
            // No signal says that the store can be read again.
            timeout = timeout.min(CommitSignal::DEFAULT_POLL_INTERVAL);
        }
        self.notes.space.commit_signal().wait(timeout, || {
            self.is_stopped.load(Ordering::Acquire)
                || match self.newest() {
                    Ok((last, visibility)) => {
                        self.is_unreadable
                            || last != self.sequence
                            || !visibility.is_same(&self.visibility)
                    }
                    Err(error) => !self.is_unreadable || is_closed(&error),
                }
        });
    }

    /// Calls a function with each patch, and the result after it, on a thread that ends when the
    /// returned handle is dropped, or when the space is closed.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    /// use leafbase::{ListDocuments, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let (sender, received) = mpsc::channel();
    /// let watching = notes.watch(ListDocuments::new())?.on_change(move |changed| {
    ///     let count = changed.map(|(_, documents)| documents.len());
    ///     sender.send(count.unwrap_or_default()).ok();
    /// })?;
    /// notes.create_document("Trip")?;
    /// assert_eq!(received.recv_timeout(Duration::from_secs(60)), Ok(1));
    /// drop(watching); // the thread has ended
    /// assert!(received.recv().is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] if the system has no thread for it.
    pub fn on_change(
        self,
        callback: impl FnMut(Result<(&ListPatch<Q::Entry>, &[Q::Entry])>) + Send + 'static,
    ) -> Result<WatchThread>
    where
        Q: Send + 'static,
        Q::Entry: Send + 'static,
    {
        let space = self.notes.space.clone();
        let is_stopped = Arc::clone(&self.is_stopped);
        WatchThread::begin(space, is_stopped, move || run(self, callback))
    }
}

fn run<A: FollowedAccess, Q: WatchQuery<A>>(
    mut watcher: Watcher<A, Q>,
    mut callback: impl FnMut(Result<(&ListPatch<Q::Entry>, &[Q::Entry])>),
) {
    while let Some(next) = watcher.next() {
        match next {
            Ok(patch) => callback(Ok((&patch, watcher.entries()))),
            Err(error) => callback(Err(error)),
        }
    }
}

/// Waits for the next patch. Ends once the space is closed, after the error that says so.
impl<A: FollowedAccess, Q: WatchQuery<A>> Iterator for Watcher<A, Q> {
    type Item = Result<ListPatch<Q::Entry>>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_closed && !self.is_stopped.load(Ordering::Acquire) {
            if let Some(next) = self.next_within(LONG_WAIT).transpose() {
                self.is_closed = next.as_ref().is_err_and(is_closed);
                return Some(next);
            }
        }
        None
    }
}

fn is_closed(error: &Error) -> bool {
    error.kind() == ErrorKind::Closed
}
