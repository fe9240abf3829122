//! Canonical form of texts: whatever would parse as structure is escaped, so that a block
//! round-trips through markdown.

use std::borrow::Cow;

use leafbase_model::{BlockData, BlockKind, BlockType, ListStyle, TextRole, TextStyle};

use crate::cursor::{is_blank, trim, trim_end, trim_start};
use crate::escape::escape_tags;
use crate::line_starts::{self, RawHtml};
use crate::lone_link::sole;
use crate::slice;
use crate::tags::{self, Element};

/// Placeholder for an empty text where the syntax needs one: an HTML comment, invisible in every
/// markdown reader.
pub(crate) const NOTHING: &str = "<!-- -->";

/// Context of a text, which decides what in it would parse as structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextContext {
    pub(crate) list: ListStyle,
    pub(crate) style: TextStyle,
}

impl TextContext {
    fn is_heading(self) -> bool {
        matches!(self.style, TextStyle::H1 | TextStyle::H2 | TextStyle::H3 | TextStyle::H4)
    }

    /// Whether the tag at the start of `rest` would open an element. A title opens only within a
    /// page or card.
    fn opens(self, rest: &str) -> bool {
        let titled = matches!(self.style, TextStyle::Card | TextStyle::Page);
        tags::tag(rest).is_some_and(|tag| match tag.element {
            Element::Content => false,
            Element::Title => titled && !tag.closing,
            _ => !tag.closing,
        })
    }
}

/// Normalizes a block to its canonical form, which [`render`](crate::render) and
/// [`parse`](crate::parse) round-trip byte for byte. The meaning is kept: structure is escaped,
/// white space at the ends and blank lines are removed (for a text of several paragraphs see
/// [`split_paragraphs`](crate::split_paragraphs)). Idempotent.
///
/// ```
/// use leafbase_model::BlockData;
///
/// let mut data = BlockData::text("# no heading");
/// leafbase_markdown::canonical(&mut data);
/// assert_eq!(data.markdown, "\\# no heading");
/// ```
pub fn canonical(data: &mut BlockData) {
    let place = TextContext {
        list: data.list_style,
        style: data.text_format().map_or(TextStyle::Body, |look| look.style),
    };
    let block_type = data.block_type();
    if !block_type.has_own_markdown() {
        return canonical_fields(data);
    }
    let changed = match block_type {
        BlockType::Text => text(&data.markdown, place),
        BlockType::Table => crate::table::canonical(&data.markdown),
        _ => canonical_inline(&data.markdown),
    };
    // A borrowed result is a slice of the text; with equal length it is the whole text.
    if matches!(changed, Cow::Owned(_)) || changed.len() < data.markdown.len() {
        data.markdown = changed.into_owned();
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

/// Canonical form of a text block's markdown.
pub(crate) fn text(markdown: &str, place: TextContext) -> Cow<'_, str> {
    if place.is_heading() {
        return heading(markdown);
    }
    let shown = trim(markdown);
    if is_plain(shown) {
        return Cow::Borrowed(shown);
    }
    let lines = if shown.contains('\r') {
        Cow::Owned(shown.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(shown)
    };
    let mut escaped = escape_lines(trim(&lines), place);
    // The placeholder means an empty text. Storing it would add another one on the next pass.
    if escaped == NOTHING {
        escaped.clear();
    }
    // The comment keeps a text with a single link from parsing as a picture, file or rich link.
    if place.style == TextStyle::Body && stands_alone(&escaped, place.list) {
        escaped.push_str(NOTHING);
    }
    if escaped == markdown { Cow::Borrowed(markdown) } else { Cow::Owned(escaped) }
}

/// Fast path: one line that starts with a word and contains no character of any markup.
fn is_plain(text: &str) -> bool {
    let begins = text
        .chars()
        .next()
        // `h` may start a bare `https://` address, which would be a rich link.
        .is_none_or(|first| first.is_alphabetic() && !matches!(first, 'h' | 'H'));
    begins && memchr::memchr3(b'\n', b'\r', b'<', text.as_bytes()).is_none()
}

/// Whether a text would parse as a picture, file or rich link.
pub(crate) fn stands_alone(text: &str, list: ListStyle) -> bool {
    sole(text).is_some_and(|sole| sole.block(list != ListStyle::None).is_some())
}

fn heading(markdown: &str) -> Cow<'_, str> {
    let line = canonical_inline(markdown);
    let open = line.trim_end_matches('#');
    if open.len() == line.len() || !(open.is_empty() || open.ends_with([' ', '\t'])) {
        return line;
    }
    // Trailing `#`s would be taken for the closing sequence of the heading.
    let closing = slice::after(&line, open.len());
    Cow::Owned(format!("{open}\\{closing}"))
}

/// Escapes structure line by line. The state tracks how the parser would read each line.
fn escape_lines(text: &str, place: TextContext) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let (mut raw, mut html, mut last_line) = (None::<RawHtml>, false, 0);
    for line in text.split('\n').filter(|line| !is_blank(line)) {
        let first = out.is_empty();
        if !first {
            out.push('\n');
        }
        let start = out.len();
        let rest = trim_start(line);
        // Four columns of indentation cannot start a block within a paragraph.
        let indent = if first { 0 } else { push_indent(&mut out, line) };
        if raw.is_none() && indent < 4 {
            let above = slice::within(&out, last_line..start);
            let escaped =
                if first { at_start(rest, text, place) } else { within(rest, above, html, place) };
            match escaped {
                Some(Escape::Run) => push_escaped_run(&mut out, rest),
                Some(Escape::Behind(bytes)) => {
                    out.push_str(slice::before(rest, bytes));
                    out.push('\\');
                    out.push_str(&escape_tags(slice::after(rest, bytes)));
                }
                None => {
                    let rest = escape_tags(rest);
                    raw = line_starts::html(&rest, !first);
                    out.push_str(&rest);
                }
            }
        } else {
            out.push_str(&escape_tags(rest));
        }
        if raw.is_some_and(|raw| raw.ends_in(slice::after(&out, start))) {
            (raw, html) = (None, true);
        }
        last_line = start;
    }
    out.truncate(trim_end(&out).len());
    out
}

