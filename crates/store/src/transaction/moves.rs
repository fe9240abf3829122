//! Moves of blocks. Consecutive blocks that move to another document move together.

use std::sync::Arc;

use leafbase_model::{BlockId, BlockType, DocumentId, Error, InsertTarget, Result};

use super::SpaceTransaction;
use super::blocks::siblings;
use super::staged::cross_move::CrossDocumentMove;
use super::staged::runs::{NewBlock, RunPosition};
use crate::records::{block, location::LocationRecord};
use crate::{keyspaces, records};

/// Tags of a document up to which all are read for a move of one block.
const FEW_TAGS: usize = 8;

impl SpaceTransaction<'_> {
    pub(super) fn move_block(
        &mut self,
        block: BlockId,
        from: &InsertTarget,
        to: &InsertTarget,
    ) -> Result<()> {
        if to.after == Some(block) {
            return Err(Error::validation("a block cannot move after itself"));
        }
        if from.parent.is_nil() || to.parent.is_nil() {
            return Err(Error::validation("the root of a document cannot move"));
        }
        if !self.cross_move.as_ref().is_some_and(|current| current.continues(from, to)) {
            self.finish_cross_move()?;
            self.touch(from.document)?;
            self.touch(to.document)?;
            self.check_parent_block(to)?;
        }
        if from.parent != to.parent {
            self.check_not_below(to.parent, block)?;
        }
        let position = self.position_before_move(from, block)?;
        // The record moves as bytes: no block is decoded.
        let record = self.runs.run(&position.key)?.block(position.index).to_vec();
        self.runs.remove(&position, 1)?;
        self.reindex_item(block, &record, siblings(from), siblings(to))?;
        if from.document == to.document {
            let (after, moved) = (self.position_after(to)?, [(block, record.as_slice())]);
            self.runs.insert(&*self.rows, &mut self.locations, siblings(to), after, &moved)
        } else {
            self.stage_cross_move(block, record, (*from, position), *to);
            Ok(())
        }
    }

    /// The position of `block`, which must be at `from`: mostly the gap that the block before it
    /// left.
    fn position_before_move(&mut self, from: &InsertTarget, block: BlockId) -> Result<RunPosition> {
        if let Some(CrossDocumentMove { from: last_from, gap, .. }) = &self.cross_move
            && last_from == from
            && self.runs.run(&gap.key)?.ids().get(gap.index) == Some(&block)
        {
            return Ok(gap.clone());
        }
        self.position_at(from, block)
    }

    /// Adds a removed block to the move to another document.
    fn stage_cross_move(
        &mut self,
        block: BlockId,
        record: Vec<u8>,
        (from, gap): (InsertTarget, RunPosition),
        to: InsertTarget,
    ) {
        // Later edits find the block at its new parent. Its order key follows with its run.
        let order = Arc::from(&[][..]);
        let location = LocationRecord { document: to.document, parent: to.parent, order };
        self.locations.set(block, location);
        self.cross_move = Some(match self.cross_move.take() {
            Some(CrossDocumentMove { to, mut blocks, .. }) => {
                blocks.push((block, record));
                CrossDocumentMove { from, gap, to, blocks }
            }
            None => CrossDocumentMove { from, gap, to, blocks: vec![(block, record)] },
        });
    }

    /// Inserts the blocks of a move to another document, and moves the rows that depend on them.
    pub(super) fn finish_cross_move(&mut self) -> Result<()> {
        let Some(CrossDocumentMove { from, to, blocks, .. }) = self.cross_move.take() else {
            return Ok(());
        };
        let tags = self.few_tags_of(from.document, blocks.len().max(FEW_TAGS))?;
        let after = self.position_after(&to)?;
        let entries: Vec<NewBlock<'_>> =
            blocks.iter().map(|(block, record)| (*block, record.as_slice())).collect();
        self.runs.insert(&*self.rows, &mut self.locations, siblings(&to), after, &entries)?;
        let mut moved: Vec<BlockId> = blocks.iter().map(|(block, _)| *block).collect();
        let documents = (from.document, to.document);
        moved.extend(self.rekey_descendants(&blocks, documents, tags.is_none())?);
        // Dependent rows are read in the order of their keys.
        moved.sort_unstable();
        self.embeddings.rekey(&*self.rows, &moved, from.document, to.document)?;
        self.rekey_comments(&moved, from.document, to.document)?;
        match tags {
            Some(tags) => self.rekey_tags(tags, &moved, from.document, to.document),
            None => blocks.iter().try_for_each(|(block, record)| {
                self.rekey_tags_of(*block, record, from.document, to.document)
            })?,
        }
        self.rekey_tasks(&moved, from.document, to.document)?;
        self.rekey_collections(&moved, from.document, to.document)?;
        self.documents.remove_blocks(from.document, moved.len())?;
        self.documents.add_blocks(to.document, moved.len())
    }

    /// Moves the runs of all descendants to another document, and their tags if they are read from
    /// the blocks. Returns the descendants.
    fn rekey_descendants(
        &mut self,
        blocks: &[(BlockId, Vec<u8>)],
        documents: (DocumentId, DocumentId),
        reads_tags: bool,
    ) -> Result<Vec<BlockId>> {
        let (mut small, mut moved) = (Vec::new(), Vec::new());
        for (block, record) in blocks {
            // Blocks that may have large subtrees are moved one by one, which bounds memory.
            match block::type_of(record) {
                Ok(found) if found == BlockType::Text || !found.holds_blocks() => {
                    small.push(*block);
                }
                _ => self.rekey_runs(vec![*block], documents, reads_tags, &mut moved)?,
            }
        }
        small.sort_unstable();
        self.rekey_runs(small, documents, reads_tags, &mut moved)?;
        Ok(moved)
    }

    /// Moves the runs of `parents`, which are sorted, and of all their descendants, one run after
    /// the other; no block is decoded unless tags are read.
    fn rekey_runs(
        &mut self,
        mut parents: Vec<BlockId>,
        (from, to): (DocumentId, DocumentId),
        reads_tags: bool,
        moved: &mut Vec<BlockId>,
    ) -> Result<()> {
        while !parents.is_empty() {
            let mut children = Vec::new();
            for key in self.runs.of_parents(&*self.rows, Some(&self.cache), from, &parents)? {
                let (_, parent, order) =
                    keyspaces::parse_run(&key).ok_or_else(|| records::corrupt(&key))?;
                let run = self.runs.take(&key)?;
                if reads_tags {
                    self.rekey_tags_of_run(&run, from, to)?;
                }
                let location = LocationRecord { document: to, parent, order: Arc::from(order) };
                self.locations.set_all(run.ids(), &location);
                children.extend_from_slice(run.ids());
                let key = keyspaces::run(to, parent, order);
                self.cache.evict_childless(&key);
                self.runs.write_through(&mut *self.rows, &key, &run)?;
            }
            moved.extend_from_slice(&children);
            children.sort_unstable();
            parents = children;
        }
        Ok(())
    }

    /// A block below itself would be unreachable.
    fn check_not_below(&self, start: BlockId, block: BlockId) -> Result<()> {
        let mut ancestor = start;
        // Bounded: corrupt locations may form a cycle.
        for _ in 0..=u16::MAX {
            if ancestor == block {
                return Err(Error::rule("a block cannot move below itself"));
            }
            if ancestor.is_nil() {
                return Ok(());
            }
            ancestor = self.location(ancestor)?.parent;
        }
        Err(records::corrupt(&keyspaces::block_location(start)))
    }
}
