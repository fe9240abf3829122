//! The prefilter: a substring search that rules out most texts before a pattern is matched.
//!
//! It looks for literals of which every matching text contains one, in whatever bytes the texts lie
//! (a text, or the records of a page), in linear time. A candidate still has to be matched.

use std::ops::Range;

use aho_corasick::packed;
use regex_automata::util::prefilter::Prefilter as AnySearcher;
use regex_automata::{MatchKind, Span};

use crate::literals::{LiteralBounds, Requirement};
use crate::tree::Node;

/// With 16 literals the vectorized search (Teddy) has two for each of its eight buckets.
const BOUNDS: LiteralBounds =
    LiteralBounds { fold: |char| char, max_literals: MAX_VARIANTS, max_class_chars: 10 };
/// The most variants of one literal, such as those by case.
const MAX_VARIANTS: usize = 16;
/// The most literals that the vectorized search takes.
const MAX_LITERALS: usize = 64;
/// The most words of [`Prefilter::of_ascii_words`].
const MAX_WORDS: usize = 8;
/// Words that begin alike are found by what they begin with, if that is as long as this.
const MIN_COMMON_PREFIX_BYTES: usize = 3;
/// A word with a byte that occurs at less than this share of all offsets is found by that byte:
/// making its variants and Teddy took 28 % of the instructions of a search for a rare word.
const MAX_BYTE_FREQUENCY: f64 = 0.03;
/// Literals that occur at more than this share of all offsets rule out too little.
const MAX_FREQUENCY: f64 = 1.0 / 20.0;

/// Finds the offsets where a text may match.
///
/// ```
/// use leafbase_pattern::Pattern;
/// let pattern = Pattern::new(r"\w+ock\b", false)?;
/// let prefilter = pattern.prefilter().expect("every match contains `ock`");
/// let page = b"\x81 a sock \x82 The clock \x83 nothing";
/// assert_eq!([0, 6].map(|from| prefilter.find(page, from)), [Some(5), Some(17)]);
/// assert!(!prefilter.may_match(b"nothing"));
/// # Ok::<(), leafbase_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prefilter {
    literals: Vec<Box<[u8]>>,
    /// `None` if there are no literals, and so no candidates.
    searcher: Option<Searcher>,
}

impl Prefilter {
    /// The prefilter of the pattern with this syntax tree; `None` if it requires no literal, or
    /// only frequent ones.
    pub(crate) fn of(tree: &Node) -> Option<Self> {
        let requirement = Requirement::of(tree, BOUNDS);
        let rarest = rarest(&requirement).filter(|set| set.frequency < MAX_FREQUENCY)?;
        Self::new(&rarest.literals)
    }

    /// Finds words in ASCII text, ignoring case: each at its first byte. Of several words only a
    /// prefix is compared, so that a candidate may be another word. Without words there are no
    /// candidates. `None` for more than eight words, or one that is empty or not ASCII.
    pub fn of_ascii_words<'w>(words: impl Iterator<Item = &'w str> + Clone) -> Option<Self> {
        let count = words.clone().count();
        if count > MAX_WORDS || words.clone().any(|word| word.is_empty() || !word.is_ascii()) {
            return None;
        }
        let beginning = common_prefix(words.clone());
        let is_selective = count == 1 || beginning.len() >= MIN_COMMON_PREFIX_BYTES;
        if let Some(searcher) = WordSearcher::new(beginning).filter(|_| is_selective) {
            let literals = vec![searcher.word.clone()];
            return Some(Self { literals, searcher: Some(Searcher::Word(searcher)) });
        }
        let max_variants = MAX_VARIANTS.min(MAX_LITERALS / count.max(1));
        let mut literals: Vec<_> =
            words.flat_map(|word| case_variants(word.as_bytes(), max_variants)).collect();
        literals.sort_unstable();
        literals.dedup();
        Self::new(&literals)
    }

    fn new(literals: &[impl AsRef<[u8]>]) -> Option<Self> {
        let searcher = if literals.is_empty() { None } else { Some(Searcher::new(literals)?) };
        let literals = literals.iter().map(|literal| literal.as_ref().into()).collect();
        Some(Self { literals, searcher })
    }

    /// The literals, one of which every match contains; none if nothing matches.
    pub fn literals(&self) -> impl Iterator<Item = &[u8]> {
        self.literals.iter().map(AsRef::as_ref)
    }

    /// The first offset at or after `from` where one of the literals begins.
    pub fn find(&self, haystack: &[u8], from: usize) -> Option<usize> {
        if from > haystack.len() {
            return None;
        }
        self.searcher.as_ref()?.find(haystack, from)
    }

    /// The candidates of a haystack in which texts follow each other.
    pub fn candidates<'h>(&self, haystack: &'h [u8]) -> Candidates<'_, 'h> {
        Candidates { prefilter: self, haystack, next: self.find(haystack, 0) }
    }

    /// Whether a match is possible in these bytes.
    pub fn may_match(&self, haystack: &[u8]) -> bool {
        self.find(haystack, 0).is_some()
    }
}

