//! Blocks: the 13 types, what each holds, and how a fetched one is written as JSON.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::json::{FromJson, from_text, wire_enum, wrong_type};
use crate::{Author, BlockId, Color, CommentId, Error, Limits, Properties, Result, Stamp, TaskInfo, Timestamp};

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
    /// Whether blocks of this type may have children: page, text (which becomes a page) and collection item.
    pub const fn may_be_parent(self) -> bool {
        matches!(self, Self::Text | Self::Page | Self::CollectionItem)
    }

    /// Whether the block's `markdown` is text of its own, and not made from its other fields.
    pub const fn has_own_markdown(self) -> bool {
        matches!(self, Self::Text | Self::Page | Self::CollectionItem | Self::Table | Self::Collection)
    }
}

wire_enum! {
    /// How a block stands in a list.
    ListStyle {
        /// No list.
        #[default]
        None = "none",
        /// A bullet.
        Bullet = "bullet",
        /// A number.
        Numbered = "numbered",
        /// A bullet that folds what is indented below it.
        Toggle = "toggle",
        /// A task, with a state.
        Task = "task",
    }
}

wire_enum! {
    /// How a text or a page is styled.
    TextStyle {
        /// Shown as a card.
        Card = "card",
        /// Shown as a page.
        Page = "page",
        /// Heading, first level.
        H1 = "h1",
        /// Heading, second level.
        H2 = "h2",
        /// Heading, third level.
        H3 = "h3",
        /// Heading, fourth level.
        H4 = "h4",
        /// Small text.
        Caption = "caption",
        /// Plain text.
        #[default]
        Body = "body",
    }
}

wire_enum! {
    /// Where the lines of a text begin.
    TextAlignment {
        /// At the left.
        #[default]
        Left = "left",
        /// In the middle.
        Center = "center",
        /// At the right.
        Right = "right",
        /// At both sides.
        Justify = "justify",
    }
}

wire_enum! {
    /// The typeface.
    Font {
        /// The reader's own.
        #[default]
        System = "system",
        /// With serifs.
        Serif = "serif",
        /// Rounded.
        Rounded = "rounded",
        /// All letters of one width.
        Mono = "mono",
    }
}

wire_enum! {
    /// The size of a card.
    CardLayout {
        /// For several columns; not on text blocks.
        Small = "small",
        /// For several columns; not on text blocks.
        Square = "square",
        /// Full width.
        #[default]
        Regular = "regular",
        /// Full width, taller.
        Large = "large",
    }
}

wire_enum! {
    /// How a picture or video fills its frame.
    MediaSize {
        /// All of it is seen.
        #[default]
        Fit = "fit",
        /// The frame is full.
        Fill = "fill",
    }
}

wire_enum! {
    /// How wide a picture or video is.
    MediaWidth {
        /// As wide as the text.
        #[default]
        Auto = "auto",
        /// As wide as the page.
        FullWidth = "fullWidth",
    }
}

wire_enum! {
    /// The size of a file or a rich link.
    BlockLayout {
        /// One line.
        Small = "small",
        /// A few lines.
        #[default]
        Regular = "regular",
        /// A card.
        Card = "card",
    }
}

wire_enum! {
    /// How strong a separator is.
    LineStyle {
        /// Strongest.
        Strong = "strong",
        /// As usual.
        #[default]
        Regular = "regular",
        /// Weaker.
        Light = "light",
        /// Weakest.
        ExtraLight = "extraLight",
        /// Groups what is between into page-looking chunks; the page hierarchy stays as it is.
        PageBreak = "pageBreak",
    }
}

