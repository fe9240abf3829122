//! The highlighter: finds the terms of a query in texts, most of which do not contain them.
//!
//! A token begins with what its first character folds to, so that a match can only begin at a
//! character that folds to the beginning of a term. Only around such characters text is tokenized:
//! tokens never span a space, so the stretch between two spaces gives the same tokens as the text.

use std::cell::{Cell, OnceCell};
use std::ops::Range;

use frostem::{Algorithm, Stemmer};
use leafbase_pattern::Prefilter;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::fold::fold;
use crate::match_ranges::merge_overlapping;
use crate::parsed_query::{ClauseKind, ParsedQuery, QueryClause};
use crate::stems::{stem_of, stem_prefix};
use crate::token::TokenKind;
use crate::tokens::each_token;

/// With more terms every text is tokenized as a whole.
const MAX_TERMS: usize = 64;
/// Slots of the cache of non-ASCII characters.
const CACHED_CHARS: usize = 256;

/// Finds terms in many texts, for use by one thread.
#[derive(Debug)]
pub struct Highlighter<'t> {
    terms: &'t ParsedQuery,
    /// How matches begin; `None` if that is not known, or too much.
    prefixes: Option<Prefixes>,
    /// Whether each match is one token, so that the text around it does not matter.
    matches_are_tokens: bool,
}

impl ParsedQuery {
    /// A highlighter of these terms.
    pub fn highlighter(&self) -> Highlighter<'_> {
        // The stem of `ies`, `ie`, has no prefix that all its words share; those of other languages
        // may begin otherwise than their words.
        let has_prefix = |clause: &QueryClause| {
            clause.forms.stems.is_empty()
                && clause.stem.as_deref().is_none_or(|stem| !stem_prefix(stem).is_empty())
        };
        let terms: usize = self.matchers().map(|clause| clause.terms.len()).sum();
        let has_prefixes = terms <= MAX_TERMS && self.matchers().all(has_prefix);
        let is_token = |clause: &QueryClause| {
            clause.kind == ClauseKind::Run || matches!(clause.terms.as_slice(), [_])
        };
        Highlighter {
            terms: self,
            prefixes: has_prefixes.then(|| Prefixes::of(self.matchers())),
            matches_are_tokens: self.matchers().all(is_token),
        }
    }
}

impl Highlighter<'_> {
    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// A prefilter of ASCII texts: a text without candidates has no matches. `None` if terms have
    /// too many prefixes. Other texts cannot be ruled out by their bytes.
    pub fn ascii_prefilter(&self) -> Option<&Prefilter> {
        self.prefixes.as_ref()?.ascii_prefilter.as_ref()
    }

    /// The byte ranges of `text` that match, in order and without overlap.
    pub fn matches(&self, text: &str) -> Vec<Range<usize>> {
        let Some(prefixes) = &self.prefixes else { return self.terms.match_ranges(text) };
        let mut matches = Vec::new();
        let mut from = 0;
        // Decided once: `next` is called for each match.
        let is_ascii = text.is_ascii();
        while let Some(at) = prefixes.next(text, is_ascii, from) {
            debug_assert!(at >= from, "stretches that were searched are not searched again");
            // Positions of phrases count from the beginning of the text.
            if !self.matches_are_tokens {
                return self.terms.match_ranges(text);
            }
            let stretch = stretch_around(text, from, at);
            from = stretch.end;
            self.match_tokens(text, stretch, &mut matches);
        }
        merge_overlapping(matches)
    }

    fn match_tokens(&self, text: &str, stretch: Range<usize>, matches: &mut Vec<Range<usize>>) {
        let stemmer = Stemmer::new(Algorithm::English);
        let start = stretch.start;
        let stretch = text.get(stretch);
        debug_assert!(stretch.is_some(), "a stretch begins and ends at spaces");
        each_token(stretch.unwrap_or(""), &mut |word: &str, range, _, kind| {
            if self.terms.matchers().any(|clause| clause.matches_token(stemmer, word, kind)) {
                matches.push(start + range.start..start + range.end);
            }
        });
    }
}

impl QueryClause {
    fn matches_token(&self, stemmer: Stemmer, word: &str, kind: TokenKind) -> bool {
        if self.terms.iter().any(|term| term.is_in(word)) {
            return true;
        }
        let Some(stem) = &self.stem else { return false };
        // The comparison of prefixes spares most words the stemmer.
        let may_have_stem = matches!(kind, TokenKind::Word | TokenKind::Part)
            && word.starts_with(stem_prefix(stem));
        may_have_stem && stem_of(stemmer, word).as_ref() == Some(stem)
    }
}

