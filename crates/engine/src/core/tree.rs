//! The scope guard over one state of the store: plans and replies read through it, so that hidden
//! blocks and documents are not found.

use std::cell::Cell;

use jiff::tz::TimeZone;
use leafbase_model::{
    AssetId, AssetRecord, BlockId, BlockLocation, BlockRecord, Comment, CommentId, Day, DocumentId,
    DocumentRecord, Error, Result, Subtrees, invariant,
};
use leafbase_store::{BackLink, EdgeEnd, EdgeKind, SpaceReader, SpaceSnapshot, StoredDocument};
use leafbase_tree_ops::ReadTree;

use crate::core::visibility::Visibility;
use crate::support::days;

mod collections;
mod pages;
mod tags;

/// How many back links are read at a time.
const LINKS_PER_READ: usize = 256;

/// Reads of one state of the store with the visibility of one call. Every ID that a request names
/// is looked up here.
pub(crate) struct Tree<'a> {
    reader: SpaceReader<'a>,
    visibility: Visibility,
    /// The block and the document last found to be visible: the steps of one operation ask for the
    /// same few again.
    visible_block: Cell<Option<(BlockId, BlockLocation)>>,
    visible_document: Cell<Option<DocumentId>>,
}

/// A snapshot with the visibility of one call. Threads that share it make a [`Tree`] each.
pub(crate) struct VisibleSnapshot {
    snapshot: SpaceSnapshot,
    visibility: Visibility,
}

impl VisibleSnapshot {
    pub(in crate::core) const fn new(snapshot: SpaceSnapshot, visibility: Visibility) -> Self {
        Self { snapshot, visibility }
    }

    #[cfg(test)]
    pub(crate) const fn for_tests(snapshot: SpaceSnapshot, visibility: Visibility) -> Self {
        Self::new(snapshot, visibility)
    }

    pub(crate) fn tree(&self) -> Tree<'_> {
        Tree::new(self.snapshot.reader(), self.visibility.clone())
    }
}

/// A comment with its block and document.
pub(crate) struct LocatedComment {
    pub(crate) document: DocumentId,
    pub(crate) block: BlockId,
    pub(crate) comment: Comment,
}

impl<'a> Tree<'a> {
    pub(in crate::core) const fn new(reader: SpaceReader<'a>, visibility: Visibility) -> Self {
        Self {
            reader,
            visibility,
            visible_block: Cell::new(None),
            visible_document: Cell::new(None),
        }
    }

