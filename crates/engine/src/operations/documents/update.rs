//! Updates of documents: title and location.

use leafbase_model::{
    Document, DocumentPatch, Edit, Error, Items, Location, Result, ScopedDocument, UpdateDocuments,
    UpdateScopedDocuments,
};
use leafbase_tree_ops::{Context, DocumentUpdate, PatchedDocument};

use super::scoped::shown;
use super::titles::{normalized, titled};
use crate::core::access::{AccessScope, FullAccess, Scoped};
use crate::core::batch::BatchAccess;
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::transaction::OperationTransaction;
use crate::core::tree::Tree;
use crate::operations::files::named;

impl<A: FullAccess> Connection<A> {
    /// Changes titles and locations of documents, and returns the documents in the order of the
    /// request. A location out of the trash restores a document. A document as a reply has it
    /// changes nothing.
    ///
    /// ```
    /// use leafbase::{DocumentPatch, ErrorKind, UpdateDocuments};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let travel = notes.create_folder("Travel", None)?;
    /// let trip = notes.create_document("Trip")?;
    /// let patch = DocumentPatch::of(trip.id()).titled("Trip to Lisbon").moved_to(travel.id);
    /// let updated = notes.update_documents(UpdateDocuments::new([patch.if_rev(trip.rev())]))?;
    /// assert_eq!((&*updated[0].title, updated[0].rev()), ("Trip to Lisbon", trip.rev() + 1));
    /// let late = DocumentPatch::of(trip.id()).titled("Holidays").if_rev(trip.rev());
    /// let late = notes.update_documents(UpdateDocuments::new([late])).unwrap_err();
    /// assert_eq!(late.kind(), ErrorKind::Conflict);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The path names the first bad entry, and nothing is changed. At `documents[n].id`:
    /// [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::Validation`] for a document named
    /// twice; [`crate::ErrorKind::RuleViolation`] for the inbox. At `documents[n].rev`:
    /// [`crate::ErrorKind::Conflict`] if the document no longer has it. At
    /// `documents[n].location`: [`crate::ErrorKind::RuleViolation`] for a daily note that would
    /// move, and for a location to which documents are not moved;
    /// [`crate::ErrorKind::NotFound`] at its `folderId`. At `documents[n].title`: those of a
    /// document's title; [`crate::ErrorKind::RuleViolation`] for a document that stays in the
    /// trash. At `documents`: [`crate::ErrorKind::LimitExceeded`] for more than
    /// [`crate::Limits::blocks_per_request`].
    pub fn update_documents(&self, request: UpdateDocuments) -> Result<Items<Document>> {
        let patches = request.documents;
        self.write_patches(&patches, |transaction| {
            transaction.plan_with_reader(|reader, _| {
                let row = |patch: &DocumentPatch| {
                    let row = reader.stored_document(patch.id)?.ok_or_else(Error::no_document)?;
                    Ok(titled(row, false))
                };
                patches.iter().map(row).collect::<Result<_>>().map(Items)
            })
        })
    }
}

impl Connection<Scoped> {
    /// Changes titles of documents, and returns the documents in the order of the request. A
    /// document as a reply has it changes nothing; links that it shows as hidden stay.
    ///
    /// ```
    /// use leafbase::{ScopedDocumentPatch, UpdateScopedDocuments};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?.id();
    /// let patch = ScopedDocumentPatch::of(trip).titled("Trip to Lisbon");
    /// space.scoped([trip]).update_documents(UpdateScopedDocuments::new([patch]))?;
    /// assert_eq!(space.connect().document(trip)?.title, "Trip to Lisbon");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The path names the first bad entry, and nothing is changed. At `documents[n].id`:
    /// [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::Validation`] for a document named
    /// twice. At `documents[n].title`: those of a document's title, and
    /// [`crate::ErrorKind::NotFound`] for a file that it did not name before and that is not seen.
    /// At `documents`: [`crate::ErrorKind::LimitExceeded`] for more than
    /// [`crate::Limits::blocks_per_request`].
    pub fn update_documents(
        &self,
        request: UpdateScopedDocuments,
    ) -> Result<Items<ScopedDocument>> {
        self.write_titles(request)
    }
}

