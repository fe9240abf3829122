//! Reads of the tasks of one document, in reading order.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use leafbase_model::{
    BlockId, BlockRecord, BlockType, DocumentId, Error, IdMap, IdSet, Result, invariant,
};

use super::SpaceReader;
use super::read_ahead::{prefetch_keys, prefetch_ranges};
use super::tasks::tasks_in;
use super::trees::{NodeBuilder, TreeNode, UNRANKED, reorder};
use crate::keyspaces;
use crate::kv::KeyRange;
use crate::lookup::stored_document;
use crate::msgpack::Decoded;
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::records::location::LocationRecord;
use crate::run::RunView;
use crate::tasks::TaskEntry;

/// Runs without wanted blocks that a scan passes before it seeks the next one.
const MAX_PASSED: usize = 4;

/// Blocks of a document up to which all of it is read for its tasks.
const MAX_SMALL_BLOCKS: u64 = 256;

/// Tasks of a document, in pages, up to which all are decoded when they are found: their runs are
/// not read again then.
const DECODED_PAGES: usize = 2;

/// Receives the key of a run, the record of a block in it, and the hint that led to it.
type VisitHinted<'f> = &'f mut dyn FnMut(&[u8], &[u8], &RunHint) -> Result<()>;

/// The tasks of a document in reading order.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentTasks {
    /// Their blocks, which were read to find them.
    Blocks(Vec<BlockRecord>),
    /// Too many: [`SpaceReader::task_blocks`] reads the blocks of a page.
    Ids(Vec<BlockId>),
}

impl DocumentTasks {
    /// Their IDs.
    #[must_use]
    pub fn ids(&self) -> Cow<'_, [BlockId]> {
        match self {
            Self::Blocks(blocks) => blocks.iter().map(|block| block.id).collect(),
            Self::Ids(ids) => Cow::Borrowed(ids),
        }
    }
}

