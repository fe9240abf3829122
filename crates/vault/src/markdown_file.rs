//! A markdown file as a document: its text, front matter, title, day and blocks.

use leafbase::bulk::FileLayout;
use leafbase::markdown::{self, EmptyFirstItem, FrontMatter, ParseOptions, UnknownHighlight};
use leafbase::{
    BlockData, BlockDraft, BlockKind, BlockType, CodeLanguage, Day, Error, Limits, Result,
};

use crate::file_names::{self, without_extension};
use crate::link_paths::file_name;
use crate::report::VaultWarningKind;

/// The info string of the code block that holds a document's front matter.
pub(super) const FRONT_MATTER_TAG: &str = "yaml frontmatter";

/// A warning with its line in the file, where it is known.
pub(super) type LineWarning = (VaultWarningKind, Option<usize>, String);

/// The text of a file, normalized: no byte order mark, and `\n` as the only line end.
#[derive(Debug)]
pub(super) struct FileText {
    pub(super) text: String,
    pub(super) has_mark: bool,
    /// Whether each line ended with a carriage return and a line feed.
    pub(super) has_carriage_returns: bool,
    pub(super) warnings: Vec<LineWarning>,
}

impl FileText {
    /// Decodes the bytes of a file.
    ///
    /// # Errors
    /// If they are not UTF-8.
    pub(super) fn decode(bytes: Vec<u8>) -> Result<Self> {
        let mut text =
            String::from_utf8(bytes).map_err(|_| Error::validation("it is not UTF-8"))?;
        let mut warnings = Vec::new();
        // The BOM would otherwise become part of the first heading.
        let has_mark = text.starts_with('\u{feff}');
        if has_mark {
            text.remove(0);
        }
        let mut has_carriage_returns = false;
        if text.contains('\r') {
            let unified = text.replace("\r\n", "\n").replace('\r', "\n");
            has_carriage_returns = unified.replace('\n', "\r\n") == text;
            text = unified;
            if !has_carriage_returns {
                let message = "lines end in several ways: all carriage returns are removed";
                warnings.push((VaultWarningKind::LineEnds, None, message.to_owned()));
            }
        }
        Ok(Self { text, has_mark, has_carriage_returns, warnings })
    }
}

impl FileText {
    /// The layout of the file at `path`, whose text has `layout`.
    pub(super) fn layout(&self, path: &str, layout: FileLayout) -> FileLayout {
        let Self { has_mark, has_carriage_returns, .. } = *self;
        FileLayout { path: path.into(), has_mark, has_carriage_returns, ..layout }
    }
}

/// A file split into front matter and body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SplitFile<'a> {
    /// The YAML between the `---` lines, without the final newline.
    pub(super) front: Option<&'a str>,
    /// The rest, without the empty line after the front matter.
    pub(super) body: &'a str,
    /// Lines before the body.
    pub(super) lines_before: usize,
}

/// Splits off the front matter, as the markdown parser defines it. Empty front matter, in which the
/// parser sees two separators, counts.
pub(super) fn split_front_matter(text: &str) -> SplitFile<'_> {
    let Some(FrontMatter { matter, length, .. }) = markdown::front_matter(text) else {
        return SplitFile { front: None, body: text, lines_before: 0 };
    };
    // The blank line after front matter belongs to neither part; `write_front_matter` restores it.
    debug_assert!(length <= text.len(), "front matter is a prefix of the file");
    let after = text.get(length..).unwrap_or("");
    let body = after.strip_prefix('\n').unwrap_or(after);
    let lines_before = matter.matches('\n').count() + 2 + usize::from(body.len() < after.len());
    SplitFile { front: Some(matter.strip_suffix('\n').unwrap_or(matter)), body, lines_before }
}

/// Front matter as it is written at the start of a file. `None` if it would not be read back
/// unchanged.
pub(super) fn write_front_matter(front: &str) -> Option<String> {
    let text =
        if front.is_empty() { "---\n---\n".to_owned() } else { format!("---\n{front}\n---\n") };
    let expected = SplitFile { front: Some(front), body: "", lines_before: text.lines().count() };
    (split_front_matter(&text) == expected).then_some(text)
}

/// The title of the document that a file becomes, as canonical inline markdown.
pub(super) fn title(path: &str) -> String {
    markdown::canonical_inline(&literal(&name(path))).into_owned()
}

