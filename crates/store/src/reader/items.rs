//! Reads of collections: schemas, items, and the indexes of their values.

use std::ops::ControlFlow;

use leafbase_model::{BlockId, BlockRecord, DocumentId, Error, ErrorKind, Result, Schema};

use super::{SpaceReader, get};
use crate::index_bitmap::IndexBitmap;
use crate::keyspaces::{self, COLLECTIONS};
use crate::kv::{KeyRange, Read, Visit};
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::records::schema::{self, IndexedSchema};
use crate::run::RunView;

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

/// The schema of a collection with the numbers of its columns, if it has one.
pub(crate) fn numbered(source: &dyn Read, collection: BlockId) -> Result<Option<IndexedSchema>> {
    let key = keyspaces::schema(collection);
    get(source, &key, |value| records::read(&key, value, schema::read_numbered))
}

/// How many items a collection has, which has a schema.
pub(crate) fn item_count(
    source: &dyn Read,
    document: DocumentId,
    collection: BlockId,
) -> Result<u64> {
    let key = keyspaces::collection(document, collection);
    let count = get(source, &key, |value| records::read(&key, value, schema::read_items))?;
    count.ok_or_else(|| records::damaged(&key))
}

/// A collection of a row of collections.
pub(crate) fn read_entry(key: &[u8], value: &[u8]) -> Result<CollectionEntry> {
    let (document, collection) =
        keyspaces::read_collection(key).ok_or_else(|| records::damaged(key))?;
    let items = records::read(key, value, schema::read_items)?;
    Ok(CollectionEntry { collection, document, items })
}

