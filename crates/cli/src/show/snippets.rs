//! Texts with hits in them.

use std::ops::Range;

use super::{line, styles};
use crate::out::Out;

/// How hits stand in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marks {
    /// Between asterisks, which go where colours show the hits.
    Asterisks,
    /// Without any.
    None,
}

/// The text on one line with its hits in colour.
pub(crate) fn paint(out: &Out, text: &str, hits: &[Range<usize>], marks: Marks) -> String {
    if !out.has_color() {
        return line::plain(text);
    }
    let (mut shown, mut done) = (String::new(), 0);
    for hit in hits {
        // What does not fit the text is shown as it is.
        let (Some(before), Some(found)) = (text.get(done..hit.start), text.get(hit.clone())) else {
            continue;
        };
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