wire_enum! {
    /// The languages of a code block.
    CodeLanguage {
        /// Ada.
        Ada = "ada",
        /// Bash.
        Bash = "bash",
        /// C++.
        Cpp = "cpp",
        /// C#.
        Cs = "cs",
        /// CSS.
        Css = "css",
        /// Dart.
        Dart = "dart",
        /// Dockerfile.
        Dockerfile = "dockerfile",
        /// MATLAB.
        Matlab = "matlab",
        /// Go.
        Go = "go",
        /// Groovy.
        Groovy = "groovy",
        /// Haskell.
        Haskell = "haskell",
        /// HTML.
        Html = "html",
        /// Java.
        Java = "java",
        /// JavaScript.
        Javascript = "javascript",
        /// JSON.
        Json = "json",
        /// Julia.
        Julia = "julia",
        /// Kotlin.
        Kotlin = "kotlin",
        /// Lua.
        Lua = "lua",
        /// Markdown.
        Markdown = "markdown",
        /// Mermaid diagrams.
        Mermaid = "mermaid",
        /// Objective-C.
        Objectivec = "objectivec",
        /// Perl.
        Perl = "perl",
        /// PHP.
        Php = "php",
        /// Prolog.
        Prolog = "prolog",
        /// No language.
        #[default]
        Plaintext = "plaintext",
        /// Python.
        Python = "python",
        /// R.
        R = "r",
        /// Ruby.
        Ruby = "ruby",
        /// Rust.
        Rust = "rust",
        /// Scala.
        Scala = "scala",
        /// Shell.
        Shell = "shell",
        /// SQL.
        Sql = "sql",
        /// Swift.
        Swift = "swift",
        /// TypeScript.
        Typescript = "typescript",
        /// Visual Basic .NET.
        Vbnet = "vbnet",
        /// XML.
        Xml = "xml",
        /// YAML.
        Yaml = "yaml",
        /// A formula in TeX.
        MathFormula = "math_formula",
        /// Another language; its tag is kept beside.
        Other = "other",
    }
}

/// What a block is decorated with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Decorations {
    /// Set off as a callout.
    pub callout: bool,
    /// Set off as a quotation.
    pub quote: bool,
}

impl Decorations {
    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        !self.callout && !self.quote
    }
}

impl Serialize for Decorations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            [(self.callout, "callout"), (self.quote, "quote")].into_iter().filter_map(|(on, name)| on.then_some(name)),
        )
    }
}

impl FromJson for Decorations {
    fn from_json(value: Value) -> Result<Self> {
        let mut read = Self::default();
        for (index, name) in Vec::<String>::from_json(value)?.into_iter().enumerate() {
            let flag = match name.as_str() {
                "callout" => &mut read.callout,
                "quote" => &mut read.quote,
                other => {
                    let message = format!("unknown value {other:?}, expected one of callout, quote");
                    return Err(Error::validation(message).at(format_args!("[{index}]")));
                }
            };
            *flag = true;
        }
        Ok(read)
    }
}

/// How a text or a page looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TextLook {
    /// The style.
    pub style: TextStyle,
    /// The alignment.
    pub alignment: TextAlignment,
    /// The typeface.
    pub font: Font,
    /// The size as a card; kept without effect where the style is not `card`.
    pub card_layout: CardLayout,
}

/// What a block of each type holds beyond the common fields.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockKind {
    /// A paragraph, heading or list item.
    Text(TextLook),
    /// A page; its title is the block's markdown.
    Page(TextLook),
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
        /// The fence's info string where it is not just the language's name (`js`, `rust,ignore`, an unknown language);
        /// empty otherwise.
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
            BlockType::Text => Self::Text(TextLook::default()),
            BlockType::Page => Self::Page(TextLook::default()),
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
            BlockType::File => {
                Self::File { url: String::new(), file_name: String::new(), layout: BlockLayout::default() }
            }
            BlockType::Drawing => Self::Drawing { url: String::new() },
            BlockType::Whiteboard => Self::Whiteboard { url: String::new() },
            BlockType::Table => Self::Table,
            BlockType::Collection => Self::Collection,
            BlockType::Code => {
                Self::Code { raw_code: String::new(), language: CodeLanguage::default(), language_tag: String::new() }
            }
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

/// Everything a block says, without who it is and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockData {
    /// What its type holds.
    pub kind: BlockKind,
    /// Inline markdown of a text, title of a page or an item, GFM of a table, name of a collection. Empty in the store for
    /// the other types, whose markdown is made from their fields; a reply carries it made.
    pub markdown: String,
    /// 0 to [`Limits::INDENTATION`].
    pub indentation: u8,
    /// How it stands in a list.
    pub list_style: ListStyle,
    /// Its colour as given.
    pub color: Option<Color>,
    /// The task it is; only where `list_style` is [`ListStyle::Task`].
    pub task: Option<TaskInfo>,
    /// What it is decorated with.
    pub decorations: Decorations,
}

impl BlockData {
    /// A block of this kind with no text and every common field at its default.
    pub fn new(kind: BlockKind) -> Self {
        Self {
            kind,
            markdown: String::new(),
            indentation: 0,
            list_style: ListStyle::None,
            color: None,
            task: None,
            decorations: Decorations::default(),
        }
    }

