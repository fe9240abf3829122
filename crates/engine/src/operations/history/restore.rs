//! The edits that make a document what it was.

use std::collections::HashSet;

use leafbase_model::{
    BlockId, BlockRecord, BlockType, DocumentId, Edit, InsertTarget, Result, SubtreeNode, Subtrees,
};
use leafbase_tree_ops::{Context, ReadTree, update_edit};

use super::past::PastDocument;
use crate::core::tree::Tree;
use crate::operations::undo::obstacles::{Obstacle, lost_file};

/// The edits by which `present` becomes `past`, or what is in the way. Collections that are in both
/// stay as they are, with their items.
pub(super) fn restored(
    tree: &Tree<'_>,
    context: &Context<'_>,
    mut present: PastDocument,
    past: &PastDocument,
) -> Result<std::result::Result<Vec<Edit>, Vec<Obstacle>>> {
    let document = past.id();
    let mut plan = RestorePlan {
        tree,
        context,
        document,
        edits: Vec::new(),
        last: Vec::new(),
        placed: HashSet::new(),
        obstacles: Vec::new(),
    };
    plan.update(&present, past, document.root())?;
    plan.children(&mut present, past, document.root())?;
    plan.remove_others(&mut present, past)?;
    let RestorePlan { mut edits, last, obstacles, .. } = plan;
    if !obstacles.is_empty() {
        return Ok(Err(obstacles));
    }
    edits.extend(last);
    Ok(Ok(edits))
}

struct RestorePlan<'a> {
    tree: &'a Tree<'a>,
    context: &'a Context<'a>,
    document: DocumentId,
    edits: Vec<Edit>,
    /// Pages that become texts, once nothing is in them.
    last: Vec<Edit>,
    /// The blocks of the past, but for those in collections.
    placed: HashSet<BlockId>,
    obstacles: Vec<Obstacle>,
}

impl RestorePlan<'_> {
    /// Gives a block of both the data that it had.
    fn update(
        &mut self,
        present: &PastDocument,
        past: &PastDocument,
        block: BlockId,
    ) -> Result<()> {
        let (Some(now), Some(then)) = (present.block(block)?, past.block(block)?) else {
            return Ok(());
        };
        if now.data != then.data && now.data.block_type() == BlockType::Collection {
            self.obstacles.push(Obstacle::new("collections", block, "has another name now"));
            return Ok(());
        }
        let becomes_text =
            now.data.block_type() == BlockType::Page && then.data.block_type() == BlockType::Text;
        let edit = update_edit(self.document, now, then.data.clone(), self.context.stamp);
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

    /// Puts the children that `parent` had into their places, each before what is in it: so no
    /// block ever goes below itself.
    fn children(
        &mut self,
        present: &mut PastDocument,
        past: &PastDocument,
        parent: BlockId,
    ) -> Result<()> {
        let mut after = None;
        for block in past.children_of(parent).to_vec() {
            let Some(record) = past.block(block)? else { continue };
            let to = InsertTarget { document: self.document, parent, after };
            self.placed.insert(block);
            if present.block(block)?.is_some() {
                self.put(present, block, to)?;
                self.update(present, past, block)?;
            } else {
                self.insert(present, &record, to)?;
            }
            // Items are not those of the document's own tree.
            if record.data.block_type() != BlockType::Collection {
                self.children(present, past, block)?;
            }
            after = Some(block);
        }
        Ok(())
    }

    fn put(&mut self, present: &mut PastDocument, block: BlockId, to: InsertTarget) -> Result<()> {
        let Some(parent) = present.locate(block)?.and_then(|found| found.parent) else {
            return Ok(());
        };
        let after = present.previous_sibling(block)?;
        let from = InsertTarget { document: self.document, parent, after };
        if from != to {
            debug_assert!(
                present.block(to.parent)?.is_some(),
                "a parent is in its place before its children"
            );
            present.detach(block);
            present.attach(block, &to);
            self.edits.push(Edit::Move { block, from, to });
        }
        Ok(())
    }

    fn insert(
        &mut self,
        present: &mut PastDocument,
        record: &BlockRecord,
        to: InsertTarget,
    ) -> Result<()> {
        if self.tree.locate(record.id)?.is_some() {
            self.obstacles.push(Obstacle::block(record.id, "is in another document now"));
        }
        if record.data.block_type() == BlockType::Collection {
            self.obstacles.push(Obstacle::new("collections", record.id, "was deleted since"));
        }
        self.obstacles.extend(lost_file(self.tree, &record.data)?);
        let block = BlockRecord {
            rev: record.rev.saturating_add(1),
            modified: self.context.stamp.clone(),
            ..record.clone()
        };
        let subtrees = Subtrees(vec![SubtreeNode { depth: 0, block }]);
        present.insert(Some(&to), &subtrees);
        self.edits.push(Edit::Insert { target: to, subtrees });
        Ok(())
    }

    /// Removes what was not there.
    fn remove_others(&mut self, present: &mut PastDocument, past: &PastDocument) -> Result<()> {
        let mut waiting = vec![self.document.root()];
        while let Some(parent) = waiting.pop() {
            for block in present.children_of(parent).to_vec() {
                let Some(record) = present.block(block)? else { continue };
                if self.placed.contains(&block) {
                    if record.data.block_type() != BlockType::Collection {
                        waiting.push(block);
                    }
                    continue;
                }
                if past.block(block)?.is_some() {
                    self.obstacles.push(Obstacle::block(block, "was in a collection then"));
                    continue;
                }
                let after = present.previous_sibling(block)?;
                let target = InsertTarget { document: self.document, parent, after };
                let subtrees = present.subtree(block, None)?;
                present.remove(block);
                self.edits.push(Edit::Remove { target, subtrees });
            }
        }
        Ok(())
    }
}
