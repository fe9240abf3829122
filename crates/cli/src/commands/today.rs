//! `leafbase today`: shows today's note and the active tasks.

use clap::Args;
use leafbase::{Block, Connection, Day, DayRef, ErrorKind, Fetch, Task, TaskScope};

use crate::context::CommandContext;
use crate::days::{self, SpokenDay};
use crate::error::CliResult;
use crate::show::{styles, tasks};
use crate::task_numbers;

/// Show today's note and the active tasks, or the note and the tasks of another day
///
/// The tasks of another day are the open ones that are scheduled for it or due on it.
#[derive(Debug, Args)]
pub(crate) struct TodayCommand {
    /// The day: yesterday, friday, +3d, "2 weeks ago", 2026-03-01
    #[arg(allow_hyphen_values = true)]
    day: Option<SpokenDay>,
}

#[derive(serde::Serialize)]
struct TodayReply {
    note: Option<Block>,
    tasks: Vec<Task>,
}

impl TodayCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.reader()?;
        let today = days::today(&notes)?;
        let day = self.day.map_or(Ok(today), |day| day.date(today))?;
        let note = match notes.fetch(Fetch::day(DayRef::Date(day))) {
            Ok(note) => Some(note),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let listed = tasks_of(&notes, day, day == today)?;
        if context.options.json {
            return context.out.json(&TodayReply { note, tasks: listed });
        }
        task_numbers::remember(context, &notes, listed.iter())?;
        context.out.line(context.out.paint(styles::TITLE, days::in_words(day)))?;
        match &note {
            Some(note) => {
                let text = notes.content_markdown(note.id)?;
                context.out.text(&format!("\n{text}"))?;
            }
            None if day == today => context.out.line("\nno entries yet: leafbase add TEXT")?,
            None => {
                context.out.line(format_args!("\nno entries yet: leafbase add --to {day} TEXT"))?;
            }
        }
        if listed.is_empty() {
            return Ok(());
        }
        let heading = if day == today { "Active tasks" } else { "Tasks" };
        context.out.line(format_args!("\n{}", context.out.paint(styles::TITLE, heading)))?;
        tasks::write(&mut context.out, &notes, today, &listed, Some(1))
    }
}

fn tasks_of(notes: &Connection, day: Day, is_today: bool) -> CliResult<Vec<Task>> {
    if is_today {
        return Ok(notes.tasks(TaskScope::Active)?.items);
    }
    let is_of_day =
        |task: &Task| task.info.schedule_date == Some(day) || task.info.deadline_date == Some(day);
    Ok(notes.tasks(TaskScope::Open)?.items.into_iter().filter(is_of_day).collect())
}
