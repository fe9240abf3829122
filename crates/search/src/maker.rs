//! Documents made ready: their texts are cut into words and trigrams. What is needed for that is kept from one document to the next.

use std::collections::HashMap;
use std::ops::Range;

use frostem::{Algorithm, Stemmer};
use rustc_hash::FxBuildHasher;

use crate::document::{Attributes, SearchDocument, Stems, Words, has_stem};
use crate::grams::Grams;
use crate::tokens::{TokenKind, each_token};

/// So many stems are remembered, and then forgotten all at once.
const STEMS: usize = 1 << 15;

/// Positions between two texts: no phrase reaches from one to the next.
const GAP: u32 = 16;

/// Makes documents ready. It remembers the stems of words that it met, about three megabytes at most, so the next document costs less.
pub struct Maker {
    stems: Known,
    title: Gathered,
    body: Gathered,
    grams: Grams,
}

impl std::fmt::Debug for Maker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Maker").field("stems", &self.stems.words.len()).finish_non_exhaustive()
    }
}

impl Default for Maker {
    fn default() -> Self {
        let stems = Known { stemmer: Stemmer::new(Algorithm::English), words: HashMap::default(), stems: Vec::new() };
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
        Filling { maker: self, attributes, position: 0, varies: false }
    }
}

/// A document that is being filled.
pub struct Filling<'m> {
    maker: &'m mut Maker,
    attributes: Attributes,
    position: u32,
    varies: bool,
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

    /// Not everybody is shown the texts that patterns are to find as they were given.
    pub fn vary(&mut self) {
        self.varies = true;
    }

    /// The document, ready.
    pub fn finish(self) -> SearchDocument {
        let Self { maker, attributes, varies, .. } = self;
        let Maker { stems, title, body, grams } = maker;
        let ((title, title_stems), (body, body_stems)) = (title.made(stems), body.made(stems));
        let lengths = [title.length(), body.length(), title_stems.length(), body_stems.length()];
        let words = [title, body];
        let stems = [title_stems, body_stems];
        SearchDocument { attributes, words, stems, lengths, grams: grams.take(), varies }
    }
}

/// The words of a lane as they come, one behind the other.
#[derive(Default)]
struct Gathered {
    text: String,
    each: Vec<Occurrence>,
    /// For each its first letters, and behind them its number: to be sorted without looking at the text.
    keys: Vec<u128>,
    /// Stems, one behind the other, and each with how often it occurs.
    stems: String,
    counted: Vec<(Range<usize>, u32)>,
}

/// A word where it occurs.
#[derive(Clone, Copy, Default)]
struct Occurrence {
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
}

/// The first letters of a word, and its number.
fn key(word: &str, number: usize) -> u128 {
    u128::from(head(word)) << 64 | number as u128
}

const fn head_of(key: u128) -> u128 {
    key >> 64
}

#[expect(clippy::cast_possible_truncation, reason = "the number is the lower half")]
const fn number_of(key: u128) -> usize {
    key as u64 as usize
}

impl Gathered {
    fn clear(&mut self) {
        self.text.clear();
        self.each.clear();
        self.keys.clear();
        self.stems.clear();
        self.counted.clear();
    }

    /// Adds the words of a text, whose first one has this position. Gives back the position behind the last one.
    fn add(&mut self, text: &str, first: u32) -> u32 {
        let mut end = first;
        each_token(text, &mut |word: &str, _, position, kind| {
            let position = first.saturating_add(u32::try_from(position).unwrap_or(u32::MAX));
            end = position.saturating_add(1);
            self.keys.push(key(word, self.each.len()));
            self.each.push(Occurrence {
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
        let Self { text, each, keys, stems, counted } = self;
        let at = |key: &u128| each.get(number_of(*key)).copied().unwrap_or_default();
        let word = |key: &u128| at(key).word(text);
        keys.sort_unstable();
        let (mut words, mut length) = (Words::with_capacity(text.len(), each.len()), 0);
        for alike in keys.chunk_by_mut(|one, other| head_of(*one) == head_of(*other)) {
            // All letters of a short word are in its key.
            if alike.iter().any(|key| usize::from(at(key).length) > size_of::<u64>()) {
                alike.sort_unstable_by(|one, other| word(one).cmp(word(other)).then(one.cmp(other)));
            }
            for same in alike.chunk_by(|one, other| at(one).length == at(other).length && word(one) == word(other)) {
                let text = same.first().map(word).unwrap_or_default();
                words.push(text, same.iter().map(|key| at(key).position));
                let count = u32::try_from(same.iter().filter(|key| at(key).is_stemmed).count()).unwrap_or(u32::MAX);
                if count > 0 && has_stem(text) {
                    length += count;
                    if let Some(stem) = known.stem(text) {
                        let start = stems.len();
                        stems.push_str(stem);
                        counted.push((start..stems.len(), count));
                    }
                }
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
    /// Which of the stems is a word's.
    words: HashMap<Box<str>, usize, FxBuildHasher>,
    /// None is that of a word that is its own.
    stems: Vec<Option<Box<str>>>,
}

impl Known {
    /// The stem of an English word, if it is another word.
    fn stem(&mut self, word: &str) -> Option<&str> {
        let number = match self.words.get(word) {
            Some(number) => *number,
            None => self.learned(word),
        };
        self.stems.get(number)?.as_deref()
    }

    fn learned(&mut self, word: &str) -> usize {
        if self.stems.len() >= STEMS {
            self.words.clear();
            self.stems.clear();
        }
        let (number, stem) = (self.stems.len(), self.stemmer.stem(word));
        self.stems.push((stem != word).then(|| Box::from(stem.as_ref())));
        self.words.insert(Box::from(word), number);
        number
    }
}
