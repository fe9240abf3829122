//! Strict deserialization of requests from JSON: an unknown field, an unknown value or a wrong type
//! is an error with its path.
//!
//! Most types derive `Deserialize`; `Object` serves types whose fields depend on each other. All
//! of them are read through `reader`.

mod message;
mod object;
mod query;
mod read_only;
mod reader;
mod recursive;

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::Visitor;
use serde_json::Value;

pub use serde::de::DeserializeOwned;

use crate::{Error, Limits, Result};

pub use message::{describe, expected_one_of, quoted};

pub(crate) use message::noun;
pub(crate) use object::{
    Object, array, nullable, one_or_many, one_or_many_or_none, optional_one_or_many, or_default,
    refused,
};
pub(crate) use read_only::ReadOnlyField;
pub(crate) use reader::{Refused, at, missing_field, raw_value, read, unknown_field, wrong_type};
pub(crate) use recursive::{RecursiveDraft, read_recursive};

/// The handling of fields that a request type does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnknownFields {
    /// Refuse the request.
    #[default]
    Refuse,
    /// Ignore the field and report its path in [`ReadRequest::ignored`], for hosts that serve newer
    /// clients. The operations of a [`crate::Batch`] are read later and refuse theirs.
    Ignore,
}

/// A request and the fields that were ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadRequest<T> {
    /// The request.
    pub request: T,
    /// The paths of the ignored fields, such as `blocks[3].opacity`; empty with
    /// [`UnknownFields::Refuse`].
    pub ignored: Vec<String>,
}

/// Deserialization from a JSON value with errors of this crate. Implemented for all deserializable
/// types.
pub trait FromJson: DeserializeOwned {
    /// Deserializes `value`. Unlike the error of `serde_json::from_value`, the error has a kind and
    /// a path.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] with the path of the first invalid value, and the kinds
    /// that the type itself adds, such as [`crate::ErrorKind::InvalidPosition`].
    fn from_json(value: Value) -> Result<Self> {
        read(value)
    }
}

impl<T: DeserializeOwned> FromJson for T {}

/// Deserializes a request from JSON text. Unlike `serde_json::from_str`, it bounds the length and
/// accepts any nesting that `limits` allow, and its errors have a path.
///
/// # Errors
/// [`crate::ErrorKind::LimitExceeded`] if the text is longer or nested deeper than `limits` allow,
/// [`crate::ErrorKind::Validation`] if it is not JSON, and errors of [`FromJson::from_json`].
///
/// ```
/// use leafbase_model::{json, InsertBlocks, Limits};
/// let body = r#"{"blocks": [{"type": "text", "listStyle": "dotted"}], "position": {}}"#;
/// let error = json::from_str::<InsertBlocks>(body, &Limits::default()).unwrap_err();
/// assert_eq!(error.path(), "blocks[0].listStyle");
/// ```
pub fn from_str<T: FromJson>(text: &str, limits: &Limits) -> Result<T> {
    read(parse(text, limits)?)
}

/// [`from_str`] with an option for unknown fields.
///
/// # Errors
/// As [`from_str`].
///
/// ```
/// use leafbase_model::json::{self, UnknownFields};
/// use leafbase_model::{DeleteBlocks, Limits};
/// let body = r#"{"blockIds": [], "reason": "spring cleaning"}"#;
/// let limits = Limits::default();
/// let read = json::from_str_with::<DeleteBlocks>(body, &limits, UnknownFields::Ignore)?;
/// assert_eq!(read.ignored, ["reason"]);
/// # Ok::<(), leafbase_model::Error>(())
/// ```
pub fn from_str_with<T: FromJson>(
    text: &str,
    limits: &Limits,
    unknown: UnknownFields,
) -> Result<ReadRequest<T>> {
    let value = parse(text, limits)?;
    read_with(unknown, || read(value))
}

fn read_with<T>(
    unknown: UnknownFields,
    read: impl FnOnce() -> Result<T>,
) -> Result<ReadRequest<T>> {
    let (request, ignored) = match unknown {
        UnknownFields::Refuse => (read(), Vec::new()),
        UnknownFields::Ignore => reader::ignoring_unknown(read),
    };
    Ok(ReadRequest { request: request?, ignored })
}

/// Deserializes a request from the query string of a URL, without `?`, and from the parameters of
/// its path, which are decoded already.
///
/// The query is percent-decoded, `+` is a blank. A text becomes a number or a boolean where the
/// field is one, and a repeated name a list; a comma has no meaning. Validation, limits, errors and
/// their paths are those of [`from_str`].
///
/// # Errors
/// As [`from_str`], and [`crate::ErrorKind::Validation`] for a query that is not percent-encoded
/// UTF-8 and for a name that the path has, too.
///
/// ```
/// use leafbase_model::{BlockId, GetItems, Limits, json};
/// let path = [("collectionId", "01K9Z3VW5R00000000000000A7")];
/// let request: GetItems = json::from_query("maxDepth=0&limit=50", &path, &Limits::default())?;
/// let books: BlockId = "01K9Z3VW5R00000000000000A7".parse()?;
/// assert_eq!(request, GetItems::of(books).depth(0).limit(50));
/// # Ok::<(), leafbase_model::Error>(())
/// ```
pub fn from_query<T: FromJson>(query: &str, path: &[(&str, &str)], limits: &Limits) -> Result<T> {
    from_query_with(query, path, limits, UnknownFields::Refuse).map(|read| read.request)
}

