//! Reads of tasks: the open ones by day, those that are done or given up, and those of a document.

use std::collections::{BTreeMap, HashSet};
use std::ops::{Bound, ControlFlow, Range};
use std::rc::Rc;

use leafbase_model::{BlockId, Day, DocumentId, Error, Result};

use super::query::foreign_cursor;
use super::trees::rows_of;
use super::{Cursor, Reader, Span, get};
use crate::keyspaces::{self, LOGBOOK, TASKS_BY_DAY, day_bytes, end_of_slice};
use crate::kv::{KeyRange, Read};
use crate::records;
use crate::records::place::Place;
use crate::run::RunView;
use crate::tasks::TaskEntry;

/// A part of a listing of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskPage {
    /// The blocks that are the tasks, in the order of the listing.
    pub tasks: Vec<BlockId>,
    /// Where it goes on; none if this was all.
    pub next: Option<Cursor>,
}

/// A row by document.
pub(crate) fn read_entry(key: &[u8], value: &[u8]) -> Result<(BlockId, TaskEntry)> {
    let (_, is_open, block) = keyspaces::read_document_task(key).ok_or_else(|| records::damaged(key))?;
    let entry = TaskEntry::read(is_open, records::body(key, value)?).ok_or_else(|| records::damaged(key))?;
    Ok((block, entry))
}

/// The open tasks of `document`, or the closed ones, by ID.
pub(crate) fn tasks_in(source: &dyn Read, document: DocumentId, is_open: bool) -> Result<Vec<(BlockId, TaskEntry)>> {
    let prefix = keyspaces::document_tasks(document, is_open);
    let mut tasks = Vec::new();
    source.scan(KeyRange::half_open(&prefix, &keyspaces::end_of(prefix)), &mut |key, value| {
        tasks.push(read_entry(key, value)?);
        Ok(ControlFlow::Continue(()))
    })?;
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
        rows_of(source, &keyspaces::document_tasks(document, is_open), blocks, &mut |_, key, value| {
            tasks.push(read_entry(key, value)?);
            Ok(())
        })?;
    }
    Ok(tasks)
}

