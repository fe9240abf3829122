//! The task operations.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::{Paging, given};
use crate::json::{FromJson, Object, deserialize_through_json, one_or_many};
use crate::{BlockId, DayRef, DocumentId, Error, Result, TaskPatch};
use names::{PlaceName, ScopeName};

mod names {
    #![expect(unreachable_pub, reason = "the names on the wire stay within")]

    use crate::json::wire_enum;

    wire_enum! {
        /// The name of a [`super::TaskScope`].
        ScopeName {
            /// [`super::TaskScope::Active`].
            #[default]
            Active = "active",
            /// [`super::TaskScope::Upcoming`].
            Upcoming = "upcoming",
            /// [`super::TaskScope::Inbox`].
            Inbox = "inbox",
            /// [`super::TaskScope::Logbook`].
            Logbook = "logbook",
            /// [`super::TaskScope::Document`].
            Document = "document",
        }
    }

    wire_enum! {
        /// The kinds of places that tasks are in.
        PlaceName {
            /// The inbox.
            #[default]
            Inbox = "inbox",
            /// A daily note.
            DailyNote = "dailyNote",
            /// Another document.
            Document = "document",
        }
    }
}

/// Which tasks are meant. Tasks of documents in the trash are in none of the scopes but that of
/// their document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TaskScope {
    /// Open tasks whose schedule day, else deadline, is today or earlier; by that day, earliest
    /// first.
    #[default]
    Active,
    /// Open tasks whose schedule day, else deadline, is after today; by that day, earliest first.
    Upcoming,
    /// Open tasks of the inbox, in its order: the one added last is first.
    Inbox,
    /// Done and canceled tasks of everywhere, newest first.
    Logbook,
    /// All tasks of this document, in its order.
    Document(DocumentId),
}

/// Lists tasks. As JSON: `{"scope": "document", "documentId": "..", "limit": 50, "cursor": ".."}`;
/// `documentId` exactly where the scope is `document`.
///
/// ```
/// use leafbase_model::{ListTasks, TaskScope};
/// let request: ListTasks = serde_json::from_str(r#"{"scope": "upcoming", "limit": 50}"#)?;
/// assert_eq!(request, ListTasks::new(TaskScope::Upcoming).limit(50));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListTasks {
    /// Which.
    pub scope: TaskScope,
    /// How many, and from where on.
    pub paging: Paging,
}

impl ListTasks {
    /// All tasks of this scope.
    pub fn new(scope: TaskScope) -> Self {
        Self { scope, paging: Paging::default() }
    }

    /// At most so many.
    pub fn limit(mut self, tasks: usize) -> Self {
        self.paging.limit = Some(tasks);
        self
    }

    /// What follows the reply that gave this cursor.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.paging.cursor = Some(cursor.into());
        self
    }
}

impl From<TaskScope> for ListTasks {
    fn from(scope: TaskScope) -> Self {
        Self::new(scope)
    }
}

impl FromJson for ListTasks {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let name: ScopeName = object.required("scope")?;
        let document: Option<DocumentId> = object.optional("documentId")?;
        let paging = Paging::take(&mut object)?;
        object.finish()?;
        let scope = match (name, document) {
            (ScopeName::Document, Some(document)) => TaskScope::Document(document),
            (ScopeName::Document, None) => {
                return Err(
                    Error::validation("is missing: the scope document needs it").at("documentId")
                );
            }
            (_, Some(_)) => {
                return Err(Error::validation("is only for the scope document").at("documentId"));
            }
            (ScopeName::Active, None) => TaskScope::Active,
            (ScopeName::Upcoming, None) => TaskScope::Upcoming,
            (ScopeName::Inbox, None) => TaskScope::Inbox,
            (ScopeName::Logbook, None) => TaskScope::Logbook,
        };
        Ok(Self { scope, paging })
    }
}

impl Serialize for ListTasks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let name = match self.scope {
            TaskScope::Active => ScopeName::Active,
            TaskScope::Upcoming => ScopeName::Upcoming,
            TaskScope::Inbox => ScopeName::Inbox,
            TaskScope::Logbook => ScopeName::Logbook,
            TaskScope::Document(_) => ScopeName::Document,
        };
        map.serialize_entry("scope", &name)?;
        if let TaskScope::Document(document) = &self.scope {
            map.serialize_entry("documentId", document)?;
        }
        self.paging.write(&mut map)?;
        map.end()
    }
}

