//! The edits that make a page what a copy of it says.

use std::collections::{HashMap, HashSet};

use leafbase_model::{
    BlockId, BlockRecord, BlockType, Edit, InsertTarget, Result, SubtreeNode, Subtrees, invariant,
};
use leafbase_tree_ops::{Context, ReadTree, update_edit};

use crate::core::tree::Tree;
use crate::operations::list_patch::longest_ascent;
use crate::operations::rewrite::tree_copy::TreeCopy;
use crate::operations::undo::obstacles::{Obstacle, lost_file};

/// The edits by which `present` becomes `target`, or what is in the way. No block moves that may
/// stay, and neighbours are inserted and removed by one edit. Collections that are in both stay as
/// they are, with their items.
pub(crate) fn rewritten(
    tree: &Tree<'_>,
    context: &Context<'_>,
    present: TreeCopy,
    target: &TreeCopy,
) -> Result<std::result::Result<Vec<Edit>, Vec<Obstacle>>> {
    let mut plan = RewritePlan {
        tree,
        context,
        present,
        target,
        edits: Vec::new(),
        last: Vec::new(),
        placed: HashSet::new(),
        obstacles: Vec::new(),
    };
    plan.update(target.top())?;
    plan.place_children(target.top())?;
    plan.remove_others()?;
    let RewritePlan { mut edits, last, obstacles, .. } = plan;
    if !obstacles.is_empty() {
        return Ok(Err(obstacles));
    }
    edits.extend(last);
    Ok(Ok(edits))
}

struct RewritePlan<'a> {
    tree: &'a Tree<'a>,
    context: &'a Context<'a>,
    /// The page as the edits so far leave it.
    present: TreeCopy,
    target: &'a TreeCopy,
    edits: Vec<Edit>,
    /// Pages that become texts, once nothing is in them.
    last: Vec<Edit>,
    /// The blocks of the target, but for those in collections.
    placed: HashSet<BlockId>,
    obstacles: Vec<Obstacle>,
}

