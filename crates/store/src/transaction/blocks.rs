//! Blocks: put in, taken out, changed and moved.

use std::sync::Arc;

use leafbase_model::{BlockId, BlockRecord, DocumentId, Error, Forest, Result, Slot};

use super::forests::{Prepared, check_same};
use super::runs::{Siblings, Spot};
use super::{SpaceTransaction, conflict, missing};
use crate::kv::Read;
use crate::records::{block, place::Place};
use crate::{keyspaces, records};

impl SpaceTransaction<'_> {
    pub(super) fn insert(&mut self, slot: &Slot, forest: &Forest) -> Result<()> {
        let prepared = Prepared::of(forest)?;
        self.touch(slot.document)?;
        self.check_parent_block(slot)?;
        self.check_new(forest)?;
        let after = self.spot_after(slot)?;
        let tops = prepared.tops();
        if !tops.is_empty() {
            self.runs.insert(&*self.rows, &mut self.places, siblings(slot), after, &tops)?;
        }
        self.plant_below(slot.document, &prepared)?;
        self.index_tops(siblings(slot), &prepared)?;
        self.documents.add_blocks(slot.document, forest.0.len())?;
        self.log.insert(slot, forest, &prepared.encoded);
        Ok(())
    }

    pub(super) fn remove(&mut self, slot: &Slot, forest: &Forest) -> Result<()> {
        let prepared = Prepared::of(forest)?;
        self.touch(slot.document)?;
        let mut gap: Option<Spot> = None;
        for (id, record) in prepared.tops() {
            let found = match gap {
                // It has moved up to where the one before it was.
                Some(gap) if self.runs.run(&gap.key)?.ids().get(gap.index) == Some(&id) => gap,
                _ => self.spot_at(slot, id)?,
            };
            if self.runs.run(&found.key)?.block(found.index) != record
                && let Some(node) = forest.0.iter().find(|node| node.block.id == id)
            {
                check_same(self.runs.run(&found.key)?.block(found.index), record, &node.block)?;
            }
            self.runs.remove(&found)?;
            gap = Some(found);
        }
        self.uproot_below(slot.document, &prepared)?;
        self.forget(slot.document, forest)?;
        self.unindex_tops(siblings(slot), &prepared)?;
        self.documents.take_blocks(slot.document, forest.0.len())?;
        self.log.remove(slot, forest, &prepared.encoded);
        Ok(())
    }

    pub(super) fn update(&mut self, document: DocumentId, before: &BlockRecord, after: &BlockRecord) -> Result<()> {
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

    pub(super) fn relocate(&mut self, block: BlockId, from: &Slot, to: &Slot) -> Result<()> {
        if to.after == Some(block) {
            return Err(Error::validation("a block cannot go after itself"));
        }
        if from.parent.is_nil() || to.parent.is_nil() {
            return Err(Error::validation("the root of a document stays where it is"));
        }
        self.touch(from.document)?;
        self.touch(to.document)?;
        self.check_parent_block(to)?;
        if from.parent != to.parent {
            self.check_not_below(to.parent, block)?;
        }
        let spot = self.spot_at(from, block)?;
        let record = self.runs.run(&spot.key)?.block(spot.index).to_vec();
        self.runs.remove(&spot)?;
        let after = self.spot_after(to)?;
        self.runs.insert(&*self.rows, &mut self.places, siblings(to), after, &[(block, &record)])?;
        if from.document != to.document {
            let mut moved = self.rekey_below(block, from.document, to.document)?;
            moved.push(block);
            moved.sort_unstable();
            self.rekey_comments(&moved, from.document, to.document)?;
            self.rekey_tasks(&moved, from.document, to.document)?;
            self.rekey_collections(&moved, from.document, to.document)?;
            self.documents.take_blocks(from.document, moved.len())?;
            self.documents.add_blocks(to.document, moved.len())?;
        }
        self.reindex_item(block, &record, siblings(from), siblings(to))?;
        self.log.relocate(block, from, to);
        Ok(())
    }

    /// Moves the runs of all descendants to another document, one after the other and without decoding a block. Gives the
    /// descendants.
    fn rekey_below(&mut self, block: BlockId, from: DocumentId, to: DocumentId) -> Result<Vec<BlockId>> {
        let (mut parents, mut moved) = (vec![block], Vec::new());
        while !parents.is_empty() {
            let mut children = Vec::new();
            for key in self.runs.of_parents(&*self.rows, from, &parents)? {
                let (_, parent, order) = keyspaces::read_run(&key).ok_or_else(|| records::damaged(&key))?;
                let run = self.runs.take(&key)?;
                self.places.set_all(run.ids(), &Place { document: to, parent, order: Arc::from(order) });
                children.extend_from_slice(run.ids());
                self.runs.put(&mut *self.rows, &keyspaces::run(to, parent, order), &run)?;
            }
            moved.extend_from_slice(&children);
            children.sort_unstable();
            parents = children;
        }
        Ok(moved)
    }

    fn place(&self, block: BlockId) -> Result<Place> {
        self.places.get(&*self.rows, &self.memo, block)?.ok_or_else(|| missing("the block"))
    }

    fn find(&mut self, place: &Place, block: BlockId) -> Result<Spot> {
        self.runs.find(&*self.rows, &mut self.places, place, block)
    }

    /// Where `block` is, which must stand at `slot`.
    fn spot_at(&mut self, slot: &Slot, block: BlockId) -> Result<Spot> {
        let place = self.place(block)?;
        check_among(slot, &place)?;
        let found = self.find(&place, block)?;
        let source: &dyn Read = &*self.rows;
        if self.runs.before(source, &found)? == slot.after {
            Ok(found)
        } else {
            Err(conflict("the block stands elsewhere among its siblings"))
        }
    }

    /// Where the block is that `slot` is after.
    fn spot_after(&mut self, slot: &Slot) -> Result<Option<Spot>> {
        let Some(after) = slot.after else { return Ok(None) };
        let place = self.place(after)?;
        check_among(slot, &place)?;
        self.find(&place, after).map(Some)
    }

    fn check_parent_block(&self, slot: &Slot) -> Result<()> {
        let place = self.places.get(&*self.rows, &self.memo, slot.parent)?.ok_or_else(|| missing("the parent"))?;
        if place.document == slot.document { Ok(()) } else { Err(conflict("the parent is in another document")) }
    }

    /// A block below itself could be reached from nowhere.
    fn check_not_below(&self, start: BlockId, block: BlockId) -> Result<()> {
        let mut at = start;
        // Damaged places may lead round and round.
        for _ in 0..=u16::MAX {
            if at == block {
                return Err(Error::rule("a block cannot go below itself"));
            }
            if at.is_nil() {
                return Ok(());
            }
            at = self.place(at)?.parent;
        }
        Err(records::damaged(&keyspaces::place(start)))
    }
}

fn siblings(slot: &Slot) -> Siblings {
    Siblings { document: slot.document, parent: slot.parent }
}

fn check_among(slot: &Slot, place: &Place) -> Result<()> {
    if (place.document, place.parent) == (slot.document, slot.parent) {
        Ok(())
    } else {
        Err(conflict("the block has another parent"))
    }
}
