//! Blocks: put in, taken out and changed.

use leafbase_model::{BlockId, BlockRecord, DocumentId, InsertTarget, Result, Subtrees};

use super::forests::{Prepared, check_same};
use super::runs::{Siblings, Spot};
use super::{SpaceTransaction, conflict, missing};
use crate::kv::Read;
use crate::records::{block, place::Place};

impl SpaceTransaction<'_> {
    pub(super) fn insert(&mut self, target: &InsertTarget, subtrees: &Subtrees) -> Result<()> {
        let prepared = Prepared::of(subtrees)?;
        self.touch(target.document)?;
        self.check_parent_block(target)?;
        self.check_new(subtrees)?;
        let after = self.spot_after(target)?;
        let tops = prepared.tops();
        if !tops.is_empty() {
            self.runs.insert(&*self.rows, &mut self.places, siblings(target), after, &tops)?;
        }
        self.plant_below(target.document, &prepared)?;
        self.index_tops(siblings(target), &prepared)?;
        self.documents.add_blocks(target.document, subtrees.0.len())?;
        self.log.insert(target, subtrees, &prepared.encoded);
        Ok(())
    }

    pub(super) fn remove(&mut self, target: &InsertTarget, subtrees: &Subtrees) -> Result<()> {
        let prepared = Prepared::of(subtrees)?;
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
        self.uproot_below(target.document, &prepared)?;
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
        let place = self.place(before.id)?;
        if place.document != document {
            return Err(conflict("the block is in another document"));
        }
        let is_quiet = (before.rev, &before.modified) == (after.rev, &after.modified);
        if is_quiet { self.touch_quietly(document) } else { self.touch(document) }?;
        let spot = self.find(&place, before.id)?;
        let (mut old, mut new) = (Vec::with_capacity(128), Vec::with_capacity(128));
        block::put(&mut old, before);
        block::put(&mut new, after);
        check_same(self.runs.run(&spot.key)?.block(spot.index), &old, before)?;
        self.runs.replace(&*self.rows, &mut self.places, &spot, &new)?;
        if before.data != after.data {
            if before.data.block_type() != after.data.block_type() {
                self.check_bare(document, before)?;
            }
            self.index(document, before.id, Some(&before.data), Some(&after.data));
            let siblings = Siblings { document, parent: place.parent };
            self.index_item(siblings, before.id, Some(&before.data), Some(&after.data))?;
        }
        self.log.update(document, before.id, &old, &new);
        Ok(())
    }

    pub(super) fn place(&self, block: BlockId) -> Result<Place> {
        self.places.get(&*self.rows, &self.memo, block)?.ok_or_else(|| missing("the block"))
    }

    fn find(&mut self, place: &Place, block: BlockId) -> Result<Spot> {
        self.runs.find(&*self.rows, &mut self.places, place, block)
    }

    /// Where `block` is, which must stand at `target`.
    pub(super) fn spot_at(&mut self, target: &InsertTarget, block: BlockId) -> Result<Spot> {
        let place = self.place(block)?;
        check_among(target, &place)?;
        let found = self.find(&place, block)?;
        let source: &dyn Read = &*self.rows;
        if self.runs.before(source, &found)? == target.after {
            Ok(found)
        } else {
            Err(conflict("the block stands elsewhere among its siblings"))
        }
    }

    /// Where the block is that `target` is after.
    pub(super) fn spot_after(&mut self, target: &InsertTarget) -> Result<Option<Spot>> {
        let Some(after) = target.after else { return Ok(None) };
        let place = self.place(after)?;
        check_among(target, &place)?;
        self.find(&place, after).map(Some)
    }

    /// The document was touched, so that its root is there.
    pub(super) fn check_parent_block(&self, target: &InsertTarget) -> Result<()> {
        if target.parent == target.document.root() {
            return Ok(());
        }
        let place = self
            .places
            .get(&*self.rows, &self.memo, target.parent)?
            .ok_or_else(|| missing("the parent"))?;
        if place.document == target.document {
            Ok(())
        } else {
            Err(conflict("the parent is in another document"))
        }
    }
}

pub(super) fn siblings(target: &InsertTarget) -> Siblings {
    Siblings { document: target.document, parent: target.parent }
}

fn check_among(target: &InsertTarget, place: &Place) -> Result<()> {
    if (place.document, place.parent) == (target.document, target.parent) {
        Ok(())
    } else {
        Err(conflict("the block has another parent"))
    }
}
