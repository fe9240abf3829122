//! Pages as lists of blocks as their markdown reads.

use std::collections::HashSet;

use leafbase_markdown::{self as markdown, EmptyFirstItem, UnknownHighlight};
use leafbase_model::{
    Block, BlockData, BlockDraft, BlockId, BlockType, Content, Edge, Error, Limits, Location,
    Result, SourceLayout, invariant,
};
use leafbase_tree_ops as ops;

use crate::core::redaction::LinkRedactor;
use crate::core::tree::Tree;
use crate::operations::block_markdown::render_text;
use crate::operations::collections::tables;

/// The part that a block of an outline has in a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CollectionPart {
    /// It is of none.
    #[default]
    None,
    Name,
    Table,
}

/// A block as markdown says it, in a list in reading order.
#[derive(Clone, Debug)]
pub(super) struct OutlineBlock {
    /// Its ID, if it is one of the page.
    pub(super) id: Option<BlockId>,
    /// Without its layout.
    pub(super) data: BlockData,
    /// How the text writes it.
    pub(super) layout: Option<Box<SourceLayout>>,
    /// Levels below the top of the page.
    pub(super) depth: usize,
    /// The index of its parent; `None` at the top of the page.
    pub(super) parent: Option<usize>,
    pub(super) has_content: bool,
    part: CollectionPart,
}

impl OutlineBlock {
    /// Whether the block stays as it is or goes.
    pub(super) fn is_fixed(&self) -> bool {
        self.part != CollectionPart::None
    }

    pub(super) fn is_table_of_collection(&self) -> bool {
        self.part == CollectionPart::Table
    }

    /// What the block says: its text, code or address.
    pub(super) fn text(&self) -> &str {
        self.data.kind.first_text().unwrap_or(&self.data.inline)
    }
}

/// A page with its content as markdown.
pub(super) struct PageReading {
    /// The title, as replies show it.
    title: String,
    /// The content, as [`crate::Connection::content_markdown`] returns it.
    pub(super) text: String,
    /// Where the first line of each block of `content` starts in `text`.
    pub(super) starts: Vec<usize>,
    /// The blocks of the text: tables in place of collections.
    pub(super) content: Vec<Block>,
    collections: HashSet<BlockId>,
}

impl PageReading {
    pub(super) fn new(tree: &Tree<'_>, page: BlockId, limits: &Limits) -> Result<Self> {
        let links = LinkRedactor::new(tree);
        let plain = |data: &BlockData| links.plain(data);
        let most = limits.blocks_per_fetch;
        let check_count = |blocks: usize| {
            if blocks > most {
                return Err(Error::limit("blocks of one page", most, blocks).at("pageId"));
            }
            Ok(())
        };
        let mut shown = ops::fetch(tree, page, None, false, &plain, &check_count)?;
        links.finish()?;
        links.redact_tree(&mut shown)?;
        if shown.data.block_type() == BlockType::Collection {
            let message = "the items of a collection are changed by the operations on items";
            return Err(Error::rule(message).at("pageId"));
        }
        let (mut collections, mut waiting) = (HashSet::new(), vec![&mut shown]);
        while let Some(block) = waiting.pop() {
            if block.data.block_type() == BlockType::Collection {
                collections.insert(block.id);
            }
            render_text(&mut block.data);
            if let Content::Blocks(children) = &mut block.content {
                waiting.extend(children);
            }
        }
        let mut content = vec![shown];
        tables::tabulate(tree, &mut content, None, most)?;
        let Some(Block { data, content, .. }) = content.pop() else {
            invariant!("a page stays when tables are put into it")
        };
        let content = if let Content::Blocks(content) = content { content } else { Vec::new() };
        let file = data.layout.as_ref().and_then(|layout| layout.file.as_deref());
        let (text, starts) = markdown::render_with_starts(&content, file);
        Ok(Self { title: data.inline, text, starts, content, collections })
    }

    /// The blocks as the text reads: without what markdown does not say, with their IDs.
    pub(super) fn blocks(&self, limits: &Limits) -> Result<Vec<OutlineBlock>> {
        let Some(blocks) = self.blocks_of(&self.content, &self.text, limits)? else {
            invariant!("each block of a page is one block of its markdown")
        };
        Ok(blocks)
    }

    /// `content`, blocks at the top of the page, as their part of the text reads; `None` if that
    /// has other blocks when it is read alone.
    pub(super) fn blocks_of(
        &self,
        content: &[Block],
        text: &str,
        limits: &Limits,
    ) -> Result<Option<Vec<OutlineBlock>>> {
        // The layout of a page that was read from a file may have an empty first item.
        let mut blocks = listed(parse(text, limits, EmptyFirstItem::Drop)?);
        let mut read = blocks.iter_mut();
        let mut waiting: Vec<_> = content.iter().rev().map(|block| (0, block)).collect();
        let mut last_name = None;
        while let Some((depth, block)) = waiting.pop() {
            let Some(read) = read.next().filter(|read| read.depth == depth) else {
                return Ok(None);
            };
            read.id = Some(block.id);
            if self.is_collection(block) {
                let is_name = last_name.replace(block.id) != Some(block.id);
                read.part = if is_name { CollectionPart::Name } else { CollectionPart::Table };
            }
            waiting.extend(block.children().iter().rev().map(|child| (depth + 1, child)));
        }
        let is_all = read.next().is_none();
        Ok(is_all.then_some(blocks))
    }

