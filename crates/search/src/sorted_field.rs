//! The terms and stems of a field in sorted order, for documents that many searches look through.

use std::cmp::Ordering;
use std::ops::Range;

use crate::stems::StemCache;
use crate::unsorted_field::{TokenOccurrence, UnsortedField};

/// A section of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SortedField {
    pub(crate) terms: SortedTerms,
    pub(crate) stems: StemCounts,
}

impl SortedField {
    pub(crate) fn bytes(&self) -> usize {
        self.terms.bytes() + self.stems.bytes()
    }
}

/// Sorted terms with their positions, in three allocations however many terms there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SortedTerms {
    text: String,
    entries: Vec<TermEntry>,
    positions: Vec<u32>,
}

/// Where a term starts in the text, and its positions in the positions of all terms. Both end where
/// the next term's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TermEntry {
    text: usize,
    positions: usize,
}

impl SortedTerms {
    fn with_capacity(bytes: usize, positions: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            entries: Vec::with_capacity(positions),
            positions: Vec::with_capacity(positions),
        }
    }

    /// Appends a term, which sorts after all others, with its sorted positions.
    fn push(&mut self, term: &str, positions: impl Iterator<Item = u32>) {
        debug_assert!(
            self.entries.len().checked_sub(1).is_none_or(|last| self.term(last) < term),
            "terms are found by bisection, and {term:?} does not come last"
        );
        self.entries.push(TermEntry { text: self.text.len(), positions: self.positions.len() });
        self.text.push_str(term);
        self.positions.extend(positions);
    }

    fn bytes(&self) -> usize {
        self.text.len()
            + size_of_val(self.entries.as_slice())
            + size_of_val(self.positions.as_slice())
    }

    /// Each term with its positions.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[u32])> {
        (0..self.entries.len())
            .map(|number| (self.term(number), self.positions(number..number + 1)))
    }

    /// The positions of a term; or of all terms with this prefix, term by term.
    pub(crate) fn positions_of(&self, text: &str, is_prefix: bool) -> &[u32] {
        let from = partition_point(self.entries.len(), |number| self.term(number) < text);
        let matches = |term: &str| if is_prefix { term.starts_with(text) } else { term == text };
        let count =
            partition_point(self.entries.len() - from, |number| matches(self.term(from + number)));
        self.positions(from..from + count)
    }

    fn term(&self, number: usize) -> &str {
        let start = |number: usize| self.entries.get(number).map_or(self.text.len(), |e| e.text);
        let term = self.text.get(start(number)..start(number + 1));
        debug_assert!(term.is_some(), "terms lie one after the other");
        term.unwrap_or("")
    }

    fn positions(&self, terms: Range<usize>) -> &[u32] {
        let start = |number: usize| {
            self.entries.get(number).map_or(self.positions.len(), |entry| entry.positions)
        };
        let positions = self.positions.get(start(terms.start)..start(terms.end));
        debug_assert!(positions.is_some(), "positions lie one after the other");
        positions.unwrap_or(&[])
    }
}

/// Sorted stems and other forms with their frequencies. Words that are their own English stems are
/// not counted: a search for such a stem also searches the word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StemCounts {
    text: String,
    /// Where each stem ends in the text, and its frequency.
    entries: Vec<(usize, u32)>,
}

impl StemCounts {
    /// Appends a stem, which sorts after all others.
    fn push(&mut self, stem: &str, frequency: u32) {
        debug_assert!(
            self.entries.len().checked_sub(1).is_none_or(|last| self.stem(last) < stem),
            "stems are found by bisection, and {stem:?} does not come last"
        );
        self.text.push_str(stem);
        self.entries.push((self.text.len(), frequency));
    }

    fn bytes(&self) -> usize {
        self.text.len() + size_of_val(self.entries.as_slice())
    }

