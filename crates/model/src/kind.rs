//! The block types and their fields, with their JSON.

use serde::ser::{Serialize, SerializeMap};

use crate::json::wire_enum;
use crate::{BlockLayout, CodeLanguage, LineStyle, MediaSize, MediaWidth, Properties, TextFormat};

wire_enum! {
    /// The type of a block (specification, "Block").
    BlockType {
        /// A paragraph, heading or list item.
        #[default]
        Text = "text",
        /// A page within a document, or the root of a document.
        Page = "page",
        /// An item of a collection, with a page of its own.
        CollectionItem = "collectionItem",
        /// An image.
        Image = "image",
        /// A video.
        Video = "video",
        /// Another uploaded file.
        File = "file",
        /// A drawing.
        Drawing = "drawing",
        /// A whiteboard.
        Whiteboard = "whiteboard",
        /// A table of inline markdown.
        Table = "table",
        /// A typed table whose rows are items.
        Collection = "collection",
        /// Source code, or a formula.
        Code = "code",
        /// A rich link: a URL with title and description.
        RichUrl = "richUrl",
        /// A separator.
        Line = "line",
    }
}

impl BlockType {
    /// Whether blocks of this type accept children: page, text (which becomes a page) and
    /// collection item.
    pub const fn may_be_parent(self) -> bool {
        matches!(self, Self::Text | Self::Page | Self::CollectionItem)
    }

    /// Whether blocks of this type have blocks below them: parents, and collections, whose items
    /// only the item operations insert and remove.
    pub const fn holds_blocks(self) -> bool {
        // Items are blocks below their collection, but only the item operations insert them.
        matches!(self, Self::Collection) || self.may_be_parent()
    }

    /// Whether its text is the title of a page: a page, or an item of a collection.
    pub const fn is_page(self) -> bool {
        matches!(self, Self::Page | Self::CollectionItem)
    }

    /// Whether its text is inline markdown: a text, or a title.
    pub const fn has_inline_text(self) -> bool {
        matches!(self, Self::Text | Self::Page | Self::CollectionItem | Self::Collection)
    }

