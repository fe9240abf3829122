//! What of a document is searched: the words of its blocks, and the text that patterns are matched
//! on. An index, a snippet and a match look at the same.

use std::borrow::Cow;
use std::collections::HashMap;

use leafbase_markdown::{self as markdown, LinkTarget, MentionTarget, Rewritten};
use leafbase_model::{
    BlockData, BlockId, BlockKind, Comment, DocumentId, DocumentRecord, Error, Properties,
    PropertyValue, Result,
};
use leafbase_search::{Attributes, Maker, SearchDocument, WordSieve};
use leafbase_store::{BlockText, Sieve, SpaceReader, StoredText, TextBlock, Texts};

/// The document made ready for the index, and to be searched beside it.
pub(crate) fn document(
    reader: SpaceReader<'_>,
    record: &DocumentRecord,
    maker: &mut Maker,
) -> Result<SearchDocument> {
    let texts = DocumentTexts::read(reader, record.id)?;
    let mut filling = maker.begin(attributes(record), &texts.title());
    for (number, block) in texts.blocks().enumerate() {
        filling.add_pattern_text(&block.pattern());
        if names_blocks(block.text) {
            filling.vary();
        }
        // The root's own words are the title.
        let words = (number > 0).then(|| block.words());
        let comments = (number == 0).then(|| block.comments());
        for text in words.into_iter().flatten().chain(comments.into_iter().flatten()) {
            filling.add_words(&text);
        }
    }
    Ok(filling.finish_loosely())
}

/// What filters look at.
pub(crate) const fn attributes(record: &DocumentRecord) -> Attributes {
    let &DocumentRecord { id, location, day, created_at, modified_at } = record;
    Attributes { id, location, day, created_at, modified_at }
}

/// Words that are sought in what is stored.
pub(crate) struct SoughtWords(pub(crate) WordSieve);

impl Sieve for SoughtWords {
    fn tells(&self, _: &[u8]) -> bool {
        true
    }

    fn next(&self, bytes: &[u8], from: usize) -> Option<usize> {
        self.0.next(bytes, from)
    }

    /// Markup may stand within a word, and what is not ASCII for a letter that is. Without either
    /// the words of a text are its bytes, or fewer: the addresses of blocks are none.
    fn leaves_out(&self, text: StoredText<'_>) -> bool {
        text.markdown().is_some_and(|markdown| markdown.is_ascii() && markdown::is_plain(markdown))
    }
}

/// A document with its items and comments, as it is searched.
pub(crate) struct DocumentTexts {
    blocks: Texts,
    /// What patterns are matched on where a call is shown other words, by the numbers of the
    /// blocks.
    shown: HashMap<usize, String>,
    /// By block.
    comments: Vec<(BlockId, Comment)>,
}

impl DocumentTexts {
    /// Reads the whole document.
    pub(crate) fn read(reader: SpaceReader<'_>, document: DocumentId) -> Result<Self> {
        let blocks = reader.texts(document.root())?;
        Self::with(blocks, document, reader.comments_in(document)?)
    }

    /// Reads the title, and of the rest what may have words that are sought.
    pub(crate) fn read_sought(
        reader: SpaceReader<'_>,
        document: DocumentId,
        sought: Option<&SoughtWords>,
    ) -> Result<Self> {
        let may_have_comments = reader.may_have_comments(document);
        let comments = if may_have_comments { reader.comments_in(document)? } else { Vec::new() };
        // A block may be found by its comments alone.
        let blocks = match sought.filter(|_| comments.is_empty()) {
            Some(sought) => reader.asked_texts(document.root(), sought)?,
            None => reader.texts(document.root())?,
        };
        Self::with(blocks, document, comments)
    }

    fn with(
        blocks: Texts,
        document: DocumentId,
        comments: Vec<(BlockId, Comment)>,
    ) -> Result<Self> {
        if blocks.is_empty() {
            return Err(Error::corrupted(format_args!("document {document}")));
        }
        Ok(Self { blocks, shown: HashMap::new(), comments })
    }

    /// Its words as plain text.
    pub(crate) fn title(&self) -> Cow<'_, str> {
        self.blocks.get(0).map(|root| plain(own_markdown(root.text))).unwrap_or_default()
    }

    /// Its blocks in reading order, the root first, without those that were not read.
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
        TextBlock { id, text, .. }: TextBlock<'t>,
    ) -> BlockTexts<'t> {
        let shown = self.shown.get(&number).map(String::as_str);
        let start = self.comments.partition_point(|(block, _)| *block < id);
        let after = self.comments.get(start..).unwrap_or_default();
        let comments =
            after.get(..after.partition_point(|(block, _)| *block == id)).unwrap_or_default();
        BlockTexts { id, text, shown, comments }
    }
}

/// A block as it is searched.
#[derive(Clone, Copy)]
pub(crate) struct BlockTexts<'t> {
    pub(crate) id: BlockId,
    text: BlockText<'t>,
    /// None where patterns are matched on what the block says itself.
    shown: Option<&'t str>,
    comments: &'t [(BlockId, Comment)],
}

