//! The searchable texts of a document: the words of its blocks, and the text that patterns are
//! matched against. Index, snippets and matches use the same texts.

use std::borrow::Cow;
use std::collections::HashMap;

use leafbase_markdown::{self as markdown, LinkTarget, MentionTarget, PlainText, Rewritten};
use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockType, Comment, DocumentId, DocumentRecord, Error,
    Properties, PropertyValue, Result, TextRole, cell_values, invariant,
};
use leafbase_search::{Analyzer, Attributes, Highlighter, SearchDocument};
use leafbase_store::{BlockText, RawText, SpaceReader, SubtreeText, SubtreeTexts};

use crate::core::redaction::shown_markdown;

/// The analyzed document, for the index and for the overlay of recent changes.
pub(crate) fn document(
    reader: SpaceReader<'_>,
    record: &DocumentRecord,
    analyzer: &mut Analyzer,
) -> Result<SearchDocument> {
    Ok(analyzed(&DocumentTexts::read(reader, record.id)?, record, analyzer))
}

/// The analyzed page of a scope, as a document with this record.
pub(crate) fn page(
    reader: SpaceReader<'_>,
    stored_in: DocumentId,
    record: &DocumentRecord,
    analyzer: &mut Analyzer,
) -> Result<SearchDocument> {
    let texts = DocumentTexts::read_page(reader, record.id, stored_in)?;
    Ok(analyzed(&texts, record, analyzer))
}

fn analyzed(
    texts: &DocumentTexts,
    record: &DocumentRecord,
    analyzer: &mut Analyzer,
) -> SearchDocument {
    let mut builder = analyzer.begin(attributes(record), &texts.title());
    for (number, block) in texts.blocks().enumerate() {
        builder.add_pattern_text(&block.pattern());
        if let Some(text) = block.text_among_marks() {
            builder.add_pattern_text(&text);
        }
        if names_blocks(block.text) {
            builder.vary();
        }
        // The words of the root are the title, which is a field of its own.
        let words = (number > 0).then(|| block.words());
        let comments = (number == 0).then(|| block.comments());
        let is_heading = number > 0 && is_heading(block.text);
        let texts = words.into_iter().flatten().chain(comments.into_iter().flatten());
        for (index, text) in texts.enumerate() {
            // The first text of a heading is its own, before properties and comments.
            if is_heading && index == 0 {
                builder.add_heading(&text);
            } else {
                builder.add_words(&text);
            }
        }
    }
    builder.finish_unsorted()
}

/// Whether the block's own text is a heading or the title of a page.
fn is_heading(text: BlockText<'_>) -> bool {
    match text {
        BlockText::Markdown(block_type, _) => block_type.is_page(),
        BlockText::Data(data) => {
            data.block_type().is_page()
                || data.text_format().is_some_and(|format| format.style.is_heading())
        }
    }
}

/// The attributes that filters test.
pub(crate) const fn attributes(record: &DocumentRecord) -> Attributes {
    let &DocumentRecord { id, location, day, created_at, modified_at, .. } = record;
    Attributes { id, location, day, created_at, modified_at }
}

/// A document with its items and comments, as searches see it.
pub(crate) struct DocumentTexts {
    blocks: SubtreeTexts,
    /// What patterns are matched on where a call is shown other words, by the numbers of the
    /// blocks.
    shown: HashMap<usize, String>,
    /// Sorted by block.
    comments: Vec<(BlockId, Comment)>,
}

impl DocumentTexts {
    /// Reads the whole document.
    pub(crate) fn read(reader: SpaceReader<'_>, document: DocumentId) -> Result<Self> {
        let blocks = reader.document_texts(document)?;
        Self::with(blocks, document, reader.comments_in(document)?)
    }

    /// Reads a page of `stored_in` that is shown as the document `page`.
    pub(crate) fn read_page(
        reader: SpaceReader<'_>,
        page: DocumentId,
        stored_in: DocumentId,
    ) -> Result<Self> {
        let blocks = reader.subtree_texts(page.root())?;
        let mut ids: Vec<_> = blocks.iter().map(|block| block.id).collect();
        ids.sort_unstable();
        Self::with(blocks, page, reader.comments_among(stored_in, &ids)?)
    }

