//! What of a document is searched: the words of its blocks, and the text that patterns are matched on. An index, a snippet and a match look at the same.

use std::borrow::Cow;

use leafbase_markdown as markdown;
use leafbase_model::{
    BlockData, BlockId, BlockKind, Comment, DocumentId, DocumentRecord, Error, Properties, PropertyValue, Result,
};
use leafbase_search::{Attributes, Maker, SearchDocument};
use leafbase_store::{BlockText, Reader, TextBlock, Texts};

/// The document made ready for the index.
pub(crate) fn document(reader: Reader<'_>, record: &DocumentRecord, maker: &mut Maker) -> Result<SearchDocument> {
    let texts = DocumentTexts::read(reader, record.id)?;
    let mut filling = maker.begin(attributes(record), &texts.title());
    for (number, block) in texts.blocks().enumerate() {
        filling.add_pattern_text(&block.pattern());
        // The root's own words are the title.
        let words = (number > 0).then(|| block.words());
        let comments = (number == 0).then(|| block.comments());
        for text in words.into_iter().flatten().chain(comments.into_iter().flatten()) {
            filling.add_words(&text);
        }
    }
    Ok(filling.finish())
}

/// What filters look at.
pub(crate) const fn attributes(record: &DocumentRecord) -> Attributes {
    let &DocumentRecord { id, location, day, created_at, modified_at } = record;
    Attributes { id, location, day, created_at, modified_at }
}

/// A document with its items and comments, as it is searched.
pub(crate) struct DocumentTexts {
    blocks: Texts,
    /// By block.
    comments: Vec<(BlockId, Comment)>,
}

impl DocumentTexts {
    /// Reads the whole document.
    pub(crate) fn read(reader: Reader<'_>, document: DocumentId) -> Result<Self> {
        let blocks = reader.texts(document.root())?;
        if blocks.is_empty() {
            return Err(Error::corrupted(format_args!("document {document}")));
        }
        Ok(Self { blocks, comments: reader.comments_in(document)? })
    }

    /// Its words as plain text.
    pub(crate) fn title(&self) -> Cow<'_, str> {
        self.blocks.get(0).map(|root| markdown::plain_text(own_markdown(root.text))).unwrap_or_default()
    }

    /// Its blocks in reading order, the root first.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = BlockTexts<'_>> + Clone {
        self.blocks.iter().map(|block| self.texts(block))
    }

    fn texts<'t>(&'t self, TextBlock { id, text, .. }: TextBlock<'t>) -> BlockTexts<'t> {
        let start = self.comments.partition_point(|(block, _)| *block < id);
        let after = self.comments.get(start..).unwrap_or_default();
        let comments = after.get(..after.partition_point(|(block, _)| *block == id)).unwrap_or_default();
        BlockTexts { id, text, comments }
    }
}

/// A block as it is searched.
#[derive(Clone, Copy)]
pub(crate) struct BlockTexts<'t> {
    pub(crate) id: BlockId,
    text: BlockText<'t>,
    comments: &'t [(BlockId, Comment)],
}

impl<'t> BlockTexts<'t> {
    /// Plain texts whose words are to be found, with those of its comments. No phrase reaches from one to the next.
    pub(crate) fn words(&self) -> impl Iterator<Item = Cow<'t, str>> + use<'t> {
        let (only, several) = match self.text {
            BlockText::Markdown(_, text) => (Some(markdown::plain_text(text)), Vec::new()),
            BlockText::Data(data) => (None, words(data)),
        };
        only.into_iter().chain(several).chain(self.comments())
    }

    /// The same of its comments alone.
    pub(crate) fn comments(&self) -> impl Iterator<Item = Cow<'t, str>> + use<'t> {
        self.comments.iter().map(|(_, comment)| markdown::plain_text(&comment.content))
    }

    /// The text that patterns are matched on.
    pub(crate) fn pattern(&self) -> Cow<'t, str> {
        shown(self.text)
    }
}

/// The markdown that a block keeps.
pub(crate) const fn own_markdown(text: BlockText<'_>) -> &str {
    match text {
        BlockText::Markdown(_, markdown) => markdown,
        BlockText::Data(data) => data.markdown.as_str(),
    }
}

/// What a reply shows as the block's markdown: what patterns are matched on.
pub(crate) fn shown(text: BlockText<'_>) -> Cow<'_, str> {
    match text {
        BlockText::Data(data) if !data.block_type().has_own_markdown() => Cow::Owned(markdown::render_block(data)),
        text => Cow::Borrowed(own_markdown(text)),
    }
}

/// The plain texts of a block, without its comments. Where a file is kept is none of them.
fn words(data: &BlockData) -> Vec<Cow<'_, str>> {
    match &data.kind {
        BlockKind::Text(_) | BlockKind::Page(_) | BlockKind::Table | BlockKind::Collection => {
            vec![markdown::plain_text(&data.markdown)]
        }
        BlockKind::CollectionItem { properties } => {
            let title = markdown::plain_text(&data.markdown);
            std::iter::once(title).chain(values(properties)).collect()
        }
        BlockKind::Image { alt_text: text, .. }
        | BlockKind::Video { alt_text: text, .. }
        | BlockKind::File { file_name: text, .. }
        | BlockKind::Code { raw_code: text, .. } => vec![Cow::Borrowed(text.as_str())],
        BlockKind::RichUrl { url, title, description, .. } => {
            [title, description, url].map(|text| Cow::Borrowed(text.as_str())).into()
        }
        BlockKind::Drawing { .. } | BlockKind::Whiteboard { .. } | BlockKind::Line { .. } => Vec::new(),
    }
}

/// The values of an item as they are written. Related items are found by what they say themselves.
fn values(properties: &Properties) -> impl Iterator<Item = Cow<'_, str>> {
    properties.iter().flat_map(|(_, value)| match value {
        PropertyValue::Text(text) => vec![Cow::Borrowed(text.as_str())],
        PropertyValue::Options(options) => options.iter().map(|option| Cow::Borrowed(option.as_str())).collect(),
        PropertyValue::Number(_) => serde_json::to_string(value).map(Cow::Owned).into_iter().collect(),
        PropertyValue::Date(day) => vec![Cow::Owned(day.to_string())],
        PropertyValue::Boolean(_) | PropertyValue::Relations(_) => Vec::new(),
    })
}
