//! Raw HTML blocks: what starts one and where it ends, and the tags of HTML.

use std::ops::Range;

use crate::cursor::{is_blank, trim_start};
use crate::slice;

/// The end of a raw HTML block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawHtml {
    /// A blank line.
    Blank,
    /// A line that contains this text: blank lines before it belong to the block.
    Line(&'static str),
    /// A line that closes `pre`, `script`, `style` or `textarea`, likewise.
    Verbatim,
}

impl RawHtml {
    /// Whether the block continues over blank lines.
    pub(crate) fn spans_blank_lines(self) -> bool {
        self != Self::Blank
    }

    /// Whether `line` is the last line of the block.
    pub(crate) fn ends_in(self, line: &str) -> bool {
        self.end(line).is_some()
    }

    /// Offset of the first text that ends the block.
    pub(crate) fn end(self, text: &str) -> Option<usize> {
        match self {
            Self::Blank => None,
            Self::Line(end) => text.find(end),
            Self::Verbatim => text
                .match_indices("</")
                .map(|(at, _)| at)
                .find(|at| VERBATIM.iter().any(|name| closes(slice::after(text, at + 2), name))),
        }
    }
}

/// Searches the ends of raw HTML blocks in one text, in linear time: an end that is missing after
/// an offset is missing after every later one.
#[derive(Debug)]
pub(crate) struct RawEnds<'t> {
    text: &'t str,
    missing: Vec<RawHtml>,
}

impl<'t> RawEnds<'t> {
    pub(crate) const fn of(text: &'t str) -> Self {
        Self { text, missing: Vec::new() }
    }

    /// Offset of the end of `raw` at or after `from`. The offsets of the calls do not decrease.
    pub(crate) fn end(&mut self, raw: RawHtml, from: usize) -> Option<usize> {
        if self.missing.contains(&raw) {
            return None;
        }
        let end = raw.end(slice::after(self.text, from)).map(|end| from + end);
        if end.is_none() {
            self.missing.push(raw);
        }
        end
    }
}

const VERBATIM: [&str; 4] = ["pre", "script", "style", "textarea"];

/// Whether `name` and the end of a tag follow `</`.
fn closes(behind: &str, name: &str) -> bool {
    starts_with(behind, name) && behind.as_bytes().get(name.len()) == Some(&b'>')
}

fn starts_with(text: &str, name: &str) -> bool {
    text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
}

/// Names of HTML block elements (`CommonMark` 0.31, "HTML blocks", condition 6).
const BLOCK_ELEMENTS: [&str; 62] = [
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

/// The raw HTML block that a line starts. A line with any other single tag cannot interrupt a
/// paragraph.
pub(crate) fn html(rest: &str, in_paragraph: bool) -> Option<RawHtml> {
    let tail = rest.strip_prefix('<')?;
    match tail.as_bytes().first()? {
        b'!' if tail.starts_with("!--") => return Some(RawHtml::Line("-->")),
        b'!' if tail.starts_with("![CDATA[") => return Some(RawHtml::Line("]]>")),
        b'!' if tail.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic) => {
            return Some(RawHtml::Line(">"));
        }
        b'?' => return Some(RawHtml::Line("?>")),
        _ => {}
    }
    let (closing, name_on) = match tail.strip_prefix('/') {
        Some(tail) => (true, tail),
        None => (false, tail),
    };
    let length =
        name_on.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
    let (name, after) = name_on.split_at_checked(length)?;
    if !name.as_bytes().first()?.is_ascii_alphabetic() {
        return None;
    }
    let ends = matches!(after.as_bytes().first(), None | Some(b' ' | b'\t' | b'>'));
    if ends && !closing && VERBATIM.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return Some(RawHtml::Verbatim);
    }
    if (ends || after.starts_with("/>"))
        && BLOCK_ELEMENTS.iter().any(|known| known.eq_ignore_ascii_case(name))
    {
        return Some(RawHtml::Blank);
    }
    // A highlight is always inline markup.
    let alone = !in_paragraph
        && name != "highlight"
        && !VERBATIM.iter().any(|known| known.eq_ignore_ascii_case(name));
    (alone && is_lone_tag(after, closing)).then_some(RawHtml::Blank)
}

