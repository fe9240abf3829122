//! JSON Schema 2020-12 of requests that add and update items, generated from the schema of their
//! collection.
//!
//! It agrees with the reader of items. A request that passes is refused only by a [`LimitExceeded`]
//! (lengths in bytes, integers that a float does not hold, too many options for one schema), a
//! [`NotFound`] (an item or related item that does not exist), a [`Conflict`] (another revision),
//! an item that occurs twice, a changed `content`, a single relation of another item, and the
//! checks of markdown: of a title, which is one paragraph, and of a page's blocks. A request that
//! fails is refused, unless for a `contentPreview` alone, which updates ignore, and additions if it
//! is null. `format` is not used: validators may ignore it.
//!
//! [`Conflict`]: leafbase_model::ErrorKind::Conflict
//! [`LimitExceeded`]: leafbase_model::ErrorKind::LimitExceeded
//! [`NotFound`]: leafbase_model::ErrorKind::NotFound

use leafbase_model::{BlockType, Limits, Property, Schema};
use serde_json::{Map, Value, json};

use crate::items::has_title_alias;
use crate::patterns;
use crate::property_types::rules;

/// The JSON Schema dialect.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a request body that adds items (`items`) or updates them (`itemsToUpdate`). Its
/// definitions `itemToAdd` and `itemToUpdate` describe a single item. With `new_options` a select
/// accepts names that are not options yet.
pub fn items_schema(schema: &Schema, new_options: bool, limits: &Limits) -> Value {
    let list = |name: &str| {
        let item = format!("#/$defs/{name}");
        json!({"type": "array", "maxItems": limits.blocks_per_request, "items": {"$ref": item}})
    };
    json!({
        "$schema": DIALECT,
        "title": schema.name,
        "type": "object",
        "properties": {
            "collectionId": {"type": "string"},
            "items": list("itemToAdd"),
            "itemsToUpdate": list("itemToUpdate"),
            "allowNewSelectOptions": {"type": ["boolean", "null"]},
        },
        "additionalProperties": false,
        "oneOf": [{"required": ["items"]}, {"required": ["itemsToUpdate"]}],
        "$defs": {
            "itemToAdd": item(schema, limits, [
                ("content", content()),
                ("id", json!({"description": "Ignored: a copy gets its own"})),
                ("rev", json!({"description": "Ignored"})),
            ], &[]),
            "itemToUpdate": item(schema, limits, [
                ("id", json!({"type": "string"})),
                ("rev", json!({"type": ["integer", "null"]})),
                ("content", json!({"description": "As a reply shows it", "type": ["array", "null"]})),
            ], &["id"]),
            "properties": properties(schema, new_options, limits),
            "day": {
                "description": "A day as YYYY-MM-DD, or today, tomorrow, yesterday",
                "type": ["string", "null"],
                "pattern": patterns::DAY,
            },
            "blockId": {"type": "string", "pattern": patterns::ID},
            "relatedItem": {
                "type": "object",
                "properties": {"blockId": {"$ref": "#/$defs/blockId"}, "title": related_title()},
                "required": ["blockId"],
                "additionalProperties": false,
            },
            "block": block(),
        },
    })
}

fn item<const N: usize>(
    schema: &Schema,
    limits: &Limits,
    own: [(&str, Value); N],
    required: &[&str],
) -> Value {
    let key = schema.content.key.as_str();
    let title = json!({"title": schema.content.name, "type": "string", "maxLength": limits.title});
    let mut fields = Map::from_iter(own.map(|(name, rule)| (name.to_owned(), rule)));
    // In requests `null` counts as absent.
    fields.insert(
        "properties".into(),
        json!({"anyOf": [{"type": "null"}, {"$ref": "#/$defs/properties"}]}),
    );
    let whole = json!({"type": "object", "required": required, "additionalProperties": false});
    let whole = if has_title_alias(schema) {
        fields.insert("title".into(), title.clone());
        // Two titles contradict each other, even if they are equal.
        with(whole, "not", json!({"required": [key, "title"]}))
    } else {
        whole
    };
    fields.insert(key.into(), title);
    with(whole, "properties", Value::Object(fields))
}

/// Adds a keyword to a schema.
fn with(mut rule: Value, name: &str, value: impl Into<Value>) -> Value {
    debug_assert!(rule.is_object(), "keywords are added to object schemas");
    if let Some(rule) = rule.as_object_mut() {
        rule.insert(name.to_owned(), value.into());
    }
    rule
}

fn content() -> Value {
    json!({
        "description": "The blocks of the item's page",
        "type": ["array", "null"],
        "items": {"$ref": "#/$defs/block"},
    })
}

/// Blocks of a page: their types and nesting, not the fields of each type. Collections and items
/// are created by their own operations.
fn block() -> Value {
    let is_taken = |block_type: &BlockType| {
        !matches!(block_type, BlockType::Collection | BlockType::CollectionItem)
    };
    // Children of any type are allowed; their fields are checked on insertion.
    let types: Vec<_> =
        BlockType::ALL.iter().copied().filter(is_taken).map(BlockType::as_str).collect();
    json!({
        "type": "object",
        "properties": {
            "type": {"enum": types},
            "content": {"type": ["array", "null"], "items": {"$ref": "#/$defs/block"}},
        },
        "required": ["type"],
    })
}

fn related_title() -> Value {
    json!({"description": "As replies show it; it changes nothing", "type": "string"})
}

fn properties(schema: &Schema, new_options: bool, limits: &Limits) -> Value {
    let rules = schema
        .properties
        .iter()
        .map(|property| (property.key.clone(), rule(property, new_options, limits)));
    let rules: Map<_, _> = rules.collect();
    json!({"type": "object", "properties": rules, "additionalProperties": false})
}

fn rule(property: &Property, new_options: bool, limits: &Limits) -> Value {
    let kind = &property.kind;
    let rule = rules(kind).json_schema(kind, new_options, limits);
    with(rule, "title", property.name.as_str())
}
