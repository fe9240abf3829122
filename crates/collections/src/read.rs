//! What the decisions read: a snapshot and an open write both can serve it.

use leafbase_model::{BlockId, Properties, Result, Schema};

/// An item as it is kept: of relations, those that its collection owns.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredItem {
    /// The collection that it is in.
    pub collection: BlockId,
    /// Its values.
    pub values: Properties,
}

/// Reads of one consistent state of the collections. What a connection does not see does not exist
/// here.
pub trait ReadCollections {
    /// The schema of a collection, if there is such a collection.
    ///
    /// # Errors
    /// What the store reports.
    fn schema(&self, collection: BlockId) -> Result<Option<Schema>>;

    /// An item, if there is such an item.
    ///
    /// # Errors
    /// What the store reports.
    fn item(&self, item: BlockId) -> Result<Option<StoredItem>>;

    /// At most `limit` items whose stored relations name `item`, by any property of any collection:
    /// by ID, each once, after `after`. A range of an index.
    ///
    /// # Errors
    /// What the store reports.
    fn items_naming(
        &self,
        item: BlockId,
        after: Option<BlockId>,
        limit: usize,
    ) -> Result<Vec<BlockId>>;
}

/// How many back links are read at a time.
const AT_ONCE: usize = 256;

/// Every item whose stored relations name `item`, by ID.
pub(crate) fn all_naming<R: ReadCollections + ?Sized>(
    reader: &R,
    item: BlockId,
) -> Result<Vec<BlockId>> {
    let mut all = Vec::new();
    loop {
        let some = reader.items_naming(item, all.last().copied(), AT_ONCE)?;
        let is_last = some.len() < AT_ONCE;
        all.extend(some);
        if is_last {
            return Ok(all);
        }
    }
}
