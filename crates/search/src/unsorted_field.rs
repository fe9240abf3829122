//! The tokens of a field in text order. Sorting them costs as much as dozens of scans, so a
//! document that few searches look through stays unsorted.

use frostem::{Algorithm, Stemmer};

use crate::stems::{stem_of, stem_prefix};
use crate::word_forms::WordForms;

/// A section of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnsortedField {
    text: String,
    occurrences: Vec<TokenOccurrence>,
    /// The head of each token. A scan compares these, and reads the text of few tokens.
    heads: Vec<u64>,
    /// The other forms of its words, one after the other, and where each ends.
    forms: String,
    form_ends: Vec<usize>,
    /// The words that have a stem among their other forms.
    words_with_stem: usize,
}

/// A token of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TokenOccurrence {
    start: usize,
    pub(crate) position: u32,
    length: u16,
    /// Whether it has a stem, possibly itself.
    pub(crate) is_stemmed: bool,
}

/// Heads that are compared together.
const HEADS_TOGETHER: usize = 16;

/// The first eight bytes of a term as a number that sorts as they do, filled up with zeros.
fn head(term: &str) -> u64 {
    let mut first = [0; size_of::<u64>()];
    for (slot, byte) in first.iter_mut().zip(term.as_bytes()) {
        *slot = *byte;
    }
    u64::from_be_bytes(first)
}

/// Whether a term with this head can be an English word; the same as [`crate::stems::has_stem`].
fn is_english(head: u64, term: &str) -> bool {
    term.len() > 1
        && is_lowercase(head)
        && term.bytes().skip(size_of::<u64>()).all(|byte| byte.is_ascii_lowercase())
}

/// Whether all bytes of a head are ASCII lowercase letters, checked for all eight at once: adding a
/// constant to a byte below 128 sets its highest bit from `a` on, or after `z`, without a carry.
const fn is_lowercase(head: u64) -> bool {
    const EACH: u64 = u64::MAX / 255;
    // The zeros that fill up a short term count as letters.
    let filled = head | (EACH * b'a' as u64).unbounded_shr(64 - head.trailing_zeros() / 8 * 8);
    let from_a = filled.wrapping_add(EACH * (0x80 - b'a' as u64));
    let after_z = filled.wrapping_add(EACH * (0x7f - b'z' as u64));
    (filled | !from_a | after_z) & (EACH * 0x80) == 0
}

/// The bits of a head that a term with this prefix shares with it.
fn prefix_mask(prefix: &str) -> u64 {
    let free_bytes = size_of::<u64>().saturating_sub(prefix.len());
    // At most eight bytes; the empty prefix shares none of them.
    (0..free_bytes).fold(u64::MAX, |mask, _| mask << 8)
}

impl UnsortedField {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.occurrences.clear();
        self.heads.clear();
        self.forms.clear();
        self.form_ends.clear();
        self.words_with_stem = 0;
    }

    /// Adds the other forms of a word.
    pub(crate) fn push_forms(&mut self, forms: &WordForms) {
        self.words_with_stem += forms.stems.len();
        for form in forms.stems.iter().map(|(_, stem)| stem).chain(&forms.accented) {
            self.forms.push_str(form);
            self.form_ends.push(self.forms.len());
        }
    }

    /// The other forms of its words.
    pub(crate) fn forms(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.form_ends.iter().map(move |end| {
            let form = self.forms.get(start..*end);
            debug_assert!(form.is_some(), "forms lie one after the other");
            start = *end;
            form.unwrap_or("")
        })
    }

    /// Adds a token of at most 255 bytes. `may_be_stemmed` is false for compounds.
    pub(crate) fn push(&mut self, term: &str, position: u32, may_be_stemmed: bool) {
        let start = self.text.len();
        let length = u16::try_from(term.len());
        debug_assert!(length.is_ok(), "the tokenizer cuts long tokens");
        let length = length.unwrap_or(u16::MAX);
        let head = head(term);
        let is_stemmed = may_be_stemmed && is_english(head, term);
        self.occurrences.push(TokenOccurrence { start, position, length, is_stemmed });
        self.heads.push(head);
        self.text.push_str(term);
    }

    pub(crate) fn occurrences(&self) -> impl Iterator<Item = TokenOccurrence> {
        self.occurrences.iter().copied()
    }

    pub(crate) fn heads(&self) -> &[u64] {
        &self.heads
    }

    pub(crate) fn bytes(&self) -> usize {
        let entry = size_of::<TokenOccurrence>() + size_of::<u64>();
        let forms = self.forms.len() + size_of_val(self.form_ends.as_slice());
        self.text.len() + self.occurrences.len() * entry + forms
    }

    pub(crate) const fn text_bytes(&self) -> usize {
        self.text.len()
    }

    pub(crate) const fn len(&self) -> usize {
        self.occurrences.len()
    }

    pub(crate) fn get(&self, number: usize) -> TokenOccurrence {
        let occurrence = self.occurrences.get(number).copied();
        debug_assert!(occurrence.is_some(), "each key is the number of a token");
        occurrence.unwrap_or(TokenOccurrence {
            start: 0,
            position: 0,
            length: 0,
            is_stemmed: false,
        })
    }

    pub(crate) fn term(&self, occurrence: TokenOccurrence) -> &str {
        let TokenOccurrence { start, length, .. } = occurrence;
        let term = self.text.get(start..start + usize::from(length));
        debug_assert!(term.is_some(), "an occurrence lies in the text of its field");
        term.unwrap_or("")
    }

    /// The number of tokens that have a stem, their own included.
    pub(crate) fn stemmed_count(&self) -> usize {
        let english = self.occurrences.iter().filter(|occurrence| occurrence.is_stemmed).count();
        english + self.words_with_stem
    }

    fn with_prefix(&self, prefix: &str) -> impl Iterator<Item = (&str, TokenOccurrence)> {
        let (head, mask) = (head(prefix), prefix_mask(prefix));
        debug_assert_eq!(self.heads.len(), self.occurrences.len(), "each token has its head");
        let has_prefix = move |other: &u64| other & mask == head;
        let chunks = self.heads.chunks(HEADS_TOGETHER);
        let chunks = chunks.zip(self.occurrences.chunks(HEADS_TOGETHER));
        // Without an early return, so that the loop is vectorized: few chunks have a candidate.
        let chunks = chunks
            .filter(move |(heads, _)| heads.iter().fold(false, |any, one| any | has_prefix(one)));
        let all = chunks.flat_map(|(heads, occurrences)| heads.iter().zip(occurrences));
        let candidates = all.filter(move |(other, _)| has_prefix(other));
        let candidates = candidates.map(|(_, occurrence)| (self.term(*occurrence), *occurrence));
        candidates.filter(move |(term, _)| term.starts_with(prefix))
    }

    /// The positions of a term, or of all terms with this prefix, in text order.
    pub(crate) fn positions_of(&self, text: &str, is_prefix: bool) -> Vec<u32> {
        let found = self.with_prefix(text);
        let found = found.filter(|(term, _)| is_prefix || term.len() == text.len());
        found.map(|(_, occurrence)| occurrence.position).collect()
    }

    /// The number of words that have an English stem and differ from it, or that have it as another
    /// form.
    pub(crate) fn stem_frequency(&self, stem: &str) -> usize {
        let stemmer = Stemmer::new(Algorithm::English);
        let has_stem = |(term, occurrence): &(&str, TokenOccurrence)| {
            occurrence.is_stemmed
                && *term != stem
                && stem_of(stemmer, term).as_deref() == Some(stem)
        };
        let english = self.with_prefix(stem_prefix(stem)).filter(has_stem).count();
        english + self.forms().filter(|form| *form == stem).count()
    }
}

