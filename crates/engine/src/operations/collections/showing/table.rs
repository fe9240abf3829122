//! The items of a collection while a reply is made of them.

use leafbase_model::{BlockId, Content, Item, ItemValue, ItemValues, PropertyKey, Schema};

use super::columns::Columns;

/// So many values lie together, about 20 KB: more would be kept for the sake of one item, with less
/// each would cost more.
const PAGE: usize = 512;

/// A collection whose items are shown, and those that are shown by now.
pub(in crate::operations::collections) struct Table {
    pub(super) collection: BlockId,
    pub(super) content_key: PropertyKey,
    pub(super) columns: Columns,
    /// Those of the items that wait, and then of the item at hand: each with the place of its
    /// column.
    pub(super) values: Vec<(u32, ItemValue)>,
    /// Items whose values are not theirs yet.
    waiting: Vec<Waiting>,
    items: Vec<Item>,
    /// So many are expected.
    expected: usize,
}

struct Waiting {
    id: BlockId,
    title: String,
    content: Content,
    /// Where its values end.
    end: usize,
}

impl Table {
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
            waiting: Vec::new(),
            items,
            expected,
        }
    }

    /// So many values come next: they have room beside those that wait, or these wait no more.
    pub(super) fn make_room(&mut self, count: usize) {
        if self.values.capacity() - self.values.len() < count {
            self.settle();
            let rest = self
                .expected
                .saturating_sub(self.items.len())
                .saturating_mul(self.columns.all.len());
            self.values.reserve_exact(rest.min(PAGE).max(count));
        }
    }

    /// An item has the values that were added last.
    pub(super) fn put(&mut self, id: BlockId, title: String, content: Content) {
        self.waiting.push(Waiting { id, title, content, end: self.values.len() });
    }

    /// Gives the items that wait their values.
    fn settle(&mut self) {
        let ends: Vec<_> = self.waiting.iter().map(|item| item.end).collect();
        let values = ItemValues::of_several(
            self.columns.keys.clone(),
            std::mem::take(&mut self.values),
            ends,
        );
        let made = self.waiting.drain(..).zip(values).map(
            |(Waiting { id, title, content, .. }, properties)| Item {
                id,
                content_key: self.content_key.clone(),
                title,
                properties,
                content,
            },
        );
        self.items.extend(made);
    }

    /// All items.
    pub(in crate::operations::collections) fn finish(mut self) -> Vec<Item> {
        self.settle();
        self.items
    }

    /// The values that were added last, which are of no item.
    pub(super) fn values_of_one(&mut self) -> ItemValues {
        ItemValues::new(self.columns.keys.clone(), std::mem::take(&mut self.values))
    }
}
