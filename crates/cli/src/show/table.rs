//! Tables: a column is as wide as its widest cell, the last one takes the rest of the line. On a
//! line of limited width the widest columns are clipped.

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

/// Columns that the widest cells give way to before those of the last column.
const MIN_COLUMN_WIDTH: usize = 8;

/// The widths of the columns, of which the widest give way until `width` has room for all.
fn column_widths(rows: &[Vec<Cell>], width: usize) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| line::width(&cell.text)).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    let between = 2 * columns.saturating_sub(1);
    while widths.iter().sum::<usize>() + between > width {
        match widths.iter_mut().max().filter(|widest| **widest > MIN_COLUMN_WIDTH) {
            Some(widest) => *widest -= 1,
            None => break,
        }
    }
    widths
}

/// Writes the rows with two spaces between columns.
pub(crate) fn write(out: &mut Out, rows: &[Vec<Cell>]) -> CliResult<()> {
    let widths = column_widths(rows, out.width());
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
