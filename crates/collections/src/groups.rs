//! How many items have each value of a property.
//!
//! An item with several options or related items is counted for each of them, one without a value
//! in a group of its own, the last. Groups are in the order that a sort by the property gives:
//! options as in the schema, values by the least first; related items by ID.

use std::collections::BTreeMap;

use leafbase_model::{
    BlockId, Error, GroupValue, ItemGroup, Limits, PropertyKind, PropertyValue, RelatedItem,
    Result, Schema, SharedText,
};

use crate::conditions::present;
use crate::plan::{IndexStatistics, KeyRange};
use crate::query::{Row, TypedColumn};
use crate::sort_key::{index_keys, rank, sort_key};

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
        let by = TypedColumn::find(schema, key)
            .map_err(|error| Error::new(error.kind(), error.message()).at("groupBy"))?;
        Ok(Self { by, found: BTreeMap::new(), without: 0 })
    }

    /// The property whose values rows have to have, if it is no title.
    pub fn property_needed(&self) -> Option<&str> {
        self.by.property()
    }

    /// The relation whose values rows have to have as replies show them, if it is one.
    pub fn relation_needed(&self) -> Option<&str> {
        self.by.relation()
    }

    /// The groups of all items, counted in the index without a look at any item. None where that
    /// cannot be: it can for a single select and for a boolean, whose values are known beforehand.
    ///
    /// # Errors
    /// What `statistics` reports.
    pub fn of_all(
        &self,
        statistics: &(impl IndexStatistics + ?Sized),
    ) -> Result<Option<Vec<ItemGroup>>> {
        let values: Vec<_> = match &self.by.kind {
            PropertyKind::SingleSelect(options) => {
                options.iter().map(|option| PropertyValue::Text(option.name.clone())).collect()
            }
            PropertyKind::Boolean => [false, true].map(PropertyValue::Boolean).to_vec(),
            _ => return Ok(None),
        };
        if !statistics.is_indexed(&self.by.column) {
            return Ok(None);
        }
        let (mut groups, mut without) = (Vec::new(), statistics.items()?);
        for value in values {
            let count = self.having(&value, statistics)?;
            without = without.saturating_sub(count);
            groups.extend(
                (count > 0).then_some(ItemGroup { value: Some(GroupValue::Value(value)), count }),
            );
        }
        groups.extend((without > 0).then_some(ItemGroup { value: None, count: without }));
        Ok(Some(groups))
    }

    fn having(
        &self,
        value: &PropertyValue,
        statistics: &(impl IndexStatistics + ?Sized),
    ) -> Result<u64> {
        let mut count = 0;
        for key in index_keys(&self.by.kind, value) {
            count += statistics.count(&self.by.column, &KeyRange::beginning(key), usize::MAX)?;
        }
        Ok(u64::try_from(count).unwrap_or(u64::MAX))
    }

    /// Counts a row.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::LimitExceeded`] at `groupBy` for more than
    /// [`Limits::QUERY_GROUPS`] values.
    pub fn add(&mut self, row: Row<'_>) -> Result<()> {
        let kind = self.by.kind.clone();
        let values = self.by.with(row, |value| present(value).map(|value| parts(&kind, value)));
        let Some(values) = values else {
            self.without += 1;
            return Ok(());
        };
        for (place, value) in values {
            self.found.entry(place).or_insert(ItemGroup { value: Some(value), count: 0 }).count +=
                1;
        }
        let (most, found) = (Limits::QUERY_GROUPS, self.found.len());
        if found > most {
            Err(Error::limit("groups of a count", most, found).at("groupBy"))
        } else {
            Ok(())
        }
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
            GroupValue::Related(RelatedItem { block_id: item, title: SharedText::default() }),
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
            let text =
                if let PropertyValue::Text(text) = value { text.clone() } else { String::new() };
            vec![(
                (sort_key(kind, value).unwrap_or_default(), text),
                GroupValue::Value(value.clone()),
            )]
        }
    }
}
