//! Front matter: the YAML between two `---` lines at the start of a file, kept to the byte.

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

/// Parts the front matter from `text`, whose newlines are `\n`. Between separators prose may stand as well: see [`is_matter`].
pub(super) fn split(text: &str) -> Split<'_> {
    let none = Split { front: None, body: text, lines_before: 0 };
    let Some(inner) = text.strip_prefix("---").and_then(|rest| rest.trim_start_matches([' ', '\t']).strip_prefix('\n'))
    else {
        return none;
    };
    let mut end = 0;
    for (number, line) in inner.split_inclusive('\n').enumerate() {
        if line.trim_end() == "---" {
            let front = inner.get(..end).unwrap_or_default();
            let after = inner.get(end + line.len()..).unwrap_or_default();
            let body = after.strip_prefix('\n').unwrap_or(after);
            if !is_matter(front) {
                return none;
            }
            let front = front.strip_suffix('\n').unwrap_or(front);
            let lines_before = number + 2 + usize::from(body.len() < after.len());
            return Split { front: Some(front), body, lines_before };
        }
        end += line.len();
    }
    none
}

/// Whether what stands between two `---` is front matter: it is empty, or its first line that is no comment looks like a key. The markdown
/// parser decides by the same rule what it leaves unread at the start of a text.
fn is_matter(front: &str) -> bool {
    let mut lines = front.lines().map(str::trim_end).filter(|line| !line.starts_with('#'));
    front.trim().is_empty() || lines.next().is_some_and(|line| line.contains(": ") || line.ends_with(':'))
}

/// `front` as it stands at the start of a file; nothing if it would not be read back as it is.
pub(super) fn join(front: &str) -> Option<String> {
    let text = if front.is_empty() { "---\n---\n".to_owned() } else { format!("---\n{front}\n---\n") };
    (split(&text) == Split { front: Some(front), body: "", lines_before: text.lines().count() }).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_parted_and_joined() {
        for front in ["title: x", "a: 1\n\nb: 2  ", "", "# a comment\na: 1", "list:\n- 1", "not: [yaml"] {
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
