//! The blocks before and behind a part of a document, in reading order.

use leafbase_model::{BlockId, BlockRecord, ContextBlock, DocumentId, Result, SearchBlocks};
use leafbase_store::{BlockText, SpaceReader};

use super::texts::VisibleTexts;

/// What stands before and behind the place that is searched: read once, where it is needed.
pub(super) struct Around<'a, 't> {
    reading: &'t VisibleTexts<'t, 'a>,
    document: DocumentId,
    within: BlockId,
    /// How many blocks are shown before a match.
    pub(super) before: usize,
    /// How many behind it.
    pub(super) behind: usize,
    read_before: Option<Vec<ContextBlock>>,
    read_behind: Option<Vec<ContextBlock>>,
}

impl<'a, 't> Around<'a, 't> {
    pub(super) const fn new(
        reading: &'t VisibleTexts<'t, 'a>,
        document: DocumentId,
        request: &SearchBlocks,
    ) -> Self {
        let &SearchBlocks { within, before, after: behind, .. } = request;
        Self { reading, document, within, before, behind, read_before: None, read_behind: None }
    }

    /// The last ones before the place, at most so many.
    pub(super) fn before(&mut self, most: usize) -> Result<&[ContextBlock]> {
        if most > 0 && self.read_before.is_none() {
            self.read_before = Some(self.context(&before(
                self.reading.tree.reader_at(self.within)?,
                self.within,
                self.before,
            )?)?);
        }
        let read = self.read_before.as_deref().unwrap_or_default();
        Ok(read.get(read.len().saturating_sub(most)..).unwrap_or_default())
    }

    /// The first ones behind the place, at most so many.
    pub(super) fn behind(&mut self, most: usize) -> Result<&[ContextBlock]> {
        if most > 0 && self.read_behind.is_none() {
            self.read_behind = Some(self.context(&behind(
                self.reading.tree.reader_at(self.within)?,
                self.document,
                self.within,
                self.behind,
            )?)?);
        }
        let read = self.read_behind.as_deref().unwrap_or_default();
        Ok(read.get(..most.min(read.len())).unwrap_or_default())
    }

    fn context(&self, blocks: &[BlockRecord]) -> Result<Vec<ContextBlock>> {
        let shown = |block: &BlockRecord| {
            let markdown = self.reading.markdown(BlockText::Data(&block.data))?.into_owned();
            Ok(ContextBlock { block_id: block.id, markdown })
        };
        blocks.iter().map(shown).collect()
    }
}

/// The last blocks before `block`, at most so many, the nearest last.
fn before(reader: SpaceReader<'_>, block: BlockId, most: usize) -> Result<Vec<BlockRecord>> {
    // The nearest first.
    let mut found = Vec::new();
    let mut at = block;
    while found.len() < most {
        if let Some(previous) = reader.previous_sibling(at)? {
            found.extend(below(reader, previous)?.rev());
            at = previous;
        } else {
            let Some(parent) = parent(reader, at)? else { break };
            found.extend(reader.block(parent)?);
            at = parent;
        }
    }
    found.truncate(most);
    found.reverse();
    Ok(found)
}

/// The first blocks behind all that is below `block`, at most so many, the nearest first.
fn behind(
    reader: SpaceReader<'_>,
    document: DocumentId,
    block: BlockId,
    most: usize,
) -> Result<Vec<BlockRecord>> {
    let mut found = Vec::new();
    let mut at = block;
    while found.len() < most {
        let Some(parent) = parent(reader, at)? else { break };
        let siblings = reader.children(document, parent)?;
        for sibling in siblings.into_iter().skip_while(|sibling| *sibling != at).skip(1) {
            if found.len() >= most {
                break;
            }
            found.extend(below(reader, sibling)?);
        }
        at = parent;
    }
    found.truncate(most);
    Ok(found)
}

fn parent(reader: SpaceReader<'_>, block: BlockId) -> Result<Option<BlockId>> {
    Ok(reader.locate(block)?.and_then(|standing| standing.parent))
}

/// The block and all below it.
fn below(
    reader: SpaceReader<'_>,
    block: BlockId,
) -> Result<impl DoubleEndedIterator<Item = BlockRecord>> {
    Ok(reader.subtree(block, None)?.0.into_iter().map(|node| node.block))
}
