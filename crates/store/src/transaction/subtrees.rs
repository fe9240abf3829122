//! Whole subtrees: all children of each block are inserted, or removed, at once.

use leafbase_model::{
    BlockId, BlockRecord, DocumentId, Error, Result, SubtreeNode, Subtrees, invariant,
};

use super::SpaceTransaction;
use super::errors::conflict;
use super::staged::runs::{NewBlock, Siblings};
use crate::records::block::{self, AuthorCache};
use crate::records::change::EncodedBlocks;

/// The indexes of the blocks of subtrees, by parent.
struct ChildIndexes {
    tops: Vec<usize>,
    /// The children of each block.
    children: Vec<Vec<usize>>,
}

impl ChildIndexes {
    /// Fails if a block is more than one level below the block before it.
    fn of(subtrees: &Subtrees) -> Result<Self> {
        let (mut tops, mut children) = (Vec::new(), vec![Vec::new(); subtrees.0.len()]);
        let mut path: Vec<usize> = Vec::new();
        for (index, node) in subtrees.0.iter().enumerate() {
            let depth = usize::from(node.depth);
            if depth > path.len() {
                return Err(Error::validation("a block of the subtrees has no parent in them"));
            }
            // Blocks at this depth and below are not ancestors of the next one.
            path.truncate(depth);
            match path.last().and_then(|parent| children.get_mut(*parent)) {
                Some(children) => children.push(index),
                None => tops.push(index),
            }
            path.push(index);
        }
        Ok(Self { tops, children })
    }
}

/// Subtrees to insert or to remove, with the records of their blocks.
pub(super) struct EncodedSubtrees<'s> {
    pub(super) blocks: &'s [SubtreeNode],
    pub(super) encoded: EncodedBlocks,
    indexes: ChildIndexes,
}

impl<'s> EncodedSubtrees<'s> {
    pub(super) fn of(subtrees: &'s Subtrees) -> Result<Self> {
        let indexes = ChildIndexes::of(subtrees)?;
        let encoded = EncodedBlocks::of(subtrees.0.iter().map(|node| &node.block));
        Ok(Self { blocks: &subtrees.0, encoded, indexes })
    }

    /// All blocks of `document`.
    pub(super) fn of_document(document: DocumentId, subtrees: &'s Subtrees) -> Result<Self> {
        let encoded = Self::of(subtrees)?;
        match encoded.tops()?.as_slice() {
            [(top, _)] if *top == document.root() => Ok(encoded),
            _ => Err(Error::validation("a document has one root, which has its ID")),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The top blocks with their records.
    pub(super) fn tops(&self) -> Result<Vec<NewBlock<'_>>> {
        self.entries(&self.indexes.tops)
    }

    /// The top blocks.
    pub(super) fn top_blocks(&self) -> impl Iterator<Item = &'s BlockRecord> {
        self.blocks.iter().filter(|node| node.depth == 0).map(|node| &node.block)
    }

    /// The block with this ID.
    pub(super) fn block(&self, id: BlockId) -> Result<&'s BlockRecord> {
        let Some(node) = self.blocks.iter().find(|node| node.block.id == id) else {
            invariant!("the block is one of the subtrees")
        };
        Ok(&node.block)
    }

    fn entries(&self, indexes: &[usize]) -> Result<Vec<NewBlock<'_>>> {
        let entry = |index: &usize| {
            let Some(node) = self.blocks.get(*index) else {
                invariant!("a child index is within the subtrees")
            };
            Ok((node.block.id, self.encoded.block(*index)))
        };
        indexes.iter().map(entry).collect()
    }

    /// Each block with the indexes of its children.
    fn parents(&self) -> impl Iterator<Item = (&'s BlockRecord, &Vec<usize>)> {
        self.blocks.iter().map(|node| &node.block).zip(&self.indexes.children)
    }

    /// Each block that may have children, with the indexes of those in the subtrees.
    fn possible_parents(&self) -> Vec<(BlockId, Vec<usize>)> {
        self.parents()
            .filter(|(block, children)| {
                !children.is_empty() || block.data.block_type().holds_blocks()
            })
            .map(|(block, children)| (block.id, children.clone()))
            .collect()
    }
}

