//! The texts of a block, in one list: links, search, redaction, import and presenters iterate over
//! it, so that a new field with text is added here alone.

use crate::{BlockData, BlockKind, Properties, PropertyValue};

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
}

impl TextRole {
    /// Whether the text is a URL as a whole.
    pub const fn is_url(self) -> bool {
        matches!(self, Self::EmbedUrl | Self::LinkUrl)
    }
}

/// The fields of a kind with their roles, and the properties of an item. One list serves shared and
/// exclusive access.
macro_rules! kind_texts {
    ($kind:expr) => {
        // Exhaustive: a new kind does not compile until its texts are listed here.
        match $kind {
            BlockKind::Image { url, alt_text: label, .. }
            | BlockKind::Video { url, alt_text: label, .. }
            | BlockKind::File { url, file_name: label, .. } => {
                ([Some((TextRole::EmbedUrl, url)), Some((TextRole::Label, label)), None], None)
            }
            BlockKind::Drawing { url } | BlockKind::Whiteboard { url } => {
                ([Some((TextRole::EmbedUrl, url)), None, None], None)
            }
            BlockKind::Code { raw_code, .. } => {
                ([Some((TextRole::Code, raw_code)), None, None], None)
            }
            BlockKind::RichUrl { url, title, description, .. } => (
                [
                    Some((TextRole::LinkUrl, url)),
                    Some((TextRole::Label, title)),
                    Some((TextRole::Label, description)),
                ],
                None,
            ),
            BlockKind::CollectionItem { properties } => ([None, None, None], Some(properties)),
            BlockKind::Text(_)
            | BlockKind::Page(_)
            | BlockKind::Table
            | BlockKind::Collection
            | BlockKind::Line { .. } => ([None, None, None], None),
        }
    };
}

impl BlockData {
    /// All texts of the block with their roles: `markdown` first, then the fields of its kind and
    /// the texts of its properties. [`Self::texts_mut`] has the same order.
    pub fn texts(&self) -> impl Iterator<Item = (TextRole, &str)> {
        type Fields<'t> = [Option<(TextRole, &'t String)>; 3];
        let (fields, properties): (Fields<'_>, Option<&Properties>) = kind_texts!(&self.kind);
        // At most three fixed fields, so that iteration does not allocate.
        let values = properties.into_iter().flat_map(Properties::values);
        std::iter::once((TextRole::Markdown, &self.markdown))
            .chain(fields.into_iter().flatten())
            .chain(values.flat_map(PropertyValue::texts).map(|text| (TextRole::Property, text)))
            // Both methods iterate in the same order: placeholders are numbered by it.
            .map(|(role, text)| (role, text.as_str()))
    }

    /// All texts of the block for editing, in the order of [`Self::texts`].
    pub fn texts_mut(&mut self) -> impl Iterator<Item = (TextRole, &mut String)> {
        type Fields<'t> = [Option<(TextRole, &'t mut String)>; 3];
        let (fields, properties): (Fields<'_>, Option<&mut Properties>) =
            kind_texts!(&mut self.kind);
        let values = properties.into_iter().flat_map(Properties::values_mut);
        std::iter::once((TextRole::Markdown, &mut self.markdown))
            .chain(fields.into_iter().flatten())
            .chain(values.flat_map(PropertyValue::texts_mut).map(|text| (TextRole::Property, text)))
    }

    /// The URL that the block consists of, with its role ([`TextRole::EmbedUrl`] or
    /// [`TextRole::LinkUrl`]).
    pub fn url(&self) -> Option<(TextRole, &str)> {
        // Every kind has one URL at most.
        debug_assert!(self.texts().filter(|(role, _)| role.is_url()).count() <= 1);
        self.texts().find(|(role, _)| role.is_url())
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