fn push_indent(out: &mut String, line: &str) -> usize {
    let before = out.len();
    crate::cursor::LineCursor::new(line).take_indent(out);
    out.len() - before
}

/// Position of the backslash.
enum Escape {
    /// Before each character of the run that starts the line.
    Run,
    /// After this many bytes.
    Behind(usize),
}

fn at_start(rest: &str, text: &str, place: TextContext) -> Option<Escape> {
    let task = place.list == ListStyle::Task;
    match rest.as_bytes().first()? {
        b'>' if !task => Some(Escape::Behind(0)),
        b'#' => line_starts::heading(rest).map(|_| Escape::Behind(0)),
        b'`' | b'~' => line_starts::fence(rest).map(|_| Escape::Run),
        b'$' => line_starts::formula(text).map(|_| Escape::Run),
        b'<' => place.opens(rest).then_some(Escape::Behind(0)),
        // After the item's own dash, the line would consist of dashes only: a separator.
        b'-' if place.list == ListStyle::Bullet
            && rest.len() > 1
            && line_starts::marks(rest) == rest.len() =>
        {
            Some(Escape::Behind(0))
        }
        b'[' if place.list != ListStyle::None && !task => {
            crate::list_marks::task_mark(rest).map(|_| Escape::Behind(0))
        }
        _ => separator_or_marker(rest, !task),
    }
}

fn separator_or_marker(rest: &str, list: bool) -> Option<Escape> {
    if line_starts::separator(rest).is_some() {
        return Some(Escape::Behind(0));
    }
    line_starts::marker(rest).filter(|_| list).map(|marker| Escape::Behind(marker.width - 1))
}

/// The structure that a line of a paragraph would start, below the line `above`.
fn within(rest: &str, above: &str, html: bool, place: TextContext) -> Option<Escape> {
    if line_starts::table_rule(rest).is_some_and(|count| count == line_starts::columns(above)) {
        return Some(Escape::Behind(0));
    }
    match rest.as_bytes().first()? {
        b'=' | b'-' if !html && line_starts::underline(rest).is_some() => Some(Escape::Behind(0)),
        b'`' | b'~' => line_starts::fence(rest).map(|_| Escape::Run),
        b'<' => place.opens(rest).then_some(Escape::Behind(0)),
        _ if !line_starts::interrupts(rest) => None,
        b'0'..=b'9' => Some(Escape::Behind(1)),
        _ => Some(Escape::Behind(0)),
    }
}

fn push_escaped_run(out: &mut String, rest: &str) {
    // Every character of the run is escaped: a shorter fence would remain otherwise.
    let mark = rest.chars().next().unwrap_or('`');
    let tail = rest.trim_start_matches(mark);
    for _ in 0..rest.len() - tail.len() {
        out.push('\\');
        out.push(mark);
    }
    out.push_str(&escape_tags(tail));
}
