//! Block patches: updates of the given fields only.

use serde_json::{Map, Value};

use crate::json::{Object, deserialize_by};
use crate::{
    BlockFields, BlockId, BlockType, Color, Day, DayRef, Decorations, ListStyle, Result, TaskState,
    TextStyle,
};

/// An update of one block. Absent fields stay unchanged; a patch with nothing but the ID changes
/// nothing.
///
/// As JSON: `{"id": "..", "markdown": "new text"}`. A `rev` makes it conditional on the current
/// revision of the block.
///
/// ```
/// use leafbase_model::{BlockPatch, TaskState};
/// let patch: BlockPatch = serde_json::from_str(
///     r#"{"id": "01KASZ4ZJG0000000000000001", "rev": 3, "taskInfo": {"state": "done"}}"#,
/// )?;
/// assert_eq!(patch.rev, Some(3));
/// assert_eq!(patch.fields.task_patch.and_then(|task| task.state), Some(TaskState::Done));
/// assert_eq!(patch.fields.markdown, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct BlockPatch {
    /// The block.
    pub id: BlockId,
    /// The expected revision of the block, for optimistic concurrency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rev: Option<u64>,
    /// The children as a reply shows them, which have to be those that the block has: an update
    /// changes none. `None` if the request does not have them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<Value>>,
    /// The title and the values of an item as a reply shows them, under the names that its schema
    /// gives them. They have to be those that the item has: the operations on items change them.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub item: Option<Map<String, Value>>,
    /// The fields to change.
    #[serde(flatten)]
    pub fields: BlockFields,
}

impl BlockPatch {
    /// A patch that changes nothing yet; the `with_` methods add changes.
    ///
    /// ```
    /// use leafbase_model::{BlockId, BlockPatch, ListStyle, TaskState};
    /// let patch = BlockPatch::of(BlockId::NIL).with_list_style(ListStyle::Task);
    /// let patch = patch.with_task_state(TaskState::Done);
    /// assert_eq!(patch.fields.list_style, Some(ListStyle::Task));
    /// ```
    pub fn of(id: impl Into<BlockId>) -> Self {
        Self::new(id, BlockFields::default())
    }

    /// A patch of these fields.
    pub fn new(id: impl Into<BlockId>, fields: BlockFields) -> Self {
        Self { id: id.into(), rev: None, content: None, item: None, fields }
    }

    /// A patch of the block's inline markdown alone: nothing in it is a marker.
    ///
    /// ```
    /// use leafbase_model::{BlockId, BlockPatch};
    /// let patch = BlockPatch::inline(BlockId::NIL, "# *seven*");
    /// assert_eq!(serde_json::to_value(patch)?["inlineMarkdown"], "# *seven*");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn inline(id: impl Into<BlockId>, inline: impl Into<String>) -> Self {
        Self::new(id, BlockFields { inline: Some(inline.into()), ..BlockFields::default() })
    }

    /// A patch of the block's plain text alone: nothing in it is a marker or markup.
    pub fn plain(id: impl Into<BlockId>, text: impl Into<String>) -> Self {
        Self::new(id, BlockFields { plain: Some(text.into()), ..BlockFields::default() })
    }

    /// A patch of the block's markdown alone: the block form of a text.
    pub fn markdown(id: impl Into<BlockId>, markdown: impl Into<String>) -> Self {
        Self::new(id, BlockFields { markdown: Some(markdown.into()), ..BlockFields::default() })
    }

    /// Sets the markdown.
    pub fn with_markdown(mut self, markdown: impl Into<String>) -> Self {
        self.fields.markdown = Some(markdown.into());
        self
    }

    /// Sets the text style.
    pub fn with_text_style(mut self, style: TextStyle) -> Self {
        self.fields.text_style = Some(style);
        self
    }

    /// Sets the list style.
    pub fn with_list_style(mut self, style: ListStyle) -> Self {
        self.fields.list_style = Some(style);
        self
    }

    /// Sets the indentation level.
    pub fn with_indentation(mut self, level: u8) -> Self {
        self.fields.indentation = Some(level);
        self
    }

    /// Sets or clears the color.
    pub fn with_color(mut self, color: impl Into<Option<Color>>) -> Self {
        self.fields.color = Some(color.into());
        self
    }

    /// Sets the decorations.
    pub fn with_decorations(mut self, decorations: Decorations) -> Self {
        self.fields.decorations = Some(decorations);
        self
    }

    /// Sets the state of the task; [`Self::with_list_style`] turns another block into a task.
    pub fn with_task_state(mut self, state: TaskState) -> Self {
        self.fields.task_patch.get_or_insert_default().state = Some(state);
        self
    }

    /// Sets or clears the schedule date of the task.
    pub fn with_schedule_date(mut self, day: impl Into<Option<DayRef>>) -> Self {
        self.fields.task_patch.get_or_insert_default().schedule_date = Some(day.into());
        self
    }

    /// Sets or clears the deadline of the task.
    pub fn with_deadline_date(mut self, day: impl Into<Option<DayRef>>) -> Self {
        self.fields.task_patch.get_or_insert_default().deadline_date = Some(day.into());
        self
    }

    /// Resolves days relative to the present (`"scheduleDate": "tomorrow"`) to the dates that
    /// `resolve` returns. [`BlockFields::apply`] refuses unresolved days.
    ///
    /// # Errors
    /// Errors of `resolve`, with the path of the field.
    pub fn resolve_days(&mut self, resolve: impl FnMut(DayRef) -> Result<Day>) -> Result<()> {
        self.fields.resolve_days(resolve)
    }

    /// Makes the patch conditional on this revision.
    pub fn if_rev(mut self, rev: u64) -> Self {
        self.rev = Some(rev);
        self
    }
}

impl BlockPatch {
    /// Whether a block has this field in requests or replies, whatever its type. The values and the
    /// title of an item have other names.
    ///
    /// ```
    /// use leafbase_model::BlockPatch;
    /// assert!(BlockPatch::has_field("url") && !BlockPatch::has_field("due_date"));
    /// ```
    pub fn has_field(name: &str) -> bool {
        matches!(name, "id" | "rev" | "content" | "contentPreview" | "properties")
            || BlockFields::has(name)
    }

    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        // `id` and `rev` address the block; every other field is a change.
        let id = object.required("id")?;
        let rev = object.optional("rev")?;
        // Stands for children that the reply does not have.
        object.take_unlisted("contentPreview");
        let content = object.optional("content")?;
        let is_item =
            object.get("type").and_then(Value::as_str) == Some(BlockType::CollectionItem.as_str());
        let item = is_item.then(|| object.split_off(|name| !BlockFields::has(name)));
        Ok(Self { id, rev, content, item, fields: BlockFields::read(object)? })
    }
}

deserialize_by!(BlockPatch: Self::read);
