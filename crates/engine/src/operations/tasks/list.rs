//! Lists the tasks of a scope from the indexes.

use leafbase_model::{
    BlockId, BlockRecord, Day, DayRef, DocumentRecord, Error, ItemsPage, ListTasks, Paging, Result,
    Task, TaskInfo, TaskScope, Timestamp,
};
use leafbase_store::{PageCursor, SpaceReader, Span, TaskPage, TaskRow, task_location};

use super::cursor::{self, TaskListAnchor};
use super::task_blocks::to_task;
use crate::core::tree::Tree;
use crate::support::days;

/// Maximum number of index rows that are read at once.
const MAX_INDEX_ROWS: usize = 1_000;

/// One page of the requested scope.
pub(super) fn page(
    tree: &Tree<'_>,
    now: Timestamp,
    request: &ListTasks,
) -> Result<ItemsPage<Task>> {
    let reader = tree.full_reader()?;
    let listing = TaskList { reader, paging: &request.paging };
    let today = || days::resolve(DayRef::Today, &tree.zone()?, now);
    match request.scope {
        TaskScope::Open => {
            listing.indexed('o', |_| true, |after, limit| reader.all_open_tasks(after, limit))
        }
        TaskScope::Active => {
            let days = Span { from: None, to: Some(today()?) };
            listing.indexed('a', |_| true, |after, limit| reader.open_tasks(days, after, limit))
        }
        TaskScope::Upcoming => {
            let today = today()?;
            let later = |task: &TaskInfo| {
                task.schedule_date.or(task.deadline_date).is_some_and(|day| day > today)
            };
            // The cursor may come from an earlier day. Tasks after it whose day has come since are
            // filtered out.
            let from = |after: Option<&PageCursor>| after.is_none().then(|| day_after(today));
            listing.indexed('u', later, |after, limit| {
                reader.open_tasks(Span { from: from(after), to: None }, after, limit)
            })
        }
        TaskScope::Logbook => {
            listing.indexed('l', |_| true, |after, limit| reader.logbook(after, limit))
        }
        TaskScope::Inbox => {
            if let Some(inbox) = reader.inbox()? {
                return listing.of_document('i', &inbox, true);
            }
            // Nothing is after any cursor of the inbox.
            request.paging.cursor.as_deref().map(|it| cursor::payload(it, 'i')).transpose()?;
            Ok(ItemsPage { items: Vec::new(), next_cursor: None })
        }
        TaskScope::Document(document) => {
            let document = reader.document(document)?;
            let document = document.ok_or_else(|| Error::no_document().at("documentId"))?;
            listing.of_document('d', &document, false)
        }
    }
}

fn day_after(day: Day) -> Day {
    Day::from_epoch_days(day.epoch_days() + 1)
}

struct TaskList<'a> {
    reader: SpaceReader<'a>,
    paging: &'a Paging,
}

impl TaskList<'_> {
    fn limit(&self) -> usize {
        self.paging.limit.unwrap_or(usize::MAX)
    }

    /// Tasks of an index that match `is_wanted`. Reads until the page is full and one more task is
    /// found, so that a cursor is returned exactly when there is a next page.
    fn indexed(
        &self,
        letter: char,
        is_wanted: impl Fn(&TaskInfo) -> bool,
        read: impl Fn(Option<&PageCursor>, usize) -> Result<TaskPage>,
    ) -> Result<ItemsPage<Task>> {
        let mut after =
            self.paging.cursor.as_deref().map(|text| cursor::read(letter, text)).transpose()?;
        let limit = self.limit();
        let rows = limit.saturating_add(1).min(MAX_INDEX_ROWS);
        let mut items: Vec<Task> = Vec::new();
        loop {
            let page = read(after.as_ref(), rows)?;
            for TaskRow { block, location } in page.tasks {
                let id = block.id;
                let task = to_task(block, location).ok_or_else(|| missing(id))?;
                if !is_wanted(&task.info) {
                    continue;
                }
                if items.len() == limit {
                    let last = items.last();
                    let next = last.map(|last| PageCursor::after_task(last.id, &last.info));
                    let next_cursor = next.map(|next| cursor::write(letter, &next));
                    return Ok(ItemsPage { items, next_cursor });
                }
                items.push(task);
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(ItemsPage { items, next_cursor: None }),
            }
        }
    }

    /// Tasks of one document in reading order.
    fn of_document(
        &self,
        letter: char,
        document: &DocumentRecord,
        open_only: bool,
    ) -> Result<ItemsPage<Task>> {
        let (document, location) = (document.id, task_location(document));
        let limit = self.limit();
        let tasks = self.reader.document_tasks(document, open_only, limit)?;
        let all = tasks.ids();
        let start = match &self.paging.cursor {
            Some(text) => TaskListAnchor::read(letter, document, text)?.find(&all),
            None => 0,
        };
        let end = start.saturating_add(limit).min(all.len());
        let next_cursor =
            (end < all.len()).then(|| TaskListAnchor::at(&all, end).write(letter, document));
        drop(all);
        let blocks = self.reader.task_blocks(document, tasks, start..end)?;
        let task = |block: BlockRecord| {
            let id = block.id;
            to_task(block, location).ok_or_else(|| missing(id))
        };
        let items = blocks.into_iter().map(task).collect::<Result<_>>()?;
        Ok(ItemsPage { items, next_cursor })
    }
}

fn missing(id: BlockId) -> Error {
    Error::corrupted(format_args!("task {id} is in an index, but the block is missing or no task"))
}
