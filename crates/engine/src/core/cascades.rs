//! Cascades: the edits that follow from other edits. Comments are deleted with their blocks, files
//! with the last block that shows them, relations with the items and collections at either end; a
//! collection's schema is renamed with its block.
//!
//! Every write of the engine passes [`apply`], so that no operation has to remember them.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use leafbase_collections::ReadCollections;
use leafbase_model::{
    AssetId, BlockId, BlockKind, BlockRecord, DocumentId, Edit, Error, Limits, Result, Schema,
    Subtrees, invariant,
};
use leafbase_store::{EdgeEnd, SpaceReader, SpaceTransaction};

use crate::core::edges;
use crate::core::tree::Tree;

use removed::removed;
use unguarded::UnguardedTree;

pub(crate) mod item_edits;
mod relations;
mod removed;
mod unguarded;

/// Applies `edits` with everything that follows from them.
pub(in crate::core) fn apply(
    transaction: &mut SpaceTransaction<'_>,
    limits: &Limits,
    mut edits: Vec<Edit>,
) -> Result<()> {
    if concerns_collections(&edits) {
        let tree = UnguardedTree::new(transaction.reader()?);
        edits = with_collections(tree.tree(), limits, edits)?;
    }
    let files = files_shown_before(&edits);
    for batch in batches(edits) {
        if removes_any(&batch) {
            // Before the blocks: a comment is found by its block.
            let comments = comments_of(transaction.reader()?, &batch)?;
            transaction.apply(comments)?;
        }
        transaction.apply(batch)?;
    }
    if !files.is_empty() {
        // After the blocks: only now the edges say which files are still shown.
        let erasures = unreferenced(transaction.reader()?, &files)?;
        transaction.apply(erasures)?;
    }
    Ok(())
}

/// Erases the files that `applied` edits no longer show and no block shows.
pub(in crate::core) fn erase_unshown(
    transaction: &mut SpaceTransaction<'_>,
    applied: &[Edit],
) -> Result<()> {
    let files = files_shown_before(applied);
    if files.is_empty() {
        return Ok(());
    }
    let erasures = unreferenced(transaction.reader()?, &files)?;
    transaction.apply(erasures)
}

/// `edit`, which undoes something for the call of `tree`, with the cascading edits of relations
/// hidden from the call: relations to removed blocks end. Visible ones are edits of the undo.
pub(in crate::core) fn with_hidden_relations(
    tree: &Tree<'_>,
    limits: &Limits,
    edit: Edit,
) -> Result<Vec<Edit>> {
    if !relations::removes_any(std::slice::from_ref(&edit)) {
        return Ok(vec![edit]);
    }
    let all = UnguardedTree::new(tree.unguarded());
    let removed_blocks: HashSet<BlockId> = removed(&edit)
        .into_iter()
        .flat_map(|(_, subtrees)| subtrees.0.iter().map(|node| node.block.id))
        .collect();
    debug_assert!(!removed_blocks.is_empty(), "a removal has blocks");
    let mut edits = Vec::new();
    for following in relations::with_relations(all.tree(), limits, vec![edit.clone()])? {
        let is_needed = match &following {
            Edit::Update { after, .. } => !tree.can_see(after.id)?,
            Edit::SetSchema { collection, .. } => {
                removed_blocks.contains(collection) || !tree.can_see(*collection)?
            }
            _ => true,
        };
        if is_needed {
            edits.push(if removed(&following).is_some() { edit.clone() } else { following });
        }
    }
    Ok(edits)
}