/// The part of the text around `at` up to the next spaces. A stretch ended at `from`.
fn stretch_around(text: &str, from: usize, at: usize) -> Range<usize> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\n');
    let bytes = text.as_bytes();
    let before = bytes.iter().take(at).skip(from).rposition(is_space);
    let after = bytes.iter().skip(at).position(is_space);
    before.map_or(from, |offset| from + offset)..after.map_or(text.len(), |offset| at + offset)
}

/// Whether matches may begin with a character, by its slot.
type CharCache = Box<[Cell<(char, bool)>]>;

/// How matches begin.
#[derive(Debug)]
struct Prefixes {
    /// The lowercase ASCII characters that prefixes begin with.
    ascii: Vec<String>,
    /// Finds those in any case; `None` if there are too many.
    ascii_prefilter: Option<Prefilter>,
    /// ASCII bytes that a prefix begins with, in both cases.
    first_bytes: [bool; 256],
    /// First characters, decomposed.
    first_chars: Vec<char>,
    /// A direct-mapped cache: whether matches may begin with a non-ASCII character. Empty until the
    /// first one is met.
    cached_chars: OnceCell<CharCache>,
}

impl Prefixes {
    fn of<'c>(clauses: impl Iterator<Item = &'c QueryClause>) -> Self {
        let mut prefixes = Self {
            ascii: Vec::new(),
            ascii_prefilter: None,
            first_bytes: [false; 256],
            first_chars: Vec::new(),
            cached_chars: OnceCell::new(),
        };
        for clause in clauses {
            let first = if clause.kind == ClauseKind::Run { usize::MAX } else { 1 };
            clause.terms.iter().take(first).for_each(|term| prefixes.add(&term.text));
            clause.stem.iter().for_each(|stem| prefixes.add(stem_prefix(stem)));
        }
        prefixes.ascii_prefilter = ascii_prefilter(&prefixes.ascii);
        prefixes
    }

    fn add(&mut self, prefix: &str) {
        self.first_chars.extend(prefix.nfd().next());
        let ascii: String = prefix.nfd().take_while(char::is_ascii).collect();
        if let Some(first) = ascii.bytes().next() {
            for byte in [first.to_ascii_lowercase(), first.to_ascii_uppercase()] {
                if let Some(is_first) = self.first_bytes.get_mut(usize::from(byte)) {
                    *is_first = true;
                }
            }
            self.ascii.push(ascii);
        }
    }

    /// The first offset from `from` on where a match may begin. `from` is 0, or a space.
    fn next(&self, text: &str, is_ascii: bool, from: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        let mut start = from;
        // Other texts have characters that fold to ASCII, which the prefilter does not find.
        if let Some(prefilter) = self.ascii_prefilter.as_ref().filter(|_| is_ascii) {
            start = prefilter.find(bytes, from)?;
        }
        let mut before = bytes.get(from..start).and_then(|skipped| skipped.last().copied());
        for (at, byte) in bytes.iter().enumerate().skip(start) {
            let may_begin = if byte.is_ascii() {
                self.is_first(*byte)
                    && may_start_token(before, *byte)
                    && bytes.get(at..).is_some_and(|rest| self.begin(rest))
            } else {
                // `get` succeeds at the first byte of a character only.
                let char = text.get(at..).and_then(|rest| rest.chars().next());
                char.is_some_and(|char| self.may_begin_with(char))
            };
            if may_begin {
                return Some(at);
            }
            before = Some(*byte);
        }
        None
    }

    fn is_first(&self, byte: u8) -> bool {
        self.first_bytes.get(usize::from(byte)).is_some_and(|is_first| *is_first)
    }

    /// Whether a prefix may begin these bytes. A non-ASCII byte may fold to anything.
    fn begin(&self, bytes: &[u8]) -> bool {
        self.ascii.iter().any(|prefix| {
            let differs = |(ours, theirs): &(u8, &u8)| !theirs.eq_ignore_ascii_case(ours);
            match prefix.bytes().zip(bytes).find(differs) {
                Some((_, theirs)) => !theirs.is_ascii(),
                None => prefix.len() <= bytes.len(),
            }
        })
    }

    fn may_begin_with(&self, char: char) -> bool {
        let cache = self
            .cached_chars
            .get_or_init(|| [const { Cell::new(('\0', false)) }; CACHED_CHARS].into());
        let Some(cached) = cache.get(char as usize % CACHED_CHARS) else { return true };
        let (cached_char, may_begin) = cached.get();
        if cached_char == char {
            return may_begin;
        }
        // Normalization may move a combining mark before the one that precedes it.
        let first = fold(char.encode_utf8(&mut [0; 4])).nfd().next();
        let may_begin =
            is_combining_mark(char) || first.is_some_and(|first| self.first_chars.contains(&first));
        cached.set((char, may_begin));
        may_begin
    }
}