impl Connection<BatchAccess<'_, Scoped>> {
    /// Changes titles of documents in the batch, as the connection does that began it.
    ///
    /// # Errors
    /// As without a batch.
    pub fn update_documents(
        &self,
        request: UpdateScopedDocuments,
    ) -> Result<Items<ScopedDocument>> {
        self.write_titles(request)
    }
}

impl<A: AccessScope> Connection<A> {
    fn write_titles(&self, request: UpdateScopedDocuments) -> Result<Items<ScopedDocument>> {
        let patches: Vec<_> = request
            .documents
            .into_iter()
            .map(|patch| {
                let mut update = DocumentPatch::of(patch.id);
                update.title = patch.title;
                update
            })
            .collect();
        self.write_patches(&patches, |transaction| {
            transaction.plan(|tree, _| {
                let links = LinkRedactor::new(tree);
                let row = |patch: &DocumentPatch| {
                    let row = tree.stored_document(patch.id)?.ok_or_else(Error::no_document)?;
                    shown(&links, row, false)
                };
                patches.iter().map(row).collect::<Result<_>>().map(Items)
            })
        })
    }

    /// Applies `patches` and returns what `reply` reads then.
    fn write_patches<T>(
        &self,
        patches: &[DocumentPatch],
        reply: impl Fn(&mut OperationTransaction<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        let (most, found) = (self.limits().blocks_per_request, patches.len());
        self.prepare(|| {
            if found > most {
                return Err(Error::limit("documents in one request", most, found).at("documents"));
            }
            Ok(())
        })?;
        let (updated, _) = self.operation("update_documents").write(|transaction| {
            let edits = transaction.plan(|tree, context| planned(tree, context, patches))?;
            transaction.apply(edits)?;
            reply(transaction)
        })?;
        Ok(updated)
    }
}

fn planned(tree: &Tree<'_>, context: &Context<'_>, patches: &[DocumentPatch]) -> Result<Vec<Edit>> {
    let (mut update, links) = (DocumentUpdate::new(tree, context), LinkRedactor::new(tree));
    let mut edits = Vec::new();
    for (index, patch) in patches.iter().enumerate() {
        let at = |error: Error| error.at(format_args!("documents[{index}]"));
        let found = update.find(patch).map_err(at)?;
        check_folder(tree, patch).map_err(at)?;
        let title = new_title(tree, context, &links, &found, patch.title.as_deref());
        let planned = title.and_then(|title| found.edits(context, title));
        edits.append(&mut planned.map_err(|error| at(error.at("title")))?);
    }
    Ok(edits)
}

/// Checks that the folder to move to exists. A scoped call names none.
fn check_folder(tree: &Tree<'_>, patch: &DocumentPatch) -> Result<()> {
    match patch.location {
        Some(Location::Folder(folder)) if tree.full_reader()?.folder(folder)?.is_none() => {
            Err(Error::no_folder().at("location.folderId"))
        }
        _ => Ok(()),
    }
}

/// The normalized title, if it is not the present one. Errors have no path.
fn new_title(
    tree: &Tree<'_>,
    context: &Context<'_>,
    links: &LinkRedactor<'_, '_>,
    found: &PatchedDocument,
    given: Option<&str>,
) -> Result<Option<String>> {
    let (before, Some(given)) = (&found.root.data, given) else { return Ok(None) };
    let mut title = given.to_owned();
    links.restore(before, &mut title)?;
    if title == before.inline {
        return Ok(None);
    }
    let title = normalized(&title, context.limits)?;
    named::check_title(tree, Some(before), &title)?;
    Ok(Some(title))
}
