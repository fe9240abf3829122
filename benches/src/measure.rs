//! Interleaved rounds: each round measures every peer on every operation; a cell is the median over
//! the rounds.

use std::fmt::Write as _;
use std::io::{Seek, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// A number from the environment, or the default.
pub fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

pub fn timed<R>(run: impl FnOnce() -> R) -> (Duration, R) {
    let start = Instant::now();
    let result = run();
    (start.elapsed(), result)
}

pub fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_unstable_by(f64::total_cmp);
    match samples.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => samples[n / 2],
        n => f64::midpoint(samples[n / 2 - 1], samples[n / 2]),
    }
}

/// The 99th percentile: one in a hundred is above it.
pub fn hundredth(mut samples: Vec<f64>) -> f64 {
    samples.sort_unstable_by(f64::total_cmp);
    let above = samples.len() / 100;
    samples.len().checked_sub(above + 1).map_or(f64::NAN, |at| samples[at])
}

/// Median microseconds to append 200 bytes and sync them: what any durable write pays at least.
pub fn sync_probe(directory: &Path) -> std::io::Result<f64> {
    let path = directory.join("probe");
    let mut file = std::fs::File::create(&path)?;
    file.set_len(1 << 20)?;
    file.sync_all()?;
    file.seek(SeekFrom::Start(0))?;
    let mut samples = Vec::new();
    for _ in 0..15 {
        file.write_all(&[7; 200])?;
        let (took, result) = timed(|| file.sync_data());
        result?;
        samples.push(took.as_secs_f64() * 1e6);
    }
    std::fs::remove_file(path)?;
    Ok(median(samples))
}

/// Microseconds by row and column, one sample a round.
#[derive(Debug)]
pub struct Board {
    title: String,
    columns: Vec<String>,
    baselines: usize,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    name: String,
    cells: Vec<Vec<f64>>,
}

impl Board {
    /// The first `baselines` columns are what the others are compared with: the best of them is 1.
    pub fn new(title: &str, columns: &[&str], baselines: usize) -> Self {
        Self {
            title: title.to_owned(),
            columns: columns.iter().map(ToString::to_string).collect(),
            baselines,
            rows: Vec::new(),
        }
    }

    pub fn record(&mut self, row: &str, column: usize, micros: f64) {
        let at = self.rows.iter().position(|known| known.name == row).unwrap_or_else(|| {
            self.rows
                .push(Row { name: row.to_owned(), cells: vec![Vec::new(); self.columns.len()] });
            self.rows.len() - 1
        });
        self.rows[at].cells[column].push(micros);
    }

    /// A Markdown table: medians; in brackets the best baseline's time over this one's (above 1 is
    /// faster than the baseline); last the spread, highest round over lowest, as the median of the
    /// row's cells.
    pub fn table(&self) -> String {
        let mut out = format!("| {} |", self.title);
        for column in &self.columns {
            let _ = write!(out, " {column} |");
        }
        let _ = writeln!(out, " spread |\n|---|{}", "---:|".repeat(self.columns.len() + 1));
        for row in &self.rows {
            let medians: Vec<f64> = row.cells.iter().map(|cell| median(cell.clone())).collect();
            let best = medians[..self.baselines].iter().copied().fold(f64::INFINITY, f64::min);
            let _ = write!(out, "| {} |", row.name);
            for (at, micros) in medians.iter().enumerate() {
                let _ = write!(out, " {}", shown(*micros));
                if at >= self.baselines {
                    let _ = write!(out, " ({:.2})", best / micros);
                }
                out.push_str(" |");
            }
            let spreads = row.cells.iter().map(|cell| {
                let low = cell.iter().copied().fold(f64::INFINITY, f64::min);
                cell.iter().copied().fold(0.0, f64::max) / low
            });
            let _ = writeln!(out, " {:.1} |", median(spreads.collect()));
        }
        out
    }
}

/// Microseconds with a unit and three digits.
pub fn shown(micros: f64) -> String {
    match micros {
        m if m.is_nan() || m.is_infinite() => "-".to_owned(),
        m if m < 10.0 => format!("{m:.2} µs"),
        m if m < 100.0 => format!("{m:.1} µs"),
        m if m < 1000.0 => format!("{m:.0} µs"),
        m if m < 10_000.0 => format!("{:.2} ms", m / 1e3),
        m if m < 100_000.0 => format!("{:.1} ms", m / 1e3),
        m => format!("{:.0} ms", m / 1e3),
    }
}
