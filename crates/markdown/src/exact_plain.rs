//! The plain text of a block, exact: what a reader sees of its inline markdown, every blank and
//! line break included, with the offsets of both.
//!
//! Previews and search use [`plain_text`](crate::plain_text), which joins lines.

use std::cmp::Reverse;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::plain_text::is_plain;
use crate::slice;

/// The plain text of a block, and where each part of it is in the inline markdown.
///
/// ```
/// let plain = leafbase_markdown::PlainText::of("a **b** &amp; c ");
/// assert_eq!(plain.as_str(), "a b & c ");
/// assert_eq!((plain.to_inline(2), plain.to_plain(4)), (4, 2));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainText {
    text: String,
    /// Parts in the order of the text, which they cover.
    parts: Vec<PlainPart>,
    /// By start, outer ones first.
    marks: Vec<InlineMark>,
    /// Length of the inline markdown in bytes.
    inline: usize,
}

/// A marked part of a plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InlineMark {
    /// Its bytes in the plain text; empty only for a link or a picture without a text.
    pub range: Range<usize>,
    /// How it is marked.
    pub kind: InlineMarkKind,
}

/// How a part of a text is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InlineMarkKind {
    /// `**strong**`, mostly shown bold.
    Strong,
    /// `*emphasis*`, mostly shown in italics.
    Emphasis,
    /// `~~struck through~~`.
    Strikethrough,
    /// `` `code` ``.
    Code,
    /// The text of a link.
    Link,
    /// The description of a picture.
    Picture,
    /// `<highlight color="yellow">highlighted</highlight>`.
    Highlight,
}

impl InlineMarkKind {
    fn of(tag: &Tag<'_>) -> Option<Self> {
        Some(match tag {
            Tag::Strong => Self::Strong,
            Tag::Emphasis => Self::Emphasis,
            Tag::Strikethrough => Self::Strikethrough,
            Tag::Link { .. } => Self::Link,
            Tag::Image { .. } => Self::Picture,
            _ => return None,
        })
    }
}

/// A part of a plain text: bytes of the markdown, or what stands for them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PlainPart {
    /// Offset in the plain text.
    start: usize,
    /// Where it is in the markdown.
    inline: Range<usize>,
    /// Whether the bytes are the same in both.
    is_same: bool,
}

/// Sentinel for line breaks, and at both ends of the text: white space that ends no line.
const FRAME: char = '\u{2028}';

impl PlainText {
    /// The plain text of `inline`: links become their label, pictures their description, tags
    /// disappear, escapes and references are what they denote. Line breaks and blanks stay.
    pub fn of(inline: &str) -> Self {
        let mut plain = Self { inline: inline.len(), ..Self::default() };
        if is_plain_in_lines(inline) {
            plain.push_same(inline, 0..inline.len());
            return plain;
        }
        let framed = Framed::of(inline);
        let parser = Parser::new_ext(&framed.text, Options::ENABLE_STRIKETHROUGH);
        let mut open = Vec::new();
        for (event, range) in parser.into_offset_iter() {
            match event {
                Event::Start(tag) => {
                    let kind = InlineMarkKind::of(&tag);
                    open.extend(kind.map(|kind| (kind, plain.text.len())));
                }
                Event::End(
                    TagEnd::Strong
                    | TagEnd::Emphasis
                    | TagEnd::Strikethrough
                    | TagEnd::Link
                    | TagEnd::Image,
                ) => {
                    // Highlights may end elsewhere than the marks around them.
                    let last =
                        open.iter().rposition(|(kind, _)| *kind != InlineMarkKind::Highlight);
                    plain.close(&mut open, last);
                }
                Event::InlineHtml(tag) if tag.starts_with("<highlight") => {
                    open.push((InlineMarkKind::Highlight, plain.text.len()));
                }
                Event::InlineHtml(tag) if tag.starts_with("</highlight") => {
                    let last =
                        open.iter().rposition(|(kind, _)| *kind == InlineMarkKind::Highlight);
                    plain.close(&mut open, last);
                }
                Event::Text(text) if framed.text.get(range.clone()) == Some(&*text) => {
                    plain.push_same(inline, framed.original(range));
                }
                Event::Text(text) => plain.push_other(&text, framed.original(range)),
                Event::Code(code) => {
                    let (whole, start) = (framed.original(range), plain.text.len());
                    match code_content(inline, whole.clone(), code.chars().count()) {
                        Some(content) => plain.push_same(inline, content),
                        None => plain.push_other(&code, whole),
                    }
                    plain.mark(InlineMarkKind::Code, start);
                }
                Event::SoftBreak | Event::HardBreak => {
                    plain.push_other("\n", framed.original(range));
                }
                Event::InlineHtml(tag) if tag.starts_with("<br") => {
                    plain.push_other("\n", framed.original(range));
                }
                _ => {}
            }
        }
        // Of equal ones the outer one ends last. The sort is stable.
        plain.marks.reverse();
        plain.marks.sort_by_key(|mark| (mark.range.start, Reverse(mark.range.end)));
        plain
    }

