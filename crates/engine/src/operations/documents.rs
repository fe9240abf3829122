//! Documents: create, find, trash, restore and purge.

use leafbase_model::{
    BlockData, BlockDraft, BlockId, CreateDocuments, Day, DeleteDocuments, Destination, Document,
    DocumentId, DocumentRecord, Edit, Error, ErrorKind, Items, Location, MoveDocuments,
    PurgeDocuments, RestoreDailyNotes, Result, Timestamp, invariant,
};
use leafbase_store::{DocumentQuery, IndexOrder, SpaceReader, Span, Within};
use leafbase_tree_ops as ops;
use leafbase_tree_ops::ReadTree;

use crate::core::access::{AccessScope, Full, FullAccess};
use crate::core::connection::Connection;
use crate::core::transaction::OperationTransaction;
use crate::operations::drafts;

pub(crate) mod list;
pub(crate) mod properties;
pub(crate) mod query;
pub(crate) mod scoped;
pub(crate) mod titles;
mod update;

use query::find;
use titles::titled;

/// Title of the hidden document with the tasks of the inbox.
const INBOX_TITLE: &str = "Inbox";
/// Milliseconds of a day of [`PurgeDocuments::OlderThanDays`], independent of the space's time
/// zone.
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

impl<A: FullAccess> Connection<A> {
    /// Creates an empty document with this title (inline markdown) in `unsorted`.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip to *Lisbon*")?;
    /// assert_eq!(notes.document(trip.id())?.title, "Trip to *Lisbon*");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::LimitExceeded`] if the title is too long.
    pub fn create_document(&self, title: &str) -> Result<Document> {
        self.create_document_of(BlockDraft::new(BlockData::page(title)), Destination::Unsorted)
    }

    /// Creates a document from a page with its content at `destination`.
    ///
    /// ```
    /// use leafbase::{BlockData, BlockDraft, Destination};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let packing = BlockDraft::new(BlockData::text("passport"));
    /// let page = BlockDraft::new(BlockData::page("Packing")).with_content(vec![packing]);
    /// let template = notes.create_document_of(page, Destination::Templates)?;
    /// assert_eq!(notes.content_markdown(template.id())?, "passport");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::RuleViolation`] if `page` is of another type;
    /// [`crate::ErrorKind::NotFound`] if the folder does not exist; and the errors of insertion.
    pub fn create_document_of(
        &self,
        page: BlockDraft,
        destination: impl Into<Destination>,
    ) -> Result<Document> {
        let destination = destination.into();
        let page = self.prepare(|| self.root_of(page, destination))?;
        let made = self.create_pages("create_document", vec![page], destination)?;
        let Some(document) = made.into_iter().next() else {
            invariant!("one page creates one document")
        };
        Ok(document)
    }

    /// Creates documents from pages with their content, all at one destination. Returns them in the
    /// order of the request, each with a clickable link.
    ///
    /// ```
    /// use leafbase::CreateDocuments;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let made = notes.create_documents(CreateDocuments::titled(["Lisbon", "Porto"]))?;
    /// assert_eq!(made[1].title, "Porto");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Below `documents[n]`, those of [`Self::create_document_of`];
    /// [`crate::ErrorKind::LimitExceeded`] at `documents` if they have more blocks together than
    /// one request may; [`crate::ErrorKind::NotFound`] at `destination.folderId`.
    pub fn create_documents(&self, request: CreateDocuments) -> Result<Items<Document>> {
        let CreateDocuments { documents, destination, .. } = request;
        let pages = self.prepare(|| self.roots_of(documents, destination))?;
        self.create_pages("create_documents", pages, destination).map(Items)
    }

