//! Schemas of collections: set, replaced and taken away, and with them whole columns of the
//! indexes.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use leafbase_model::{BlockId, BlockKind, BlockType, DocumentId, Error, Result, Schema};

use super::items::StagedCollection;
use super::{SpaceTransaction, conflict, missing};
use crate::items::ItemIndexer;
use crate::keyspaces;
use crate::records;
use crate::records::schema::{self, IndexedSchema};

/// So many items are read before their rows are written: it bounds memory.
const AT_A_TIME: usize = 4_096;

impl SpaceTransaction<'_> {
    pub(super) fn set_schema(
        &mut self,
        (document, collection): (DocumentId, BlockId),
        before: Option<&Schema>,
        after: Option<&Schema>,
        quiet: bool,
    ) -> Result<()> {
        if quiet { self.touch_quietly(document) } else { self.touch(document) }?;
        let location = self
            .locations
            .get(&*self.rows, &self.cache, collection)?
            .ok_or_else(|| missing("the collection"))?;
        if location.document != document {
            return Err(conflict("the collection is in another document"));
        }
        let stored = self.collections.get(&*self.rows, document, collection)?;
        let stored = stored.map(|StagedCollection { numbered, .. }| numbered.clone());
        if stored.as_ref().map(|stored| &stored.schema) != before {
            return Err(conflict("the schema has changed"));
        }
        match (stored, after) {
            (None, Some(after)) => self.begin_schema(document, collection, after),
            (Some(stored), Some(after)) => self.replace_schema(collection, &stored, after),
            (Some(_), None) => self.end_schema(document, collection),
            (None, None) => Err(conflict("there is no schema to be changed")),
        }?;
        self.log.set_schema((document, collection), before, after, quiet);
        Ok(())
    }

    /// The items that are there already are indexed.
    fn begin_schema(
        &mut self,
        document: DocumentId,
        collection: BlockId,
        schema: &Schema,
    ) -> Result<()> {
        let block = self.reader()?.block(collection)?;
        if block.is_none_or(|block| block.data.block_type() != BlockType::Collection) {
            return Err(conflict("the block is no collection"));
        }
        let numbered = IndexedSchema::first(schema).ok_or_else(too_many)?;
        let items = self.index_items(collection, &numbered, &|_| true)?;
        self.put_schema(collection, &numbered)?;
        let key = keyspaces::collection(document, collection);
        self.rows.put(&key, &records::seal(&key, |out| schema::put_items(out, items)))?;
        self.collections.set(document, collection, Some((numbered, items)));
        Ok(())
    }

    /// Columns that go are deleted as ranges. Items are read if a property has another type, and so
    /// another column, and if one goes of which bitmaps told: all their rows are written again
    /// then.
    fn replace_schema(
        &mut self,
        collection: BlockId,
        stored: &IndexedSchema,
        schema: &Schema,
    ) -> Result<()> {
        let numbered = stored.replaced_by(schema).ok_or_else(too_many)?;
        if numbered == *stored {
            return Ok(());
        }
        let numbers = |numbered: &IndexedSchema| {
            numbered.indexed_properties().map(|(_, number)| number).collect::<BTreeSet<_>>()
        };
        let (before, after) = (numbers(stored), numbers(&numbered));
        let is_retyped = |number: &u32| {
            let property = numbered.indexed_properties().find(|(_, known)| known == number);
            property.is_some_and(|(property, _)| stored.schema.property(&property.key).is_some())
        };
        let retyped: BTreeSet<u32> =
            after.difference(&before).copied().filter(is_retyped).collect();
        self.collections.flush(self.rows)?;
        for gone in before.difference(&after) {
            let column = keyspaces::column(collection, *gone);
            self.rows.delete_range(&column, &keyspaces::end_of(column))?;
        }
        let has_gone = before.difference(&after).any(|number| is_in_bitmap(stored, *number));
        let bitmap_changes =
            has_gone || retyped.iter().any(|number| is_in_bitmap(&numbered, *number));
        if bitmap_changes || !retyped.is_empty() {
            self.index_items(collection, &numbered, &|number| {
                bitmap_changes || retyped.contains(&number)
            })?;
        }
        self.put_schema(collection, &numbered)?;
        self.collections.replace(collection, numbered);
        Ok(())
    }

    fn end_schema(&mut self, document: DocumentId, collection: BlockId) -> Result<()> {
        self.collections.flush(self.rows)?;
        let columns = keyspaces::columns(collection);
        self.rows.delete_range(&columns, &keyspaces::end_of(columns))?;
        self.rows.delete(&keyspaces::schema(collection))?;
        self.rows.delete(&keyspaces::collection(document, collection))?;
        self.collections.set(document, collection, None);
        Ok(())
    }

    fn put_schema(&mut self, collection: BlockId, numbered: &IndexedSchema) -> Result<()> {
        let key = keyspaces::schema(collection);
        self.rows.put(&key, &records::seal(&key, |out| schema::put_numbered(out, numbered)))
    }

    /// Writes the rows of all items in the columns of which `is_wanted` says so. Gives the number
    /// of items.
    fn index_items(
        &mut self,
        collection: BlockId,
        numbered: &IndexedSchema,
        is_wanted: &dyn Fn(u32) -> bool,
    ) -> Result<u64> {
        let indexer = ItemIndexer { collection, numbered, keys: self.extractor.keys };
        let (mut items, mut after, mut value) = (0, None, Vec::new());
        loop {
            let (mut keys, mut read) = (Vec::new(), 0);
            self.reader()?.items(collection, after, &mut |item| {
                if let BlockKind::CollectionItem { properties } = &item.data.kind {
                    let values = (item.data.markdown.as_str(), properties);
                    indexer.rows(item.id, values, is_wanted, &mut |key, bitmap| {
                        keys.push((key, bitmap))
                    });
                    items += 1;
                }
                (after, read) = (Some(item.id), read + 1);
                Ok(if read < AT_A_TIME {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                })
            })?;
            keys.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            for (key, bitmap) in keys {
                bitmap.seal_into(&key, &mut value);
                self.rows.put(&key, &value)?;
            }
            if read < AT_A_TIME {
                return Ok(items);
            }
        }
    }
}

/// Whether the column of this number is one that bitmaps tell of.
fn is_in_bitmap(numbered: &IndexedSchema, number: u32) -> bool {
    numbered
        .indexed_properties()
        .any(|(property, known)| known == number && schema::is_in_bitmap(&property.kind))
}

fn too_many() -> Error {
    conflict("the collection has had too many columns")
}
