//! Fields of replies that requests take back: what is derived or read-only is left out, so that a
//! block can be sent as it came.

use serde_json::Value;

use crate::json::{Object, at, describe, unknown_field};
use crate::{BlockType, Color, Error, Result, table};

/// Fields of replies that say nothing that a request could change.
const READ_ONLY: [&str; 4] = ["metadata", "documentId", "uploaded", "mimeType"];

/// Removes the derived and read-only fields of a block of a reply.
pub(crate) fn drop_derived(object: &mut Object) -> Result<()> {
    for name in READ_ONLY {
        object.take_unlisted(name);
    }
    keep_color(object)?;
    if let Some(rows) = object.take_unlisted("rows") {
        // Beside the markdown of a table its cells say the same.
        if object.get("markdown").is_none_or(Value::is_null) && !rows.is_null() {
            let markdown = at("rows", || table_of(&rows))?;
            object.set("markdown", Value::String(markdown));
        }
    }
    Ok(())
}

/// Refuses the cells of a new table if its markdown says something else.
pub(crate) fn check_rows(object: &Object) -> Result<()> {
    let (Some(rows), Some(markdown)) = (object.get("rows"), object.get("markdown")) else {
        return Ok(());
    };
    let Some(markdown) = markdown.as_str().filter(|_| !rows.is_null()) else { return Ok(()) };
    if object.get("type").and_then(Value::as_str) != Some(BlockType::Table.as_str()) {
        return Ok(());
    }
    at("rows", || {
        if table::have_equal_cells(&table_of(rows)?, markdown.trim()) {
            return Ok(());
        }
        let message = "differs from the cells of the table's markdown: give one of them";
        Err(Error::validation(message))
    })
}

/// Of the shown colors, the one whose variants both are is the color that the author gave.
fn keep_color(object: &mut Object) -> Result<()> {
    let Some(dark) = object.optional::<Color>("colorDark")? else { return Ok(()) };
    let light = object.get("color").and_then(Value::as_str).and_then(|text| text.parse().ok());
    let Some(light): Option<Color> = light else { return Ok(()) };
    let is_kept = |color: &Color| color.light() == light && color.dark() == dark;
    if let Some(kept) = [light, dark].into_iter().find(is_kept) {
        object.set("color", Value::String(kept.to_string()));
    }
    Ok(())
}

/// The markdown of a table with these cells, the header first: texts, or objects with a `value`.
fn table_of(rows: &Value) -> Result<String> {
    let rows = rows.as_array().ok_or_else(|| expected("an array of rows", rows))?;
    let (mut table, mut columns) = (String::new(), None);
    for (number, row) in rows.iter().enumerate() {
        let cells = at(format_args!("[{number}]"), || {
            let cells = row.as_array().ok_or_else(|| expected("an array of cells", row))?;
            check_row(cells, *columns.get_or_insert(cells.len()))?;
            Ok::<_, Error>(cells)
        })?;
        for (column, cell) in cells.iter().enumerate() {
            let text = at(format_args!("[{number}][{column}]"), || cell_text(cell))?;
            table.push_str("| ");
            table.push_str(&text.replace('|', "\\|").replace(['\n', '\r'], " "));
            table.push(' ');
        }
        table.push_str("|\n");
        if number == 0 {
            table.push_str(&"| --- ".repeat(cells.len()));
            table.push_str("|\n");
        }
    }
    table.truncate(table.trim_end().len());
    Ok(table)
}

fn expected(what: &str, found: &Value) -> Error {
    Error::validation(format!("expected {what}, got {}", describe(found)))
}

/// A row may have fewer cells than the header.
fn check_row(cells: &[Value], columns: usize) -> Result<()> {
    if cells.is_empty() {
        return Err(Error::validation("a row has one cell or more"));
    }
    if cells.len() > columns {
        let message = format!("has {} cells, but the header has {columns}", cells.len());
        return Err(Error::validation(message));
    }
    Ok(())
}

/// The inline markdown of a cell.
fn cell_text(cell: &Value) -> Result<&str> {
    let Value::Object(fields) = cell else {
        return cell.as_str().ok_or_else(|| expected("a text", cell));
    };
    fields
        .keys()
        .filter(|name| *name != "value")
        .try_for_each(|name| unknown_field(name, &["value"]))?;
    let value = fields.get("value").unwrap_or(&Value::Null);
    value.as_str().ok_or_else(|| expected("a text", value).at("value"))
}
