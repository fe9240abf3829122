//! English stems (Porter, "An Algorithm for Suffix Stripping", 1980, in its second version).

use std::collections::HashMap;

use foldhash::fast::RandomState;
use frostem::{Algorithm, Stemmer};

/// Entries of a [`StemCache`]; it is cleared when it is full. About 6 MB at most.
const MAX_CACHED_STEMS: usize = 1 << 16;

/// Whether a folded word can be an English one: ASCII letters, at least two.
pub(crate) fn has_stem(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// The stem of a folded word, if it can be an English one.
pub(crate) fn stem_of(stemmer: Stemmer, word: &str) -> Option<String> {
    has_stem(word).then(|| stemmer.stem(word).into_owned())
}

/// A prefix of all words with this stem. The stemmer may replace the end of a word by up to two
/// letters (`ies` becomes `i` or `ie`), so these are not part of the prefix.
pub(crate) fn stem_prefix(stem: &str) -> &str {
    let rest =
        ["ie", "le", "e", "i", "l", "y"].into_iter().find_map(|ending| stem.strip_suffix(ending));
    rest.unwrap_or(stem)
}

/// Remembers the stems of words.
pub(crate) struct StemCache {
    stemmer: Stemmer,
    /// Indexes into `stems`. A number leaves the map with one lookup per word.
    words: HashMap<Box<str>, usize, RandomState>,
    /// `None` for a word that is its own stem.
    stems: Vec<Option<Box<str>>>,
}

impl Default for StemCache {
    fn default() -> Self {
        let stemmer = Stemmer::new(Algorithm::English);
        Self { stemmer, words: HashMap::default(), stems: Vec::new() }
    }
}

impl StemCache {
    /// The stem of an English word, if it differs from the word.
    pub(crate) fn stem(&mut self, word: &str) -> Option<&str> {
        let number = match self.words.get(word) {
            Some(number) => *number,
            None => self.insert(word),
        };
        self.stems.get(number)?.as_deref()
    }

    fn insert(&mut self, word: &str) -> usize {
        if self.stems.len() >= MAX_CACHED_STEMS {
            self.words.clear();
            self.stems.clear();
        }
        let number = self.stems.len();
        let stem = self.stemmer.stem(word);
        self.stems.push((stem != word).then(|| Box::from(stem.as_ref())));
        self.words.insert(Box::from(word), number);
        number
    }

    pub(crate) fn len(&self) -> usize {
        self.stems.len()
    }
}
