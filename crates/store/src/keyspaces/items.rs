//! Keys of collections: schemas, item counts and item indexes.

use leafbase_model::{BlockId, DocumentId};

use super::{COLLECTIONS, ITEM_KEYS, MAX_KEY_BYTES, SCHEMAS, id_at, joined, with_id};

pub(crate) fn schema(collection: BlockId) -> [u8; 17] {
    with_id(SCHEMAS, collection.as_bytes())
}

pub(crate) fn parse_schema(key: &[u8]) -> Option<BlockId> {
    (key.len() == 17).then(|| id_at(key, 1).map(BlockId::from_bytes))?
}

/// The collections of a document.
pub(crate) fn document_collections(document: DocumentId) -> [u8; 17] {
    with_id(COLLECTIONS, document.as_bytes())
}

pub(crate) fn collection(document: DocumentId, collection: BlockId) -> [u8; 33] {
    joined(COLLECTIONS, &[document.as_bytes(), collection.as_bytes()])
}

/// Document and collection.
pub(crate) fn parse_collection(key: &[u8]) -> Option<(DocumentId, BlockId)> {
    let read = (DocumentId::from_bytes(id_at(key, 1)?), BlockId::from_bytes(id_at(key, 17)?));
    (key.len() == 33).then_some(read)
}

/// All rows of a column.
pub(crate) fn column(collection: BlockId, column: u32) -> [u8; 21] {
    joined(ITEM_KEYS, &[collection.as_bytes(), &column.to_be_bytes()])
}

/// All rows of a collection.
pub(crate) fn columns(collection: BlockId) -> [u8; 17] {
    with_id(ITEM_KEYS, collection.as_bytes())
}

pub(crate) fn item_key(column: [u8; 21], value: &[u8], item: BlockId) -> Vec<u8> {
    let key = [&column, value, item.as_bytes()].concat();
    debug_assert!(key.len() < MAX_KEY_BYTES, "sort keys of values are bounded");
    key
}

/// Collection, column and item.
pub(crate) fn parse_item_key(key: &[u8]) -> Option<(BlockId, u32, BlockId)> {
    let collection = BlockId::from_bytes(id_at(key, 1)?);
    let (column, rest) = key.get(17..)?.split_first_chunk::<4>()?;
    let item = BlockId::from_bytes(*rest.last_chunk::<16>()?);
    Some((collection, u32::from_be_bytes(*column), item))
}
