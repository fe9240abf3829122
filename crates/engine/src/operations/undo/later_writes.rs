//! The writes after a change: where blocks went, and which revisions they had.

use std::collections::{BTreeSet, HashMap};

use leafbase_model::{
    BlockId, DocumentId, DocumentRecord, Edit, IdMap, InsertTarget, Result, Subtrees, invariant,
};
use leafbase_store::SpaceReader;

/// How many rows of the change log are read at a time.
const ROWS_PER_READ: usize = 64;

/// Siblings that left the children of a parent together, or came among them.
pub(super) struct Relocation {
    pub(super) is_arrival: bool,
    pub(super) blocks: Vec<BlockId>,
    pub(super) parent: BlockId,
    /// The sibling that they follow, there or before they left.
    pub(super) after: Option<BlockId>,
}

/// The writes after a change.
#[derive(Default)]
pub(super) struct LaterWrites {
    /// By parent and in order, each with its change; without those by undone changes.
    relocations: IdMap<BlockId, Vec<(u64, Relocation)>>,
    /// The last change by which a block left the children of a parent.
    departures: HashMap<(BlockId, BlockId), u64>,
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
                        later.add_relocations(change.sequence, edit);
                    }
                }
            }
        }
    }

    /// Whether the children of `parent` are others, or others in their order, since the change
    /// `sequence`.
    pub(super) fn has_other_children(&self, parent: BlockId, sequence: u64) -> bool {
        !self.relocations_between(parent, sequence, u64::MAX).is_empty()
    }

    /// Whether the block left the children of `parent` after the change `sequence`.
    pub(super) fn has_left(&self, parent: BlockId, block: BlockId, sequence: u64) -> bool {
        self.departures.get(&(parent, block)).is_some_and(|last| *last > sequence)
    }

    /// The relocations of the children of `parent` by the changes after `sequence`, to `last`.
    pub(super) fn relocations_between(
        &self,
        parent: BlockId,
        sequence: u64,
        last: u64,
    ) -> &[(u64, Relocation)] {
        let all = self.relocations.get(&parent).map_or(&[][..], Vec::as_slice);
        let (all, _) = all.split_at(all.partition_point(|(change, _)| *change <= last));
        all.split_at(all.partition_point(|(change, _)| *change <= sequence)).1
    }

    /// Adds edits that are not yet changes.
    pub(super) fn add_planned(&mut self, planned: &[Edit]) {
        for edit in planned {
            self.add_revs(edit);
            self.add_relocations(u64::MAX, edit);
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

    fn add_relocations(&mut self, sequence: u64, edit: &Edit) {
        for relocation in Relocation::by(edit) {
            let Relocation { is_arrival, ref blocks, parent, .. } = relocation;
            if !is_arrival {
                self.departures.extend(blocks.iter().map(|block| ((parent, *block), sequence)));
            }
            self.relocations.entry(parent).or_default().push((sequence, relocation));
        }
    }
}

impl Relocation {
    /// The relocations of an edit.
    pub(super) fn by(edit: &Edit) -> Vec<Self> {
        let relocation = |is_arrival, target: &InsertTarget, blocks| {
            let InsertTarget { parent, after, .. } = *target;
            Self { is_arrival, blocks, parent, after }
        };
        let tops = |subtrees: &Subtrees| {
            let tops = subtrees.0.iter().filter(|node| node.depth == 0);
            tops.map(|node| node.block.id).collect()
        };
        match edit {
            Edit::Insert { target, subtrees } => vec![relocation(true, target, tops(subtrees))],
            Edit::Remove { target, subtrees } => vec![relocation(false, target, tops(subtrees))],
            Edit::Move { block, from, to } => {
                vec![relocation(false, from, vec![*block]), relocation(true, to, vec![*block])]
            }
            _ => Vec::new(),
        }
    }
}
