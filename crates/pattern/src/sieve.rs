//! Where texts may be that a pattern matches, in bytes among which they lie: so most texts need not
//! be read at all.

use memchr::memmem::Finder;

use crate::exact::Exact;
use crate::fuel::{Exhausted, Fuel};
use crate::row::Row;
use crate::tree::Node;

/// Letters beyond ASCII that may stand in the row: where there are more, it tells nothing.
pub(crate) const MOST_OTHERS: usize = 2;

/// Letters in a row that every text has that the pattern matches; or another letter in place of one
/// of them.
#[derive(Clone, Debug)]
pub struct Sieve {
    row: Row,
    others: Vec<Finder<'static>>,
    /// None if it takes more to tell what the pattern matches.
    exact: Option<Exact>,
}

impl Sieve {
    /// None if the others are too many.
    pub(crate) fn new(row: Row, mut others: Vec<char>) -> Option<Self> {
        others.sort_unstable();
        others.dedup();
        let finder = |letter: &char| Finder::new(letter.encode_utf8(&mut [0; 4])).into_owned();
        let others: Vec<_> =
            (others.len() <= MOST_OTHERS).then(|| others.iter().map(finder).collect())?;
        Some(Self { row, others, exact: None })
    }

    /// The same, which knows the pattern of this tree.
    pub(crate) fn knowing(mut self, tree: &Node) -> Self {
        self.exact = Exact::of(tree, &self.row);
        self
    }

    /// In which share of all places the row is, roughly.
    pub(crate) fn share(&self) -> f64 {
        self.row.share()
    }

    /// Whether the text of these bytes has it.
    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        self.row.find(text, 0).is_some() || (!text.is_ascii() && !self.tells(text))
    }

    /// Whether [`Self::next`] finds all places in these bytes where a text may be that the pattern
    /// matches.
    ///
    /// ```
    /// use leafbase_pattern::Pattern;
    /// let pattern = Pattern::new(r"\w+ock\b", false)?;
    /// let sieve = pattern.sieve().expect("three letters in a row");
    /// assert!(sieve.tells(b"\x81 a sock \x82 The clock") && !sieve.tells("soc\u{212a}".as_bytes()));
    /// assert_eq!(sieve.next(b"\x81 a sock \x82 The clock", 0), Some(5));
    /// # Ok::<(), leafbase_model::Error>(())
    /// ```
    pub fn tells(&self, bytes: &[u8]) -> bool {
        self.others.iter().all(|other| other.find(bytes).is_none())
    }

    /// The first place from `from` on where the row begins.
    pub fn next(&self, bytes: &[u8], from: usize) -> Option<usize> {
        self.row.find_far(bytes, from)
    }

    /// Whether it is told at the places of the row whether a text of ASCII matches.
    pub(crate) const fn is_exact(&self) -> bool {
        self.exact.is_some()
    }

    /// Whether the pattern matches a text of ASCII, if it is exact. The row begins nowhere before
    /// `from`. A text that lacks the row costs nothing, as it does among bytes that are sifted; any
    /// other its length, and a step for each row that is looked at.
    pub(crate) fn matches_ascii(
        &self,
        text: &[u8],
        from: usize,
        fuel: &mut Fuel,
    ) -> Result<bool, Exhausted> {
        let exact = self.exact.as_ref();
        let mut place = self.row.find_here(text, from);
        if place.is_some() {
            fuel.pass(text.len())?;
        }
        while let Some(found) = place {
            fuel.take(1)?;
            if exact.is_some_and(|exact| exact.is_at(text, found)) {
                return Ok(true);
            }
            place = self.row.find(text, found + 1);
        }
        Ok(false)
    }
}