/// The day in a file's name. An escaped name is a title.
pub(super) fn day(path: &str) -> Option<Day> {
    file_names::day(without_extension(file_name(path)))
}

/// Why the file of a day becomes an ordinary document.
pub(super) fn day_has_note(day: Day) -> String {
    format!("{day} already has a note: this becomes another document")
}

/// The decoded name of a file, without extension.
fn name(path: &str) -> String {
    file_names::decode(without_extension(file_name(path)))
}

/// A warning if a document's title does not say what the name of its file says.
pub(super) fn title_warning(path: &str, title: &str) -> Option<String> {
    let name = name(path);
    (markdown::plain_text(title) != name).then(|| format!("the title of {name:?} is {title:?}"))
}

/// Escapes plain text where inline markdown would interpret it.
pub(super) fn literal(words: &str) -> String {
    if markdown::plain_text(words) == words {
        words.to_owned()
    } else {
        markdown::escape(words).into_owned()
    }
}

/// The plain text of a title, for a file name.
pub(super) fn plain_title(title: &str) -> String {
    let words = markdown::plain_text(title).trim().to_owned();
    if words.is_empty() { "Untitled".to_owned() } else { words }
}

/// How files are parsed: text that an edit of a space refuses is read all the same.
pub(super) fn file_options() -> ParseOptions {
    ParseOptions::default()
        .with_empty_first_item(EmptyFirstItem::Drop)
        .with_unknown_highlight(UnknownHighlight::Keep)
}

/// Parses a file into blocks. If the parser refuses it, the file becomes one code block.
/// The layout of the file has no path yet.
pub(super) fn blocks(
    text: &str,
    limits: &Limits,
) -> (Vec<BlockDraft>, FileLayout, Vec<LineWarning>) {
    let split = split_front_matter(text);
    let options = file_options().with_limits(limits.clone());
    let parsed = match markdown::parse_with_layout(split.body, &options) {
        Ok(parsed) => parsed,
        Err(error) => {
            let code = text.trim_end_matches('\n');
            let end = text.get(code.len()..).filter(|end| *end != "\n").map(Into::into);
            let file = FileLayout { end, ..FileLayout::default() };
            return (as_code(code), file, vec![kept_as_code(&error)]);
        }
    };
    let mut warnings = Vec::new();
    if parsed.file.is_none() && !parsed.blocks.is_empty() {
        let message = "its source layout is not kept: an export writes it in another form";
        warnings.push((VaultWarningKind::Layout, None, message.to_owned()));
    }
    let mut file = parsed.file.unwrap_or_default();
    let mut blocks = Vec::with_capacity(parsed.blocks.len() + 1);
    if let Some(front) = split.front {
        blocks.push(BlockDraft::new(code(front, CodeLanguage::Yaml, FRONT_MATTER_TAG)));
        file.front_matter = front_matter_layout(text, front, split.body);
    }
    blocks.extend(parsed.blocks);
    warnings.extend(parsed.warnings.iter().map(|warning| {
        let line = warning.line + split.lines_before;
        (warning_kind(warning.kind), Some(line), warning.kind.to_string())
    }));
    (blocks, file, warnings)
}

/// Whether a file with this text becomes one code block.
pub(super) fn is_kept_as_code(text: &str, limits: &Limits) -> bool {
    let options = file_options().with_limits(limits.clone());
    markdown::parse(split_front_matter(text).body, &options).is_err()
}

/// The lines around front matter, if [`write_front_matter`] writes others.
fn front_matter_layout(text: &str, front: &str, body: &str) -> Option<Box<[Box<str>; 2]>> {
    let head = text.strip_suffix(body)?;
    let blank_line = if body.is_empty() { "" } else { "\n" };
    if write_front_matter(front).is_some_and(|canonical| canonical + blank_line == head) {
        return None;
    }
    let start = head.find('\n')? + 1;
    let (before, rest) = head.split_at_checked(start)?;
    let after = rest.strip_prefix(front)?;
    Some(Box::new([before.into(), after.into()]))
}

