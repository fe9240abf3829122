//! `leafbase today`: shows today's note and the active tasks.

use clap::Args;
use leafbase::{Block, ErrorKind, Fetch, Task, TaskScope};

use super::tasks::today;
use crate::context::CommandContext;
use crate::error::CliResult;
use crate::show::{styles, tasks};

/// Show today's note and the active tasks
#[derive(Debug, Args)]
pub(crate) struct TodayCommand {}

#[derive(serde::Serialize)]
struct TodayReply {
    note: Option<Block>,
    tasks: Vec<Task>,
}

impl TodayCommand {
    pub(crate) fn run(context: &mut CommandContext) -> CliResult<()> {
        let notes = context.reader()?;
        let note = match notes.fetch(Fetch::today()) {
            Ok(note) => Some(note),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let active = notes.tasks(TaskScope::Active)?.items;
        if context.options.json {
            return context.out.json(&TodayReply { note, tasks: active });
        }
        let title = notes.info()?.space.friendly_date;
        context.out.line(context.out.paint(styles::TITLE, title))?;
        match &note {
            Some(note) => {
                let text = notes.content_markdown(note.id)?;
                context.out.text(&format!("\n{text}"))?;
            }
            None => context.out.line("\nno entries yet: leafbase add TEXT")?,
        }
        if active.is_empty() {
            return Ok(());
        }
        context.out.line(format_args!("\n{}", context.out.paint(styles::TITLE, "Active tasks")))?;
        tasks::write(&mut context.out, &notes, today(&notes)?, &active)
    }
}
