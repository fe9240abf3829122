//! Text with highlighted matches.

use std::ops::Range;

use super::{line, styles};
use crate::out::Out;

/// How a snippet marks its matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marks {
    /// Between asterisks, which colors replace.
    Asterisks,
    /// Unmarked.
    None,
}

/// The lines of a snippet that are not blank, each with its highlights.
pub(crate) fn lines<'s>(
    snippet: &'s str,
    highlights: &[Range<usize>],
) -> Vec<(&'s str, Vec<Range<usize>>)> {
    let mut begin = 0;
    let mut lines = Vec::new();
    for text in snippet.split('\n') {
        let end = begin + text.len();
        let within = highlights.iter().filter(|range| begin <= range.start && range.end <= end);
        let moved = within.map(|range| range.start - begin..range.end - begin).collect();
        if !text.trim().is_empty() {
            lines.push((text, moved));
        }
        // One byte for the line break that `split` removed.
        begin = end + 1;
    }
    lines
}

/// The text on one line with its matches colored.
pub(crate) fn paint(out: &Out, text: &str, hits: &[Range<usize>], marks: Marks) -> String {
    if !out.has_color() {
        return line::plain(text);
    }
    let part = |(text, is_hit): (String, bool)| {
        if is_hit { out.paint(styles::HIT, text) } else { text }
    };
    parts(text, hits, marks).into_iter().map(part).collect()
}

/// The parts of the text on one line, each with whether it matches, without its marks.
pub(crate) fn parts(text: &str, hits: &[Range<usize>], marks: Marks) -> Vec<(String, bool)> {
    let (mut shown, mut done) = (Vec::new(), 0);
    for hit in hits {
        debug_assert!(hit.start <= hit.end, "a highlight is a range of bytes");
        // A highlight outside of the text leaves that part uncolored.
        let (Some(before), Some(found)) = (text.get(done..hit.start), text.get(hit.clone())) else {
            continue;
        };
        debug_assert!(done <= hit.start, "highlights are sorted and do not overlap");
        let (before, after) = match marks {
            Marks::Asterisks => (
                before.strip_suffix("**").unwrap_or(before),
                text.get(hit.end..).is_some_and(|rest| rest.starts_with("**")),
            ),
            Marks::None => (before, false),
        };
        shown.push((line::plain(before), false));
        shown.push((line::plain(found), true));
        done = hit.end + if after { 2 } else { 0 };
    }
    shown.push((line::plain(text.get(done..).unwrap_or_default()), false));
    shown
}
