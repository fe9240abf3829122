//! How many items have each value of a property.
//!
//! An item with several options or related items is counted for each of them, one without a value in a group of its own, the last. Groups are in
//! the order that a sort by the property gives: options as in the schema, values by the least first; related items by ID.

use std::collections::BTreeMap;

use leafbase_model::{
    BlockId, Error, GroupValue, ItemGroup, Limits, PropertyKind, PropertyValue, RelatedItem, Result, Schema,
};

use crate::conditions::present;
use crate::query::{Row, TypedColumn};
use crate::sort_key::{rank, sort_key};

/// Counts rows by the value of a property.
#[derive(Clone, Debug)]
pub struct Groups {
    by: TypedColumn,
    /// By the place in the order, and the text where several sort alike.
    found: BTreeMap<(Vec<u8>, String), ItemGroup>,
    without: u64,
}

impl Groups {
    /// No row yet. `key` is that of a property of `schema`, or of the title.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::SchemaMismatch`] at `groupBy` for a property that is not there.
    pub fn new(schema: &Schema, key: &str) -> Result<Self> {
        let by =
            TypedColumn::find(schema, key).map_err(|error| Error::new(error.kind(), error.message()).at("groupBy"))?;
        Ok(Self { by, found: BTreeMap::new(), without: 0 })
    }

    /// The relation whose values rows have to have as replies show them, if it is one.
    pub fn relation_needed(&self) -> Option<&str> {
        self.by.relation()
    }

    /// Counts a row.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::LimitExceeded`] at `groupBy` for more than [`Limits::QUERY_GROUPS`] values.
    pub fn add(&mut self, row: Row<'_>) -> Result<()> {
        let kind = self.by.kind.clone();
        let values = self.by.with(row, |value| present(value).map(|value| parts(&kind, value)));
        let Some(values) = values else {
            self.without += 1;
            return Ok(());
        };
        for (place, value) in values {
            self.found.entry(place).or_insert(ItemGroup { value: Some(value), count: 0 }).count += 1;
        }
        let (most, found) = (Limits::QUERY_GROUPS, self.found.len());
        if found > most { Err(Error::limit("groups of a count", most, found).at("groupBy")) } else { Ok(()) }
    }

    /// The groups in order. Titles of related items are for the caller to fill in.
    pub fn finish(self) -> Vec<ItemGroup> {
        let without = (self.without > 0).then_some(ItemGroup { value: None, count: self.without });
        self.found.into_values().chain(without).collect()
    }
}

/// Each part of a value with its place.
fn parts(kind: &PropertyKind, value: &PropertyValue) -> Vec<((Vec<u8>, String), GroupValue)> {
    let related = |item: &BlockId| {
        let item = *item;
        (
            (item.to_bytes().to_vec(), String::new()),
            GroupValue::Related(RelatedItem { block_id: item, title: String::new() }),
        )
    };
    let option = |name: &String| {
        let place = (rank(kind.options(), name).to_vec(), name.clone());
        (place, GroupValue::Value(PropertyValue::Text(name.clone())))
    };
    match value {
        PropertyValue::Options(names) => names.iter().map(option).collect(),
        PropertyValue::Relations(items) => items.iter().map(related).collect(),
        value => {
            let text = if let PropertyValue::Text(text) = value { text.clone() } else { String::new() };
            vec![((sort_key(kind, value).unwrap_or_default(), text), GroupValue::Value(value.clone()))]
        }
    }
}
