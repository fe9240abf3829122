//! Blocks: put in, taken out and changed.

use leafbase_model::{BlockId, BlockRecord, DocumentId, InsertTarget, Result, Subtrees};

use super::runs::{RunPosition, Siblings};
use super::subtrees::{EncodedSubtrees, check_same};
use super::{SpaceTransaction, conflict, missing};
use crate::kv::Read;
use crate::records::{block, location::LocationRecord};

impl SpaceTransaction<'_> {
    pub(super) fn insert(&mut self, target: &InsertTarget, subtrees: &Subtrees) -> Result<()> {
        let prepared = EncodedSubtrees::of(subtrees)?;
        self.touch(target.document)?;
        self.check_parent_block(target)?;
        self.check_new(subtrees)?;
        let after = self.spot_after(target)?;
        let tops = prepared.tops();
        if !tops.is_empty() {
            self.runs.insert(&*self.rows, &mut self.locations, siblings(target), after, &tops)?;
        }
        self.insert_descendants(target.document, &prepared)?;
        self.index_tops(siblings(target), &prepared)?;
        self.documents.add_blocks(target.document, subtrees.0.len())?;
        self.log.insert(target, subtrees, &prepared.encoded);
        Ok(())
    }

    pub(super) fn remove(&mut self, target: &InsertTarget, subtrees: &Subtrees) -> Result<()> {
        let prepared = EncodedSubtrees::of(subtrees)?;
        self.touch(target.document)?;
        let tops = prepared.tops();
        let mut left = tops.as_slice();
        while let Some((first, _)) = left.first() {
            let found = self.spot_at(target, *first)?;
            let run = self.runs.run(&found.key)?;
            let there = run.ids().iter().skip(found.index);
            let count = there.zip(left).take_while(|(there, (id, _))| *there == id).count();
            // Those that stand side by side in a run leave it together.
            let (going, others) = left.split_at_checked(count.max(1)).unwrap_or((left, &[]));
            for (index, (id, record)) in (found.index..).zip(going) {
                if run.block(index) != *record
                    && let Some(node) = subtrees.0.iter().find(|node| node.block.id == *id)
                {
                    check_same(run.block(index), record, &node.block)?;
                }
            }
            self.runs.remove(&found, going.len())?;
            left = others;
        }
        self.remove_descendants(target.document, &prepared)?;
        self.forget(target.document, subtrees)?;
        self.unindex_tops(siblings(target), &prepared)?;
        self.documents.take_blocks(target.document, subtrees.0.len())?;
        self.log.remove(target, subtrees, &prepared.encoded);
        Ok(())
    }

    pub(super) fn update(
        &mut self,
        document: DocumentId,
        before: &BlockRecord,
        after: &BlockRecord,
    ) -> Result<()> {
        if before.id != after.id {
            return Err(conflict("a block cannot become another one"));
        }
        let location = self.location(before.id)?;
        if location.document != document {
            return Err(conflict("the block is in another document"));
        }
        let is_quiet = (before.rev, &before.modified) == (after.rev, &after.modified);
        if is_quiet { self.touch_quietly(document) } else { self.touch(document) }?;
        let spot = self.find(&location, before.id)?;
        let (mut old, mut new) = (Vec::with_capacity(128), Vec::with_capacity(128));
        block::put(&mut old, before);
        block::put(&mut new, after);
        check_same(self.runs.run(&spot.key)?.block(spot.index), &old, before)?;
        self.runs.replace(&*self.rows, &mut self.locations, &spot, &new)?;
        if before.data != after.data {
            if before.data.block_type() != after.data.block_type() {
                self.check_bare(document, before)?;
            }
            self.index(document, before.id, Some(&before.data), Some(&after.data));
            let siblings = Siblings { document, parent: location.parent };
            self.index_item(siblings, before.id, Some(&before.data), Some(&after.data))?;
        }
        self.log.update(document, before.id, &old, &new);
        Ok(())
    }

    pub(super) fn location(&self, block: BlockId) -> Result<LocationRecord> {
        self.locations.get(&*self.rows, &self.cache, block)?.ok_or_else(|| missing("the block"))
    }

    fn find(&mut self, location: &LocationRecord, block: BlockId) -> Result<RunPosition> {
        self.runs.find(&*self.rows, &mut self.locations, location, block)
    }

    /// Where `block` is, which must stand at `target`.
    pub(super) fn spot_at(&mut self, target: &InsertTarget, block: BlockId) -> Result<RunPosition> {
        let location = self.location(block)?;
        check_among(target, &location)?;
        let found = self.find(&location, block)?;
        let source: &dyn Read = &*self.rows;
        if self.runs.before(source, &found)? == target.after {
            Ok(found)
        } else {
            Err(conflict("the block stands elsewhere among its siblings"))
        }
    }

    /// Where the block is that `target` is after.
    pub(super) fn spot_after(&mut self, target: &InsertTarget) -> Result<Option<RunPosition>> {
        let Some(after) = target.after else { return Ok(None) };
        let location = self.location(after)?;
        check_among(target, &location)?;
        self.find(&location, after).map(Some)
    }

    /// The document was touched, so that its root is there.
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

pub(super) fn siblings(target: &InsertTarget) -> Siblings {
    Siblings { document: target.document, parent: target.parent }
}

fn check_among(target: &InsertTarget, location: &LocationRecord) -> Result<()> {
    if (location.document, location.parent) == (target.document, target.parent) {
        Ok(())
    } else {
        Err(conflict("the block has another parent"))
    }
}
