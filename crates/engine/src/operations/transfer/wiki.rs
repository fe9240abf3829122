//! Wiki links within inline markdown: `[[Target]]`, `[[Target#Heading|alias]]`, `![[embed]]`.

use std::ops::Range;

use crate::operations::transfer::verbatim::Skipping;

/// A wiki link as written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WikiLink<'a> {
    /// Its bytes in the text, brackets included.
    pub(super) range: Range<usize>,
    /// Whether it shows its target in place.
    pub(super) embed: bool,
    /// The note's name or path; empty for the same note.
    pub(super) target: &'a str,
    /// The heading, or `^` and the name of a block.
    pub(super) anchor: Option<&'a str>,
    /// The words to show.
    pub(super) alias: Option<&'a str>,
}

/// The wiki links in `text` in order. Those within code, a comment or a tag's attributes, behind a
/// backslash, or followed by `(` (which makes them ordinary links) are none.
pub(super) fn scan(text: &str) -> Vec<WikiLink<'_>> {
    let (mut found, mut at, mut skipping) = (Vec::new(), 0, Skipping::new(text));
    while let Some(skip) = text.get(at..).and_then(|rest| rest.find(['\\', '`', '<', '['])) {
        at += skip;
        if let Some(skipped) = skipping.at(at) {
            at += skipped;
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        if rest.starts_with('<') {
            at += tag(rest);
            continue;
        }
        match link(text, at) {
            Some(link) => {
                at = link.range.end;
                found.push(link);
            }
            None => at += 1,
        }
    }
    found
}

/// The bytes of the tag with attributes at the start of `text`, or 1 if there is none.
fn tag(text: &str) -> usize {
    let inner = text.get(1..).unwrap_or_default();
    let end = inner.find(['<', '>']).unwrap_or(0);
    let is_tag = inner.starts_with(|first: char| first.is_ascii_alphabetic())
        && inner.as_bytes().get(end) == Some(&b'>')
        && inner.get(..end).is_some_and(|inside| inside.contains("=\"") || inside.contains("='"));
    if is_tag { end + 2 } else { 1 }
}

fn link(text: &str, at: usize) -> Option<WikiLink<'_>> {
    let inner_start = at + 2;
    let rest = text.get(at..)?.strip_prefix("[[").filter(|rest| !rest.starts_with('['))?;
    // The next `[[` ends the search, so that no part of a text is searched over and over.
    let length = rest
        .as_bytes()
        .windows(2)
        .position(|pair| pair == b"]]" || pair == b"[[" || pair.first() == Some(&b'\n'))?;
    let inner = rest
        .get(..length)
        .filter(|_| rest.get(length..).is_some_and(|end| end.starts_with("]]")))?;
    let end = inner_start + length + 2;
    if text.get(end..).is_some_and(|after| after.starts_with('(')) {
        return None;
    }
    // Within a table the bar has a backslash before it.
    let (named, alias) = match inner.split_once('|') {
        Some((named, alias)) => (named.strip_suffix('\\').unwrap_or(named), Some(alias.trim())),
        None => (inner, None),
    };
    let (target, anchor) = match named.split_once('#') {
        Some((target, anchor)) => (target, Some(anchor.trim()).filter(|anchor| !anchor.is_empty())),
        None => (named, None),
    };
    let target = target.trim();
    if target.contains(['[', ']']) || (target.is_empty() && anchor.is_none()) {
        return None;
    }
    let embed =
        text.get(..at).is_some_and(|before| before.ends_with('!') && !before.ends_with("\\!"));
    let alias = alias.filter(|alias| !alias.is_empty());
    Some(WikiLink { range: at - usize::from(embed)..end, embed, target, anchor, alias })
}

/// The words of an embed's alias, and the size behind them: `words|300`, `300x200`.
pub(super) fn without_size(alias: &str) -> (Option<&str>, Option<&str>) {
    let (words, last) =
        alias.rsplit_once('|').map_or(("", alias), |(words, last)| (words, last.trim()));
    let is_number =
        |number: &str| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    let is_size = last
        .split_once('x')
        .map_or(is_number(last), |(width, height)| is_number(width) && is_number(height));
    // Within a table the bar has a backslash before it.
    let words = words.strip_suffix('\\').unwrap_or(words).trim();
    if is_size {
        (Some(words).filter(|words| !words.is_empty()), Some(last))
    } else {
        (Some(alias), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link as written, whether it embeds, its target, anchor and alias.
    type Parts<'a> = (&'a str, bool, &'a str, Option<&'a str>, Option<&'a str>);

    fn parts(text: &str) -> Vec<Parts<'_>> {
        let whole =
            |link: &WikiLink<'_>| text.get(link.range.clone()).expect("a range of the text");
        scan(text)
            .iter()
            .map(|link| (whole(link), link.embed, link.target, link.anchor, link.alias))
            .collect()
    }

    #[test]
    fn every_form_is_read() {
        assert_eq!(parts("see [[Note]]."), [("[[Note]]", false, "Note", None, None)]);
        assert_eq!(parts("[[a/b|x y]]"), [("[[a/b|x y]]", false, "a/b", None, Some("x y"))]);
        assert_eq!(parts("[[N#Head|x]]"), [("[[N#Head|x]]", false, "N", Some("Head"), Some("x"))]);
        assert_eq!(parts("[[#Head]]"), [("[[#Head]]", false, "", Some("Head"), None)]);
        assert_eq!(parts("![[pic.png]]"), [("![[pic.png]]", true, "pic.png", None, None)]);
        assert_eq!(parts(r"| [[N\|x]] |"), [(r"[[N\|x]]", false, "N", None, Some("x"))]);
        assert_eq!(parts("[[甲]]和[[乙#^x]]").len(), 2);
        assert_eq!(parts("[[[N]]]"), [("[[N]]", false, "N", None, None)]);
    }

    #[test]
    fn sizes_are_no_words() {
        for (alias, words, size) in [
            ("300", None, Some("300")),
            ("300x200", None, Some("300x200")),
            ("a map|300", Some("a map"), Some("300")),
            ("a map", Some("a map"), None),
            ("a|b", Some("a|b"), None),
            ("300 days", Some("300 days"), None),
            ("x", Some("x"), None),
            ("3x", Some("3x"), None),
        ] {
            assert_eq!(without_size(alias), (words, size), "{alias}");
        }
    }

    #[test]
    fn what_only_looks_like_one_is_left() {
        for text in [
            "`[[N]]`",
            "``a ` [[N]]``",
            r"\[[N]]",
            "[[N]](url)",
            "[[]]",
            "[[|x]]",
            "[[#]]",
            "[[1,2],[3,4]]",
            "[[a\nb]]",
            "[[open",
            r#"<a href="[[N]]">"#,
            "<!-- [[N]] -->",
        ] {
            assert_eq!(parts(text), [], "{text}");
        }
        assert_eq!(parts("a ` b [[N]]").len(), 1);
        assert_eq!(parts("a < b [[N]] > c").len(), 1);
    }
}
