//! What a bench leaves in the target directory, and its table as markdown: printed by the bench and
//! put into README by `report` alike.

use crate::measure::shown;
use crate::ratio::Ratio;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::Path;

/// A run of a bench.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Saved<T> {
    pub rounds: usize,
    /// The text that names of rows had to have; empty if all were measured.
    pub only: String,
    pub results: T,
}

/// Leafbase beside its peers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Compared {
    pub peers: Vec<String>,
    /// Which of them is held against the best of the others.
    pub measured: usize,
    /// Which is not a peer, but what any would take at least.
    pub floor: Option<usize>,
    pub rows: Vec<ComparedRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ComparedRow {
    pub op: String,
    /// By peer, in `unit`; none where a peer can't do it.
    pub ns: Vec<Option<f64>>,
    pub ratio: Option<Ratio>,
    /// The most that the ratio may be.
    pub bar: Option<f64>,
    #[serde(default)]
    pub unit: Unit,
}

/// What is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    #[default]
    Nanoseconds,
    Bytes,
    /// Questions to a server and their answers.
    RoundTrips,
}

impl Unit {
    fn shown(self, amount: f64) -> String {
        match self {
            Self::Nanoseconds => shown(amount / 1e3),
            Self::Bytes => format!("{:.1} MB", amount / 1e6),
            Self::RoundTrips => amount.to_string(),
        }
    }
}

/// The same answers in spaces of several sizes, the smallest first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Growths {
    pub documents: Vec<usize>,
    pub blocks: Vec<usize>,
    pub bar: f64,
    pub rows: Vec<GrowthRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GrowthRow {
    pub op: String,
    pub leafbase: Grown,
    pub sqlite: Grown,
    pub is_barred: bool,
}

/// By size, and the largest over the smallest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Grown {
    pub ns: Vec<Option<f64>>,
    pub growth: Option<Ratio>,
}

/// A time that was measured.
pub fn finite(nanos: f64) -> Option<f64> {
    nanos.is_finite().then(|| nanos.round())
}

/// Writes a run to a file.
///
/// # Errors
/// Those of the file system.
pub fn save<T: Serialize>(
    path: &Path,
    rounds: usize,
    only: &str,
    results: T,
) -> std::io::Result<()> {
    let saved = Saved { rounds, only: only.to_owned(), results };
    std::fs::write(path, serde_json::to_string_pretty(&saved)? + "\n")
}

/// Reads it again.
///
/// # Errors
/// Those of the file system, and of JSON of another shape.
pub fn load<T: DeserializeOwned>(path: &Path) -> std::io::Result<Saved<T>> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

fn cell(unit: Unit, amount: Option<&Option<f64>>) -> String {
    amount.copied().flatten().map_or_else(|| "-".to_owned(), |amount| unit.shown(amount))
}

/// A bar after the name would begin a new cell.
fn name(op: &str) -> String {
    op.replace('|', r"\|")
}

impl Compared {
    /// As markdown.
    pub fn table(&self) -> String {
        let mut out = format!("| | {} | ratio [rounds] | bar | |\n|---|", self.peers.join(" | "));
        let _ = writeln!(out, "{}---:|---:|---|", "---:|".repeat(self.peers.len()));
        for row in &self.rows {
            let _ = write!(out, "| {} |", name(&row.op));
            for peer in 0..self.peers.len() {
                let _ = write!(out, " {} |", cell(row.unit, row.ns.get(peer)));
            }
            let ratio = row.ratio.map_or_else(String::new, |ratio| ratio.to_string());
            let bar = row.bar.map_or_else(String::new, |bar| bar.to_string());
            let verdict = row.is_met().map_or("", |is_met| if is_met { "ok" } else { "MISSED" });
            let _ = writeln!(out, " {ratio} | {bar} | {verdict} |");
        }
        out
    }
}

impl ComparedRow {
    /// Whether the median of the rounds is within the bar; none without one.
    pub fn is_met(&self) -> Option<bool> {
        Some(self.ratio?.median <= self.bar?)
    }
}

impl Growths {
    /// As markdown: of `SQLite` the smallest and the largest.
    pub fn table(&self) -> String {
        let mut out = String::from("| |");
        for size in &self.documents {
            let _ = write!(out, " {} |", grouped(*size));
        }
        out.push_str(" growth [rounds] |");
        let ends = [0, self.documents.len().saturating_sub(1)];
        for at in ends {
            let _ = write!(
                out,
                " SQLite, {} |",
                self.documents.get(at).copied().map(grouped).unwrap_or_default()
            );
        }
        let _ = writeln!(out, " growth |\n|---|{}", "---:|".repeat(self.documents.len() + 4));
        for row in &self.rows {
            let _ = write!(out, "| {} |", name(&row.op));
            for size in 0..self.documents.len() {
                let _ = write!(out, " {} |", cell(Unit::Nanoseconds, row.leafbase.ns.get(size)));
            }
            let growth =
                row.leafbase.growth.map_or_else(|| "-".to_owned(), |growth| growth.to_string());
            let _ = write!(out, " {growth} |");
            for at in ends {
                let _ = write!(out, " {} |", cell(Unit::Nanoseconds, row.sqlite.ns.get(at)));
            }
            let growth = row
                .sqlite
                .growth
                .map_or_else(|| "-".to_owned(), |growth| format!("{:.2}", growth.median));
            let _ = writeln!(out, " {growth} |");
        }
        out
    }

