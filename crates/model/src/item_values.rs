//! Property values of items in replies.

use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::{BlockId, PropertyKey, PropertyValue, Result, SharedText};

/// The property values of an item in a reply, by key, in schema order. The items of one reply share
/// their keys. Serializes as an object.
///
/// ```
/// use leafbase_model::{ItemValue, ItemValues, PropertyValue};
///
/// let values = ItemValues::from_iter([("pages", ItemValue::Value(PropertyValue::Number(412.0)))]);
/// assert_eq!(values.get("pages"), Some(&ItemValue::Value(PropertyValue::Number(412.0))));
/// assert_eq!(values.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["pages"]);
/// ```
// Replies contain thousands of items: one allocation per key or per item would cost more than
// reading the values, so all items of a page share one buffer and one list of keys.
#[derive(Clone, Default)]
pub struct ItemValues {
    page: Arc<SharedValues>,
    /// Index of the item in its page.
    from: usize,
    to: usize,
}

/// The values of all items of a page.
#[derive(Default)]
struct SharedValues {
    keys: Arc<[PropertyKey]>,
    /// Each value with the index of its key.
    values: Vec<(u32, ItemValue)>,
}

impl ItemValues {
    /// Values with the index of their key in `keys`, which must be in range.
    pub fn new(keys: Arc<[PropertyKey]>, values: Vec<(u32, ItemValue)>) -> Self {
        debug_assert!(
            values.iter().all(|(index, _)| to_usize(*index) < keys.len()),
            "each value has a key"
        );
        let to = values.len();
        Self { page: Arc::new(SharedValues { keys, values }), from: 0, to }
    }

    /// The values of several items in one shared buffer, which is freed with the last of them: the
    /// values of an item end at the next index in `ends`.
    pub fn of_several(
        keys: Arc<[PropertyKey]>,
        values: Vec<(u32, ItemValue)>,
        ends: impl IntoIterator<Item = usize>,
    ) -> impl Iterator<Item = Self> {
        let page = Arc::new(SharedValues { keys, values });
        ends.into_iter().scan(0, move |end, to| {
            // Half-open ranges: the values of an item begin where those of the previous one end.
            let from = std::mem::replace(end, to);
            debug_assert!(from <= to && to <= page.values.len(), "ends ascend within the values");
            Some(Self { page: page.clone(), from, to })
        })
    }

    fn values(&self) -> &[(u32, ItemValue)] {
        let values = self.page.values.get(self.from..self.to);
        debug_assert!(values.is_some(), "the range of an item is within its page");
        values.unwrap_or(&[])
    }

    fn key(&self, place: u32) -> Option<&PropertyKey> {
        self.page.keys.get(to_usize(place))
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.values().is_empty()
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.values().len()
    }

    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&ItemValue> {
        // Linear: values are in schema order, not sorted by key.
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// Iterates over keys and values.
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

    /// Clones all keys and values.
    fn into_iter(self) -> Self::IntoIter {
        let entry =
            |(place, value): &(u32, ItemValue)| Some((self.key(*place)?.clone(), value.clone()));
        self.values().iter().filter_map(entry).collect::<Vec<_>>().into_iter()
    }
}

impl<K: Into<PropertyKey>> FromIterator<(K, ItemValue)> for ItemValues {
    fn from_iter<I: IntoIterator<Item = (K, ItemValue)>>(values: I) -> Self {
        // Keys are not deduplicated: a single item has each key once.
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

/// A related item. As JSON: `{"blockId", "title"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RelatedItem {
    /// The ID of the item's block.
    pub block_id: BlockId,
    /// The title: inline markdown.
    pub title: SharedText,
}

/// The value of a property in a reply. Both ends of a relation have the same form, whichever end
/// stores it.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemValue {
    /// A stored value; never a relation.
    Value(PropertyValue),
    /// Related items, at least one. As JSON: `{"relations": [{"blockId", "title"}]}`.
    Relations(Vec<RelatedItem>),
}

impl Serialize for ItemValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Relations(items) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("relations", items)?;
                map.end()
            }
        }
    }
}

/// The schema-dependent fields of an item that a reply shows as a block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemFields {
    /// The content key of the schema, under which the title is serialized.
    pub content_key: PropertyKey,
    /// Property values by key, in schema order. Both ends of a relation have the same form.
    pub properties: ItemValues,
}
