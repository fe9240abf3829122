//! Items: the counts of their collections, and their index rows.

use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockRecord, BlockType, DocumentId, Properties, Result,
};

use super::SpaceTransaction;
use super::errors::conflict;
use super::staged::collections::put_item_count;
use super::staged::runs::Siblings;
use super::subtrees::EncodedSubtrees;
use crate::items::ItemIndexer;
use crate::keyspaces;
use crate::reader::items::parse_entry;
use crate::reader::trees::rows_of;
use crate::records::{self, block};

/// Title and values of an item; `None` for any other block.
fn item_values(data: &BlockData) -> Option<(&str, &Properties)> {
    match &data.kind {
        BlockKind::CollectionItem { properties } => Some((&data.inline, properties)),
        _ => None,
    }
}

impl SpaceTransaction<'_> {
    /// Stages the index rows of a block at `at` whose data changes from `before` to `after`, if it
    /// is an item. A collection without a schema has neither index nor count.
    pub(super) fn index_item(
        &mut self,
        at: Siblings,
        item: BlockId,
        before: Option<&BlockData>,
        after: Option<&BlockData>,
    ) -> Result<()> {
        let (before, after) = (before.and_then(item_values), after.and_then(item_values));
        if before.is_none() && after.is_none() {
            return Ok(());
        }
        let (id, mut rows) = (at.parent, Vec::new());
        let Some(collection) = self.collections.load(&*self.rows, at.document, id)? else {
            return Ok(());
        };
        let difference = i64::from(after.is_some()) - i64::from(before.is_some());
        let corrupt = || records::corrupt(&keyspaces::collection(at.document, id));
        collection.items = collection.items.checked_add_signed(difference).ok_or_else(corrupt)?;
        let indexed = &collection.indexed;
        ItemIndexer { collection: id, indexed, keys: self.extractor.keys }.changed_rows(
            item,
            before,
            after,
            &mut |key, bitmap| rows.push((key, bitmap)),
        );
        // Staged after the borrow of the collection ends.
        for (key, bitmap) in rows {
            self.collections.stage_row(key, bitmap);
        }
        Ok(())
    }

    /// Stages the index rows of top blocks that are inserted at `at`.
    pub(super) fn index_inserted_items(
        &mut self,
        at: Siblings,
        subtrees: &EncodedSubtrees<'_>,
    ) -> Result<()> {
        subtrees
            .top_blocks()
            .try_for_each(|block| self.index_item(at, block.id, None, Some(&block.data)))
    }

    /// Stages the removal of the index rows of top blocks that are removed from `at`.
    pub(super) fn unindex_removed_items(
        &mut self,
        at: Siblings,
        subtrees: &EncodedSubtrees<'_>,
    ) -> Result<()> {
        subtrees
            .top_blocks()
            .try_for_each(|block| self.index_item(at, block.id, Some(&block.data), None))
    }

    /// Stages the index rows of a block that moves to another parent.
    pub(super) fn reindex_item(
        &mut self,
        block: BlockId,
        record: &[u8],
        from: Siblings,
        to: Siblings,
    ) -> Result<()> {
        let corrupt = |error| records::decode_error(&keyspaces::block_location(block), error);
        if from.parent == to.parent
            || block::type_of(record).map_err(corrupt)? != BlockType::CollectionItem
        {
            return Ok(());
        }
        let BlockRecord { data, .. } =
            block::decode(block, record, &mut block::AuthorCache::default()).map_err(corrupt)?;
        self.index_item(from, block, Some(&data), None)?;
        self.index_item(to, block, None, Some(&data))
    }

    /// A block that stops being a collection must have no schema left, or its rows would be
    /// orphaned.
    pub(super) fn check_without_schema(
        &mut self,
        document: DocumentId,
        block: &BlockRecord,
    ) -> Result<()> {
        let is_collection = block.data.block_type() == BlockType::Collection;
        if is_collection && self.collections.load(&*self.rows, document, block.id)?.is_some() {
            return Err(conflict("the collection still has its schema"));
        }
        Ok(())
    }

    /// Moves the rows of the collections among `moved`, which are sorted, to another document.
    pub(super) fn rekey_collections(
        &mut self,
        moved: &[BlockId],
        from: DocumentId,
        to: DocumentId,
    ) -> Result<()> {
        // First, because the rows that move are found by a scan of the stored ones.
        self.collections.flush(self.rows)?;
        let mut found = Vec::new();
        let prefix = keyspaces::document_collections(from);
        rows_of(&*self.rows, &prefix, moved, &mut |_, key, value| {
            found.push(parse_entry(key, value)?);
            Ok(())
        })?;
        for entry in found {
            self.rows.delete(&keyspaces::collection(from, entry.collection))?;
            put_item_count(self.rows, &keyspaces::collection(to, entry.collection), entry.items)?;
            if let Some(collection) = self.collections.loaded_mut(entry.collection) {
                collection.document = to;
            }
        }
        Ok(())
    }
}
