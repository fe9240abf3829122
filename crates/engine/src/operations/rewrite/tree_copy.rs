//! A page with all blocks below it, in memory.

use std::collections::HashMap;

use leafbase_model::{
    BlockId, BlockLocation, BlockRecord, BlockType, DocumentId, DocumentRecord, InsertTarget,
    Result, SubtreeNode, Subtrees, invariant,
};
use leafbase_tree_ops::ReadTree;

/// A page with all blocks below it, or with some of them, in memory: as it is, was or becomes.
pub(crate) struct TreeCopy {
    document: DocumentId,
    top: BlockId,
    blocks: HashMap<BlockId, BlockRecord>,
    parents: HashMap<BlockId, BlockId>,
    children: HashMap<BlockId, Vec<BlockId>>,
}

impl TreeCopy {
    /// The copy of the block `top` with its descendants, which `subtrees` contains.
    pub(crate) fn new(document: DocumentId, top: BlockId, subtrees: Subtrees) -> Self {
        let (blocks, parents, children) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut copy = Self { document, top, blocks, parents, children };
        copy.insert(None, subtrees);
        copy
    }

    pub(crate) const fn document(&self) -> DocumentId {
        self.document
    }

    pub(crate) const fn top(&self) -> BlockId {
        self.top
    }

    pub(crate) fn get(&self, block: BlockId) -> Option<&BlockRecord> {
        self.blocks.get(&block)
    }

    /// The children of a block, in order.
    pub(crate) fn children_of(&self, parent: BlockId) -> &[BlockId] {
        self.children.get(&parent).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn parent_of(&self, block: BlockId) -> Option<BlockId> {
        self.parents.get(&block).copied()
    }

    /// The blocks, in no order.
    pub(crate) fn records_mut(&mut self) -> impl Iterator<Item = &mut BlockRecord> {
        self.blocks.values_mut()
    }

    /// Replaces the record of a block.
    pub(crate) fn set(&mut self, record: BlockRecord) {
        self.blocks.insert(record.id, record);
    }

    /// Adds the blocks of another copy.
    pub(crate) fn extend(&mut self, other: Self) {
        self.blocks.extend(other.blocks);
        self.parents.extend(other.parents);
        self.children.extend(other.children);
    }

    /// Inserts subtrees at a target, or those of a whole document.
    pub(crate) fn insert(&mut self, target: Option<&InsertTarget>, subtrees: Subtrees) {
        let (mut lineage, mut after): (Vec<BlockId>, _) =
            (Vec::new(), target.and_then(|target| target.after));
        for SubtreeNode { depth, block } in subtrees.0 {
            lineage.truncate(usize::from(depth));
            let id = block.id;
            self.blocks.insert(id, block);
            match (lineage.last(), target) {
                (Some(parent), _) => {
                    self.parents.insert(id, *parent);
                    self.children.entry(*parent).or_default().push(id);
                }
                (None, Some(target)) => {
                    self.attach(id, &InsertTarget { after, ..*target });
                    after = Some(id);
                }
                (None, None) => {}
            }
            lineage.push(id);
        }
    }

    pub(crate) fn attach(&mut self, block: BlockId, target: &InsertTarget) {
        self.parents.insert(block, target.parent);
        let siblings = self.children.entry(target.parent).or_default();
        let after = target.after.and_then(|after| siblings.iter().position(|it| *it == after));
        siblings.insert(after.map_or(0, |after| after + 1), block);
    }

    pub(crate) fn detach(&mut self, block: BlockId) {
        if let Some(siblings) =
            self.parents.remove(&block).and_then(|parent| self.children.get_mut(&parent))
        {
            siblings.retain(|sibling| *sibling != block);
        }
    }

    pub(crate) fn remove(&mut self, block: BlockId) {
        self.detach(block);
        let mut waiting = vec![block];
        while let Some(block) = waiting.pop() {
            self.blocks.remove(&block);
            self.parents.remove(&block);
            waiting.extend(self.children.remove(&block).into_iter().flatten());
        }
    }

    fn collect(
        &self,
        block: BlockId,
        depth: u16,
        is_within: &dyn Fn(&BlockRecord, u16) -> bool,
        nodes: &mut Vec<SubtreeNode>,
    ) -> Result<()> {
        let Some(record) = self.blocks.get(&block) else {
            invariant!("what is a child is a block of the document")
        };
        nodes.push(SubtreeNode { depth, block: record.clone() });
        if is_within(record, depth) {
            for child in self.children.get(&block).into_iter().flatten() {
                self.collect(*child, depth + 1, is_within, nodes)?;
            }
        }
        Ok(())
    }

    fn subtree_within(
        &self,
        block: BlockId,
        is_within: &dyn Fn(&BlockRecord, u16) -> bool,
    ) -> Result<Subtrees> {
        let mut nodes = Vec::new();
        if self.blocks.contains_key(&block) {
            self.collect(block, 0, is_within, &mut nodes)?;
        }
        Ok(Subtrees(nodes))
    }
}

fn is_above(max_depth: Option<usize>, depth: u16) -> bool {
    max_depth.is_none_or(|most| usize::from(depth) < most)
}

impl ReadTree for TreeCopy {
    fn locate(&self, block: BlockId) -> Result<Option<BlockLocation>> {
        let parent = self.parents.get(&block).copied();
        let is_there = self.blocks.contains_key(&block);
        Ok(is_there.then_some(BlockLocation { document: self.document, parent }))
    }

    fn block(&self, block: BlockId) -> Result<Option<BlockRecord>> {
        Ok(self.blocks.get(&block).cloned())
    }

    fn document(&self, _: DocumentId) -> Result<Option<DocumentRecord>> {
        Ok(None)
    }

    fn last_child(&self, _: DocumentId, parent: BlockId) -> Result<Option<BlockId>> {
        Ok(self.children.get(&parent).and_then(|children| children.last()).copied())
    }

    fn previous_sibling(&self, block: BlockId) -> Result<Option<BlockId>> {
        let siblings = self.parents.get(&block).and_then(|parent| self.children.get(parent));
        let before = siblings.into_iter().flatten().take_while(|sibling| **sibling != block);
        Ok(before.last().copied())
    }

    fn first_children(
        &self,
        _: DocumentId,
        parent: BlockId,
        limit: usize,
    ) -> Result<Vec<BlockRecord>> {
        let children = self.children.get(&parent).into_iter().flatten().take(limit);
        Ok(children.filter_map(|child| self.blocks.get(child)).cloned().collect())
    }

    fn subtree(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees> {
        self.subtree_within(block, &|_, depth| is_above(max_depth, depth))
    }

    fn subtree_without_items(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees> {
        self.subtree_within(block, &|record, depth| {
            is_above(max_depth, depth) && record.data.block_type() != BlockType::Collection
        })
    }
}
