//! Destinations and titles of links, parsed as in `CommonMark` and written so that they round-trip.

use std::borrow::Cow;

use crate::slice;

/// Destination and title of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkDestination<'t> {
    /// The destination as written, without angle brackets.
    pub(crate) destination: &'t str,
    /// Whether angle brackets enclose it.
    pub(crate) pointed: bool,
    /// Offset of the destination, after an angle bracket.
    pub(crate) start: usize,
    /// The title as written, without quotes.
    pub(crate) title: Option<&'t str>,
    /// Length in bytes, including the closing parenthesis if there is one.
    pub(crate) length: usize,
}

/// Parses `(destination "title")` at the start of `text`.
pub(crate) fn in_parentheses(text: &str) -> Option<LinkDestination<'_>> {
    let inner = text.strip_prefix('(')?;
    let start = 1 + white_space(inner);
    let mut target = target(text.get(start..)?, start)?;
    target.length += white_space(text.get(target.length..)?);
    text.get(target.length..)?
        .starts_with(')')
        .then(|| LinkDestination { length: target.length + 1, ..target })
}

/// Parses `destination "title"` at the start of `text`, as in a link definition, at offset
/// `before`.
pub(crate) fn target(text: &str, before: usize) -> Option<LinkDestination<'_>> {
    let (destination, pointed, length) = destination(text)?;
    let start = before + usize::from(pointed);
    let mut read =
        LinkDestination { destination, pointed, start, title: None, length: before + length };
    let after = text.get(length..)?;
    let space = white_space(after);
    if space > 0
        && let Some((title, length)) = title(after.get(space..)?)
    {
        read.title = Some(title);
        read.length += space + length;
    }
    Some(read)
}

/// Length of the leading white space with at most one line break.
fn white_space(text: &str) -> usize {
    let mut breaks = 0;
    let counts = |byte: &u8| match byte {
        b'\n' => {
            breaks += 1;
            breaks < 2
        }
        b' ' | b'\t' => true,
        _ => false,
    };
    text.as_bytes().iter().copied().take_while(counts).count()
}

fn destination(text: &str) -> Option<(&str, bool, usize)> {
    let bytes = text.as_bytes();
    let mut escaped = false;
    if let Some(inner) = text.strip_prefix('<') {
        for (at, byte) in inner.bytes().enumerate() {
            match byte {
                _ if escaped && byte != b'\n' => escaped = false,
                b'\\' => escaped = true,
                b'>' => return Some((inner.get(..at)?, true, at + 2)),
                b'<' | b'\n' => return None,
                _ => {}
            }
        }
        return None;
    }
    let mut depth = 0_usize;
    let mut end = bytes.len();
    for (at, byte) in bytes.iter().enumerate() {
        if escaped && byte.is_ascii_punctuation() {
            escaped = false;
            continue;
        }
        escaped = *byte == b'\\';
        match byte {
            b'(' if depth < 32 => depth += 1,
            b'(' => return None,
            b')' if depth > 0 => depth -= 1,
            b')' => {
                end = at;
                break;
            }
            byte if *byte <= b' ' || *byte == 0x7f => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    (depth == 0).then_some((text.get(..end)?, false, end))
}

fn title(text: &str) -> Option<(&str, usize)> {
    let (open, inner) = (*text.as_bytes().first()?, text.get(1..)?);
    let close = match open {
        b'"' | b'\'' => open,
        b'(' => b')',
        _ => return None,
    };
    let mut escaped = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            byte if byte == close => return Some((inner.get(..at)?, at + 2)),
            b'(' if open == b'(' => return None,
            _ => {}
        }
    }
    None
}

/// Resolves backslash escapes of punctuation, `&amp;`, `&lt;`, `&gt;`, `&quot;` and numeric
/// references.
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'\\', b'&', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut read = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(found) = memchr::memchr2(b'\\', b'&', rest.as_bytes()) {
        // Everything up to the next escape is copied at once.
        let (before, from) = rest.split_at_checked(found).unwrap_or((rest, ""));
        read.push_str(before);
        let (letter, length) = escaped_letter(from);
        read.push(letter);
        debug_assert!(length > 0, "an escape consumes at least one byte");
        rest = slice::after(from, length);
    }
    read.push_str(rest);
    Cow::Owned(read)
}

/// The character of the escape or reference at the start of `text`, and its length in bytes.
fn escaped_letter(text: &str) -> (char, usize) {
    if let Some(after) = text.strip_prefix('\\') {
        return match after.chars().next() {
            Some(letter) if letter.is_ascii_punctuation() => (letter, 2),
            _ => ('\\', 1),
        };
    }
    entity(text).unwrap_or(('&', 1))
}

