//! The canonical form of a text: what would read as structure is escaped, so that a block rendered
//! and read again is the same.

use std::borrow::Cow;

use leafbase_model::{BlockData, BlockKind, ListStyle, TextStyle};

use crate::cursor::{is_blank, trim, trim_end, trim_start};
use crate::escape::escape_tags;
use crate::line_starts::{self, RawHtml};
use crate::lone_link::sole;
use crate::slice;
use crate::tags::{self, Element};

/// What stands for a text that is empty, where something must stand: a comment, which no reader of
/// markdown shows.
pub(crate) const NOTHING: &str = "<!-- -->";

/// Where a text stands, which decides what in it would read as structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextContext {
    pub(crate) list: ListStyle,
    pub(crate) style: TextStyle,
}

impl TextContext {
    fn is_heading(self) -> bool {
        matches!(self.style, TextStyle::H1 | TextStyle::H2 | TextStyle::H3 | TextStyle::H4)
    }

    /// Whether the tag that `rest` begins with would open something. A title does where a page or a
    /// card is open.
    fn opens(self, rest: &str) -> bool {
        let titled = matches!(self.style, TextStyle::Card | TextStyle::Page);
        tags::tag(rest).is_some_and(|tag| match tag.element {
            Element::Content => false,
            Element::Title => titled && !tag.closing,
            _ => !tag.closing,
        })
    }
}

/// Brings what `data` says into the form that [`render`](crate::render) and [`parse`](crate::parse)
/// keep to the byte. The meaning stays: what would read as structure is escaped, white space at the
/// ends and blank lines within go (see [`split_paragraphs`](crate::split_paragraphs) for a text of
/// several paragraphs). Doing it twice changes nothing more.
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
    let changed = match &mut data.kind {
        BlockKind::Text(_) => text(&data.markdown, place),
        BlockKind::Page(_) | BlockKind::CollectionItem { .. } | BlockKind::Collection => {
            canonical_inline(&data.markdown)
        }
        BlockKind::Table => crate::table::canonical(&data.markdown),
        kind => return canonical_fields(kind),
    };
    // What is borrowed is part of the text: of the same length, it is all of it.
    if matches!(changed, Cow::Owned(_)) || changed.len() < data.markdown.len() {
        data.markdown = changed.into_owned();
    }
}

fn canonical_fields(kind: &mut BlockKind) {
    match kind {
        BlockKind::Image { url, alt_text: label, .. }
        | BlockKind::Video { url, alt_text: label, .. }
        | BlockKind::File { url, file_name: label, .. } => {
            one_line(url);
            one_line(label);
        }
        BlockKind::RichUrl { url, title, description, .. } => {
            one_line(url);
            one_line(title);
            one_line(description);
        }
        BlockKind::Code { raw_code, language, language_tag } => {
            if raw_code.contains('\r') {
                *raw_code = raw_code.replace("\r\n", "\n").replace('\r', "\n");
            }
            one_line(language_tag);
            crate::code::settle(language, language_tag);
        }
        _ => {}
    }
}

fn one_line(text: &mut String) {
    let line = joined(text);
    if line != *text {
        *text = line.into_owned();
    }
}

/// In one line, without white space at the ends.
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

/// The canonical form of inline markdown that stands in one line, such as the title of a page.
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

/// The canonical form of a text block's markdown.
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
    if escaped == NOTHING {
        escaped.clear();
    }
    if place.style == TextStyle::Body && stands_alone(&escaped, place.list) {
        escaped.push_str(NOTHING);
    }
    if escaped == markdown { Cow::Borrowed(markdown) } else { Cow::Owned(escaped) }
}

/// Whether a text is one line that begins with a word and holds nothing that could be structure:
/// most are.
fn is_plain(text: &str) -> bool {
    let begins = text
        .chars()
        .next()
        .is_none_or(|first| first.is_alphabetic() && !matches!(first, 'h' | 'H'));
    begins && memchr::memchr3(b'\n', b'\r', b'<', text.as_bytes()).is_none()
}

/// Whether a text would be read as the picture, file or rich link that is all of it.
pub(crate) fn stands_alone(text: &str, list: ListStyle) -> bool {
    sole(text).is_some_and(|sole| sole.block(list != ListStyle::None).is_some())
}

fn heading(markdown: &str) -> Cow<'_, str> {
    let line = canonical_inline(markdown);
    let open = line.trim_end_matches('#');
    if open.len() == line.len() || !(open.is_empty() || open.ends_with([' ', '\t'])) {
        return line;
    }
    let closing = slice::after(&line, open.len());
    Cow::Owned(format!("{open}\\{closing}"))
}

/// Escapes what would read as structure, line by line; the state follows what reading would make of
/// each line.
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

/// Where a backslash is due.
enum Escape {
    /// Before each letter of the run that the line begins with.
    Run,
    /// Behind so many bytes.
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
        // Behind the bullet's own dash the line would be nothing but dashes.
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

/// What a line that stands in a paragraph, below the line `above`, would begin.
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
    let mark = rest.chars().next().unwrap_or('`');
    let tail = rest.trim_start_matches(mark);
    for _ in 0..rest.len() - tail.len() {
        out.push('\\');
        out.push(mark);
    }
    out.push_str(&escape_tags(tail));
}
