//! The documents of a scope, as its connections show them.

use leafbase_model::{DocumentId, DocumentRecord, Error, Items, ListScopedDocuments, Result, ScopedDocument};
use leafbase_tree_ops::ReadTree;

use super::root;
use crate::connection::Connection;
use crate::scope::links::Links;
use crate::sight::{Scoped, Seen};
use crate::tree::Tree;

impl Connection<Scoped> {
    /// The documents of the scope, by ID and without metadata. One in the trash is not among them. Costs by the size of the scope.
    ///
    /// # Errors
    /// What the store reports.
    pub fn documents(&self) -> Result<Items<ScopedDocument>> {
        self.list_documents(ListScopedDocuments::new())
    }

    /// The documents of the scope, by ID, with their times if the request asks for them. One in the trash is not among them.
    /// Costs by the size of the scope.
    ///
    /// # Errors
    /// What the store reports.
    pub fn list_documents(&self, request: ListScopedDocuments) -> Result<Items<ScopedDocument>> {
        self.read(|tree, _| {
            let Seen::Documents(named, _) = tree.seen() else { return Ok(Items(Vec::new())) };
            let records = named.iter().map(|id| tree.document(*id)).filter_map(Result::transpose);
            let links = Links::new(tree);
            records.map(|record| shown(tree, &links, &record?, request.metadata)).collect::<Result<_>>().map(Items)
        })
    }

    /// The document, with its times.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`].
    pub fn document(&self, id: DocumentId) -> Result<ScopedDocument> {
        self.read(|tree, _| {
            let record = tree.document(id)?.ok_or_else(Error::not_found)?;
            shown(tree, &Links::new(tree), &record, true)
        })
    }
}

fn shown(tree: &Tree<'_>, links: &Links<'_, '_>, record: &DocumentRecord, metadata: bool) -> Result<ScopedDocument> {
    let DocumentRecord { id, day, created_at, modified_at, .. } = *record;
    let mut root = root(tree.reader(), id)?;
    links.hide(&mut root)?;
    let title = root.markdown;
    Ok(ScopedDocument { id, title, day, times: metadata.then_some((created_at, modified_at)) })
}
