//! Edits of the markdown of a page at exact texts.

use leafbase_markdown as markdown;
use leafbase_model::{
    BlockData, BlockDraft, BlockKind, Error, ErrorKind, Limits, MarkdownEdit, MarkdownEditKind,
    Result, TextStyle, invariant,
};

use crate::core::redaction::shown_markdown;

/// Most lines that an error names.
const MAX_NAMED_LINES: usize = 8;

/// Most characters of a line that an error shows.
const MAX_SHOWN_CHARACTERS: usize = 80;

/// The blocks of a page after an edit. They are `page` as markdown before it.
pub(super) fn edited(
    drafts: Vec<BlockDraft>,
    page: &str,
    edit: &MarkdownEdit,
    parse: &dyn Fn(&str) -> Result<Vec<BlockDraft>>,
) -> Result<Vec<BlockDraft>> {
    let MarkdownEdit { edit: kind, text, markdown } = edit;
    if text.trim().is_empty() {
        return Err(Error::validation("expected a text that is not blank").at("text"));
    }
    let parsed = |text: &str| parse(text).map_err(|error| error.at("markdown"));
    match kind {
        MarkdownEditKind::Replace => {
            let places: Vec<_> = page.match_indices(text.as_str()).map(|(at, _)| at).collect();
            let [at] = places.as_slice() else { return Err(not_one(page, text, &places)) };
            let (before, rest) = page.split_at(*at);
            let Some(after) = rest.strip_prefix(text.as_str()) else {
                invariant!("a text is where it was found")
            };
            parsed(&format!("{before}{markdown}{after}"))
        }
        MarkdownEditKind::InsertBefore | MarkdownEditKind::InsertAfter => {
            let is_after = *kind == MarkdownEditKind::InsertAfter;
            let is_wanted = |data: &BlockData| shown_markdown(data).contains(text.as_str());
            insert(drafts, page, text, &is_wanted, parsed(markdown)?, &|_, at| {
                at + usize::from(is_after)
            })
        }
        MarkdownEditKind::InsertUnder => {
            let wanted = text.trim();
            let is_wanted = |data: &BlockData| {
                heading_level(data).is_some()
                    && (shown_markdown(data) == wanted
                        || markdown::plain_text(&data.inline) == wanted)
            };
            insert(drafts, page, text, &is_wanted, parsed(markdown)?, &section_end)
        }
    }
}

/// Inserts blocks where `place` says, beside the one block that `is_wanted` accepts.
fn insert(
    mut drafts: Vec<BlockDraft>,
    page: &str,
    text: &str,
    is_wanted: &dyn Fn(&BlockData) -> bool,
    mut inserted: Vec<BlockDraft>,
    place: &dyn Fn(&[BlockDraft], usize) -> usize,
) -> Result<Vec<BlockDraft>> {
    let mut found = Vec::new();
    let mut waiting = vec![(Vec::new(), &drafts)];
    while let Some((path, siblings)) = waiting.pop() {
        for (at, draft) in siblings.iter().enumerate() {
            let path = [path.as_slice(), &[at]].concat();
            if is_wanted(&draft.data) {
                found.push(path.clone());
            }
            waiting.push((path, &draft.content));
        }
    }
    let [path] = found.as_slice() else {
        let places: Vec<_> = page.match_indices(text).map(|(at, _)| at).collect();
        // A text that runs through several blocks is in none of them.
        let places = if found.is_empty() { Vec::new() } else { places };
        return Err(not_one(page, text, &places));
    };
    let Some((last, above)) = path.split_last() else { invariant!("a block has a place") };
    let mut siblings = &mut drafts;
    for at in above {
        let Some(parent) = siblings.get_mut(*at) else { invariant!("a block found is there") };
        siblings = &mut parent.content;
    }
    let Some(beside) = siblings.get(*last) else { invariant!("a block found is there") };
    if !matches!(beside.data.kind, BlockKind::Text(format) if format.style.is_heading()) {
        for draft in &mut inserted {
            let deeper = draft.data.indentation.saturating_add(beside.data.indentation);
            draft.data.indentation = deeper.min(Limits::INDENTATION);
        }
    }
    let at = place(siblings, *last).min(siblings.len());
    siblings.splice(at..at, inserted);
    Ok(drafts)
}

/// Where the section of the heading at `at` ends: before the next one of its level, or of a higher
/// one.
fn section_end(siblings: &[BlockDraft], at: usize) -> usize {
    let level = |draft: &BlockDraft| heading_level(&draft.data);
    let Some(own) = siblings.get(at).and_then(level) else { return at + 1 };
    debug_assert!(at < siblings.len(), "a section begins at one of the siblings");
    let below = siblings.get(at + 1..).unwrap_or_default();
    let ends = below.iter().position(|draft| level(draft).is_some_and(|level| level <= own));
    ends.map_or(siblings.len(), |length| at + 1 + length)
}

fn heading_level(data: &BlockData) -> Option<u8> {
    match data.kind {
        BlockKind::Text(format) => match format.style {
            TextStyle::H1 => Some(1),
            TextStyle::H2 => Some(2),
            TextStyle::H3 => Some(3),
            TextStyle::H4 => Some(4),
            _ => None,
        },
        _ => None,
    }
}

/// The error of a text that is not in the page, or there more than once.
fn not_one(page: &str, text: &str, places: &[usize]) -> Error {
    let (mut lines, mut line, mut counted) = (Vec::new(), 1, 0);
    for at in places {
        line += page.get(counted..*at).map_or(0, |between| between.matches('\n').count());
        counted = *at;
        lines.push(line);
    }
    lines.dedup();
    let message = match lines.as_slice() {
        [] => match nearest_line(page, text) {
            Some((number, line)) => {
                format!("the page does not have this text; line {number} is most like it: {line:?}")
            }
            None => "the page does not have this text".to_owned(),
        },
        [line] => format!("the text is on line {line} more than once: give more of it"),
        [rest @ .., last] => {
            let named = rest.iter().take(MAX_NAMED_LINES).map(usize::to_string);
            let named = named.collect::<Vec<_>>().join(", ");
            let more = rest.len().saturating_sub(MAX_NAMED_LINES);
            let more = if more == 0 { String::new() } else { format!(", {more} more") };
            format!("the text is on lines {named}{more} and {last}: give more of it")
        }
    };
    Error::new(ErrorKind::Conflict, message).at("text")
}

/// The line that has most words of the text.
fn nearest_line<'p>(page: &'p str, text: &str) -> Option<(usize, String)> {
    let words = |text: &'p str| text.split(|it: char| !it.is_alphanumeric());
    let wanted: std::collections::HashSet<&str> =
        text.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let common = |line: &'p str| words(line).filter(|word| wanted.contains(word)).count();
    let lines = (1..).zip(page.lines()).map(|(number, line)| (common(line), number, line));
    let best = lines.max_by_key(|(common, number, _)| (*common, std::cmp::Reverse(*number)));
    let (_, number, line) = best.filter(|(common, ..)| *common > 0)?;
    Some((number, line.chars().take(MAX_SHOWN_CHARACTERS).collect()))
}
