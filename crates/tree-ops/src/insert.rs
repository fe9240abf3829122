//! Insertion of blocks.

use leafbase_model::{BlockDraft, BlockId, Edit, Result, Subtrees};

use crate::context::Context;
use crate::drafts::DraftTree;
use crate::inbox::AllowedChildren;
use crate::position::ResolvedPosition;
use crate::read::ReadTree;
use crate::request::RequestReader;
use crate::target::TargetParent;

/// Result of an insertion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InsertedBlocks {
    /// Edits to apply: the parent becomes a page if it is a text, then the blocks are inserted.
    pub edits: Vec<Edit>,
    /// IDs of the new blocks at the position itself, in order.
    pub top: Vec<BlockId>,
}

impl InsertedBlocks {
    /// The new blocks with their descendants.
    pub fn subtrees(&self) -> Option<&Subtrees> {
        self.edits.iter().find_map(|edit| match edit {
            Edit::Insert { subtrees, .. } => Some(subtrees),
            _ => None,
        })
    }
}

/// Inserts `drafts` at `position`, in their order. Without drafts the position is checked, and
/// there are no edits.
///
/// # Errors
/// As [`crate::prepare_target`]; below `blocks`, the errors of
/// [`leafbase_model::BlockData::check`], [`leafbase_model::ErrorKind::RuleViolation`] for content
/// of a type that cannot have any, for a collection, for an item and for a top-level block of the
/// inbox that is not a task, and [`leafbase_model::ErrorKind::LimitExceeded`] for a draft that
/// would be nested too deep or for too many drafts.
pub fn insert<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    drafts: Vec<BlockDraft>,
    position: ResolvedPosition,
) -> Result<InsertedBlocks> {
    insert_at(tree, context, position, |_, _| Ok(drafts))
}

/// As [`insert`], with drafts that `drafts` returns once the position is checked. Its arguments are
/// the depth of the blocks, 1 for children of a root, and the blocks that are allowed there: unlike
/// [`insert`], which names a draft by its index, it can reject one by its path in the request.
///
/// # Errors
/// As [`insert`], and the errors of `drafts`.
pub fn insert_at<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    position: ResolvedPosition,
    drafts: impl FnOnce(usize, AllowedChildren) -> Result<Vec<BlockDraft>>,
) -> Result<InsertedBlocks> {
    let reader = RequestReader::new(tree);
    let parent = TargetParent::find(&reader, position)?;
    let (depth, allowed) = (parent.depth(), parent.allowed);
    // The drafts are requested only now, so that an invalid position costs no parsing.
    let drafts = DraftTree::listed("blocks", drafts(depth, allowed)?);
    let subtrees = drafts.into_blocks(context, depth, allowed)?;
    if subtrees.0.is_empty() {
        return Ok(InsertedBlocks::default());
    }
    let top = subtrees.0.iter().filter(|node| node.depth == 0).map(|node| node.block.id).collect();
    // The edits run in order: the parent has to be a page before it receives children.
    let insertion = Edit::Insert { target: parent.target(parent.after(&reader)?), subtrees };
    let edits = parent.into_page(context)?.into_iter().chain([insertion]).collect();
    Ok(InsertedBlocks { edits, top })
}
