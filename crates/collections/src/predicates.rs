//! Predicates on values: conditions with a decoded operand.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use leafbase_model::{BlockId, Day, Operator, PropertyValue};

use crate::sort_keys::fold;

/// A test of one value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Predicate {
    Empty,
    /// The case-folded text is one of these.
    Text(BTreeSet<String>),
    Contains(String),
    StartsWith(String),
    Number(Comparison, f64),
    Numbers(Vec<f64>),
    Day(Comparison, Day),
    Days(BTreeSet<Day>),
    Boolean(bool),
    Option(BTreeSet<String>),
    Options(SetMatch, BTreeSet<String>),
    Related(SetMatch, BTreeSet<BlockId>),
}

/// A comparison with a value of an ordered type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
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

/// How the members of a set relate to the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetMatch {
    /// Both have the same members.
    Exactly,
    /// The set has at least one member of the operand.
    Any,
    /// The set has every member of the operand.
    All,
}

impl SetMatch {
    /// The match that a set type performs for `operator`, if it supports it.
    pub(crate) const fn of(operator: Operator) -> Option<Self> {
        match operator {
            Operator::Equals => Some(Self::Exactly),
            Operator::Contains | Operator::AnyOf => Some(Self::Any),
            Operator::AllOf => Some(Self::All),
            _ => None,
        }
    }

    fn holds<T: Ord + Clone>(self, found: &[T], wanted: &BTreeSet<T>) -> bool {
        match self {
            Self::Exactly => {
                // Stored sets have no duplicates, so equal length and inclusion mean equality.
                found.len() == wanted.len() && found.iter().all(|one| wanted.contains(one))
            }
            Self::Any => found.iter().any(|one| wanted.contains(one)),
            Self::All => wanted.iter().all(|one| found.contains(one)),
        }
    }
}

/// The value unless it is an empty text, which counts as no value.
pub(crate) fn present(value: Option<&PropertyValue>) -> Option<&PropertyValue> {
    value.filter(|value| !matches!(value, PropertyValue::Text(text) if text.is_empty()))
}

impl Predicate {
    /// Whether all values that satisfy the predicate have the same index key.
    pub(crate) fn is_one_value(&self) -> bool {
        match self {
            Self::Text(texts) => texts.len() == 1,
            Self::Number(compare, _) | Self::Day(compare, _) => *compare == Comparison::Equal,
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
            // A missing value equals the empty text.
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
            // An item without a value has the empty set.
            (Self::Options(SetMatch::Exactly | SetMatch::All, wanted), None) => wanted.is_empty(),
            (Self::Related(SetMatch::Exactly | SetMatch::All, wanted), None) => wanted.is_empty(),
            _ => false,
        }
    }
}
