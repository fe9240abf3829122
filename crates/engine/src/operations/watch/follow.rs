//! How results follow changes without being asked again.
//!
//! Each function returns `None` for changes that it does not follow.

use std::collections::BTreeSet;

use leafbase_model::{
    BlockData, BlockId, BlockType, Content, DayRef, Document, DocumentFilter, DocumentId, Edit,
    Fetch, FetchFrom, Item, ItemFilter, ListDocuments, QueryItems, Result, Task, TaskScope,
};
use leafbase_tree_ops::ReadTree;

use super::{FollowedChanges, WatchedList};
use crate::core::access::{AccessScope, Full};
use crate::core::connection::Connection;
use crate::core::tree::Tree;
use crate::operations::blocks::fetched;
use crate::operations::flat_blocks::FlatBlock;
use crate::operations::list_patch::PatchStep;

/// Entries that changes may have written, at most.
const MAX_WRITTEN: usize = 64;
/// Upper bound of the depth of a tree.
const MAX_LEVELS: usize = u16::MAX as usize;

type Steps<E> = Option<Vec<PatchStep<E>>>;

/// Updates of blocks, which stay where they are.
pub(super) fn blocks<A: AccessScope>(
    notes: &Connection<A>,
    fetch: &Fetch,
    list: &WatchedList<FlatBlock>,
    since: &FollowedChanges<'_>,
) -> Result<Steps<FlatBlock>> {
    let Some(document) = only(list) else { return Ok(None) };
    // At a limit of depth a block shows a preview of those below it.
    if fetch.max_depth.is_some() || matches!(fetch.from, FetchFrom::Day(_)) {
        return Ok(None);
    }
    let Some(written) = updated_blocks(since, document) else { return Ok(None) };
    let mut steps = Vec::new();
    for (at, entry) in list.entries.iter().enumerate() {
        if !written.contains(&entry.block.id) {
            continue;
        }
        let alone = Fetch { from: FetchFrom::Block(entry.block.id), max_depth: Some(0), ..*fetch };
        let mut block = fetched(since.tree, entry.block.id, &alone, notes.limits())?;
        if entry.block.content != Content::None || entry.block.item.is_some() {
            return Ok(None);
        }
        block.content = Content::None;
        // Only the first block of a reply has it.
        if let (Some(own), Some(known)) = (&mut block.metadata, &entry.block.metadata) {
            own.document = known.document;
        }
        if block != entry.block {
            steps.push(PatchStep::Update { at, entry: FlatBlock { block, ..entry.clone() } });
        }
    }
    Ok(Some(steps))
}

/// The blocks that changes updated or commented, if they did nothing else in the document.
fn updated_blocks(since: &FollowedChanges<'_>, document: DocumentId) -> Option<BTreeSet<BlockId>> {
    let mut written = BTreeSet::new();
    for edit in since.changes.iter().flat_map(|change| &change.edits) {
        match edit {
            Edit::Update { document: within, before, after } if *within == document => {
                if [&before.data, &after.data].into_iter().any(is_of_collection) {
                    return None;
                }
                written.insert(after.id);
            }
            Edit::AddComment { document: within, block, .. }
            | Edit::RemoveComment { document: within, block, .. }
            | Edit::UpdateComment { document: within, block, .. }
                if *within == document =>
            {
                written.insert(*block);
            }
            edit if concerns(edit, document) => return None,
            _ => {}
        }
    }
    (written.len() <= MAX_WRITTEN).then_some(written)
}

fn is_of_collection(data: &BlockData) -> bool {
    matches!(data.block_type(), BlockType::Collection | BlockType::CollectionItem)
}

/// Whether an edit is one of the document, or of the whole space.
fn concerns(edit: &Edit, document: DocumentId) -> bool {
    matches!(edit, Edit::UpdateSpace { .. }) || edit.documents().any(|within| within == document)
}

fn only<E>(list: &WatchedList<E>) -> Option<DocumentId> {
    let mut documents = list.documents.iter().flatten();
    documents.next().copied().filter(|_| documents.next().is_none())
}

