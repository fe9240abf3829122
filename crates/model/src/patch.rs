//! Changes to blocks: only the fields given change.

use serde_json::Value;

use crate::json::{FromJson, Object, deserialize_through_json};
use crate::{
    BlockFields, BlockId, Color, Day, DayRef, Decorations, ListStyle, Result, TaskState, TextStyle,
};

/// A change to one block. BlockFields that are not given stay as they are; with nothing but the ID it
/// changes nothing.
///
/// As JSON: `{"id": "..", "markdown": "new text"}`. With `rev` the change is made only if the block
/// still has that `rev`.
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockPatch {
    /// The block.
    pub id: BlockId,
    /// The `rev` that the block must have, for optimistic edits.
    pub rev: Option<u64>,
    /// The fields that change.
    pub fields: BlockFields,
}

impl BlockPatch {
    /// A change of nothing yet: the `with_` methods say what changes.
    ///
    /// ```
    /// use leafbase_model::{BlockId, BlockPatch, ListStyle, TaskState};
    /// let patch = BlockPatch::of(BlockId::NIL).with_list_style(ListStyle::Task).with_task_state(TaskState::Done);
    /// assert_eq!(patch.fields.list_style, Some(ListStyle::Task));
    /// ```
    pub fn of(id: impl Into<BlockId>) -> Self {
        Self::new(id, BlockFields::default())
    }

    /// A change of `id` to these fields.
    pub fn new(id: impl Into<BlockId>, fields: BlockFields) -> Self {
        Self { id: id.into(), rev: None, fields }
    }

    /// A change of the block's markdown alone.
    pub fn markdown(id: impl Into<BlockId>, markdown: impl Into<String>) -> Self {
        Self::new(id, BlockFields { markdown: Some(markdown.into()), ..BlockFields::default() })
    }

    /// The same change with this markdown, too.
    pub fn with_markdown(mut self, markdown: impl Into<String>) -> Self {
        self.fields.markdown = Some(markdown.into());
        self
    }

    /// The same change with this style of the text, too.
    pub fn with_text_style(mut self, style: TextStyle) -> Self {
        self.fields.text_style = Some(style);
        self
    }

    /// The same change with this list style, too.
    pub fn with_list_style(mut self, style: ListStyle) -> Self {
        self.fields.list_style = Some(style);
        self
    }

    /// The same change with this indentation, too.
    pub fn with_indentation(mut self, level: u8) -> Self {
        self.fields.indentation = Some(level);
        self
    }

    /// The same change with this colour, or none, too.
    pub fn with_color(mut self, color: impl Into<Option<Color>>) -> Self {
        self.fields.color = Some(color.into());
        self
    }

    /// The same change with these decorations, too.
    pub fn with_decorations(mut self, decorations: Decorations) -> Self {
        self.fields.decorations = Some(decorations);
        self
    }

    /// The same change with this state of the task, too: a block that is none becomes one with
    /// [`Self::with_list_style`].
    pub fn with_task_state(mut self, state: TaskState) -> Self {
        self.fields.task_patch.get_or_insert_default().state = Some(state);
        self
    }

    /// The same change with this day that the task is planned for, or none, too.
    pub fn with_schedule_date(mut self, day: impl Into<Option<DayRef>>) -> Self {
        self.fields.task_patch.get_or_insert_default().schedule_date = Some(day.into());
        self
    }

    /// The same change with this day that the task must be done by, or none, too.
    pub fn with_deadline_date(mut self, day: impl Into<Option<DayRef>>) -> Self {
        self.fields.task_patch.get_or_insert_default().deadline_date = Some(day.into());
        self
    }

    /// Gives days that are named relative to the present (`"scheduleDate": "tomorrow"`) as the
    /// dates that `resolve` finds. Until then [`BlockFields::apply`] refuses them.
    ///
    /// # Errors
    /// Those of `resolve`, with the field's path.
    pub fn resolve_days(&mut self, resolve: impl FnMut(DayRef) -> Result<Day>) -> Result<()> {
        self.fields.resolve_days(resolve)
    }

    /// The same change, made only if the block still has this `rev`.
    pub fn if_rev(mut self, rev: u64) -> Self {
        self.rev = Some(rev);
        self
    }
}

impl FromJson for BlockPatch {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            id: object.required("id")?,
            rev: object.optional("rev")?,
            fields: BlockFields::take(&mut object)?,
        };
        object.finish()?;
        Ok(read)
    }
}

deserialize_through_json!(BlockPatch);
