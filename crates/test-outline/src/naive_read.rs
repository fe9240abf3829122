//! Reads of the naive space, from which tests implement the reading traits.

use leafbase_model::{BlockId, BlockRecord, DocumentId, SubtreeNode, Subtrees};

use crate::{NaiveBlock, NaiveDocument, NaiveSpace};

fn find(block: &NaiveBlock, id: BlockId) -> Option<&NaiveBlock> {
    if block.record.id == id {
        Some(block)
    } else {
        block.children.iter().find_map(|child| find(child, id))
    }
}

fn find_mut(block: &mut NaiveBlock, id: BlockId) -> Option<&mut NaiveBlock> {
    if block.record.id == id {
        return Some(block);
    }
    block.children.iter_mut().find_map(|child| find_mut(child, id))
}

fn parent_below(above: &NaiveBlock, id: BlockId) -> Option<BlockId> {
    if above.children.iter().any(|child| child.record.id == id) {
        return Some(above.record.id);
    }
    above.children.iter().find_map(|child| parent_below(child, id))
}

/// The block with its descendants down to a number of levels.
pub(crate) fn flatten(
    block: &NaiveBlock,
    depth: u16,
    levels: Option<usize>,
    nodes: &mut Vec<SubtreeNode>,
) {
    nodes.push(SubtreeNode { depth, block: block.record.clone() });
    if levels != Some(0) {
        for child in &block.children {
            flatten(child, depth + 1, levels.map(|levels| levels - 1), nodes);
        }
    }
}

impl NaiveSpace {
    /// The block with this ID.
    pub fn find(&self, id: BlockId) -> Option<&NaiveBlock> {
        self.documents.iter().find_map(|document| find(&document.root, id))
    }

    pub(crate) fn get(&self, id: BlockId) -> &NaiveBlock {
        self.find(id).unwrap_or_else(|| panic!("no block {id}"))
    }

    pub(crate) fn get_mut(&mut self, id: BlockId) -> &mut NaiveBlock {
        let found = self.documents.iter_mut().find_map(|document| find_mut(&mut document.root, id));
        found.unwrap_or_else(|| panic!("no block {id}"))
    }

    /// The document of a block.
    pub fn document_of(&self, block: BlockId) -> Option<&NaiveDocument> {
        self.documents.iter().find(|document| document.root.holds(block))
    }

    /// The document with this ID.
    pub fn document(&self, id: DocumentId) -> Option<&NaiveDocument> {
        self.documents.iter().find(|document| document.record.id == id)
    }

    /// The parent of `block`.
    pub fn parent(&self, block: BlockId) -> Option<BlockId> {
        self.documents.iter().find_map(|document| parent_below(&document.root, block))
    }

    /// Index of `block` among its siblings; 0 for a root.
    pub fn index(&self, block: BlockId) -> usize {
        let Some(parent) = self.parent(block) else { return 0 };
        self.get(parent).children.iter().position(|child| child.record.id == block).unwrap_or(0)
    }

    /// Number of ancestors of `block`.
    pub fn depth(&self, block: BlockId) -> usize {
        self.parent(block).map_or(0, |parent| self.depth(parent) + 1)
    }

    /// All blocks in reading order.
    pub fn blocks(&self) -> impl Iterator<Item = &NaiveBlock> {
        self.documents.iter().flat_map(|document| document.root.walk())
    }

    /// IDs of all blocks in reading order.
    pub fn ids(&self) -> Vec<BlockId> {
        self.blocks().map(|block| block.record.id).collect()
    }

    /// The previous sibling of `block`.
    pub fn previous_sibling(&self, block: BlockId) -> Option<BlockId> {
        let siblings = &self.get(self.parent(block)?).children;
        Some(siblings[self.index(block).checked_sub(1)?].record.id)
    }

    /// The first children of `parent`; empty if it does not exist.
    pub fn first_children(&self, parent: BlockId, limit: usize) -> Vec<BlockRecord> {
        let children = self.find(parent).map(|found| found.children.as_slice()).unwrap_or_default();
        children.iter().take(limit).map(|child| child.record.clone()).collect()
    }

    /// The last child of `parent`.
    pub fn last_child(&self, parent: BlockId) -> Option<BlockId> {
        self.find(parent)?.children.last().map(|child| child.record.id)
    }

    /// `block` and its descendants down to a number of levels.
    pub fn subtree(&self, block: BlockId, levels: Option<usize>) -> Subtrees {
        let mut nodes = Vec::new();
        if let Some(block) = self.find(block) {
            flatten(block, 0, levels, &mut nodes);
        }
        Subtrees(nodes)
    }

    /// Removes a block with its descendants, unless it is a root or does not exist.
    pub(crate) fn take(&mut self, id: BlockId) -> Option<NaiveBlock> {
        let parent = self.parent(id)?;
        let index = self.index(id);
        Some(self.get_mut(parent).children.remove(index))
    }
}
