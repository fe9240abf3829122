//! Blocks are taken out, with all below them.

use std::ops::Range;

use leafbase_model::{
    BlockId, BlockLocation, Edit, Error, IdMap, IdSet, InsertTarget, Result, Subtrees,
};

use crate::batch::{Batch, Named, check_count};
use crate::{Context, ReadTree};

/// What a deletion does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deleted {
    /// What to write; siblings that stand side by side go in one edit.
    pub edits: Vec<Edit>,
    /// The IDs asked for, in the order of the request.
    pub ids: Vec<BlockId>,
}

impl Deleted {
    /// Every block that goes: those asked for, and all below them.
    pub fn forests(&self) -> impl Iterator<Item = &Subtrees> {
        self.edits.iter().filter_map(|edit| match edit {
            Edit::Remove { subtrees, .. } => Some(subtrees),
            _ => None,
        })
    }
}

/// Deletes blocks with all below them. A block may be named together with one that it stands below:
/// it goes once.
///
/// # Errors
/// At `blockIds[n]`: [`leafbase_model::ErrorKind::NotFound`],
/// [`leafbase_model::ErrorKind::Validation`] for a block named twice, and
/// [`leafbase_model::ErrorKind::RuleViolation`] for a document's root or a document in the trash.
pub fn delete<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    ids: Vec<BlockId>,
) -> Result<Deleted> {
    check_count("IDs in one request", context.limits.blocks_per_request, ids.len(), "blockIds")?;
    let batch = Batch::new(tree);
    batch.expect(&ids);
    let (mut named, mut places) = (Named::of(ids.len()), Vec::with_capacity(ids.len()));
    for (index, id) in ids.iter().enumerate() {
        let at = |error: Error| error.at(format_args!("blockIds[{index}]"));
        named.add(*id).map_err(at)?;
        places.push((*id, locate(&batch, *id).map_err(at)?));
    }
    let (mut runs, mut known) = (Runs::default(), IdMap::default());
    for (id, target) in &places {
        let covered = if let Some(covered) = known.get(&target.parent) {
            *covered
        } else {
            let covered = batch.lineage(target.parent)?.iter().any(|above| named.contains(*above));
            known.insert(target.parent, covered);
            covered
        };
        if !covered {
            runs.add(*id, InsertTarget { after: tree.previous_sibling(*id)?, ..*target });
        }
    }
    Ok(Deleted { edits: runs.edits(tree)?, ids })
}

/// Where a block that may be deleted stands; which sibling it follows is not looked up yet.
fn locate<T: ReadTree + ?Sized>(batch: &Batch<'_, T>, id: BlockId) -> Result<InsertTarget> {
    let BlockLocation { document, parent } = batch.locate(id)?;
    let refused =
        || Error::rule("the root of a document is not deleted as a block: delete the document");
    Ok(InsertTarget { document, parent: parent.ok_or_else(refused)?, after: None })
}

/// Blocks that go, put together to runs of siblings.
#[derive(Default)]
struct Runs {
    ids: Vec<BlockId>,
    /// Which of them were named one right behind the other, and the target of the first.
    parts: Vec<(InsertTarget, Range<usize>)>,
}

impl Runs {
    fn add(&mut self, id: BlockId, target: InsertTarget) {
        let (start, end) = (self.ids.len(), self.ids.len() + 1);
        match self.parts.last_mut() {
            Some((_, part))
                if target.after.is_some() && target.after == self.ids.last().copied() =>
            {
                part.end = end
            }
            _ => self.parts.push((target, start..end)),
        }
        self.ids.push(id);
    }

    fn part(&self, (_, range): &(InsertTarget, Range<usize>)) -> &[BlockId] {
        self.ids.get(range.clone()).unwrap_or_default()
    }

    /// One edit for each run, in the order of the request. What a run follows stays, so no edit
    /// changes the target of another.
    fn edits<T: ReadTree + ?Sized>(&self, tree: &T) -> Result<Vec<Edit>> {
        let lasts: IdSet<BlockId> =
            self.parts.iter().filter_map(|part| self.part(part).last().copied()).collect();
        let after = |part: &(InsertTarget, Range<usize>)| part.0.after;
        let followers: IdMap<BlockId, &(InsertTarget, Range<usize>)> =
            self.parts.iter().filter_map(|part| Some((after(part)?, part))).collect();
        let mut edits = Vec::new();
        for first in self
            .parts
            .iter()
            .filter(|part| after(part).is_none_or(|before| !lasts.contains(&before)))
        {
            let (mut run, mut next) = (Vec::new(), Some(first));
            while let Some(part) = next {
                run.extend_from_slice(self.part(part));
                next = run.last().and_then(|last| followers.get(last)).copied();
            }
            edits.push(Edit::Remove { target: first.0, subtrees: tree.subtrees(&run)? });
        }
        Ok(edits)
    }
}
