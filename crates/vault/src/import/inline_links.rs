//! Links in inline markdown beyond `CommonMark`: wiki links such as `[[Target#Heading|alias]]` and
//! `![[embed]]`, and references to blocks such as `((id))`.
//!
//! All scans are linear in the length of the text.

use std::collections::HashMap;
use std::ops::Range;

use crate::logseq_ids::{ID_LENGTH, is_id};

/// A wiki link.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WikiLink<'a> {
    /// Its byte range in the text, with the brackets.
    pub(crate) range: Range<usize>,
    pub(crate) is_embed: bool,
    /// The name or path of a note; empty for the same note.
    pub(crate) target: &'a str,
    /// A heading, or `^` and the name of a block.
    pub(crate) anchor: Option<&'a str>,
    /// The text to show.
    pub(crate) alias: Option<&'a str>,
}

/// The wiki links in `text`, in order. Literal spans, attributes of tags and escaped brackets
/// contain none. Brackets followed by `(` are an ordinary link. The application that wrote
/// `{{query [[A]]}}` and the tag `#[[two words]]` reads no other link there, so they contain none,
/// either.
pub(crate) fn wiki_links(text: &str) -> Vec<WikiLink<'_>> {
    let (mut links, mut at, mut literals) = (Vec::new(), 0, LiteralSpans::new(text));
    while let Some(skip) = text.get(at..).and_then(|rest| rest.find(['\\', '`', '<', '[', '{'])) {
        at += skip;
        let rest = text.get(at..).unwrap_or("");
        // Literal spans first: their content is not tokenized.
        if let Some(length) = literals.length_at(at) {
            at += length;
        } else if rest.starts_with('<') {
            at += tag_length(rest);
        } else if let Some(link) = wiki_link(text, at) {
            at = link.range.end;
            if !is_tag(text, &link) {
                links.push(link);
            }
        } else {
            at += 1;
        }
    }
    links
}

/// The ranges of the references to blocks in `text`, in order: `((id))`, as Logseq writes them,
/// also alone in the macro `{{embed ((id))}}`. Literal spans, attributes of tags and other macros
/// contain none.
pub(crate) fn block_references(text: &str) -> Vec<Range<usize>> {
    let (mut references, mut at, mut literals) = (Vec::new(), 0, LiteralSpans::new(text));
    while let Some(skip) = text.get(at..).and_then(|rest| rest.find(['\\', '`', '<', '(', '{'])) {
        at += skip;
        let rest = text.get(at..).unwrap_or("");
        if let Some(length) = literals.length_at(at) {
            let embed = rest.get(..length).and_then(embedded_reference);
            references.extend(embed.map(|range| at + range.start..at + range.end));
            at += length;
        } else if rest.starts_with('<') {
            at += tag_length(rest);
        } else if let Some(length) = reference_length(rest) {
            references.push(at..at + length);
            at += length;
        } else {
            at += 1;
        }
    }
    references
}

/// The ID in a text that is one reference to a block.
pub(crate) fn block_reference(text: &str) -> Option<&str> {
    let id = text.strip_prefix("((")?.strip_suffix("))")?;
    is_id(id).then_some(id)
}

/// The length of the reference at the start of `text`.
fn reference_length(text: &str) -> Option<usize> {
    let reference = text.get(..ID_LENGTH + "(())".len())?;
    block_reference(reference).map(|_| reference.len())
}

/// The range of the reference in a macro that embeds one block.
fn embedded_reference(text: &str) -> Option<Range<usize>> {
    let inner = text.strip_prefix("{{embed ")?.strip_suffix("}}")?;
    block_reference(inner.trim())?;
    let start = text.find("((")?;
    Some(start..start + inner.trim().len())
}

/// Whether a link is the name of a tag: `#[[two words]]`.
fn is_tag(text: &str, link: &WikiLink<'_>) -> bool {
    text.get(..link.range.start).is_some_and(|before| before.ends_with('#'))
}

