//! Words of plain ASCII, which most are: as Unicode cuts them (UAX 29), without looking at its
//! tables.

use std::ops::Range;

use super::{TokenKind, Visit, cut, push_word};
use crate::pieces::word;

/// Shows every token of a text of lower-case ASCII, which starts at `at`, and whose first word has
/// this position.
pub(super) fn each_token(lower: &str, at: usize, position: &mut usize, visit: &mut impl Visit) {
    let bytes = lower.as_bytes();
    let mut from = 0;
    while let Some(start) = next_word(bytes, from) {
        let simple = end_of_part(bytes, start);
        let end = end_of_word(bytes, simple);
        if end == simple && is_part(bytes, start) {
            let text = cut(lower.get(start..end).unwrap_or_default());
            visit(text, at + start..at + end, *position, TokenKind::Word);
            *position += 1;
        } else {
            *position += compound(lower, start..end, at, *position, visit);
        }
        from = end;
    }
}

/// Shows a word that may have parts. Gives back how many positions it takes.
fn compound(
    lower: &str,
    range: Range<usize>,
    at: usize,
    position: usize,
    visit: &mut impl Visit,
) -> usize {
    let Some(piece) = word(lower, range) else { return 0 };
    push_word(piece.sections(), &mut |range: Range<usize>, offset, kind| {
        let text = cut(lower.get(range.clone()).unwrap_or_default());
        visit(text, at + range.start..at + range.end, position + offset, kind);
    });
    piece.positions()
}

/// Where the next word starts.
fn next_word(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.iter().position(|byte| is_within(*byte)).map(|offset| from + offset)
}

const fn is_within(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn at(bytes: &[u8], place: usize) -> u8 {
    bytes.get(place).copied().unwrap_or_default()
}

fn is_part(bytes: &[u8], start: usize) -> bool {
    at(bytes, start).is_ascii_alphanumeric()
}

/// Where the letters end that start here, or the digits.
fn end_of_part(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let length = if at(bytes, start).is_ascii_digit() {
        rest.iter().position(|byte| !byte.is_ascii_digit())
    } else {
        rest.iter().position(|byte| !byte.is_ascii_alphabetic())
    };
    start + length.unwrap_or(rest.len())
}

/// Where the word ends of which this is known to be within, or its end.
fn end_of_word(bytes: &[u8], mut place: usize) -> usize {
    loop {
        if is_within(at(bytes, place)) {
            place += 1;
        } else if place > 0
            && is_joined(at(bytes, place - 1), at(bytes, place), at(bytes, place + 1))
        {
            place += 2;
        } else {
            return place;
        }
    }
}

/// Whether a sign between letters, or between digits, is within the word.
const fn is_joined(before: u8, sign: u8, after: u8) -> bool {
    match sign {
        b'.' | b'\'' if before.is_ascii_digit() => after.is_ascii_digit(),
        b',' | b';' => before.is_ascii_digit() && after.is_ascii_digit(),
        b'.' | b'\'' | b':' => before.is_ascii_alphabetic() && after.is_ascii_alphabetic(),
        _ => false,
    }
}
