//! Constraint checks of edits from outside, such as a late undo: whether the collections that they
//! touch are as operations would leave them.
//!
//! Only touched data is read: items and their relations, and all items of a collection if a column
//! of its schema changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use leafbase_collections::{ConstraintCheck, ReadCollections, StoredItem};
use leafbase_model::{
    BlockId, BlockKind, BlockRecord, BlockType, Edit, Properties, Relation, Result, Schema,
    Subtrees,
};

use crate::core::tree::Tree;

/// How many items of a collection are held in memory at a time.
const AT_A_TIME: usize = 1_024;

/// The values of an item that may have changed.
enum TouchedValues {
    All,
    Of(BTreeSet<String>),
}

/// The parts of collections that edits touch.
#[derive(Default)]
pub(crate) struct TouchedCollections {
    /// Items, existing or removed.
    items: BTreeMap<BlockId, TouchedValues>,
    /// Changed columns by collection.
    columns: BTreeMap<BlockId, BTreeSet<String>>,
    /// Collections whose relations may have changed.
    schemas: BTreeSet<BlockId>,
}

impl TouchedCollections {
    /// Collects the parts that `edits` touch.
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
            // The edit does not contain the type of the block: it may be an item.
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
            // The limit of one relation per item is checked on the items of the other end, which
            // hold it.
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

    /// Checks all touched parts against the state in `tree`.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Conflict`] with the item or collection and the property; errors
    /// of the store.
    pub(crate) fn verify(&self, tree: &Tree<'_>) -> Result<()> {
        let mut verifying = ConstraintCheck::new(tree);
        for collection in &self.schemas {
            verifying.ends(*collection)?;
        }
        for (item, values) in &self.items {
            verify_item(tree, &mut verifying, *item, values)?;
        }
        for (collection, keys) in &self.columns {
            self.verify_columns(tree, &mut verifying, *collection, keys)?;
        }
        Ok(())
    }

    /// Checks the changed columns of a collection in one pass over its items.
    fn verify_columns(
        &self,
        tree: &Tree<'_>,
        verifying: &mut ConstraintCheck<'_, Tree<'_>>,
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
                    verifying.item(item.id, collection, held, &|key| keys.contains(key))?;
                }
            }
            last = some.last().map(|item| item.id);
            if some.len() < AT_A_TIME {
                return Ok(());
            }
        }
    }
}

fn verify_item(
    tree: &Tree<'_>,
    verifying: &mut ConstraintCheck<'_, Tree<'_>>,
    item: BlockId,
    touched: &TouchedValues,
) -> Result<()> {
    match (tree.item(item)?, touched) {
        (None, _) => verifying.named(item, None),
        (Some(StoredItem { collection, values }), TouchedValues::All) => {
            verifying.item(item, collection, &values, &|_| true)?;
            verifying.named(item, Some(collection))
        }
        (Some(StoredItem { collection, values }), TouchedValues::Of(keys)) => {
            verifying.item(item, collection, &values, &|key| keys.contains(key))
        }
    }
}

/// The next items of a collection after `last`, without their pages.
fn items_after(
    tree: &Tree<'_>,
    collection: BlockId,
    last: Option<BlockId>,
) -> Result<Vec<BlockRecord>> {
    let mut some = Vec::new();
    tree.full_reader()?.items(collection, last, &mut |item| {
        some.push(item);
        Ok(if some.len() < AT_A_TIME { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(some)
}

/// The values of an item. None for other blocks.
fn values(block: &BlockRecord) -> Option<&Properties> {
    match &block.data.kind {
        BlockKind::CollectionItem { properties } => Some(properties),
        _ => None,
    }
}
