//! Updates of blocks: only the fields given change.

use leafbase_model::{
    BlockData, BlockFields, BlockId, BlockLocation, BlockPatch, BlockRecord, BlockType, DocumentId,
    Edit, Error, ErrorKind, InsertTarget, Limits, Result, Stamp, SubtreeNode, Subtrees, TaskInfo,
    invariant,
};

use crate::context::Context;
use crate::inbox;
use crate::position::ResolvedPosition;
use crate::read::ReadTree;
use crate::request::{RequestReader, UniqueIds, check_count};

/// Result of an update.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdatedBlocks {
    /// Edits to apply. An unchanged block has none.
    pub edits: Vec<Edit>,
    /// The blocks of the request after the update, in its order, each followed by the blocks of its
    /// further paragraphs.
    pub blocks: Vec<BlockRecord>,
    /// Blocks to move after the edits are applied, in the order of the request: top-level tasks of
    /// the inbox that were opened go to its start, closed ones to its end.
    pub moves: Vec<(BlockId, ResolvedPosition)>,
}

/// An update in progress.
///
/// A host with markdown works on one patch at a time, in the order of the request, so that the
/// first error is that of the first invalid entry:
///
/// 1. [`BlockUpdate::find`] reads the block and checks that the patch may change it.
/// 2. The host rewrites [`PatchedBlock::fields`] as it needs.
/// 3. [`BlockUpdate::apply`] gives the new data; the host splits its text into paragraphs.
/// 4. [`BlockUpdate::add`] validates the result and adds its edits.
pub struct BlockUpdate<'a, T: ?Sized> {
    reader: RequestReader<'a, T>,
    context: &'a Context<'a>,
    ids: UniqueIds,
    /// Patches of the request plus blocks of further paragraphs.
    block_count: usize,
    next_index: usize,
    updated: UpdatedBlocks,
}

/// A block with the patch that applies to it.
#[derive(Clone, Debug)]
pub struct PatchedBlock {
    /// The block before the update.
    pub before: BlockRecord,
    /// The fields of the patch.
    pub fields: BlockFields,
    /// The field by which the request gives the title, if it is not `markdown`: errors name it.
    pub title_field: Option<String>,
    location: BlockLocation,
    index: usize,
}

impl PatchedBlock {
    /// Whether the block is the root of a document.
    pub const fn is_root(&self) -> bool {
        self.location.parent.is_none()
    }

    /// Prepends the patch's path in the request, `blocks[n]`, to that of an error.
    pub fn at(&self, error: Error) -> Error {
        let error = match &self.title_field {
            Some(field) => title_error(field, error),
            None => error,
        };
        error.at(format_args!("blocks[{}]", self.index))
    }
}

impl<T: ?Sized> std::fmt::Debug for BlockUpdate<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockUpdate").field("updated", &self.updated).finish_non_exhaustive()
    }
}

/// The error of a title that the request gives as `field` instead of `markdown`.
pub fn title_error(field: &str, error: Error) -> Error {
    if error.path() == "markdown" {
        return error.without_path().at(field);
    }
    error
}

/// Updates blocks whose texts are stored as they are given: the update of a host without markdown.
///
/// # Errors
/// Below `blocks`: [`ErrorKind::NotFound`], [`ErrorKind::Validation`] for a duplicate block or a
/// field that its type does not have, [`ErrorKind::Conflict`] if its `rev` differs from the
/// expected one, [`ErrorKind::RuleViolation`] for a change of type that is not allowed, a document
/// in the trash, the root of the inbox and a top-level block of the inbox that would not be a task,
/// and the errors of [`BlockData::check`]. [`ErrorKind::Validation`] at `markdown` also for a blank
/// name of a collection; [`ErrorKind::LimitExceeded`] at `blocks` for too many blocks, those of
/// further paragraphs included.
pub fn update<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    patches: Vec<BlockPatch>,
) -> Result<UpdatedBlocks> {
    let blocks: Vec<_> = patches.iter().map(|patch| patch.id).collect();
    let mut update = BlockUpdate::new(tree, context, &blocks)?;
    for patch in patches {
        let mut block = update.find(patch)?;
        let parts = update.apply(&mut block)?.into_iter().collect();
        update.add(&block, parts)?;
    }
    Ok(update.finish())
}

const BLOCKS: &str = "blocks in one request";

