//! Items: put into their collection with the blocks of their pages, and shown with them.

use leafbase_model::{
    Block, BlockData, BlockDraft, BlockId, BlockLocation, BlockRecord, BlockType, DocumentId, Edit,
    Error, InsertTarget, Result, SubtreeNode, Subtrees,
};

use crate::batch::{Batch, check_count};
use crate::drafts::Drafts;
use crate::fetch::{build, check_depths, preview};
use crate::place::check_nesting;
use crate::{Context, Opened, ReadTree, Takes};

/// An item that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewItem {
    /// Its ID.
    pub id: BlockId,
    /// Its title and its values.
    pub data: BlockData,
    /// The blocks of its page.
    pub content: Vec<BlockDraft>,
}

/// Looks a block up whose document is to be written.
///
/// # Errors
/// [`leafbase_model::ErrorKind::NotFound`], and [`leafbase_model::ErrorKind::RuleViolation`] if its
/// document is in the trash; without a path.
pub fn check_writable<T: ReadTree + ?Sized>(tree: &T, block: BlockId) -> Result<BlockLocation> {
    Batch::new(tree).locate(block)
}

/// Makes the end of a collection ready for new items.
///
/// # Errors
/// At `collectionId`: [`leafbase_model::ErrorKind::NotFound`] if there is no such collection,
/// [`leafbase_model::ErrorKind::RuleViolation`] if its document is in the trash, and
/// [`leafbase_model::ErrorKind::LimitExceeded`] if the items would stand too deep.
pub fn open_collection<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    collection: BlockId,
) -> Result<Opened> {
    let open = || {
        let block = tree.block(collection)?.ok_or_else(Error::not_found)?;
        if block.data.block_type() != BlockType::Collection {
            return Err(Error::not_found());
        }
        let batch = Batch::new(tree);
        let document = batch.locate(collection)?.document;
        let depth = batch.lineage(collection)?.len();
        check_nesting(context.limits, depth)?;
        let after = tree.last_child(document, collection)?;
        Ok(Opened {
            edits: Vec::new(),
            target: InsertTarget { document, parent: collection, after },
            depth,
        })
    };
    open().map_err(|error: Error| error.at("collectionId"))
}

/// The edit that puts new items at `opened`, in their order.
///
/// # Errors
/// Those of new blocks, with paths such as `items[2].content[0].color`;
/// [`leafbase_model::ErrorKind::LimitExceeded`] at `items` for too many blocks in all.
pub fn insert_items(context: &Context<'_>, opened: &Opened, items: Vec<NewItem>) -> Result<Edit> {
    let mut nodes = Vec::with_capacity(items.len());
    for (index, NewItem { id, data, content }) in items.into_iter().enumerate() {
        let at = |error: Error| error.at(format_args!("items[{index}]"));
        data.check(context.limits).map_err(at)?;
        let page =
            Drafts::listed("content", content).grow(context, opened.depth + 1, Takes::Anything);
        let (created, modified) = (context.stamp.clone(), context.stamp.clone());
        nodes.push(SubtreeNode {
            depth: 0,
            block: BlockRecord { id, rev: 1, created, modified, data },
        });
        nodes.extend(
            page.map_err(at)?
                .0
                .into_iter()
                .map(|SubtreeNode { depth, block }| SubtreeNode { depth: depth + 1, block }),
        );
        check_count(
            "blocks in one request",
            context.limits.blocks_per_request,
            nodes.len(),
            "items",
        )?;
    }
    Ok(Edit::Insert { target: opened.target, subtrees: Subtrees(nodes) })
}

/// The top blocks of `subtrees`, which stand in `document`, with what is below them down to
/// `max_depth` levels (none: all), as a reply shows them. `plain` gives the plain text of a block.
///
/// # Errors
/// What the store reports.
pub fn show_forest<T: ReadTree + ?Sized>(
    tree: &T,
    document: DocumentId,
    subtrees: Subtrees,
    max_depth: Option<usize>,
    plain: &dyn Fn(&BlockData) -> String,
) -> Result<Vec<Block>> {
    check_depths(&subtrees)?;
    build(subtrees, max_depth, false, &|node| preview(tree, document, node.id, plain))
}
