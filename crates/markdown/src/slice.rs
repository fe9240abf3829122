//! Slices of a text at offsets that the parser has found in it.
//!
//! Invariant: each offset is a character boundary, because it lies next to an ASCII byte or comes
//! from `char_indices`. Debug builds, tests and fuzzing panic if it is broken; release builds
//! return an empty text. These functions run several times per line, too often for a `Result` in
//! each.

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