impl<'a> SpaceReader<'a> {
    /// The schema of a collection, if there is such a collection.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn schema(&self, collection: BlockId) -> Result<Option<Schema>> {
        Ok(numbered(self.read, collection)?.map(|numbered| numbered.schema))
    }

    /// The collections of a document by ID. A range of an index.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn collections_of(&self, document: DocumentId) -> Result<Vec<CollectionEntry>> {
        self.collections_under(&keyspaces::document_collections(document))
    }

    /// All collections by document and ID.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn collections(&self) -> Result<Vec<CollectionEntry>> {
        self.collections_under(&[COLLECTIONS.tag])
    }

    fn collections_under(&self, prefix: &[u8]) -> Result<Vec<CollectionEntry>> {
        let mut found = Vec::new();
        self.read.scan(
            KeyRange::half_open(prefix, &keyspaces::end_of_slice(prefix)),
            &mut |key, value| {
                found.push(read_entry(key, value)?);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(found)
    }

    pub(super) fn has_collections(&self, document: DocumentId) -> Result<bool> {
        let start = keyspaces::document_collections(document);
        let mut found = false;
        self.read.scan(KeyRange::half_open(&start, &keyspaces::end_of(start)), &mut |_, _| {
            found = true;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// Hands the items of a collection to `visit` in their order, without their pages, after the
    /// item `after` if one is named. One range, whatever their number; what is before `after` is
    /// not read.
    ///
    /// # Errors
    /// As [`Self::locate`], and those of `visit`; [`ErrorKind::NotFound`] if `after` is no item of
    /// the collection; [`ErrorKind::Corrupted`] also at the end of all items, if there are not as
    /// many as were counted.
    pub fn items(
        &self,
        collection: BlockId,
        after: Option<BlockId>,
        visit: &mut dyn FnMut(BlockRecord) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut authors = AuthorCache::default();
        self.item_records(collection, after, &mut |run, id, record| {
            visit(
                block::decode(id, record, &mut authors)
                    .map_err(|fault| records::fault(run, fault))?,
            )
        })
    }

    /// As [`Self::items`]: the key of the run, the ID and the record of each item.
    pub(super) fn item_records(
        &self,
        collection: BlockId,
        after: Option<BlockId>,
        visit: VisitItem<'_>,
    ) -> Result<()> {
        let Some(location) = self.location(collection)? else { return Ok(()) };
        let siblings = keyspaces::parent_runs(location.document, collection);
        let start = match after {
            Some(after) => self.run_of_item(collection, after)?,
            None => siblings.to_vec(),
        };
        let (mut is_before, mut is_broken_off, mut passed) = (after.is_some(), false, 0_u64);
        self.read.scan(
            KeyRange::half_open(&start, &keyspaces::end_of(siblings)),
            &mut |key, value| {
                for (id, record) in RunView::read(key, value)?.entries() {
                    if is_before {
                        is_before = after != Some(id);
                        continue;
                    }
                    passed += 1;
                    is_broken_off = visit(key, id, record)?.is_break();
                    if is_broken_off {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        if is_before {
            return Err(records::damaged(&keyspaces::block_location(after.unwrap_or_default())));
        }
        if after.is_none() && !is_broken_off {
            self.check_passed(location.document, collection, passed)
        } else {
            Ok(())
        }
    }

    /// A collection that has no schema yet is not counted.
    fn check_passed(&self, document: DocumentId, collection: BlockId, passed: u64) -> Result<()> {
        let key = keyspaces::collection(document, collection);
        match get(self.read, &key, |value| records::read(&key, value, schema::read_items))? {
            Some(expected) if expected != passed => {
                let message = format_args!(
                    "collection {collection}: {passed} of its {expected} items are there"
                );
                Err(Error::corrupted(message))
            }
            _ => Ok(()),
        }
    }

    /// The key of the run that holds `item`, or of one before it.
    fn run_of_item(&self, collection: BlockId, item: BlockId) -> Result<Vec<u8>> {
        match self.location(item)? {
            Some(location) if location.parent == collection => Ok(location.run_key()),
            _ => Err(Error::new(
                ErrorKind::NotFound,
                format!("item {item} is not in the collection"),
            )),
        }
    }

    /// The indexes over the items of a collection, if there is such a collection.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn item_index(&self, collection: BlockId) -> Result<Option<ItemIndex<'a>>> {
        let Some(numbered) = numbered(self.read, collection)? else { return Ok(None) };
        let location = self
            .location(collection)?
            .ok_or_else(|| records::damaged(&keyspaces::schema(collection)))?;
        let items = item_count(self.read, location.document, collection)?;
        Ok(Some(ItemIndex { reader: *self, collection, numbered, items }))
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

/// The indexes over the items of a collection: a row for each key that the value of an item has,
/// followed by the item's ID.
#[derive(Debug)]
pub struct ItemIndex<'a> {
    reader: SpaceReader<'a>,
    collection: BlockId,
    numbered: IndexedSchema,
    items: u64,
}

/// Gets the key of the run that an item lies in, the item, and its record. Whether it goes on.
pub(super) type VisitItem<'f> = &'f mut dyn FnMut(&[u8], BlockId, &[u8]) -> Result<ControlFlow<()>>;

impl ItemIndex<'_> {
    /// How many items the collection has.
    pub fn items(&self) -> u64 {
        self.items
    }

    fn number(&self, column: IndexedColumn<'_>) -> Option<u32> {
        match column {
            IndexedColumn::Title => Some(schema::TITLE),
            IndexedColumn::Property(key) => self.numbered.column(key),
        }
    }

    /// Whether there is an index of this column: of every property but relations, and of the title.
    pub fn has(&self, column: IndexedColumn<'_>) -> bool {
        self.number(column).is_some()
    }

    /// How many rows of the column are from `from` on and before `to` (none: to the end), counted
    /// up to `at_most`. Both are compared with the key of a row followed by the 16 bytes of its
    /// item's ID. Rows are counted, not read: damage goes unnoticed.
    ///
    /// # Errors
    /// As [`SpaceReader::locate`].
    pub fn count(
        &self,
        column: IndexedColumn<'_>,
        from: &[u8],
        to: Option<&[u8]>,
        at_most: usize,
    ) -> Result<usize> {
        let mut count = 0;
        if at_most == 0 {
            return Ok(count);
        }
        self.rows(column, from, to, false, &mut |_, _| {
            count += 1;
            Ok(if count < at_most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(count)
    }

    /// The bits that the bitmap of each item has that has this key in the column; none of a
    /// column that bitmaps do not tell of, which are all but selects and booleans.
    pub fn bitmap(&self, column: IndexedColumn<'_>, key: &[u8]) -> Option<IndexBitmap> {
        let IndexedColumn::Property(property) = column else { return None };
        let kind = &self.numbered.schema.property(property)?.kind;
        let number = self.numbered.column(property).filter(|_| schema::is_in_bitmap(kind))?;
        let mut bitmap = IndexBitmap::default();
        bitmap.add(number, key);
        Some(bitmap)
    }

    /// Hands the items of these rows with their bitmaps to `visit` in the order of the keys, or
    /// backwards: those of equal keys by their IDs. An item comes once for each of its keys. No row
    /// beyond those handed out is read; none is there of a column without an index.
    ///
    /// # Errors
    /// As [`SpaceReader::locate`], and those of `visit`.
    pub fn scan(
        &self,
        column: IndexedColumn<'_>,
        from: &[u8],
        to: Option<&[u8]>,
        backwards: bool,
        visit: &mut dyn FnMut(BlockId, IndexBitmap) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.rows(column, from, to, backwards, &mut |key, value| {
            let (_, _, item) =
                keyspaces::read_item_key(key).ok_or_else(|| records::damaged(key))?;
            visit(item, IndexBitmap::read(key, value)?)
        })
    }

    fn rows(
        &self,
        column: IndexedColumn<'_>,
        from: &[u8],
        to: Option<&[u8]>,
        backwards: bool,
        visit: Visit<'_>,
    ) -> Result<()> {
        let Some(number) = self.number(column) else { return Ok(()) };
        let prefix = keyspaces::column(self.collection, number);
        let start = [&prefix, from].concat();
        let end =
            to.map_or_else(|| keyspaces::end_of(prefix).to_vec(), |to| [&prefix, to].concat());
        let range = KeyRange { reverse: backwards, ..KeyRange::half_open(&start, &end) };
        if range.is_empty() {
            return Ok(());
        }
        self.reader.read.scan(range, visit)
    }
}
