//! Canonical form of the fields that markdown cannot keep byte for byte: tables, addresses, labels,
//! code and names of collections.

use std::borrow::Cow;

use leafbase_model::{BlockData, BlockKind, BlockType, TextRole};

use crate::cursor::trim;
use crate::escape::escape_tags;

/// Normalizes a block to the form that [`render`](crate::render) and [`parse`](crate::parse)
/// round-trip: tables, addresses, labels, line breaks of code and names of collections. Texts of
/// blocks and titles round-trip byte for byte and stay as they are. Idempotent.
///
/// ```
/// use leafbase_model::{BlockData, BlockKind};
///
/// let table = "\n|a|\n|-|".to_owned();
/// let mut data = BlockData { inline: table, ..BlockData::new(BlockKind::Table) };
/// leafbase_markdown::canonical(&mut data);
/// assert_eq!(data.inline, "|a|\n|-|");
/// ```
pub fn canonical(data: &mut BlockData) {
    let block_type = data.block_type();
    if !block_type.has_own_markdown() {
        return canonical_fields(data);
    }
    let changed = match block_type {
        BlockType::Table => crate::table::canonical(&data.inline),
        BlockType::Collection => canonical_inline(&data.inline),
        // Texts and titles are what their authors wrote, byte for byte.
        _ => return,
    };
    // A borrowed result is a slice of the text; with equal length it is the whole text.
    if matches!(changed, Cow::Owned(_)) || changed.len() < data.inline.len() {
        data.inline = changed.into_owned();
    }
}

fn canonical_fields(data: &mut BlockData) {
    // The URL of a drawing is not written by authors, and stays as it is.
    if matches!(data.kind, BlockKind::Drawing { .. } | BlockKind::Whiteboard { .. }) {
        return;
    }
    for (role, text) in data.texts_mut() {
        match role {
            TextRole::EmbedUrl | TextRole::LinkUrl | TextRole::Label | TextRole::CodeTag => {
                one_line(text);
            }
            TextRole::Code => {
                if text.contains('\r') {
                    *text = text.replace("\r\n", "\n").replace('\r', "\n");
                }
            }
            // Only items have properties, whose schema checks them.
            TextRole::Markdown | TextRole::Property => {}
        }
    }
    if let BlockKind::Code { language, language_tag, .. } = &mut data.kind {
        crate::code::settle(language, language_tag);
    }
}

fn one_line(text: &mut String) {
    let line = joined(text);
    if line != *text {
        *text = line.into_owned();
    }
}

/// The text on one line, without white space at the ends.
fn joined(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim_matches(|letter| matches!(letter, ' ' | '\t' | '\n' | '\r'));
    if memchr::memchr2(b'\n', b'\r', trimmed.as_bytes()).is_none() {
        return Cow::Borrowed(trimmed);
    }
    let lines = trimmed.split(['\n', '\r']).map(trim).filter(|line| !line.is_empty());
    let mut line = String::with_capacity(trimmed.len());
    for part in lines {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(part);
    }
    Cow::Owned(line)
}

/// Canonical form of inline markdown on one line, such as the title of a page.
///
/// ```
/// assert_eq!(leafbase_markdown::canonical_inline("Trip\nto </page>"), "Trip to \\</page>");
/// ```
pub fn canonical_inline(inline: &str) -> Cow<'_, str> {
    match joined(inline) {
        Cow::Borrowed(line) => escape_tags(line),
        Cow::Owned(line) => Cow::Owned(escape_tags(&line).into_owned()),
    }
}
