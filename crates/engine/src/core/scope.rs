//! Scopes: which documents a scoped connection shows. The host holds them, and may change them
//! while connections are open.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use leafbase_model::DocumentId;

use crate::core::connection::Connection;
use crate::core::sight::{Scoped, Seen};
use crate::core::space::Space;

use feed::Feed;

mod feed;
mod leaks;
pub(crate) mod links;
pub(crate) mod texts;

pub use feed::ScopedChanges;
#[cfg(feature = "testkit")]
pub use leaks::Leak;
#[cfg(not(feature = "testkit"))]
pub(crate) use leaks::Leak;

/// Some documents of a space, to be shown by connections that see nothing else.
///
/// It is the host's: whoever has a scoped connection can neither reach nor see it. Every clone is
/// the same scope, and every call of a connection sees it as it is when the call begins, its next
/// page too.
///
/// A document in the trash is not seen, and one that was purged is gone: it stays in the scope, and
/// is seen when it is restored. IDs of documents that do not exist are no error, and show nothing.
///
/// ```
/// use leafbase::{ErrorKind, Fetch, Space};
/// # fn main() -> leafbase::Result<()> {
/// let space = Space::in_memory()?;
/// let notes = space.connect();
/// let (trip, diary) = (notes.create_document("Trip")?, notes.create_document("Diary")?);
///
/// let scope = space.scope([trip.id()]);
/// let guest = scope.connect().acting_as("guest");
/// assert_eq!(guest.fetch(Fetch::new(trip.id()))?.data.markdown, "Trip");
/// assert_eq!(guest.fetch(Fetch::new(diary.id())).unwrap_err().kind(), ErrorKind::NotFound);
///
/// scope.add([diary.id()]);
/// assert_eq!(guest.documents()?.len(), 2);
/// scope.remove([trip.id(), diary.id()]);
/// assert_eq!(guest.documents()?.len(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Scope {
    space: Space,
    documents: Arc<RwLock<Arc<BTreeSet<DocumentId>>>>,
    feed: Arc<Feed>,
    leak: Leak,
}

impl Scope {
    pub(crate) fn new(space: Space, documents: impl IntoIterator<Item = DocumentId>) -> Self {
        let documents = Arc::new(documents.into_iter().collect());
        // Without an answer the changes of the scope begin when they are first asked for.
        let last = space.store().and_then(|store| store.snapshot()?.reader().last_sequence()).ok();
        let feed = Arc::new(Feed::after(last));
        Self { space, documents: Arc::new(RwLock::new(documents)), feed, leak: Leak::None }
    }

    /// A connection that shows the documents of this scope. It has the operations that scoped and
    /// full connections share; those on folders, tasks, daily notes, documents as a whole and the
    /// space do not exist on it.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?;
    /// let guest = space.scope([trip.id()]).connect().acting_as("guest");
    /// guest.insert_markdown("- [ ] passport", trip.id())?;
    /// assert_eq!(guest.content_markdown(trip.id())?, "- [ ] passport");
    /// # Ok(())
    /// # }
    /// ```
    pub fn connect(&self) -> Connection<Scoped> {
        Connection::new(self.space.clone(), Scoped(self.clone()))
    }

    /// The documents in it, by ID; those in the trash and those that do not exist, too.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?;
    /// assert_eq!(space.scope([trip.id()]).documents(), [trip.id()]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn documents(&self) -> Vec<DocumentId> {
        self.named().iter().copied().collect()
    }

    /// Adds documents. Calls that begin after it has returned see them.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let scope = space.scope([]);
    /// let guest = scope.connect();
    /// let trip = space.connect().create_document("Trip")?;
    /// scope.add([trip.id()]);
    /// assert_eq!(guest.document(trip.id())?.title, "Trip");
    /// # Ok(())
    /// # }
    /// ```
    pub fn add(&self, documents: impl IntoIterator<Item = DocumentId>) {
        let documents: Vec<DocumentId> = documents.into_iter().collect();
        self.change(|held| held.extend(documents));
    }

    /// Takes documents out. Calls that begin after it has returned do not see them.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?;
    /// let scope = space.scope([trip.id()]);
    /// let guest = scope.connect();
    /// scope.remove([trip.id()]);
    /// assert!(guest.document(trip.id()).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn remove(&self, documents: impl IntoIterator<Item = DocumentId>) {
        let documents: Vec<DocumentId> = documents.into_iter().collect();
        self.change(|held| held.retain(|document| !documents.contains(document)));
    }

    fn change(&self, change: impl FnOnce(&mut BTreeSet<DocumentId>)) {
        let mut held = self.documents.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut held));
    }

    /// The same documents, with a leak that a test has to notice.
    #[cfg(feature = "testkit")]
    #[doc(hidden)]
    pub fn leaking(&self, leak: Leak) -> Self {
        Self { leak, ..self.clone() }
    }

    /// What a call that begins now sees.
    pub(crate) fn seen(&self) -> Seen {
        Seen::Documents(self.named(), self.leak)
    }

    fn named(&self) -> Arc<BTreeSet<DocumentId>> {
        Arc::clone(&self.documents.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl std::fmt::Debug for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope").field("documents", &self.named().len()).finish_non_exhaustive()
    }
}

impl Space {
    /// A scope of these documents, whose connections show them and nothing else.
    ///
    /// ```
    /// use leafbase::SearchBlocks;
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let notes = space.connect();
    /// let (trip, diary) = (notes.create_document("Trip")?, notes.create_document("Diary")?);
    /// notes.insert_markdown("the passport", diary.id())?;
    /// let guest = space.scope([trip.id()]).connect();
    /// assert!(guest.search_blocks(SearchBlocks::new(diary.id(), "passport")).is_err()); // as if there were no diary
    /// # Ok(())
    /// # }
    /// ```
    pub fn scope(&self, documents: impl IntoIterator<Item = DocumentId>) -> Scope {
        Scope::new(self.clone(), documents)
    }

    /// A connection that shows these documents and nothing else: [`Self::scope`], for a scope that
    /// never changes.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let (trip, _diary) = (space.connect().create_document("Trip")?, space.connect().create_document("Diary")?);
    /// let guest = space.scoped([trip.id()]);
    /// assert_eq!(guest.documents()?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn scoped(&self, documents: impl IntoIterator<Item = DocumentId>) -> Connection<Scoped> {
        self.scope(documents).connect()
    }
}
