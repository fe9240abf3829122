//! Values of an item as replies show them.

use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, Serializer};

use crate::{ItemValue, PropertyKey, Result};

/// The values of an item as a reply shows them, by key, in the order of the schema. All items of a reply share their keys. As JSON: an
/// object.
///
/// ```
/// use leafbase_model::{ItemValue, ItemValues, PropertyValue};
///
/// let values = ItemValues::from_iter([("pages", ItemValue::Value(PropertyValue::Number(412.0)))]);
/// assert_eq!(values.get("pages"), Some(&ItemValue::Value(PropertyValue::Number(412.0))));
/// assert_eq!(values.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["pages"]);
/// ```
// Items are read by the thousand: a key of its own for each value would cost more than most values do.
#[derive(Clone, Default)]
pub struct ItemValues {
    keys: Arc<[PropertyKey]>,
    /// Each with the place of its key.
    values: Vec<(u32, ItemValue)>,
}

impl ItemValues {
    /// Values by the places of their keys in `keys`; one at a place that is not there is not shown.
    pub fn new(keys: Arc<[PropertyKey]>, values: Vec<(u32, ItemValue)>) -> Self {
        Self { keys, values }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&ItemValue> {
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// Every key and value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ItemValue)> {
        self.values.iter().filter_map(|(place, value)| Some((self.keys.get(to_usize(*place))?.as_str(), value)))
    }
}

fn to_usize(place: u32) -> usize {
    usize::try_from(place).unwrap_or(usize::MAX)
}

impl IntoIterator for ItemValues {
    type Item = (PropertyKey, ItemValue);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    /// Every key and value.
    fn into_iter(self) -> Self::IntoIter {
        let Self { keys, values } = self;
        let entry = |(place, value)| Some((keys.get(to_usize(place))?.clone(), value));
        values.into_iter().filter_map(entry).collect::<Vec<_>>().into_iter()
    }
}

impl<K: Into<PropertyKey>> FromIterator<(K, ItemValue)> for ItemValues {
    fn from_iter<I: IntoIterator<Item = (K, ItemValue)>>(values: I) -> Self {
        let (keys, values): (Vec<PropertyKey>, Vec<_>) =
            values.into_iter().map(|(key, value)| (key.into(), value)).unzip();
        Self { keys: keys.into(), values: (0..).zip(values).collect() }
    }
}

impl PartialEq for ItemValues {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for ItemValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for ItemValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}
