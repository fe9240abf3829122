//! Blocks say something else; only the fields given change.

use leafbase_model::{
    BlockData, BlockFields, BlockId, BlockLocation, BlockPatch, BlockRecord, BlockType, DocumentId,
    Edit, Error, ErrorKind, InsertTarget, Limits, Result, Stamp, SubtreeNode, Subtrees, TaskInfo,
};

use crate::batch::{Batch, Named, check_count};
use crate::{Context, ReadTree, ResolvedPosition, inbox};

/// What an update does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Updated {
    /// What to write. A block that already says what is asked has no edit.
    pub edits: Vec<Edit>,
    /// The blocks of the request as they then are, in its order, each followed by those that its
    /// text was split into.
    pub blocks: Vec<BlockRecord>,
    /// What is to be moved once this is written, in the order of the request: tasks at the top of
    /// the inbox that were opened go to its start, those that were closed to its end.
    pub going: Vec<(BlockId, ResolvedPosition)>,
}

/// What a host makes of the texts of an update.
#[derive(Clone, Copy)]
pub struct Texts<'a> {
    /// Given what a block says and the fields of its patch before they are put onto it: it may
    /// refuse or take back fields.
    pub settle: &'a dyn Fn(&BlockData, &mut BlockFields) -> Result<()>,
    /// Given what a block says and what it is to say, whenever anything of it changes, it makes the
    /// latter ready for the store; all but the first of what it returns become new blocks right
    /// after.
    pub ready: &'a dyn Fn(&BlockData, BlockData) -> Result<Vec<BlockData>>,
}

impl std::fmt::Debug for Texts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Texts").finish_non_exhaustive()
    }
}

/// Changes blocks. `ready` is that of [`Texts`], given only what a block is to say; hosts without
/// markdown pass `&|data| Ok(vec![data])`.
///
/// # Errors
/// Below `blocks`: [`ErrorKind::NotFound`], [`ErrorKind::Validation`] for a block named twice or a
/// field that its type does not have, [`ErrorKind::Conflict`] if it has another `rev` than the
/// patch expects, [`ErrorKind::RuleViolation`] for a change of type that is not allowed, a document
/// in the trash, the root of the inbox and what would leave at its top what is no task, and those
/// of `ready` and [`BlockData::check`]. [`ErrorKind::Validation`] at `markdown` also for a
/// collection's name that is blank; [`ErrorKind::LimitExceeded`] at `blocks` for too many, those
/// that texts are split into included.
pub fn update<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    patches: Vec<BlockPatch>,
    ready: &dyn Fn(BlockData) -> Result<Vec<BlockData>>,
) -> Result<Updated> {
    update_texts(
        tree,
        context,
        patches,
        Texts { settle: &|_, _| Ok(()), ready: &|_, data| ready(data) },
    )
}

/// As [`update`], with all that a host makes of the texts.
///
/// # Errors
/// As [`update`], and those of [`Texts::settle`].
pub fn update_texts<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    patches: Vec<BlockPatch>,
    texts: Texts<'_>,
) -> Result<Updated> {
    let mut blocks = patches.len();
    check_count(BLOCKS, context.limits.blocks_per_request, blocks, "blocks")?;
    let batch = Batch::new(tree);
    let (mut named, mut updated) = (Named::default(), Updated::default());
    for (index, patch) in patches.into_iter().enumerate() {
        let at = |error: Error| error.at(format_args!("blocks[{index}]"));
        let (located, before) = find(&batch, &mut named, &patch).map_err(at)?;
        let parts = changed(&batch, context, located, &before, patch, texts).map_err(at)?;
        blocks = blocks.saturating_add(parts.len().saturating_sub(1));
        check_count(BLOCKS, context.limits.blocks_per_request, blocks, "blocks")?;
        let mut parts = parts.into_iter();
        let data = parts.next().unwrap_or_else(|| before.data.clone());
        let rest: Vec<_> = parts.map(|data| context.born(data)).collect();
        let place =
            inbox::destination(located, batch.location(located.document)?, &before.data, &data);
        updated.going.extend(place.map(|place| (before.id, place)));
        match revise(located.document, before.clone(), data, context.stamp) {
            Some(edit) => {
                updated.blocks.extend(outcome(&edit).cloned());
                updated.edits.push(edit);
            }
            None => updated.blocks.push(before.clone()),
        }
        updated.add_after(located, before.id, rest).map_err(at)?;
    }
    Ok(updated)
}

const BLOCKS: &str = "blocks in one request";

impl Updated {
    fn add_after(
        &mut self,
        located: BlockLocation,
        block: BlockId,
        added: Vec<BlockRecord>,
    ) -> Result<()> {
        if added.is_empty() {
            return Ok(());
        }
        let Some(parent) = located.parent else {
            return Err(Error::rule("the title of a document is one paragraph").at("markdown"));
        };
        self.blocks.extend(added.iter().cloned());
        let subtrees =
            Subtrees(added.into_iter().map(|block| SubtreeNode { depth: 0, block }).collect());
        self.edits.push(Edit::Insert {
            target: InsertTarget { document: located.document, parent, after: Some(block) },
            subtrees,
        });
        Ok(())
    }
}