    /// Reads the title, and of the other blocks those in which the highlighter may find matches.
    pub(crate) fn read_candidates(
        reader: SpaceReader<'_>,
        document: DocumentId,
        highlighter: &Highlighter<'_>,
    ) -> Result<Self> {
        let may_have_comments = reader.may_have_comments(document);
        let comments = if may_have_comments { reader.comments_in(document)? } else { Vec::new() };
        // A block may match by its comments alone.
        let prefilter = highlighter.ascii_prefilter().filter(|_| comments.is_empty());
        let blocks = match prefilter {
            Some(prefilter) => {
                // One search of a run costs less than one of each of its blocks.
                let mut next = None;
                reader.document_texts_where(document, &mut |RawText { run, range, markdown }| {
                    if range.start == 0 || next.is_some_and(|next| next < range.start) {
                        next = prefilter.find(run, range.start);
                    }
                    // In other markdown, markup may be inside of words, and characters fold to
                    // ASCII.
                    next.is_some_and(|next| next < range.end) || !markdown::is_plain_ascii(markdown)
                })?
            }
            None => reader.document_texts(document)?,
        };
        Self::with(blocks, document, comments)
    }

    fn with(
        blocks: SubtreeTexts,
        document: DocumentId,
        comments: Vec<(BlockId, Comment)>,
    ) -> Result<Self> {
        if blocks.is_empty() {
            return Err(Error::corrupted(format_args!("document {document}")));
        }
        invariant!(
            comments.is_sorted_by_key(|(block, _)| *block),
            "the comments of a document are sorted by block"
        );
        Ok(Self { blocks, shown: HashMap::new(), comments })
    }

    /// The title as plain text.
    pub(crate) fn title(&self) -> Cow<'_, str> {
        self.blocks.get(0).map(|root| plain(own_markdown(root.text))).unwrap_or_default()
    }

    /// Its blocks in reading order, the root first, except blocks that were not read.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = BlockTexts<'_>> + Clone {
        self.blocks.iter().enumerate().map(|(number, block)| self.texts(number, block))
    }

    /// Replaces the texts that patterns are matched on with what `shown` gives for them.
    pub(crate) fn show(
        &mut self,
        mut shown: impl FnMut(BlockText<'_>) -> Result<Option<String>>,
    ) -> Result<()> {
        for (number, block) in self.blocks.iter().enumerate() {
            if let Some(text) = shown(block.text)? {
                self.shown.insert(number, text);
            }
        }
        Ok(())
    }

    fn texts<'t>(
        &'t self,
        number: usize,
        SubtreeText { id, text, .. }: SubtreeText<'t>,
    ) -> BlockTexts<'t> {
        let shown = self.shown.get(&number).map(String::as_str);
        // Binary searches: `with` checked that the comments are sorted by block.
        let start = self.comments.partition_point(|(block, _)| *block < id);
        let (_, from_block) = self.comments.split_at(start);
        let (comments, _) =
            from_block.split_at(from_block.partition_point(|(block, _)| *block == id));
        BlockTexts { id, text, shown, comments }
    }
}

/// A block as searches see it.
#[derive(Clone, Copy)]
pub(crate) struct BlockTexts<'t> {
    pub(crate) id: BlockId,
    text: BlockText<'t>,
    /// None if patterns are matched against the block's own text.
    shown: Option<&'t str>,
    comments: &'t [(BlockId, Comment)],
}

impl<'t> BlockTexts<'t> {
    /// The plain texts whose words are indexed, including those of its comments. A phrase never
    /// spans two of them.
    pub(crate) fn words(&self) -> impl Iterator<Item = Cow<'t, str>> + use<'t> {
        let (only, several) = match self.text {
            BlockText::Markdown(_, text) => (Some(plain(text)), Vec::new()),
            BlockText::Data(data) => (None, words(data)),
        };
        only.into_iter().chain(several).chain(self.comments())
    }

    /// What it says, where that is not in its markdown as it is: replacements look for it.
    fn text_among_marks(&self) -> Option<String> {
        let (block_type, inline) = match self.text {
            BlockText::Markdown(block_type, inline) => (block_type, inline),
            BlockText::Data(data) => (data.block_type(), &*data.inline),
        };
        if markdown::is_plain(inline.as_bytes()) {
            return None;
        }
        // The cells of a table are parsed one by one.
        Some(match block_type {
            BlockType::Table => {
                let texts = cell_values(inline).map(|cell| PlainText::of(&cell).into_string());
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => PlainText::of(inline).into_string(),
        })
    }

    /// The plain texts of its comments.
    pub(crate) fn comments(&self) -> impl Iterator<Item = Cow<'t, str>> + use<'t> {
        self.comments.iter().map(|(_, comment)| plain(&comment.content))
    }

    /// The text that patterns are matched against.
    pub(crate) fn pattern(&self) -> Cow<'t, str> {
        self.shown.map_or_else(|| shown(self.text), Cow::Borrowed)
    }
}