impl<'a, T: ReadTree + ?Sized> BlockUpdate<'a, T> {
    /// Starts an update of `blocks`, by one patch for each in this order.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] at `blocks`.
    pub fn new(tree: &'a T, context: &'a Context<'a>, blocks: &[BlockId]) -> Result<Self> {
        check_count(BLOCKS, context.limits.blocks_per_request, blocks.len(), "blocks")?;
        let reader = RequestReader::new(tree);
        reader.prefetch(blocks);
        Ok(Self {
            reader,
            context,
            ids: UniqueIds::default(),
            block_count: blocks.len(),
            next_index: 0,
            updated: UpdatedBlocks::default(),
        })
    }

    /// Reads the block of the next patch.
    ///
    /// # Errors
    /// As [`update`], unless they concern the new data.
    pub fn find(&mut self, patch: BlockPatch) -> Result<PatchedBlock> {
        let index = self.next_index;
        debug_assert!(index < self.block_count, "`new` was called with the block of each patch");
        self.next_index += 1;
        let at = |error: Error| error.at(format_args!("blocks[{index}]"));
        let (location, before) = self.look_up(patch.id).map_err(|error| at(error.at("id")))?;
        if let Some(expected) = patch.rev.filter(|expected| *expected != before.rev) {
            let message = format!("expected rev {expected}, but the block has rev {}", before.rev);
            return Err(at(Error::new(ErrorKind::Conflict, message).at("rev")));
        }
        let fields = patch.fields;
        let title_field = fields.gives_title_alone().then(|| "title".to_owned());
        Ok(PatchedBlock { before, fields, title_field, location, index })
    }

    fn look_up(&mut self, id: BlockId) -> Result<(BlockLocation, BlockRecord)> {
        self.ids.add(id)?;
        let location = self.reader.locate(id)?;
        let document_location = self.reader.document_location(location.document)?;
        inbox::check_changeable(location.parent, document_location)?;
        Ok((location, self.reader.block(id)?))
    }

    /// Applies the fields of a patch, which leaves them empty; `None` if they change nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] for a field that the block's type does not have,
    /// [`ErrorKind::RuleViolation`] for a change of type that is not allowed.
    pub fn apply(&self, block: &mut PatchedBlock) -> Result<Option<BlockData>> {
        let mut data = block.before.data.clone();
        std::mem::take(&mut block.fields)
            .apply(&mut data)
            .and_then(|()| self.check_type(block, data.block_type()))
            .map_err(|error| block.at(error))?;
        Ok((data != block.before.data).then_some(data))
    }

    /// Adds the edits of a patch. `parts` is the new data of the block, followed by data for new
    /// blocks right after it, one per further paragraph; empty if the patch changes nothing.
    ///
    /// # Errors
    /// As [`update`].
    pub fn add(&mut self, block: &PatchedBlock, mut parts: Vec<BlockData>) -> Result<()> {
        let at = |error: Error| block.at(error);
        let PatchedBlock { before, location, .. } = block;
        if parts.is_empty() {
            parts.push(before.data.clone());
        }
        self.check_parts(block, &mut parts).map_err(at)?;
        // Further paragraphs count towards the limit, like blocks of the request.
        self.block_count = self.block_count.saturating_add(parts.len().saturating_sub(1));
        let most = self.context.limits.blocks_per_request;
        check_count(BLOCKS, most, self.block_count, "blocks")?;
        let mut parts = parts.into_iter();
        let Some(data) = parts.next() else {
            invariant!("an update has data for its block");
        };
        let further: Vec<_> = parts.map(|data| self.context.new_block(data)).collect();
        let document_location = self.reader.document_location(location.document)?;
        // Recorded only: the edits of the whole request are applied before any block moves.
        let destination = inbox::destination(*location, document_location, &before.data, &data);
        self.updated.moves.extend(destination.map(|position| (before.id, position)));
        match update_edit(location.document, before.clone(), data, self.context.stamp) {
            Some(edit) => {
                if let Edit::Update { after, .. } = &edit {
                    self.updated.blocks.push((**after).clone());
                }
                self.updated.edits.push(edit);
            }
            None => self.updated.blocks.push(before.clone()),
        }
        self.updated.insert_after(*location, before.id, further).map_err(at)
    }

    /// The edits and blocks of all patches.
    pub fn finish(self) -> UpdatedBlocks {
        self.updated
    }

