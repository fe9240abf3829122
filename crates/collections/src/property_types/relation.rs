//! Relations: the IDs of related items.

use std::collections::BTreeSet;

use leafbase_model::json::expected_one_of;
use leafbase_model::{
    BlockId, Error, Limits, Operator, PropertyKind, PropertyValue, Relation, Result,
};
use serde_json::{Value, json};

use crate::predicates::{Predicate, SetMatch};
use crate::value_rules::{
    SortKeyEnd, ValueReader, ValueRules, check_count, check_set_operand, mismatch, read_each, wrong,
};

pub(super) struct RelationRules;

impl ValueRules for RelationRules {
    fn read(
        &self,
        kind: &PropertyKind,
        value: &Value,
        reader: &ValueReader<'_>,
    ) -> Result<PropertyValue> {
        let ids = item_ids(value)?;
        let is_single = kind.relation().is_some_and(|relation| relation.single);
        if let (true, [first, second, ..]) = (is_single, ids.as_slice()) {
            return Err(mismatch(format!("expected one item at most, got {first} and {second}")));
        }
        check_length(&ids, reader.limits)?;
        Ok(PropertyValue::Relations(ids))
    }

    /// One ID, an array of IDs, or the object that replies have.
    fn json_schema(&self, kind: &PropertyKind, _: bool, limits: &Limits) -> Value {
        let Some(Relation { target, single, .. }) = kind.relation() else {
            debug_assert!(false, "rules of relations are applied to relations");
            return Value::Bool(false);
        };
        let max_items = if *single { 1 } else { limits.blocks_per_request };
        let list = |item: &str| {
            let item = format!("#/$defs/{item}");
            json!({"type": "array", "maxItems": max_items, "items": {"$ref": item}})
        };
        json!({
            "description": format!("Items of the collection {target}"),
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

    /// No other type is written as related items are.
    fn parse(&self, _: &PropertyKind, _: &str, _: &Limits) -> Option<PropertyValue> {
        None
    }

    /// The items themselves are checked by the constraint check, which can look them up.
    fn admits(&self, _: &PropertyKind, value: &PropertyValue) -> bool {
        matches!(value, PropertyValue::Relations(_))
    }

    /// A condition may name several items even where a value holds one at most.
    fn predicate(
        &self,
        _: &PropertyKind,
        operator: Operator,
        operand: &Value,
        reader: &ValueReader<'_>,
    ) -> Option<Result<Predicate>> {
        let set_match = SetMatch::of(operator)?;
        let read = || {
            let ids = if operand.is_null() { Vec::new() } else { item_ids(operand)? };
            check_length(&ids, reader.limits)?;
            let items: BTreeSet<_> = ids.into_iter().collect();
            check_set_operand(operator, operand, items.len())?;
            Ok(Predicate::Related(set_match, items))
        };
        Some(read())
    }

    fn sort_key_end(&self) -> SortKeyEnd {
        SortKeyEnd::Unordered
    }
}

fn check_length(ids: &[BlockId], limits: &Limits) -> Result<()> {
    check_count("relations of a value", limits.blocks_per_request, ids.len())
}

/// Reads `{"relations": [{"blockId": id}]}`, an array of IDs, or one ID. Duplicates stay, so that
/// an error found later can still name the index of an ID.
fn item_ids(value: &Value) -> Result<Vec<BlockId>> {
    match value {
        Value::String(_) => Ok(vec![item_id(value)?]),
        Value::Array(ids) => read_each(ids, item_id),
        Value::Object(fields) => {
            match (fields.get("relations"), fields.keys().find(|key| *key != "relations")) {
                (_, Some(unknown)) => Err(unknown_field(unknown, &["relations"])),
                (Some(Value::Array(related)), None) => {
                    read_each(related, related_id).map_err(|error| error.at("relations"))
                }
                (Some(other), None) => Err(wrong("an array", other).at("relations")),
                (None, None) => Err(missing_field("relations")),
            }
        }
        other => Err(wrong("relations like {\"relations\": [{\"blockId\": \"..\"}]}", other)),
    }
}

fn related_id(value: &Value) -> Result<BlockId> {
    let Value::Object(fields) = value else { return Err(wrong("an object", value)) };
    if let Some(unknown) = fields.keys().find(|key| !matches!(key.as_str(), "blockId" | "title")) {
        return Err(unknown_field(unknown, &["blockId", "title"]));
    }
    // Replies carry titles, and a request may send a reply back. The title is ignored.
    if let Some(title) = fields.get("title").filter(|title| !title.is_string()) {
        return Err(wrong("text", title).at("title"));
    }
    let id = fields.get("blockId").ok_or_else(|| missing_field("blockId"))?;
    item_id(id).map_err(|error| error.at("blockId"))
}

fn missing_field(name: &str) -> Error {
    mismatch(format!("the field `{name}` is missing")).at(name)
}

fn unknown_field(name: &str, known: &[&'static str]) -> Error {
    let expected = expected_one_of(name, known.iter().copied());
    mismatch(format!("the field `{name}` is unknown{expected}")).at(name)
}

/// A malformed ID reads as the nil ID, which no item has: it is not found, like any unknown ID.
fn item_id(value: &Value) -> Result<BlockId> {
    let text = value.as_str().ok_or_else(|| wrong("an ID", value))?;
    Ok(text.parse().unwrap_or(BlockId::NIL))
}
