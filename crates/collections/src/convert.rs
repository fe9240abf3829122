//! Conversion of values when a column changes its type or loses options.
//!
//! One rule: a value converts if the other type has a value that is written as the same text. A
//! number is written as in JSON, a day as `YYYY-MM-DD`, a boolean as `true` or `false`, a set of
//! one option as that option. So `12` and `-0.5` convert to numbers and back, `012` and `1,5` do
//! not. A text converts to an option that the new schema has. Relations do not convert.

use leafbase_model::{Limits, PropertyKind, PropertyValue, SelectOption};

use crate::property_types::rules;
use crate::value_rules::has_option;

/// The result of a conversion.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Converted {
    /// Lossless.
    Whole(PropertyValue),
    /// Lossy: only this much of the value remains.
    Part(Option<PropertyValue>),
}

pub(crate) fn convert(value: &PropertyValue, kind: &PropertyKind, limits: &Limits) -> Converted {
    // Between multiple selects, options that remain are kept even if others are lost.
    if let (PropertyValue::Options(names), PropertyKind::MultiSelect(options)) = (value, kind) {
        return retain_options(names, options);
    }
    let same_text = || {
        let text = text_of(value)?;
        let converted = rules(kind).parse(kind, &text, limits)?;
        // `03` parses as a number but is not how that number is written.
        debug_assert!(rules(kind).admits(kind, &converted), "a parsed value is valid");
        (text_of(&converted)? == text).then_some(converted)
    };
    same_text().map_or(Converted::Part(None), Converted::Whole)
}

fn retain_options(names: &[String], options: &[SelectOption]) -> Converted {
    let kept: Vec<_> = names.iter().filter(|name| has_option(options, name)).cloned().collect();
    let is_whole = kept.len() == names.len();
    let value = (!kept.is_empty()).then_some(PropertyValue::Options(kept));
    match value {
        Some(value) if is_whole => Converted::Whole(value),
        value => Converted::Part(value),
    }
}

fn text_of(value: &PropertyValue) -> Option<String> {
    match value {
        PropertyValue::Text(text) => Some(text.clone()),
        PropertyValue::Number(_) | PropertyValue::Boolean(_) => serde_json::to_string(value).ok(),
        PropertyValue::Date(day) => Some(day.to_string()),
        PropertyValue::Options(names) => {
            <&[_; 1]>::try_from(names.as_slice()).ok().map(|[name]| name.clone())
        }
        PropertyValue::Relations(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(names: &[&str]) -> Vec<SelectOption> {
        names.iter().map(|name| SelectOption::new(*name)).collect()
    }

    fn chosen(names: &[&str]) -> PropertyValue {
        PropertyValue::Options(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn what_converts_without_loss_and_what_does_not() {
        use PropertyKind::{
            Boolean, Date, Email, MultiSelect, Number, Phone, SingleSelect, Text, Url,
        };
        use PropertyValue as V;
        let text = |text: &str| V::Text(text.into());
        let day = || V::Date("2026-03-01".parse().unwrap());
        let (whole, lost) = (Converted::Whole, || Converted::Part(None));
        let relation = || V::Relations(vec![leafbase_model::BlockId::NIL]);
        for (value, kind, outcome) in [
            (V::Number(3.0), Text, whole(text("3"))),
            (V::Number(-0.5), Text, whole(text("-0.5"))),
            (V::Number(1e300), Text, whole(text("1e+300"))),
            (text("3"), Number, whole(V::Number(3.0))),
            (text("-0.5"), Number, whole(V::Number(-0.5))),
            (text("1e+300"), Number, whole(V::Number(1e300))),
            (text("3.0"), Number, lost()),
            (text("-0.0"), Number, lost()),
            (text("0"), Number, whole(V::Number(0.0))),
            (text("03"), Number, lost()),
            (text("1,5"), Number, lost()),
            (text("9007199254740993"), Number, lost()),
            (text("inf"), Number, lost()),
            (text(""), Number, lost()),
            (text("true"), Boolean, whole(V::Boolean(true))),
            (text("True"), Boolean, lost()),
            (V::Boolean(false), Text, whole(text("false"))),
            (V::Boolean(false), Number, lost()),
            (day(), Text, whole(text("2026-03-01"))),
            (day(), Number, lost()),
            (text("2026-03-01"), Date, whole(day())),
            (text("2026-02-30"), Date, lost()),
            (text("today"), Date, lost()),
            (text("https://a.example"), Url, whole(text("https://a.example"))),
            (text("two words"), Url, lost()),
            (text("a@b"), Email, whole(text("a@b"))),
            (text("a"), Email, lost()),
            (text("21 000"), Phone, whole(text("21 000"))),
            (text("1\n2"), Phone, lost()),
            (text(&"x".repeat(9_000)), Url, lost()),
            (text("open"), SingleSelect(options(&["open"])), whole(text("open"))),
            (text("open"), SingleSelect(options(&["shut"])), lost()),
            (text("open"), MultiSelect(options(&["open"])), whole(chosen(&["open"]))),
            (V::Number(3.0), SingleSelect(options(&["3"])), whole(text("3"))),
            (chosen(&["open"]), SingleSelect(options(&["open"])), whole(text("open"))),
            (chosen(&["open", "shut"]), SingleSelect(options(&["open", "shut"])), lost()),
            (chosen(&["open"]), Text, whole(text("open"))),
            (chosen(&["open", "shut"]), Text, lost()),
            (
                chosen(&["open", "shut"]),
                MultiSelect(options(&["shut", "open"])),
                whole(chosen(&["open", "shut"])),
            ),
            (
                chosen(&["open", "shut"]),
                MultiSelect(options(&["shut"])),
                Converted::Part(Some(chosen(&["shut"]))),
            ),
            (chosen(&["open"]), MultiSelect(vec![]), lost()),
            (relation(), Text, lost()),
            (text("x"), leafbase_model::Relation::to_itself().into(), lost()),
        ] {
            assert_eq!(
                convert(&value, &kind, &Limits::default()),
                outcome,
                "{value:?} to {kind:?}"
            );
        }
    }
}
