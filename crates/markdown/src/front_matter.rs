//! Front matter: YAML at the start of a text, between two lines of `---`.

use crate::cursor::trim_end;

/// The language tag of the code block that holds the front matter of a document.
pub const FRONT_MATTER_TAG: &str = "yaml frontmatter";

/// Front matter of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrontMatter<'t> {
    /// The text between the lines of `---`.
    pub matter: &'t str,
    /// Length in bytes, including those lines.
    pub length: usize,
}

/// The front matter of `text`, whose line ends must be `\n`. Two separators may enclose prose as
/// well, so the content must be blank, or its first line that is neither blank nor a comment must
/// look like a key: with `: ` in it or `:` at its end.
///
/// ```
/// use leafbase_markdown::front_matter;
///
/// assert_eq!(front_matter("---\n# travel\ntags: a\n---\ntext").map(|front| front.matter), Some("# travel\ntags: a\n"));
/// assert_eq!(front_matter("---\n# Heading\n\nwords\n\n---"), None);
/// ```
pub fn front_matter(text: &str) -> Option<FrontMatter<'_>> {
    let mut lines = text.split_inclusive('\n');
    let start = lines.next().filter(|first| trim_end(first) == "---")?.len();
    let (mut length, mut keyed, mut blank) = (start, None, true);
    for line in lines {
        let end = length;
        length += line.len();
        let line = trim_end(line);
        // The closing line ends front matter even if no key was found: the content is then blank.
        if line == "---" {
            let matter = text.get(start..end).filter(|_| blank || keyed == Some(true))?;
            return Some(FrontMatter { matter, length });
        }
        if keyed.is_none() && !line.is_empty() && !line.starts_with('#') {
            keyed = Some(line.contains(": ") || line.ends_with(':'));
        }
        blank &= line.is_empty();
        if !blank && keyed == Some(false) {
            return None;
        }
    }
    None
}
