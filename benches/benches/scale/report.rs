//! Samples by row, peer and size; the table of growth, and the same as JSON.

use benches::measure::{median, shown};
use benches::ratio::Ratio;
use std::fmt::Write as _;
use std::path::Path;

/// The most that an answer of the same size may cost in the largest space, as a multiple of the smallest.
pub const BAR: f64 = 1.5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Leafbase,
    Sqlite,
}

pub struct Report {
    sizes: Vec<usize>,
    rows: Vec<Row>,
}

struct Row {
    name: String,
    /// Microseconds by peer and size, a sample a round.
    cells: [Vec<Vec<f64>>; 2],
}

impl Report {
    pub fn new(sizes: &[usize]) -> Self {
        Self { sizes: sizes.to_vec(), rows: Vec::new() }
    }

    pub fn record(&mut self, row: &str, who: Who, size: usize, micros: f64) {
        let at = self.rows.iter().position(|known| known.name == row).unwrap_or_else(|| {
            let cells = vec![Vec::new(); self.sizes.len()];
            self.rows.push(Row { name: row.to_owned(), cells: [cells.clone(), cells] });
            self.rows.len() - 1
        });
        self.rows[at].cells[who as usize][size].push(micros);
    }

    pub fn table(&self) -> String {
        let mut out = String::from("| |");
        for size in &self.sizes {
            let _ = write!(out, " {} |", grouped(*size));
        }
        out.push_str(" growth [rounds] | SQLite |");
        for _ in 1..self.sizes.len() {
            out.push_str(" |");
        }
        out.push_str(" growth |\n|---|");
        out.push_str(&"---:|".repeat(2 * self.sizes.len() + 2));
        out.push('\n');
        for row in &self.rows {
            let _ = write!(out, "| {} |", row.name);
            for (who, with_rounds) in [(Who::Leafbase, true), (Who::Sqlite, false)] {
                for size in 0..self.sizes.len() {
                    let _ = write!(out, " {} |", shown(row.median(who, size)));
                }
                let _ = match row.growth(who) {
                    Some(growth) if with_rounds => {
                        write!(out, " {growth} |")
                    }
                    Some(growth) => write!(out, " {:.2} |", growth.median),
                    None => write!(out, " - |"),
                };
            }
            out.push('\n');
        }
        out
    }

    /// A line for each row of Leafbase that grows more than it may. How many pages the first look at something has to read depends
    /// on what was read before, which is less of a large space: rows of that have no bar.
    pub fn above(&self) -> Vec<String> {
        let of = |row: &Row| Some((row.name.clone(), row.growth(Who::Leafbase)?.median));
        let barred = self.rows.iter().filter(|row| !row.name.ends_with("first time"));
        let above = barred.filter_map(of).filter(|(_, growth)| *growth > BAR);
        above.map(|(name, growth)| format!("{name}: {growth:.2}, above {BAR}")).collect()
    }

    /// Writes one object a row.
    pub fn save(&self, path: &Path) -> std::io::Result<()> {
        let rows = self.rows.iter().map(|row| {
            let nanos = |who| -> Vec<Option<f64>> {
                let medians = (0..self.sizes.len()).map(|size| row.median(who, size) * 1e3);
                medians.map(|nanos| nanos.is_finite().then(|| nanos.round())).collect()
            };
            let growth = |who| row.growth(who).map(|growth| (growth.median * 1e3).round() / 1e3);
            let row = serde_json::json!({
                "op": row.name,
                "documents": self.sizes,
                "leafbase_ns": nanos(Who::Leafbase),
                "sqlite_ns": nanos(Who::Sqlite),
                "leafbase_growth": growth(Who::Leafbase),
                "sqlite_growth": growth(Who::Sqlite),
            });
            format!("  {row}")
        });
        std::fs::write(path, format!("[\n{}\n]\n", rows.collect::<Vec<_>>().join(",\n")))
    }
}

impl Row {
    fn median(&self, who: Who, size: usize) -> f64 {
        median(self.cells[who as usize][size].clone())
    }

    /// The largest space's time over the smallest's, round by round.
    fn growth(&self, who: Who) -> Option<Ratio> {
        let cells = &self.cells[who as usize];
        Ratio::of(cells.last()?, cells.first()?)
    }
}

/// With commas between thousands.
pub fn grouped(number: usize) -> String {
    let (thousands, rest) = (number / 1000, number % 1000);
    if thousands == 0 { rest.to_string() } else { format!("{},{rest:03}", grouped(thousands)) }
}
