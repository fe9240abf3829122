//! Documents made ready: their texts are cut into words and trigrams. What is needed for that is
//! kept from one document to the next.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;
use frostem::{Algorithm, Stemmer};

use crate::document::loose::Loose;
use crate::document::{Attributes, Lanes, Ordered, SearchDocument, Stems, Words};
use crate::grams::Grams;
use crate::tokens::{TokenKind, each_token_in};

/// So many stems are remembered, and then forgotten all at once.
const STEMS: usize = 1 << 15;

/// Positions between two texts: no phrase reaches from one to the next.
const GAP: u32 = 16;

/// Makes documents ready. It remembers the stems of words that it met, about three megabytes at
/// most, so the next document costs less.
#[derive(Default)]
pub struct Maker {
    ordering: Ordering,
    /// Of the title, and of everything else.
    lanes: [Loose; 2],
    grams: Grams,
    /// The text that is being cut, in small letters.
    lower: String,
}

impl std::fmt::Debug for Maker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Maker")
            .field("stems", &self.ordering.known.words.len())
            .finish_non_exhaustive()
    }
}

impl Maker {
    /// A document of this title. The texts of its blocks are added one by one.
    pub fn begin(&mut self, attributes: Attributes, title: &str) -> Filling<'_> {
        let Self { lanes: [loose, body], lower, .. } = self;
        loose.clear();
        body.clear();
        self.grams.clear();
        add(loose, lower, title, 0);
        Filling { maker: self, attributes, position: 0, varies: false }
    }

    /// The same document with its words in order, as those have them that were finished at once.
    pub fn put_in_order(&mut self, document: SearchDocument) -> SearchDocument {
        let lanes = match document.lanes {
            Lanes::Loose(loose) => Lanes::Ordered(self.ordering.of(&loose)),
            ordered @ Lanes::Ordered(_) => ordered,
        };
        SearchDocument { lanes, ..document }
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
        let Maker { lanes: [_, body], lower, .. } = &mut *self.maker;
        let end = add(body, lower, text, self.position);
        if end > self.position {
            self.position = end.saturating_add(GAP);
        }
    }

    /// Adds a text that patterns are to find: all that one match may lie in, because what is in
    /// several of them counts as apart.
    pub fn add_pattern_text(&mut self, text: &str) {
        self.maker.grams.add(text);
    }

    /// Not everybody is shown the texts that patterns are to find as they were given.
    pub fn vary(&mut self) {
        self.varies = true;
    }

    /// The document, ready.
    pub fn finish(self) -> SearchDocument {
        let ordered = self.maker.ordering.of(&self.maker.lanes);
        let [(title, title_stems), (body, body_stems)] = &ordered.0;
        let lengths = [title.length(), body.length(), title_stems.length(), body_stems.length()];
        self.finished(Lanes::Ordered(ordered), lengths)
    }

    /// The document, ready for the index, and to be looked through, but with its words as they
    /// came: it is the sooner made, and the longer searched.
    pub fn finish_loosely(self) -> SearchDocument {
        let loose = self.maker.lanes.clone();
        let [title, body] = &loose;
        let lengths = [title.len(), body.len(), title.with_stems(), body.with_stems()];
        let lengths = lengths.map(|length| u32::try_from(length).unwrap_or(u32::MAX));
        self.finished(Lanes::Loose(loose), lengths)
    }

    fn finished(self, lanes: Lanes, lengths: [u32; 4]) -> SearchDocument {
        let Self { maker, attributes, varies, .. } = self;
        SearchDocument { attributes, lanes, lengths, grams: maker.grams.take(), varies }
    }
}

/// Adds the words of a text, whose first one has this position. Gives back the position behind the
/// last one.
fn add(loose: &mut Loose, lower: &mut String, text: &str, first: u32) -> u32 {
    let mut end = first;
    each_token_in(lower, text, &mut |word: &str, _, position, kind| {
        let position = first.saturating_add(u32::try_from(position).unwrap_or(u32::MAX));
        end = position.saturating_add(1);
        loose.push(word, position, matches!(kind, TokenKind::Word | TokenKind::Part));
    });
    end
}

/// Puts words in order.
#[derive(Default)]
struct Ordering {
    known: Known,
    /// For each word its first letters, and behind them its number: to be sorted without looking at
    /// the text.
    keys: Vec<u128>,
    /// Stems, one behind the other, and each with how often it occurs.
    stems: String,
    counted: Vec<(Range<usize>, u32)>,
}

/// The first letters of a word, and its number.
fn key((number, head): (usize, &u64)) -> u128 {
    u128::from(*head) << 64 | number as u128
}

const fn head_of(key: u128) -> u128 {
    key >> 64
}

#[expect(clippy::cast_possible_truncation, reason = "the number is the lower half")]
const fn number_of(key: u128) -> usize {
    key as u64 as usize
}

impl Ordering {
    fn of(&mut self, [title, body]: &[Loose; 2]) -> Ordered {
        Ordered([self.lane(title), self.lane(body)])
    }

    /// The words in order with their positions, and the stems of those that have another one.
    fn lane(&mut self, loose: &Loose) -> (Words, Stems) {
        let Self { known, keys, stems, counted } = self;
        stems.clear();
        counted.clear();
        keys.clear();
        keys.extend(loose.heads().iter().enumerate().map(key));
        let at = |key: &u128| loose.get(number_of(*key));
        let word = |key: &u128| loose.word(at(key));
        keys.sort_unstable();
        let (mut words, mut length) = (Words::with_capacity(loose.bytes(), loose.len()), 0);
        for alike in keys.chunk_by_mut(|one, other| head_of(*one) == head_of(*other)) {
            // All letters of a short word are in its key.
            if alike.iter().any(|key| word(key).len() > size_of::<u64>()) {
                alike
                    .sort_unstable_by(|one, other| word(one).cmp(word(other)).then(one.cmp(other)));
            }
            for same in alike.chunk_by(|one, other| word(one) == word(other)) {
                let text = same.first().map(word).unwrap_or_default();
                words.push(text, same.iter().map(|key| at(key).position));
                let count = u32::try_from(same.iter().filter(|key| at(key).is_stemmed).count())
                    .unwrap_or(u32::MAX);
                if count > 0 {
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
    words: HashMap<Box<str>, usize, RandomState>,
    /// None is that of a word that is its own.
    stems: Vec<Option<Box<str>>>,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::new(Algorithm::English),
            words: HashMap::default(),
            stems: Vec::new(),
        }
    }
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
