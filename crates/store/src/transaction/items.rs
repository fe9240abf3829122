//! Items: how many each collection has, and the rows of their indexes, kept in step.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockRecord, BlockType, DocumentId, IdMap, Properties, Result,
};

use super::runs::Siblings;
use super::subtrees::EncodedSubtrees;
use super::{SpaceTransaction, conflict};
use crate::index_bitmap::IndexBitmap;
use crate::items::ItemIndexer;
use crate::keyspaces;
use crate::kv::{Read, Transaction};
use crate::reader::items::{item_count, numbered, read_entry};
use crate::reader::trees::rows_of;
use crate::records::schema::{self, IndexedSchema};
use crate::records::{self, block};

/// A collection as the write has it.
#[derive(Debug)]
pub(super) struct StagedCollection {
    document: DocumentId,
    pub(super) numbered: IndexedSchema,
    items: u64,
    /// What its row says.
    stored_items: u64,
}

/// What a write knows of collections: each schema is read once.
#[derive(Debug, Default)]
pub(super) struct StagedCollections {
    /// None for a block that has no schema.
    known: IdMap<BlockId, Option<StagedCollection>>,
    /// Rows of indexes to put, or to delete.
    keys: BTreeMap<Vec<u8>, Option<IndexBitmap>>,
}

/// The collection of this ID in `document`, if it has a schema.
fn load(source: &dyn Read, document: DocumentId, id: BlockId) -> Result<Option<StagedCollection>> {
    let Some(numbered) = numbered(source, id)? else { return Ok(None) };
    let items = item_count(source, document, id)?;
    Ok(Some(StagedCollection { document, numbered, items, stored_items: items }))
}

impl StagedCollections {
    fn entry(
        &mut self,
        source: &dyn Read,
        document: DocumentId,
        id: BlockId,
    ) -> Result<&mut Option<StagedCollection>> {
        Ok(match self.known.entry(id) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(load(source, document, id)?),
        })
    }

    /// The collection of this ID in `document`, if it has a schema.
    pub(super) fn get(
        &mut self,
        source: &dyn Read,
        document: DocumentId,
        id: BlockId,
    ) -> Result<Option<&StagedCollection>> {
        self.entry(source, document, id).map(|found| found.as_ref())
    }

    /// The collection has this schema and so many items from now on.
    pub(super) fn set(
        &mut self,
        document: DocumentId,
        id: BlockId,
        kept: Option<(IndexedSchema, u64)>,
    ) {
        let collection = kept.map(|(numbered, items)| StagedCollection {
            document,
            numbered,
            items,
            stored_items: items,
        });
        self.known.insert(id, collection);
    }

    /// The collection has another schema from now on.
    pub(super) fn replace(&mut self, id: BlockId, numbered: IndexedSchema) {
        if let Some(Some(collection)) = self.known.get_mut(&id) {
            collection.numbered = numbered;
        }
    }

    pub(super) fn flush(&mut self, rows: &mut dyn Transaction) -> Result<()> {
        for (id, collection) in &mut self.known {
            let Some(collection) =
                collection.as_mut().filter(|found| found.items != found.stored_items)
            else {
                continue;
            };
            let key = keyspaces::collection(collection.document, *id);
            rows.put(&key, &records::seal(&key, |out| schema::put_items(out, collection.items)))?;
            collection.stored_items = collection.items;
        }
        let mut value = Vec::new();
        for (key, bitmap) in std::mem::take(&mut self.keys) {
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

/// The values of an item; none of any other block.
fn values(data: &BlockData) -> Option<(&str, &Properties)> {
    match &data.kind {
        BlockKind::CollectionItem { properties } => Some((&data.markdown, properties)),
        _ => None,
    }
}

impl SpaceTransaction<'_> {
    /// Stages what follows when a block that stands there says `after` where it said `before`, if
    /// it is an item and its collection has a schema: until that gets its first one, nothing does.
    pub(super) fn index_item(
        &mut self,
        at: Siblings,
        item: BlockId,
        before: Option<&BlockData>,
        after: Option<&BlockData>,
    ) -> Result<()> {
        let (before, after) = (before.and_then(values), after.and_then(values));
        if before.is_none() && after.is_none() {
            return Ok(());
        }
        let id = at.parent;
        self.collections.entry(&*self.rows, at.document, id)?;
        let StagedCollections { known, keys } = &mut self.collections;
        let Some(Some(collection)) = known.get_mut(&id) else { return Ok(()) };
        let change = i64::from(after.is_some()) - i64::from(before.is_some());
        let damaged = || records::damaged(&keyspaces::collection(at.document, id));
        collection.items = collection.items.checked_add_signed(change).ok_or_else(damaged)?;
        ItemIndexer { collection: id, numbered: &collection.numbered, keys: self.extractor.keys }
            .changed(item, before, after, &mut |key, bitmap| {
                keys.insert(key, bitmap);
            });
        Ok(())
    }

    /// The top blocks of inserted or removed subtrees come to where these siblings are.
    pub(super) fn index_tops(
        &mut self,
        at: Siblings,
        prepared: &EncodedSubtrees<'_>,
    ) -> Result<()> {
        prepared
            .top_blocks()
            .try_for_each(|block| self.index_item(at, block.id, None, Some(&block.data)))
    }

    /// The top blocks of inserted or removed subtrees leave these siblings.
    pub(super) fn unindex_tops(
        &mut self,
        at: Siblings,
        prepared: &EncodedSubtrees<'_>,
    ) -> Result<()> {
        prepared
            .top_blocks()
            .try_for_each(|block| self.index_item(at, block.id, Some(&block.data), None))
    }

    /// A block whose record is this one goes from one parent to another.
    pub(super) fn reindex_item(
        &mut self,
        block: BlockId,
        record: &[u8],
        from: Siblings,
        to: Siblings,
    ) -> Result<()> {
        let fault = |found| records::fault(&keyspaces::block_location(block), found);
        if from.parent == to.parent
            || block::type_of(record).map_err(fault)? != BlockType::CollectionItem
        {
            return Ok(());
        }
        let BlockRecord { data, .. } =
            block::decode(block, record, &mut block::AuthorCache::default()).map_err(fault)?;
        self.index_item(from, block, Some(&data), None)?;
        self.index_item(to, block, None, Some(&data))
    }

    /// A block that is no collection any longer must have no schema, or rows would be left behind.
    pub(super) fn check_bare(&mut self, document: DocumentId, block: &BlockRecord) -> Result<()> {
        let is_collection = block.data.block_type() == BlockType::Collection;
        if is_collection && self.collections.get(&*self.rows, document, block.id)?.is_some() {
            return Err(conflict("the collection still has its schema"));
        }
        Ok(())
    }

    /// Takes along the collections among the blocks, which are sorted, that went from one document
    /// to another.
    pub(super) fn rekey_collections(
        &mut self,
        moved: &[BlockId],
        from: DocumentId,
        to: DocumentId,
    ) -> Result<()> {
        self.collections.flush(self.rows)?;
        let mut found = Vec::new();
        rows_of(
            &*self.rows,
            &keyspaces::document_collections(from),
            moved,
            &mut |_, key, value| {
                found.push(read_entry(key, value)?);
                Ok(())
            },
        )?;
        for entry in found {
            self.rows.delete(&keyspaces::collection(from, entry.collection))?;
            let key = keyspaces::collection(to, entry.collection);
            self.rows.put(&key, &records::seal(&key, |out| schema::put_items(out, entry.items)))?;
            if let Some(Some(collection)) = self.collections.known.get_mut(&entry.collection) {
                collection.document = to;
            }
        }
        Ok(())
    }
}
