//! Whether subtrees are as a change left them.

use std::collections::{HashMap, HashSet};

use leafbase_model::{BlockId, Result, SubtreeNode, Subtrees};

use super::obstacles::Obstacle;
use crate::core::scope_undo::UndoSight;
use crate::core::tree::Tree;

/// What differs between blocks as a change left them and as they are, apart from their stamps.
pub(super) fn differences(
    tree: &Tree<'_>,
    sight: &UndoSight,
    left: &[SubtreeNode],
    present: &[SubtreeNode],
) -> Result<Vec<Obstacle>> {
    let known: HashMap<BlockId, &SubtreeNode> =
        left.iter().map(|node| (node.block.id, node)).collect();
    let mut obstacles = Vec::new();
    for node in present {
        match known.get(&node.block.id) {
            None => obstacles.push(Obstacle::block(node.block.id, "was added since")),
            Some(left)
                if left.block.data != sight.visible_data(tree, node.block.data.clone())? =>
            {
                obstacles.push(Obstacle::block(node.block.id, "was changed since"));
            }
            Some(_) => {}
        }
    }
    let found: HashSet<BlockId> = present.iter().map(|node| node.block.id).collect();
    let gone = left.iter().filter(|node| !found.contains(&node.block.id));
    obstacles.extend(gone.map(|node| Obstacle::block(node.block.id, "was moved or deleted since")));
    if obstacles.is_empty() {
        debug_assert_eq!(left.len(), present.len(), "both have the same blocks");
        let moved = left.iter().zip(present).find(|(left, present)| {
            (left.block.id, left.depth) != (present.block.id, present.depth)
        });
        obstacles.extend(moved.map(|(left, _)| Obstacle::block(left.block.id, "was moved since")));
    }
    Ok(obstacles)
}

/// The subtrees one by one.
pub(super) fn tops(subtrees: &Subtrees) -> Vec<&[SubtreeNode]> {
    let mut tops: Vec<&[SubtreeNode]> = Vec::new();
    let mut rest = subtrees.0.as_slice();
    while !rest.is_empty() {
        let next = rest.iter().skip(1).position(|node| node.depth == 0);
        let (top, others) = rest.split_at(next.map_or(rest.len(), |next| next + 1));
        tops.push(top);
        rest = others;
    }
    tops
}
