//! `leafbase tasks`: lists tasks and changes their state.

use clap::{Args, ValueEnum};
use leafbase::{
    BlockId, Connection, Day, Items, ListTasks, Task, TaskScope, TaskState, TaskUpdate, UpdateTasks,
};

use crate::context::CommandContext;
use crate::error::CliResult;
use crate::names;
use crate::show::{styles, tasks};

/// List tasks, or change their state
#[derive(Debug, Args)]
pub(crate) struct TasksCommand {
    /// The tasks to list
    #[arg(default_value = "open")]
    scope: TaskView,
    /// List the open tasks of this document instead
    #[arg(long = "in", value_name = "DOCUMENT", conflicts_with = "scope")]
    document: Option<String>,
    /// Mark these tasks as done
    #[arg(long, value_name = "ID", num_args = 1..)]
    done: Vec<BlockId>,
    /// Mark these tasks as canceled
    #[arg(long, value_name = "ID", num_args = 1..)]
    cancel: Vec<BlockId>,
    /// Mark these tasks as open again
    #[arg(long, value_name = "ID", num_args = 1..)]
    reopen: Vec<BlockId>,
    /// Maximum number of tasks
    #[arg(long, value_name = "TASKS")]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TaskView {
    /// Active, upcoming and in the inbox
    Open,
    /// Scheduled or due today or earlier
    Active,
    /// Scheduled or due later
    Upcoming,
    /// In the inbox
    Inbox,
    /// Done and canceled tasks, most recent first
    Logbook,
}

impl TasksCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        if !(self.done.is_empty() && self.cancel.is_empty() && self.reopen.is_empty()) {
            return self.change(context);
        }
        let notes = context.reader()?;
        let scopes = match (&self.document, self.scope) {
            (Some(name), _) => vec![("", TaskScope::Document(names::document(&notes, name)?.id()))],
            (None, TaskView::Open) => {
                vec![
                    ("Active", TaskScope::Active),
                    ("Upcoming", TaskScope::Upcoming),
                    ("Inbox", TaskScope::Inbox),
                ]
            }
            (None, TaskView::Active) => vec![("", TaskScope::Active)],
            (None, TaskView::Upcoming) => vec![("", TaskScope::Upcoming)],
            (None, TaskView::Inbox) => vec![("", TaskScope::Inbox)],
            (None, TaskView::Logbook) => vec![("", TaskScope::Logbook)],
        };
        let mut found: Vec<(&str, Vec<Task>)> = Vec::with_capacity(scopes.len());
        for (name, scope) in scopes {
            let mut tasks = self.list(&notes, scope)?;
            // A task in the inbox may be active, too: it is listed once.
            tasks.retain(|task| {
                !found.iter().flat_map(|(_, tasks)| tasks).any(|known| known.id == task.id)
            });
            found.push((name, tasks));
        }
        if context.options.json {
            return context
                .out
                .json(&Items(found.into_iter().flat_map(|(_, tasks)| tasks).collect()));
        }
        show(context, &notes, &found)
    }

    fn list(&self, notes: &Connection, scope: TaskScope) -> CliResult<Vec<Task>> {
        let request = ListTasks::new(scope);
        let request = match self.limit {
            Some(limit) => request.limit(limit),
            None => request,
        };
        Ok(notes.tasks(request)?.items)
    }

    fn change(&self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.writer()?;
        let states = [
            (&self.done, TaskState::Done),
            (&self.cancel, TaskState::Canceled),
            (&self.reopen, TaskState::Todo),
        ];
        let updates = states.into_iter().flat_map(|(ids, state)| {
            ids.iter().map(move |id| TaskUpdate::of(*id).with_state(state))
        });
        let changed = notes.update_tasks(UpdateTasks::new(updates))?;
        if context.options.json {
            return context.out.json(&changed);
        }
        tasks::write(&mut context.out, &notes, today(&notes)?, &changed)
    }
}

fn show(
    context: &mut CommandContext,
    notes: &Connection,
    found: &[(&str, Vec<Task>)],
) -> CliResult<()> {
    let today = today(notes)?;
    if found.iter().all(|(_, tasks)| tasks.is_empty()) {
        return context.out.line("no tasks");
    }
    let shown = found.iter().filter(|(_, tasks)| !tasks.is_empty());
    for (index, (name, list)) in shown.enumerate() {
        if !name.is_empty() {
            if index > 0 {
                context.out.line("")?;
            }
            context.out.line(context.out.paint(styles::TITLE, name))?;
        }
        tasks::write(&mut context.out, notes, today, list)?;
    }
    Ok(())
}

/// The current day in the time zone of the space.
pub(super) fn today(notes: &Connection) -> CliResult<Option<Day>> {
    Ok(notes.info()?.space.time.get(..10).and_then(|day| day.parse().ok()))
}
