//! Collections as markdown: the name in bold, and a table with links to the items.
//!
//! | Property | Written |
//! |---|---|
//! | text, options, phone | the text, what would be markup in it escaped, line breaks as `<br>`; several options with commas between |
//! | number, date | `3.5`, `2026-11-21` |
//! | boolean | `yes`, `no`; nothing where there is no value |
//! | URL, e-mail address | `<https://a.example>`, `<a@b.example>` |
//! | relation | links to the related items with commas between |
//!
//! The first column contains the titles, as links to the items. Markup that could end a link is
//! removed.

use std::ops::ControlFlow;

use leafbase_collections::ReadCollections;
use leafbase_markdown as markdown;
use leafbase_model::{
    Block, BlockData, BlockId, BlockKind, BlockRecord, BlockType, Content, Error, Item, ItemValue,
    Limits, ListStyle, Property, PropertyKind, PropertyValue, RelatedItem, Result, Schema,
    SubtreeNode, Subtrees, TextFormat,
};

use crate::core::redaction::LinkRedactor;
use crate::core::tree::Tree;
use crate::operations::collections::presenter::ItemPresenter;

/// Link text of an item without a title.
const UNTITLED: &str = "Untitled";

/// Replaces collections below `roots` by tables. Below `max_depth`, where items are cut off, only
/// the name remains.
///
/// # Errors
/// [`leafbase_model::ErrorKind::LimitExceeded`] for more than `most` items.
pub(crate) fn tabulate(
    tree: &Tree<'_>,
    roots: &mut Vec<Block>,
    max_depth: Option<usize>,
    most: usize,
) -> Result<()> {
    let (mut presenter, mut left) = (ItemPresenter::new(tree), most);
    let mut waiting = vec![(0, roots)];
    while let Some((depth, blocks)) = waiting.pop() {
        if blocks.iter().any(|block| block.data.kind == BlockKind::Collection) {
            let is_cut = max_depth.is_some_and(|most| most <= depth);
            for block in std::mem::take(blocks) {
                if block.data.kind != BlockKind::Collection {
                    blocks.push(block);
                    continue;
                }
                blocks.push(Block { data: name(&block.data), ..block.clone() });
                if !is_cut {
                    left = count(tree, block.id, left, most)?;
                    let rows = table_of_all(tree, &mut presenter, block.id)?;
                    blocks
                        .extend(rows.map(|rows| Block { data: below(&block.data, rows), ..block }));
                }
            }
        }
        waiting.extend(blocks.iter_mut().filter_map(|block| match &mut block.content {
            Content::Blocks(children) => Some((depth + 1, children)),
            _ => None,
        }));
    }
    Ok(())
}

fn table_of_all(
    tree: &Tree<'_>,
    presenter: &mut ItemPresenter<'_, '_>,
    collection: BlockId,
) -> Result<Option<String>> {
    let mut items = Vec::new();
    tree.reader_at(collection)?.items(collection, None, &mut |item| {
        items.push(item);
        Ok(ControlFlow::Continue(()))
    })?;
    table(tree, presenter, collection, items)
}

/// The remaining item budget.
fn count(tree: &Tree<'_>, collection: BlockId, left: usize, most: usize) -> Result<usize> {
    let items =
        tree.reader_at(collection)?.item_index(collection)?.map_or(0, |index| index.items());
    let items = usize::try_from(items).unwrap_or(usize::MAX);
    left.checked_sub(items).ok_or_else(|| {
        let found = items.saturating_add(most.saturating_sub(left));
        Error::limit("items in one fetch as markdown (a maxDepth asks for fewer)", most, found)
            .at("id")
    })
}

/// A document as a file contains it: each collection becomes a text with its name and a table,
/// followed by a page for each item with content. `visit` receives the name and item count of each.
pub(crate) fn flattened(
    tree: &Tree<'_>,
    subtrees: Subtrees,
    visit: &mut dyn FnMut(&str, usize),
) -> Result<Subtrees> {
    if !subtrees.0.iter().any(|node| node.block.data.kind == BlockKind::Collection) {
        return Ok(subtrees);
    }
    let (mut presenter, mut flat, mut open) =
        (ItemPresenter::new(tree), Vec::with_capacity(subtrees.0.len()), Vec::new());
    for (at, SubtreeNode { depth, block }) in subtrees.0.iter().enumerate() {
        while open.last().is_some_and(|collection| depth <= collection) {
            open.pop();
        }
        // Items become siblings of the table of their collection.
        let lifted = depth.saturating_sub(u16::try_from(open.len()).unwrap_or(u16::MAX));
        // Items are the children that follow their collection in document order.
        let behind = subtrees.0.get(at + 1..).unwrap_or(&[]);
        let mut push = |block| flat.push(SubtreeNode { depth: lifted, block });
        match block.data.block_type() {
            BlockType::Collection => {
                open.push(*depth);
                let items = items_of(behind, *depth);
                visit(&block.data.inline, items.len());
                push(BlockRecord { data: name(&block.data), ..block.clone() });
                if let Some(rows) = table(tree, &mut presenter, block.id, items)? {
                    // No link leads to the table itself, so its ID does not matter.
                    push(BlockRecord {
                        id: BlockId::NIL,
                        data: below(&block.data, rows),
                        ..block.clone()
                    });
                }
            }
            BlockType::CollectionItem if behind.first().is_none_or(|next| next.depth <= *depth) => {
            }
            BlockType::CollectionItem => {
                push(BlockRecord { data: page(&block.data), ..block.clone() });
            }
            _ => push(block.clone()),
        }
    }
    Ok(Subtrees(flat))
}

