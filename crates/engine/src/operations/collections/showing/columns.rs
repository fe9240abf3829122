//! The properties of a collection as its items are shown, and where their values are found.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use leafbase_model::{BlockId, Properties, PropertyKey, PropertyValue, Result};
use leafbase_store::{ItemRow, ValueAt};

/// A property, and where its values are found.
pub(super) struct Column {
    pub(super) key: PropertyKey,
    /// The collection that a relation leads to.
    pub(super) target: Option<BlockId>,
    pub(super) source: Source,
    /// The value that the item at hand holds itself.
    pub(super) held: Option<PropertyValue>,
    /// Where it stands in the row of the item at hand.
    pub(super) at: Option<ValueAt>,
}

/// Where the values of a property are found.
pub(super) enum Source {
    /// In the item itself: scalars, and relations at the end that owns them.
    Own,
    /// In the items that name it, looked up item by item.
    Lookup,
    /// In the items that name it, all of which were read before. Of a symmetric relation in the
    /// item itself, too.
    Inverted(HashMap<BlockId, BTreeSet<BlockId>>),
}

/// The properties of a collection in the order of its schema.
pub(super) struct Columns {
    pub(super) all: Vec<Column>,
    /// Their keys, which all items shown share.
    pub(super) keys: Arc<[PropertyKey]>,
    /// Their places in the order of their keys, in which items hold their values.
    by_key: Vec<(PropertyKey, usize)>,
    /// How many may have a value that the item does not hold.
    elsewhere: usize,
}

impl Columns {
    pub(super) fn new(all: Vec<Column>) -> Self {
        let mut by_key: Vec<_> =
            all.iter().enumerate().map(|(place, column)| (column.key.clone(), place)).collect();
        by_key.sort_unstable();
        let elsewhere = all.iter().filter(|column| !matches!(column.source, Source::Own)).count();
        Self { keys: all.iter().map(|column| column.key.clone()).collect(), all, by_key, elsewhere }
    }

    /// Puts the values of an item into the columns: both lists are walked once. Gives how many
    /// values the item may show.
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

    /// Finds the values of an item in its row. As [`Self::hold`].
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

/// The place of the column of `key`, which stands behind those that were asked for before.
fn pass_to(columns: &mut std::slice::Iter<'_, (PropertyKey, usize)>, key: &[u8]) -> Option<usize> {
    while let Some((known, place)) = columns.as_slice().first() {
        let order =
            if known.as_bytes() == key { Ordering::Equal } else { known.as_bytes().cmp(key) };
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
