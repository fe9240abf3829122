//! What a condition of a query means for a property of each type: the table at [`crate::Query`].

use std::cmp::Ordering;
use std::collections::BTreeSet;

use leafbase_model::{
    BlockId, Condition, Day, Operator, Property, PropertyKind, PropertyType, PropertyValue, Result,
};
use serde_json::Value;

use crate::sort_key::fold;
use crate::values::{Values, mismatch, wrong};

/// What a value is tested for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    Empty,
    /// The folded text is one of these.
    Text(BTreeSet<String>),
    Contains(String),
    StartsWith(String),
    Number(Compare, f64),
    Numbers(Vec<f64>),
    Day(Compare, Day),
    Days(BTreeSet<Day>),
    Boolean(bool),
    Option(BTreeSet<String>),
    Options(Among, BTreeSet<String>),
    Related(Among, BTreeSet<BlockId>),
}

/// How a value with an order is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Compare {
    fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Equal => ordering.is_eq(),
            Self::Less => ordering.is_lt(),
            Self::LessOrEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterOrEqual => ordering.is_ge(),
        }
    }
}

/// How many of the names asked for a set must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    Just,
    Any,
    All,
}

impl Among {
    fn holds<T: Ord + Clone>(self, found: &[T], wanted: &BTreeSet<T>) -> bool {
        match self {
            Self::Just => {
                found.len() == wanted.len() && found.iter().all(|one| wanted.contains(one))
            }
            Self::Any => found.iter().any(|one| wanted.contains(one)),
            Self::All => wanted.iter().all(|one| found.contains(one)),
        }
    }
}

/// Reads a condition on `property`. Whether what the test finds is met, or what it does not.
pub(crate) fn read(
    condition: &Condition,
    property: &Property,
    values: Values<'_>,
) -> Result<(bool, Test)> {
    let operand = &condition.operand;
    let read = match condition.operator {
        Operator::IsEmpty | Operator::IsNotEmpty => {
            let flag = operand.as_bool().ok_or_else(|| wrong("true or false", operand));
            flag.map(|flag| (flag == (condition.operator == Operator::IsEmpty), Test::Empty))
        }
        Operator::NotEquals => {
            test(Operator::Equals, operand, property, values).map(|test| (false, test))
        }
        operator => test(operator, operand, property, values).map(|test| (true, test)),
    };
    read.map_err(|error| error.at(condition.operator))
}

fn test(
    operator: Operator,
    operand: &Value,
    property: &Property,
    values: Values<'_>,
) -> Result<Test> {
    let refused = || {
        let property_type = property.kind.property_type();
        mismatch(format!("a property of type {property_type} cannot be compared by {operator}"))
    };
    match property.kind.property_type() {
        PropertyType::Text | PropertyType::Url | PropertyType::Email | PropertyType::Phone => {
            text_test(operator, operand).ok_or_else(refused)?
        }
        PropertyType::Number => {
            number_test(operator, operand, property, values).ok_or_else(refused)?
        }
        PropertyType::Date => day_test(operator, operand, property, values).ok_or_else(refused)?,
        PropertyType::Boolean if operator == Operator::Equals => {
            operand.as_bool().map(Test::Boolean).ok_or_else(|| wrong("true or false", operand))
        }
        PropertyType::SingleSelect if matches!(operator, Operator::Equals | Operator::AnyOf) => {
            let names =
                each(operator, operand, |name| text_of(values.read(property, name)?, name))?;
            Ok(Test::Option(names))
        }
        PropertyType::MultiSelect | PropertyType::Relation => {
            let among = among(operator).ok_or_else(refused)?;
            set_test(operator, among, operand, property, values)
        }
        PropertyType::Boolean | PropertyType::SingleSelect => Err(refused()),
    }
}

fn text_test(operator: Operator, operand: &Value) -> Option<Result<Test>> {
    let folded = |value: &Value| value.as_str().map(fold).ok_or_else(|| wrong("text", value));
    Some(match operator {
        Operator::Equals | Operator::AnyOf => each(operator, operand, folded).map(Test::Text),
        Operator::Contains => folded(operand).map(Test::Contains),
        Operator::StartsWith => folded(operand).map(Test::StartsWith),
        _ => return None,
    })
}

fn number_test(
    operator: Operator,
    operand: &Value,
    property: &Property,
    values: Values<'_>,
) -> Option<Result<Test>> {
    let number = |value: &Value| match values.read(property, value)? {
        Some(PropertyValue::Number(number)) => Ok(number),
        _ => Err(wrong("a number", value)),
    };
    let compare = match operator {
        Operator::Equals => Compare::Equal,
        Operator::LessThan => Compare::Less,
        Operator::LessThanOrEqual => Compare::LessOrEqual,
        Operator::GreaterThan => Compare::Greater,
        Operator::GreaterThanOrEqual => Compare::GreaterOrEqual,
        Operator::AnyOf => {
            return Some(each(operator, operand, number).map(Test::Numbers));
        }
        _ => return None,
    };
    Some(number(operand).map(|number| Test::Number(compare, number)))
}

fn day_test(
    operator: Operator,
    operand: &Value,
    property: &Property,
    values: Values<'_>,
) -> Option<Result<Test>> {
    let day = |value: &Value| match values.read(property, value)? {
        Some(PropertyValue::Date(day)) => Ok(day),
        _ => Err(wrong("a day YYYY-MM-DD", value)),
    };
    let compare = match operator {
        Operator::Equals => Compare::Equal,
        Operator::Before => Compare::Less,
        Operator::OnOrBefore => Compare::LessOrEqual,
        Operator::After => Compare::Greater,
        Operator::OnOrAfter => Compare::GreaterOrEqual,
        Operator::AnyOf => return Some(each(operator, operand, day).map(Test::Days)),
        _ => return None,
    };
    Some(day(operand).map(|day| Test::Day(compare, day)))
}

