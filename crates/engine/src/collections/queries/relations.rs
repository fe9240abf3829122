//! Rows as conditions look at them: with the relations that other items hold.

use std::collections::{BTreeSet, HashMap};

use leafbase_collections::{Row, related};
use leafbase_model::{BlockId, BlockRecord, Properties, PropertyValue, Result};

use super::rows::{Rows, values};
use crate::collections::showing::{ITEMS_PER_LOOKUP, Shower};
use crate::scope::links::Links;

/// The relations that rows need and do not hold themselves.
pub(super) struct Relations<'a> {
    rows: &'a Rows<'a>,
    needed: Vec<Needed>,
    /// So many rows were looked up one by one.
    looked_up: u64,
    links: Links<'a, 'a>,
}

struct Needed {
    key: String,
    /// The collection at the other end, and the key there.
    other: (BlockId, String),
    /// How many items that has.
    owners: u64,
    /// By item, those at the other end, once they were all read: when looking up has cost as much as that.
    inverted: Option<HashMap<BlockId, BTreeSet<BlockId>>>,
}

impl<'a> Relations<'a> {
    pub(super) fn new<'k>(rows: &'a Rows<'a>, keys: impl IntoIterator<Item = &'k str>) -> Result<Self> {
        let keys: BTreeSet<_> = keys.into_iter().collect();
        let mut needed = Vec::new();
        for key in keys {
            let property = rows.schema.property(key);
            let Some(relation) = property.and_then(|property| property.kind.relation()) else { continue };
            let Some(inverse) = relation.inverse_key.clone() else { continue };
            if !relation.owner || relation.is_symmetric(rows.collection, key) {
                let owners = rows.count_of(relation.target)?;
                let other = (relation.target, inverse);
                needed.push(Needed { key: key.to_owned(), other, owners, inverted: None });
            }
        }
        Ok(Self { rows, needed, looked_up: 0, links: Links::new(rows.tree) })
    }

    /// Gives `item` to `look`, with the relations that are needed.
    pub(super) fn complete<T>(&mut self, item: &BlockRecord, look: impl FnOnce(Row<'_>) -> T) -> Result<T> {
        // Nobody asks for what a link hides.
        let data = self.links.shown(&item.data)?;
        let (id, title) = (item.id, data.markdown.as_str());
        let held = values(id, &data)?;
        if self.needed.is_empty() {
            return Ok(look(Row { id, title, values: held }));
        }
        let mut all = held.clone();
        self.looked_up += 1;
        let rows = self.rows;
        for needed in &mut self.needed {
            if needed.inverted.is_none() && self.looked_up.saturating_mul(ITEMS_PER_LOOKUP) > needed.owners {
                let (other, key) = &needed.other;
                needed.inverted = Some(Shower::new(rows.tree).inverted(*other, key)?);
            }
            let items = match &needed.inverted {
                Some(inverted) => united(held, &needed.key, inverted.get(&id)),
                None => related(rows.tree, rows.collection, &needed.key, id)?,
            };
            all.set(needed.key.as_str(), (!items.is_empty()).then_some(PropertyValue::Relations(items)));
        }
        Ok(look(Row { id, title, values: &all }))
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
