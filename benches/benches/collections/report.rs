//! What the rows are held against.

use benches::comparison::Comparison;

/// The most that Leafbase may take, as a share of `SQLite`'s time: by what a row's name begins
/// with.
const BARS: [(&str, f64); 3] = [("get ", 1.0), ("relaxed: update one item", 1.5), ("query:", 1.5)];
/// Rows with such a name have none: no index serves them, or only one that `SQLite` has for them
/// alone.
const WITHOUT: [&str; 2] = ["no index", "has an index for it"];

pub fn report() -> Comparison {
    Comparison::new(["Leafbase", "SQLite"], 0, bar)
}

fn bar(row: &str) -> Option<f64> {
    let barred = !WITHOUT.iter().any(|text| row.contains(text));
    BARS.iter().find(|(start, _)| barred && row.starts_with(start)).map(|(_, bar)| *bar)
}
