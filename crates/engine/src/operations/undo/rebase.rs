//! Inverse edits of blocks, as they fit the present state.

use std::cell::{OnceCell, RefCell};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashSet};

use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockLocation, BlockRecord, BlockType, Edit, Error, IdMap,
    IdSet, InsertTarget, Result, Subtrees, invariant,
};
use leafbase_store::SpaceReader;
use leafbase_tree_ops::{Context, ReadTree};

use super::later_writes::{LaterWrites, Relocation};
use super::obstacles::{Obstacle, Rebased, lost_file, refused, restored, trashed};
use super::past_children::PastChildren;
use super::removal::remove;
use crate::core::scope_undo::UndoSight;
use crate::core::tree::Tree;

/// Upper bound of the depth of a tree. A longer chain of parents has a cycle.
const MAX_LEVELS: usize = u16::MAX as usize;

/// Fits the inverse edits of changes to the present state.
pub(super) struct Rebase {
    /// The changes that are undone.
    group: BTreeSet<u64>,
    sight: UndoSight,
    /// The edits of the batch before the undo.
    planned: Vec<Edit>,
    later: OnceCell<LaterWrites>,
    /// The parents to which blocks returned, with their children after the change that is undone.
    past: RefCell<IdMap<BlockId, PastChildren>>,
    /// The blocks of the edits seen so far.
    seen: HashSet<BlockId>,
    /// The blocks that were put somewhere.
    placed: HashSet<BlockId>,
}

/// Where a block returns to.
struct ReturnPlace {
    target: InsertTarget,
    /// The edit that turns the parent into a page, if it is a text.
    conversion: Option<Edit>,
}

impl Rebase {
    pub(super) fn new(group: BTreeSet<u64>, sight: UndoSight, planned: Vec<Edit>) -> Self {
        let (later, past) = (OnceCell::new(), RefCell::default());
        let (seen, placed) = (HashSet::new(), HashSet::new());
        Self { group, sight, planned, later, past, seen, placed }
    }

    /// Whether no edit before named a block of this one.
    pub(super) fn is_first_of(&self, edit: &Edit) -> bool {
        let blocks = edit.blocks();
        !blocks.is_empty() && blocks.iter().all(|block| !self.seen.contains(block))
    }

