//! What makes a block a task.

use crate::json::{nullable, or_default, wire_enum};
use crate::{BlockId, Day, DayRef, DocumentId, Error, Result, TaskDestination, Timestamp};

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
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TaskInfo {
    /// How far it is.
    #[serde(default, deserialize_with = "or_default")]
    pub state: TaskState,
    /// The day it is planned for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule_date: Option<Day>,
    /// The day it must be done by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_date: Option<Day>,
    /// When it was completed; only where the state is `done`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// When it was given up; only where the state is `canceled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(into = "TaskDestination")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(from = "TaskDestination"))]
pub enum TaskLocation {
    /// In the inbox.
    Inbox,
    /// In the daily note of this day.
    DailyNote(Day),
    /// In another document.
    Document(DocumentId),
}

impl From<TaskLocation> for TaskDestination {
    fn from(location: TaskLocation) -> Self {
        match location {
            TaskLocation::Inbox => Self::Inbox,
            TaskLocation::DailyNote(day) => Self::DailyNote(day.into()),
            TaskLocation::Document(document) => Self::Document(document),
        }
    }
}

/// A block that is a task, as the task operations show it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TaskPatch {
    /// `state`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<TaskState>,
    /// `scheduleDate`.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub schedule_date: Option<Option<DayRef>>,
    /// `deadlineDate`.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub deadline_date: Option<Option<DayRef>>,
    /// `completedAt`.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Option<Timestamp>>,
    /// `canceledAt`.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
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
            Err(Error::validation(format!("the state of the task has no {name}")).at(name))
        }
        Some(None) if belongs => Err(Error::validation(format!(
            "the state of the task has {name}: it cannot be cleared"
        ))
        .at(name)),
        Some(given) => Ok(given),
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
