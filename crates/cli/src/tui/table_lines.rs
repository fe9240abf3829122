//! A table of markdown in aligned columns.

use leafbase::PlainText;

use crate::show::line;

/// Columns of the narrowest cell.
const MIN_CELL: usize = 3;
/// Between two columns of cells.
const SEPARATOR: &str = " │ ";

/// The rows of a table in `width` columns: wider cells are clipped.
pub(crate) fn rows(markdown: &str, width: usize) -> Vec<String> {
    let mut lines = markdown.lines();
    let header = lines.next().map(cells).unwrap_or_default();
    // The second line has the alignments.
    let table: Vec<_> = std::iter::once(header).chain(lines.skip(1).map(cells)).collect();
    let widths = fit(&table, width);
    let mut rows = Vec::with_capacity(table.len() + 1);
    for (index, cells) in table.iter().enumerate() {
        rows.push(row(cells, &widths));
        if index == 0 {
            let rule: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
            rows.push(line::clip(&rule.join("─┼─"), width));
        }
    }
    rows.into_iter().map(|row| line::clip(&row, width)).collect()
}

/// The texts of the cells of a line. A bar after a backslash is part of a cell.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let (mut cells, mut cell, mut is_escaped) = (Vec::new(), String::new(), false);
    for letter in line.chars() {
        if letter == '|' && !is_escaped {
            cells.push(std::mem::take(&mut cell));
        } else {
            cell.push(letter);
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    if !cell.trim().is_empty() {
        cells.push(cell);
    }
    let plain =
        |cell: String| line::plain(&PlainText::of(&cell.trim().replace("\\|", "|")).into_string());
    cells.into_iter().map(plain).collect()
}

/// The widths of the columns: the widest ones give way until the table fits.
fn fit(table: &[Vec<String>], width: usize) -> Vec<usize> {
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = table.iter().filter_map(|row| row.get(column));
        cells.map(|cell| line::width(cell)).max().unwrap_or(0).max(MIN_CELL)
    };
    let mut widths: Vec<_> = (0..columns).map(widest).collect();
    let between = line::width(SEPARATOR) * columns.saturating_sub(1);
    let mut excess = (widths.iter().sum::<usize>() + between).saturating_sub(width);
    while excess > 0 {
        let Some(widest) = widths.iter_mut().max().filter(|widest| **widest > MIN_CELL) else {
            break;
        };
        *widest -= 1;
        excess -= 1;
    }
    widths
}

fn row(cells: &[String], widths: &[usize]) -> String {
    let cell = |(index, width): (usize, &usize)| {
        let text = line::clip(cells.get(index).map_or("", String::as_str), *width);
        let pad = width.saturating_sub(line::width(&text));
        text + &" ".repeat(pad)
    };
    let cells: Vec<_> = widths.iter().enumerate().map(cell).collect();
    cells.join(SEPARATOR).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_aligned_by_columns_and_clipped() {
        let table = "| a | **b** |\n| --- | --- |\n| 豆腐 | x \\| y |\n| long text |";
        let wide = ["a         │ b", "──────────┼──────", "豆腐      │ x | y", "long text │"];
        assert_eq!(rows(table, 40), wide);
        let narrow = ["a     │ b", "──────┼──────", "豆腐  │ x | y", "long… │"];
        assert_eq!(rows(table, 13), narrow);
        assert!(rows(table, 4).iter().all(|row| line::width(row) <= 4));
    }
}
