//! Reading JSON strictly: an unknown field, an unknown value or a wrong type is an error that names
//! its path.

use serde_json::{Map, Value};

use crate::{
    AssetId, Author, BlockId, Color, CommentId, Day, DayRef, DocumentId, Error, FolderId, Limits,
    Result, SpaceId, Timestamp,
};

/// What can be read from a JSON value.
pub trait FromJson: Sized {
    /// Reads `value`. The error's path is relative to it.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] with the path of the first thing that does not fit.
    fn from_json(value: Value) -> Result<Self>;
}

/// Reads a request from JSON text. Unlike `serde_json::from_str` it reads any nesting that the page
/// limit allows, and its error has the path apart from the message.
///
/// # Errors
/// [`crate::ErrorKind::LimitExceeded`] if the text is longer or nested deeper than `limits` allow,
/// and [`crate::ErrorKind::Validation`] if it is no JSON or does not fit.
///
/// ```
/// use leafbase_model::{json, InsertBlocks, Limits};
/// let body = r#"{"blocks":[{"type":"text","listStyle":"dotted"}],"position":{"position":"end","pageId":"x"}}"#;
/// let error = json::from_str::<InsertBlocks>(body, &Limits::default()).unwrap_err();
/// assert_eq!(error.path(), "blocks[0].listStyle");
/// ```
pub fn from_str<T: FromJson>(text: &str, limits: &Limits) -> Result<T> {
    if text.len() > limits.json {
        return Err(Error::limit("bytes of JSON in one request", limits.json, text.len()));
    }
    // Two levels for each page or folder (its object, the list in it), and a few for what stands
    // around and inside blocks.
    let deepest = limits.deepest_page().max(limits.deepest_folder()) * 2 + 16;
    let nested = nesting(text);
    if nested > deepest {
        return Err(Error::limit("nesting of JSON", deepest, nested));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let value = <Value as serde::Deserialize>::deserialize(&mut reader).map_err(not_json)?;
    reader.end().map_err(not_json)?;
    T::from_json(value)
}

fn not_json(error: serde_json::Error) -> Error {
    Error::validation(format!("not JSON: {error}")).with_source(error)
}

/// How deep brackets nest in `text`, those within strings left out.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Makes serde read a type through [`FromJson`], so that any serde format of self-describing values
/// gives the same strictness.
macro_rules! deserialize_through_json {
    ($($name:ty),* $(,)?) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let value = <serde_json::Value as serde::Deserialize>::deserialize(deserializer)?;
                <Self as $crate::json::FromJson>::from_json(value).map_err(serde::de::Error::custom)
            }
        }
    )*};
}
pub(crate) use deserialize_through_json;

/// `text` in quotes for a message, cut short if long.
pub fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(40).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

/// What `value` is, for a message that says what came.
pub fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
    }
}

pub(crate) fn wrong_type(expected: &str, value: &Value) -> Error {
    Error::validation(format!("expected {expected}, got {}", describe(value)))
}

/// An object whose fields are taken one by one; what is left in the end is unknown.
pub(crate) struct Object {
    fields: Map<String, Value>,
}

impl Object {
    pub(crate) fn new(value: Value) -> Result<Self> {
        match value {
            Value::Object(fields) => Ok(Self { fields }),
            other => Err(wrong_type("an object", &other)),
        }
    }

    /// The field's raw value, if it is given.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.fields.remove(name)
    }

    pub(crate) fn optional<T: FromJson>(&mut self, name: &str) -> Result<Option<T>> {
        self.take(name).map(|value| T::from_json(value).map_err(|error| error.at(name))).transpose()
    }

    pub(crate) fn required<T: FromJson>(&mut self, name: &str) -> Result<T> {
        self.optional(name)?.ok_or_else(|| Error::validation("is missing").at(name))
    }

    /// `Some(None)` if the field is given as `null`, which clears it.
    #[expect(clippy::option_option, reason = "not given, cleared, given: the three cases of JSON")]
    pub(crate) fn nullable<T: FromJson>(&mut self, name: &str) -> Result<Option<Option<T>>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Null) => Ok(Some(None)),
            Some(value) => {
                T::from_json(value).map(|value| Some(Some(value))).map_err(|error| error.at(name))
            }
        }
    }

    /// What was not taken yet, as an object.
    pub(crate) fn rest(self) -> Value {
        Value::Object(self.fields)
    }

    pub(crate) fn finish(self) -> Result<()> {
        match self.fields.keys().next() {
            None => Ok(()),
            Some(name) => Err(Error::validation("unknown field").at(name)),
        }
    }
}

