//! Parts of error messages: quoted texts, described values, type names as words.

use serde_json::Value;

/// Quotes `text` for an error message, truncated to 40 characters.
pub fn quoted(text: &str) -> String {
    // Characters, not bytes: a cut within a character would need a check.
    let mut shown: String = text.chars().take(40).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

/// Describes `value` for an error message: scalars by value, arrays and objects by type.
pub fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
    }
}

/// Splits a type name into words: `list style` for `ListStyle`.
pub(crate) fn noun(type_name: &str) -> String {
    let mut words = String::new();
    for character in type_name.chars() {
        // A capital letter starts a word.
        if character.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(character.to_lowercase());
    }
    words
}
