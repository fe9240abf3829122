//! Types whose values are text: free text, and text in the form of a pattern.

use leafbase_model::{Limits, Operator, PropertyKind, PropertyValue, Result};
use serde_json::{Value, json};

use crate::patterns::{self, TextPattern};
use crate::predicates::Predicate;
use crate::sort_keys::fold;
use crate::value_rules::{SortKeyEnd, ValueReader, ValueRules, check_count, operands, wrong};

/// A text type: its pattern, if it has one, and the longest value in bytes.
pub(super) struct TextRules {
    pattern: Option<&'static TextPattern>,
    max_bytes: fn(&Limits) -> usize,
}

pub(super) static PLAIN: TextRules =
    TextRules { pattern: None, max_bytes: |limits| limits.block_text };
pub(super) static URL: TextRules = TextRules::matching(&patterns::URL);
pub(super) static EMAIL: TextRules = TextRules::matching(&patterns::EMAIL);
pub(super) static PHONE: TextRules = TextRules::matching(&patterns::PHONE);

impl TextRules {
    const fn matching(pattern: &'static TextPattern) -> Self {
        Self { pattern: Some(pattern), max_bytes: |limits| limits.attribute }
    }

    fn matches(&self, text: &str) -> bool {
        self.pattern.is_none_or(|pattern| pattern.matches(text))
    }
}

impl ValueRules for TextRules {
    fn read(
        &self,
        _: &PropertyKind,
        value: &Value,
        reader: &ValueReader<'_>,
    ) -> Result<PropertyValue> {
        let expected = self.pattern.map_or("text", |pattern| pattern.expected);
        let text = value.as_str().ok_or_else(|| wrong(expected, value))?;
        // The length comes first: no pattern is matched on a text of unbounded length.
        check_count("bytes of a property value", (self.max_bytes)(reader.limits), text.len())?;
        if !self.matches(text) {
            return Err(wrong(expected, value));
        }
        Ok(PropertyValue::Text(text.to_owned()))
    }

    fn json_schema(&self, _: &PropertyKind, _: bool, limits: &Limits) -> Value {
        // JSON Schema counts characters. A text has no more of them than bytes, so the schema never
        // refuses what the reader accepts.
        let max_length = (self.max_bytes)(limits);
        match self.pattern {
            None => json!({"type": ["string", "null"], "maxLength": max_length}),
            Some(TextPattern { pattern, .. }) => {
                json!({"type": ["string", "null"], "maxLength": max_length, "pattern": pattern})
            }
        }
    }

    fn parse(&self, _: &PropertyKind, text: &str, limits: &Limits) -> Option<PropertyValue> {
        let is_valid = text.len() <= (self.max_bytes)(limits) && self.matches(text);
        is_valid.then(|| PropertyValue::Text(text.to_owned()))
    }

    fn admits(&self, _: &PropertyKind, value: &PropertyValue) -> bool {
        matches!(value, PropertyValue::Text(text) if self.matches(text))
    }

    /// Texts are compared case-folded. Operands are fragments, so they need not match the pattern.
    fn predicate(
        &self,
        _: &PropertyKind,
        operator: Operator,
        operand: &Value,
        _: &ValueReader<'_>,
    ) -> Option<Result<Predicate>> {
        let folded = |value: &Value| value.as_str().map(fold).ok_or_else(|| wrong("text", value));
        Some(match operator {
            Operator::Equals | Operator::AnyOf => {
                operands(operator, operand, folded).map(Predicate::Text)
            }
            Operator::Contains => folded(operand).map(Predicate::Contains),
            Operator::StartsWith => folded(operand).map(Predicate::StartsWith),
            _ => return None,
        })
    }

    fn sort_key_end(&self) -> SortKeyEnd {
        SortKeyEnd::TextTerminator
    }
}