    /// A body text.
    pub fn text(markdown: impl Into<String>) -> Self {
        Self { markdown: markdown.into(), ..Self::new(BlockKind::Text(TextLook::default())) }
    }

    /// A page with this title.
    pub fn page(title: impl Into<String>) -> Self {
        Self { markdown: title.into(), ..Self::new(BlockKind::Page(TextLook::default())) }
    }

    /// Its type.
    pub const fn block_type(&self) -> BlockType {
        self.kind.block_type()
    }

    /// How it looks, if it is a text or a page.
    pub const fn look(&self) -> Option<&TextLook> {
        match &self.kind {
            BlockKind::Text(look) | BlockKind::Page(look) => Some(look),
            _ => None,
        }
    }

    /// Checks what holds for every block, wherever it stands: the indentation, the length of its texts, a task exactly where
    /// the list style says so, and that a text has no card layout for several columns.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`], [`crate::ErrorKind::LimitExceeded`] or [`crate::ErrorKind::RuleViolation`] with the
    /// wire name of the field as its path.
    pub fn check(&self, limits: &Limits) -> Result<()> {
        if self.indentation > Limits::INDENTATION {
            return Err(indentation_out_of_range(u64::from(self.indentation)).at("indentationLevel"));
        }
        if self.task.is_some() != (self.list_style == ListStyle::Task) {
            return Err(Error::validation("is only for blocks whose listStyle is task").at("taskInfo"));
        }
        let longest = if self.kind == BlockKind::Table { limits.block_raw } else { limits.block_text };
        bytes_at_most("bytes of a block's text", longest, &self.markdown).map_err(|error| error.at("markdown"))?;
        if matches!(self.kind, BlockKind::Page(_) | BlockKind::CollectionItem { .. }) {
            let characters = self.markdown.chars().count();
            if characters > limits.title {
                return Err(Error::limit("characters of a title", limits.title, characters).at("markdown"));
            }
        }
        self.check_kind(limits)
    }

    fn check_kind(&self, limits: &Limits) -> Result<()> {
        let attribute = |name: &str, value: &str| {
            bytes_at_most(&format!("bytes of {name}"), limits.attribute, value).map_err(|error| error.at(name))
        };
        match &self.kind {
            BlockKind::Text(TextLook { card_layout: layout @ (CardLayout::Small | CardLayout::Square), .. }) => {
                let message = format!("a text block cannot have the card layout {layout}; pages can");
                Err(Error::rule(message).at("cardLayout"))
            }
            BlockKind::Image { url, alt_text, .. } | BlockKind::Video { url, alt_text, .. } => {
                attribute("url", url)?;
                attribute("altText", alt_text)
            }
            BlockKind::File { url, file_name, .. } => {
                attribute("url", url)?;
                attribute("fileName", file_name)
            }
            BlockKind::Drawing { url } | BlockKind::Whiteboard { url } => attribute("url", url),
            BlockKind::Code { raw_code, language_tag, .. } => {
                bytes_at_most("bytes of raw code", limits.block_raw, raw_code).map_err(|error| error.at("rawCode"))?;
                attribute("languageTag", language_tag)
            }
            BlockKind::RichUrl { url, title, description, .. } => {
                attribute("url", url)?;
                attribute("title", title)?;
                attribute("description", description)
            }
            _ => Ok(()),
        }
    }
}

pub(crate) fn indentation_out_of_range(found: impl std::fmt::Display) -> Error {
    Error::validation(format!("expected an indentation level from 0 to {}, got {found}", Limits::INDENTATION))
}

fn bytes_at_most(limit: &str, maximum: usize, text: &str) -> Result<()> {
    if text.len() > maximum { Err(Error::limit(limit, maximum, text.len())) } else { Ok(()) }
}

/// A remark on a block.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// Its ID.
    pub id: CommentId,
    /// Who made it.
    pub author: Author,
    /// What it says.
    pub content: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Who made and changed a block, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The making.
    pub created: Stamp,
    /// The last change.
    pub modified: Stamp,
    /// Its comments, oldest first.
    pub comments: Vec<Comment>,
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("createdAt", &self.created.at)?;
        map.serialize_entry("lastModifiedAt", &self.modified.at)?;
        if !self.created.by.is_nobody() {
            map.serialize_entry("createdBy", &self.created.by)?;
        }
        if !self.modified.by.is_nobody() {
            map.serialize_entry("lastModifiedBy", &self.modified.by)?;
        }
        if !self.comments.is_empty() {
            map.serialize_entry("comments", &self.comments)?;
        }
        map.end()
    }
}

