//! What a search shows of a document: a piece of the block that has most of what was asked for, and
//! the blocks that have any.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use leafbase_model::{BlockId, Result};
use leafbase_search::{Highlighter, fold};

use super::patterns::PatternSetMatcher;
use crate::core::search_index::documents::{BlockTexts, DocumentTexts};

/// The longest snippet, in characters, without asterisks and dots.
pub(super) const LONGEST: usize = 240;
/// So many of them at most stand before the first hit.
const BEFORE: usize = 60;
/// The most blocks that are named of a document.
pub(super) const MOST_BLOCKS: usize = 100;

/// What is shown of a document.
pub(super) struct Shown {
    pub(super) markdown: String,
    /// Bytes of it.
    pub(super) highlights: Vec<Range<usize>>,
    pub(super) blocks: Vec<BlockId>,
}

/// A text with hits.
struct Found<'t> {
    text: Cow<'t, str>,
    /// In order, and apart.
    hits: Vec<Range<usize>>,
    is_title: bool,
}

/// Shows the document. Of texts that have equally many different hits the first is shown; the title
/// only if no other text has any.
pub(super) fn show(
    texts: &DocumentTexts,
    highlighter: &Highlighter<'_>,
    matching: Option<&mut PatternSetMatcher<'_>>,
) -> Result<Shown> {
    let mut by_pattern =
        matching.map(|matching| by_pattern(texts, matching)).transpose()?.unwrap_or_default();
    let (mut best, mut blocks): (Option<(_, Found<'_>)>, Vec<BlockId>) = (None, Vec::new());
    for (number, block) in texts.blocks().enumerate() {
        let matched = if by_pattern.is_empty() { None } else { by_pattern.remove(&number) };
        let mut is_found = matched.is_some();
        each_found(&block, number == 0, highlighter, matched.unwrap_or_default(), |found| {
            is_found = true;
            let rank = (!found.is_title, different(&found));
            if best.as_ref().is_none_or(|(before, _)| *before < rank) {
                best = Some((rank, found));
            }
        });
        blocks.extend(is_found.then_some(block.id));
        if blocks.len() >= MOST_BLOCKS {
            break;
        }
    }
    let title = || Found { text: texts.title(), hits: Vec::new(), is_title: true };
    let (markdown, highlights) = cut(&best.map_or_else(title, |(_, found)| found));
    Ok(Shown { markdown, highlights, blocks })
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
            if matches.len() >= MOST_BLOCKS {
                break;
            }
        }
    }
    Ok(matches)
}

/// Hands over the texts of a block that have hits: words are found in plain text, patterns in the
/// markdown that replies show.
fn each_found<'t>(
    block: &BlockTexts<'t>,
    is_root: bool,
    highlighter: &Highlighter<'_>,
    mut by_pattern: Vec<Range<usize>>,
    mut visit: impl FnMut(Found<'t>),
) {
    if highlighter.is_empty() && by_pattern.is_empty() {
        return;
    }
    for (index, text) in block.words().enumerate() {
        let mut hits = highlighter.matches(&text);
        if !by_pattern.is_empty() && text == block.pattern() {
            hits.append(&mut by_pattern);
        }
        if !hits.is_empty() {
            visit(Found { text, hits: apart(hits), is_title: is_root && index == 0 });
        }
    }
    if !by_pattern.is_empty() {
        visit(Found { text: block.pattern(), hits: apart(by_pattern), is_title: is_root });
    }
}

/// In order, those that touch put together, without those of nothing.
fn apart(mut hits: Vec<Range<usize>>) -> Vec<Range<usize>> {
    hits.sort_unstable_by_key(|hit| (hit.start, hit.end));
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(hits.len());
    for hit in hits.into_iter().filter(|hit| !hit.is_empty()) {
        match apart.last_mut() {
            Some(last) if hit.start <= last.end => last.end = last.end.max(hit.end),
            _ => apart.push(hit),
        }
    }
    apart
}

fn different(found: &Found<'_>) -> usize {
    if found.hits.len() < 2 {
        return found.hits.len();
    }
    let said = found.hits.iter().filter_map(|hit| found.text.get(hit.clone()));
    said.map(fold).collect::<HashSet<_>>().len()
}

