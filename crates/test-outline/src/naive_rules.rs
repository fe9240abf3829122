//! Rules of the naive space, one function per rule.

use leafbase_model::{
    BlockData, BlockDraft, BlockFields, BlockId, BlockKind, BlockPatch, BlockRecord, BlockType,
    DocumentId, Edge, Error, ErrorKind, IdSource, Limits, ListStyle, Location, Position,
    PositionTarget, Result, Side, Stamp, TaskInfo,
};

use crate::{Broken, NaiveBlock, NaiveSpace};

/// Parent and index of an insertion, with the request's path.
pub(crate) fn place(
    space: &NaiveSpace,
    position: Position,
) -> Result<(BlockId, usize, &'static str)> {
    let (block, path) = match position {
        Position::Within(_, PositionTarget::Page(page)) => (page, "position.pageId"),
        Position::Beside(_, sibling) => (sibling, "position.siblingId"),
        Position::Within(..) => panic!("days are looked up before"),
    };
    let found = find_place(space, position, block).map_err(|error| error.at(path));
    found.map(|(parent, index)| (parent, index, path))
}

fn find_place(space: &NaiveSpace, position: Position, block: BlockId) -> Result<(BlockId, usize)> {
    check_writable(space, block)?;
    let (parent, index) = match position {
        Position::Within(Edge::Start, _) => (block, 0),
        Position::Within(Edge::End, _) => (block, space.get(block).children.len()),
        Position::Beside(side, _) => {
            let Some(parent) = space.parent(block) else {
                return Err(Error::position("beside a root"));
            };
            (parent, space.index(block) + usize::from(side == Side::After))
        }
    };
    check_may_hold(space.get(parent).record.data.block_type())?;
    Ok((parent, index))
}

fn check_may_hold(block_type: BlockType) -> Result<()> {
    match block_type {
        BlockType::Text | BlockType::Page | BlockType::CollectionItem => Ok(()),
        other => Err(Error::rule(format!("{other} has no children"))),
    }
}

/// The block exists, and its document is not in the trash.
pub(crate) fn check_writable(space: &NaiveSpace, block: BlockId) -> Result<()> {
    let document = space.document_of(block).ok_or_else(Error::no_block)?;
    if document.record.location == Location::Trash {
        Err(Error::rule("in the trash"))
    } else {
        Ok(())
    }
}

pub(crate) fn not_a_root(space: &NaiveSpace, block: BlockId) -> Result<BlockId> {
    check_writable(space, block)?;
    space.parent(block).ok_or_else(|| Error::rule("a root"))
}

/// Top-level blocks of the inbox are tasks.
pub(crate) fn check_enters(space: &NaiveSpace, parent: BlockId, data: &BlockData) -> Result<()> {
    let others_may = space.breaks(Broken::TheInboxTakesAll);
    if is_inbox(space, parent) && data.list_style != ListStyle::Task && !others_may {
        return Err(Error::rule("only tasks go into the inbox"));
    }
    Ok(())
}

/// A top-level task of the inbox stays a task.
fn check_stays(space: &NaiveSpace, block: BlockId, data: &BlockData) -> Result<()> {
    let is_top = space.parent(block).is_some_and(|parent| is_inbox(space, parent));
    if is_top && data.list_style != ListStyle::Task && !space.breaks(Broken::TasksOfTheInboxEnd) {
        return Err(Error::rule("a task of the inbox stays one"));
    }
    Ok(())
}

/// Whether the block is the root of the inbox.
fn is_inbox(space: &NaiveSpace, block: BlockId) -> bool {
    space
        .document(DocumentId::of_root(block))
        .is_some_and(|found| found.record.location == Location::Inbox)
}

pub(crate) fn movable(space: &NaiveSpace, block: BlockId, parent: BlockId) -> Result<()> {
    not_a_root(space, block)?;
    let found = space.get(block);
    if found.holds(parent) {
        return Err(Error::rule("under itself"));
    }
    if found.record.data.block_type() == BlockType::CollectionItem {
        return Err(Error::rule("an item"));
    }
    check_enters(space, parent, &found.record.data)?;
    check_depth(space.depth(parent) + 1 + found.height(), &space.limits)
}

pub(crate) fn check_depth(depth: usize, limits: &Limits) -> Result<()> {
    if depth > limits.page_nesting {
        Err(Error::limit("nesting", limits.page_nesting, depth))
    } else {
        Ok(())
    }
}

pub(crate) fn check_count(count: usize, limits: &Limits, path: &str) -> Result<()> {
    if count > limits.blocks_per_request {
        return Err(Error::limit("entries", limits.blocks_per_request, count).at(path));
    }
    Ok(())
}

pub(crate) fn check_draft_count(drafts: &[BlockDraft], limits: &Limits, path: &str) -> Result<()> {
    fn count(drafts: &[BlockDraft]) -> usize {
        drafts.iter().map(|draft| 1 + count(&draft.content)).sum()
    }
    check_count(count(drafts), limits, path)
}

