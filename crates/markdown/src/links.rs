//! Links of inline markdown: their destinations, source ranges, and rewriting.

use std::borrow::Cow;
use std::ops::Range;

use leafbase_model::{BlockId, Day};

use crate::destination::{self, LinkDestination, unescape};
use crate::slice;
use crate::{raw_html, tags};

/// A link, image, autolink or link definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineLink<'t> {
    /// The destination with escapes resolved.
    pub destination: Cow<'t, str>,
    /// Byte range of the destination, without angle brackets.
    pub range: Range<usize>,
    /// Byte range of the whole syntax, without the exclamation mark of an image.
    pub whole: Range<usize>,
    /// Byte range of the text in brackets.
    pub label: Option<Range<usize>>,
    /// The target of the destination.
    pub target: LinkTarget,
    /// Syntax of the link.
    pub form: LinkForm,
}

/// Target of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkTarget {
    /// A block, `block://<ID>`; [`BlockId::NIL`] for a malformed ID.
    Block(BlockId),
    /// A day, `date://<YYYY-MM-DD>`; `None` for an invalid day.
    Day(Option<Day>),
    /// Any other destination.
    Other,
}

impl LinkTarget {
    /// The target of a destination without escapes. Schemes are case-insensitive, and
    /// percent-encoding is decoded.
    pub fn of(destination: &str) -> Self {
        let decoded = if destination.contains('%') {
            percent_decoded(destination)
        } else {
            Cow::Borrowed(destination)
        };
        let Some((scheme, rest)) = decoded.split_once(':') else { return Self::Other };
        let (scheme, rest) = (scheme.trim_ascii(), rest.trim_start_matches('/'));
        let name = rest.split(['/', '?', '#']).next().unwrap_or(rest).trim_ascii();
        if scheme.eq_ignore_ascii_case("block") {
            Self::Block(name.parse().unwrap_or(BlockId::NIL))
        } else if scheme.eq_ignore_ascii_case("date") {
            Self::Day(name.parse().ok())
        } else {
            Self::Other
        }
    }
}

/// Syntax of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LinkForm {
    /// `[text](destination)`.
    Inline,
    /// `![text](destination)`.
    Embedded,
    /// `<destination>`.
    Autolink,
    /// `[label]: destination`, for links `[text][label]` of the same text.
    Definition,
    /// `<a href="destination">`, of any tag.
    Reference,
    /// `<img src="destination">`, of any tag.
    Source,
}

/// Visits every link of `inline` in order, those of HTML tags included. Code spans contain no
/// links.
///
/// ```
/// let mut found = Vec::new();
/// leafbase_markdown::links("see [it](a.md) and <https://b.example>", &mut |link| found.push(link.destination.into_owned()));
/// assert_eq!(found, ["a.md", "https://b.example"]);
/// ```
pub fn links<'t>(inline: &'t str, visit: &mut dyn FnMut(InlineLink<'t>)) {
    if !may_have_links(inline) {
        return;
    }
    pieces(inline, &mut |piece| match piece {
        InlineSpan::Link(link) => visit(link),
        InlineSpan::Tag(tag) => links_of_tag(inline, &tag, visit),
        InlineSpan::Code(_) => {}
    });
}

/// Visits the links of the tag at `tag`.
fn links_of_tag<'t>(inline: &'t str, tag: &Range<usize>, visit: &mut dyn FnMut(InlineLink<'t>)) {
    raw_html::attributes(slice::within(inline, tag.clone()), &mut |name, value, _| {
        let form = match name {
            _ if name.eq_ignore_ascii_case("href") => LinkForm::Reference,
            _ if name.eq_ignore_ascii_case("src") => LinkForm::Source,
            _ => return,
        };
        let range = tag.start + value.start..tag.start + value.end;
        let destination = unescape(slice::within(inline, range.clone()));
        let target = LinkTarget::of(&destination);
        visit(InlineLink { destination, range, whole: tag.clone(), label: None, target, form });
    });
}

/// Whether [`links`] may find a link in `inline`: a cheap byte scan without false negatives.
pub fn may_have_links(inline: &str) -> bool {
    memchr::memchr2(b']', b'<', inline.as_bytes()).is_some()
}

/// A span of inline markdown other than text.
pub(crate) enum InlineSpan<'t> {
    Link(InlineLink<'t>),
    /// An HTML tag.
    Tag(Range<usize>),
    /// A code span, or backticks that open none.
    Code(Range<usize>),
}

