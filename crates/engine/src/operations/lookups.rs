//! Lookups: where blocks are, and documents by title or path.

use leafbase_model::{
    BlockId, Document, DocumentId, Error, FindDocuments, Items, ListScopedDocuments, Location,
    ResolveBlocks, ResolvedBlock, Result, ScopedDocument,
};
use leafbase_store::{SpaceReader, StoredDocument};
use leafbase_tree_ops::ReadTree;

use crate::core::access::{AccessScope, FullAccess, Scoped};
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::scope_roots::ScopeRoots;
use crate::core::tree::Tree;
use crate::operations::documents::scoped::shown;
use crate::operations::documents::titles::titled;
use crate::operations::search::{VisibleTexts, path_to};

impl<A: AccessScope> Connection<A> {
    /// Tells where blocks are: their document, its day if it is a daily note, and the pages that
    /// contain them. In the order of the request. The cost grows with the depth of the blocks.
    ///
    /// ```
    /// use leafbase::ResolveBlocks;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// let line = notes.insert_markdown("passport", trip)?[0].id;
    /// let found = notes.resolve(ResolveBlocks::from(line))?;
    /// assert_eq!((found[0].document_id, found[0].path[0].content.as_str()), (trip, "Trip"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `blockIds[n]`; [`crate::ErrorKind::LimitExceeded`] for
    /// more than [`crate::Limits::blocks_per_request`].
    pub fn resolve(&self, request: impl Into<ResolveBlocks>) -> Result<Items<ResolvedBlock>> {
        let ResolveBlocks { block_ids, .. } = request.into();
        self.check_ids("blockIds", Some(&block_ids))?;
        self.operation("resolve").read(|tree| {
            let texts = VisibleTexts::new(tree);
            let resolved = block_ids.iter().enumerate().map(|(index, block)| {
                resolved(tree, &texts, *block)
                    .map_err(|error| error.at(format_args!("blockIds[{index}]")))
            });
            resolved.collect::<Result<_>>().map(Items)
        })
    }
}

fn resolved(
    tree: &Tree<'_>,
    texts: &VisibleTexts<'_, '_>,
    block: BlockId,
) -> Result<ResolvedBlock> {
    let document_id = tree.locate(block)?.ok_or_else(Error::not_found)?.document;
    let document = tree.document(document_id)?.ok_or_else(Error::not_found)?;
    let path = path_to(texts, block)?;
    Ok(ResolvedBlock { block_id: block, document_id, day: document.day, path })
}

impl<A: FullAccess> Connection<A> {
    /// The documents with this title, and those with this path: the names of the folders from the
    /// top and the title, separated by `/`. Case does not matter. Ordered by ID, those in the trash
    /// last and marked; with their times and links. The cost grows with the documents of this
    /// title, not with the space.
    ///
    /// ```
    /// use leafbase::{BlockData, BlockDraft, FindDocuments};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let travel = notes.create_folder("Travel", None)?.id;
    /// notes.create_document_of(BlockDraft::new(BlockData::page("Lisbon")), travel)?;
    /// assert_eq!(notes.find_documents(FindDocuments::named("lisbon"))?.len(), 1);
    /// assert_eq!(notes.find_documents(FindDocuments::named("Travel/Lisbon"))?.len(), 1);
    /// assert!(notes.find_documents(FindDocuments::named("Home/Lisbon"))?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the store reports.
    pub fn find_documents(&self, request: FindDocuments) -> Result<Items<Document>> {
        let FindDocuments { name, .. } = request;
        self.operation("find_documents").read_all(|reader| {
            let mut found = documents_named(reader, &name)?;
            found.sort_by_key(|row| (row.record.location == Location::Trash, row.record.id));
            Ok(Items(found.into_iter().map(|row| self.linked(titled(row, true))).collect()))
        })
    }
}

