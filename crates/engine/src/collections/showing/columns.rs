//! The properties of a collection as its items are shown, and where their values are found.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use leafbase_model::{BlockId, PropertyKey, PropertyValue, Result};

/// A property, and where its values are found.
pub(super) struct Column {
    pub(super) key: PropertyKey,
    /// The collection that a relation leads to.
    pub(super) target: Option<BlockId>,
    pub(super) source: Source,
    /// The value that the item at hand holds itself.
    pub(super) held: Option<PropertyValue>,
}

/// Where the values of a property are found.
pub(super) enum Source {
    /// In the item itself: scalars, and relations at the end that owns them.
    Own,
    /// In the items that name it, looked up item by item.
    Lookup,
    /// In the items that name it, all of which were read before. Of a symmetric relation in the item itself, too.
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
        let mut by_key: Vec<_> = all.iter().enumerate().map(|(place, column)| (column.key.clone(), place)).collect();
        by_key.sort_unstable();
        let elsewhere = all.iter().filter(|column| !matches!(column.source, Source::Own)).count();
        Self { keys: all.iter().map(|column| column.key.clone()).collect(), all, by_key, elsewhere }
    }

    /// Puts the values of an item into the columns, of which each is read by `read`: both lists are walked once. Gives how many values
    /// the item may show.
    pub(super) fn hold<K: AsRef<[u8]>, V>(
        &mut self,
        own: impl Iterator<Item = Result<(K, V)>>,
        read: impl Fn(V) -> Result<PropertyValue>,
    ) -> Result<usize> {
        self.all.iter_mut().for_each(|column| column.held = None);
        let (mut own, mut columns, mut count) = (own, self.by_key.iter(), self.elsewhere);
        let (mut next, mut column) = (own.next().transpose()?, columns.next());
        while let (Some((key, _)), Some((known, place))) = (&next, column) {
            match key.as_ref().cmp(known.as_bytes()) {
                Ordering::Less => next = own.next().transpose()?,
                Ordering::Greater => column = columns.next(),
                Ordering::Equal => {
                    if let (Some(column), Some((_, value))) = (self.all.get_mut(*place), next.take()) {
                        column.held = Some(read(value)?);
                        count += 1;
                    }
                    (next, column) = (own.next().transpose()?, columns.next());
                }
            }
        }
        Ok(count)
    }
}
