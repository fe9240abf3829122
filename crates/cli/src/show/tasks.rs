//! Tasks, one line each: state, text, days, location, ID.

use std::collections::HashMap;

use leafbase::{Connection, Day, DocumentId, Task, TaskLocation, TaskState};

use super::blocks::task_mark;
use super::table::{self, Cell};
use super::{line, styles};
use crate::error::CliResult;
use crate::out::Out;

/// Writes the tasks; `today` determines which are overdue. They are numbered from `first`.
pub(crate) fn write(
    out: &mut Out,
    notes: &Connection,
    today: Day,
    tasks: &[Task],
    first: Option<usize>,
) -> CliResult<()> {
    let mut titles = HashMap::new();
    let mut rows = Vec::with_capacity(tasks.len());
    for (index, task) in tasks.iter().enumerate() {
        let place = place(notes, &mut titles, task.location)?;
        let closed = task.info.state != TaskState::Todo;
        let text = format!("{}{}", task_mark(task.info.state), line::first(&task.inline));
        let number = first.map(|first| Cell::new(format!("{:>2}", first + index)));
        let cells = [
            Cell::styled(task.id.to_string(), styles::QUIET),
            if closed { Cell::styled(text, styles::QUIET) } else { Cell::new(text) },
            days(task, today),
            Cell::styled(place, styles::QUIET),
        ];
        rows.push(number.into_iter().chain(cells).collect());
    }
    table::write(out, &rows)
}

fn days(task: &Task, today: Day) -> Cell {
    let (planned, due) = (task.info.schedule_date, task.info.deadline_date);
    let text = match (planned, due) {
        (None, None) => String::new(),
        (Some(planned), None) => planned.to_string(),
        (None, Some(due)) => format!("due {due}"),
        (Some(planned), Some(due)) => format!("{planned}, due {due}"),
    };
    let is_open = task.info.state == TaskState::Todo;
    let is_late = is_open && due.or(planned).is_some_and(|day| day < today);
    if is_late { Cell::styled(text, styles::LATE) } else { Cell::new(text) }
}

fn place(
    notes: &Connection,
    titles: &mut HashMap<DocumentId, String>,
    location: TaskLocation,
) -> CliResult<String> {
    Ok(match location {
        TaskLocation::Inbox => "inbox".to_owned(),
        TaskLocation::DailyNote(day) => day.to_string(),
        TaskLocation::Document(document) => {
            if let Some(title) = titles.get(&document) {
                return Ok(title.clone());
            }
            let title = notes.document(document)?.title;
            titles.insert(document, title.clone());
            title
        }
    })
}
