//! The cells of a GFM table.

use std::ops::Range;

use crate::Result;

/// A cell of a table in a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub(crate) struct TableCell {
    /// Inline markdown.
    value: String,
}

/// Cells of a table, up to which rows are padded: a table of n bytes may lack n² of them.
const MAX_PADDED_CELLS: usize = 100_000;

/// The cells, the header row first, without the delimiter row. All rows have as many cells as the
/// header: GFM pads short rows and ignores excess cells. In a table of over [`MAX_PADDED_CELLS`]
/// short rows have the cells that are written, and one at least.
pub(crate) fn rows(markdown: &str) -> Vec<Vec<TableCell>> {
    // Line 1 is the delimiter row.
    let lines = markdown.lines().enumerate().filter(|(number, _)| *number != 1);
    let row = |line| cells(line).into_iter().map(|value| TableCell { value }).collect();
    let mut found: Vec<Vec<TableCell>> = lines.map(|(_, line)| row(line)).collect();
    let columns = found.first().map_or(0, Vec::len);
    let is_padded = columns.saturating_mul(found.len()) <= MAX_PADDED_CELLS;
    for row in &mut found {
        // An empty row is one that requests refuse.
        let written = row.len().max(1).min(columns);
        row.resize(if is_padded { columns } else { written }, TableCell::default());
    }
    debug_assert!(found.iter().all(|row| row.len() <= columns), "the header is the longest row");
    found
}

/// Whether two tables have equal cells. Empty ones at the end of a row may be missing.
pub(crate) fn have_equal_cells(one: &str, other: &str) -> bool {
    let cells = |table| {
        let mut rows = rows(table);
        for row in &mut rows {
            let end = row.iter().rposition(|cell| !cell.value.is_empty());
            row.truncate(end.map_or(0, |last| last + 1));
        }
        rows
    };
    let columns = |table: &str| rows(table.lines().next().unwrap_or("")).first().map(Vec::len);
    columns(one) == columns(other) && cells(one) == cells(other)
}

fn cells(line: &str) -> Vec<String> {
    raw_cells(line).into_iter().map(|cell| value_of(line.get(cell).unwrap_or(""))).collect()
}

/// The inline markdown of each cell of a GFM table.
pub fn cell_values(table: &str) -> impl Iterator<Item = String> + '_ {
    let rows = table.lines().enumerate().filter(|(number, _)| *number != 1);
    rows.flat_map(|(_, row)| cells(row))
}

/// The inline markdown of a cell as it is written.
fn value_of(raw: &str) -> String {
    // A pipe after a backslash is part of the cell, even within code; the table consumes the
    // backslash. Of two backslashes one remains, which escapes the pipe in the inline markdown.
    raw.trim().replace("\\|", "|")
}

/// Where the cells of a line are, blanks included.
fn raw_cells(line: &str) -> Vec<Range<usize>> {
    let start = line.len() - line.trim_start().len();
    let row = line.trim();
    let mut at = start + usize::from(row.starts_with('|'));
    let (first, end) = (at, start + row.len());
    let (mut found, mut after_backslash) = (Vec::new(), false);
    for (index, character) in line.char_indices().filter(|(index, _)| (first..end).contains(index))
    {
        if character == '|' && !after_backslash {
            found.push(at..index);
            at = index + 1;
        }
        // Every character resets the flag, a second backslash sets it again.
        after_backslash = character == '\\';
    }
    // Text after the last pipe is a cell of its own: the closing pipe is optional.
    if line.get(at..end).is_some_and(|rest| !rest.trim().is_empty()) {
        found.push(at..end);
    }
    found
}

