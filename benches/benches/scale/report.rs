//! Samples by row, peer and size, and what they come to.

use benches::measure::median;
use benches::ratio::Ratio;
use benches::saved::{Grown, GrowthRow, Growths, finite};

/// The most that an answer of the same size may cost in the largest space, as a multiple of the
/// smallest.
const BAR: f64 = 1.5;

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

    /// What was measured in spaces of so many blocks. How many pages the first look at something
    /// has to read depends on what was read before, which is less of a large space: rows of that
    /// have no bar.
    pub fn results(&self, blocks: Vec<usize>) -> Growths {
        let rows = self.rows.iter().map(|row| {
            let is_barred = !row.name.ends_with("first time");
            let [leafbase, sqlite] = [Who::Leafbase, Who::Sqlite].map(|who| row.grown(who));
            GrowthRow { op: row.name.clone(), leafbase, sqlite, is_barred }
        });
        Growths { documents: self.sizes.clone(), blocks, bar: BAR, rows: rows.collect() }
    }
}

impl Row {
    fn grown(&self, who: Who) -> Grown {
        let medians =
            self.cells[who as usize].iter().map(|cell| finite(median(cell.clone()) * 1e3));
        Grown { ns: medians.collect(), growth: self.growth(who) }
    }

    /// The largest space's time over the smallest's, round by round.
    fn growth(&self, who: Who) -> Option<Ratio> {
        let cells = &self.cells[who as usize];
        Ratio::of(cells.last()?, cells.first()?)
    }
}
