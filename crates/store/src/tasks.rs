//! Tasks: their entries in the indexes.

use leafbase_model::{BlockId, Location, TaskInfo, TaskState, Timestamp};

use crate::keyspaces::{self, day_bytes, time_bytes};

/// Whether listings include the tasks of a document in this location: those in the trash and in
/// templates are excluded.
pub(crate) const fn are_listed(location: Location) -> bool {
    !matches!(location, Location::Trash | Location::Templates)
}

/// A task as its indexes sort it, with instants and days as in keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskEntry {
    /// To do, on this day if it has one.
    Open(Option<[u8; 4]>),
    /// Done or canceled.
    Closed([u8; 8]),
}

impl TaskEntry {
    /// The day is the scheduled one, or else the deadline. A closed task without a time stamp sorts
    /// first.
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

    /// The body of the row by document.
    pub(crate) fn body(&self) -> &[u8] {
        match self {
            Self::Open(None) => &[],
            Self::Open(Some(day)) => day,
            Self::Closed(at) => at,
        }
    }

    /// Decodes [`Self::body`].
    pub(crate) fn read(is_open: bool, body: &[u8]) -> Option<Self> {
        match (is_open, body) {
            (true, []) => Some(Self::Open(None)),
            (true, day) => Some(Self::Open(Some(day.try_into().ok()?))),
            (false, at) => Some(Self::Closed(at.try_into().ok()?)),
        }
    }

    /// The key of the row by day or in the logbook, for documents whose tasks are listed.
    pub(crate) fn listed(self, block: BlockId) -> Vec<u8> {
        match self {
            Self::Open(day) => keyspaces::task_by_day(day, block).to_vec(),
            Self::Closed(at) => keyspaces::logged_task(at, block).to_vec(),
        }
    }
}
