//! JSON Schemas (2020-12) of requests, replies and errors, for hosts that tell others what to send:
//! the feature `schemars`.
//!
//! What a request may hold is closed: a field that it does not name is refused, here as when it is
//! read. Replies are open, because a later version may say more. What only the state of a space can
//! tell, such as which field a block of which type has, is left to the operations.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::requests::blocks::MaxDepth;

pub(crate) use blocks::PageDraft;

mod blocks;
mod changes;
mod collections;
mod nouns;
mod replies;
mod requests;

/// The JSON Schema of an object, field by field.
struct Shape<'g> {
    generator: &'g mut SchemaGenerator,
    about: &'static str,
    fields: Map<String, Value>,
    required: Vec<&'static str>,
    also: Map<String, Value>,
}

impl<'g> Shape<'g> {
    fn new(generator: &'g mut SchemaGenerator, about: &'static str) -> Self {
        Self { generator, about, fields: Map::new(), required: Vec::new(), also: Map::new() }
    }

    fn of<T: JsonSchema>(&mut self) -> Schema {
        self.generator.subschema_for::<T>()
    }

    fn field(mut self, name: &'static str, mut schema: Schema, about: &'static str) -> Self {
        schema.insert("description".to_owned(), about.into());
        self.fields.insert(name.to_owned(), schema.to_value());
        self
    }

    /// A field that is always there.
    fn must<T: JsonSchema>(mut self, name: &'static str, about: &'static str) -> Self {
        self.required.push(name);
        self.may::<T>(name, about)
    }

    /// A field that may be left out.
    fn may<T: JsonSchema>(mut self, name: &'static str, about: &'static str) -> Self {
        let schema = self.of::<T>();
        self.field(name, schema, about)
    }

    /// A field that may be left out, and that `null` clears.
    fn clears<T: JsonSchema>(mut self, name: &'static str, about: &'static str) -> Self {
        let schema = self.of::<T>();
        self.field(name, json_schema!({ "anyOf": [schema, { "type": "null" }] }), about)
    }

    /// A field that may be left out, and takes one value or several.
    fn some<T: JsonSchema>(mut self, name: &'static str, about: &'static str) -> Self {
        let schema = self.of::<T>();
        self.field(
            name,
            json_schema!({ "anyOf": [schema, { "type": "array", "items": schema }] }),
            about,
        )
    }

    /// How much of a list is asked for.
    fn paging(self) -> Self {
        let limit = json_schema!({ "type": "integer", "minimum": 1 });
        self.field("limit", limit, "The most items of one reply; all if it is left out.")
            .may::<String>("cursor", "Where the reply goes on: the nextCursor of the one before.")
    }

    /// Exactly one of these fields is given.
    fn exactly_one(mut self, names: &[&str]) -> Self {
        let one = |name: &&str| json!({ "required": [name] });
        self.also.insert("oneOf".to_owned(), names.iter().map(one).collect());
        self
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.also.insert(name.to_owned(), value);
        self
    }

    /// Other fields are refused.
    fn closed(self) -> Schema {
        self.with("additionalProperties", false.into()).open()
    }

    /// Other fields are nobody's matter.
    fn open(self) -> Schema {
        let mut schema = json_schema!({ "type": "object", "description": self.about, "properties": self.fields });
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.into());
        }
        self.also.into_iter().for_each(|(name, value)| drop(schema.insert(name, value)));
        schema
    }
}

/// The schema of each type by its shape: `Fetch, "Reads a block." => |shape| shape.closed();`.
macro_rules! shapes {
    ($($name:ident, $about:literal => $build:expr;)*) => {$(
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let build: fn($crate::json_schemas::Shape<'_>) -> schemars::Schema = $build;
                build($crate::json_schemas::Shape::new(generator, $about))
            }
        }
    )*};
}
use shapes;

/// Types that are written as a text.
macro_rules! texts {
    ($($name:ident, $about:literal, $pattern:literal;)*) => {$(
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "description": $about, "pattern": $pattern })
            }
        }
    )*};
}
use texts;

/// The schema of a text that is one of these.
pub(crate) fn one_of_texts(names: &[&str]) -> Schema {
    json_schema!({ "type": "string", "enum": names })
}

/// One value, or an array of them: a set of IDs in a request.
pub(crate) struct OneOrMany<T>(std::marker::PhantomData<T>);

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}

impl JsonSchema for MaxDepth {
    fn schema_name() -> Cow<'static, str> {
        "MaxDepth".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": -1 })
    }
}
