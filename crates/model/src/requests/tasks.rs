//! Requests of the task operations.

use super::Paging;
use crate::json::{ReadOnlyField, Refused, is_default, missing_field, one_or_many, or_default};
#[cfg(feature = "schemars")]
use crate::json_schemas::OneOrMany;
use crate::{BlockId, DayRef, DocumentId, Error, Result, TaskDestination, TaskPatch};

mod names {
    #![expect(unreachable_pub, reason = "the macro declares public types")]

    use crate::json::wire_enum;

    wire_enum! {
        /// The name of a [`super::TaskScope`].
        ScopeName {
            /// [`super::TaskScope::Open`].
            #[default]
            Open = "open",
            /// [`super::TaskScope::Active`].
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
}
use names::ScopeName;

/// Selects the tasks to list. Tasks of documents in the trash appear in the scope of their document
/// only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TaskScope {
    /// All open tasks: those with a schedule day or else a deadline by that day, earliest first,
    /// then those without one.
    #[default]
    Open,
    /// Open tasks due today or earlier by schedule day, else deadline; earliest first.
    Active,
    /// Open tasks due after today by schedule day, else deadline; earliest first.
    Upcoming,
    /// Open tasks of the inbox in document order, the latest first.
    Inbox,
    /// Done and canceled tasks of all documents, newest first.
    Logbook,
    /// All tasks of a document, in document order.
    Document(DocumentId),
}

/// Lists tasks. As JSON: `{"scope": "document", "documentId": "..", "limit": 50, "cursor": ".."}`;
/// `documentId` exactly with the scope `document`. Without a scope all open tasks are listed.
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
#[non_exhaustive]
pub struct ListTasks {
    /// The scope.
    pub scope: TaskScope,
    /// The page of the list.
    pub paging: Paging,
}

impl ListTasks {
    /// All tasks of this scope.
    pub fn new(scope: TaskScope) -> Self {
        Self { scope, paging: Paging::default() }
    }

    /// Limits the number of tasks.
    pub fn limit(mut self, tasks: usize) -> Self {
        self.paging.limit = Some(tasks);
        self
    }

    /// Continues at the cursor of the previous reply.
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

/// A task to add. As JSON: `{"markdown": "..", "taskInfo": {"scheduleDate": "tomorrow"},
/// "location": {"type": "inbox"}}`; the location defaults to the inbox. A task of a reply is one to
/// add as well, with an ID of its own.
///
/// ```
/// use leafbase_model::{DayRef, TaskDestination, TaskDraft};
/// let request: TaskDraft = serde_json::from_str(
///     r#"{"markdown": "call Ana", "taskInfo": {"deadlineDate": "tomorrow"},
///         "location": {"type": "dailyNote"}}"#,
/// )?;
/// let today = TaskDestination::DailyNote(DayRef::Today);
/// assert_eq!(request, TaskDraft::new("call Ana").due(DayRef::Tomorrow).at(today));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(from = "TaskDraftJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TaskDraft {
    /// The text: inline markdown.
    pub markdown: String,
    /// State and days.
    #[serde(rename = "taskInfo", skip_serializing_if = "is_default")]
    pub info: TaskPatch,
    /// The location, at whose top the task is inserted.
    pub location: TaskDestination,
}

/// The JSON of a [`TaskDraft`], with the read-only fields of replies.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "TaskDraft"))]
#[expect(dead_code, reason = "read-only fields are accepted and ignored")]
struct TaskDraftJson {
    /// The text: inline markdown.
    markdown: String,
    /// State and days.
    #[serde(default, deserialize_with = "or_default")]
    task_info: TaskPatch,
    /// The location, at whose top the task is inserted.
    #[serde(default, deserialize_with = "or_default")]
    location: TaskDestination,
    #[serde(default)]
    id: ReadOnlyField,
    #[serde(default)]
    rev: ReadOnlyField,
}

impl From<TaskDraftJson> for TaskDraft {
    fn from(TaskDraftJson { markdown, task_info, location, .. }: TaskDraftJson) -> Self {
        Self { markdown, info: task_info, location }
    }
}

impl TaskDraft {
    /// An open task without days, for the inbox.
    pub fn new(markdown: impl Into<String>) -> Self {
        Self { markdown: markdown.into(), ..Self::default() }
    }

    /// Sets the location.
    pub fn at(mut self, location: impl Into<TaskDestination>) -> Self {
        self.location = location.into();
        self
    }

    /// Sets the schedule date.
    pub fn scheduled(mut self, day: impl Into<DayRef>) -> Self {
        self.info.schedule_date = Some(Some(day.into()));
        self
    }

