//! Moves of blocks with their descendants.

use leafbase_model::{
    BlockId, BlockType, Edit, Error, IdMap, IdSet, InsertTarget, Result, invariant,
};

use crate::context::Context;
use crate::position::ResolvedPosition;
use crate::read::ReadTree;
use crate::request::{RequestReader, UniqueIds, check_count};
use crate::target::{TargetParent, check_nesting};

/// Result of a move.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MovedBlocks {
    /// Edits to apply. A block that is already in place has none.
    pub edits: Vec<Edit>,
    /// The IDs of the request, in its order, which is also the order of the moved blocks.
    pub ids: Vec<BlockId>,
}

/// Moves blocks to `position`, in the order of the request. A block may be named together with one
/// of its ancestors: it then leaves that ancestor's subtree.
///
/// # Errors
/// As [`crate::prepare_target`]; [`leafbase_model::ErrorKind::InvalidPosition`] next to one
/// of the moved blocks; at `blockIds[n]`, [`leafbase_model::ErrorKind::NotFound`],
/// [`leafbase_model::ErrorKind::Validation`] for a duplicate,
/// [`leafbase_model::ErrorKind::RuleViolation`] for a root, an item, a document in the trash, a
/// top-level block of the inbox that is not a task, and a move of a block below itself, and
/// [`leafbase_model::ErrorKind::LimitExceeded`] if a descendant would be nested too deep.
pub fn move_blocks<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    ids: Vec<BlockId>,
    position: ResolvedPosition,
) -> Result<MovedBlocks> {
    check_count("IDs in one request", context.limits.blocks_per_request, ids.len(), "blockIds")?;
    let reader = RequestReader::new(tree);
    let parent = TargetParent::find(&reader, position)?;
    if matches!(position, ResolvedPosition::Beside(..)) && ids.contains(&position.block()) {
        return Err(Error::position("a block cannot be moved next to itself").at(position.path()));
    }
    // The IDs may be unknown or duplicate; `locate` reports that below.
    reader.prefetch_subtrees(&ids);
    let mut unique_ids = UniqueIds::with_capacity(ids.len());
    let mut origins = Vec::with_capacity(ids.len());
    for (index, id) in ids.iter().enumerate() {
        let at = |error: Error| error.at(format_args!("blockIds[{index}]"));
        unique_ids.add(*id).map_err(at)?;
        origins.push((*id, origin(&reader, context, &parent, *id).map_err(at)?));
    }
    let moves = move_edits(&reader, &parent, &unique_ids, &origins)?;
    let page = if origins.is_empty() { None } else { parent.into_page(context)? };
    Ok(MovedBlocks { edits: page.into_iter().chain(moves).collect(), ids })
}

/// Checks that a block can be moved below `parent`; returns its current slot.
fn origin<T: ReadTree + ?Sized>(
    reader: &RequestReader<'_, T>,
    context: &Context<'_>,
    parent: &TargetParent,
    id: BlockId,
) -> Result<InsertTarget> {
    let location = reader.locate(id)?;
    let Some(old_parent) = location.parent else {
        return Err(Error::rule(
            "the root of a document cannot be moved as a block; move the document",
        ));
    };
    if parent.lineage.contains(&id) {
        return Err(Error::rule("a block cannot be moved below itself or its descendants"));
    }
    let data = reader.block(id)?.data;
    let block_type = data.block_type();
    if block_type == BlockType::CollectionItem {
        return Err(Error::rule(
            "a block of type collectionItem cannot be moved; only its deletion removes it from its \
             collection",
        ));
    }
    parent.allowed.check(&data)?;
    if old_parent != parent.id()
        && parent.depth() > reader.depth_below(location.document, old_parent)?
    {
        check_depth(reader, context, parent.depth(), (id, block_type))?;
    }
    let after = reader.tree.previous_sibling(id)?;
    Ok(InsertTarget { document: location.document, parent: old_parent, after })
}

