//! Lookups of the collection and the items that a request names.

use leafbase_collections::ReadCollections;
use leafbase_model::{BlockId, BlockKind, BlockLocation, BlockRecord, Error, Result, Schema};
use leafbase_tree_ops::{self as ops, ReadTree};

use crate::core::tree::Tree;

/// The schema of the requested collection.
pub(super) fn schema(tree: &Tree<'_>, collection: BlockId) -> Result<Schema> {
    ReadCollections::schema(tree, collection)?
        .ok_or_else(|| Error::no_collection().at("collectionId"))
}

/// The schema and location of a collection that is to be written.
pub(super) fn writable(tree: &Tree<'_>, collection: BlockId) -> Result<(Schema, BlockLocation)> {
    let schema = schema(tree, collection)?;
    let located =
        ops::locate_writable(tree, collection).map_err(|error| error.at("collectionId"))?;
    Ok((schema, located))
}

/// An item of `collection`.
pub(super) fn item(tree: &Tree<'_>, collection: BlockId, id: BlockId) -> Result<BlockRecord> {
    let located = tree.locate(id)?.ok_or_else(Error::no_item)?;
    // A child of another collection is not found, as a block that does not exist.
    if located.parent != Some(collection) {
        return Err(Error::no_item());
    }
    let block = tree.block(id)?.ok_or_else(Error::no_item)?;
    if matches!(block.data.kind, BlockKind::CollectionItem { .. }) {
        Ok(block)
    } else {
        Err(Error::no_item())
    }
}

/// Refuses more items than a request may contain.
pub(super) fn check_count(list: &str, most: usize, found: usize) -> Result<()> {
    if found > most {
        Err(Error::limit("items in one request", most, found).at(list))
    } else {
        Ok(())
    }
}
