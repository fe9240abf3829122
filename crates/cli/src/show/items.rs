//! Items of a collection as a table.

use leafbase::{Item, ItemValue, PropertyValue, Schema};

use super::styles;
use super::table::{self, Cell};
use crate::error::CliResult;
use crate::out::Out;

/// Writes the items below a header of property names.
pub(crate) fn write(out: &mut Out, schema: &Schema, items: &[Item]) -> CliResult<()> {
    let title = std::iter::once(schema.content.name.as_str());
    let names = title.chain(schema.properties.iter().map(|property| property.name.as_str()));
    let mut rows = vec![names.map(|name| Cell::styled(name, styles::QUIET)).collect::<Vec<_>>()];
    for item in items {
        let values = schema
            .properties
            .iter()
            .map(|property| item.property(&property.key).map_or_else(String::new, value));
        let mut row = vec![Cell::styled(&item.title, styles::TITLE)];
        row.extend(values.map(Cell::new));
        rows.push(row);
    }
    table::write(out, &rows)
}

fn value(value: &ItemValue) -> String {
    match value {
        ItemValue::Relations(items) => {
            items.iter().map(|item| item.title.as_str()).collect::<Vec<_>>().join(", ")
        }
        ItemValue::Value(value) => words(value),
    }
}

/// A value as text.
pub(crate) fn words(value: &PropertyValue) -> String {
    match serde_json::Value::from(value.clone()) {
        serde_json::Value::String(text) => text,
        serde_json::Value::Bool(flag) => if flag { "yes" } else { "no" }.to_owned(),
        serde_json::Value::Array(values) => {
            values.iter().filter_map(serde_json::Value::as_str).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}
