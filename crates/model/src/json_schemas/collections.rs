//! Schemas, items and queries of collections.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::{Shape, shapes};
use crate::schema::{HIGHLIGHT_COLORS, RelationTargetId};
use crate::{
    BatchOperation, BlockDraft, BlockId, ItemDraft, ItemFilter, ItemUpdate, Operator, SelectOption,
};

/// Property values by key; the schema of the collection constrains them.
pub(super) struct Values;

impl JsonSchema for Values {
    fn schema_name() -> Cow<'static, str> {
        "Values".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

impl JsonSchema for RelationTargetId {
    fn schema_name() -> Cow<'static, str> {
        "RelationTargetId".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "self" }, generator.subschema_for::<BlockId>()] })
    }
}

impl JsonSchema for SelectOption {
    fn schema_name() -> Cow<'static, str> {
        "SelectOption".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names = HIGHLIGHT_COLORS.map(|(name, _)| name).join("|");
        let color = json_schema!({
            "type": "string",
            "pattern": format!("^(#[0-9a-fA-F]{{6}}|{names})$"),
        });
        let option = Shape::new(generator, "An option of a select property.")
            .must::<String>("name", "Its name, by which items refer to it.")
            .field("color", color, "#rrggbb; in a request also the name of a highlight's color.")
            .closed();
        json_schema!({ "anyOf": [{ "type": "string" }, option] })
    }
}

impl Shape<'_> {
    /// The title stands under the content key, which only the schema of the collection determines:
    /// any field may be it.
    fn titled(self) -> Self {
        self.clears::<Values>(
            "properties",
            "Values by key, as the collection's schema has them; in an update null clears one.",
        )
    }
}

impl JsonSchema for ItemFilter {
    fn schema_name() -> Cow<'static, str> {
        "ItemFilter".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let filter = generator.subschema_for::<Self>();
        let operators: Map<String, Value> =
            Operator::ALL.iter().map(|known| (known.to_string(), json!(true))).collect();
        let mut fields = operators.clone();
        fields.insert("property".to_owned(), json!({ "type": "string" }));
        let one: Vec<Value> = operators.keys().map(|name| json!({ "required": [name] })).collect();
        let closed = |name: &str, schema: Value| {
            json!({
                "type": "object",
                "properties": { name: schema },
                "required": [name],
                "additionalProperties": false,
            })
        };
        json_schema!({
            "description": "A condition on a property, or and, or, not of filters.",
            "oneOf": [
                {
                    "type": "object",
                    "properties": fields,
                    "required": ["property"],
                    "oneOf": one,
                    "additionalProperties": false,
                },
                closed("and", json!({ "type": "array", "items": filter })),
                closed("or", json!({ "type": "array", "items": filter })),
                closed("not", json!(filter)),
            ]
        })
    }
}

shapes! {
    ItemDraft, "An item to add." => |shape| shape
        .titled()
        .clears::<Vec<BlockDraft>>("content", "The blocks of its page.")
        .field("contentPreview", json_schema!({ "type": "null" }), "Refused: its content was cut off.")
        .open();
    BatchOperation, "An operation, with the fields of its request." => |shape| shape
        .must::<String>("operation", "The name of the operation, such as insert_blocks.")
        .open();
    ItemUpdate, "A change of an item: what is not given stays." => |shape| shape
        .must::<BlockId>("id", "The item.")
        .clears::<u64>("rev", "Changed only if the item still has this rev.")
        .clears::<Vec<Value>>("content", "As a reply has it: an update does not change it.")
        .titled()
        .open();
}