    /// Moves documents to the trash, daily notes included, and returns the requested IDs. The day
    /// of a trashed daily note may get a new one.
    ///
    /// ```
    /// use leafbase::Location;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// notes.delete_documents(trip.id())?;
    /// assert_eq!(notes.document(trip.id())?.record.location, Location::Trash);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// That of the documents' tasks and tags, which lists leave out from then on.
    ///
    /// # Errors
    /// At `documentIds[n]`: [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::Validation`] for a
    /// document named twice; [`crate::ErrorKind::RuleViolation`] for one that is in the trash
    /// already, and for the inbox. On an error nothing is deleted.
    pub fn delete_documents(
        &self,
        request: impl Into<DeleteDocuments>,
    ) -> Result<Items<DocumentId>> {
        let DeleteDocuments { document_ids, .. } = request.into();
        self.operation("delete_documents").write(|transaction| {
            let deleted = transaction
                .plan(|tree, context| ops::delete_documents(tree, context, &document_ids))?;
            transaction.apply(deleted.edits)
        })?;
        Ok(Items(document_ids))
    }

    /// Moves documents to a destination and returns them. Moving a document out of the trash
    /// restores it.
    ///
    /// ```
    /// use leafbase::{Destination, MoveDocuments};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// notes.delete_documents(trip.id())?;
    /// // out of the trash
    /// notes.move_documents(MoveDocuments::new([trip.id()], Destination::Templates))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// Its records; out of the trash, and between templates and other places, also the documents'
    /// tasks and tags.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `destination.folderId`. At `documentIds[n]`:
    /// [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::Validation`] for a document named twice;
    /// [`crate::ErrorKind::RuleViolation`] for a daily note, in the trash or not, and for the
    /// inbox. On an error nothing is moved.
    pub fn move_documents(&self, request: MoveDocuments) -> Result<Items<Document>> {
        let MoveDocuments { document_ids, destination, .. } = request;
        self.relocate("move_documents", |transaction| {
            transaction.plan(|tree, context| {
                check_destination(tree.full_reader()?, destination)?;
                ops::move_documents(tree, context, &document_ids, destination)
            })
        })
    }

    /// Restores daily notes from the trash to their days and returns them.
    ///
    /// ```
    /// use leafbase::{DayRef, Position, RestoreDailyNotes};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let line = notes.insert_markdown("rain", Position::end_of_day(DayRef::Today))?[0].id;
    /// let note = notes.document_of(line)?;
    /// notes.delete_documents(note)?;
    /// notes.restore_daily_notes(RestoreDailyNotes::new([note]))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// At `documentIds[n]`: [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::Validation`] for a
    /// document named twice; [`crate::ErrorKind::RuleViolation`] for one that is not a daily note
    /// or is not in the trash; [`crate::ErrorKind::Conflict`] if its day has another note by now.
    /// On an error nothing is restored.
    pub fn restore_daily_notes(&self, request: RestoreDailyNotes) -> Result<Items<Document>> {
        let RestoreDailyNotes { document_ids, .. } = request;
        self.relocate("restore_daily_notes", |transaction| {
            transaction.plan(|tree, context| {
                ops::restore_daily_notes(tree, context, &document_ids, |day| tree.daily_note(day))
            })
        })
    }

    /// Validates and normalizes the pages that become roots of documents.
    fn roots_of(
        &self,
        given: Vec<BlockDraft>,
        destination: Destination,
    ) -> Result<Vec<BlockDraft>> {
        let (mut pages, mut blocks, most) = (Vec::new(), 0_usize, self.limits().blocks_per_request);
        for page in given {
            let at = |error: Error| error.at(format_args!("documents[{}]", pages.len()));
            let page = self.root_of(page, destination).map_err(at)?;
            blocks = blocks.saturating_add(page.walk().count());
            pages.push(page);
            if blocks > most {
                return Err(Error::limit("blocks in one request", most, blocks).at("documents"));
            }
        }
        Ok(pages)
    }

    fn root_of(&self, mut page: BlockDraft, destination: Destination) -> Result<BlockDraft> {
        ops::check_root(&page.data, destination.into())?;
        self.date(std::slice::from_mut(&mut page))?;
        drafts::validate_root(page, self.limits())
    }

