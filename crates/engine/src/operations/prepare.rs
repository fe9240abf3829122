//! What a request gives is made ready for the tree: markdown is read into the fields that it stands
//! for, several paragraphs become several blocks, and text that would read as structure is escaped.

use leafbase_markdown as markdown;
use leafbase_model::{
    BlockData, BlockDraft, BlockFields, BlockKind, BlockType, Edit, Error, Limits, Result,
};
use leafbase_tree_ops as ops;

use crate::operations::drafts::{Files, Names, Ready, checked, made_ready};
use crate::operations::rendered;

/// Makes the drafts of the request's list `list` ready, with all below them. Errors name the drafts
/// as they were given.
pub(crate) fn drafts(
    list: &'static str,
    drafts: Vec<BlockDraft>,
    files: Files,
    limits: &Limits,
) -> Ready {
    made_ready(Names::List(list), drafts, files, limits)
}

/// A page that becomes a document, made ready. Errors name what is wrong from the page on.
pub(crate) fn document(page: BlockDraft, limits: &Limits) -> Result<BlockDraft> {
    made_ready(Names::Root, vec![page], Files::Any, limits).into_root(limits)
}

/// The blocks that a request's markdown gives. The parser gives them ready.
pub(crate) fn markdown(text: &str, files: Files, limits: &Limits) -> Result<Ready> {
    if text.len() > limits.markdown {
        return Err(Error::limit("bytes of markdown in one request", limits.markdown, text.len())
            .at("markdown"));
    }
    let options = markdown::ParseOptions::default()
        .with_limits(limits.clone())
        .with_most_blocks(limits.blocks_per_request);
    let parsed = markdown::parse(text, &options).map_err(|error| error.at("markdown"))?;
    Ok(checked("markdown", parsed.blocks, files, limits))
}

/// Makes a draft's own data ready where it is, and gives the blocks that its further paragraphs
/// become: mostly none. All of them are checked, so that an error is that of the draft as it was
/// given. The root of a document is a page and one block.
pub(crate) fn draft(
    data: &mut BlockData,
    has_content: bool,
    is_root: bool,
    limits: &Limits,
) -> Result<Vec<BlockData>> {
    if is_too_long(data, limits) {
        ops::check_draft(limits, data, has_content)?;
    }
    if is_rendered(data) {
        check_rendered(data, limits)?;
        rendered::read(data)?;
    }
    check_highlights(data.block_type(), &data.markdown)?;
    let further = settle(data);
    if is_root && !further.is_empty() {
        return Err(Error::validation("the title of a document is one paragraph").at("markdown"));
    }
    if let (true, BlockKind::Text(look)) = (has_content || is_root, &data.kind) {
        data.kind = BlockKind::Page(*look);
        markdown::canonical(data);
    }
    ops::check_draft(limits, data, has_content)?;
    further.iter().try_for_each(|data| ops::check_draft(limits, data, false))?;
    Ok(further)
}

/// Checks the texts that a patch gives, and takes back what only says what the block says already.
pub(crate) fn fields(before: &BlockData, fields: &mut BlockFields, limits: &Limits) -> Result<()> {
    let wanted = fields.block_type.unwrap_or(before.block_type());
    for text in [&fields.markdown, &fields.title]
        .into_iter()
        .flatten()
        .filter(|text| text.len() <= limits.block_raw)
    {
        check_highlights(wanted, text)?;
    }
    rendered::settle(before, fields)
}

/// Makes what a changed block says ready: itself, and the blocks that its further paragraphs
/// become. The tree checks them.
pub(crate) fn data(mut data: BlockData, limits: &Limits) -> Result<Vec<BlockData>> {
    if is_too_long(&data, limits) {
        data.check(limits)?;
    }
    if is_rendered(&data) {
        check_rendered(&data, limits)?;
        markdown::read_block(&mut data)?;
    }
    if data.block_type() == BlockType::CollectionItem {
        check_item_title(&data.markdown).map_err(|error| error.at("markdown"))?;
    }
    let further = settle(&mut data);
    let mut parts = vec![data];
    parts.extend(further);
    Ok(parts)
}

/// The title of an item, made ready. What is wrong is told without a path.
pub(crate) fn item_title(text: &str, limits: &Limits) -> Result<String> {
    let mut data = BlockData {
        markdown: text.to_owned(),
        ..BlockData::new(BlockKind::empty(BlockType::CollectionItem))
    };
    let mut make_ready = || {
        check_highlights(data.block_type(), &data.markdown)?;
        check_item_title(text)?;
        markdown::canonical(&mut data);
        data.check(limits)
    };
    make_ready().map_err(|error| Error::new(error.kind(), error.message()))?;
    Ok(data.markdown)
}

fn check_item_title(text: &str) -> Result<()> {
    if text.contains(['\n', '\r']) && markdown::split_paragraphs(BlockData::text(text)).len() > 1 {
        return Err(Error::validation("the title of an item is one paragraph"));
    }
    Ok(())
}

/// Whether the text is longer than a block's may be: then it is refused before any work is done on
/// it.
fn is_too_long(data: &BlockData, limits: &Limits) -> bool {
    let longest =
        if data.block_type() == BlockType::Table { limits.block_raw } else { limits.block_text };
    data.block_type().has_own_markdown() && data.markdown.len() > longest
}

/// Whether `markdown` stands for other fields.
fn is_rendered(data: &BlockData) -> bool {
    !data.block_type().has_own_markdown() && !data.markdown.is_empty()
}

/// The field that tells the address of a block that has one.
pub(crate) fn address_field(data: &BlockData) -> &'static str {
    if is_rendered(data) { "markdown" } else { "url" }
}

fn check_rendered(data: &BlockData, limits: &Limits) -> Result<()> {
    // Markup and escapes take some room around the longest code and the longest URL.
    let longest = limits.block_raw.max(limits.attribute).saturating_mul(2);
    if data.markdown.len() > longest {
        return Err(Error::limit("bytes of a block's markdown", longest, data.markdown.len())
            .at("markdown"));
    }
    Ok(())
}

/// Divides a text at its blank lines, and brings all of it into the canonical form.
fn settle(data: &mut BlockData) -> Vec<BlockData> {
    let mut further = Vec::new();
    let has = |byte: u8| data.markdown.as_bytes().contains(&byte);
    if matches!(data.kind, BlockKind::Text(_)) && (has(b'\n') || has(b'\r')) {
        let mut parts =
            markdown::split_paragraphs(std::mem::replace(data, BlockData::text(""))).into_iter();
        *data = parts.next().unwrap_or_else(|| BlockData::text(""));
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

/// Texts that `edits` make pages, because they receive children, get the form of a title.
pub(crate) fn titles(edits: &mut [Edit]) {
    for edit in edits {
        if let Edit::Update { before, after, .. } = edit
            && before.data.block_type() != after.data.block_type()
        {
            markdown::canonical(&mut after.data);
        }
    }
}
