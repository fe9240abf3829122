//! Pages that a scope names, read as documents of their own: their blocks are located in the page,
//! which has no parent, and rows that are kept by document are read from the one that contains it.

use leafbase_model::{
    BlockId, BlockLocation, DocumentId, DocumentRecord, Edit, Error, Location, Result,
};
use leafbase_store::StoredDocument;

use super::Tree;
use crate::core::scope_roots::is_shown_as_page;

/// Where a page of the scope is.
struct PagePlace {
    /// The outermost page of the scope that contains a block.
    page: BlockId,
    /// How many blocks are around the page.
    levels: usize,
}

impl Tree<'_> {
    /// Where a block is, as seen from the page of the scope that contains it, if one does.
    pub(super) fn locate_in_page(
        &self,
        block: BlockId,
        location: BlockLocation,
    ) -> Result<Option<BlockLocation>> {
        let place = self.page_around(block, location)?;
        Ok(place.map(|PagePlace { page, .. }| BlockLocation {
            document: DocumentId::of_root(page),
            parent: location.parent.filter(|_| block != page),
        }))
    }

    fn page_around(&self, block: BlockId, location: BlockLocation) -> Result<Option<PagePlace>> {
        if !self.visibility().has_pages() || !self.shows_pages_of(location.document)? {
            return Ok(None);
        }
        let (mut found, mut levels) = (None, 0);
        let (mut at, mut parent) = (block, location.parent);
        loop {
            if self.visibility().names_page(at) && self.is_page(at)? {
                found = Some((at, levels));
            }
            let Some(above) = parent else { break };
            levels += 1;
            parent = self
                .reader
                .locate(above)?
                .filter(|_| levels < MAX_LEVELS)
                .ok_or_else(|| {
                    Error::corrupted(format_args!(
                        "the ancestors of block {block} do not end in a root"
                    ))
                })?
                .parent;
            at = above;
        }
        debug_assert!(found.is_none_or(|(_, below)| below <= levels), "a page is on the way up");
        Ok(found.map(|(page, below)| PagePlace { page, levels: levels - below }))
    }

    /// Whether pages of the document can be seen.
    fn shows_pages_of(&self, document: DocumentId) -> Result<bool> {
        let record = self.reader.document(document)?;
        let is_hidden = |location| matches!(location, Location::Trash | Location::Inbox);
        Ok(record.is_some_and(|record| !is_hidden(record.location)))
    }

    fn is_page(&self, block: BlockId) -> Result<bool> {
        Ok(self.reader.block(block)?.is_some_and(|record| is_shown_as_page(&record)))
    }

    /// The place of a page that the scope shows as a document.
    fn page_place(&self, document: DocumentId) -> Result<Option<PagePlace>> {
        let page = document.root();
        if !self.visibility().names_page(page) {
            return Ok(None);
        }
        let Some(location) = self.reader.look_up(page)? else { return Ok(None) };
        if self.visibility().contains(location.document) {
            return Ok(None);
        }
        Ok(self.page_around(page, location)?.filter(|place| place.page == page))
    }

    /// Whether the scope shows a page as a document.
    pub(super) fn can_see_page(&self, document: DocumentId) -> Result<bool> {
        Ok(self.page_place(document)?.is_some())
    }

    /// How many levels are above the root of a document.
    pub(super) fn levels_above_root(&self, document: DocumentId) -> Result<usize> {
        Ok(self.page_place(document)?.map_or(0, |place| place.levels))
    }

    /// Whether `document` is a page that is shown as a part of another page or document.
    pub(crate) fn is_part_of_another(&self, document: DocumentId) -> Result<bool> {
        if !self.visibility().names_page(document.root()) {
            return Ok(false);
        }
        let location = self.locate_visible(document.root())?;
        Ok(location.is_some_and(|location| location.document != document))
    }

    /// The document by which the rows of `document` are kept: another one if it is a page.
    pub(crate) fn stored_in(&self, document: DocumentId) -> Result<DocumentId> {
        let page = document.root();
        if !self.visibility().names_page(page) {
            return Ok(document);
        }
        Ok(self.reader.locate(page)?.map_or(document, |location| location.document))
    }

    /// Turns an edit that was planned as in documents of their own into one of the documents that
    /// contain the pages.
    pub(in crate::core) fn store_edit(&self, edit: &mut Edit) -> Result<()> {
        for document in edit.content_documents_mut() {
            *document = self.stored_in(*document)?;
        }
        Ok(())
    }

    /// The row of the document that a page is shown as. Its times and its revision come from the
    /// block of the page: those of the containing document would reveal hidden writes.
    pub(super) fn page_row(&self, document: DocumentId) -> Result<Option<StoredDocument>> {
        if self.page_place(document)?.is_none() {
            return Ok(None);
        }
        let missing = || Error::corrupted(format_args!("page {document} has no record"));
        let page = self.reader.block(document.root())?.ok_or_else(missing)?;
        let record = DocumentRecord {
            rev: page.rev,
            modified_at: page.modified.at,
            ..DocumentRecord::new(document, Location::Unsorted, None, page.created.at)
        };
        Ok(Some(StoredDocument { record, title: page.data.inline, blocks: 0, last_change: 0 }))
    }
}

/// Upper bound of the depth of a tree. A longer chain of parents has a cycle.
const MAX_LEVELS: usize = u16::MAX as usize;
