//! Where words may begin in bytes among which texts lie: so most texts need not be read at all.

use leafbase_pattern::row::{LONGEST, Row, Set};

/// With more beginnings nothing is won.
const ROWS: usize = 8;
/// So many bytes are looked through for each of several beginnings, before those behind them are.
const NEAR: usize = 512;

/// Finds in bytes where a hit may begin in a text of ASCII. What other texts say is not told by
/// their bytes.
#[derive(Clone, Debug)]
pub struct WordSieve {
    rows: Vec<Row>,
    /// So many bytes before the end of what is looked through one may begin that ends behind it.
    overlap: usize,
}

impl WordSieve {
    /// What finds these beginnings, which are ASCII, whatever the case.
    pub(super) fn of(texts: &[String]) -> Option<Self> {
        let begins_with =
            |text: &str, start: &str| text.len() > start.len() && text.starts_with(start);
        let is_first = |(number, text): &(usize, &String)| {
            let before = texts.get(..*number).unwrap_or_default();
            !before.contains(text) && !texts.iter().any(|start| begins_with(text, start))
        };
        let first = texts.iter().enumerate().filter(is_first).map(|(_, text)| row(text));
        let rows =
            first.take(ROWS + 1).collect::<Option<Vec<_>>>().filter(|rows| rows.len() <= ROWS)?;
        let overlap =
            rows.iter().map(|row| row.sets().len()).max().unwrap_or_default().saturating_sub(1);
        Some(Self { rows, overlap })
    }

    /// The first place from `from` on where a hit may begin: none is before it in a text of ASCII
    /// that lies there.
    ///
    /// ```
    /// use leafbase_search::ParsedQuery;
    /// let terms = ParsedQuery::new(&["hoping lan"], false)?;
    /// let sieve = terms.finder().sieve().expect("two words");
    /// let bytes = b"\x81 no words \x82 Hopes \x82 all Lanterns";
    /// assert_eq!([0, 14, 22].map(|from| sieve.next(bytes, from)), [Some(13), Some(25), Some(25)]);
    /// # Ok::<(), leafbase_model::Error>(())
    /// ```
    pub fn next(&self, bytes: &[u8], from: usize) -> Option<usize> {
        if let [only] = self.rows.as_slice() {
            return only.find(bytes, from);
        }
        let mut start = from;
        while start < bytes.len() && !self.rows.is_empty() {
            let end = bytes.len().min(start + NEAR + self.overlap);
            let near = bytes.get(..end)?;
            let first = self.rows.iter().filter_map(|row| row.find(near, start)).min();
            start += NEAR;
            // What begins behind is found with what begins before it, by the next turn.
            if let Some(first) = first.filter(|first| *first < start) {
                return Some(first);
            }
        }
        None
    }
}

fn row(text: &str) -> Option<Row> {
    let set = |byte: u8| -> Set { 1 << byte.to_ascii_lowercase() | 1 << byte.to_ascii_uppercase() };
    let sets: Vec<Set> = text.bytes().take(LONGEST).filter(u8::is_ascii).map(set).collect();
    Row::of(&sets)
}
