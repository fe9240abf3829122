//! Scopes: sets of documents that scoped connections are limited to. The host owns them and may
//! change them while connections are open.

use std::sync::Arc;

use leafbase_model::DocumentId;

use crate::core::access::{ScopeDocuments, Scoped};
use crate::core::connection::Connection;
use crate::core::leaks::Leak;
use crate::core::space::Space;

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
    documents: Arc<ScopeDocuments>,
    leak: Leak,
}

impl Scope {
    fn new(space: Space, documents: impl IntoIterator<Item = DocumentId>) -> Self {
        // If the log cannot be read, the changes of the scope begin when they are first read.
        let last = space.store().and_then(|store| store.snapshot()?.reader().last_sequence()).ok();
        let documents = ScopeDocuments::new(documents.into_iter().collect(), last);
        Self { space, documents: Arc::new(documents), leak: Leak::None }
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
        let documents = Arc::clone(&self.documents);
        Connection::new(self.space.clone(), Scoped { documents, leak: self.leak })
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
        self.documents.get().iter().copied().collect()
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
        self.documents.change(|held| held.extend(documents));
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
        self.documents.change(|held| held.retain(|document| !documents.contains(document)));
    }

    /// The same documents, with a leak that a test has to notice.
    #[cfg(feature = "testkit")]
    #[doc(hidden)]
    pub fn leaking(&self, leak: Leak) -> Self {
        Self { leak, ..self.clone() }
    }
}

impl std::fmt::Debug for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope")
            .field("documents", &self.documents.get().len())
            .finish_non_exhaustive()
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
