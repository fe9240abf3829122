//! Edits that no operation decided on, such as a change undone late: whether what they leave of
//! collections is as operations leave it.
//!
//! Only what they touched is read: items and their relations, and of a schema that is set the
//! items, if a column of it is another one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use leafbase_collections::{ConstraintCheck, ReadCollections, StoredItem};
use leafbase_model::{
    BlockId, BlockKind, BlockRecord, BlockType, Edit, Properties, Relation, Result, Schema,
    Subtrees,
};

use crate::core::tree::Tree;

/// So many items of a collection are held at a time.
const AT_A_TIME: usize = 1_024;

/// Which values of an item may be others.
enum Values {
    All,
    Of(BTreeSet<String>),
}

/// What edits touch of collections.
#[derive(Default)]
pub(crate) struct TouchedCollections {
    /// Items that are there, or were.
    items: BTreeMap<BlockId, Values>,
    /// Columns that are others, by collection.
    columns: BTreeMap<BlockId, BTreeSet<String>>,
    /// Collections whose relations may have other ends.
    schemas: BTreeSet<BlockId>,
}

impl TouchedCollections {
    /// What `edits` touch.
    pub(crate) fn by(edits: &[Edit]) -> Self {
        let mut touched = Self::default();
        for edit in edits {
            touched.edit(edit);
        }
        touched
    }

    /// Whether it is nothing: then nothing need be read.
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
            // What kind of block it is, the edit doesn't say.
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
        self.items.insert(item, Values::All);
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
        if let Values::Of(keys) = self.items.entry(item).or_insert(Values::Of(BTreeSet::new())) {
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
            // What one item of this end may be related to once is held by items of the other.
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

    /// That all of it is, in `tree`, as operations leave it.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Conflict`] that names the item or the collection, and the
    /// property; what the store reports.
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

    /// One pass over the items of a collection.
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
                    && !matches!(self.items.get(&item.id), Some(Values::All))
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
    touched: &Values,
) -> Result<()> {
    match (tree.item(item)?, touched) {
        (None, _) => verifying.named(item, None),
        (Some(StoredItem { collection, values }), Values::All) => {
            verifying.item(item, collection, &values, &|_| true)?;
            verifying.named(item, Some(collection))
        }
        (Some(StoredItem { collection, values }), Values::Of(keys)) => {
            verifying.item(item, collection, &values, &|key| keys.contains(key))
        }
    }
}

/// The next items of a collection, without their pages.
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

/// The values of an item; none of any other block.
fn values(block: &BlockRecord) -> Option<&Properties> {
    match &block.data.kind {
        BlockKind::CollectionItem { properties } => Some(properties),
        _ => None,
    }
}
