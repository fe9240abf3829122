//! The search for blocks in all documents that filters select.

use leafbase_model::{
    BlockId, BlockMatch, DocumentId, Error, ErrorKind, ItemsPage, Result, SearchBlocks,
    SearchDocuments,
};
use leafbase_tree_ops::ReadTree;

use super::blocks::{BlockPage, fingerprint};
use super::candidates::NewestCandidates;
use super::patterns::{PatternSet, PatternSetMatcher};
use super::texts::VisibleTexts;
use crate::core::access::AccessScope;
use crate::core::connection::Connection;

impl<A: AccessScope> Connection<A> {
    pub(super) fn search_documents_for_blocks(
        &self,
        request: &SearchBlocks,
    ) -> Result<ItemsPage<BlockMatch>> {
        self.check_ids("documentIds", request.document_ids.as_ref())?;
        self.check_ids("folderIds", request.filter.folders.as_ref())?;
        if self.access().door().is_some() {
            let message = "a batch searches a block or document that it names";
            return Err(Error::validation(message).at("blockId"));
        }
        let patterns = PatternSet::new("pattern", &request.patterns, request.case_sensitive)?;
        let fingerprint = fingerprint(request)?;
        let cursor = request.paging.cursor.as_deref();
        let position = cursor.map(|text| DocumentPosition::read(fingerprint, text)).transpose()?;
        let search = selection(request);
        let candidates = self.find_candidates(&search)?;
        self.operation("search_blocks").read(|tree| {
            let texts = VisibleTexts::new(tree);
            let candidates = self.newest_candidates(tree, &search, &candidates)?;
            let mut across = BlocksAcross {
                texts: &texts,
                matcher: patterns.matcher(),
                page: BlockPage::new(request),
            };
            let next = across.run(&candidates, position)?;
            let next_cursor = next.map(|next| next.write(fingerprint));
            Ok(ItemsPage { items: across.page.items, next_cursor })
        })
    }
}

/// A search for the documents. Ignoring case, it finds at least those that matter.
fn selection(request: &SearchBlocks) -> SearchDocuments {
    let mut search = SearchDocuments::default();
    search.regexps.clone_from(&request.patterns);
    search.document_ids.clone_from(&request.document_ids);
    search.mode = request.mode;
    search.filter = request.filter.clone();
    search
}

/// Where a page ends: in a document after a match, or before a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DocumentPosition {
    document: DocumentId,
    last: Option<BlockId>,
}

impl DocumentPosition {
    fn write(self, fingerprint: u64) -> String {
        let last = self.last.map_or_else(String::new, |last| last.to_string());
        format!("d{fingerprint:016x}{}{last}", self.document)
    }

    fn read(fingerprint: u64, text: &str) -> Result<Self> {
        let foreign = || Error::validation("the cursor is not of this search").at("cursor");
        let ids = text.strip_prefix('d').and_then(|text| {
            // An ID as text has 26 characters.
            text.strip_prefix(&format!("{fingerprint:016x}"))?.split_at_checked(26)
        });
        let (document, last) = ids.ok_or_else(foreign)?;
        let last = (!last.is_empty()).then(|| last.parse().map_err(|_| foreign()));
        let document = document.parse().map_err(|_| foreign())?;
        Ok(Self { document, last: last.transpose()? })
    }
}

/// Fills a page with the matches of one document after the other.
struct BlocksAcross<'a, 'b, 'r> {
    texts: &'b VisibleTexts<'b, 'a>,
    matcher: PatternSetMatcher<'r>,
    page: BlockPage<'r>,
}

impl BlocksAcross<'_, '_, '_> {
    /// Searches the documents from a position on, and returns where the next page begins.
    fn run(
        &mut self,
        candidates: &NewestCandidates<'_, '_>,
        position: Option<DocumentPosition>,
    ) -> Result<Option<DocumentPosition>> {
        let first = position.map(|position| position.document);
        let mut has_searched = false;
        for document in candidates.from(first) {
            let document = document?;
            let last = position.filter(|position| position.document == document);
            let complete = self.page.items.len();
            match self.search(document, last.and_then(|position| position.last)) {
                // The steps are those of this document with the previous ones: it begins the next
                // page, with a budget of its own.
                Err(error) if error.kind() == ErrorKind::LimitExceeded && has_searched => {
                    self.page.items.truncate(complete);
                    return Ok(Some(DocumentPosition { document, last: None }));
                }
                searched => searched?,
            }
            if self.page.has_more {
                let last = self.page.items.last();
                return Ok(last.map(|last| DocumentPosition {
                    document: last.document_id,
                    last: Some(last.block_id),
                }));
            }
            has_searched = true;
        }
        Ok(None)
    }

    fn search(&mut self, document: DocumentId, last: Option<BlockId>) -> Result<()> {
        // Texts are matched as they are stored first: most candidates have no match, and are not
        // read block by block.
        if self.texts.count_matches(&[document], &mut self.matcher)?.is_empty() {
            return Ok(());
        }
        let Some(located) = self.texts.tree.locate(document.root())? else { return Ok(()) };
        let top = (located.document, document.root());
        self.page.search(self.texts, top, &mut self.matcher, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_read_back() {
        let document = DocumentId::from_bytes([7; 16]);
        for last in [None, Some(BlockId::from_bytes([9; 16]))] {
            let position = DocumentPosition { document, last };
            let text = position.write(5);
            assert_eq!(DocumentPosition::read(5, &text).unwrap(), position);
            let is_other = |text: &str| DocumentPosition::read(5, text).is_err();
            assert!(DocumentPosition::read(6, &text).is_err());
            assert!(is_other("") && is_other(&text[..30]) && is_other(&format!("{text}0")));
        }
    }
}
