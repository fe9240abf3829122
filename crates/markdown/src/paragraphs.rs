//! Division of a text with several paragraphs into blocks.

use leafbase_model::{BlockData, BlockKind, Limits, ListStyle, TextFormat, TextStyle};

use crate::cursor::{is_blank, trim};

/// Splits a text block at the blank lines of its markdown. The first part keeps the block's kind;
/// the others are texts with the same format, color and decorations: body text below a heading, and
/// one level deeper below a list item. Every other block, and a text with a single paragraph, is
/// returned unchanged.
///
/// ```
/// use leafbase_model::BlockData;
///
/// let parts = leafbase_markdown::split_paragraphs(BlockData::text("one\n\ntwo"));
/// assert_eq!(parts, [BlockData::text("one"), BlockData::text("two")]);
/// ```
pub fn split_paragraphs(data: BlockData) -> Vec<BlockData> {
    let BlockKind::Text(look) = data.kind else { return vec![data] };
    if !holds_blank_line(&data.markdown) {
        return vec![data];
    }
    let paragraphs = paragraphs(&data.markdown);
    let following = BlockData {
        kind: BlockKind::Text(TextFormat { style: style_below(look.style), ..look }),
        markdown: String::new(),
        indentation: match data.list_style {
            ListStyle::None => data.indentation,
            _ => (data.indentation + 1).min(Limits::INDENTATION),
        },
        list_style: ListStyle::None,
        color: data.color,
        task: None,
        decorations: data.decorations,
    };
    let mut parts = Vec::with_capacity(paragraphs.len().max(1));
    let mut texts = paragraphs.into_iter();
    parts.push(BlockData { markdown: texts.next().unwrap_or_default(), ..data });
    parts.extend(texts.map(|markdown| BlockData { markdown, ..following.clone() }));
    parts
}

const fn style_below(style: TextStyle) -> TextStyle {
    match style {
        TextStyle::H1 | TextStyle::H2 | TextStyle::H3 | TextStyle::H4 => TextStyle::Body,
        style => style,
    }
}

fn holds_blank_line(text: &str) -> bool {
    let mut lines = text.lines();
    lines.next();
    lines.any(is_blank)
}

fn paragraphs(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut paragraph = String::new();
    for line in text.lines() {
        if is_blank(line) {
            take(&mut paragraph, &mut found);
            continue;
        }
        if !paragraph.is_empty() {
            paragraph.push('\n');
        }
        paragraph.push_str(line);
    }
    take(&mut paragraph, &mut found);
    found
}

fn take(paragraph: &mut String, into: &mut Vec<String>) {
    if !paragraph.is_empty() {
        into.push(trim(paragraph).to_owned());
        paragraph.clear();
    }
}
