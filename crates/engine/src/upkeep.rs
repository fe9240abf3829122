//! What goes with what a write takes away: comments of blocks, files that no block shows any more.
//!
//! Every write of the engine comes by here, so that no operation has to care.

use std::collections::{BTreeSet, HashSet};

use leafbase_model::{AssetId, BlockId, DocumentId, Edit, Forest, Result};
use leafbase_store::{EdgeEnd, Reader};

use crate::links;

/// Of a forest with more blocks than this, the comments are read by one range of its document, and not block by block.
const FEW: usize = 8;

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
    let mut going: Vec<(DocumentId, HashSet<BlockId>)> = Vec::new();
    for (document, forest) in edits.iter().filter_map(taken) {
        let blocks = forest.0.iter().map(|node| node.block.id);
        match going.iter_mut().find(|(known, _)| *known == document) {
            Some((_, known)) => known.extend(blocks),
            None => going.push((document, blocks.collect())),
        }
    }
    let mut removals = Vec::new();
    for (document, blocks) in going {
        removals.append(&mut comments_on(reader, document, &blocks)?);
    }
    Ok(removals)
}

fn comments_on(reader: Reader<'_>, document: DocumentId, blocks: &HashSet<BlockId>) -> Result<Vec<Edit>> {
    let mut removals = Vec::new();
    if blocks.len() > FEW {
        let among = reader.comments_in(document)?.into_iter().filter(|(block, _)| blocks.contains(block));
        removals.extend(among.map(|(block, comment)| Edit::RemoveComment { document, block, comment }));
        return Ok(removals);
    }
    for block in blocks {
        let comments = reader.comments_on(document, *block)?.into_iter();
        removals.extend(comments.map(|comment| Edit::RemoveComment { document, block: *block, comment }));
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
