//! Tasks: what the indexes say of a block that is one.

use leafbase_model::{BlockId, Location, TaskInfo, TaskState, Timestamp};

use crate::keyspaces::{self, day_bytes, time_bytes};

/// Whether the tasks of a document that is kept here are found by their days and in the logbook:
/// those of the trash are gone for the time being, and those of a template are nobody's.
pub(crate) const fn are_listed(location: Location) -> bool {
    !matches!(location, Location::Trash | Location::Templates)
}

/// A task as the indexes sort it. Instants and days are as in keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskEntry {
    /// It is to be done, on this day if it has one.
    Open(Option<[u8; 4]>),
    /// It was done or given up.
    Closed([u8; 8]),
}

impl TaskEntry {
    /// The day is the one it is planned for, or else the one it must be done by. A closed task
    /// without a stamp is the oldest.
    pub(crate) fn of(task: &TaskInfo) -> Self {
        let TaskInfo { state, schedule_date, deadline_date, completed_at, canceled_at } = *task;
        let closed =
            |stamp: Option<Timestamp>| Self::Closed(time_bytes(stamp.unwrap_or(Timestamp::MIN)));
        match state {
            TaskState::Todo => Self::Open(schedule_date.or(deadline_date).map(day_bytes)),
            TaskState::Done => closed(completed_at),
            TaskState::Canceled => closed(canceled_at),
        }
    }

    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// What the row by document holds.
    pub(crate) fn body(&self) -> &[u8] {
        match self {
            Self::Open(None) => &[],
            Self::Open(Some(day)) => day,
            Self::Closed(at) => at,
        }
    }

    /// What [`Self::body`] gave.
    pub(crate) fn read(is_open: bool, body: &[u8]) -> Option<Self> {
        match (is_open, body) {
            (true, []) => Some(Self::Open(None)),
            (true, day) => Some(Self::Open(Some(day.try_into().ok()?))),
            (false, at) => Some(Self::Closed(at.try_into().ok()?)),
        }
    }

    /// The row by day or of the logbook that the task has where tasks are listed.
    pub(crate) fn listed(self, block: BlockId) -> Option<Vec<u8>> {
        match self {
            Self::Open(day) => day.map(|day| keyspaces::task_by_day(day, block).to_vec()),
            Self::Closed(at) => Some(keyspaces::logged_task(at, block).to_vec()),
        }
    }
}