/// Writes to one document.
pub(super) fn documents(
    notes: &Connection<Full>,
    request: &ListDocuments,
    list: &WatchedList<Document>,
    since: &FollowedChanges<'_>,
) -> Result<Steps<Document>> {
    if request.paging.limit.is_some() || request.paging.cursor.is_some() {
        return Ok(None);
    }
    let DocumentFilter { created, modified, daily_note, .. } = &request.filter;
    // As time passes, a span of days comes to have others.
    let is_relative = |day: Option<DayRef>| !matches!(day, None | Some(DayRef::Date(_)));
    let mut days = [created, modified, daily_note].into_iter().flat_map(|it| [it.from, it.to]);
    if days.any(is_relative) {
        return Ok(None);
    }
    let mut written: BTreeSet<DocumentId> = BTreeSet::new();
    for change in since.changes {
        let is_of_space = |edit: &Edit| match edit {
            Edit::UpdateSpace { .. } => true,
            Edit::CreateFolder(_) | Edit::RemoveFolder(_) | Edit::UpdateFolder { .. } => {
                request.filter.folders.is_some()
            }
            _ => false,
        };
        if change.edits.iter().any(is_of_space) {
            return Ok(None);
        }
        written.extend(&change.documents);
    }
    let mut written = written.into_iter();
    let (Some(document), None) = (written.next(), written.next()) else { return Ok(None) };
    let from = list.entries.iter().position(|entry| entry.id() == document);
    let Some(found) = notes.listed(since.tree, request, document)? else {
        return Ok(Some(from.map(|at| PatchStep::Remove { at }).into_iter().collect()));
    };
    let to = match found.next {
        None => list.entries.len(),
        Some(next) => match list.entries.iter().position(|entry| entry.id() == next) {
            Some(next) => next,
            None => return Ok(None),
        },
    };
    // Without the entry itself, if it is there.
    let to = if from.is_some_and(|from| from < to) { to - 1 } else { to };
    Ok(Some(steps_of(&list.entries, found.entry, from, to)))
}

/// The steps that bring an entry, which is at the index `from` if it is there, to an index.
fn steps_of<E: PartialEq>(
    entries: &[E],
    entry: E,
    from: Option<usize>,
    to: usize,
) -> Vec<PatchStep<E>> {
    debug_assert!(to <= entries.len(), "a place is among the entries, or after the last one");
    let Some(from) = from else { return vec![PatchStep::Insert { at: to, entry }] };
    debug_assert!(from < entries.len() && to < entries.len(), "an entry of the list moves within");
    let moved = (from != to).then_some(PatchStep::Move { from, to });
    let is_same = entries.get(from) == Some(&entry);
    let updated = (!is_same).then_some(PatchStep::Update { at: to, entry });
    moved.into_iter().chain(updated).collect()
}

/// Writes to blocks that are not tasks, which change nothing.
pub(super) fn tasks(scope: TaskScope, since: &FollowedChanges<'_>) -> Steps<Task> {
    // Which tasks these have depends on the day of the last write.
    if matches!(scope, TaskScope::Active | TaskScope::Upcoming) {
        return None;
    }
    let mut edits = since.changes.iter().flat_map(|change| &change.edits);
    let has_no_task = |edit: &Edit| match edit {
        Edit::Update { before, after, .. } => {
            before.data.task.is_none() && after.data.task.is_none()
        }
        Edit::Insert { subtrees, .. } | Edit::Remove { subtrees, .. } => {
            subtrees.0.iter().all(|node| node.block.data.task.is_none())
        }
        Edit::AddComment { .. } | Edit::RemoveComment { .. } | Edit::UpdateComment { .. } => true,
        _ => false,
    };
    edits.all(has_no_task).then(Vec::new)
}