impl SpaceTransaction<'_> {
    pub(super) fn insert_document_tree(
        &mut self,
        document: DocumentId,
        subtrees: &EncodedSubtrees<'_>,
    ) -> Result<()> {
        self.check_new(subtrees.blocks)?;
        let siblings = Siblings { document, parent: BlockId::NIL };
        self.runs.insert_runs(&mut self.locations, siblings, None, None, &subtrees.tops()?)?;
        self.insert_descendants(document, subtrees)
    }

    /// No block may exist, or be listed twice: a block has one location.
    pub(super) fn check_new(&mut self, blocks: &[SubtreeNode]) -> Result<()> {
        let mut ids: Vec<BlockId> = blocks.iter().map(|node| node.block.id).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| matches!(pair, [a, b] if a == b)) {
            return Err(conflict("a block is inserted twice"));
        }
        // The nil ID is the parent of roots, and must not become a block.
        if ids.first().is_some_and(|first| first.is_nil())
            || self.locations.has_any(&*self.rows, &self.cache, &ids)?
        {
            return Err(conflict("an inserted block already exists"));
        }
        Ok(())
    }

    /// Inserts the children of each block, which is new and so has no runs, and the rows that
    /// depend on all blocks.
    pub(super) fn insert_descendants(
        &mut self,
        document: DocumentId,
        subtrees: &EncodedSubtrees<'_>,
    ) -> Result<()> {
        for (index, (block, children)) in subtrees.parents().enumerate() {
            if !children.is_empty() {
                let siblings = Siblings { document, parent: block.id };
                let entries = subtrees.entries(children)?;
                self.runs.insert_runs(&mut self.locations, siblings, None, None, &entries)?;
            }
            self.index_block(document, block.id, None, Some(&block.data));
            let task = block.data.task.as_ref();
            let task = task.map(|task| (task, subtrees.encoded.block(index)));
            self.index_task(document, block.id, None, task);
        }
        Ok(())
    }

    pub(super) fn remove_document_tree(
        &mut self,
        document: DocumentId,
        subtrees: &EncodedSubtrees<'_>,
    ) -> Result<()> {
        let mut expected = vec![(BlockId::NIL, subtrees.indexes.tops.clone())];
        expected.extend(subtrees.possible_parents());
        self.remove_runs(document, subtrees, expected)?;
        self.remove_block_rows(document, subtrees.blocks)
    }

    /// Removes all descendants of the top blocks, which must be complete.
    pub(super) fn remove_descendants(
        &mut self,
        document: DocumentId,
        subtrees: &EncodedSubtrees<'_>,
    ) -> Result<()> {
        self.remove_runs(document, subtrees, subtrees.possible_parents())
    }

    /// Removes the runs of each parent, whose blocks must be exactly the expected ones.
    fn remove_runs(
        &mut self,
        document: DocumentId,
        subtrees: &EncodedSubtrees<'_>,
        mut expected: Vec<(BlockId, Vec<usize>)>,
    ) -> Result<()> {
        if expected.is_empty() {
            return Ok(());
        }
        invariant!(
            subtrees.indexes.children.len() == subtrees.blocks.len(),
            "each block of the subtrees has a list of children"
        );
        // Runs come in the order of their keys, so by parent.
        expected.sort_unstable();
        let parents: Vec<BlockId> = expected.iter().map(|(parent, _)| *parent).collect();
        let mut indexes = expected.into_iter().flat_map(|(_, children)| children);
        for key in self.runs.of_parents(&*self.rows, Some(&self.cache), document, &parents)? {
            let run = self.runs.run(&key)?;
            for (position, id) in run.ids().iter().enumerate() {
                let index = indexes.next().ok_or_else(incomplete)?;
                let node = subtrees.blocks.get(index).filter(|node| node.block.id == *id);
                let expected = &node.ok_or_else(incomplete)?.block;
                check_unchanged(run.block(position), subtrees.encoded.block(index), expected)?;
            }
            self.runs.take(&key)?;
        }
        if indexes.next().is_some() { Err(incomplete()) } else { Ok(()) }
    }

    /// Removes the locations of blocks, and the rows that depend on their data.
    pub(super) fn remove_block_rows(
        &mut self,
        document: DocumentId,
        blocks: &[SubtreeNode],
    ) -> Result<()> {
        let ids = &mut blocks.iter().map(|node| node.block.id);
        self.embeddings.remove_blocks(&*self.rows, document, ids)?;
        self.locations.reserve(blocks.len());
        for SubtreeNode { block, .. } in blocks {
            self.check_without_schema(document, block)?;
            self.locations.remove(block.id);
            self.index_block(document, block.id, Some(&block.data), None);
            self.index_task(document, block.id, block.data.task.as_ref(), None);
        }
        Ok(())
    }
}

fn incomplete() -> Error {
    conflict("the blocks to remove are not the stored ones")
}

/// `stored` must decode to `expected`, whose record is `encoded`. The bytes are mostly equal; an
/// earlier version may have encoded them differently.
pub(super) fn check_unchanged(stored: &[u8], encoded: &[u8], expected: &BlockRecord) -> Result<()> {
    let is_same = stored == encoded
        || block::decode(expected.id, stored, &mut AuthorCache::default())
            .is_ok_and(|block| block == *expected);
    if is_same { Ok(()) } else { Err(conflict("a block has changed")) }
}
