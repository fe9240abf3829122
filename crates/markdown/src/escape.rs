//! Escapes for tags and line ends that would otherwise read as structure.

use std::borrow::Cow;

use crate::slice;
use crate::tags;

/// Escapes closing tags of the dialect, which would close an enclosing element, and highlights of
/// an unknown color.
pub(crate) fn escape_tags(line: &str) -> Cow<'_, str> {
    if memchr::memchr(b'<', line.as_bytes()).is_none() {
        return Cow::Borrowed(line);
    }
    let mut places = Vec::new();
    tags::each_bracket(line, |at| {
        let rest = slice::after(line, at);
        // An opening tag is harmless in inline markdown: only a closing one could end an element.
        let forges = tags::tag(rest).is_some_and(|tag| tag.closing);
        if forges || tags::highlight(rest).is_some_and(|(_, known)| !known) {
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
