//! The blocks before and after a searched subtree, in reading order.

use leafbase_model::{
    BlockId, BlockRecord, ContextBlock, DocumentId, Result, SearchBlocks, invariant,
};
use leafbase_store::{BlockText, SpaceReader};

use super::texts::VisibleTexts;

/// The blocks around the searched subtree, each side read once, when a match needs it.
pub(super) struct ContextBlocks<'a, 't> {
    texts: &'t VisibleTexts<'t, 'a>,
    document: DocumentId,
    within: BlockId,
    /// How many blocks are shown before a match.
    pub(super) before: usize,
    /// How many blocks are shown after a match.
    pub(super) after: usize,
    read_before: Option<Vec<ContextBlock>>,
    read_after: Option<Vec<ContextBlock>>,
}

impl<'a, 't> ContextBlocks<'a, 't> {
    pub(super) const fn new(
        texts: &'t VisibleTexts<'t, 'a>,
        document: DocumentId,
        request: &SearchBlocks,
    ) -> Self {
        let &SearchBlocks { within, before, after, .. } = request;
        Self { texts, document, within, before, after, read_before: None, read_after: None }
    }

    /// The last blocks before the subtree, up to `most`.
    pub(super) fn before(&mut self, most: usize) -> Result<&[ContextBlock]> {
        invariant!(most <= self.before, "a match asks for at most the requested context");
        if most == 0 {
            return Ok(&[]);
        }
        // Read in full on first use: later matches need no more than the first.
        if self.read_before.is_none() {
            let reader = self.texts.tree.reader_at(self.within)?;
            let blocks = blocks_before(reader, self.within, self.before)?;
            self.read_before = Some(self.context(&blocks)?);
        }
        let read = self.read_before.as_deref().unwrap_or(&[]);
        Ok(read.split_at(read.len().saturating_sub(most)).1)
    }

    /// The first blocks after the subtree, up to `most`.
    pub(super) fn after(&mut self, most: usize) -> Result<&[ContextBlock]> {
        invariant!(most <= self.after, "a match asks for at most the requested context");
        if most == 0 {
            return Ok(&[]);
        }
        if self.read_after.is_none() {
            let reader = self.texts.tree.reader_at(self.within)?;
            let blocks = blocks_after(reader, self.document, self.within, self.after)?;
            self.read_after = Some(self.context(&blocks)?);
        }
        let read = self.read_after.as_deref().unwrap_or(&[]);
        Ok(read.split_at(read.len().min(most)).0)
    }

    fn context(&self, blocks: &[BlockRecord]) -> Result<Vec<ContextBlock>> {
        let context = |block: &BlockRecord| {
            let markdown = self.texts.markdown(BlockText::Data(&block.data))?.into_owned();
            Ok(ContextBlock { block_id: block.id, markdown })
        };
        blocks.iter().map(context).collect()
    }
}

/// The last blocks before `block`, up to `most`, the nearest last.
fn blocks_before(reader: SpaceReader<'_>, block: BlockId, most: usize) -> Result<Vec<BlockRecord>> {
    // Collected backwards: the subtrees of preceding siblings, then the parent, then its siblings.
    let mut found = Vec::new();
    let mut at = block;
    while found.len() < most {
        if let Some(previous) = reader.previous_sibling(at)? {
            found.extend(subtree(reader, previous)?.rev());
            at = previous;
        } else if let Some(parent) = parent(reader, at)? {
            found.extend(reader.block(parent)?);
            at = parent;
        } else {
            // The root: nothing precedes it.
            break;
        }
    }
    found.truncate(most);
    found.reverse();
    Ok(found)
}

/// The first blocks after the subtree of `block`, up to `most`, the nearest first.
fn blocks_after(
    reader: SpaceReader<'_>,
    document: DocumentId,
    block: BlockId,
    most: usize,
) -> Result<Vec<BlockRecord>> {
    let mut found = Vec::new();
    let mut at = block;
    while found.len() < most
        && let Some(parent) = parent(reader, at)?
    {
        let siblings = reader.children(document, parent)?;
        invariant!(siblings.contains(&at), "a block is a child of its parent");
        for sibling in siblings.into_iter().skip_while(|sibling| *sibling != at).skip(1) {
            if found.len() >= most {
                break;
            }
            found.extend(subtree(reader, sibling)?);
        }
        at = parent;
    }
    found.truncate(most);
    Ok(found)
}

fn parent(reader: SpaceReader<'_>, block: BlockId) -> Result<Option<BlockId>> {
    Ok(reader.locate(block)?.and_then(|location| location.parent))
}

/// The block and its descendants in reading order.
fn subtree(
    reader: SpaceReader<'_>,
    block: BlockId,
) -> Result<impl DoubleEndedIterator<Item = BlockRecord>> {
    Ok(reader.subtree(block, None)?.0.into_iter().map(|node| node.block))
}