/// [`from_query`] with an option for unknown names.
///
/// # Errors
/// As [`from_query`].
///
/// ```
/// use leafbase_model::json::{self, UnknownFields};
/// use leafbase_model::{Fetch, Limits};
/// let (query, limits) = ("date=today&fetchBlocks=true", Limits::default());
/// let read = json::from_query_with::<Fetch>(query, &[], &limits, UnknownFields::Ignore)?;
/// assert_eq!((read.request, read.ignored), (Fetch::today(), vec!["fetchBlocks".to_owned()]));
/// # Ok::<(), leafbase_model::Error>(())
/// ```
pub fn from_query_with<T: FromJson>(
    query: &str,
    path: &[(&str, &str)],
    limits: &Limits,
    unknown: UnknownFields,
) -> Result<ReadRequest<T>> {
    let value = query::parse(query, path, limits)?;
    read_with(unknown, || reader::from_texts(|| read(value)))
}

fn parse(text: &str, limits: &Limits) -> Result<Value> {
    // The cheapest check comes first: nothing of an oversized text is scanned.
    if text.len() > limits.json {
        return Err(Error::limit("bytes of JSON in one request", limits.json, text.len()));
    }
    // Two levels per page or folder (the object and its list of children), plus a constant for the
    // enclosing request and the fields of the innermost block.
    let deepest = limits.deepest_page().max(limits.deepest_folder()) * 2 + 16;
    // Check the nesting before parsing: the parser recurses.
    let nested = nesting(text);
    debug_assert!(nested <= text.len(), "each level has a bracket");
    if nested > deepest {
        return Err(Error::limit("nesting of JSON", deepest, nested));
    }
    // Parsed into a value first: hand-written types need the whole object to choose a form.
    let mut reader = serde_json::Deserializer::from_str(text);
    // `nesting` has bounded the recursion by the limits of the space.
    reader.disable_recursion_limit();
    let value = <Value as serde::Deserialize>::deserialize(&mut reader).map_err(not_json)?;
    // Trailing text after the value is an error, too.
    reader.end().map_err(not_json)?;
    Ok(value)
}

fn not_json(error: serde_json::Error) -> Error {
    Error::validation(format!("the request is not JSON: {error}")).with_source(error)
}

/// The maximum nesting of brackets in `text`, outside of strings.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            // Brackets and quotes count only outside of strings and escapes.
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            // Unbalanced brackets are left to the parser.
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// `skip_serializing_if` for fields at their default.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Implements `Deserialize` for hand-written types by a function from a JSON value.
macro_rules! deserialize_by {
    ($($name:ty: $read:expr),* $(,)?) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> std::result::Result<Self, D::Error> {
                let read: fn(serde_json::Value) -> $crate::Result<Self> = $read;
                read($crate::json::raw_value(deserializer)?)
                    .map_err($crate::json::refused)
            }
        }
    )*};
}
pub(crate) use deserialize_by;

/// Deserializes text through `FromStr`.
pub(crate) struct TextVisitor<T> {
    pub(crate) expected: &'static str,
    pub(crate) read: PhantomData<T>,
}

impl<T: FromStr<Err = Error>> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(|error| E::custom(Refused(error)))
    }
}

/// Implements `Deserialize` through `FromStr` for types serialized as text.
macro_rules! from_text {
    ($($name:ty: $expected:literal),* $(,)?) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> std::result::Result<Self, D::Error> {
                deserializer.deserialize_str($crate::json::TextVisitor {
                    expected: $expected,
                    read: std::marker::PhantomData,
                })
            }
        }
    )*};
}
pub(crate) use from_text;

/// Declares an enum with its wire names, and aliases accepted on input: `Boolean = "boolean" |
/// "checkbox"`.
macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$value_doc:meta])* $value:ident = $text:literal $(| $alias:literal)*),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$value_doc])* $value),* }

        impl $name {
            /// All values, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$value),*];

            /// The wire name.
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
                    let noun = $crate::json::noun(stringify!($name));
                    $crate::Error::validation(format!(
                        "unknown {noun} {got}, expected one of {}",
                        known.join(", ")
                    ))
                })
            }
        }

        #[cfg(feature = "schemars")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::json::one_of_texts(&[$($text),*])
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(
                &self,
                serializer: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        $crate::json::from_text!($name: "a string");
    };
}
pub(crate) use wire_enum;

#[cfg(feature = "schemars")]
/// The schema of an enumeration of texts.
pub(crate) fn one_of_texts(names: &[&str]) -> schemars::Schema {
    schemars::json_schema!({ "type": "string", "enum": names })
}
