//! The block form of a text: the `markdown` of one block in requests and replies, with the markers
//! of its own, without indentation.
//!
//! Markers nest in the order quote, callout, list, task, heading or caption. A text without markers
//! keeps the blanks at its ends; after a marker they are written as references, as in a document.

use std::borrow::Cow;

use leafbase_model::{
    BlockData, BlockDraft, BlockKind, BlockType, Decorations, Error, Limits, ListStyle, Result,
    TaskState, TextStyle,
};

use crate::escape::ends_escaping;
use crate::line_starts;
use crate::list_marks;
use crate::parse::parse;
use crate::parsed::{EmptyFirstItem, ParseOptions};
use crate::single_block::write_lines;
use crate::slice;
use crate::text_context::TextContext;
use crate::text_escape::{escape_alone, escape_text, unescape_alone};

/// The markers of a text in block form. What has no marker is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextMarkers {
    /// The style of a heading or caption.
    pub style: Option<TextStyle>,
    /// The list style.
    pub list: Option<ListStyle>,
    /// The state of a task mark.
    pub state: Option<TaskState>,
    /// The decorations; absent without any.
    pub decorations: Option<Decorations>,
}

/// What a text in block form says.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockForm {
    /// The markers of the first block.
    pub markers: TextMarkers,
    /// The text of the first block: inline markdown.
    pub inline: String,
    /// Further blocks, in order.
    pub further: Vec<BlockData>,
}

/// The block form of a text. Other types, and texts whose block form is their inline markdown, are
/// borrowed.
///
/// ```
/// use leafbase_model::{BlockData, ListStyle};
///
/// let bullet = BlockData { list_style: ListStyle::Bullet, ..BlockData::text("socks") };
/// assert_eq!(leafbase_markdown::block_form(&bullet), "- socks");
/// assert_eq!(leafbase_markdown::block_form(&BlockData::text("# 7")), "\\# 7");
/// ```
pub fn block_form(data: &BlockData) -> Cow<'_, str> {
    let BlockKind::Text(look) = data.kind else { return Cow::Borrowed(&data.inline) };
    let has_style = !matches!(look.style, TextStyle::Body | TextStyle::Card | TextStyle::Page);
    if !has_style && data.list_style == ListStyle::None && data.decorations.is_empty() {
        return escape_alone(&data.inline);
    }
    let quote = if data.decorations.quote { "> " } else { "" };
    let callout = if data.decorations.callout { ["<callout>", "</callout>"] } else { [""; 2] };
    let (marker, columns) = match data.list_style {
        ListStyle::None => ("", ""),
        ListStyle::Bullet | ListStyle::Task => ("- ", "  "),
        ListStyle::Numbered => ("1. ", "   "),
        ListStyle::Toggle => ("+ ", "  "),
    };
    let task = data.task.filter(|_| data.list_style == ListStyle::Task);
    let style = if has_style { look.style } else { TextStyle::Body };
    let [open, close] = match style {
        TextStyle::H1 => ["# ", ""],
        TextStyle::H2 => ["## ", ""],
        TextStyle::H3 => ["### ", ""],
        TextStyle::H4 => ["#### ", ""],
        TextStyle::Caption => ["<caption>", "</caption>"],
        TextStyle::Body | TextStyle::Card | TextStyle::Page => [""; 2],
    };
    let text = escape_text(&data.inline, TextContext::of(data.list_style, style));
    let markers = [quote, callout[0], marker, task.map_or("", |task| task_mark(task.state)), open];
    let ends = [close, callout[1]];
    // As many bytes as a text of one line takes.
    let parts = markers.iter().chain(&ends);
    let bytes = parts.map(|part| part.len()).sum::<usize>() + text.len();
    let mut out = String::with_capacity(bytes);
    out.extend(markers);
    let prefix = match quote {
        "" => Cow::Borrowed(columns),
        _ => Cow::Owned([quote, columns].concat()),
    };
    write_lines(&mut out, &text, &prefix);
    if ends != [""; 2] && ends_escaping(&text) {
        out.push('\n');
        out.push_str(&prefix);
    }
    out.extend(ends);
    Cow::Owned(out)
}

/// The block form of a text without markers.
pub fn block_form_without_markers(inline: &str) -> Cow<'_, str> {
    escape_alone(inline)
}

/// The mark of a task, with the blank after it.
pub(crate) const fn task_mark(state: TaskState) -> &'static str {
    match state {
        TaskState::Todo => "[ ] ",
        TaskState::Done => "[x] ",
        TaskState::Canceled => "[-] ",
    }
}

