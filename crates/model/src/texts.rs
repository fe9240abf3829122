//! The texts of a block, in one list: limits, links, search, redaction, import and presenters
//! iterate over it, so that a new field with text is added here alone.

use crate::{BlockData, BlockKind, BlockType, CodeLanguage, LineStyle, Properties, PropertyValue};

/// How a text of a block is interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextRole {
    /// Inline markdown, or the GFM of a table.
    Markdown,
    /// The URL of a file, image, video, drawing or whiteboard that the block embeds.
    EmbedUrl,
    /// The URL that a rich link leads to.
    LinkUrl,
    /// Plain text: alternative text, a file name, the title or description of a rich link.
    Label,
    /// The value of a text property, or the name of a selected option.
    Property,
    /// Source code, which is never interpreted.
    Code,
    /// The info string of source code, one line.
    CodeTag,
}

impl TextRole {
    /// Whether the text is a URL as a whole.
    pub const fn is_url(self) -> bool {
        matches!(self, Self::EmbedUrl | Self::LinkUrl)
    }
}

/// A text that a kind has as a field, with the name of the field in JSON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindText<T> {
    pub(crate) role: TextRole,
    pub(crate) name: &'static str,
    pub(crate) text: T,
}

const fn field<T>(role: TextRole, name: &'static str, text: T) -> KindText<T> {
    KindText { role, name, text }
}

/// At most three fields, so that iteration does not allocate.
type KindTexts<T> = [Option<KindText<T>>; 3];

/// The fields of a kind with their roles, and the properties of an item. One list serves shared and
/// exclusive access.
macro_rules! kind_texts {
    ($kind:expr) => {
        // Exhaustive: a new kind does not compile until its texts are listed here.
        match $kind {
            BlockKind::Image { url, alt_text, .. } | BlockKind::Video { url, alt_text, .. } => {
                let url = field(TextRole::EmbedUrl, "url", url);
                ([Some(url), Some(field(TextRole::Label, "altText", alt_text)), None], None)
            }
            BlockKind::File { url, file_name, .. } => {
                let url = field(TextRole::EmbedUrl, "url", url);
                ([Some(url), Some(field(TextRole::Label, "fileName", file_name)), None], None)
            }
            BlockKind::Drawing { url } | BlockKind::Whiteboard { url } => {
                ([Some(field(TextRole::EmbedUrl, "url", url)), None, None], None)
            }
            BlockKind::Code { raw_code, language_tag, .. } => {
                let code = field(TextRole::Code, "rawCode", raw_code);
                let tag = field(TextRole::CodeTag, "languageTag", language_tag);
                ([Some(code), Some(tag), None], None)
            }
            BlockKind::RichUrl { url, title, description, .. } => {
                let url = field(TextRole::LinkUrl, "url", url);
                let title = field(TextRole::Label, "title", title);
                let description = field(TextRole::Label, "description", description);
                ([Some(url), Some(title), Some(description)], None)
            }
            BlockKind::CollectionItem { properties } => ([None, None, None], Some(properties)),
            BlockKind::Text(_)
            | BlockKind::Page(_)
            | BlockKind::Table
            | BlockKind::Collection
            | BlockKind::Line { .. } => ([None, None, None], None),
        }
    };
}

impl BlockType {
    /// Whether the stored `markdown` is the only text of such a block, so that searches need not
    /// decode its other fields.
    pub const fn is_markdown_only(self) -> bool {
        match self {
            Self::Text | Self::Page | Self::Table | Self::Collection => true,
            Self::CollectionItem
            | Self::Image
            | Self::Video
            | Self::File
            | Self::Drawing
            | Self::Whiteboard
            | Self::Code
            | Self::RichUrl
            | Self::Line => false,
        }
    }
}

impl BlockKind {
    /// The fields that are texts, without the values of properties.
    pub(crate) fn text_fields(&self) -> impl Iterator<Item = KindText<&String>> {
        let (fields, _): (KindTexts<&String>, Option<&Properties>) = kind_texts!(self);
        fields.into_iter().flatten()
    }