    /// Each stem with its frequency.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.entries.iter().enumerate().map(|(number, (_, count))| (self.stem(number), *count))
    }

    /// The number of words that have an English stem and differ from it, or that have it as another
    /// form.
    pub(crate) fn frequency(&self, stem: &str) -> u32 {
        let number = partition_point(self.entries.len(), |number| self.stem(number) < stem);
        let entry = self.entries.get(number).filter(|_| self.stem(number) == stem);
        entry.map_or(0, |(_, frequency)| *frequency)
    }

    fn stem(&self, number: usize) -> &str {
        let end = |number: usize| self.entries.get(number).map_or(self.text.len(), |(end, _)| *end);
        let start = number.checked_sub(1).map_or(0, end);
        let stem = self.text.get(start..end(number));
        debug_assert!(stem.is_some(), "stems lie one after the other");
        stem.unwrap_or("")
    }
}

/// The first number below `count` for which `is_before` does not hold, given that it holds for all
/// numbers before that one.
fn partition_point(count: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut least, mut most) = (0, count);
    while least < most {
        let middle = least.midpoint(most);
        if is_before(middle) {
            least = middle + 1;
        } else {
            most = middle;
        }
    }
    least
}

/// Sorts fields. Its buffers are reused for the next field.
#[derive(Default)]
pub(crate) struct FieldSorter {
    pub(crate) cache: StemCache,
    keys: Vec<SortKey>,
    /// Stems one after the other, and where each lies, with its frequency.
    stems: String,
    counts: Vec<(Range<usize>, u32)>,
}

/// The first eight bytes of a term in the upper half, and the number of the occurrence in the lower
/// one: sorting compares integers, and seldom the text.
type SortKey = u128;

fn sort_key((number, head): (usize, &u64)) -> SortKey {
    u128::from(*head) << 64 | number as u128
}

const fn head_of_key(key: SortKey) -> u128 {
    key >> 64
}

#[expect(clippy::cast_possible_truncation, reason = "the number is the lower half")]
const fn number_of_key(key: SortKey) -> usize {
    key as u64 as usize
}

impl FieldSorter {
    pub(crate) fn sort(&mut self, field: &UnsortedField) -> SortedField {
        let Self { cache, keys, stems, counts } = self;
        stems.clear();
        counts.clear();
        keys.clear();
        keys.extend(field.heads().iter().enumerate().map(sort_key));
        keys.sort_unstable();
        let occurrence = |key: &SortKey| -> TokenOccurrence { field.get(number_of_key(*key)) };
        let term = |key: &SortKey| field.term(occurrence(key));
        let mut terms = SortedTerms::with_capacity(field.text_bytes(), field.len());
        for group in keys.chunk_by_mut(|one, other| head_of_key(*one) == head_of_key(*other)) {
            // The key holds all of a short term. Equal keys of longer ones do not order them.
            if group.iter().any(|key| term(key).len() > size_of::<u64>()) {
                group.sort_unstable_by(|one, other| -> Ordering {
                    term(one).cmp(term(other)).then(one.cmp(other))
                });
            }
            for same in group.chunk_by(|one, other| term(one) == term(other)) {
                let text = same.first().map_or("", term);
                terms.push(text, same.iter().map(|key| occurrence(key).position));
                let stemmed = same.iter().filter(|key| occurrence(key).is_stemmed).count();
                let frequency = u32::try_from(stemmed).unwrap_or(u32::MAX);
                if frequency > 0
                    && let Some(stem) = cache.stem(text)
                {
                    let start = stems.len();
                    stems.push_str(stem);
                    counts.push((start..stems.len(), frequency));
                }
            }
        }
        for form in field.forms() {
            let start = stems.len();
            stems.push_str(form);
            counts.push((start..stems.len(), 1));
        }
        let stem = |range: &Range<usize>| stems.get(range.clone()).unwrap_or("");
        // Several words have the same stem: their frequencies are added.
        counts.sort_unstable_by(|(one, _), (other, _)| stem(one).cmp(stem(other)));
        let mut sorted = StemCounts::default();
        for same in counts.chunk_by(|(one, _), (other, _)| stem(one) == stem(other)) {
            let text = same.first().map_or("", |(range, _)| stem(range));
            sorted.push(text, same.iter().map(|(_, frequency)| frequency).sum());
        }
        SortedField { terms, stems: sorted }
    }
}
