//! Scopes: the documents and pages that scoped connections are limited to. The host owns them and
//! may change them while connections are open.

use std::sync::Arc;

use leafbase_model::{BlockId, DocumentId, FolderId, KeptScope};

use crate::core::access::{ScopeState, Scoped};
use crate::core::connection::Connection;
use crate::core::scope_folders::ScopeFolders;
use crate::core::scope_roots::ScopeRoots;
use crate::core::space::Space;

/// The documents and pages that its connections are limited to.
///
/// It belongs to the host: a scoped connection gives no access to its scope. All clones are the
/// same scope. A call uses the scope as it is when the call begins; so does the next page of a
/// listing.
///
/// A document in the trash is hidden, and visible again once it is restored. IDs of documents that
/// do not exist are allowed. A listing shows both as deleted, and nothing but that.
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
/// assert_eq!(guest.fetch(Fetch::new(trip.id()))?.data.inline, "Trip");
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
    state: Arc<ScopeState>,
    is_read_only: bool,
}

impl Scope {
    fn new(space: Space, roots: ScopeRoots, folders: ScopeFolders) -> Self {
        // If the log cannot be read, the changes of the scope begin when they are first read.
        let last = last_sequence(&space);
        let state = Arc::new(ScopeState::new(roots, folders, last));
        Self { space, state, is_read_only: false }
    }

    /// The record that the space keeps of this scope under `name`.
    pub(crate) fn kept_as(&self, name: &str) -> KeptScope {
        KeptScope {
            name: name.to_owned(),
            documents: self.documents(),
            pages: self.pages(),
            folders: self.state.folders.named().collect(),
            is_read_only: self.is_read_only,
        }
    }

    /// The scope that was kept so.
    pub(crate) fn of_kept(space: Space, kept: KeptScope) -> Self {
        let KeptScope { name: _, documents, pages, folders, is_read_only } = kept;
        let roots = ScopeRoots::new(documents, pages);
        Self { is_read_only, ..Self::new(space, roots, ScopeFolders::new(folders)) }
    }

    /// The same scope for reading only: its documents, its changes, and connections that may not
    /// write. Each of their writes is [`crate::ErrorKind::ReadOnly`], whatever it names; the
    /// connections of this scope may go on writing.
    ///
    /// ```
    /// use leafbase::ErrorKind;
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?;
    /// let reader = space.scope([trip.id()]).read_only().connect();
    /// assert_eq!(reader.document(trip.id())?.title, "Trip");
    /// let refused = reader.insert_markdown("passport", trip.id()).unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::ReadOnly);
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_only(&self) -> Self {
        Self { is_read_only: true, ..self.clone() }
    }

    /// A connection that is limited to the documents and pages of this scope. It has the operations
    /// that scoped and full connections share; the operations on folders, tasks, daily notes, whole
    /// documents and the space do not exist on its type.
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
        let access = Scoped { state: Arc::clone(&self.state), is_read_only: self.is_read_only };
        Connection::new(self.space.clone(), access)
    }

    /// The documents that the scope names, sorted by ID, including trashed and nonexistent ones;
    /// not those that are in it because of their folder.
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
        self.state.named().documents.iter().copied().collect()
    }

    /// The pages that the scope names, sorted by ID, including trashed and nonexistent ones.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?.id();
    /// let packing = space.connect().insert_markdown("Packing", trip)?[0].id;
    /// assert_eq!(space.page_scope([packing]).pages(), [packing]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn pages(&self) -> Vec<BlockId> {
        self.state.named().pages.iter().copied().collect()
    }

    /// Adds documents, visible to calls that begin after this returns.
    /// [`changes_since`](Connection::changes_since) of the scope's connections reports them in one
    /// row with their present content, without earlier writes to them. Batches with a
    /// [request key](crate::Batch::request_key) that were done before are not known any more.
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
        self.add_roots(ScopeRoots::new(documents, []));
    }

    /// Adds pages, as [`Self::add`] adds documents.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?.id();
    /// let packing = space.connect().insert_markdown("Packing", trip)?[0].id;
    /// let scope = space.scope([]);
    /// let guest = scope.connect();
    /// scope.add_pages([packing]);
    /// assert_eq!(guest.documents()?[0].title, "Packing");
    /// # Ok(())
    /// # }
    /// ```
    pub fn add_pages(&self, pages: impl IntoIterator<Item = BlockId>) {
        self.add_roots(ScopeRoots::new([], pages));
    }

    fn add_roots(&self, roots: ScopeRoots) {
        // Before the signal: a waiter that wakes up finds the row.
        self.state.add(roots, || last_sequence(&self.space), self.space.now());
        self.space.commit_signal().give();
    }

    /// Removes documents, hidden from calls that begin after this returns.
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
        self.remove_roots(&ScopeRoots::new(documents, []));
    }

    /// Removes pages, as [`Self::remove`] removes documents.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?.id();
    /// let packing = space.connect().insert_markdown("Packing", trip)?[0].id;
    /// let scope = space.page_scope([packing]);
    /// scope.remove_pages([packing]);
    /// assert_eq!(scope.connect().documents()?.len(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn remove_pages(&self, pages: impl IntoIterator<Item = BlockId>) {
        self.remove_roots(&ScopeRoots::new([], pages));
    }

    fn remove_roots(&self, roots: &ScopeRoots) {
        self.state.remove(roots);
        self.space.commit_signal().give();
    }
}

