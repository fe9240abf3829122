//! What makes a block a task.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::json::{FromJson, Object, deserialize_through_json, wire_enum};
use crate::{BlockId, Day, DayRef, DocumentId, Error, Result, Timestamp};

wire_enum! {
    /// How far a task is.
    TaskState {
        /// Open.
        #[default]
        Todo = "todo",
        /// Completed.
        Done = "done",
        /// Given up.
        Canceled = "canceled",
    }
}

/// The task that a block is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TaskInfo {
    /// How far it is.
    pub state: TaskState,
    /// The day it is planned for.
    pub schedule_date: Option<Day>,
    /// The day it must be done by.
    pub deadline_date: Option<Day>,
    /// When it was completed; only where the state is `done`.
    pub completed_at: Option<Timestamp>,
    /// When it was given up; only where the state is `canceled`.
    pub canceled_at: Option<Timestamp>,
}

impl TaskInfo {
    /// An unplanned task of this state, without a stamp.
    pub fn of_state(state: TaskState) -> Self {
        Self { state, ..Self::default() }
    }

    /// The same task with the stamps that its state asks for: the state's own is set to `now`
    /// unless it has one already, the other one is cleared (DECISIONS, "Task state changes").
    pub fn stamped(self, now: Timestamp) -> Self {
        let (completed_at, canceled_at) = match self.state {
            TaskState::Todo => (None, None),
            TaskState::Done => (Some(self.completed_at.unwrap_or(now)), None),
            TaskState::Canceled => (None, Some(self.canceled_at.unwrap_or(now))),
        };
        Self { completed_at, canceled_at, ..self }
    }
}

impl Serialize for TaskInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("state", &self.state)?;
        for (name, day) in
            [("scheduleDate", self.schedule_date), ("deadlineDate", self.deadline_date)]
        {
            if let Some(day) = day {
                map.serialize_entry(name, &day)?;
            }
        }
        for (name, instant) in
            [("completedAt", self.completed_at), ("canceledAt", self.canceled_at)]
        {
            if let Some(instant) = instant {
                map.serialize_entry(name, &instant)?;
            }
        }
        map.end()
    }
}

impl FromJson for TaskInfo {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            state: object.optional("state")?.unwrap_or_default(),
            schedule_date: object.nullable("scheduleDate")?.flatten(),
            deadline_date: object.nullable("deadlineDate")?.flatten(),
            completed_at: object.nullable("completedAt")?.flatten(),
            canceled_at: object.nullable("canceledAt")?.flatten(),
        };
        object.finish()?;
        Ok(read)
    }
}

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskLocation {
    /// In the inbox.
    Inbox,
    /// In the daily note of this day.
    DailyNote(Day),
    /// In another document.
    Document(DocumentId),
}

impl Serialize for TaskLocation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Inbox => map.serialize_entry("type", "inbox")?,
            Self::DailyNote(day) => {
                map.serialize_entry("type", "dailyNote")?;
                map.serialize_entry("date", day)?;
            }
            Self::Document(document) => {
                map.serialize_entry("type", "document")?;
                map.serialize_entry("documentId", document)?;
            }
        }
        map.end()
    }
}

/// A block that is a task, as the task operations show it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Task {
    /// The block's ID.
    pub id: BlockId,
    /// What is to be done: the block's markdown.
    pub markdown: String,
    /// Its state and days.
    #[serde(rename = "taskInfo")]
    pub info: TaskInfo,
    /// Where it is.
    pub location: TaskLocation,
}

/// A change to a task, as the `taskInfo` of a request: what is given changes, `null` clears, the
/// rest stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskPatch {
    /// `state`.
    pub state: Option<TaskState>,
    /// `scheduleDate`.
    pub schedule_date: Option<Option<DayRef>>,
    /// `deadlineDate`.
    pub deadline_date: Option<Option<DayRef>>,
    /// `completedAt`.
    pub completed_at: Option<Option<Timestamp>>,
    /// `canceledAt`.
    pub canceled_at: Option<Option<Timestamp>>,
}

impl TaskPatch {
    /// Gives the days that are named relative to the present as the dates that `resolve` finds.
    ///
    /// # Errors
    /// Those of `resolve`, with the field's name as path.
    pub fn resolve_days(&mut self, mut resolve: impl FnMut(DayRef) -> Result<Day>) -> Result<()> {
        let days =
            [("scheduleDate", &mut self.schedule_date), ("deadlineDate", &mut self.deadline_date)];
        for (name, day) in days {
            if let Some(Some(day)) = day {
                *day = DayRef::Date(resolve(*day).map_err(|error| error.at(name))?);
            }
        }
        Ok(())
    }

    /// Takes out the days that are relative to the present; none if no day is.
    pub(crate) fn take_relative(&mut self) -> Option<Self> {
        let take = |day: &mut Option<Option<DayRef>>| match day {
            Some(Some(DayRef::Date(_)) | None) | None => None,
            Some(Some(_)) => day.take(),
        };
        let (schedule_date, deadline_date) =
            (take(&mut self.schedule_date), take(&mut self.deadline_date));
        let relative = Self { schedule_date, deadline_date, ..Self::default() };
        (relative != Self::default()).then_some(relative)
    }

    /// Puts what is given onto `task`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] with the field's name as path for a day that is still
    /// relative to the present, a stamp that the task's state has none of, and a `null` for the one
    /// that it has.
    pub fn apply(self, task: &mut TaskInfo) -> Result<()> {
        let date = |name: &str, day: Option<DayRef>| match day {
            None => Ok(None),
            Some(DayRef::Date(day)) => Ok(Some(day)),
            Some(day) => {
                Err(Error::validation(format!("expected a day YYYY-MM-DD, got \"{day}\"")).at(name))
            }
        };
        task.state = self.state.unwrap_or(task.state);
        if let Some(day) = self.schedule_date {
            task.schedule_date = date("scheduleDate", day)?;
        }
        if let Some(day) = self.deadline_date {
            task.deadline_date = date("deadlineDate", day)?;
        }
        task.completed_at = stamp(
            "completedAt",
            self.completed_at,
            task.completed_at,
            task.state == TaskState::Done,
        )?;
        task.canceled_at = stamp(
            "canceledAt",
            self.canceled_at,
            task.canceled_at,
            task.state == TaskState::Canceled,
        )?;
        Ok(())
    }
}

/// A stamp after it is given, cleared or left: a state has its own one, and no other. The one that
/// the task has is no wish.
#[expect(clippy::option_option, reason = "not given, cleared, given: the three cases of JSON")]
fn stamp(
    name: &str,
    given: Option<Option<Timestamp>>,
    present: Option<Timestamp>,
    belongs: bool,
) -> Result<Option<Timestamp>> {
    match given {
        None => Ok(present),
        // The task came from a reply and is sent back with another state: its old stamp goes with
        // the old state.
        Some(Some(_)) if !belongs && given == Some(present) => Ok(None),
        Some(Some(_)) if !belongs => {
            Err(Error::validation("the task's state has no such stamp").at(name))
        }
        Some(None) if belongs => {
            Err(Error::validation("the task's state has this stamp, it cannot be cleared").at(name))
        }
        Some(given) => Ok(given),
    }
}

impl FromJson for TaskPatch {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            state: object.optional("state")?,
            schedule_date: object.nullable("scheduleDate")?,
            deadline_date: object.nullable("deadlineDate")?,
            completed_at: object.nullable("completedAt")?,
            canceled_at: object.nullable("canceledAt")?,
        };
        object.finish()?;
        Ok(read)
    }
}

deserialize_through_json!(TaskInfo, TaskPatch);
