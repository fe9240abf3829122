//! The contract of a property type: how its values are read, described, converted, compared and
//! sorted. `property_types.rs` names the implementation of each type.

use leafbase_model::json::describe;
use leafbase_model::{
    Day, Error, ErrorKind, Limits, Operator, PropertyKind, PropertyValue, Result, SelectOption,
};
use serde_json::Value;

use crate::predicates::Predicate;

/// Decodes values of items from JSON.
///
/// A value that the JSON Schema refuses is a [`ErrorKind::SchemaMismatch`]. What JSON Schema cannot
/// state, a length in bytes and an integer that a 64-bit float does not hold, is a
/// [`ErrorKind::LimitExceeded`]. Numbers written with a fraction, and those beyond 64 bits, arrive
/// already rounded by the JSON parser and are accepted.
#[derive(Clone, Copy, Debug)]
pub struct ValueReader<'a> {
    /// The day that `today` resolves to.
    pub today: Day,
    /// Bounds on the lengths of texts and lists.
    pub limits: &'a Limits,
    /// Whether a select accepts names that are not options of its property yet;
    /// [`crate::new_options`] lists them.
    pub new_options: bool,
}

/// The behavior of one property type. `kind` is always of that type; it carries the options of a
/// select and the target of a relation.
pub(crate) trait ValueRules: Sync {
    /// Decodes a JSON value other than `null`. An empty set is returned as such.
    fn read(
        &self,
        kind: &PropertyKind,
        value: &Value,
        reader: &ValueReader<'_>,
    ) -> Result<PropertyValue>;

    /// The JSON Schema of what [`Self::read`] accepts, `null` included.
    fn json_schema(&self, kind: &PropertyKind, new_options: bool, limits: &Limits) -> Value;

    /// The value that is written as `text`, for conversion from another type.
    fn parse(&self, kind: &PropertyKind, text: &str, limits: &Limits) -> Option<PropertyValue>;

    /// Whether `value` may be stored under the property, lengths aside: limits belong to a space
    /// and change.
    fn admits(&self, kind: &PropertyKind, value: &PropertyValue) -> bool;

    /// The predicate of a condition. `None` if the type does not support `operator`.
    fn predicate(
        &self,
        kind: &PropertyKind,
        operator: Operator,
        operand: &Value,
        reader: &ValueReader<'_>,
    ) -> Option<Result<Predicate>>;

    /// How a sort key of the type ends, or that items cannot be sorted by it.
    fn sort_key_end(&self) -> SortKeyEnd;
}

/// Where a sort key ends inside an order key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortKeyEnd {
    /// The type has no order.
    Unordered,
    /// After this many bytes.
    Fixed(usize),
    /// At the terminator of a text key.
    TextTerminator,
}

/// Decodes the operands of a condition: one, or with `anyOf` an array of them.
pub(crate) fn operands<T, C: FromIterator<T>>(
    operator: Operator,
    operand: &Value,
    read: impl Fn(&Value) -> Result<T>,
) -> Result<C> {
    if operator != Operator::AnyOf {
        return Ok(C::from_iter([read(operand)?]));
    }
    let values = operand.as_array().ok_or_else(|| wrong("an array", operand))?;
    read_each(values, read)
}

/// Decodes an array; an error gets the index of its element as its path.
pub(crate) fn read_each<T, C: FromIterator<T>>(
    values: &[Value],
    read: impl Fn(&Value) -> Result<T>,
) -> Result<C> {
    let at = |(index, value)| read(value).map_err(|error| error.at(format_args!("[{index}]")));
    values.iter().enumerate().map(at).collect()
}

/// Checks the operand of a set condition, of which `count` members were read.
pub(crate) fn check_set_operand(operator: Operator, operand: &Value, count: usize) -> Result<()> {
    let takes_one = operator == Operator::Contains;
    if operand.is_null() || (takes_one && count != 1) {
        return Err(wrong(if takes_one { "one" } else { "one or several" }, operand));
    }
    Ok(())
}

pub(crate) fn has_option(options: &[SelectOption], name: &str) -> bool {
    options.iter().any(|option| option.name == name)
}

pub(crate) fn check_count(limit: &str, maximum: usize, found: usize) -> Result<()> {
    if found > maximum { Err(Error::limit(limit, maximum, found)) } else { Ok(()) }
}

pub(crate) fn wrong(expected: &str, value: &Value) -> Error {
    mismatch(format!("expected {expected}, got {}", describe(value)))
}

pub(crate) fn mismatch(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::SchemaMismatch, message)
}
