//! Creation of tasks.

use leafbase_model::{
    BlockData, BlockDraft, Error, Limits, ListStyle, Result, Task, TaskDraft, TaskInfo,
    TaskLocation,
};
use leafbase_tree_ops::{self as ops, ResolvedPosition};

use super::places::{self, Destinations, Documents, by_place};
use crate::core::connection::OperationTransaction;
use crate::operations::prepare;

/// A task to create.
struct Addition {
    /// Its index in the request.
    number: usize,
    draft: BlockDraft,
    location: TaskLocation,
}

/// The validated tasks of one request.
pub(super) struct Additions<'a, 'w, 't> {
    transaction: &'a mut OperationTransaction<'w, 't>,
    limits: &'a Limits,
    destinations: Destinations,
    documents: Documents,
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
            documents: Documents::default(),
            added: Vec::new(),
        })
    }

    /// Adds the task at `number` of the request. The paths of errors are relative to it.
    pub(super) fn add(&mut self, number: usize, task: &TaskDraft) -> Result<()> {
        let document = self
            .destinations
            .open(self.transaction, task.location)
            .map_err(|error| error.at("location"))?;
        let draft = self.draft(task)?;
        let documents = &mut self.documents;
        let (place, location) = self.transaction.plan(|tree, _| {
            let record = documents.record(tree, document)?;
            Ok((places::place(record, &draft.data), places::location(record)))
        })?;
        self.added.push((Addition { number, draft, location }, place));
        Ok(())
    }

    /// The block draft of the task.
    fn draft(&self, task: &TaskDraft) -> Result<BlockDraft> {
        let (mut patch, mut info) = (task.info, TaskInfo::default());
        patch
            .resolve_days(|day| self.destinations.day(day))
            .and_then(|()| patch.apply(&mut info))
            .map_err(|error| error.at("taskInfo"))?;
        let text = BlockData::text(task.markdown.clone());
        let mut data = BlockData { list_style: ListStyle::Task, task: Some(info), ..text };
        if prepare::draft(&mut data, false, false, self.limits)?.is_empty() {
            return Ok(BlockDraft::new(data));
        }
        Err(several_paragraphs())
    }

    /// Inserts all tasks and returns them in the order of the request.
    pub(super) fn finish(self) -> Result<Vec<Task>> {
        let mut tasks = Vec::with_capacity(self.added.len());
        for (place, added) in by_place(self.added) {
            let apart = added
                .into_iter()
                .map(|Addition { number, draft, location }| ((number, location), draft));
            let (shown, drafts): (Vec<_>, Vec<_>) = apart.unzip();
            let inserted =
                self.transaction.plan(|tree, context| ops::insert(tree, context, drafts, place))?;
            let blocks = inserted
                .subtrees()
                .into_iter()
                .flat_map(|subtrees| &subtrees.0)
                .map(|node| node.block.clone());
            let task = |((number, location), block)| Some((number, super::shown(block, location)?));
            tasks.extend(shown.into_iter().zip(blocks).filter_map(task));
            self.transaction.apply(inserted.edits)?;
        }
        tasks.sort_unstable_by_key(|(number, _)| *number);
        Ok(tasks.into_iter().map(|(_, task)| task).collect())
    }
}

/// Further paragraphs would become blocks that are not tasks, and which the inbox does not show.
pub(super) fn several_paragraphs() -> Error {
    Error::validation("the text of a task is one paragraph").at("markdown")
}