/// A GFM table with other cells: `change` gets the inline markdown of each and returns another one.
/// Line breaks in it become `<br>`.
///
/// # Errors
/// Those of `change`.
pub fn change_cells(
    table: &str,
    mut change: impl FnMut(&str) -> Result<Option<String>>,
) -> Result<String> {
    let mut changed = String::with_capacity(table.len());
    for (number, line) in table.split_inclusive('\n').enumerate() {
        let mut done = 0;
        // Line 1 is the delimiter row.
        let cells = if number == 1 { Vec::new() } else { raw_cells(line) };
        for cell in cells {
            let raw = line.get(cell.clone()).unwrap_or("");
            let Some(value) = change(&value_of(raw))? else { continue };
            let blank = raw.len() - raw.trim_start().len();
            let before = line.get(done..cell.start + blank).unwrap_or("");
            let value = value.replace('|', "\\|").replace(['\n', '\r'], "<br>");
            changed.push_str(before);
            changed.push_str(&value);
            done = cell.start + blank + raw.trim().len();
            // A backslash would escape the pipe after the cell.
            if value.ends_with('\\') && done == cell.end {
                changed.push(' ');
            }
        }
        changed.push_str(line.get(done..).unwrap_or(""));
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::{TableCell, change_cells, have_equal_cells, rows};

    #[test]
    fn cells_are_told_apart() {
        for (line, cells) in [
            ("| a | b |", &["a", "b"][..]),
            ("a | b", &["a", "b"]),
            ("|a|b", &["a", "b"]),
            ("  | a | b |  ", &["a", "b"]),
            ("| a | |", &["a", ""]),
            ("| | b |", &["", "b"]),
            (r"| a \| b | c |", &["a | b", "c"]),
            (r"| a \\| b | c |", &[r"a \| b", "c"]),
            (r"| `a \| b` | c |", &["`a | b`", "c"]),
            (r"| \\ | c |", &[r"\\", "c"]),
            (r"| \*a\* | ü |", &[r"\*a\*", "ü"]),
            (r"| \|", &["|"]),
            ("", &[]),
        ] {
            assert_eq!(super::cells(line), cells, "{line}");
        }
    }

    #[test]
    fn cells_are_changed_in_their_place() {
        let change = |table: &str, from: &str, to: &str| {
            let changed = |cell: &str| Ok(cell.contains(from).then(|| cell.replace(from, to)));
            change_cells(table, changed).unwrap()
        };
        for (table, from, to, expected) in [
            (
                "| a | b |\r\n|---|---|\r\n|a|  a |",
                "a",
                "xx",
                "| xx | b |\r\n|---|---|\r\n|xx|  xx |",
            ),
            ("a | b\n-|-\n1 | 2 \n", "b", "c", "a | c\n-|-\n1 | 2 \n"),
            ("| - |\n| - |\n| - |", "-", "+", "| + |\n| - |\n| + |"),
            (r"| a \| b |", "|", "||", r"| a \|\| b |"),
            ("|a|", "a", "\\", "|\\ |"),
            ("| a |", "a", "b\nc", "| b<br>c |"),
            ("| a | |", "a", "", "|  | |"),
            ("", "a", "b", ""),
        ] {
            assert_eq!(change(table, from, to), expected, "{table:?}");
        }
    }

    #[test]
    fn rows_are_as_long_as_the_header() {
        let read = rows("| a | b |\r\n| --- | :-: |\r\n| 1 |\r\n| 1 | 2 | 3 |\r\n|\r\n");
        let values = |row: &[TableCell]| row.iter().map(|cell| cell.value.clone()).collect();
        let values: Vec<Vec<String>> = read.iter().map(|row| values(row)).collect();
        assert_eq!(values, [["a", "b"], ["1", ""], ["1", "2"], ["", ""]]);
        assert_eq!(rows(""), Vec::<Vec<TableCell>>::new());
    }

    #[test]
    fn a_large_table_has_no_more_cells_than_bytes() {
        for n in [1_000, 2_000] {
            let row = |cell: &str, columns| cell.repeat(columns) + "|\n";
            let table = row("|a", n) + &row("|-", n) + &row("", 1).repeat(n);
            assert_eq!(rows(&table).iter().map(Vec::len).sum::<usize>(), 2 * n);
        }
    }

    #[test]
    fn cells_that_a_row_lacks_are_empty() {
        for (one, other, are_equal) in [
            ("|a|b|\n|-|-|\n|1|", "|a|b|\n|-|-|\n| 1 | |", true),
            ("|a|b|\n|-|-|\n|", "|a|b|\n|-|-|\n|||", true),
            ("|a|b|\n|-|-|\n|1|", "|a|b|\n|-|-|\n||1|", false),
            ("|a|b|\n|-|-|\n|1|", "|a|b|\n|-|-|", false),
            ("|a|\n|-|", "|a||\n|-|-|", false),
        ] {
            assert_eq!(have_equal_cells(one, other), are_equal, "{one:?} {other:?}");
        }
    }
}
