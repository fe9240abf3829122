//! One request done twice: by the operations and their edits, and by the naive space itself.

use leafbase_model::{
    Block, BlockData, BlockId, BlockPatch, BlockRecord, DocumentId, Edit, Error, Fetch, FetchFrom,
    Position, PositionTarget, Result,
};
use leafbase_test_outline::{BlockRequest, NaiveSpace, SequentialIds, stamp};
use leafbase_tree_ops::{self as ops, BlockUpdate, Context, ResolvedPosition, UpdatedBlocks};

use crate::tree::{Lie, Tree};

#[derive(Debug, PartialEq)]
pub(crate) enum Reply {
    Ids(Vec<BlockId>),
    Records(Vec<BlockRecord>),
    Block(Box<Block>),
    Document(DocumentId),
    Nothing,
}

pub(crate) fn plain(data: &BlockData) -> String {
    data.inline.clone()
}

pub(crate) fn place(position: Position) -> ResolvedPosition {
    match position {
        Position::Within(edge, PositionTarget::Page(page)) => ResolvedPosition::Within(edge, page),
        Position::Within(..) => panic!("days are looked up before"),
        Position::Beside(side, sibling) => ResolvedPosition::Beside(side, sibling),
    }
}

/// What the operations give, on a tree that may lie.
fn decided(
    tree: &Tree<'_>,
    space: &NaiveSpace,
    request: &BlockRequest,
    step: u32,
) -> Result<(Vec<Edit>, Reply)> {
    let (stamp, ids) = (stamp(step), SequentialIds::new(u64::from(step)));
    let context = Context { limits: &space.limits, stamp: &stamp, ids: &ids };
    Ok(match request.clone() {
        BlockRequest::CreateDocument { root, destination } => {
            let location = destination.into();
            let created = ops::create_document(&context, root, location, None)?;
            (created.edits, Reply::Document(created.record.id))
        }
        BlockRequest::Insert { drafts, position } => {
            let inserted = ops::insert(tree, &context, drafts, place(position))?;
            (inserted.edits, Reply::Ids(inserted.top))
        }
        BlockRequest::Update(patches) => {
            let updated = ops::update(tree, &context, patches)?;
            (sent(space, &context, updated.edits, updated.moves)?, Reply::Records(updated.blocks))
        }
        BlockRequest::Delete(ids) => {
            let deleted = ops::delete(tree, &context, ids)?;
            (deleted.edits, Reply::Ids(deleted.ids))
        }
        BlockRequest::Move { ids, position } => {
            let moved = ops::move_blocks(tree, &context, ids, place(position))?;
            (moved.edits, Reply::Ids(moved.ids))
        }
        BlockRequest::Fetch(Fetch {
            from: FetchFrom::Block(block), max_depth, metadata, ..
        }) => (
            Vec::new(),
            Reply::Block(Box::new(ops::fetch(tree, block, max_depth, metadata, &plain, &|_| {
                Ok(())
            })?)),
        ),
        BlockRequest::Fetch(_) => panic!("days are looked up before"),
        BlockRequest::Relocate { document, location } => {
            let before = space.document(document).map(|found| found.record.clone());
            let changed = before.filter(|before| before.location != location);
            let edit = changed.map(|before| Edit::UpdateDocument {
                after: leafbase_model::DocumentRecord { location, ..before.clone() },
                before,
            });
            (edit.into_iter().collect(), Reply::Nothing)
        }
    })
}

/// An update whose new texts `split` turns into paragraphs.
pub(crate) fn update_split(
    tree: &Tree<'_>,
    context: &Context<'_>,
    patches: Vec<BlockPatch>,
    split: &dyn Fn(BlockData) -> Vec<BlockData>,
) -> Result<UpdatedBlocks> {
    let blocks: Vec<_> = patches.iter().map(|patch| patch.id).collect();
    let mut update = BlockUpdate::new(tree, context, &blocks)?;
    for patch in patches {
        let mut block = update.find(patch)?;
        let parts = update.apply(&mut block)?.map(split).unwrap_or_default();
        update.add(&block, parts)?;
    }
    Ok(update.finish())
}

