//! What goes with what a write takes away: comments of blocks, files that no block shows any more,
//! ends of relations. And what goes with a collection's name: its schema says the same.
//!
//! Every write of the engine comes by here, so that no operation has to care.

use std::collections::{BTreeMap, BTreeSet};

use leafbase_collections::ReadCollections;
use leafbase_model::{
    AssetId, BlockId, BlockKind, BlockRecord, DocumentId, Edit, Limits, Result, Schema, Subtrees,
};
use leafbase_store::{EdgeEnd, Reader};

use crate::core::tree::Tree;
use crate::operations::collections::removal;
use crate::operations::links;

/// The blocks that `edit` takes out, and their document.
pub(crate) fn taken(edit: &Edit) -> Option<(DocumentId, &Subtrees)> {
    match edit {
        Edit::Remove { target, subtrees } => Some((target.document, subtrees)),
        Edit::EraseDocument { record, subtrees } => Some((record.id, subtrees)),
        _ => None,
    }
}

/// Whether one of `edits` takes blocks out.
pub(crate) fn takes_any(edits: &[Edit]) -> bool {
    edits.iter().any(|edit| taken(edit).is_some())
}

/// Edits that may be applied together after one look at the comments: blocks that go stand where
/// they are now.
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

/// Whether something of a collection goes with `edits`: of others nothing need be read.
pub(crate) fn concerns_collections(edits: &[Edit]) -> bool {
    removal::takes_any(edits) || edits.iter().any(|edit| renamed(edit).is_some())
}

/// `edits` with what of collections goes with them. `tree` is the state before.
pub(crate) fn with_collections(
    tree: &Tree<'_>,
    limits: &Limits,
    edits: Vec<Edit>,
) -> Result<Vec<Edit>> {
    let edits = with_names(tree, edits)?;
    if removal::takes_any(&edits) { removal::with_ends(tree, limits, edits) } else { Ok(edits) }
}

/// The collection that `edit` gives another name, and its document.
fn renamed(edit: &Edit) -> Option<(DocumentId, &BlockRecord)> {
    match edit {
        Edit::Update { document, before, after } if after.data.kind == BlockKind::Collection => {
            (before.data.markdown != after.data.markdown).then_some((*document, after))
        }
        _ => None,
    }
}

/// `edits` with the schemas of collections that they rename, unless they bring them themselves.
fn with_names(tree: &Tree<'_>, edits: Vec<Edit>) -> Result<Vec<Edit>> {
    let brought: BTreeSet<_> = edits.iter().filter_map(named_by_schema).collect();
    let (mut all, mut schemas) = (Vec::with_capacity(edits.len()), BTreeMap::new());
    for edit in edits {
        let renaming = renamed(&edit)
            .map(|(document, block)| (document, block.id, block.data.markdown.clone()));
        all.push(edit);
        let Some((document, collection, name)) =
            renaming.filter(|(_, id, name)| !brought.contains(&(*id, name.clone())))
        else {
            continue;
        };
        let known = schemas.remove(&collection);
        let before = known.map_or_else(|| tree.schema(collection), |known| Ok(Some(known)))?;
        if let Some(before) = before.filter(|schema: &Schema| schema.name != name) {
            let after = Schema { name, ..before.clone() };
            schemas.insert(collection, after.clone());
            let (before, after) = (Some(Box::new(before)), Some(Box::new(after)));
            all.push(Edit::SetSchema { document, collection, before, after, quiet: false });
        }
    }
    Ok(all)
}

/// The collection that `edit` gives a schema, with the name in it.
fn named_by_schema(edit: &Edit) -> Option<(BlockId, String)> {
    match edit {
        Edit::SetSchema { collection, after: Some(after), .. } => {
            Some((*collection, after.name.clone()))
        }
        _ => None,
    }
}

/// The edits that take the comments off the blocks that `edits` take out.
pub(crate) fn comments(reader: Reader<'_>, edits: &[Edit]) -> Result<Vec<Edit>> {
    let mut going: BTreeMap<DocumentId, Vec<BlockId>> = BTreeMap::new();
    for (document, subtrees) in edits.iter().filter_map(taken) {
        going.entry(document).or_default().extend(subtrees.0.iter().map(|node| node.block.id));
    }
    let mut removals = Vec::new();
    for (document, mut blocks) in going {
        blocks.sort_unstable();
        let comments = reader.comments_among(document, &blocks)?.into_iter();
        removals.extend(comments.map(|(block, comment)| Edit::RemoveComment {
            document,
            block,
            comment,
        }));
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
        } else if let Some((_, subtrees)) = taken(edit) {
            subtrees.0.iter().for_each(|node| links::files(&node.block.data, &mut tell));
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
