//! Trigrams as numbers: of plain letters each has its own; others may share one, as what has a trigram is only a candidate.

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;

use crate::pattern::{Trigram, each_trigram};

/// The number of a trigram.
pub(crate) type Gram = u32;

/// The bits of a plain letter.
const LETTER: u32 = 7;
/// The numbers of plain letters are below this.
const PLAIN: u32 = 1 << (3 * LETTER);

/// The number of a trigram.
pub(crate) fn gram(trigram: Trigram) -> Gram {
    let letters = trigram.map(u32::from);
    if letters.iter().all(|letter| *letter < 1 << LETTER) {
        return letters.iter().fold(0, |gram, letter| gram << LETTER | letter);
    }
    // Multiplied by the golden ratio, of which the first bits depend on all (Knuth, "The Art of Computer Programming", 6.4).
    let all = letters.iter().fold(0, |all, letter| all << 21 | u64::from(*letter));
    let mixed = (all ^ all >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    u32::try_from(mixed).unwrap_or_default() | 1 << 31
}

/// Trigrams of a document, as they come.
#[derive(Default)]
pub(crate) struct Grams {
    found: Vec<Gram>,
    /// A bit for each trigram of plain letters that was found.
    plain: Vec<u64>,
    others: HashSet<Gram, FxBuildHasher>,
}

impl Grams {
    pub(crate) fn clear(&mut self) {
        for gram in self.found.drain(..).filter(|gram| *gram < PLAIN) {
            self.plain.get_mut(gram as usize / 64).into_iter().for_each(|bits| *bits = 0);
        }
        self.others.clear();
    }

    /// Those that were found, each once, in the order in which they came.
    pub(crate) fn take(&mut self) -> Vec<Gram> {
        let found = self.found.clone();
        self.clear();
        found
    }

    /// Adds the trigrams of a text.
    pub(crate) fn add(&mut self, text: &str) {
        if !text.is_ascii() {
            each_trigram(text).for_each(|trigram| self.put(gram(trigram)));
            return;
        }
        self.plain.resize(PLAIN as usize / 64, 0);
        let mut gram = 0;
        for (number, byte) in text.bytes().enumerate() {
            gram = (gram << LETTER | u32::from(byte.to_ascii_lowercase())) % PLAIN;
            if number > 1 {
                self.put_plain(gram);
            }
        }
    }

    fn put(&mut self, gram: Gram) {
        if gram < PLAIN {
            self.plain.resize(PLAIN as usize / 64, 0);
            self.put_plain(gram);
        } else if self.others.insert(gram) {
            self.found.push(gram);
        }
    }

    fn put_plain(&mut self, gram: Gram) {
        let bit = 1 << (gram % 64);
        if let Some(bits) = self.plain.get_mut(gram as usize / 64).filter(|bits| **bits & bit == 0) {
            *bits |= bit;
            self.found.push(gram);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{Gram, Grams, gram};
    use crate::pattern::trigrams;

    fn sorted(grams: Vec<Gram>) -> Vec<Gram> {
        let mut grams = grams;
        grams.sort_unstable();
        grams
    }

    proptest! {
        #[test]
        fn grams_are_those_of_all_texts_each_once(texts in prop::collection::vec("[aAbé東 \\.]{0,8}", 0..6)) {
            let mut grams = Grams::default();
            for _ in 0..2 {
                for text in &texts {
                    grams.add(text);
                }
                let expected: BTreeSet<Gram> = texts.iter().flat_map(|text| trigrams(text)).map(gram).collect();
                prop_assert_eq!(sorted(grams.take()), expected.into_iter().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn plain_trigrams_have_numbers_of_their_own() {
        let letters: Vec<char> = "ab~\0 ".chars().collect();
        let all = || letters.iter().flat_map(|one| letters.iter().map(move |other| (*one, *other)));
        let grams: BTreeSet<Gram> = all().flat_map(|(a, b)| letters.iter().map(move |c| gram([a, b, *c]))).collect();
        assert_eq!(grams.len(), 125);
        assert!(gram(['a', 'b', 'é']) != gram(['b', 'a', 'é']));
    }
}
