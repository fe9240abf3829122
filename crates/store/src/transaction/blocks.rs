//! Edits of blocks: insert, remove and update.

use leafbase_model::{BlockId, BlockRecord, DocumentId, InsertTarget, Result, Subtrees, invariant};

use super::SpaceTransaction;
use super::errors::{conflict, missing};
use super::staged::runs::{RunPosition, Siblings};
use super::subtrees::{EncodedSubtrees, check_unchanged};
use crate::kv::Read;
use crate::records::change::EncodedBlocks;
use crate::records::location::LocationRecord;

impl SpaceTransaction<'_> {
    pub(super) fn insert(
        &mut self,
        target: &InsertTarget,
        subtrees: &Subtrees,
    ) -> Result<EncodedBlocks> {
        let subtrees = EncodedSubtrees::of(subtrees)?;
        self.touch(target.document)?;
        self.check_parent_block(target)?;
        // Before anything is staged: a staged block would count as existing.
        self.check_new(subtrees.blocks)?;
        let after = self.position_after(target)?;
        let tops = subtrees.tops()?;
        if !tops.is_empty() {
            let siblings = siblings(target);
            self.runs.insert(&*self.rows, &mut self.locations, siblings, after, &tops)?;
        }
        self.insert_descendants(target.document, &subtrees)?;
        self.index_inserted_items(siblings(target), &subtrees)?;
        self.documents.add_blocks(target.document, subtrees.len())?;
        Ok(subtrees.encoded)
    }

    pub(super) fn remove(
        &mut self,
        target: &InsertTarget,
        subtrees: &Subtrees,
    ) -> Result<EncodedBlocks> {
        let subtrees = EncodedSubtrees::of(subtrees)?;
        self.touch(target.document)?;
        let tops = subtrees.tops()?;
        let mut left = tops.as_slice();
        while let Some((first, _)) = left.first() {
            let position = self.position_at(target, *first)?;
            let run = self.runs.run(&position.key)?;
            // Adjacent blocks of a run are removed in one splice.
            let stored = run.ids().iter().skip(position.index);
            let count = stored.zip(left).take_while(|(stored, (id, _))| *stored == id).count();
            invariant!(count > 0, "the position of a block is in its run");
            let (removed, others) = left.split_at(count);
            for (index, (id, record)) in (position.index..).zip(removed) {
                // Fast path: equal bytes need not be decoded.
                if run.block(index) != *record {
                    check_unchanged(run.block(index), record, subtrees.block(*id)?)?;
                }
            }
            self.runs.remove(&position, count)?;
            left = others;
        }
        self.remove_descendants(target.document, &subtrees)?;
        self.remove_block_rows(target.document, subtrees.blocks)?;
        self.unindex_removed_items(siblings(target), &subtrees)?;
        self.documents.remove_blocks(target.document, subtrees.len())?;
        Ok(subtrees.encoded)
    }

    pub(super) fn update(
        &mut self,
        document: DocumentId,
        before: &BlockRecord,
        after: &BlockRecord,
    ) -> Result<EncodedBlocks> {
        if before.id != after.id {
            return Err(conflict("an update cannot change the ID of a block"));
        }
        let location = self.location(before.id)?;
        if location.document != document {
            return Err(conflict("the block is in another document"));
        }
        // Without a new stamp the change follows from another one, and does not touch the document.
        let has_stamp = (before.rev, &before.modified) != (after.rev, &after.modified);
        if has_stamp { self.touch(document) } else { self.touch_without_stamp(document) }?;
        let position = self.find(&location, before.id)?;
        let encoded = EncodedBlocks::of([before, after].into_iter());
        let stored = self.runs.run(&position.key)?.block(position.index);
        check_unchanged(stored, encoded.block(0), before)?;
        self.runs.replace(&*self.rows, &mut self.locations, &position, encoded.block(1))?;
        if before.data != after.data {
            if before.id == document.root() {
                self.documents.set_title(document, &after.data.inline);
            }
            if before.data.block_type() != after.data.block_type() {
                self.check_without_schema(document, before)?;
            }
            let (old, new) = (Some(&before.data), Some(&after.data));
            self.index_block(document, before.id, old, new);
            let siblings = Siblings { document, parent: location.parent };
            self.index_item(siblings, before.id, old, new)?;
        }
        let task = after.data.task.as_ref().map(|task| (task, encoded.block(1)));
        self.index_task(document, before.id, before.data.task.as_ref(), task);
        Ok(encoded)
    }

    /// The location of a block, which must exist.
    pub(super) fn location(&self, block: BlockId) -> Result<LocationRecord> {
        self.locations.get(&*self.rows, &self.cache, block)?.ok_or_else(|| missing("the block"))
    }

    fn find(&mut self, location: &LocationRecord, block: BlockId) -> Result<RunPosition> {
        self.runs.find(&*self.rows, &mut self.locations, location, block)
    }

    /// The position of `block`, which must be at `target`.
    pub(super) fn position_at(
        &mut self,
        target: &InsertTarget,
        block: BlockId,
    ) -> Result<RunPosition> {
        let location = self.location(block)?;
        check_parent(target, &location)?;
        let position = self.find(&location, block)?;
        let source: &dyn Read = &*self.rows;
        if self.runs.previous_sibling(source, &position)? == target.after {
            Ok(position)
        } else {
            Err(conflict("the block is at another position among its siblings"))
        }
    }

    /// The position of the sibling that `target` is after.
    pub(super) fn position_after(&mut self, target: &InsertTarget) -> Result<Option<RunPosition>> {
        let Some(after) = target.after else { return Ok(None) };
        let location = self.location(after)?;
        check_parent(target, &location)?;
        self.find(&location, after).map(Some)
    }

    /// The parent must be in the document, which was touched: so its root exists.
    pub(super) fn check_parent_block(&self, target: &InsertTarget) -> Result<()> {
        if target.parent == target.document.root() {
            return Ok(());
        }
        let location = self
            .locations
            .get(&*self.rows, &self.cache, target.parent)?
            .ok_or_else(|| missing("the parent"))?;
        if location.document == target.document {
            Ok(())
        } else {
            Err(conflict("the parent is in another document"))
        }
    }
}

/// The siblings among which `target` is.
pub(super) fn siblings(target: &InsertTarget) -> Siblings {
    Siblings { document: target.document, parent: target.parent }
}

fn check_parent(target: &InsertTarget, location: &LocationRecord) -> Result<()> {
    if (location.document, location.parent) == (target.document, target.parent) {
        Ok(())
    } else {
        Err(conflict("the block has another parent"))
    }
}
