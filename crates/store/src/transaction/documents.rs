//! Edits of documents: create, erase and update.

use leafbase_model::{DocumentId, DocumentRecord, Location, Result, Subtrees};

use super::SpaceTransaction;
use super::errors::{conflict, missing};
use super::staged::tag_rows::relist_tags;
use super::subtrees::EncodedSubtrees;
use crate::document_index::note_day;
use crate::keyspaces;
use crate::lookup::contains;
use crate::records;
use crate::records::change::EncodedBlocks;
use crate::records::document::StoredDocument;

impl SpaceTransaction<'_> {
    /// Something of the document changes now.
    pub(super) fn touch(&mut self, document: DocumentId) -> Result<()> {
        self.documents.touch(&*self.rows, &self.cache, document, Some(self.stamp.at))
    }

    /// The change names the document, whose modification time stays.
    pub(super) fn touch_without_stamp(&mut self, document: DocumentId) -> Result<()> {
        self.documents.touch(&*self.rows, &self.cache, document, None)
    }

    /// The document keeps the times in `record`: they may be those of one that was erased.
    pub(super) fn create_document(
        &mut self,
        record: &DocumentRecord,
        subtrees: &Subtrees,
    ) -> Result<EncodedBlocks> {
        self.check_location(record)?;
        let last_change = self.documents.sequence();
        let staged = self.documents.load(&*self.rows, &self.cache, record.id)?;
        if staged.now.is_some() {
            return Err(conflict("the document already exists"));
        }
        let title =
            subtrees.0.first().map_or_else(String::new, |root| root.block.data.inline.clone());
        let blocks = subtrees.0.len() as u64;
        staged.create(StoredDocument { record: record.clone(), title, blocks, last_change });
        let subtrees = EncodedSubtrees::of_document(record.id, subtrees)?;
        self.insert_document_tree(record.id, &subtrees)?;
        Ok(subtrees.encoded)
    }

    /// Sets `record` to the one to log, whose modification time and revision the caller need not
    /// know.
    pub(super) fn erase_document(
        &mut self,
        record: &mut DocumentRecord,
        subtrees: &Subtrees,
    ) -> Result<EncodedBlocks> {
        let staged = self.documents.load(&*self.rows, &self.cache, record.id)?;
        let stored = staged.now.clone().ok_or_else(|| missing("the document"))?;
        check_unchanged(&stored.record, record)?;
        let subtrees = EncodedSubtrees::of_document(record.id, subtrees)?;
        self.remove_document_tree(record.id, &subtrees)?;
        if stored.blocks != subtrees.len() as u64 {
            return Err(records::corrupt(&keyspaces::document(record.id)));
        }
        self.erase_host_records(record.id)?;
        // Before it has no location: their counts follow from it.
        self.flush_tags()?;
        let staged = self.documents.load(&*self.rows, &self.cache, record.id)?;
        *record = staged.erase().ok_or_else(|| missing("the document"))?;
        Ok(subtrees.encoded)
    }

    pub(super) fn update_document(
        &mut self,
        before: &DocumentRecord,
        after: &DocumentRecord,
    ) -> Result<()> {
        if before.id != after.id {
            return Err(conflict("an update cannot change the ID of a document"));
        }
        if (before.location, before.day) != (after.location, after.day) {
            self.check_location(after)?;
            // While it is where they are counted.
            self.flush_tags()?;
        }
        let staged = self.documents.load(&*self.rows, &self.cache, before.id)?;
        let StoredDocument { record, .. } =
            staged.now.as_mut().ok_or_else(|| missing("the document"))?;
        check_unchanged(record, before)?;
        let is_changed = record.changes_at(after.location);
        let DocumentRecord { modified_at, rev, .. } = *record;
        *record = DocumentRecord { modified_at, rev, ..after.clone() };
        if is_changed {
            staged.change(self.stamp.at);
        }
        relist_tags(self.rows, after.id, [before.location, after.location])?;
        self.relist_tasks(before, after)
    }

    /// A space has one inbox, a day one note outside of the trash, and the folder of a document
    /// exists.
    fn check_location(&mut self, record: &DocumentRecord) -> Result<()> {
        match record.location {
            Location::Inbox
                if self.documents.inbox(&*self.rows)?.is_some_and(|id| id != record.id) =>
            {
                return Err(conflict("the space already has an inbox"));
            }
            // Folders are not staged, so no flush is needed.
            Location::Folder(folder) if !contains(&*self.rows, &keyspaces::folder(folder))? => {
                return Err(missing("the folder"));
            }
            _ => {}
        }
        let Some(day) = note_day(record) else { return Ok(()) };
        match self.reader()?.note_of(day)? {
            Some(note) if note.id != record.id => {
                Err(conflict(format!("{day} already has a daily note")))
            }
            _ => Ok(()),
        }
    }
}

/// Compares all but the modification time and the revision, which every write sets.
fn check_unchanged(stored: &DocumentRecord, expected: &DocumentRecord) -> Result<()> {
    let DocumentRecord { modified_at, rev, .. } = *stored;
    if *stored == (DocumentRecord { modified_at, rev, ..expected.clone() }) {
        Ok(())
    } else {
        Err(conflict("the document has changed"))
    }
}
