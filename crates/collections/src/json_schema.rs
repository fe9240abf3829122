//! JSON Schema 2020-12 of requests that add and update items, made from the schema of their
//! collection.
//!
//! It says what our own check says: a request that it lets through is refused by nothing but a
//! [`LimitExceeded`] (lengths in bytes, whole numbers that floating point does not hold, too many
//! options for one schema), a [`NotFound`] (an item, or a related one, that does not exist), an
//! item named twice, the limits of single relations that other items have a part in, and what
//! blocks of a page are checked for. What it refuses is always refused. Nothing rests on `format`,
//! which validators may ignore.
//!
//! [`LimitExceeded`]: leafbase_model::ErrorKind::LimitExceeded
//! [`NotFound`]: leafbase_model::ErrorKind::NotFound

use leafbase_model::{BlockType, Limits, Property, PropertyKind, Relation, Schema, SelectOption};
use serde_json::{Map, Value, json};

use crate::forms;
use crate::items::may_say_title;

/// The dialect.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// What the body of a request has to meet that adds items (`items`) or updates them
/// (`itemsToUpdate`). The definitions `itemToAdd` and `itemToUpdate` in it are those of a single
/// one. With `new_options` a select takes names that are no option yet.
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
            "allowNewSelectOptions": {"type": "boolean"},
        },
        "additionalProperties": false,
        "oneOf": [{"required": ["items"]}, {"required": ["itemsToUpdate"]}],
        "$defs": {
            "itemToAdd": item(schema, limits, [("content", content())], &[]),
            "itemToUpdate": item(schema, limits, [("id", json!({"type": "string"}))], &["id"]),
            "properties": properties(schema, new_options, limits),
            "day": {
                "description": "A day as YYYY-MM-DD, or today, tomorrow, yesterday",
                "type": ["string", "null"],
                "pattern": forms::DAY.pattern,
            },
            "blockId": {"type": "string", "pattern": forms::ID.pattern},
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
    fields.insert("properties".into(), json!({"$ref": "#/$defs/properties"}));
    let whole = json!({"type": "object", "required": required, "additionalProperties": false});
    let whole = if may_say_title(schema) {
        fields.insert("title".into(), title.clone());
        with(whole, "not", json!({"required": [key, "title"]}))
    } else {
        whole
    };
    fields.insert(key.into(), title);
    with(whole, "properties", Value::Object(fields))
}

/// The same rule that says this, too.
fn with(mut rule: Value, name: &str, value: impl Into<Value>) -> Value {
    if let Some(rule) = rule.as_object_mut() {
        rule.insert(name.to_owned(), value.into());
    }
    rule
}

fn content() -> Value {
    json!({"description": "The blocks of the item's page", "type": "array", "items": {"$ref": "#/$defs/block"}})
}

/// The blocks of a page are what the block operations take: here is said what they are, not what
/// each may have. Collections and items are made by operations of their own.
fn block() -> Value {
    let is_taken = |block_type: &BlockType| {
        !matches!(block_type, BlockType::Collection | BlockType::CollectionItem)
    };
    let types: Vec<_> =
        BlockType::ALL.iter().copied().filter(is_taken).map(BlockType::as_str).collect();
    json!({
        "type": "object",
        "properties": {
            "type": {"enum": types},
            "content": {"type": "array", "items": {"$ref": "#/$defs/block"}},
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
    json!({"type": "object", "properties": rules.collect::<Map<_, _>>(), "additionalProperties": false})
}

fn rule(property: &Property, new_options: bool, limits: &Limits) -> Value {
    let text = |most: usize, pattern: Option<&str>| {
        // A text has no more characters than bytes.
        let rule = json!({"type": ["string", "null"], "maxLength": most});
        pattern.into_iter().fold(rule, |rule, pattern| with(rule, "pattern", pattern))
    };
    let rule = match &property.kind {
        PropertyKind::Text => text(limits.block_text, None),
        PropertyKind::Url => text(limits.attribute, Some(forms::URL.pattern)),
        PropertyKind::Email => text(limits.attribute, Some(forms::EMAIL.pattern)),
        PropertyKind::Phone => text(limits.attribute, Some(forms::PHONE.pattern)),
        PropertyKind::Number => json!({"type": ["number", "null"]}),
        PropertyKind::Boolean => json!({"type": ["boolean", "null"]}),
        PropertyKind::Date => json!({"$ref": "#/$defs/day"}),
        PropertyKind::SingleSelect(options) => {
            either(&json!({"type": "null"}), &option(options, new_options, limits))
        }
        PropertyKind::MultiSelect(options) => {
            let most = if options.is_empty() && !new_options { 0 } else { limits.select_options };
            json!({"type": ["array", "null"], "maxItems": most, "items": option(options, new_options, limits)})
        }
        PropertyKind::Relation(relation) => related(relation, limits),
    };
    with(rule, "title", property.name.as_str())
}

fn either(one: &Value, other: &Value) -> Value {
    json!({"anyOf": [one, other]})
}

fn option(options: &[SelectOption], new_options: bool, limits: &Limits) -> Value {
    let names: Vec<_> = options.iter().map(|option| option.name.as_str()).collect();
    let known = json!({"enum": names});
    if !new_options {
        return if names.is_empty() { Value::Bool(false) } else { known };
    }
    let new =
        json!({"type": "string", "pattern": forms::OPTION.pattern, "maxLength": limits.title});
    if names.is_empty() { new } else { either(&known, &new) }
}

/// One ID, an array of IDs, or the form that replies have.
fn related(relation: &Relation, limits: &Limits) -> Value {
    let most = if relation.single { 1 } else { limits.blocks_per_request };
    let list = |item: &str| json!({"type": "array", "maxItems": most, "items": {"$ref": format!("#/$defs/{item}")}});
    json!({
        "description": format!("Items of the collection {}", relation.target),
        "anyOf": [
            {"type": "null"},
            {
                "type": "object",
                "properties": {"relations": list("relatedItem")},
                "required": ["relations"],
                "additionalProperties": false,
            },
            list("blockId"),
            {"$ref": "#/$defs/blockId"},
        ],
    })
}
