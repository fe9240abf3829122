//! Inline markdown cut in two at an offset of its plain text, and two joined: marks and links go on
//! in both halves, and equal ones that meet become one.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::exact_plain::{Framed, PlainText, code_content, inline_of_plain};

/// Cuts inline markdown at a byte offset of its [`PlainText`]. Marks and links around the offset
/// are in both halves. The plain texts of the halves are those of the whole, byte for byte: a half
/// whose marks cannot be written so that it keeps its text loses them.
///
/// None for an offset beyond the plain text or within a character.
///
/// ```
/// use leafbase_markdown::split_inline;
/// let [first, second] = split_inline("**ab [cd](x.org)**", 4).unwrap();
/// assert_eq!((first.as_str(), second.as_str()), ("**ab [c](x.org)**", "**[d](x.org)**"));
/// assert!(split_inline("é", 1).is_none());
/// ```
pub fn split_inline(inline: &str, offset: usize) -> Option<[String; 2]> {
    let whole = PlainText::of(inline);
    let (before, after) = whole.as_str().split_at_checked(offset)?;
    let [first, second] = match whole.gap(offset) {
        Some(gap) => cut(inline, gap),
        None => Default::default(),
    };
    Some([with_plain(first, before), with_plain(second, after)])
}

/// `inline` if its plain text is `plain`, or else `plain` without marks.
fn with_plain(inline: String, plain: &str) -> String {
    if is_written_as(&inline, plain) { inline } else { inline_of_plain(plain).into_owned() }
}

fn is_written_as(inline: &str, plain: &str) -> bool {
    PlainText::of(inline).as_str() == plain
}

/// Cuts between the texts around `gap`, which has only markup.
fn cut(inline: &str, gap: Range<usize>) -> [String; 2] {
    let marks = marks(inline);
    let has_end = |mark: &&MarkupSpan| mark.inner.start < gap.start && gap.start <= mark.inner.end;
    let ended = marks.iter().filter(has_end).map(|mark| mark.outer.end);
    let at = ended.filter(|end| *end <= gap.end).fold(gap.start, usize::max);
    let (head, tail) = inline.split_at_checked(at).unwrap_or((inline, ""));
    let open = marks.iter().filter(has_end).filter(|mark| gap.end < mark.inner.end);
    let open: Vec<_> = open.collect();
    let closing: String = open.iter().rev().map(|mark| mark.closing(inline)).collect();
    let opening: String = open.iter().map(|mark| mark.opening(inline)).collect();
    // Emphasis neither ends after a blank nor begins before one; links do.
    let is_cut = open.last().is_some_and(|mark| mark.opening(inline).starts_with(['*', '_', '~']));
    let head_end = if is_cut { head.trim_end() } else { head };
    let tail_start = if is_cut { tail.trim_start() } else { tail };
    let head_blank = head.strip_prefix(head_end).unwrap_or("");
    let tail_blank = tail.strip_suffix(tail_start).unwrap_or("");
    [[head_end, &closing, head_blank].concat(), [tail_blank, &opening, tail_start].concat()]
}

/// Joins two inline markdowns. Their plain texts are concatenated, and adjacent equal marks are
/// merged. Adjacent marks that markdown cannot express lose one of the two.
///
/// ```
/// use leafbase_markdown::join_inline;
/// assert_eq!(join_inline("**a**", "**b** c"), "**ab** c");
/// assert_eq!(join_inline("a", "*b*"), "a*b*");
/// ```
pub fn join_inline(first: &str, second: &str) -> String {
    let (before, after) = (PlainText::of(first), PlainText::of(second));
    let plain = [before.as_str(), after.as_str()].concat();
    let (ends, starts) = (marks(first), marks(second));
    let meeting = at_end(&ends, first.len()).zip(at_start(&starts)).take_while(|(end, start)| {
        end.opening(first) == start.opening(second) && end.closing(first) == start.closing(second)
    });
    let mut joined: Vec<String> = meeting
        .map(|(end, start)| {
            let head = first.get(..end.inner.end).unwrap_or(first);
            [head, second.get(start.inner.start..).unwrap_or(second)].concat()
        })
        .collect();
    joined.reverse();
    let first_plain = inline_of_plain(before.as_str());
    let second_plain = inline_of_plain(after.as_str());
    joined.push([first, second].concat());
    joined.push([first, &second_plain].concat());
    joined.push([&first_plain, second].concat());
    let kept = joined.into_iter().find(|joined| is_written_as(joined, &plain));
    kept.unwrap_or_else(|| inline_of_plain(&plain).into_owned())
}

