//! The page of costs: its tables, written, read and compared.

use std::fmt::Write as _;

/// The line of the page that its tables follow.
const MARKER: &str = "<!-- Measured by tests/tests/costs. -->";
const HEADER: &str = "| operation | keys | ranges | entries | commits | syncs | allocations |
|---|---:|---:|---:|---:|---:|---:|
";

/// A cost in the small and in the large space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    small: u64,
    large: u64,
    /// Whether the page says about how much.
    is_rounded: bool,
}

impl Cell {
    pub(crate) fn exact(small: u64, large: u64) -> Self {
        Self { small, large, is_rounded: false }
    }

    pub(crate) fn rounded(small: u64, large: u64) -> Self {
        Self { small, large, is_rounded: true }
    }

    /// One number, or two if the cost depends on the size of the space. Rounded ones that differ by
    /// a tenth at most are one.
    fn text(self) -> String {
        let Self { small, large, is_rounded } = self;
        let is_one = if is_rounded { is_about(small, large) } else { small == large };
        let number = |value| grouped(if is_rounded { two_digits(value) } else { value });
        if is_one { number(small) } else { format!("{} → {}", number(small), number(large)) }
    }

    /// Whether the text of the page says this.
    fn is_said_by(self, text: &str) -> bool {
        let mut numbers =
            text.split(" → ").map(|number| number.replace(',', "").parse::<u64>().ok());
        let (Some(Some(small)), large) = (numbers.next(), numbers.next()) else { return false };
        let Some(large) = large.unwrap_or(Some(small)) else { return false };
        if self.is_rounded {
            is_about(small, self.small) && is_about(large, self.large)
        } else {
            (small, large) == (self.small, self.large)
        }
    }
}

/// Whether two numbers of allocations differ by a tenth at most, and by what rounding adds to it.
fn is_about(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= one.max(other) * 3 / 20 + 2
}

/// The number with two significant digits.
fn two_digits(value: u64) -> u64 {
    let digits = value.checked_ilog10().unwrap_or(0);
    let unit = 10_u64.pow(digits.saturating_sub(1));
    (value + unit / 2) / unit * unit
}

/// The number with a comma between thousands.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A heading with its rows.
pub(crate) type Section = (&'static str, Vec<Row>);

/// An operation and its costs.
pub(crate) struct Row {
    pub(crate) operation: String,
    pub(crate) cells: Vec<Cell>,
}

/// The page with these tables.
pub(crate) fn with_tables(page: &str, sections: &[Section]) -> String {
    let (words, _) = page.split_once(MARKER).expect("the page has its marker");
    let mut text = format!("{words}{MARKER}\n");
    for (heading, rows) in sections {
        write!(text, "\n## {heading}\n\n{HEADER}").unwrap();
        for row in rows {
            let cells: Vec<_> = row.cells.iter().map(|cell| cell.text()).collect();
            writeln!(text, "| {} | {} |", row.operation, cells.join(" | ")).unwrap();
        }
    }
    text
}

/// The rows of the page: operations with the texts of their costs.
pub(crate) fn rows(page: &str) -> Vec<Vec<String>> {
    let (_, tables) = page.split_once(MARKER).expect("the page has its marker");
    let is_row = |line: &&str| line.starts_with("| ") && !HEADER.starts_with(*line);
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    tables.lines().filter(is_row).map(cells).collect()
}

/// What the page says otherwise than is measured.
pub(crate) fn differences(page: &[Vec<String>], sections: &[Section]) -> Vec<String> {
    let measured: Vec<&Row> = sections.iter().flat_map(|(_, rows)| rows).collect();
    let said = |row: &Row| page.iter().find(|cells| cells[0] == row.operation);
    let is_said = |row: &Row, cells: &[String]| {
        cells.len() == row.cells.len() + 1
            && row.cells.iter().zip(&cells[1..]).all(|(cell, text)| cell.is_said_by(text))
    };
    let mut found = Vec::new();
    for row in &measured {
        let texts: Vec<_> = row.cells.iter().map(|cell| cell.text()).collect();
        let texts = texts.join(" | ");
        match said(row) {
            Some(cells) if is_said(row, cells) => {}
            Some(cells) => found.push(format!(
                "{}\n  the page says {}\n  measured      {texts}",
                row.operation,
                cells[1..].join(" | ")
            )),
            None => found.push(format!("{}\n  is not on the page: {texts}", row.operation)),
        }
    }
    let is_measured = |cells: &&Vec<String>| measured.iter().any(|row| row.operation == cells[0]);
    let gone = page.iter().filter(|cells| !is_measured(cells));
    found.extend(gone.map(|cells| format!("{}\n  is not measured", cells[0])));
    found
}
