//! Tags with structure (pages, cards, callouts, captions), and the colors of highlights.

use std::str::FromStr;

use leafbase_model::{CardLayout, Color, TextStyle};

use crate::cursor::trim_start;
use crate::slice;

/// An element of the dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Page,
    Card,
    Title,
    Content,
    Callout,
    Caption,
}

impl Element {
    const ALL: [(&'static str, Self); 6] = [
        ("page", Self::Page),
        ("card", Self::Card),
        ("pageTitle", Self::Title),
        ("content", Self::Content),
        ("callout", Self::Callout),
        ("caption", Self::Caption),
    ];

    /// Name of its tag.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Card => "card",
            Self::Title => "pageTitle",
            Self::Content => "content",
            Self::Callout => "callout",
            Self::Caption => "caption",
        }
    }
}

/// A tag of the dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag<'t> {
    pub(crate) element: Element,
    pub(crate) closing: bool,
    /// Length in bytes.
    pub(crate) length: usize,
    attributes: &'t str,
}

/// The tag at the start of `rest`.
pub(crate) fn tag(rest: &str) -> Option<Tag<'_>> {
    tag_behind(rest.strip_prefix('<')?)
}

/// The tag whose `<` is before `behind`.
pub(crate) fn tag_behind(behind: &str) -> Option<Tag<'_>> {
    let tail = behind;
    let (closing, tail) = match tail.strip_prefix('/') {
        Some(tail) => (true, tail),
        None => (false, tail),
    };
    let letters = tail.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (name, after) = tail.split_at_checked(letters)?;
    let (_, element) = Element::ALL.iter().find(|(known, _)| *known == name)?;
    let inner = match after.as_bytes().first()? {
        b'>' => 0,
        b' ' | b'\t' => tag_end(after)?,
        _ => return None,
    };
    let attributes = after.get(..inner)?;
    let length = 1 + behind.len() - after.len() + inner + 1;
    debug_assert!(length <= behind.len() + 1, "a tag of {length} bytes ends within {behind:?}");
    (!closing || trim_start(attributes).is_empty()).then_some(Tag {
        element: *element,
        closing,
        length,
        attributes,
    })
}

/// Tags of a text, scanned once before parsing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TagPresence {
    /// Whether it contains tags of the dialect.
    pub(crate) tags: bool,
    /// Whether it contains highlights.
    pub(crate) highlights: bool,
    /// Offsets of the last closing tags of page, card, callout and caption.
    last: [Option<usize>; 4],
}

impl TagPresence {
    const fn place(element: Element) -> Option<usize> {
        match element {
            Element::Page => Some(0),
            Element::Card => Some(1),
            Element::Callout => Some(2),
            Element::Caption => Some(3),
            Element::Title | Element::Content => None,
        }
    }

    /// Offset of the last closing tag of a top-level element.
    pub(crate) fn last_close(&self, element: Element) -> Option<usize> {
        Self::place(element).and_then(|place| self.last.get(place).copied().flatten())
    }
}

/// Scans `text` for tags.
pub(crate) fn present(text: &str) -> TagPresence {
    let mut present = TagPresence::default();
    for at in memchr::memchr_iter(b'<', text.as_bytes()) {
        let rest = slice::after(text, at);
        // Two bytes exclude most tags of HTML before a name is compared.
        let may_be_tag =
            matches!(rest.as_bytes(), [_, b'/', b'p' | b'c', ..] | [_, b'p' | b'c' | b'h', ..]);
        present.highlights |= may_be_tag && rest.starts_with("<highlight");
        let tag = if may_be_tag { tag(rest) } else { None };
        present.tags |= tag.is_some();
        if let Some(tag) = tag
            && tag.closing
            && let Some(last) =
                TagPresence::place(tag.element).and_then(|place| present.last.get_mut(place))
        {
            *last = Some(at);
        }
    }
    present
}

/// Offset of the `>` of a tag outside of quotes. A tag contains no line break and no `<`.
fn tag_end(after: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in after.bytes().enumerate() {
        match (byte, quote) {
            (b'\n', _) | (b'<', None) => return None,
            (b'>', None) => return Some(at),
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    None
}

impl<'t> Tag<'t> {
    fn attribute(&self, name: &str) -> Option<&'t str> {
        attribute(self.attributes, name)
    }

    /// Value of `textStyle`.
    pub(crate) fn style(&self) -> Option<TextStyle> {
        self.attribute("textStyle").and_then(|value| TextStyle::from_str(value).ok())
    }

    /// Value of `cardLayout`.
    pub(crate) fn card_layout(&self) -> Option<CardLayout> {
        self.attribute("cardLayout").and_then(|value| CardLayout::from_str(value).ok())
    }
}

impl Tag<'_> {
    /// Name of an attribute with an unknown value.
    pub(crate) fn unread(&self) -> Option<&'static str> {
        let style = self.attribute("textStyle").is_some() && self.style().is_none();
        let layout = self.attribute("cardLayout").is_some() && self.card_layout().is_none();
        style.then_some("textStyle").or(layout.then_some("cardLayout"))
    }
}

