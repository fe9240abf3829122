//! Items: the index rows that follow from the data of an item.

use leafbase_model::{BlockId, Properties, Property, PropertyKind, PropertyValue};

use crate::edges::KeyExtractor;
use crate::index_bitmap::IndexBitmap;
use crate::keyspaces;
use crate::records::schema::{self, IndexedSchema};

/// Title and property values of an item.
pub(crate) type IndexedValues<'v> = (&'v str, &'v Properties);

/// Receives the key of an index row, and its bitmap, or `None` if the row is to be deleted.
pub(crate) type EmitRow<'f> = &'f mut dyn FnMut(Vec<u8>, Option<IndexBitmap>);

/// Computes the index rows of the items of a collection.
#[derive(Clone, Copy)]
pub(crate) struct ItemIndexer<'s> {
    pub(crate) collection: BlockId,
    pub(crate) indexed: &'s IndexedSchema,
    pub(crate) keys: KeyExtractor,
}

/// An item whose rows change: its new bitmap, and whether it differs from the old one.
#[derive(Clone, Copy)]
struct RowChange {
    item: BlockId,
    bitmap: IndexBitmap,
    bitmap_changed: bool,
}

impl ItemIndexer<'_> {
    /// Emits the rows that change when an item changes from `before` to `after`: all rows if its
    /// bitmap changes.
    pub(crate) fn changed_rows(
        &self,
        item: BlockId,
        before: Option<IndexedValues<'_>>,
        after: Option<IndexedValues<'_>>,
        emit: EmitRow<'_>,
    ) {
        let [bitmap_before, bitmap] = [before, after].map(|values| {
            values.map_or_else(IndexBitmap::default, |(_, values)| self.bitmap(values))
        });
        let change = RowChange { item, bitmap, bitmap_changed: bitmap != bitmap_before };
        let [title_before, title_after] =
            [before, after].map(|values| values.map(|(title, _)| title));
        if title_before != title_after || change.bitmap_changed {
            let titles = [title_before, title_after];
            let titles =
                titles.map(|title| title.map(|title| PropertyValue::Text(title.to_owned())));
            self.column(
                schema::TITLE,
                &PropertyKind::Text,
                change,
                titles.each_ref().map(Option::as_ref),
                emit,
            );
        }
        for (property, number) in self.indexed.indexed_properties() {
            let values = [before, after]
                .map(|values| values.and_then(|(_, values)| values.get(&property.key)));
            self.column(number, &property.kind, change, values, emit);
        }
    }

    /// The bitmap of an item with these values.
    fn bitmap(&self, values: &Properties) -> IndexBitmap {
        let mut bitmap = IndexBitmap::default();
        for (Property { key, kind, .. }, number) in self.indexed.indexed_properties() {
            // The same sort keys as in the index: a query tests both with one encoding.
            if schema::is_in_bitmap(kind)
                && let Some(value) = values.get(key)
            {
                for key in (self.keys)(kind, value) {
                    bitmap.add(number, &key);
                }
            }
        }
        bitmap
    }

    /// Emits the rows of one column that are added, deleted or get another bitmap.
    fn column(
        &self,
        number: u32,
        kind: &PropertyKind,
        change: RowChange,
        [before, after]: [Option<&PropertyValue>; 2],
        emit: EmitRow<'_>,
    ) {
        if before == after && !change.bitmap_changed {
            return;
        }
        let keys = |value: Option<&PropertyValue>| {
            value.map_or_else(Vec::new, |value| (self.keys)(kind, value))
        };
        let (before, after) = (keys(before), keys(after));
        let column = keyspaces::column(self.collection, number);
        // Deleted rows first: a key that stays is put again with the new bitmap.
        for key in before.iter().filter(|key| !after.contains(key)) {
            emit(keyspaces::item_key(column, key, change.item), None);
        }
        for key in after.iter().filter(|key| change.bitmap_changed || !before.contains(key)) {
            emit(keyspaces::item_key(column, key, change.item), Some(change.bitmap));
        }
    }

    /// Emits the rows of an item in the columns that `is_wanted` accepts.
    pub(crate) fn rows(
        &self,
        item: BlockId,
        (title, values): IndexedValues<'_>,
        is_wanted: &dyn Fn(u32) -> bool,
        emit: &mut dyn FnMut(Vec<u8>, IndexBitmap),
    ) {
        let bitmap = self.bitmap(values);
        let change = RowChange { item, bitmap, bitmap_changed: true };
        let emit = &mut |key, _| emit(key, bitmap);
        if is_wanted(schema::TITLE) {
            let title = PropertyValue::Text(title.to_owned());
            self.column(schema::TITLE, &PropertyKind::Text, change, [None, Some(&title)], emit);
        }
        for (property, number) in
            self.indexed.indexed_properties().filter(|(_, number)| is_wanted(*number))
        {
            self.column(number, &property.kind, change, [None, values.get(&property.key)], emit);
        }
    }
}
