//! Items: which rows of the indexes follow from what an item says.

use leafbase_model::{BlockId, Properties, Property, PropertyKind, PropertyValue};

use crate::edges::KeyExtractor;
use crate::index_bitmap::IndexBitmap;
use crate::keyspaces;
use crate::records::schema::{self, IndexedSchema};

/// The title and the values of an item.
pub(crate) type ItemValues<'v> = (&'v str, &'v Properties);

/// Gets the key of a row, and the bitmap that it holds; none if it is not to be there.
pub(crate) type EmitRow<'f> = &'f mut dyn FnMut(Vec<u8>, Option<IndexBitmap>);

/// Makes the rows of the items of a collection.
#[derive(Clone, Copy)]
pub(crate) struct ItemIndexer<'s> {
    pub(crate) collection: BlockId,
    pub(crate) numbered: &'s IndexedSchema,
    pub(crate) keys: KeyExtractor,
}

/// An item whose rows change: its bitmap from now on, and whether it had another.
#[derive(Clone, Copy)]
struct RowChange {
    item: BlockId,
    bitmap: IndexBitmap,
    bitmap_changed: bool,
}

impl ItemIndexer<'_> {
    /// Tells the rows that come and go when an item says `after` where it said `before`: all, if
    /// its bitmap changes.
    pub(crate) fn changed(
        &self,
        item: BlockId,
        before: Option<ItemValues<'_>>,
        after: Option<ItemValues<'_>>,
        emit: EmitRow<'_>,
    ) {
        let [bitmap_before, bitmap] = [before, after]
            .map(|values| values.map(|(_, values)| self.bitmap(values)).unwrap_or_default());
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
        for (property, number) in self.numbered.indexed_properties() {
            let values = [before, after]
                .map(|values| values.and_then(|(_, values)| values.get(&property.key)));
            self.column(number, &property.kind, change, values, emit);
        }
    }

    /// The bitmap of an item with these values.
    fn bitmap(&self, values: &Properties) -> IndexBitmap {
        let mut bitmap = IndexBitmap::default();
        for (Property { key, kind, .. }, number) in self.numbered.indexed_properties() {
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

    /// Tells the rows of one column that come, go or have another bitmap.
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
            value.map(|value| (self.keys)(kind, value)).unwrap_or_default()
        };
        let (before, after) = (keys(before), keys(after));
        let column = keyspaces::column(self.collection, number);
        for key in before.iter().filter(|key| !after.contains(key)) {
            emit(keyspaces::item_key(column, key, change.item), None);
        }
        for key in after.iter().filter(|key| change.bitmap_changed || !before.contains(key)) {
            emit(keyspaces::item_key(column, key, change.item), Some(change.bitmap));
        }
    }

    /// Tells the rows of an item in the columns of which `is_wanted` says so.
    pub(crate) fn rows(
        &self,
        item: BlockId,
        (title, values): ItemValues<'_>,
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
            self.numbered.indexed_properties().filter(|(_, number)| is_wanted(*number))
        {
            self.column(number, &property.kind, change, [None, values.get(&property.key)], emit);
        }
    }
}
