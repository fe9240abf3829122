//! Numbers, booleans and dates.

use leafbase_model::{
    Day, DayRef, Error, ErrorKind, Limits, Operator, PropertyKind, PropertyValue, Result,
};
use serde_json::{Value, json};

use crate::predicates::{Comparison, Predicate};
use crate::value_rules::{SortKeyEnd, ValueReader, ValueRules, mismatch, operands, wrong};

const BOOLEAN: &str = "true or false";
const DAY: &str = "a day YYYY-MM-DD";

pub(super) struct NumberRules;

impl ValueRules for NumberRules {
    fn read(&self, _: &PropertyKind, value: &Value, _: &ValueReader<'_>) -> Result<PropertyValue> {
        number(value).map(PropertyValue::Number)
    }

    fn json_schema(&self, _: &PropertyKind, _: bool, _: &Limits) -> Value {
        json!({"type": ["number", "null"]})
    }

    fn parse(&self, _: &PropertyKind, text: &str, _: &Limits) -> Option<PropertyValue> {
        let number: f64 = text.parse().ok()?;
        // Adding 0.0 turns the negative zero into the one zero that is stored.
        number.is_finite().then_some(PropertyValue::Number(number + 0.0))
    }

    fn admits(&self, _: &PropertyKind, value: &PropertyValue) -> bool {
        matches!(value, PropertyValue::Number(_))
    }

    fn predicate(
        &self,
        _: &PropertyKind,
        operator: Operator,
        operand: &Value,
        _: &ValueReader<'_>,
    ) -> Option<Result<Predicate>> {
        let comparison = match operator {
            Operator::Equals => Comparison::Equal,
            Operator::LessThan => Comparison::Less,
            Operator::LessThanOrEqual => Comparison::LessOrEqual,
            Operator::GreaterThan => Comparison::Greater,
            Operator::GreaterThanOrEqual => Comparison::GreaterOrEqual,
            Operator::AnyOf => {
                return Some(operands(operator, operand, number).map(Predicate::Numbers));
            }
            _ => return None,
        };
        Some(number(operand).map(|number| Predicate::Number(comparison, number)))
    }

    fn sort_key_end(&self) -> SortKeyEnd {
        SortKeyEnd::Fixed(8)
    }
}

/// Decodes a number that a 64-bit float holds exactly: a larger integer could come back as its
/// neighbor. Of numbers written with a fraction, and of those beyond 64 bits, the JSON parser only
/// keeps the nearest float. Negative zero becomes zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the cast is what is compared with the integer"
)]
fn number(value: &Value) -> Result<f64> {
    let number = value.as_f64().ok_or_else(|| wrong("a number", value))?;
    let is_exact = match (value.as_i64(), value.as_u64()) {
        (Some(integer), _) => i128::from(integer) == integer as f64 as i128,
        (_, Some(integer)) => i128::from(integer) == integer as f64 as i128,
        _ => number.is_finite(),
    };
    if is_exact {
        return Ok(number + 0.0);
    }
    let message = format!("expected a number that fits 64 bits of floating point, got {value}");
    Err(Error::new(ErrorKind::LimitExceeded, message))
}

pub(super) struct BooleanRules;

impl ValueRules for BooleanRules {
    fn read(&self, _: &PropertyKind, value: &Value, _: &ValueReader<'_>) -> Result<PropertyValue> {
        value.as_bool().map(PropertyValue::Boolean).ok_or_else(|| wrong(BOOLEAN, value))
    }

    fn json_schema(&self, _: &PropertyKind, _: bool, _: &Limits) -> Value {
        json!({"type": ["boolean", "null"]})
    }

    fn parse(&self, _: &PropertyKind, text: &str, _: &Limits) -> Option<PropertyValue> {
        text.parse().ok().map(PropertyValue::Boolean)
    }

    fn admits(&self, _: &PropertyKind, value: &PropertyValue) -> bool {
        matches!(value, PropertyValue::Boolean(_))
    }

    fn predicate(
        &self,
        _: &PropertyKind,
        operator: Operator,
        operand: &Value,
        _: &ValueReader<'_>,
    ) -> Option<Result<Predicate>> {
        let read = || operand.as_bool().map(Predicate::Boolean);
        (operator == Operator::Equals).then(|| read().ok_or_else(|| wrong(BOOLEAN, operand)))
    }

    fn sort_key_end(&self) -> SortKeyEnd {
        SortKeyEnd::Fixed(1)
    }
}

pub(super) struct DateRules;

impl ValueRules for DateRules {
    fn read(
        &self,
        _: &PropertyKind,
        value: &Value,
        reader: &ValueReader<'_>,
    ) -> Result<PropertyValue> {
        day(value, reader.today).map(PropertyValue::Date)
    }

    fn json_schema(&self, _: &PropertyKind, _: bool, _: &Limits) -> Value {
        json!({"$ref": "#/$defs/day"})
    }

    /// A relative day is not a date: its meaning would change with the day of the conversion.
    fn parse(&self, _: &PropertyKind, text: &str, _: &Limits) -> Option<PropertyValue> {
        text.parse().ok().map(PropertyValue::Date)
    }

    fn admits(&self, _: &PropertyKind, value: &PropertyValue) -> bool {
        matches!(value, PropertyValue::Date(_))
    }

    fn predicate(
        &self,
        _: &PropertyKind,
        operator: Operator,
        operand: &Value,
        reader: &ValueReader<'_>,
    ) -> Option<Result<Predicate>> {
        let read = |value: &Value| day(value, reader.today);
        let comparison = match operator {
            Operator::Equals => Comparison::Equal,
            Operator::Before => Comparison::Less,
            Operator::OnOrBefore => Comparison::LessOrEqual,
            Operator::After => Comparison::Greater,
            Operator::OnOrAfter => Comparison::GreaterOrEqual,
            Operator::AnyOf => return Some(operands(operator, operand, read).map(Predicate::Days)),
            _ => return None,
        };
        Some(read(operand).map(|day| Predicate::Day(comparison, day)))
    }

    fn sort_key_end(&self) -> SortKeyEnd {
        SortKeyEnd::Fixed(4)
    }
}

fn day(value: &Value, today: Day) -> Result<Day> {
    let text = value.as_str().ok_or_else(|| wrong(DAY, value))?;
    let shifted = |days| Ok(Day::from_epoch_days(today.epoch_days() + days));
    match text.parse() {
        Ok(DayRef::Yesterday) => shifted(-1),
        Ok(DayRef::Today) => shifted(0),
        Ok(DayRef::Tomorrow) => shifted(1),
        Ok(DayRef::Date(day)) => Ok(day),
        // Only the parser of days has an error that names the fault of a date.
        Err(_) => text.parse().map_err(|error: Error| mismatch(error.message())),
    }
}