/// The piece of the text that has most hits, these between asterisks, and where they are. Lines
/// become one.
fn cut(found: &Found<'_>) -> (String, Vec<Range<usize>>) {
    let (text, window) = (&*found.text, window(found));
    let room = window.len() + 4 * found.hits.len() + 2 * '…'.len_utf8();
    let (mut markdown, mut highlights, mut at) =
        (String::with_capacity(room), Vec::new(), window.start);
    let say = |markdown: &mut String, range: Range<usize>| {
        let said = text.get(range).unwrap_or_default();
        if is_on_a_line(said) {
            markdown.push_str(said);
        } else {
            markdown
                .extend(said.chars().map(|letter| if letter.is_control() { ' ' } else { letter }));
        }
    };
    if window.start > 0 {
        markdown.push('…');
    }
    for hit in &found.hits {
        let hit = hit.start.max(window.start)..hit.end.min(window.end);
        if hit.is_empty() {
            continue;
        }
        say(&mut markdown, at..hit.start);
        markdown.push_str("**");
        let start = markdown.len();
        say(&mut markdown, hit.clone());
        highlights.push(start..markdown.len());
        markdown.push_str("**");
        at = hit.end;
    }
    say(&mut markdown, at..window.end);
    if window.end < text.len() {
        markdown.push('…');
    }
    (markdown, highlights)
}

/// Whether the text is known to have no control characters.
fn is_on_a_line(text: &str) -> bool {
    text.bytes().fold(true, |all, byte| all & matches!(byte, b' '..=b'~'))
}

/// The bytes of the text that are shown: all, if it is short. Otherwise they begin and end between
/// words where there are any, and end within a hit only if that is longer than a snippet.
fn window(found: &Found<'_>) -> Range<usize> {
    let text = &*found.text;
    let Some(longest) = place(text, 0, LONGEST).filter(|end| *end < text.len()) else {
        return 0..text.len();
    };
    let Some(first) = densest(found) else { return 0..before_a_word(text, 0, longest) };
    let start = after_a_space(text, place_before(text, first.start, BEFORE), first.start);
    let end = place(text, start, LONGEST).unwrap_or(text.len());
    if end == text.len() {
        return start..end;
    }
    let is_cut = |hit: &&Range<usize>| hit.start < end && end < hit.end && hit.start > first.start;
    let end = found.hits.iter().find(is_cut).map_or(end, |hit| hit.start);
    let last = found.hits.iter().rfind(|hit| hit.end <= end).map_or(first.end, |hit| hit.end);
    start..before_a_word(text, last.min(end), end)
}

/// The hit from which on most hits are close together; the first of several.
fn densest<'f>(found: &'f Found<'_>) -> Option<&'f Range<usize>> {
    let hits = &found.hits;
    let (mut best, mut behind): (Option<(usize, &Range<usize>)>, usize) = (None, 0);
    for (index, first) in hits.iter().enumerate() {
        let limit = first.start.saturating_add(LONGEST - BEFORE);
        behind = behind.max(index);
        while hits.get(behind).is_some_and(|hit| hit.end <= limit) {
            behind += 1;
        }
        if best.is_none_or(|(most, _)| behind - index > most) {
            best = Some((behind - index, first));
        }
    }
    best.map(|(_, first)| first)
}

/// The place so many characters behind `from`; none if the text is over before.
fn place(text: &str, from: usize, characters: usize) -> Option<usize> {
    // A character has a byte at least.
    let rest = text.get(from..).filter(|rest| rest.len() > characters)?;
    rest.char_indices().nth(characters).map(|(offset, _)| from + offset)
}

/// The place so many characters before `to`; the beginning if there are fewer.
fn place_before(text: &str, to: usize, characters: usize) -> usize {
    let before = text.get(..to).unwrap_or_default();
    before.char_indices().rev().take(characters).last().map_or(0, |(offset, _)| offset)
}

/// The first place behind a space from `from` on, up to `to`; `from` if there is none.
fn after_a_space(text: &str, from: usize, to: usize) -> usize {
    if from == 0 {
        return 0;
    }
    let between = text.get(from..to).unwrap_or_default();
    let space = between.char_indices().find(|(_, letter)| letter.is_whitespace());
    space.map_or(from, |(offset, letter)| from + offset + letter.len_utf8())
}

/// The last place before a space, from `from` up to `to`; `to` if there is none.
fn before_a_word(text: &str, from: usize, to: usize) -> usize {
    let between = text.get(from..to).unwrap_or_default();
    between.rfind(char::is_whitespace).map_or(to, |offset| from + offset)
}

#[cfg(test)]
mod tests {
    use leafbase_search::ParsedQuery;

    use super::*;

    fn shown(text: &str, asked: &[&str]) -> (String, Vec<Range<usize>>) {
        let hits = ParsedQuery::new(asked, false).unwrap().match_ranges(text);
        cut(&Found { text: text.into(), hits: apart(hits), is_title: false })
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
                assert!(markdown.chars().count() <= LONGEST + 4 * highlights.len() + 2);
                assert!(markdown.contains('…'));
            }
        }
    }
}
