//! Documents made ready: their texts are cut into words and trigrams. What is needed for that is kept from one document to the next.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use frostem::{Algorithm, Stemmer};
use rustc_hash::FxBuildHasher;

use crate::document::{Attributes, SearchDocument, Stems, Words, has_stem};
use crate::grams::Grams;
use crate::tokens::{TokenKind, each_token};

/// So many stems are remembered, and then forgotten all at once.
const STEMS: usize = 1 << 14;

/// Positions between two texts: no phrase reaches from one to the next.
const GAP: u32 = 16;

/// Makes documents ready. It remembers the stems of words that it met, about a megabyte at most, so the next document costs less.
pub struct Maker {
    stems: Known,
    title: Gathered,
    body: Gathered,
    grams: Grams,
}

impl std::fmt::Debug for Maker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Maker").field("stems", &self.stems.stems.len()).finish_non_exhaustive()
    }
}

impl Default for Maker {
    fn default() -> Self {
        let stems = Known { stemmer: Stemmer::new(Algorithm::English), stems: HashMap::default() };
        Self { stems, title: Gathered::default(), body: Gathered::default(), grams: Grams::default() }
    }
}

impl Maker {
    /// A document of this title. The texts of its blocks are added one by one.
    pub fn begin(&mut self, attributes: Attributes, title: &str) -> Filling<'_> {
        self.title.clear();
        self.body.clear();
        self.grams.clear();
        self.title.add(title, 0);
        Filling { maker: self, attributes, position: 0 }
    }
}

/// A document that is being filled.
pub struct Filling<'m> {
    maker: &'m mut Maker,
    attributes: Attributes,
    position: u32,
}

impl std::fmt::Debug for Filling<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filling").field("attributes", &self.attributes).finish_non_exhaustive()
    }
}

impl Filling<'_> {
    /// Adds a text whose words are to be found: plain text.
    pub fn add_words(&mut self, text: &str) {
        let end = self.maker.body.add(text, self.position);
        if end > self.position {
            self.position = end.saturating_add(GAP);
        }
    }

    /// Adds a text that patterns are to find.
    pub fn add_pattern_text(&mut self, text: &str) {
        self.maker.grams.add(text);
    }

    /// The document, ready.
    pub fn finish(self) -> SearchDocument {
        let Maker { stems, title, body, grams } = self.maker;
        let ((title, title_stems), (body, body_stems)) = (title.made(stems), body.made(stems));
        let lengths = [title.length(), body.length(), title_stems.length(), body_stems.length()];
        let words = [title, body];
        let stems = [title_stems, body_stems];
        SearchDocument { attributes: self.attributes, words, stems, lengths, grams: grams.take() }
    }
}

/// The words of a lane as they come, one behind the other.
#[derive(Default)]
struct Gathered {
    text: String,
    each: Vec<Occurrence>,
    /// Stems, one behind the other, and each with how often it occurs.
    stems: String,
    counted: Vec<(Range<usize>, u32)>,
}

/// A word where it occurs.
#[derive(Clone, Copy)]
struct Occurrence {
    /// Its first letters, so that most are told apart without looking at the text.
    head: u64,
    start: usize,
    position: u32,
    length: u16,
    /// Whether it may have a stem.
    is_stemmed: bool,
}

/// The first eight bytes of a word as a number, in their order.
fn head(word: &str) -> u64 {
    let mut first = [0; 8];
    for (slot, byte) in first.iter_mut().zip(word.bytes()) {
        *slot = byte;
    }
    u64::from_be_bytes(first)
}

impl Occurrence {
    fn word(self, text: &str) -> &str {
        text.get(self.start..self.start + usize::from(self.length)).unwrap_or_default()
    }

    fn order(self, other: Self, text: &str) -> Ordering {
        let words = || match (self.length, other.length) {
            // All of them is in their heads.
            (0..=8, 0..=8) => Ordering::Equal,
            _ => self.word(text).cmp(other.word(text)),
        };
        self.head.cmp(&other.head).then_with(words)
    }
}

impl Gathered {
    fn clear(&mut self) {
        self.text.clear();
        self.each.clear();
        self.stems.clear();
        self.counted.clear();
    }

    /// Adds the words of a text, whose first one has this position. Gives back the position behind the last one.
    fn add(&mut self, text: &str, first: u32) -> u32 {
        let mut end = first;
        each_token(text, &mut |word: &str, _, position, kind| {
            let position = first.saturating_add(u32::try_from(position).unwrap_or(u32::MAX));
            end = position.saturating_add(1);
            self.each.push(Occurrence {
                head: head(word),
                start: self.text.len(),
                position,
                length: u16::try_from(word.len()).unwrap_or(u16::MAX),
                is_stemmed: matches!(kind, TokenKind::Word | TokenKind::Part),
            });
            self.text.push_str(word);
        });
        end
    }

    /// The words in order with their positions, and the stems of those that have another one.
    fn made(&mut self, known: &mut Known) -> (Words, Stems) {
        let Self { text, each, stems, counted } = self;
        each.sort_unstable_by(|one, other| one.order(*other, text).then(one.position.cmp(&other.position)));
        let mut words = Words::with_capacity(text.len(), each.len());
        let mut length = 0;
        for same in each.chunk_by(|one, other| one.order(*other, text).is_eq()) {
            let word = same.first().map(|first| first.word(text)).unwrap_or_default();
            words.push(word, same.iter().map(|one| one.position));
            let count = u32::try_from(same.iter().filter(|one| one.is_stemmed).count()).unwrap_or(u32::MAX);
            if count == 0 || !has_stem(word) {
                continue;
            }
            length += count;
            if let Some(stem) = known.stem(word) {
                let start = stems.len();
                stems.push_str(stem);
                counted.push((start..stems.len(), count));
            }
        }
        let stem = |range: &Range<usize>| stems.get(range.clone()).unwrap_or_default();
        counted.sort_unstable_by(|(one, _), (other, _)| stem(one).cmp(stem(other)));
        let mut other = Stems::new(length);
        for same in counted.chunk_by(|(one, _), (other, _)| stem(one) == stem(other)) {
            let stem = same.first().map(|(range, _)| stem(range)).unwrap_or_default();
            other.push(stem, same.iter().map(|(_, count)| count).sum());
        }
        (words, other)
    }
}

/// Stems of words that were met.
struct Known {
    stemmer: Stemmer,
    stems: HashMap<Box<str>, Option<Box<str>>, FxBuildHasher>,
}

impl Known {
    /// The stem of an English word, if it is another word.
    fn stem(&mut self, word: &str) -> Option<&str> {
        if self.stems.len() >= STEMS && !self.stems.contains_key(word) {
            self.stems.clear();
        }
        // Looked up twice if it is known: the borrow of one found could not be given back.
        if !self.stems.contains_key(word) {
            let stem = self.stemmer.stem(word);
            let stem = (stem != word).then(|| Box::from(stem.as_ref()));
            self.stems.insert(Box::from(word), stem);
        }
        self.stems.get(word)?.as_deref()
    }
}
