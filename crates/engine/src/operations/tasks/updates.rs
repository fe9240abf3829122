//! Updates and moves the tasks of one request.

use std::collections::{HashMap, HashSet};

use leafbase_model::{
    BlockFields, BlockId, BlockPatch, BlockRecord, DocumentId, Edit, Error, Limits, Result, Task,
    TaskUpdate, invariant,
};
use leafbase_store::task_location;
use leafbase_tree_ops::{self as ops, BlockUpdate, ReadTree, ResolvedPosition};

use super::additions::several_paragraphs;
use super::destinations::{self, Destinations, DocumentRecords, top};
use super::task_blocks::{find, renamed, to_task};
use crate::core::transaction::OperationTransaction;
use crate::operations::normalize;

/// The updates of one request. All are planned before the first is applied.
pub(super) struct Updates<'a, 'w, 't> {
    transaction: &'a mut OperationTransaction<'w, 't>,
    limits: &'a Limits,
    destinations: Destinations,
    named: HashSet<BlockId>,
    edits: Vec<Edit>,
    /// The tasks after the update.
    blocks: Vec<BlockRecord>,
    /// Target documents of the tasks with a requested destination.
    placed: HashMap<BlockId, DocumentId>,
    /// New positions within the inbox of tasks that were opened or closed.
    going: HashMap<BlockId, ResolvedPosition>,
}

impl<'a, 'w, 't> Updates<'a, 'w, 't> {
    /// Begins updates of `tasks`.
    pub(super) fn begin(
        transaction: &'a mut OperationTransaction<'w, 't>,
        limits: &'a Limits,
        tasks: &[BlockId],
    ) -> Result<Self> {
        transaction.plan(|tree, _| {
            tree.prefetch(tasks);
            Ok(())
        })?;
        let destinations = Destinations::new(transaction)?;
        let (edits, blocks, placed, going) =
            (Vec::new(), Vec::new(), HashMap::new(), HashMap::new());
        Ok(Self {
            transaction,
            limits,
            destinations,
            named: HashSet::new(),
            edits,
            blocks,
            placed,
            going,
        })
    }

    /// Plans one update. Paths of errors are relative to it.
    pub(super) fn add(&mut self, update: &TaskUpdate) -> Result<()> {
        let found = self.transaction.plan(|tree, _| find(tree, &mut self.named, update.id));
        let (located, _) = found.map_err(|error| error.at("id"))?;
        // Before the destination: an error of the task itself is reported first.
        self.change(update)?;
        if let Some(to) = update.location {
            let document = self
                .destinations
                .open(self.transaction, to)
                .map_err(|error| error.at("location"))?;
            if document != located.document {
                // A root cannot move to any destination, so the task is at fault.
                let path = if located.parent.is_none() { "id" } else { "location" };
                self.check_move(update.id, document).map_err(|error| error.at(path))?;
            }
            self.placed.insert(update.id, document);
        }
        Ok(())
    }

    /// Checks the move by planning it. The plan is discarded, because `finish` moves all tasks
    /// together.
    fn check_move(&mut self, task: BlockId, document: DocumentId) -> Result<()> {
        let moved = self
            .transaction
            .plan(|tree, context| ops::move_blocks(tree, context, vec![task], top(document)));
        moved.map(drop).map_err(Error::without_path)
    }

    fn change(&mut self, update: &TaskUpdate) -> Result<()> {
        let mut fields = BlockFields {
            markdown: update.markdown.clone(),
            task_patch: Some(update.info),
            ..BlockFields::default()
        };
        fields.resolve_days(|day| self.destinations.day(day))?;
        let patch = BlockPatch { rev: update.rev, ..BlockPatch::new(update.id, fields) };
        let limits = self.limits;
        let updated = self.transaction.plan(|tree, context| {
            let mut update = BlockUpdate::new(tree, context, &[patch.id])?;
            let mut block = update.find(patch)?;
            let before = &block.before.data;
            let further = normalize::task_title(before, &mut block.fields, limits)
                .and_then(|()| normalize::fields(before, &mut block.fields, limits))
                .and_then(|()| normalize::text(before, &mut block.fields, limits))
                .map_err(|error| block.at(error))?;
            if !further.is_empty() {
                return Err(block.at(several_paragraphs()));
            }
            let data = update.apply(&mut block)?;
            let parts = data.map_or(Ok(Vec::new()), |data| normalize::data(data, further, limits));
            let parts = parts.map_err(|error| block.at(error))?;
            update.add(&block, parts)?;
            Ok(update.finish())
        });
        let updated = updated.map_err(|error| renamed(&error, "blocks[0]", ""))?;
        self.edits.extend(updated.edits);
        self.blocks.extend(updated.blocks);
        self.going.extend(updated.moves);
        Ok(())
    }

    /// Applies all updates and returns the tasks in the order of the request.
    pub(super) fn finish(mut self) -> Result<Vec<Task>> {
        self.transaction.apply(std::mem::take(&mut self.edits))?;
        self.gather()?;
        // Tasks that stay in their document may have moved along with an ancestor: move them back.
        self.gather()?;
        let blocks = self.blocks;
        self.transaction.plan(|tree, _| {
            // Their rows were written, so that the transaction has forgotten where they are.
            tree.prefetch(&blocks.iter().map(|block| block.id).collect::<Vec<_>>());
            let (mut documents, mut tasks) =
                (DocumentRecords::default(), Vec::with_capacity(blocks.len()));
            for block in blocks {
                let located = tree.locate(block.id)?.ok_or_else(Error::no_block)?;
                let location = task_location(documents.record(tree, located.document)?);
                let id = block.id;
                let Some(task) = to_task(block, location) else {
                    invariant!("block {id} was updated as a task, so it is one")
                };
                tasks.push(task);
            }
            Ok(tasks)
        })
    }

    /// Moves tasks that are not in their target document, and, once, tasks that change their
    /// position within the inbox.
    fn gather(&mut self) -> Result<()> {
        let (blocks, placed, within_inbox) = (&self.blocks, &self.placed, &mut self.going);
        let going = self.transaction.plan(|tree, _| {
            let (mut documents, mut going) = (DocumentRecords::default(), Vec::new());
            for block in blocks {
                let within = within_inbox.remove(&block.id);
                let place = match placed.get(&block.id) {
                    Some(document)
                        if tree
                            .locate(block.id)?
                            .is_none_or(|located| located.document != *document) =>
                    {
                        Some(destinations::position(
                            documents.record(tree, *document)?,
                            &block.data,
                        ))
                    }
                    _ => within,
                };
                going.extend(place.map(|place| (block.id, place)));
            }
            Ok(going)
        })?;
        destinations::move_to(self.transaction, going)
    }
}
