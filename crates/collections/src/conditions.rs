//! Conditions of a query: an operator and an operand become a predicate, by the rules of the
//! property's type. The table is at [`crate::ItemQuery`].

use leafbase_model::{Condition, Operator, PropertyKind, Result};

use crate::predicates::Predicate;
use crate::property_types::rules;
use crate::value_rules::{ValueReader, mismatch, wrong};

/// Reads a condition on a property. Returns the predicate, and whether it has to hold or has to
/// fail.
pub(crate) fn read(
    condition: &Condition,
    kind: &PropertyKind,
    reader: &ValueReader<'_>,
) -> Result<(bool, Predicate)> {
    let Condition { operator, operand, .. } = condition;
    let read = match operator {
        Operator::IsEmpty | Operator::IsNotEmpty => {
            let flag = operand.as_bool().ok_or_else(|| wrong("true or false", operand));
            flag.map(|flag| (flag == (*operator == Operator::IsEmpty), Predicate::Empty))
        }
        Operator::NotEquals => {
            predicate(Operator::Equals, condition, kind, reader).map(|equals| (false, equals))
        }
        operator => predicate(*operator, condition, kind, reader).map(|test| (true, test)),
    };
    read.map_err(|error| error.at(operator))
}

fn predicate(
    operator: Operator,
    condition: &Condition,
    kind: &PropertyKind,
    reader: &ValueReader<'_>,
) -> Result<Predicate> {
    rules(kind).predicate(kind, operator, &condition.operand, reader).unwrap_or_else(|| {
        let property_type = kind.property_type();
        let message =
            format!("a property of type {property_type} cannot be compared by {operator}");
        Err(mismatch(message))
    })
}