    /// Whether `drafts` are the page itself, with its title, and the page has no page
    /// of that title.
    pub(super) fn is_page(&self, drafts: &[BlockDraft]) -> bool {
        let is_same =
            |data: &BlockData| data.block_type() == BlockType::Page && data.inline == self.title;
        let has_same = || self.content.iter().any(|block| is_same(&block.data));
        matches!(drafts, [draft] if is_same(&draft.data)) && !has_same()
    }

    /// Whether `block` is a collection, or its table.
    pub(super) fn is_collection(&self, block: &Block) -> bool {
        self.collections.contains(&block.id)
    }
}

/// Checks that each collection of `old` is in `new` as it is, or not at all.
pub(super) fn check_collections(
    old: &[OutlineBlock],
    new: &[OutlineBlock],
    origins: &[Option<usize>],
) -> Result<()> {
    let place = |index| origins.iter().position(|origin| *origin == Some(index));
    let has_new_table = || {
        new.iter()
            .zip(origins)
            .any(|(block, origin)| origin.is_none() && block.data.block_type() == BlockType::Table)
    };
    for (index, block) in old.iter().enumerate() {
        if block.part != CollectionPart::Name {
            continue;
        }
        let table = old.get(index + 1).filter(|next| next.is_table_of_collection());
        match (place(index), table.map(|_| place(index + 1))) {
            (Some(_), None) => {}
            (Some(name), Some(Some(table))) if table == name + 1 => {}
            (None, None | Some(None)) if !has_new_table() => {}
            _ => {
                let name = markdown::plain_text(&block.data.inline);
                let message = format!(
                    "the collection {name:?} is not in the text as it was: its name and items are \
                     changed by the operations on collections"
                );
                return Err(Error::rule(message).at("markdown"));
            }
        }
    }
    Ok(())
}

/// Parses the content of a page. The limits of blocks are not those of a request: a block that
/// stays may be a table of any number of items, and one that is new is checked by itself.
pub(super) fn parse(
    text: &str,
    limits: &Limits,
    empty_first_item: EmptyFirstItem,
) -> Result<Vec<BlockDraft>> {
    let mut wide = limits.clone();
    for limit in [
        &mut wide.block_text,
        &mut wide.block_raw,
        &mut wide.attribute,
        &mut wide.title,
        &mut wide.markdown,
        &mut wide.page_nesting,
    ] {
        *limit = usize::MAX;
    }
    let most = limits.blocks_per_fetch;
    // Both are in files, whose text a page may have.
    let unknown_highlight = match empty_first_item {
        EmptyFirstItem::Refuse => UnknownHighlight::Refuse,
        EmptyFirstItem::Drop => UnknownHighlight::Keep,
    };
    let options = markdown::ParseOptions::default()
        .with_empty_first_item(empty_first_item)
        .with_unknown_highlight(unknown_highlight);
    let options = options.with_limits(wide).with_most_blocks(most);
    Ok(markdown::parse_with_layout(text, &options)?.blocks)
}

/// Drafts with all below them as a list in reading order.
pub(super) fn listed(drafts: Vec<BlockDraft>) -> Vec<OutlineBlock> {
    let mut blocks = Vec::with_capacity(drafts.len());
    let mut waiting: Vec<_> = drafts.into_iter().rev().map(|draft| (0, None, draft)).collect();
    while let Some((depth, parent, draft)) = waiting.pop() {
        let (mut data, content) = draft.into_parts();
        let layout = data.layout.take();
        let (here, has_content) = (Some(blocks.len()), !content.is_empty());
        waiting.extend(content.into_iter().rev().map(|child| (depth + 1, here, child)));
        let part = CollectionPart::None;
        blocks.push(OutlineBlock { id: None, data, layout, depth, parent, has_content, part });
    }
    blocks
}

/// Partitions top-level tasks with their descendants, stably: open ones precede closed ones, as
/// the operations on tasks put them in the inbox.
pub(super) fn closed_last(blocks: Vec<OutlineBlock>) -> Vec<OutlineBlock> {
    let (mut open, mut closed) = (Vec::new(), Vec::new());
    let (mut in_closed, mut shift) = (false, 0);
    for (index, mut block) in blocks.into_iter().enumerate() {
        in_closed = if block.depth == 0 {
            ops::task_edge(Location::Inbox, &block.data) == Edge::End
        } else {
            in_closed
        };
        let part = if in_closed { &mut closed } else { &mut open };
        // A task moves with all blocks below it, so that their parents shift by the same number.
        if block.depth == 0 {
            shift = index - part.len();
        }
        block.parent = block.parent.map(|parent| parent - shift);
        part.push(block);
    }
    let before = open.len();
    open.extend(
        closed.into_iter().map(|block| OutlineBlock {
            parent: block.parent.map(|parent| parent + before),
            ..block
        }),
    );
    open
}
