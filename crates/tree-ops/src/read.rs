//! What the decisions read: a snapshot and an open write both implement it.

use leafbase_model::{
    BlockId, BlockLocation, BlockRecord, DocumentId, DocumentRecord, Result, Subtrees,
};

/// Reads of one consistent state of the block trees. Every method costs the same however large the
/// space is.
pub trait ReadTree {
    /// Each of `blocks` will be asked about, one after the other. A store that can read where all
    /// of them stand at once, for less, may do so now.
    fn expect(&self, _blocks: &[BlockId]) {}

    /// Where `block` stands, if it exists.
    ///
    /// # Errors
    /// What the store reports.
    fn locate(&self, block: BlockId) -> Result<Option<BlockLocation>>;

    /// The block itself, if it exists.
    ///
    /// # Errors
    /// What the store reports.
    fn block(&self, block: BlockId) -> Result<Option<BlockRecord>>;

    /// The document's record, if it exists.
    ///
    /// # Errors
    /// What the store reports.
    fn document(&self, document: DocumentId) -> Result<Option<DocumentRecord>>;

    /// The last child of `parent`, a block of `document`.
    ///
    /// # Errors
    /// What the store reports.
    fn last_child(&self, document: DocumentId, parent: BlockId) -> Result<Option<BlockId>>;

    /// The sibling right before `block`; none if it is the first, a root, or does not exist.
    ///
    /// # Errors
    /// What the store reports.
    fn previous_sibling(&self, block: BlockId) -> Result<Option<BlockId>>;

    /// The first children of `parent`, at most `limit`.
    ///
    /// # Errors
    /// What the store reports.
    fn first_children(
        &self,
        document: DocumentId,
        parent: BlockId,
        limit: usize,
    ) -> Result<Vec<BlockRecord>>;

    /// `block` and all below it down to `max_depth` levels (none: all), in reading order; empty if
    /// it does not exist. Costs what it returns.
    ///
    /// # Errors
    /// What the store reports.
    fn subtree(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees>;

    /// Each of `blocks`, siblings one behind the other, with all below it: what [`Self::subtree`]
    /// gives of them, in one.
    ///
    /// # Errors
    /// What the store reports.
    fn subtrees(&self, blocks: &[BlockId]) -> Result<Subtrees> {
        let mut subtrees = Subtrees::default();
        for block in blocks {
            subtrees.0.append(&mut self.subtree(*block, None)?.0);
        }
        Ok(subtrees)
    }

    /// As [`Self::subtree`], but without what stands below collections: their items, which nobody
    /// asked for, cost nothing.
    ///
    /// # Errors
    /// What the store reports.
    fn subtree_without_items(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees>;

    /// How many levels of children stand below `block`, counted up to `at_most`; 0 if it does not
    /// exist. A store that can tell without reading the blocks should.
    ///
    /// # Errors
    /// What the store reports.
    fn height(&self, block: BlockId, at_most: usize) -> Result<usize> {
        Ok(usize::from(self.subtree(block, Some(at_most))?.height()))
    }
}