/// The length of the tag with attributes at the start of `text`; 1 if there is none.
fn tag_length(text: &str) -> usize {
    let inner = text.get(1..).unwrap_or("");
    let end = inner.find(['<', '>']).unwrap_or(0);
    let is_tag = inner.starts_with(|first: char| first.is_ascii_alphabetic())
        && inner.as_bytes().get(end) == Some(&b'>')
        && inner.get(..end).is_some_and(|inside| inside.contains("=\"") || inside.contains("='"));
    if is_tag { end + 2 } else { 1 }
}

fn wiki_link(text: &str, at: usize) -> Option<WikiLink<'_>> {
    let inner_start = at + 2;
    let rest = text.get(at..)?.strip_prefix("[[").filter(|rest| !rest.starts_with('['))?;
    // The next `[[` ends the search, so that no part of the text is searched twice.
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
    // In a table the bar is escaped.
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
    let is_embed =
        text.get(..at).is_some_and(|before| before.ends_with('!') && !before.ends_with("\\!"));
    debug_assert!(text.is_char_boundary(end), "a link ends after its brackets");
    let alias = alias.filter(|alias| !alias.is_empty());
    Some(WikiLink { range: at - usize::from(is_embed)..end, is_embed, target, anchor, alias })
}

/// Splits the alias of an embed into its text and its size: `words|300`, `300x200`.
pub(crate) fn split_size(alias: &str) -> (Option<&str>, Option<&str>) {
    let (words, last) =
        alias.rsplit_once('|').map_or(("", alias), |(words, last)| (words, last.trim()));
    let is_number =
        |number: &str| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    let is_size = last
        .split_once('x')
        .map_or(is_number(last), |(width, height)| is_number(width) && is_number(height));
    // In a table the bar is escaped.
    let words = words.strip_suffix('\\').unwrap_or(words).trim();
    if is_size {
        (Some(words).filter(|words| !words.is_empty()), Some(last))
    } else {
        (Some(alias), None)
    }
}

/// Finds literal spans, in which markdown interprets nothing: code spans, comments, escaped
/// characters, and the `{{macros}}` of other applications.
#[derive(Debug)]
struct LiteralSpans<'a> {
    text: &'a str,
    /// Start offsets of backtick runs by length, in order; computed on first use.
    backtick_runs: Option<HashMap<usize, Vec<usize>>>,
    /// Whether no further comment is closed.
    no_comment: bool,
    /// Where the line ends of which the rest closes no macro.
    no_macro_until: usize,
}

impl<'a> LiteralSpans<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, backtick_runs: None, no_comment: false, no_macro_until: 0 }
    }

    /// The length of the literal span at `at`. `None` if there is none.
    fn length_at(&mut self, at: usize) -> Option<usize> {
        let rest = self.text.get(at..)?;
        match rest.as_bytes().first()? {
            b'\\' => Some(1 + rest.chars().nth(1).map_or(0, char::len_utf8)),
            b'`' => Some(self.code_span(at, rest)),
            b'<' => self.comment(rest),
            b'{' => self.macro_length(at, rest),
            _ => None,
        }
    }

    /// The length of the code span at the start of `rest`, or of its backticks if it is not closed.
    fn code_span(&mut self, at: usize, rest: &str) -> usize {
        let opening = leading_backticks(rest);
        debug_assert!(opening > 0, "a code span starts with a backtick");
        let runs = self.backtick_runs.get_or_insert_with(|| backtick_runs(self.text));
        // Offsets are sorted, so the closing run is found by binary search.
        let same_length = runs.get(&opening).map_or(&[][..], Vec::as_slice);
        let next = same_length.partition_point(|start| *start < at + opening);
        same_length.get(next).map_or(opening, |closing| closing + opening - at)
    }

    fn comment(&mut self, rest: &str) -> Option<usize> {
        let inner = rest.strip_prefix("<!--").filter(|_| !self.no_comment)?;
        let end = inner.find("-->");
        self.no_comment = end.is_none();
        Some(end? + "<!---->".len())
    }
}

