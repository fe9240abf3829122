//! References of raw HTML within inline markdown: `<a href="..">`, `<img src="..">`. They are kept
//! as they are, and told.

use crate::operations::transfer::verbatim::Skipping;

/// A URL in an attribute of a tag.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reference<'a> {
    pub(super) url: &'a str,
    /// Whether what it leads to is shown in place.
    pub(super) embedded: bool,
}

/// The references of the tags in `text`, in order.
pub(super) fn references(text: &str) -> Vec<Reference<'_>> {
    let (mut found, mut at, mut skipping) = (Vec::new(), 0, Skipping::new(text));
    while let Some(skip) = text.get(at..).and_then(|rest| rest.find(['\\', '`', '<'])) {
        at += skip;
        at += skipping
            .at(at)
            .unwrap_or_else(|| tag(text.get(at + 1..).unwrap_or_default(), &mut found) + 1);
    }
    found
}

/// Reads the references of the tag whose `<` stands before `text`. Returns the bytes that are read.
fn tag<'a>(text: &'a str, found: &mut Vec<Reference<'a>>) -> usize {
    let name = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let mut rest = text.get(name..).unwrap_or_default();
    let before = found.len();
    if name == 0 {
        return 0;
    }
    loop {
        rest = rest.trim_start();
        if rest.starts_with(['>', '/']) {
            return text.len() - rest.len();
        }
        let length = rest
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || "-_:.@".contains(letter)))
            .unwrap_or(0);
        let Some((attribute, behind)) = rest.split_at_checked(length).filter(|_| length > 0) else {
            // No tag: nothing of it was meant as one.
            found.truncate(before);
            return name;
        };
        let behind = behind.trim_start();
        let Some((value, behind)) = behind.strip_prefix('=').and_then(value) else {
            rest = behind.strip_prefix('=').unwrap_or(behind);
            continue;
        };
        rest = behind;
        let embedded = attribute.eq_ignore_ascii_case("src");
        if embedded || attribute.eq_ignore_ascii_case("href") {
            found.push(Reference { url: value, embedded });
        }
    }
}

/// The value that `text` begins with, and what stands behind it.
fn value(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    match text.as_bytes().first()? {
        b'"' => text.get(1..)?.split_once('"'),
        b'\'' => text.get(1..)?.split_once('\''),
        _ => text
            .find([' ', '\t', '\n', '>', '<', '"', '\'', '=', '`'])
            .and_then(|end| text.split_at_checked(end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(text: &str) -> Vec<&str> {
        references(text).iter().map(|reference| reference.url).collect()
    }

    #[test]
    fn references_are_found_in_tags_alone() {
        assert_eq!(
            urls(r#"a <a class="x" href="B.md">b</a> <A HREF='C.md' /> <a href=D.md>"#),
            ["B.md", "C.md", "D.md"]
        );
        assert_eq!(urls(r#"<img alt="a > b" src="p.png" hidden>"#), ["p.png"]);
        assert!(references(r#"<img src="p.png">"#).iter().all(|reference| reference.embedded));
        for none in [
            r#"`<a href="B.md">`"#,
            r#"\<a href="B.md">"#,
            r#"<!-- <a href="B.md"> -->"#,
            "a < b href=c",
            r#"<a href="B.md""#,
            r#"<a href="B.md" ="#,
            "</a href",
            "<a",
            "<",
        ] {
            assert_eq!(urls(none), [""; 0], "{none}");
        }
    }

    #[test]
    fn no_text_is_searched_over_and_over() {
        for text in [
            "<a href=\"".repeat(100_000),
            "<a b".repeat(100_000),
            "<a href=".repeat(100_000),
            "<a ".repeat(100_000),
        ] {
            let began = std::time::Instant::now();
            assert_eq!(references(&text).len(), 0);
            assert!(began.elapsed().as_secs() < 2, "{:?}", began.elapsed());
        }
    }
}
