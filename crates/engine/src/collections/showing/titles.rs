//! Titles of related items, each read once.

use std::collections::HashMap;
use std::ops::ControlFlow;

use leafbase_model::{BlockId, Result};
use leafbase_tree_ops::ReadTree;

use super::{ITEMS_PER_LOOKUP, no_item};
use crate::scope::Leak;
use crate::tree::Tree;

/// With fewer look-ups it is not asked whether reading all titles is cheaper.
const FEW_LOOKUPS: u64 = 8;

/// The titles that a reply needs.
#[derive(Default)]
pub(super) struct Titles {
    known: HashMap<BlockId, String>,
    /// By collection, how many items of it were looked up.
    lookups: HashMap<BlockId, u64>,
}

impl Titles {
    /// The title of an item of `collection`.
    pub(super) fn of(&mut self, tree: &Tree<'_>, collection: BlockId, item: BlockId) -> Result<String> {
        if let Some(known) = self.known.get(&item) {
            return Ok(known.clone());
        }
        if self.is_better_read(tree, collection)? {
            self.read(tree, collection)?;
        }
        if let Some(known) = self.known.get(&item) {
            return Ok(known.clone());
        }
        let block = if tree.seen().leaks(Leak::Relations) { tree.reader().block(item) } else { tree.block(item) };
        let block = block?.ok_or_else(|| no_item(item))?;
        Ok(self.known.entry(item).or_insert(block.data.markdown).clone())
    }

    /// Sets a title that was read beside something else.
    pub(super) fn learn(&mut self, item: BlockId, title: &str) {
        self.known.entry(item).or_insert_with(|| title.to_owned());
    }

    /// Whether one more look-up makes them cost as much as reading the collection: asked each time that they have doubled.
    fn is_better_read(&mut self, tree: &Tree<'_>, collection: BlockId) -> Result<bool> {
        let lookups = self.lookups.entry(collection).or_default();
        *lookups += 1;
        if *lookups < FEW_LOOKUPS || !lookups.is_power_of_two() || tree.locate(collection)?.is_none() {
            return Ok(false);
        }
        let items = tree.reader().item_index(collection)?.map_or(u64::MAX, |index| index.items());
        Ok(lookups.saturating_mul(ITEMS_PER_LOOKUP) > items)
    }

    fn read(&mut self, tree: &Tree<'_>, collection: BlockId) -> Result<()> {
        tree.reader().item_rows(collection, None, &mut |row| {
            self.learn(row.id, row.title);
            Ok(ControlFlow::Continue(()))
        })
    }
}