/// No earlier entry names the same block.
pub(crate) fn check_once<T, I: PartialEq>(
    index: usize,
    entries: &[T],
    id: impl Fn(&T) -> I,
) -> Result<()> {
    let same = |entry: &T| id(entry) == id(&entries[index]);
    if entries[..index].iter().any(same) { Err(Error::validation("named twice")) } else { Ok(()) }
}

pub(crate) fn root_data(data: BlockData) -> Result<BlockData> {
    match data.kind {
        BlockKind::Page(look) | BlockKind::Text(look) => {
            Ok(BlockData { kind: BlockKind::Page(look), ..data })
        }
        _ => Err(Error::rule("a root is a page").at("type")),
    }
}

/// Data of a block that receives children.
pub(crate) fn as_parent(data: &BlockData, limits: &Limits, path: &str) -> Result<BlockData> {
    let BlockKind::Text(look) = data.kind else { return Ok(data.clone()) };
    let data = BlockData { kind: BlockKind::Page(look), ..data.clone() };
    data.check(limits).map_err(|error| Error::new(error.kind(), error.message()).at(path))?;
    Ok(data)
}

/// The block of a draft with its descendants.
pub(crate) fn grown(
    draft: &BlockDraft,
    path: &str,
    depth: usize,
    by: (&Stamp, &dyn IdSource),
    limits: &Limits,
) -> Result<NaiveBlock> {
    let data = drafted(draft, depth, by.0, limits).map_err(|error| error.at(path))?;
    let id = BlockId::from_bytes(by.1.new_id(by.0.at));
    let record = BlockRecord { id, rev: 1, created: by.0.clone(), modified: by.0.clone(), data };
    let mut children = Vec::new();
    for (index, child) in draft.content.iter().enumerate() {
        let dot = if path.is_empty() { "" } else { "." };
        children.push(grown(
            child,
            &format!("{path}{dot}content[{index}]"),
            depth + 1,
            by,
            limits,
        )?);
    }
    Ok(NaiveBlock { record, children })
}

pub(crate) fn drafted(
    draft: &BlockDraft,
    depth: usize,
    stamp: &Stamp,
    limits: &Limits,
) -> Result<BlockData> {
    check_depth(depth, limits)?;
    let mut data = draft.data.clone();
    BlockFields { task_patch: draft.task_patch, ..BlockFields::default() }.apply(&mut data)?;
    if matches!(data.kind, BlockKind::Collection | BlockKind::CollectionItem { .. }) {
        return Err(Error::rule("has its own operation").at("type"));
    }
    if !draft.content.is_empty() {
        check_may_hold(data.block_type()).map_err(|error| error.at("content"))?;
        if let BlockKind::Text(look) = data.kind {
            data.kind = BlockKind::Page(look);
        }
    }
    data.task = data.task.map(|task| task.stamped(stamp.at));
    check_data(&data, limits)?;
    Ok(data)
}

pub(crate) fn check_data(data: &BlockData, limits: &Limits) -> Result<()> {
    let own = ["text", "page", "collectionItem", "table", "collection"];
    if !data.inline.is_empty() && !own.contains(&data.block_type().as_str()) {
        return Err(Error::validation("no text of its own").at("markdown"));
    }
    data.check(limits)
}

/// Data of a block after a patch.
pub(crate) fn patched(space: &NaiveSpace, patch: &BlockPatch, stamp: &Stamp) -> Result<BlockData> {
    check_writable(space, patch.id).map_err(|error| error.at("id"))?;
    if is_inbox(space, patch.id) && !space.breaks(Broken::TheInboxIsChanged) {
        return Err(Error::rule("the inbox itself").at("id"));
    }
    let block = space.get(patch.id);
    if patch.rev.is_some_and(|rev| rev != block.record.rev) {
        return Err(Error::new(ErrorKind::Conflict, "another rev").at("rev"));
    }
    let before = &block.record.data;
    let (mut data, mut fields) = (before.clone(), patch.fields.clone());
    if let Some(task) = &mut fields.task_patch {
        *task = space.dated(*task, stamp.at);
    }
    fields.apply(&mut data)?;
    let ceases = before.block_type() == BlockType::Page && data.block_type() == BlockType::Text;
    if ceases && (space.parent(patch.id).is_none() || !block.children.is_empty()) {
        return Err(Error::rule("stays a page").at("type"));
    }
    if before.block_type() == BlockType::Collection
        && data.inline != before.inline
        && data.inline.trim().is_empty()
    {
        return Err(Error::validation("a name is not blank").at("markdown"));
    }
    data.task = data.task.map(|task| carried(before.task, task, stamp));
    check_data(&data, &space.limits)?;
    check_stays(space, patch.id, &data).map_err(|error| error.at("listStyle"))?;
    Ok(data)
}

/// A task keeps the stamps of its unchanged state.
pub(crate) fn carried(former: Option<TaskInfo>, mut task: TaskInfo, stamp: &Stamp) -> TaskInfo {
    if let Some(former) = former.filter(|former| former.state == task.state) {
        task.completed_at = task.completed_at.or(former.completed_at);
        task.canceled_at = task.canceled_at.or(former.canceled_at);
    }
    task.stamped(stamp.at)
}
