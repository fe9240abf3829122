//! The blocks before and after a subtree, in reading order.

use leafbase_model::{BlockId, BlockRecord, ContextBlock, DocumentId, Result, SearchBlocks};
use leafbase_store::{BlockText, SpaceReader};

use super::texts::VisibleTexts;

/// The context of a searched subtree: read once, when a match first needs it.
pub(super) struct Surroundings<'a, 't> {
    texts: &'t VisibleTexts<'t, 'a>,
    document: DocumentId,
    within: BlockId,
    /// The number of blocks that are shown before a match.
    pub(super) max_before: usize,
    /// The number of blocks that are shown after a match.
    pub(super) max_after: usize,
    before: Option<Vec<ContextBlock>>,
    after: Option<Vec<ContextBlock>>,
}

impl<'a, 't> Surroundings<'a, 't> {
    pub(super) const fn new(
        texts: &'t VisibleTexts<'t, 'a>,
        (document, within): (DocumentId, BlockId),
        request: &SearchBlocks,
    ) -> Self {
        let &SearchBlocks { before: max_before, after: max_after, .. } = request;
        Self { texts, document, within, max_before, max_after, before: None, after: None }
    }

    /// The last `count` blocks before the subtree, or all if there are fewer.
    pub(super) fn before(&mut self, count: usize) -> Result<&[ContextBlock]> {
        if count == 0 {
            return Ok(&[]);
        }
        if self.before.is_none() {
            let reader = self.texts.tree.reader_at(self.within)?;
            let blocks = blocks_before(reader, self.document.root(), self.within, self.max_before)?;
            debug_assert!(blocks.len() <= self.max_before, "no more context than requested");
            self.before = Some(self.context(&blocks)?);
        }
        let blocks = self.before.as_deref().unwrap_or(&[]);
        Ok(blocks.split_at(blocks.len().saturating_sub(count)).1)
    }

    /// The first `count` blocks after the subtree, or all if there are fewer.
    pub(super) fn after(&mut self, count: usize) -> Result<&[ContextBlock]> {
        if count == 0 {
            return Ok(&[]);
        }
        if self.after.is_none() {
            let reader = self.texts.tree.reader_at(self.within)?;
            let blocks = blocks_after(reader, self.document.root(), self.within, self.max_after)?;
            debug_assert!(blocks.len() <= self.max_after, "no more context than requested");
            self.after = Some(self.context(&blocks)?);
        }
        let blocks = self.after.as_deref().unwrap_or(&[]);
        Ok(blocks.split_at(count.min(blocks.len())).0)
    }

    fn context(&self, blocks: &[BlockRecord]) -> Result<Vec<ContextBlock>> {
        let context = |block: &BlockRecord| {
            let markdown = self.texts.markdown(BlockText::Data(&block.data))?.into_owned();
            Ok(ContextBlock { block_id: block.id, markdown })
        };
        blocks.iter().map(context).collect()
    }
}

/// The last `count` blocks before `block`, in reading order, from `top` on.
fn blocks_before(
    reader: SpaceReader<'_>,
    top: BlockId,
    block: BlockId,
    count: usize,
) -> Result<Vec<BlockRecord>> {
    // Collected backward: the subtrees of previous siblings, then the parent.
    let mut blocks = Vec::new();
    let mut at = block;
    while blocks.len() < count && at != top {
        if let Some(previous) = reader.previous_sibling(at)? {
            blocks.extend(subtree(reader, previous)?.rev());
            at = previous;
        } else if let Some(parent) = parent(reader, at)? {
            blocks.extend(reader.block(parent)?);
            at = parent;
        } else {
            break;
        }
    }
    // A subtree may have contributed more than was missing.
    blocks.truncate(count);
    blocks.reverse();
    Ok(blocks)
}

/// The first `count` blocks after `block` and its descendants, up to the end of `top`.
fn blocks_after(
    reader: SpaceReader<'_>,
    top: BlockId,
    block: BlockId,
    count: usize,
) -> Result<Vec<BlockRecord>> {
    let mut blocks = Vec::new();
    let mut at = block;
    // The next siblings with their subtrees, then those of the parent.
    while blocks.len() < count
        && at != top
        && let Some(parent) = parent(reader, at)?
    {
        for sibling in reader.next_siblings(at, count - blocks.len())? {
            if blocks.len() >= count {
                break;
            }
            blocks.extend(subtree(reader, sibling)?);
        }
        at = parent;
    }
    blocks.truncate(count);
    Ok(blocks)
}

fn parent(reader: SpaceReader<'_>, block: BlockId) -> Result<Option<BlockId>> {
    Ok(reader.locate(block)?.and_then(|location| location.parent))
}

/// The block and its descendants.
fn subtree(
    reader: SpaceReader<'_>,
    block: BlockId,
) -> Result<impl DoubleEndedIterator<Item = BlockRecord>> {
    Ok(reader.subtree(block, None)?.0.into_iter().map(|node| node.block))
}
