//! Comparison of blocks that a request sends back with those that a reply shows.

use serde_json::Value;

/// Fields that are not compared: they say nothing of the content, or are derived.
const NOT_COMPARED: [&str; 3] = ["metadata", "colorDark", "contentPreview"];

/// Whether each given value is the shown one. What a given block leaves out is not compared, so
/// that a reply of another depth, or one without metadata, may be sent back.
pub(crate) fn is_same_list(given: &[Value], shown: &Value) -> bool {
    // An explicit stack: replies nest as deep as documents.
    let Some(shown) = shown.as_array() else { return given.is_empty() };
    let mut waiting = vec![(given, shown.as_slice())];
    while let Some((given, shown)) = waiting.pop() {
        if given.len() != shown.len() {
            return false;
        }
        for (given, shown) in given.iter().zip(shown) {
            let (Some(given), Some(shown)) = (given.as_object(), shown.as_object()) else {
                return false;
            };
            for (name, value) in given {
                let same = shown.get(name);
                match (name.as_str(), value) {
                    ("content", Value::Array(children)) => match same.and_then(Value::as_array) {
                        Some(shown) => waiting.push((children, shown)),
                        None if children.is_empty() => {}
                        None => return false,
                    },
                    (name, _) if NOT_COMPARED.contains(&name) => {}
                    (_, Value::Null) if same.is_none() => {}
                    _ if same == Some(value) => {}
                    _ => return false,
                }
            }
        }
    }
    true
}
