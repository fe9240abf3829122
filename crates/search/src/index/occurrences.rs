//! The words of a lane of a segment that is being made: as they come, document after document, and
//! at the end each with its documents.

use std::io;

use tantivy::DocId;

use super::places::Places;
use super::words::{FieldLists, Number};

/// What a word takes: its number and its position, and when they are put in order its document and
/// its position.
const OF_WORD: usize = 16;

/// Numbers of words, as they come.
#[derive(Default)]
pub(super) struct Occurrences {
    words: Vec<Number>,
    /// Of each word; empty for words that stand nowhere.
    positions: Vec<u32>,
    /// Where the words of each document end.
    ends: Vec<usize>,
}

/// In which document a word occurs, and where.
type Occurrence = (DocId, u32);

impl Occurrences {
    /// Adds a word that stands somewhere.
    pub(super) fn push_at(&mut self, word: Number, position: u32) {
        self.words.push(word);
        self.positions.push(position);
    }

    /// Adds words, each of which stands where [`Self::extend_positions`] says then.
    pub(super) fn extend(&mut self, words: impl Iterator<Item = Number>) {
        self.words.extend(words);
    }

    pub(super) fn extend_positions(&mut self, positions: impl Iterator<Item = u32>) {
        self.positions.extend(positions);
    }

    /// The words from this one on.
    pub(super) fn from(&self, first: usize) -> &[Number] {
        self.words.get(first..).unwrap_or_default()
    }

    /// Adds one that stands nowhere.
    pub(super) fn push(&mut self, word: Number) {
        self.words.push(word);
    }

    /// What comes next is another document's.
    pub(super) fn end_document(&mut self) {
        self.ends.push(self.words.len());
    }

    pub(super) const fn len(&self) -> usize {
        self.words.len()
    }

    /// About how many bytes it takes, and will take when it is written.
    pub(super) const fn bytes(&self) -> usize {
        self.words.len() * OF_WORD + self.ends.len() * size_of::<usize>()
    }

    /// Every occurrence in its place: those of a word together, by document and then as they came.
    fn by_word(&self, words: usize) -> (Vec<Occurrence>, Places) {
        let mut places = Places::of(self.words.iter().copied(), words);
        let mut sorted = vec![Occurrence::default(); self.words.len()];
        let mut start = 0;
        for (document, end) in (0..).zip(&self.ends) {
            let positions = self.positions.get(start..*end).unwrap_or_default();
            let positions = positions.iter().copied().chain(std::iter::repeat(0));
            for (word, position) in
                self.words.get(start..*end).unwrap_or_default().iter().zip(positions)
            {
                places.put(*word, (document, position), &mut sorted);
            }
            start = *end;
        }
        (sorted, places)
    }

    /// Writes the lists of words numbered below `words`, in this order.
    pub(super) fn write(
        &self,
        words: usize,
        order: &[Number],
        field: &mut FieldLists<'_>,
    ) -> io::Result<()> {
        let (occurrences, places) = self.by_word(words);
        let mut distances = Vec::new();
        for number in order {
            let found = places.get(*number, &occurrences);
            if found.is_empty() {
                continue;
            }
            distances.clear();
            if !self.positions.is_empty() {
                let (mut document, mut last) = (None, 0);
                distances.extend(found.iter().map(|(of, at)| {
                    let before = if document.replace(*of) == Some(*of) { last } else { 0 };
                    last = *at;
                    at.wrapping_sub(before)
                }));
            }
            let mut rest = distances.as_slice();
            let documents = found.chunk_by(|(one, _), (other, _)| one == other).map(|same| {
                let document = same.first().map(|(document, _)| *document).unwrap_or_default();
                let of_document;
                (of_document, rest) = rest.split_at_checked(same.len()).unwrap_or_default();
                (document, u32::try_from(same.len()).unwrap_or(u32::MAX), of_document)
            });
            field.add(*number, documents, true)?;
        }
        Ok(())
    }
}
