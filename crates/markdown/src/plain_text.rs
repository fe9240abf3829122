//! Plain text of inline markdown, for previews and search.

use std::borrow::Cow;
use std::ops::BitOr;

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
#[expect(clippy::needless_bitwise_bool, reason = "a way out would have bytes looked at one by one")]
pub fn is_plain(text: &[u8]) -> bool {
    !contains(text, |byte| SPECIAL.iter().fold(false, |any, special| any | (byte == *special)))
}

/// Whether an inline text is certainly ASCII without markup. One that is may have a byte that is
/// compared together with others: a control character, `]` or `^`.
pub fn is_plain_ascii(text: &[u8]) -> bool {
    // Not 0 below a bound, and at one byte: saturating subtractions, which the compiler turns into
    // one instruction for 16 bytes, as it does not with comparisons of ranges.
    let below = |byte: u8, bound: u8| bound.saturating_sub(byte);
    let is = |byte: u8, other: u8| below(byte ^ other, 1);
    !contains(text, |byte| {
        let is_control_or_tilde_or_beyond =
            byte.wrapping_sub(b'\r' + 1).saturating_sub(b'~' - b'\r' - 2);
        let is_bracket_to_backtick = below(byte.wrapping_sub(b'['), b'`' - b'[' + 1);
        is_control_or_tilde_or_beyond
            | is_bracket_to_backtick
            | is(byte, b'&')
            | is(byte, b'*')
            | is(byte, b'<')
    })
}

/// Whether `special` gives anything but zeros, or `false`, for the bytes. Reads them in chunks,
/// without a way out in between.
#[inline]
fn contains<T: Copy + Default + PartialEq + BitOr<Output = T>>(
    text: &[u8],
    special: impl Fn(u8) -> T,
) -> bool {
    // The remainder is read as the last full chunk, which overlaps the previous one.
    let Some(last) = text.last_chunk::<TOGETHER>() else {
        return text.iter().any(|byte| special(*byte) != T::default());
    };
    let mut found = [T::default(); TOGETHER];
    let mut look_at = |piece: &[u8; TOGETHER]| {
        for (found, byte) in found.iter_mut().zip(piece) {
            *found = *found | special(*byte);
        }
    };
    text.as_chunks::<TOGETHER>().0.iter().for_each(&mut look_at);
    look_at(last);
    found != [T::default(); TOGETHER]
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

#[cfg(test)]
mod tests {
    use super::{SPECIAL, is_plain, is_plain_ascii};

    /// Each byte at each place of texts shorter and longer than a chunk.
    #[test]
    fn special_bytes_are_found_wherever_they_are() {
        for length in [1, 5, 16, 17, 40] {
            for (at, byte) in (0..length).flat_map(|at| (0..=255).map(move |byte| (at, byte))) {
                let mut text = vec![b'a'; length];
                text[at] = byte;
                assert_eq!(is_plain(&text), !SPECIAL.contains(&byte), "{byte} at {at}");
                let is_apart = matches!(byte, 0..=13 | b'[' ..=b'`' | b'&' | b'*' | b'<' | b'~'..);
                assert_eq!(is_plain_ascii(&text), !is_apart, "{byte} at {at} of {length}");
            }
        }
    }
}
