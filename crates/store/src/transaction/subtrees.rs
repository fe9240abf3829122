//! Forests go in and out whole: all blocks of a parent are laid, or taken, at once.

use leafbase_model::{BlockId, BlockRecord, DocumentId, Error, Result, Subtrees};

use super::runs::{NewBlock, Siblings};
use super::{SpaceTransaction, conflict};
use crate::records::block::{self, AuthorCache};
use crate::records::change::EncodedBlocks;

/// The blocks of inserted or removed subtrees by the parent they are under.
struct ChildIndexes {
    /// Indexes of the top blocks.
    tops: Vec<usize>,
    /// Indexes of each block's children.
    children: Vec<Vec<usize>>,
}

impl ChildIndexes {
    /// Fails if a block is deeper than one below the block before it.
    fn of(subtrees: &Subtrees) -> Result<Self> {
        let mut families = Self { tops: Vec::new(), children: vec![Vec::new(); subtrees.0.len()] };
        let mut path: Vec<usize> = Vec::new();
        for (index, node) in subtrees.0.iter().enumerate() {
            let depth = usize::from(node.depth);
            if depth > path.len() {
                return Err(Error::validation("a block of the subtrees has no parent in it"));
            }
            path.truncate(depth);
            match path.last().and_then(|parent| families.children.get_mut(*parent)) {
                Some(children) => children.push(index),
                None => families.tops.push(index),
            }
            path.push(index);
        }
        Ok(families)
    }
}

/// Subtrees made ready to go in or out.
pub(super) struct EncodedSubtrees<'f> {
    pub(super) subtrees: &'f Subtrees,
    pub(super) encoded: EncodedBlocks,
    families: ChildIndexes,
}

impl<'f> EncodedSubtrees<'f> {
    pub(super) fn of(subtrees: &'f Subtrees) -> Result<Self> {
        let families = ChildIndexes::of(subtrees)?;
        Ok(Self { subtrees, encoded: EncodedBlocks::of(subtrees), families })
    }

    /// All blocks of `document`.
    pub(super) fn whole(document: DocumentId, subtrees: &'f Subtrees) -> Result<Self> {
        let prepared = Self::of(subtrees)?;
        match prepared.tops().as_slice() {
            [(top, _)] if *top == document.root() => Ok(prepared),
            _ => Err(Error::validation("a document has one root, which has its ID")),
        }
    }

