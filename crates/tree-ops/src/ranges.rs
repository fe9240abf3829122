//! Ranges of siblings: with the blocks indented below them, where they are shifted to, and copies.

use std::collections::HashMap;

use leafbase_model::{
    BlockData, BlockId, BlockRecord, BlockType, Error, Result, ShiftDirection, Side, SubtreeNode,
    Subtrees, invariant,
};

use crate::context::Context;
use crate::position::ResolvedPosition;
use crate::read::ReadTree;
use crate::request::RequestReader;

/// A range among the children of a block.
#[derive(Clone, Copy, Debug)]
pub struct SiblingRange<'s> {
    /// The siblings before it.
    pub before: &'s [BlockId],
    /// The blocks of the range, and those after it that are indented deeper than its last.
    pub blocks: &'s [BlockId],
    /// The siblings after these.
    pub after: &'s [BlockId],
}

/// Finds a range of `siblings`, the children of its parent in order.
///
/// # Errors
/// At `firstId`: [`leafbase_model::ErrorKind::NotFound`], and
/// [`leafbase_model::ErrorKind::RuleViolation`] for a root, an item and a document in the trash;
/// [`leafbase_model::ErrorKind::Validation`] at `lastId` for a block that is not one of the
/// siblings from the first on; [`leafbase_model::ErrorKind::LimitExceeded`].
pub fn sibling_range<'s, T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    siblings: &'s [BlockId],
    first: BlockId,
    last: Option<BlockId>,
) -> Result<SiblingRange<'s>> {
    let reader = RequestReader::new(tree);
    reader.locate(first).map_err(|error| error.at("firstId"))?;
    let start = siblings.iter().position(|sibling| *sibling == first);
    let Some((before, rest)) = start.and_then(|start| siblings.split_at_checked(start)) else {
        return Err(Error::rule("the root of a document has no siblings").at("firstId"));
    };
    let last = last.unwrap_or(first);
    let Some(last) = rest.iter().position(|sibling| *sibling == last) else {
        let message = "expected a block beside the first one, and not before it";
        return Err(Error::validation(message).at("lastId"));
    };
    if reader.block(first)?.data.block_type() == BlockType::CollectionItem {
        return Err(Error::rule("items have no order of their own").at("firstId"));
    }
    let end = unit_end(&reader, rest, last)?;
    let most = context.limits.blocks_per_request;
    if end > most {
        return Err(Error::limit("blocks in one request", most, end).at("lastId"));
    }
    let (blocks, after) = rest.split_at(end);
    Ok(SiblingRange { before, blocks, after })
}

/// Where the blocks end that are indented deeper than the one at `index`, and follow it.
fn unit_end<T: ReadTree + ?Sized>(
    reader: &RequestReader<'_, T>,
    siblings: &[BlockId],
    index: usize,
) -> Result<usize> {
    let Some(top) = siblings.get(index) else { invariant!("a range ends at one of the siblings") };
    let level = reader.block(*top)?.data.indentation;
    let mut end = index + 1;
    while let Some(next) = siblings.get(end)
        && reader.block(*next)?.data.indentation > level
    {
        end += 1;
    }
    Ok(end)
}

/// Where a range goes that is shifted past the sibling before or after it, at its own level, with
/// what is indented below that one.
///
/// # Errors
/// [`leafbase_model::ErrorKind::RuleViolation`] at `direction` if there is none.
pub fn shifted_position<T: ReadTree + ?Sized>(
    tree: &T,
    range: &SiblingRange<'_>,
    direction: ShiftDirection,
) -> Result<ResolvedPosition> {
    let reader = RequestReader::new(tree);
    let Some(first) = range.blocks.first() else {
        invariant!("a range has its first block");
    };
    let level = reader.block(*first)?.data.indentation;
    match direction {
        ShiftDirection::Up => {
            // Past what is indented deeper, to the block that it is indented below.
            for sibling in range.before.iter().rev() {
                let found = reader.block(*sibling)?.data.indentation;
                if found <= level {
                    let position = ResolvedPosition::Beside(Side::Before, *sibling);
                    return if found == level { Ok(position) } else { Err(at_edge("before")) };
                }
            }
            Err(at_edge("before"))
        }
        ShiftDirection::Down => {
            let next = range.after.first().ok_or_else(|| at_edge("behind"))?;
            if reader.block(*next)?.data.indentation != level {
                return Err(at_edge("behind"));
            }
            let last = unit_end(&reader, range.after, 0)?.checked_sub(1);
            let last = last.and_then(|last| range.after.get(last)).unwrap_or(next);
            Ok(ResolvedPosition::Beside(Side::After, *last))
        }
    }
}

fn at_edge(side: &str) -> Error {
    Error::rule(format!("no block {side} the range is at its level")).at("direction")
}

/// Copies `subtrees` as new blocks with new IDs. `rewrite` may change the data of each copy; its
/// second argument maps the original IDs to the new ones, and the same map is returned.
///
/// # Errors
/// [`leafbase_model::ErrorKind::Internal`] for a bug.
pub fn copy_subtrees(
    context: &Context<'_>,
    subtrees: Subtrees,
    mut rewrite: impl FnMut(&mut BlockData, &HashMap<BlockId, BlockId>),
) -> Result<(Subtrees, HashMap<BlockId, BlockId>)> {
    // All IDs are assigned before any data is rewritten: links may point forward.
    let copies: HashMap<_, _> =
        subtrees.0.iter().map(|node| (node.block.id, context.new_id())).collect();
    let stamp = context.stamp;
    let mut nodes = Vec::with_capacity(subtrees.0.len());
    for SubtreeNode { depth, block: BlockRecord { id, mut data, .. } } in subtrees.0 {
        rewrite(&mut data, &copies);
        let Some(id) = copies.get(&id).copied() else {
            invariant!("block {id} has a copy");
        };
        let (created, modified) = (stamp.clone(), stamp.clone());
        nodes.push(SubtreeNode {
            depth,
            block: BlockRecord { id, rev: 1, created, modified, data },
        });
    }
    Ok((Subtrees(nodes), copies))
}