/// Reads a text in block form. What it reads of the output of [`block_form`] are the markers and
/// the inline markdown of the block, byte for byte. A text that is a single block of another type,
/// such as a separator, is a text all the same.
///
/// ```
/// use leafbase_model::{Limits, TextStyle};
///
/// let form = leafbase_markdown::read_block_form("## Notes\n\n- discussed", &Limits::default())?;
/// assert_eq!((form.markers.style, form.inline.as_str()), (Some(TextStyle::H2), "Notes"));
/// assert_eq!(form.further.len(), 1);
/// # Ok::<(), leafbase_model::Error>(())
/// ```
///
/// # Errors
/// [`leafbase_model::ErrorKind::InvalidMarkdown`] for several blocks that a document could not
/// have, and [`leafbase_model::ErrorKind::LimitExceeded`].
pub fn read_block_form(text: &str, limits: &Limits) -> Result<BlockForm> {
    let alone = || BlockForm {
        markers: TextMarkers::default(),
        inline: unescape_alone(text).into_owned(),
        further: Vec::new(),
    };
    if may_be_plain(text) {
        return Ok(alone());
    }
    if let Some(markers) = markers_alone(text) {
        return Ok(BlockForm { markers, inline: String::new(), further: Vec::new() });
    }
    let core = text.trim_matches(|letter| matches!(letter, ' ' | '\t' | '\n' | '\r'));
    // The byte order mark of a document is none of a block.
    let document = if core.starts_with('\u{feff}') {
        Cow::Owned(format!("\u{feff}{core}"))
    } else {
        Cow::Borrowed(core)
    };
    let mut options = ParseOptions::default()
        .with_limits(limits.clone())
        .with_empty_first_item(EmptyFirstItem::Refuse);
    let is_text = |blocks: &[BlockDraft]| {
        blocks.first().is_some_and(|first| first.data.block_type() == BlockType::Text)
    };
    let mut blocks = parse(&document, &options)?.blocks;
    if blocks.len() == 1 && !is_text(&blocks) {
        // A link alone is a picture, file or rich link, but not as the text of a block.
        options.keeps_links = true;
        blocks = parse(&document, &options)?.blocks;
    }
    let Some(first) = blocks.first() else { return Ok(alone()) };
    let markers = markers_of(&first.data);
    if blocks.len() == 1 && (!is_text(&blocks) || markers == TextMarkers::default()) {
        return Ok(alone());
    }
    if !is_text(&blocks) {
        let message = format!(
            "of several blocks in one text, the first is of type {}: insert them as markdown",
            first.data.block_type()
        );
        return Err(Error::validation(message));
    }
    let mut further = Vec::with_capacity(blocks.len() - 1);
    for block in blocks.split_off(1) {
        let (data, content) = block.into_parts();
        if !content.is_empty() || data.block_type() == BlockType::Page {
            let message = "a page within the text of a block: insert it as markdown";
            return Err(Error::validation(message));
        }
        further.push(data);
    }
    let first = blocks.pop().map(BlockDraft::into_parts);
    let inline = first.map_or_else(String::new, |(data, _)| data.inline);
    Ok(BlockForm { markers, inline, further })
}

/// Fast path: one line that starts with a letter.
fn may_be_plain(text: &str) -> bool {
    text.chars().next().is_none_or(char::is_alphabetic)
        && memchr::memchr3(b'\n', b'\r', b'<', text.as_bytes()).is_none()
}

fn markers_of(data: &BlockData) -> TextMarkers {
    let style = data.text_format().map(|look| look.style);
    TextMarkers {
        style: style
            .filter(|style| !matches!(style, TextStyle::Body | TextStyle::Card | TextStyle::Page)),
        list: Some(data.list_style).filter(|list| *list != ListStyle::None),
        state: data.task.map(|task| task.state),
        decorations: Some(data.decorations).filter(|decorations| !decorations.is_empty()),
    }
}

/// The markers of a text that consists of them: the first item of a document could not be empty.
fn markers_alone(text: &str) -> Option<TextMarkers> {
    let is_blank = |letter| matches!(letter, ' ' | '\t' | '\n' | '\r');
    let mut rest = text.trim_matches(is_blank);
    let mut markers = TextMarkers::default();
    let mut decorations = Decorations::default();
    while let Some(inner) = rest.strip_prefix('>') {
        decorations.quote = true;
        rest = inner.trim_start_matches(is_blank);
    }
    if let Some(inner) = rest.strip_prefix("<callout>") {
        decorations.callout = true;
        rest = inner.strip_suffix("</callout>")?.trim_matches(is_blank);
    }
    if let Some(marker) = line_starts::marker(rest) {
        markers.list = Some(list_marks::style(marker));
        rest = slice::after(rest, marker.width).trim_start_matches(is_blank);
        if let Some((state, length)) = list_marks::task_mark(rest) {
            (markers.list, markers.state) = (Some(ListStyle::Task), Some(state));
            rest = slice::after(rest, length).trim_start_matches(is_blank);
        }
    }
    if let Some((level, length)) = line_starts::heading(rest) {
        markers.style = Some(match level {
            1 => TextStyle::H1,
            2 => TextStyle::H2,
            3 => TextStyle::H3,
            _ => TextStyle::H4,
        });
        rest = slice::after(rest, length).trim_start_matches(is_blank);
    } else if rest == "<caption></caption>" {
        markers.style = Some(TextStyle::Caption);
        rest = "";
    }
    markers.decorations = Some(decorations).filter(|decorations| !decorations.is_empty());
    (rest.is_empty() && markers != TextMarkers::default()).then_some(markers)
}