/// Purges documents: ends the relations from the rest of the space, and erases the files that only
/// these documents embed. Relations among the documents go with them: an edit that ended one would
/// keep the content of its item in the change log.
pub(in crate::core) fn purge(
    transaction: &mut SpaceTransaction<'_>,
    limits: &Limits,
    documents: &[DocumentId],
) -> Result<()> {
    transaction.reader()?.prefetch_dependents(documents);
    let mut erasures = Vec::with_capacity(documents.len());
    let mut embedded = Vec::with_capacity(documents.len());
    for id in documents {
        let reader = transaction.reader()?;
        let record = reader.document(*id)?.ok_or_else(Error::no_document)?;
        let mut subtrees = reader.subtree(id.root(), None)?;
        embedded.push(EmbeddedFiles::of(&subtrees));
        subtrees.0.retain(|node| relations::is_part(node.block.data.block_type()));
        erasures.push(Edit::EraseDocument { record, subtrees });
    }
    invariant!(embedded.len() == erasures.len(), "each purged document has its files");
    let mut edits = Vec::new();
    if relations::removes_any(&erasures) {
        let tree = UnguardedTree::new(transaction.reader()?);
        edits = relations::with_relations(tree.tree(), limits, erasures)?;
    }
    // The purge itself removes the documents, and the schemas of their collections.
    let purged: HashSet<_> = documents.iter().copied().collect();
    edits.retain(|edit| match edit {
        Edit::EraseDocument { .. } => false,
        Edit::SetSchema { document, .. } => !purged.contains(document),
        _ => true,
    });
    let is_schema = |edit: &Edit| matches!(edit, Edit::SetSchema { .. });
    let (schemas, items): (Vec<_>, Vec<_>) = edits.into_iter().partition(is_schema);
    transaction.apply(items)?;
    for (document, embedded) in documents.iter().copied().zip(embedded) {
        // After the documents before it: a file may have been embedded by those, too.
        let files = embedded.of_no_others(transaction.reader()?)?;
        transaction.apply(vec![Edit::PurgeDocument { document, files }])?;
    }
    transaction.apply(schemas)
}

/// The files that a document to purge embeds.
struct EmbeddedFiles {
    files: BTreeSet<AssetId>,
    /// The blocks of the document; empty if it embeds no file.
    blocks: HashSet<BlockId>,
}

impl EmbeddedFiles {
    fn of(document: &Subtrees) -> Self {
        let mut files = BTreeSet::new();
        for node in &document.0 {
            edges::files(&node.block.data, &mut |file| {
                files.insert(file);
            });
        }
        let nodes = document.0.iter().filter(|_| !files.is_empty());
        let blocks = nodes.map(|node| node.block.id).collect();
        Self { files, blocks }
    }

    /// The files that no block of another document embeds.
    fn of_no_others(self, reader: SpaceReader<'_>) -> Result<Vec<AssetId>> {
        let Self { files, blocks } = self;
        let mut unshared = Vec::with_capacity(files.len());
        for file in files {
            // A block embeds a file once, so more edges than blocks come from elsewhere, too.
            let edges = reader.edges_to(EdgeEnd::Asset(file), None, blocks.len() + 1)?;
            let is_unshared = edges.iter().all(|edge| blocks.contains(&edge.source));
            // A URL may name a file that was erased, or that never existed.
            if is_unshared && reader.asset(file)?.is_some() {
                unshared.push(file);
            }
        }
        Ok(unshared)
    }
}

/// Whether one of `edits` removes blocks.
fn removes_any(edits: &[Edit]) -> bool {
    edits.iter().any(|edit| removed(edit).is_some())
}

/// Splits `edits` so that within a batch no removal follows a move: the comments of a batch are
/// looked up before it is applied, by the document that each block is in at that time.
fn batches(edits: Vec<Edit>) -> Vec<Vec<Edit>> {
    // The common case: the comments of all removals are read in one scan.
    if !edits.iter().any(|edit| matches!(edit, Edit::Move { .. })) {
        return vec![edits];
    }
    let (mut batches, mut batch, mut has_moved) = (Vec::new(), Vec::new(), false);
    for edit in edits {
        if has_moved && removed(&edit).is_some() {
            batches.push(std::mem::take(&mut batch));
            has_moved = false;
        }
        has_moved |= matches!(edit, Edit::Move { .. });
        batch.push(edit);
    }
    batches.push(batch);
    debug_assert!(!batches.is_empty(), "edits are in at least one batch");
    batches
}

