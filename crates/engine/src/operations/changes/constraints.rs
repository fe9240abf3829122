//! Constraint checks for edits that no operation planned, such as the inverse of an old change:
//! collections must be as operations leave them.
//!
//! Only what the edits touched is read: items and their relations, and all items of a collection
//! whose schema changed a column.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use leafbase_collections::{ConstraintCheck, ReadCollections, StoredItem};
use leafbase_model::{
    BlockId, BlockKind, BlockRecord, BlockType, Edit, Properties, Relation, Result, Schema,
    Subtrees,
};

use crate::core::tree::Tree;

/// Items of a collection that are in memory at a time.
const ITEMS_PER_BATCH: usize = 1_024;

/// Values of an item that may have changed.
enum TouchedValues {
    All,
    Of(BTreeSet<String>),
}

/// Items, columns and schemas that a list of edits touches.
#[derive(Default)]
pub(crate) struct TouchedCollections {
    /// Items inserted, changed or removed.
    items: BTreeMap<BlockId, TouchedValues>,
    /// Changed columns by collection.
    columns: BTreeMap<BlockId, BTreeSet<String>>,
    /// Collections whose relations may have changed.
    schemas: BTreeSet<BlockId>,
}

impl TouchedCollections {
    /// Collects what `edits` touch.
    pub(crate) fn by(edits: &[Edit]) -> Self {
        let mut touched = Self::default();
        for edit in edits {
            touched.edit(edit);
        }
        touched
    }

    /// Whether no collection is touched, so that nothing has to be read.
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.schemas.is_empty()
    }

    fn edit(&mut self, edit: &Edit) {
        match edit {
            Edit::Insert { subtrees, .. }
            | Edit::Remove { subtrees, .. }
            | Edit::CreateDocument { subtrees, .. }
            | Edit::EraseDocument { subtrees, .. } => self.subtrees(subtrees),
            Edit::Update { before, after, .. } => self.update(before, after),
            // The edit does not record the block's type: it may be an item.
            Edit::Move { block, from, to } if from.parent != to.parent => self.whole(*block),
            Edit::SetSchema { collection, before, after, .. } => {
                self.schema(*collection, before.as_deref(), after.as_deref());
            }
            _ => {}
        }
    }

    fn subtrees(&mut self, subtrees: &Subtrees) {
        let blocks = subtrees.0.iter().map(|node| &node.block);
        let items = blocks.filter(|block| block.data.block_type() == BlockType::CollectionItem);
        items.for_each(|item| self.whole(item.id));
    }

    fn whole(&mut self, item: BlockId) {
        self.items.insert(item, TouchedValues::All);
    }

    fn update(&mut self, before: &BlockRecord, after: &BlockRecord) {
        match (values(before), values(after)) {
            (None, None) => {}
            (Some(was), Some(is)) => {
                let others = is.iter().filter(|(key, value)| was.get(key) != Some(value));
                others.for_each(|(key, _)| self.value(after.id, key));
            }
            _ => self.whole(after.id),
        }
    }

    fn value(&mut self, item: BlockId, key: &str) {
        if let TouchedValues::Of(keys) =
            self.items.entry(item).or_insert(TouchedValues::Of(BTreeSet::new()))
        {
            keys.insert(key.to_owned());
        }
    }

    fn schema(&mut self, collection: BlockId, before: Option<&Schema>, after: Option<&Schema>) {
        self.schemas.insert(collection);
        for property in before.into_iter().chain(after).flat_map(|schema| &schema.properties) {
            self.schemas.extend(property.kind.relation().map(|relation| relation.target));
            let [was, is] = [before, after]
                .map(|schema| schema?.property(&property.key).map(|known| &known.kind));
            if was == is || after.is_none() {
                continue;
            }
            self.column(collection, &property.key);
            // A `single` end that does not own the relation is constrained by the items of the
            // owner.
            if let Some(Relation { target, inverse_key: Some(key), single: true, owner: false }) =
                is.and_then(|kind| kind.relation())
            {
                self.column(*target, key);
            }
        }
    }

    fn column(&mut self, collection: BlockId, key: &str) {
        self.columns.entry(collection).or_default().insert(key.to_owned());
    }

    /// Checks every constraint on what was touched, in `tree`.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Conflict`] naming the item or collection and the property;
    /// errors of the store.
    pub(crate) fn verify(&self, tree: &Tree<'_>) -> Result<()> {
        let mut check = ConstraintCheck::new(tree);
        for collection in &self.schemas {
            check.ends(*collection)?;
        }
        for (item, values) in &self.items {
            verify_item(tree, &mut check, *item, values)?;
        }
        for (collection, keys) in &self.columns {
            self.verify_columns(tree, &mut check, *collection, keys)?;
        }
        Ok(())
    }

    /// Checks the changed columns in one pass over the items of a collection.
    fn verify_columns(
        &self,
        tree: &Tree<'_>,
        check: &mut ConstraintCheck<'_, Tree<'_>>,
        collection: BlockId,
        keys: &BTreeSet<String>,
    ) -> Result<()> {
        let mut last = None;
        loop {
            let some = items_after(tree, collection, last)?;
            for item in &some {
                if let Some(held) = values(item)
                    && !matches!(self.items.get(&item.id), Some(TouchedValues::All))
                {
                    check.item(item.id, collection, held, &|key| keys.contains(key))?;
                }
            }
            last = some.last().map(|item| item.id);
            if some.len() < ITEMS_PER_BATCH {
                return Ok(());
            }
        }
    }
}

fn verify_item(
    tree: &Tree<'_>,
    check: &mut ConstraintCheck<'_, Tree<'_>>,
    item: BlockId,
    touched: &TouchedValues,
) -> Result<()> {
    match (tree.item(item)?, touched) {
        (None, _) => check.named(item, None),
        (Some(StoredItem { collection, values }), TouchedValues::All) => {
            check.item(item, collection, &values, &|_| true)?;
            check.named(item, Some(collection))
        }
        (Some(StoredItem { collection, values }), TouchedValues::Of(keys)) => {
            check.item(item, collection, &values, &|key| keys.contains(key))
        }
    }
}

/// The next batch of items, without their pages.
fn items_after(
    tree: &Tree<'_>,
    collection: BlockId,
    last: Option<BlockId>,
) -> Result<Vec<BlockRecord>> {
    let mut some = Vec::new();
    tree.full_reader()?.items(collection, last, &mut |item| {
        some.push(item);
        Ok(if some.len() < ITEMS_PER_BATCH {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    })?;
    Ok(some)
}

/// The values of an item; `None` for other blocks.
fn values(block: &BlockRecord) -> Option<&Properties> {
    match &block.data.kind {
        BlockKind::CollectionItem { properties } => Some(properties),
        _ => None,
    }
}
