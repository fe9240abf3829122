//! Snippets: the excerpt of a document with the most matches, and the blocks that match.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use leafbase_model::{BlockId, Result};
use leafbase_search::{Highlighter, fold};

use super::patterns::PatternSetMatcher;
use crate::core::search_index::documents::{BlockTexts, DocumentTexts};

/// The longest snippet, without asterisks and ellipses.
pub(super) const MAX_SNIPPET_CHARS: usize = 240;
/// Of those, the most before the first match.
const MAX_CHARS_BEFORE_MATCH: usize = 60;
/// The most blocks listed for a document.
pub(super) const MAX_BLOCKS: usize = 100;

/// The snippet of a document.
pub(super) struct Snippet {
    pub(super) markdown: String,
    /// Byte ranges of `markdown`.
    pub(super) highlights: Vec<Range<usize>>,
    /// The first blocks that match.
    pub(super) blocks: Vec<BlockId>,
}

/// A text with the byte ranges that match.
struct MatchedText<'t> {
    text: Cow<'t, str>,
    /// In order and without overlap.
    matches: Vec<Range<usize>>,
    is_title: bool,
}

/// A block that matches.
pub(super) struct MatchedBlock<'t> {
    pub(super) block: BlockId,
    /// Whether a pattern matches it, perhaps without consuming text.
    pub(super) has_pattern: bool,
    /// Its text with the most distinct matches, the first of several.
    best: MatchedText<'t>,
}

impl<'t> MatchedBlock<'t> {
    /// A block that is shown although no text of it matches.
    pub(super) fn without_matches(block: BlockTexts<'t>) -> Self {
        let text = block.words().next().unwrap_or_default();
        let best = MatchedText { text, matches: Vec::new(), is_title: true };
        Self { block: block.id, has_pattern: false, best }
    }

    /// Blocks before the title, and those with more distinct matches before others.
    pub(super) fn rank(&self) -> (bool, usize) {
        (!self.best.is_title, distinct_matches(&self.best))
    }

    /// The snippet of the block.
    pub(super) fn snippet(&self) -> Snippet {
        let (markdown, highlights) = excerpt(&self.best);
        Snippet { markdown, highlights, blocks: vec![self.block] }
    }
}

/// The snippet of a document: of the text with the most distinct matches, the first of several. The
/// title is used only if no other text matches.
pub(super) fn snippet(
    texts: &DocumentTexts,
    highlighter: &Highlighter<'_>,
    matcher: Option<&mut PatternSetMatcher<'_>>,
) -> Result<Snippet> {
    let matched = matched_blocks(texts, highlighter, matcher, MAX_BLOCKS)?;
    let mut best: Option<&MatchedBlock<'_>> = None;
    for block in matched.iter().filter(|block| !block.best.matches.is_empty()) {
        if best.is_none_or(|best| best.rank() < block.rank()) {
            best = Some(block);
        }
    }
    let title = MatchedText { text: texts.title(), matches: Vec::new(), is_title: true };
    let (markdown, highlights) = excerpt(best.map_or(&title, |block| &block.best));
    Ok(Snippet { markdown, highlights, blocks: matched.iter().map(|block| block.block).collect() })
}

/// The snippet of a document that no term and no pattern matches: the beginning of a block, or of
/// the title.
pub(super) fn of_block(texts: &DocumentTexts, block: BlockId) -> Snippet {
    let mut blocks = texts.blocks().skip(1);
    let text = blocks.find(|found| found.id == block).and_then(|found| found.words().next());
    let text = text.unwrap_or_else(|| texts.title());
    let (markdown, highlights) =
        excerpt(&MatchedText { text, matches: Vec::new(), is_title: false });
    Snippet { markdown, highlights, blocks: Vec::new() }
}

