//! Reads of collections: schemas, items, and the indexes of their values.

use std::ops::ControlFlow;

use leafbase_model::{BlockId, BlockRecord, DocumentId, Result, Schema};

use super::Reader;

/// A collection of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CollectionEntry {
    /// The block of the collection.
    pub collection: BlockId,
    /// The document that it is in.
    pub document: DocumentId,
    /// How many items it has.
    pub items: u64,
}

impl Reader<'_> {
    /// The schema of a collection, if there is such a collection.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn schema(&self, _collection: BlockId) -> Result<Option<Schema>> {
        Ok(None)
    }

    /// The collections of a document by ID. A range of an index.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn collections_of(&self, _document: DocumentId) -> Result<Vec<CollectionEntry>> {
        Ok(Vec::new())
    }

    /// All collections by document and ID.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn collections(&self) -> Result<Vec<CollectionEntry>> {
        Ok(Vec::new())
    }

    /// Hands the items of a collection to `visit` in their order, without their pages, after the item `after` if one is named. One
    /// range, whatever their number.
    ///
    /// # Errors
    /// As [`Self::locate`], and those of `visit`.
    pub fn items(
        &self,
        _collection: BlockId,
        _after: Option<BlockId>,
        _visit: &mut dyn FnMut(BlockRecord) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        Ok(())
    }

    /// The indexes over the items of a collection, if there is such a collection.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn item_index(&self, _collection: BlockId) -> Result<Option<ItemIndex<'_>>> {
        Ok(None)
    }
}

/// What items are indexed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexedColumn<'k> {
    /// The title.
    Title,
    /// The property of this key.
    Property(&'k str),
}

/// The indexes over the items of a collection: a row for each key that the value of an item has, followed by the item's ID.
#[derive(Debug)]
pub struct ItemIndex<'a> {
    reader: Reader<'a>,
}

impl ItemIndex<'_> {
    /// How many items the collection has.
    pub fn items(&self) -> u64 {
        let _ = self.reader;
        0
    }

    /// Whether there is an index of this column: of every property but relations, and of the title.
    pub fn has(&self, _column: IndexedColumn<'_>) -> bool {
        false
    }

    /// How many rows of the column are from `from` on and before `to` (none: to the end), counted up to `at_most`.
    ///
    /// # Errors
    /// As [`Reader::locate`].
    pub fn count(
        &self,
        _column: IndexedColumn<'_>,
        _from: &[u8],
        _to: Option<&[u8]>,
        _at_most: usize,
    ) -> Result<usize> {
        Ok(0)
    }

    /// Hands the items of these rows to `visit` in the order of the keys, or backwards.
    ///
    /// # Errors
    /// As [`Reader::locate`], and those of `visit`.
    pub fn scan(
        &self,
        _column: IndexedColumn<'_>,
        _from: &[u8],
        _to: Option<&[u8]>,
        _backwards: bool,
        _visit: &mut dyn FnMut(BlockId) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        Ok(())
    }
}
