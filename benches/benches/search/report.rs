//! Samples by row and peer, and what they come to.

use benches::measure::median;
use benches::ratio::Ratio;
use benches::saved::{Compared, ComparedRow, Unit, finite};

use crate::plan::{MISSPELT, RARE};

pub const PEERS: [&str; 5] =
    ["Leafbase", "FTS5 by block", "FTS5 by document", "FTS5 by document, stems", "floor"];
pub const LEAFBASE: usize = 0;
pub const BY_BLOCK: usize = 1;
pub const BY_DOCUMENT: usize = 2;
pub const STEMS: usize = 3;
pub const BARE: usize = 4;
/// Leafbase is compared with the best of these.
const COMPARED: std::ops::RangeInclusive<usize> = BY_BLOCK..=STEMS;

/// The most that Leafbase may take, as a share of the best `SQLite`'s: by what a row's name begins
/// with.
const BARS: [(&str, f64); 15] = [
    ("top 20: a common word", 0.3),
    ("top 20: a word of every", 0.5),
    ("top 20: a rare", 0.7),
    ("top 20: two words and", 0.6),
    ("top 20: two", 0.5),
    ("top 20: a common and", 1.0),
    ("top 20: a sentence", 0.6),
    ("top 20: the beginning", 0.6),
    (MISSPELT, 3.0),
    ("top 1,000", 0.7),
    ("edit a block, then", 0.8),
    ("pattern, selective", 0.1),
    ("pattern, unselective", 0.5),
    ("one document", 0.6),
    ("import", 1.2),
];

#[derive(Debug, Default)]
pub struct Report {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    name: String,
    /// Nanoseconds, a sample a round.
    cells: [Vec<f64>; PEERS.len()],
}

impl Report {
    pub fn record(&mut self, row: &str, peer: usize, nanos: f64) {
        let at = self.rows.iter().position(|known| known.name == row).unwrap_or_else(|| {
            self.rows.push(Row { name: row.to_owned(), cells: Default::default() });
            self.rows.len() - 1
        });
        self.rows[at].cells[peer].push(nanos);
    }

    /// What was measured.
    pub fn results(&self) -> Compared {
        let rows = self.rows.iter().map(|row| ComparedRow {
            op: row.name.clone(),
            ns: row.cells.clone().map(|cell| finite(median(cell))).to_vec(),
            ratio: if row.name == MISSPELT { self.to_a_rare_word(row) } else { row.ratio() },
            bar: row.bar(),
            unit: Unit::Nanoseconds,
        });
        let peers = PEERS.map(str::to_owned).to_vec();
        Compared { peers, measured: LEAFBASE, floor: Some(BARE), rows: rows.collect() }
    }

    fn to_a_rare_word(&self, row: &Row) -> Option<Ratio> {
        let rare = self.rows.iter().find(|row| row.name == RARE)?;
        Ratio::of(&row.cells[LEAFBASE], &rare.cells[LEAFBASE])
    }
}

impl Row {
    /// To the peer whose median is the least.
    fn ratio(&self) -> Option<Ratio> {
        let best = self.cells[COMPARED].iter().filter(|cell| !cell.is_empty());
        let best =
            best.min_by(|one, other| median(one.to_vec()).total_cmp(&median(other.to_vec())))?;
        Ratio::of(&self.cells[LEAFBASE], best)
    }

    fn bar(&self) -> Option<f64> {
        BARS.iter().find(|(start, _)| self.name.starts_with(start)).map(|(_, bar)| *bar)
    }
}