/// Writes to one item, or to its page.
pub(super) fn items<A: AccessScope>(
    notes: &Connection<A>,
    request: &QueryItems,
    list: &WatchedList<Item>,
    since: &FollowedChanges<'_>,
) -> Result<Steps<Item>> {
    let Some(document) = only(list) else { return Ok(None) };
    let is_page = request.paging.limit.is_some() || request.paging.cursor.is_some();
    if is_page || request.filter.as_ref().is_some_and(has_relative_days) {
        return Ok(None);
    }
    let Some(written) = written_items(since, document, request.collection_id)? else {
        return Ok(None);
    };
    let mut written = written.into_iter();
    let Some(item) = written.next() else { return Ok(Some(Vec::new())) };
    if written.next().is_some() {
        return Ok(None);
    }
    let from = list.entries.iter().position(|entry| entry.id == item);
    let others = list.entries.iter().map(|entry| entry.id).filter(|other| *other != item);
    let others: Vec<BlockId> = others.collect();
    let Some((entry, to)) = notes.place_item(since.tree, request, item, &others)? else {
        return Ok(Some(from.map(|at| PatchStep::Remove { at }).into_iter().collect()));
    };
    let blocks: usize = list.entries.iter().chain([&entry]).map(block_count).sum();
    if blocks > notes.limits().blocks_per_fetch {
        return Ok(None);
    }
    Ok(Some(steps_of(&list.entries, entry, from, to)))
}

/// The blocks of an item with its page.
fn block_count(item: &Item) -> usize {
    match &item.content {
        Content::Blocks(blocks) => {
            1 + blocks.iter().map(|block| block.walk().count()).sum::<usize>()
        }
        _ => 1,
    }
}

/// Whether a filter names days by today.
fn has_relative_days(filter: &ItemFilter) -> bool {
    let json = serde_json::to_string(filter).unwrap_or_default();
    ["\"today\"", "\"tomorrow\"", "\"yesterday\""].iter().any(|day| json.contains(day))
}

/// The items of the collection that changes wrote, with their pages.
fn written_items(
    since: &FollowedChanges<'_>,
    document: DocumentId,
    collection: BlockId,
) -> Result<Option<BTreeSet<BlockId>>> {
    let mut written = BTreeSet::new();
    for edit in since.changes.iter().flat_map(|change| &change.edits) {
        let blocks: Vec<BlockId> = match edit {
            edit if !concerns(edit, document) => continue,
            Edit::Insert { target, subtrees } | Edit::Remove { target, subtrees } => {
                let mut blocks = subtrees.0.iter().map(|node| node.block.data.block_type());
                if blocks.any(|block_type| block_type == BlockType::Collection) {
                    return Ok(None);
                }
                if target.parent == collection {
                    let tops = subtrees.0.iter().filter(|node| node.depth == 0);
                    tops.map(|top| top.block.id).collect()
                } else {
                    vec![target.parent]
                }
            }
            // The collection may have gone with it.
            Edit::Move { from, to, .. } if from.document != to.document => return Ok(None),
            Edit::Move { block, from, to } => {
                let end = |parent| if parent == collection { *block } else { parent };
                vec![end(from.parent), end(to.parent)]
            }
            Edit::Update { after, .. } => vec![after.id],
            Edit::AddComment { block, .. }
            | Edit::RemoveComment { block, .. }
            | Edit::UpdateComment { block, .. } => vec![*block],
            _ => return Ok(None),
        };
        for block in blocks {
            // A deleted block may have been an item.
            let item = match since.tree.locate(block)? {
                None => Some(block),
                Some(_) => item_around(since.tree, block, collection)?,
            };
            written.extend(item);
        }
    }
    Ok(Some(written))
}

/// The item of the collection whose page contains a block.
fn item_around(tree: &Tree<'_>, block: BlockId, collection: BlockId) -> Result<Option<BlockId>> {
    let mut at = block;
    for _ in 0..MAX_LEVELS {
        match tree.locate(at)?.and_then(|location| location.parent) {
            Some(parent) if parent == collection => return Ok(Some(at)),
            Some(parent) => at = parent,
            None => return Ok(None),
        }
    }
    Ok(None)
}
