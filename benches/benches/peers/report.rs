//! Samples by operation and peer, and what they come to.

use benches::measure::median;
use benches::ratio::Ratio;
use benches::saved::{Compared, ComparedRow, Unit, finite};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Leafbase,
    /// Owns its file, as Leafbase does: what ratios are held against.
    Sqlite,
    /// Its file may be opened by others.
    SharedSqlite,
    Floor,
}

const COLUMNS: usize = Column::Floor as usize + 1;

/// The columns of the table; the last is the floor.
const SHOWN: &[(Column, &str)] = &[
    (Column::Leafbase, "Leafbase"),
    (Column::Sqlite, "SQLite"),
    (Column::SharedSqlite, "SQLite, file shared"),
    (Column::Floor, "floor"),
];

/// The row whose cells are bytes.
pub const SIZE: &str = "bytes on disk after compaction";

/// The most that Leafbase may take, as a share of the best peer's time.
const BARS: &[(&str, f64)] = &[
    ("fetch 100 blocks", 0.5),
    ("fetch 100 blocks over 5 pages", 0.5),
    ("fetch 10,000 blocks", 0.5),
    ("block by ID", 0.4),
    ("block to document", 0.3),
    ("cold open and first fetch", 0.8),
    ("import of the generated space", 0.6),
    ("relaxed insert at the start", 0.8),
    ("relaxed insert in the middle", 0.8),
    ("relaxed insert at the end", 0.8),
    ("relaxed insert in the middle of 10,000", 0.8),
    ("relaxed update", 0.8),
    ("relaxed move of 50 within", 1.5),
    ("relaxed move of 50 across", 1.0),
    ("relaxed delete of 50", 0.5),
    ("relaxed insert of 100 in one call", 0.9),
    ("durable insert at the start", 0.8),
    ("durable insert in the middle", 0.8),
    ("durable insert at the end", 0.8),
    ("durable insert in the middle of 10,000", 0.8),
    ("durable update", 0.8),
    ("durable insert at the start, 99th percentile", 1.0),
    ("durable insert in the middle, 99th percentile", 1.0),
    ("durable insert at the end, 99th percentile", 1.0),
    ("durable insert in the middle of 10,000, 99th percentile", 1.0),
    ("durable update, 99th percentile", 1.0),
    ("durable move of 50 within", 1.5),
    ("durable move of 50 across", 1.0),
    ("durable delete of 50", 0.5),
    ("durable insert of 100 in one call", 0.9),
    ("markdown parse, corpus", 1.8),
    ("markdown parse, generated", 1.8),
    ("markdown render, corpus (to parse)", 1.0),
    ("markdown render, generated (to parse)", 1.0),
    (SIZE, 0.9),
];

#[derive(Debug, Default)]
pub struct Report {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    op: String,
    /// Nanoseconds, a sample a round; of [`SIZE`] bytes.
    cells: [Vec<f64>; COLUMNS],
}

impl Report {
    pub fn record(&mut self, op: &str, column: Column, took: Duration) {
        self.record_nanos(op, column, took.as_secs_f64() * 1e9);
    }

    pub fn record_nanos(&mut self, op: &str, column: Column, nanos: f64) {
        let at = self.rows.iter().position(|row| row.op == op).unwrap_or_else(|| {
            self.rows.push(Row { op: op.to_owned(), cells: Default::default() });
            self.rows.len() - 1
        });
        self.rows[at].cells[column as usize].push(nanos);
    }

    /// The table.
    pub fn results(&self) -> Compared {
        let rows = self.rows.iter().filter_map(|row| {
            let ratio = Some(row.ratio()?);
            let ns = SHOWN.iter().map(|(column, _)| finite(row.median(*column))).collect();
            let bar = BARS.iter().find(|(op, _)| *op == row.op).map(|(_, bar)| *bar);
            let unit = if row.op == SIZE { Unit::Bytes } else { Unit::Nanoseconds };
            Some(ComparedRow { op: row.op.clone(), ns, ratio, bar, unit })
        });
        let peers = SHOWN.iter().map(|(_, name)| (*name).to_owned()).collect();
        Compared { peers, measured: 0, floor: SHOWN.len().checked_sub(1), rows: rows.collect() }
    }

    /// The rows, by name.
    pub fn ops(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row.op.as_str())
    }

    /// The samples of a row in nanoseconds, one a round: Leafbase's, and `SQLite`'s.
    pub fn cells(&self, op: &str) -> Option<[&[f64]; 2]> {
        let row = self.rows.iter().find(|row| row.op == op)?;
        Some([Column::Leafbase, Column::Sqlite].map(|column| row.cells[column as usize].as_slice()))
    }
}

impl Row {
    fn median(&self, column: Column) -> f64 {
        median(self.cells[column as usize].clone())
    }

    /// Leafbase's time over `SQLite`'s, round by round.
    fn ratio(&self) -> Option<Ratio> {
        let [leafbase, sqlite] =
            [Column::Leafbase, Column::Sqlite].map(|column| &self.cells[column as usize]);
        Ratio::of(leafbase, sqlite)
    }
}
