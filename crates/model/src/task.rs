//! Tasks: state, days and stamps.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::json::{nullable, or_default, wire_enum};
use crate::{BlockId, Day, DayRef, Error, Result, TaskLocation, Timestamp};

wire_enum! {
    /// The state of a task.
    TaskState {
        /// Open.
        #[default]
        Todo = "todo",
        /// Completed.
        Done = "done",
        /// Canceled.
        Canceled = "canceled",
    }
}

/// State, days and stamps of a task.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
pub struct TaskInfo {
    /// The state.
    #[serde(default, deserialize_with = "or_default")]
    pub state: TaskState,
    /// The day on which the task is scheduled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule_date: Option<Day>,
    /// The deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_date: Option<Day>,
    /// The time of completion; only with the state `done`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// The time of cancellation; only with the state `canceled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canceled_at: Option<Timestamp>,
}

impl TaskInfo {
    /// A task of this state without days and stamps.
    pub fn of_state(state: TaskState) -> Self {
        Self { state, ..Self::default() }
    }

    /// The task with the stamps of its state: the missing stamp is set to `now`, the stamp of the
    /// other state is cleared.
    pub fn stamped(self, now: Timestamp) -> Self {
        let (completed_at, canceled_at) = match self.state {
            TaskState::Todo => (None, None),
            TaskState::Done => (Some(self.completed_at.unwrap_or(now)), None),
            TaskState::Canceled => (None, Some(self.canceled_at.unwrap_or(now))),
        };
        debug_assert!(completed_at.is_none() || canceled_at.is_none(), "one stamp at most");
        Self { completed_at, canceled_at, ..self }
    }
}

/// A task in the replies of the task operations.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Task {
    /// The block ID.
    pub id: BlockId,
    /// The text of the block: inline markdown, without markers.
    #[cfg_attr(feature = "schemars", schemars(rename = "markdown"))]
    pub inline: String,
    /// The block form of the text, `- [ ] call`: the `markdown` of the JSON.
    #[cfg_attr(feature = "schemars", schemars(skip))]
    pub block_form: Option<Box<str>>,
    /// State, days and stamps.
    #[cfg_attr(feature = "schemars", schemars(rename = "taskInfo"))]
    pub info: TaskInfo,
    /// The location.
    pub location: TaskLocation,
    /// The revision of the block.
    pub rev: u64,
}

impl Task {
    /// The `markdown` of the JSON: of a text its block form, `- [ ] call`; of a page its title.
    pub fn markdown(&self) -> &str {
        self.block_form.as_deref().unwrap_or(&self.inline)
    }
}

impl Serialize for Task {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("markdown", self.markdown())?;
        map.serialize_entry("taskInfo", &self.info)?;
        map.serialize_entry("location", &self.location)?;
        map.serialize_entry("rev", &self.rev)?;
        map.end()
    }
}

/// A patch of a task, the `taskInfo` of a request: absent fields stay unchanged, `null` clears a
/// field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
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
    /// Resolves days relative to the present to the dates that `resolve` returns.
    ///
    /// # Errors
    /// Errors of `resolve`, with the field name as path.
    pub fn resolve_days(&mut self, mut resolve: impl FnMut(DayRef) -> Result<Day>) -> Result<()> {
        let days =
            [("scheduleDate", &mut self.schedule_date), ("deadlineDate", &mut self.deadline_date)];
        for (name, day) in days {
            if let Some(Some(day)) = day {
                *day = DayRef::Date(resolve(*day).map_err(|error| error.at(name))?);
            }
        }
        debug_assert!(self.relative_day().is_none(), "every day is a date");
        Ok(())
    }

    /// The first day relative to the present.
    fn relative_day(&self) -> Option<DayRef> {
        let days = [self.schedule_date, self.deadline_date].into_iter().flatten().flatten();
        days.into_iter().find(|day| !matches!(day, DayRef::Date(_)))
    }

    /// Splits off the days relative to the present; `None` if there are none.
    pub(crate) fn take_relative(&mut self) -> Option<Self> {
        let take = |day: &mut Option<Option<DayRef>>| match day {
            Some(Some(DayRef::Date(_)) | None) | None => None,
            Some(Some(_)) => day.take(),
        };
        let (schedule_date, deadline_date) =
            (take(&mut self.schedule_date), take(&mut self.deadline_date));
        debug_assert!(self.relative_day().is_none(), "the remaining days are dates");
        let relative = Self { schedule_date, deadline_date, ..Self::default() };
        (relative != Self::default()).then_some(relative)
    }

    /// Applies the patch to `task`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] with the field name as path for an unresolved day, a stamp
    /// that the state does not have, and a `null` for the stamp of the state.
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
        // The state was set before: it determines which stamp is valid.
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

/// The new value of a stamp: only the stamp of the state can be set, and it cannot be cleared.
/// Repeating the present value is not a change.
#[expect(clippy::option_option, reason = "not given, cleared, given: the three cases of JSON")]
fn stamp(
    name: &str,
    given: Option<Option<Timestamp>>,
    present: Option<Timestamp>,
    belongs: bool,
) -> Result<Option<Timestamp>> {
    match given {
        None => Ok(present),
        // A client sent back a task from a reply with a new state: the stamp of the old state is
        // dropped.
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
    /// The patch that turns any task into this one. Missing stamps are left to the state.
    pub(crate) fn as_patch(self) -> TaskPatch {
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
    /// The composition of two patches: `self`, then `next`.
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
