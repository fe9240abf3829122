//! Front matter: the YAML that a text may begin with, between two lines of `---`.

use crate::cursor::trim_end;

/// The front matter of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrontMatter<'t> {
    /// What stands between the lines of `---`.
    pub matter: &'t str,
    /// The bytes of all, those lines included.
    pub length: usize,
}

/// The front matter that `text` begins with, its newlines being `\n`. Separators may have prose
/// between them as well: front matter is blank, or its first line that is no comment looks like a
/// key, with `: ` in it or `:` at its end.
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
        if line == "---" {
            let matter = text.get(start..end).filter(|_| blank || keyed == Some(true))?;
            return Some(FrontMatter { matter, length });
        }
        if keyed.is_none() && !line.starts_with('#') {
            keyed = Some(line.contains(": ") || line.ends_with(':'));
        }
        blank &= line.is_empty();
        if !blank && keyed == Some(false) {
            return None;
        }
    }
    None
}
