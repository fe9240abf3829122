//! Samples by operation and peer, and what they come to.

use benches::measure::{median, shown};
use benches::ratio::Ratio;
use benches::saved::{Compared, ComparedRow, finite};
use std::fmt::Write as _;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Leafbase,
    /// The better `SQLite` is the peer; where there is one peer alone, it is in the first of these.
    Peer,
    Clustered,
    AdjacencyExclusive,
    ClusteredExclusive,
    Floor,
}

const COLUMNS: usize = 6;

/// What the table has; the last is the floor.
const SHOWN: [(Column, &str); 4] = [
    (Column::Leafbase, "Leafbase"),
    (Column::Peer, "SQLite adjacency"),
    (Column::Clustered, "SQLite clustered"),
    (Column::Floor, "floor"),
];

/// The most that Leafbase may take, as a share of the peer's time.
const BARS: [(&str, f64); 18] = [
    ("fetch 100 blocks", 0.75),
    ("fetch 10,000 blocks", 0.75),
    ("block by ID", 0.75),
    ("block to document", 0.4),
    ("cold open and first fetch", 1.0),
    ("relaxed insert at the start", 1.0),
    ("relaxed insert in the middle", 1.0),
    ("relaxed insert at the end", 1.0),
    ("relaxed insert in the middle of 10,000", 1.0),
    ("relaxed update", 1.0),
    ("relaxed delete of 50", 1.0),
    ("durable delete of 50", 1.0),
    ("import of the generated space", 0.7),
    ("markdown parse, corpus", 2.5),
    ("markdown parse, generated", 2.5),
    ("markdown render, corpus (to parse)", 1.0),
    ("markdown render, generated (to parse)", 1.0),
    ("fetch 100 blocks over 5 pages", 0.75),
];

#[derive(Debug, Default)]
pub struct Report {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    op: String,
    /// Nanoseconds, a sample a round.
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

    /// Leafbase beside those that share their file.
    pub fn results(&self) -> Compared {
        let rows = self.rows.iter().filter_map(|row| {
            let ratio = Some(row.ratio(&[Column::Peer, Column::Clustered])?);
            let ns = SHOWN.map(|(column, _)| finite(row.median(column))).to_vec();
            let bar = BARS.iter().find(|(op, _)| *op == row.op).map(|(_, bar)| *bar);
            Some(ComparedRow { op: row.op.clone(), ns, ratio, bar })
        });
        let peers = SHOWN.map(|(_, name)| name.to_owned()).to_vec();
        Compared { peers, measured: 0, floor: Some(3), rows: rows.collect() }
    }

    /// Beside a `SQLite` that owns its file.
    pub fn exclusive_table(&self) -> String {
        let mut out = String::from(
            "| SQLite owns its file | Leafbase | SQLite adjacency | SQLite clustered | ratio [rounds] |\n\
             |---|---:|---:|---:|---:|\n",
        );
        for row in &self.rows {
            let columns = [Column::AdjacencyExclusive, Column::ClusteredExclusive];
            let Some(ratio) = row.ratio(&columns) else { continue };
            let _ = write!(out, "| {} | {} ", row.op, shown(row.median(Column::Leafbase) / 1e3));
            for column in columns {
                let _ = write!(out, "| {} ", shown(row.median(column) / 1e3));
            }
            let _ = writeln!(out, "| {ratio} |");
        }
        out
    }
}

impl Row {
    fn median(&self, column: Column) -> f64 {
        median(self.cells[column as usize].clone())
    }

    fn better(&self, columns: &[Column]) -> Column {
        let at = |column: &Column| {
            let median = self.median(*column);
            if median.is_nan() { f64::INFINITY } else { median }
        };
        columns.iter().copied().min_by(|a, b| at(a).total_cmp(&at(b))).unwrap_or(Column::Peer)
    }

    /// Leafbase's time over the better column's, round by round.
    fn ratio(&self, columns: &[Column]) -> Option<Ratio> {
        let peer = &self.cells[self.better(columns) as usize];
        Ratio::of(&self.cells[Column::Leafbase as usize], peer)
    }
}