    /// Creates documents from normalized pages.
    fn create_pages(
        &self,
        operation: &'static str,
        pages: Vec<BlockDraft>,
        destination: Destination,
    ) -> Result<Vec<Document>> {
        let (count, mut pages) = (pages.len(), Some(pages));
        let (made, _) = self.operation(operation).write(|transaction| {
            transaction.plan_with_reader(|reader, _| check_destination(reader, destination))?;
            let mut edits = transaction.take_earlier();
            if edits.is_empty() && count > 0 {
                // The drafts are consumed by the first run of the closure. A retry finds their
                // blocks in the edits of the earlier run; if there are none, that run had failed.
                let again = || {
                    Error::new(
                        ErrorKind::Storage,
                        "the write failed because one that it was based on failed; retry it",
                    )
                };
                for page in pages.take().ok_or_else(again)? {
                    edits.extend(
                        ops::create_document(&transaction.context, page, destination.into(), None)?
                            .edits,
                    );
                }
            }
            let made: Vec<_> = edits.iter().filter_map(made_by).collect();
            transaction.apply(edits)?;
            Ok(made)
        })?;
        Ok(made.into_iter().map(|(record, title)| self.created(record, title)).collect())
    }

    /// A new document in the form of the reply.
    pub(crate) fn created(&self, record: DocumentRecord, title: String) -> Document {
        let clickable_link = Some(self.space.block_url(record.id.root()));
        Document { record, title, with_times: false, with_destination: false, clickable_link }
    }

    /// The document with a link to it, if it is shown with metadata.
    pub(crate) fn linked(&self, document: Document) -> Document {
        let link = document.with_times.then(|| self.space.block_url(document.id()));
        Document { clickable_link: link, ..document }
    }

    /// Applies the edits of `plan` and returns the relocated documents.
    fn relocate(
        &self,
        operation: &'static str,
        plan: impl Fn(&mut OperationTransaction<'_, '_>) -> Result<ops::MovedDocuments>,
    ) -> Result<Items<Document>> {
        let (documents, _) = self.operation(operation).write(|transaction| {
            let ops::MovedDocuments { edits, records } = plan(transaction)?;
            transaction.apply(edits)?;
            // Read afterward: in a batch a document has one new revision, however often it moves.
            transaction.plan_with_reader(|reader, _| {
                let row = |record: &DocumentRecord| -> Result<Document> {
                    let row = reader.stored_document(record.id)?.ok_or_else(Error::no_document)?;
                    Ok(Document { with_destination: true, ..titled(row, false) })
                };
                records.iter().map(row).collect()
            })
        })?;
        Ok(Items(documents))
    }
}

impl<A: FullAccess> Connection<A> {
    /// The document, with its times.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let document = notes.document(trip.id())?;
    /// assert!(document.title == "Trip" && document.created_at() <= document.modified_at());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`].
    pub fn document(&self, id: DocumentId) -> Result<Document> {
        self.operation("document").read(|tree| {
            let row = tree.stored_document(id)?.ok_or_else(Error::no_document)?;
            Ok(self.linked(titled(row, true)))
        })
    }
}

impl Connection<Full> {
    /// Erases documents of the trash permanently, with all their blocks, and returns their IDs: the
    /// requested ones, or all that have been in the trash for the given time, oldest first. The
    /// time in the trash counts from the last change.
    ///
    /// The change log loses the content, too: texts, titles, values, comments and names of files of
    /// every block that was last in one of the documents are redacted in all earlier changes, which
    /// keep their sequences, times, authors and IDs. Undo of such a change is
    /// [`crate::ErrorKind::HistoryGone`]. Content that was moved or copied elsewhere stays, as do
    /// the names of folders. [`Space::compact`](crate::Space::compact) then removes the content
    /// from the files of the space; backups made before still have it.
    ///
    /// The cost is linear in the erased blocks and in the changes of the documents; where files go
    /// with them, in the change log.
    ///
    /// ```
    /// use leafbase::PurgeDocuments;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// notes.delete_documents(trip.id())?; // into the trash
    /// assert_eq!(*notes.purge_documents(PurgeDocuments::OlderThanDays(0))?, [trip.id()]);
    /// assert!(notes.document(trip.id()).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// At `documentIds[n]`: [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::Validation`] for a
    /// document named twice; [`crate::ErrorKind::RuleViolation`] for one that is not in the trash.
    /// On an error nothing is erased.
    pub fn purge_documents(&self, request: PurgeDocuments) -> Result<Items<DocumentId>> {
        let (named, days) = match request {
            PurgeDocuments::Documents(ids) => (Some(ids), 0),
            PurgeDocuments::OlderThanDays(days) => (None, days),
        };
        let (purged, _) = self.operation("purge_documents").write(|transaction| {
            let purged = if let Some(ids) = &named {
                transaction.plan(|tree, context| ops::check_purge(tree, context, ids))?;
                ids.clone()
            } else {
                let now = transaction.context.stamp.at;
                transaction.plan_with_reader(|reader, _| old_trash(reader, days, now))?
            };
            transaction.purge(&purged)?;
            Ok(purged)
        })?;
        Ok(Items(purged))
    }
}

