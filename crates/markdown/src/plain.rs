//! Inline markdown without its markup, for previews and search.

use std::borrow::Cow;

use pulldown_cmark::{Event, Options, Parser};

/// The words of inline markdown, markup removed: links by their text, pictures by their description, HTML tags not at all.
/// Line breaks become spaces; the cells of a table are put side by side.
///
/// ```
/// assert_eq!(leafbase_markdown::plain_text("a **b** [c](https://d.example)"), "a b c");
/// ```
pub fn plain_text(inline: &str) -> Cow<'_, str> {
    if is_plain(inline) {
        return Cow::Borrowed(inline);
    }
    let mut plain = String::with_capacity(inline.len());
    for cell in crate::table::cells(inline) {
        if !plain.is_empty() {
            plain.push(' ');
        }
        push_plain(&mut plain, inline.get(cell).unwrap_or_default());
    }
    Cow::Owned(plain)
}

fn is_plain(text: &str) -> bool {
    let is_special = |byte: &u8| matches!(byte, b'\\' | b'*' | b'_' | b'`' | b'[' | b'<' | b'&' | b'~' | b'\n' | b'\r');
    // Without a way out within a piece, so that many bytes are looked at together.
    text.as_bytes().chunks(64).all(|piece| !piece.iter().fold(false, |any, byte| any | is_special(byte)))
}

fn push_plain(plain: &mut String, inline: &str) {
    // Behind a letter nothing begins a heading, a list or a link definition: all of it is read as one paragraph. A full stop
    // leaves the emphasis behind it as it would be at the start.
    let guarded = format!(".{}", crate::cursor::trim(inline));
    let start = plain.len();
    for event in Parser::new_ext(&guarded, Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Text(text) | Event::Code(text) => plain.push_str(&text),
            Event::SoftBreak | Event::HardBreak => plain.push(' '),
            Event::InlineHtml(tag) if tag.starts_with("<br") => plain.push(' '),
            Event::Html(html) => push_without_tags(plain, &html),
            Event::End(end) if end == pulldown_cmark::TagEnd::Paragraph || end == pulldown_cmark::TagEnd::HtmlBlock => {
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

/// Raw HTML that stands as lines of its own: what is between its tags.
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