/// The items of the collection at `depth`, which `behind` follows.
fn items_of(behind: &[SubtreeNode], depth: u16) -> Vec<BlockRecord> {
    let below = behind.iter().take_while(|node| node.depth > depth);
    below.filter(|node| node.depth == depth + 1).map(|node| node.block.clone()).collect()
}

fn page(item: &BlockData) -> BlockData {
    BlockData { kind: BlockKind::Page(TextFormat::default()), ..item.clone() }
}

/// The text block with the name of a collection.
fn name(collection: &BlockData) -> BlockData {
    let name = &collection.inline;
    // A trailing backslash or another star would change what the stars mean.
    let is_plain = name.is_empty() || name.ends_with('\\') || name.contains('*');
    let markdown = if is_plain { name.clone() } else { format!("**{name}**") };
    BlockData {
        kind: BlockKind::Text(TextFormat::default()),
        inline: markdown,
        ..collection.clone()
    }
}

/// The table after the name, inside the same list item.
fn below(collection: &BlockData, markdown: String) -> BlockData {
    let deeper = u8::from(collection.list_style != ListStyle::None);
    let indentation = collection.indentation.saturating_add(deeper).min(Limits::INDENTATION);
    let (kind, list_style) = (BlockKind::Table, ListStyle::None);
    let below = BlockData { kind, inline: markdown, indentation, list_style, ..collection.clone() };
    BlockData { task: None, layout: None, ..below }
}

/// The table of all items of `collection`. `None` without a schema.
fn table(
    tree: &Tree<'_>,
    presenter: &mut ItemPresenter<'_, '_>,
    collection: BlockId,
    items: Vec<BlockRecord>,
) -> Result<Option<String>> {
    let Some(schema) = tree.schema(collection)? else { return Ok(None) };
    let links = LinkRedactor::new(tree);
    let schema = links.redacted(&schema)?;
    let shown = presenter.items(collection, &schema, items)?;
    let rows = std::iter::once(head(&schema)).chain(shown.iter().map(|item| row(&schema, item)));
    Ok(Some(markdown::table(&rows.collect::<Vec<_>>())))
}

fn head(schema: &Schema) -> Vec<String> {
    let names = schema.properties.iter().map(|property| property.name.as_str());
    std::iter::once(schema.content.name.as_str()).chain(names).map(text).collect()
}

fn row(schema: &Schema, item: &Item) -> Vec<String> {
    let title = link(item.id, &item.title);
    // Values come in the order of the schema; missing ones are absent.
    let mut values = item.properties.iter().peekable();
    let cells = schema.properties.iter().map(|property| {
        values
            .next_if(|(key, _)| *key == property.key)
            .map(|(_, value)| cell(property, value))
            .unwrap_or_default()
    });
    std::iter::once(title).chain(cells).collect()
}

fn cell(property: &Property, value: &ItemValue) -> String {
    match value {
        ItemValue::Relations(items) => {
            let links = items.iter().map(|RelatedItem { block_id, title }| link(*block_id, title));
            links.collect::<Vec<_>>().join(", ")
        }
        ItemValue::Value(PropertyValue::Text(address)) => match property.kind {
            PropertyKind::Url | PropertyKind::Email => autolink(address),
            _ => text(address),
        },
        ItemValue::Value(value) => scalar(value),
    }
}

fn scalar(value: &PropertyValue) -> String {
    match value {
        PropertyValue::Text(value) => text(value),
        PropertyValue::Number(number) => number.to_string(),
        PropertyValue::Boolean(true) => "yes".to_owned(),
        PropertyValue::Boolean(false) => "no".to_owned(),
        PropertyValue::Date(day) => day.to_string(),
        PropertyValue::Options(options) => {
            options.iter().map(|name| text(name)).collect::<Vec<_>>().join(", ")
        }
        PropertyValue::Relations(_) => String::new(),
    }
}

/// Plain text, escaped, in one line.
fn text(text: &str) -> String {
    let lines = text.split('\n').map(|line| markdown::escape(line.trim_end_matches('\r')));
    lines.collect::<Vec<_>>().join("<br>")
}

fn autolink(address: &str) -> String {
    let is_one_word = !address.contains(|letter: char| {
        letter.is_whitespace() || matches!(letter, '<' | '>' | '|' | '\\')
    });
    if is_one_word && address.contains([':', '@']) { format!("<{address}>") } else { text(address) }
}

/// A link to an item.
fn link(item: BlockId, title: &str) -> String {
    let title = if title.trim().is_empty() { UNTITLED } else { title };
    let title = markdown::canonical_inline(title);
    // Brackets could end the link, backticks could swallow its end, and tags could overlap it.
    if title.contains(['[', ']', '`', '<', '\\']) {
        return format!("[{}](block://{item})", markdown::escape(&markdown::plain_text(&title)));
    }
    format!("[{title}](block://{item})")
}
