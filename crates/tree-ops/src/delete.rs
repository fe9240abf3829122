//! Deletion of blocks with their descendants.

use leafbase_model::{
    BlockId, BlockLocation, DocumentId, Edit, Error, IdMap, IdSet, InsertTarget, Result, Subtrees,
    invariant,
};

use crate::context::Context;
use crate::read::ReadTree;
use crate::request::{RequestReader, UniqueIds, check_count};

/// Result of a deletion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeletedBlocks {
    /// Edits to apply, one per run of adjacent siblings.
    pub edits: Vec<Edit>,
    /// The IDs of the request, in its order.
    pub ids: Vec<BlockId>,
}

impl DeletedBlocks {
    /// All deleted blocks, including descendants.
    pub fn subtrees(&self) -> impl Iterator<Item = &Subtrees> {
        self.edits.iter().filter_map(|edit| match edit {
            Edit::Remove { subtrees, .. } => Some(subtrees),
            _ => None,
        })
    }
}

/// Deletes blocks with their descendants. A block may be named together with one of its ancestors.
///
/// # Errors
/// At `blockIds[n]`: [`leafbase_model::ErrorKind::NotFound`],
/// [`leafbase_model::ErrorKind::Validation`] for a duplicate, and
/// [`leafbase_model::ErrorKind::RuleViolation`] for a document's root or a document in the trash.
pub fn delete<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    ids: Vec<BlockId>,
) -> Result<DeletedBlocks> {
    check_count("IDs in one request", context.limits.blocks_per_request, ids.len(), "blockIds")?;
    let reader = RequestReader::new(tree);
    // What is read of a single block is read with it.
    if ids.len() > 1 {
        reader.prefetch_subtrees(&ids);
    }
    let mut unique_ids = UniqueIds::with_capacity(ids.len());
    let mut parents = Vec::with_capacity(ids.len());
    for (index, id) in ids.iter().enumerate() {
        let at = |error: Error| error.at(format_args!("blockIds[{index}]"));
        unique_ids.add(*id).map_err(at)?;
        parents.push((*id, parent(&reader, *id).map_err(at)?));
    }
    debug_assert_eq!(parents.len(), ids.len(), "one location per block of the request");
    // Whether a parent is deleted with the request, itself or through an ancestor.
    let mut is_deleted = IdMap::default();
    let mut runs = SiblingRuns::default();
    for (id, (document, parent)) in parents {
        let is_parent_deleted = if let Some(known) = is_deleted.get(&parent) {
            *known
        } else {
            let lineage = reader.lineage(parent)?;
            let found = lineage.iter().any(|ancestor| unique_ids.contains(*ancestor));
            is_deleted.insert(parent, found);
            found
        };
        // The subtree of a deleted parent contains the block already.
        if !is_parent_deleted {
            let after = tree.previous_sibling(id)?;
            runs.add(id, InsertTarget { document, parent, after });
        }
    }
    Ok(DeletedBlocks { edits: runs.edits(tree)?, ids })
}

/// Document and parent of a block that can be deleted.
fn parent<T: ReadTree + ?Sized>(
    reader: &RequestReader<'_, T>,
    id: BlockId,
) -> Result<(DocumentId, BlockId)> {
    let BlockLocation { document, parent } = reader.locate(id)?;
    let refused =
        || Error::rule("the root of a document cannot be deleted as a block; delete the document");
    Ok((document, parent.ok_or_else(refused)?))
}

/// Deleted blocks, grouped into runs of adjacent siblings.
#[derive(Default)]
struct SiblingRuns(Vec<SiblingRun>);

/// Adjacent siblings that the request names one right after the other.
struct SiblingRun {
    /// The slot of the first block.
    slot: InsertTarget,
    blocks: Vec<BlockId>,
}

impl SiblingRun {
    fn last(&self) -> Option<BlockId> {
        self.blocks.last().copied()
    }
}

impl SiblingRuns {
    fn add(&mut self, id: BlockId, slot: InsertTarget) {
        match self.0.last_mut().filter(|run| slot.after.is_some() && slot.after == run.last()) {
            Some(run) => run.blocks.push(id),
            None => self.0.push(SiblingRun { slot, blocks: vec![id] }),
        }
    }

    /// One edit per run, in the order of the request, after adjacent runs are merged.
    ///
    /// Invariant: the block that a merged run follows is not deleted, so no edit changes the slot
    /// of another one.
    fn edits<T: ReadTree + ?Sized>(&self, tree: &T) -> Result<Vec<Edit>> {
        let last_blocks: IdSet<BlockId> = self.0.iter().filter_map(SiblingRun::last).collect();
        let runs_by_previous: IdMap<BlockId, &SiblingRun> =
            self.0.iter().filter_map(|run| Some((run.slot.after?, run))).collect();
        let is_first =
            |run: &&SiblingRun| run.slot.after.is_none_or(|after| !last_blocks.contains(&after));
        let (mut merged, named) = (0, self.0.iter().map(|run| run.blocks.len()).sum::<usize>());
        let mut edits = Vec::new();
        for first in self.0.iter().filter(is_first) {
            let mut blocks = first.blocks.clone();
            while let Some(run) = blocks.last().and_then(|last| runs_by_previous.get(last)) {
                blocks.extend_from_slice(&run.blocks);
            }
            edits.push(Edit::Remove { target: first.slot, subtrees: tree.subtrees(&blocks)? });
            merged += blocks.len();
        }
        // A run that is merged into none would stay in the document, and its IDs be in the reply.
        invariant!(merged == named, "{merged} of {named} blocks are removed");
        Ok(edits)
    }
}