/// The prefilter of these prefixes, except for longer ones that begin with a shorter one.
fn ascii_prefilter(prefixes: &[String]) -> Option<Prefilter> {
    let is_minimal = |prefix: &&str| {
        !prefixes.iter().any(|other| other.len() < prefix.len() && prefix.starts_with(other))
    };
    let mut minimal: Vec<&str> = prefixes.iter().map(String::as_str).filter(is_minimal).collect();
    minimal.sort_unstable();
    minimal.dedup();
    Prefilter::of_ascii_words(minimal.into_iter())
}

/// Whether a token, or a part of one, can start at an ASCII letter or digit after this byte.
const fn may_start_token(before: Option<u8>, byte: u8) -> bool {
    match before {
        Some(before) if byte.is_ascii_alphabetic() => !before.is_ascii_alphabetic(),
        Some(before) if byte.is_ascii_digit() => !before.is_ascii_digit(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use leafbase_model::TermMode;
    use proptest::prelude::*;
    use proptest::sample::select;
    use proptest::test_runner::TestRunner;

    use super::*;

    const WORDS: &str = "a the The then ie ies hop hope hopes HOPING hoping hoped die dies dying tie tying sky skies \
        train trains Training trained study studies studied abilities ability able gently idly only onlys \
        snake_case v1.2 25 x25 don't U.S.A e-mail 3.5 \"train study\" the- (the) **the** hop/hope \
        élan Élan elan e\u{301}lan co\u{ad}operate cooperate STRASSE straße ßa ﬁn fin Ⅷ viii K k İ i ı ＡＢ１ ab1 m² \
        東京都 東 ひか ひが ｶﾞ ガ ㄱㅏㄴ 가 한국 ที\u{e48} ไทย ч\u{306}й йод иод ΟΔΟΣ οδος ש\u{5b8}\u{5c1}לו\u{5b9}ם שלום م\u{64e}ر\u{652}ح\u{64e}ب\u{64b}ا 🎉 👍\u{1f3fd} ☑ \
        \u{301}a \u{200d}🎉 \u{200b}the the\u{200b} t\u{301}he";

    fn words() -> impl Strategy<Value = String> {
        let words: Vec<String> = WORDS.split(' ').map(str::to_owned).collect();
        let letters = select(
            "aehinpTS19_.'\"- \n\u{301}éßﬁ東ひ\u{3099}ㄱㅏК\u{200d}🎉\u{ad}"
                .chars()
                .collect::<Vec<_>>(),
        );
        let any = prop::collection::vec(letters, 0..4).prop_map(String::from_iter);
        prop_oneof![4 => select(words), 1 => any]
    }

    fn texts() -> impl Strategy<Value = String> {
        let spaces = select(vec![" ", "", "\n", ", ", "\u{3000}", "\t", " \u{301}"]);
        let words = prop::collection::vec((words(), spaces), 0..12);
        words.prop_map(|words| {
            words.into_iter().flat_map(|(word, space)| [word, space.to_owned()]).collect()
        })
    }

    fn asked() -> impl Strategy<Value = Vec<String>> {
        let two = (words(), words(), select(vec!["", "\""]));
        let two = two.prop_map(|(one, other, mark)| format!("{mark}{one} {other}{mark}"));
        prop::collection::vec(prop_oneof![3 => words(), 1 => two], 0..4)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn hits_are_those_of_a_text_cut_as_a_whole(text in texts(), asked in asked(), mode in select(TermMode::ALL)) {
            let terms = ParsedQuery::new(&asked, mode).unwrap();
            prop_assert_eq!(terms.highlighter().matches(&text), terms.match_ranges(&text), "{:?} in {:?}", asked, text);
        }
    }

    /// Whether each match in an ASCII text, which lies among other bytes, is a candidate, and none
    /// precedes the first candidate.
    fn finds_all(
        highlighter: &Highlighter<'_>,
        prefilter: &Prefilter,
        text: &str,
        around: &[u8],
    ) -> bool {
        let text: String = text.chars().filter(char::is_ascii).collect();
        let (bytes, start) = ([around, text.as_bytes(), around].concat(), around.len());
        let hits = highlighter.matches(&text);
        hits.iter().all(|hit| prefilter.find(&bytes, start + hit.start) == Some(start + hit.start))
            && hits.first().is_none_or(|hit| {
                prefilter.find(&bytes, start).is_some_and(|first| first <= start + hit.start)
            })
    }

    fn around() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![4 => prop::collection::vec(any::<u8>(), 0..8), 1 => prop::collection::vec(any::<u8>(), 500..1_100)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn matches_in_ascii_are_candidates_of_the_prefilter(text in texts(), asked in asked(), around in around()) {
            let terms = ParsedQuery::new(&asked, TermMode::All).unwrap();
            let highlighter = terms.highlighter();
            if let Some(prefilter) = highlighter.ascii_prefilter() {
                prop_assert!(finds_all(&highlighter, prefilter, &text, &around), "{:?} in {:?}", asked, text);
            }
        }
    }

    #[test]
    fn a_prefilter_that_lacks_a_prefix_would_be_noticed() {
        let outcome = TestRunner::deterministic().run(
            &(texts(), asked(), around()),
            |(text, asked, around)| {
                let terms = ParsedQuery::new(&asked, TermMode::All).unwrap();
                let highlighter = terms.highlighter();
                let Some(Prefixes { ascii, .. }) = &highlighter.prefixes else { return Ok(()) };
                let Some(prefilter) = ascii_prefilter(ascii.get(1..).unwrap_or_default()) else {
                    return Ok(());
                };
                prop_assert!(finds_all(&highlighter, &prefilter, &text, &around));
                Ok(())
            },
        );
        assert!(outcome.is_err());
    }

    /// Whether a spoiled highlighter is noticed.
    fn is_found_out(spoil: impl Fn(&mut Prefixes)) -> bool {
        let outcome = TestRunner::deterministic().run(&(texts(), asked()), |(text, asked)| {
            let terms = ParsedQuery::new(&asked, TermMode::All).unwrap();
            let mut highlighter = terms.highlighter();
            highlighter.prefixes.as_mut().into_iter().for_each(&spoil);
            prop_assert_eq!(highlighter.matches(&text), terms.match_ranges(&text));
            Ok(())
        });
        outcome.is_err()
    }

    #[test]
    fn a_highlighter_that_lacks_prefixes_would_be_noticed() {
        assert!(is_found_out(|prefixes| prefixes.first_chars.clear()));
        assert!(is_found_out(|prefixes| prefixes.ascii.iter_mut().for_each(|text| text.push('e'))));
        assert!(!is_found_out(|_| ()));
    }

    /// The word of 1 to 6 letters with this number.
    fn word(mut number: u32) -> String {
        let mut word = String::new();
        while number > 0 {
            word.extend(char::from_digit(10 + (number - 1) % 26, 36));
            number = (number - 1) / 26;
        }
        word
    }

    #[test]
    fn words_begin_as_their_stems_do() {
        let endings = "s es ed ing ly er y ies ied ying iest ily eed eedly edly ingly ational tional enci ency anci ancy abli ably entli \
            ently izer ization ation ator alism aliti ality alli ally fulness ousli ously ousness iveness iviti ivity \
            biliti bility bli bly ogi ogy ogist fulli fully lessli lessly li alize icate iciti icity ical ful ness ative al ance ence \
            able ible ant ement ment ent ism ate iti ity ous ive ize ion sion tion ie le e i l ll us ss";
        let endings: Vec<&str> = std::iter::once("").chain(endings.split_whitespace()).collect();
        let stemmer = Stemmer::new(Algorithm::English);
        let mut differing = 0;
        // Steps that have no divisor in common with the number of letters: each letter comes at
        // each place.
        for beginning in (1..26 * 26 * 27).chain((20_000..12_000_000).step_by(1_013)).map(word) {
            for ending in &endings {
                let word = format!("{beginning}{ending}");
                let Some(stem) = stem_of(stemmer, &word) else { continue };
                assert!(word.starts_with(stem_prefix(&stem)), "{word} has the stem {stem}");
                differing += usize::from(!word.starts_with(&stem));
            }
        }
        assert!(differing > 10_000, "some stems are not prefixes: {differing}");
    }
}