/// Checks the depth of a block's descendants after a move to `depth`, which is greater than before.
fn check_depth<T: ReadTree + ?Sized>(
    reader: &RequestReader<'_, T>,
    context: &Context<'_>,
    depth: usize,
    (id, block_type): (BlockId, BlockType),
) -> Result<()> {
    check_nesting(context.limits, depth)?;
    // Of the types with children, texts have none: with the first one they become pages.
    let has_children = block_type == BlockType::Collection
        || (block_type.may_be_parent() && block_type != BlockType::Text);
    if !has_children {
        return Ok(());
    }
    // One level over the limit is enough to know that it is exceeded.
    let levels = context.limits.deepest_page().saturating_sub(depth).saturating_add(1);
    check_nesting(context.limits, depth.saturating_add(reader.tree.height(id, levels)?))
}

/// One edit per move, each from the slot that the block has after the previous moves.
fn move_edits<T: ReadTree + ?Sized>(
    reader: &RequestReader<'_, T>,
    parent: &TargetParent,
    moving: &UniqueIds,
    origins: &[(BlockId, InsertTarget)],
) -> Result<Vec<Edit>> {
    let mut slots = MovingSlots::new(origins);
    let mut after = parent.after(reader)?;
    // The first block must follow a sibling that stays: skip the siblings that move.
    while let Some(sibling) = after.filter(|sibling| moving.contains(*sibling)) {
        let Some(slot) = slots.get(sibling) else {
            invariant!("block {sibling} moves from a slot")
        };
        after = slot.after;
    }
    let mut edits = Vec::with_capacity(origins.len());
    let mut moved = IdSet::default();
    for (id, _) in origins {
        let to = parent.target(after);
        if let Some(mut from) = slots.move_to(*id, to) {
            // An ancestor that moved before has taken the block along to the other document.
            if from.document != to.document
                && reader.lineage(from.parent)?.iter().any(|ancestor| moved.contains(ancestor))
            {
                from.document = to.document;
            }
            edits.push(Edit::Move { block: *id, from, to });
        }
        moved.insert(*id);
        after = Some(*id);
    }
    Ok(edits)
}

/// Current slots of the moving blocks. Blocks that stay are not tracked: only the previous sibling
/// of each moving block is read.
struct MovingSlots {
    slots: IdMap<BlockId, InsertTarget>,
    /// The inverse of `slots`.
    occupants: IdMap<InsertTarget, BlockId>,
}

impl MovingSlots {
    fn new(origins: &[(BlockId, InsertTarget)]) -> Self {
        let slots = Self {
            // Two blocks cannot share a slot, so both maps have one entry per block.
            slots: origins.iter().copied().collect(),
            occupants: origins.iter().map(|(id, slot)| (*slot, *id)).collect(),
        };
        debug_assert_eq!(slots.slots.len(), slots.occupants.len(), "no two blocks share a slot");
        slots
    }

    fn get(&self, id: BlockId) -> Option<InsertTarget> {
        self.slots.get(&id).copied()
    }

    fn set(&mut self, id: BlockId, slot: InsertTarget) {
        self.slots.insert(id, slot);
        self.occupants.insert(slot, id);
    }

    /// Moves `id` to `to` and returns its previous slot; `None` if it is already there.
    fn move_to(&mut self, id: BlockId, to: InsertTarget) -> Option<InsertTarget> {
        debug_assert!(self.slots.contains_key(&id), "only blocks of the request move");
        let from = self.get(id).filter(|from| *from != to)?;
        self.occupants.remove(&from);
        // The next sibling closes the gap; the previous occupant of `to` then follows `id`.
        if let Some(next) = self.occupants.remove(&InsertTarget { after: Some(id), ..from }) {
            self.set(next, from);
        }
        if let Some(next) = self.occupants.remove(&to) {
            self.set(next, InsertTarget { after: Some(id), ..to });
        }
        self.set(id, to);
        Some(from)
    }
}
