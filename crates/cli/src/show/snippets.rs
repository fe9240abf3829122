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

/// The text on one line with its matches colored.
pub(crate) fn paint(out: &Out, text: &str, hits: &[Range<usize>], marks: Marks) -> String {
    if !out.has_color() {
        return line::plain(text);
    }
    let (mut shown, mut done) = (String::new(), 0);
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
        shown += &line::plain(before);
        shown += &out.paint(styles::HIT, line::plain(found));
        done = hit.end + if after { 2 } else { 0 };
    }
    shown + &line::plain(text.get(done..).unwrap_or_default())
}