/// Whether `edits` may need edits of collections: for others nothing is read.
fn concerns_collections(edits: &[Edit]) -> bool {
    relations::removes_any(edits) || edits.iter().any(|edit| renamed(edit).is_some())
}

/// `edits` with the edits of collections that follow. `tree` is the state before.
fn with_collections(tree: &Tree<'_>, limits: &Limits, edits: Vec<Edit>) -> Result<Vec<Edit>> {
    let edits = with_names(tree, edits)?;
    if relations::removes_any(&edits) {
        relations::with_relations(tree, limits, edits)
    } else {
        Ok(edits)
    }
}

/// The collection block that `edit` renames, and its document.
fn renamed(edit: &Edit) -> Option<(DocumentId, &BlockRecord)> {
    match edit {
        Edit::Update { document, before, after } if after.data.kind == BlockKind::Collection => {
            (before.data.inline != after.data.inline).then_some((*document, after))
        }
        _ => None,
    }
}

/// `edits` with the schemas of the collections that they rename, unless they set them themselves.
fn with_names(tree: &Tree<'_>, edits: Vec<Edit>) -> Result<Vec<Edit>> {
    let already_set: BTreeSet<_> = edits.iter().filter_map(name_set_by).collect();
    let (mut all, mut schemas) = (Vec::with_capacity(edits.len()), BTreeMap::new());
    for edit in edits {
        let renaming =
            renamed(&edit).map(|(document, block)| (document, block.id, block.data.inline.clone()));
        all.push(edit);
        let Some((document, collection, name)) =
            renaming.filter(|(_, id, name)| !already_set.contains(&(*id, name.clone())))
        else {
            continue;
        };
        // A collection renamed twice in one write: the second edit starts from the first one.
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

/// The collection whose schema `edit` sets, and the name in it.
fn name_set_by(edit: &Edit) -> Option<(BlockId, String)> {
    match edit {
        Edit::SetSchema { collection, after: Some(after), .. } => {
            Some((*collection, after.name.clone()))
        }
        _ => None,
    }
}

/// The edits that delete the comments on the blocks that `edits` remove.
fn comments_of(reader: SpaceReader<'_>, edits: &[Edit]) -> Result<Vec<Edit>> {
    let mut removed_blocks: BTreeMap<DocumentId, Vec<BlockId>> = BTreeMap::new();
    for (document, subtrees) in edits.iter().filter_map(removed) {
        let ids = subtrees.0.iter().map(|node| node.block.id);
        removed_blocks.entry(document).or_default().extend(ids);
    }
    let mut deletions = Vec::new();
    for (document, mut blocks) in removed_blocks {
        // The store merges the sorted IDs with the comments of the document in one scan.
        blocks.sort_unstable();
        let comments = reader.comments_among(document, &blocks)?.into_iter();
        deletions.extend(comments.map(|(block, comment)| Edit::RemoveComment {
            document,
            block,
            comment,
        }));
    }
    Ok(deletions)
}

/// The files that blocks show before `edits` and may no longer show after them.
fn files_shown_before(edits: &[Edit]) -> BTreeSet<AssetId> {
    let mut files = BTreeSet::new();
    let mut add = |file| {
        files.insert(file);
    };
    for edit in edits {
        if let Edit::Update { before, .. } = edit {
            edges::files(&before.data, &mut add);
        } else if let Some((_, subtrees)) = removed(edit) {
            subtrees.0.iter().for_each(|node| edges::files(&node.block.data, &mut add));
        }
    }
    files
}

/// The edits that erase the `files` that no block shows any more.
fn unreferenced(reader: SpaceReader<'_>, files: &BTreeSet<AssetId>) -> Result<Vec<Edit>> {
    let mut erasures = Vec::new();
    for file in files {
        // One edge is enough to keep the file.
        if reader.edges_to(EdgeEnd::Asset(*file), None, 1)?.is_empty() {
            erasures.extend(reader.asset(*file)?.map(Edit::EraseAsset));
        }
    }
    Ok(erasures)
}