impl Reader<'_> {
    /// At most `limit` open tasks, those of the trash and of templates left out, whose day, the one they are planned for or else the one they must be
    /// done by, is within `days`; by day, then by ID.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`leafbase_model::ErrorKind::Validation`] at `cursor` if the cursor is not of this listing.
    pub fn open_tasks(&self, days: Span<Day>, after: Option<&Cursor>, limit: usize) -> Result<TaskPage> {
        let key = |day: Option<Day>| {
            let mut key = vec![TASKS_BY_DAY.tag];
            key.extend(day.iter().flat_map(|day| day_bytes(*day)));
            key
        };
        self.task_page((&key(days.from), &end_of_slice(&key(days.to))), false, after, limit)
    }

    /// At most `limit` tasks, those of the trash and of templates left out, that are done or given up, the newest first.
    ///
    /// # Errors
    /// As [`Self::open_tasks`].
    pub fn logbook(&self, after: Option<&Cursor>, limit: usize) -> Result<TaskPage> {
        let prefix = [LOGBOOK.tag];
        self.task_page((&prefix, &keyspaces::end_of(prefix)), true, after, limit)
    }

    /// A cursor is the key of the task it is behind.
    fn task_page(
        &self,
        (lower, upper): (&[u8], &[u8]),
        reverse: bool,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<TaskPage> {
        let mut range = KeyRange { reverse, ..KeyRange::half_open(lower, upper) };
        if let Some(Cursor(key)) = after {
            if keyspaces::read_listed_task(key).is_none() || **key < *lower || **key >= *upper {
                return Err(foreign_cursor());
            }
            let bound = if reverse { &mut range.upper } else { &mut range.lower };
            *bound = Bound::Excluded(key);
        }
        let (mut page, mut last) = (TaskPage::default(), Vec::new());
        if limit == 0 || range.is_empty() {
            return Ok(page);
        }
        self.read.scan(range, &mut |key, value| {
            records::read_empty(key, value)?;
            if page.tasks.len() == limit {
                page.next = Some(Cursor(std::mem::take(&mut last)));
                return Ok(ControlFlow::Break(()));
            }
            page.tasks.push(keyspaces::read_listed_task(key).ok_or_else(|| records::damaged(key))?);
            if page.tasks.len() == limit {
                key.clone_into(&mut last);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(page)
    }

    /// The tasks of `document` in reading order, or the open ones alone; none if it does not exist. Of the document no more is
    /// read than the runs that hold the tasks and the blocks above them.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn tasks_of(&self, document: DocumentId, open_only: bool) -> Result<Vec<BlockId>> {
        let classes: &[bool] = if open_only { &[true] } else { &[true, false] };
        let mut tasks = HashSet::new();
        for is_open in classes {
            tasks.extend(tasks_in(self.read, document, *is_open)?.into_iter().map(|(block, _)| block));
        }
        let branches = self.branches(document, &tasks)?;
        let sorted: Vec<BlockId> =
            branches.in_reading_order().into_iter().filter(|block| tasks.contains(block)).collect();
        if sorted.len() == tasks.len() {
            Ok(sorted)
        } else {
            let (found, expected) = (sorted.len(), tasks.len());
            Err(Error::corrupted(format_args!("document {document}: {found} of its {expected} tasks can be reached")))
        }
    }

    /// `blocks` and all above them, each where it stands.
    fn branches(&self, document: DocumentId, blocks: &HashSet<BlockId>) -> Result<Branches> {
        let mut waiting: Vec<BlockId> = blocks.iter().copied().collect();
        let mut met = HashSet::new();
        let mut by_run: BTreeMap<Vec<u8>, Vec<BlockId>> = BTreeMap::new();
        while let Some(block) = waiting.pop() {
            if block.is_nil() || !met.insert(block) {
                continue;
            }
            let place = self.place(block)?.filter(|place| place.document == document);
            let place = place.ok_or_else(|| records::damaged(&keyspaces::place(block)))?;
            by_run.entry(place.run_key()).or_default().push(block);
            waiting.push(place.parent);
        }
        let mut branches = Branches::default();
        for (key, blocks) in by_run {
            self.add_spots(&key, &blocks, &mut branches)?;
        }
        branches.spots.sort_unstable();
        Ok(branches)
    }

    /// Finds blocks that are in the run under `key`, or to its right.
    fn add_spots(&self, key: &[u8], blocks: &[BlockId], branches: &mut Branches) -> Result<()> {
        let mut elsewhere = blocks.to_vec();
        get(self.read, key, |value| {
            let (run, key) = (RunView::read(key, value)?, Rc::<[u8]>::from(key));
            elsewhere.retain(|block| match run.position(*block) {
                Some(index) => {
                    branches.spots.push((Rc::clone(&key), index, *block));
                    false
                }
                None => true,
            });
            Ok(())
        })?;
        let (document, parent, order) = keyspaces::read_run(key).ok_or_else(|| records::damaged(key))?;
        let place = Place { document, parent, order: order.into() };
        for block in elsewhere {
            self.find_in_runs(&place, block, &mut |key, _, index| {
                branches.spots.push((key.into(), index, block));
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// A part of a document's tree that is complete upwards.
#[derive(Default)]
struct Branches {
    /// Key of the run, index in it, and block; sorted, so that siblings are side by side and in order.
    spots: Vec<(Rc<[u8]>, usize, BlockId)>,
}

impl Branches {
    fn children_of(&self, parent: BlockId) -> Range<usize> {
        let parent_of = |key: &[u8]| keyspaces::read_run(key).map(|(_, parent, _)| parent);
        let start = self.spots.partition_point(|(key, ..)| parent_of(key) < Some(parent));
        let end = self.spots.partition_point(|(key, ..)| parent_of(key) <= Some(parent));
        start..end
    }

    /// What can be reached from the top. Each block stands in one place, so none is met twice.
    fn in_reading_order(&self) -> Vec<BlockId> {
        let mut sorted = Vec::with_capacity(self.spots.len());
        // The root is the only child of the lowest ID there is.
        let mut path = vec![self.children_of(BlockId::NIL)];
        while let Some(siblings) = path.last_mut() {
            let Some((_, _, block)) = siblings.next().and_then(|index| self.spots.get(index)) else {
                path.pop();
                continue;
            };
            sorted.push(*block);
            path.push(self.children_of(*block));
        }
        sorted
    }
}
