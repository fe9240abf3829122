//! The cells of a GFM table.

/// A cell of a table in a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub(crate) struct TableCell {
    /// Inline markdown.
    value: String,
}

/// The cells, the header row first, without the delimiter row. All rows have as many cells as the
/// header: GFM pads short rows and ignores excess cells.
pub(crate) fn rows(markdown: &str) -> Vec<Vec<TableCell>> {
    // Line 1 is the delimiter row.
    let lines = markdown.lines().enumerate().filter(|(number, _)| *number != 1);
    let row = |line| cells(line).into_iter().map(|value| TableCell { value }).collect();
    let mut found: Vec<Vec<TableCell>> = lines.map(|(_, line)| row(line)).collect();
    let columns = found.first().map_or(0, Vec::len);
    for row in &mut found {
        row.resize(columns, TableCell::default());
    }
    debug_assert!(found.iter().all(|row| row.len() == columns), "rows have equal lengths");
    found
}

fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let (mut found, mut cell, mut after_backslash) = (Vec::new(), String::new(), false);
    for character in line.chars() {
        match character {
            // A pipe after a backslash is part of the cell, even within code; the table consumes
            // the backslash. Of two backslashes one remains, which escapes the pipe in the inline
            // markdown.
            '|' if after_backslash => {
                cell.pop();
                cell.push('|');
            }
            '|' => found.push(std::mem::take(&mut cell).trim().to_owned()),
            other => cell.push(other),
        }
        // Every character resets the flag, a second backslash sets it again.
        after_backslash = character == '\\';
    }
    // Text after the last pipe is a cell of its own: the closing pipe is optional.
    if !cell.trim().is_empty() {
        found.push(cell.trim().to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{TableCell, rows};

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
    fn rows_are_as_long_as_the_header() {
        let read = rows("| a | b |\r\n| --- | :-: |\r\n| 1 |\r\n| 1 | 2 | 3 |\r\n");
        let value = |cell: &str| TableCell { value: cell.to_owned() };
        assert_eq!(read, [["a", "b"], ["1", ""], ["1", "2"]].map(|row| row.map(value)));
        assert_eq!(rows(""), Vec::<Vec<TableCell>>::new());
    }
}
