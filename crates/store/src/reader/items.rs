//! Reads of collections: schemas, items, and item indexes.

use std::ops::ControlFlow;

use leafbase_model::{BlockId, BlockRecord, DocumentId, Error, ErrorKind, Result, Schema};

use super::SpaceReader;
use crate::index_bitmap::IndexBitmap;
use crate::keyspaces::{self, COLLECTIONS};
use crate::kv::{KeyRange, Read, Visit};
use crate::lookup::get;
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::records::schema::{self, IndexedSchema};
use crate::run::RunView;

/// A collection of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CollectionEntry {
    /// Its block.
    pub collection: BlockId,
    /// Its document.
    pub document: DocumentId,
    /// Its number of items.
    pub items: u64,
}

/// The schema of a collection with its column numbers, if it has one.
pub(crate) fn indexed_schema(
    source: &dyn Read,
    collection: BlockId,
) -> Result<Option<IndexedSchema>> {
    let key = keyspaces::schema(collection);
    get(source, &key, |value| records::decode(&key, value, schema::decode_indexed))
}

/// The number of items of a collection with a schema.
pub(crate) fn item_count(
    source: &dyn Read,
    document: DocumentId,
    collection: BlockId,
) -> Result<u64> {
    let key = keyspaces::collection(document, collection);
    let count = get(source, &key, |value| records::decode(&key, value, schema::decode_item_count))?;
    count.ok_or_else(|| records::corrupt(&key))
}

/// Decodes a row of the collections.
pub(crate) fn parse_entry(key: &[u8], value: &[u8]) -> Result<CollectionEntry> {
    let (document, collection) =
        keyspaces::parse_collection(key).ok_or_else(|| records::corrupt(key))?;
    let items = records::decode(key, value, schema::decode_item_count)?;
    Ok(CollectionEntry { collection, document, items })
}

impl<'a> SpaceReader<'a> {
    /// The schema of a collection, if it exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn schema(&self, collection: BlockId) -> Result<Option<Schema>> {
        Ok(indexed_schema(self.read, collection)?.map(|indexed| indexed.schema))
    }

    /// The collections of a document, by ID. One index range.
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
            KeyRange::half_open(prefix, &keyspaces::prefix_end_of(prefix)),
            &mut |key, value| {
                found.push(parse_entry(key, value)?);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(found)
    }

    pub(super) fn has_collections(&self, document: DocumentId) -> Result<bool> {
        let start = keyspaces::document_collections(document);
        let mut found = false;
        self.read.scan(
            KeyRange::half_open(&start, &keyspaces::prefix_end(start)),
            &mut |_, _| {
                found = true;
                Ok(ControlFlow::Break(()))
            },
        )?;
        Ok(found)
    }

    /// Passes the items of a collection to `visit` in order, without their pages, after the item
    /// `after` if it is given. One range, and items before `after` are not decoded.
    ///
    /// # Errors
    /// As [`Self::locate`], and errors of `visit`; [`ErrorKind::NotFound`] if `after` is not an
    /// item of the collection; [`ErrorKind::Corrupted`] also after the last item, if the number of
    /// items differs from the count.
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
                    .map_err(|error| records::decode_error(run, error))?,
            )
        })
    }

    /// [`Self::items`] with the key of the run, the ID and the record of each item.
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
        // The hint may name a run before that of `after`: items up to it are skipped.
        let (mut is_before, mut is_broken_off, mut passed) = (after.is_some(), false, 0_u64);
        self.read.scan(
            KeyRange::half_open(&start, &keyspaces::prefix_end(siblings)),
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
            return Err(records::corrupt(&keyspaces::block_location(
                after.unwrap_or(BlockId::NIL),
            )));
        }
        if after.is_none() && !is_broken_off {
            self.check_passed(location.document, collection, passed)
        } else {
            Ok(())
        }
    }

    /// A collection without a schema has no count.
    fn check_passed(&self, document: DocumentId, collection: BlockId, passed: u64) -> Result<()> {
        let key = keyspaces::collection(document, collection);
        match get(self.read, &key, |value| records::decode(&key, value, schema::decode_item_count))?
        {
            Some(expected) if expected != passed => {
                let message =
                    format_args!("collection {collection}: {passed} of its {expected} items exist");
                Err(Error::corrupted(message))
            }
            _ => Ok(()),
        }
    }

    /// The key of the run of `item`, or of one before it.
    fn run_of_item(&self, collection: BlockId, item: BlockId) -> Result<Vec<u8>> {
        match self.location(item)? {
            Some(location) if location.parent == collection => Ok(location.run_key()),
            _ => Err(Error::new(
                ErrorKind::NotFound,
                format!("item {item} is not in the collection"),
            )),
        }
    }

    /// The item indexes of a collection, if it exists.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn item_index(&self, collection: BlockId) -> Result<Option<ItemIndex<'a>>> {
        let Some(indexed) = indexed_schema(self.read, collection)? else { return Ok(None) };
        let location = self
            .location(collection)?
            .ok_or_else(|| records::corrupt(&keyspaces::schema(collection)))?;
        let items = item_count(self.read, location.document, collection)?;
        Ok(Some(ItemIndex { reader: *self, collection, indexed, items }))
    }
}

