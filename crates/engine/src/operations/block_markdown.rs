//! The `markdown` of block types without a text of their own is rendered from their other fields:
//! replies contain it, and a request may give it instead of them, or send it back unchanged.

use std::borrow::Cow;

use leafbase_markdown as markdown;
use leafbase_model::{Block, BlockData, BlockFields, BlockKind, BlockType, Content, Error, Result};

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
                format!("also determines {name}, and differs from the block: give one of them");
            Err(Error::validation(message).at("markdown"))
        }
    }
}

/// The first given field that the markdown of a block of this type denotes.
fn denoted_field(fields: &BlockFields, block_type: BlockType) -> Option<&'static str> {
    let kind = BlockKind::empty(block_type);
    kind.rendered_fields().map(|(name, _)| name).find(|name| fields.gives(name))
}

/// Parses the `markdown` of a new block into the fields that it denotes.
///
/// # Errors
/// [`crate::ErrorKind::InvalidMarkdown`] if it is not the markdown of such a block, and
/// [`crate::ErrorKind::Validation`] if one of those fields is given with another value.
pub(crate) fn parse_fields(data: &mut BlockData) -> Result<()> {
    // Rendered without the given text: equal markdown is a reply that is sent back.
    let text = std::mem::take(&mut data.inline);
    markdown::canonical(data);
    if text == markdown::render_block(data) {
        return Ok(());
    }
    let given = data.kind.clone();
    data.inline = text;
    markdown::read_block(data)?;
    markdown::canonical(data);
    debug_assert_eq!(
        given.block_type(),
        data.block_type(),
        "parsing markdown keeps the type of a block"
    );
    if let (
        BlockKind::RichUrl { title: given_title, description: given_description, .. },
        BlockKind::RichUrl { title, description, .. },
    ) = (&given, &mut data.kind)
    {
        // Other programs derive the link from its label alone: fields of the request win over it.
        for (given, read) in [(given_title, title), (given_description, description)] {
            if !given.is_empty() {
                read.clone_from(given);
            }
        }
    }
    // Fields left at their default may be given by the markdown alone.
    let mut fields = given.rendered_fields().zip(data.kind.rendered_fields());
    match fields.find(|((_, given), (_, read))| !given.is_empty() && given != read) {
        None => Ok(()),
        Some(((name, _), _)) => {
            Err(Error::validation(format!("differs from {name}: give one of them")).at("markdown"))
        }
    }
}

/// Renders the markdown of a block without a text of its own.
pub(crate) fn render_text(data: &mut BlockData) {
    if !data.block_type().has_own_markdown() {
        data.inline = markdown::render_block(data);
    }
}

/// The block form of a text, where it differs from its inline markdown.
pub(crate) fn block_form(data: &BlockData) -> Option<Box<str>> {
    if data.block_type() != BlockType::Text {
        return None;
    }
    match markdown::block_form(data) {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text.into_boxed_str()),
    }
}

/// Adds the plain text of texts and titles.
pub(crate) fn show_plain_text(block: &mut Block) {
    let mut waiting = vec![block];
    while let Some(block) = waiting.pop() {
        if block.data.block_type().has_inline_text() {
            let plain = markdown::PlainText::of(&block.data.inline);
            block.plain = Some(plain.into_string().into_boxed_str());
        }
        if let Content::Blocks(children) = &mut block.content {
            waiting.extend(children);
        }
    }
}

/// Renders the markdown of all blocks: of texts the block form, of blocks without a text of their
/// own what their fields say. Returns the number of blocks.
pub(crate) fn render_tree(block: &mut Block) -> usize {
    // An explicit stack: replies nest as deep as documents.
    let (mut waiting, mut count) = (vec![block], 0);
    while let Some(block) = waiting.pop() {
        count += 1;
        render_text(&mut block.data);
        block.block_form = block_form(&block.data);
        if let Content::Blocks(children) = &mut block.content {
            waiting.extend(children);
        }
    }
    count
}
