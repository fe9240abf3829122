//! Reads of tasks: the open ones by day, those that are done or given up, and those of a document.

use std::collections::{HashMap, HashSet};
use std::ops::{Bound, ControlFlow, Range};
use std::rc::Rc;

use leafbase_model::{BlockId, BlockRecord, Day, DocumentId, Error, Result};

use super::query::foreign_cursor;
use super::trees::rows_of;
use super::{PageCursor, SpaceReader, Span};
use crate::keyspaces::{self, LOGBOOK, TASKS_BY_DAY, day_bytes, end_of_slice};
use crate::kv::{KeyRange, Read};
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::records::location::LocationRecord;
use crate::run::RunView;
use crate::tasks::TaskEntry;

/// So many runs that hold nothing sought are passed by before the next one is sought anew.
const PASSED_BY: usize = 4;

/// Gets the key of a run, the run, the index of a block in it, and the block.
type VisitSpot<'f> = &'f mut dyn FnMut(&[u8], RunView<'_>, usize, BlockId) -> Result<()>;

/// A part of a listing of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskPage {
    /// The blocks that are the tasks, in the order of the listing.
    pub tasks: Vec<BlockId>,
    /// Where it goes on; none if this was all.
    pub next: Option<PageCursor>,
}

/// A row by document.
pub(crate) fn read_entry(key: &[u8], value: &[u8]) -> Result<(BlockId, TaskEntry)> {
    let (_, is_open, block) =
        keyspaces::read_document_task(key).ok_or_else(|| records::damaged(key))?;
    let entry = TaskEntry::read(is_open, records::body(key, value)?)
        .ok_or_else(|| records::damaged(key))?;
    Ok((block, entry))
}

/// The open tasks of `document`, or the closed ones, by ID.
pub(crate) fn tasks_in(
    source: &dyn Read,
    document: DocumentId,
    is_open: bool,
) -> Result<Vec<(BlockId, TaskEntry)>> {
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
        rows_of(
            source,
            &keyspaces::document_tasks(document, is_open),
            blocks,
            &mut |_, key, value| {
                tasks.push(read_entry(key, value)?);
                Ok(())
            },
        )?;
    }
    Ok(tasks)
}

