//! Ranges of the plain text of inline markdown replaced by other plain text: marks and links stay.

use std::convert::Infallible;
use std::ops::Range;
use std::slice;

use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::exact_plain::{Framed, PlainText, inline_of_plain, is_plain_in_lines};
use crate::inline_halves::{join_inline, split_inline};

/// The outcome of [`replace_plain`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplacedPlain {
    /// The inline markdown.
    pub inline: String,
    /// Replacements that were made.
    pub replaced: usize,
    /// Replacements that were not made, because a link or a picture would have gone.
    pub kept: usize,
}

/// Replaces ranges of the [`PlainText`] of `inline`, in order and without overlaps, by plain texts.
///
/// A replacement has the marks, or is in the link, of the first character that it differs in. One
/// that would leave nothing of a link or a picture is not made. Where marks cannot be written
/// around a replacement so that it keeps its text, it is without them.
///
/// None for a range that is beyond the plain text or within a character.
///
/// Replacements between two marks cost the length of the text once. One across the start or the end
/// of a mark, or that cannot be written with the others, costs it a few times.
///
/// ```
/// use leafbase_markdown::replace_plain;
/// let edits = [(0..3, "one *".into()), (4..10, "to Porto".into())];
/// let replaced = replace_plain("Two **to [Lis](x.org)**", &edits).unwrap();
/// assert_eq!(replaced.inline, "one \\* **to [Porto](x.org)**");
/// ```
pub fn replace_plain(inline: &str, edits: &[(Range<usize>, String)]) -> Option<ReplacedPlain> {
    replace_plain_charged(inline, edits, |_| Ok::<_, Infallible>(())).ok().flatten()
}

/// [`replace_plain`] with bounded work: `charge` gets the number of replacements that cost the
/// length of the text each, before they are made.
///
/// # Errors
/// The error of `charge`.
pub fn replace_plain_charged<E>(
    inline: &str,
    edits: &[(Range<usize>, String)],
    charge: impl FnOnce(usize) -> Result<(), E>,
) -> Result<Option<ReplacedPlain>, E> {
    if is_plain_in_lines(inline) {
        return Ok(replaced_in_plain(inline, edits));
    }
    let plain = PlainText::of(inline);
    let Some(edits) = differences(&plain, edits) else { return Ok(None) };
    let (inline, rest) = replaced_together(inline, &plain, &edits)
        .unwrap_or_else(|| (inline.to_owned(), edits.clone()));
    charge(rest.len())?;
    let replaced = edits.len() - rest.len();
    Ok(replaced_apart(ReplacedPlain { inline, replaced, kept: 0 }, &rest))
}

/// A range of a plain text that differs from what replaces it.
#[derive(Clone, Debug)]
struct PlainEdit<'t> {
    range: Range<usize>,
    text: &'t str,
}

fn differences<'t>(
    plain: &PlainText,
    edits: &'t [(Range<usize>, String)],
) -> Option<Vec<PlainEdit<'t>>> {
    let difference = |(range, text): &'t (Range<usize>, String)| {
        let (differs, text) = difference(plain.as_str().get(range.clone())?, text);
        Some(PlainEdit { range: range.start + differs.start..range.start + differs.end, text })
    };
    edits.iter().map(difference).collect()
}

/// The replacements in a text without markup.
fn replaced_in_plain(inline: &str, edits: &[(Range<usize>, String)]) -> Option<ReplacedPlain> {
    let mut plain = String::with_capacity(inline.len());
    let mut done = 0;
    for (range, text) in edits {
        plain.push_str(inline.get(done..range.start)?);
        inline.get(range.clone())?;
        plain.push_str(text);
        done = range.end;
    }
    plain.push_str(inline.get(done..)?);
    let inline = inline_of_plain(&plain).into_owned();
    Some(ReplacedPlain { inline, replaced: edits.len(), kept: 0 })
}

/// Makes the replacements in parts that are the same in the markdown as in its plain text. Returns
/// the others, with their ranges afterwards. None if the result does not read as it should.
fn replaced_together<'t>(
    inline: &str,
    plain: &PlainText,
    edits: &[PlainEdit<'t>],
) -> Option<(String, Vec<PlainEdit<'t>>)> {
    let (mut made, mut done) = (String::with_capacity(inline.len()), 0);
    let (mut made_plain, mut plain_done) = (String::with_capacity(plain.as_str().len()), 0);
    let mut rest = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        made_plain.push_str(plain.as_str().get(plain_done..edit.range.start)?);
        plain_done = edit.range.start;
        let part = same_part(inline, plain, edits, index).filter(|part| done <= part.start);
        let Some(part) = part else {
            let range = made_plain.len()..made_plain.len() + edit.range.len();
            rest.push(PlainEdit { range, text: edit.text });
            continue;
        };
        made.push_str(inline.get(done..part.start)?);
        made.push_str(&inline_of_plain(edit.text));
        done = part.end;
        made_plain.push_str(edit.text);
        plain_done = edit.range.end;
    }
    made.push_str(inline.get(done..)?);
    made_plain.push_str(plain.as_str().get(plain_done..)?);
    let is_made = PlainText::of(&made).as_str() == made_plain && links(&made) == links(inline);
    is_made.then_some((made, rest))
}