#[cfg(test)]
mod tests {
    use leafbase_model::{DocumentId, Location, Timestamp};
    use proptest::prelude::*;
    use proptest::sample::select;

    use crate::analyzer::Analyzer;
    use crate::document::{Attributes, SearchDocument, Section};
    use crate::stems::has_stem;

    const WORDS: [&str; 22] = [
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
        "новостей",
        "новости",
        "internationally",
        "international",
    ];

    fn analyzed(title: &str, texts: &[String], is_unsorted: bool) -> SearchDocument {
        let id = DocumentId::from_bytes([1; 16]);
        let (created_at, modified_at) = (Timestamp::default(), Timestamp::default());
        let attributes =
            Attributes { id, location: Location::Unsorted, day: None, created_at, modified_at };
        let mut analyzer = Analyzer::default();
        let mut builder = analyzer.begin(attributes, title);
        for text in texts {
            builder.add_words(text);
        }
        if is_unsorted { builder.finish_unsorted() } else { builder.finish() }
    }

    fn sorted(
        document: &SearchDocument,
        section: Section,
        text: &str,
        is_prefix: bool,
    ) -> Vec<u32> {
        let mut found = document.positions_of(section, text, is_prefix).into_owned();
        found.sort_unstable();
        found
    }

    proptest! {
        #[test]
        fn heads_decide_which_words_are_stemmed(word in "[a-z]{0,10}([`{A-Z0-9\u{7f}éÿ]?[a-z]{0,4}){0,2}") {
            prop_assert_eq!(super::is_english(super::head(&word), &word), has_stem(&word));
        }

        #[test]
        fn unsorted_tokens_are_found_like_sorted_ones(texts in prop::collection::vec(prop::collection::vec(select(&WORDS[..]), 0..8), 1..5)) {
            let texts: Vec<String> = texts.iter().map(|words| words.join(" ")).collect();
            let (title, body) = (texts[0].as_str(), &texts[1..]);
            let (unsorted, sorted_document) = (analyzed(title, body, true), analyzed(title, body, false));
            prop_assert!(unsorted.is_unsorted() && !sorted_document.is_unsorted());
            prop_assert_eq!(unsorted.lengths, sorted_document.lengths);
            for text in WORDS.iter().copied().chain(["elan", "élan", "новост", "東京", "", "crysta", "intern", "zebra", "crystal", "di", "ski"]) {
                for section in Section::ALL {
                    for is_prefix in [true, false] {
                        let [found, expected] = [&unsorted, &sorted_document].map(|document| sorted(document, section, text, is_prefix));
                        prop_assert_eq!(found, expected, "{} {}", text, is_prefix);
                    }
                    let [found, expected] = [&unsorted, &sorted_document].map(|document| document.stem_frequency(section, text));
                    prop_assert_eq!(found, expected, "the stem {}", text);
                }
            }
            prop_assert_eq!(Analyzer::default().sort(unsorted), sorted_document);
        }
    }
}
