//! Pages of item listings, with or without the items' own pages.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use leafbase_model::{
    Block, BlockId, DocumentId, Error, GetItems, Item, ItemsPage, Limits, Result, Schema,
    SubtreeNode, Subtrees,
};
use leafbase_tree_ops::{self as ops, ReadTree};

use super::cursor::{self, ListingCursor};
use super::lookup::schema;
use crate::core::redaction::LinkRedactor;
use crate::core::tree::Tree;
use crate::operations::block_markdown::render_tree;
use crate::operations::collections::presenter::{ItemPresenter, PlainItem};

/// The page that a request asks for.
pub(super) fn page(
    tree: &Tree<'_>,
    request: &GetItems,
    limits: &Limits,
) -> Result<ItemsPage<Item>> {
    let schema = schema(tree, request.collection_id)?;
    let reading =
        ListingReader { tree, collection: request.collection_id, most: limits.blocks_per_fetch };
    let after =
        request.paging.cursor.as_deref().map(|text| reading.after(text)).transpose()?.flatten();
    if request.max_depth == Some(0) {
        return reading.rows(&schema, after, request.paging.limit);
    }
    let (ids, next_cursor) = reading.ids(after, request.paging.limit)?;
    let is_all = after.is_none() && next_cursor.is_none();
    let items = reading.shown(&schema, &ids, is_all, request.max_depth)?;
    Ok(ItemsPage { items, next_cursor })
}

/// Items of a collection as a reply returns them, with `depth` levels of descendants.
pub(in crate::operations::collections) fn show(
    tree: &Tree<'_>,
    (collection, schema): (BlockId, &Schema),
    items: Vec<PlainItem>,
    depth: Option<usize>,
    limits: &Limits,
) -> Result<Vec<Item>> {
    let reading = ListingReader { tree, collection, most: limits.blocks_per_fetch };
    reading.check(items.len())?;
    if depth == Some(0) {
        return ItemPresenter::new(tree).plain_items(collection, schema, items);
    }
    reading.shown(schema, &items.iter().map(|item| item.id).collect::<Vec<_>>(), false, depth)
}

struct ListingReader<'t, 'a> {
    tree: &'t Tree<'a>,
    collection: BlockId,
    /// Maximum number of blocks in a reply.
    most: usize,
}

impl ListingReader<'_, '_> {
    /// The item that the page follows. `None` for the first page, and if all items of the cursor
    /// are gone.
    fn after(&self, text: &str) -> Result<Option<BlockId>> {
        let ListingCursor { before, behind } = cursor::read(self.collection, text)?;
        for id in before.into_iter().rev() {
            if self.has(id)? {
                return Ok(Some(id));
            }
        }
        for id in behind {
            if self.has(id)? {
                return self.tree.previous_sibling(id);
            }
        }
        Ok(None)
    }

    fn has(&self, item: BlockId) -> Result<bool> {
        Ok(self.tree.locate(item)?.is_some_and(|located| located.parent == Some(self.collection)))
    }

    /// The items after `after` as a reply returns them, without their pages. Each is presented
    /// before the next is read, which reuses the memory of the row.
    fn rows(
        &self,
        schema: &Schema,
        after: Option<BlockId>,
        limit: Option<usize>,
    ) -> Result<ItemsPage<Item>> {
        let count = self
            .tree
            .reader_at(self.collection)?
            .item_index(self.collection)?
            .map_or(0, |index| index.items());
        let count = usize::try_from(count)
            .unwrap_or(usize::MAX)
            .min(limit.unwrap_or(usize::MAX))
            .min(self.most);
        let (mut presenter, mut part) =
            (ItemPresenter::new(self.tree), PageAccumulator::new(count, limit));
        let mut table = presenter.table(self.collection, schema, count)?;
        self.tree.reader_at(self.collection)?.item_rows(self.collection, after, &mut |row| {
            part.put(self, row.id, || presenter.row(&mut table, &row))
        })?;
        let (_, next_cursor) = part.end(self.collection);
        Ok(ItemsPage { items: table.finish(), next_cursor })
    }

    /// The IDs of the items after `after`, and the cursor if more follow.
    fn ids(
        &self,
        after: Option<BlockId>,
        limit: Option<usize>,
    ) -> Result<(Vec<BlockId>, Option<String>)> {
        let mut part = PageAccumulator::new(0, limit);
        self.tree
            .reader_at(self.collection)?
            .item_rows(self.collection, after, &mut |row| part.put(self, row.id, || Ok(row.id)))?;
        Ok(part.end(self.collection))
    }

