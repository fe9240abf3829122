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

/// The most names that an error lists.
const MAX_NAMES: usize = 12;

/// The end of an error message about an unknown name: `, expected one of a, b`. Of many known names
/// it lists the names that begin most like `name`; it is empty if none are known.
pub fn expected_one_of<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let mut known: Vec<&str> = known.into_iter().collect();
    let [first, rest @ ..] = known.as_slice() else { return String::new() };
    if rest.is_empty() {
        return format!(", expected {first}");
    }
    let unlisted = known.len().saturating_sub(MAX_NAMES);
    if unlisted > 0 {
        known.sort_by_key(|other| std::cmp::Reverse(common_prefix(name, other)));
        known.truncate(MAX_NAMES);
    }
    let more = if unlisted > 0 { format!(" and {unlisted} more") } else { String::new() };
    format!(", expected one of {}{more}", known.join(", "))
}

/// The number of bytes that two names have in common at their start, in either case.
fn common_prefix(one: &str, other: &str) -> usize {
    one.bytes()
        .zip(other.bytes())
        .take_while(|(one, other)| one.eq_ignore_ascii_case(other))
        .count()
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
