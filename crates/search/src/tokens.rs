//! Tokens: the words of a text as an index keeps them.

use std::ops::Range;

use crate::fold::fold;
use crate::pieces::{Piece, Section, pieces};

/// The longest text of a token, in bytes. Longer words are cut, in documents and queries alike.
const LONGEST: usize = 255;

/// What a token is of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A word without parts.
    Word,
    /// A word with parts, or some of it: it takes the positions of its parts.
    Compound,
    /// A part of such a word.
    Part,
    /// Two characters of a script without spaces, or the last one of a run.
    Characters,
}

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// Its folded text.
    pub text: String,
    /// Where it stands in the source, in bytes.
    pub range: Range<usize>,
    /// Which word of the text it is, from 0: parts count one by one, and so do characters of a run.
    pub position: usize,
    /// What it is.
    pub kind: TokenKind,
}

/// Every token of `text`, sorted by where it starts. A compound comes before its parts.
///
/// Each character of a run starts a token, the last one by itself: so one character is found as the beginning of a token, and
/// more as pairs in a row.
pub fn tokens(text: &str) -> Vec<Token> {
    let (mut found, mut position) = (Vec::new(), 0);
    for piece in pieces(text) {
        let mut push = |range: Range<usize>, offset, kind| {
            let folded = folded(text, &range);
            if !folded.is_empty() {
                found.push(Token { text: folded, range, position: position + offset, kind });
            }
        };
        match &piece {
            Piece::Word(sections) => push_word(sections, &mut push),
            Piece::Run(characters) => {
                for (offset, character) in characters.iter().enumerate() {
                    let end = characters.get(offset + 1).unwrap_or(character).end;
                    push(character.start..end, offset, TokenKind::Characters);
                }
            }
        }
        position += piece.positions();
    }
    found
}

fn push_word(sections: &[Section], push: &mut impl FnMut(Range<usize>, usize, TokenKind)) {
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

/// From where the first of these ranges starts to where the last one ends.
pub(crate) fn span<'r>(mut ranges: impl DoubleEndedIterator<Item = &'r Range<usize>>) -> Option<Range<usize>> {
    let first = ranges.next()?;
    Some(first.start..ranges.next_back().unwrap_or(first).end)
}

/// The folded text of a range, cut if it is too long.
pub(crate) fn folded(text: &str, range: &Range<usize>) -> String {
    let mut folded = fold(text.get(range.clone()).unwrap_or_default());
    if folded.len() > LONGEST {
        let cut = (0..=LONGEST).rev().find(|place| folded.is_char_boundary(*place)).unwrap_or_default();
        folded.truncate(cut);
    }
    folded
}