    /// Marks the text from an offset to its present end.
    fn mark(&mut self, kind: InlineMarkKind, start: usize) {
        let may_be_empty = matches!(kind, InlineMarkKind::Link | InlineMarkKind::Picture);
        if start < self.text.len() || may_be_empty {
            self.marks.push(InlineMark { range: start..self.text.len(), kind });
        }
    }

    /// Ends an open mark.
    fn close(&mut self, open: &mut Vec<(InlineMarkKind, usize)>, index: Option<usize>) {
        if let Some(index) = index.filter(|index| *index < open.len()) {
            let (kind, start) = open.remove(index);
            self.mark(kind, start);
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The marked parts of the text, by start; of two that start together the outer one first.
    ///
    /// ```
    /// use leafbase_markdown::{InlineMarkKind, PlainText};
    /// let plain = PlainText::of("a **b `c`** d");
    /// let [strong, code] = plain.marks() else { panic!("two marks") };
    /// assert_eq!((strong.range.clone(), strong.kind), (2..5, InlineMarkKind::Strong));
    /// assert_eq!((code.range.clone(), code.kind), (4..5, InlineMarkKind::Code));
    /// assert_eq!(plain.as_str(), "a b c d");
    /// ```
    pub fn marks(&self) -> &[InlineMark] {
        &self.marks
    }

    /// Whether a part of the range, in bytes of the text, is in a link or a picture.
    pub fn is_linked(&self, range: &Range<usize>) -> bool {
        self.marks.iter().any(|InlineMark { range: marked, kind }| {
            matches!(kind, InlineMarkKind::Link | InlineMarkKind::Picture)
                && marked.start < range.end
                && range.start < marked.end
        })
    }

    /// The text alone.
    pub fn into_string(self) -> String {
        self.text
    }

    /// The offset in the inline markdown of an offset in the plain text, both in bytes. At a border
    /// of marked text, inside of the marks.
    pub fn to_inline(&self, plain: usize) -> usize {
        let index = self.parts.partition_point(|part| part.start <= plain);
        let Some(part) = index.checked_sub(1).and_then(|index| self.parts.get(index)) else {
            return 0;
        };
        let within = plain - part.start;
        let is_within = part.is_same && within <= part.inline.len();
        if is_within || within == 0 { part.inline.start + within } else { part.inline.end }
            .min(self.inline)
    }

    /// The offset in the plain text of an offset in the inline markdown, both in bytes. An offset
    /// within markup maps to the start of the following text.
    pub fn to_plain(&self, inline: usize) -> usize {
        let index = self.parts.partition_point(|part| part.inline.start <= inline);
        let Some(part) = index.checked_sub(1).and_then(|index| self.parts.get(index)) else {
            return 0;
        };
        let end = self.parts.get(index).map_or(self.text.len(), |next| next.start);
        if inline >= part.inline.end {
            end
        } else if part.is_same {
            part.start + (inline - part.inline.start)
        } else {
            part.start
        }
    }

    /// The inline markdown between the text before an offset in the plain text and the text behind
    /// it, which is markup. None within a reference for several characters.
    pub(crate) fn gap(&self, plain: usize) -> Option<Range<usize>> {
        let before = self.parts.partition_point(|part| part.start < plain);
        let start = match before.checked_sub(1).and_then(|index| self.parts.get(index)) {
            None => 0,
            Some(part) => {
                let end = self.parts.get(before).map_or(self.text.len(), |next| next.start);
                match (plain == end, part.is_same) {
                    (true, _) => part.inline.end,
                    (false, true) => {
                        let at = part.inline.start + (plain - part.start);
                        return Some(at..at);
                    }
                    (false, false) => return None,
                }
            }
        };
        let end = self.parts.get(before).map_or(self.inline, |next| next.inline.start);
        Some(start..end.max(start))
    }

    fn push_same(&mut self, inline: &str, range: Range<usize>) {
        let text = slice::within(inline, range.clone());
        // Offsets are found by bisection in both directions.
        debug_assert!(
            self.parts.last().is_none_or(|last| last.inline.start <= range.start),
            "parts are in the order of the markdown as well"
        );
        if !text.is_empty() {
            self.parts.push(PlainPart { start: self.text.len(), inline: range, is_same: true });
            self.text.push_str(text);
        }
    }

    fn push_other(&mut self, text: &str, inline: Range<usize>) {
        debug_assert!(
            self.parts.last().is_none_or(|last| last.inline.start <= inline.start),
            "parts are in the order of the markdown as well"
        );
        // A part without a place in the markdown has no offset to map to.
        if !text.is_empty() && !inline.is_empty() {
            self.parts.push(PlainPart { start: self.text.len(), inline, is_same: false });
            self.text.push_str(text);
        }
    }
}

/// Whether a text has no markup apart from line breaks.
pub(crate) fn is_plain_in_lines(inline: &str) -> bool {
    inline.split(['\n', '\r']).all(|line| is_plain(line.as_bytes()))
}

/// Where the content of a code span of `length` characters is. The parser drops one blank at both
/// ends, and has blanks for line breaks.
pub(crate) fn code_content(
    inline: &str,
    span: Range<usize>,
    length: usize,
) -> Option<Range<usize>> {
    let written = inline.get(span.clone())?;
    let ticks = written.len() - written.trim_start_matches('`').len();
    let content = written.get(ticks..written.len().checked_sub(ticks)?)?;
    let start = span.start + ticks;
    match content.chars().count().checked_sub(length)? {
        0 => Some(start..start + content.len()),
        2 => Some(start + 1..start + content.len() - 1),
        _ => None,
    }
}

/// A text as one paragraph of the parser: between sentinels, with line breaks replaced that could
/// end it or that have adjacent blanks.
pub(crate) struct Framed {
    text: String,
    /// Offsets in `text` after each replaced character, with the bytes by which the text up to
    /// there is longer.
    longer: Vec<(usize, usize)>,
}

impl Framed {
    pub(crate) fn of(inline: &str) -> Self {
        let mut framed =
            Self { text: String::with_capacity(inline.len() + 16), longer: Vec::new() };
        framed.push_frame(FRAME.len_utf8());
        let mut before = None;
        for (at, letter) in inline.char_indices() {
            let is_break = matches!(letter, '\n' | '\r');
            if is_break && !is_soft(before, letter, slice::after(inline, at + 1)) {
                framed.push_frame(FRAME.len_utf8() - letter.len_utf8());
            } else {
                framed.text.push(letter);
            }
            before = Some(letter);
        }
        framed.push_frame(FRAME.len_utf8());
        framed
    }

    fn push_frame(&mut self, longer: usize) {
        self.text.push(FRAME);
        let before = self.longer.last().map_or(0, |(_, bytes)| *bytes);
        self.longer.push((self.text.len(), before + longer));
    }

    /// The text as the parser reads it.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The range in the original text.
    pub(crate) fn original(&self, range: Range<usize>) -> Range<usize> {
        self.offset(range.start)..self.offset(range.end)
    }

    fn offset(&self, framed: usize) -> usize {
        let before = self.longer.partition_point(|(at, _)| *at <= framed).checked_sub(1);
        let longer = before.and_then(|index| self.longer.get(index)).map_or(0, |(_, bytes)| *bytes);
        framed.saturating_sub(longer)
    }
}

/// Whether a line break between `before` and `after` is one within a paragraph.
fn is_soft(before: Option<char>, letter: char, after: &str) -> bool {
    letter == '\n'
        && before.is_some_and(|before| !before.is_whitespace())
        && after.starts_with(char::is_alphabetic)
}

/// Inline markdown whose [`PlainText`] is `plain`, byte for byte: what would read as markup is
/// escaped, and nothing else. NUL, which markdown replaces, is the exception.
///
/// ```
/// use leafbase_markdown::{PlainText, inline_of_plain};
///
/// assert_eq!(inline_of_plain("2 * 3 [sic] "), "2 * 3 \\[sic] ");
/// assert_eq!(PlainText::of(&inline_of_plain("a_b_ *c*\n")).as_str(), "a_b_ *c*\n");
/// ```
pub fn inline_of_plain(plain: &str) -> std::borrow::Cow<'_, str> {
    if is_plain_in_lines(plain) {
        return std::borrow::Cow::Borrowed(plain);
    }
    let mut inline = String::with_capacity(plain.len() + 8);
    let mut before = None;
    for (at, letter) in plain.char_indices() {
        let after = slice::after(plain, at + letter.len_utf8());
        if is_markup(before, letter, after) {
            inline.push('\\');
        }
        inline.push(letter);
        before = Some(letter);
    }
    inline.into()
}

/// Whether an e-mail address in angle brackets could begin with `after`: its first character may be
/// a digit or a punctuation mark.
fn may_be_address(after: &str) -> bool {
    let ends = |letter: char| letter == '>' || letter == '<' || letter.is_whitespace();
    after.split(ends).next().is_some_and(|address| address.contains('@'))
}

/// Whether a character could read as markup.
fn is_markup(before: Option<char>, letter: char, after: &str) -> bool {
    let next = after.chars().next();
    let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    match letter {
        '`' | '[' | '~' => true,
        '\\' => next.is_none_or(|next| next.is_ascii_punctuation() || next == '\n'),
        '*' => !(before == Some(' ') && next == Some(' ')),
        '_' => !(is_word(before) && is_word(next)),
        '<' => {
            next.is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(next))
                || may_be_address(after)
        }
        '&' => {
            let name = after
                .trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '#');
            name.len() < after.len() && name.starts_with(';')
        }
        _ => false,
    }
}
