//! Slices of a text at offsets that the parser has found in it.
//!
//! Each offset is a character boundary by construction: it lies next to an ASCII byte, or comes from
//! `char_indices`. Debug builds, tests and fuzzing panic if that is broken. Release builds return an
//! empty text: these functions run several times per line, and a `Result` in each costs more than
//! the parser's bound on time allows.

use std::ops::Range;

/// `text` from byte `start`.
pub(crate) fn after(text: &str, start: usize) -> &str {
    debug_assert!(text.is_char_boundary(start), "offset {start} lies inside {text:?}");
    text.get(start..).unwrap_or_default()
}

/// `text` up to byte `end`.
pub(crate) fn before(text: &str, end: usize) -> &str {
    debug_assert!(text.is_char_boundary(end), "offset {end} lies inside {text:?}");
    text.get(..end).unwrap_or_default()
}

/// The bytes `range` of `text`.
pub(crate) fn within(text: &str, range: Range<usize>) -> &str {
    debug_assert!(text.get(range.clone()).is_some(), "range {range:?} lies inside {text:?}");
    text.get(range).unwrap_or_default()
}
