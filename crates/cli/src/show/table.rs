//! Tables: a column is as wide as its widest cell, the last one takes the rest of the line.

use anstyle::Style;

use super::line;
use crate::error::CliResult;
use crate::out::Out;

/// Text of one line with its style.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self::styled(text, Style::new())
    }

    pub(crate) fn styled(text: impl AsRef<str>, style: Style) -> Self {
        Self { text: line::plain(text.as_ref()), style }
    }

    /// The styled text, clipped to at most `columns` columns.
    pub(crate) fn paint(&self, out: &Out, columns: usize) -> String {
        out.paint(self.style, line::clip(&self.text, columns))
    }
}

/// Width limit of every column but the last.
const MAX_COLUMN_WIDTH: usize = 40;

/// Writes the rows with two spaces between columns.
pub(crate) fn write(out: &mut Out, rows: &[Vec<Cell>]) -> CliResult<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let wide = |cell: &Cell| line::width(&cell.text).min(MAX_COLUMN_WIDTH);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(wide).max().unwrap_or(0))
        .collect();
    for row in rows {
        let mut shown = String::new();
        let mut left = out.width();
        for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let is_last = index + 1 == row.len();
            // Even on a narrow terminal the last column keeps a few characters.
            let room = if is_last { left.max(8) } else { *width };
            let text = line::clip(&cell.text, room);
            let pad = if is_last { 0 } else { width.saturating_sub(line::width(&text)) + 2 };
            left = left.saturating_sub(width + 2);
            shown += &out.paint(cell.style, text);
            shown.extend(std::iter::repeat_n(' ', pad));
        }
        out.line(shown.trim_end())?;
    }
    Ok(())
}
