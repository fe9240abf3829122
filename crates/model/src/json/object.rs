//! Objects of hand-written types, and `deserialize_with` functions for fields of derived ones.

use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::{Map, Value};

use super::reader::{self, Refused, missing_field, raw_value, read, wrong_type};
use crate::{Error, Result};

/// A JSON object whose known fields are removed one by one; the remaining ones are unknown.
pub(crate) struct Object {
    fields: Map<String, Value>,
    /// The known fields, which the error for an unknown one lists.
    known: Vec<&'static str>,
}

impl Object {
    pub(crate) fn new(value: Value) -> Result<Self> {
        match value {
            Value::Object(fields) => Ok(Self { fields, known: Vec::new() }),
            other => Err(wrong_type("an object", &other)),
        }
    }

    /// Removes a field and returns its raw value.
    pub(crate) fn take_raw(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.fields.remove(name)
    }

    /// Removes a field that errors do not list among the known ones, such as a read-only field of
    /// replies.
    pub(crate) fn take_unlisted(&mut self, name: &str) -> Option<Value> {
        self.fields.remove(name)
    }

    /// The raw value of a field.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// Sets the raw value of a field.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.fields.insert(name.to_owned(), value);
    }

    /// Removes and reads a field; `null` counts as absent.
    pub(crate) fn optional<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>> {
        match self.take_raw(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => reader::at(name, || read(value)).map(Some),
        }
    }

    /// Removes and reads a field with a default.
    pub(crate) fn or_default<T: DeserializeOwned + Default>(
        &mut self,
        name: &'static str,
    ) -> Result<T> {
        self.optional(name).map(Option::unwrap_or_default)
    }

    pub(crate) fn required<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<T> {
        self.optional(name)?.ok_or_else(|| missing_field(name))
    }

    /// Removes and reads a field with one value or an array of values.
    pub(crate) fn one_or_many<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<Vec<T>>> {
        match self.take_raw(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => reader::at(name, || read_one_or_many(value)).map(Some),
        }
    }

    /// Removes and reads a field with any number of values; none if absent.
    pub(crate) fn any_number<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Vec<T>> {
        self.one_or_many(name).map(Option::unwrap_or_default)
    }

    /// Removes an array of raw values; empty if absent.
    pub(crate) fn array(&mut self, name: &'static str) -> Result<Vec<Value>> {
        match self.take_raw(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            // Moved, not deserialized: that would rebuild the values, recursing over their depth.
            Some(value) => array(value).map_err(|error| error.at(name)),
        }
    }

    /// Removes an object of raw values; empty if absent.
    pub(crate) fn object(&mut self, name: &'static str) -> Result<Map<String, Value>> {
        match self.take_raw(name) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(value) => Self::new(value).map(Self::rest).map_err(|error| error.at(name)),
        }
    }

    /// Removes the fields that `is_split` selects by name, and returns them.
    pub(crate) fn split_off(&mut self, is_split: impl Fn(&str) -> bool) -> Map<String, Value> {
        let fields = std::mem::take(&mut self.fields);
        let (split, rest) = fields.into_iter().partition(|(name, _)| is_split(name));
        self.fields = rest;
        split
    }

    /// The remaining fields.
    pub(crate) fn rest(self) -> Map<String, Value> {
        self.fields
    }

    /// Refuses or ignores the remaining fields.
    pub(crate) fn finish(self) -> Result<()> {
        self.fields.keys().try_for_each(|name| reader::unknown_field(name, &self.known))
    }
}

/// The elements of an array as raw values.
pub(crate) fn array(value: Value) -> Result<Vec<Value>> {
    match value {
        Value::Array(values) => Ok(values),
        other => Err(wrong_type("an array", &other)),
    }
}

fn read_one_or_many<T: DeserializeOwned>(value: Value) -> Result<Vec<T>> {
    if value.is_array() { read(value) } else { read(value).map(|one| vec![one]) }
}

/// `deserialize_with` for one value or an array of values.
pub(crate) fn one_or_many<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    // The value decides between the two forms; buffering keeps the error of the chosen one.
    let value = raw_value(deserializer)?;
    read_one_or_many(value).map_err(refused)
}

/// `deserialize_with` for an optional field with one value or an array of values.
pub(crate) fn optional_one_or_many<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    match raw_value(deserializer)? {
        Value::Null => Ok(None),
        value => read_one_or_many(value).map(Some).map_err(refused),
    }
}

/// `deserialize_with` for a list with one value or an array of values; empty for `null`.
pub(crate) fn one_or_many_or_none<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    optional_one_or_many(deserializer).map(Option::unwrap_or_default)
}

/// `deserialize_with` for a field that `null` clears: `Some(None)` for `null`.
#[expect(clippy::option_option, reason = "not given, cleared, given: the three cases of JSON")]
pub(crate) fn nullable<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    match raw_value(deserializer)? {
        Value::Null => Ok(Some(None)),
        value => read(value).map(|value| Some(Some(value))).map_err(refused),
    }
}

/// `deserialize_with` for a field with a default, which `null` selects, too.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Converts an error of this crate into one of any deserializer.
pub(crate) fn refused<E: serde::de::Error>(error: Error) -> E {
    E::custom(Refused(error))
}