/// An indexed column of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexedColumn<'k> {
    /// The title.
    Title,
    /// The property of this key.
    Property(&'k str),
}

/// The item indexes of a collection: a row for each sort key of a value, followed by the item's ID.
#[derive(Debug)]
pub struct ItemIndex<'a> {
    reader: SpaceReader<'a>,
    collection: BlockId,
    indexed: IndexedSchema,
    items: u64,
}

/// Receives the key of the run of an item, the item, and its record. `Break` ends the visit.
pub(super) type VisitItem<'f> = &'f mut dyn FnMut(&[u8], BlockId, &[u8]) -> Result<ControlFlow<()>>;

impl ItemIndex<'_> {
    /// The number of items of the collection.
    pub fn items(&self) -> u64 {
        self.items
    }

    fn number(&self, column: IndexedColumn<'_>) -> Option<u32> {
        match column {
            IndexedColumn::Title => Some(schema::TITLE),
            IndexedColumn::Property(key) => self.indexed.column(key),
        }
    }

    /// Whether the column is indexed: the title and all properties but relations are.
    pub fn has(&self, column: IndexedColumn<'_>) -> bool {
        self.number(column).is_some()
    }

    /// The number of rows of a column from `from` up to and without `to` (`None` is the end),
    /// counted up to `at_most`. Both are compared with the sort key of a row followed by the 16
    /// bytes of its item's ID. Rows are not verified.
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

    /// The bits that are set for each item with this sort key in the column; `None` for a column
    /// that bitmaps do not cover, which are all but selects and booleans.
    pub fn bitmap(&self, column: IndexedColumn<'_>, key: &[u8]) -> Option<IndexBitmap> {
        let IndexedColumn::Property(property) = column else { return None };
        let kind = &self.indexed.schema.property(property)?.kind;
        let number = self.indexed.column(property).filter(|_| schema::is_in_bitmap(kind))?;
        let mut bitmap = IndexBitmap::default();
        bitmap.add(number, key);
        Some(bitmap)
    }

    /// Passes the items of these rows with their bitmaps to `visit` in the order of sort keys and
    /// IDs, or backwards. An item comes once for each of its sort keys. No more rows are read than
    /// are visited; a column without an index has none.
    ///
    /// # Errors
    /// As [`SpaceReader::locate`], and errors of `visit`.
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
                keyspaces::parse_item_key(key).ok_or_else(|| records::corrupt(key))?;
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
            to.map_or_else(|| keyspaces::prefix_end(prefix).to_vec(), |to| [&prefix, to].concat());
        let range = KeyRange { reverse: backwards, ..KeyRange::half_open(&start, &end) };
        if range.is_empty() {
            return Ok(());
        }
        self.reader.read.scan(range, visit)
    }
}
