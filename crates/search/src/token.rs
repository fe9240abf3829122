//! Tokens, and how a word yields them.

use std::ops::Range;

use crate::fold::fold;
use crate::text_segments::WordSection;

/// The length of the longest token, in bytes. Longer words are truncated, in documents and queries
/// alike.
const MAX_TOKEN_BYTES: usize = 255;

/// The role of a token in its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A simple word.
    Word,
    /// A compound word, or a section of it. It has the position of its first part.
    Compound,
    /// A part of a compound.
    Part,
    /// Two characters of a script without spaces, or the last one of a run.
    Characters,
}

/// A token of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// Its folded text.
    pub text: String,
    /// Its range in the source, in bytes.
    pub range: Range<usize>,
    /// Its position in the text, from 0. Each part of a compound, and each character of a run,
    /// counts as one.
    pub position: usize,
    /// Its role in its word.
    pub kind: TokenKind,
}

/// Receives each token: its folded text, range, position and kind.
pub(crate) trait TokenVisitor: FnMut(&str, Range<usize>, usize, TokenKind) {}
impl<F: FnMut(&str, Range<usize>, usize, TokenKind)> TokenVisitor for F {}

/// Emits the tokens of a word: of a compound also the whole, and each section with several parts.
/// `push` receives their ranges, and their positions within the word.
pub(crate) fn push_word(
    sections: &[WordSection],
    push: &mut impl FnMut(Range<usize>, usize, TokenKind),
) {
    if let [section] = sections
        && let [only] = section.as_slice()
    {
        return push(only.clone(), 0, TokenKind::Word);
    }
    if sections.len() > 1
        && let Some(whole) = span(sections.iter().flatten())
    {
        push(whole, 0, TokenKind::Compound);
    }
    let mut offset = 0;
    for section in sections {
        if section.len() > 1
            && let Some(whole) = span(section.iter())
        {
            push(whole, offset, TokenKind::Compound);
        }
        for part in section {
            push(part.clone(), offset, TokenKind::Part);
            offset += 1;
        }
    }
}

/// The range from the start of the first of these ranges to the end of the last one.
pub(crate) fn span<'r>(
    mut ranges: impl DoubleEndedIterator<Item = &'r Range<usize>>,
) -> Option<Range<usize>> {
    let first = ranges.next()?;
    Some(first.start..ranges.next_back().unwrap_or(first).end)
}

/// The folded and truncated text of a range, which has to lie on character boundaries.
pub(crate) fn folded(text: &str, range: &Range<usize>) -> String {
    let source = text.get(range.clone());
    debug_assert!(source.is_some(), "a token lies on character boundaries");
    let mut folded = fold(source.unwrap_or(""));
    folded.truncate(truncated(&folded).len());
    folded
}

/// A folded text, truncated at a character boundary.
pub(crate) fn truncated(folded: &str) -> &str {
    if folded.len() <= MAX_TOKEN_BYTES {
        return folded;
    }
    // A character has at most four bytes, so this ends soon; offset 0 is always a boundary.
    let end = (0..=MAX_TOKEN_BYTES).rev().find(|end| folded.is_char_boundary(*end));
    folded.split_at(end.unwrap_or(0)).0
}
