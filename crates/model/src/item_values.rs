//! Values of an item as replies show them.

use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, Serializer};

use crate::{ItemValue, PropertyKey, Result};

/// The values of an item as a reply shows them, by key, in the order of the schema. All items of a
/// reply share their keys. As JSON: an object.
///
/// ```
/// use leafbase_model::{ItemValue, ItemValues, PropertyValue};
///
/// let values = ItemValues::from_iter([("pages", ItemValue::Value(PropertyValue::Number(412.0)))]);
/// assert_eq!(values.get("pages"), Some(&ItemValue::Value(PropertyValue::Number(412.0))));
/// assert_eq!(values.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["pages"]);
/// ```
// Items are read by the thousand: a key of its own for each value would cost more than most values
// do, and memory of its own for the values of each item more than to read them.
#[derive(Clone, Default)]
pub struct ItemValues {
    page: Arc<Page>,
    /// Which of the page.
    from: usize,
    to: usize,
}

/// The values of some items.
#[derive(Default)]
struct Page {
    keys: Arc<[PropertyKey]>,
    /// Each with the place of its key.
    values: Vec<(u32, ItemValue)>,
}

impl ItemValues {
    /// Values by the places of their keys in `keys`; one at a place that is not there is not shown.
    pub fn new(keys: Arc<[PropertyKey]>, values: Vec<(u32, ItemValue)>) -> Self {
        let to = values.len();
        Self { page: Arc::new(Page { keys, values }), from: 0, to }
    }

    /// The values of several items, which share their memory as long as one of them is kept: those
    /// of an item end at the next one of `ends`.
    pub fn of_several(
        keys: Arc<[PropertyKey]>,
        values: Vec<(u32, ItemValue)>,
        ends: impl IntoIterator<Item = usize>,
    ) -> impl Iterator<Item = Self> {
        let page = Arc::new(Page { keys, values });
        ends.into_iter().scan(0, move |end, to| {
            let from = std::mem::replace(end, to);
            Some(Self { page: page.clone(), from, to })
        })
    }

    fn values(&self) -> &[(u32, ItemValue)] {
        self.page.values.get(self.from..self.to).unwrap_or_default()
    }

    fn key(&self, place: u32) -> Option<&PropertyKey> {
        self.page.keys.get(to_usize(place))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values().is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values().len()
    }

    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&ItemValue> {
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// Every key and value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ItemValue)> {
        self.values().iter().filter_map(|(place, value)| Some((self.key(*place)?.as_str(), value)))
    }
}

fn to_usize(place: u32) -> usize {
    usize::try_from(place).unwrap_or(usize::MAX)
}

impl IntoIterator for ItemValues {
    type Item = (PropertyKey, ItemValue);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    /// Every key and value, copied.
    fn into_iter(self) -> Self::IntoIter {
        let entry =
            |(place, value): &(u32, ItemValue)| Some((self.key(*place)?.clone(), value.clone()));
        self.values().iter().filter_map(entry).collect::<Vec<_>>().into_iter()
    }
}

impl<K: Into<PropertyKey>> FromIterator<(K, ItemValue)> for ItemValues {
    fn from_iter<I: IntoIterator<Item = (K, ItemValue)>>(values: I) -> Self {
        let (keys, values): (Vec<PropertyKey>, Vec<_>) =
            values.into_iter().map(|(key, value)| (key.into(), value)).unzip();
        Self::new(keys.into(), (0..).zip(values).collect())
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
