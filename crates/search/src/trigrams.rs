//! IDs of trigrams, and the set of trigrams of a document.
//!
//! Each trigram of ASCII letters, digits and spaces has its own ID. Others share IDs by hash or by
//! class, so a document that has the IDs of a pattern is a candidate, not a match.

use std::collections::HashSet;
use std::mem;

use foldhash::fast::RandomState;

use leafbase_pattern::{Trigram, TrigramQuery, each_trigram};

/// The ID of a trigram.
pub(crate) type TrigramId = u32;

/// Bits per character of an ASCII trigram. At 6 bits the set of all of them is a bitmap of 32 kB,
/// which fits the first-level cache.
const CHAR_BITS: u32 = 6;
/// IDs of ASCII trigrams are below this.
const ASCII_IDS: TrigramId = 1 << (3 * CHAR_BITS);
/// Marks a document whose texts are not the same for every reader. No trigram has this ID: hashed
/// ones have the highest bit set.
pub(crate) const VARIES_ID: TrigramId = ASCII_IDS;

/// The code of each ASCII character; upper and lower case are the same.
const ASCII_CODES: [u8; 128] = {
    let (mut codes, mut byte) = ([0; 128], 0);
    while byte < 128 {
        #[expect(
            clippy::indexing_slicing,
            clippy::cast_possible_truncation,
            reason = "below 128, and evaluated at compile time"
        )]
        {
            codes[byte] = ascii_code(byte as u8);
        }
        byte += 1;
    }
    codes
};

const fn ascii_code(byte: u8) -> u8 {
    match byte.to_ascii_lowercase() {
        letter @ b'a'..=b'z' => letter - b'a',
        digit @ b'0'..=b'9' => digit - b'0' + 26,
        b' ' => 36,
        other => other % 27 + 37,
    }
}

fn code(character: u32) -> Option<u32> {
    ASCII_CODES.get(character as usize).map(|code| u32::from(*code))
}

/// The ID of a trigram.
pub(crate) fn trigram_id(trigram: Trigram) -> TrigramId {
    let characters = trigram.map(u32::from);
    if let [Some(first), Some(second), Some(third)] = characters.map(code) {
        return first << (2 * CHAR_BITS) | second << CHAR_BITS | third;
    }
    // Fibonacci hashing (Knuth, "The Art of Computer Programming", 6.4): the high bits of the
    // product depend on all bits.
    let all = characters.iter().fold(0, |all, character| all << 21 | u64::from(*character));
    let hash = (all ^ all >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    let hash = hash as u32;
    hash | 1 << 31
}

/// The trigrams of a document, each once, in no particular order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TrigramSet {
    ids: Vec<TrigramId>,
}

impl TrigramSet {
    pub(crate) fn ids(&self) -> &[TrigramId] {
        &self.ids
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.ids.as_slice())
    }

    /// Whether the document can match a pattern with these requirements. The recursion is as deep
    /// as the pattern nests.
    pub(crate) fn satisfies(&self, required: &TrigramQuery) -> bool {
        match required {
            TrigramQuery::Unrestricted => true,
            TrigramQuery::Trigram(trigram) => self.ids.contains(&trigram_id(*trigram)),
            TrigramQuery::And(parts) => parts.iter().all(|part| self.satisfies(part)),
            TrigramQuery::Or(parts) => parts.iter().any(|part| self.satisfies(part)),
        }
    }
}

/// Collects the trigrams of a document, text by text. Its memory is reused for the next document.
#[derive(Default)]
pub(crate) struct TrigramCollector {
    ids: Vec<TrigramId>,
    /// A bit per ASCII ID: whether it is in `ids`.
    ascii: Vec<u64>,
    others: HashSet<TrigramId, RandomState>,
}

impl TrigramCollector {
    pub(crate) fn clear(&mut self) {
        // The words of these IDs alone: most documents have few of all 4,096. A hashed ID has none.
        for id in self.ids.drain(..) {
            if let Some(word) = self.ascii.get_mut((id / u64::BITS) as usize) {
                *word = 0;
            }
        }
        self.others.clear();
    }

    /// The trigrams since the last call. Leaves the collector empty.
    pub(crate) fn take(&mut self) -> TrigramSet {
        // Cloned, so that the collector keeps its room and the set has none to spare.
        let ids = self.ids.clone();
        self.clear();
        TrigramSet { ids }
    }

    /// Adds the trigrams of a text.
    pub(crate) fn add(&mut self, text: &str) {
        self.ascii.resize((ASCII_IDS / u64::BITS) as usize, 0);
        if !text.is_ascii() {
            each_trigram(text).for_each(|trigram| self.insert(trigram_id(trigram)));
            return;
        }
        let mut ids = mem::take(&mut self.ids);
        let mut codes = text.bytes().filter_map(|byte| code(byte.into()));
        if let (Some(first), Some(second)) = (codes.next(), codes.next()) {
            let mut id = first << CHAR_BITS | second;
            let mut count = ids.len();
            // Whether a trigram is new cannot be predicted, so there is no branch on it: each is
            // written to the end, and the end moves only after a new one.
            ids.resize(count + text.len(), 0);
            for code in codes {
                id = (id << CHAR_BITS | code) % ASCII_IDS;
                if let Some(word) = self.ascii.get_mut((id / u64::BITS) as usize)
                    && let Some(slot) = ids.get_mut(count)
                {
                    let bit = 1 << (id % u64::BITS);
                    *slot = id;
                    count += usize::from(*word & bit == 0);
                    *word |= bit;
                }
            }
            ids.truncate(count);
        }
        self.ids = ids;
    }

    fn insert(&mut self, id: TrigramId) {
        let is_new = match self.ascii.get_mut((id / u64::BITS) as usize) {
            Some(word) => {
                let bit = 1 << (id % u64::BITS);
                let is_new = *word & bit == 0;
                *word |= bit;
                is_new
            }
            None => self.others.insert(id),
        };
        if is_new {
            self.ids.push(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use leafbase_pattern::trigrams;

    proptest! {
        #[test]
        fn each_trigram_of_any_text_is_collected_once(
            texts in prop::collection::vec("[aAbZ09é東 \\.<\\n]{0,8}", 0..50)
        ) {
            let mut collector = TrigramCollector::default();
            // Twice: nothing is left of the first document.
            for _ in 0..2 {
                let mut expected = BTreeSet::new();
                for text in &texts {
                    collector.add(text);
                    expected.extend(trigrams(text).into_iter().map(trigram_id));
                }
                let mut found = collector.take().ids().to_vec();
                found.sort_unstable();
                prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn trigrams_of_letters_digits_and_spaces_have_ids_of_their_own() {
        let letters: Vec<char> = ('a'..='z').chain('0'..='9').chain([' ']).collect();
        let all = || letters.iter().flat_map(|one| letters.iter().map(move |other| (*one, *other)));
        let ids: BTreeSet<TrigramId> =
            all().flat_map(|(a, b)| letters.iter().map(move |c| trigram_id([a, b, *c]))).collect();
        assert_eq!(ids.len(), 37 * 37 * 37);
        assert!(ids.iter().all(|id| *id < ASCII_IDS));
        assert!(trigram_id(['a', 'b', 'é']) > VARIES_ID);
        assert!(trigram_id(['a', 'b', 'é']) != trigram_id(['b', 'a', 'é']));
    }
}
