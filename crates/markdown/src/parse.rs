//! The entry point of parsing: line ends are normalized, then the parser runs line by line.

use std::borrow::Cow;

use leafbase_model::{Error, Result};

use crate::parsed::{ParseOptions, ParsedMarkdown};
use crate::parser::BlockParser;
use crate::slice;

/// Parses markdown into blocks. Inline markdown is kept verbatim; unknown syntax stays text. Time
/// is linear in the input.
///
/// ```
/// use leafbase_markdown::{ParseOptions, parse};
///
/// let parsed = parse("# Trip\n\n- [ ] pack\n  - socks", &ParseOptions::default())?;
/// let texts: Vec<_> = parsed.blocks.iter().map(|block| block.data.inline.as_str()).collect();
/// assert_eq!(texts, ["Trip", "pack", "socks"]);
/// # Ok::<(), leafbase_model::Error>(())
/// ```
///
/// # Errors
/// [`leafbase_model::ErrorKind::InvalidMarkdown`] with line and column, by default, for a highlight
/// of an unknown color and for a list whose first item is empty.
/// [`leafbase_model::ErrorKind::LimitExceeded`] for markdown or a block that is too long, pages
/// nested too deep, and more blocks than [`ParseOptions::most_blocks`].
pub fn parse(text: &str, options: &ParseOptions) -> Result<ParsedMarkdown> {
    if text.len() > options.limits.markdown {
        return Err(Error::limit("bytes of markdown", options.limits.markdown, text.len()));
    }
    let unified = unified(text);
    // Line ends are unified first: every offset below refers to the unified text.
    let mut parser = BlockParser::new(&unified, options);
    let mut rest = parser.front_matter()?;
    while !rest.is_empty() {
        let (line, following) = match memchr::memchr(b'\n', rest.as_bytes()) {
            Some(end) => (slice::before(rest, end), slice::after(rest, end + 1)),
            None => (rest, ""),
        };
        parser.line(line)?;
        rest = following;
    }
    parser.finish()
}

/// The text without byte order mark, and with `\n` as its only line end.
pub(crate) fn unified(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if memchr::memchr(b'\r', text.as_bytes()).is_some() {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}
