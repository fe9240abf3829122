//! Random filters and orders of queries.

use leafbase_model::{Condition, Direction, ItemFilter, Operator, PropertyKind, Schema, Sort};
use serde_json::{Value, json};

use super::{Setting, values};
use crate::Numbers;

/// The key of a property, or of the title; now and then of none.
pub(super) fn column(numbers: &mut Numbers<'_>, schema: Option<&Schema>) -> String {
    let Some(schema) = schema else { return "title".to_owned() };
    match numbers.below(32) {
        0 => "none".to_owned(),
        1 | 2 => "title".to_owned(),
        3 | 4 => schema.content.key.clone(),
        _ if schema.properties.is_empty() => "title".to_owned(),
        _ => schema.properties[numbers.below(schema.properties.len())].key.clone(),
    }
}

pub(super) fn sort(numbers: &mut Numbers<'_>, schema: Option<&Schema>) -> Sort {
    let sortable = schema.iter().flat_map(|schema| &schema.properties);
    let sortable = sortable.filter(|property| {
        !matches!(property.kind, PropertyKind::MultiSelect(_) | PropertyKind::Relation(_))
    });
    let mut keys: Vec<_> = sortable.map(|property| property.key.as_str()).collect();
    keys.push("title");
    let property =
        if numbers.once_in(16) { column(numbers, schema) } else { numbers.pick(&keys).to_owned() };
    Sort { property, direction: numbers.pick(Direction::ALL) }
}

pub(super) fn filter(
    numbers: &mut Numbers<'_>,
    setting: Setting<'_>,
    schema: Option<&Schema>,
    depth: usize,
) -> ItemFilter {
    let several = |numbers: &mut Numbers<'_>| {
        let count = numbers.pick(&[2, 2, 2, 1, 3, 0]);
        (0..count).map(|_| filter(numbers, setting, schema, depth + 1)).collect()
    };
    match numbers.below(8) {
        0 | 1 if depth < 2 => ItemFilter::And(several(numbers)),
        2 if depth < 2 => ItemFilter::Or(several(numbers)),
        3 if depth < 2 => ItemFilter::Not(Box::new(filter(numbers, setting, schema, depth + 1))),
        _ => ItemFilter::Condition(condition(numbers, setting, schema)),
    }
}

fn condition(
    numbers: &mut Numbers<'_>,
    setting: Setting<'_>,
    schema: Option<&Schema>,
) -> Condition {
    let property = column(numbers, schema);
    let kind = schema
        .and_then(|schema| schema.property(&property))
        .map_or(&PropertyKind::Text, |found| &found.kind);
    let operator =
        if numbers.once_in(32) { numbers.pick(Operator::ALL) } else { operator(numbers, kind) };
    let operand = operand(numbers, setting, kind, operator);
    Condition { property, operator, operand }
}

fn operator(numbers: &mut Numbers<'_>, kind: &PropertyKind) -> Operator {
    use Operator::{
        After, AllOf, AnyOf, Before, Contains, Equals, GreaterThan, GreaterThanOrEqual, IsEmpty,
        IsNotEmpty, LessThan, LessThanOrEqual, NotEquals, OnOrAfter, OnOrBefore, StartsWith,
    };
    let own: &[Operator] = match kind {
        PropertyKind::Number => &[
            Equals,
            NotEquals,
            GreaterThan,
            GreaterThanOrEqual,
            LessThan,
            LessThanOrEqual,
            AnyOf,
            IsEmpty,
        ],
        PropertyKind::Date => {
            &[Equals, NotEquals, Before, After, OnOrBefore, OnOrAfter, AnyOf, IsNotEmpty]
        }
        PropertyKind::Boolean => &[Equals, NotEquals, IsEmpty, IsNotEmpty],
        PropertyKind::SingleSelect(_) => &[Equals, NotEquals, AnyOf, IsEmpty],
        PropertyKind::MultiSelect(_) | PropertyKind::Relation(_) => {
            &[Equals, NotEquals, Contains, AnyOf, AllOf, IsEmpty, IsNotEmpty]
        }
        _ => &[Equals, NotEquals, Contains, StartsWith, AnyOf, IsEmpty, IsNotEmpty],
    };
    numbers.pick(own)
}

fn operand(
    numbers: &mut Numbers<'_>,
    setting: Setting<'_>,
    kind: &PropertyKind,
    operator: Operator,
) -> Value {
    let is_set = matches!(kind, PropertyKind::MultiSelect(_) | PropertyKind::Relation(_));
    match (operator, kind) {
        (Operator::IsEmpty | Operator::IsNotEmpty, _) => numbers.once_in(2).into(),
        (Operator::AnyOf, _) if !is_set => {
            let few = (0..numbers.below(4)).map(|_| one(numbers, setting, kind));
            few.collect::<Vec<_>>().into()
        }
        (Operator::Contains, PropertyKind::MultiSelect(options)) => {
            values::option(numbers, options).into()
        }
        (Operator::Contains, PropertyKind::Relation(relation)) => {
            values::related(numbers, setting, relation.target, 2)
        }
        _ => one(numbers, setting, kind),
    }
}

fn one(numbers: &mut Numbers<'_>, setting: Setting<'_>, kind: &PropertyKind) -> Value {
    match kind {
        PropertyKind::SingleSelect(options) if !options.is_empty() => {
            json!(options[numbers.below(options.len())].name)
        }
        PropertyKind::Relation(relation) => values::related(numbers, setting, relation.target, 4),
        kind => values::value(numbers, setting, kind),
    }
}
