//! What goes with what a write takes away: comments of blocks, files that no block shows any more.
//!
//! Every write of the engine comes by here, so that no operation has to care.

use std::collections::{BTreeMap, BTreeSet};

use leafbase_model::{AssetId, BlockId, DocumentId, Edit, Forest, Result};
use leafbase_store::{EdgeEnd, Reader};

use crate::links;

/// The blocks that `edit` takes out, and their document.
fn taken(edit: &Edit) -> Option<(DocumentId, &Forest)> {
    match edit {
        Edit::Remove { slot, forest } => Some((slot.document, forest)),
        Edit::EraseDocument { record, forest } => Some((record.id, forest)),
        _ => None,
    }
}

/// Whether one of `edits` takes blocks out.
pub(crate) fn takes_any(edits: &[Edit]) -> bool {
    edits.iter().any(|edit| taken(edit).is_some())
}

/// Edits that may be applied together after one look at the comments: blocks that go stand where they are now.
pub(crate) fn stretches(edits: Vec<Edit>) -> Vec<Vec<Edit>> {
    let (mut stretches, mut moved) = (vec![Vec::new()], false);
    for edit in edits {
        if moved && taken(&edit).is_some() {
            stretches.push(Vec::new());
            moved = false;
        }
        moved |= matches!(edit, Edit::Move { .. });
        if let Some(stretch) = stretches.last_mut() {
            stretch.push(edit);
        }
    }
    stretches
}

/// The edits that take the comments off the blocks that `edits` take out.
pub(crate) fn comments(reader: Reader<'_>, edits: &[Edit]) -> Result<Vec<Edit>> {
    let mut going: BTreeMap<DocumentId, Vec<BlockId>> = BTreeMap::new();
    for (document, forest) in edits.iter().filter_map(taken) {
        going.entry(document).or_default().extend(forest.0.iter().map(|node| node.block.id));
    }
    let mut removals = Vec::new();
    for (document, mut blocks) in going {
        blocks.sort_unstable();
        let comments = reader.comments_among(document, &blocks)?.into_iter();
        removals.extend(comments.map(|(block, comment)| Edit::RemoveComment { document, block, comment }));
    }
    Ok(removals)
}

/// The files that blocks show before `edits`, and may not show after.
pub(crate) fn files(edits: &[Edit]) -> BTreeSet<AssetId> {
    let mut found = BTreeSet::new();
    let mut tell = |file| {
        found.insert(file);
    };
    for edit in edits {
        if let Edit::Update { before, .. } = edit {
            links::files(&before.data, &mut tell);
        } else if let Some((_, forest)) = taken(edit) {
            forest.0.iter().for_each(|node| links::files(&node.block.data, &mut tell));
        }
    }
    found
}

/// The edits that erase those of `files` that no block shows now.
pub(crate) fn erasures(reader: Reader<'_>, files: &BTreeSet<AssetId>) -> Result<Vec<Edit>> {
    let mut erasures = Vec::new();
    for file in files {
        if reader.edges_to(EdgeEnd::Asset(*file), None, 1)?.is_empty() {
            erasures.extend(reader.asset(*file)?.map(Edit::EraseAsset));
        }
    }
    Ok(erasures)
}