/// A substring search for several literals.
#[derive(Clone, Debug)]
enum Searcher {
    /// Teddy alone. `regex-automata` builds a DFA with it, for anchored searches, which costs as
    /// much as a search for a rare word.
    Packed(packed::Searcher),
    /// One word in any case.
    Word(WordSearcher),
    /// For one literal, for too many of them, and for processors without Teddy.
    Any(AnySearcher),
}

/// A search for an ASCII word in any case, by its rarest byte.
#[derive(Clone, Debug)]
struct WordSearcher {
    /// In lowercase.
    word: Box<[u8]>,
    /// The offset of the rarest byte.
    offset: usize,
}

impl WordSearcher {
    /// `None` if all bytes of the word are frequent.
    fn new(word: &str) -> Option<Self> {
        let word: Box<[u8]> = word.to_ascii_lowercase().as_bytes().into();
        let rarest = word.iter().copied().enumerate();
        let (offset, byte) = rarest.min_by(|(_, one), (_, other)| {
            byte_frequency(*one).total_cmp(&byte_frequency(*other))
        })?;
        (byte_frequency(byte) < MAX_BYTE_FREQUENCY).then_some(Self { word, offset })
    }

    fn find(&self, haystack: &[u8], from: usize) -> Option<usize> {
        let byte = *self.word.get(self.offset)?;
        let found = memchr::memchr2_iter(
            byte,
            byte.to_ascii_uppercase(),
            haystack.get(from + self.offset..)?,
        );
        found.map(|at| from + at).find(|start| {
            let candidate = haystack.get(*start..*start + self.word.len());
            candidate.is_some_and(|candidate| candidate.eq_ignore_ascii_case(&self.word))
        })
    }
}

impl Searcher {
    fn new(literals: &[impl AsRef<[u8]>]) -> Option<Self> {
        if literals.len() > 1
            && let Some(packed) = packed::Searcher::new(literals)
        {
            return Some(Self::Packed(packed));
        }
        AnySearcher::new(MatchKind::LeftmostFirst, literals).map(Self::Any)
    }

    fn find(&self, haystack: &[u8], from: usize) -> Option<usize> {
        match self {
            Self::Packed(packed) => {
                let span = aho_corasick::Span::from(from..haystack.len());
                packed.find_in(haystack, span).map(|found| found.start())
            }
            Self::Word(searcher) => searcher.find(haystack, from),
            Self::Any(searcher) => {
                let span = Span::from(from..haystack.len());
                searcher.find(haystack, span).map(|found| found.start)
            }
        }
    }
}

/// The candidates of a [`Prefilter`] in one haystack.
#[derive(Clone, Debug)]
pub struct Candidates<'p, 'h> {
    prefilter: &'p Prefilter,
    haystack: &'h [u8],
    /// The first candidate that was not passed.
    next: Option<usize>,
}

