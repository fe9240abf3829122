//! Paragraphs of a text.

use crate::cursor::is_blank;

/// Whether a text has no blank line between two lines that are not blank.
///
/// ```
/// assert!(leafbase_markdown::is_one_paragraph("one\ntwo\n\n"));
/// assert!(!leafbase_markdown::is_one_paragraph("one\n\ntwo"));
/// ```
pub fn is_one_paragraph(text: &str) -> bool {
    let (mut has_text, mut has_ended) = (false, false);
    for line in text.lines() {
        match is_blank(line) {
            true => has_ended = has_text,
            false if has_ended => return false,
            false => has_text = true,
        }
    }
    true
}