    /// Completes the stamps of tasks and validates the new data.
    fn check_parts(&self, block: &PatchedBlock, parts: &mut [BlockData]) -> Result<()> {
        let PatchedBlock { before, location, .. } = block;
        if parts.len() > 1 && before.data.block_type() == BlockType::CollectionItem {
            return Err(Error::rule("the title of an item is one paragraph").at("markdown"));
        }
        check_collection_name(&before.data, parts)?;
        for (index, data) in parts.iter_mut().enumerate() {
            // Only the first part is the block that was there: a further one is a new task.
            let former = before.data.task.filter(|_| index == 0);
            // Stamps first: `check_data` requires those that match the state of the task.
            data.task =
                data.task.map(|task| carry_over(former, task).stamped(self.context.stamp.at));
            check_data(data, self.context.limits)?;
        }
        let Some(parent) = location.parent else { return Ok(()) };
        let allowed = self.reader.allowed_children(location.document, parent)?;
        allowed.check_change(&before.data, parts)
    }

    /// A page that is a root or has children cannot become a text.
    fn check_type(&self, block: &PatchedBlock, new_type: BlockType) -> Result<()> {
        let PatchedBlock { before, location, .. } = block;
        if (before.data.block_type(), new_type) != (BlockType::Page, BlockType::Text) {
            return Ok(());
        }
        if location.parent.is_none() {
            return Err(Error::rule(
                "the root of a document stays a block of type page; it cannot become a text",
            )
            .at("type"));
        }
        // One child is enough; its subtree is not read.
        if self.reader.tree.first_children(location.document, before.id, 1)?.is_empty() {
            return Ok(());
        }
        Err(Error::rule("a block of type page that has children cannot become a text").at("type"))
    }
}

impl UpdatedBlocks {
    fn insert_after(
        &mut self,
        location: BlockLocation,
        block: BlockId,
        added: Vec<BlockRecord>,
    ) -> Result<()> {
        if added.is_empty() {
            return Ok(());
        }
        let Some(parent) = location.parent else {
            return Err(Error::rule("the title of a document is one paragraph").at("markdown"));
        };
        self.blocks.extend(added.iter().cloned());
        let nodes = added.into_iter().map(|block| SubtreeNode { depth: 0, block });
        self.edits.push(Edit::Insert {
            target: InsertTarget { document: location.document, parent, after: Some(block) },
            subtrees: Subtrees(nodes.collect()),
        });
        Ok(())
    }
}

/// The edit that gives `before` the new data, with the next revision; `None` if the data is equal.
pub fn update_edit(
    document: DocumentId,
    before: BlockRecord,
    data: BlockData,
    stamp: &Stamp,
) -> Option<Edit> {
    if before.data == data {
        return None;
    }
    // Source layout is not content: neither the revision nor the stamp change with it.
    if before.data.is_same_content(&data) {
        let after = Box::new(BlockRecord { data, ..before.clone() });
        return Some(Edit::Update { document, before: Box::new(before), after });
    }
    let (id, rev, created) = (before.id, before.rev.saturating_add(1), before.created.clone());
    let after = Box::new(BlockRecord { id, rev, created, modified: stamp.clone(), data });
    Some(Edit::Update { document, before: Box::new(before), after })
}

/// The name of a collection is that of its schema, which cannot be blank.
fn check_collection_name(before: &BlockData, parts: &[BlockData]) -> Result<()> {
    let is_blank = |data: &BlockData| data.inline.trim().is_empty() && data.inline != before.inline;
    if before.block_type() == BlockType::Collection && parts.first().is_some_and(is_blank) {
        return Err(Error::validation("the name of a collection cannot be blank").at("markdown"));
    }
    Ok(())
}

/// Completes a task with the stamps that the request omits. [`TaskInfo::stamped`] then removes
/// those that no longer match its state.
fn carry_over(before: Option<TaskInfo>, task: TaskInfo) -> TaskInfo {
    let before = before.unwrap_or_default();
    TaskInfo {
        completed_at: task.completed_at.or(before.completed_at),
        canceled_at: task.canceled_at.or(before.canceled_at),
        ..task
    }
}

/// Checks block data on its own. Only types with markdown of their own store any.
pub(crate) fn check_data(data: &BlockData, limits: &Limits) -> Result<()> {
    if !data.block_type().has_own_markdown() && !data.inline.is_empty() {
        let message = format!(
            "the markdown of a block of type {} is derived from its other fields",
            data.block_type()
        );
        return Err(Error::validation(message).at("markdown"));
    }
    data.check(limits)
}
