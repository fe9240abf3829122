//! Fetches: a block with its descendants, as a reply shows them.

use leafbase_model::{
    Block, BlockData, BlockId, BlockRecord, BlockType, Content, DocumentId, Error, Metadata,
    Result, SubtreeNode, Subtrees, invariant,
};

use crate::read::ReadTree;

/// Maximum length of the preview of a page whose children are cut off, in characters.
const PREVIEW_CHARACTERS: usize = 120;

/// Children read for a preview: most pages fill it with fewer.
const PREVIEW_CHILDREN: usize = 12;

/// Reads `block` and its descendants down to `max_depth` levels (`None`: all). `plain` returns the
/// plain text of a block. `check_count` may refuse the number of blocks, before they are converted.
///
/// A page or item whose children are cut off has a preview instead. A collection has no content:
/// its items are read by the item operations. Metadata is without comments, which are not part of
/// the tree.
///
/// # Errors
/// [`leafbase_model::ErrorKind::NotFound`] at `id`, errors of `check_count`, and store errors.
pub fn fetch<T: ReadTree + ?Sized>(
    tree: &T,
    block: BlockId,
    max_depth: Option<usize>,
    metadata: bool,
    plain: &dyn Fn(&BlockData) -> String,
    check_count: &dyn Fn(usize) -> Result<()>,
) -> Result<Block> {
    let missing = || Error::no_block().at("id");
    // Depth 0 is the common case of lists: it reads no subtree.
    if max_depth == Some(0) {
        let block = tree.block(block)?.ok_or_else(missing)?;
        let content = match block.data.block_type() {
            BlockType::Page | BlockType::CollectionItem => {
                let located = tree.locate(block.id)?.ok_or_else(missing)?;
                preview(tree, located.document, block.id, plain)?
            }
            _ => Content::None,
        };
        let mut shown = shown(block, metadata, content);
        locate_metadata(tree, &mut shown)?;
        return Ok(shown);
    }
    // Before its location, which a remote store then loads with it.
    let subtrees = tree.subtree_without_items(block, max_depth)?;
    let located = tree.locate(block)?.ok_or_else(missing)?;
    check_count(subtrees.0.len())?;
    check_depths(&subtrees)?;
    let cut = |node: &BlockRecord| preview(tree, located.document, node.id, plain);
    let mut blocks = build(subtrees, max_depth, metadata, &cut)?;
    let mut shown = blocks.pop().ok_or_else(missing)?;
    locate_metadata(tree, &mut shown)?;
    Ok(shown)
}

/// Names the document in the metadata of the block that was asked for.
fn locate_metadata<T: ReadTree + ?Sized>(tree: &T, block: &mut Block) -> Result<()> {
    if let Some(metadata) = &mut block.metadata {
        metadata.document = tree.locate(block.id)?.map(|located| located.document);
    }
    Ok(())
}

/// Builds a reply from complete subtrees, such as those just inserted.
///
/// # Errors
///
/// [`leafbase_model::ErrorKind::Internal`] for a broken invariant.
pub fn assemble(subtrees: &Subtrees) -> Result<Vec<Block>> {
    build(subtrees.clone(), None, false, &|_| Ok(Content::Blocks(Vec::new())))
}

/// Checks that every node has its parent among the nodes: a damaged store may omit it.
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
    // A list of blocks that grows is copied again and again: a first fetch of 10,000 took twice as
    // long.
    let mut counts = child_counts(&subtrees.0).into_iter();
    let mut nodes = subtrees.0.into_iter();
    // Child lists under construction, one per ancestor of the current node and one for the node.
    let mut open = vec![Vec::new()];
    while let Some(SubtreeNode { depth, block }) = nodes.next() {
        let children = counts.next().unwrap_or_default();
        // In a damaged store a block of a type without children may have some: they become
        // siblings.
        let depth = usize::from(depth).min(open.len().saturating_sub(1));
        debug_assert!(depth < open.len(), "the child list of the parent is open");
        close_to(&mut open, depth + 1);
        let content = match block.data.block_type() {
            // Items are presented by their schema, through the item operations.
            BlockType::Collection => {
                let below = nodes.as_slice();
                let is_below = |node: &&SubtreeNode| usize::from(node.depth) > depth;
                for _ in 0..below.iter().take_while(is_below).count() {
                    nodes.next();
                    counts.next();
                }
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
            open.push(Vec::with_capacity(children));
        }
    }
    close_to(&mut open, 1);
    let Some(blocks) = open.pop() else {
        invariant!("the list of top-level blocks is open");
    };
    Ok(blocks)
}

/// Closes child lists until `length` are open; each becomes the content of its block.
fn close_to(open: &mut Vec<Vec<Block>>, length: usize) {
    while open.len() > length
        && let Some(children) = open.pop()
    {
        if let Some(parent) = open.last_mut().and_then(|siblings| siblings.last_mut()) {
            parent.content = Content::Blocks(children);
        }
    }
}

/// The number of children of each node; none for a node alone.
fn child_counts(nodes: &[SubtreeNode]) -> Vec<usize> {
    if nodes.len() == 1 {
        return Vec::new();
    }
    let (mut counts, mut path) = (vec![0; nodes.len()], Vec::new());
    for (index, node) in nodes.iter().enumerate() {
        path.truncate(usize::from(node.depth));
        if let Some(count) = path.last().and_then(|parent: &usize| counts.get_mut(*parent)) {
            *count += 1;
        }
        path.push(index);
    }
    counts
}

fn shown(block: BlockRecord, metadata: bool, content: Content) -> Block {
    let BlockRecord { id, rev, created, modified, data } = block;
    let metadata =
        metadata.then_some(Metadata { created, modified, comments: Vec::new(), document: None });
    Block { id, rev, data, block_form: None, plain: None, metadata, item: None, content }
}

/// The plain text of the first children. A page without children has empty content instead.
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
