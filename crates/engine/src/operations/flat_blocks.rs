//! Trees of blocks as lists in reading order.

use leafbase_model::{Block, Content};

/// A block of a tree as a list, without its children: they follow it, deeper by one. As JSON: the
/// fields of the block, and `depth`.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FlatBlock {
    /// Levels below the first block.
    pub depth: usize,
    /// The block; its content is a preview, or none.
    #[serde(flatten)]
    pub block: Block,
}

/// A block and all below it in reading order, without recursion.
pub(crate) fn flattened(top: Block) -> Vec<FlatBlock> {
    let (mut entries, mut open) = (Vec::new(), vec![(0, top)]);
    while let Some((depth, mut block)) = open.pop() {
        if let Content::Blocks(children) = &mut block.content {
            let children = std::mem::take(children);
            open.extend(children.into_iter().rev().map(|child| (depth + 1, child)));
            block.content = Content::None;
        }
        entries.push(FlatBlock { depth, block });
    }
    entries
}
