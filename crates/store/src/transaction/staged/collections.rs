//! Staged collections: their item counts, and the index rows of their items.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use leafbase_model::{BlockId, DocumentId, IdMap, Result, invariant};

use crate::index_bitmap::IndexBitmap;
use crate::keyspaces;
use crate::kv::{Read, Transaction};
use crate::reader::items::{indexed_schema, item_count};
use crate::records;
use crate::records::schema::{self, IndexedSchema};

/// A collection as the transaction leaves it.
#[derive(Debug)]
pub(crate) struct StagedCollection {
    pub(crate) document: DocumentId,
    pub(crate) indexed: IndexedSchema,
    pub(crate) items: u64,
    /// The count in the stored row.
    stored_items: u64,
}

/// The collections of a transaction: each schema is read once.
#[derive(Debug, Default)]
pub(crate) struct StagedCollections {
    /// `None` for a block without a schema.
    loaded: IdMap<BlockId, Option<StagedCollection>>,
    /// Index rows to put with their bitmap, or to delete.
    rows: BTreeMap<Vec<u8>, Option<IndexBitmap>>,
}

impl StagedCollections {
    /// Loads the collection `id` of `document`, if it has a schema.
    pub(crate) fn load(
        &mut self,
        source: &dyn Read,
        document: DocumentId,
        id: BlockId,
    ) -> Result<Option<&mut StagedCollection>> {
        let collection = match self.loaded.entry(id) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(read(source, document, id)?),
        };
        Ok(collection.as_mut())
    }

    /// The collection, if it was loaded and has a schema.
    pub(crate) fn loaded_mut(&mut self, id: BlockId) -> Option<&mut StagedCollection> {
        self.loaded.get_mut(&id)?.as_mut()
    }

    /// Sets or removes the schema and the item count of a collection, whose rows the caller wrote.
    pub(crate) fn set(
        &mut self,
        document: DocumentId,
        id: BlockId,
        schema: Option<(IndexedSchema, u64)>,
    ) {
        let collection = schema.map(|(indexed, items)| StagedCollection {
            document,
            indexed,
            items,
            stored_items: items,
        });
        self.loaded.insert(id, collection);
    }

    /// Replaces the schema of a loaded collection.
    pub(crate) fn replace(&mut self, id: BlockId, indexed: IndexedSchema) -> Result<()> {
        let Some(collection) = self.loaded_mut(id) else {
            invariant!("a collection is loaded before its schema is replaced")
        };
        collection.indexed = indexed;
        Ok(())
    }

    /// Stages an index row: put with `bitmap`, or deleted.
    pub(crate) fn stage_row(&mut self, key: Vec<u8>, bitmap: Option<IndexBitmap>) {
        self.rows.insert(key, bitmap);
    }

    pub(crate) fn flush(&mut self, rows: &mut dyn Transaction) -> Result<()> {
        let loaded = self.loaded.iter_mut();
        for (id, collection) in loaded.filter_map(|(id, found)| Some((id, found.as_mut()?))) {
            // Most updates of items change no count.
            if collection.items != collection.stored_items {
                let key = keyspaces::collection(collection.document, *id);
                put_item_count(rows, &key, collection.items)?;
                collection.stored_items = collection.items;
            }
        }
        let mut value = Vec::new();
        for (key, bitmap) in std::mem::take(&mut self.rows) {
            match bitmap {
                Some(bitmap) => {
                    bitmap.seal_into(&key, &mut value);
                    rows.put(&key, &value)?;
                }
                None => rows.delete(&key)?,
            }
        }
        Ok(())
    }
}

/// Writes the number of items of a collection.
pub(crate) fn put_item_count(rows: &mut dyn Transaction, key: &[u8], items: u64) -> Result<()> {
    rows.put(key, &records::seal(key, |out| schema::encode_item_count(out, &items)))
}

fn read(source: &dyn Read, document: DocumentId, id: BlockId) -> Result<Option<StagedCollection>> {
    let Some(indexed) = indexed_schema(source, id)? else { return Ok(None) };
    let items = item_count(source, document, id)?;
    Ok(Some(StagedCollection { document, indexed, items, stored_items: items }))
}
