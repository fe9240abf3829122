//! Rows as conditions look at them: with what they need, relations that other items hold among it.

use std::collections::{BTreeSet, HashMap};

use leafbase_collections::{QueryRow, related};
use leafbase_model::{BlockId, Properties, PropertyValue, Result};
use leafbase_store::ItemRow;

use super::rows::{Rows, values};
use crate::core::redaction::LinkRedactor;
use crate::operations::collections::showing::{ITEMS_PER_LOOKUP, PlainItem, Shower};

/// The relations that rows need and do not hold themselves.
pub(super) struct Relations<'a> {
    rows: &'a Rows<'a>,
    /// The properties that are looked at, sorted.
    keys: Vec<String>,
    needed: Vec<Needed>,
    /// So many rows were looked up one by one.
    looked_up: u64,
    links: LinkRedactor<'a, 'a>,
}

struct Needed {
    key: String,
    /// The collection at the other end, and the key there.
    other: (BlockId, String),
    /// How many items that has.
    owners: u64,
    /// By item, those at the other end, once they were all read: when looking up has cost as much
    /// as that.
    inverted: Option<HashMap<BlockId, BTreeSet<BlockId>>>,
}

impl<'a> Relations<'a> {
    /// `keys` are those of the properties that are looked at, `relations` those of them that are
    /// relations.
    pub(super) fn new<'k>(
        rows: &'a Rows<'a>,
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
            let Some(inverse) = relation.inverse_key.clone() else { continue };
            if !relation.owner || relation.is_symmetric(rows.collection, key) {
                let owners = rows.count_of(relation.target)?;
                let other = (relation.target, inverse);
                needed.push(Needed { key: key.to_owned(), other, owners, inverted: None });
            }
        }
        let links = LinkRedactor::new(rows.tree);
        Ok(Self { rows, keys: keys.into_iter().collect(), needed, looked_up: 0, links })
    }

    /// Gives `item` to `look`, with the properties that are needed and no others.
    pub(super) fn complete<T>(
        &mut self,
        item: &ItemRow<'_>,
        look: impl FnOnce(QueryRow<'_>) -> T,
    ) -> Result<T> {
        if self.rows.tree.is_unrestricted() {
            let held = item.properties(Some(&self.keys))?;
            return self.with_relations(item.id, item.title, &held, look);
        }
        // Nobody asks for what a link hides.
        let mut data = PlainItem::read(item)?.into_data();
        self.links.redact(&mut data)?;
        self.with_relations(item.id, &data.markdown, values(item.id, &data)?, look)
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
            if needed.inverted.is_none()
                && self.looked_up.saturating_mul(ITEMS_PER_LOOKUP) > needed.owners
            {
                let (other, key) = &needed.other;
                needed.inverted = Some(Shower::new(rows.tree).inverted(*other, key)?);
            }
            let items = match &needed.inverted {
                Some(inverted) => united(held, &needed.key, inverted.get(&id)),
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

/// A symmetric relation is held by either of two items.
fn united(held: &Properties, key: &str, holders: Option<&BTreeSet<BlockId>>) -> Vec<BlockId> {
    let mut items = holders.cloned().unwrap_or_default();
    if let Some(PropertyValue::Relations(own)) = held.get(key) {
        items.extend(own);
    }
    items.into_iter().collect()
}
