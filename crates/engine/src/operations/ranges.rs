//! Ranges of siblings: copied, shifted and sorted. Each is one change.

use std::cmp::Ordering;

use leafbase_collections::fold;
use leafbase_markdown::PlainText;
use leafbase_model::{
    Block, BlockId, BlockOrder, BlockRecord, BlockType, Direction, DuplicateBlocks, Edit, Error,
    Fetch, InsertTarget, Items, Result, ShiftBlocks, Side, SortBlocks, SubtreeNode, Subtrees,
    TaskState, Timestamp,
};
use leafbase_tree_ops::{self as ops, ReadTree, ResolvedPosition};

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::tree::Tree;
use crate::operations::blocks::fetched;
use crate::operations::collections::clones::ClonedSchemas;
use crate::operations::list_patch::longest_ascent;
use crate::operations::templates::repoint;

impl<A: AccessScope> Connection<A> {
    /// Copies a range of siblings, with the blocks indented below it, right after these, and
    /// returns the copies with all below them. Blocks get new IDs and times; links within the range
    /// lead to the copies; files are shown by both; comments are not copied. Collections are copied
    /// as [`create_from_template`](crate::Connection::create_from_template) does.
    ///
    /// ```
    /// use leafbase::DuplicateBlocks;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let lines = notes.insert_markdown("- a\n  - b\n- c", trip.id())?;
    /// assert_eq!(notes.duplicate_blocks(DuplicateBlocks::from(lines[0].id))?.len(), 2);
    /// assert_eq!(notes.content_markdown(trip.id())?, "- a\n  - b\n- a\n  - b\n- c");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// That of the copies, and of the IDs of all siblings.
    ///
    /// # Errors
    /// At `firstId`: [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::RuleViolation`] for the
    /// root of a document, for an item and in the trash, and on a scoped connection for a range
    /// with a collection. [`crate::ErrorKind::Validation`] at `lastId` for a block
    /// that is not beside the first or is before it; [`crate::ErrorKind::LimitExceeded`] for more
    /// than [`crate::Limits::blocks_per_request`] blocks, and at `firstId` if a collection that a
    /// copy relates to has no room for another property.
    pub fn duplicate_blocks(&self, request: DuplicateBlocks) -> Result<Items<Block>> {
        let DuplicateBlocks { first_id, last_id, .. } = request;
        let (blocks, _) = self.operation("duplicate_blocks").write(|transaction| {
            let (edits, tops) = transaction.plan(|tree, context| {
                let siblings = siblings_of(tree, first_id)?;
                let range = ops::sibling_range(tree, context, &siblings, first_id, last_id)?;
                let Some(location) = tree.locate(first_id)? else {
                    return Err(Error::no_block().at("firstId"));
                };
                let (Some(parent), after) = (location.parent, range.blocks.last().copied()) else {
                    return Err(Error::rule("a root is copied with its document").at("firstId"));
                };
                let mut subtrees = Subtrees::default();
                for block in range.blocks {
                    subtrees.0.extend(tree.subtree(*block, None)?.0);
                }
                let (most, found) = (context.limits.blocks_per_request, subtrees.0.len());
                if found > most {
                    return Err(Error::limit("blocks in one request", most, found).at("firstId"));
                }
                let is_collection =
                    |node: &SubtreeNode| node.block.data.block_type() == BlockType::Collection;
                if !tree.is_unrestricted() && subtrees.0.iter().any(is_collection) {
                    // Its relations may lead to collections that the scope does not show.
                    let message = "a scoped connection copies no collections";
                    return Err(Error::rule(message).at("firstId"));
                }
                let schemas = ClonedSchemas::of(tree, &mut subtrees, context.limits)
                    .map_err(|error| error.at("firstId"))?;
                let (subtrees, copies) = ops::copy_subtrees(context, subtrees, repoint)?;
                let document = location.document;
                let tops = subtrees.0.iter().filter(|node| node.depth == 0);
                let tops: Vec<_> = tops.map(|node| node.block.id).collect();
                let target = InsertTarget { document, parent, after };
                let mut edits = vec![Edit::Insert { target, subtrees }];
                edits.extend(schemas.edits(tree, document, &copies)?);
                Ok((edits, tops))
            })?;
            transaction.apply(edits)?;
            transaction.plan(|tree, _| {
                let shown = |top| fetched(tree, top, &Fetch::new(top), self.limits());
                tops.into_iter().map(shown).collect::<Result<Vec<_>>>()
            })
        })?;
        Ok(Items(blocks))
    }

