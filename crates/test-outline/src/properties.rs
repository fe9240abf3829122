//! Item properties in an outline: `prop:stage="draft" prop:pages=12 prop:tags=["a","b"]
//! prop:due=2026-03-01`.

use leafbase_model::{Properties, PropertyValue};

use crate::words::quote;

/// Prefix of the key.
pub(crate) const PREFIX: &str = "prop:";

/// Parses the value after `prop:key=`.
pub(crate) fn read(value: &str, quoted: bool) -> Result<PropertyValue, String> {
    if quoted {
        return Ok(PropertyValue::Text(value.to_owned()));
    }
    if let Some(ids) = value.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
        let ids = ids.split(',').filter(|id| !id.is_empty());
        let ids = ids.map(|id| id.parse().map_err(|error| format!("{error}")));
        return Ok(PropertyValue::Relations(ids.collect::<Result<_, _>>()?));
    }
    if let Some(options) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let options = options.split(',').filter(|option| !option.is_empty());
        return Ok(PropertyValue::Options(
            options.map(|option| option.trim_matches('"').to_owned()).collect(),
        ));
    }
    match value {
        "true" => Ok(PropertyValue::Boolean(true)),
        "false" => Ok(PropertyValue::Boolean(false)),
        other => other
            .parse()
            .map(PropertyValue::Number)
            .or_else(|_| other.parse().map(PropertyValue::Date))
            .map_err(|_| format!("expected a property value, got {other:?}")),
    }
}

/// Prints each property as `prop:key=value`.
pub(crate) fn print(properties: &Properties) -> Vec<String> {
    properties.iter().map(|(key, value)| format!("{PREFIX}{key}={}", print_value(value))).collect()
}

fn print_value(value: &PropertyValue) -> String {
    match value {
        PropertyValue::Text(text) => quote(text),
        PropertyValue::Number(number) => number.to_string(),
        PropertyValue::Boolean(value) => value.to_string(),
        PropertyValue::Date(day) => day.to_string(),
        PropertyValue::Options(options) => {
            let options: Vec<_> = options.iter().map(|option| format!("\"{option}\"")).collect();
            format!("[{}]", options.join(","))
        }
        PropertyValue::Relations(items) => {
            let items: Vec<_> = items.iter().map(ToString::to_string).collect();
            format!("<{}>", items.join(","))
        }
    }
}
