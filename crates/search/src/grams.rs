//! Trigrams as numbers: of plain letters and digits each has its own. Others may share one: what has a trigram is only a candidate.

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;

use crate::pattern::{Trigram, each_trigram};

/// The number of a trigram.
pub(crate) type Gram = u32;

/// The bits of a letter of ASCII. So few are all trigrams of them that a bit for each stays close at hand.
const LETTER: u32 = 6;
/// The numbers of trigrams of ASCII are below this.
const PLAIN: u32 = 1 << (3 * LETTER);
/// Stands among the trigrams of a document whose texts vary. It is the number of none.
pub(crate) const VARIES: Gram = PLAIN;
/// The numbers of the letters of ASCII.
const LETTERS: [u8; 128] = {
    let (mut letters, mut byte) = ([0; 128], 0);
    while byte < 128 {
        #[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "below 128, when it is compiled")]
        {
            letters[byte] = letter(byte as u8);
        }
        byte += 1;
    }
    letters
};

const fn letter(byte: u8) -> u8 {
    match byte.to_ascii_lowercase() {
        letter @ b'a'..=b'z' => letter - b'a',
        digit @ b'0'..=b'9' => digit - b'0' + 26,
        b' ' => 36,
        sign => sign % 27 + 37,
    }
}

/// The number of a letter of ASCII; none if it is another.
fn plain(letter: u32) -> Option<u32> {
    LETTERS.get(letter as usize).map(|number| u32::from(*number))
}

/// The number of a trigram.
pub(crate) fn gram(trigram: Trigram) -> Gram {
    let letters = trigram.map(u32::from);
    if let [Some(first), Some(second), Some(third)] = letters.map(plain) {
        return first << (2 * LETTER) | second << LETTER | third;
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
            gram = (gram << LETTER | plain(byte.into()).unwrap_or_default()) % PLAIN;
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
        fn grams_are_those_of_all_texts_each_once(texts in prop::collection::vec("[aAbZ09é東 \\.<\\n]{0,8}", 0..6)) {
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
        let letters: Vec<char> = ('a'..='z').chain('0'..='9').chain([' ']).collect();
        let all = || letters.iter().flat_map(|one| letters.iter().map(move |other| (*one, *other)));
        let grams: BTreeSet<Gram> = all().flat_map(|(a, b)| letters.iter().map(move |c| gram([a, b, *c]))).collect();
        assert_eq!(grams.len(), 37 * 37 * 37);
        assert!(grams.iter().all(|gram| *gram < super::PLAIN));
        assert!(gram(['a', 'b', 'é']) > super::VARIES);
        assert!(gram(['a', 'b', 'é']) != gram(['b', 'a', 'é']));
    }
}