impl Candidates<'_, '_> {
    /// Whether a candidate begins in `range`. Ranges ascend from call to call, so that the haystack
    /// is searched once.
    pub fn advance_to(&mut self, range: &Range<usize>) -> bool {
        debug_assert!(range.end <= self.haystack.len(), "texts are parts of the haystack");
        // A candidate beyond the previous range is kept, so that no byte is searched twice.
        if self.next.is_some_and(|next| next < range.start) {
            self.next = self.prefilter.find(self.haystack, range.start);
        }
        self.next.is_some_and(|next| next < range.end)
    }
}

/// What all words begin with, whatever the case; empty without words.
fn common_prefix<'w>(mut words: impl Iterator<Item = &'w str>) -> &'w str {
    let Some(first) = words.next() else { return "" };
    words.fold(first, |prefix, word| {
        let pairs = prefix.bytes().zip(word.bytes());
        let common = pairs.take_while(|(one, other)| one.eq_ignore_ascii_case(other)).count();
        // All of it is ASCII.
        prefix.get(..common).unwrap_or_default()
    })
}

/// The longest beginning of `word` with at most `max_variants` variants by case, in each of them.
fn case_variants(word: &[u8], max_variants: usize) -> Vec<Vec<u8>> {
    let mut variants = vec![Vec::new()];
    for byte in word {
        let (lower, upper) = (byte.to_ascii_lowercase(), byte.to_ascii_uppercase());
        let cases = if lower == upper { vec![lower] } else { vec![lower, upper] };
        if variants.len() * cases.len() > max_variants {
            // A prefix of the word is a weaker filter, but still a correct one.
            break;
        }
        variants = variants
            .iter()
            .flat_map(|variant| cases.iter().map(|case| [variant.as_slice(), &[*case]].concat()))
            .collect();
    }
    variants
}

/// Literals of which every matching text contains one.
struct LiteralSet<'r> {
    literals: Vec<&'r str>,
    /// The estimated share of offsets where one of them begins.
    frequency: f64,
}

/// The rarest set of literals that satisfies `requirement`.
fn rarest(requirement: &Requirement) -> Option<LiteralSet<'_>> {
    match requirement {
        Requirement::Unknown => None,
        Requirement::OneOf(literals) => Some(LiteralSet {
            literals: literals.iter().map(String::as_str).collect(),
            frequency: literals.iter().map(|literal| literal_frequency(literal)).sum(),
        }),
        Requirement::All(parts) => parts
            .iter()
            .filter_map(rarest)
            .min_by(|one, other| one.frequency.total_cmp(&other.frequency)),
        Requirement::Any(parts) => {
            let sets = parts.iter().map(rarest).collect::<Option<Vec<_>>>()?;
            let union = LiteralSet {
                frequency: sets.iter().map(|set| set.frequency).sum(),
                literals: sets.into_iter().flat_map(|set| set.literals).collect(),
            };
            Some(union).filter(|set| set.literals.len() <= MAX_LITERALS)
        }
    }
}

fn literal_frequency(literal: &str) -> f64 {
    literal.bytes().map(byte_frequency).product()
}

/// The estimated share of a byte in text and record headers.
fn byte_frequency(byte: u8) -> f64 {
    // Letters of English, per mille.
    const LETTERS: [u8; 26] = [
        65, 12, 22, 33, 103, 18, 16, 50, 57, 1, 6, 33, 20, 57, 62, 15, 1, 50, 52, 74, 23, 8, 19, 2,
        16, 1,
    ];
    let letter = |first: u8| {
        LETTERS.get(usize::from(byte - first)).map_or(0.0, |per_mille| f64::from(*per_mille))
    };
    let per_mille = match byte {
        b'a'..=b'z' => letter(b'a'),
        b'A'..=b'Z' => letter(b'A') / 20.0,
        b' ' => 180.0,
        b'\n' | b',' | b'.' | b'-' => 10.0,
        _ => 2.0,
    };
    per_mille / 1_000.0
}
