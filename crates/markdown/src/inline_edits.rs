//! Ranges of the plain text of inline markdown replaced by other plain text: marks and links stay.

use std::ops::Range;

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
/// A text without markup costs its length, another one its length for each replacement.
///
/// ```
/// use leafbase_markdown::replace_plain;
/// let edits = [(0..3, "one *".into()), (4..10, "to Porto".into())];
/// let replaced = replace_plain("Two **to [Lis](x.org)**", &edits).unwrap();
/// assert_eq!(replaced.inline, "one \\* **to [Porto](x.org)**");
/// ```
pub fn replace_plain(inline: &str, edits: &[(Range<usize>, String)]) -> Option<ReplacedPlain> {
    let whole = PlainText::of(inline);
    let mut replaced = ReplacedPlain::default();
    if is_plain_in_lines(inline) {
        let mut plain = String::with_capacity(inline.len());
        let mut done = 0;
        for (range, text) in edits {
            plain.push_str(inline.get(done..range.start)?);
            inline.get(range.clone())?;
            plain.push_str(text);
            done = range.end;
            replaced.replaced += 1;
        }
        plain.push_str(inline.get(done..)?);
        replaced.inline = inline_of_plain(&plain).into_owned();
        return Some(replaced);
    }
    inline.clone_into(&mut replaced.inline);
    // From the end on: the offsets of the edits before one stay.
    for (range, text) in edits.iter().rev() {
        let found = whole.as_str().get(range.clone())?;
        let (differs, text) = difference(found, text);
        let differs = range.start + differs.start..range.start + differs.end;
        let within = replaced_within(&replaced.inline, &differs, text);
        let made = match within {
            Some(made) => made,
            None => replaced_across(&replaced.inline, &differs, text)?,
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

/// A replacement in a part that is the same in the markdown as in its plain text. None if it is
/// none, or if that cannot be written there.
fn replaced_within(inline: &str, range: &Range<usize>, text: &str) -> Option<String> {
    let plain = PlainText::of(inline);
    let (before, after) = (plain.as_str().get(..range.start)?, plain.as_str().get(range.end..)?);
    let start = plain.to_inline(range.start);
    let end = start + range.len();
    if inline.get(start..end)? != plain.as_str().get(range.clone())? {
        return None;
    }
    // Marks around nothing would be left.
    let last_before = before.chars().next_back().map_or(0, char::len_utf8);
    let is_behind_text =
        last_before > 0 && plain.to_inline(range.start - last_before) + last_before == start;
    let is_before_text = !after.is_empty() && plain.to_inline(range.end) == end;
    if text.is_empty() && !is_behind_text && !is_before_text {
        return None;
    }
    let made = [inline.get(..start)?, &inline_of_plain(text), inline.get(end..)?].concat();
    let is_made = PlainText::of(&made).as_str() == [before, text, after].concat()
        && links(&made) == links(inline);
    is_made.then_some(made)
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