    /// Records that `undone`, an inverse edit of the change `sequence`, is applied as `applied`.
    pub(super) fn record(&mut self, sequence: u64, undone: &Edit, applied: &[Edit]) -> Result<()> {
        let past = self.past.get_mut();
        for relocation in Relocation::by(undone) {
            if let Some((past, later)) = past.get_mut(&relocation.parent).zip(self.later.get()) {
                past.rewind(later, sequence)?;
                past.undo(&relocation);
            }
        }
        for relocation in applied.iter().flat_map(Relocation::by) {
            if let Some(past) = past.get_mut(&relocation.parent) {
                past.record(&relocation);
            }
        }
        for edit in applied {
            match edit {
                Edit::Insert { subtrees, .. } => {
                    self.placed.extend(subtrees.0.iter().map(|node| node.block.id));
                }
                Edit::Move { block, .. } => {
                    self.placed.insert(*block);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The edits by which `edit`, an inverse of one of the change `sequence`, is undone now.
    pub(super) fn rebase(
        &mut self,
        tree: &Tree<'_>,
        context: &Context<'_>,
        sequence: u64,
        edit: &Edit,
    ) -> Result<Rebased> {
        // Also of an edit that is refused: an edit of the same block must not be tried before it.
        self.seen.extend(edit.blocks());
        let mut rebased = match edit {
            Edit::Update { before, after, .. } => update(tree, context, &self.sight, before, after),
            Edit::Insert { target, subtrees } => {
                self.insert(tree, context, sequence, target, subtrees)
            }
            Edit::Remove { target, subtrees } => remove(tree, &self.sight, target.parent, subtrees),
            Edit::Move { block, from, to } => {
                self.move_back(tree, context, sequence, *block, (from, to))
            }
            _ => super::documents::rebase(tree, context, &self.sight, edit),
        }?;
        for edit in rebased.iter_mut().flatten() {
            match edit {
                Edit::Insert { target, subtrees } => {
                    self.later(tree.reader_at(target.parent)?)?.raise_revs(subtrees);
                }
                Edit::CreateDocument { record, subtrees } => {
                    let later = self.later(tree.full_reader()?)?;
                    later.raise_revs(subtrees);
                    later.raise_rev(record);
                }
                _ => {}
            }
        }
        Ok(rebased)
    }

    fn insert(
        &self,
        tree: &Tree<'_>,
        context: &Context<'_>,
        sequence: u64,
        target: &InsertTarget,
        subtrees: &Subtrees,
    ) -> Result<Rebased> {
        let mut obstacles = Vec::new();
        for node in &subtrees.0 {
            if tree.locate(node.block.id)?.is_some() {
                obstacles.push(Obstacle::block(node.block.id, "exists again"));
            }
            obstacles.extend(lost_file(tree, &node.block.data)?);
        }
        if !obstacles.is_empty() {
            return Ok(Err(obstacles));
        }
        let height = usize::from(subtrees.height());
        let destination = match self.destination(tree, context, sequence, target, height)? {
            Ok(destination) => destination,
            Err(obstacle) => return Ok(refused(obstacle)),
        };
        let target = destination.target;
        let insertion = Edit::Insert { target, subtrees: restored(context, subtrees) };
        Ok(Ok(destination.conversion.into_iter().chain([insertion]).collect()))
    }

    fn move_back(
        &self,
        tree: &Tree<'_>,
        context: &Context<'_>,
        sequence: u64,
        block: BlockId,
        (left, target): (&InsertTarget, &InsertTarget),
    ) -> Result<Rebased> {
        let Some(BlockLocation { document, parent: Some(parent) }) = tree.locate(block)? else {
            return Ok(refused(Obstacle::block(block, "was deleted since")));
        };
        if let Some(obstacle) = trashed(tree, document)? {
            return Ok(refused(obstacle));
        }
        let after = tree.previous_sibling(block)?;
        let is_elsewhere = parent == left.parent
            && self.later(tree.reader_at(parent)?)?.has_left(parent, block, sequence)
            && after != self.place(tree, left, sequence, Some(block))?;
        if parent != left.parent || is_elsewhere {
            return Ok(refused(Obstacle::block(block, "was moved since")));
        }
        if lineage(tree, target.parent)?.contains(&block) {
            return Ok(refused(Obstacle::block(target.parent, "is within the block now")));
        }
        let height = tree.height(block, context.limits.deepest_page())?;
        let destination = match self.destination(tree, context, sequence, target, height)? {
            Ok(destination) => destination,
            Err(obstacle) => return Ok(refused(obstacle)),
        };
        let (from, mut to) = (InsertTarget { document, parent, after }, destination.target);
        if to.after == Some(block) {
            to.after = after;
        }
        let is_there = from == to;
        let moved = (!is_there).then_some(Edit::Move { block, from, to });
        Ok(Ok(destination.conversion.into_iter().chain(moved).collect()))
    }

    /// Where blocks return to that stood at `target` before the change `sequence`.
    fn destination(
        &self,
        tree: &Tree<'_>,
        context: &Context<'_>,
        sequence: u64,
        target: &InsertTarget,
        height: usize,
    ) -> Result<std::result::Result<ReturnPlace, Obstacle>> {
        let page = |message: &str| Ok(Err(Obstacle::block(target.parent, message)));
        let Some(BlockLocation { document, .. }) = tree.locate(target.parent)? else {
            return page("was deleted since, and the block was in it");
        };
        if let Some(obstacle) = trashed(tree, document)? {
            return Ok(Err(obstacle));
        }
        let lineage = lineage(tree, target.parent)?;
        let deepest = tree.levels_above(document)? + lineage.len() + height;
        if deepest > context.limits.deepest_page() {
            return page("is nested deeper now, and the block would be too deep in it");
        }
        let parent = record(tree, target.parent)?;
        let conversion = match parent.data.block_type() {
            BlockType::Text => {
                let data = as_page(parent.data.clone());
                if data.check(context.limits).is_err() {
                    return page("is too long for the title of a page");
                }
                leafbase_tree_ops::update_edit(document, parent, data, context.stamp)
            }
            block_type if block_type.holds_blocks() => None,
            _ => return page("has no blocks in it now"),
        };
        let after = self.place(tree, target, sequence, None)?;
        let target = InsertTarget { document, parent: target.parent, after };
        Ok(Ok(ReturnPlace { target, conversion }))
    }

    /// The sibling to follow at `target`: the last of those that preceded it after the change
    /// `sequence` and are still there, apart from `moved`.
    fn place(
        &self,
        tree: &Tree<'_>,
        target: &InsertTarget,
        sequence: u64,
        moved: Option<BlockId>,
    ) -> Result<Option<BlockId>> {
        let later = self.later(tree.reader_at(target.parent)?)?;
        // What this undo has placed stands where it stood.
        let is_placed = target.after.is_some_and(|after| self.placed.contains(&after));
        if is_placed || target.after.is_none() || !later.has_other_children(target.parent, sequence)
        {
            return Ok(target.after);
        }
        let Some(BlockLocation { document, .. }) = tree.locate(target.parent)? else {
            return Ok(None);
        };
        let mut past = self.past.borrow_mut();
        let past = match past.entry(target.parent) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let stored_in = tree.stored_in(document)?;
                let present = tree.reader_at(target.parent)?.children(stored_in, target.parent)?;
                unknown.insert(PastChildren::at_present(target.parent, &present))
            }
        };
        past.rewind(later, sequence)?;
        Ok(past.last_present(target.after, moved))
    }

    /// The later writes since the oldest of the changes; `reader` is that of a visible block, about
    /// which they are asked.
    fn later(&self, reader: SpaceReader<'_>) -> Result<&LaterWrites> {
        if let Some(later) = self.later.get() {
            return Ok(later);
        }
        let Some(oldest) = self.group.first() else { invariant!("a group has changes") };
        // From the oldest one, so that one pass over the log serves all changes of the group.
        let mut later = LaterWrites::read(reader, *oldest, &self.group)?;
        later.add_planned(&self.planned);
        Ok(self.later.get_or_init(|| later))
    }
}

/// Gives a block the data that it had, `target`, if it has those that the change left.
fn update(
    tree: &Tree<'_>,
    context: &Context<'_>,
    sight: &UndoSight,
    left: &BlockRecord,
    target: &BlockRecord,
) -> Result<Rebased> {
    let Some(BlockLocation { document, .. }) = tree.locate(target.id)? else {
        return Ok(refused(Obstacle::block(target.id, "was deleted since")));
    };
    // The other end of a relation, which may be in the trash.
    let is_quiet = left.rev == target.rev;
    if let Some(obstacle) = trashed(tree, document)?.filter(|_| !is_quiet) {
        return Ok(refused(obstacle));
    }
    let present = record(tree, target.id)?;
    let visible = sight.visible_data(tree, present.data.clone())?;
    // A text that became a page for a child has not been changed otherwise.
    if as_page(visible) != as_page(left.data.clone()) {
        return Ok(refused(Obstacle::block(target.id, "was changed since")));
    }
    let became_page = is_page(&present.data) && !is_page(&left.data);
    let is_needed = is_page(&present.data)
        && !is_page(&target.data)
        && !tree.first_children(document, target.id, 1)?.is_empty();
    let data = sight.with_hidden(tree, target.data.clone(), &present.data)?;
    let data = if became_page || is_needed { as_page(data) } else { data };
    if data.check(context.limits).is_err() {
        return Ok(refused(Obstacle::block(
            target.id,
            "is a page now, whose title would be too long",
        )));
    }
    if let Some(obstacle) = lost_file(tree, &data)? {
        return Ok(refused(obstacle));
    }
    if data == present.data {
        return Ok(Ok(Vec::new()));
    }
    let after = if is_quiet {
        BlockRecord { data, ..present.clone() }
    } else {
        let rev = present.rev.saturating_add(1);
        BlockRecord { data, rev, modified: context.stamp.clone(), ..present.clone() }
    };
    Ok(Ok(vec![Edit::Update { document, before: Box::new(present), after: Box::new(after) }]))
}

fn record(tree: &Tree<'_>, block: BlockId) -> Result<BlockRecord> {
    tree.block(block)?.ok_or_else(|| Error::corrupted(format_args!("block {block} has no record")))
}

/// The block and its ancestors.
fn lineage(tree: &Tree<'_>, block: BlockId) -> Result<IdSet<BlockId>> {
    let (mut lineage, mut next) = (IdSet::default(), Some(block));
    while let Some(at) = next.filter(|_| lineage.len() < MAX_LEVELS) {
        lineage.insert(at);
        next = tree.locate(at)?.and_then(|location| location.parent);
    }
    Ok(lineage)
}

fn is_page(data: &BlockData) -> bool {
    data.block_type() == BlockType::Page
}

/// The data of a text as those of a page; others as they are.
fn as_page(mut data: BlockData) -> BlockData {
    if let BlockKind::Text(look) = data.kind {
        data.kind = BlockKind::Page(look);
    }
    data
}
