//! Items of a collection while a reply is built.

use leafbase_model::{BlockId, Content, Item, ItemValue, ItemValues, PropertyKey, Schema};

use super::columns::Columns;

/// Values per shared allocation, about 20 KB: a larger one would be kept alive by a single item, a
/// smaller one costs more per value.
const MAX_SHARED_VALUES: usize = 512;

/// A collection with the items presented so far.
pub(in crate::operations::collections) struct ItemTable {
    pub(super) collection: BlockId,
    pub(super) content_key: PropertyKey,
    pub(super) columns: Columns,
    /// Values of the buffered items, then of the current one, each with its column index; one
    /// allocation that the items share after a flush.
    pub(super) values: Vec<(u32, ItemValue)>,
    /// Items whose values are still in the shared buffer.
    buffered: Vec<BufferedItem>,
    items: Vec<Item>,
    /// Expected number of items.
    expected: usize,
}

struct BufferedItem {
    id: BlockId,
    rev: u64,
    title: String,
    content: Content,
    /// End offset of its values in the buffer.
    end: usize,
}

impl ItemTable {
    pub(super) fn new(
        collection: BlockId,
        schema: &Schema,
        columns: Columns,
        expected: usize,
    ) -> Self {
        let (content_key, items) =
            (schema.content.key.as_str().into(), Vec::with_capacity(expected));
        Self {
            collection,
            content_key,
            columns,
            values: Vec::new(),
            buffered: Vec::new(),
            items,
            expected,
        }
    }

    /// Reserves room for `count` values; flushes the buffered items if the buffer is full.
    pub(super) fn reserve(&mut self, count: usize) {
        if self.values.capacity() - self.values.len() < count {
            self.flush();
            let rest = self
                .expected
                .saturating_sub(self.items.len())
                .saturating_mul(self.columns.all.len());
            // One allocation for the buffered items: never larger than the rest of the reply needs.
            self.values.reserve_exact(rest.min(MAX_SHARED_VALUES).max(count));
        }
    }

    /// Buffers an item with the values added since the previous one.
    pub(super) fn put(&mut self, (id, rev): (BlockId, u64), title: String, content: Content) {
        debug_assert!(
            self.buffered.last().is_none_or(|last| last.end <= self.values.len()),
            "offsets of buffered items ascend"
        );
        self.buffered.push(BufferedItem { id, rev, title, content, end: self.values.len() });
    }

    /// Moves the buffered values into their items.
    fn flush(&mut self) {
        let ends: Vec<_> = self.buffered.iter().map(|item| item.end).collect();
        let values = ItemValues::of_several(
            self.columns.keys.clone(),
            std::mem::take(&mut self.values),
            ends,
        );
        let finished = self.buffered.drain(..).zip(values).map(
            |(BufferedItem { id, rev, title, content, .. }, properties)| Item {
                id,
                rev,
                content_key: self.content_key.clone(),
                title,
                properties,
                content,
            },
        );
        self.items.extend(finished);
    }

    /// All items.
    pub(in crate::operations::collections) fn finish(mut self) -> Vec<Item> {
        self.flush();
        self.items
    }

    /// Takes the values added so far, which belong to no buffered item.
    pub(super) fn values_of_one(&mut self) -> ItemValues {
        ItemValues::new(self.columns.keys.clone(), std::mem::take(&mut self.values))
    }
}
