//! Tasks are made.

use leafbase_model::{BlockData, BlockDraft, DocumentId, Error, Limits, ListStyle, Result, Task, TaskDraft, TaskInfo};
use leafbase_tree_ops as ops;

use super::places::{self, Destinations, by_document, top};
use crate::connection::Writing;
use crate::prepare;
use crate::sight::Full;

/// The tasks of one request, made ready one after the other.
pub(super) struct Additions<'a, 'w, 't> {
    writing: &'a mut Writing<'w, 't, Full>,
    limits: &'a Limits,
    destinations: Destinations,
    /// Each task with its number in the request.
    drafts: Vec<(DocumentId, (usize, BlockDraft))>,
}

impl<'a, 'w, 't> Additions<'a, 'w, 't> {
    pub(super) fn begin(writing: &'a mut Writing<'w, 't, Full>, limits: &'a Limits) -> Result<Self> {
        let destinations = Destinations::new(writing)?;
        Ok(Self { writing, limits, destinations, drafts: Vec::new() })
    }

    /// Adds the task that the request has at `number`. The path of an error begins below it.
    pub(super) fn add(&mut self, number: usize, task: &TaskDraft) -> Result<()> {
        let document = self.destinations.open(self.writing, task.location).map_err(|error| error.at("location"))?;
        let draft = self.draft(task)?;
        self.drafts.push((document, (number, draft)));
        Ok(())
    }

    /// The block that the task becomes.
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

    /// Puts all of them in, and gives them in the order of the request.
    pub(super) fn finish(self) -> Result<Vec<Task>> {
        let Self { writing, drafts, .. } = self;
        let (mut added, mut edits) = (Vec::with_capacity(drafts.len()), Vec::new());
        for (document, drafts) in by_document(drafts) {
            let (numbers, drafts): (Vec<_>, Vec<_>) = drafts.into_iter().unzip();
            let inserted = writing.decide(|tree, context| ops::insert(tree, context, drafts, top(document)))?;
            let record = writing.transaction.reader()?.document(document)?.ok_or_else(Error::not_found)?;
            let blocks = inserted.forest().into_iter().flat_map(|forest| &forest.0).map(|node| node.block.clone());
            let tasks = blocks.filter_map(|block| super::shown(block, places::location(&record)));
            added.extend(numbers.into_iter().zip(tasks));
            edits.extend(inserted.edits);
        }
        writing.apply(edits)?;
        added.sort_unstable_by_key(|(number, _)| *number);
        Ok(added.into_iter().map(|(_, task)| task).collect())
    }
}

/// The rest would be blocks of its own that are no tasks, and in the inbox nobody would see them.
pub(super) fn several_paragraphs() -> Error {
    Error::validation("the text of a task is one paragraph").at("markdown")
}