    /// The store's reader for calls that may see the whole space.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] on a scoped call: an operation that scoped connections have reads
    /// by [`Self::reader_of`] and [`Self::reader_at`].
    pub(crate) fn full_reader(&self) -> Result<SpaceReader<'a>> {
        invariant!(
            self.is_unrestricted(),
            "only calls that may see the whole space read it without the scope guard"
        );
        Ok(self.reader)
    }

    /// The store's reader for the content of `document`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the document is hidden.
    pub(crate) fn reader_of(&self, document: DocumentId) -> Result<SpaceReader<'a>> {
        if self.can_see_document(document)? { Ok(self.reader) } else { Err(Error::no_document()) }
    }

    /// The store's reader for the content of `block` and the rest of its document.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the block is hidden.
    pub(crate) fn reader_at(&self, block: BlockId) -> Result<SpaceReader<'a>> {
        if self.is_hidden(block)? { Err(Error::no_block()) } else { Ok(self.reader) }
    }

    /// The store's reader without the guard: for what follows from data that the guard let pass.
    pub(in crate::core) const fn unguarded(&self) -> SpaceReader<'a> {
        self.reader
    }

    pub(crate) const fn visibility(&self) -> &Visibility {
        &self.visibility
    }

    /// Whether the call may see the whole space, so that nothing has to be looked up to decide.
    pub(crate) const fn is_unrestricted(&self) -> bool {
        self.visibility.is_unrestricted()
    }

    /// Whether `block` exists and is visible.
    pub(crate) fn can_see(&self, block: BlockId) -> Result<bool> {
        Ok(self.locate_visible(block)?.is_some())
    }

    /// Where `block` is, if it is visible. A block that does not exist takes the same look-ups as a
    /// hidden one, so that the time taken does not tell them apart.
    fn locate_visible(&self, block: BlockId) -> Result<Option<BlockLocation>> {
        if self.is_unrestricted() {
            return self.reader.locate(block);
        }
        if let Some((_, location)) = self.visible_block.get().filter(|(known, _)| *known == block) {
            return Ok(Some(location));
        }
        let location = self.reader.look_up(block)?;
        let document =
            location.map_or(DocumentId::of_root(BlockId::NIL), |location| location.document);
        let is_visible = self.can_see_document(document)?;
        let location = match location {
            Some(location) if !is_visible => self.locate_in_page(block, location)?,
            location => location,
        };
        debug_assert!(
            location.is_none_or(|location| self.visibility.contains(location.document)),
            "a visible block is in a document of the scope"
        );
        if let Some(location) = location {
            self.visible_block.set(Some((block, location)));
        }
        Ok(location)
    }

    /// Whether `document` exists and is visible.
    pub(crate) fn can_see_document(&self, document: DocumentId) -> Result<bool> {
        if self.is_unrestricted() || self.visible_document.get() == Some(document) {
            return Ok(true);
        }
        let is_visible = self
            .reader
            .look_up_document(document)?
            .is_some_and(|record| self.visibility.allows(&record))
            || self.can_see_page(document)?;
        if is_visible {
            self.visible_document.set(Some(document));
        }
        Ok(is_visible)
    }

    fn is_hidden(&self, block: BlockId) -> Result<bool> {
        Ok(!self.is_unrestricted() && self.locate_visible(block)?.is_none())
    }

    /// The time zone of the space.
    pub(crate) fn zone(&self) -> Result<TimeZone> {
        days::zone(&self.reader.meta()?.zone)
    }

    /// The stored row of `document`, or that of a page as one, if it is visible.
    pub(crate) fn stored_document(&self, document: DocumentId) -> Result<Option<StoredDocument>> {
        let row = self.reader.stored_document(document)?;
        match row.filter(|row| self.visibility.allows(&row.record)) {
            Some(row) => Ok(Some(row)),
            None => self.page_row(document),
        }
    }

    /// The note of `day`, if it exists outside of the trash and is visible.
    pub(crate) fn daily_note(&self, day: Day) -> Result<Option<DocumentRecord>> {
        Ok(self.reader.note_of(day)?.filter(|note| self.visibility.allows(note)))
    }

    /// The comments on `blocks`, which are sorted, of a document; none if the document is hidden.
    pub(crate) fn comments_among(
        &self,
        document: DocumentId,
        blocks: &[BlockId],
    ) -> Result<Vec<(BlockId, Comment)>> {
        debug_assert!(blocks.is_sorted(), "blocks are sorted");
        if self.may_have_comments(document)? && self.can_see_document(document)? {
            self.reader.comments_among(self.stored_in(document)?, blocks)
        } else {
            Ok(Vec::new())
        }
    }

    /// Whether [`Self::comments_among`] reads anything: by a flag in memory, since most documents
    /// have no comments.
    pub(crate) fn may_have_comments(&self, document: DocumentId) -> Result<bool> {
        Ok(self.reader.may_have_comments(self.stored_in(document)?))
    }

    /// The comments on all blocks of a document.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the document is hidden or does not exist.
    pub(crate) fn comments_in(&self, document: DocumentId) -> Result<Vec<(BlockId, Comment)>> {
        self.stored_document(document)?.ok_or_else(Error::no_document)?;
        let stored_in = self.stored_in(document)?;
        if stored_in == document {
            return self.reader.comments_in(document);
        }
        let texts = self.reader.subtree_texts(document.root())?;
        let mut blocks: Vec<_> = texts.iter().map(|block| block.id).collect();
        blocks.sort_unstable();
        self.reader.comments_among(stored_in, &blocks)
    }

    /// A comment with its block and document, if the block is visible.
    pub(crate) fn comment(&self, id: CommentId) -> Result<Option<LocatedComment>> {
        // A comment that does not exist takes the same look-ups as one on a hidden block.
        let block = self.reader.block_of_comment(id)?.unwrap_or(BlockId::NIL);
        let Some(BlockLocation { document, .. }) = self.locate_visible(block)? else {
            return Ok(None);
        };
        let comment = self.reader.comment(self.stored_in(document)?, block, id)?;
        Ok(comment.map(|comment| LocatedComment { document, block, comment }))
    }

    /// An uploaded file, if a visible block shows it.
    pub(crate) fn file(&self, id: AssetId) -> Result<Option<AssetRecord>> {
        // Both look-ups are made in any case: a missing file takes as long as a hidden one.
        let record = self.reader.asset(id)?;
        let is_visible = self.can_see_file(id)?;
        Ok(record.filter(|_| is_visible))
    }

    /// Whether a visible block shows the file. A file that does not exist takes the same look-ups
    /// as one that a single hidden block shows; of more hidden blocks each is looked up.
    pub(crate) fn can_see_file(&self, id: AssetId) -> Result<bool> {
        if self.is_unrestricted() {
            return Ok(true);
        }
        let (mut after, mut is_shown): (Option<BackLink>, bool) = (None, false);
        loop {
            let links = self.reader.edges_to(EdgeEnd::Asset(id), after, LINKS_PER_READ)?;
            for link in links.iter().filter(|link| link.kind == EdgeKind::Embed) {
                is_shown = true;
                if self.can_see(link.source)? {
                    return Ok(true);
                }
            }
            after = links.last().copied();
            if links.len() < LINKS_PER_READ {
                return if is_shown { Ok(false) } else { self.can_see(BlockId::NIL) };
            }
        }
    }
}

