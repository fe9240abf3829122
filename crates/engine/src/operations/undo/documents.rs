//! Inverse edits of documents, folders, comments, schemas, files and settings, as they fit the
//! present state.

use leafbase_model::{
    BlockId, BlockLocation, Comment, DocumentRecord, Edit, FolderId, FolderRecord, Limits,
    Location, Result, Schema, SubtreeNode, Subtrees,
};
use leafbase_tree_ops::{Context, ReadTree};

use super::obstacles::{Obstacle, Rebased, commented, lost_file, refused, restored, trashed};
use super::removal::remove;
use super::subtree_match::differences;
use crate::core::scope_undo::UndoSight;
use crate::core::tree::Tree;

pub(super) fn rebase(
    tree: &Tree<'_>,
    context: &Context<'_>,
    sight: &UndoSight,
    edit: &Edit,
) -> Result<Rebased> {
    match edit {
        Edit::CreateDocument { record, subtrees } => create(tree, context, record, subtrees),
        Edit::EraseDocument { record, subtrees } => erase(tree, sight, record, subtrees),
        Edit::UpdateDocument { before, after } => put_back(tree, context, before, after),
        Edit::CreateFolder(record) => create_folder(tree, record),
        Edit::RemoveFolder(record) => remove_folder(tree, record),
        Edit::UpdateFolder { before, after } => update_folder(tree, before, after),
        Edit::AddComment { block, comment, .. } => add_comment(tree, *block, comment),
        Edit::RemoveComment { block, comment, .. } => change_comment(tree, *block, comment, None),
        Edit::UpdateComment { block, before, after, .. } => {
            change_comment(tree, *block, before, Some(after))
        }
        Edit::SetSchema { collection, before, after, quiet, .. } => {
            set_schema(tree, sight, *collection, (before.as_deref(), after.as_deref()), *quiet)
        }
        Edit::CreateAsset(file) => match tree.full_reader()?.asset(file.id)? {
            Some(_) => Ok(Ok(Vec::new())),
            None => Ok(refused(Obstacle::new("files", file.id, "was erased with its last block"))),
        },
        Edit::UpdateSpace { before, after } => {
            if tree.full_reader()?.meta()?.settings() != *before {
                let (path, message) = ("space".to_owned(), "was changed since".to_owned());
                return Ok(refused(Obstacle { path, message }));
            }
            Ok(Ok(vec![Edit::UpdateSpace { before: before.clone(), after: after.clone() }]))
        }
        Edit::SetScope { before, after } => {
            let Some(named) = before.as_ref().or(after.as_ref()) else { return Ok(Ok(Vec::new())) };
            if tree.full_reader()?.kept_scope(&named.name)? != before.as_deref().cloned() {
                return Ok(refused(Obstacle::new("scopes", &named.name, "was changed since")));
            }
            Ok(Ok(vec![Edit::SetScope { before: before.clone(), after: after.clone() }]))
        }
        // A file goes with the last block that shows it. Purges have no inverse.
        Edit::EraseAsset(_)
        | Edit::PurgeDocument { .. }
        | Edit::Insert { .. }
        | Edit::Remove { .. }
        | Edit::Update { .. }
        | Edit::Move { .. } => Ok(Ok(Vec::new())),
    }
}

fn create(
    tree: &Tree<'_>,
    context: &Context<'_>,
    record: &DocumentRecord,
    subtrees: &Subtrees,
) -> Result<Rebased> {
    if tree.document(record.id)?.is_some() {
        return Ok(refused(Obstacle::new("documents", record.id, "exists again")));
    }
    let mut obstacles = Vec::new();
    for node in &subtrees.0 {
        if tree.locate(node.block.id)?.is_some() {
            obstacles.push(Obstacle::block(node.block.id, "exists again"));
        }
        obstacles.extend(lost_file(tree, &node.block.data)?);
    }
    obstacles.extend(location_taken(tree, record)?);
    if !obstacles.is_empty() {
        return Ok(Err(obstacles));
    }
    let subtrees = restored(context, subtrees);
    let modified_at = record.modified_at.max(context.stamp.at);
    let record = DocumentRecord { modified_at, ..record.clone() };
    Ok(Ok(vec![Edit::CreateDocument { record, subtrees }]))
}

