//! Where blocks went after a change: a block that returns to its place finds its neighbors there,
//! or what stands there in their stead.

use std::collections::{BTreeSet, HashMap};

use leafbase_model::{
    BlockId, DocumentId, DocumentRecord, Edit, InsertTarget, Result, Subtrees, invariant,
};
use leafbase_store::SpaceReader;

/// How many rows of the change log are read at a time.
const ROWS_PER_READ: usize = 64;

/// Siblings that left the children of a parent together, or came among them.
struct Relocation {
    sequence: u64,
    is_arrival: bool,
    blocks: Vec<BlockId>,
    parent: BlockId,
    /// The sibling that they follow, there or before they left.
    after: Option<BlockId>,
}

/// The writes after a change.
#[derive(Default)]
pub(super) struct LaterWrites {
    /// Without the relocations by undone changes.
    relocations: Vec<Relocation>,
    /// The highest revision at which each block was removed.
    removed: HashMap<BlockId, u64>,
    /// The highest revision at which each document was erased.
    erased: HashMap<DocumentId, u64>,
}

impl LaterWrites {
    pub(super) fn read(
        reader: SpaceReader<'_>,
        oldest: u64,
        group: &BTreeSet<u64>,
    ) -> Result<Self> {
        let (mut later, mut read_to) = (Self::default(), oldest);
        loop {
            let changes = reader.changes_after(read_to, ROWS_PER_READ)?;
            let Some(last) = changes.last() else { return Ok(later) };
            // Otherwise the loop would not end.
            invariant!(last.sequence > read_to, "change {} follows {read_to}", last.sequence);
            read_to = last.sequence;
            for change in &changes {
                for edit in &change.edits {
                    later.add_revs(edit);
                    if !group.contains(&change.sequence) {
                        later.add_relocation(change.sequence, edit);
                    }
                }
            }
        }
    }

    /// Whether the children of `parent` are others, or others in their order, since the change
    /// `sequence`.
    pub(super) fn has_other_children(&self, parent: BlockId, sequence: u64) -> bool {
        self.after(parent, sequence).next().is_some()
    }

    /// Whether the block left the children of `parent` after the change `sequence`.
    pub(super) fn has_left(&self, parent: BlockId, block: BlockId, sequence: u64) -> bool {
        self.after(parent, sequence).any(|it| !it.is_arrival && it.blocks.contains(&block))
    }

    /// The children of `parent` after the change `sequence`, which are `children` now.
    pub(super) fn children_at(
        &self,
        mut children: Vec<BlockId>,
        parent: BlockId,
        sequence: u64,
    ) -> Vec<BlockId> {
        // From the newest one back: the index of each is among the siblings that it found or left.
        for it in self.after(parent, sequence).rev() {
            if it.is_arrival {
                children.retain(|child| !it.blocks.contains(child));
            } else {
                let place = index_after(&children, it.after);
                children.splice(place..place, it.blocks.iter().copied());
            }
        }
        children
    }

    fn after(
        &self,
        parent: BlockId,
        sequence: u64,
    ) -> impl DoubleEndedIterator<Item = &Relocation> {
        self.relocations.iter().filter(move |it| it.sequence > sequence && it.parent == parent)
    }

    /// Adds edits that are not yet changes.
    pub(super) fn add_planned(&mut self, planned: &[Edit]) {
        for edit in planned {
            self.add_revs(edit);
            self.add_relocation(u64::MAX, edit);
        }
    }

    /// Gives blocks that return higher revisions than they ever had.
    pub(super) fn raise_revs(&self, returning: &mut Subtrees) {
        for block in returning.0.iter_mut().map(|node| &mut node.block) {
            let removed = self.removed.get(&block.id).map_or(0, |rev| rev.saturating_add(1));
            block.rev = block.rev.max(removed);
            debug_assert!(block.rev >= removed, "a revision never decreases");
        }
    }

    /// Gives a document that returns no lower revision than it ever had; its return raises that.
    pub(super) fn raise_rev(&self, returning: &mut DocumentRecord) {
        let erased = self.erased.get(&returning.id).copied().unwrap_or(0);
        returning.rev = returning.rev.max(erased);
        debug_assert!(returning.rev >= erased, "a revision never decreases");
    }

    fn add_revs(&mut self, edit: &Edit) {
        let subtrees = match edit {
            Edit::Remove { subtrees, .. } => subtrees,
            Edit::EraseDocument { record, subtrees } => {
                let highest = self.erased.entry(record.id).or_insert(record.rev);
                *highest = (*highest).max(record.rev);
                subtrees
            }
            _ => return,
        };
        for block in subtrees.0.iter().map(|node| &node.block) {
            let highest = self.removed.entry(block.id).or_insert(block.rev);
            *highest = (*highest).max(block.rev);
        }
    }

    fn add_relocation(&mut self, sequence: u64, edit: &Edit) {
        match edit {
            Edit::Insert { target, subtrees } | Edit::Remove { target, subtrees } => {
                let is_arrival = matches!(edit, Edit::Insert { .. });
                let tops = subtrees.0.iter().filter(|node| node.depth == 0);
                let blocks = tops.map(|top| top.block.id).collect();
                let InsertTarget { parent, after, .. } = *target;
                self.relocations.push(Relocation { sequence, is_arrival, blocks, parent, after });
            }
            Edit::Move { block, from, to } => {
                for (is_arrival, target) in [(false, from), (true, to)] {
                    let (blocks, InsertTarget { parent, after, .. }) = (vec![*block], *target);
                    self.relocations.push(Relocation {
                        sequence,
                        is_arrival,
                        blocks,
                        parent,
                        after,
                    });
                }
            }
            _ => {}
        }
    }
}

/// The index after `sibling`; that of the first child if there is none.
pub(super) fn index_after(children: &[BlockId], sibling: Option<BlockId>) -> usize {
    let index = sibling.and_then(|sibling| children.iter().position(|child| *child == sibling));
    index.map_or(0, |index| index + 1)
}