    /// The top blocks with their records.
    pub(super) fn tops(&self) -> Vec<NewBlock<'_>> {
        self.entries(&self.families.tops)
    }

    /// The top blocks.
    pub(super) fn top_blocks(&self) -> impl Iterator<Item = &'f BlockRecord> {
        self.families
            .tops
            .iter()
            .filter_map(|index| self.subtrees.0.get(*index))
            .map(|node| &node.block)
    }

    fn entries(&self, indexes: &[usize]) -> Vec<NewBlock<'_>> {
        let nodes = indexes
            .iter()
            .filter_map(|index| self.subtrees.0.get(*index).map(|node| (node, *index)));
        nodes.map(|(node, index)| (node.block.id, self.encoded.block(index))).collect()
    }

    /// Each block with the indexes of its children.
    fn parents(&self) -> impl Iterator<Item = (&'f BlockRecord, &Vec<usize>)> {
        self.subtrees.0.iter().map(|node| &node.block).zip(&self.families.children)
    }

    /// Each block that others may stand below, with those it has in the subtrees.
    fn below(&self) -> Vec<(BlockId, Vec<usize>)> {
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
        prepared: &EncodedSubtrees<'_>,
    ) -> Result<()> {
        self.check_new(prepared.subtrees)?;
        let siblings = Siblings { document, parent: BlockId::NIL };
        self.runs.lay(&mut self.locations, siblings, None, None, &prepared.tops())?;
        self.insert_descendants(document, prepared)
    }

    /// None of the blocks may exist, or be twice in the subtrees: a block in two places is what must
    /// never be.
    pub(super) fn check_new(&mut self, subtrees: &Subtrees) -> Result<()> {
        let mut ids: Vec<BlockId> = subtrees.0.iter().map(|node| node.block.id).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| matches!(pair, [a, b] if a == b)) {
            return Err(conflict("a block to insert is there twice"));
        }
        if ids.first().is_some_and(|first| first.is_nil())
            || self.locations.has_any(&*self.rows, &self.cache, &ids)?
        {
            return Err(conflict("a block to insert exists already"));
        }
        Ok(())
    }

    /// Lays the children of each block of the subtrees, which are new and so have no runs yet, and
    /// what follows from all.
    pub(super) fn insert_descendants(
        &mut self,
        document: DocumentId,
        prepared: &EncodedSubtrees<'_>,
    ) -> Result<()> {
        for (block, children) in prepared.parents() {
            if !children.is_empty() {
                let siblings = Siblings { document, parent: block.id };
                self.runs.lay(
                    &mut self.locations,
                    siblings,
                    None,
                    None,
                    &prepared.entries(children),
                )?;
            }
            self.index(document, block.id, None, Some(&block.data));
        }
        Ok(())
    }

    pub(super) fn remove_document_tree(
        &mut self,
        document: DocumentId,
        prepared: &EncodedSubtrees<'_>,
    ) -> Result<()> {
        let mut expected = vec![(BlockId::NIL, prepared.families.tops.clone())];
        expected.extend(prepared.below());
        self.take_runs(document, prepared, expected)?;
        self.forget(document, prepared.subtrees)
    }

    /// Takes all that is below the blocks of the subtrees, which must be complete.
    pub(super) fn remove_descendants(
        &mut self,
        document: DocumentId,
        prepared: &EncodedSubtrees<'_>,
    ) -> Result<()> {
        self.take_runs(document, prepared, prepared.below())
    }

    fn take_runs(
        &mut self,
        document: DocumentId,
        prepared: &EncodedSubtrees<'_>,
        mut expected: Vec<(BlockId, Vec<usize>)>,
    ) -> Result<()> {
        let EncodedSubtrees { subtrees, encoded, .. } = prepared;
        if expected.is_empty() {
            return Ok(());
        }
        expected.sort_unstable();
        let parents: Vec<BlockId> = expected.iter().map(|(parent, _)| *parent).collect();
        let mut indexes = expected.into_iter().flat_map(|(_, children)| children);
        for key in self.runs.of_parents(&*self.rows, document, &parents)? {
            let run = self.runs.run(&key)?;
            for (position, id) in run.ids().iter().enumerate() {
                let index = indexes.next().filter(|index| {
                    subtrees.0.get(*index).is_some_and(|node| node.block.id == *id)
                });
                let index = index.ok_or_else(incomplete)?;
                if let Some(node) = subtrees.0.get(index) {
                    check_same(run.block(position), encoded.block(index), &node.block)?;
                }
            }
            self.runs.remove_run(&key)?;
        }
        if indexes.next().is_some() { Err(incomplete()) } else { Ok(()) }
    }

    /// Removes places of blocks that go, and what followed from them.
    pub(super) fn forget(&mut self, document: DocumentId, subtrees: &Subtrees) -> Result<()> {
        self.locations.expect(subtrees.0.len());
        for node in &subtrees.0 {
            self.check_bare(document, &node.block)?;
            self.locations.remove(node.block.id);
            self.index(document, node.block.id, Some(&node.block.data), None);
        }
        Ok(())
    }
}

fn incomplete() -> Error {
    conflict("the blocks to remove are not those that are there")
}

/// `stored` must say what `told` says, whose record is `encoded`: mostly the same bytes, unless an
/// earlier version wrote it.
pub(super) fn check_same(stored: &[u8], encoded: &[u8], told: &BlockRecord) -> Result<()> {
    let is_same = stored == encoded
        || block::decode(told.id, stored, &mut AuthorCache::default())
            .is_ok_and(|block| block == *told);
    if is_same { Ok(()) } else { Err(conflict("a block has changed")) }
}