impl ReadTree for Tree<'_> {
    fn prefetch(&self, blocks: &[BlockId]) {
        // A restricted call looks each block up alone: a prefetch would make hidden neighbours
        // cheaper or dearer. What a single block needs is read with it.
        if self.is_unrestricted() && blocks.len() > 1 {
            self.reader.prefetch(blocks);
        }
    }

    fn prefetch_subtrees(&self, blocks: &[BlockId]) {
        if self.is_unrestricted() {
            self.reader.prefetch_subtrees(blocks);
        }
    }

    fn prefetch_documents(&self, documents: &[DocumentId]) {
        if self.is_unrestricted() {
            self.reader.prefetch_listings(documents);
        }
    }

    fn locate(&self, block: BlockId) -> Result<Option<BlockLocation>> {
        self.locate_visible(block)
    }

    fn block(&self, block: BlockId) -> Result<Option<BlockRecord>> {
        if self.is_hidden(block)? { Ok(None) } else { self.reader.block(block) }
    }

    fn document(&self, document: DocumentId) -> Result<Option<DocumentRecord>> {
        Ok(self.stored_document(document)?.map(|row| row.record))
    }

    fn levels_above(&self, document: DocumentId) -> Result<usize> {
        self.levels_above_root(document)
    }

    fn last_child(&self, document: DocumentId, parent: BlockId) -> Result<Option<BlockId>> {
        if self.can_see_document(document)? {
            self.reader.last_child(self.stored_in(document)?, parent)
        } else {
            Ok(None)
        }
    }

    fn previous_sibling(&self, block: BlockId) -> Result<Option<BlockId>> {
        if self.is_unrestricted() {
            return self.reader.previous_sibling(block);
        }
        // A page of the scope has siblings, which are hidden.
        match self.locate_visible(block)? {
            Some(BlockLocation { parent: Some(_), .. }) => self.reader.previous_sibling(block),
            _ => Ok(None),
        }
    }

    fn first_children(
        &self,
        document: DocumentId,
        parent: BlockId,
        limit: usize,
    ) -> Result<Vec<BlockRecord>> {
        if self.can_see_document(document)? {
            self.reader.first_children(self.stored_in(document)?, parent, limit)
        } else {
            Ok(Vec::new())
        }
    }

    fn subtree(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees> {
        if self.is_hidden(block)? {
            Ok(Subtrees::default())
        } else {
            self.reader.subtree(block, max_depth)
        }
    }

    fn subtrees(&self, blocks: &[BlockId]) -> Result<Subtrees> {
        if self.is_unrestricted() {
            return self.reader.subtrees(blocks);
        }
        let mut subtrees = Subtrees::default();
        for block in blocks {
            subtrees.0.append(&mut self.subtree(*block, None)?.0);
        }
        Ok(subtrees)
    }

    fn subtree_without_items(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees> {
        if self.is_hidden(block)? {
            Ok(Subtrees::default())
        } else {
            self.reader.subtree_without_items(block, max_depth)
        }
    }
}
