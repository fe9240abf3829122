//! The tokenizer: UAX 29 words, folded, with the parts of compounds.

use std::ops::Range;

use crate::ascii_tokens;
use crate::text_segments::{TextSegment, text_segments};
use crate::token::{Token, TokenKind, TokenVisitor, folded, push_word};

/// Every token of `text`, sorted by start. A compound precedes its parts.
///
/// Each character of a script without spaces starts a token of two characters, the last of a run
/// one of itself. So one character is found as a prefix, and more as consecutive pairs.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    each_token(text, &mut |text: &str, range, position, kind| {
        found.push(Token { text: text.to_owned(), range, position, kind });
    });
    found
}

/// Visits every token of `text`, in the order of [`tokens`].
pub(crate) fn each_token(text: &str, visit: &mut impl TokenVisitor) {
    each_token_in(&mut String::new(), text, visit);
}

/// Like [`each_token`], with a buffer for the lowercased text: ASCII words are not allocated.
pub(crate) fn each_token_in(lower: &mut String, text: &str, visit: &mut impl TokenVisitor) {
    lower.clear();
    lower.push_str(text);
    lower.make_ascii_lowercase();
    if text.is_ascii() {
        ascii_tokens::each_token(lower, 0, &mut 0, visit);
        return;
    }
    // A text with few non-ASCII words takes the fast path between them.
    let (mut from, mut position) = (0, 0);
    while from < text.len() {
        let end = chunk_end(text, from);
        // Chunks end at ASCII bytes, and lowercasing ASCII keeps offsets.
        let (Some(chunk), Some(lower)) = (text.get(from..end), lower.get(from..end)) else {
            debug_assert!(false, "chunks lie on character boundaries");
            return;
        };
        if lower.is_ascii() {
            ascii_tokens::each_token(lower, from, &mut position, visit);
        } else {
            each_unicode_token(chunk, from, &mut position, visit);
        }
        from = end;
    }
}

/// The end of the chunk that starts at `from`: the next space or line break. No word contains one,
/// nor a combining mark after one.
fn chunk_end(text: &str, from: usize) -> usize {
    let mut bytes = text.bytes().enumerate().skip(from + 1);
    bytes.find(|(_, byte)| matches!(byte, b' ' | b'\n')).map_or(text.len(), |(at, _)| at)
}

/// Visits the tokens of a text of any script, which starts at byte `at` of the whole.
fn each_unicode_token(text: &str, at: usize, position: &mut usize, visit: &mut impl TokenVisitor) {
    for segment in text_segments(text) {
        let mut push = |range: Range<usize>, offset, kind| {
            let folded = folded(text, &range);
            if !folded.is_empty() {
                visit(&folded, at + range.start..at + range.end, *position + offset, kind);
            }
        };
        match &segment {
            TextSegment::Word(sections) => push_word(sections, &mut push),
            TextSegment::Unspaced(characters) => {
                for (offset, character) in characters.iter().enumerate() {
                    let end = characters.get(offset + 1).unwrap_or(character).end;
                    push(character.start..end, offset, TokenKind::Characters);
                }
            }
        }
        *position += segment.positions();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;
    use proptest::test_runner::TestRunner;

    use super::{Token, each_unicode_token, tokens};

    /// The tokens of a text without the fast path for ASCII.
    fn slow_tokens(text: &str) -> Vec<Token> {
        let mut found = Vec::new();
        each_unicode_token(text, 0, &mut 0, &mut |text: &str, range, position, kind| {
            found.push(Token { text: text.to_owned(), range, position, kind });
        });
        found
    }

    /// ASCII, and characters that join, separate or modify their neighbours.
    fn characters() -> impl Strategy<Value = char> {
        let ascii = (0..128_u8).prop_map(char::from);
        let joining = select("aZ09_.,;:' \"-\r\n\t\0".chars().collect::<Vec<_>>());
        let others = "éß東京ひกㅏ\u{301}\u{200d}\u{ad}\u{2003}\u{85}\u{feff}’·１²Ⅷ🎉🇫א\u{1f3fd}";
        prop_oneof![4 => ascii, 4 => joining, 1 => select(others.chars().collect::<Vec<_>>())]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn the_fast_path_agrees_with_unicode_segmentation(letters in prop::collection::vec(characters(), 0..24)) {
            let text: String = letters.into_iter().collect();
            prop_assert_eq!(tokens(&text), slow_tokens(&text), "{:?}", text);
        }
    }

    #[test]
    fn the_comparison_detects_words_that_are_split_at_full_stops() {
        let texts = prop::collection::vec(characters(), 0..24)
            .prop_map(|letters| letters.into_iter().collect::<String>());
        let outcome = TestRunner::deterministic().run(&texts, |text| {
            prop_assert_eq!(tokens(&text.replace('.', " ")), slow_tokens(&text));
            Ok(())
        });
        assert!(outcome.is_err());
    }

    #[test]
    fn long_words_are_truncated_alike() {
        for text in
            ["Ab".repeat(200), "1".repeat(300), "a1".repeat(200), format!("é {}", "x".repeat(256))]
        {
            assert_eq!(tokens(&text), slow_tokens(&text), "{text}");
        }
    }
}