    /// Shifts a range of siblings, with the blocks indented below it, past the sibling before or
    /// after it that is at the same level, and the blocks indented below that one. Returns the
    /// blocks that moved.
    ///
    /// ```
    /// use leafbase::ShiftBlocks;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let lines = notes.insert_markdown("- a\n  - b\n- c", trip.id())?;
    /// notes.shift_blocks(ShiftBlocks::from(lines[2].id))?;
    /// assert_eq!(notes.content_markdown(trip.id())?, "- c\n- a\n  - b");
    /// notes.shift_blocks(ShiftBlocks::from(lines[2].id).down())?;
    /// assert_eq!(notes.content_markdown(trip.id())?, "- a\n  - b\n- c");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// That of [`Self::move_blocks`], and of the IDs of all siblings.
    ///
    /// # Errors
    /// As [`Self::duplicate_blocks`]; [`crate::ErrorKind::RuleViolation`] at `direction` if no
    /// sibling is there at the level of the range.
    pub fn shift_blocks(&self, request: ShiftBlocks) -> Result<Items<BlockId>> {
        let ShiftBlocks { first_id, last_id, direction, .. } = request;
        let (moved, _) = self.operation("shift_blocks").write(|transaction| {
            let moved = transaction.plan(|tree, context| {
                let siblings = siblings_of(tree, first_id)?;
                let range = ops::sibling_range(tree, context, &siblings, first_id, last_id)?;
                let position = ops::shifted_position(tree, &range, direction)?;
                ops::move_blocks(tree, context, range.blocks.to_vec(), position)
            })?;
            transaction.apply(moved.edits)?;
            Ok(moved.ids)
        })?;
        Ok(Items(moved))
    }

    /// Sorts the children of a page or a document; blocks indented below another one stay below it.
    /// Equal ones keep their order. Only blocks that have to move are written; returns these.
    ///
    /// ```
    /// use leafbase::{BlockOrder, SortBlocks};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// notes.insert_markdown("- [x] item 10\n- [ ] Item 9\n  - b\n- item 1", trip.id())?;
    /// notes.sort_blocks(SortBlocks::of(trip.id()))?;
    /// let sorted = notes.content_markdown(trip.id())?;
    /// assert_eq!(sorted, "- item 1\n- [ ] Item 9\n  - b\n- [x] item 10");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// The children are read once; each block that moves costs as [`Self::move_blocks`].
    ///
    /// # Errors
    /// At `parentId`: [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::RuleViolation`] for a
    /// collection, whose items have no order of their own, and in the trash;
    /// [`crate::ErrorKind::LimitExceeded`] for more than [`crate::Limits::blocks_per_request`]
    /// children.
    pub fn sort_blocks(&self, request: SortBlocks) -> Result<Items<BlockId>> {
        let (moved, _) = self.operation("sort_blocks").write(|transaction| {
            let moves = transaction.plan(|tree, _| {
                sort_moves(tree, &request, self.limits().blocks_per_request)
                    .map_err(|error| error.at("parentId"))
            })?;
            let mut moved = Vec::new();
            for (blocks, position) in moves {
                let edits = transaction
                    .plan(|tree, context| ops::move_blocks(tree, context, blocks, position))?;
                moved.extend(edits.ids);
                transaction.apply(edits.edits)?;
            }
            Ok(moved)
        })?;
        Ok(Items(moved))
    }
}

/// The children of the parent of a block, in order; none beside a root.
pub(crate) fn siblings_of(tree: &Tree<'_>, block: BlockId) -> Result<Vec<BlockId>> {
    let location = tree.locate(block)?.ok_or_else(|| Error::no_block().at("firstId"))?;
    match location.parent {
        Some(parent) => {
            let stored_in = tree.stored_in(location.document)?;
            tree.reader_of(location.document)?.children(stored_in, parent)
        }
        None => Ok(Vec::new()),
    }
}

/// A child with the blocks indented below it.
struct SortUnit {
    blocks: Vec<BlockId>,
    key: SortValue,
}