/// The value of the attribute `name`, in single quotes, double quotes or none.
fn attribute<'t>(attributes: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = trim_start(attributes);
    while !rest.is_empty() {
        // Name up to the equals sign; a name without value is skipped below.
        let length = rest.find(['=', ' ', '\t']).unwrap_or(rest.len());
        let (found, after) = rest.split_at_checked(length)?;
        let Some(value) = trim_start(after).strip_prefix('=').map(trim_start) else {
            // An attribute without value: continue at least one character further.
            rest = trim_start(after);
            continue;
        };
        let (value, behind) = match value.as_bytes().first() {
            Some(quote @ (b'"' | b'\'')) => value.get(1..)?.split_once(char::from(*quote))?,
            _ => value.split_at_checked(value.find([' ', '\t']).unwrap_or(value.len()))?,
        };
        if found == name {
            return Some(value);
        }
        rest = trim_start(behind);
    }
    None
}

/// Longest backtick run that opens a code span where tags are scanned. The bound keeps the search
/// linear: each length fails at most once per line.
const LONGEST_RUN: usize = 32;

/// Visits each `<` of `line` that is neither escaped nor in a code span, until `visit` returns
/// false.
pub(crate) fn each_bracket(line: &str, mut visit: impl FnMut(usize) -> bool) {
    let bytes = line.as_bytes();
    let mut at = 0;
    while let Some(found) =
        bytes.get(at..).and_then(|rest| memchr::memchr3(b'<', b'`', b'\\', rest))
    {
        at += found;
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'`') => at = behind_code_of_line(bytes, at),
            _ => {
                if !visit(at) {
                    return;
                }
                at += 1;
            }
        }
    }
}

/// Offset after the code span that opens at `at`, or after its backticks if it is never closed.
pub(crate) fn behind_code(bytes: &[u8], at: usize) -> usize {
    let run = run_of_backticks(bytes, at);
    let open_end = at + run;
    if run > LONGEST_RUN {
        return open_end;
    }
    let mut from = open_end;
    while let Some(found) = bytes.get(from..).and_then(|rest| memchr::memchr(b'`', rest)) {
        let close = from + found;
        let length = run_of_backticks(bytes, close);
        from = close + length;
        if length == run {
            return from;
        }
    }
    open_end
}

/// [`behind_code`] in a line, which a line break in its written form ends: none goes over lines.
pub(crate) fn behind_code_of_line(bytes: &[u8], at: usize) -> usize {
    let end = behind_code(bytes, at);
    let code = bytes.get(at..end).unwrap_or_default();
    if [b"&#10;", b"&#13;"].iter().any(|form| memchr::memmem::find(code, *form).is_some()) {
        return at + run_of_backticks(bytes, at);
    }
    end
}

fn run_of_backticks(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).map_or(0, |rest| rest.iter().take_while(|byte| **byte == b'`').count())
}

/// Length of the highlight tag at the start of `rest`, and whether its color is known.
pub(crate) fn highlight(rest: &str) -> Option<(usize, bool)> {
    highlight_behind(rest.strip_prefix('<')?)
}

/// The highlight whose `<` is before `behind`, as [`highlight`]. A tag with a reference in it is
/// none: it may be a line break in its written form, and a tag over two lines is none either.
pub(crate) fn highlight_behind(behind: &str) -> Option<(usize, bool)> {
    let after = behind.strip_prefix("highlight")?;
    let inner = match after.as_bytes().first()? {
        b'>' => 0,
        b' ' | b'\t' => tag_end(after)?,
        _ => return None,
    };
    let attributes = after.get(..inner).filter(|inner| !inner.contains('&'))?;
    let color = attribute(attributes, "color");
    Some((1 + behind.len() - after.len() + inner + 1, color.is_none_or(is_highlight_color)))
}

fn is_highlight_color(color: &str) -> bool {
    const PLAIN: [&str; 9] =
        ["yellow", "green", "mint", "cyan", "blue", "purple", "pink", "red", "gray"];
    const GRADIENTS: [&str; 5] = ["blue", "purple", "red", "yellow", "brown"];
    match color.strip_prefix("gradient-") {
        Some(gradient) => GRADIENTS.contains(&gradient),
        None => color.is_empty() || PLAIN.contains(&color) || Color::from_str(color).is_ok(),
    }
}
