//! Two peers, one of which is held against the other: samples by row.

use crate::measure::median;
use crate::ratio::Ratio;
use crate::saved::{Compared, ComparedRow, Unit, finite};

/// What is compared, and the rows so far.
#[derive(Debug)]
pub struct Comparison {
    /// The two, as the table names them.
    pub peers: [&'static str; 2],
    /// Which of them is held against the other.
    pub measured: usize,
    /// The most that a row of this name may take, as a share of the other's time.
    pub bar: fn(&str) -> Option<f64>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    name: String,
    /// Nanoseconds of the two, a sample a round.
    cells: [Vec<f64>; 2],
}

impl Comparison {
    /// Without rows.
    pub const fn new(
        peers: [&'static str; 2],
        measured: usize,
        bar: fn(&str) -> Option<f64>,
    ) -> Self {
        Self { peers, measured, bar, rows: Vec::new() }
    }

    /// A sample of the peer of this number.
    pub fn record(&mut self, row: &str, peer: usize, nanos: f64) {
        let at = self.rows.iter().position(|known| known.name == row).unwrap_or_else(|| {
            self.rows.push(Row { name: row.to_owned(), cells: Default::default() });
            self.rows.len() - 1
        });
        self.rows[at].cells[peer].push(nanos);
    }

    /// What was measured.
    pub fn results(&self) -> Compared {
        let rows = self.rows.iter().map(|row| ComparedRow {
            op: row.name.clone(),
            ns: row.medians().map(finite).to_vec(),
            ratio: self.ratio(row),
            bar: (self.bar)(&row.name),
            unit: Unit::Nanoseconds,
        });
        let peers = self.peers.map(str::to_owned).to_vec();
        Compared { peers, measured: self.measured, floor: None, rows: rows.collect() }
    }

    fn ratio(&self, row: &Row) -> Option<Ratio> {
        Ratio::of(&row.cells[self.measured], &row.cells[1 - self.measured])
    }
}

impl Row {
    fn medians(&self) -> [f64; 2] {
        self.cells.clone().map(median)
    }
}
