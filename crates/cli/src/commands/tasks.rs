//! `leafbase tasks`: lists tasks and changes their state.

use std::collections::{BTreeMap, HashMap, HashSet};

use clap::{Args, ValueEnum};
use leafbase::{
    Connection, ItemsPage, ListTasks, Paging, Task, TaskScope, TaskState, TaskUpdate, UpdateTasks,
};

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
    #[arg(allow_hyphen_values = true)]
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
        let (mut listed, mut left) = (HashSet::new(), self.limit);
        let mut found: Vec<(&str, Vec<Task>)> = Vec::with_capacity(scopes.len());
        for (name, scope) in scopes {
            let before = listed.len();
            let mut read = |paging: Paging| {
                let mut request = ListTasks::new(scope);
                request.paging = paging;
                let mut page = notes.tasks(request)?;
                page.items.retain(|task| self.is_shown(task) && listed.insert(task.id));
                Ok(page)
            };
            let mut paging = Paging::default();
            if scope == TaskScope::Open {
                // The first ones in reading order may be the last ones that are read.
                let mut tasks = in_reading_order(&notes, collect(paging, &mut read)?)?;
                tasks.truncate(left.unwrap_or(usize::MAX));
                if context.options.json {
                    context.out.json_lines(tasks)?;
                } else {
                    found.push((name, tasks));
                }
                continue;
            }
            paging.limit = left;
            if context.options.json {
                context.out.json_pages(paging, read)?;
            } else {
                found.push((name, collect(paging, &mut read)?));
            }
            left = left.map(|left| left.saturating_sub(listed.len() - before));
            if left == Some(0) {
                break;
            }
        }
        if context.options.json {
            return Ok(());
        }
        task_numbers::remember(context, &notes, found.iter().flat_map(|(_, tasks)| tasks))?;
        show(context, &notes, &found)
    }

    /// Whether a task of the listed scope is shown: a document has closed ones, too.
    fn is_shown(&self, task: &Task) -> bool {
        self.document.is_none() || task.info.state == TaskState::Todo
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
        let (mut updated, mut updates) = (Vec::new(), Vec::new());
        for (names, state) in states {
            for (name, id) in task_numbers::tasks(context, &notes, names)? {
                updated.push(name);
                updates.push(TaskUpdate::of(id).with_state(state));
            }
        }
        for (name, id) in task_numbers::tasks(context, &notes, &self.change)? {
            updated.push(name);
            let mut update = TaskUpdate::of(id);
            update.info.schedule_date = self.on.map(|day| day.at(&notes)).transpose()?;
            update.info.deadline_date = self.due.map(|day| day.at(&notes)).transpose()?;
            updates.push(update);
        }
        let changed = notes.update_tasks(UpdateTasks::new(updates));
        let changed = changed.map_err(|error| CliError::of_entry(error, &updated))?;
        if context.options.json {
            return context.out.json(&changed);
        }
        tasks::write(&mut context.out, &notes, days::today(&notes)?, &changed, None)
    }
}

/// The tasks of all pages, up to the limit of `paging`.
fn collect(
    mut paging: Paging,
    read: &mut impl FnMut(Paging) -> leafbase::Result<ItemsPage<Task>>,
) -> CliResult<Vec<Task>> {
    let (limit, mut tasks) = (paging.limit, Vec::new());
    loop {
        let page = read(paging)?;
        tasks.extend(page.items);
        let left = limit.map(|limit| limit.saturating_sub(tasks.len()));
        if page.next_cursor.is_none() || left == Some(0) {
            return Ok(tasks);
        }
        paging = Paging::default();
        (paging.cursor, paging.limit) = (page.next_cursor, left);
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
