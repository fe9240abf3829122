//! The table of property types: each type's rules. A new type is added here and in the model.

mod relation;
mod scalar;
mod select;
mod text;

use leafbase_model::PropertyKind;

use crate::value_rules::ValueRules;

/// The rules of a property type.
pub(crate) fn rules(kind: &PropertyKind) -> &'static dyn ValueRules {
    match kind {
        PropertyKind::Text => &text::PLAIN,
        PropertyKind::Url => &text::URL,
        PropertyKind::Email => &text::EMAIL,
        PropertyKind::Phone => &text::PHONE,
        PropertyKind::Number => &scalar::NumberRules,
        PropertyKind::Boolean => &scalar::BooleanRules,
        PropertyKind::Date => &scalar::DateRules,
        PropertyKind::SingleSelect(_) => &select::SingleSelectRules,
        PropertyKind::MultiSelect(_) => &select::MultiSelectRules,
        PropertyKind::Relation(_) => &relation::RelationRules,
    }
}
