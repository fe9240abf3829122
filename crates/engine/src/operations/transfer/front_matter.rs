//! Front matter: the YAML between two `---` lines at the start of a file, kept to the byte.

use leafbase_markdown::{self as markdown, FrontMatter};

/// The info string of the code block that holds a document's front matter.
pub(super) const TAG: &str = "yaml frontmatter";

/// A file's text in two.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split<'a> {
    /// What stands between the `---` lines, without the newline at its end.
    pub(super) front: Option<&'a str>,
    /// The rest, without the empty line after front matter.
    pub(super) body: &'a str,
    /// The lines before the rest.
    pub(super) lines_before: usize,
}

/// Parts the front matter from `text`, whose newlines are `\n`. What is front matter is the
/// parser's rule; where it says nothing, the parser sees two separators, and this front matter.
pub(super) fn split(text: &str) -> Split<'_> {
    let Some(FrontMatter { matter, length, .. }) = markdown::front_matter(text) else {
        return Split { front: None, body: text, lines_before: 0 };
    };
    let after = text.get(length..).unwrap_or_default();
    let body = after.strip_prefix('\n').unwrap_or(after);
    let lines_before = matter.matches('\n').count() + 2 + usize::from(body.len() < after.len());
    Split { front: Some(matter.strip_suffix('\n').unwrap_or(matter)), body, lines_before }
}

/// `front` as it stands at the start of a file; nothing if it would not be read back as it is.
pub(super) fn join(front: &str) -> Option<String> {
    let text =
        if front.is_empty() { "---\n---\n".to_owned() } else { format!("---\n{front}\n---\n") };
    (split(&text) == Split { front: Some(front), body: "", lines_before: text.lines().count() })
        .then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_parted_and_joined() {
        for front in
            ["title: x", "a: 1\n\nb: 2  ", "", "# a comment\na: 1", "list:\n- 1", "not: [yaml"]
        {
            let text = join(front).expect("can be written");
            let with_body = format!("{text}\n# Body\n");
            assert_eq!(split(&with_body).front, Some(front));
            assert_eq!(split(&with_body).body, "# Body\n");
        }
        assert_eq!(split("---\na: 1\n---\nbody").lines_before, 3);
        assert_eq!(split("---\na: 1\n---\n\nbody").lines_before, 4);
        assert_eq!(split("---\na: 1\n---").front, Some("a: 1"));
    }

    #[test]
    fn a_separator_is_no_front_matter() {
        let prose = "---\n# Heading text\n\nsome **words** with [[A]]\n\n---\n\nmore";
        let only_comment = "---\n# only a comment\n---\n";
        let below = "---\n\na: 1\n---\n";
        for text in [
            prose,
            only_comment,
            below,
            "---\n\nHello\n\n---\n",
            "---\nnever closed",
            "----\na: 1\n---\n",
            "text\n---\na: 1\n---\n",
            "",
        ] {
            assert_eq!(split(text), Split { front: None, body: text, lines_before: 0 });
        }
        assert_eq!(join("a: 1\n---\nb: 2"), None);
        assert_eq!(join("\na: 1"), None);
        assert_eq!(join("# Heading\n\nwords"), None);
    }
}
