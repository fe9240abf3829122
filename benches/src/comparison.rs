//! Two peers, one of which is held against the other: samples by row, the table of ratios, and the same as JSON.

use std::fmt::Write as _;
use std::path::Path;

use crate::measure::{median, shown};
use crate::ratio::Ratio;

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
    pub const fn new(peers: [&'static str; 2], measured: usize, bar: fn(&str) -> Option<f64>) -> Self {
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

    /// As markdown.
    pub fn table(&self) -> String {
        let [first, second] = self.peers;
        let mut out = format!("| | {first} | {second} | ratio [rounds] | bar | |\n|---|---:|---:|---:|---:|---|\n");
        for row in &self.rows {
            let Some(ratio) = self.ratio(row) else { continue };
            let [first, second] = row.medians().map(|nanos| shown(nanos / 1e3));
            let bar = (self.bar)(&row.name);
            let verdict = bar.map_or("", |bar| if ratio.median <= bar { "ok" } else { "MISSED" });
            let bar = bar.map_or(String::new(), |bar| bar.to_string());
            let _ = writeln!(out, "| {} | {first} | {second} | {ratio} | {bar} | {verdict} |", row.name);
        }
        out
    }

    /// Writes one object a row.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn save(&self, path: &Path) -> std::io::Result<()> {
        let keys = self.peers.map(|peer| format!("{}_ns", peer.to_lowercase()));
        let rows = self.rows.iter().filter_map(|row| {
            let [first, second] = row.medians().map(f64::round);
            let ratio = (self.ratio(row)?.median * 1e3).round() / 1e3;
            let mut row = serde_json::json!({"op": row.name, "ratio": ratio, "bar": (self.bar)(&row.name)});
            row[&keys[0]] = first.into();
            row[&keys[1]] = second.into();
            Some(format!("  {row}"))
        });
        std::fs::write(path, format!("[\n{}\n]\n", rows.collect::<Vec<_>>().join(",\n")))
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
