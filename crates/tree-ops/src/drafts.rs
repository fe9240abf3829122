//! Drafts become blocks: each is checked, given an ID, and a text with content is made as a page.

use std::vec::IntoIter;

use leafbase_model::{
    BlockData, BlockDraft, BlockKind, BlockType, Error, Limits, Result, SubtreeNode, Subtrees,
};

use crate::batch::check_count;
use crate::place::{check_nesting, check_parent};
use crate::update::check_data;
use crate::{Context, Takes};

/// Drafts on their way to be blocks, in reading order, on a stack of our own.
pub(crate) struct Drafts {
    /// What the request calls the list of top drafts; none if there is one top draft that the paths
    /// begin below.
    list: Option<&'static str>,
    levels: Vec<Level>,
}

struct Level {
    /// How many were taken from `rest`.
    taken: usize,
    rest: IntoIter<BlockDraft>,
}

/// A draft that was taken.
struct Draft {
    /// How far below the top.
    below: usize,
    /// Whether what is to be made of its task can be.
    settled: Result<()>,
    data: BlockData,
    has_content: bool,
}

impl Level {
    fn new(drafts: Vec<BlockDraft>) -> Self {
        Self { taken: 0, rest: drafts.into_iter() }
    }
}

impl Drafts {
    /// The drafts of the request's list of this name.
    pub(crate) fn listed(list: &'static str, drafts: Vec<BlockDraft>) -> Self {
        Self { list: Some(list), levels: vec![Level::new(drafts)] }
    }

    /// One draft, the root of a document.
    pub(crate) fn root(draft: BlockDraft) -> Self {
        Self { list: None, levels: vec![Level::new(vec![draft])] }
    }

    /// The blocks that the drafts give, the top ones at `depth` of their document, at a place that
    /// takes `takes`.
    pub(crate) fn grow(
        mut self,
        context: &Context<'_>,
        depth: usize,
        takes: Takes,
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
        while let Some(Draft { below, settled, mut data, has_content }) = self.next() {
            let takes = if below == 0 { takes } else { Takes::Anything };
            // Where it is: a block is large, and there are many.
            let ready =
                settled.and_then(|()| make_new(context, depth + below, &mut data, has_content));
            let ready =
                ready.and_then(|()| takes.check(&data).map_err(|error| error.at("listStyle")));
            ready.map_err(|error| error.at(self.path()))?;
            nodes.push(SubtreeNode {
                depth: u16::try_from(below).unwrap_or(u16::MAX),
                block: context.born(data),
            });
        }
        Ok(Subtrees(nodes))
    }

    /// The next draft in reading order.
    fn next(&mut self) -> Option<Draft> {
        loop {
            let below = self.levels.len().checked_sub(1)?;
            let level = self.levels.last_mut()?;
            let Some(mut draft) = level.rest.next() else {
                self.levels.pop();
                continue;
            };
            level.taken += 1;
            let has_content = !draft.content.is_empty();
            let settled = draft.settle();
            // Pushed even if empty, so that the path of the draft just taken is always that of all
            // levels but the last.
            let (data, content) = draft.into_parts();
            self.levels.push(Level::new(content));
            return Some(Draft { below, settled, data, has_content });
        }
    }

    /// The path of the draft taken last.
    fn path(&self) -> String {
        let above = self.levels.len().saturating_sub(1);
        let lists = std::iter::once(self.list).chain(std::iter::repeat(Some("content")));
        let steps = self.levels.iter().take(above).zip(lists).filter_map(|(level, list)| {
            list.map(|list| format!("{list}[{}]", level.taken.saturating_sub(1)))
        });
        steps.collect::<Vec<_>>().join(".")
    }
}

fn make_new(
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

/// Checks what a draft says, wherever it is to stand: for callers that change drafts before they
/// insert them, and want an error to name what they were given.
///
/// # Errors
/// [`leafbase_model::ErrorKind::RuleViolation`] for a collection, an item, and content of a type
/// that cannot have any; those of [`BlockData::check`]. The path begins below the draft.
pub fn check_draft(limits: &Limits, data: &BlockData, has_content: bool) -> Result<()> {
    match data.block_type() {
        BlockType::CollectionItem => {
            return Err(Error::rule(
                "a block of type collectionItem is made by the item operations",
            )
            .at("type"));
        }
        BlockType::Collection => {
            return Err(
                Error::rule("a block of type collection is made by its own operation").at("type")
            );
        }
        block_type if has_content => {
            check_parent(block_type).map_err(|error| error.at("content"))?
        }
        _ => {}
    }
    match data.kind {
        // What is checked is the page that it becomes: only a page's text is a title.
        BlockKind::Text(look) if has_content => {
            check_data(&BlockData { kind: BlockKind::Page(look), ..data.clone() }, limits)
        }
        _ => check_data(data, limits),
    }
}
