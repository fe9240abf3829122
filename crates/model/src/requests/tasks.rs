//! The task operations.

use super::Paging;
use crate::json::{Refused, is_default, missing_field, one_or_many, or_default};
#[cfg(feature = "schemars")]
use crate::json_schemas::OneOrMany;
use crate::{BlockId, DayRef, DocumentId, Error, Result, TaskPatch};

mod names {
    #![expect(unreachable_pub, reason = "the macro declares public types")]

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
        /// The name of a [`super::TaskDestination`].
        DestinationName {
            /// [`super::TaskDestination::Inbox`].
            #[default]
            Inbox = "inbox",
            /// [`super::TaskDestination::DailyNote`].
            DailyNote = "dailyNote",
            /// [`super::TaskDestination::Document`].
            Document = "document",
        }
    }
}
use names::{DestinationName, ScopeName};

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
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "ListTasksJson", into = "ListTasksJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
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

/// Where a task is to be. As JSON: `{"type": "inbox"}`, `{"type": "dailyNote", "date": "today"}`
/// (the date is today's if it is left out) or `{"type": "document", "documentId": ".."}`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "TaskDestinationJson", into = "TaskDestinationJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TaskDraft {
    /// What is to be done: inline markdown.
    pub markdown: String,
    /// Its state and days.
    #[serde(rename = "taskInfo", default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "is_default")]
    pub info: TaskPatch,
    /// Where it goes: to the top of this place.
    #[serde(default, deserialize_with = "or_default")]
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

/// Makes tasks, each at the top of its place; those for the same place keep the order of the
/// request. As JSON: `{"tasks": [{"markdown": ".."}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TaskUpdate {
    /// The task.
    pub id: BlockId,
    /// What is to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    /// Its state and days.
    #[serde(rename = "taskInfo", default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "is_default")]
    pub info: TaskPatch,
    /// Where it goes, with all below it: to the top of this place. A task that is there already
    /// stays where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// Changes tasks. As JSON: `{"tasksToUpdate": [{"id": ".."}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
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

/// Deletes tasks with all below them. As JSON: `{"idsToDelete": [".."]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct DeleteTasks {
    /// The tasks.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<BlockId>"))]
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

/// The JSON of a [`ListTasks`]: `documentId` exactly with the scope `document`.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(rename = "ListTasks"))]
struct ListTasksJson {
    /// `active`: due today or earlier; `upcoming`: due later; `inbox`; `logbook`: done and canceled
    /// tasks; `document`: all tasks of `documentId`.
    scope: ScopeName,
    /// Exactly with the scope `document`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    document_id: Option<DocumentId>,
    /// The maximum number of items in the reply, 1 or more; all if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
    /// The `nextCursor` of the previous reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

impl From<ListTasks> for ListTasksJson {
    fn from(ListTasks { scope, paging: Paging { limit, cursor } }: ListTasks) -> Self {
        let (scope, document_id) = match scope {
            TaskScope::Active => (ScopeName::Active, None),
            TaskScope::Upcoming => (ScopeName::Upcoming, None),
            TaskScope::Inbox => (ScopeName::Inbox, None),
            TaskScope::Logbook => (ScopeName::Logbook, None),
            TaskScope::Document(document) => (ScopeName::Document, Some(document)),
        };
        Self { scope, document_id, limit, cursor }
    }
}

impl TryFrom<ListTasksJson> for ListTasks {
    type Error = Refused;

    fn try_from(json: ListTasksJson) -> Result<Self, Refused> {
        let scope = match (json.scope, json.document_id) {
            (ScopeName::Document, Some(document)) => TaskScope::Document(document),
            (ScopeName::Document, None) => return Err(missing_field("documentId").into()),
            (_, Some(_)) => {
                let message = "documentId is only for the scope document";
                return Err(Error::validation(message).at("documentId").into());
            }
            (ScopeName::Active, None) => TaskScope::Active,
            (ScopeName::Upcoming, None) => TaskScope::Upcoming,
            (ScopeName::Inbox, None) => TaskScope::Inbox,
            (ScopeName::Logbook, None) => TaskScope::Logbook,
        };
        let paging = Paging { limit: json.limit, cursor: json.cursor };
        paging.check()?;
        Ok(Self { scope, paging })
    }
}

/// The JSON of a [`TaskDestination`].
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(rename = "TaskDestination"))]
struct TaskDestinationJson {
    /// The inbox, a daily note or a document.
    #[serde(rename = "type")]
    name: DestinationName,
    /// The day of a daily note; defaults to today.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    date: Option<DayRef>,
    /// The document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    document_id: Option<DocumentId>,
}

impl From<TaskDestination> for TaskDestinationJson {
    fn from(destination: TaskDestination) -> Self {
        let (name, date, document_id) = match destination {
            TaskDestination::Inbox => (DestinationName::Inbox, None, None),
            TaskDestination::DailyNote(day) => (DestinationName::DailyNote, Some(day), None),
            TaskDestination::Document(document) => {
                (DestinationName::Document, None, Some(document))
            }
        };
        Self { name, date, document_id }
    }
}

impl TryFrom<TaskDestinationJson> for TaskDestination {
    type Error = Refused;

    fn try_from(json: TaskDestinationJson) -> Result<Self, Refused> {
        let TaskDestinationJson { name, date, document_id } = json;
        if date.is_some() && name != DestinationName::DailyNote {
            let message = "date is only for the type dailyNote";
            return Err(Error::validation(message).at("date").into());
        }
        if document_id.is_some() && name != DestinationName::Document {
            let message = "documentId is only for the type document";
            return Err(Error::validation(message).at("documentId").into());
        }
        Ok(match name {
            DestinationName::Inbox => Self::Inbox,
            DestinationName::DailyNote => Self::DailyNote(date.unwrap_or(DayRef::Today)),
            DestinationName::Document => {
                Self::Document(document_id.ok_or_else(|| missing_field("documentId"))?)
            }
        })
    }
}
