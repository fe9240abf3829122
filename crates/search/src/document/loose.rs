//! The words of a title, or of everything else, as they come one behind the other. To put them in
//! order costs as much as to look through them many times as they are.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};

use super::stem_of;
use crate::highlighter::shared_prefix;

/// Words as they come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Loose {
    text: String,
    each: Vec<Occurrence>,
    /// The first letters of each, so that most are passed by without looking at the text.
    heads: Vec<u64>,
}

/// A word where it occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Occurrence {
    start: usize,
    pub(crate) position: u32,
    length: u16,
    /// Whether it has a stem, be it its own.
    pub(crate) is_stemmed: bool,
}

/// The first eight bytes of a word as a number, in their order.
pub(crate) fn head(word: &str) -> u64 {
    head_of(word.as_bytes())
}

/// The same of the bytes of a word.
pub(crate) fn head_of(word: &[u8]) -> u64 {
    let mut first = [0; size_of::<u64>()];
    for (slot, byte) in first.iter_mut().zip(word) {
        *slot = *byte;
    }
    u64::from_be_bytes(first)
}

/// Whether a word, whose head is this, can be an English one: most are told by the head.
fn is_english(head: u64, word: &str) -> bool {
    word.len() > 1
        && is_lower(head)
        && word.bytes().skip(size_of::<u64>()).all(|byte| byte.is_ascii_lowercase())
}

/// Whether the first letters of a word are small ones of English, all eight at once: to a byte
/// below 128, of which none reaches into the next one, a number is added that brings it to 128 from
/// the first letter on, and another one from behind the last letter on.
const fn is_lower(head: u64) -> bool {
    const EACH: u64 = u64::MAX / 255;
    // What a short word lacks is zero, and passes for a letter.
    let filled = head | (EACH * b'a' as u64).unbounded_shr(64 - head.trailing_zeros() / 8 * 8);
    let from_first = filled.wrapping_add(EACH * (0x80 - b'a' as u64));
    let behind_last = filled.wrapping_add(EACH * (0x7f - b'z' as u64));
    (filled | !from_first | behind_last) & (EACH * 0x80) == 0
}

/// The bits of a head that tell whether a word begins so.
fn mask(beginning: &str) -> u64 {
    let others = size_of::<u64>().saturating_sub(beginning.len());
    u64::MAX.checked_shl(8 * u32::try_from(others).unwrap_or_default()).unwrap_or_default()
}

impl Loose {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.each.clear();
        self.heads.clear();
    }

    /// Adds a word. Not of each is the stem looked for.
    pub(crate) fn push(&mut self, word: &str, position: u32, may_be_stemmed: bool) {
        let (start, length) = (self.text.len(), u16::try_from(word.len()).unwrap_or(u16::MAX));
        let head = head(word);
        let is_stemmed = may_be_stemmed && is_english(head, word);
        self.each.push(Occurrence { start, position, length, is_stemmed });
        self.heads.push(head);
        self.text.push_str(word);
    }

    /// The first letters of each, and where it occurs.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, Occurrence)> {
        self.heads.iter().copied().zip(self.each.iter().copied())
    }

    pub(crate) fn heads(&self) -> &[u64] {
        &self.heads
    }

    /// How many bytes they take.
    pub(crate) const fn size(&self) -> usize {
        self.text.len() + self.each.len() * (size_of::<Occurrence>() + size_of::<u64>())
    }

    /// How long they are together, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        self.text.len()
    }

    pub(crate) const fn len(&self) -> usize {
        self.each.len()
    }

    pub(crate) fn get(&self, number: usize) -> Occurrence {
        self.each.get(number).copied().unwrap_or_default()
    }

    pub(crate) fn word(&self, occurrence: Occurrence) -> &str {
        let Occurrence { start, length, .. } = occurrence;
        self.text.get(start..start + usize::from(length)).unwrap_or_default()
    }

    /// How many have a stem, their own ones included.
    pub(crate) fn with_stems(&self) -> usize {
        self.each.iter().filter(|occurrence| occurrence.is_stemmed).count()
    }

    fn beginning_with(&self, text: &str) -> impl Iterator<Item = (&str, Occurrence)> {
        let (head, mask) = (head(text), mask(text));
        let found =
            self.heads.iter().zip(&self.each).filter(move |(other, _)| **other & mask == head);
        let found = found.map(|(_, occurrence)| (self.word(*occurrence), *occurrence));
        found.filter(move |(word, _)| word.starts_with(text))
    }

    /// The positions of a word, or of all words that begin with it.
    pub(crate) fn occurrences(&self, text: &str, is_prefix: bool) -> Cow<'_, [u32]> {
        let found =
            self.beginning_with(text).filter(|(word, _)| is_prefix || word.len() == text.len());
        Cow::Owned(found.map(|(_, occurrence)| occurrence.position).collect())
    }

    /// How often a stem occurs, as that of other words.
    pub(crate) fn stems(&self, stem: &str) -> usize {
        let stemmer = Stemmer::new(Algorithm::English);
        let found = self.beginning_with(shared_prefix(stem)).filter(|(word, occurrence)| {
            occurrence.is_stemmed
                && *word != stem
                && stem_of(stemmer, word).as_deref() == Some(stem)
        });
        found.count()
    }
}