/// Whether `after`, the text after a tag's name, completes the tag and nothing follows.
fn is_lone_tag(after: &str, closing: bool) -> bool {
    behind_tag(after, closing).is_some_and(is_blank)
}

/// The text after a tag; `after` follows its name.
fn behind_tag(after: &str, closing: bool) -> Option<&str> {
    if closing {
        return trim_start(after).strip_prefix('>');
    }
    let mut rest = after;
    loop {
        let next = trim_start(rest);
        if let Some(behind) = next.strip_prefix("/>").or_else(|| next.strip_prefix('>')) {
            return Some(behind);
        }
        if next.len() == rest.len() {
            return None;
        }
        rest = attribute(next)?;
    }
}

/// Length in bytes of the HTML tag at the start of `rest`.
pub(crate) fn tag_length(rest: &str) -> Option<usize> {
    let tail = rest.strip_prefix('<')?;
    let (closing, name_on) = match tail.strip_prefix('/') {
        Some(tail) => (true, tail),
        None => (false, tail),
    };
    if !name_on.as_bytes().first()?.is_ascii_alphabetic() {
        return None;
    }
    let length =
        name_on.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
    Some(rest.len() - behind_tag(name_on.get(length..)?, closing)?.len())
}

/// The text after an attribute of a tag.
fn attribute(text: &str) -> Option<&str> {
    let first = *text.as_bytes().first()?;
    if !(first.is_ascii_alphabetic() || matches!(first, b'_' | b':')) {
        return None;
    }
    let name = text
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(byte))
        .count();
    let behind = text.get(name..)?;
    let Some(value) = trim_start(behind).strip_prefix('=') else { return Some(behind) };
    let value = trim_start(value);
    let first = *value.as_bytes().first()?;
    if matches!(first, b'"' | b'\'') {
        let inner = value.get(1..)?;
        return inner.get(memchr::memchr(first, inner.as_bytes())? + 1..);
    }
    let length = value.bytes().take_while(|byte| !b" \t\n\"'=<>`".contains(byte)).count();
    value.get(length..).filter(|_| length > 0)
}

/// Receives the name of an attribute, the range of its value, and the quote around that.
type VisitAttribute<'v> = dyn FnMut(&str, Range<usize>, Option<char>) + 'v;

/// Names of a tag's attributes, and their values with their quotes. The syntax of the tag was
/// validated when it was found.
pub(crate) fn attributes(tag: &str, visit: &mut VisitAttribute<'_>) {
    let is_space = |letter: char| letter.is_ascii_whitespace() || letter == '/';
    let start = |text: &str| tag.len() - text.len();
    let mut rest = tag.trim_start_matches(|letter: char| !letter.is_ascii_whitespace());
    loop {
        rest = rest.trim_start_matches(is_space);
        let name_end = rest
            .find(|letter: char| is_space(letter) || matches!(letter, '=' | '>'))
            .unwrap_or(rest.len());
        if name_end == 0 {
            return;
        }
        let (name, behind) = (slice::before(rest, name_end), slice::after(rest, name_end));
        let Some(value) = behind.trim_ascii_start().strip_prefix('=').map(str::trim_ascii_start)
        else {
            rest = behind;
            continue;
        };
        let quote = value.chars().next().filter(|letter| matches!(letter, '"' | '\''));
        let value = if quote.is_some() { slice::after(value, 1) } else { value };
        let ends = |letter: char| match quote {
            Some(quote) => letter == quote,
            None => letter.is_ascii_whitespace() || letter == '>',
        };
        let length = value.find(ends).unwrap_or(value.len());
        visit(name, start(value)..start(value) + length, quote);
        rest = slice::after(value, length + usize::from(quote.is_some()));
    }
}

/// Escapes an address for an attribute with any quotes or without.
pub(crate) fn write_attribute(out: &mut String, address: &str) {
    for letter in address.chars() {
        if letter <= ' ' || matches!(letter, '"' | '\'' | '&' | '<' | '>' | '=' | '`' | '\\') {
            out.extend(["&#", &u32::from(letter).to_string(), ";"]);
        } else {
            out.push(letter);
        }
    }
}