/// Visits every span of `inline`, in the order of their ends.
pub(crate) fn pieces<'t>(inline: &'t str, visit: &mut dyn FnMut(InlineSpan<'t>)) {
    for cell in crate::table::cells(inline) {
        let start = cell.start;
        InlineScanner::new(slice::within(inline, cell), start).run(visit);
    }
}

/// Rewrites the destinations for which `replace` returns a new one. All other bytes are kept.
///
/// ```
/// use leafbase_markdown::rewrite_links;
///
/// let moved = rewrite_links("[it](a.md) `[it](a.md)`", &mut |link| (link.destination == "a.md").then(|| "b c.md".to_owned()));
/// assert_eq!(moved, "[it](<b c.md>) `[it](a.md)`");
/// ```
pub fn rewrite_links<'t>(
    inline: &'t str,
    replace: &mut dyn FnMut(&InlineLink<'t>) -> Option<String>,
) -> Cow<'t, str> {
    let mut written = String::new();
    let mut from = 0;
    let in_table = crate::table::is_table_text(inline);
    links(inline, &mut |link| {
        let Some(destination) = replace(&link) else {
            return;
        };
        // Existing angle brackets are replaced, because the new destination may need none.
        let pointed =
            !matches!(link.form, LinkForm::Autolink | LinkForm::Reference | LinkForm::Source)
                && inline.get(..link.range.start).is_some_and(is_pointed);
        let (start, end) = if pointed {
            (link.range.start - 1, link.range.end + 1)
        } else {
            (link.range.start, link.range.end)
        };
        debug_assert!(from <= start, "links are visited in order and do not overlap");
        written.push_str(slice::within(inline, from..start));
        // A pipe in a table ends the cell even inside a destination.
        let destination = if in_table { destination.replace('|', "%7C") } else { destination };
        match link.form {
            LinkForm::Autolink => write_autolink(&mut written, &destination),
            LinkForm::Reference | LinkForm::Source => {
                raw_html::write_attribute(&mut written, &destination);
            }
            _ => destination::write(&mut written, &destination),
        }
        from = end;
    });
    // Nothing was replaced: `from` is the end of the last replacement.
    if from == 0 {
        return Cow::Borrowed(inline);
    }
    written.push_str(slice::after(inline, from));
    Cow::Owned(written)
}

/// Whether an angle bracket of a destination opens right before, not one of an autolink.
fn is_pointed(before: &str) -> bool {
    before.ends_with('<')
}

pub(crate) fn write_autolink(out: &mut String, destination: &str) {
    for letter in destination.chars() {
        match letter {
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            ' ' => out.push_str("%20"),
            letter if letter.is_ascii_control() => {}
            letter => out.push(letter),
        }
    }
}

fn percent_decoded(text: &str) -> Cow<'_, str> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code =
            tail.split_at_checked(2).filter(|_| *first == b'%').and_then(|(digits, after)| {
                let digits = std::str::from_utf8(digits).ok()?;
                Some((u8::from_str_radix(digits, 16).ok()?, after))
            });
        if let Some((byte, after)) = code {
            bytes.push(byte);
            rest = after;
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// An opening bracket without its closing one yet.
struct OpenBracket {
    at: usize,
    embedded: bool,
}

struct InlineScanner<'t> {
    text: &'t str,
    /// Offset of the text in the caller's text.
    before: usize,
    open: Vec<OpenBracket>,
    /// Brackets below this index cannot start a link: they already contain one.
    spent: usize,
    no_comment: bool,
}

impl<'t> InlineScanner<'t> {
    fn new(text: &'t str, before: usize) -> Self {
        Self { text, before, open: Vec::new(), spent: 0, no_comment: false }
    }

    fn run(mut self, visit: &mut dyn FnMut(InlineSpan<'t>)) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(found) = bytes.get(at..).and_then(next_special) {
            at += found;
            at = match bytes.get(at) {
                Some(b'\\') => at + 2,
                Some(b'`') => {
                    let end = tags::behind_code(bytes, at);
                    visit(InlineSpan::Code(self.range(at, end)));
                    end
                }
                Some(b'[') => {
                    let embedded =
                        at > 0 && bytes.get(at - 1) == Some(&b'!') && !is_escaped(bytes, at - 1);
                    self.open.push(OpenBracket { at, embedded });
                    at + 1
                }
                Some(b']') => self.close(at, visit),
                _ => self.pointed(at, visit),
            };
        }
    }

