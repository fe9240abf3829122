//! Cache of the titles of related items.

use std::collections::HashMap;
use std::ops::ControlFlow;

use leafbase_model::{BlockId, BlockLocation, IdMap, Result, SharedText};
use leafbase_tree_ops::ReadTree;

use crate::core::tree::Tree;

/// Cost of looking up one item by a back link, in items of a range scan.
pub(in crate::operations::collections) const ITEMS_PER_LOOKUP: u64 = 16;

/// Threshold of lookups from which reading all titles is considered.
const FEW_LOOKUPS: u64 = 8;

/// The titles of related items in a reply.
#[derive(Default)]
pub(super) struct Titles {
    known: IdMap<BlockId, SharedText>,
    /// Lookups by collection.
    lookups: HashMap<BlockId, u64>,
}

impl Titles {
    /// The title of an item of `collection`. `None` for an ID that is not an item, left by damage.
    pub(super) fn of(
        &mut self,
        tree: &Tree<'_>,
        collection: BlockId,
        item: BlockId,
    ) -> Result<Option<SharedText>> {
        if let Some(known) = self.known.get(&item) {
            return Ok(Some(known.clone()));
        }
        // Fallback from lookups to one scan, which caches all titles of the collection.
        if self.is_better_read(tree, collection)? {
            self.read(tree, collection)?;
        }
        if let Some(known) = self.known.get(&item) {
            return Ok(Some(known.clone()));
        }
        let is_child = |location: BlockLocation| location.parent == Some(collection);
        if !tree.locate(item)?.is_some_and(is_child) {
            return Ok(None);
        }
        let Some(title) =
            tree.reader_at(item)?.item_row(item, |row| Ok(SharedText::from(row.title)))?
        else {
            return Ok(None);
        };
        self.known.insert(item, title.clone());
        Ok(Some(title))
    }

    /// Caches a title that was read along with something else.
    pub(super) fn learn(&mut self, item: BlockId, title: &str) {
        self.known.entry(item).or_insert_with(|| title.into());
    }

    /// Whether one more lookup makes lookups as expensive as reading the whole collection.
    /// Considered whenever their number has doubled.
    fn is_better_read(&mut self, tree: &Tree<'_>, collection: BlockId) -> Result<bool> {
        let lookups = self.lookups.entry(collection).or_default();
        *lookups += 1;
        // Powers of two: the comparison runs a logarithmic number of times.
        if *lookups < FEW_LOOKUPS
            || !lookups.is_power_of_two()
            || tree.locate(collection)?.is_none()
        {
            return Ok(false);
        }
        let items = tree
            .reader_at(collection)?
            .item_index(collection)?
            .map_or(u64::MAX, |index| index.items());
        Ok(lookups.saturating_mul(ITEMS_PER_LOOKUP) > items)
    }

    fn read(&mut self, tree: &Tree<'_>, collection: BlockId) -> Result<()> {
        tree.reader_at(collection)?.item_rows(collection, None, &mut |row| {
            self.learn(row.id, row.title);
            Ok(ControlFlow::Continue(()))
        })
    }
}