/// The first `most` blocks that match, in reading order.
pub(super) fn matched_blocks<'d>(
    texts: &'d DocumentTexts,
    highlighter: &Highlighter<'_>,
    matcher: Option<&mut PatternSetMatcher<'_>>,
    most: usize,
) -> Result<Vec<MatchedBlock<'d>>> {
    let mut by_pattern = match matcher {
        Some(matcher) => pattern_matches(texts, matcher, most)?,
        None => BTreeMap::new(),
    };
    let mut found = Vec::new();
    for (index, block) in texts.blocks().enumerate() {
        if found.len() >= most {
            break;
        }
        let ranges = by_pattern.remove(&index);
        let has_pattern = ranges.is_some();
        let mut best: Option<(_, MatchedText<'_>)> = None;
        for_each_matched_text(
            &block,
            index == 0,
            highlighter,
            ranges.unwrap_or_default(),
            |matched| {
                let rank = (!matched.is_title, distinct_matches(&matched));
                if best.as_ref().is_none_or(|(best_rank, _)| *best_rank < rank) {
                    best = Some((rank, matched));
                }
            },
        );
        let text =
            || MatchedText { text: block.pattern(), matches: Vec::new(), is_title: index == 0 };
        let best = match best {
            Some((_, matched)) => matched,
            None if has_pattern => text(),
            None => continue,
        };
        found.push(MatchedBlock { block: block.id, has_pattern, best });
    }
    Ok(found)
}

/// The first `most` blocks that a pattern matches, by index, with the ranges that match.
fn pattern_matches(
    texts: &DocumentTexts,
    matcher: &mut PatternSetMatcher<'_>,
    most: usize,
) -> Result<BTreeMap<usize, Vec<Range<usize>>>> {
    let mut matches = BTreeMap::new();
    for (index, block) in texts.blocks().enumerate() {
        let text = block.pattern();
        if matcher.is_match(&text)? {
            // Empty for a match that consumes no text.
            matches.insert(index, matcher.ranges(&text)?);
            if matches.len() >= most {
                break;
            }
        }
    }
    Ok(matches)
}

/// Visits the texts of a block that match: words match in plain text, patterns in the markdown of
/// replies.
fn for_each_matched_text<'t>(
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
        // Plain text that is the markdown without its markers is shown once, with both kinds of
        // matches. Patterns do not search the other texts, even if the markdown ends like one.
        if index == 0
            && !by_pattern.is_empty()
            && let Some(start) = block.pattern().strip_suffix(&*text).map(str::len)
        {
            let (within, others) = by_pattern.into_iter().partition(|range| range.start >= start);
            by_pattern = others;
            let moved = |range: Range<usize>| range.start - start..range.end - start;
            matches.extend(Vec::into_iter(within).map(moved));
        }
        if !matches.is_empty() {
            let matches = merge(matches);
            visit(MatchedText { text, matches, is_title: is_root && index == 0 });
        }
    }
    if !by_pattern.is_empty() {
        let matches = merge(by_pattern);
        visit(MatchedText { text: block.pattern(), matches, is_title: is_root });
    }
}

/// Sorts ranges, merges adjacent and overlapping ones, and drops empty ones.
fn merge(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    ranges
}

fn distinct_matches(matched: &MatchedText<'_>) -> usize {
    if matched.matches.len() < 2 {
        return matched.matches.len();
    }
    let words = matched.matches.iter().map(|range| slice(&matched.text, range.clone()));
    words.map(fold).collect::<HashSet<_>>().len()
}

/// A part of a text, by offsets that were found in it.
fn slice(text: &str, range: Range<usize>) -> &str {
    let part = text.get(range);
    debug_assert!(part.is_some(), "offsets of a text lie at character boundaries");
    part.unwrap_or("")
}

/// The part of the text with the most matches, on one line, with asterisks around matches, and the
/// ranges of the matches in it.
fn excerpt(matched: &MatchedText<'_>) -> (String, Vec<Range<usize>>) {
    let text = &*matched.text;
    let window = window(matched);
    let decoration = 4 * matched.matches.len() + 2 * '…'.len_utf8();
    let mut markdown = String::with_capacity(window.len() + decoration);
    let mut highlights = Vec::new();
    let mut copied = window.start;
    let push = |markdown: &mut String, range: Range<usize>| {
        let part = slice(text, range);
        if is_printable_ascii(part) {
            markdown.push_str(part);
        } else {
            let on_one_line = |char: char| if char.is_control() { ' ' } else { char };
            markdown.extend(part.chars().map(on_one_line));
        }
    };
    if window.start > 0 {
        markdown.push('…');
    }
    for range in &matched.matches {
        let range = range.start.max(window.start)..range.end.min(window.end);
        if range.is_empty() {
            continue;
        }
        push(&mut markdown, copied..range.start);
        markdown.push_str("**");
        let start = markdown.len();
        push(&mut markdown, range.clone());
        highlights.push(start..markdown.len());
        markdown.push_str("**");
        copied = range.end;
    }
    push(&mut markdown, copied..window.end);
    if window.end < text.len() {
        markdown.push('…');
    }
    (markdown, highlights)
}

