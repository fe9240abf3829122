//! Normalization of block data: markdown is parsed into the fields that it denotes, a text of
//! several paragraphs is split into blocks, and text that would parse as structure is escaped.

use leafbase_markdown as markdown;
use leafbase_model::{BlockData, BlockFields, BlockKind, BlockType, Edit, Error, Limits, Result};
use leafbase_tree_ops as ops;

use crate::operations::block_markdown;

/// Normalizes the data of a draft in place and returns the blocks split from its further
/// paragraphs, usually none. All of them are checked, so that errors refer to the draft as given.
/// The root of a document cannot be split.
pub(crate) fn draft(
    data: &mut BlockData,
    has_content: bool,
    is_root: bool,
    limits: &Limits,
) -> Result<Vec<BlockData>> {
    // The limit first: parsing costs time in proportion to the text.
    if is_too_long(data, limits) {
        ops::check_draft(limits, data, has_content)?;
    }
    if has_markdown_for_fields(data) {
        check_markdown_length(data, limits)?;
        block_markdown::parse_fields(data)?;
    }
    check_highlights(data.block_type(), &data.markdown)?;
    let further = split_paragraphs(data);
    if is_root && !further.is_empty() {
        return Err(Error::validation("the title of a document is one paragraph").at("markdown"));
    }
    // A text with children is a page, and its title is normalized as one.
    if let (true, BlockKind::Text(look)) = (has_content || is_root, &data.kind) {
        data.kind = BlockKind::Page(*look);
        markdown::canonical(data);
    }
    ops::check_draft(limits, data, has_content)?;
    further.iter().try_for_each(|data| ops::check_draft(limits, data, false))?;
    Ok(further)
}

/// Checks the texts of a patch, and drops a `markdown` that equals what the block already renders
/// to.
pub(crate) fn fields(before: &BlockData, fields: &mut BlockFields, limits: &Limits) -> Result<()> {
    let wanted = fields.block_type.unwrap_or(before.block_type());
    for text in [&fields.markdown, &fields.title]
        .into_iter()
        .flatten()
        .filter(|text| text.len() <= limits.block_raw)
    {
        check_highlights(wanted, text)?;
    }
    block_markdown::drop_unchanged(before, fields)
}

/// Normalizes the data of an updated block: the block itself and the blocks split from its further
/// paragraphs. The caller checks them.
pub(crate) fn data(mut data: BlockData, limits: &Limits) -> Result<Vec<BlockData>> {
    if is_too_long(&data, limits) {
        data.check(limits)?;
    }
    if has_markdown_for_fields(&data) {
        check_markdown_length(&data, limits)?;
        markdown::read_block(&mut data)?;
    }
    if data.block_type() == BlockType::CollectionItem {
        check_item_title(&data.markdown).map_err(|error| error.at("markdown"))?;
    }
    let further = split_paragraphs(&mut data);
    let mut parts = vec![data];
    parts.extend(further);
    debug_assert!(
        parts.len() == 1 || parts.iter().all(|part| part.block_type() == BlockType::Text),
        "only texts are split into paragraphs"
    );
    Ok(parts)
}

/// Normalizes the title of an item. Errors have no path.
pub(crate) fn item_title(text: &str, limits: &Limits) -> Result<String> {
    let mut data = BlockData {
        markdown: text.to_owned(),
        ..BlockData::new(BlockKind::empty(BlockType::CollectionItem))
    };
    let mut normalize = || {
        check_highlights(data.block_type(), &data.markdown)?;
        check_item_title(text)?;
        markdown::canonical(&mut data);
        data.check(limits)
    };
    normalize().map_err(|error| Error::new(error.kind(), error.message()))?;
    Ok(data.markdown)
}

fn check_item_title(text: &str) -> Result<()> {
    if text.contains(['\n', '\r']) && markdown::split_paragraphs(BlockData::text(text)).len() > 1 {
        return Err(Error::validation("the title of an item is one paragraph"));
    }
    Ok(())
}

/// Whether the text exceeds the limit of a block: it is then refused before it is parsed.
fn is_too_long(data: &BlockData, limits: &Limits) -> bool {
    let longest =
        if data.block_type() == BlockType::Table { limits.block_raw } else { limits.block_text };
    data.block_type().has_own_markdown() && data.markdown.len() > longest
}

/// Whether `markdown` denotes other fields.
fn has_markdown_for_fields(data: &BlockData) -> bool {
    !data.block_type().has_own_markdown() && !data.markdown.is_empty()
}

/// The field that contains the address of a block that has one.
pub(crate) fn address_field(data: &BlockData) -> &'static str {
    if has_markdown_for_fields(data) { "markdown" } else { "url" }
}

fn check_markdown_length(data: &BlockData, limits: &Limits) -> Result<()> {
    // Markup and escapes need room in addition to the longest code or URL.
    let longest = limits.block_raw.max(limits.attribute).saturating_mul(2);
    if data.markdown.len() > longest {
        return Err(Error::limit("bytes of a block's markdown", longest, data.markdown.len())
            .at("markdown"));
    }
    Ok(())
}

/// Splits a text at its blank lines and normalizes all parts.
fn split_paragraphs(data: &mut BlockData) -> Vec<BlockData> {
    let mut further = Vec::new();
    let has = |byte: u8| data.markdown.as_bytes().contains(&byte);
    if matches!(data.kind, BlockKind::Text(_)) && (has(b'\n') || has(b'\r')) {
        let mut parts =
            markdown::split_paragraphs(std::mem::replace(data, BlockData::text(""))).into_iter();
        let first = parts.next();
        debug_assert!(first.is_some(), "a text has at least one paragraph");
        *data = first.unwrap_or_else(|| BlockData::text(""));
        further.extend(parts);
    }
    markdown::canonical(data);
    further.iter_mut().for_each(markdown::canonical);
    further
}

fn check_highlights(block_type: BlockType, text: &str) -> Result<()> {
    if !block_type.has_own_markdown() {
        return Ok(());
    }
    markdown::check_highlights(text).map_err(|error| error.at("markdown"))
}

/// Normalizes the titles of texts that `edits` turn into pages.
pub(crate) fn titles(edits: &mut [Edit]) {
    for edit in edits {
        if let Edit::Update { before, after, .. } = edit
            && before.data.block_type() != after.data.block_type()
        {
            markdown::canonical(&mut after.data);
        }
    }
}