/// Where a task is to be. As JSON: `{"type": "inbox"}`, `{"type": "dailyNote", "date": "today"}`
/// (the date is today's if it is left out) or `{"type": "document", "documentId": ".."}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TaskDestination {
    /// In the inbox.
    #[default]
    Inbox,
    /// In the daily note of this day, which is made if there is none.
    DailyNote(DayRef),
    /// In this document.
    Document(DocumentId),
}

impl From<DocumentId> for TaskDestination {
    fn from(document: DocumentId) -> Self {
        Self::Document(document)
    }
}

impl FromJson for TaskDestination {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let name: PlaceName = object.required("type")?;
        let day: Option<DayRef> = object.optional("date")?;
        let document: Option<DocumentId> = object.optional("documentId")?;
        object.finish()?;
        if day.is_some() && name != PlaceName::DailyNote {
            return Err(Error::validation("is only for the type dailyNote").at("date"));
        }
        if document.is_some() && name != PlaceName::Document {
            return Err(Error::validation("is only for the type document").at("documentId"));
        }
        Ok(match name {
            PlaceName::Inbox => Self::Inbox,
            PlaceName::DailyNote => Self::DailyNote(day.unwrap_or(DayRef::Today)),
            PlaceName::Document => Self::Document(
                document.ok_or_else(|| Error::validation("is missing").at("documentId"))?,
            ),
        })
    }
}

impl Serialize for TaskDestination {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Inbox => map.serialize_entry("type", &PlaceName::Inbox)?,
            Self::DailyNote(day) => {
                map.serialize_entry("type", &PlaceName::DailyNote)?;
                map.serialize_entry("date", day)?;
            }
            Self::Document(document) => {
                map.serialize_entry("type", &PlaceName::Document)?;
                map.serialize_entry("documentId", document)?;
            }
        }
        map.end()
    }
}

/// A task that is to be made. As JSON: `{"markdown": "..", "taskInfo": {"scheduleDate":
/// "tomorrow"}, "location": {"type": "inbox"}}`; without a location it goes to the inbox.
///
/// ```
/// use leafbase_model::{DayRef, TaskDestination, TaskDraft};
/// let request: TaskDraft = serde_json::from_str(
///     r#"{"markdown": "call Ana", "taskInfo": {"deadlineDate": "tomorrow"}, "location": {"type": "dailyNote", "date": "today"}}"#,
/// )?;
/// assert_eq!(request, TaskDraft::new("call Ana").due(DayRef::Tomorrow).at(TaskDestination::DailyNote(DayRef::Today)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskDraft {
    /// What is to be done: inline markdown.
    pub markdown: String,
    /// Its state and days.
    pub info: TaskPatch,
    /// Where it goes: to the top of this place.
    pub location: TaskDestination,
}

impl TaskDraft {
    /// An open task without days, for the inbox.
    pub fn new(markdown: impl Into<String>) -> Self {
        Self { markdown: markdown.into(), ..Self::default() }
    }

    /// The same task, to go here.
    pub fn at(mut self, location: impl Into<TaskDestination>) -> Self {
        self.location = location.into();
        self
    }

    /// The same task, planned for this day.
    pub fn scheduled(mut self, day: impl Into<DayRef>) -> Self {
        self.info.schedule_date = Some(Some(day.into()));
        self
    }

    /// The same task, to be done by this day.
    pub fn due(mut self, day: impl Into<DayRef>) -> Self {
        self.info.deadline_date = Some(Some(day.into()));
        self
    }
}

impl FromJson for TaskDraft {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            markdown: object.required("markdown")?,
            info: object.optional("taskInfo")?.unwrap_or_default(),
            location: object.optional("location")?.unwrap_or_default(),
        };
        object.finish()?;
        Ok(read)
    }
}

impl Serialize for TaskDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("markdown", &self.markdown)?;
        given(&mut map, "taskInfo", (self.info != TaskPatch::default()).then_some(&self.info))?;
        map.serialize_entry("location", &self.location)?;
        map.end()
    }
}

/// Makes tasks, each at the top of its place; those for the same place keep the order of the
/// request. As JSON: `{"tasks": [{"markdown": ".."}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct AddTasks {
    /// The tasks.
    pub tasks: Vec<TaskDraft>,
}

impl AddTasks {
    /// Makes these tasks.
    pub fn new(tasks: impl IntoIterator<Item = TaskDraft>) -> Self {
        Self { tasks: tasks.into_iter().collect() }
    }
}

impl FromJson for AddTasks {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let tasks = object.required("tasks")?;
        object.finish()?;
        Ok(Self { tasks })
    }
}

