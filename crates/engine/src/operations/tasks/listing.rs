//! Task listings by scope, read from the indexes.

use leafbase_model::{
    BlockId, BlockRecord, Day, DayRef, DocumentId, DocumentRecord, Error, ItemsPage, ListTasks,
    Paging, Result, Task, TaskInfo, TaskScope, Timestamp,
};
use leafbase_store::{PageCursor, SpaceReader, Span, TaskPage};

use super::cursor::{self, Seam};
use super::places::{self, Documents};
use crate::core::tree::Tree;
use crate::support::days;

/// How many rows of an index are read at a time.
const ROWS: std::ops::RangeInclusive<usize> = 64..=1_000;

/// The page of a scope that the request asks for.
pub(super) fn page(
    tree: &Tree<'_>,
    now: Timestamp,
    request: &ListTasks,
) -> Result<ItemsPage<Task>> {
    let reader = tree.full_reader()?;
    let mut listing =
        Listing { tree, reader, documents: Documents::default(), paging: &request.paging };
    let today = || days::resolve(DayRef::Today, &tree.zone()?, now);
    match request.scope {
        TaskScope::Active => {
            let days = Span { from: None, to: Some(today()?) };
            listing.indexed('a', |_| true, |after, limit| reader.open_tasks(days, after, limit))
        }
        TaskScope::Upcoming => {
            let today = today()?;
            let later = |task: &TaskInfo| {
                task.schedule_date.or(task.deadline_date).is_some_and(|day| day > today)
            };
            // The cursor may be of an earlier day: tasks that are no longer upcoming are skipped.
            let from = |after: Option<&PageCursor>| after.is_none().then(|| day_after(today));
            listing.indexed('u', later, |after, limit| {
                reader.open_tasks(Span { from: from(after), to: None }, after, limit)
            })
        }
        TaskScope::Logbook => {
            listing.indexed('l', |_| true, |after, limit| reader.logbook(after, limit))
        }
        TaskScope::Inbox => match reader.inbox()? {
            Some(inbox) => listing.of_document('i', inbox.id, true),
            None => Ok(ItemsPage { items: Vec::new(), next_cursor: None }),
        },
        TaskScope::Document(document) => {
            reader.document(document)?.ok_or_else(|| Error::not_found().at("documentId"))?;
            listing.of_document('d', document, false)
        }
    }
}

fn day_after(day: Day) -> Day {
    Day::from_epoch_days(day.epoch_days() + 1)
}

struct Listing<'a> {
    tree: &'a Tree<'a>,
    reader: SpaceReader<'a>,
    documents: Documents,
    paging: &'a Paging,
}

impl Listing<'_> {
    fn limit(&self) -> usize {
        self.paging.limit.unwrap_or(usize::MAX)
    }

    /// Tasks of an index that `is_wanted` accepts. Reads until the page is full and one more task
    /// is found, so that the reply has a cursor exactly if another page follows.
    fn indexed(
        &mut self,
        letter: char,
        is_wanted: impl Fn(&TaskInfo) -> bool,
        read: impl Fn(Option<&PageCursor>, usize) -> Result<TaskPage>,
    ) -> Result<ItemsPage<Task>> {
        let mut after =
            self.paging.cursor.as_deref().map(|text| cursor::read(letter, text)).transpose()?;
        let limit = self.limit();
        let rows = limit.saturating_add(1).clamp(*ROWS.start(), *ROWS.end());
        let (mut items, mut last) = (Vec::new(), (None, 0));
        loop {
            let page = read(after.as_ref(), rows)?;
            for (index, id) in page.tasks.iter().enumerate() {
                let Some(task) = Some(self.task(*id)?).filter(|task| is_wanted(&task.info)) else {
                    continue;
                };
                if items.len() == limit {
                    // Read up to the last returned row again: the index returns the cursor after
                    // it.
                    let next = read(Option::as_ref(&last.0), last.1)?.next;
                    return Ok(ItemsPage {
                        items,
                        next_cursor: next.map(|next| cursor::write(letter, &next)),
                    });
                }
                items.push(task);
                last = (after.clone(), index + 1);
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(ItemsPage { items, next_cursor: None }),
            }
        }
    }

    /// Tasks of one document in document order.
    fn of_document(
        &mut self,
        letter: char,
        document: DocumentId,
        open_only: bool,
    ) -> Result<ItemsPage<Task>> {
        let all = self.reader.tasks_of(document, open_only)?;
        let start = match &self.paging.cursor {
            Some(text) => Seam::read(letter, document, text)?.find(&all),
            None => 0,
        };
        let end = start.saturating_add(self.limit()).min(all.len());
        let listed = all.get(start..end).unwrap_or_default();
        let location = places::location(self.documents.record(self.tree, document)?);
        let blocks = self.reader.task_blocks(document, listed)?.into_iter();
        let task = |block: BlockRecord| {
            let id = block.id;
            super::shown(block, location).ok_or_else(|| missing(id))
        };
        let items = blocks.map(task).collect::<Result<_>>()?;
        let next_cursor = (end < all.len()).then(|| Seam::at(&all, end).write(letter, document));
        Ok(ItemsPage { items, next_cursor })
    }

    /// The document of an indexed block.
    fn record(&mut self, id: BlockId) -> Result<&DocumentRecord> {
        let standing = self.reader.locate(id)?.ok_or_else(|| missing(id))?;
        self.documents.record(self.tree, standing.document)
    }

    fn task(&mut self, id: BlockId) -> Result<Task> {
        let location = places::location(self.record(id)?);
        let block = self.reader.block(id)?.ok_or_else(|| missing(id))?;
        super::shown(block, location).ok_or_else(|| missing(id))
    }
}

fn missing(id: BlockId) -> Error {
    Error::corrupted(format_args!("task {id} is listed, but there is no such task"))
}
