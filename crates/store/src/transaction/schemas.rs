//! Edits of schemas: set, replace and remove, with whole index columns.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use leafbase_model::{BlockId, BlockKind, BlockType, DocumentId, Error, Result, Schema};

use super::SpaceTransaction;
use super::errors::{conflict, missing};
use super::staged::collections::put_item_count;
use crate::items::ItemIndexer;
use crate::keyspaces;
use crate::records;
use crate::records::schema::{self, IndexedSchema};

/// Items that are read before their rows are written: bounds memory.
const ITEMS_PER_BATCH: usize = 4_096;

impl SpaceTransaction<'_> {
    pub(super) fn set_schema(
        &mut self,
        (document, collection): (DocumentId, BlockId),
        before: Option<&Schema>,
        after: Option<&Schema>,
        quiet: bool,
    ) -> Result<()> {
        if quiet { self.touch_without_stamp(document) } else { self.touch(document) }?;
        let location = self
            .locations
            .get(&*self.rows, &self.cache, collection)?
            .ok_or_else(|| missing("the collection"))?;
        if location.document != document {
            return Err(conflict("the collection is in another document"));
        }
        let stored = self.collections.load(&*self.rows, document, collection)?;
        let stored = stored.map(|collection| collection.indexed.clone());
        if stored.as_ref().map(|stored| &stored.schema) != before {
            return Err(conflict("the schema has changed"));
        }
        match (stored, after) {
            (None, Some(after)) => self.create_schema(document, collection, after),
            (Some(stored), Some(after)) => self.replace_schema(collection, &stored, after),
            (Some(_), None) => self.remove_schema(document, collection),
            (None, None) => Err(conflict("the collection has no schema to remove")),
        }
    }

    /// Indexes the items that the collection already has.
    fn create_schema(
        &mut self,
        document: DocumentId,
        collection: BlockId,
        schema: &Schema,
    ) -> Result<()> {
        let block = self.reader()?.block(collection)?;
        // Read after a flush: the block may be staged.
        if block.is_none_or(|block| block.data.block_type() != BlockType::Collection) {
            return Err(conflict("the block is not a collection"));
        }
        let indexed = IndexedSchema::first(schema).ok_or_else(too_many_columns)?;
        let items = self.index_items(collection, &indexed, &|_| true)?;
        self.put_schema(collection, &indexed)?;
        put_item_count(self.rows, &keyspaces::collection(document, collection), items)?;
        self.collections.set(document, collection, Some((indexed, items)));
        Ok(())
    }

    /// Deletes removed columns as ranges. Items are read only if a property changes its type, and
    /// so its column, or if a column of the bitmaps is removed: all rows carry the bitmap then.
    fn replace_schema(
        &mut self,
        collection: BlockId,
        stored: &IndexedSchema,
        schema: &Schema,
    ) -> Result<()> {
        let indexed = stored.replaced_by(schema).ok_or_else(too_many_columns)?;
        if indexed == *stored {
            return Ok(());
        }
        let columns = |schema: &IndexedSchema| {
            schema.indexed_properties().map(|(_, column)| column).collect::<BTreeSet<_>>()
        };
        let (before, after) = (columns(stored), columns(&indexed));
        let is_retyped = |column: &u32| {
            let property = indexed.indexed_properties().find(|(_, known)| known == column);
            property.is_some_and(|(property, _)| stored.schema.property(&property.key).is_some())
        };
        let retyped: BTreeSet<u32> =
            after.difference(&before).copied().filter(is_retyped).collect();
        // Staged rows of removed columns would be written after the columns are deleted.
        self.collections.flush(self.rows)?;
        for removed in before.difference(&after) {
            let column = keyspaces::column(collection, *removed);
            self.rows.delete_range(&column, &keyspaces::prefix_end(column))?;
        }
        let bitmap_changes = before.difference(&after).any(|column| is_in_bitmap(stored, *column))
            || retyped.iter().any(|column| is_in_bitmap(&indexed, *column));
        if bitmap_changes || !retyped.is_empty() {
            self.index_items(collection, &indexed, &|column| {
                bitmap_changes || retyped.contains(&column)
            })?;
        }
        self.put_schema(collection, &indexed)?;
        self.collections.replace(collection, indexed)
    }

    fn remove_schema(&mut self, document: DocumentId, collection: BlockId) -> Result<()> {
        self.collections.flush(self.rows)?;
        let columns = keyspaces::columns(collection);
        self.rows.delete_range(&columns, &keyspaces::prefix_end(columns))?;
        self.rows.delete(&keyspaces::schema(collection))?;
        self.rows.delete(&keyspaces::collection(document, collection))?;
        self.collections.set(document, collection, None);
        Ok(())
    }

    fn put_schema(&mut self, collection: BlockId, indexed: &IndexedSchema) -> Result<()> {
        let key = keyspaces::schema(collection);
        self.rows.put(&key, &records::seal(&key, |out| schema::encode_indexed(out, indexed)))
    }

    /// Writes the rows of all items in the columns that `is_wanted` accepts. Returns the number of
    /// items.
    fn index_items(
        &mut self,
        collection: BlockId,
        indexed: &IndexedSchema,
        is_wanted: &dyn Fn(u32) -> bool,
    ) -> Result<u64> {
        let indexer = ItemIndexer { collection, indexed, keys: self.extractor.keys };
        let (mut items, mut after, mut value) = (0, None, Vec::new());
        loop {
            let (mut rows, mut read) = (Vec::new(), 0);
            self.reader()?.items(collection, after, &mut |item| {
                if let BlockKind::CollectionItem { properties } = &item.data.kind {
                    let values = (item.data.inline.as_str(), properties);
                    indexer.rows(item.id, values, is_wanted, &mut |key, bitmap| {
                        rows.push((key, bitmap));
                    });
                    items += 1;
                }
                // Also of a block that is not an item, so that the next batch begins after it.
                (after, read) = (Some(item.id), read + 1);
                Ok(if read < ITEMS_PER_BATCH {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                })
            })?;
            // In the order of keys: neighbouring rows share a page.
            rows.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            for (key, bitmap) in rows {
                bitmap.seal_into(&key, &mut value);
                self.rows.put(&key, &value)?;
            }
            if read < ITEMS_PER_BATCH {
                return Ok(items);
            }
        }
    }
}

/// Whether bitmaps cover the column.
fn is_in_bitmap(indexed: &IndexedSchema, column: u32) -> bool {
    indexed
        .indexed_properties()
        .any(|(property, known)| known == column && schema::is_in_bitmap(&property.kind))
}

fn too_many_columns() -> Error {
    conflict("the collection has used up its column numbers")
}
