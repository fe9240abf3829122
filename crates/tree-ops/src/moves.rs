//! Blocks go elsewhere, with all below them.

use leafbase_model::{BlockId, BlockType, Edit, Error, IdMap, IdSet, InsertTarget, Result};

use crate::batch::{Batch, Named, check_count};
use crate::place::{Spot, check_nesting};
use crate::{Context, ReadTree, ResolvedPosition};

/// What a move does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moved {
    /// What to write. A block that already stands where it is to go has no edit.
    pub edits: Vec<Edit>,
    /// The IDs asked for, in the order of the request, which is also the order in which they then
    /// stand.
    pub ids: Vec<BlockId>,
}

/// Moves blocks to `place`, where they stand in the order of the request. A block may be named
/// together with one that it stands below: it leaves it.
///
/// # Errors
/// Those of [`crate::open_place`]; [`leafbase_model::ErrorKind::InvalidPosition`] next to one of
/// the blocks themselves; at `blockIds[n]`, [`leafbase_model::ErrorKind::NotFound`],
/// [`leafbase_model::ErrorKind::Validation`] for a block named twice,
/// [`leafbase_model::ErrorKind::RuleViolation`] for a root, an item, a document in the trash, what
/// is no task at the top of the inbox, and a move under the block itself or below it, and
/// [`leafbase_model::ErrorKind::LimitExceeded`] if what is below would stand too deep.
pub fn move_blocks<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    ids: Vec<BlockId>,
    place: ResolvedPosition,
) -> Result<Moved> {
    check_count("IDs in one request", context.limits.blocks_per_request, ids.len(), "blockIds")?;
    let batch = Batch::new(tree);
    let spot = Spot::find(&batch, place)?;
    if matches!(place, ResolvedPosition::Beside(..)) && ids.contains(&place.block()) {
        return Err(Error::position("a block cannot go next to itself").at(place.path()));
    }
    batch.expect(&ids);
    let (mut named, mut slots) = (Named::of(ids.len()), Vec::with_capacity(ids.len()));
    for (index, id) in ids.iter().enumerate() {
        let at = |error: Error| error.at(format_args!("blockIds[{index}]"));
        named.add(*id).map_err(at)?;
        slots.push((*id, movable(&batch, context, &spot, *id).map_err(at)?));
    }
    let edits = relink(&batch, &spot, &named, &slots)?;
    let before = if slots.is_empty() { None } else { spot.receive(context)? };
    Ok(Moved { edits: before.into_iter().chain(edits).collect(), ids })
}

/// Where a block that may go to `spot` stands.
fn movable<T: ReadTree + ?Sized>(
    batch: &Batch<'_, T>,
    context: &Context<'_>,
    spot: &Spot,
    id: BlockId,
) -> Result<InsertTarget> {
    let located = batch.locate(id)?;
    let refused =
        || Error::rule("the root of a document is not moved as a block: move the document");
    let parent = located.parent.ok_or_else(refused)?;
    if spot.lineage.contains(&id) {
        return Err(Error::rule("a block cannot go under itself or a block below it"));
    }
    let data = batch.block(id)?.data;
    let block_type = data.block_type();
    if block_type == BlockType::CollectionItem {
        return Err(Error::rule(
            "a block of type collectionItem stays at its place: it leaves its collection only by deletion",
        ));
    }
    spot.takes.check(&data)?;
    check_levels(batch, context, spot, parent, (id, block_type))?;
    Ok(InsertTarget { document: located.document, parent, after: batch.tree.previous_sibling(id)? })
}

/// A block that goes no deeper than it stands takes nothing over the limit: what is below it need
/// not be read.
fn check_levels<T: ReadTree + ?Sized>(
    batch: &Batch<'_, T>,
    context: &Context<'_>,
    spot: &Spot,
    parent: BlockId,
    (id, block_type): (BlockId, BlockType),
) -> Result<()> {
    let depth = spot.depth();
    if parent == spot.parent() || depth <= batch.lineage(parent)?.len() {
        return Ok(());
    }
    check_nesting(context.limits, depth)?;
    if block_type != BlockType::Collection
        && !(block_type.may_be_parent() && block_type != BlockType::Text)
    {
        return Ok(());
    }
    let one_too_many = context.limits.deepest_page().saturating_sub(depth).saturating_add(1);
    check_nesting(context.limits, depth.saturating_add(batch.tree.height(id, one_too_many)?))
}

/// The moves one by one, each from where the block stands after those before it.
fn relink<T: ReadTree + ?Sized>(
    batch: &Batch<'_, T>,
    spot: &Spot,
    going: &Named,
    slots: &[(BlockId, InsertTarget)],
) -> Result<Vec<Edit>> {
    let mut row = Row::new(slots);
    let mut after = spot.after(batch)?;
    // What the first block follows must be a block that stays: those that go are found again behind
    // it.
    while let Some(sibling) = after.filter(|sibling| going.contains(*sibling)) {
        after = row.target(sibling).and_then(|target| target.after);
    }
    let (mut edits, mut gone) = (Vec::new(), IdSet::default());
    for (id, _) in slots {
        let to = spot.target(after);
        if let Some(mut from) = row.put(*id, to) {
            // A block above it that went before has taken it along to the other document.
            if from.document != to.document
                && batch.lineage(from.parent)?.iter().any(|above| gone.contains(above))
            {
                from.document = to.document;
            }
            edits.push(Edit::Move { block: *id, from, to });
        }
        gone.insert(*id);
        after = Some(*id);
    }
    Ok(edits)
}

/// Where the blocks of the request stand while one after the other goes. Other blocks are never
/// asked about, so that only the siblings right before are read.
struct Row {
    slots: IdMap<BlockId, InsertTarget>,
    /// The block of the request that stands at a target.
    at: IdMap<InsertTarget, BlockId>,
}

impl Row {
    fn new(slots: &[(BlockId, InsertTarget)]) -> Self {
        Self {
            slots: slots.iter().copied().collect(),
            at: slots.iter().map(|(id, target)| (*target, *id)).collect(),
        }
    }

    fn target(&self, id: BlockId) -> Option<InsertTarget> {
        self.slots.get(&id).copied()
    }

    fn set(&mut self, id: BlockId, target: InsertTarget) {
        self.slots.insert(id, target);
        self.at.insert(target, id);
    }

    /// Puts `id` at `to`; returns where it stood, if that was elsewhere.
    fn put(&mut self, id: BlockId, to: InsertTarget) -> Option<InsertTarget> {
        let from = self.target(id).filter(|from| *from != to)?;
        self.at.remove(&from);
        // Its follower closes the gap, and what stood at `to` follows it.
        if let Some(follower) = self.at.remove(&InsertTarget { after: Some(id), ..from }) {
            self.set(follower, from);
        }
        if let Some(follower) = self.at.remove(&to) {
            self.set(follower, InsertTarget { after: Some(id), ..to });
        }
        self.set(id, to);
        Some(from)
    }
}
