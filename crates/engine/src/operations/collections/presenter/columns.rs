//! The properties of a collection, and where the values of its items are found.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use leafbase_model::{BlockId, Properties, PropertyKey, PropertyValue, Result};
use leafbase_store::{ItemRow, ValueAt};

/// A property with the source of its values.
pub(super) struct PresentedColumn {
    pub(super) key: PropertyKey,
    /// The target collection of a relation.
    pub(super) target: Option<BlockId>,
    pub(super) source: PropertySource,
    /// The value that the current item stores.
    pub(super) held: Option<PropertyValue>,
    /// Its offset in the row of the current item.
    pub(super) at: Option<ValueAt>,
}

/// The source of a property's values.
pub(super) enum PropertySource {
    /// The item itself: scalars, and relations at the owning end.
    Own,
    /// Items that name it, looked up per item.
    Lookup,
    /// Items that name it, all read beforehand. For a symmetric relation united with the item's
    /// own.
    Inverted(HashMap<BlockId, BTreeSet<BlockId>>),
}

/// The properties of a collection in schema order.
pub(super) struct Columns {
    pub(super) all: Vec<PresentedColumn>,
    /// Their keys, shared by all presented items.
    pub(super) keys: Arc<[PropertyKey]>,
    /// `PresentedColumn` indices in key order, which is the order of stored values.
    by_key: Vec<(PropertyKey, usize)>,
    /// Columns whose values other items store.
    elsewhere: usize,
}

impl Columns {
    pub(super) fn new(all: Vec<PresentedColumn>) -> Self {
        // Stored values are sorted by key: sorting the columns alike allows a merge.
        let mut by_key: Vec<_> =
            all.iter().enumerate().map(|(place, column)| (column.key.clone(), place)).collect();
        by_key.sort_unstable();
        debug_assert!(
            by_key.is_sorted_by(|one, other| one.0 < other.0),
            "keys of a schema are unique"
        );
        let elsewhere =
            all.iter().filter(|column| !matches!(column.source, PropertySource::Own)).count();
        Self { keys: all.iter().map(|column| column.key.clone()).collect(), all, by_key, elsewhere }
    }

    /// Distributes the values of an item to the columns by merging both sorted lists. Returns the
    /// maximum number of values to present.
    pub(super) fn hold(&mut self, own: Properties) -> usize {
        self.all.iter_mut().for_each(|column| column.held = None);
        let (mut columns, mut count) = (self.by_key.iter(), self.elsewhere);
        for (key, value) in own {
            let column =
                pass_to(&mut columns, key.as_bytes()).and_then(|place| self.all.get_mut(place));
            if let Some(column) = column {
                column.held = Some(value);
                count += 1;
            }
        }
        count
    }

    /// As [`Self::hold`], recording positions in a stored row.
    pub(super) fn find(&mut self, row: &ItemRow<'_>) -> Result<usize> {
        self.all.iter_mut().for_each(|column| column.at = None);
        let (mut columns, mut count) = (self.by_key.iter(), self.elsewhere);
        for held in row.values() {
            let (key, value) = held?;
            let column = pass_to(&mut columns, key).and_then(|place| self.all.get_mut(place));
            if let Some(column) = column {
                column.at = Some(value.at());
                count += 1;
            }
        }
        Ok(count)
    }
}

/// Advances to the column of `key`; keys are passed in ascending order.
fn pass_to(columns: &mut std::slice::Iter<'_, (PropertyKey, usize)>, key: &[u8]) -> Option<usize> {
    while let Some((known, place)) = columns.as_slice().first() {
        let order =
            if known.as_bytes() == key { Ordering::Equal } else { known.as_bytes().cmp(key) };
        // The schema has no such column: a dropped property may have left a value.
        if order.is_gt() {
            break;
        }
        columns.next();
        if order.is_eq() {
            return Some(*place);
        }
    }
    None
}