fn erase(
    tree: &Tree<'_>,
    sight: &UndoSight,
    left: &DocumentRecord,
    subtrees: &Subtrees,
) -> Result<Rebased> {
    let document = |message| Ok(refused(Obstacle::new("documents", left.id, message)));
    let Some(record) = tree.document(left.id)? else { return document("does not exist any more") };
    if (record.location, record.day) != (left.location, left.day) {
        return document("was moved since");
    }
    let present = tree.subtree(left.id.root(), None)?;
    let mut obstacles = differences(tree, sight, &subtrees.0, &present.0)?;
    obstacles.extend(commented(tree, left.id, &present)?);
    if obstacles.is_empty() {
        return Ok(Ok(vec![Edit::EraseDocument { record, subtrees: present }]));
    }
    // Created by the first write to it: later ones need it, and only what the change wrote goes.
    if matches!(record.location, Location::DailyNotes | Location::Inbox) {
        return remove(tree, sight, left.id.root(), &below_root(subtrees));
    }
    Ok(Err(obstacles))
}

/// The blocks below the root of a document.
fn below_root(subtrees: &Subtrees) -> Subtrees {
    let below = subtrees.0.iter().skip(1);
    let node = |node: &SubtreeNode| SubtreeNode {
        depth: node.depth.saturating_sub(1),
        block: node.block.clone(),
    };
    Subtrees(below.map(node).collect())
}

fn put_back(
    tree: &Tree<'_>,
    context: &Context<'_>,
    left: &DocumentRecord,
    target: &DocumentRecord,
) -> Result<Rebased> {
    let document = |message| Ok(refused(Obstacle::new("documents", left.id, message)));
    let Some(before) = tree.document(left.id)? else { return document("does not exist any more") };
    if before.location != left.location {
        return document("was moved since");
    }
    let after = before.kept_at(target.location, context.stamp.at);
    if let Some(obstacle) = location_taken(tree, &after)? {
        return Ok(refused(obstacle));
    }
    let is_there = before == after;
    let moved = (!is_there).then_some(Edit::UpdateDocument { before, after });
    Ok(Ok(moved.into_iter().collect()))
}

/// What keeps a document from its location.
fn location_taken(tree: &Tree<'_>, record: &DocumentRecord) -> Result<Option<Obstacle>> {
    let reader = tree.full_reader()?;
    match (record.location, record.day) {
        (Location::Folder(folder), _) if reader.folder(folder)?.is_none() => {
            Ok(Some(Obstacle::new("folders", folder, "was deleted since")))
        }
        (location, Some(day)) if location != Location::Trash => {
            let note = reader.note_of(day)?.filter(|note| note.id != record.id);
            Ok(note.map(|note| Obstacle::new("documents", note.id, "is the note of the day now")))
        }
        (Location::Inbox, _) => {
            let inbox = reader.inbox()?.filter(|inbox| inbox.id != record.id);
            Ok(inbox.map(|inbox| Obstacle::new("documents", inbox.id, "is the inbox now")))
        }
        _ => Ok(None),
    }
}

fn create_folder(tree: &Tree<'_>, record: &FolderRecord) -> Result<Rebased> {
    if tree.full_reader()?.folder(record.id)?.is_some() {
        return Ok(refused(Obstacle::new("folders", record.id, "exists again")));
    }
    if let Some(obstacle) = parent_folder(tree, record.id, record.parent)? {
        return Ok(refused(obstacle));
    }
    Ok(Ok(vec![Edit::CreateFolder(record.clone())]))
}

fn remove_folder(tree: &Tree<'_>, left: &FolderRecord) -> Result<Rebased> {
    let (reader, folder) =
        (tree.full_reader()?, |message| Ok(refused(Obstacle::new("folders", left.id, message))));
    let Some(present) = reader.folder(left.id)? else { return folder("was deleted since") };
    if (&present.name, present.parent) != (&left.name, left.parent) {
        return folder("was changed since");
    }
    let is_empty = reader.documents_at(Location::Folder(left.id))?.is_empty()
        && reader.folders_in(Some(left.id))?.is_empty();
    if !is_empty {
        return folder("has something in it");
    }
    Ok(Ok(vec![Edit::RemoveFolder(present)]))
}

fn update_folder(tree: &Tree<'_>, left: &FolderRecord, target: &FolderRecord) -> Result<Rebased> {
    let folder = |message| Ok(refused(Obstacle::new("folders", left.id, message)));
    let Some(before) = tree.full_reader()?.folder(left.id)? else {
        return folder("was deleted since");
    };
    if (&before.name, before.parent) != (&left.name, left.parent) {
        return folder("was changed since");
    }
    if let Some(obstacle) = parent_folder(tree, target.id, target.parent)? {
        return Ok(refused(obstacle));
    }
    let (name, parent) = (target.name.clone(), target.parent);
    let after = FolderRecord { name, parent, ..before.clone() };
    Ok(Ok(vec![Edit::UpdateFolder { before, after }]))
}