/// The edit after which `before` says `data`; none if it does already.
pub fn revise(
    document: DocumentId,
    before: BlockRecord,
    data: BlockData,
    stamp: &Stamp,
) -> Option<Edit> {
    if before.data == data {
        return None;
    }
    let (id, rev, created) = (before.id, before.rev.saturating_add(1), before.created.clone());
    let after = Box::new(BlockRecord { id, rev, created, modified: stamp.clone(), data });
    Some(Edit::Update { document, before: Box::new(before), after })
}

fn outcome(edit: &Edit) -> Option<&BlockRecord> {
    match edit {
        Edit::Update { after, .. } => Some(after),
        _ => None,
    }
}

fn find<T: ReadTree + ?Sized>(
    batch: &Batch<'_, T>,
    named: &mut Named,
    patch: &BlockPatch,
) -> Result<(BlockLocation, BlockRecord)> {
    let mut look_up = || {
        named.add(patch.id)?;
        let located = batch.locate(patch.id)?;
        inbox::check_changeable(located.parent, batch.location(located.document)?)?;
        Ok((located, batch.block(patch.id)?))
    };
    let (located, before) = look_up().map_err(|error: Error| error.at("id"))?;
    match patch.rev {
        Some(expected) if expected != before.rev => {
            let message = format!("expected rev {expected}, but the block has rev {}", before.rev);
            Err(Error::new(ErrorKind::Conflict, message).at("rev"))
        }
        _ => Ok((located, before)),
    }
}

/// What the block then says, and after it what the blocks say that its text was split into.
fn changed<T: ReadTree + ?Sized>(
    batch: &Batch<'_, T>,
    context: &Context<'_>,
    located: BlockLocation,
    before: &BlockRecord,
    mut patch: BlockPatch,
    texts: Texts<'_>,
) -> Result<Vec<BlockData>> {
    (texts.settle)(&before.data, &mut patch.fields)?;
    let mut data = before.data.clone();
    patch.fields.apply(&mut data)?;
    check_type(batch, located, before, data.block_type())?;
    let mut parts =
        if data == before.data { vec![data] } else { (texts.ready)(&before.data, data)? };
    if parts.len() > 1 && before.data.block_type() == BlockType::CollectionItem {
        return Err(Error::rule("the title of an item is one paragraph").at("markdown"));
    }
    check_name(&before.data, &parts)?;
    for data in &mut parts {
        data.task = data.task.map(|task| carried(before.data.task, task).stamped(context.stamp.at));
        check_data(data, context.limits)?;
    }
    if let Some(parent) = located.parent {
        batch.takes(located.document, parent)?.check_change(&before.data, &parts)?;
    }
    Ok(parts)
}

/// A collection keeps a name: that of its schema, which is never blank.
fn check_name(before: &BlockData, parts: &[BlockData]) -> Result<()> {
    let is_blank =
        |data: &BlockData| data.markdown.trim().is_empty() && data.markdown != before.markdown;
    if before.block_type() == BlockType::Collection && parts.first().is_some_and(is_blank) {
        return Err(Error::validation("is blank").at("markdown"));
    }
    Ok(())
}

/// A page that has children, or is a document's root, stays a page.
fn check_type<T: ReadTree + ?Sized>(
    batch: &Batch<'_, T>,
    located: BlockLocation,
    before: &BlockRecord,
    wanted: BlockType,
) -> Result<()> {
    if (before.data.block_type(), wanted) != (BlockType::Page, BlockType::Text) {
        return Ok(());
    }
    if located.parent.is_none() {
        return Err(Error::rule(
            "the root of a document stays of type page, it cannot become text",
        )
        .at("type"));
    }
    if batch.tree.first_children(located.document, before.id, 1)?.is_empty() {
        return Ok(());
    }
    Err(Error::rule("a block of type page that has children cannot become one of type text")
        .at("type"))
}

/// A task keeps the stamps that the request does not give; [`TaskInfo::stamped`] drops those that a
/// change of state ends.
fn carried(former: Option<TaskInfo>, task: TaskInfo) -> TaskInfo {
    let former = former.unwrap_or_default();
    TaskInfo {
        completed_at: task.completed_at.or(former.completed_at),
        canceled_at: task.canceled_at.or(former.canceled_at),
        ..task
    }
}

/// What holds for every block, and that only types whose text is their own have one in the store.
pub(crate) fn check_data(data: &BlockData, limits: &Limits) -> Result<()> {
    if !data.block_type().has_own_markdown() && !data.markdown.is_empty() {
        let message = format!(
            "the text of a block of type {} is made from its other fields",
            data.block_type()
        );
        return Err(Error::validation(message).at("markdown"));
    }
    data.check(limits)
}
