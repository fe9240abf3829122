//! Drafts of blocks to insert.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::echoed::check_rows;
use crate::json::{Object, RecursiveDraft, deserialize_by, missing_field, read_recursive};
use crate::nested::{Nested, without_recursion};
use crate::{
    BlockData, BlockFields, BlockId, BlockKind, BlockType, Day, DayRef, Error, Result, TaskPatch,
};

/// The text of a block in a form that is read by the operation that it is given to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenText {
    /// The block form of a text.
    Markdown {
        /// The block form.
        text: String,
        /// The fields given beside it, which its markers do not change.
        beside: BesideText,
    },
    /// Plain text.
    Plain(String),
}

impl GivenText {
    /// The text as given.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Markdown { text, .. } | Self::Plain(text) => text,
        }
    }
}

/// Which of the fields that markers denote a request gives beside a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each stands for a field of the request")]
pub struct BesideText {
    /// `textStyle`.
    pub style: bool,
    /// `listStyle`.
    pub list: bool,
    /// `taskInfo.state`.
    pub state: bool,
    /// `decorations`.
    pub decorations: bool,
}

/// A block to insert, with its children. The engine assigns its ID.
///
/// Serializes as a block without `id`:
///
/// ```
/// use leafbase_model::{BlockData, BlockDraft};
/// let json = r#"{
///     "type": "page", "title": "Packing", "content": [{"type": "text", "inlineMarkdown": "socks"}]
/// }"#;
/// let draft: BlockDraft = serde_json::from_str(json)?;
/// let socks = BlockDraft::new(BlockData::text("socks"));
/// assert_eq!(draft, BlockDraft::new(BlockData::page("Packing")).with_content(vec![socks]));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Drafts read by [`crate::json::from_str`] nest at most as deep as the page limit. Drafts built in
/// code may nest deeper: operations refuse them, and cloning, comparing and dropping them does not
/// recurse; only formatting and serializing do. Because a draft implements `Drop`, its fields
/// cannot be moved out; use [`Self::into_parts`].
#[derive(Debug)]
pub struct BlockDraft {
    /// The ID that the client made, or that of a block of a reply. It is ignored unless the request
    /// keeps IDs.
    pub id: Option<BlockId>,
    /// The content.
    pub data: BlockData,
    /// Whether the request gives the text as `title`: errors name that field.
    pub is_titled: bool,
    /// The text in a form that operations read; in place of the text in `data`.
    pub text: Option<GivenText>,
    /// The plain text that a reply has beside another form of the text. An operation refuses one
    /// that differs from it.
    pub shown_text: Option<String>,
    /// A pending patch of the task: days relative to the present, which the engine resolves.
    pub task_patch: Option<TaskPatch>,
    /// The children, in order. A text block with children is inserted as a page.
    pub content: Vec<BlockDraft>,
}

impl BlockDraft {
    /// A draft without children.
    pub fn new(data: BlockData) -> Self {
        Self {
            id: None,
            data,
            is_titled: false,
            text: None,
            shown_text: None,
            task_patch: None,
            content: Vec::new(),
        }
    }

    /// A text from its block form: markers at its start are its style, its list style, its task and
    /// its decorations; several paragraphs become several blocks.
    ///
    /// ```
    /// use leafbase_model::BlockDraft;
    /// let json = r#"{"type": "text", "markdown": "- [x] passport"}"#;
    /// assert_eq!(BlockDraft::markdown("- [x] passport"), serde_json::from_str(json)?);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn markdown(text: impl Into<String>) -> Self {
        let mut draft = Self::new(BlockData::text(""));
        draft.text = Some(GivenText::Markdown { text: text.into(), beside: BesideText::default() });
        draft
    }

    /// A text that is shown as it is: nothing in it is a marker or markup.
    ///
    /// ```
    /// use leafbase_model::BlockDraft;
    /// let json = r#"{"type": "text", "text": "1. *not* a list "}"#;
    /// assert_eq!(BlockDraft::plain("1. *not* a list "), serde_json::from_str(json)?);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn plain(text: impl Into<String>) -> Self {
        let mut draft = Self::new(BlockData::text(""));
        draft.text = Some(GivenText::Plain(text.into()));
        draft
    }

    /// Replaces the children.
    pub fn with_content(mut self, content: Vec<BlockDraft>) -> Self {
        self.content = content;
        self
    }

    /// Sets the ID, for a request that keeps IDs.
    pub fn with_id(mut self, id: impl Into<BlockId>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Splits the draft into its content and its children.
    pub fn into_parts(mut self) -> (BlockData, Vec<BlockDraft>) {
        // A type with a `Drop` of its own cannot be destructured: placeholders remain in it.
        let data = std::mem::replace(&mut self.data, BlockData::text(""));
        // `self` is dropped here with no children left.
        (data, std::mem::take(&mut self.content))
    }

    /// Iterates over this draft and all descendants in reading order, each with its depth from 0.
    pub fn walk(&self) -> impl Iterator<Item = (usize, &BlockDraft)> {
        // Preorder traversal with an explicit stack: drafts built in code have no maximum depth.
        let mut waiting = vec![(0, self)];
        std::iter::from_fn(move || {
            let (depth, draft) = waiting.pop()?;
            waiting.extend(draft.content.iter().rev().map(|child| (depth + 1, child)));
            Some((depth, draft))
        })
    }

    /// Resolves the relative days of this draft and all descendants to the dates that `resolve`
    /// returns.
    ///
    /// ```
    /// use leafbase_model::{BlockDraft, Day};
    /// let json = r#"{
    ///     "type": "text", "listStyle": "task", "markdown": "pack",
    ///     "taskInfo": {"scheduleDate": "tomorrow"}
    /// }"#;
    /// let mut draft: BlockDraft = serde_json::from_str(json)?;
    /// assert!(draft.clone().apply_task_patch().is_err());
    /// let monday: Day = "2026-03-02".parse()?;
    /// draft.resolve_days(|_| Ok(monday))?;
    /// draft.apply_task_patch()?;
    /// assert_eq!(draft.data.task.and_then(|task| task.schedule_date), Some(monday));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of `resolve`.
    pub fn resolve_days(&mut self, mut resolve: impl FnMut(DayRef) -> Result<Day>) -> Result<()> {
        // Order does not matter here: each draft resolves its own days.
        let mut waiting = vec![self];
        while let Some(Self { task_patch, content, .. }) = waiting.pop() {
            if let Some(task) = task_patch {
                task.resolve_days(&mut resolve)?;
            }
            waiting.extend(content);
        }
        Ok(())
    }

    /// Applies `task_patch` to the task of `data`.
    ///
    /// # Errors
    /// Errors of [`TaskPatch::apply`] below the path `taskInfo`, and
    /// [`crate::ErrorKind::Validation`] if the block is not a task.
    pub fn apply_task_patch(&mut self) -> Result<()> {
        let Some(patch) = self.task_patch.take() else { return Ok(()) };
        BlockFields { task_patch: Some(patch), ..BlockFields::default() }.apply(&mut self.data)
    }
}