impl SpaceReader<'_> {
    /// At most `limit` open tasks, those of the trash and of templates left out, whose day, the one
    /// they are planned for or else the one they must be done by, is within `days`; by day, then by
    /// ID.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`leafbase_model::ErrorKind::Validation`] at `cursor` if the cursor is
    /// not of this listing.
    pub fn open_tasks(
        &self,
        days: Span<Day>,
        after: Option<&PageCursor>,
        limit: usize,
    ) -> Result<TaskPage> {
        let key = |day: Option<Day>| {
            let mut key = vec![TASKS_BY_DAY.tag];
            key.extend(day.iter().flat_map(|day| day_bytes(*day)));
            key
        };
        self.task_page((&key(days.from), &end_of_slice(&key(days.to))), false, after, limit)
    }

    /// At most `limit` tasks, those of the trash and of templates left out, that are done or given
    /// up, the newest first.
    ///
    /// # Errors
    /// As [`Self::open_tasks`].
    pub fn logbook(&self, after: Option<&PageCursor>, limit: usize) -> Result<TaskPage> {
        let prefix = [LOGBOOK.tag];
        self.task_page((&prefix, &keyspaces::end_of(prefix)), true, after, limit)
    }

    /// A cursor is the key of the task it is behind.
    fn task_page(
        &self,
        (lower, upper): (&[u8], &[u8]),
        reverse: bool,
        after: Option<&PageCursor>,
        limit: usize,
    ) -> Result<TaskPage> {
        let mut range = KeyRange { reverse, ..KeyRange::half_open(lower, upper) };
        if let Some(PageCursor(key)) = after {
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
                page.next = Some(PageCursor(std::mem::take(&mut last)));
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

    /// The tasks of `document` in reading order, or the open ones alone; none if it does not exist.
    /// Of the document no more is read than the runs that hold the tasks and the blocks above them.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn tasks_of(&self, document: DocumentId, open_only: bool) -> Result<Vec<BlockId>> {
        let classes: &[bool] = if open_only { &[true] } else { &[true, false] };
        let mut tasks = HashSet::new();
        for is_open in classes {
            tasks.extend(
                tasks_in(self.read, document, *is_open)?.into_iter().map(|(block, _)| block),
            );
        }
        let branches = self.branches(document, &tasks)?;
        let sorted: Vec<BlockId> =
            branches.in_reading_order().into_iter().filter(|block| tasks.contains(block)).collect();
        if sorted.len() == tasks.len() {
            Ok(sorted)
        } else {
            let (found, expected) = (sorted.len(), tasks.len());
            Err(Error::corrupted(format_args!(
                "document {document}: {found} of its {expected} tasks can be reached"
            )))
        }
    }

    /// The blocks that are `tasks` of `document`, in the order given.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`leafbase_model::ErrorKind::Corrupted`] also for one that is not in
    /// the document.
    pub fn task_blocks(&self, document: DocumentId, tasks: &[BlockId]) -> Result<Vec<BlockRecord>> {
        let hint = |task: &BlockId| Ok((self.location_in(document, *task)?.run_key(), *task));
        let hints = tasks.iter().map(hint).collect::<Result<_>>()?;
        let (mut blocks, mut authors) =
            (HashMap::with_capacity(tasks.len()), AuthorCache::default());
        self.visit_in_runs(hints, &mut |key, run, index, id| {
            let block = block::decode(id, run.block(index), &mut authors)
                .map_err(|fault| records::fault(key, fault))?;
            blocks.insert(id, block);
            Ok(())
        })?;
        Ok(tasks.iter().filter_map(|task| blocks.remove(task)).collect())
    }

    fn location_in(&self, document: DocumentId, block: BlockId) -> Result<LocationRecord> {
        let location = self.location(block)?.filter(|location| location.document == document);
        location.ok_or_else(|| records::damaged(&keyspaces::block_location(block)))
    }

    /// `blocks` and all above them, each where it stands.
    fn branches(&self, document: DocumentId, blocks: &HashSet<BlockId>) -> Result<Branches> {
        let mut waiting: Vec<BlockId> = blocks.iter().copied().collect();
        let (mut met, mut hints) = (HashSet::new(), Vec::with_capacity(waiting.len()));
        while let Some(block) = waiting.pop() {
            if block.is_nil() || !met.insert(block) {
                continue;
            }
            let location = self.location_in(document, block)?;
            hints.push((location.run_key(), block));
            waiting.push(location.parent);
        }
        let mut branches = Branches::default();
        self.visit_in_runs(hints, &mut |key, _, index, block| {
            branches.add(key, index, block);
            Ok(())
        })?;
        branches.spots.sort_unstable();
        Ok(branches)
    }

    /// Finds blocks, each in the run under the key beside it or in one to its right, and hands them
    /// to `visit` with their runs. However many of them a run holds and however many keys lead to
    /// it, it is read once.
    fn visit_in_runs(
        &self,
        mut hints: Vec<(Vec<u8>, BlockId)>,
        visit: VisitSpot<'_>,
    ) -> Result<()> {
        hints.sort_unstable();
        let mut ahead = hints.into_iter().peekable();
        while let Some((start, _)) = ahead.peek().cloned() {
            let (document, parent, _) =
                keyspaces::read_run(&start).ok_or_else(|| records::damaged(&start))?;
            let end = keyspaces::end_of(keyspaces::parent_runs(document, parent));
            let (mut sought, mut passed_by) = (Vec::new(), 0);
            self.read.scan(KeyRange::half_open(&start, &end), &mut |key, value| {
                while let Some((_, block)) = ahead.next_if(|(hint, _)| hint.as_slice() <= key) {
                    sought.push(block);
                }
                if sought.is_empty() {
                    passed_by += 1;
                } else {
                    sought = visit_found(key, RunView::read(key, value)?, &sought, visit)?;
                    passed_by = 0;
                }
                let is_far = passed_by == PASSED_BY
                    || ahead.peek().is_none_or(|(hint, _)| **hint >= end[..]);
                Ok(if sought.is_empty() && is_far {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })?;
            // What no run to the right holds is nowhere; nor is what a key leads to behind the last
            // run.
            sought.extend(
                std::iter::from_fn(|| ahead.next_if(|(hint, _)| *hint == start))
                    .map(|(_, block)| block),
            );
            if let Some(lost) = sought.first() {
                return Err(records::damaged(&keyspaces::block_location(*lost)));
            }
        }
        Ok(())
    }
}

/// Hands those of `sought` that are in `run` to `visit`, and gives the others.
fn visit_found(
    key: &[u8],
    run: RunView<'_>,
    sought: &[BlockId],
    visit: VisitSpot<'_>,
) -> Result<Vec<BlockId>> {
    let mut others = Vec::new();
    for block in sought {
        match run.position(*block) {
            Some(index) => visit(key, run, index, *block)?,
            None => others.push(*block),
        }
    }
    Ok(others)
}

/// A part of a document's tree that is complete upwards.
#[derive(Default)]
struct Branches {
    /// Key of the run, index in it, and block; sorted, so that siblings are side by side and in
    /// order.
    spots: Vec<(Rc<[u8]>, usize, BlockId)>,
}

impl Branches {
    fn add(&mut self, key: &[u8], index: usize, block: BlockId) {
        let key = match self.spots.last() {
            Some((last, ..)) if **last == *key => Rc::clone(last),
            _ => key.into(),
        };
        self.spots.push((key, index, block));
    }

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
            let Some((_, _, block)) = siblings.next().and_then(|index| self.spots.get(index))
            else {
                path.pop();
                continue;
            };
            sorted.push(*block);
            path.push(self.children_of(*block));
        }
        sorted
    }
}