/// A mark or a link in inline markdown: all of it, and what it marks.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MarkupSpan {
    outer: Range<usize>,
    inner: Range<usize>,
}

impl MarkupSpan {
    fn opening<'i>(&self, inline: &'i str) -> &'i str {
        inline.get(self.outer.start..self.inner.start).unwrap_or("")
    }

    fn closing<'i>(&self, inline: &'i str) -> &'i str {
        inline.get(self.inner.end..self.outer.end).unwrap_or("")
    }
}

/// The marks that end with a text of `length` bytes, from the outermost on.
fn at_end(marks: &[MarkupSpan], length: usize) -> impl Iterator<Item = &MarkupSpan> {
    let mut end = length;
    marks.iter().filter(move |mark| {
        let is_next = mark.outer.end == end;
        end = if is_next { mark.inner.end } else { end };
        is_next
    })
}

/// The marks that begin with a text, from the outermost on.
fn at_start(marks: &[MarkupSpan]) -> impl Iterator<Item = &MarkupSpan> {
    let mut start = 0;
    marks.iter().filter(move |mark| {
        let is_next = mark.outer.start == start;
        start = if is_next { mark.inner.start } else { start };
        is_next
    })
}

/// The marks and links of `inline`, outer ones before those within.
fn marks(inline: &str) -> Vec<MarkupSpan> {
    let framed = Framed::of(inline);
    let mut marks = Vec::new();
    // Indexes in `marks` of those that are open, with whether they have content yet.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut tags: Vec<MarkupSpan> = Vec::new();
    let parser = Parser::new_ext(framed.as_str(), Options::ENABLE_STRIKETHROUGH);
    for (event, range) in parser.into_offset_iter() {
        let range = framed.original(range);
        if matches!(&event, Event::End(tag) if is_mark_end(*tag)) {
            open.pop();
            continue;
        }
        if let Some((index, has_content)) = open.last_mut()
            && let Some(mark) = marks.get_mut(*index)
        {
            widen(mark, &range, inline, has_content);
        }
        match event {
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. }) => {
                open.push((marks.len(), false));
                marks.push(MarkupSpan { inner: range.end..range.end, outer: range });
            }
            Event::Code(code) => {
                let content = code_content(inline, range.clone(), code.chars().count());
                marks.extend(content.map(|inner| MarkupSpan { outer: range, inner }));
            }
            Event::InlineHtml(tag) if tag.starts_with("</") => {
                if let Some(mut mark) = tags.pop() {
                    mark.inner.end = range.start;
                    mark.outer.end = range.end;
                    marks.push(mark);
                }
            }
            Event::InlineHtml(tag) if !tag.starts_with("<br") => {
                tags.push(MarkupSpan { inner: range.end..range.end, outer: range });
            }
            _ => {}
        }
    }
    marks.sort_by_key(|mark| (mark.outer.start, std::cmp::Reverse(mark.outer.end)));
    marks
}

fn is_mark_end(tag: pulldown_cmark::TagEnd) -> bool {
    use pulldown_cmark::TagEnd;
    matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link)
}

/// Adds an event at `range` to the content of a mark.
fn widen(mark: &mut MarkupSpan, range: &Range<usize>, inline: &str, has_content: &mut bool) {
    if !*has_content {
        *has_content = true;
        // A text begins after the backslash that escapes its first character.
        let is_escaped = inline.get(..range.start).is_some_and(|before| before.ends_with('\\'));
        mark.inner.start = range.start - usize::from(is_escaped);
    }
    mark.inner.end = range.end;
}
