//! A block is read with what is below it.

use std::iter::Peekable;
use std::vec::IntoIter;

use leafbase_model::{
    Block, BlockData, BlockId, BlockRecord, BlockType, Content, DocumentId, Error, Metadata,
    Result, SubtreeNode, Subtrees,
};

use crate::ReadTree;

/// Characters of the preview of a page whose children are cut off.
const PREVIEW_CHARACTERS: usize = 120;

/// Children that a preview is made of: most pages fill it with fewer.
const PREVIEW_CHILDREN: usize = 12;

/// Reads `block` and what is below it down to `max_depth` levels (none: all). `plain` gives the
/// plain text of a block.
///
/// A page or an item whose children are cut off has a preview of them; a collection shows none of
/// its items, which are read by the item operations. The metadata is without the comments, which
/// are no part of the tree.
///
/// # Errors
/// [`leafbase_model::ErrorKind::NotFound`] at `id`, and what the store reports.
pub fn fetch<T: ReadTree + ?Sized>(
    tree: &T,
    block: BlockId,
    max_depth: Option<usize>,
    metadata: bool,
    plain: &dyn Fn(&BlockData) -> String,
) -> Result<Block> {
    let missing = || Error::not_found().at("id");
    if max_depth == Some(0) {
        let block = tree.block(block)?.ok_or_else(missing)?;
        let content = match block.data.block_type() {
            BlockType::Page | BlockType::CollectionItem => {
                let located = tree.locate(block.id)?.ok_or_else(missing)?;
                preview(tree, located.document, block.id, plain)?
            }
            _ => Content::None,
        };
        return Ok(shown(block, metadata, content));
    }
    let located = tree.locate(block)?.ok_or_else(missing)?;
    let subtrees = tree.subtree_without_items(block, max_depth)?;
    check_depths(&subtrees)?;
    let cut = |node: &BlockRecord| preview(tree, located.document, node.id, plain);
    let mut blocks = build(subtrees, max_depth, metadata, &cut)?;
    blocks.pop().ok_or_else(missing)
}

/// The blocks of a complete subtrees as a reply shows them, such as those just inserted.
pub fn assemble(subtrees: &Subtrees) -> Vec<Block> {
    build(subtrees.clone(), None, false, &|_| Ok(Content::Blocks(Vec::new()))).unwrap_or_default()
}

/// A store that is damaged may give blocks whose parent is not among them.
pub(crate) fn check_depths(subtrees: &Subtrees) -> Result<()> {
    let mut deepest = 0;
    for node in &subtrees.0 {
        if node.depth > deepest {
            return Err(Error::corrupted(format_args!(
                "block {} has no parent in its tree",
                node.block.id
            )));
        }
        deepest = node.depth.saturating_add(1);
    }
    Ok(())
}

pub(crate) fn build(
    subtrees: Subtrees,
    max_depth: Option<usize>,
    metadata: bool,
    cut: &dyn Fn(&BlockRecord) -> Result<Content>,
) -> Result<Vec<Block>> {
    let mut nodes = subtrees.0.into_iter().peekable();
    // The lists of children that are being filled: the last one is of the block read last.
    let mut open = vec![Vec::new()];
    while let Some(SubtreeNode { depth, block }) = nodes.next() {
        // Within a well-formed tree it is smaller already.
        let depth = usize::from(depth).min(open.len().saturating_sub(1));
        close_to(&mut open, depth + 1);
        let content = match block.data.block_type() {
            BlockType::Collection => {
                skip_below(&mut nodes, depth);
                Content::None
            }
            kind if !kind.may_be_parent() || kind == BlockType::Text => Content::None,
            _ if max_depth == Some(depth) => cut(&block)?,
            _ => Content::Blocks(Vec::new()),
        };
        let may_hold = matches!(content, Content::Blocks(_));
        if let Some(siblings) = open.last_mut() {
            siblings.push(shown(block, metadata, content));
        }
        if may_hold {
            open.push(Vec::new());
        }
    }
    close_to(&mut open, 1);
    Ok(open.pop().unwrap_or_default())
}

/// Gives each finished list of children to its block, until `length` lists are open.
fn close_to(open: &mut Vec<Vec<Block>>, length: usize) {
    while open.len() > length {
        let children = open.pop().unwrap_or_default();
        if let Some(parent) = open.last_mut().and_then(|siblings| siblings.last_mut()) {
            parent.content = Content::Blocks(children);
        }
    }
}

fn skip_below(nodes: &mut Peekable<IntoIter<SubtreeNode>>, depth: usize) {
    while nodes.next_if(|node| usize::from(node.depth) > depth).is_some() {}
}

fn shown(block: BlockRecord, metadata: bool, content: Content) -> Block {
    let BlockRecord { id, rev, created, modified, data } = block;
    let metadata = metadata.then_some(Metadata { created, modified, comments: Vec::new() });
    Block { id, rev, data, metadata, item: None, content }
}

/// Plain text of the first children; no children at all are content read in full.
pub(crate) fn preview<T: ReadTree + ?Sized>(
    tree: &T,
    document: DocumentId,
    block: BlockId,
    plain: &dyn Fn(&BlockData) -> String,
) -> Result<Content> {
    let children = tree.first_children(document, block, PREVIEW_CHILDREN)?;
    if children.is_empty() {
        return Ok(Content::Blocks(Vec::new()));
    }
    let texts: Vec<String> = children.iter().map(|child| plain(&child.data)).collect();
    let words: Vec<&str> = texts.iter().flat_map(|text| text.split_whitespace()).collect();
    Ok(Content::Preview(words.join(" ").chars().take(PREVIEW_CHARACTERS).collect()))
}
