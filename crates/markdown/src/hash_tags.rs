//! Tags in inline markdown: `#tag`, `#nested/tag` and `#[[two words]]`.

use std::ops::Range;

use leafbase_model::Limits;

use crate::links::{InlineSpan, pieces};
use crate::slice;

/// Visits the tags of `inline` in order, without number signs.
///
/// A tag begins after a blank or an opening mark and has letters, digits, `-`, `_` and `/`, not
/// digits alone. Code, HTML tags, destinations of links and wiki links contain none.
///
/// ```
/// let mut found = Vec::new();
/// leafbase_markdown::hash_tags("to #Travel/Lisbon, `#code` #[[next year]] #1", &mut |tag| found.push(tag));
/// assert_eq!(found, ["Travel/Lisbon", "next year"]);
/// ```
pub fn hash_tags<'t>(inline: &'t str, visit: &mut dyn FnMut(&'t str)) {
    if memchr::memchr(b'#', inline.as_bytes()).is_none() {
        return;
    }
    let mut spans = untagged_spans(inline).into_iter().peekable();
    // The end of the last tag, and of the spans that begin before a number sign.
    let (mut end, mut covered) = (0, 0);
    for at in memchr::memchr_iter(b'#', inline.as_bytes()) {
        while let Some(span) = spans.next_if(|span| span.start <= at) {
            covered = covered.max(span.end);
        }
        if at < end.max(covered) || !may_begin_after(slice::before(inline, at)) {
            continue;
        }
        let after = slice::after(inline, at + 1);
        let (name, length) = if let Some(name) = wiki_name(after) {
            (name.trim(), name.len() + 4)
        } else {
            let name = slice::before(after, after.find(|c| !is_of_tag(c)).unwrap_or(after.len()));
            (name.trim_end_matches('/'), name.len())
        };
        if is_tag(name) {
            visit(name);
            end = at + 1 + length;
        }
    }
}

/// Whether `name` is a tag: not empty, not digits and slashes alone, of at most
/// [`Limits::TAG_BYTES`] in either case, and with no empty level.
pub(crate) fn is_tag(name: &str) -> bool {
    let is_said =
        |letter: char| !letter.is_ascii_digit() && (letter.is_alphanumeric() || !letter.is_ascii());
    let has_digits = name.contains(|letter: char| letter.is_ascii_digit());
    let has_marks = name.contains(['-', '_']);
    !name.starts_with('/')
        && !name.ends_with('/')
        && !name.contains("//")
        && !name.contains(char::is_control)
        && (name.contains(is_said) || has_digits && has_marks)
        && name.len() <= Limits::TAG_BYTES
        && name.to_lowercase().len() <= Limits::TAG_BYTES
}

/// Whether a tag may have the character: ASCII punctuation and that of other scripts end it.
fn is_of_tag(letter: char) -> bool {
    match letter {
        '-' | '_' | '/' => true,
        '\u{2000}'..='\u{206F}'
        | '\u{2E00}'..='\u{2E7F}'
        | '\u{3000}'..='\u{3020}'
        | '\u{FF01}'..='\u{FF0F}'
        | '\u{FF1A}'..='\u{FF20}' => false,
        letter if letter.is_ascii() => letter.is_ascii_alphanumeric(),
        letter => !letter.is_whitespace() && !letter.is_control(),
    }
}

/// Whether a tag may begin after this text.
fn may_begin_after(before: &str) -> bool {
    before.chars().next_back().is_none_or(|last| {
        last.is_whitespace()
            || matches!(last, '(' | '[' | '{' | '"' | '\'' | '*' | '~' | '|' | '>')
            || matches!(last, '“' | '‘' | '«' | '（' | '「' | '『' | '【')
    })
}

/// The name in the brackets of a wiki link at the start of `text`.
pub(crate) fn wiki_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix("[[")?;
    let name = name.get(..name.find(['[', ']', '\n'])?)?;
    text.get(2 + name.len()..)?.starts_with("]]").then_some(name)
}

/// The spans without tags, by their start: code, HTML tags, what of a link is not its text, and
/// wiki links but those after a number sign.
fn untagged_spans(inline: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    pieces(inline, &mut |span| match span {
        InlineSpan::Code(range) | InlineSpan::Tag(range) => spans.push(range),
        InlineSpan::Link(link) => match link.label {
            Some(label) => {
                spans.extend([link.whole.start..label.start, label.end..link.whole.end]);
            }
            None => spans.push(link.whole),
        },
    });
    for at in memchr::memmem::find_iter(inline.as_bytes(), "[[") {
        let is_tag = slice::before(inline, at).ends_with('#');
        let name = wiki_name(slice::after(inline, at)).filter(|_| !is_tag);
        spans.extend(name.map(|name| at..at + name.len() + 4));
    }
    spans.sort_unstable_by_key(|span| span.start);
    spans
}

#[cfg(test)]
mod tests {
    use super::hash_tags;

    /// A text, and the tags in it.
    const ROWS: &[(&str, &[&str])] = &[
        ("#a", &["a"]),
        ("to #Lisbon, #lisbon/alfama. (#x) **#bold**", &["Lisbon", "lisbon/alfama", "x", "bold"]),
        ("#a-b_c/d", &["a-b_c/d"]),
        ("#1984 #12/34 #y1984 #12-34 #- #_", &["y1984", "12-34"]),
        ("#a/ #/a #a//b #", &["a"]),
        ("a#b &#35; \\#c ##d http://x.org/#e", &[]),
        ("`#a` ``#b`` #c", &["c"]),
        ("[#label](https://x.org/#u \"#t\") <https://x.org/#v>", &["label"]),
        ("![#alt](#u)", &["alt"]),
        ("[[Note#Heading]] [[#Heading]] ![[#^id]] [[ #x ]]", &[]),
        ("#[[two words]] #[[a]b]] #[[]] a#[[c]]", &["two words"]),
        ("<a href=\"#x\">#y</a>", &["y"]),
        ("#été #日本語、#x #标签/子 #हिन्दी #🎉", &["été", "日本語", "标签/子", "हिन्दी", "🎉"]),
        ("#a#b #a.b #a's #a:", &["a", "a", "a", "a"]),
        ("# heading\n#tag\n## x", &["tag"]),
        ("| #a | b |\n|---|---|\n|#c|`#d`|", &["a", "c"]),
        ("\u{a0}#a\u{3000}#b“#c”", &["a", "b", "c"]),
        ("[[[[[[#a", &["a"]),
    ];

    #[test]
    fn tags_of_texts() {
        for (text, expected) in ROWS {
            let mut found = Vec::new();
            hash_tags(text, &mut |tag| found.push(tag));
            assert_eq!(&found, expected, "{text}");
        }
    }

    #[test]
    fn long_tags_are_none() {
        for (letters, is_tag) in [(255, true), (256, false)] {
            let (text, mut found) = (format!("#{}", "a".repeat(letters)), 0);
            hash_tags(&text, &mut |_| found += 1);
            assert_eq!(found == 1, is_tag, "{letters}");
        }
    }
}
