//! Documents: making, listing, finding.

use leafbase_model::{
    BlockData, BlockDraft, BlockId, Day, Destination, Document, DocumentId, DocumentRecord, Error, Items,
    ListDocuments, Location, Result,
};
use leafbase_store::{Listing, Reader};
use leafbase_tree_ops as ops;
use leafbase_tree_ops::ReadTree;

use crate::connection::{Connection, Writing};
use crate::prepare;
use crate::sight::{Full, Sight};

/// How many documents one look-up of a listing reads.
const PAGE: usize = 1_000;
/// The title of the hidden document that keeps the tasks of the inbox.
const INBOX: &str = "Inbox";

impl Connection<Full> {
    /// Makes an empty document with this title (inline markdown) in no folder.
    ///
    /// # Errors
    /// [`crate::ErrorKind::LimitExceeded`] if the title is too long.
    pub fn create_document(&self, title: &str) -> Result<Document> {
        self.create_document_of(BlockDraft::new(BlockData::page(title)), Destination::Unsorted)
    }

    /// Makes a document from a page with its content, kept at `destination`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::RuleViolation`] if `page` is no page; [`crate::ErrorKind::NotFound`] if the folder does not exist; and as
    /// for insertion.
    pub fn create_document_of(&self, page: BlockDraft, destination: impl Into<Destination>) -> Result<Document> {
        let location = Location::from(destination.into());
        if let Err(error) = ops::check_root(&page.data, location) {
            ops::take_apart(vec![page]);
            return Err(error);
        }
        let page = prepare::document(page, self.limits())?;
        let (record, _) = self.write(|writing| {
            if let Location::Folder(folder) = location
                && writing.transaction.reader()?.folder(folder)?.is_none()
            {
                return Err(Error::not_found().at("destination.folderId"));
            }
            create(writing, page.clone(), location, None)
        })?;
        Ok(Document { title: page.data.markdown, record, with_times: false, clickable_link: None })
    }
}

impl<S: Sight> Connection<S> {
    /// Every document that the connection sees, by ID, without metadata. Costs what it returns.
    ///
    /// # Errors
    /// What the store reports.
    pub fn documents(&self) -> Result<Items<Document>> {
        self.list_documents(ListDocuments::new())
    }

    /// The documents that the connection sees, by ID, as the request asks for them. Costs what it returns.
    ///
    /// # Errors
    /// What the store reports.
    pub fn list_documents(&self, request: ListDocuments) -> Result<Items<Document>> {
        self.read(|tree, snapshot| {
            let reader = snapshot.reader();
            let (mut found, mut cursor) = (Vec::new(), None);
            loop {
                let page = reader.documents(Listing::All, false, cursor.as_ref(), PAGE)?;
                for record in page.documents {
                    if self.sight.admits(&record) {
                        found.push(shown(tree, record, request.metadata)?);
                    }
                }
                cursor = page.next;
                if cursor.is_none() {
                    return Ok(Items(found));
                }
            }
        })
    }

    /// The document, with its times.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`].
    pub fn document(&self, id: DocumentId) -> Result<Document> {
        self.read(|tree, _| {
            let record = tree.document(id)?.ok_or_else(Error::not_found)?;
            shown(tree, record, true)
        })
    }

    /// The document that `block` belongs to. One look-up.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`].
    pub fn document_of(&self, block: impl Into<BlockId>) -> Result<DocumentId> {
        self.read(|tree, _| Ok(tree.locate(block.into())?.ok_or_else(Error::not_found)?.document))
    }
}

fn shown(tree: &impl ReadTree, record: DocumentRecord, with_times: bool) -> Result<Document> {
    let root = tree.block(record.id.root())?;
    let root = root.ok_or_else(|| Error::corrupted(format_args!("document {}: it has no root block", record.id)))?;
    Ok(Document { record, title: root.data.markdown, with_times, clickable_link: None })
}

/// Makes a document from `page`, which was made ready.
pub(crate) fn create<S: Sight>(
    writing: &mut Writing<'_, '_, S>,
    page: BlockDraft,
    location: Location,
    day: Option<Day>,
) -> Result<DocumentRecord> {
    let created = ops::create_document(&writing.context, page, location, day)?;
    writing.apply(created.edits)?;
    Ok(created.record)
}

/// The note of `day`, made if there is none.
pub(crate) fn daily_note<S: Sight>(writing: &mut Writing<'_, '_, S>, day: Day) -> Result<DocumentId> {
    if let Some(note) = find_daily_note(writing.transaction.reader()?, day)? {
        return Ok(note.id);
    }
    let page = BlockDraft::new(BlockData::page(crate::days::long_form(day)));
    Ok(create(writing, page, Location::DailyNotes, Some(day))?.id)
}

/// The note of `day`, if there is one out of the trash.
pub(crate) fn find_daily_note(reader: Reader<'_>, day: Day) -> Result<Option<DocumentRecord>> {
    let found = reader.documents(Listing::Days { from: Some(day), to: Some(day) }, false, None, PAGE)?;
    Ok(found.documents.into_iter().find(|record| record.location != Location::Trash))
}

/// The inbox of tasks, made if there is none: a hidden document, of which a space has one at most.
#[allow(dead_code, reason = "the task operations begin with it")]
pub(crate) fn inbox<S: Sight>(writing: &mut Writing<'_, '_, S>) -> Result<DocumentId> {
    let found = writing.transaction.reader()?.documents(Listing::At(Location::Inbox), false, None, 1)?;
    if let Some(inbox) = found.documents.first() {
        return Ok(inbox.id);
    }
    Ok(create(writing, BlockDraft::new(BlockData::page(INBOX)), Location::Inbox, None)?.id)
}
