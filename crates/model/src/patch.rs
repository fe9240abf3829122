//! Changes to blocks: only the fields given change.

use serde_json::Value;

use crate::json::{FromJson, Object, deserialize_through_json};
use crate::{BlockId, Day, DayRef, Fields, Result};

/// A change to one block. Fields that are not given stay as they are; with nothing but the ID it changes nothing.
///
/// As JSON: `{"id": "..", "markdown": "new text"}`. With `rev` the change is made only if the block still has that `rev`.
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
    pub fields: Fields,
}

impl BlockPatch {
    /// A change of `id` to these fields.
    pub fn new(id: impl Into<BlockId>, fields: Fields) -> Self {
        Self { id: id.into(), rev: None, fields }
    }

    /// A change of the block's markdown alone.
    pub fn markdown(id: impl Into<BlockId>, markdown: impl Into<String>) -> Self {
        Self::new(id, Fields { markdown: Some(markdown.into()), ..Fields::default() })
    }

    /// Gives days that are named relative to the present (`"scheduleDate": "tomorrow"`) as the dates that `resolve` finds. Until
    /// then [`Fields::apply`] refuses them.
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
        let read =
            Self { id: object.required("id")?, rev: object.optional("rev")?, fields: Fields::take(&mut object)? };
        object.finish()?;
        Ok(read)
    }
}

deserialize_through_json!(BlockPatch);
