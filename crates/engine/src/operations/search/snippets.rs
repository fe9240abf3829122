//! Snippets: the part of a document's text with the most matches, and the blocks that contain any.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use leafbase_model::{BlockId, Result};
use leafbase_search::{Highlighter, fold};

use super::patterns::PatternSetMatcher;
use crate::core::search_index::documents::{BlockTexts, DocumentTexts};

/// The maximum length of a snippet in characters, without asterisks and ellipses.
pub(super) const MAX_SNIPPET_CHARS: usize = 240;
/// The maximum number of characters before the first match.
const MAX_CHARS_BEFORE_MATCH: usize = 60;
/// The maximum number of matching blocks listed per document.
pub(super) const MAX_BLOCKS_PER_DOCUMENT: usize = 100;

/// The snippet of a document.
pub(super) struct DocumentSnippet {
    pub(super) markdown: String,
    /// Byte ranges of the markdown.
    pub(super) highlights: Vec<Range<usize>>,
    pub(super) blocks: Vec<BlockId>,
}

/// A text with matches.
struct MatchedText<'t> {
    text: Cow<'t, str>,
    /// Sorted and disjoint byte ranges.
    matches: Vec<Range<usize>>,
    is_title: bool,
}

/// Makes the snippet from the text with the most distinct matches, the first of several; from the
/// title only if no other text matches.
pub(super) fn show(
    texts: &DocumentTexts,
    highlighter: &Highlighter<'_>,
    matcher: Option<&mut PatternSetMatcher<'_>>,
) -> Result<DocumentSnippet> {
    let mut by_pattern = match matcher {
        Some(matcher) => by_pattern(texts, matcher)?,
        None => HashMap::new(),
    };
    let (mut best, mut blocks): (Option<(_, MatchedText<'_>)>, Vec<BlockId>) = (None, Vec::new());
    for (number, block) in texts.blocks().enumerate() {
        let matched = if by_pattern.is_empty() { None } else { by_pattern.remove(&number) };
        let mut is_found = matched.is_some();
        let ranges = matched.unwrap_or_else(Vec::new);
        visit_matched_texts(&block, number == 0, highlighter, ranges, |found| {
            is_found = true;
            let rank = (!found.is_title, count_distinct(&found));
            if best.as_ref().is_none_or(|(before, _)| *before < rank) {
                best = Some((rank, found));
            }
        });
        blocks.extend(is_found.then_some(block.id));
        if blocks.len() >= MAX_BLOCKS_PER_DOCUMENT {
            break;
        }
    }
    let title = || MatchedText { text: texts.title(), matches: Vec::new(), is_title: true };
    let (markdown, highlights) = cut(&best.map_or_else(title, |(_, found)| found));
    Ok(DocumentSnippet { markdown, highlights, blocks })
}

/// The first blocks that a pattern matches, by their index, with the ranges that match.
fn by_pattern(
    texts: &DocumentTexts,
    matcher: &mut PatternSetMatcher<'_>,
) -> Result<HashMap<usize, Vec<Range<usize>>>> {
    let mut matches = HashMap::new();
    for (index, block) in texts.blocks().enumerate() {
        let text = block.pattern();
        if matcher.is_match(&text)? {
            matches.insert(index, matcher.ranges(&text)?);
            if matches.len() >= MAX_BLOCKS_PER_DOCUMENT {
                break;
            }
        }
    }
    Ok(matches)
}

/// Visits the texts of a block that match: words are matched in plain text, patterns in the
/// markdown that replies show.
fn visit_matched_texts<'t>(
    block: &BlockTexts<'t>,
    is_root: bool,
    highlighter: &Highlighter<'_>,
    mut by_pattern: Vec<Range<usize>>,
    mut visit: impl FnMut(MatchedText<'t>),
) {
    if highlighter.is_empty() && by_pattern.is_empty() {
        return;
    }
    for (index, text) in block.words().enumerate() {
        let mut matches = highlighter.matches(&text);
        if !by_pattern.is_empty() && text == block.pattern() {
            matches.append(&mut by_pattern);
        }
        if !matches.is_empty() {
            visit(MatchedText {
                text,
                matches: merge_overlapping(matches),
                is_title: is_root && index == 0,
            });
        }
    }
    if !by_pattern.is_empty() {
        visit(MatchedText {
            text: block.pattern(),
            matches: merge_overlapping(by_pattern),
            is_title: is_root,
        });
    }
}

/// Sorts the ranges, merges overlapping and adjacent ones, and drops empty ones.
fn merge_overlapping(mut matches: Vec<Range<usize>>) -> Vec<Range<usize>> {
    matches.sort_unstable_by_key(|found| (found.start, found.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(matches.len());
    for found in matches.into_iter().filter(|found| !found.is_empty()) {
        match merged.last_mut() {
            Some(last) if found.start <= last.end => last.end = last.end.max(found.end),
            _ => merged.push(found),
        }
    }
    debug_assert!(
        merged.windows(2).all(|pair| matches!(pair, [one, next] if one.end < next.start)),
        "merged matches are sorted and disjoint"
    );
    merged
}

fn count_distinct(found: &MatchedText<'_>) -> usize {
    if found.matches.len() < 2 {
        return found.matches.len();
    }
    let texts = found.matches.iter().filter_map(|range| found.text.get(range.clone()));
    texts.map(fold).collect::<HashSet<_>>().len()
}

/// The window of the text with the most matches, which are put between asterisks, and their byte
/// ranges. Line breaks become spaces.
fn cut(found: &MatchedText<'_>) -> (String, Vec<Range<usize>>) {
    let (text, window) = (&*found.text, window(found));
    let room = window.len() + 4 * found.matches.len() + 2 * '…'.len_utf8();
    let (mut markdown, mut highlights, mut at) =
        (String::with_capacity(room), Vec::new(), window.start);
    let push_line = |markdown: &mut String, range: Range<usize>| {
        let said = slice(text, range);
        // Lines become one: control characters, line breaks among them, become spaces.
        if is_printable_ascii(said) {
            markdown.push_str(said);
        } else {
            markdown
                .extend(said.chars().map(|letter| if letter.is_control() { ' ' } else { letter }));
        }
    };
    if window.start > 0 {
        markdown.push('…');
    }
    for range in &found.matches {
        let range = range.start.max(window.start)..range.end.min(window.end);
        if range.is_empty() {
            continue;
        }
        push_line(&mut markdown, at..range.start);
        markdown.push_str("**");
        let start = markdown.len();
        push_line(&mut markdown, range.clone());
        highlights.push(start..markdown.len());
        markdown.push_str("**");
        at = range.end;
    }
    push_line(&mut markdown, at..window.end);
    if window.end < text.len() {
        markdown.push('…');
    }
    debug_assert!(
        highlights.iter().all(|range| markdown.get(range.clone()).is_some()),
        "highlights are character boundaries of the snippet"
    );
    (markdown, highlights)
}

/// Whether the text has no control characters, as far as a fast check tells.
fn is_printable_ascii(text: &str) -> bool {
    // Without an early exit, so that the loop is vectorized.
    text.bytes().fold(true, |all, byte| all & matches!(byte, b' '..=b'~'))
}

/// The byte range that the snippet shows: the whole text if it is short. Otherwise it begins and
/// ends between words where possible, and ends within a match only if that is longer than a
/// snippet.
fn window(found: &MatchedText<'_>) -> Range<usize> {
    let text = &*found.text;
    let Some(longest) =
        byte_offset_after(text, 0, MAX_SNIPPET_CHARS).filter(|end| *end < text.len())
    else {
        return 0..text.len();
    };
    let Some(first) = densest(found) else { return 0..before_whitespace(text, 0, longest) };
    let start = after_whitespace(
        text,
        byte_offset_before(text, first.start, MAX_CHARS_BEFORE_MATCH),
        first.start,
    );
    let end = byte_offset_after(text, start, MAX_SNIPPET_CHARS).unwrap_or(text.len());
    if end == text.len() {
        return start..end;
    }
    let is_cut =
        |found: &&Range<usize>| found.start < end && end < found.end && found.start > first.start;
    let end = found.matches.iter().find(is_cut).map_or(end, |found| found.start);
    let last =
        found.matches.iter().rfind(|found| found.end <= end).map_or(first.end, |found| found.end);
    start..before_whitespace(text, last.min(end), end)
}

/// The match that begins the densest window; the first of several.
fn densest<'f>(found: &'f MatchedText<'_>) -> Option<&'f Range<usize>> {
    let matches = &found.matches;
    // Two pointers: `after` only advances, so the scan is linear in the matches.
    let (mut best, mut after): (Option<(usize, &Range<usize>)>, usize) = (None, 0);
    for (index, first) in matches.iter().enumerate() {
        let limit = first.start.saturating_add(MAX_SNIPPET_CHARS - MAX_CHARS_BEFORE_MATCH);
        after = after.max(index);
        while matches.get(after).is_some_and(|found| found.end <= limit) {
            after += 1;
        }
        if best.is_none_or(|(most, _)| after - index > most) {
            best = Some((after - index, first));
        }
    }
    best.map(|(_, first)| first)
}

/// A range of the text whose bounds are character boundaries.
fn slice(text: &str, range: Range<usize>) -> &str {
    let slice = text.get(range.clone());
    debug_assert!(slice.is_some(), "{range:?} are character boundaries of the text");
    slice.unwrap_or_default()
}

/// The offset `characters` after `from`. None if the text ends before.
fn byte_offset_after(text: &str, from: usize, characters: usize) -> Option<usize> {
    // A character has a byte at least.
    let rest = text.get(from..).filter(|rest| rest.len() > characters)?;
    rest.char_indices().nth(characters).map(|(offset, _)| from + offset)
}

/// The offset `characters` before `to`, or 0 if there are fewer.
fn byte_offset_before(text: &str, to: usize, characters: usize) -> usize {
    let before = slice(text, 0..to);
    before.char_indices().rev().take(characters).last().map_or(0, |(offset, _)| offset)
}

/// The offset after the first whitespace in `from..to`, or `from` if there is none.
fn after_whitespace(text: &str, from: usize, to: usize) -> usize {
    if from == 0 {
        return 0;
    }
    let between = slice(text, from..to);
    let space = between.char_indices().find(|(_, letter)| letter.is_whitespace());
    space.map_or(from, |(offset, letter)| from + offset + letter.len_utf8())
}

/// The offset of the last whitespace in `from..to`, or `to` if there is none.
fn before_whitespace(text: &str, from: usize, to: usize) -> usize {
    let between = slice(text, from..to);
    between.rfind(char::is_whitespace).map_or(to, |offset| from + offset)
}

#[cfg(test)]
mod tests {
    use leafbase_search::ParsedQuery;

    use super::*;

    fn shown(text: &str, asked: &[&str]) -> (String, Vec<Range<usize>>) {
        let matches = ParsedQuery::new(asked, false).unwrap().match_ranges(text);
        cut(&MatchedText {
            text: text.into(),
            matches: merge_overlapping(matches),
            is_title: false,
        })
    }

    #[test]
    fn hits_stand_between_asterisks() {
        let cases = [
            ("Pack the passport.", "passport", "Pack the **passport**."),
            ("a *b* c", "b", "a ***b*** c"),
            ("trains, train", "train", "**trains**, **train**"),
            ("line\nbreak\there", "break", "line **break** here"),
            ("東京都へ", "東京", "**東京**都へ"),
            ("nothing", "other", "nothing"),
            ("", "x", ""),
        ];
        for (text, asked, expected) in cases {
            let (markdown, highlights) = shown(text, &[asked]);
            assert_eq!(markdown, expected);
            for found in highlights {
                let (before, behind) = (&markdown[..found.start], &markdown[found.end..]);
                assert!(before.ends_with("**") && behind.starts_with("**"), "{markdown}");
            }
        }
    }

    #[test]
    fn a_long_text_is_cut_between_words_around_most_hits() {
        let long =
            format!("fish {}then fish and chips {}", "word ".repeat(100), "tail ".repeat(100));
        let (markdown, highlights) = shown(&long, &["fish", "chips"]);
        assert_eq!(highlights.len(), 2);
        assert!(markdown.starts_with("…word ") && markdown.ends_with(" tail…"), "{markdown}");
        assert!(markdown.contains("then **fish** and **chips** tail"), "{markdown}");
        for text in [long, "東京".repeat(400), "x".repeat(1_000)] {
            for asked in ["fish", "東", "x", "tail"] {
                let (markdown, highlights) = shown(&text, &[asked]);
                assert!(markdown.chars().count() <= MAX_SNIPPET_CHARS + 4 * highlights.len() + 2);
                assert!(markdown.contains('…'));
            }
        }
    }
}
