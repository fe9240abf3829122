//! Blocks on their way from one document to another.

use leafbase_model::{BlockId, InsertTarget};

use super::runs::RunPosition;

/// Consecutive moves between the same two parents, as one: the blocks are removed and not inserted
/// yet, so that their descendants, comments, tasks and collections are looked up once for all.
#[derive(Debug)]
pub(crate) struct CrossDocumentMove {
    /// Where the last block was.
    pub(crate) from: InsertTarget,
    /// The position that the last block left, where its next sibling is now.
    pub(crate) gap: RunPosition,
    /// Where the first block goes.
    pub(crate) to: InsertTarget,
    /// The blocks with their records, in their new order.
    pub(crate) blocks: Vec<(BlockId, Vec<u8>)>,
}

impl CrossDocumentMove {
    /// Whether a block that moves from `from` to `to` continues this move, after its last block.
    pub(crate) fn continues(&self, from: &InsertTarget, to: &InsertTarget) -> bool {
        // In order: the next block goes after the one before it.
        let last = self.blocks.last().map(|(block, _)| *block);
        (self.from.document, self.from.parent) == (from.document, from.parent)
            && (self.to.document, self.to.parent) == (to.document, to.parent)
            && to.after == last
    }
}
