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

impl FlatBlock {
    /// A block and all below it in reading order: the list that the steps of a
    /// [`crate::DocumentDiff`], and of the patches of a watched fetch, apply to.
    ///
    /// ```
    /// use leafbase::{Fetch, FlatBlock};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// notes.insert_markdown("passport", trip)?;
    /// let list = FlatBlock::list(notes.fetch(Fetch::new(trip))?);
    /// assert_eq!((list.len(), list[1].depth), (2, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(top: Block) -> Vec<Self> {
        // Without recursion: replies nest as deep as documents.
        let (mut entries, mut open) = (Vec::new(), vec![(0, top)]);
        while let Some((depth, mut block)) = open.pop() {
            if let Content::Blocks(children) = &mut block.content {
                let children = std::mem::take(children);
                open.extend(children.into_iter().rev().map(|child| (depth + 1, child)));
                block.content = Content::None;
            }
            entries.push(Self { depth, block });
        }
        entries
    }
}