/// Where an edit's range is in the markdown, if that has the same text there and keeps some of it
/// in the marks around.
fn same_part(
    inline: &str,
    plain: &PlainText,
    edits: &[PlainEdit<'_>],
    index: usize,
) -> Option<Range<usize>> {
    let PlainEdit { range, text } = edits.get(index)?;
    let start = plain.to_inline(range.start);
    let end = start + range.len();
    if inline.get(start..end)? != plain.as_str().get(range.clone())? {
        return None;
    }
    if text.is_empty() {
        // Marks around nothing would be left, also where the text next to it is replaced as well.
        let previous = index.checked_sub(1).and_then(|index| edits.get(index));
        let is_first = previous.is_some_and(|edit| edit.range.end == range.start);
        let is_last = edits.get(index + 1).is_some_and(|edit| edit.range.start == range.end);
        let before = plain.as_str().get(..range.start)?.chars().next_back();
        let is_after_text = before.map(char::len_utf8).is_some_and(|bytes| {
            !is_first && plain.to_inline(range.start - bytes) + bytes == start
        });
        let is_before_text =
            !is_last && range.end < plain.as_str().len() && plain.to_inline(range.end) == end;
        return (is_after_text || is_before_text).then_some(start..end);
    }
    Some(start..end)
}

/// Makes one replacement after the other.
fn replaced_apart(mut replaced: ReplacedPlain, edits: &[PlainEdit<'_>]) -> Option<ReplacedPlain> {
    // From the end on: the offsets of the edits before one stay.
    for edit in edits.iter().rev() {
        let plain = PlainText::of(&replaced.inline);
        let within = replaced_together(&replaced.inline, &plain, slice::from_ref(edit));
        let made = match within {
            Some((made, rest)) if rest.is_empty() => made,
            _ => replaced_across(&replaced.inline, &edit.range, edit.text)?,
        };
        if links(&made) < links(&replaced.inline) {
            replaced.kept += 1;
        } else {
            replaced.inline = made;
            replaced.replaced += 1;
        }
    }
    Some(replaced)
}

/// A replacement of what marks begin or end in.
fn replaced_across(inline: &str, range: &Range<usize>, text: &str) -> Option<String> {
    let [before, from] = split_inline(inline, range.start)?;
    let [found, after] = split_inline(&from, range.len())?;
    let made = with_marks_of(&found, text)?;
    Some(join_inline(&join_inline(&before, &made), &after))
}

/// The range of `found` that differs from `text`, and its replacement in `text`: without the common
/// prefix and suffix, except for one character that determines the marks of an insertion.
fn difference<'t>(found: &str, text: &'t str) -> (Range<usize>, &'t str) {
    let same = |(one, other): &(char, char)| one == other;
    let length = |(letter, _): (char, char)| letter.len_utf8();
    let mut start: usize = found.chars().zip(text.chars()).take_while(same).map(length).sum();
    let (found_rest, text_rest) = (tail(found, start), tail(text, start));
    let backwards = found_rest.chars().rev().zip(text_rest.chars().rev());
    let mut end: usize = backwards.take_while(same).map(length).sum();
    if start + end == found.len() && text.len() > found.len() {
        // An insertion: it takes the marks of the preceding character, or else of the next one.
        let before = found.get(..start).and_then(|before| before.chars().next_back());
        match before {
            Some(before) => start -= before.len_utf8(),
            None => end -= tail(found, start).chars().next().map_or(0, char::len_utf8),
        }
    }
    let range = start..found.len() - end;
    let within = text.get(start..text.len() - end).unwrap_or(text);
    (range, within)
}

fn tail(text: &str, start: usize) -> &str {
    text.get(start..).unwrap_or("")
}

/// Inline markdown with the plain text `text`, in the marks of the first character of `inline`.
fn with_marks_of(inline: &str, text: &str) -> Option<String> {
    if text.is_empty() {
        return Some(String::new());
    }
    let first = PlainText::of(inline).as_str().chars().next().map_or(0, char::len_utf8);
    let [first, _] = split_inline(inline, first)?;
    let found = PlainText::of(&first);
    let letter = found.to_inline(0)..found.to_inline(found.as_str().len());
    let escaped = inline_of_plain(text);
    let candidates = [&*escaped, text].into_iter().filter_map(|text| {
        Some([first.get(..letter.start)?, text, first.get(letter.end..)?].concat())
    });
    let mut written = candidates.filter(|inline| PlainText::of(inline).as_str() == text);
    Some(written.next().unwrap_or_else(|| escaped.clone().into_owned()))
}

/// Links and pictures in `inline`.
fn links(inline: &str) -> usize {
    let framed = Framed::of(inline);
    let parser = Parser::new_ext(framed.as_str(), Options::ENABLE_STRIKETHROUGH);
    let is_link =
        |event: &Event<'_>| matches!(event, Event::Start(Tag::Link { .. } | Tag::Image { .. }));
    parser.filter(is_link).count()
}