    /// These items with their pages.
    fn shown(
        &self,
        schema: &Schema,
        ids: &[BlockId],
        is_all: bool,
        depth: Option<usize>,
    ) -> Result<Vec<Item>> {
        let blocks = self.pages(ids, is_all, depth)?;
        ItemPresenter::new(self.tree).items_with_pages(self.collection, schema, blocks)
    }

    fn check(&self, blocks: usize) -> Result<()> {
        if blocks > self.most {
            let limit = "items and blocks of their pages in one reply (a limit or a maxDepth asks for fewer)";
            return Err(Error::limit(limit, self.most, blocks).at("collectionId"));
        }
        Ok(())
    }

    /// The items with `depth` levels of descendants. If they are all items of the collection
    /// (`is_all`), one range scan reads them.
    fn pages(&self, ids: &[BlockId], is_all: bool, depth: Option<usize>) -> Result<Vec<Block>> {
        let Some(located) = self.tree.locate(self.collection)? else { return Ok(Vec::new()) };
        // All items: one range scan of the collection instead of one per item.
        if is_all {
            let levels = depth.map(|depth| depth.saturating_add(1));
            // One range scan reads the collection with all descendants.
            let mut subtrees = self.tree.subtree(self.collection, levels)?;
            return self.show(located.document, below_top(&mut subtrees), depth, &mut 0);
        }
        self.tree.prefetch(ids);
        let (mut blocks, mut count) = (Vec::with_capacity(ids.len()), 0);
        for id in ids {
            let subtrees = self.tree.subtree_without_items(*id, depth)?;
            blocks.extend(self.show(located.document, subtrees, depth, &mut count)?);
        }
        Ok(blocks)
    }

    /// Adds the blocks to `count`, the number of blocks in the reply.
    fn show(
        &self,
        document: DocumentId,
        subtrees: Subtrees,
        depth: Option<usize>,
        count: &mut usize,
    ) -> Result<Vec<Block>> {
        let links = LinkRedactor::new(self.tree);
        let mut blocks =
            ops::show_subtrees(self.tree, document, subtrees, depth, &|data| links.plain(data))?;
        links.finish()?;
        blocks.iter_mut().try_for_each(|block| links.redact_tree(block))?;
        *count += blocks.iter_mut().map(render_tree).sum::<usize>();
        self.check(*count)?;
        Ok(blocks)
    }
}

/// Accumulates a page and the items around its end.
struct PageAccumulator<T> {
    made: Vec<T>,
    limit: usize,
    /// The last items of the page, for the cursor.
    last: VecDeque<BlockId>,
    following: Vec<BlockId>,
}

impl<T> PageAccumulator<T> {
    fn new(expected: usize, limit: Option<usize>) -> Self {
        let last = VecDeque::with_capacity(cursor::REMEMBERED + 1);
        Self {
            made: Vec::with_capacity(expected),
            limit: limit.unwrap_or(usize::MAX),
            last,
            following: Vec::new(),
        }
    }

    /// Adds the next item: to the page, or once that is full to the items after it.
    fn put(
        &mut self,
        reading: &ListingReader<'_, '_>,
        id: BlockId,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<ControlFlow<()>> {
        debug_assert!(self.made.len() <= self.limit, "the page is bounded by its limit");
        if self.made.len() == self.limit {
            self.following.push(id);
            // Reading ends once the cursor has enough following items.
            let is_enough = self.following.len() == cursor::REMEMBERED;
            return Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
        }
        reading.check(self.made.len() + 1)?;
        self.last.push_back(id);
        if self.last.len() > cursor::REMEMBERED {
            self.last.pop_front();
        }
        self.made.push(make()?);
        Ok(ControlFlow::Continue(()))
    }

    fn end(self, collection: BlockId) -> (Vec<T>, Option<String>) {
        let around = ListingCursor { before: self.last.into(), behind: self.following };
        let next_cursor = (!around.behind.is_empty()).then(|| cursor::write(collection, &around));
        (self.made, next_cursor)
    }
}

/// The descendants of the root of `subtrees`.
fn below_top(subtrees: &mut Subtrees) -> Subtrees {
    debug_assert!(
        subtrees.0.first().is_none_or(|root| root.depth == 0),
        "the root precedes its descendants"
    );
    let below = subtrees.0.drain(..).filter(|node| node.depth > 0);
    Subtrees(
        below.map(|SubtreeNode { depth, block }| SubtreeNode { depth: depth - 1, block }).collect(),
    )
}