impl Nested for BlockDraft {
    fn children(&self) -> &[Self] {
        &self.content
    }

    fn take_children(&mut self) -> Vec<Self> {
        std::mem::take(&mut self.content)
    }

    fn with_children(&self, content: Vec<Self>) -> Self {
        Self {
            id: self.id,
            data: self.data.clone(),
            is_titled: self.is_titled,
            text: self.text.clone(),
            shown_text: self.shown_text.clone(),
            task_patch: self.task_patch,
            content,
        }
    }

    fn eq_without_children(&self, other: &Self) -> bool {
        // `is_titled` says nothing of the block.
        let own = |draft: &Self| (draft.id, draft.task_patch);
        own(self) == own(other)
            && self.data == other.data
            && (&self.text, &self.shown_text) == (&other.text, &other.shown_text)
    }
}

without_recursion!(BlockDraft);

impl From<BlockData> for BlockDraft {
    fn from(data: BlockData) -> Self {
        Self::new(data)
    }
}

impl RecursiveDraft for BlockDraft {
    const CHILDREN: &'static str = "content";

    fn read_alone(mut object: Object, has_children: bool) -> Result<Self> {
        // A block of a reply: its copy gets an ID of its own, unless the request keeps IDs.
        let id = object.optional("id")?;
        object.optional::<u64>("rev")?;
        if object.take_unlisted("contentPreview").is_some_and(|preview| !preview.is_null()) {
            let message = "the content was cut off by maxDepth: fetch the whole block to insert it";
            return Err(Error::validation(message).at("contentPreview"));
        }
        check_rows(&object)?;
        let mut fields = BlockFields::read(object)?;
        let block_type = fields.block_type.take().ok_or_else(|| missing_field("type"))?;
        // Days relative to the present stay pending: only the engine knows the clock and the zone.
        let task_patch = fields.task_patch.as_mut().and_then(TaskPatch::take_relative);
        let beside = BesideText {
            style: fields.text_style.is_some(),
            list: fields.list_style.is_some(),
            state: fields.task_patch.is_some_and(|task| task.state.is_some()),
            decorations: fields.decorations.is_some(),
        };
        let is_beside =
            fields.markdown.is_some() || fields.inline.is_some() || fields.title.is_some();
        let shown_text = fields.plain.take_if(|_| is_beside && block_type.has_inline_text());
        fields.check_texts(block_type)?;
        let is_titled = fields.gives_title_alone();
        let text = match fields.plain.take() {
            Some(text) => Some(GivenText::Plain(text)),
            None if block_type == BlockType::Text => {
                fields.markdown.take().map(|text| GivenText::Markdown { text, beside })
            }
            None => None,
        };
        let mut data = BlockData::new(BlockKind::empty(block_type));
        // A task may be a marker: what belongs to it is applied once the text is read.
        let task_patch = match (&text, fields.list_style) {
            (Some(GivenText::Markdown { .. }), None) => {
                task_patch.into_iter().chain(fields.task_patch.take()).reduce(TaskPatch::then)
            }
            _ => task_patch,
        };
        // Applied to an empty block of the type, so that defaults and invalid fields are those of
        // an update.
        fields.apply(&mut data)?;
        // Checked after the fields: a fault in the block itself is reported first.
        if has_children && !block_type.may_be_parent() {
            let message = format!("a block of type {block_type} cannot have children");
            return Err(Error::rule(message).at("content"));
        }
        Ok(Self { id, data, is_titled, text, shown_text, task_patch, content: Vec::new() })
    }

    fn children_mut(&mut self) -> &mut Vec<Self> {
        &mut self.content
    }
}

deserialize_by!(BlockDraft: read_recursive);

impl Serialize for BlockDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(id) = self.id {
            map.serialize_entry("id", &id)?;
        }
        self.data.write_given(&mut map, self.text.as_ref(), self.task_patch)?;
        if let Some(shown) = &self.shown_text {
            map.serialize_entry("text", shown)?;
        }
        if !self.content.is_empty() {
            map.serialize_entry("content", &self.content)?;
        }
        map.end()
    }
}

impl From<BlockType> for BlockDraft {
    /// An empty block of this type.
    fn from(block_type: BlockType) -> Self {
        Self::new(BlockData::new(BlockKind::empty(block_type)))
    }
}
