//! `leafbase tasks`: what is to be done, and what was.

use clap::{Args, ValueEnum};
use leafbase::{
    BlockId, Connection, Day, Items, ListTasks, Task, TaskScope, TaskState, TaskUpdate, UpdateTasks,
};

use crate::app::App;
use crate::fault::Result;
use crate::names;
use crate::show::{styles, tasks};

/// List tasks, or close them
#[derive(Debug, Args)]
pub(crate) struct Tasks {
    /// Which
    #[arg(default_value = "open")]
    scope: Scope,
    /// The open ones of this document instead
    #[arg(long = "in", value_name = "DOCUMENT", conflicts_with = "scope")]
    document: Option<String>,
    /// These tasks are done
    #[arg(long, value_name = "ID", num_args = 1..)]
    done: Vec<BlockId>,
    /// These tasks are given up
    #[arg(long, value_name = "ID", num_args = 1..)]
    cancel: Vec<BlockId>,
    /// These tasks are open again
    #[arg(long, value_name = "ID", num_args = 1..)]
    reopen: Vec<BlockId>,
    /// At most so many
    #[arg(long, value_name = "TASKS")]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Scope {
    /// Active, upcoming and in the inbox
    Open,
    /// Planned or due today or before
    Active,
    /// Planned or due later
    Upcoming,
    /// In the inbox
    Inbox,
    /// Done and canceled ones, the last first
    Logbook,
}

impl Tasks {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        if !(self.done.is_empty() && self.cancel.is_empty() && self.reopen.is_empty()) {
            return self.change(app);
        }
        let notes = app.reader()?;
        let scopes = match (&self.document, self.scope) {
            (Some(name), _) => vec![("", TaskScope::Document(names::document(&notes, name)?.id()))],
            (None, Scope::Open) => {
                vec![
                    ("Active", TaskScope::Active),
                    ("Upcoming", TaskScope::Upcoming),
                    ("Inbox", TaskScope::Inbox),
                ]
            }
            (None, Scope::Active) => vec![("", TaskScope::Active)],
            (None, Scope::Upcoming) => vec![("", TaskScope::Upcoming)],
            (None, Scope::Inbox) => vec![("", TaskScope::Inbox)],
            (None, Scope::Logbook) => vec![("", TaskScope::Logbook)],
        };
        let mut found: Vec<(&str, Vec<Task>)> = Vec::with_capacity(scopes.len());
        for (name, scope) in scopes {
            let mut tasks = self.list(&notes, scope)?;
            // A task of the inbox may be active, too.
            tasks.retain(|task| {
                !found.iter().flat_map(|(_, tasks)| tasks).any(|known| known.id == task.id)
            });
            found.push((name, tasks));
        }
        if app.common.json {
            return app.out.json(&Items(found.into_iter().flat_map(|(_, tasks)| tasks).collect()));
        }
        show(app, &notes, &found)
    }

    fn list(&self, notes: &Connection, scope: TaskScope) -> Result<Vec<Task>> {
        let request = ListTasks::new(scope);
        let request = match self.limit {
            Some(limit) => request.limit(limit),
            None => request,
        };
        Ok(notes.tasks(request)?.items)
    }

    fn change(&self, app: &mut App) -> Result<()> {
        let notes = app.writer()?;
        let states = [
            (&self.done, TaskState::Done),
            (&self.cancel, TaskState::Canceled),
            (&self.reopen, TaskState::Todo),
        ];
        let updates = states.into_iter().flat_map(|(ids, state)| {
            ids.iter().map(move |id| TaskUpdate::of(*id).with_state(state))
        });
        let changed = notes.update_tasks(UpdateTasks::new(updates))?;
        if app.common.json {
            return app.out.json(&changed);
        }
        tasks::write(&mut app.out, &notes, today(&notes)?, &changed)
    }
}

fn show(app: &mut App, notes: &Connection, found: &[(&str, Vec<Task>)]) -> Result<()> {
    let today = today(notes)?;
    if found.iter().all(|(_, tasks)| tasks.is_empty()) {
        return app.out.line("no tasks");
    }
    let shown = found.iter().filter(|(_, tasks)| !tasks.is_empty());
    for (index, (name, list)) in shown.enumerate() {
        if !name.is_empty() {
            if index > 0 {
                app.out.line("")?;
            }
            app.out.line(app.out.paint(styles::TITLE, name))?;
        }
        tasks::write(&mut app.out, notes, today, list)?;
    }
    Ok(())
}

/// The day that it is in the space.
pub(super) fn today(notes: &Connection) -> Result<Option<Day>> {
    Ok(notes.info()?.space.time.get(..10).and_then(|day| day.parse().ok()))
}
