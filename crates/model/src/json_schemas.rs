//! JSON Schemas (2020-12) of requests, replies and errors (feature `schemars`).
//!
//! Requests are closed objects: unknown fields are invalid, as for the deserializer. Replies are
//! open, so that later versions can add fields. Constraints that depend on the state of a space,
//! such as the fields of each block type, are checked by the operations. Most schemas are derived;
//! these modules have those of hand-written serializations.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

pub(crate) use blocks::PageDraft;

mod blocks;
mod changes;
mod collections;
mod nouns;
mod replies;
mod requests;

/// Builds the JSON Schema of an object field by field.
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

    /// A field with a description, unless its name says enough.
    fn field(mut self, name: &'static str, mut schema: Schema, about: &'static str) -> Self {
        if !about.is_empty() {
            schema.insert("description".to_owned(), about.into());
        }
        let previous = self.fields.insert(name.to_owned(), schema.to_value());
        debug_assert!(previous.is_none(), "the field {name} is declared twice");
        self
    }

    /// A required field.
    fn must<T: JsonSchema>(mut self, name: &'static str, about: &'static str) -> Self {
        self.required.push(name);
        self.may::<T>(name, about)
    }

    /// An optional field.
    fn may<T: JsonSchema>(mut self, name: &'static str, about: &'static str) -> Self {
        let schema = self.of::<T>();
        self.field(name, schema, about)
    }

    /// An optional field that `null` clears.
    fn clears<T: JsonSchema>(mut self, name: &'static str, about: &'static str) -> Self {
        let schema = self.of::<T>();
        self.field(name, json_schema!({ "anyOf": [schema, { "type": "null" }] }), about)
    }

    /// An optional field with one value or an array of values.
    fn some<T: JsonSchema>(mut self, name: &'static str, about: &'static str) -> Self {
        let schema = self.of::<T>();
        self.field(
            name,
            json_schema!({ "anyOf": [schema, { "type": "array", "items": schema }] }),
            about,
        )
    }

    /// The fields of [`crate::Paging`].
    fn paging(self) -> Self {
        self.paging_by("The most items of one reply; all by default.")
    }

    /// [`crate::Paging`] of a list whose replies have up to 1,000 items.
    fn bounded_paging(self) -> Self {
        self.paging_by("The most items of one reply; 1,000 by default and at most.")
    }

    fn paging_by(self, limit: &'static str) -> Self {
        self.field("limit", json_schema!({ "type": "integer", "minimum": 1 }), limit)
            .may::<String>("cursor", "The nextCursor of the reply before.")
    }

    /// Requires exactly one of these fields; `null` counts as absent.
    fn exactly_one(mut self, names: &[&str]) -> Self {
        let one = |name: &&str| json!({ "required": [name], "properties": { *name: { "not": { "type": "null" } } } });
        self.also.insert("oneOf".to_owned(), names.iter().map(one).collect());
        self
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.also.insert(name.to_owned(), value);
        self
    }

    /// `null` counts as absent, as for the deserializer.
    fn nullable(mut self) -> Self {
        for (name, schema) in &mut self.fields {
            if !self.required.contains(&name.as_str()) {
                allow_null(schema);
            }
        }
        self
    }

    /// Refuses additional fields. `null` counts as absent.
    fn closed(self) -> Schema {
        self.nullable().with("additionalProperties", false.into()).open()
    }

    /// Accepts additional fields.
    fn open(self) -> Schema {
        let mut schema = json_schema!({
            "type": "object",
            "description": self.about,
            "properties": self.fields,
        });
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.into());
        }
        self.also.into_iter().for_each(|(name, value)| drop(schema.insert(name, value)));
        schema
    }
}

/// Lets the schema of an optional field take `null`.
fn allow_null(schema: &mut Value) {
    // `Option` has `null` already.
    let null = json!("null");
    let types = schema.get("type").and_then(Value::as_array);
    let forms = schema.get("anyOf").and_then(Value::as_array);
    if types.is_some_and(|types| types.contains(&null))
        || forms.is_some_and(|forms| forms.iter().any(|form| form.get("type") == Some(&null)))
    {
        return;
    }
    let description = schema.as_object_mut().and_then(|fields| fields.remove("description"));
    let mut nullable = json!({ "anyOf": [schema.take(), { "type": "null" }] });
    if let (Some(fields), Some(description)) = (nullable.as_object_mut(), description) {
        fields.insert("description".to_owned(), description);
    }
    *schema = nullable;
}

/// `transform` for derived requests: their optional fields take `null`, which counts as absent.
pub(crate) fn allow_nulls(schema: &mut Schema) {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, schema) in fields.into_iter().flatten() {
        if !required.iter().any(|required| required == name) {
            allow_null(schema);
        }
    }
}

/// Implements `JsonSchema` by a shape: `Fetch, "Reads a block." => |shape| shape.closed();`.
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

/// Implements `JsonSchema` for types serialized as text.
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

/// The schema of one value or an array of values, such as a set of IDs.
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