/// The stored markdown of a block.
const fn own_markdown(text: BlockText<'_>) -> &str {
    match text {
        BlockText::Markdown(_, markdown) => markdown,
        BlockText::Data(data) => data.inline.as_str(),
    }
}

/// The block's markdown in replies, which patterns are matched against.
fn shown(text: BlockText<'_>) -> Cow<'_, str> {
    match text {
        BlockText::Markdown(BlockType::Text, inline) => {
            markdown::block_form_without_markers(inline)
        }
        BlockText::Data(data) => shown_markdown(data),
        BlockText::Markdown(_, markdown) => Cow::Borrowed(markdown),
    }
}

/// Whether the text for patterns contains a block link: then connections with different scopes are
/// shown different texts.
fn names_blocks(text: BlockText<'_>) -> bool {
    let data = match text {
        BlockText::Markdown(_, markdown) => return names_block(markdown),
        BlockText::Data(data) => data,
    };
    if data.block_type().has_own_markdown() {
        return names_block(&data.inline);
    }
    data.texts().any(|(role, text)| match role {
        TextRole::EmbedUrl | TextRole::LinkUrl => is_block(text),
        TextRole::Label => names_block(text),
        // Code is never interpreted. Only items have properties, and store their markdown.
        TextRole::Markdown | TextRole::Property | TextRole::Code | TextRole::CodeTag => false,
    })
}

fn is_block(address: &str) -> bool {
    matches!(LinkTarget::of(address), LinkTarget::Block(_))
}

/// Whether the whole text is the address of a block. `Block: north` is not.
fn is_all_block(text: &str) -> bool {
    !text.contains(char::is_whitespace) && is_block(text)
}

fn names_block(text: &str) -> bool {
    let mut found = is_all_block(text);
    markdown::mentions(text, &mut |mention| {
        found |= matches!(mention.named, MentionTarget::Block(_));
    });
    found
}

/// The text without block addresses and their placeholders: results must not reveal which of the
/// two a connection is shown.
fn without_blocks(text: &str) -> Cow<'_, str> {
    if is_all_block(text) {
        return Cow::Borrowed("");
    }
    markdown::rewrite_mentions(text, &mut |_| Some(Rewritten::Verbatim(NOWHERE.to_owned())))
}

/// Replaces the address of a block. It is not a word.
const NOWHERE: &str = "#";

/// The plain text of inline markdown.
fn plain(inline: &str) -> Cow<'_, str> {
    match without_blocks(inline) {
        Cow::Borrowed(inline) => markdown::plain_text(inline),
        Cow::Owned(inline) => Cow::Owned(markdown::plain_text(&inline).into_owned()),
    }
}

/// The plain texts of a block without its comments. The address of a file is not searched.
fn words(data: &BlockData) -> Vec<Cow<'_, str>> {
    let markdown = data.block_type().has_own_markdown().then(|| plain(&data.inline));
    let labels = data.texts().filter_map(|(role, text)| match role {
        TextRole::Label => Some(without_blocks(text)),
        TextRole::Code => Some(Cow::Borrowed(text)),
        TextRole::Markdown
        | TextRole::EmbedUrl
        | TextRole::LinkUrl
        | TextRole::Property
        | TextRole::CodeTag => None,
    });
    // After the title and the description, which are shown first.
    let link = data.url().filter(|(role, _)| *role == TextRole::LinkUrl);
    let link = link.map(|(_, url)| if is_block(url) { "" } else { url }).map(without_blocks);
    let properties = match &data.kind {
        BlockKind::CollectionItem { properties } => Some(properties),
        _ => None,
    };
    let values = properties.into_iter().flat_map(values);
    markdown.into_iter().chain(labels).chain(link).chain(values).collect()
}

/// The values of an item as text. Related items are found by their own texts.
fn values(properties: &Properties) -> impl Iterator<Item = Cow<'_, str>> {
    properties.iter().flat_map(|(_, value)| match value {
        PropertyValue::Text(text) => vec![without_blocks(text)],
        PropertyValue::Options(options) => {
            options.iter().map(|option| without_blocks(option)).collect()
        }
        PropertyValue::Number(_) => {
            serde_json::to_string(value).map(Cow::Owned).into_iter().collect()
        }
        PropertyValue::Date(day) => vec![Cow::Owned(day.to_string())],
        PropertyValue::Boolean(_) | PropertyValue::Relations(_) => Vec::new(),
    })
}
