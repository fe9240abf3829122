//! Block data, and the block of a reply with its children.

use crate::{
    BlockId, BlockKind, BlockType, Color, Decorations, Error, ItemFields, Limits, ListStyle,
    Metadata, SourceLayout, TaskInfo, TextFormat,
};

/// The content of a block, without its ID, location and stamps.
///
/// ```
/// use leafbase_model::{BlockData, BlockKind, BlockType, ListStyle, TaskInfo, TaskState};
/// let text = BlockData::text("two shirts");
/// let bullet = BlockData { list_style: ListStyle::Bullet, indentation: 1, ..text };
/// let task = TaskInfo::of_state(TaskState::Todo);
/// let text = BlockData::text("passport");
/// let task = BlockData { list_style: ListStyle::Task, task: Some(task), ..text };
/// assert_eq!((bullet.block_type(), task.block_type()), (BlockType::Text, BlockType::Text));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BlockData {
    /// The fields of its type.
    pub kind: BlockKind,
    /// Inline markdown of a text, title of a page or an item, GFM of a table, name of a collection.
    /// Records of the other types store an empty string; replies render their markdown from the
    /// other fields.
    pub inline: String,
    /// The indentation level, 0 to [`Limits::INDENTATION`].
    pub indentation: u8,
    /// The list style.
    pub list_style: ListStyle,
    /// The color as given by the author; replies show a readable variant.
    pub color: Option<Color>,
    /// The task; present exactly if `list_style` is [`ListStyle::Task`].
    pub task: Option<TaskInfo>,
    /// The decorations.
    pub decorations: Decorations,
    /// How it was written in the markdown it was read from, where that is not the canonical form.
    pub layout: Option<Box<SourceLayout>>,
}

impl BlockData {
    /// A block of this kind with empty text and all common fields at their defaults.
    pub fn new(kind: BlockKind) -> Self {
        Self {
            kind,
            inline: String::new(),
            indentation: 0,
            list_style: ListStyle::None,
            color: None,
            task: None,
            decorations: Decorations::default(),
            layout: None,
        }
    }

    /// Whether both have the same content, whatever their source layout.
    ///
    /// ```
    /// use leafbase_model::{BlockData, SourceLayout};
    /// let plain = BlockData::text("one");
    /// let layout = SourceLayout { first_lead: Some("* ".into()), ..SourceLayout::default() };
    /// let written = BlockData { layout: layout.into_option(), ..plain.clone() };
    /// assert!(plain != written && plain.is_same_content(&written));
    /// ```
    pub fn is_same_content(&self, other: &Self) -> bool {
        let Self { kind, inline, indentation, list_style, color, task, decorations, layout: _ } =
            self;
        *inline == other.inline
            && *kind == other.kind
            && *indentation == other.indentation
            && *list_style == other.list_style
            && *color == other.color
            && *task == other.task
            && *decorations == other.decorations
    }

    /// A text block of style `body`.
    pub fn text(markdown: impl Into<String>) -> Self {
        Self { inline: markdown.into(), ..Self::new(BlockKind::Text(TextFormat::default())) }
    }

    /// A page with the given title.
    pub fn page(title: impl Into<String>) -> Self {
        Self { inline: title.into(), ..Self::new(BlockKind::Page(TextFormat::default())) }
    }

    /// The block type.
    pub const fn block_type(&self) -> BlockType {
        self.kind.block_type()
    }

    /// The text format of a text or page block; `None` for other types.
    pub const fn text_format(&self) -> Option<&TextFormat> {
        match &self.kind {
            BlockKind::Text(format) | BlockKind::Page(format) => Some(format),
            _ => None,
        }
    }
}

pub(crate) const TASK_INFO_WITHOUT_TASK: &str =
    "taskInfo is only for blocks whose listStyle is task";

pub(crate) fn indentation_out_of_range(found: impl std::fmt::Display) -> Error {
    Error::validation(format!(
        "expected an indentation level from 0 to {}, got {found}",
        Limits::INDENTATION
    ))
}

/// The children of a fetched block.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// The block type has no children.
    None,
    /// All children, in order.
    Blocks(Vec<Block>),
    /// Plain text of the first children, at most 120 characters, because the depth of the fetch
    /// excludes them.
    Preview(String),
}

/// A block of a reply, with its children.
///
/// Serializes as one flat object: `{"id", "type", "markdown", "listStyle", ..}`. Fields at their
/// default are omitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The block ID.
    pub id: BlockId,
    /// The revision, incremented by every change of the block.
    pub rev: u64,
    /// The content.
    pub data: BlockData,
    /// The block form of a text, where it differs from its inline markdown. See [`Self::markdown`].
    pub block_form: Option<Box<str>>,
    /// The plain text of a text or title, if the request asked for it.
    pub plain: Option<Box<str>>,
    /// Stamps and comments, if the request asked for them.
    pub metadata: Option<Metadata>,
    /// The property values under the schema of the collection, if the block is an item.
    pub item: Option<Box<ItemFields>>,
    /// The children.
    pub content: Content,
}

impl Block {
    /// The `markdown` of the JSON: of a text its block form, with the markers of its style, list,
    /// task and decorations; of other types the markdown of `data`.
    pub fn markdown(&self) -> &str {
        self.block_form.as_deref().unwrap_or(&self.data.inline)
    }

    /// The fetched children.
    pub fn children(&self) -> &[Block] {
        match &self.content {
            Content::Blocks(blocks) => blocks,
            // A preview stands for children that the fetch did not read.
            Content::None | Content::Preview(_) => &[],
        }
    }

    /// Iterates over this block and all fetched descendants in reading order, each with its depth
    /// from 0.
    pub fn walk(&self) -> impl Iterator<Item = (usize, &Block)> {
        // Preorder traversal with an explicit stack: a reply nests as deep as pages may.
        let mut waiting = vec![(0, self)];
        std::iter::from_fn(move || {
            let (depth, block) = waiting.pop()?;
            waiting.extend(block.children().iter().rev().map(|child| (depth + 1, child)));
            Some((depth, block))
        })
    }
}
