//! Items of collections: insertion with their pages, and presentation.

use leafbase_model::{
    Block, BlockData, BlockDraft, BlockId, BlockLocation, BlockRecord, BlockType, DocumentId, Edit,
    Error, InsertTarget, Result, SubtreeNode, Subtrees,
};

use crate::context::Context;
use crate::drafts::DraftTree;
use crate::fetch::{build, check_depths, preview};
use crate::inbox::AllowedChildren;
use crate::read::ReadTree;
use crate::request::{RequestReader, check_count};
use crate::target::{PreparedTarget, check_nesting};

/// An item to insert.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemInsertion {
    /// ID of the item.
    pub id: BlockId,
    /// Title and values.
    pub data: BlockData,
    /// Blocks of its page.
    pub content: Vec<BlockDraft>,
}

/// The location of a block whose document can be written.
///
/// # Errors
/// [`leafbase_model::ErrorKind::NotFound`], and [`leafbase_model::ErrorKind::RuleViolation`] if its
/// document is in the trash; without a path.
pub fn locate_writable<T: ReadTree + ?Sized>(tree: &T, block: BlockId) -> Result<BlockLocation> {
    RequestReader::new(tree).locate(block)
}

/// Prepares the end of a collection for new items.
///
/// # Errors
/// At `collectionId`: [`leafbase_model::ErrorKind::NotFound`] if there is no such collection,
/// [`leafbase_model::ErrorKind::RuleViolation`] if its document is in the trash, and
/// [`leafbase_model::ErrorKind::LimitExceeded`] if the items would be nested too deep.
pub fn prepare_collection<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    collection: BlockId,
) -> Result<PreparedTarget> {
    let prepare = || {
        let block = tree.block(collection)?.ok_or_else(Error::no_collection)?;
        if block.data.block_type() != BlockType::Collection {
            return Err(Error::no_collection());
        }
        let reader = RequestReader::new(tree);
        let document = reader.locate(collection)?.document;
        // Items are children of the collection: one level below it.
        let depth = reader.depth_below(document, collection)?;
        check_nesting(context.limits, depth)?;
        let after = tree.last_child(document, collection)?;
        Ok(PreparedTarget {
            edits: Vec::new(),
            target: InsertTarget { document, parent: collection, after },
            depth,
        })
    };
    prepare().map_err(|error: Error| error.at("collectionId"))
}

/// The edit that inserts new items at `target`, in their order.
///
/// # Errors
/// As for new blocks, with paths such as `items[2].content[0].color`;
/// [`leafbase_model::ErrorKind::LimitExceeded`] at `items` for too many blocks in all.
pub fn insert_items(
    context: &Context<'_>,
    target: &PreparedTarget,
    items: Vec<ItemInsertion>,
) -> Result<Edit> {
    let mut nodes = Vec::with_capacity(items.len());
    for (index, ItemInsertion { id, data, content }) in items.into_iter().enumerate() {
        let at = |error: Error| error.at(format_args!("items[{index}]"));
        // The item precedes its page: errors follow the order of the request.
        data.check(context.limits).map_err(at)?;
        let page = DraftTree::listed("content", content).into_blocks(
            context,
            target.depth + 1,
            AllowedChildren::Anything,
        );
        let (created, modified) = (context.stamp.clone(), context.stamp.clone());
        nodes.push(SubtreeNode {
            depth: 0,
            block: BlockRecord { id, rev: 1, created, modified, data },
        });
        // The page is one level below its item.
        nodes.extend(page.map_err(at)?.0.into_iter().map(|SubtreeNode { depth, block }| {
            SubtreeNode { depth: depth.saturating_add(1), block }
        }));
        check_count(
            "blocks in one request",
            context.limits.blocks_per_request,
            nodes.len(),
            "items",
        )?;
    }
    debug_assert!(
        nodes.first().is_none_or(|node| node.depth == 0),
        "subtrees start with a top-level block"
    );
    Ok(Edit::Insert { target: target.target, subtrees: Subtrees(nodes) })
}

/// The top-level blocks of `subtrees`, a part of `document`, with their descendants down to
/// `max_depth` levels (`None`: all), as a reply shows them. `plain` returns the plain text of a
/// block.
///
/// # Errors
/// Store errors.
pub fn show_subtrees<T: ReadTree + ?Sized>(
    tree: &T,
    document: DocumentId,
    subtrees: Subtrees,
    max_depth: Option<usize>,
    plain: &dyn Fn(&BlockData) -> String,
) -> Result<Vec<Block>> {
    check_depths(&subtrees)?;
    build(subtrees, max_depth, false, &|node| preview(tree, document, node.id, plain))
}