/// What a child is ordered by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum SortValue {
    Text(Vec<NaturalRun>),
    Created(Timestamp),
    TaskState(u8),
}

/// A part of a text: numbers are ordered by value.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum NaturalRun {
    /// The number of its digits without leading zeros, and these.
    Number(usize, String),
    Letters(String),
}

fn sort_value(record: &BlockRecord, order: BlockOrder) -> SortValue {
    match order {
        BlockOrder::Text => {
            let text = fold(PlainText::of(&record.data.inline).as_str());
            SortValue::Text(text_runs(&text))
        }
        BlockOrder::Created => SortValue::Created(record.created.at),
        BlockOrder::TaskState => {
            SortValue::TaskState(match record.data.task.map(|task| task.state) {
                Some(TaskState::Todo) => 0,
                Some(TaskState::Done) => 1,
                Some(TaskState::Canceled) => 2,
                None => 3,
            })
        }
    }
}

fn text_runs(text: &str) -> Vec<NaturalRun> {
    let (mut runs, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.find(|letter: char| letter.is_ascii_digit() != is_number);
        // The first character is of the run, so that each step takes one off at least.
        let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
        runs.push(if is_number {
            let digits = run.trim_start_matches('0');
            NaturalRun::Number(digits.len(), digits.to_owned())
        } else {
            NaturalRun::Letters(run.to_owned())
        });
        rest = after;
    }
    runs
}

/// What has to move, in order, each with where it goes.
fn sort_moves(
    tree: &Tree<'_>,
    request: &SortBlocks,
    most: usize,
) -> Result<Vec<(Vec<BlockId>, ResolvedPosition)>> {
    let location = ops::locate_writable(tree, request.parent_id)?;
    let parent = tree.block(request.parent_id)?.ok_or_else(Error::no_block)?;
    if parent.data.block_type() == BlockType::Collection {
        return Err(Error::rule("items have no order of their own"));
    }
    let stored_in = tree.stored_in(location.document)?;
    let children = tree.reader_of(location.document)?.children(stored_in, request.parent_id)?;
    if children.len() > most {
        return Err(Error::limit("children to sort", most, children.len()));
    }
    let mut units: Vec<SortUnit> = Vec::new();
    let mut level = 0;
    for child in children {
        let record = tree.block(child)?;
        let record = record.ok_or_else(|| Error::corrupted(format_args!("block {child}")))?;
        if let Some(unit) = units.last_mut().filter(|_| record.data.indentation > level) {
            unit.blocks.push(child);
        } else {
            level = record.data.indentation;
            units.push(SortUnit { blocks: vec![child], key: sort_value(&record, request.by) });
        }
    }
    let mut order: Vec<usize> = (0..units.len()).collect();
    let key = |index: &usize| units.get(*index).map(|unit| &unit.key);
    // A stable sort of a reversed comparison, not a reversed list: equal units keep their order in
    // both directions.
    order.sort_by(|one, other| {
        let ascending = key(one).cmp(&key(other));
        match request.direction {
            Direction::Ascending => ascending,
            Direction::Descending => Ordering::reverse(ascending),
        }
    });
    Ok(moves_to(&order, &units))
}

/// The units that move behind the one before them, or before the first one, so that they are in
/// `order`.
fn moves_to(order: &[usize], units: &[SortUnit]) -> Vec<(Vec<BlockId>, ResolvedPosition)> {
    debug_assert_eq!(order.len(), units.len(), "an order is of all units");
    // The most blocks that are in order already stay, so that the fewest are written.
    let staying: std::collections::HashSet<usize> = longest_ascent(order).into_iter().collect();
    let unit = |index: &usize| units.get(*index).map(|unit| unit.blocks.as_slice());
    let mut moves = Vec::new();
    for (at, index) in order.iter().enumerate().filter(|(_, index)| !staying.contains(index)) {
        let before = at.checked_sub(1).and_then(|before| order.get(before)).and_then(unit);
        let position = if let Some(last) = before.and_then(<[BlockId]>::last) {
            Some(ResolvedPosition::Beside(Side::After, *last))
        } else {
            let first = units.first().and_then(|unit| unit.blocks.first());
            first.map(|first| ResolvedPosition::Beside(Side::Before, *first))
        };
        moves.extend(unit(index).map(<[BlockId]>::to_vec).zip(position));
    }
    moves
}
