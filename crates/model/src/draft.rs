//! Blocks that are to be made.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::json::{FromJson, Object, deserialize_through_json};
use crate::nested::{Nested, without_recursion};
use crate::{BlockData, BlockFields, BlockKind, BlockType, Day, DayRef, Error, Result, TaskPatch};

/// A block to be made, with its children. It has no ID: the engine mints one.
///
/// As JSON it is a block without `id`:
///
/// ```
/// use leafbase_model::{BlockData, BlockDraft};
/// let json = r#"{"type": "page", "title": "Packing", "content": [{"type": "text", "markdown": "socks"}]}"#;
/// let draft: BlockDraft = serde_json::from_str(json)?;
/// let socks = BlockDraft::new(BlockData::text("socks"));
/// assert_eq!(draft, BlockDraft::new(BlockData::page("Packing")).with_content(vec![socks]));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Drafts read by [`crate::json::from_str`] nest no deeper than the page limit. Those built by hand
/// may: an operation of the engine refuses them, and they are cloned, compared and dropped without
/// recursion. Only printing and serializing one recurse through it. What has a drop of its own
/// cannot be moved out of: [`Self::into_parts`] takes a draft apart.
#[derive(Debug)]
pub struct BlockDraft {
    /// What it says.
    pub data: BlockData,
    /// What is still to be put onto its task: days that a request names relative to the present.
    /// The engine knows the present.
    pub task_patch: Option<TaskPatch>,
    /// Its children, in order; a text block that has some is made as a page.
    pub content: Vec<BlockDraft>,
}

impl BlockDraft {
    /// A draft without children.
    pub fn new(data: BlockData) -> Self {
        Self { data, task_patch: None, content: Vec::new() }
    }

    /// The same draft with these children.
    pub fn with_content(mut self, content: Vec<BlockDraft>) -> Self {
        self.content = content;
        self
    }

    /// What it says, and its children.
    pub fn into_parts(mut self) -> (BlockData, Vec<BlockDraft>) {
        let data = std::mem::replace(&mut self.data, BlockData::text(""));
        (data, std::mem::take(&mut self.content))
    }

    /// This draft and all below it in reading order, each with its depth from 0.
    pub fn walk(&self) -> impl Iterator<Item = (usize, &BlockDraft)> {
        let mut waiting = vec![(0, self)];
        std::iter::from_fn(move || {
            let (depth, draft) = waiting.pop()?;
            waiting.extend(draft.content.iter().rev().map(|child| (depth + 1, child)));
            Some((depth, draft))
        })
    }

    /// Gives the days that it, or a draft below it, names relative to the present as the dates that
    /// `resolve` finds.
    ///
    /// ```
    /// use leafbase_model::{BlockDraft, Day};
    /// let json = r#"{"type": "text", "listStyle": "task", "markdown": "pack", "taskInfo": {"scheduleDate": "tomorrow"}}"#;
    /// let mut draft: BlockDraft = serde_json::from_str(json)?;
    /// assert!(draft.clone().settle().is_err());
    /// let monday: Day = "2026-03-02".parse()?;
    /// draft.resolve_days(|_| Ok(monday))?;
    /// draft.settle()?;
    /// assert_eq!(draft.data.task.and_then(|task| task.schedule_date), Some(monday));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of `resolve`.
    pub fn resolve_days(&mut self, mut resolve: impl FnMut(DayRef) -> Result<Day>) -> Result<()> {
        let mut waiting = vec![self];
        while let Some(Self { task_patch, content, .. }) = waiting.pop() {
            if let Some(task) = task_patch {
                task.resolve_days(&mut resolve)?;
            }
            waiting.extend(content);
        }
        Ok(())
    }

    /// Puts `task_patch` onto the task of `data`.
    ///
    /// # Errors
    /// Below `taskInfo`: those of [`TaskPatch::apply`], and [`crate::ErrorKind::Validation`] if it
    /// is no task.
    pub fn settle(&mut self) -> Result<()> {
        let Some(patch) = self.task_patch.take() else { return Ok(()) };
        BlockFields { task_patch: Some(patch), ..BlockFields::default() }.apply(&mut self.data)
    }
}

impl Nested for BlockDraft {
    fn below(&self) -> &[Self] {
        &self.content
    }

    fn take_below(&mut self) -> Vec<Self> {
        std::mem::take(&mut self.content)
    }

    fn with_below(&self, content: Vec<Self>) -> Self {
        Self { data: self.data.clone(), task_patch: self.task_patch, content }
    }

    fn is_alike(&self, other: &Self) -> bool {
        self.data == other.data && self.task_patch == other.task_patch
    }
}

without_recursion!(BlockDraft);

impl From<BlockData> for BlockDraft {
    fn from(data: BlockData) -> Self {
        Self::new(data)
    }
}

impl FromJson for BlockDraft {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let mut fields = BlockFields::take(&mut object)?;
        let content: Vec<Self> = object.optional("content")?.unwrap_or_default();
        object.finish()?;
        let block_type =
            fields.block_type.take().ok_or_else(|| Error::validation("is missing").at("type"))?;
        let task_patch = fields.task_patch.as_mut().and_then(TaskPatch::take_relative);
        let mut data = BlockData::new(BlockKind::empty(block_type));
        fields.apply(&mut data)?;
        if !content.is_empty() && !block_type.may_be_parent() {
            return Err(Error::rule(format!("a block of type {block_type} cannot have children"))
                .at("content"));
        }
        Ok(Self { data, task_patch, content })
    }
}

deserialize_through_json!(BlockDraft);

impl Serialize for BlockDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.data.write_given(&mut map, self.task_patch)?;
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
