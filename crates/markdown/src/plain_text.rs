//! Plain text of inline markdown, for previews and search.

use std::borrow::Cow;

use pulldown_cmark::{Event, Options, Parser};

use crate::slice;

/// Removes the markup of inline markdown: links become their label, images their description, HTML
/// tags disappear. Line breaks become spaces, and table cells are joined by spaces.
///
/// ```
/// assert_eq!(leafbase_markdown::plain_text("a **b** [c](https://d.example)"), "a b c");
/// ```
pub fn plain_text(inline: &str) -> Cow<'_, str> {
    if is_plain(inline.as_bytes()) {
        return Cow::Borrowed(inline);
    }
    let mut plain = String::with_capacity(inline.len());
    for cell in crate::table::cells(inline) {
        if !plain.is_empty() {
            plain.push(' ');
        }
        push_plain(&mut plain, slice::within(inline, cell));
    }
    Cow::Owned(plain)
}

/// Bytes that may be markup.
const SPECIAL: [u8; 10] = *b"\\*_`[<&~\n\r";
/// Bytes compared per step, a multiple of the SIMD width.
const TOGETHER: usize = 16;

/// Whether the bytes of an inline text contain no potential markup: its plain text is then the text
/// itself.
pub fn is_plain(text: &[u8]) -> bool {
    // The remainder is compared as the last full chunk, which overlaps the previous one.
    let Some(last) = text.last_chunk::<TOGETHER>() else {
        return !text.iter().any(|byte| is_special(*byte));
    };
    let mut found = [false; TOGETHER];
    let mut look_at = |piece: &[u8; TOGETHER]| {
        for (found, byte) in found.iter_mut().zip(piece) {
            *found |= is_special(*byte);
        }
    };
    text.as_chunks::<TOGETHER>().0.iter().for_each(&mut look_at);
    look_at(last);
    found == [false; TOGETHER]
}

#[inline]
#[expect(clippy::needless_bitwise_bool, reason = "a way out would have bytes looked at one by one")]
fn is_special(byte: u8) -> bool {
    SPECIAL.iter().fold(false, |any, special| any | (byte == *special))
}

fn push_plain(plain: &mut String, inline: &str) {
    // After a character, no heading, list or link definition can start: the parser reads one
    // paragraph. A full stop leaves the following emphasis as it would be at the start.
    let guarded = format!(".{}", crate::cursor::trim(inline));
    let start = plain.len();
    for event in Parser::new_ext(&guarded, Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Text(text) | Event::Code(text) => plain.push_str(&text),
            Event::SoftBreak | Event::HardBreak => plain.push(' '),
            Event::InlineHtml(tag) if tag.starts_with("<br") => plain.push(' '),
            Event::Html(html) => push_without_tags(plain, &html),
            Event::End(end)
                if end == pulldown_cmark::TagEnd::Paragraph
                    || end == pulldown_cmark::TagEnd::HtmlBlock =>
            {
                plain.push(' ');
            }
            _ => {}
        }
    }
    plain.truncate(plain.trim_end_matches([' ', '\n']).len().max(start));
    if plain.get(start..).is_some_and(|added| added.starts_with('.')) {
        plain.remove(start);
    }
}

/// Raw HTML blocks: the text between the tags.
fn push_without_tags(plain: &mut String, html: &str) {
    let mut rest = html;
    while let Some((text, tail)) = rest.split_once('<') {
        plain.push_str(text);
        match tail.split_once('>') {
            Some((_, behind)) => rest = behind,
            None => return plain.push_str(tail),
        }
    }
    plain.push_str(rest);
}
