//! How requests are written as JSON, so that a client can build them as types: what is written
//! reads back the same.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::requests::given;
use crate::{
    BlockFields, BlockPatch, DayRef, DeleteBlocks, Fetch, FetchFrom, InsertBlocks, InsertSource,
    MoveBlocks, Position, PositionTarget, Result, TaskInfo, TaskPatch, UpdateBlocks,
};

impl Serialize for DayRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Fetch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.from {
            FetchFrom::Block(id) => map.serialize_entry("id", id)?,
            FetchFrom::Day(day) => map.serialize_entry("date", day)?,
        }
        given(&mut map, "maxDepth", self.max_depth.as_ref())?;
        given(&mut map, "fetchMetadata", self.metadata.then_some(&true))?;
        map.end()
    }
}

/// A position without a target is the one that is left out at its default, the end.
fn write_position<M: SerializeMap>(
    map: &mut M,
    position: &Position,
) -> std::result::Result<(), M::Error> {
    let left_out = *position == Position::Within(crate::Edge::End, PositionTarget::Unnamed);
    given(map, "position", (!left_out).then_some(position))
}

impl Serialize for InsertBlocks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.source {
            InsertSource::Blocks(blocks) => map.serialize_entry("blocks", blocks)?,
            InsertSource::Markdown(markdown) => map.serialize_entry("markdown", markdown)?,
        }
        write_position(&mut map, &self.position)?;
        map.end()
    }
}

impl Serialize for UpdateBlocks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("blocks", &self.blocks)?;
        map.end()
    }
}

impl Serialize for DeleteBlocks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("blockIds", &self.block_ids)?;
        map.end()
    }
}

impl Serialize for MoveBlocks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("blockIds", &self.block_ids)?;
        write_position(&mut map, &self.position)?;
        map.end()
    }
}

impl Serialize for BlockPatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        given(&mut map, "rev", self.rev.as_ref())?;
        self.fields.write(&mut map)?;
        map.end()
    }
}

impl Serialize for BlockFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write(&mut map)?;
        map.end()
    }
}

impl BlockFields {
    /// Writes the fields that are given. JSON has one form of a task, the change: a task given as a
    /// whole is written as the change that makes it.
    fn write<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        given(map, "type", self.block_type.as_ref())?;
        given(map, "markdown", self.markdown.as_ref())?;
        given(map, "indentationLevel", self.indentation.as_ref())?;
        given(map, "listStyle", self.list_style.as_ref())?;
        given(map, "color", self.color.map(|color| color.map(|color| color.to_string())).as_ref())?;
        given(map, "taskInfo", self.task_change().as_ref())?;
        given(map, "decorations", self.decorations.as_ref())?;
        given(map, "textStyle", self.text_style.as_ref())?;
        given(map, "textAlignment", self.text_alignment.as_ref())?;
        given(map, "font", self.font.as_ref())?;
        given(map, "cardLayout", self.card_layout.as_ref())?;
        given(map, "title", self.title.as_ref())?;
        given(map, "url", self.url.as_ref())?;
        given(map, "altText", self.alt_text.as_ref())?;
        given(map, "size", self.size.as_ref())?;
        given(map, "width", self.width.as_ref())?;
        given(map, "fileName", self.file_name.as_ref())?;
        given(map, "blockLayout", self.block_layout.as_ref())?;
        given(map, "rawCode", self.raw_code.as_ref())?;
        given(map, "language", self.language.as_ref())?;
        given(map, "languageTag", self.language_tag.as_ref())?;
        given(map, "description", self.description.as_ref())?;
        given(map, "layout", self.layout.as_ref())?;
        given(map, "lineStyle", self.line_style.as_ref())
    }

    fn task_change(&self) -> Option<TaskPatch> {
        let whole = self.task.map(TaskInfo::as_change);
        match (whole, self.task_patch) {
            (Some(whole), Some(patch)) => Some(whole.then(patch)),
            (whole, patch) => whole.or(patch),
        }
    }
}

impl TaskInfo {
    /// The change that makes any task this one. Stamps that are missing are left to the state.
    pub(crate) fn as_change(self) -> TaskPatch {
        TaskPatch {
            state: Some(self.state),
            schedule_date: Some(self.schedule_date.map(DayRef::Date)),
            deadline_date: Some(self.deadline_date.map(DayRef::Date)),
            completed_at: self.completed_at.map(Some),
            canceled_at: self.canceled_at.map(Some),
        }
    }
}

impl TaskPatch {
    /// This change and then that one, as one.
    pub(crate) fn then(self, next: Self) -> Self {
        Self {
            state: next.state.or(self.state),
            schedule_date: next.schedule_date.or(self.schedule_date),
            deadline_date: next.deadline_date.or(self.deadline_date),
            completed_at: next.completed_at.or(self.completed_at),
            canceled_at: next.canceled_at.or(self.canceled_at),
        }
    }
}

impl Serialize for TaskPatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        given(&mut map, "state", self.state.as_ref())?;
        given(&mut map, "scheduleDate", self.schedule_date.as_ref())?;
        given(&mut map, "deadlineDate", self.deadline_date.as_ref())?;
        given(&mut map, "completedAt", self.completed_at.as_ref())?;
        given(&mut map, "canceledAt", self.canceled_at.as_ref())?;
        map.end()
    }
}
