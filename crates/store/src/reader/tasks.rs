//! Reads of tasks: open ones by day, the logbook, and those of a document.

use std::ops::{Bound, ControlFlow, Range};
use std::rc::Rc;

use leafbase_model::{
    BlockId, BlockRecord, BlockType, Day, DocumentId, Error, IdMap, IdSet, Result, TaskInfo,
    TaskLocation, invariant,
};

use super::query::foreign_cursor;
use super::trees::{NodeBuilder, TreeNode, rows_of};
use super::{PageCursor, SpaceReader, Span};
use crate::keyspaces::{self, LOGBOOK, TASKS_BY_DAY, day_bytes, prefix_end_of};
use crate::kv::{KeyRange, Read};
use crate::lookup::stored_document;
use crate::msgpack::Decoded;
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::records::layout::Value;
use crate::records::listed_task::ListedTask;
use crate::records::location::LocationRecord;
use crate::run::RunView;
use crate::tasks::TaskEntry;

/// Runs without wanted blocks that a scan passes before it seeks the next one.
const MAX_PASSED: usize = 4;

/// Blocks of a document up to which all of it is read for its tasks.
const MAX_SMALL_BLOCKS: u64 = 256;

/// Tasks for which a page has room at first.
const ROOM: usize = 64;

/// Receives the key of a run, the run, the index of a block in it, and the block.
type VisitPosition<'f> = &'f mut dyn FnMut(&[u8], RunView<'_>, usize, BlockId) -> Result<()>;

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

    /// The blocks of [`Self::tasks_of`] of a document of at most 256 blocks, which is read as a
    /// whole: that takes less time than finding its tasks. `None` of a larger one.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn tasks_of_small_document(
        &self,
        document: DocumentId,
        open_only: bool,
    ) -> Result<Option<Vec<BlockRecord>>> {
        match stored_document(self.read, document)? {
            None => return Ok(Some(Vec::new())),
            Some(stored) if stored.blocks > MAX_SMALL_BLOCKS => return Ok(None),
            Some(_) => {}
        }
        let mut builder = TaskNodes { open_only, authors: AuthorCache::default() };
        let nodes = self.document_nodes(document, &mut builder)?;
        Ok(Some(nodes.into_iter().filter_map(|(_, node)| node.task).collect()))
    }

    /// The tasks of `document` in reading order, or the open ones alone; empty if it does not
    /// exist. Reads only the runs of the tasks and of their ancestors.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn tasks_of(&self, document: DocumentId, open_only: bool) -> Result<Vec<BlockId>> {
        let classes: &[bool] = if open_only { &[true] } else { &[true, false] };
        let mut tasks = IdSet::default();
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

    /// The blocks of `tasks` of `document`, in the given order.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`leafbase_model::ErrorKind::Corrupted`] also for a block outside of
    /// the document.
    pub fn task_blocks(&self, document: DocumentId, tasks: &[BlockId]) -> Result<Vec<BlockRecord>> {
        let hint = |task: &BlockId| Ok((self.location_in(document, *task)?.run_key(), *task));
        let hints = tasks.iter().map(hint).collect::<Result<_>>()?;
        let (mut blocks, mut authors) = (IdMap::default(), AuthorCache::default());
        blocks.reserve(tasks.len());
        self.visit_in_runs(hints, &mut |key, run, index, id| {
            let block = block::decode(id, run.block(index), &mut authors)
                .map_err(|error| records::decode_error(key, error))?;
            blocks.insert(id, block);
            Ok(())
        })?;
        // A task that no run has is an error of the visit.
        debug_assert!(tasks.iter().all(|task| blocks.contains_key(task)), "each task was found");
        Ok(tasks.iter().filter_map(|task| blocks.remove(task)).collect())
    }

    fn location_in(&self, document: DocumentId, block: BlockId) -> Result<LocationRecord> {
        let location = self.location(block)?.filter(|location| location.document == document);
        location.ok_or_else(|| records::corrupt(&keyspaces::block_location(block)))
    }

    /// The positions of `blocks` and of all their ancestors.
    fn branches(&self, document: DocumentId, blocks: &IdSet<BlockId>) -> Result<Branches> {
        let mut waiting: Vec<BlockId> = blocks.iter().copied().collect();
        let (mut visited, mut hints) = (IdSet::default(), Vec::with_capacity(waiting.len()));
        visited.reserve(waiting.len());
        while let Some(block) = waiting.pop() {
            if block.is_nil() || !visited.insert(block) {
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
        // By run key and index: parent by parent, and siblings in order.
        branches.positions.sort_unstable();
        Ok(branches)
    }

    /// Finds blocks, each in the run of its hint or in one to its right, and passes them to `visit`
    /// with their runs. A run is read once, however many of the blocks it holds.
    fn visit_in_runs(
        &self,
        mut hints: Vec<(Vec<u8>, BlockId)>,
        visit: VisitPosition<'_>,
    ) -> Result<()> {
        hints.sort_unstable();
        // In the order of runs, so that one scan serves all hints of the same parent.
        let mut ahead = hints.into_iter().peekable();
        while let Some((start, _)) = ahead.peek().cloned() {
            let (document, parent, _) =
                keyspaces::parse_run(&start).ok_or_else(|| records::corrupt(&start))?;
            let end = keyspaces::prefix_end(keyspaces::parent_runs(document, parent));
            let (mut wanted, mut passed) = (Vec::new(), 0);
            self.read.scan(KeyRange::half_open(&start, &end), &mut |key, value| {
                while let Some((_, block)) = ahead.next_if(|(hint, _)| hint.as_slice() <= key) {
                    wanted.push(block);
                }
                if wanted.is_empty() {
                    passed += 1;
                } else {
                    wanted = visit_found(key, RunView::read(key, value)?, &wanted, visit)?;
                    passed = 0;
                }
                let is_far =
                    passed == MAX_PASSED || ahead.peek().is_none_or(|(hint, _)| **hint >= end[..]);
                Ok(if wanted.is_empty() && is_far {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })?;
            // A block that no run to the right of its hint holds is missing.
            wanted.extend(
                std::iter::from_fn(|| ahead.next_if(|(hint, _)| *hint == start))
                    .map(|(_, block)| block),
            );
            // Locations exist for these blocks, so a run that holds them is missing.
            if let Some(lost) = wanted.first() {
                return Err(records::corrupt(&keyspaces::block_location(*lost)));
            }
        }
        Ok(())
    }
}

/// Decodes tasks alone.
struct TaskNodes {
    open_only: bool,
    authors: AuthorCache,
}

struct TaskNode {
    id: BlockId,
    block_type: BlockType,
    /// The block, if it is a wanted task.
    task: Option<BlockRecord>,
}

impl NodeBuilder for TaskNodes {
    type Node = TaskNode;

    fn build(&mut self, id: BlockId, record: &[u8]) -> Decoded<TaskNode> {
        let is_wanted = if self.open_only {
            block::task_of(record)?.is_some_and(|task| TaskEntry::of(&task).is_open())
        } else {
            block::may_have_markers(record)?
        };
        let task = is_wanted.then(|| block::decode(id, record, &mut self.authors)).transpose()?;
        let task = task.filter(|block| block.data.task.is_some());
        Ok(TaskNode { id, block_type: block::type_of(record)?, task })
    }
}

impl TreeNode for TaskNode {
    fn id(&self) -> BlockId {
        self.id
    }

    fn block_type(&self) -> BlockType {
        self.block_type
    }
}

/// Passes the blocks in `run` to `visit`, and returns the others.
fn visit_found(
    key: &[u8],
    run: RunView<'_>,
    wanted: &[BlockId],
    visit: VisitPosition<'_>,
) -> Result<Vec<BlockId>> {
    let mut others = Vec::new();
    for block in wanted {
        match run.position(*block) {
            Some(index) => visit(key, run, index, *block)?,
            None => others.push(*block),
        }
    }
    Ok(others)
}

/// A part of a document's tree that contains all ancestors of its blocks.
#[derive(Default)]
struct Branches {
    /// Key of the run, index in it, and block; sorted, so that siblings are adjacent and in order.
    positions: Vec<(Rc<[u8]>, usize, BlockId)>,
}

impl Branches {
    fn add(&mut self, key: &[u8], index: usize, block: BlockId) {
        let key = match self.positions.last() {
            Some((last, ..)) if **last == *key => Rc::clone(last),
            _ => key.into(),
        };
        self.positions.push((key, index, block));
    }

    fn children_of(&self, parent: BlockId) -> Range<usize> {
        let parent_of = |key: &[u8]| keyspaces::parse_run(key).map(|(_, parent, _)| parent);
        let start = self.positions.partition_point(|(key, ..)| parent_of(key) < Some(parent));
        let end = self.positions.partition_point(|(key, ..)| parent_of(key) <= Some(parent));
        start..end
    }

    /// Traverses the tree from the root. A block has one position, so none is visited twice.
    fn in_reading_order(&self) -> Vec<BlockId> {
        debug_assert!(self.positions.is_sorted(), "positions are found by binary search");
        let mut sorted = Vec::with_capacity(self.positions.len());
        // The root is the only child of the lowest ID.
        let mut path = vec![self.children_of(BlockId::NIL)];
        while let Some(siblings) = path.last_mut() {
            let Some((_, _, block)) = siblings.next().and_then(|index| self.positions.get(index))
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