    fn close(&mut self, at: usize, visit: &mut dyn FnMut(InlineSpan<'t>)) -> usize {
        let Some(open) = self.open.pop() else { return at + 1 };
        let spent = self.open.len() < self.spent && !open.embedded;
        self.spent = self.spent.min(self.open.len());
        let after = slice::after(self.text, at + 1);
        if !spent && let Some(target) = destination::in_parentheses(after) {
            if !open.embedded {
                self.spent = self.open.len();
            }
            let form = if open.embedded { LinkForm::Embedded } else { LinkForm::Inline };
            let whole = open.at..at + 1 + target.length;
            let label = Some(open.at + 1..at);
            self.found(target.destination, at + 1 + target.start, form, (whole, label), visit);
            return at + 1 + target.length;
        }
        if let Some(after) = after.strip_prefix(':').filter(|_| self.begins_line(open.at)) {
            let space = after.len() - crate::cursor::trim_start(after).len();
            let target = after.get(space..).and_then(|after| destination::target(after, space));
            if let Some(target) = target.filter(|target| !target.destination.is_empty())
                && !slice::after(self.text, open.at).starts_with("[^")
                && let Some(length) = definition_length(after, &target)
            {
                let (start, form) = (at + 2 + target.start, LinkForm::Definition);
                let syntax = (open.at..at + 2 + length, Some(open.at + 1..at));
                self.found(target.destination, start, form, syntax, visit);
                return at + 2 + length;
            }
        }
        at + 1
    }

    fn begins_line(&self, at: usize) -> bool {
        let before = slice::before(self.text, at).trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n')
    }

    /// An autolink, or an HTML tag, which is skipped.
    fn pointed(&mut self, at: usize, visit: &mut dyn FnMut(InlineSpan<'t>)) -> usize {
        let rest = slice::after(self.text, at);
        if let Some(length) = autolink_length(rest) {
            let destination = slice::within(rest, 1..length - 1);
            let syntax = (at..at + length, None);
            self.found(destination, at + 1, LinkForm::Autolink, syntax, visit);
            return at + length;
        }
        if rest.starts_with("<!--") {
            let end = if self.no_comment {
                None
            } else {
                rest.get(4..).and_then(|rest| rest.find("-->"))
            };
            self.no_comment = end.is_none();
            return end.map_or(at + 1, |end| at + 4 + end + 3);
        }
        let Some(length) = raw_html::tag_length(rest) else { return at + 1 };
        visit(InlineSpan::Tag(self.range(at, at + length)));
        at + length
    }

    fn found(
        &self,
        written: &'t str,
        start: usize,
        form: LinkForm,
        (whole, label): (Range<usize>, Option<Range<usize>>),
        visit: &mut dyn FnMut(InlineSpan<'t>),
    ) {
        let destination =
            if form == LinkForm::Autolink { Cow::Borrowed(written) } else { unescape(written) };
        let target = LinkTarget::of(&destination);
        let start = self.before + start;
        visit(InlineSpan::Link(InlineLink {
            destination,
            range: start..start + written.len(),
            whole: self.range(whole.start, whole.end),
            label: label.map(|label| self.range(label.start, label.end)),
            target,
            form,
        }));
    }

    /// Translates a range to the caller's text.
    const fn range(&self, start: usize, end: usize) -> Range<usize> {
        self.before + start..self.before + end
    }
}

/// Length of a reference definition, whose destination and title `target` are: nothing follows them
/// on their line. A title that something follows is text, if it is on a line of its own.
fn definition_length(text: &str, target: &LinkDestination<'_>) -> Option<usize> {
    let is_last = |length: usize| {
        let rest = slice::after(text, length).split('\n').next().unwrap_or_default();
        rest.trim().is_empty()
    };
    let without_title = target.start + target.destination.len() + usize::from(target.pointed);
    [target.length, without_title].into_iter().find(|length| is_last(*length))
}

fn next_special(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| matches!(byte, b'\\' | b'`' | b'<' | b'[' | b']'))
}

fn is_escaped(bytes: &[u8], at: usize) -> bool {
    let before = bytes.iter().take(at).rev();
    before.take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Length in bytes of the autolink at the start of `rest`.
fn autolink_length(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('<')?;
    let scheme = inner
        .bytes()
        .take(33)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(byte))
        .count();
    let letter = inner.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    if !letter || !(2..=32).contains(&scheme) || inner.as_bytes().get(scheme) != Some(&b':') {
        return None;
    }
    let end = inner.bytes().position(|byte| byte <= b' ' || matches!(byte, b'<' | b'>' | 0x7f))?;
    (inner.as_bytes().get(end) == Some(&b'>')).then_some(end + 2)
}
