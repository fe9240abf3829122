//! Random values of items, of the right type or not.

use leafbase_model::{BlockId, PropertyKind, SelectOption};
use serde_json::{Value, json};

use super::collections::item;
use super::{Setting, block};
use crate::Numbers;

/// Names of options; those that a schema does not have are new.
pub(super) const OPTIONS: &[&str] = &["x", "y", "12", "Z z", "true"];

/// A value that a property of this kind mostly takes.
pub(super) fn value(numbers: &mut Numbers<'_>, setting: Setting<'_>, kind: &PropertyKind) -> Value {
    if numbers.once_in(90) {
        return numbers.pick::<fn() -> Value>(&[
            || json!(7),
            || json!("no"),
            || json!([["x"]]),
            || json!({"a": 1}),
        ])();
    }
    if numbers.once_in(8) {
        return Value::Null;
    }
    match kind {
        PropertyKind::Text => text(numbers),
        PropertyKind::Number => {
            if numbers.once_in(40) {
                return json!(9_007_199_254_740_993_i64);
            }
            numbers.pick::<fn() -> Value>(&[
                || json!(0),
                || json!(12),
                || json!(-2),
                || json!(-0.0),
                || json!(0.5),
                || json!(12.0),
            ])()
        }
        PropertyKind::Boolean => numbers.once_in(2).into(),
        PropertyKind::Date => day(numbers),
        PropertyKind::Url => numbers.pick(&["a.b", "x", "12", "x@y", "a", "2026-01-02"]).into(),
        PropertyKind::Email => numbers.pick(&["a@b", "x@y", "é@a", "x@y", "a@b", "x"]).into(),
        PropertyKind::Phone => numbers.pick(&["12", "1 2", "x", "+3"]).into(),
        PropertyKind::SingleSelect(options) => option(numbers, options).into(),
        PropertyKind::MultiSelect(options) => {
            let names = (0..numbers.below(4)).map(|_| option(numbers, options));
            names.collect::<Vec<_>>().into()
        }
        PropertyKind::Relation(relation) => {
            let most = if relation.single { 2 } else { 4 };
            related(numbers, setting, relation.target, most)
        }
    }
}

fn text(numbers: &mut Numbers<'_>) -> Value {
    match numbers.below(48) {
        0 => "a".repeat(65).into(),
        _ => numbers
            .pick(&[
                "",
                "a",
                "B",
                "é",
                "É b",
                "Ab",
                "12",
                "-2",
                "x",
                "true",
                "2026-01-02",
                "a@b",
                "x",
            ])
            .into(),
    }
}

pub(super) fn day(numbers: &mut Numbers<'_>) -> Value {
    numbers
        .pick(&[
            "2026-01-01",
            "2026-01-02",
            "2026-01-03",
            "today",
            "tomorrow",
            "yesterday",
            "2026-01-02",
        ])
        .into()
}

/// The name of an option that there is; now and then another.
pub(super) fn option(numbers: &mut Numbers<'_>, options: &[SelectOption]) -> String {
    match numbers.below(if options.is_empty() { 4 } else { 28 }) {
        3 if numbers.once_in(4) => " ".to_owned(),
        0..=3 => numbers.pick(OPTIONS).to_owned(),
        _ => options[numbers.below(options.len())].name.clone(),
    }
}

/// Items of a collection, in one of the forms that they have in requests; now and then something
/// else.
pub(super) fn related(
    numbers: &mut Numbers<'_>,
    setting: Setting<'_>,
    target: BlockId,
    most: usize,
) -> Value {
    let has_any = setting.space.find(target).is_some_and(|found| !found.children.is_empty());
    let count = if has_any { numbers.below(most) } else { usize::from(numbers.once_in(40)) };
    let one = |numbers: &mut Numbers<'_>| match numbers.below(60) {
        0 => BlockId::from_bytes([0xAB; 16]),
        1 => block(numbers, setting, |_| true),
        _ => item(numbers, setting, target),
    };
    let ids: Vec<_> = (0..count).map(|_| one(numbers)).collect();
    match numbers.below(4) {
        0 if ids.len() == 1 => json!(ids[0]),
        1 => {
            let shown = |id| match numbers.below(30) {
                0 => json!({"blockId": id, "title": 1}),
                1..=10 => json!({"blockId": id, "title": "a"}),
                _ => json!({"blockId": id}),
            };
            json!({"relations": ids.into_iter().map(shown).collect::<Vec<_>>()})
        }
        _ => json!(ids),
    }
}
