//! Blocks: what each says, and how a reply shows it with its children.

use crate::{
    BlockId, BlockKind, BlockType, CardLayout, Color, Decorations, Error, ItemFields, Limits,
    ListStyle, Metadata, Result, TaskInfo, TextFormat,
};

/// Everything a block says, without who it is and where it stands.
///
/// ```
/// use leafbase_model::{BlockData, BlockKind, BlockType, ListStyle, TaskInfo, TaskState};
/// let bullet = BlockData { list_style: ListStyle::Bullet, indentation: 1, ..BlockData::text("two shirts") };
/// let task = TaskInfo::of_state(TaskState::Todo);
/// let task = BlockData { list_style: ListStyle::Task, task: Some(task), ..BlockData::text("passport") };
/// assert_eq!((bullet.block_type(), task.block_type()), (BlockType::Text, BlockType::Text));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BlockData {
    /// What its type holds.
    pub kind: BlockKind,
    /// Inline markdown of a text, title of a page or an item, GFM of a table, name of a collection.
    /// Empty in the store for the other types, whose markdown is made from their fields; a reply
    /// carries it made.
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
        Self { markdown: markdown.into(), ..Self::new(BlockKind::Text(TextFormat::default())) }
    }

    /// A page with this title.
    pub fn page(title: impl Into<String>) -> Self {
        Self { markdown: title.into(), ..Self::new(BlockKind::Page(TextFormat::default())) }
    }

    /// Its type.
    pub const fn block_type(&self) -> BlockType {
        self.kind.block_type()
    }

    /// How it looks, if it is a text or a page.
    pub const fn look(&self) -> Option<&TextFormat> {
        match &self.kind {
            BlockKind::Text(look) | BlockKind::Page(look) => Some(look),
            _ => None,
        }
    }

    /// Checks what holds for every block, wherever it stands: the indentation, the length of its
    /// texts, a task exactly where the list style says so, and that a text has no card layout for
    /// several columns.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`], [`crate::ErrorKind::LimitExceeded`] or
    /// [`crate::ErrorKind::RuleViolation`] with the wire name of the field as its path.
    pub fn check(&self, limits: &Limits) -> Result<()> {
        if self.indentation > Limits::INDENTATION {
            return Err(
                indentation_out_of_range(u64::from(self.indentation)).at("indentationLevel")
            );
        }
        match (&self.task, self.list_style == ListStyle::Task) {
            (Some(_), false) => {
                return Err(Error::validation(TASK_INFO_WITHOUT_TASK).at("taskInfo"));
            }
            (None, true) => {
                return Err(
                    Error::validation("is missing, though listStyle is task").at("taskInfo")
                );
            }
            _ => {}
        }
        let longest = if matches!(self.kind, BlockKind::Table) {
            limits.block_raw
        } else {
            limits.block_text
        };
        bytes_at_most("bytes of a block's text", longest, &self.markdown)
            .map_err(|error| error.at("markdown"))?;
        if matches!(
            self.kind,
            BlockKind::Page(_) | BlockKind::CollectionItem { .. } | BlockKind::Collection
        ) {
            let characters = self.markdown.chars().count();
            if characters > limits.title {
                return Err(
                    Error::limit("characters of a title", limits.title, characters).at("markdown")
                );
            }
        }
        self.check_kind(limits)
    }

    fn check_kind(&self, limits: &Limits) -> Result<()> {
        let attribute = |name: &str, value: &str| {
            bytes_at_most(&format!("bytes of {name}"), limits.attribute, value)
                .map_err(|error| error.at(name))
        };
        match &self.kind {
            BlockKind::Text(TextFormat {
                card_layout: layout @ (CardLayout::Small | CardLayout::Square),
                ..
            }) => {
                let message =
                    format!("a text block cannot have the card layout {layout}; pages can");
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
                bytes_at_most("bytes of raw code", limits.block_raw, raw_code)
                    .map_err(|error| error.at("rawCode"))?;
                attribute("languageTag", language_tag)?;
                if language_tag.contains(['\n', '\r']) {
                    return Err(Error::validation("is one line").at("languageTag"));
                }
                Ok(())
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

pub(crate) const TASK_INFO_WITHOUT_TASK: &str = "is only for blocks whose listStyle is task";

pub(crate) fn indentation_out_of_range(found: impl std::fmt::Display) -> Error {
    Error::validation(format!(
        "expected an indentation level from 0 to {}, got {found}",
        Limits::INDENTATION
    ))
}

fn bytes_at_most(limit: &str, maximum: usize, text: &str) -> Result<()> {
    if text.len() > maximum { Err(Error::limit(limit, maximum, text.len())) } else { Ok(()) }
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
/// As JSON it is flat: `{"id", "type", "markdown", "listStyle", ..}`; fields at their default are
/// left out.
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
    /// What the schema of its collection makes of it, if it is an item.
    pub item: Option<Box<ItemFields>>,
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
