//! The documents of a scope as its connections show them.

use leafbase_model::{
    BlockData, DocumentId, DocumentRecord, Error, Items, ListScopedDocuments, Result,
    ScopedDocument,
};
use leafbase_store::StoredDocument;

use super::list::filter_tags;
use crate::core::access::Scoped;
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::scope_roots::ScopeRoots;

impl Connection<Scoped> {
    /// The documents of the scope, sorted by ID and without metadata. Those in the trash, and
    /// those that do not exist, are shown as deleted, with their IDs alone. The cost grows with
    /// the scope.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?;
    /// let guest = space.scoped([trip.id()]);
    /// assert_eq!(guest.documents()?[0].title, "Trip");
    /// space.connect().delete_documents(trip.id())?; // into the trash
    /// assert!(guest.documents()?[0].is_deleted);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the store reports.
    pub fn documents(&self) -> Result<Items<ScopedDocument>> {
        self.list_documents(ListScopedDocuments::new())
    }

    /// The documents of the scope, or those of them with the tags of the request, sorted by ID,
    /// with their times if the request asks for them. Those in the trash, and those that do not
    /// exist, are shown as deleted, with their IDs alone, unless tags are asked for. The cost grows
    /// with the scope.
    ///
    /// ```
    /// use leafbase::ListScopedDocuments;
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?;
    /// let listed = space.scoped([trip.id()])
    ///     .list_documents(ListScopedDocuments::new().with_metadata())?;
    /// assert!(listed[0].times.is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::LimitExceeded`] at `tags` for more than [`crate::Limits::FILTER_TAGS`].
    pub fn list_documents(&self, request: ListScopedDocuments) -> Result<Items<ScopedDocument>> {
        let ListScopedDocuments { tags, metadata, .. } = request;
        let tags = filter_tags(&tags)?;
        self.operation("list_documents").read(|tree| {
            let (links, mut listed) = (LinkRedactor::new(tree), Vec::new());
            for id in tree.visibility().roots().map(ScopeRoots::ids).into_iter().flatten() {
                listed.push(match tree.stored_document(id)? {
                    Some(_) if !tree.has_tags(id, &tags)? => continue,
                    Some(row) => shown(&links, row, metadata)?,
                    None if !tags.is_empty() => continue,
                    // One that was purged, or never existed, looks like one in the trash.
                    None if tree.is_part_of_another(id)? => continue,
                    None => deleted(id),
                });
            }
            Ok(Items(listed))
        })
    }

    /// The document, with its times.
    ///
    /// ```
    /// use leafbase::ErrorKind;
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let (trip, diary) =
    ///     (space.connect().create_document("Trip")?, space.connect().create_document("Diary")?);
    /// let guest = space.scoped([trip.id()]);
    /// assert_eq!(guest.document(trip.id())?.title, "Trip");
    /// assert_eq!(guest.document(diary.id()).unwrap_err().kind(), ErrorKind::NotFound);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`].
    pub fn document(&self, id: DocumentId) -> Result<ScopedDocument> {
        self.operation("document").read(|tree| {
            let row = tree.stored_document(id)?.ok_or_else(Error::no_document)?;
            shown(&LinkRedactor::new(tree), row, true)
        })
    }
}

/// What is shown of a document that is in the trash or does not exist.
fn deleted(id: DocumentId) -> ScopedDocument {
    ScopedDocument { id, title: String::new(), is_deleted: true, day: None, times: None }
}

pub(crate) fn shown(
    links: &LinkRedactor<'_, '_>,
    row: StoredDocument,
    metadata: bool,
) -> Result<ScopedDocument> {
    let StoredDocument { record, title, .. } = row;
    let DocumentRecord { id, day, created_at, modified_at, .. } = record;
    let mut root = BlockData::page(title);
    links.redact(&mut root)?;
    let (title, times) = (root.inline, metadata.then_some((created_at, modified_at)));
    Ok(ScopedDocument { id, title, is_deleted: false, day, times })
}
