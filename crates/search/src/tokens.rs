//! Tokens: the words of a text as an index keeps them.

use std::ops::Range;

use crate::fold::fold;
use crate::pieces::{Piece, Section, pieces};

mod plain;

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
/// Each character of a run starts a token, the last one by itself: so one character is found as the
/// beginning of a token, and more as pairs in a row.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    each_token(text, &mut |text, range, position, kind| {
        found.push(Token { text: text.to_owned(), range, position, kind });
    });
    found
}

/// Who is shown each token: its folded text, where it stands, its position and what it is.
pub(crate) trait Visit: FnMut(&str, Range<usize>, usize, TokenKind) {}
impl<F: FnMut(&str, Range<usize>, usize, TokenKind)> Visit for F {}

/// Shows every token of `text`, in the order of [`tokens`]. Nothing is kept of them: for plain
/// words nothing is allocated.
pub(crate) fn each_token(text: &str, visit: &mut impl Visit) {
    each_token_in(&mut String::new(), text, visit);
}

/// The same where there are many texts, whose letters are made small in one place after the other.
pub(crate) fn each_token_in(lower: &mut String, text: &str, visit: &mut impl Visit) {
    lower.clear();
    lower.push_str(text);
    lower.make_ascii_lowercase();
    if text.is_ascii() {
        plain::each_token(lower, 0, &mut 0, visit);
        return;
    }
    let (mut from, mut position) = (0, 0);
    while from < text.len() {
        let end = end_of_stretch(text, from);
        let (stretch, lower) =
            (text.get(from..end).unwrap_or_default(), lower.get(from..end).unwrap_or_default());
        if lower.is_ascii() {
            plain::each_token(lower, from, &mut position, visit);
        } else {
            each_of_any(stretch, from, &mut position, visit);
        }
        from = end;
    }
}

/// Where the stretch ends that starts here. No word goes on behind a space, and what is written
/// over a space is none.
fn end_of_stretch(text: &str, from: usize) -> usize {
    let mut bytes = text.bytes().enumerate().skip(from + 1);
    bytes.find(|(_, byte)| matches!(byte, b' ' | b'\n')).map_or(text.len(), |(at, _)| at)
}

/// The same for whatever is written.
fn each_of_any(text: &str, at: usize, position: &mut usize, visit: &mut impl Visit) {
    for piece in pieces(text) {
        let mut push = |range: Range<usize>, offset, kind| {
            let folded = folded(text, &range);
            if !folded.is_empty() {
                visit(&folded, at + range.start..at + range.end, *position + offset, kind);
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
        *position += piece.positions();
    }
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
pub(crate) fn span<'r>(
    mut ranges: impl DoubleEndedIterator<Item = &'r Range<usize>>,
) -> Option<Range<usize>> {
    let first = ranges.next()?;
    Some(first.start..ranges.next_back().unwrap_or(first).end)
}

/// The folded text of a range, cut if it is too long.
pub(crate) fn folded(text: &str, range: &Range<usize>) -> String {
    let mut folded = fold(text.get(range.clone()).unwrap_or_default());
    folded.truncate(cut(&folded).len());
    folded
}

/// What is kept of a folded text.
fn cut(folded: &str) -> &str {
    if folded.len() <= LONGEST {
        return folded;
    }
    let end = (0..=LONGEST).rev().find(|place| folded.is_char_boundary(*place)).unwrap_or_default();
    folded.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;
    use proptest::test_runner::TestRunner;

    use super::{Token, each_of_any, tokens};

    /// Every token, by the way that is for any script.
    fn slowly(text: &str) -> Vec<Token> {
        let mut found = Vec::new();
        each_of_any(text, 0, &mut 0, &mut |text: &str, range, position, kind| {
            found.push(Token { text: text.to_owned(), range, position, kind });
        });
        found
    }

    /// All of ASCII, and what joins, parts or changes what stands beside it.
    fn letters() -> impl Strategy<Value = char> {
        let ascii = (0..128_u8).prop_map(char::from);
        let joining = select("aZ09_.,;:' \"-\r\n\t\0".chars().collect::<Vec<_>>());
        let others = "éß東京ひกㅏ\u{301}\u{200d}\u{ad}\u{2003}\u{85}\u{feff}’·１²Ⅷ🎉🇫א\u{1f3fd}";
        prop_oneof![4 => ascii, 4 => joining, 1 => select(others.chars().collect::<Vec<_>>())]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn plain_words_are_cut_as_those_of_any_script(letters in prop::collection::vec(letters(), 0..24)) {
            let text: String = letters.into_iter().collect();
            prop_assert_eq!(tokens(&text), slowly(&text), "{:?}", text);
        }
    }

    #[test]
    fn a_way_that_parts_words_at_stops_would_be_found_out() {
        let texts = prop::collection::vec(letters(), 0..24)
            .prop_map(|letters| letters.into_iter().collect::<String>());
        let outcome = TestRunner::deterministic().run(&texts, |text| {
            prop_assert_eq!(tokens(&text.replace('.', " ")), slowly(&text));
            Ok(())
        });
        assert!(outcome.is_err());
    }

    #[test]
    fn long_words_are_cut_as_those_of_any_script() {
        for text in
            ["Ab".repeat(200), "1".repeat(300), "a1".repeat(200), format!("é {}", "x".repeat(256))]
        {
            assert_eq!(tokens(&text), slowly(&text), "{text}");
        }
    }
}