/// The children of a fetched block.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Its type has none.
    None,
    /// All of them, in order.
    Blocks(Vec<Block>),
    /// The depth of the fetch cut them off: plain text of the first ones, at most 120 characters.
    Preview(String),
}

/// A block as a reply shows it, with its children.
///
/// As JSON it is flat: `{"id", "type", "markdown", "listStyle", ..}`; fields at their default are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its ID.
    pub id: BlockId,
    /// Grows with every change of it.
    pub rev: u64,
    /// What it says.
    pub data: BlockData,
    /// Who and when, if the request asked for it.
    pub metadata: Option<Metadata>,
    /// Its children.
    pub content: Content,
}

impl Block {
    /// Its children as far as they were fetched.
    pub fn children(&self) -> &[Block] {
        match &self.content {
            Content::Blocks(blocks) => blocks,
            Content::None | Content::Preview(_) => &[],
        }
    }

    /// This block and all below it that were fetched, in reading order, each with its depth from 0.
    pub fn walk(&self) -> impl Iterator<Item = (usize, &Block)> {
        let mut waiting = vec![(0, self)];
        std::iter::from_fn(move || {
            let (depth, block) = waiting.pop()?;
            waiting.extend(block.children().iter().rev().map(|child| (depth + 1, child)));
            Some((depth, block))
        })
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        self.data.write(&mut map)?;
        if let BlockKind::Table = self.data.kind {
            map.serialize_entry("rows", &crate::fields::table_rows(&self.data.markdown))?;
        }
        if let Some(metadata) = &self.metadata {
            map.serialize_entry("metadata", metadata)?;
        }
        map.serialize_entry("rev", &self.rev)?;
        match &self.content {
            Content::None => {}
            Content::Blocks(blocks) => map.serialize_entry("content", blocks)?,
            Content::Preview(text) => map.serialize_entry("contentPreview", text)?,
        }
        map.end()
    }
}

impl BlockData {
    /// Writes the fields that are not at their default, in the order of the specification, as replies show them.
    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        self.write_with(map, |map, color| {
            map.serialize_entry("color", &color.light().to_string())?;
            map.serialize_entry("colorDark", &color.dark().to_string())
        })
    }

    /// The same as requests give them: the colour as it is kept.
    pub(crate) fn write_given<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        self.write_with(map, |map, color| map.serialize_entry("color", &color.to_string()))
    }

    fn write_with<M: SerializeMap>(
        &self,
        map: &mut M,
        write_color: impl FnOnce(&mut M, Color) -> std::result::Result<(), M::Error>,
    ) -> std::result::Result<(), M::Error> {
        map.serialize_entry("type", &self.block_type())?;
        if !self.markdown.is_empty() {
            map.serialize_entry("markdown", &self.markdown)?;
        }
        if self.indentation != 0 {
            map.serialize_entry("indentationLevel", &self.indentation)?;
        }
        entry(map, "listStyle", self.list_style)?;
        if let Some(color) = self.color {
            write_color(map, color)?;
        }
        if let Some(task) = &self.task {
            map.serialize_entry("taskInfo", task)?;
        }
        if !self.decorations.is_empty() {
            map.serialize_entry("decorations", &self.decorations)?;
        }
        self.kind.write(map)
    }
}

impl BlockKind {
    fn write<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
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
            Self::Image { url, alt_text, size, width } | Self::Video { url, alt_text, size, width } => {
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

fn entry<M: SerializeMap, T>(map: &mut M, name: &'static str, value: T) -> std::result::Result<(), M::Error>
where
    T: Serialize + Default + PartialEq + Copy,
{
    if value == T::default() { Ok(()) } else { map.serialize_entry(name, &value) }
}

fn text_entry<M: SerializeMap>(map: &mut M, name: &'static str, value: &str) -> std::result::Result<(), M::Error> {
    if value.is_empty() { Ok(()) } else { map.serialize_entry(name, value) }
}

/// An indentation level as requests give it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indentation(pub(crate) u8);

impl FromJson for Indentation {
    fn from_json(value: Value) -> Result<Self> {
        if !value.is_number() {
            return Err(wrong_type("an indentation level from 0 to 5", &value));
        }
        value
            .as_u64()
            .and_then(|level| u8::try_from(level).ok())
            .filter(|level| *level <= Limits::INDENTATION)
            .map(Self)
            .ok_or_else(|| indentation_out_of_range(&value))
    }
}

from_text!(Author: "a string");