impl<'t> BlockTexts<'t> {
    /// Plain texts whose words are to be found, with those of its comments. No phrase reaches from
    /// one to the next.
    pub(crate) fn words(&self) -> impl Iterator<Item = Cow<'t, str>> + use<'t> {
        let (only, several) = match self.text {
            BlockText::Markdown(_, text) => (Some(plain(text)), Vec::new()),
            BlockText::Data(data) => (None, words(data)),
        };
        only.into_iter().chain(several).chain(self.comments())
    }

    /// The same of its comments alone.
    pub(crate) fn comments(&self) -> impl Iterator<Item = Cow<'t, str>> + use<'t> {
        self.comments.iter().map(|(_, comment)| plain(&comment.content))
    }

    /// The text that patterns are matched on.
    pub(crate) fn pattern(&self) -> Cow<'t, str> {
        self.shown.map_or_else(|| shown(self.text), Cow::Borrowed)
    }
}

/// The markdown that a block keeps.
const fn own_markdown(text: BlockText<'_>) -> &str {
    match text {
        BlockText::Markdown(_, markdown) => markdown,
        BlockText::Data(data) => data.markdown.as_str(),
    }
}

/// What a reply shows as the block's markdown: what patterns are matched on.
fn shown(text: BlockText<'_>) -> Cow<'_, str> {
    match text {
        BlockText::Data(data) if !data.block_type().has_own_markdown() => {
            Cow::Owned(markdown::render_block(data))
        }
        text => Cow::Borrowed(own_markdown(text)),
    }
}

/// Whether the text that patterns are matched on names a block, so that not every connection is
/// shown it alike.
fn names_blocks(text: BlockText<'_>) -> bool {
    let data = match text {
        BlockText::Markdown(_, markdown) => return names_block(markdown),
        BlockText::Data(data) => data,
    };
    match &data.kind {
        _ if data.block_type().has_own_markdown() => names_block(&data.markdown),
        BlockKind::Image { url, alt_text: text, .. }
        | BlockKind::Video { url, alt_text: text, .. }
        | BlockKind::File { url, file_name: text, .. } => is_block(url) || names_block(text),
        BlockKind::Drawing { url } | BlockKind::Whiteboard { url } => is_block(url),
        BlockKind::RichUrl { url, title, description, .. } => {
            is_block(url) || [title, description].into_iter().any(|text| names_block(text))
        }
        _ => false,
    }
}

fn is_block(address: &str) -> bool {
    matches!(LinkTarget::of(address), LinkTarget::Block(_))
}

/// Whether all of a text is the address of a block. `Block: north` is none.
fn is_all_block(text: &str) -> bool {
    !text.contains(char::is_whitespace) && is_block(text)
}

fn names_block(text: &str) -> bool {
    let mut found = is_all_block(text);
    markdown::mentions(text, &mut |mention| {
        found |= matches!(mention.named, MentionTarget::Block(_))
    });
    found
}

/// The text without the addresses of blocks, and of what stands for one: what is found must not
/// tell which of them a connection is shown.
fn without_blocks(text: &str) -> Cow<'_, str> {
    if is_all_block(text) {
        return Cow::Borrowed("");
    }
    markdown::rewrite_mentions(text, &mut |_| Some(Rewritten::Verbatim(NOWHERE.to_owned())))
}

/// In place of the address of a block. It is no word.
const NOWHERE: &str = "#";

/// The words of inline markdown.
fn plain(inline: &str) -> Cow<'_, str> {
    match without_blocks(inline) {
        Cow::Borrowed(inline) => markdown::plain_text(inline),
        Cow::Owned(inline) => Cow::Owned(markdown::plain_text(&inline).into_owned()),
    }
}

/// The plain texts of a block, without its comments. Where a file is kept is none of them.
fn words(data: &BlockData) -> Vec<Cow<'_, str>> {
    match &data.kind {
        BlockKind::Text(_) | BlockKind::Page(_) | BlockKind::Table | BlockKind::Collection => {
            vec![plain(&data.markdown)]
        }
        BlockKind::CollectionItem { properties } => {
            let title = plain(&data.markdown);
            std::iter::once(title).chain(values(properties)).collect()
        }
        BlockKind::Image { alt_text: text, .. }
        | BlockKind::Video { alt_text: text, .. }
        | BlockKind::File { file_name: text, .. } => vec![without_blocks(text)],
        BlockKind::Code { raw_code, .. } => vec![Cow::Borrowed(raw_code.as_str())],
        BlockKind::RichUrl { url, title, description, .. } => {
            let url = if is_block(url) { "" } else { url.as_str() };
            [title, description, url].map(without_blocks).into()
        }
        BlockKind::Drawing { .. } | BlockKind::Whiteboard { .. } | BlockKind::Line { .. } => {
            Vec::new()
        }
    }
}

/// The values of an item as they are written. Related items are found by what they say themselves.
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