/// The character reference at the start of `text`.
pub(crate) fn entity(text: &str) -> Option<(char, usize)> {
    const NAMED: [(&str, char); 5] =
        [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("colon", ':')];
    let inner = text.strip_prefix('&')?;
    let end = inner.bytes().take(10).position(|byte| byte == b';')?;
    let name = inner.get(..end)?;
    let length = end + 2;
    if let Some((_, letter)) = NAMED.iter().find(|(known, _)| *known == name) {
        return Some((*letter, length));
    }
    let number = name.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(code).filter(|letter| *letter != '\0').map(|letter| (letter, length))
}

/// Whether the ampersand at the start of `text` could begin any named reference.
fn looks_like_entity(text: &str) -> bool {
    let inner = slice::after(text, 1);
    let length =
        inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
    length > 0 && inner.as_bytes().get(length) == Some(&b';')
}

/// Appends `url` as a link destination.
pub(crate) fn write(out: &mut String, url: &str) {
    let bare = !url.is_empty()
        && !url.starts_with('<')
        && url.bytes().all(|byte| byte > b' ' && byte != 0x7f);
    let pointed = !bare || !balanced(url);
    if pointed {
        out.push('<');
    }
    for (at, letter) in url.char_indices() {
        let tail = slice::after(url, at);
        let next = tail.as_bytes().get(1);
        match letter {
            '\\' if next.is_none_or(u8::is_ascii_punctuation) => out.push_str("\\\\"),
            '<' | '>' | '`' => {
                out.push('\\');
                out.push(letter);
            }
            '&' if looks_like_entity(tail) => out.push_str("\\&"),
            '\n' | '\r' => out.push_str(if letter == '\n' { "%0A" } else { "%0D" }),
            letter => out.push(letter),
        }
    }
    if pointed {
        out.push('>');
    }
}

fn balanced(url: &str) -> bool {
    let mut depth = 0_i32;
    for byte in url.bytes() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if !(0..=30).contains(&depth) {
            return false;
        }
    }
    // A backslash before a parenthesis would exclude it from the balance.
    depth == 0 && !(url.contains('\\') && url.contains(['(', ')']))
}

/// Appends `text` as a quoted link title.
pub(crate) fn write_title(out: &mut String, text: &str) {
    out.push('"');
    for (at, letter) in text.char_indices() {
        let tail = slice::after(text, at);
        match letter {
            '"' | '\\' | '<' | '`' => {
                out.push('\\');
                out.push(letter);
            }
            '&' if looks_like_entity(tail) => out.push_str("\\&"),
            letter => out.push(letter),
        }
    }
    out.push('"');
}

/// Appends the plain text `text` as a link label.
pub(crate) fn write_label(out: &mut String, text: &str) {
    let mut before = None;
    for (at, letter) in text.char_indices() {
        let tail = slice::after(text, at);
        if letter == '\\' || is_markup(before, tail) {
            out.push('\\');
        }
        out.push(letter);
        before = Some(letter);
    }
}

/// Escapes plain text, so that its inline markdown shows it unchanged.
///
/// ```
/// assert_eq!(leafbase_markdown::escape("2 * 3 [sic]"), "2 \\* 3 \\[sic\\]");
/// ```
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text
        .bytes()
        .any(|byte| matches!(byte, b'\\' | b'*' | b'`' | b'[' | b']' | b'<' | b'&' | b'~' | b'_'))
    {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    write_label(&mut escaped, text);
    Cow::Owned(escaped)
}

/// The plain text of a link label; `None` if it contains markup.
pub(crate) fn read_label(label: &str) -> Option<Cow<'_, str>> {
    let (mut before, mut escaped) = (None, false);
    for (at, letter) in label.char_indices() {
        let tail = slice::after(label, at);
        let reference = letter == '&' && entity(tail).is_some();
        if letter == '\n' || (!escaped && !reference && letter != '\\' && is_markup(before, tail)) {
            return None;
        }
        escaped = letter == '\\' && !escaped;
        before = Some(letter);
    }
    Some(unescape(label))
}

/// Whether the first character of `tail` may be markup at this position.
fn is_markup(before: Option<char>, tail: &str) -> bool {
    let mut letters = tail.chars();
    let (letter, next) = (letters.next(), letters.next());
    match letter {
        Some('*' | '`' | '[' | ']' | '<') => true,
        Some('&') => looks_like_entity(tail),
        Some('~') => next == Some('~') || before == Some('~'),
        // An underscore inside a word is literal.
        Some('_') => {
            !before.is_some_and(char::is_alphanumeric) || !next.is_some_and(char::is_alphanumeric)
        }
        _ => false,
    }
}
