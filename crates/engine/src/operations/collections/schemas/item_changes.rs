//! The effects of a new schema on items: those of the collection, and those at the other ends of
//! dropped relations.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use leafbase_collections::{
    ChangedItem, ColumnKey, LostValues, RelationBatch, Replacement, inverse_index,
};
use leafbase_model::{BlockId, BlockKind, BlockRecord, Properties, PropertyValue, Result, Schema};

use crate::core::tree::Tree;

/// The items whose values change when `plan` replaces `old`. Reads one item at a time; memory holds
/// the changed ones.
///
/// # Errors
/// [`leafbase_model::ErrorKind::SchemaMismatch`] for items that would lose values, unless that is
/// allowed.
pub(super) fn items(
    tree: &Tree<'_>,
    old: &Schema,
    plan: &Replacement,
    may_lose: bool,
) -> Result<Vec<ChangedItem>> {
    let (mut relating, mut lost) = (RelationBatch::new(tree), LostValues::default());
    if plan.touches_items() {
        let others = other_ends(tree, old, plan)?;
        each(tree, plan.collection, |item, title, mut values| {
            for (key, holders) in &others {
                unite(&mut values, key, holders.get(&item));
            }
            plan.apply(item, title, &values, &mut relating, &mut lost)
        })?;
    }
    if !may_lose {
        lost.refuse()?;
    }
    clear(tree, &plan.dropped, &mut relating)?;
    relating.finish()
}

/// Adds to the batch that items lose their values in these columns.
fn clear(
    tree: &Tree<'_>,
    columns: &[ColumnKey],
    relating: &mut RelationBatch<'_, Tree<'_>>,
) -> Result<()> {
    for ColumnKey { collection, key } in columns {
        each(tree, *collection, |item, _, values| match values.get(key) {
            Some(_) => relating.store(item, vec![(key.clone(), None)]),
            None => Ok(()),
        })?;
    }
    Ok(())
}

/// Passes every item of a collection to `visit`, with its title and values.
fn each(
    tree: &Tree<'_>,
    collection: BlockId,
    mut visit: impl FnMut(BlockId, &str, Properties) -> Result<()>,
) -> Result<()> {
    tree.reader_at(collection)?.items(collection, None, &mut |BlockRecord { id, data, .. }| {
        if let BlockKind::CollectionItem { properties } = data.kind {
            visit(id, &data.inline, properties)?;
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// By item, the items that store a relation to it.
type Holders = HashMap<BlockId, BTreeSet<BlockId>>;

/// By key, the relations that `plan` needs and other items store.
fn other_ends<'p>(
    tree: &Tree<'_>,
    old: &Schema,
    plan: &'p Replacement,
) -> Result<Vec<(&'p str, Holders)>> {
    let mut ends = Vec::new();
    for key in plan.relations_needed() {
        let Some(relation) = old.property(key).and_then(|property| property.kind.relation()) else {
            continue;
        };
        if relation.owner && !relation.is_symmetric(plan.collection, key) {
            continue;
        }
        let (inverse, mut holders) =
            (relation.inverse_key.as_deref().unwrap_or(key), Holders::new());
        each(tree, relation.target, |holder, _, values| {
            for (item, holder) in inverse_index([(holder, &values)], inverse) {
                holders.entry(item).or_default().extend(holder);
            }
            Ok(())
        })?;
        ends.push((key, holders));
    }
    Ok(ends)
}

/// Unites both sides of a symmetric relation.
fn unite(values: &mut Properties, key: &str, holders: Option<&BTreeSet<BlockId>>) {
    // Without holders the stored values are complete.
    let Some(holders) = holders else {
        return;
    };
    let mut related = holders.clone();
    if let Some(PropertyValue::Relations(items)) = values.get(key) {
        related.extend(items);
    }
    values.set(key, Some(PropertyValue::Relations(related.into_iter().collect())));
}
