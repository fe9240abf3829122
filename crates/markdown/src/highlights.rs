//! Validation of highlight colors in inline markdown.

use leafbase_model::Result;

use crate::parsed::invalid;
use crate::slice;
use crate::tags;

/// Rejects inline markdown with a highlight of an unknown color, as [`parse`](crate::parse) does.
/// [`canonical`](crate::canonical) escapes it instead.
///
/// ```
/// let error = leafbase_markdown::check_highlights("a <highlight color='puce'>b</highlight>").unwrap_err();
/// assert_eq!(error.message(), "line 1, column 3: a highlight of an unknown color");
/// ```
///
/// # Errors
/// [`leafbase_model::ErrorKind::InvalidMarkdown`] with line and column.
pub fn check_highlights(inline: &str) -> Result<()> {
    // Most texts contain no tag, and a byte is found faster than a word.
    let tag = memchr::memchr(b'<', inline.as_bytes()).and_then(|at| inline.as_bytes().get(at..));
    if tag.is_none_or(|rest| memchr::memmem::find(rest, b"<highlight").is_none()) {
        return Ok(());
    }
    let mut start = 0;
    // As the parser divides lines.
    for line in inline.split(['\n', '\r']) {
        let mut wrong = None;
        tags::each_bracket(line, |at| {
            let rest = slice::after(line, at);
            if tags::highlight(rest).is_some_and(|(_, known)| !known) {
                wrong = Some(at);
            }
            wrong.is_none()
        });
        if let Some(at) = wrong {
            let breaks = slice::before(inline, start).replace("\r\n", "\n");
            let number = 1 + breaks.matches(['\n', '\r']).count();
            // Columns count characters, not bytes.
            let column = slice::before(line, at).chars().count() + 1;
            return Err(invalid((number, column), "a highlight of an unknown color"));
        }
        start += line.len() + 1;
    }
    Ok(())
}