/// The documents whose title or path is `name`.
fn documents_named(reader: SpaceReader<'_>, name: &str) -> Result<Vec<StoredDocument>> {
    let mut found = reader.documents_titled(name)?;
    // A title may contain a `/`, too: each one may be where the folders end.
    for (at, _) in name.match_indices('/') {
        let (folders, title) = (&name[..at], &name[at + 1..]);
        for row in reader.documents_titled(title)? {
            if is_path(reader, row.record.location, folders)? {
                found.push(row);
            }
        }
    }
    Ok(found)
}

/// Whether the names of the folders to `location`, from the top, are `path`.
fn is_path(reader: SpaceReader<'_>, location: Location, path: &str) -> Result<bool> {
    let (mut left, mut folder) = (
        path.to_lowercase(),
        match location {
            Location::Folder(folder) => Some(folder),
            _ => return Ok(false),
        },
    );
    while let Some(id) = folder {
        let record = reader.folder(id)?.ok_or_else(|| {
            Error::corrupted(format_args!("folder {id} is missing, but a document is in it"))
        })?;
        let Some(above) = left.strip_suffix(&record.name.to_lowercase()) else { return Ok(false) };
        folder = record.parent;
        left = match (folder, above.strip_suffix('/')) {
            (None, _) => above.to_owned(),
            (Some(_), Some(above)) => above.to_owned(),
            (Some(_), None) => return Ok(false),
        };
    }
    Ok(left.is_empty())
}

/// The visible documents outside of the trash by name.
pub(crate) struct DocumentNames<'t, 'a> {
    tree: &'t Tree<'a>,
    /// The lowercase titles of a scope, as replies show them. Read with the first name.
    of_scope: Option<Vec<(String, DocumentId)>>,
}

impl<'t, 'a> DocumentNames<'t, 'a> {
    pub(crate) const fn new(tree: &'t Tree<'a>) -> Self {
        Self { tree, of_scope: None }
    }

    /// The documents with this title, and on a full connection those with this path, by ID.
    pub(crate) fn find(&mut self, name: &str) -> Result<Vec<DocumentId>> {
        let mut found: Vec<DocumentId> = if self.tree.is_unrestricted() {
            let rows = documents_named(self.tree.full_reader()?, name)?.into_iter();
            rows.filter(|row| row.record.location != Location::Trash)
                .map(|row| row.record.id)
                .collect()
        } else {
            let name = name.to_lowercase();
            let titles = self.titles_of_scope()?.iter();
            titles.filter(|(title, _)| *title == name).map(|(_, id)| *id).collect()
        };
        found.sort_unstable();
        Ok(found)
    }

    fn titles_of_scope(&mut self) -> Result<&[(String, DocumentId)]> {
        if self.of_scope.is_none() {
            let (links, mut titles) = (LinkRedactor::new(self.tree), Vec::new());
            let roots = self.tree.visibility().roots();
            for id in roots.map(ScopeRoots::ids).into_iter().flatten() {
                if let Some(row) = self.tree.stored_document(id)? {
                    titles.push((shown(&links, row, false)?.title.to_lowercase(), id));
                }
            }
            self.of_scope = Some(titles);
        }
        Ok(self.of_scope.as_deref().unwrap_or(&[]))
    }
}

impl Connection<Scoped> {
    /// The documents of the scope with this title, as replies show it, without regard to case.
    /// Ordered by ID, with their times. The cost grows with the scope.
    ///
    /// ```
    /// use leafbase::FindDocuments;
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?;
    /// let guest = space.scoped([trip.id()]);
    /// assert_eq!(guest.find_documents(FindDocuments::named("trip"))?[0].id, trip.id());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the store reports.
    pub fn find_documents(&self, request: FindDocuments) -> Result<Items<ScopedDocument>> {
        let Items(mut documents) =
            self.list_documents(ListScopedDocuments::new().with_metadata())?;
        let FindDocuments { name, .. } = request;
        let name = name.to_lowercase();
        documents.retain(|document| !document.is_deleted && document.title.to_lowercase() == name);
        Ok(Items(documents))
    }
}