    /// The first of its fields that is a text: code, or a URL. `None` for types that store their
    /// markdown, and for lines.
    pub fn first_text(&self) -> Option<&str> {
        self.text_fields().next().map(|field| field.text.as_str())
    }

    /// The fields that rendered markdown states, by their names in JSON, with their values; a value
    /// is empty if it is the default. Without any for types that store their markdown.
    pub fn rendered_fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        // Exhaustive: the markdown of a new kind may state more than its texts.
        let (texts, choice) = match self {
            Self::Image { .. }
            | Self::Video { .. }
            | Self::File { .. }
            | Self::Drawing { .. }
            | Self::Whiteboard { .. }
            | Self::RichUrl { .. } => (Some(self), None),
            Self::Code { language, .. } => {
                let is_default = *language == CodeLanguage::default();
                (Some(self), Some(("language", if is_default { "" } else { language.as_str() })))
            }
            Self::Line { style } => {
                let is_default = *style == LineStyle::default();
                (None, Some(("lineStyle", if is_default { "" } else { style.as_str() })))
            }
            Self::Text(_)
            | Self::Page(_)
            | Self::CollectionItem { .. }
            | Self::Table
            | Self::Collection => (None, None),
        };
        let texts = texts.into_iter().flat_map(Self::text_fields);
        let mut texts = texts.map(|field| (field.name, field.text.as_str()));
        // The order of JSON: the language precedes its tag.
        texts.next().into_iter().chain(choice).chain(texts)
    }
}

impl BlockData {
    /// All texts of the block with their roles: `markdown` first, then the fields of its kind and
    /// the texts of its properties. [`Self::texts_mut`] has the same order.
    pub fn texts(&self) -> impl Iterator<Item = (TextRole, &str)> {
        let (fields, properties): (KindTexts<&String>, Option<&Properties>) =
            kind_texts!(&self.kind);
        let values = properties.into_iter().flat_map(Properties::values);
        std::iter::once((TextRole::Markdown, &self.inline))
            .chain(fields.into_iter().flatten().map(|field| (field.role, field.text)))
            .chain(values.flat_map(PropertyValue::texts).map(|text| (TextRole::Property, text)))
            // Both methods iterate in the same order: placeholders are numbered by it.
            .map(|(role, text)| (role, text.as_str()))
    }

    /// All texts of the block for editing, in the order of [`Self::texts`].
    pub fn texts_mut(&mut self) -> impl Iterator<Item = (TextRole, &mut String)> {
        let (fields, properties): (KindTexts<&mut String>, Option<&mut Properties>) =
            kind_texts!(&mut self.kind);
        let values = properties.into_iter().flat_map(Properties::values_mut);
        std::iter::once((TextRole::Markdown, &mut self.inline))
            .chain(fields.into_iter().flatten().map(|field| (field.role, field.text)))
            .chain(values.flat_map(PropertyValue::texts_mut).map(|text| (TextRole::Property, text)))
    }

    /// The URL that the block consists of, with its role ([`TextRole::EmbedUrl`] or
    /// [`TextRole::LinkUrl`]).
    pub fn url(&self) -> Option<(TextRole, &str)> {
        let mut urls = self.kind.text_fields().filter(|field| field.role.is_url());
        let url = urls.next();
        debug_assert!(urls.next().is_none(), "every kind has one URL at most");
        url.map(|field| (field.role, field.text.as_str()))
    }

    /// [`Self::url`] for editing.
    pub fn url_mut(&mut self) -> Option<(TextRole, &mut String)> {
        self.texts_mut().find(|(role, _)| role.is_url())
    }
}

impl PropertyValue {
    fn texts(&self) -> &[String] {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::Options(options) => options,
            Self::Number(_) | Self::Boolean(_) | Self::Date(_) | Self::Relations(_) => &[],
        }
    }

    fn texts_mut(&mut self) -> &mut [String] {
        match self {
            Self::Text(text) => std::slice::from_mut(text),
            Self::Options(options) => options,
            Self::Number(_) | Self::Boolean(_) | Self::Date(_) | Self::Relations(_) => &mut [],
        }
    }
}