impl SpaceReader<'_> {
    /// The tasks of `document`, or the open ones alone, of which a page of at most `limit` is
    /// wanted. None if the document does not exist.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn document_tasks(
        &self,
        document: DocumentId,
        open_only: bool,
        limit: usize,
    ) -> Result<DocumentTasks> {
        match stored_document(self.read, document)? {
            None => return Ok(DocumentTasks::Blocks(Vec::new())),
            Some(stored) if stored.blocks <= MAX_SMALL_BLOCKS => {
                // Takes less time than finding them.
                let mut builder = TaskNodes { open_only, authors: AuthorCache::default() };
                let nodes = self.document_nodes(document, &mut builder)?;
                let tasks = nodes.into_iter().filter_map(|(_, node)| node.task).collect();
                return Ok(DocumentTasks::Blocks(tasks));
            }
            Some(_) => {}
        }
        let tasks = self.indexed_tasks(document, open_only)?;
        if tasks.len() > limit.saturating_mul(DECODED_PAGES) {
            return self.sorted_ids(document, &tasks).map(DocumentTasks::Ids);
        }
        let (mut authors, mut decoded) = (AuthorCache::default(), Vec::with_capacity(tasks.len()));
        let sorted = self.in_reading_order(document, &tasks, &mut |key, record, hint| {
            decoded.push(decode_task(key, record, hint, &mut authors)?);
            Ok(())
        })?;
        let mut ranks = vec![UNRANKED; decoded.len()];
        for (rank, (block, ordinal)) in sorted.into_iter().enumerate() {
            let unranked = ranks.get_mut(ordinal).filter(|rank| **rank == UNRANKED);
            let Some(unranked) = unranked else { invariant!("task {block} was visited, and once") };
            *unranked = rank;
        }
        reorder(&mut decoded, ranks, tasks.len());
        Ok(DocumentTasks::Blocks(decoded))
    }

    /// The tasks of `document` in reading order, or the open ones alone; empty if it does not
    /// exist. Reads only the runs of the tasks and of their ancestors.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn tasks_of(&self, document: DocumentId, open_only: bool) -> Result<Vec<BlockId>> {
        self.sorted_ids(document, &self.indexed_tasks(document, open_only)?)
    }

    fn sorted_ids(&self, document: DocumentId, tasks: &[BlockId]) -> Result<Vec<BlockId>> {
        let sorted = self.in_reading_order(document, tasks, &mut |_, _, _| Ok(()))?;
        Ok(sorted.into_iter().map(|(block, _)| block).collect())
    }

    /// The blocks of a page of the `tasks` of `document`.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`leafbase_model::ErrorKind::Corrupted`] also for a block outside of
    /// the document; an invariant if the page ends after the last task.
    pub fn task_blocks(
        &self,
        document: DocumentId,
        tasks: DocumentTasks,
        page: Range<usize>,
    ) -> Result<Vec<BlockRecord>> {
        let ids = match tasks {
            DocumentTasks::Blocks(mut blocks) => {
                let count = blocks.len();
                let is_within = page.start <= page.end && page.end <= count;
                invariant!(is_within, "a page of tasks lies within the list: {page:?} of {count}");
                blocks.truncate(page.end);
                blocks.drain(..page.start);
                return Ok(blocks);
            }
            DocumentTasks::Ids(ids) => ids,
        };
        let Some(listed) = ids.get(page.clone()) else {
            invariant!("a page of tasks lies within the list: {page:?} of {}", ids.len())
        };
        let (mut authors, mut blocks) = (AuthorCache::default(), IdMap::default());
        blocks.reserve(listed.len());
        let hints = self.run_hints(document, listed, true)?;
        self.visit_in_runs(document, hints, &mut |key, record, hint| {
            blocks.insert(hint.block, decode_task(key, record, hint, &mut authors)?);
            Ok(())
        })?;
        // A task that no run has is an error of the visit.
        debug_assert!(listed.iter().all(|task| blocks.contains_key(task)), "each task was found");
        Ok(listed.iter().filter_map(|task| blocks.remove(task)).collect())
    }

    /// The tasks of `document` in its index by ID, or the open ones alone.
    fn indexed_tasks(&self, document: DocumentId, open_only: bool) -> Result<Vec<BlockId>> {
        let mut tasks = Vec::new();
        let classes: &[bool] = if open_only { &[true] } else { &[true, false] };
        for is_open in classes {
            let entries = tasks_in(self.read, document, *is_open)?;
            tasks.extend(entries.into_iter().map(|(block, _)| block));
        }
        // Blocks that were added one after the other are found in this order as well.
        tasks.sort();
        Ok(tasks)
    }

    /// `tasks` of `document` in reading order, each with the number of those visited before it.
    fn in_reading_order(
        &self,
        document: DocumentId,
        tasks: &[BlockId],
        visit_task: VisitHinted<'_>,
    ) -> Result<Vec<(BlockId, usize)>> {
        let hints = self.branch_hints(document, tasks)?;
        let mut branches = Branches::default();
        branches.blocks.reserve(hints.len());
        self.visit_in_runs(document, hints, &mut |key, record, hint| {
            branches.add(hint);
            if hint.is_task { visit_task(key, record, hint) } else { Ok(()) }
        })?;
        let sorted = branches.tasks_in_reading_order();
        if sorted.len() == tasks.len() {
            Ok(sorted)
        } else {
            let (found, expected) = (sorted.len(), tasks.len());
            Err(Error::corrupted(format_args!(
                "document {document}: {found} of its {expected} tasks can be reached"
            )))
        }
    }

    /// Hints to the runs of `blocks` of `document`.
    fn run_hints(
        &self,
        document: DocumentId,
        blocks: &[BlockId],
        are_tasks: bool,
    ) -> Result<Vec<RunHint>> {
        if self.read.is_remote() {
            let key = |block: &BlockId| keyspaces::block_location(*block).to_vec();
            prefetch_keys(self.read, blocks.iter().map(key).collect::<Vec<_>>().iter());
        }
        let mut hints = Vec::with_capacity(blocks.len());
        for block in blocks {
            let location = self.location(*block)?.filter(|location| location.document == document);
            let LocationRecord { parent, order, .. } =
                location.ok_or_else(|| records::corrupt(&keyspaces::block_location(*block)))?;
            hints.push(RunHint {
                parent,
                order,
                block: *block,
                is_task: are_tasks,
                is_found: false,
            });
        }
        Ok(hints)
    }

    /// Hints to the runs of `tasks` and of all their ancestors.
    fn branch_hints(&self, document: DocumentId, tasks: &[BlockId]) -> Result<Vec<RunHint>> {
        let mut hints = self.run_hints(document, tasks, true)?;
        let (mut ancestors, mut level_start) = (IdSet::default(), 0);
        while let Some(level @ [_, ..]) = hints.get(level_start..) {
            let mut parents: Vec<BlockId> = level.iter().map(|hint| hint.parent).collect();
            parents.retain(|parent| {
                let is_task = || tasks.binary_search(parent).is_ok();
                !parent.is_nil() && ancestors.insert(*parent) && !is_task()
            });
            level_start = hints.len();
            hints.extend(self.run_hints(document, &parents, false)?);
        }
        Ok(hints)
    }

    /// Finds blocks of `document`, each in the run of its hint or in one to its right, and passes
    /// them to `visit`: by the IDs of their parents, and children of one parent in order. A run is
    /// read once, however many of the blocks it holds.
    fn visit_in_runs(
        &self,
        document: DocumentId,
        mut hints: Vec<RunHint>,
        visit: VisitHinted<'_>,
    ) -> Result<()> {
        // In the order of runs, so that one scan serves all hints of the same parent.
        hints.sort_by(|a, b| (a.parent, &a.order).cmp(&(b.parent, &b.order)));
        let run_key = |hint: &RunHint| keyspaces::run(document, hint.parent, &hint.order);
        // From a remote store the hinted runs are loaded together, and none that lie between.
        let is_remote = self.read.is_remote();
        if is_remote {
            let mut runs: Vec<_> = hints.iter().map(run_key).collect();
            runs.dedup();
            prefetch_ranges(self.read, runs.iter(), 1);
        }
        let max_passed = if is_remote { 0 } else { MAX_PASSED };
        let mut wanted = Vec::with_capacity(hints.len());
        let mut ahead = hints.into_iter().peekable();
        while let Some(first) = ahead.next() {
            let (start, parent) = (run_key(&first), first.parent);
            let end = keyspaces::prefix_end(keyspaces::parent_runs(document, parent));
            wanted.push(first);
            let mut passed = 0;
            self.read.scan(KeyRange::half_open(&start, &end), &mut |key, value| {
                let (_, _, order) =
                    keyspaces::parse_run(key).ok_or_else(|| records::corrupt(key))?;
                let is_reached = |hint: &RunHint| hint.parent == parent && *hint.order <= *order;
                wanted.extend(std::iter::from_fn(|| ahead.next_if(is_reached)));
                if wanted.is_empty() {
                    passed += 1;
                } else {
                    visit_found(key, RunView::read(key, value)?, &mut wanted, visit)?;
                    passed = 0;
                }
                let is_far =
                    passed >= max_passed || ahead.peek().is_none_or(|hint| hint.parent != parent);
                Ok(if wanted.is_empty() && is_far {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })?;
            // Locations exist for these blocks, so a run that holds them is missing.
            if let Some(lost) = wanted.first() {
                return Err(records::corrupt(&keyspaces::block_location(lost.block)));
            }
        }
        Ok(())
    }
}

/// Where a block is, or was when the hint was written: its run is this one, or one to its right.
struct RunHint {
    parent: BlockId,
    order: Arc<[u8]>,
    block: BlockId,
    /// Whether it is one of the tasks, or else an ancestor of some.
    is_task: bool,
    is_found: bool,
}

fn decode_task(
    key: &[u8],
    record: &[u8],
    hint: &RunHint,
    authors: &mut AuthorCache,
) -> Result<BlockRecord> {
    block::decode(hint.block, record, authors).map_err(|error| records::decode_error(key, error))
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

/// Passes those of the `wanted` blocks that `run` holds to `visit`, in its order, and leaves the
/// others.
fn visit_found(
    key: &[u8],
    run: RunView<'_>,
    wanted: &mut Vec<RunHint>,
    visit: VisitHinted<'_>,
) -> Result<()> {
    // Mostly they are sorted: hints keep the order of the tasks, unless the run was split.
    wanted.sort_by_key(|hint| hint.block);
    let mut missing = wanted.len();
    for (index, block) in run.ids().enumerate() {
        let hinted = wanted.binary_search_by_key(&block, |hint| hint.block).ok();
        let hint = hinted.and_then(|at| wanted.get_mut(at)).filter(|hint| !hint.is_found);
        let Some(hint) = hint else { continue };
        visit(key, run.block(index), hint)?;
        hint.is_found = true;
        missing -= 1;
        if missing == 0 {
            break;
        }
    }
    wanted.retain(|hint| !hint.is_found);
    Ok(())
}

/// A block of [`Branches`].
struct BranchBlock {
    id: BlockId,
    /// Of a task: the number of tasks visited before it.
    ordinal: Option<usize>,
}

/// A part of a document's tree that contains all ancestors of its blocks.
#[derive(Default)]
struct Branches {
    /// By the IDs of their parents, and children of one parent in order.
    blocks: Vec<BranchBlock>,
    /// Each parent, in ascending order, with the range of its children in `blocks`.
    parents: Vec<(BlockId, Range<usize>)>,
    /// Tasks visited.
    tasks: usize,
}

impl Branches {
    /// Adds the next block.
    fn add(&mut self, hint: &RunHint) {
        let end = self.blocks.len();
        match self.parents.last_mut() {
            Some((parent, children)) if *parent == hint.parent => children.end = end + 1,
            last => {
                debug_assert!(last.is_none_or(|(parent, _)| *parent < hint.parent), "visited once");
                self.parents.push((hint.parent, end..end + 1));
            }
        }
        let ordinal = hint.is_task.then_some(self.tasks);
        self.tasks += usize::from(hint.is_task);
        self.blocks.push(BranchBlock { id: hint.block, ordinal });
    }

    fn children_of(&self, parent: BlockId) -> Range<usize> {
        let found = self.parents.binary_search_by_key(&parent, |(parent, _)| *parent);
        found.ok().and_then(|at| self.parents.get(at)).map_or(0..0, |(_, range)| range.clone())
    }

    /// Traverses the tree from the root. A block has one position, so none is visited twice.
    fn tasks_in_reading_order(&self) -> Vec<(BlockId, usize)> {
        let mut sorted = Vec::with_capacity(self.tasks);
        // The root is the only child of the lowest ID.
        let mut path = vec![self.children_of(BlockId::NIL)];
        while let Some(siblings) = path.last_mut() {
            let Some(block) = siblings.next().and_then(|index| self.blocks.get(index)) else {
                path.pop();
                continue;
            };
            sorted.extend(block.ordinal.map(|ordinal| (block.id, ordinal)));
            path.push(self.children_of(block.id));
        }
        sorted
    }
}
