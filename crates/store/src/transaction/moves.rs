//! Blocks moved. Those that go one behind the other from one document to another cross together:
//! what follows from them there, their descendants, comments, tasks and collections, is looked up
//! once for all.

use std::sync::Arc;

use leafbase_model::{BlockId, BlockType, DocumentId, Error, InsertTarget, Result};

use super::SpaceTransaction;
use super::blocks::siblings;
use super::runs::{NewBlock, RunPosition};
use crate::records::{block, location::LocationRecord};
use crate::{keyspaces, records};

/// Blocks on their way from one document to another: taken out, and not put in yet.
#[derive(Debug)]
pub(super) struct CrossDocumentMove {
    /// Where the last of them stood.
    from: InsertTarget,
    gap: RunPosition,
    /// Where the first of them goes.
    to: InsertTarget,
    /// The blocks with their records, in the order in which they will stand.
    blocks: Vec<(BlockId, Vec<u8>)>,
}

impl CrossDocumentMove {
    /// Whether a block that goes from `from` to `to` goes with these, right behind them.
    fn is_joined(&self, from: &InsertTarget, to: &InsertTarget) -> bool {
        let last = self.blocks.last().map(|(block, _)| *block);
        (self.from.document, self.from.parent) == (from.document, from.parent)
            && (self.to.document, self.to.parent) == (to.document, to.parent)
            && to.after == last
    }
}

impl SpaceTransaction<'_> {
    pub(super) fn relocate(
        &mut self,
        block: BlockId,
        from: &InsertTarget,
        to: &InsertTarget,
    ) -> Result<()> {
        if to.after == Some(block) {
            return Err(Error::validation("a block cannot go after itself"));
        }
        if from.parent.is_nil() || to.parent.is_nil() {
            return Err(Error::validation("the root of a document stays where it is"));
        }
        if !self.crossing.as_ref().is_some_and(|crossing| crossing.is_joined(from, to)) {
            self.arrive()?;
            self.touch(from.document)?;
            self.touch(to.document)?;
            self.check_parent_block(to)?;
        }
        if from.parent != to.parent {
            self.check_not_below(to.parent, block)?;
        }
        let spot = self.spot_from(from, block)?;
        let record = self.runs.run(&spot.key)?.block(spot.index).to_vec();
        self.runs.remove(&spot, 1)?;
        self.reindex_item(block, &record, siblings(from), siblings(to))?;
        if from.document == to.document {
            let after = self.spot_after(to)?;
            self.runs.insert(
                &*self.rows,
                &mut self.locations,
                siblings(to),
                after,
                &[(block, &record)],
            )?;
        } else {
            self.depart(block, record, (*from, spot), *to);
        }
        self.log.relocate(block, from, to);
        Ok(())
    }

    /// Where `block` is, which must stand at `from`: mostly where the one stood that went before
    /// it.
    fn spot_from(&mut self, from: &InsertTarget, block: BlockId) -> Result<RunPosition> {
        if let Some(CrossDocumentMove { from: before, gap, .. }) = &self.crossing
            && before == from
            && self.runs.run(&gap.key)?.ids().get(gap.index) == Some(&block)
        {
            return Ok(gap.clone());
        }
        self.spot_at(from, block)
    }

    /// A block that was taken out crosses to another document.
    fn depart(
        &mut self,
        block: BlockId,
        record: Vec<u8>,
        (from, gap): (InsertTarget, RunPosition),
        to: InsertTarget,
    ) {
        // It stands there from now on, as far as edits ask. Its run is told when it has one.
        let location =
            LocationRecord { document: to.document, parent: to.parent, order: Arc::from(&[][..]) };
        self.locations.set(block, location);
        let crossing = match self.crossing.take() {
            Some(CrossDocumentMove { to, mut blocks, .. }) => {
                blocks.push((block, record));
                CrossDocumentMove { from, gap, to, blocks }
            }
            None => CrossDocumentMove { from, gap, to, blocks: vec![(block, record)] },
        };
        self.crossing = Some(crossing);
    }

    /// Puts in the blocks that are crossing, with what follows from them.
    pub(super) fn arrive(&mut self) -> Result<()> {
        let Some(CrossDocumentMove { from, to, blocks, .. }) = self.crossing.take() else {
            return Ok(());
        };
        let after = self.spot_after(&to)?;
        let entries: Vec<NewBlock<'_>> =
            blocks.iter().map(|(block, record)| (*block, record.as_slice())).collect();
        self.runs.insert(&*self.rows, &mut self.locations, siblings(&to), after, &entries)?;
        let mut moved: Vec<BlockId> = blocks.iter().map(|(block, _)| *block).collect();
        moved.extend(self.rekey_below(&blocks, from.document, to.document)?);
        moved.sort_unstable();
        self.rekey_comments(&moved, from.document, to.document)?;
        self.rekey_tasks(&moved, from.document, to.document)?;
        self.rekey_collections(&moved, from.document, to.document)?;
        self.documents.take_blocks(from.document, moved.len())?;
        self.documents.add_blocks(to.document, moved.len())
    }

    /// Moves the runs of all descendants to another document. Gives the descendants.
    fn rekey_below(
        &mut self,
        blocks: &[(BlockId, Vec<u8>)],
        from: DocumentId,
        to: DocumentId,
    ) -> Result<Vec<BlockId>> {
        let (mut small, mut moved) = (Vec::new(), Vec::new());
        for (block, record) in blocks {
            // What may have many below it goes by itself: all of them together might take much
            // memory.
            match block::type_of(record) {
                Ok(found) if found == BlockType::Text || !found.holds_blocks() => {
                    small.push(*block)
                }
                _ => self.rekey_runs(vec![*block], from, to, &mut moved)?,
            }
        }
        small.sort_unstable();
        self.rekey_runs(small, from, to, &mut moved)?;
        Ok(moved)
    }

    /// Moves the runs of `parents`, which are sorted, and of all below them: one after the other
    /// and without decoding a block.
    fn rekey_runs(
        &mut self,
        mut parents: Vec<BlockId>,
        from: DocumentId,
        to: DocumentId,
        moved: &mut Vec<BlockId>,
    ) -> Result<()> {
        while !parents.is_empty() {
            let mut children = Vec::new();
            for key in self.runs.of_parents(&*self.rows, from, &parents)? {
                let (_, parent, order) =
                    keyspaces::read_run(&key).ok_or_else(|| records::damaged(&key))?;
                let run = self.runs.take(&key)?;
                self.locations.set_all(
                    run.ids(),
                    &LocationRecord { document: to, parent, order: Arc::from(order) },
                );
                children.extend_from_slice(run.ids());
                self.runs.put(&mut *self.rows, &keyspaces::run(to, parent, order), &run)?;
            }
            moved.extend_from_slice(&children);
            children.sort_unstable();
            parents = children;
        }
        Ok(())
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
            at = self.location(at)?.parent;
        }
        Err(records::damaged(&keyspaces::block_location(start)))
    }
}