    /// The rows of Leafbase that grow more than they may.
    pub fn above(&self) -> impl Iterator<Item = (&str, f64)> {
        let barred = self.rows.iter().filter(|row| row.is_barred);
        let growths = barred.filter_map(|row| Some((row.op.as_str(), row.leafbase.growth?.median)));
        growths.filter(|(_, growth)| *growth > self.bar)
    }
}

/// With commas between thousands.
pub fn grouped(number: usize) -> String {
    let (thousands, rest) = (number / 1000, number % 1000);
    if thousands == 0 { rest.to_string() } else { format!("{},{rest:03}", grouped(thousands)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(median: f64) -> Option<Ratio> {
        Some(Ratio { median, low: median - 0.25, high: median + 0.25 })
    }

    fn compared() -> Compared {
        let row = |op: &str, ns: [f64; 3], median, bar| ComparedRow {
            op: op.to_owned(),
            ns: ns.map(finite).to_vec(),
            ratio: ratio(median),
            bar,
            unit: match op {
                "size" => Unit::Bytes,
                "trips" => Unit::RoundTrips,
                _ => Unit::Nanoseconds,
            },
        };
        let rows = vec![
            row("fetch", [1_000.0, 2_000.0, 500.0], 0.5, Some(0.75)),
            row("one|other", [3_000_000.0, 2_000_000.0, f64::NAN], 1.5, Some(1.0)),
            row("open", [1_000.0, 1_000.0, 1_000.0], 1.0, None),
            row("size", [1_500_000.0, 1_000_000.0, f64::NAN], 1.5, None),
            row("trips", [2.0, 1.0, f64::NAN], 2.0, None),
        ];
        Compared {
            peers: ["Leafbase", "SQLite", "floor"].map(str::to_owned).to_vec(),
            measured: 0,
            floor: Some(2),
            rows,
        }
    }

    #[test]
    fn a_table_of_comparisons() {
        let expected = r"| | Leafbase | SQLite | floor | ratio [rounds] | bar | |
|---|---:|---:|---:|---:|---:|---|
| fetch | 1.00 µs | 2.00 µs | 0.50 µs | 0.50 [0.25..0.75] | 0.75 | ok |
| one\|other | 3.00 ms | 2.00 ms | - | 1.50 [1.25..1.75] | 1 | MISSED |
| open | 1.00 µs | 1.00 µs | 1.00 µs | 1.00 [0.75..1.25] |  |  |
| size | 1.5 MB | 1.0 MB | - | 1.50 [1.25..1.75] |  |  |
| trips | 2 | 1 | - | 2.00 [1.75..2.25] |  |  |
";
        assert_eq!(compared().table(), expected);
    }

    #[test]
    fn a_table_of_growths() {
        let grown =
            |ns: [f64; 2]| Grown { ns: ns.map(finite).to_vec(), growth: ratio(ns[1] / ns[0]) };
        let row = |op: &str, is_barred| GrowthRow {
            op: op.to_owned(),
            leafbase: grown([1_000.0, 2_000.0]),
            sqlite: grown([1_000.0, 1_000.0]),
            is_barred,
        };
        let rows = vec![row("list", true), row("first time", false)];
        let growths = Growths {
            documents: vec![1_000, 100_000],
            blocks: vec![5_000, 500_000],
            bar: 1.5,
            rows,
        };
        let expected =
            "| | 1,000 | 100,000 | growth [rounds] | SQLite, 1,000 | SQLite, 100,000 | growth |
|---|---:|---:|---:|---:|---:|---:|
| list | 1.00 µs | 2.00 µs | 2.00 [1.75..2.25] | 1.00 µs | 1.00 µs | 1.00 |
| first time | 1.00 µs | 2.00 µs | 2.00 [1.75..2.25] | 1.00 µs | 1.00 µs | 1.00 |
";
        assert_eq!(growths.table(), expected);
        assert_eq!(growths.above().collect::<Vec<_>>(), [("list", 2.0)]);
    }

    #[test]
    fn what_is_saved_is_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("peers.json");
        save(&path, 7, "", compared()).unwrap();
        let Saved { rounds, only, results } = load::<Compared>(&path).unwrap();
        assert_eq!((rounds, only.as_str(), results.table()), (7, "", compared().table()));
        std::fs::write(&path, "[]").unwrap();
        assert!(load::<Compared>(&path).is_err());
    }
}
