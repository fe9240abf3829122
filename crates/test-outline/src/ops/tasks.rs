//! Random requests on tasks.

use leafbase_model::{
    AddTasks, BlockId, Day, DeleteTasks, ListTasks, Location, TaskDestination, TaskDraft,
    TaskPatch, TaskScope, TaskState, TaskUpdate, Timestamp, UpdateTasks,
};

use super::{Setting, block, blocks, day, document, few};
use crate::Numbers;

/// A request on tasks.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskRequest {
    /// Lists them.
    List(ListTasks),
    /// Makes some.
    Add(AddTasks),
    /// Changes some.
    Update(UpdateTasks),
    /// Deletes some.
    Delete(DeleteTasks),
}

impl TaskRequest {
    pub(super) fn new(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Self {
        let none = !setting.space.blocks().any(|found| found.record.data.task.is_some());
        match numbers.below(8) {
            7 => Self::List(list(numbers, setting)),
            _ if none && !numbers.once_in(12) => {
                Self::Add(AddTasks::new(few(numbers, 3, |n| draft(n, setting))))
            }
            0..=2 => Self::Add(AddTasks::new(few(numbers, 3, |numbers| draft(numbers, setting)))),
            3..=5 => {
                let ids = few(numbers, 3, |numbers| task(numbers, setting));
                let update = |id| update(numbers, setting, id);
                Self::Update(UpdateTasks::new(ids.into_iter().map(update).collect::<Vec<_>>()))
            }
            _ => Self::Delete(DeleteTasks::new(few(numbers, 2, |numbers| task(numbers, setting)))),
        }
    }
}

/// A task; now and then another block.
fn task(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> BlockId {
    block(numbers, setting, |found| found.record.data.task.is_some())
}

fn list(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> ListTasks {
    let document = document(numbers, setting, |_| true);
    let mut request = ListTasks::new(match numbers.below(5) {
        0 => TaskScope::Active,
        1 => TaskScope::Upcoming,
        2 => TaskScope::Inbox,
        3 => TaskScope::Logbook,
        _ => TaskScope::Document(document),
    });
    request.paging.limit = numbers.pick(&[None, Some(1), Some(2), Some(3)]);
    request
}

fn draft(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> TaskDraft {
    let today = setting.today.expect("a task is made on some day");
    let (markdown, info) = (blocks::text(numbers, setting), patch(numbers, today));
    TaskDraft { markdown, info, location: place(numbers, setting, today) }
}

fn place(numbers: &mut Numbers<'_>, setting: Setting<'_>, today: Day) -> TaskDestination {
    match numbers.below(3) {
        0 => TaskDestination::Inbox,
        1 => TaskDestination::DailyNote(day(numbers, today)),
        _ => TaskDestination::Document(document(numbers, setting, |found| {
            found.record.location != Location::Trash
        })),
    }
}

fn update(numbers: &mut Numbers<'_>, setting: Setting<'_>, id: BlockId) -> TaskUpdate {
    let today = setting.today.expect("a task is changed on some day");
    TaskUpdate {
        rev: None,
        id,
        markdown: numbers.once_in(4).then(|| blocks::text_for(numbers, setting, id)),
        info: patch(numbers, today),
        location: numbers.once_in(3).then(|| place(numbers, setting, today)),
    }
}

/// Days, a state, now and then a stamp that may not fit the state.
pub(super) fn patch(numbers: &mut Numbers<'_>, today: Day) -> TaskPatch {
    let mut patch = TaskPatch {
        state: numbers.once_in(2).then(|| numbers.pick(TaskState::ALL)),
        ..TaskPatch::default()
    };
    for date in [&mut patch.schedule_date, &mut patch.deadline_date] {
        match numbers.below(4) {
            0 | 1 => *date = Some(Some(day(numbers, today))),
            2 if numbers.once_in(3) => *date = Some(None),
            _ => {}
        }
    }
    if numbers.once_in(16) {
        let hours = i64::try_from(numbers.below(72)).unwrap_or(0);
        let at = Timestamp::from_millis(today.epoch_days() * 86_400_000 + hours * 3_600_000);
        patch.completed_at = Some((!numbers.once_in(4)).then_some(at));
    }
    patch
}
