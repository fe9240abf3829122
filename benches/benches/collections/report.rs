//! Samples by row and peer, the table of ratios, and the same as JSON.

use benches::measure::{median, shown};
use benches::ratio::Ratio;
use std::fmt::Write as _;
use std::path::Path;

/// The most that Leafbase may take, as a share of `SQLite`'s time: by what a row's name begins with.
const BARS: [(&str, f64); 3] = [("get ", 1.0), ("relaxed: update one item", 1.5), ("query:", 1.5)];
/// Rows with such a name have none: no index serves them, or only one that `SQLite` has for them alone.
const WITHOUT: [&str; 2] = ["no index", "has an index for it"];

#[derive(Debug, Default)]
pub struct Report {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    name: String,
    /// Nanoseconds of Leafbase and of `SQLite`, a sample a round.
    cells: [Vec<f64>; 2],
}

impl Report {
    /// Of the peer of this number: Leafbase is the first.
    pub fn record(&mut self, row: &str, peer: usize, nanos: f64) {
        let at = self.rows.iter().position(|known| known.name == row).unwrap_or_else(|| {
            self.rows.push(Row { name: row.to_owned(), cells: Default::default() });
            self.rows.len() - 1
        });
        self.rows[at].cells[peer].push(nanos);
    }

    pub fn table(&self) -> String {
        let mut out = String::from("| | Leafbase | SQLite | ratio [rounds] | bar | |\n|---|---:|---:|---:|---:|---|\n");
        for row in &self.rows {
            let Some(ratio) = row.ratio() else { continue };
            let [ours, theirs] = row.medians().map(|nanos| shown(nanos / 1e3));
            let bar = row.bar();
            let verdict = bar.map_or("", |bar| if ratio.median <= bar { "ok" } else { "MISSED" });
            let bar = bar.map_or(String::new(), |bar| bar.to_string());
            let _ = writeln!(out, "| {} | {ours} | {theirs} | {ratio} | {bar} | {verdict} |", row.name);
        }
        out
    }

    /// Writes one object a row.
    pub fn save(&self, path: &Path) -> std::io::Result<()> {
        let rows = self.rows.iter().filter_map(|row| {
            let [ours, theirs] = row.medians().map(f64::round);
            let ratio = (row.ratio()?.median * 1e3).round() / 1e3;
            let row = serde_json::json!({
                "op": row.name, "leafbase_ns": ours, "sqlite_ns": theirs, "ratio": ratio, "bar": row.bar(),
            });
            Some(format!("  {row}"))
        });
        std::fs::write(path, format!("[\n{}\n]\n", rows.collect::<Vec<_>>().join(",\n")))
    }
}

impl Row {
    fn medians(&self) -> [f64; 2] {
        self.cells.clone().map(median)
    }

    fn ratio(&self) -> Option<Ratio> {
        Ratio::of(&self.cells[0], &self.cells[1])
    }

    fn bar(&self) -> Option<f64> {
        let barred = !WITHOUT.iter().any(|text| self.name.contains(text));
        BARS.iter().find(|(start, _)| barred && self.name.starts_with(start)).map(|(_, bar)| *bar)
    }
}
