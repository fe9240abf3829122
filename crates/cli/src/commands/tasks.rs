//! `leafbase tasks`: lists tasks and changes their state.

use std::collections::{BTreeMap, HashMap, HashSet};

use clap::{Args, ValueEnum};
use leafbase::{Connection, ListTasks, Task, TaskScope, TaskState, TaskUpdate, UpdateTasks};

use crate::context::CommandContext;
use crate::days::{self, SpokenDay};
use crate::error::{CliError, CliResult};
use crate::names;
use crate::show::{styles, tasks};
use crate::task_numbers;

/// List tasks, or change their state and days
///
/// A task is named by its number in the last listing of the space (3; 3,5-7), by its ID or a prefix
/// of it, or by a part of its text that no other task has. The numbers are those of the last
/// listing that was printed, and keep their meaning until the next one, however tasks change.
#[derive(Debug, Args)]
pub(crate) struct TasksCommand {
    /// The tasks to list
    #[arg(default_value = "open")]
    scope: TaskView,
    /// List the open tasks of this document instead
    #[arg(long = "in", value_name = "DOCUMENT", conflicts_with = "scope")]
    document: Option<String>,
    /// Mark these tasks as done
    #[arg(long, value_name = "TASK", num_args = 1..)]
    done: Vec<String>,
    /// Mark these tasks as canceled
    #[arg(long, value_name = "TASK", num_args = 1..)]
    cancel: Vec<String>,
    /// Mark these tasks as open again
    #[arg(long, value_name = "TASK", num_args = 1..)]
    reopen: Vec<String>,
    /// Change the days of these tasks: --on, --due
    #[arg(long, value_name = "TASK", num_args = 1..)]
    change: Vec<String>,
    /// With --change: the day for which they are scheduled, or none
    #[arg(long, value_name = "DAY", requires = "change")]
    #[arg(allow_hyphen_values = true, value_parser = day_or_none)]
    on: Option<DayOrNone>,
    /// With --change: their deadline, or none
    #[arg(long, value_name = "DAY", requires = "change")]
    #[arg(allow_hyphen_values = true, value_parser = day_or_none)]
    due: Option<DayOrNone>,
    /// Maximum number of tasks
    #[arg(long, value_name = "TASKS")]
    limit: Option<usize>,
}

/// A day, or that there is none.
#[derive(Clone, Copy, Debug)]
struct DayOrNone(Option<SpokenDay>);

fn day_or_none(text: &str) -> Result<DayOrNone, String> {
    if text == "none" { Ok(DayOrNone(None)) } else { text.parse().map(|day| DayOrNone(Some(day))) }
}

impl DayOrNone {
    fn at(self, notes: &Connection) -> CliResult<Option<leafbase::DayRef>> {
        self.0.map(|day| day.at(notes)).transpose()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TaskView {
    /// Active, upcoming, in the inbox, and elsewhere without a day
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
        let named = [&self.done, &self.cancel, &self.reopen, &self.change];
        if named.into_iter().any(|names| !names.is_empty()) {
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
                    ("Without a day", TaskScope::Open),
                ]
            }
            (None, TaskView::Active) => vec![("", TaskScope::Active)],
            (None, TaskView::Upcoming) => vec![("", TaskScope::Upcoming)],
            (None, TaskView::Inbox) => vec![("", TaskScope::Inbox)],
            (None, TaskView::Logbook) => vec![("", TaskScope::Logbook)],
        };
        // A task in the inbox may be active, too, and the last group is every open one left: each
        // is listed once.
        let mut listed = HashSet::new();
        let mut found: Vec<(&str, Vec<Task>)> = Vec::with_capacity(scopes.len());
        for (name, scope) in scopes {
            let mut request = ListTasks::new(scope);
            request.paging.limit = self.limit;
            let mut list = |request: &ListTasks| {
                let mut page = notes.tasks(request.clone())?;
                page.items.retain(|task| listed.insert(task.id));
                Ok(page)
            };
            if context.options.json {
                context.out.json_pages(request.paging.clone(), |paging| {
                    request.paging = paging;
                    list(&request)
                })?;
                continue;
            }
            let mut tasks = Vec::new();
            loop {
                let page = list(&request)?;
                tasks.extend(page.items);
                let left = self.limit.map(|limit| limit.saturating_sub(tasks.len()));
                if page.next_cursor.is_none() || left == Some(0) {
                    break;
                }
                request.paging.cursor = page.next_cursor;
                request.paging.limit = left;
            }
            if scope == TaskScope::Open {
                tasks = in_reading_order(&notes, tasks)?;
            }
            found.push((name, tasks));
        }
        if context.options.json {
            return Ok(());
        }
        task_numbers::remember(&notes, found.iter().flat_map(|(_, tasks)| tasks))?;
        show(context, &notes, &found)
    }

    fn change(&self, context: &mut CommandContext) -> CliResult<()> {
        if !self.change.is_empty() && self.on.is_none() && self.due.is_none() {
            return Err(CliError::usage("--change needs the new day: --on, --due or both")
                .hint("leafbase tasks --change 3 --due friday"));
        }
        let notes = context.writer()?;
        let states = [
            (&self.done, TaskState::Done),
            (&self.cancel, TaskState::Canceled),
            (&self.reopen, TaskState::Todo),
        ];
        let mut updates = Vec::new();
        for (names, state) in states {
            let tasks = task_numbers::tasks(&notes, names)?.into_iter();
            updates.extend(tasks.map(|id| TaskUpdate::of(id).with_state(state)));
        }
        for id in task_numbers::tasks(&notes, &self.change)? {
            let mut update = TaskUpdate::of(id);
            update.info.schedule_date = self.on.map(|day| day.at(&notes)).transpose()?;
            update.info.deadline_date = self.due.map(|day| day.at(&notes)).transpose()?;
            updates.push(update);
        }
        let changed = notes.update_tasks(UpdateTasks::new(updates))?;
        if context.options.json {
            return context.out.json(&changed);
        }
        tasks::write(&mut context.out, &notes, days::today(&notes)?, &changed, None)
    }
}

/// The tasks by the titles of their documents, those of one in the order in which it is read.
fn in_reading_order(notes: &Connection, tasks: Vec<Task>) -> CliResult<Vec<Task>> {
    let mut documents = BTreeMap::<_, Vec<Task>>::new();
    for task in tasks {
        let document = notes.document(notes.document_of(task.id)?)?;
        documents.entry((document.title, document.record.id)).or_default().push(task);
    }
    let mut ordered = Vec::new();
    for ((_, document), mut tasks) in documents {
        let read = notes.tasks(ListTasks::new(TaskScope::Document(document)))?.items;
        let places: HashMap<_, _> = read.iter().map(|task| task.id).zip(0..).collect();
        tasks.sort_by_key(|task| places.get(&task.id));
        ordered.append(&mut tasks);
    }
    Ok(ordered)
}

fn show(
    context: &mut CommandContext,
    notes: &Connection,
    found: &[(&str, Vec<Task>)],
) -> CliResult<()> {
    let (today, mut number) = (days::today(notes)?, 1);
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
        tasks::write(&mut context.out, notes, today, list, Some(number))?;
        number += list.len();
    }
    Ok(())
}
