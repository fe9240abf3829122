//! Peers, one of which is held against another: samples by row.

use crate::measure::median;
use crate::ratio::Ratio;
use crate::saved::{Compared, ComparedRow, Unit, finite};

/// What is compared, and the rows so far.
#[derive(Debug)]
pub struct Comparison<const PEERS: usize = 2> {
    /// As the table names them.
    pub peers: [&'static str; PEERS],
    /// Which of them is held against which other.
    pub measured: (usize, usize),
    /// The most that a row of this name may take, as a share of the other's time.
    pub bar: fn(&str) -> Option<f64>,
    rows: Vec<Row<PEERS>>,
}

#[derive(Debug)]
struct Row<const PEERS: usize> {
    name: String,
    unit: Unit,
    /// By peer, a sample a round; none of a peer that can't do it.
    cells: [Vec<f64>; PEERS],
}

impl Comparison {
    /// Two of them, without rows: the one of this number is held against the other.
    pub const fn new(
        peers: [&'static str; 2],
        measured: usize,
        bar: fn(&str) -> Option<f64>,
    ) -> Self {
        Self::of(peers, (measured, 1 - measured), bar)
    }
}

impl<const PEERS: usize> Comparison<PEERS> {
    /// Without rows.
    pub const fn of(
        peers: [&'static str; PEERS],
        measured: (usize, usize),
        bar: fn(&str) -> Option<f64>,
    ) -> Self {
        Self { peers, measured, bar, rows: Vec::new() }
    }

    /// A sample of the peer of this number.
    pub fn record(&mut self, row: &str, peer: usize, nanos: f64) {
        self.record_in(Unit::Nanoseconds, row, peer, nanos);
    }

    /// A sample in another unit.
    pub fn record_in(&mut self, unit: Unit, row: &str, peer: usize, amount: f64) {
        let at = self.rows.iter().position(|known| known.name == row).unwrap_or_else(|| {
            let cells = [const { Vec::new() }; PEERS];
            self.rows.push(Row { name: row.to_owned(), unit, cells });
            self.rows.len() - 1
        });
        self.rows[at].cells[peer].push(amount);
    }

    /// What was measured.
    pub fn results(&self) -> Compared {
        let rows = self.rows.iter().map(|row| ComparedRow {
            op: row.name.clone(),
            ns: row.medians().map(finite).to_vec(),
            ratio: self.ratio(row),
            bar: (self.bar)(&row.name),
            unit: row.unit,
        });
        let peers = self.peers.map(str::to_owned).to_vec();
        Compared { peers, measured: self.measured.0, floor: None, rows: rows.collect() }
    }

    fn ratio(&self, row: &Row<PEERS>) -> Option<Ratio> {
        Ratio::of(&row.cells[self.measured.0], &row.cells[self.measured.1])
    }
}

impl<const PEERS: usize> Row<PEERS> {
    fn medians(&self) -> [f64; PEERS] {
        self.cells.clone().map(median)
    }
}
