//! Removal of blocks that a change inserted, if they are as it left them.

use std::collections::HashMap;

use leafbase_model::{BlockId, BlockLocation, Edit, InsertTarget, Result, Subtrees, invariant};
use leafbase_tree_ops::ReadTree;

use super::obstacles::{Obstacle, Rebased, commented, trashed};
use super::subtree_match::{differences, tops};
use crate::core::scope_undo::UndoSight;
use crate::core::tree::Tree;

/// Removes blocks that a change inserted below `parent`, if they are as it left them.
pub(super) fn remove(
    tree: &Tree<'_>,
    sight: &UndoSight,
    parent: BlockId,
    subtrees: &Subtrees,
) -> Result<Rebased> {
    let (mut edits, mut obstacles) = (Vec::new(), Vec::new());
    // What each removed block followed, for one that followed it.
    let mut removed: HashMap<BlockId, Option<BlockId>> = HashMap::new();
    for left in tops(subtrees) {
        let Some(top) = left.first().map(|node| node.block.id) else {
            invariant!("a subtree has its top")
        };

        let location = tree.locate(top)?;
        let Some(BlockLocation { document, .. }) =
            location.filter(|location| location.parent == Some(parent))
        else {
            obstacles.push(Obstacle::block(top, "was moved or deleted since"));
            continue;
        };
        obstacles.extend(trashed(tree, document)?);
        let present = tree.subtree(top, None)?;
        obstacles.extend(differences(tree, sight, left, &present.0)?);
        obstacles.extend(commented(tree, document, &present)?);
        let mut after = tree.previous_sibling(top)?;
        // Edits apply in order: a sibling that one before removes cannot be followed any more.
        while let Some(before) = after.and_then(|block| removed.get(&block)) {
            after = *before;
        }
        removed.insert(top, after);
        let target = InsertTarget { document, parent, after };
        edits.push(Edit::Remove { target, subtrees: present });
    }
    Ok(if obstacles.is_empty() { Ok(edits) } else { Err(obstacles) })
}