impl<A: AccessScope> Connection<A> {
    /// The document that `block` belongs to. One look-up.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let line = notes.insert_markdown("passport", trip.id())?[0].id;
    /// assert_eq!(notes.document_of(line)?, trip.id());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`].
    pub fn document_of(&self, block: impl Into<BlockId>) -> Result<DocumentId> {
        self.operation("document_of")
            .read(|tree| Ok(tree.locate(block.into())?.ok_or_else(Error::no_block)?.document))
    }
}

/// Checks that `destination` exists.
pub(crate) fn check_destination(reader: SpaceReader<'_>, destination: Destination) -> Result<()> {
    match destination {
        Destination::Folder(folder) if reader.folder(folder)?.is_none() => {
            Err(Error::no_folder().at("destination.folderId"))
        }
        _ => Ok(()),
    }
}

/// Documents that have been in the trash for at least `days` days, oldest first.
fn old_trash(reader: SpaceReader<'_>, days: u32, now: Timestamp) -> Result<Vec<DocumentId>> {
    let latest = now.as_millis().saturating_sub(i64::from(days).saturating_mul(DAY_MILLIS));
    let query = DocumentQuery {
        within: Within::Location(Location::Trash),
        // 0 days means all, including documents that a clock set back later has stamped in the
        // future.
        modified: Span { from: None, to: (days > 0).then(|| Timestamp::from_millis(latest)) },
        order: IndexOrder::Modified,
        ..DocumentQuery::default()
    };
    let (found, _) = find(reader, &query, None, usize::MAX)?;
    Ok(found.into_iter().map(|row| row.record.id).collect())
}

/// The document that `edit` creates, and its title.
fn made_by(edit: &Edit) -> Option<(DocumentRecord, String)> {
    let Edit::CreateDocument { record, subtrees } = edit else { return None };
    Some((record.clone(), subtrees.0.first()?.block.data.inline.clone()))
}

/// Creates a document from a normalized `page`.
pub(crate) fn create(
    transaction: &mut OperationTransaction<'_, '_>,
    page: BlockDraft,
    location: Location,
    day: Option<Day>,
) -> Result<DocumentRecord> {
    let created = ops::create_document(&transaction.context, page, location, day)?;
    transaction.apply(created.edits)?;
    Ok(created.record)
}

/// The daily note of `day`, created if missing.
pub(crate) fn daily_note(
    transaction: &mut OperationTransaction<'_, '_>,
    day: Day,
) -> Result<DocumentId> {
    if let Some(note) = transaction.plan(|tree, _| tree.daily_note(day))? {
        return Ok(note.id);
    }
    let page = BlockDraft::new(BlockData::page(crate::support::days::long_form(day)));
    Ok(create(transaction, page, Location::DailyNotes, Some(day))?.id)
}

/// The inbox, a hidden document of which a space has at most one; created if missing.
pub(crate) fn inbox(transaction: &mut OperationTransaction<'_, '_>) -> Result<DocumentId> {
    if let Some(inbox) = transaction.plan_with_reader(|reader, _| reader.inbox())? {
        return Ok(inbox.id);
    }
    Ok(create(transaction, BlockDraft::new(BlockData::page(INBOX_TITLE)), Location::Inbox, None)?
        .id)
}
