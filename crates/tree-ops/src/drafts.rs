//! Conversion of drafts to blocks: validation, IDs, and pages for texts with content.

use std::vec::IntoIter;

use leafbase_model::{
    BlockData, BlockDraft, BlockId, BlockKind, BlockType, Error, Limits, Result, SubtreeNode,
    Subtrees,
};

use crate::context::Context;
use crate::inbox::AllowedChildren;
use crate::request::check_count;
use crate::target::{check_nesting, check_parent};
use crate::update::check_data;

/// Drafts in reading order. Iterates with an explicit stack, because drafts may be nested to any
/// depth.
pub(crate) struct DraftTree {
    /// Name of the request's list of top drafts; `None` for a single draft, whose paths are
    /// relative to it.
    list: Option<&'static str>,
    levels: Vec<DraftList>,
}

struct DraftList {
    /// Drafts taken from `rest`.
    taken: usize,
    rest: IntoIter<BlockDraft>,
}

/// A draft without its content.
struct DraftNode {
    /// Depth below the top drafts.
    depth: usize,
    /// Result of normalizing the draft. An error is reported once the draft's path is known.
    normalized: Result<()>,
    /// The ID that the client made.
    id: Option<BlockId>,
    data: BlockData,
    has_content: bool,
}

impl DraftList {
    fn new(drafts: Vec<BlockDraft>) -> Self {
        Self { taken: 0, rest: drafts.into_iter() }
    }
}

impl DraftTree {
    /// The drafts of the request's list `list`.
    pub(crate) fn listed(list: &'static str, drafts: Vec<BlockDraft>) -> Self {
        Self { list: Some(list), levels: vec![DraftList::new(drafts)] }
    }

    /// The root of a document.
    pub(crate) fn root(draft: BlockDraft) -> Self {
        Self { list: None, levels: vec![DraftList::new(vec![draft])] }
    }

    /// Validates the drafts and returns their blocks, to be inserted at `depth` below a parent that
    /// allows `allowed`.
    pub(crate) fn into_blocks(
        mut self,
        context: &Context<'_>,
        depth: usize,
        allowed: AllowedChildren,
    ) -> Result<Subtrees> {
        let count = self
            .levels
            .iter()
            .flat_map(|level| level.rest.as_slice())
            .flat_map(BlockDraft::walk)
            .count();
        check_count(
            "blocks in one request",
            context.limits.blocks_per_request,
            count,
            self.list.unwrap_or_default(),
        )?;
        let mut nodes = Vec::with_capacity(count);
        while let Some(DraftNode { depth: below, normalized, id, mut data, has_content }) =
            self.next()
        {
            let allowed = if below == 0 { allowed } else { AllowedChildren::Anything };
            // In place: block data is large, and a request has many blocks.
            let node_depth = normalized
                .and_then(|()| prepare_new(context, depth + below, &mut data, has_content))
                .and_then(|()| allowed.check(&data).map_err(|error| error.at("listStyle")))
                .and_then(|()| subtree_depth(below))
                .map_err(|error| error.at(self.path()))?;
            let mut block = context.new_block(data);
            block.id = id.unwrap_or(block.id);
            nodes.push(SubtreeNode { depth: node_depth, block });
        }
        debug_assert_eq!(nodes.len(), count, "every draft becomes one block");
        Ok(Subtrees(nodes))
    }

    /// The next draft in reading order.
    fn next(&mut self) -> Option<DraftNode> {
        loop {
            let depth = self.levels.len().checked_sub(1)?;
            let level = self.levels.last_mut()?;
            let Some(mut draft) = level.rest.next() else {
                self.levels.pop();
                continue;
            };
            level.taken += 1;
            let (id, has_content) = (draft.id, !draft.content.is_empty());
            let normalized = draft.apply_task_patch();
            // Pushed even if empty: the path of the last draft is always that of all levels but the
            // last one.
            let (data, content) = draft.into_parts();
            self.levels.push(DraftList::new(content));
            return Some(DraftNode { depth, normalized, id, data, has_content });
        }
    }

    /// Path of the last draft returned by `next`.
    fn path(&self) -> String {
        let above = self.levels.len().saturating_sub(1);
        let lists = std::iter::once(self.list).chain(std::iter::repeat(Some("content")));
        let steps = self.levels.iter().take(above).zip(lists).filter_map(|(level, list)| {
            list.map(|list| format!("{list}[{}]", level.taken.saturating_sub(1)))
        });
        steps.collect::<Vec<_>>().join(".")
    }
}

/// The depth of a node within its subtrees.
fn subtree_depth(depth: usize) -> Result<u16> {
    u16::try_from(depth).map_err(|_| Error::limit("levels of blocks", usize::from(u16::MAX), depth))
}

fn prepare_new(
    context: &Context<'_>,
    depth: usize,
    data: &mut BlockData,
    has_content: bool,
) -> Result<()> {
    check_nesting(context.limits, depth)?;
    check_draft(context.limits, data, has_content)?;
    if let (true, BlockKind::Text(look)) = (has_content, &data.kind) {
        data.kind = BlockKind::Page(*look);
    }
    data.task = data.task.map(|task| task.stamped(context.stamp.at));
    Ok(())
}

/// Validates a draft independently of its position, for callers that rewrite drafts before they
/// insert them and report errors by the original paths.
///
/// # Errors
/// [`leafbase_model::ErrorKind::RuleViolation`] for a collection, an item, and content of a type
/// that cannot have any; the errors of [`BlockData::check`]. The path begins below the draft.
pub fn check_draft(limits: &Limits, data: &BlockData, has_content: bool) -> Result<()> {
    match data.block_type() {
        BlockType::CollectionItem => {
            return Err(Error::rule(
                "a block of type collectionItem is created by the item operations",
            )
            .at("type"));
        }
        BlockType::Collection => {
            return Err(Error::rule("a block of type collection is created by its own operation")
                .at("type"));
        }
        block_type if has_content => {
            check_parent(block_type).map_err(|error| error.at("content"))?;
        }
        _ => {}
    }
    match data.kind {
        // Validated as the page that it becomes: the length limit of a title applies.
        BlockKind::Text(look) if has_content => {
            check_data(&BlockData { kind: BlockKind::Page(look), ..data.clone() }, limits)
        }
        _ => check_data(data, limits),
    }
}