    /// Whether `markdown` is stored, rather than rendered from the other fields.
    pub const fn has_own_markdown(self) -> bool {
        // Exhaustive: every type has either of the two.
        match self {
            Self::Text | Self::Page | Self::CollectionItem | Self::Table | Self::Collection => true,
            Self::Image
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

/// The fields of each block type beyond the common ones.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockKind {
    /// A paragraph, heading or list item.
    Text(TextFormat),
    /// A page; its `markdown` is the title.
    Page(TextFormat),
    /// An item of a collection; its `markdown` is the title.
    CollectionItem {
        /// Property values by key.
        properties: Properties,
    },
    /// An image.
    Image {
        /// The URL of the image.
        url: String,
        /// The alternative text.
        alt_text: String,
        /// How the image fills its frame.
        size: MediaSize,
        /// The width of the frame.
        width: MediaWidth,
    },
    /// A video.
    Video {
        /// The URL of the video.
        url: String,
        /// The alternative text.
        alt_text: String,
        /// How the video fills its frame.
        size: MediaSize,
        /// The width of the frame.
        width: MediaWidth,
    },
    /// Another file.
    File {
        /// The URL of the file.
        url: String,
        /// The file name.
        file_name: String,
        /// The display size.
        layout: BlockLayout,
    },
    /// A drawing.
    Drawing {
        /// The URL of its image; empty if it has none.
        url: String,
    },
    /// A whiteboard.
    Whiteboard {
        /// The URL of its image; empty if it has none.
        url: String,
    },
    /// A table; its `markdown` is the GFM.
    Table,
    /// A collection; its `markdown` is the name.
    Collection,
    /// Source code.
    Code {
        /// The source code, without a newline at its end.
        raw_code: String,
        /// The language.
        language: CodeLanguage,
        /// The info string of the fence if it differs from the name of the language (`js`,
        /// `rust,ignore`, an unknown language); otherwise empty.
        language_tag: String,
    },
    /// A rich link.
    RichUrl {
        /// The linked URL.
        url: String,
        /// The title; may be empty.
        title: String,
        /// The description; may be empty.
        description: String,
        /// The display size.
        layout: BlockLayout,
    },
    /// A separator.
    Line {
        /// The line style.
        style: LineStyle,
    },
}

impl BlockKind {
    /// The block type.
    pub const fn block_type(&self) -> BlockType {
        match self {
            Self::Text(_) => BlockType::Text,
            Self::Page(_) => BlockType::Page,
            Self::CollectionItem { .. } => BlockType::CollectionItem,
            Self::Image { .. } => BlockType::Image,
            Self::Video { .. } => BlockType::Video,
            Self::File { .. } => BlockType::File,
            Self::Drawing { .. } => BlockType::Drawing,
            Self::Whiteboard { .. } => BlockType::Whiteboard,
            Self::Table => BlockType::Table,
            Self::Collection => BlockType::Collection,
            Self::Code { .. } => BlockType::Code,
            Self::RichUrl { .. } => BlockType::RichUrl,
            Self::Line { .. } => BlockType::Line,
        }
    }

    /// The kind of this type with all fields at their defaults.
    pub fn empty(block_type: BlockType) -> Self {
        match block_type {
            BlockType::Text => Self::Text(TextFormat::default()),
            BlockType::Page => Self::Page(TextFormat::default()),
            BlockType::CollectionItem => Self::CollectionItem { properties: Properties::default() },
            BlockType::Image => Self::Image {
                url: String::new(),
                alt_text: String::new(),
                size: MediaSize::default(),
                width: MediaWidth::default(),
            },
            BlockType::Video => Self::Video {
                url: String::new(),
                alt_text: String::new(),
                size: MediaSize::default(),
                width: MediaWidth::default(),
            },
            BlockType::File => Self::File {
                url: String::new(),
                file_name: String::new(),
                layout: BlockLayout::default(),
            },
            BlockType::Drawing => Self::Drawing { url: String::new() },
            BlockType::Whiteboard => Self::Whiteboard { url: String::new() },
            BlockType::Table => Self::Table,
            BlockType::Collection => Self::Collection,
            BlockType::Code => Self::Code {
                raw_code: String::new(),
                language: CodeLanguage::default(),
                language_tag: String::new(),
            },
            BlockType::RichUrl => Self::RichUrl {
                url: String::new(),
                title: String::new(),
                description: String::new(),
                layout: BlockLayout::default(),
            },
            BlockType::Line => Self::Line { style: LineStyle::default() },
        }
    }

    /// Serializes the fields that differ from their defaults, in the order of the specification.
    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        match self {
            Self::Text(look) | Self::Page(look) => {
                entry(map, "textStyle", look.style)?;
                entry(map, "textAlignment", look.alignment)?;
                entry(map, "font", look.font)?;
                entry(map, "cardLayout", look.card_layout)
            }
            Self::CollectionItem { properties } => {
                if properties.is_empty() {
                    return Ok(());
                }
                map.serialize_entry("properties", properties)
            }
            Self::Image { url, alt_text, size, width }
            | Self::Video { url, alt_text, size, width } => {
                text_entry(map, "url", url)?;
                text_entry(map, "altText", alt_text)?;
                entry(map, "size", *size)?;
                entry(map, "width", *width)
            }
            Self::File { url, file_name, layout } => {
                text_entry(map, "url", url)?;
                text_entry(map, "fileName", file_name)?;
                entry(map, "blockLayout", *layout)
            }
            Self::Drawing { url } | Self::Whiteboard { url } => text_entry(map, "url", url),
            Self::Table | Self::Collection => Ok(()),
            Self::Code { raw_code, language, language_tag } => {
                text_entry(map, "rawCode", raw_code)?;
                entry(map, "language", *language)?;
                text_entry(map, "languageTag", language_tag)
            }
            Self::RichUrl { url, title, description, layout } => {
                text_entry(map, "url", url)?;
                text_entry(map, "title", title)?;
                text_entry(map, "description", description)?;
                entry(map, "layout", *layout)
            }
            Self::Line { style } => entry(map, "lineStyle", *style),
        }
    }
}

/// Serializes a field unless it has its default.
pub(crate) fn entry<M: SerializeMap, T>(
    map: &mut M,
    name: &'static str,
    value: T,
) -> std::result::Result<(), M::Error>
where
    T: Serialize + Default + PartialEq + Copy,
{
    if value == T::default() { Ok(()) } else { map.serialize_entry(name, &value) }
}

fn text_entry<M: SerializeMap>(
    map: &mut M,
    name: &'static str,
    value: &str,
) -> std::result::Result<(), M::Error> {
    if value.is_empty() { Ok(()) } else { map.serialize_entry(name, value) }
}
