//! The `markdown` of block types without a text of their own is rendered from their other fields:
//! replies contain it, and a request may give it instead of them, or send it back unchanged.

use leafbase_markdown as markdown;
use leafbase_model::{
    Block, BlockData, BlockFields, BlockKind, BlockType, CodeLanguage, Content, Error, LineStyle,
    Result,
};

/// Drops the `markdown` of a patch if it equals the rendered block, as in a reply that is sent
/// back.
///
/// # Errors
/// [`crate::ErrorKind::Validation`] if it differs and a field that it denotes is given as well.
pub(crate) fn drop_unchanged(before: &BlockData, fields: &mut BlockFields) -> Result<()> {
    let wanted = fields.block_type.unwrap_or(before.block_type());
    let Some(text) = fields.markdown.as_deref().filter(|_| !wanted.has_own_markdown()) else {
        return Ok(());
    };
    if !before.block_type().has_own_markdown() && text == markdown::render_block(before) {
        fields.markdown = None;
        return Ok(());
    }
    match denoted_field(fields, wanted) {
        None => Ok(()),
        Some(name) => {
            let message =
                format!("stands for {name}, too, and is not what the block says: give one of them");
            Err(Error::validation(message).at("markdown"))
        }
    }
}

/// The first given field that the markdown of a block of this type denotes.
fn denoted_field(fields: &BlockFields, block_type: BlockType) -> Option<&'static str> {
    let url = ("url", fields.url.is_some());
    let given: &[(&'static str, bool)] = match block_type {
        BlockType::Image | BlockType::Video => &[url, ("altText", fields.alt_text.is_some())],
        BlockType::File => &[url, ("fileName", fields.file_name.is_some())],
        BlockType::Drawing | BlockType::Whiteboard => &[url],
        BlockType::Code => &[
            ("rawCode", fields.raw_code.is_some()),
            ("language", fields.language.is_some()),
            ("languageTag", fields.language_tag.is_some()),
        ],
        BlockType::RichUrl => {
            &[url, ("title", fields.title.is_some()), ("description", fields.description.is_some())]
        }
        BlockType::Line => &[("lineStyle", fields.line_style.is_some())],
        _ => &[],
    };
    given.iter().find(|(_, given)| *given).map(|(name, _)| *name)
}

/// Parses the `markdown` of a new block into the fields that it denotes.
///
/// # Errors
/// [`crate::ErrorKind::InvalidMarkdown`] if it is not the markdown of such a block, and
/// [`crate::ErrorKind::Validation`] if one of those fields is given with another value.
pub(crate) fn parse_fields(data: &mut BlockData) -> Result<()> {
    // Rendered without the given text: equal markdown is a reply that is sent back.
    let text = std::mem::take(&mut data.markdown);
    markdown::canonical(data);
    if text == markdown::render_block(data) {
        return Ok(());
    }
    let given = denoted_values(&data.kind);
    data.markdown = text;
    markdown::read_block(data)?;
    markdown::canonical(data);
    let read = denoted_values(&data.kind);
    debug_assert_eq!(given.len(), read.len(), "parsing markdown keeps the type of a block");
    // Fields left at their default may be given by the markdown alone.
    match given.iter().zip(&read).find(|((_, given), (_, read))| !given.is_empty() && given != read)
    {
        None => Ok(()),
        Some(((name, _), _)) => {
            Err(Error::validation(format!("says something else than {name}: give one of them"))
                .at("markdown"))
        }
    }
}

/// The fields that the markdown of a block denotes; empty for a default.
fn denoted_values(kind: &BlockKind) -> Vec<(&'static str, String)> {
    match kind {
        BlockKind::Image { url, alt_text, .. } | BlockKind::Video { url, alt_text, .. } => {
            vec![("url", url.clone()), ("altText", alt_text.clone())]
        }
        BlockKind::File { url, file_name, .. } => {
            vec![("url", url.clone()), ("fileName", file_name.clone())]
        }
        BlockKind::Drawing { url } | BlockKind::Whiteboard { url } => vec![("url", url.clone())],
        BlockKind::Code { raw_code, language, language_tag } => {
            let language =
                if *language == CodeLanguage::default() { "" } else { language.as_str() };
            let language = ("language", language.to_owned());
            vec![("rawCode", raw_code.clone()), language, ("languageTag", language_tag.clone())]
        }
        BlockKind::RichUrl { url, title, description, .. } => {
            vec![
                ("url", url.clone()),
                ("title", title.clone()),
                ("description", description.clone()),
            ]
        }
        BlockKind::Line { style } => {
            let style = if *style == LineStyle::default() { "" } else { style.as_str() };
            vec![("lineStyle", style.to_owned())]
        }
        _ => Vec::new(),
    }
}

/// Renders the markdown of a block without a text of its own.
pub(crate) fn render_text(data: &mut BlockData) {
    if !data.block_type().has_own_markdown() {
        data.markdown = markdown::render_block(data);
    }
}

/// Renders the markdown of all blocks without a text of their own, and returns the number of
/// blocks.
pub(crate) fn render_tree(block: &mut Block) -> usize {
    // An explicit stack: replies nest as deep as documents.
    let (mut waiting, mut count) = (vec![block], 0);
    while let Some(block) = waiting.pop() {
        count += 1;
        render_text(&mut block.data);
        if let Content::Blocks(children) = &mut block.content {
            waiting.extend(children);
        }
    }
    count
}