const fn among(operator: Operator) -> Option<Among> {
    match operator {
        Operator::Equals => Some(Among::Just),
        Operator::Contains | Operator::AnyOf => Some(Among::Any),
        Operator::AllOf => Some(Among::All),
        _ => None,
    }
}

/// A set is asked for in the form of a value; one option may stand alone.
fn set_test(
    operator: Operator,
    among: Among,
    operand: &Value,
    property: &Property,
    values: Values<'_>,
) -> Result<Test> {
    let alone = (operand.is_string() && property.kind.relation().is_none())
        .then(|| Value::Array(vec![operand.clone()]));
    // More than one may be asked for where a value has one at most.
    let mut property = property.clone();
    if let PropertyKind::Relation(relation) = &mut property.kind {
        relation.single = false;
    }
    let read = values.read(&property, alone.as_ref().unwrap_or(operand))?;
    let (test, count) = match read {
        Some(PropertyValue::Options(names)) => {
            let names: BTreeSet<_> = names.into_iter().collect();
            (Test::Options(among, names.clone()), names.len())
        }
        Some(PropertyValue::Relations(items)) => {
            let items: BTreeSet<_> = items.into_iter().collect();
            (Test::Related(among, items.clone()), items.len())
        }
        _ if property.kind.relation().is_some() => (Test::Related(among, BTreeSet::new()), 0),
        _ => (Test::Options(among, BTreeSet::new()), 0),
    };
    if operand.is_null() || (operator == Operator::Contains && count != 1) {
        return Err(wrong(
            if operator == Operator::Contains { "one" } else { "one or several" },
            operand,
        ));
    }
    Ok(test)
}

fn text_of(value: Option<PropertyValue>, given: &Value) -> Result<String> {
    match value {
        Some(PropertyValue::Text(text)) => Ok(text),
        _ => Err(wrong("the name of an option", given)),
    }
}

/// One operand, or with `anyOf` an array of them.
fn each<T, C: FromIterator<T>>(
    operator: Operator,
    operand: &Value,
    read: impl Fn(&Value) -> Result<T>,
) -> Result<C> {
    if operator == Operator::AnyOf {
        let at = |(index, value)| read(value).map_err(|error| error.at(format_args!("[{index}]")));
        listed(operand)?.iter().enumerate().map(at).collect()
    } else {
        Ok(C::from_iter([read(operand)?]))
    }
}

fn listed(operand: &Value) -> Result<&[Value]> {
    operand.as_array().map(Vec::as_slice).ok_or_else(|| wrong("an array", operand))
}

/// The value, if it is one: an empty text is none.
pub(crate) fn present(value: Option<&PropertyValue>) -> Option<&PropertyValue> {
    value.filter(|value| !matches!(value, PropertyValue::Text(text) if text.is_empty()))
}

impl Test {
    /// Whether the values that meet it have one key in an index.
    pub(crate) fn is_one_value(&self) -> bool {
        match self {
            Self::Text(texts) => texts.len() == 1,
            Self::Number(compare, _) | Self::Day(compare, _) => *compare == Compare::Equal,
            Self::Numbers(numbers) => numbers.len() == 1,
            Self::Days(days) => days.len() == 1,
            Self::Boolean(_) | Self::Options(..) => true,
            Self::Option(names) => names.len() == 1,
            Self::Empty | Self::Contains(_) | Self::StartsWith(_) | Self::Related(..) => false,
        }
    }

    pub(crate) fn holds(&self, value: Option<&PropertyValue>) -> bool {
        let value = present(value);
        match (self, value) {
            (Self::Empty, value) => value.is_none(),
            (Self::Text(wanted), Some(PropertyValue::Text(text))) => wanted.contains(&fold(text)),
            // No value is as an empty text.
            (Self::Text(wanted), None) => wanted.contains(""),
            (Self::Contains(part), Some(PropertyValue::Text(text))) => fold(text).contains(part),
            (Self::StartsWith(start), Some(PropertyValue::Text(text))) => {
                fold(text).starts_with(start)
            }
            (Self::Number(compare, wanted), Some(PropertyValue::Number(number))) => {
                number.partial_cmp(wanted).is_some_and(|ordering| compare.holds(ordering))
            }
            (Self::Numbers(wanted), Some(PropertyValue::Number(number))) => wanted.contains(number),
            (Self::Day(compare, wanted), Some(PropertyValue::Date(day))) => {
                compare.holds(day.cmp(wanted))
            }
            (Self::Days(wanted), Some(PropertyValue::Date(day))) => wanted.contains(day),
            (Self::Boolean(wanted), Some(PropertyValue::Boolean(value))) => wanted == value,
            (Self::Option(wanted), Some(PropertyValue::Text(name))) => wanted.contains(name),
            (Self::Options(among, wanted), Some(PropertyValue::Options(names))) => {
                among.holds(names, wanted)
            }
            (Self::Related(among, wanted), Some(PropertyValue::Relations(items))) => {
                among.holds(items, wanted)
            }
            // A set of nothing.
            (Self::Options(Among::Just | Among::All, wanted), None) => wanted.is_empty(),
            (Self::Related(Among::Just | Among::All, wanted), None) => wanted.is_empty(),
            _ => false,
        }
    }
}