    /// Sets the deadline.
    pub fn due(mut self, day: impl Into<DayRef>) -> Self {
        self.info.deadline_date = Some(Some(day.into()));
        self
    }
}

/// Adds tasks at the top of their locations; tasks for one location keep the order of the request.
/// As JSON: `{"tasks": [{"markdown": ".."}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct AddTasks {
    /// The tasks.
    pub tasks: Vec<TaskDraft>,
}

impl AddTasks {
    /// Adds these tasks.
    pub fn new(tasks: impl IntoIterator<Item = TaskDraft>) -> Self {
        Self { tasks: tasks.into_iter().collect() }
    }
}

/// An update of a task: absent fields stay unchanged. As JSON: `{"id": "..", "markdown": "..",
/// "taskInfo": {"state": "done"}, "location": {..}}`.
///
/// ```
/// use leafbase_model::{BlockId, DocumentId, TaskState, TaskUpdate};
/// # let (call, trip) = (BlockId::NIL, DocumentId::NIL);
/// let change = TaskUpdate::of(call).with_state(TaskState::Done);
/// let change = change.with_deadline_date(None).moved_to(trip);
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
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
pub struct TaskUpdate {
    /// The task.
    pub id: BlockId,
    /// The expected revision of the task, for optimistic concurrency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<u64>,
    /// The new text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    /// The patch of state and days.
    #[serde(rename = "taskInfo", default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "is_default")]
    pub info: TaskPatch,
    /// The new location, to whose top the task moves with its descendants. A task that is there
    /// already stays in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<TaskDestination>,
}

impl TaskUpdate {
    /// An update that changes nothing yet.
    pub fn of(id: BlockId) -> Self {
        Self { id, ..Self::default() }
    }

    /// Sets the text.
    pub fn with_markdown(mut self, markdown: impl Into<String>) -> Self {
        self.markdown = Some(markdown.into());
        self
    }

    /// Sets the state.
    pub fn with_state(mut self, state: crate::TaskState) -> Self {
        self.info.state = Some(state);
        self
    }

    /// Sets or clears the schedule date.
    pub fn with_schedule_date(mut self, day: impl Into<Option<DayRef>>) -> Self {
        self.info.schedule_date = Some(day.into());
        self
    }

    /// Sets or clears the deadline.
    pub fn with_deadline_date(mut self, day: impl Into<Option<DayRef>>) -> Self {
        self.info.deadline_date = Some(day.into());
        self
    }

    /// Makes the update conditional on this revision.
    pub fn if_rev(mut self, rev: u64) -> Self {
        self.rev = Some(rev);
        self
    }

    /// Moves the task to this location.
    pub fn moved_to(mut self, location: impl Into<TaskDestination>) -> Self {
        self.location = Some(location.into());
        self
    }
}

/// Updates tasks. As JSON: `{"tasksToUpdate": [{"id": ".."}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct UpdateTasks {
    /// The updates, at most one per task.
    pub tasks_to_update: Vec<TaskUpdate>,
}

impl UpdateTasks {
    /// Applies these updates.
    pub fn new(tasks: impl IntoIterator<Item = TaskUpdate>) -> Self {
        Self { tasks_to_update: tasks.into_iter().collect() }
    }
}

impl From<TaskUpdate> for UpdateTasks {
    fn from(update: TaskUpdate) -> Self {
        Self::new([update])
    }
}

/// Deletes tasks with their descendants. As JSON: `{"idsToDelete": [".."]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct DeleteTasks {
    /// The tasks to delete.
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
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "ListTasks"))]
struct ListTasksJson {
    /// `open`, the default: all open tasks; `active`: due today or earlier; `upcoming`: due later;
    /// `inbox`; `logbook`: done and canceled tasks; `document`: all tasks of `documentId`.
    #[serde(default, deserialize_with = "or_default")]
    scope: ScopeName,
    /// Exactly with the scope `document`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    document_id: Option<DocumentId>,
    /// The maximum number of items in the reply, 1 or more; all if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(range(min = 1)))]
    limit: Option<usize>,
    /// The `nextCursor` of the previous reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

impl From<ListTasks> for ListTasksJson {
    fn from(ListTasks { scope, paging: Paging { limit, cursor } }: ListTasks) -> Self {
        let (scope, document_id) = match scope {
            TaskScope::Open => (ScopeName::Open, None),
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
            // Refused rather than ignored: the client expects the tasks of one document.
            (_, Some(_)) => {
                let message = "documentId is only for the scope document";
                return Err(Error::validation(message).at("documentId").into());
            }
            (ScopeName::Open, None) => TaskScope::Open,
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