/// The edits of an update, and of the moves that follow it.
fn sent(
    space: &NaiveSpace,
    context: &Context<'_>,
    mut edits: Vec<Edit>,
    mut going: Vec<(BlockId, ResolvedPosition)>,
) -> Result<Vec<Edit>> {
    let mut after = space.clone();
    after.apply_all(&edits).map_err(Error::corrupted)?;
    while let Some((_, place)) = going.first().copied() {
        let ids = going.extract_if(.., |(_, to)| *to == place).map(|(id, _)| id).collect();
        let moved = ops::move_blocks(&Tree::new(&after, None), context, ids, place)?;
        after.apply_all(&moved.edits).map_err(Error::corrupted)?;
        edits.extend(moved.edits);
    }
    Ok(edits)
}

/// What the naive space does.
fn done(space: &mut NaiveSpace, request: &BlockRequest, step: u32) -> Result<Reply> {
    let (stamp, source) = (stamp(step), SequentialIds::new(u64::from(step)));
    Ok(match request {
        BlockRequest::CreateDocument { root, destination } => Reply::Document(
            space.create_document((&stamp, &source), root, (*destination).into(), None)?,
        ),
        BlockRequest::Insert { drafts, position } => {
            Reply::Ids(space.insert((&stamp, &source), drafts, *position)?)
        }
        BlockRequest::Update(patches) => Reply::Records(space.update(&stamp, patches)?),
        BlockRequest::Delete(ids) => Reply::Ids(space.delete(&stamp, ids)?),
        BlockRequest::Move { ids, position } => {
            Reply::Ids(space.move_blocks((&stamp, &source), ids, *position)?)
        }
        BlockRequest::Fetch(fetch) => {
            Reply::Block(Box::new(space.fetch(*fetch, stamp.at, &plain)?))
        }
        BlockRequest::Relocate { document, location } => {
            space.set_location(*document, *location);
            Reply::Nothing
        }
    })
}

/// Does `request` both ways, and leaves `space` as it then is.
///
/// # Errors
/// How the two differ, or which edit is wrong, in words.
pub(crate) fn step(
    space: &mut NaiveSpace,
    request: &BlockRequest,
    number: u32,
    lie: Option<Lie>,
) -> Result<Result<Reply>, String> {
    let before = space.clone();
    let tree = Tree::new(&before, lie);
    let (found, expected) =
        (decided(&tree, &before, request, number), done(space, request, number));
    match (found, expected) {
        (Ok((edits, found)), Ok(expected)) => {
            check(found == expected, || format!("replied {found:?}\ninstead of {expected:?}"))?;
            let mut applied = before.clone();
            applied.apply_all(&edits).map_err(|error| format!("{error} in {edits:#?}"))?;
            check(applied.clone().timeless() == space.clone().timeless(), || {
                format!("the edits give other trees: {edits:#?}")
            })?;
            let inverse: Vec<_> = edits
                .iter()
                .rev()
                .map(Edit::inverse)
                .collect::<Result<_, _>>()
                .map_err(|error| format!("{error} in {edits:#?}"))?;
            applied
                .apply_all(&inverse)
                .map_err(|error| format!("undone, {error} in {inverse:#?}"))?;
            check(applied.timeless() == before.clone().timeless(), || {
                format!("what is undone is not as before: {edits:#?}")
            })?;
            Ok(Ok(found))
        }
        (Err(found), Err(expected)) => {
            check(before == *space, || "the naive space changed in spite of an error".to_owned())?;
            let same = (found.kind(), found.path()) == (expected.kind(), expected.path());
            check(same, || format!("refused with {found:?}\ninstead of {expected:?}"))?;
            Ok(Err(found))
        }
        (Ok((_, found)), Err(expected)) => {
            Err(format!("replied {found:?}\ninstead of refusing with {expected:?}"))
        }
        (Err(found), Ok(expected)) => {
            Err(format!("refused with {found:?}\ninstead of replying {expected:?}"))
        }
    }
}

fn check(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
