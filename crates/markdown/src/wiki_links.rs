//! Wiki links in inline markdown: `[[Name]]`, `[[Name#Heading|words]]` and `![[Name]]`.

use std::ops::Range;

use crate::hash_tags::wiki_name;
use crate::links::{InlineSpan, pieces};
use crate::slice;

/// Visits the names that wiki links of `inline` lead to, in order, without headings, words and the
/// extension `.md`.
///
/// Code, HTML tags and other links have none, and tags such as `#[[two words]]` are none.
///
/// ```
/// let mut found = Vec::new();
/// let text = "to [[Lisbon#Alfama|the hills]], `[[code]]` and ![[Porto.md]]";
/// leafbase_markdown::wiki_links(text, &mut |name| found.push(name));
/// assert_eq!(found, ["Lisbon", "Porto"]);
/// ```
pub fn wiki_links<'t>(inline: &'t str, visit: &mut dyn FnMut(&'t str)) {
    each_wiki_link(inline, &mut |_, name| visit(name));
}

/// Visits the places of the wiki links of `inline` in bytes, brackets included, in order.
///
/// ```
/// let mut found = Vec::new();
/// leafbase_markdown::wiki_link_ranges("to [[Lisbon]]", &mut |range| found.push(range));
/// assert_eq!(found, [3..13]);
/// ```
pub fn wiki_link_ranges(inline: &str, visit: &mut dyn FnMut(Range<usize>)) {
    each_wiki_link(inline, &mut |range, _| visit(range));
}

fn each_wiki_link<'t>(inline: &'t str, visit: &mut dyn FnMut(Range<usize>, &'t str)) {
    // Most texts have no bracket, and a search for two costs more to set up than to run.
    if memchr::memchr(b'[', inline.as_bytes()).is_none() || !inline.contains("[[") {
        return;
    }
    let mut spans = Vec::new();
    pieces(inline, &mut |span| {
        spans.push(match span {
            InlineSpan::Code(range) | InlineSpan::Tag(range) => range,
            InlineSpan::Link(link) => link.whole,
        });
    });
    spans.sort_unstable_by_key(|span| span.start);
    let mut spans = spans.into_iter().peekable();
    // The end of the spans that begin before a bracket.
    let mut covered = 0;
    // Of three brackets in a row the last two may begin a link.
    for at in memchr::memchr_iter(b'[', inline.as_bytes()) {
        while let Some(span) = spans.next_if(|span| span.start <= at) {
            covered = covered.max(span.end);
        }
        let before = slice::before(inline, at);
        let escapes = before.len() - before.trim_end_matches('\\').len();
        let is_text = escapes.is_multiple_of(2) && !before.ends_with('#') && covered <= at;
        if let Some(inner) = wiki_name(slice::after(inline, at)).filter(|_| is_text) {
            let end = inner.find(['|', '#']).unwrap_or(inner.len());
            // In tables the bar is escaped.
            let name = slice::before(inner, end).trim_end_matches('\\').trim();
            let name = name.strip_suffix(".md").unwrap_or(name);
            if !name.is_empty() {
                visit(at..at + "[[]]".len() + inner.len(), name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::wiki_links;

    #[test]
    fn names_of_links() {
        let rows: &[(&str, &[&str])] = &[
            ("[[A]] and [[ b c ]]", &["A", "b c"]),
            (
                "[[A#Part]] [[B|words]] [[C#^id|words]] [[D\\|words]] [[e/F.md]]",
                &["A", "B", "C", "D", "e/F"],
            ),
            ("![[A]] **[[B]]**", &["A", "B"]),
            ("[[]] [[#Own]] [[ | ]] [[a]b]] [[a\nb]]", &[]),
            ("\\[[A]] \\\\[[B]] `[[C]]` <b title=\"[[D]]\">[[E]]</b>", &["B", "E"]),
            ("[x](<[[A]]>) [see [[B]]](https://x.org) #[[tag]]", &[]),
            ("[[[A]]", &["A"]),
        ];
        for (text, expected) in rows {
            let mut found = Vec::new();
            wiki_links(text, &mut |name| found.push(name));
            assert_eq!(&found, expected, "{text}");
        }
    }
}