/// A change to a task: what is not given stays. As JSON: `{"id": "..", "markdown": "..",
/// "taskInfo": {"state": "done"}, "location": {..}}`.
///
/// ```
/// use leafbase_model::{BlockId, DocumentId, TaskState, TaskUpdate};
/// # let (call, trip) = (BlockId::NIL, DocumentId::NIL);
/// let change = TaskUpdate::of(call).with_state(TaskState::Done).with_deadline_date(None).moved_to(trip);
/// let json = serde_json::json!({
///     "id": call,
///     "taskInfo": {"state": "done", "deadlineDate": null},
///     "location": {"type": "document", "documentId": trip},
/// });
/// assert_eq!(serde_json::to_value(change)?, json);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskUpdate {
    /// The task.
    pub id: BlockId,
    /// What is to be done.
    pub markdown: Option<String>,
    /// Its state and days.
    pub info: TaskPatch,
    /// Where it goes, with all below it: to the top of this place. A task that is there already
    /// stays where it is.
    pub location: Option<TaskDestination>,
}

impl TaskUpdate {
    /// A change of nothing yet.
    pub fn of(id: BlockId) -> Self {
        Self { id, ..Self::default() }
    }

    /// The same change with this text, too.
    pub fn with_markdown(mut self, markdown: impl Into<String>) -> Self {
        self.markdown = Some(markdown.into());
        self
    }

    /// The same change with this state, too.
    pub fn with_state(mut self, state: crate::TaskState) -> Self {
        self.info.state = Some(state);
        self
    }

    /// The same change with this day that it is planned for, or none, too.
    pub fn with_schedule_date(mut self, day: impl Into<Option<DayRef>>) -> Self {
        self.info.schedule_date = Some(day.into());
        self
    }

    /// The same change with this day that it must be done by, or none, too.
    pub fn with_deadline_date(mut self, day: impl Into<Option<DayRef>>) -> Self {
        self.info.deadline_date = Some(day.into());
        self
    }

    /// The same change with a move to this place, too.
    pub fn moved_to(mut self, location: impl Into<TaskDestination>) -> Self {
        self.location = Some(location.into());
        self
    }
}

impl FromJson for TaskUpdate {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            id: object.required("id")?,
            markdown: object.optional("markdown")?,
            info: object.optional("taskInfo")?.unwrap_or_default(),
            location: object.optional("location")?,
        };
        object.finish()?;
        Ok(read)
    }
}

impl Serialize for TaskUpdate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        given(&mut map, "markdown", self.markdown.as_ref())?;
        given(&mut map, "taskInfo", (self.info != TaskPatch::default()).then_some(&self.info))?;
        given(&mut map, "location", self.location.as_ref())?;
        map.end()
    }
}

/// Changes tasks. As JSON: `{"tasksToUpdate": [{"id": ".."}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateTasks {
    /// The changes; a task may be named once.
    pub tasks_to_update: Vec<TaskUpdate>,
}

impl UpdateTasks {
    /// These changes.
    pub fn new(tasks: impl IntoIterator<Item = TaskUpdate>) -> Self {
        Self { tasks_to_update: tasks.into_iter().collect() }
    }
}

impl From<TaskUpdate> for UpdateTasks {
    fn from(update: TaskUpdate) -> Self {
        Self::new([update])
    }
}

impl FromJson for UpdateTasks {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let tasks_to_update = object.required("tasksToUpdate")?;
        object.finish()?;
        Ok(Self { tasks_to_update })
    }
}

/// Deletes tasks with all below them. As JSON: `{"idsToDelete": [".."]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeleteTasks {
    /// The tasks.
    pub ids_to_delete: Vec<BlockId>,
}

impl DeleteTasks {
    /// Deletes these tasks.
    pub fn new(tasks: impl IntoIterator<Item = BlockId>) -> Self {
        Self { ids_to_delete: tasks.into_iter().collect() }
    }
}

impl From<BlockId> for DeleteTasks {
    fn from(task: BlockId) -> Self {
        Self::new([task])
    }
}

impl FromJson for DeleteTasks {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let ids = object
            .take("idsToDelete")
            .ok_or_else(|| Error::validation("is missing").at("idsToDelete"))?;
        let ids_to_delete = one_or_many(ids).map_err(|error| error.at("idsToDelete"))?;
        object.finish()?;
        Ok(Self { ids_to_delete })
    }
}

deserialize_through_json!(
    ListTasks,
    TaskDestination,
    TaskDraft,
    AddTasks,
    TaskUpdate,
    UpdateTasks,
    DeleteTasks
);
