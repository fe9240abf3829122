//! `leafbase today`: the note of the day, and its tasks.

use clap::Args;
use leafbase::{Block, ErrorKind, Fetch, Task, TaskScope};

use super::tasks::today;
use crate::app::App;
use crate::fault::Result;
use crate::show::{styles, tasks};

/// Show today's note and the active tasks
#[derive(Debug, Args)]
pub(crate) struct Today {}

#[derive(serde::Serialize)]
struct Shown {
    note: Option<Block>,
    tasks: Vec<Task>,
}

impl Today {
    pub(crate) fn run(app: &mut App) -> Result<()> {
        let notes = app.reader()?;
        let note = match notes.fetch(Fetch::today()) {
            Ok(note) => Some(note),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let active = notes.tasks(TaskScope::Active)?.items;
        if app.common.json {
            return app.out.json(&Shown { note, tasks: active });
        }
        let title = notes.info()?.space.friendly_date;
        app.out.line(app.out.paint(styles::TITLE, title))?;
        match &note {
            Some(note) => {
                let text = notes.content_markdown(note.id)?;
                app.out.text(&format!("\n{text}"))?;
            }
            None => app.out.line("\nnothing yet: leafbase add TEXT")?,
        }
        if active.is_empty() {
            return Ok(());
        }
        app.out.line(format_args!("\n{}", app.out.paint(styles::TITLE, "Active tasks")))?;
        tasks::write(&mut app.out, &notes, today(&notes)?, &active)
    }
}
