//! The tokenizer's fast path for ASCII: the same words as UAX 29, without its tables.

use std::ops::Range;

use crate::text_segments::word_segment;
use crate::token::{TokenKind, TokenVisitor, push_word, truncated};

/// Visits every token of a lowercased ASCII text that starts at byte `at` of the whole.
pub(crate) fn each_token(
    lower: &str,
    at: usize,
    position: &mut usize,
    visit: &mut impl TokenVisitor,
) {
    let bytes = lower.as_bytes();
    let mut from = 0;
    while let Some(start) = next_word(bytes, from) {
        let part_end = part_end(bytes, start);
        let end = word_end(bytes, part_end);
        if end == part_end && byte_at(bytes, start).is_ascii_alphanumeric() {
            visit(text_of(lower, start..end), at + start..at + end, *position, TokenKind::Word);
            *position += 1;
        } else {
            *position += visit_compound(lower, start..end, at, *position, visit);
        }
        from = end;
    }
}

/// Visits the tokens of a word that may have parts. Returns the number of its positions.
fn visit_compound(
    lower: &str,
    range: Range<usize>,
    at: usize,
    position: usize,
    visit: &mut impl TokenVisitor,
) -> usize {
    // Underscores alone are not a word.
    let Some(segment) = word_segment(lower, range) else { return 0 };
    push_word(segment.sections(), &mut |range: Range<usize>, offset, kind| {
        let text = text_of(lower, range.clone());
        visit(text, at + range.start..at + range.end, position + offset, kind);
    });
    segment.positions()
}

fn text_of(lower: &str, range: Range<usize>) -> &str {
    let text = lower.get(range);
    debug_assert!(text.is_some(), "a word lies in its text");
    truncated(text.unwrap_or(""))
}

fn next_word(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.iter().position(|byte| is_word_byte(*byte)).map(|offset| from + offset)
}

const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The byte at an offset; 0, which no word contains, after the end.
fn byte_at(bytes: &[u8], offset: usize) -> u8 {
    bytes.get(offset).copied().unwrap_or(0)
}

/// The end of the letters, or of the digits, that start here.
fn part_end(bytes: &[u8], start: usize) -> usize {
    let is_digits = byte_at(bytes, start).is_ascii_digit();
    let is_in_part =
        |byte: &u8| if is_digits { byte.is_ascii_digit() } else { byte.is_ascii_alphabetic() };
    start + bytes.iter().skip(start).take_while(|byte| is_in_part(byte)).count()
}

/// The end of the word that an offset is in.
fn word_end(bytes: &[u8], mut offset: usize) -> usize {
    loop {
        if is_word_byte(byte_at(bytes, offset)) {
            offset += 1;
        } else if offset > 0
            && is_joined(
                byte_at(bytes, offset - 1),
                byte_at(bytes, offset),
                byte_at(bytes, offset + 1),
            )
        {
            offset += 2;
        } else {
            return offset;
        }
    }
}

/// Whether punctuation between two bytes does not end a word (rules WB6, WB7, WB11 and WB12).
const fn is_joined(before: u8, punctuation: u8, after: u8) -> bool {
    match punctuation {
        b'.' | b'\'' if before.is_ascii_digit() => after.is_ascii_digit(),
        b',' | b';' => before.is_ascii_digit() && after.is_ascii_digit(),
        b'.' | b'\'' | b':' => before.is_ascii_alphabetic() && after.is_ascii_alphabetic(),
        _ => false,
    }
}
