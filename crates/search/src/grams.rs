//! Trigrams as numbers: of plain letters and digits each has its own. Others may share one: what
//! has a trigram is only a candidate. Which of a document's texts have it a mask tells, so that two
//! words of which each stands in another text are told from two that stand in one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem;

use foldhash::fast::RandomState;

use leafbase_pattern::{Trigram, each_trigram};

/// The number of a trigram.
pub(crate) type Gram = u32;

/// Which texts of a document have a trigram: a bit for each, as far as they go.
pub(crate) type Mask = u32;

/// So many bits are used. The next text has the first bit again.
pub(crate) const MASK_BITS: u32 = 24;

/// The mask of what may be in any text.
pub(crate) const ANY_TEXT: Mask = (1 << MASK_BITS) - 1;

/// The bits of a letter of ASCII. So few are all trigrams of them that a mask of each stays close
/// at hand.
const LETTER: u32 = 6;
/// The numbers of trigrams of ASCII are below this.
pub(crate) const PLAIN: Gram = 1 << (3 * LETTER);
/// Stands among the trigrams of a document whose texts vary. It is the number of none.
pub(crate) const VARIES: Gram = PLAIN;
/// The numbers of the letters of ASCII.
const LETTERS: [u8; 128] = {
    let (mut letters, mut byte) = ([0; 128], 0);
    while byte < 128 {
        #[expect(
            clippy::indexing_slicing,
            clippy::cast_possible_truncation,
            reason = "below 128, when it is compiled"
        )]
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
    // Multiplied by the golden ratio, of which the first bits depend on all (Knuth, "The Art of
    // Computer Programming", 6.4).
    let all = letters.iter().fold(0, |all, letter| all << 21 | u64::from(*letter));
    let mixed = (all ^ all >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    u32::try_from(mixed).unwrap_or_default() | 1 << 31
}

/// The trigrams of a document, each once, and the mask of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marked {
    grams: Vec<Gram>,
    masks: Vec<Mask>,
}

impl Marked {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Gram, Mask)> {
        self.grams.iter().copied().zip(self.masks.iter().copied())
    }

    /// How many bytes they take.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.grams.as_slice()) + size_of_val(self.masks.as_slice())
    }

    /// The mask of this trigram: no bit if it is not there.
    pub(crate) fn mask(&self, gram: Gram) -> Mask {
        let number = self.grams.iter().position(|other| *other == gram);
        number.and_then(|number| self.masks.get(number)).copied().unwrap_or_default()
    }
}

/// Trigrams of a document, as they come.
#[derive(Default)]
pub(crate) struct Grams {
    found: Vec<Gram>,
    /// The mask of each trigram of plain letters. They cost little more than a bit for each: those
    /// of the same two letters lie together.
    plain: Vec<Mask>,
    others: HashMap<Gram, Mask, RandomState>,
    /// How many texts there were.
    texts: u32,
}

impl Grams {
    pub(crate) fn clear(&mut self) {
        for gram in self.found.drain(..) {
            self.plain.get_mut(gram as usize).into_iter().for_each(|mask| *mask = 0);
        }
        self.others.clear();
        self.texts = 0;
    }

    /// Those that were found, each once, in the order in which they came.
    pub(crate) fn take(&mut self) -> Marked {
        let grams = self.found.clone();
        let mut masks = Vec::with_capacity(grams.len());
        for gram in self.found.drain(..) {
            masks.push(match self.plain.get_mut(gram as usize) {
                Some(mask) => mem::take(mask),
                None => self.others.get(&gram).copied().unwrap_or(ANY_TEXT),
            });
        }
        self.clear();
        Marked { grams, masks }
    }

    /// Adds the trigrams of the next text.
    pub(crate) fn add(&mut self, text: &str) {
        let bit = 1 << (self.texts % MASK_BITS);
        self.texts = self.texts.wrapping_add(1);
        self.plain.resize(PLAIN as usize, 0);
        if !text.is_ascii() {
            each_trigram(text).for_each(|trigram| self.put(gram(trigram), bit));
            return;
        }
        let [first, second, rest @ ..] = text.as_bytes() else { return };
        let letter = |byte: u8| plain(byte.into()).unwrap_or_default();
        let mut gram = letter(*first) << LETTER | letter(*second);
        // Whether a trigram is new cannot be foretold: so each is noted behind those that were, and
        // stays if it was. There is room for all of them.
        let mut count = self.found.len();
        self.found.resize(count + rest.len(), 0);
        for byte in rest {
            gram = (gram << LETTER | letter(*byte)) % PLAIN;
            if let Some(mask) = self.plain.get_mut(gram as usize)
                && let Some(place) = self.found.get_mut(count)
            {
                *place = gram;
                count += usize::from(*mask == 0);
                *mask |= bit;
            }
        }
        self.found.truncate(count);
    }

    fn put(&mut self, gram: Gram, bit: Mask) {
        if gram < PLAIN {
            return self.put_plain(gram, bit);
        }
        match self.others.entry(gram) {
            Entry::Occupied(mut mask) => *mask.get_mut() |= bit,
            Entry::Vacant(mask) => {
                mask.insert(bit);
                self.found.push(gram);
            }
        }
    }

    fn put_plain(&mut self, gram: Gram, bit: Mask) {
        if let Some(mask) = self.plain.get_mut(gram as usize) {
            if *mask == 0 {
                self.found.push(gram);
            }
            *mask |= bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::{Gram, Grams, MASK_BITS, Mask, gram};
    use leafbase_pattern::trigrams;

    proptest! {
        #[test]
        fn grams_are_those_of_all_texts_each_once(texts in prop::collection::vec("[aAbZ09é東 \\.<\\n]{0,8}", 0..50)) {
            let mut grams = Grams::default();
            for _ in 0..2 {
                let mut expected: BTreeMap<Gram, Mask> = BTreeMap::new();
                for (number, text) in texts.iter().enumerate() {
                    grams.add(text);
                    for trigram in trigrams(text) {
                        *expected.entry(gram(trigram)).or_default() |= 1 << (number % MASK_BITS as usize);
                    }
                }
                let found = grams.take();
                prop_assert!(expected.iter().all(|(gram, mask)| found.mask(*gram) == *mask));
                let mut found: Vec<_> = found.iter().collect();
                found.sort_unstable();
                prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn plain_trigrams_have_numbers_of_their_own() {
        let letters: Vec<char> = ('a'..='z').chain('0'..='9').chain([' ']).collect();
        let all = || letters.iter().flat_map(|one| letters.iter().map(move |other| (*one, *other)));
        let grams: BTreeSet<Gram> =
            all().flat_map(|(a, b)| letters.iter().map(move |c| gram([a, b, *c]))).collect();
        assert_eq!(grams.len(), 37 * 37 * 37);
        assert!(grams.iter().all(|gram| *gram < super::PLAIN));
        assert!(gram(['a', 'b', 'é']) > super::VARIES);
        assert!(gram(['a', 'b', 'é']) != gram(['b', 'a', 'é']));
    }
}
