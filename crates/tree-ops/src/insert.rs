//! Blocks are put in.

use leafbase_model::{BlockDraft, BlockId, Edit, Result, Subtrees};

use crate::batch::Batch;
use crate::drafts::Drafts;
use crate::place::Spot;
use crate::{Context, ReadTree, ResolvedPosition, Takes};

/// What an insertion does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inserted {
    /// What to write: a text becomes a page where it must, then the blocks are put in.
    pub edits: Vec<Edit>,
    /// The new blocks that stand at the place itself, in order.
    pub top: Vec<BlockId>,
}

impl Inserted {
    /// The new blocks, with all below them.
    pub fn subtrees(&self) -> Option<&Subtrees> {
        self.edits.iter().find_map(|edit| match edit {
            Edit::Insert { subtrees, .. } => Some(subtrees),
            _ => None,
        })
    }
}

/// Inserts `drafts` at `place`, in their order. Without drafts the place is checked and nothing
/// happens.
///
/// # Errors
/// Those of [`crate::open_place`]; below `blocks`, those of [`leafbase_model::BlockData::check`],
/// [`leafbase_model::ErrorKind::RuleViolation`] for content of a type that cannot have any, for a
/// collection, for an item and for what is no task at the top of the inbox, and
/// [`leafbase_model::ErrorKind::LimitExceeded`] for a draft that would stand too deep or for too
/// many.
pub fn insert<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    drafts: Vec<BlockDraft>,
    place: ResolvedPosition,
) -> Result<Inserted> {
    let drafts = Drafts::listed("blocks", drafts);
    insert_listed(tree, context, place, |_, _| Ok(drafts))
}

/// As [`insert`], with drafts that `drafts` gives once the place is found and checked. It is told
/// how deep they will stand, 1 for the children of a root, and what the place takes: [`insert`]
/// names a draft that may not stand there by its number, `drafts` can name it as the request has
/// it.
///
/// # Errors
/// As [`insert`], and those of `drafts`.
pub fn insert_at<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    place: ResolvedPosition,
    drafts: impl FnOnce(usize, Takes) -> Result<Vec<BlockDraft>>,
) -> Result<Inserted> {
    insert_listed(tree, context, place, |depth, takes| {
        Ok(Drafts::listed("blocks", drafts(depth, takes)?))
    })
}

fn insert_listed<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    place: ResolvedPosition,
    drafts: impl FnOnce(usize, Takes) -> Result<Drafts>,
) -> Result<Inserted> {
    let batch = Batch::new(tree);
    let spot = Spot::find(&batch, place)?;
    let subtrees = drafts(spot.depth(), spot.takes)?.grow(context, spot.depth(), spot.takes)?;
    if subtrees.0.is_empty() {
        return Ok(Inserted::default());
    }
    let top = subtrees.0.iter().filter(|node| node.depth == 0).map(|node| node.block.id).collect();
    let insertion = Edit::Insert { target: spot.target(spot.after(&batch)?), subtrees };
    let edits = spot.receive(context)?.into_iter().chain([insertion]).collect();
    Ok(Inserted { edits, top })
}