/// Turns links, pictures and files that are too long for a block of their own back into text.
/// `warn` gets the URL and the message of each.
pub(super) fn unfold_long_links(
    blocks: &mut [BlockDraft],
    limits: &Limits,
    warn: &mut dyn FnMut(&str, String),
) {
    let mut stack: Vec<&mut BlockDraft> = blocks.iter_mut().rev().collect();
    while let Some(BlockDraft { data, content, .. }) = stack.pop() {
        // Iterative pre-order traversal: nesting comes from files.
        stack.extend(content.iter_mut().rev());
        if let Some((_, url)) = data.url()
            && let Err(error) = data.check(limits)
        {
            warn(url, format!("a link stays text: {error}"));
            data.inline = markdown::render_block(data);
            data.kind = BlockKind::empty(BlockType::Text);
            markdown::canonical(data);
        }
    }
}

fn warning_kind(kind: markdown::ParseWarningKind) -> VaultWarningKind {
    match kind {
        markdown::ParseWarningKind::EmptyFirstItem => VaultWarningKind::EmptyFirstItem,
        markdown::ParseWarningKind::HeadingLevel(_) => VaultWarningKind::HeadingLevel,
        markdown::ParseWarningKind::Indentation => VaultWarningKind::Indentation,
        markdown::ParseWarningKind::TaskMark(_) => VaultWarningKind::TaskMark,
        markdown::ParseWarningKind::Unclosed(_)
        | markdown::ParseWarningKind::Attribute(_)
        | markdown::ParseWarningKind::UnknownHighlight => VaultWarningKind::Tag,
        _ => VaultWarningKind::Markdown,
    }
}

/// The warning that a file was kept as code.
pub(super) fn kept_as_code(error: &Error) -> LineWarning {
    (VaultWarningKind::KeptAsCode, None, format!("the file is kept as code: {error}"))
}

/// A file as one code block, verbatim.
pub(super) fn as_code(text: &str) -> Vec<BlockDraft> {
    vec![BlockDraft::new(code(text.trim_end_matches('\n'), CodeLanguage::Markdown, ""))]
}

fn code(raw_code: &str, language: CodeLanguage, tag: &str) -> BlockData {
    let (raw_code, language_tag) = (raw_code.to_owned(), tag.to_owned());
    BlockData::new(BlockKind::Code { raw_code, language, language_tag })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_plain_text() {
        let text = FileText::decode(b"\xef\xbb\xbfa\r\nb\rc\n".to_vec()).expect("is UTF-8");
        assert_eq!(text.text, "a\nb\nc\n");
        assert_eq!((text.has_mark, text.warnings.len()), (true, 1));
        assert!(FileText::decode(b"\xff".to_vec()).is_err());
        assert!(FileText::decode(b"plain\n".to_vec()).expect("is UTF-8").warnings.is_empty());
    }

    #[test]
    fn titles_are_the_names() {
        assert_eq!(title("x/a%2Fb c.md"), "a/b c");
        assert_eq!(title("New%3F.markdown"), "New?");
        assert_eq!(plain_title(&title("a_b*c*.md")), "a_b*c*");
    }

    #[test]
    fn front_matter_is_parted_and_joined() {
        for front in [
            "title: x",
            "a: 1\n\nb: 2  ",
            "",
            "# a comment\na: 1",
            "list:\n- 1",
            "not: [yaml",
            "\na: 1",
            "\n\n# c\n\na: 1\n",
        ] {
            let text = write_front_matter(front).expect("can be written");
            let with_body = format!("{text}\n# Body\n");
            assert_eq!(split_front_matter(&with_body).front, Some(front));
            assert_eq!(split_front_matter(&with_body).body, "# Body\n");
        }
        assert_eq!(split_front_matter("---\na: 1\n---\nbody").lines_before, 3);
        assert_eq!(split_front_matter("---\na: 1\n---\n\nbody").lines_before, 4);
        assert_eq!(split_front_matter("---\na: 1\n---").front, Some("a: 1"));
    }

    #[test]
    fn a_separator_is_no_front_matter() {
        let prose = "---\n# Heading text\n\nsome **words** with [[A]]\n\n---\n\nmore";
        let only_comment = "---\n# only a comment\n---\n";
        for text in [
            prose,
            only_comment,
            "---\n\nHello\n\n---\n",
            "---\nnever closed",
            "----\na: 1\n---\n",
            "text\n---\na: 1\n---\n",
            "",
        ] {
            assert_eq!(
                split_front_matter(text),
                SplitFile { front: None, body: text, lines_before: 0 }
            );
        }
        assert_eq!(write_front_matter("a: 1\n---\nb: 2"), None);
        assert_eq!(write_front_matter("# Heading\n\nwords"), None);
    }
}
