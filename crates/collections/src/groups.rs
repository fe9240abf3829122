//! Grouped counts: the number of items per value of a property.
//!
//! An item with several options or related items counts in each of their groups. Items without a
//! value form the last group. Groups are in sort order of the property: options by rank, other
//! values in ascending order, related items by ID.

use std::collections::BTreeMap;

use leafbase_model::{
    BlockId, Error, GroupValue, ItemGroup, Limits, PropertyKind, PropertyValue, RelatedItem,
    Result, Schema, SharedText,
};

use crate::access::IndexRange;
use crate::plan::IndexStatistics;
use crate::predicates::present;
use crate::query::{QueryRow, TypedColumn};
use crate::sort_keys::{distinct_option_keys, index_keys, rank, sort_key};

/// Counts rows by the value of a property.
#[derive(Clone, Debug)]
pub struct Groups {
    by: TypedColumn,
    /// By sort key, and by text where several texts have one key.
    by_value: BTreeMap<(Vec<u8>, String), ItemGroup>,
    without: u64,
}

impl Groups {
    /// No groups yet. `key` names a property of `schema`, or the title.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::SchemaMismatch`] at `groupBy` for an unknown property.
    pub fn new(schema: &Schema, key: &str) -> Result<Self> {
        let by =
            TypedColumn::find(schema, key).map_err(|error| error.without_path().at("groupBy"))?;
        Ok(Self { by, by_value: BTreeMap::new(), without: 0 })
    }

    /// The property whose values [`Self::add`] needs. `None` for the title.
    pub fn property_needed(&self) -> Option<&str> {
        self.by.property()
    }

    /// The relation whose values [`Self::add`] needs as replies return them.
    pub fn relation_needed(&self) -> Option<&str> {
        self.by.relation()
    }

    /// The groups of all items, counted in the index without reading an item. `None` unless the
    /// property is an indexed single select or boolean, whose values are known beforehand, and each
    /// value has an index key of its own.
    ///
    /// # Errors
    /// Errors of `statistics`.
    pub fn of_all(
        &self,
        statistics: &(impl IndexStatistics + ?Sized),
    ) -> Result<Option<Vec<ItemGroup>>> {
        let values: Vec<_> = match &self.by.kind {
            PropertyKind::SingleSelect(options) if distinct_option_keys(options).is_some() => {
                options.iter().map(|option| PropertyValue::Text(option.name.clone())).collect()
            }
            PropertyKind::Boolean => [false, true].map(PropertyValue::Boolean).to_vec(),
            _ => return Ok(None),
        };
        if !statistics.is_indexed(&self.by.column) {
            return Ok(None);
        }
        // The index has no entry for items without a value: they are the rest.
        let (mut groups, mut without) = (Vec::new(), statistics.items()?);
        for value in values {
            let count = self.having(&value, statistics)?;
            // Saturating: a corrupt index may contain more entries than the collection has items.
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
            count += statistics.count(&self.by.column, &IndexRange::beginning(key), usize::MAX)?;
        }
        Ok(count as u64)
    }

    /// Counts a row; rows may come in any order.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::LimitExceeded`] at `groupBy` for more than
    /// [`Limits::QUERY_GROUPS`] values.
    pub fn add(&mut self, row: QueryRow<'_>) -> Result<()> {
        let kind = self.by.kind.clone();
        let values = self.by.with(row, |value| present(value).map(|value| parts(&kind, value)));
        let Some(values) = values else {
            self.without += 1;
            return Ok(());
        };
        for (place, value) in values {
            // The sort key comes first, so that the map iterates in group order.
            self.by_value
                .entry(place)
                .or_insert(ItemGroup { value: Some(value), count: 0 })
                .count += 1;
        }
        let (most, found) = (Limits::QUERY_GROUPS, self.by_value.len());
        // Checked per row, so that memory stays bounded by the limit.
        if found > most {
            Err(Error::limit("groups of a count", most, found).at("groupBy"))
        } else {
            Ok(())
        }
    }

    /// The groups in order, without the titles of related items.
    pub fn finish(self) -> Vec<ItemGroup> {
        let without = (self.without > 0).then_some(ItemGroup { value: None, count: self.without });
        self.by_value.into_values().chain(without).collect()
    }
}

/// The groups of one value, each with its key in the order.
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
                // Two values without an order would share a group: only sets have none.
                (sort_key(kind, value).unwrap_or_default(), text),
                GroupValue::Value(value.clone()),
            )]
        }
    }
}