/// The fast path of most texts: without control characters.
fn is_printable_ascii(text: &str) -> bool {
    // No early return, so that the loop is vectorized.
    text.bytes().fold(true, |all, byte| all & matches!(byte, b' '..=b'~'))
}

/// The byte range to show: all of a short text. Otherwise it starts and ends between words where
/// possible, and ends within a match only if the match is longer than a snippet.
fn window(matched: &MatchedText<'_>) -> Range<usize> {
    let text = &*matched.text;
    let longest = offset_after(text, 0, MAX_SNIPPET_CHARS);
    let Some(longest) = longest.filter(|end| *end < text.len()) else {
        return 0..text.len();
    };
    let Some(first) = densest_match(matched) else { return 0..end_of_word(text, 0, longest) };
    let earliest = offset_before(text, first.start, MAX_CHARS_BEFORE_MATCH);
    let start = start_of_word(text, earliest, first.start);
    let end = offset_after(text, start, MAX_SNIPPET_CHARS).unwrap_or(text.len());
    if end == text.len() {
        return start..end;
    }
    let is_cut =
        |range: &&Range<usize>| range.start < end && end < range.end && range.start > first.start;
    let end = matched.matches.iter().find(is_cut).map_or(end, |range| range.start);
    let last = matched.matches.iter().rfind(|range| range.end <= end);
    let last_end = last.map_or(first.end, |range| range.end);
    start..end_of_word(text, last_end.min(end), end)
}

/// The match that begins the window with the most matches; the first of several.
fn densest_match<'m>(matched: &'m MatchedText<'_>) -> Option<&'m Range<usize>> {
    let (text, matches) = (&*matched.text, &matched.matches);
    let chars = MAX_SNIPPET_CHARS - MAX_CHARS_BEFORE_MATCH;
    let is_ascii = text.is_ascii();
    let mut best: Option<(usize, &Range<usize>)> = None;
    // Two pointers: the end of the window only moves forward.
    let mut window_end = 0;
    for (index, first) in matches.iter().enumerate() {
        let limit = if is_ascii {
            first.start.saturating_add(chars)
        } else {
            offset_after(text, first.start, chars).unwrap_or(text.len())
        };
        window_end = window_end.max(index);
        while matches.get(window_end).is_some_and(|range| range.end <= limit) {
            window_end += 1;
        }
        let count = window_end - index;
        if best.is_none_or(|(best_count, _)| count > best_count) {
            best = Some((count, first));
        }
    }
    best.map(|(_, first)| first)
}

/// The offset `chars` characters after `from`; `None` if the text has fewer.
fn offset_after(text: &str, from: usize, chars: usize) -> Option<usize> {
    // A character has at least one byte, so a shorter rest need not be counted.
    let rest = text.get(from..).filter(|rest| rest.len() > chars)?;
    rest.char_indices().nth(chars).map(|(offset, _)| from + offset)
}

/// The offset `chars` characters before `to`, or 0.
fn offset_before(text: &str, to: usize, chars: usize) -> usize {
    slice(text, 0..to).char_indices().rev().take(chars).last().map_or(0, |(offset, _)| offset)
}

/// The offset after the first whitespace in `from..to`, or `from`.
fn start_of_word(text: &str, from: usize, to: usize) -> usize {
    if from == 0 {
        return 0;
    }
    let space = slice(text, from..to).char_indices().find(|(_, char)| char.is_whitespace());
    space.map_or(from, |(offset, char)| from + offset + char.len_utf8())
}

/// The offset of the last whitespace in `from..to`, or `to`.
fn end_of_word(text: &str, from: usize, to: usize) -> usize {
    slice(text, from..to).rfind(char::is_whitespace).map_or(to, |offset| from + offset)
}

#[cfg(test)]
mod tests {
    use leafbase_model::TermMode;
    use leafbase_search::ParsedQuery;

    use super::*;

    fn shown(text: &str, asked: &[&str]) -> (String, Vec<Range<usize>>) {
        let matches = ParsedQuery::new(asked, TermMode::All).unwrap().match_ranges(text);
        excerpt(&MatchedText { text: text.into(), matches: merge(matches), is_title: false })
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
            for hit in highlights {
                let (before, behind) = (&markdown[..hit.start], &markdown[hit.end..]);
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