#[cfg(test)]
mod tests {
    use leafbase_model::{DocumentId, Location, Timestamp};
    use proptest::prelude::*;
    use proptest::sample::select;

    use crate::document::{Attributes, SearchDocument, has_stem};
    use crate::maker::Maker;

    const WORDS: [&str; 20] = [
        "trains",
        "training",
        "train",
        "trained",
        "tra",
        "t",
        "crystallize",
        "crystallized",
        "crystallizes",
        "skies",
        "sky",
        "dying",
        "die",
        "don't",
        "co_op",
        "v1.2",
        "Élan",
        "東京都",
        "internationally",
        "international",
    ];

    fn made(title: &str, texts: &[String], is_loose: bool) -> SearchDocument {
        let id = DocumentId::from_bytes([1; 16]);
        let (created_at, modified_at) = (Timestamp::default(), Timestamp::default());
        let attributes =
            Attributes { id, location: Location::Unsorted, day: None, created_at, modified_at };
        let mut maker = Maker::default();
        let mut filling = maker.begin(attributes, title);
        for text in texts {
            filling.add_words(text);
        }
        if is_loose { filling.finish_loosely() } else { filling.finish() }
    }

    fn sorted(document: &SearchDocument, is_title: bool, text: &str, is_prefix: bool) -> Vec<u32> {
        let mut found = document.occurrences(is_title, text, is_prefix).into_owned();
        found.sort_unstable();
        found
    }

    proptest! {
        #[test]
        fn words_that_have_stems_are_told_by_their_heads(word in "[a-z]{0,10}([`{A-Z0-9\u{7f}éÿ]?[a-z]{0,4}){0,2}") {
            prop_assert_eq!(super::is_english(super::head(&word), &word), has_stem(&word));
        }

        #[test]
        fn loose_words_are_found_as_those_in_order(texts in prop::collection::vec(prop::collection::vec(select(&WORDS[..]), 0..8), 1..5)) {
            let texts: Vec<String> = texts.iter().map(|words| words.join(" ")).collect();
            let (title, body) = (texts[0].as_str(), &texts[1..]);
            let (loose, ordered) = (made(title, body, true), made(title, body, false));
            prop_assert!(loose.is_loose() && !ordered.is_loose());
            prop_assert_eq!(loose.lengths, ordered.lengths);
            for text in WORDS.iter().copied().chain(["elan", "東京", "", "crysta", "intern", "zebra", "crystal", "di", "ski"]) {
                for is_title in [true, false] {
                    for is_prefix in [true, false] {
                        let [found, expected] = [&loose, &ordered].map(|document| sorted(document, is_title, text, is_prefix));
                        prop_assert_eq!(found, expected, "{} {}", text, is_prefix);
                    }
                    let [found, expected] = [&loose, &ordered].map(|document| document.times_of_stem(is_title, text));
                    prop_assert_eq!(found, expected, "the stem {}", text);
                }
            }
            prop_assert_eq!(Maker::default().put_in_order(loose), ordered);
        }
    }
}