fn last_sequence(space: &Space) -> Option<u64> {
    space.store().and_then(|store| store.snapshot()?.reader().last_sequence()).ok()
}

impl std::fmt::Debug for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope")
            .field("documents", &self.state.named().documents.len())
            .field("pages", &self.state.named().pages.len())
            .finish_non_exhaustive()
    }
}

impl Space {
    /// A scope of the documents in these folders and their subfolders, as they are when a call
    /// begins: a document that is moved into one of them is in the scope from then on, and one that
    /// is moved out or to the trash is not. [`Scope::add`] adds documents besides. IDs of folders
    /// that do not exist are allowed and show nothing.
    ///
    /// [`changes_since`](Connection::changes_since) of its connections reports a document that
    /// enters the folders as one that [`Scope::add`] adds. A document that leaves them, also to the
    /// trash, is not reported, as with [`Scope::remove`].
    ///
    /// The first call after a write costs time in proportion to the documents and folders in the
    /// scope, and so does every write of its connections.
    ///
    /// ```
    /// use leafbase::{Destination, MoveDocuments};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let notes = space.connect();
    /// let travel = notes.create_folder("Travel", None)?.id;
    /// let guest = space.folder_scope([travel]).connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// assert_eq!(guest.documents()?.len(), 0);
    /// notes.move_documents(MoveDocuments::new([trip], travel))?;
    /// guest.insert_markdown("passport", trip)?;
    /// notes.move_documents(MoveDocuments::new([trip], Destination::Unsorted))?;
    /// assert!(guest.document(trip).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn folder_scope(&self, folders: impl IntoIterator<Item = FolderId>) -> Scope {
        Scope::new(self.clone(), ScopeRoots::default(), ScopeFolders::new(folders))
    }

    /// A scope of these pages, each with what is in it. Its connections see a page as a document
    /// whose ID is that of the page, whose title is its text, and whose times and revision are
    /// those of its block; of the document that contains it they see nothing, not even its ID. They
    /// can't move or delete the page itself. [`Scope::add`] adds documents besides.
    ///
    /// A page is a block of type page, or a text, which becomes one with its first child; other
    /// blocks are not shown, nor are pages of documents in the trash. A page within another page or
    /// document of the scope is a part of that one. IDs of blocks that do not exist are allowed.
    ///
    /// [`changes_since`](Connection::changes_since) of its connections reports writes to blocks
    /// that were in the page at that time. A block that moves into it is named without its
    /// descendants.
    /// A search reads and analyzes the pages each time: its cost grows with their text. A look-up
    /// of a block costs one for each page around it.
    ///
    /// ```
    /// use leafbase::{ErrorKind, Fetch, Position};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let notes = space.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// let packing = notes.insert_markdown("Packing", trip)?[0].id;
    /// notes.insert_markdown("passport", Position::end_of(packing))?;
    ///
    /// let guest = space.page_scope([packing]).connect();
    /// assert_eq!(guest.documents()?[0].title, "Packing");
    /// assert_eq!(guest.content_markdown(packing)?, "passport");
    /// guest.insert_markdown("towel", Position::end_of(packing))?;
    /// let hidden = guest.fetch(Fetch::new(trip)).unwrap_err();
    /// assert_eq!(hidden.kind(), ErrorKind::NotFound);
    /// # Ok(())
    /// # }
    /// ```
    pub fn page_scope(&self, pages: impl IntoIterator<Item = BlockId>) -> Scope {
        Scope::new(self.clone(), ScopeRoots::new([], pages), ScopeFolders::default())
    }

    /// A scope of these documents.
    ///
    /// ```
    /// use leafbase::SearchBlocks;
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let notes = space.connect();
    /// let (trip, diary) = (notes.create_document("Trip")?, notes.create_document("Diary")?);
    /// notes.insert_markdown("the passport", diary.id())?;
    /// let guest = space.scope([trip.id()]).connect();
    /// // as if there were no diary
    /// assert!(guest.search_blocks(SearchBlocks::new(diary.id(), "passport")).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn scope(&self, documents: impl IntoIterator<Item = DocumentId>) -> Scope {
        Scope::new(self.clone(), ScopeRoots::new(documents, []), ScopeFolders::default())
    }

    /// A connection that is limited to these documents: [`Self::scope`] for a scope that never
    /// changes.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let (trip, _diary) =
    ///     (space.connect().create_document("Trip")?, space.connect().create_document("Diary")?);
    /// let guest = space.scoped([trip.id()]);
    /// assert_eq!(guest.documents()?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn scoped(&self, documents: impl IntoIterator<Item = DocumentId>) -> Connection<Scoped> {
        self.scope(documents).connect()
    }
}
