//! Escapes for tags and line ends that would otherwise read as structure.

use std::borrow::Cow;

use crate::slice;
use crate::tags;

/// Escapes closing tags of the dialect, which would close an enclosing element, and highlights of
/// an unknown color.
pub(crate) fn escape_tags(line: &str) -> Cow<'_, str> {
    escape_brackets(line, |rest| {
        // An opening tag is harmless in inline markdown: only a closing one could end an element.
        tags::tag(rest).is_some_and(|tag| tag.closing) || is_unknown_highlight(rest)
    })
}

/// Escapes highlights of an unknown color in the lines of a text.
pub(crate) fn escape_unknown_highlights(text: &str) -> String {
    let lines = text.split('\n').map(|line| escape_brackets(line, is_unknown_highlight));
    lines.collect::<Vec<_>>().join("\n")
}

fn is_unknown_highlight(rest: &str) -> bool {
    tags::highlight(rest).is_some_and(|(_, known)| !known)
}

/// Escapes the brackets of a line for whose rest `is_escaped` holds.
fn escape_brackets(line: &str, is_escaped: impl Fn(&str) -> bool) -> Cow<'_, str> {
    if memchr::memchr(b'<', line.as_bytes()).is_none() {
        return Cow::Borrowed(line);
    }
    let mut places = Vec::new();
    tags::each_bracket(line, |at| {
        if is_escaped(slice::after(line, at)) {
            places.push(at);
        }
        true
    });
    if places.is_empty() {
        return Cow::Borrowed(line);
    }
    debug_assert!(places.is_sorted(), "brackets are visited in order");
    let mut escaped = String::with_capacity(line.len() + places.len());
    let mut from = 0;
    for at in places {
        escaped.push_str(slice::within(line, from..at));
        escaped.push('\\');
        from = at;
    }
    escaped.push_str(slice::after(line, from));
    Cow::Owned(escaped)
}

/// Whether a text ends with an unescaped backslash, which would escape the next character.
pub(crate) fn ends_escaping(text: &str) -> bool {
    text.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}
