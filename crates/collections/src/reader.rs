//! The reads of this crate: implemented over a snapshot and over an open write transaction.

use leafbase_model::{BlockId, Properties, Result, Schema};

/// An item as stored: with the relations that its collection owns.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredItem {
    /// The item's collection.
    pub collection: BlockId,
    /// Values by key.
    pub values: Properties,
}

/// Reads one consistent state of the collections. Items and collections outside the
/// caller's scope are invisible.
pub trait ReadCollections {
    /// The schema of a collection. `None` if there is no such collection.
    ///
    /// # Errors
    /// Errors of the store.
    fn schema(&self, collection: BlockId) -> Result<Option<Schema>>;

    /// An item. `None` if there is no such item.
    ///
    /// # Errors
    /// Errors of the store.
    fn item(&self, item: BlockId) -> Result<Option<StoredItem>>;

    /// Up to `limit` items whose stored relations name `item`, through any property of any
    /// collection: sorted by ID, deduplicated, after `after`. Costs one index range scan.
    ///
    /// # Errors
    /// Errors of the store.
    fn items_naming(
        &self,
        item: BlockId,
        after: Option<BlockId>,
        limit: usize,
    ) -> Result<Vec<BlockId>>;
}

/// Back links read per call.
const BACK_LINKS_PER_READ: usize = 256;

/// All items whose stored relations name `item`, sorted by ID.
pub(crate) fn all_naming<R: ReadCollections + ?Sized>(
    reader: &R,
    item: BlockId,
) -> Result<Vec<BlockId>> {
    let mut all = Vec::new();
    loop {
        let some = reader.items_naming(item, all.last().copied(), BACK_LINKS_PER_READ)?;
        // A short page is the last one.
        debug_assert!(some.is_sorted(), "back links are ordered by ID");
        let is_last = some.len() < BACK_LINKS_PER_READ;
        all.extend(some);
        if is_last {
            return Ok(all);
        }
    }
}
