//! Single and multiple selects: the names of options.

use std::collections::BTreeSet;

use leafbase_model::json::quoted;
use leafbase_model::{Limits, Operator, PropertyKind, PropertyValue, Result, SelectOption};
use serde_json::{Value, json};

use crate::patterns;
use crate::predicates::{Predicate, SetMatch};
use crate::value_rules::{
    SortKeyEnd, ValueReader, ValueRules, check_count, check_set_operand, has_option, mismatch,
    operands, wrong,
};

/// Options listed in an error message.
const MAX_OPTIONS_NAMED: usize = 12;

pub(super) struct SingleSelectRules;

impl ValueRules for SingleSelectRules {
    fn read(
        &self,
        kind: &PropertyKind,
        value: &Value,
        reader: &ValueReader<'_>,
    ) -> Result<PropertyValue> {
        option(kind.options(), value, reader).map(PropertyValue::Text)
    }

    fn json_schema(&self, kind: &PropertyKind, new_options: bool, limits: &Limits) -> Value {
        json!({"anyOf": [{"type": "null"}, option_schema(kind.options(), new_options, limits)]})
    }

    fn parse(&self, kind: &PropertyKind, text: &str, _: &Limits) -> Option<PropertyValue> {
        has_option(kind.options(), text).then(|| PropertyValue::Text(text.to_owned()))
    }

    fn admits(&self, kind: &PropertyKind, value: &PropertyValue) -> bool {
        matches!(value, PropertyValue::Text(name) if has_option(kind.options(), name))
    }

    fn predicate(
        &self,
        kind: &PropertyKind,
        operator: Operator,
        operand: &Value,
        reader: &ValueReader<'_>,
    ) -> Option<Result<Predicate>> {
        let read = |name: &Value| option(kind.options(), name, reader);
        matches!(operator, Operator::Equals | Operator::AnyOf)
            .then(|| operands(operator, operand, read).map(Predicate::Option))
    }

    /// The rank of the option.
    fn sort_key_end(&self) -> SortKeyEnd {
        SortKeyEnd::Fixed(2)
    }
}

pub(super) struct MultiSelectRules;

impl ValueRules for MultiSelectRules {
    fn read(
        &self,
        kind: &PropertyKind,
        value: &Value,
        reader: &ValueReader<'_>,
    ) -> Result<PropertyValue> {
        options(kind.options(), value, reader).map(PropertyValue::Options)
    }

    fn json_schema(&self, kind: &PropertyKind, new_options: bool, limits: &Limits) -> Value {
        let takes_none = kind.options().is_empty() && !new_options;
        let max_items = if takes_none { 0 } else { limits.select_options };
        let items = option_schema(kind.options(), new_options, limits);
        json!({"type": ["array", "null"], "maxItems": max_items, "items": items})
    }

    fn parse(&self, kind: &PropertyKind, text: &str, _: &Limits) -> Option<PropertyValue> {
        has_option(kind.options(), text).then(|| PropertyValue::Options(vec![text.to_owned()]))
    }

    fn admits(&self, kind: &PropertyKind, value: &PropertyValue) -> bool {
        let PropertyValue::Options(names) = value else { return false };
        names.iter().all(|name| has_option(kind.options(), name))
    }

    /// The operand is a set, as a value is; a single option may be given without brackets.
    fn predicate(
        &self,
        kind: &PropertyKind,
        operator: Operator,
        operand: &Value,
        reader: &ValueReader<'_>,
    ) -> Option<Result<Predicate>> {
        let set_match = SetMatch::of(operator)?;
        let read = || {
            let names = match operand {
                Value::Null => Vec::new(),
                Value::String(_) => {
                    vec![option(kind.options(), operand, reader).map_err(|error| error.at("[0]"))?]
                }
                _ => options(kind.options(), operand, reader)?,
            };
            let names: BTreeSet<_> = names.into_iter().collect();
            check_set_operand(operator, operand, names.len())?;
            Ok(Predicate::Options(set_match, names))
        };
        Some(read())
    }

    fn sort_key_end(&self) -> SortKeyEnd {
        SortKeyEnd::Unordered
    }
}

/// Decodes the name of an option of the property, or of a new one where the request allows it.
fn option(known: &[SelectOption], value: &Value, reader: &ValueReader<'_>) -> Result<String> {
    let name = value.as_str().ok_or_else(|| wrong(patterns::OPTION_NAME.expected, value))?;
    if has_option(known, name) {
        return Ok(name.to_owned());
    }
    if reader.new_options && patterns::OPTION_NAME.matches(name) {
        check_count("characters of a name", reader.limits.title, name.chars().count())?;
        return Ok(name.to_owned());
    }
    let mut names: Vec<_> =
        known.iter().take(MAX_OPTIONS_NAMED).map(|option| quoted(&option.name)).collect();
    if known.len() > MAX_OPTIONS_NAMED {
        names.push(format!("{} more", known.len() - MAX_OPTIONS_NAMED));
    }
    let expected = match names.as_slice() {
        [] => "nothing, for there are no options".to_owned(),
        names => format!("one of {}", names.join(", ")),
    };
    Err(mismatch(format!("expected {expected}, got {}", quoted(name))))
}

/// Decodes an array of names and deduplicates it.
fn options(known: &[SelectOption], value: &Value, reader: &ValueReader<'_>) -> Result<Vec<String>> {
    let Value::Array(values) = value else {
        return Err(wrong("an array of names of options", value));
    };
    check_count("options of a value", reader.limits.select_options, values.len())?;
    let mut names = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let name =
            option(known, value, reader).map_err(|error| error.at(format_args!("[{index}]")))?;
        // Linear: a value has few options.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

fn option_schema(options: &[SelectOption], new_options: bool, limits: &Limits) -> Value {
    let names: Vec<_> = options.iter().map(|option| option.name.as_str()).collect();
    let known = json!({"enum": names});
    if !new_options {
        return if names.is_empty() { Value::Bool(false) } else { known };
    }
    let pattern = patterns::OPTION_NAME.pattern;
    let new = json!({"type": "string", "pattern": pattern, "maxLength": limits.title});
    if names.is_empty() { new } else { json!({"anyOf": [known, new]}) }
}
