//! Block data, and the block of a reply with its children.

use crate::texts::TextField;
use crate::{
    BlockId, BlockKind, BlockType, CardLayout, Color, Decorations, Error, ItemFields, Limits,
    ListStyle, Metadata, Result, TaskInfo, TextFormat, TextRole,
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
    pub markdown: String,
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
}

impl BlockData {
    /// A block of this kind with empty text and all common fields at their defaults.
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

    /// A text block of style `body`.
    pub fn text(markdown: impl Into<String>) -> Self {
        Self { markdown: markdown.into(), ..Self::new(BlockKind::Text(TextFormat::default())) }
    }

    /// A page with the given title.
    pub fn page(title: impl Into<String>) -> Self {
        Self { markdown: title.into(), ..Self::new(BlockKind::Page(TextFormat::default())) }
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

    /// Validates the invariants that hold for every block regardless of its location: the
    /// indentation range, the length limits, a task exactly where the list style asks for one, and
    /// no multi-column card layout on text blocks.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`], [`crate::ErrorKind::LimitExceeded`] or
    /// [`crate::ErrorKind::RuleViolation`]; the path is the wire name of the field.
    pub fn check(&self, limits: &Limits) -> Result<()> {
        // Fields in the order of the specification: the first fault is reported.
        if self.indentation > Limits::INDENTATION {
            return Err(
                indentation_out_of_range(u64::from(self.indentation)).at("indentationLevel")
            );
        }
        // A task without its list style would be invisible, and the style without a task has no
        // state.
        match (&self.task, self.list_style == ListStyle::Task) {
            (Some(_), false) => {
                return Err(Error::validation(TASK_INFO_WITHOUT_TASK).at("taskInfo"));
            }
            (None, true) => {
                return Err(Error::validation("taskInfo is missing, though listStyle is task")
                    .at("taskInfo"));
            }
            _ => {}
        }
        // Tables count as raw content: their limit is that of source code.
        let longest = if matches!(self.kind, BlockKind::Table) {
            limits.block_raw
        } else {
            limits.block_text
        };
        let bytes = self.markdown.len();
        if bytes > longest {
            return Err(Error::limit("bytes of a block's text", longest, bytes).at("markdown"));
        }
        if matches!(
            self.kind,
            BlockKind::Page(_) | BlockKind::CollectionItem { .. } | BlockKind::Collection
        ) {
            // Titles are limited in characters, because people read them; other texts in bytes.
            let characters = self.markdown.chars().count();
            if characters > limits.title {
                return Err(
                    Error::limit("characters of a title", limits.title, characters).at("markdown")
                );
            }
        }
        if let BlockKind::Text(TextFormat { card_layout, .. }) = self.kind
            && matches!(card_layout, CardLayout::Small | CardLayout::Square)
        {
            // Text blocks have no multi-column cards: they are not pages that a card could show.
            let message =
                format!("a text block cannot have the card layout {card_layout}; pages can");
            return Err(Error::rule(message).at("cardLayout"));
        }
        self.kind.text_fields().try_for_each(|field| check_field(limits, field))
    }
}

/// Checks a text of a kind. The path of an error is the name of the field.
fn check_field(limits: &Limits, TextField { role, name, text }: TextField<&String>) -> Result<()> {
    let (bytes_of, maximum) = match role {
        TextRole::Code => ("raw code", limits.block_raw),
        // Attributes share one limit.
        TextRole::EmbedUrl | TextRole::LinkUrl | TextRole::Label | TextRole::CodeTag => {
            (name, limits.attribute)
        }
        // No fields of a kind: the block and the schema check them.
        TextRole::Markdown | TextRole::Property => return Ok(()),
    };
    if text.len() > maximum {
        return Err(Error::limit(&format!("bytes of {bytes_of}"), maximum, text.len()).at(name));
    }
    if role == TextRole::CodeTag && text.contains(['\n', '\r']) {
        return Err(Error::validation("a language tag is one line").at(name));
    }
    Ok(())
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
    /// Stamps and comments, if the request asked for them.
    pub metadata: Option<Metadata>,
    /// The property values under the schema of the collection, if the block is an item.
    pub item: Option<Box<ItemFields>>,
    /// The children.
    pub content: Content,
}

impl Block {
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
