//! The 13 types of blocks, and what each holds beyond the common fields.

use crate::json::wire_enum;
use crate::{BlockLayout, CodeLanguage, LineStyle, MediaSize, MediaWidth, Properties, TextFormat};

wire_enum! {
    /// The type of a block (specification, "Block").
    BlockType {
        /// A paragraph, heading or list item.
        #[default]
        Text = "text",
        /// A page within a document; a document's root is one too.
        Page = "page",
        /// A row of a collection, with a page of its own.
        CollectionItem = "collectionItem",
        /// A picture.
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
        /// A link shown with title and description.
        RichUrl = "richUrl",
        /// A separator.
        Line = "line",
    }
}

impl BlockType {
    /// Whether blocks of this type may have children: page, text (which becomes a page) and
    /// collection item.
    pub const fn may_be_parent(self) -> bool {
        matches!(self, Self::Text | Self::Page | Self::CollectionItem)
    }

    /// Whether blocks stand below blocks of this type: what may be a parent, and a collection,
    /// whose items do. Those come and go by the operations on items alone.
    pub const fn holds_blocks(self) -> bool {
        matches!(self, Self::Collection) || self.may_be_parent()
    }

    /// Whether the block's `markdown` is text of its own, and not made from its other fields.
    pub const fn has_own_markdown(self) -> bool {
        matches!(
            self,
            Self::Text | Self::Page | Self::CollectionItem | Self::Table | Self::Collection
        )
    }
}

/// What a block of each type holds beyond the common fields.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockKind {
    /// A paragraph, heading or list item.
    Text(TextFormat),
    /// A page; its title is the block's markdown.
    Page(TextFormat),
    /// A row of a collection; its title is the block's markdown.
    CollectionItem {
        /// Values by property key.
        properties: Properties,
    },
    /// A picture.
    Image {
        /// Where it is.
        url: String,
        /// What it shows, in words.
        alt_text: String,
        /// How it fills its frame.
        size: MediaSize,
        /// How wide it is.
        width: MediaWidth,
    },
    /// A video.
    Video {
        /// Where it is.
        url: String,
        /// What it shows, in words.
        alt_text: String,
        /// How it fills its frame.
        size: MediaSize,
        /// How wide it is.
        width: MediaWidth,
    },
    /// Another file.
    File {
        /// Where it is.
        url: String,
        /// Its name.
        file_name: String,
        /// How large it is shown.
        layout: BlockLayout,
    },
    /// A drawing.
    Drawing {
        /// Where its picture is; empty if there is none.
        url: String,
    },
    /// A whiteboard.
    Whiteboard {
        /// Where its picture is; empty if there is none.
        url: String,
    },
    /// A table; its markdown holds it as GFM.
    Table,
    /// A collection; its markdown is its name.
    Collection,
    /// Code.
    Code {
        /// The code, line by line as typed, without a newline at its end.
        raw_code: String,
        /// The language.
        language: CodeLanguage,
        /// The fence's info string where it is not just the language's name (`js`, `rust,ignore`,
        /// an unknown language); empty otherwise.
        language_tag: String,
    },
    /// A link shown with title and description.
    RichUrl {
        /// Where it leads.
        url: String,
        /// Its title; empty if none.
        title: String,
        /// Its description; empty if none.
        description: String,
        /// How large it is shown.
        layout: BlockLayout,
    },
    /// A separator.
    Line {
        /// How strong it is.
        style: LineStyle,
    },
}

impl BlockKind {
    /// The type.
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

    /// A block of this type with every field at its default.
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
}
