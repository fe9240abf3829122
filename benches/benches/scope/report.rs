//! What the rows are held against.

use benches::comparison::Comparison;

/// The most that a scoped connection may take, as a share of a full one's time: by what a row's
/// name begins with.
const BARS: [(&str, f64); 2] = [("fetch of 100", 1.15), ("search", 1.5)];

pub fn report() -> Comparison {
    Comparison::new(["full", "scoped"], 1, bar)
}

fn bar(row: &str) -> Option<f64> {
    BARS.iter().find(|(start, _)| row.starts_with(start)).map(|(_, bar)| *bar)
}
