//! The children of a block after a change: a block that returns finds its neighbors there, or the
//! nearest that are left of them.

use std::collections::HashMap;

use leafbase_model::{BlockId, IdMap, IdSet, Result, invariant};

use super::later_writes::{LaterWrites, Relocation};

/// The children of a block as they were after a change, in a linked list with an index by ID.
pub(super) struct PastChildren {
    parent: BlockId,
    /// The change after which these were the children.
    sequence: u64,
    /// With the first child after `None`.
    next: HashMap<Option<BlockId>, BlockId>,
    previous: IdMap<BlockId, Option<BlockId>>,
    /// The children at present, as the undo has left them so far.
    present: IdSet<BlockId>,
}

impl PastChildren {
    /// The children at present.
    pub(super) fn at_present(parent: BlockId, children: &[BlockId]) -> Self {
        let (next, previous) = (HashMap::new(), IdMap::default());
        let present = children.iter().copied().collect();
        let mut past = Self { parent, sequence: u64::MAX, next, previous, present };
        past.insert(None, children);
        past
    }

    /// Reverts the relocations after the change `sequence`.
    pub(super) fn rewind(&mut self, later: &LaterWrites, sequence: u64) -> Result<()> {
        invariant!(sequence <= self.sequence, "changes are undone from the newest");
        let reverted = later.relocations_between(self.parent, sequence, self.sequence);
        for (_, relocation) in reverted.iter().rev() {
            if relocation.is_arrival {
                self.remove(&relocation.blocks);
            } else {
                self.insert(relocation.after, &relocation.blocks);
            }
        }
        self.sequence = sequence;
        Ok(())
    }

    /// The last of the children up to `child` that is still there, apart from `moved`.
    pub(super) fn last_present(
        &self,
        child: Option<BlockId>,
        moved: Option<BlockId>,
    ) -> Option<BlockId> {
        let mut children = std::iter::successors(self.known(child), |child| self.before(*child));
        children.find(|child| self.present.contains(child) && Some(*child) != moved)
    }

    /// Undoes a relocation by the change after which these are the children: `undone` is its
    /// inverse.
    pub(super) fn undo(&mut self, undone: &Relocation) {
        if undone.is_arrival {
            self.insert(undone.after, &undone.blocks);
        } else {
            self.remove(&undone.blocks);
        }
    }

    /// Records a relocation of the children at present.
    pub(super) fn record(&mut self, applied: &Relocation) {
        if applied.is_arrival {
            self.present.extend(&applied.blocks);
        } else {
            for block in &applied.blocks {
                self.present.remove(block);
            }
        }
    }

    /// The child, if it is one.
    fn known(&self, child: Option<BlockId>) -> Option<BlockId> {
        child.filter(|child| self.previous.contains_key(child))
    }

    fn before(&self, child: BlockId) -> Option<BlockId> {
        self.previous.get(&child).copied().flatten()
    }

    /// Inserts children after `after`; before all others if that is not among them.
    fn insert(&mut self, after: Option<BlockId>, blocks: &[BlockId]) {
        self.remove(blocks);
        let mut before = self.known(after);
        let last = self.next.get(&before).copied();
        for block in blocks {
            self.link(before, Some(*block));
            before = Some(*block);
        }
        self.link(before, last);
    }

    fn remove(&mut self, blocks: &[BlockId]) {
        for block in blocks {
            if let Some(before) = self.previous.remove(block) {
                let next = self.next.remove(&Some(*block));
                self.link(before, next);
            }
        }
    }

    fn link(&mut self, before: Option<BlockId>, next: Option<BlockId>) {
        match next {
            Some(next) => {
                self.next.insert(before, next);
                self.previous.insert(next, before);
            }
            None => drop(self.next.remove(&before)),
        }
    }
}
