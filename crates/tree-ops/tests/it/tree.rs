//! The naive space as the operations read it: honest, counted, or lying.

use std::cell::Cell;

use leafbase_model::{
    BlockId, BlockKind, BlockLocation, BlockRecord, BlockType, DocumentId, DocumentRecord,
    Location, Result, Subtrees, TextFormat,
};
use leafbase_test_outline::NaiveSpace;
use leafbase_tree_ops::ReadTree;

/// What is wrongly told, so that one rule is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    NothingIsInTrash,
    NoBlockHasAnythingBelow,
    NoPageHasChildren,
    EveryBlockIsFirst,
    ItemsAreTexts,
    TextsArePages,
    ParentsAreRoots,
    NothingIsInTheInbox,
}

impl Lie {
    pub(crate) const ALL: [Self; 8] = [
        Self::NothingIsInTrash,
        Self::NoBlockHasAnythingBelow,
        Self::NoPageHasChildren,
        Self::EveryBlockIsFirst,
        Self::ItemsAreTexts,
        Self::TextsArePages,
        Self::ParentsAreRoots,
        Self::NothingIsInTheInbox,
    ];
}

pub(crate) struct Tree<'a> {
    space: &'a NaiveSpace,
    lie: Option<Lie>,
    /// Calls, and blocks handed out.
    pub(crate) calls: Cell<usize>,
    pub(crate) blocks: Cell<usize>,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(space: &'a NaiveSpace, lie: Option<Lie>) -> Self {
        Self { space, lie, calls: Cell::new(0), blocks: Cell::new(0) }
    }

    fn count(&self, blocks: usize) {
        self.calls.set(self.calls.get() + 1);
        self.blocks.set(self.blocks.get() + blocks);
    }

    fn lies(&self, lie: Lie) -> bool {
        self.lie == Some(lie)
    }
}

impl ReadTree for Tree<'_> {
    fn locate(&self, block: BlockId) -> Result<Option<BlockLocation>> {
        self.count(0);
        let document = self.space.document_of(block).map(|document| document.record.id);
        let is_leaf = self.space.find(block).is_some_and(|found| found.children.is_empty());
        let parent =
            self.space.parent(block).filter(|_| is_leaf || !self.lies(Lie::ParentsAreRoots));
        Ok(document.map(|document| BlockLocation { document, parent }))
    }

    fn block(&self, block: BlockId) -> Result<Option<BlockRecord>> {
        self.count(1);
        let mut record = self.space.find(block).map(|found| found.record.clone());
        if let Some(record) = &mut record {
            record.data.kind = match record.data.kind.clone() {
                BlockKind::CollectionItem { .. } if self.lies(Lie::ItemsAreTexts) => {
                    BlockKind::Text(TextFormat::default())
                }
                BlockKind::Text(look) if self.lies(Lie::TextsArePages) => BlockKind::Page(look),
                kind => kind,
            };
        }
        Ok(record)
    }

    fn document(&self, document: DocumentId) -> Result<Option<DocumentRecord>> {
        self.count(0);
        let mut record = self.space.document(document).map(|document| document.record.clone());
        let hidden = match self.lie {
            Some(Lie::NothingIsInTrash) => Some(Location::Trash),
            Some(Lie::NothingIsInTheInbox) => Some(Location::Inbox),
            _ => None,
        };
        if let Some(record) = record.as_mut().filter(|record| Some(record.location) == hidden) {
            record.location = Location::Unsorted;
        }
        Ok(record)
    }

    fn last_child(&self, _: DocumentId, parent: BlockId) -> Result<Option<BlockId>> {
        self.count(0);
        Ok(self.space.last_child(parent))
    }

    fn previous_sibling(&self, block: BlockId) -> Result<Option<BlockId>> {
        self.count(0);
        Ok(self.space.previous_sibling(block).filter(|_| !self.lies(Lie::EveryBlockIsFirst)))
    }

    fn first_children(
        &self,
        _: DocumentId,
        parent: BlockId,
        limit: usize,
    ) -> Result<Vec<BlockRecord>> {
        let limit = if self.lies(Lie::NoPageHasChildren) { 0 } else { limit };
        let children = self.space.first_children(parent, limit);
        self.count(children.len());
        Ok(children)
    }

    fn subtree(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees> {
        let max_depth = if self.lies(Lie::NoBlockHasAnythingBelow) { Some(0) } else { max_depth };
        let subtrees = self.space.subtree(block, max_depth);
        self.count(subtrees.0.len());
        Ok(subtrees)
    }

    fn subtree_without_items(&self, block: BlockId, max_depth: Option<usize>) -> Result<Subtrees> {
        let max_depth = if self.lies(Lie::NoBlockHasAnythingBelow) { Some(0) } else { max_depth };
        let (mut subtrees, mut collection) = (self.space.subtree(block, max_depth), None);
        subtrees.0.retain(|node| {
            let is_below = collection.is_some_and(|depth| node.depth > depth);
            if !is_below {
                collection =
                    (node.block.data.block_type() == BlockType::Collection).then_some(node.depth);
            }
            !is_below
        });
        self.count(subtrees.0.len());
        Ok(subtrees)
    }
}
