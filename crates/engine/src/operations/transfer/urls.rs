//! Relative links: percent-encoding, and paths from one file to another.

/// What a relative link names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reference {
    /// The path, decoded; empty for the same file.
    pub(super) path: String,
    /// What follows `#`, decoded.
    pub(super) anchor: Option<String>,
}

/// Whether `url` leads to somewhere from where it stands: no scheme, no host.
pub(super) fn is_relative(url: &str) -> bool {
    !(url.is_empty() || url.starts_with("//") || has_scheme(url))
}

/// What `url` names if it is relative, without a query, and well encoded.
pub(super) fn relative_reference(url: &str) -> Option<Reference> {
    if !is_relative(url) {
        return None;
    }
    let (path, anchor) = match url.split_once('#') {
        Some((path, anchor)) => (path, Some(decode(anchor)?)),
        None => (url, None),
    };
    if path.contains('?') {
        return None;
    }
    Some(Reference { path: decode(path)?, anchor: anchor.filter(|anchor| !anchor.is_empty()) })
}

fn has_scheme(url: &str) -> bool {
    let is_part =
        |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'+' | b'-' | b'.');
    url.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(is_part)
    })
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let escaped =
            digits.filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

/// `text` as a part of a link's destination: what markdown or a URL would read otherwise is
/// escaped, letters of any script stay.
pub(super) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for letter in text.chars() {
        let kept = !letter.is_ascii() && !letter.is_whitespace() && !letter.is_control();
        if kept || letter.is_ascii_alphanumeric() || "-._/^!,;=@+'".contains(letter) {
            encoded.push(letter);
        } else {
            let mut buffer = [0; 4];
            encoded.extend(letter.encode_utf8(&mut buffer).bytes().flat_map(percent));
        }
    }
    encoded
}

/// A byte as `%XX`.
pub(super) fn percent(byte: u8) -> [char; 3] {
    let digit =
        |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0').to_ascii_uppercase();
    ['%', digit(byte >> 4), digit(byte & 15)]
}

/// The directory of a file; empty at the top.
pub(super) fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// `reference`, a path relative to `directory` (or to the top, if it starts with `/`), from the
/// top; nothing if it leads outside.
pub(super) fn join(directory: &str, reference: &str) -> Option<String> {
    let base = if reference.starts_with('/') { "" } else { directory };
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(reference.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The path that leads from the file `from` to the file `to`.
pub(super) fn relative_path(from: &str, to: &str) -> String {
    let from: Vec<&str> = directory(from).split('/').filter(|part| !part.is_empty()).collect();
    let target: Vec<&str> = to.split('/').collect();
    let folders = target.len().saturating_sub(1);
    let shared = from
        .iter()
        .zip(target.iter().take(folders))
        .take_while(|(one, other)| one == other)
        .count();
    let up = std::iter::repeat_n("..", from.len() - shared);
    up.chain(target.into_iter().skip(shared)).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_relative_links_are_taken() {
        for url in
            ["https://a.b/c", "mailto:x@y", "block://X", "//host/x", "", "x.md?raw=1", "%FF.md"]
        {
            assert_eq!(relative_reference(url), None, "{url}");
        }
        let reference = |path: &str, anchor: Option<&str>| {
            Some(Reference { path: path.to_owned(), anchor: anchor.map(ToOwned::to_owned) })
        };
        assert_eq!(relative_reference("../a%20b.md#c%20d"), reference("../a b.md", Some("c d")));
        assert_eq!(relative_reference("#only"), reference("", Some("only")));
        assert_eq!(relative_reference("笔记.md#"), reference("笔记.md", None));
        assert_eq!(relative_reference("100%.md"), reference("100%.md", None));
        assert_eq!(relative_reference("a/b:c.md"), reference("a/b:c.md", None));
    }

    #[test]
    fn what_is_encoded_is_read_back() {
        for text in
            ["a b (c) [d].md", "100%2F?.md", "笔记 \u{3000}x", "it's_a*b~c`d`.md", "<a>&amp;\"|\\"]
        {
            let encoded = encode(text);
            assert!(
                !encoded.contains([' ', '(', ')', '<', '>', '[', ']', '|', '\\', '&', '*']),
                "{encoded}"
            );
            assert_eq!(decode(&encoded).as_deref(), Some(text));
        }
    }

    #[test]
    fn paths_lead_from_file_to_file() {
        for (from, to, relative) in [
            ("a.md", "b.md", "b.md"),
            ("a.md", "x/b.md", "x/b.md"),
            ("x/a.md", "b.md", "../b.md"),
            ("x/y/a.md", "x/z/b.md", "../z/b.md"),
            ("x/a.md", "x/a.md", "a.md"),
            ("x/a.md", "x/x/a.md", "x/a.md"),
            ("x/x/a.md", "x/a.md", "../a.md"),
        ] {
            assert_eq!(relative_path(from, to), relative);
            assert_eq!(join(directory(from), relative).as_deref(), Some(to));
        }
        assert_eq!(join("x", "../../b.md"), None);
        assert_eq!(join("x", "/b.md").as_deref(), Some("b.md"));
    }
}
