//! Reads of tasks by their indexes: open ones by day, the logbook, and those of a document.

use std::ops::{Bound, ControlFlow};

use leafbase_model::{
    BlockId, BlockRecord, Day, DocumentId, Result, TaskInfo, TaskLocation, invariant,
};

use super::query::foreign_cursor;
use super::trees::rows_of;
use super::{PageCursor, SpaceReader, Span};
use crate::keyspaces::{self, LOGBOOK, TASKS_BY_DAY, day_bytes, prefix_end_of};
use crate::kv::{KeyRange, Read};
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::records::layout::Value;
use crate::records::listed_task::ListedTask;
use crate::tasks::TaskEntry;

/// Tasks for which a list has room at first.
const ROOM: usize = 64;

/// A task of a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRow {
    /// Its block.
    pub block: BlockRecord,
    /// Where it is.
    pub location: TaskLocation,
}

impl PageCursor {
    /// The cursor after a task that a listing returned.
    pub fn after_task(block: BlockId, task: &TaskInfo) -> Self {
        Self(TaskEntry::of(task).listed(block))
    }
}

/// A page of a listing of tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskPage {
    /// The tasks, in the order of the listing.
    pub tasks: Vec<TaskRow>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<PageCursor>,
}

/// Decodes a row by document.
pub(crate) fn parse_entry(key: &[u8], value: &[u8]) -> Result<(BlockId, TaskEntry)> {
    let (_, is_open, block) =
        keyspaces::parse_document_task(key).ok_or_else(|| records::corrupt(key))?;
    let entry = TaskEntry::read(is_open, records::body(key, value)?)
        .ok_or_else(|| records::corrupt(key))?;
    Ok((block, entry))
}

/// Decodes a row by day or of the logbook.
pub(crate) fn parse_listed(key: &[u8], value: &[u8]) -> Result<(BlockId, ListedTask)> {
    let block = keyspaces::parse_listed_task(key).ok_or_else(|| records::corrupt(key))?;
    Ok((block, records::decode(key, value, ListedTask::decode)?))
}

/// The open tasks of `document`, or the closed ones, by ID.
pub(crate) fn tasks_in(
    source: &dyn Read,
    document: DocumentId,
    is_open: bool,
) -> Result<Vec<(BlockId, TaskEntry)>> {
    let prefix = keyspaces::document_tasks(document, is_open);
    let mut tasks = Vec::new();
    source.scan(
        KeyRange::half_open(&prefix, &keyspaces::prefix_end(prefix)),
        &mut |key, value| {
            // Most documents have none.
            if tasks.is_empty() {
                tasks.reserve(ROOM);
            }
            tasks.push(parse_entry(key, value)?);
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(tasks)
}

/// The tasks of `document` among `blocks`, which are sorted.
pub(crate) fn tasks_among(
    source: &dyn Read,
    document: DocumentId,
    blocks: &[BlockId],
) -> Result<Vec<(BlockId, TaskEntry)>> {
    let mut tasks = Vec::new();
    for is_open in [true, false] {
        rows_of(
            source,
            &keyspaces::document_tasks(document, is_open),
            blocks,
            &mut |_, key, value| {
                tasks.push(parse_entry(key, value)?);
                Ok(())
            },
        )?;
    }
    Ok(tasks)
}

impl SpaceReader<'_> {
    /// Open tasks outside of trash and templates whose day, the scheduled one or else the deadline,
    /// is within `days`; by day, then by ID, at most `limit`.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`leafbase_model::ErrorKind::Validation`] at `cursor` if the cursor
    /// belongs to another listing.
    pub fn open_tasks(
        &self,
        days: Span<Day>,
        after: Option<&PageCursor>,
        limit: usize,
    ) -> Result<TaskPage> {
        let key = |day: Day| {
            let mut key = vec![TASKS_BY_DAY.tag];
            key.extend(day_bytes(day));
            key
        };
        let lower = days.from.map_or_else(|| vec![TASKS_BY_DAY.tag], key);
        let upper = match days.to {
            Some(day) => prefix_end_of(&key(day)),
            None => keyspaces::tasks_without_day().to_vec(),
        };
        self.task_page((&lower, &upper), false, after, limit)
    }

    /// All open tasks outside of trash and templates: those with a day by it, then those without
    /// one; each by ID, at most `limit`.
    ///
    /// # Errors
    /// As [`Self::open_tasks`].
    pub fn all_open_tasks(&self, after: Option<&PageCursor>, limit: usize) -> Result<TaskPage> {
        let prefix = [TASKS_BY_DAY.tag];
        self.task_page((&prefix, &keyspaces::prefix_end(prefix)), false, after, limit)
    }

    /// Done and canceled tasks outside of trash and templates, newest first, at most `limit`.
    ///
    /// # Errors
    /// As [`Self::open_tasks`].
    pub fn logbook(&self, after: Option<&PageCursor>, limit: usize) -> Result<TaskPage> {
        let prefix = [LOGBOOK.tag];
        self.task_page((&prefix, &keyspaces::prefix_end(prefix)), true, after, limit)
    }

    /// A cursor is the key of the last task of its page.
    fn task_page(
        &self,
        (lower, upper): (&[u8], &[u8]),
        reverse: bool,
        after: Option<&PageCursor>,
        limit: usize,
    ) -> Result<TaskPage> {
        let mut range = KeyRange { reverse, ..KeyRange::half_open(lower, upper) };
        if let Some(PageCursor(key)) = after {
            if keyspaces::parse_listed_task(key).is_none() || **key < *lower || **key >= *upper {
                return Err(foreign_cursor());
            }
            let bound = if reverse { &mut range.upper } else { &mut range.lower };
            // The bounds were checked, so this one lies within them.
            *bound = Bound::Excluded(key);
        }
        let (mut page, mut last) = (TaskPage::default(), Vec::new());
        if limit == 0 || range.is_empty() {
            return Ok(page);
        }
        page.tasks.reserve(limit.min(ROOM));
        let (mut long, mut authors) = (Vec::new(), AuthorCache::default());
        self.read.scan(range, &mut |key, value| {
            let found = page.tasks.len() + long.len();
            if found == limit {
                page.next = Some(PageCursor(std::mem::take(&mut last)));
                return Ok(ControlFlow::Break(()));
            }
            let (id, ListedTask { location, block }) = parse_listed(key, value)?;
            match block {
                Some(record) => {
                    let block = block::decode(id, &record, &mut authors)
                        .map_err(|error| records::decode_error(key, error))?;
                    page.tasks.push(TaskRow { block, location });
                }
                None => long.push((found, id, location)),
            }
            if found + 1 == limit {
                key.clone_into(&mut last);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if !long.is_empty() {
            self.add_long_blocks(long, &mut page.tasks)?;
        }
        Ok(page)
    }

    /// Adds the tasks whose rows have no block, since that is long, each at its index.
    fn add_long_blocks(
        &self,
        long: Vec<(usize, BlockId, TaskLocation)>,
        tasks: &mut Vec<TaskRow>,
    ) -> Result<()> {
        self.prefetch(&long.iter().map(|(_, id, _)| *id).collect::<Vec<_>>());
        for (index, id, location) in long {
            let missing = || records::corrupt(&keyspaces::block_location(id));
            let block = self.block(id)?.ok_or_else(missing)?;
            invariant!(index <= tasks.len(), "tasks before this one have been added");
            tasks.insert(index, TaskRow { block, location });
        }
        Ok(())
    }
}
