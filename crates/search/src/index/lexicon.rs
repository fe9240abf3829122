//! The words of a segment that is being made, each with a number, in the order in which they were
//! met: a word is compared and stemmed when it is met first, and is a number from then on.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use frostem::{Algorithm, Stemmer};

use super::words::Number;
use crate::document::loose::{head, head_of};
use crate::document::stem_of;

/// About what a word takes beside its letters, here and in the tables of hashes.
const OF_WORD: usize = 64;

/// A word that was met.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// The first letters: all of a short word.
    head: u64,
    start: usize,
    length: usize,
}

/// The stem of a word.
#[derive(Clone, Copy, Debug)]
enum Stem {
    /// Nobody asked for it yet.
    Unknown,
    /// The word itself, or it is no English word.
    Own,
    Other(Number),
}

/// Words by number, and numbers by word.
pub(super) struct Lexicon {
    text: String,
    words: Vec<Word>,
    /// Of each word. Asked for more often than the words.
    stems: Vec<Stem>,
    /// By the head of those that are no longer than one. No word has a zero byte, with which a
    /// shorter one is filled up.
    short: HashMap<u64, Number, RandomState>,
    /// By the head, and that of the rest, of those that are no longer than two.
    medium: HashMap<(u64, u64), Number, RandomState>,
    long: HashMap<Box<str>, Number, RandomState>,
    stemmer: Stemmer,
}

impl Default for Lexicon {
    fn default() -> Self {
        let (short, medium, long) = (HashMap::default(), HashMap::default(), HashMap::default());
        let stemmer = Stemmer::new(Algorithm::English);
        Self {
            text: String::new(),
            words: Vec::new(),
            stems: Vec::new(),
            short,
            medium,
            long,
            stemmer,
        }
    }
}

impl Lexicon {
    /// How many words there are: their numbers are below.
    pub(super) const fn len(&self) -> usize {
        self.words.len()
    }

    /// About how many bytes they take.
    pub(super) const fn bytes(&self) -> usize {
        // Long words are kept twice.
        2 * self.text.len() + self.words.len() * OF_WORD
    }

    pub(super) fn number(&mut self, word: &str) -> Number {
        self.number_of(head(word), word)
    }

    /// The same of a word whose head is known.
    pub(super) fn number_of(&mut self, head: u64, word: &str) -> Number {
        let known = match Key::of(head, word) {
            Key::Short(key) => self.short.get(&key),
            Key::Medium(key) => self.medium.get(&key),
            Key::Long => self.long.get(word),
        };
        known.copied().unwrap_or_else(|| self.learn(head, word))
    }

    fn learn(&mut self, head: u64, word: &str) -> Number {
        let number = Number::try_from(self.words.len()).unwrap_or(Number::MAX);
        self.words.push(Word { head, start: self.text.len(), length: word.len() });
        self.stems.push(Stem::Unknown);
        self.text.push_str(word);
        match Key::of(head, word) {
            Key::Short(key) => drop(self.short.insert(key, number)),
            Key::Medium(key) => drop(self.medium.insert(key, number)),
            Key::Long => drop(self.long.insert(Box::from(word), number)),
        }
        number
    }

    /// The stem of an English word, if it is another word.
    pub(super) fn stem(&mut self, number: Number) -> Option<Number> {
        let stem = match self.stems.get(number as usize)? {
            Stem::Unknown => self.learn_stem(number),
            known => *known,
        };
        if let Stem::Other(stem) = stem { Some(stem) } else { None }
    }

    fn learn_stem(&mut self, number: Number) -> Stem {
        let (word, stemmer) = (self.word(number), self.stemmer);
        let stem = stem_of(stemmer, word).filter(|stem| stem != word);
        let stem = stem.map_or(Stem::Own, |stem| Stem::Other(self.number(&stem)));
        self.stems.get_mut(number as usize).into_iter().for_each(|slot| *slot = stem);
        stem
    }

    pub(super) fn word(&self, number: Number) -> &str {
        let text = |word: &Word| self.text.get(word.start..word.start + word.length);
        self.words.get(number as usize).and_then(text).unwrap_or_default()
    }

    /// All numbers in the order of the words' bytes.
    pub(super) fn in_order(&self) -> Vec<Number> {
        let mut order: Vec<(u64, Number)> =
            self.words.iter().map(|word| word.head).zip(0..).collect();
        order.sort_unstable_by(|(one_head, one), (other_head, other)| {
            one_head.cmp(other_head).then_with(|| self.word(*one).cmp(self.word(*other)))
        });
        order.into_iter().map(|(_, number)| number).collect()
    }
}

/// By what a word is looked up: most are so short that it is a number.
enum Key {
    Short(u64),
    Medium((u64, u64)),
    Long,
}

impl Key {
    /// That of a word whose head this is.
    fn of(first: u64, word: &str) -> Self {
        const HEAD: usize = size_of::<u64>();
        match word.as_bytes().get(HEAD..) {
            None | Some([]) => Self::Short(first),
            Some(rest) if rest.len() <= HEAD => Self::Medium((first, head_of(rest))),
            Some(_) => Self::Long,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Lexicon;
    use crate::document::stem_of;

    proptest! {
        #[test]
        fn words_are_numbered_ordered_and_stemmed(words in prop::collection::vec("[a-c]{0,3}(train|trained|internationally|é|東京|v1\\.2)?(s|ing)?", 0..60)) {
            let mut lexicon = Lexicon::default();
            let numbers: Vec<_> = words.iter().map(|word| lexicon.number(word)).collect();
            prop_assert_eq!(lexicon.len(), words.iter().collect::<BTreeSet<_>>().len());
            for (word, number) in words.iter().zip(&numbers) {
                prop_assert_eq!(lexicon.word(*number), word);
                prop_assert_eq!(lexicon.number(word), *number);
                let expected = stem_of(lexicon.stemmer, word).filter(|stem| stem != word);
                let stem = lexicon.stem(*number).map(|stem| lexicon.word(stem).to_owned());
                prop_assert_eq!(stem, expected);
            }
            let ordered: Vec<_> = lexicon.in_order().into_iter().map(|number| lexicon.word(number)).collect();
            prop_assert_eq!(ordered.len(), lexicon.len());
            prop_assert!(ordered.is_sorted());
        }
    }
}