/// What keeps a folder from being in `parent`.
fn parent_folder(
    tree: &Tree<'_>,
    folder: FolderId,
    parent: Option<FolderId>,
) -> Result<Option<Obstacle>> {
    let (reader, mut next) = (tree.full_reader()?, parent);
    while let Some(at) = next {
        let Some(record) = reader.folder(at)? else {
            return Ok(Some(Obstacle::new("folders", at, "was deleted since")));
        };
        if at == folder {
            return Ok(Some(Obstacle::new("folders", at, "is in the folder now")));
        }
        next = record.parent;
    }
    Ok(None)
}

/// The folders that `applied` edits nested too deep.
pub(super) fn nested_too_deep(
    tree: &Tree<'_>,
    limits: &Limits,
    applied: &[Edit],
) -> Result<Vec<Obstacle>> {
    let mut obstacles = Vec::new();
    for edit in applied {
        let (Edit::CreateFolder(folder) | Edit::UpdateFolder { after: folder, .. }) = edit else {
            continue;
        };
        let reader = tree.full_reader()?;
        // A later edit may have removed or moved it.
        let Some(folder) = reader.folder(folder.id)? else { continue };
        let (mut depth, mut next) = (0, folder.parent);
        while let Some(record) = next.map(|at| reader.folder(at)).transpose()?.flatten() {
            (depth, next) = (depth + 1, record.parent);
        }
        let mut level = vec![folder.id];
        while !level.is_empty() && depth <= limits.deepest_folder() {
            let mut below = Vec::new();
            for at in level {
                below.extend(reader.folders_in(Some(at))?.iter().map(|folder| folder.id));
            }
            (level, depth) = (below, depth + 1);
        }
        // Folders are left whose depth is beyond the limit.
        if !level.is_empty() {
            obstacles.push(Obstacle::new("folders", folder.id, "would be nested too deep"));
        }
    }
    Ok(obstacles)
}

fn add_comment(tree: &Tree<'_>, block: BlockId, comment: &Comment) -> Result<Rebased> {
    let Some(BlockLocation { document, .. }) = tree.locate(block)? else {
        return Ok(refused(Obstacle::block(block, "was deleted since")));
    };
    if let Some(obstacle) = trashed(tree, document)? {
        return Ok(refused(obstacle));
    }
    if tree.comment(comment.id)?.is_some() {
        return Ok(refused(Obstacle::new("comments", comment.id, "exists again")));
    }
    Ok(Ok(vec![Edit::AddComment { document, block, comment: comment.clone() }]))
}

/// Removes a comment, or changes it, if it is as the change left it.
fn change_comment(
    tree: &Tree<'_>,
    block: BlockId,
    left: &Comment,
    target: Option<&Comment>,
) -> Result<Rebased> {
    let comment = |message| Ok(refused(Obstacle::new("comments", left.id, message)));
    let Some(present) = tree.comment(left.id)?.filter(|found| found.block == block) else {
        return comment("was deleted since");
    };
    if let Some(obstacle) = trashed(tree, present.document)? {
        return Ok(refused(obstacle));
    }
    if present.comment != *left {
        return comment("was changed since");
    }
    let (document, before) = (present.document, present.comment);
    Ok(Ok(vec![match target {
        Some(after) => Edit::UpdateComment { document, block, before, after: after.clone() },
        None => Edit::RemoveComment { document, block, comment: before },
    }]))
}

fn set_schema(
    tree: &Tree<'_>,
    sight: &UndoSight,
    collection: BlockId,
    (left, target): (Option<&Schema>, Option<&Schema>),
    quiet: bool,
) -> Result<Rebased> {
    let refuse = |message| Ok(refused(Obstacle::new("collections", collection, message)));
    let Some(BlockLocation { document, .. }) = tree.locate(collection)? else {
        return refuse("was deleted since");
    };
    if let Some(obstacle) = trashed(tree, document)?.filter(|_| !quiet) {
        return Ok(refused(obstacle));
    }
    let present = sight.schema(tree, collection)?;
    if present.visible.as_ref() != left {
        return refuse("has another schema now");
    }
    let after = sight.schema_after(tree, &present, target)?;
    let (before, after) = (present.stored.map(Box::new), after.map(Box::new));
    Ok(Ok(vec![Edit::SetSchema { document, collection, before, after, quiet }]))
}
