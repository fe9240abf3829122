//! Values of a collection item by property key.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::json::{FromJson, Object, wrong_type};
use crate::{BlockId, Day, Error, Result};

/// The value of one property.
#[derive(Clone, Debug, PartialEq)]
pub enum PropertyValue {
    /// Text, a URL, an e-mail address, a phone number or the option of a single select.
    Text(String),
    /// A finite number.
    Number(f64),
    /// Yes or no.
    Boolean(bool),
    /// A day.
    Date(Day),
    /// The options of a multiple select.
    Options(Vec<String>),
    /// Items of the related collection.
    Relations(Vec<BlockId>),
}

/// What the property of a key is to become: none clears it.
pub type PropertyChange = (String, Option<PropertyValue>);

/// Values by property key, in the order of the keys.
// A list and no map: items are read by the thousand, have few values each, and are kept in this
// order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties(Vec<(String, PropertyValue)>);

impl Properties {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&PropertyValue> {
        self.0.get(self.find(key).ok()?).map(|(_, value)| value)
    }

    /// Takes the value under `key` out, with the key.
    pub fn take(&mut self, key: &str) -> Option<(String, PropertyValue)> {
        self.find(key).ok().map(|at| self.0.remove(at))
    }

    /// Sets the value under `key`, or clears it.
    pub fn set(&mut self, key: impl Into<String>, value: Option<PropertyValue>) {
        let key = key.into();
        drop(self.take(&key));
        if let (Some(value), Err(at)) = (value, self.find(&key)) {
            self.0.insert(at, (key, value));
        }
    }

    /// Puts changes onto the values: what each key named is to become.
    pub fn apply(&mut self, changes: impl IntoIterator<Item = PropertyChange>) {
        for (key, value) in changes {
            self.set(key, value);
        }
    }

    /// Every key and value, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PropertyValue)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Every value, in the order of the keys.
    pub fn values(&self) -> impl Iterator<Item = &PropertyValue> {
        self.0.iter().map(|(_, value)| value)
    }

    /// Every value to be changed where it is, in the order of the keys.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut PropertyValue> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// Where `key` is, or would be.
    fn find(&self, key: &str) -> std::result::Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.as_str().cmp(key))
    }
}

impl IntoIterator for Properties {
    type Item = (String, PropertyValue);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    /// Every key and value, in the order of the keys.
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<PropertyValue> for Value {
    /// The value as requests give it.
    fn from(value: PropertyValue) -> Self {
        serde_json::to_value(value).unwrap_or_default()
    }
}

impl FromIterator<(String, PropertyValue)> for Properties {
    fn from_iter<I: IntoIterator<Item = (String, PropertyValue)>>(values: I) -> Self {
        let mut all: Vec<_> = values.into_iter().collect();
        if !all.is_sorted_by(|(one, _), (next, _)| one < next) {
            // Of a key that comes twice the last value counts, as it would if one was set after the
            // other.
            all.reverse();
            all.sort_by(|(one, _), (other, _)| one.cmp(other));
            all.dedup_by(|(later, _), (first, _)| later == first);
        }
        Self(all)
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

/// The number without a fraction that reads back as the same one: `3`, not `3.0`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the result is compared with the number"
)]
fn whole(number: f64) -> Option<i64> {
    let whole = number as i64;
    (whole.unsigned_abs() < 1 << 53 && (whole as f64).to_bits() == number.to_bits())
        .then_some(whole)
}

impl FromJson for PropertyValue {
    /// Reads a value without a schema: a day reads as text, since only the property's type tells
    /// them apart.
    fn from_json(value: Value) -> Result<Self> {
        match value {
            Value::String(text) => Ok(Self::Text(text)),
            Value::Bool(value) => Ok(Self::Boolean(value)),
            Value::Number(number) => {
                // There is one zero.
                let read = number.as_f64().map(|number| Self::Number(number + 0.0));
                read.ok_or_else(|| Error::validation("expected a finite number"))
            }
            Value::Array(_) => Vec::from_json(value).map(Self::Options),
            Value::Object(_) => {
                let mut object = Object::new(value)?;
                let items: Vec<RelatedReference> = object.required("relations")?;
                object.finish()?;
                Ok(Self::Relations(items.into_iter().map(|item| item.0).collect()))
            }
            Value::Null => Err(wrong_type("a property value", &value)),
        }
    }
}

struct RelatedReference(BlockId);

impl FromJson for RelatedReference {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let id = object.required("blockId")?;
        // Replies show it, and a request may send back what a reply showed.
        let _: Option<String> = object.optional("title")?;
        object.finish()?;
        Ok(Self(id))
    }
}