impl RewritePlan<'_> {
    /// Gives a block of both the data of the target.
    fn update(&mut self, block: BlockId) -> Result<()> {
        let (Some(now), Some(then)) = (self.present.get(block), self.target.get(block)) else {
            return Ok(());
        };
        if now.data != then.data && now.data.block_type() == BlockType::Collection {
            self.obstacles.push(Obstacle::new("collections", block, "has another name now"));
            return Ok(());
        }
        let becomes_text =
            now.data.block_type() == BlockType::Page && then.data.block_type() == BlockType::Text;
        let document = self.target.document();
        let edit = update_edit(document, now.clone(), then.data.clone(), self.context.stamp);
        if edit.is_some() {
            self.obstacles.extend(lost_file(self.tree, &then.data)?);
        }
        if becomes_text {
            self.last.extend(edit);
        } else {
            self.edits.extend(edit);
        }
        Ok(())
    }

    /// Puts the children that `parent` has in the target into their places, each before what is in
    /// it: so no block ever goes below itself.
    fn place_children(&mut self, parent: BlockId) -> Result<()> {
        let target = self.target;
        let children = target.children_of(parent);
        let unmoved = self.unmoved(parent, children);
        let mut after = None;
        for (index, block) in children.iter().enumerate() {
            let to = InsertTarget { document: target.document(), parent, after };
            after = Some(*block);
            // A new block may have come with the one above it, or with the one before it.
            if unmoved.contains(block) || self.placed.contains(block) {
            } else if self.present.get(*block).is_some() {
                self.move_to(*block, to)?;
            } else {
                let (_, new) = children.split_at(index);
                let new = new.iter().take_while(|it| self.present.get(**it).is_none());
                self.insert(&new.copied().collect::<Vec<_>>(), to)?;
            }
            if self.placed.insert(*block) {
                self.update(*block)?;
            }
            // Items are not in the page's own tree.
            let is_collection = |it: &BlockRecord| it.data.block_type() == BlockType::Collection;
            if !target.get(*block).is_some_and(is_collection) {
                self.place_children(*block)?;
            }
        }
        Ok(())
    }

    /// The children of `parent` that stay where they are: as many as can.
    fn unmoved(&self, parent: BlockId, children: &[BlockId]) -> HashSet<BlockId> {
        let present = self.present.children_of(parent);
        if present == children {
            return children.iter().copied().collect();
        }
        let indexes: HashMap<_, usize> = present.iter().zip(0..).collect();
        let indexes: Vec<_> = children.iter().filter_map(|it| indexes.get(it).copied()).collect();
        let unmoved = longest_ascent(&indexes);
        unmoved.into_iter().filter_map(|index| present.get(index).copied()).collect()
    }

    fn move_to(&mut self, block: BlockId, to: InsertTarget) -> Result<()> {
        let Some(parent) = self.present.parent_of(block) else {
            invariant!("the top of a page is not a child in another version of it")
        };
        let after = self.present.previous_sibling(block)?;
        let from = InsertTarget { document: to.document, parent, after };
        if from != to {
            invariant!(
                self.present.get(to.parent).is_some(),
                "a parent is in its place before its children"
            );
            self.present.detach(block);
            self.present.attach(block, &to);
            self.edits.push(Edit::Move { block, from, to });
        }
        Ok(())
    }

    /// Inserts new blocks with the new ones below them.
    fn insert(&mut self, blocks: &[BlockId], to: InsertTarget) -> Result<()> {
        let mut nodes = Vec::new();
        let mut waiting: Vec<_> = blocks.iter().rev().map(|block| (0, *block)).collect();
        while let Some((depth, block)) = waiting.pop() {
            let Some(record) = self.target.get(block) else {
                invariant!("what is a child is a block of the page")
            };
            if self.tree.locate(block)?.is_some() {
                self.obstacles.push(Obstacle::block(block, "is in another document now"));
            }
            if record.data.block_type() == BlockType::Collection {
                self.obstacles.push(Obstacle::new("collections", block, "was deleted since"));
            }
            self.obstacles.extend(lost_file(self.tree, &record.data)?);
            nodes.push(SubtreeNode { depth, block: record.clone() });
            self.placed.insert(block);
            let below = self.target.children_of(block).iter().rev();
            let new = below.filter(|child| self.present.get(**child).is_none());
            waiting.extend(new.map(|child| (depth + 1, *child)));
        }
        let subtrees = Subtrees(nodes);
        self.present.insert(Some(&to), subtrees.clone());
        self.edits.push(Edit::Insert { target: to, subtrees });
        Ok(())
    }

    /// Removes the blocks that the target does not have.
    fn remove_others(&mut self) -> Result<()> {
        let mut waiting = vec![self.target.top()];
        while let Some(parent) = waiting.pop() {
            let children = self.present.children_of(parent).to_vec();
            let (mut after, mut removed) = (None, Vec::new());
            for block in children {
                if !self.placed.contains(&block) {
                    if self.target.get(block).is_some() {
                        self.obstacles.push(Obstacle::block(block, "was in a collection then"));
                    }
                    removed.push(block);
                    continue;
                }
                self.remove(&std::mem::take(&mut removed), parent, after)?;
                after = Some(block);
                let record = self.present.get(block);
                if record.is_some_and(|it| it.data.block_type() != BlockType::Collection) {
                    waiting.push(block);
                }
            }
            self.remove(&removed, parent, after)?;
        }
        Ok(())
    }

    fn remove(
        &mut self,
        blocks: &[BlockId],
        parent: BlockId,
        after: Option<BlockId>,
    ) -> Result<()> {
        let mut subtrees = Subtrees::default();
        for block in blocks {
            subtrees.0.append(&mut self.present.subtree(*block, None)?.0);
            self.present.remove(*block);
        }
        if !blocks.is_empty() {
            let target = InsertTarget { document: self.target.document(), parent, after };
            self.edits.push(Edit::Remove { target, subtrees });
        }
        Ok(())
    }
}
