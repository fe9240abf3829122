//! One file becomes the draft of one document.

use leafbase_markdown as markdown;
use leafbase_model::{
    BlockData, BlockDraft, BlockKind, BlockType, CodeLanguage, Day, Edit, Limits,
};

use crate::operations::transfer::front_matter;
use crate::operations::transfer::names;
use crate::operations::transfer::notes::Notes;
use crate::operations::transfer::report::AdaptationKind;
use crate::operations::transfer::targets::without_extension;
use crate::operations::transfer::titles;

/// The text of a file as it is read: without a byte order mark, and with `\n` as the only line end.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) text: String,
    /// What was left off or changed.
    pub(super) adapted: Vec<(AdaptationKind, &'static str)>,
}

impl Text {
    /// The text of these bytes; nothing if they are not UTF-8.
    pub(super) fn of(bytes: Vec<u8>) -> Option<Self> {
        let mut text = String::from_utf8(bytes).ok()?;
        let mut adapted = Vec::new();
        if text.starts_with('\u{feff}') {
            text.remove(0);
            adapted.push((AdaptationKind::ByteOrderMark, "the byte order mark is left off"));
        }
        if text.contains('\r') {
            text = text.replace("\r\n", "\n").replace('\r', "\n");
            adapted.push((AdaptationKind::LineEnds, "carriage returns at line ends are left off"));
        }
        Some(Self { text, adapted })
    }
}

/// The title of the document that the file at `path` becomes: inline markdown, in its canonical
/// form.
pub(super) fn title(path: &str) -> String {
    markdown::canonical_inline(&titles::literal(&name(path))).into_owned()
}

/// The day that the file at `path` is named by. A name that is escaped stands for a title.
pub(super) fn day(path: &str) -> Option<Day> {
    let name = path.rsplit('/').next().unwrap_or_default();
    names::day(without_extension(name))
}

/// What is to be said of a file named by a day that has a note.
pub(super) fn has_note_already(day: Day) -> String {
    format!("{day} has a note already: this is another document")
}

/// What the name of a file says.
fn name(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    names::decode(without_extension(name))
}

/// What is to be said if the title in `edits`, which make the document of the file at `path`, says
/// something else than its name.
pub(super) fn title_changed(path: &str, edits: &[Edit]) -> Option<String> {
    let subtrees = edits.iter().find_map(|edit| match edit {
        Edit::CreateDocument { subtrees, .. } => Some(subtrees),
        _ => None,
    });
    let (name, title) = (name(path), &subtrees?.0.first()?.block.data.markdown);
    (markdown::plain_text(title) != name).then(|| format!("the title of {name:?} is {title:?}"))
}

/// The blocks of a file. What the parser refuses is kept as code.
pub(super) fn blocks(text: &str, limits: &Limits, notes: &mut Notes<'_>) -> Vec<BlockDraft> {
    let split = front_matter::split(text);
    let options = markdown::ParseOptions::default()
        .with_limits(limits.clone())
        .with_empty_first_item(markdown::EmptyFirstItem::Drop);
    let parsed = match markdown::parse(split.body, &options) {
        Ok(parsed) => parsed,
        Err(error) => {
            notes.add_at(
                AdaptationKind::KeptAsCode,
                None,
                format!("the file is kept as code: {error}"),
            );
            return as_code(text);
        }
    };
    let mut blocks = Vec::with_capacity(parsed.blocks.len() + 1);
    if let Some(front) = split.front {
        blocks.push(BlockDraft::new(code(front, CodeLanguage::Yaml, front_matter::TAG)));
        // Between the lines there was one empty line, or none: the block says the same for both.
        if front.is_empty() && text.lines().nth(1).is_some_and(|line| line.trim_end() != "---") {
            notes.add_at(
                AdaptationKind::FrontMatter,
                Some(1),
                "the front matter is empty: its empty line is left off",
            );
        }
    }
    blocks.extend(parsed.blocks);
    bound(&mut blocks, limits, notes);
    for adaptation in parsed.warnings {
        let line = adaptation.line + split.lines_before;
        notes.add_at(kind(adaptation.kind), Some(line), adaptation.kind.to_string());
    }
    blocks
}

/// A link, a picture or a file that is too long for a block of its own stays text.
fn bound(blocks: &mut [BlockDraft], limits: &Limits, notes: &mut Notes<'_>) {
    let mut waiting: Vec<&mut BlockDraft> = blocks.iter_mut().rev().collect();
    while let Some(BlockDraft { data, content, .. }) = waiting.pop() {
        waiting.extend(content.iter_mut().rev());
        if let BlockKind::Image { url, .. }
        | BlockKind::Video { url, .. }
        | BlockKind::File { url, .. }
        | BlockKind::RichUrl { url, .. } = &data.kind
            && let Err(error) = data.check(limits)
        {
            notes.add(AdaptationKind::Markdown, url, format!("a link stays text: {error}"));
            data.markdown = markdown::render_block(data);
            data.kind = BlockKind::empty(BlockType::Text);
            markdown::canonical(data);
        }
    }
}

fn kind(kind: markdown::ParseWarningKind) -> AdaptationKind {
    match kind {
        markdown::ParseWarningKind::EmptyFirstItem => AdaptationKind::EmptyFirstItem,
        markdown::ParseWarningKind::HeadingLevel(_) => AdaptationKind::HeadingLevel,
        markdown::ParseWarningKind::Indentation => AdaptationKind::Indentation,
        markdown::ParseWarningKind::TaskMark(_) => AdaptationKind::TaskMark,
        markdown::ParseWarningKind::Unclosed(_) | markdown::ParseWarningKind::Attribute(_) => {
            AdaptationKind::Tag
        }
        _ => AdaptationKind::Markdown,
    }
}

/// A file, word for word, as one block of code.
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
        let text = Text::of(b"\xef\xbb\xbfa\r\nb\rc\n".to_vec()).expect("is UTF-8");
        assert_eq!(text.text, "a\nb\nc\n");
        assert_eq!(text.adapted.len(), 2);
        assert!(Text::of(b"\xff".to_vec()).is_none());
        assert!(Text::of(b"plain\n".to_vec()).expect("is UTF-8").adapted.is_empty());
    }

    #[test]
    fn titles_are_the_names() {
        assert_eq!(title("x/a%2Fb c.md"), "a/b c");
        assert_eq!(title("New%3F.markdown"), "New?");
        assert_eq!(titles::words(&title("a_b*c*.md")), "a_b*c*");
    }
}