impl LiteralSpans<'_> {
    /// The length of `{{..}}` on one line.
    fn macro_length(&mut self, at: usize, rest: &str) -> Option<usize> {
        let inner = rest.strip_prefix("{{").filter(|_| self.no_macro_until <= at)?;
        let line = inner.split('\n').next().unwrap_or(inner);
        let end = line.find("}}");
        if end.is_none() {
            self.no_macro_until = at + 2 + line.len();
        }
        Some(end? + "{{}}".len())
    }
}

fn leading_backticks(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'`').count()
}

fn backtick_runs(text: &str) -> HashMap<usize, Vec<usize>> {
    let (mut runs, mut at) = (HashMap::<usize, Vec<usize>>::new(), 0);
    while let Some((skip, rest)) = text.get(at..).and_then(|rest| Some((rest.find('`')?, rest))) {
        let length = leading_backticks(rest.get(skip..).unwrap_or(""));
        debug_assert!(length > 0, "a run starts at the backtick that was found");
        runs.entry(length).or_default().push(at + skip);
        at += skip + length;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link as written, whether it embeds, its target, anchor and alias.
    type Parts<'a> = (&'a str, bool, &'a str, Option<&'a str>, Option<&'a str>);

    fn parts(text: &str) -> Vec<Parts<'_>> {
        let whole =
            |link: &WikiLink<'_>| text.get(link.range.clone()).expect("a range of the text");
        wiki_links(text)
            .iter()
            .map(|link| (whole(link), link.is_embed, link.target, link.anchor, link.alias))
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
            assert_eq!(split_size(alias), (words, size), "{alias}");
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
            "{{query (and [[N]] [[M]])}}",
            "a {{embed [[N]]}}",
            "#[[two words]]",
        ] {
            assert_eq!(parts(text), [], "{text}");
        }
        assert_eq!(parts("a ` b [[N]]").len(), 1);
        assert_eq!(parts("a < b [[N]] > c").len(), 1);
        assert_eq!(parts("{{open [[N]]\n}} a:: b [[M]]\nkey:: [[O]]\n[[P]]").len(), 4);
    }

    #[test]
    fn references_to_blocks_are_read() {
        let reference = "((60a78e9e-59dc-40ab-9a01-5317dc09365f))";
        for (text, count) in [
            ("R", 1),
            ("see R, (R) and R.", 3),
            ("{{embed R}} {{embed  R }}", 2),
            ("`R` \\R <!-- R --> <a href=\"R\"> {{query R}} {{embed R R}}", 0),
            ("((60a78e9e)) ((60a78e9e-59dc-40ab-9a01-5317dc09365g)) ((a)) (()) ((", 0),
            ("`a R", 1),
        ] {
            let text = text.replace('R', reference);
            let found = block_references(&text);
            assert_eq!(found.len(), count, "{text}");
            assert!(found.into_iter().all(|range| &text[range] == reference));
        }
    }

    #[test]
    fn code_ends_at_a_run_of_its_length() {
        for (text, length) in [
            ("`a` b", Some(3)),
            ("``a ` b`` c", Some(9)),
            ("``a ` b", Some(2)),
            ("\\`a`", Some(2)),
            ("\\", Some(1)),
            ("<!-- ` --> `", Some(10)),
            ("<!-- `", None),
            ("<b>", None),
            ("a", None),
            ("", None),
        ] {
            assert_eq!(LiteralSpans::new(text).length_at(0), length, "{text}");
        }
        // After a backslash the rest of a run is a shorter one.
        assert_eq!(LiteralSpans::new("\\``a` b``").length_at(2), Some(3));
    }

    #[test]
    fn literal_spans_take_linear_time() {
        let growing: String =
            (1..1_500).flat_map(|length| ["`".repeat(length), " ".to_owned()]).collect();
        let macros = "{{a ".repeat(200_000);
        for text in [growing, "<!-- ".repeat(200_000), "[[a ".repeat(200_000), macros] {
            let began = std::time::Instant::now();
            assert_eq!((wiki_links(&text).len(), block_references(&text).len()), (0, 0));
            assert!(began.elapsed().as_secs() < 2, "{:?}", began.elapsed());
        }
    }
}