impl FromJson for String {
    fn from_json(value: Value) -> Result<Self> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(wrong_type("a string", &other)),
        }
    }
}

impl FromJson for bool {
    fn from_json(value: Value) -> Result<Self> {
        value.as_bool().ok_or_else(|| wrong_type("true or false", &value))
    }
}

impl FromJson for u64 {
    fn from_json(value: Value) -> Result<Self> {
        value.as_u64().ok_or_else(|| wrong_type("a whole number, 0 or more", &value))
    }
}

impl FromJson for i64 {
    fn from_json(value: Value) -> Result<Self> {
        value.as_i64().ok_or_else(|| wrong_type("a whole number", &value))
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(value: Value) -> Result<Self> {
        let Value::Array(values) = value else { return Err(wrong_type("an array", &value)) };
        let read = |(index, value)| {
            T::from_json(value).map_err(|error| error.at(format_args!("[{index}]")))
        };
        values.into_iter().enumerate().map(read).collect()
    }
}

/// One or several: a single value, or an array of them.
pub(crate) fn one_or_many<T: FromJson>(value: Value) -> Result<Vec<T>> {
    if value.is_array() { Vec::from_json(value) } else { T::from_json(value).map(|one| vec![one]) }
}

macro_rules! from_text {
    ($($name:ty: $what:literal),* $(,)?) => {$(
        impl $crate::json::FromJson for $name {
            fn from_json(value: serde_json::Value) -> $crate::Result<Self> {
                match value {
                    serde_json::Value::String(text) => text.parse(),
                    other => Err($crate::json::wrong_type($what, &other)),
                }
            }
        }
    )*};
}
pub(crate) use from_text;
from_text!(Author: "a string", Color: "a colour #rrggbb", Day: "a day YYYY-MM-DD", DayRef: "a day", Timestamp: "an instant");

macro_rules! from_id {
    ($($name:ty),* $(,)?) => {$(
        impl FromJson for $name {
            /// A malformed ID reads as [`Self::NIL`], which is never found: it looks like any other
            /// unknown ID.
            fn from_json(value: Value) -> Result<Self> {
                match value {
                    Value::String(text) => Ok(text.parse().unwrap_or(Self::NIL)),
                    other => Err(wrong_type("an ID", &other)),
                }
            }
        }
    )*};
}
from_id!(AssetId, BlockId, CommentId, DocumentId, FolderId, SpaceId);

/// An enum whose values have a name on the wire, and maybe others that are read, too: `Boolean =
/// "boolean" | "checkbox"`.
macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:literal $(| $alias:literal)*),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$value_doc])* $value),* }

        impl $name {
            /// Every value, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$value),*];

            /// The name on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $text),* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Error;

            fn from_str(text: &str) -> $crate::Result<Self> {
                let read = match text {
                    $($text $(| $alias)* => Some(Self::$value),)*
                    _ => None,
                };
                read.ok_or_else(|| {
                    let known: Vec<_> = Self::ALL.iter().map(|value| value.as_str()).collect();
                    let got = $crate::json::quoted(text);
                    $crate::Error::validation(format!("unknown value {got}, expected one of {}", known.join(", ")))
                })
            }
        }

        #[cfg(feature = "schemars")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::json_schemas::one_of_texts(&[$($text),*])
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        $crate::json::from_text!($name: "a string");
        $crate::json::deserialize_through_json!($name);
    };
}
pub(crate) use wire_enum;
