//! Creates the tasks of one request.

use leafbase_model::{
    BlockDraft, Error, GivenText, Limits, ListStyle, Result, Task, TaskDraft, TaskInfo,
    TaskLocation,
};
use leafbase_tree_ops::{self as ops, ResolvedPosition};

use super::destinations::{self, Destinations, DocumentRecords, group_by_position};
use super::task_blocks::to_task;
use crate::core::transaction::OperationTransaction;
use crate::operations::normalize;
use leafbase_store::task_location;

/// A validated task that has no block yet.
struct Addition {
    /// Index in the request.
    number: usize,
    draft: BlockDraft,
    location: TaskLocation,
}

/// The tasks of one request. Each is validated by [`Self::add`]; [`Self::finish`] inserts them.
pub(super) struct Additions<'a, 'w, 't> {
    transaction: &'a mut OperationTransaction<'w, 't>,
    limits: &'a Limits,
    destinations: Destinations,
    documents: DocumentRecords,
    added: Vec<(Addition, ResolvedPosition)>,
}

impl<'a, 'w, 't> Additions<'a, 'w, 't> {
    pub(super) fn begin(
        transaction: &'a mut OperationTransaction<'w, 't>,
        limits: &'a Limits,
    ) -> Result<Self> {
        let destinations = Destinations::new(transaction)?;
        Ok(Self {
            transaction,
            limits,
            destinations,
            documents: DocumentRecords::default(),
            added: Vec::new(),
        })
    }

    /// Validates the task at index `number` of the request. Paths of errors are relative to it.
    pub(super) fn add(&mut self, number: usize, task: &TaskDraft) -> Result<()> {
        let document = self
            .destinations
            .open(self.transaction, task.location)
            .map_err(|error| error.at("location"))?;
        let draft = self.draft(task)?;
        let documents = &mut self.documents;
        let (position, location) = self.transaction.plan(|tree, _| {
            let record = documents.record(tree, document)?;
            Ok((destinations::position(record, &draft.data), task_location(record)))
        })?;
        self.added.push((Addition { number, draft, location }, position));
        Ok(())
    }

    /// The draft of the task's block.
    fn draft(&self, task: &TaskDraft) -> Result<BlockDraft> {
        let (mut patch, mut info) = (task.info, TaskInfo::default());
        patch
            .resolve_days(|day| self.destinations.day(day))
            .and_then(|()| patch.apply(&mut info))
            .map_err(|error| error.at("taskInfo"))?;
        let mut draft = BlockDraft::markdown(task.markdown.clone());
        (draft.data.list_style, draft.data.task) = (ListStyle::Task, Some(info));
        if let Some(GivenText::Markdown { beside, .. }) = &mut draft.text {
            (beside.list, beside.state) = (true, task.info.state.is_some());
        }
        if normalize::draft(&mut draft, false, false, self.limits)?.is_empty() {
            return Ok(draft);
        }
        Err(several_paragraphs())
    }

    /// Inserts all tasks, those of one position together, and returns them in the order of the
    /// request.
    pub(super) fn finish(self) -> Result<Vec<Task>> {
        let mut tasks = Vec::with_capacity(self.added.len());
        for (position, added) in group_by_position(self.added) {
            let unzipped = added
                .into_iter()
                .map(|Addition { number, draft, location }| ((number, location), draft));
            let (targets, drafts): (Vec<_>, Vec<_>) = unzipped.unzip();
            let inserted = self
                .transaction
                .plan(|tree, context| ops::insert(tree, context, drafts, position))?;
            let blocks = inserted
                .subtrees()
                .into_iter()
                .flat_map(|subtrees| &subtrees.0)
                .map(|node| node.block.clone());
            let task = |((number, location), block)| Some((number, to_task(block, location)?));
            tasks.extend(targets.into_iter().zip(blocks).filter_map(task));
            self.transaction.apply(inserted.edits)?;
        }
        tasks.sort_unstable_by_key(|(number, _)| *number);
        Ok(tasks.into_iter().map(|(_, task)| task).collect())
    }
}

/// Further paragraphs would become blocks that are not tasks, which the inbox does not show.
pub(super) fn several_paragraphs() -> Error {
    Error::validation("the text of a task must be a single paragraph").at("markdown")
}
