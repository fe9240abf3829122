//! Property values of collection items.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::json::{Object, deserialize_by, read, wrong_type};
use crate::{BlockId, Day, Error, Result};

/// The value of one property.
#[derive(Clone, Debug, PartialEq)]
pub enum PropertyValue {
    /// A text, a URL, an e-mail address, a phone number, or the option of a single select.
    Text(String),
    /// A finite number.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// A day.
    Date(Day),
    /// The options of a multiple select.
    Options(Vec<String>),
    /// Related items.
    Relations(Vec<BlockId>),
}

/// A property key with its new value; `None` clears the property.
pub type PropertyChange = (String, Option<PropertyValue>);

/// Property values, sorted by key.
// A sorted vector rather than a map: an item has few values, and scans decode thousands of items.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties(Vec<(String, PropertyValue)>);

impl Properties {
    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&PropertyValue> {
        // Binary search: items have few properties, but scans read many items.
        self.0.get(self.find(key).ok()?).map(|(_, value)| value)
    }

    /// Removes the value under `key` and returns it with the key.
    pub fn take(&mut self, key: &str) -> Option<(String, PropertyValue)> {
        self.find(key).ok().map(|at| self.0.remove(at))
    }

    /// Sets or clears the value under `key`.
    pub fn set(&mut self, key: impl Into<String>, value: Option<PropertyValue>) {
        let key = key.into();
        // Removed first, so that `None` clears the property.
        drop(self.take(&key));
        if let (Some(value), Err(at)) = (value, self.find(&key)) {
            self.0.insert(at, (key, value));
        }
        debug_assert!(self.is_sorted(), "properties are sorted by key, without duplicates");
    }

    /// Applies changes: each named key gets its new value.
    pub fn apply(&mut self, changes: impl IntoIterator<Item = PropertyChange>) {
        for (key, value) in changes {
            self.set(key, value);
        }
    }

    /// Iterates over keys and values in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PropertyValue)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Iterates over the values in key order.
    pub fn values(&self) -> impl Iterator<Item = &PropertyValue> {
        self.0.iter().map(|(_, value)| value)
    }

    /// Iterates over the values in key order, for editing.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut PropertyValue> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    fn is_sorted(&self) -> bool {
        self.0.is_sorted_by(|(one, _), (next, _)| one < next)
    }

    /// The index of `key`, or the index at which to insert it.
    fn find(&self, key: &str) -> std::result::Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.as_str().cmp(key))
    }
}

impl IntoIterator for Properties {
    type Item = (String, PropertyValue);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    /// Iterates over keys and values in key order.
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<PropertyValue> for Value {
    /// The value in the JSON form of requests.
    fn from(value: PropertyValue) -> Self {
        let json = serde_json::to_value(value);
        debug_assert!(json.is_ok(), "property values have string keys only");
        json.unwrap_or(Self::Null)
    }
}

impl FromIterator<(String, PropertyValue)> for Properties {
    fn from_iter<I: IntoIterator<Item = (String, PropertyValue)>>(values: I) -> Self {
        let mut all: Vec<_> = values.into_iter().collect();
        if !all.is_sorted_by(|(one, _), (next, _)| one < next) {
            // The last value of a duplicate key wins, as with consecutive calls of `set`.
            all.reverse();
            // Stable: after the reversal, the last value of a key precedes its duplicates.
            all.sort_by(|(one, _), (other, _)| one.cmp(other));
            all.dedup_by(|(later, _), (first, _)| later == first);
        }
        let properties = Self(all);
        debug_assert!(properties.is_sorted(), "properties are sorted by key, without duplicates");
        properties
    }
}

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Related {
    block_id: BlockId,
}

impl Serialize for PropertyValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => match whole(*number) {
                Some(number) => serializer.serialize_i64(number),
                None => serializer.serialize_f64(*number),
            },
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Date(day) => day.serialize(serializer),
            Self::Options(options) => options.serialize(serializer),
            Self::Relations(items) => {
                let related: Vec<_> =
                    items.iter().map(|item| Related { block_id: *item }).collect();
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("relations", &related)?;
                map.end()
            }
        }
    }
}

/// The integer that converts back to the same number, so that JSON has `3`, not `3.0`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the result is compared with the number"
)]
fn whole(number: f64) -> Option<i64> {
    // The cast saturates; the comparison of bits below detects any loss.
    let whole = number as i64;
    (whole.unsigned_abs() < 1 << 53 && (whole as f64).to_bits() == number.to_bits())
        .then_some(whole)
}

impl PropertyValue {
    /// Parses a value without its schema. A day parses as text: only the property type
    /// distinguishes them.
    fn read(value: Value) -> Result<Self> {
        match value {
            Value::String(text) => Ok(Self::Text(text)),
            Value::Bool(value) => Ok(Self::Boolean(value)),
            Value::Number(number) => {
                // Normalize negative zero.
                // Adding zero turns -0.0 into 0.0.
                let read = number.as_f64().map(|number| Self::Number(number + 0.0));
                read.ok_or_else(|| Error::validation("expected a finite number"))
            }
            // Relations have an object form, so that an array is always a list of options.
            Value::Array(_) => read(value).map(Self::Options),
            Value::Object(_) => {
                let mut object = Object::new(value)?;
                let items: Vec<RelatedReference> = object.required("relations")?;
                object.finish()?;
                Ok(Self::Relations(items.into_iter().map(|item| item.block_id).collect()))
            }
            Value::Null => Err(wrong_type("a property value", &value)),
        }
    }
}

deserialize_by!(PropertyValue: Self::read);

/// A related item in a request. Replies include the title, so requests may repeat it.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RelatedReference {
    block_id: BlockId,
    #[serde(default, rename = "title")]
    _title: Option<String>,
}
