//! Completes rows with the relations that other items store.

use std::collections::{BTreeSet, HashMap};

use leafbase_collections::{QueryRow, related};
use leafbase_model::{BlockId, Properties, PropertyValue, Result};
use leafbase_store::ItemRow;

use super::rows::{CollectionRows, values};
use crate::core::redaction::LinkRedactor;
use crate::operations::collections::presenter::{ITEMS_PER_LOOKUP, ItemPresenter, PlainItem};

/// The relations that a query evaluates and its rows do not store.
pub(super) struct RelationColumns<'a> {
    rows: &'a CollectionRows<'a>,
    /// The properties that the query evaluates, sorted.
    keys: Vec<String>,
    needed: Vec<NeededRelation>,
    /// Rows whose relations were looked up one by one.
    looked_up: u64,
    links: LinkRedactor<'a, 'a>,
}

struct NeededRelation {
    key: String,
    /// The collection and key of the other end.
    other: (BlockId, String),
    /// Number of items at the other end.
    owners: u64,
    /// The inverse of the whole relation, read once lookups have cost as much as reading it.
    inverse: Option<HashMap<BlockId, BTreeSet<BlockId>>>,
}

impl<'a> RelationColumns<'a> {
    /// `keys` are the properties that the query evaluates, `relations` the relations among them.
    pub(super) fn new<'k>(
        rows: &'a CollectionRows<'a>,
        keys: impl IntoIterator<Item = &'k str>,
        relations: impl IntoIterator<Item = &'k str>,
    ) -> Result<Self> {
        let keys: BTreeSet<_> = keys.into_iter().map(str::to_owned).collect();
        let relations: BTreeSet<_> = relations.into_iter().collect();
        let mut needed = Vec::new();
        for key in relations {
            let property = rows.schema.property(key);
            let Some(relation) = property.and_then(|property| property.kind.relation()) else {
                continue;
            };
            // At the owning end the row stores the relation itself.
            let is_stored = relation.owner && !relation.is_symmetric(rows.collection, key);
            if let Some(inverse) = relation.inverse_key.clone().filter(|_| !is_stored) {
                let owners = rows.count_of(relation.target)?;
                let other = (relation.target, inverse);
                needed.push(NeededRelation { key: key.to_owned(), other, owners, inverse: None });
            }
        }
        let links = LinkRedactor::new(rows.tree);
        Ok(Self { rows, keys: keys.into_iter().collect(), needed, looked_up: 0, links })
    }

    /// Passes `item` to `look` with the values that the query evaluates.
    pub(super) fn complete<T>(
        &mut self,
        item: &ItemRow<'_>,
        look: impl FnOnce(QueryRow<'_>) -> T,
    ) -> Result<T> {
        if self.rows.tree.is_unrestricted() {
            // Decodes only the properties that the query evaluates.
            let held = item.properties(Some(&self.keys))?;
            return self.with_relations(item.id, item.title, &held, look);
        }
        // Conditions are evaluated on redacted text: they must not reveal hidden links.
        let mut data = PlainItem::read(item)?.into_data();
        self.links.redact(&mut data)?;
        self.with_relations(item.id, &data.inline, values(item.id, &data)?, look)
    }

    fn with_relations<T>(
        &mut self,
        id: BlockId,
        title: &str,
        held: &Properties,
        look: impl FnOnce(QueryRow<'_>) -> T,
    ) -> Result<T> {
        if self.needed.is_empty() {
            return Ok(look(QueryRow { id, title, values: held }));
        }
        let mut all = held.clone();
        self.looked_up += 1;
        let rows = self.rows;
        for needed in &mut self.needed {
            // Lookups so far would have paid for a scan of the other end: read it once and cache
            // it.
            if needed.inverse.is_none()
                && self.looked_up.saturating_mul(ITEMS_PER_LOOKUP) > needed.owners
            {
                let (other, key) = &needed.other;
                needed.inverse = Some(ItemPresenter::new(rows.tree).inverse(*other, key)?);
            }
            let items = match &needed.inverse {
                Some(inverse) => united(held, &needed.key, inverse.get(&id)),
                None => related(rows.tree, rows.collection, &needed.key, id)?,
            };
            all.set(
                needed.key.as_str(),
                (!items.is_empty()).then_some(PropertyValue::Relations(items)),
            );
        }
        Ok(look(QueryRow { id, title, values: &all }))
    }
}

/// Unites both sides of a symmetric relation.
fn united(held: &Properties, key: &str, holders: Option<&BTreeSet<BlockId>>) -> Vec<BlockId> {
    let mut items = holders.cloned().unwrap_or_else(BTreeSet::new);
    if let Some(PropertyValue::Relations(own)) = held.get(key) {
        items.extend(own);
    }
    items.into_iter().collect()
}
