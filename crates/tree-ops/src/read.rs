//! Reads that the rules need; a snapshot and an open write transaction implement them.

use leafbase_model::{
    BlockId, BlockLocation, BlockRecord, DocumentId, DocumentRecord, Result, Subtrees,
};

/// Reads of block trees in one consistent state. Except where a method says otherwise, its cost
/// does not depend on the size of the space.
pub trait ReadTree {
    /// Announces that each of `blocks` will be located, in this order. A store may look up all
    /// locations at once if that is cheaper.
    fn prefetch(&self, _blocks: &[BlockId]) {}

    /// Announces that each of `blocks` will be moved or deleted with its descendants, as
    /// [`Self::prefetch`].
    fn prefetch_subtrees(&self, blocks: &[BlockId]) {
        self.prefetch(blocks);
    }

    /// Announces that each of `documents` will be moved or deleted as a whole.
    fn prefetch_documents(&self, _documents: &[DocumentId]) {}

    /// The location of `block`, if it exists.
    ///
    /// # Errors
    /// Store errors.
    fn locate(&self, block: BlockId) -> Result<Option<BlockLocation>>;

    /// The record of `block`, if it exists.
    ///
    /// # Errors
    /// Store errors.
    fn block(&self, block: BlockId) -> Result<Option<BlockRecord>>;

    /// The record of the document, if it exists.
    ///
    /// # Errors
    /// Store errors.
    fn document(&self, document: DocumentId) -> Result<Option<DocumentRecord>>;

    /// How many levels are above the root of `document`: some if it is a page of another document
    /// that is read as a document of its own, and may be a text that becomes a page.
    ///
    /// # Errors
    /// Store errors.
    fn levels_above(&self, _document: DocumentId) -> Result<usize> {
        Ok(0)
    }

    /// The last child of `parent`, a block of `document`.
    ///
    /// # Errors
    /// Store errors.
    fn last_child(&self, document: DocumentId, parent: BlockId) -> Result<Option<BlockId>>;

    /// The sibling right before `block`; `None` if it is the first, a root, or does not exist.
    ///
    /// # Errors
    /// Store errors.
    fn previous_sibling(&self, block: BlockId) -> Result<Option<BlockId>>;

    /// The first children of `parent`, at most `limit`.
    ///
    /// # Errors
    /// Store errors.
    fn first_children(
        &self,
        document: DocumentId,
        parent: BlockId,
        limit: usize,
    ) -> Result<Vec<BlockRecord>>;

    /// `block` and its descendants down to `max_depth` levels (`None`: all), in reading order;
    /// empty if it does not exist. Cost: linear in the result.
    ///
    /// # Errors
    /// Store errors.
    fn subtree(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees>;

    /// The subtrees of adjacent siblings: the concatenation of [`Self::subtree`] for each.
    ///
    /// # Errors
    /// Store errors.
    fn subtrees(&self, blocks: &[BlockId]) -> Result<Subtrees> {
        let mut subtrees = Subtrees::default();
        for block in blocks {
            subtrees.0.append(&mut self.subtree(*block, None)?.0);
        }
        Ok(subtrees)
    }

    /// As [`Self::subtree`], but without the descendants of collections, which are not read either.
    ///
    /// # Errors
    /// Store errors.
    fn subtree_without_items(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees>;

    /// Number of levels below `block`, counted up to `at_most`; 0 if it does not exist. A store
    /// that knows it without reading the blocks should override this.
    ///
    /// # Errors
    /// Store errors.
    fn height(&self, block: BlockId, at_most: usize) -> Result<usize> {
        Ok(usize::from(self.subtree(block, Some(at_most))?.height()))
    }
}
