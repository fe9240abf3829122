//! Samples by row, the table of ratios, and the same as JSON.

use benches::measure::{median, shown};
use benches::ratio::Ratio;
use std::fmt::Write as _;
use std::path::Path;

/// The most that a scoped connection may take, as a share of a full one's time: by what a row's name begins with.
const BARS: [(&str, f64); 2] = [("fetch of 100", 1.15), ("search", 1.5)];

#[derive(Debug, Default)]
pub struct Report {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    name: String,
    /// Nanoseconds of the full connection and of the scoped one, a sample a round.
    cells: [Vec<f64>; 2],
}

impl Report {
    pub fn record(&mut self, row: &str, nanos: [f64; 2]) {
        let at = self.rows.iter().position(|known| known.name == row).unwrap_or_else(|| {
            self.rows.push(Row { name: row.to_owned(), cells: Default::default() });
            self.rows.len() - 1
        });
        self.rows[at].cells.iter_mut().zip(nanos).for_each(|(cell, nanos)| cell.push(nanos));
    }

    pub fn table(&self) -> String {
        let mut out = String::from("| | full | scoped | ratio [rounds] | bar | |\n|---|---:|---:|---:|---:|---|\n");
        for row in &self.rows {
            let Some(ratio) = row.ratio() else { continue };
            let [full, scoped] = row.medians().map(|nanos| shown(nanos / 1e3));
            let verdict = row.bar().map_or("", |bar| if ratio.median <= bar { "ok" } else { "MISSED" });
            let bar = row.bar().map_or(String::new(), |bar| bar.to_string());
            let _ = writeln!(out, "| {} | {full} | {scoped} | {ratio} | {bar} | {verdict} |", row.name);
        }
        out
    }

    /// Writes one object a row.
    pub fn save(&self, path: &Path) -> std::io::Result<()> {
        let rows = self.rows.iter().filter_map(|row| {
            let [full, scoped] = row.medians().map(f64::round);
            let ratio = (row.ratio()?.median * 1e3).round() / 1e3;
            let row = serde_json::json!({
                "op": row.name, "full_ns": full, "scoped_ns": scoped, "ratio": ratio, "bar": row.bar(),
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
        let [full, scoped] = &self.cells;
        Ratio::of(scoped, full)
    }

    fn bar(&self) -> Option<f64> {
        BARS.iter().find(|(start, _)| self.name.starts_with(start)).map(|(_, bar)| *bar)
    }
}
