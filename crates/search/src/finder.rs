//! Hits in texts most of which have none: words are cut out only where a few letters tell that a
//! hit may begin.
//!
//! What a token says begins with what its first letter is folded to, so that no hit begins anywhere
//! else; and words are cut alike in a whole text and in a stretch of it from one space to the next.

use std::cell::Cell;
use std::ops::Range;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::fold::fold;
use crate::match_ranges::merge_overlapping;
use crate::parsed_query::{ParsedQuery, QueryClause};
use crate::stems::{stem_of, stem_prefix};
use crate::token::TokenKind;
use crate::tokens::each_token;

mod sieve;

pub use sieve::WordSieve;

/// With more clauses all words of a text are put in order instead.
const CLAUSES: usize = 32;
/// With more beginnings nothing is won by looking for the letters that they begin with.
const PAIRS: usize = 6;
/// So many letters are remembered.
const LETTERS: usize = 256;

/// What looks for words in many texts, for one thread.
#[derive(Debug)]
pub struct Finder<'t> {
    terms: &'t ParsedQuery,
    /// Where hits begin; none if that is of no use.
    beginnings: Option<Beginnings>,
    /// Whether each hit is a token, so that it doesn't matter what stands around it.
    is_of_tokens: bool,
}

impl ParsedQuery {
    /// What looks for these words in many texts.
    pub fn finder(&self) -> Finder<'_> {
        // Of `ie`, as that of `ies`, no letter is sure to be there.
        let is_sure = |clause: &QueryClause| {
            clause.stem.as_deref().is_none_or(|stem| !stem_prefix(stem).is_empty())
        };
        let is_of_use = self.clauses.len() <= CLAUSES && self.clauses.iter().all(is_sure);
        let beginnings = is_of_use.then(|| Beginnings::of(&self.clauses));
        let is_of_tokens = self.clauses.iter().all(|clause| matches!(clause.terms.as_slice(), [_]));
        Finder { terms: self, beginnings, is_of_tokens }
    }
}

impl Finder<'_> {
    /// Whether nothing is looked for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Finds where hits may be among bytes in which texts lie; none if that is of no use.
    pub fn sieve(&self) -> Option<WordSieve> {
        WordSieve::of(&self.beginnings.as_ref()?.texts)
    }

    /// Where what is asked for stands in a text: bytes, in order, apart from each other.
    pub fn hits(&self, text: &str) -> Vec<Range<usize>> {
        let Some(beginnings) = &self.beginnings else { return self.terms.match_ranges(text) };
        let (mut found, mut from) = (Vec::new(), 0);
        if !beginnings.may_be_in(text) {
            return found;
        }
        while let Some(at) = beginnings.next(text, from) {
            if !self.is_of_tokens {
                return self.terms.match_ranges(text);
            }
            let stretch = stretch(text, from, at);
            from = stretch.end;
            self.add_hits(text, stretch, &mut found);
        }
        merge_overlapping(found)
    }

    fn add_hits(&self, text: &str, stretch: Range<usize>, found: &mut Vec<Range<usize>>) {
        let stemmer = Stemmer::new(Algorithm::English);
        let start = stretch.start;
        each_token(text.get(stretch).unwrap_or_default(), &mut |word: &str, range, _, kind| {
            if self.terms.clauses.iter().any(|clause| clause.is_met(stemmer, word, kind)) {
                found.push(start + range.start..start + range.end);
            }
        });
    }
}

impl QueryClause {
    /// Whether a token is all that it asks for.
    fn is_met(&self, stemmer: Stemmer, word: &str, kind: TokenKind) -> bool {
        let [part] = self.terms.as_slice() else { return false };
        if if part.is_prefix { word.starts_with(&part.text) } else { word == part.text } {
            return true;
        }
        let Some(stem) = &self.stem else { return false };
        let may_be = matches!(kind, TokenKind::Word | TokenKind::Part)
            && word.starts_with(stem_prefix(stem));
        may_be && stem_of(stemmer, word).as_ref() == Some(stem)
    }
}

/// The stretch from one space to the next in which `at` is. The text before `from` ends one.
fn stretch(text: &str, from: usize, at: usize) -> Range<usize> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\n');
    let (before, behind) = text.as_bytes().split_at_checked(at).unwrap_or_default();
    let start = before.iter().skip(from).rposition(is_space).map_or(from, |offset| from + offset);
    let end = behind.iter().position(is_space).map_or(text.len(), |offset| at + offset);
    start..end
}

/// What hits begin with.
#[derive(Debug)]
struct Beginnings {
    /// In lower-case, as far as they are ASCII.
    texts: Vec<String>,
    /// Their first two letters, each pair once.
    pairs: Vec<Pair>,
    /// Bytes that one of them begins with, whatever the case.
    bytes: [bool; 256],
    /// The first letters of all, taken apart.
    letters: Vec<char>,
    /// Letters beyond ASCII that were met, and whether a hit may begin with them.
    met: Vec<Cell<(char, bool)>>,
}

impl Beginnings {
    fn of(clauses: &[QueryClause]) -> Self {
        let mut made = Self {
            texts: Vec::new(),
            pairs: Vec::new(),
            bytes: [false; 256],
            letters: Vec::new(),
            met: vec![Cell::new(('\0', false)); LETTERS],
        };
        for clause in clauses {
            made.add(clause.terms.first().map_or("", |part| &part.text));
            clause.stem.iter().for_each(|stem| made.add(stem_prefix(stem)));
        }
        made
    }

    fn add(&mut self, text: &str) {
        let Some(first) = text.nfd().next() else { return };
        if !self.letters.contains(&first) {
            self.letters.push(first);
        }
        let ascii: String = text.nfd().take_while(char::is_ascii).collect();
        if let Some(first) = ascii.bytes().next() {
            for byte in [first.to_ascii_lowercase(), first.to_ascii_uppercase()] {
                self.bytes
                    .get_mut(usize::from(byte))
                    .into_iter()
                    .for_each(|is_first| *is_first = true);
            }
            let pair = Pair::of(first, ascii.as_bytes().get(1).copied());
            if !self.pairs.contains(&pair) {
                self.pairs.push(pair);
            }
            self.texts.push(ascii);
        }
    }

    /// Whether a hit may be in the text at all: soon told of plain text.
    fn may_be_in(&self, text: &str) -> bool {
        let text = text.as_bytes();
        self.pairs.len() > PAIRS
            || !text.is_ascii()
            || self.pairs.iter().any(|pair| pair.is_in(text))
    }

    /// The first place from `from` on where a hit may begin. The text before is ended by a space,
    /// or there is none.
    fn next(&self, text: &str, from: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        let mut before = None;
        for (at, byte) in bytes.iter().enumerate().skip(from) {
            let may_begin = if byte.is_ascii() {
                self.is_first(*byte)
                    && is_start(before, *byte)
                    && self.goes_on(bytes.get(at..).unwrap_or_default())
            } else {
                // Only the first byte of a letter has one.
                let letter = text.get(at..).and_then(|rest| rest.chars().next());
                letter.is_some_and(|letter| self.may_begin_with(letter))
            };
            if may_begin {
                return Some(at);
            }
            before = Some(*byte);
        }
        None
    }

    fn is_first(&self, byte: u8) -> bool {
        self.bytes.get(usize::from(byte)).copied().unwrap_or_default()
    }

    /// Whether one of the beginnings is here. What is not ASCII may be folded to anything.
    fn goes_on(&self, bytes: &[u8]) -> bool {
        let is_here = |text: &String| {
            let differs = |(ours, theirs): &(u8, &u8)| !theirs.eq_ignore_ascii_case(ours);
            match text.bytes().zip(bytes).find(differs) {
                Some((_, theirs)) => !theirs.is_ascii(),
                None => text.len() <= bytes.len(),
            }
        };
        self.texts.iter().any(is_here)
    }

    fn may_begin_with(&self, letter: char) -> bool {
        let Some(met) = self.met.get(letter as usize % LETTERS) else { return true };
        let (known, may_begin) = met.get();
        if known == letter {
            return may_begin;
        }
        // A mark may change places with the one before it.
        let first = fold(letter.encode_utf8(&mut [0; 4])).nfd().next();
        let may_begin =
            is_combining_mark(letter) || first.is_some_and(|first| self.letters.contains(&first));
        met.set((letter, may_begin));
        may_begin
    }
}

/// Two ASCII letters in a row, the second of which may be any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    first: u8,
    second: u8,
    /// What is looked at of the second.
    mask: u8,
}

/// The bit that tells letters from their capitals. What has neither may be taken for something
/// else.
const CASE: u8 = 0x20;

impl Pair {
    fn of(first: u8, second: Option<u8>) -> Self {
        let mask = if second.is_some() { 0xff } else { 0 };
        Self { first: first | CASE, second: second.map_or(0, |second| second | CASE), mask }
    }

    #[expect(
        clippy::needless_bitwise_bool,
        reason = "a way out would have bytes looked at one by one"
    )]
    fn is_at(self, first: u8, second: u8) -> bool {
        (first | CASE == self.first) & ((second | CASE) & self.mask == self.second)
    }

    /// Without a way out before the end, so that many bytes are looked at together.
    fn is_in(self, text: &[u8]) -> bool {
        let rows = text.iter().zip(text.iter().skip(1));
        let is_in = rows.fold(false, |is_in, (first, second)| is_in | self.is_at(*first, *second));
        is_in || (self.mask == 0 && text.last().is_some_and(|last| self.is_at(*last, 0)))
    }
}

/// Whether a word or a part of one can start with an ASCII letter or digit behind this byte.
const fn is_start(before: Option<u8>, byte: u8) -> bool {
    match before {
        Some(before) if byte.is_ascii_alphabetic() => !before.is_ascii_alphabetic(),
        Some(before) if byte.is_ascii_digit() => !before.is_ascii_digit(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
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
        fn hits_are_those_of_a_text_cut_as_a_whole(text in texts(), asked in asked(), any: bool) {
            let terms = ParsedQuery::new(&asked, any).unwrap();
            prop_assert_eq!(terms.finder().hits(&text), terms.match_ranges(&text), "{:?} in {:?}", asked, text);
        }
    }

    /// Whether each hit in a text of ASCII, which lies among bytes, is where the sieve finds
    /// something, and none is before the first place.
    fn is_sifted(finder: &Finder<'_>, sieve: &WordSieve, text: &str, around: &[u8]) -> bool {
        let text: String = text.chars().filter(char::is_ascii).collect();
        let (bytes, start) = ([around, text.as_bytes(), around].concat(), around.len());
        let hits = finder.hits(&text);
        hits.iter().all(|hit| sieve.next(&bytes, start + hit.start) == Some(start + hit.start))
            && hits.first().is_none_or(|hit| {
                sieve.next(&bytes, start).is_some_and(|first| first <= start + hit.start)
            })
    }

    fn around() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![4 => prop::collection::vec(any::<u8>(), 0..8), 1 => prop::collection::vec(any::<u8>(), 500..1_100)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn hits_in_ascii_are_where_a_sieve_finds_something(text in texts(), asked in asked(), around in around()) {
            let terms = ParsedQuery::new(&asked, false).unwrap();
            let finder = terms.finder();
            if let Some(sieve) = finder.sieve() {
                prop_assert!(is_sifted(&finder, &sieve, &text, &around), "{:?} in {:?}", asked, text);
            }
        }
    }

    #[test]
    fn a_sieve_that_lacks_a_beginning_would_be_found_out() {
        let outcome = TestRunner::deterministic().run(
            &(texts(), asked(), around()),
            |(text, asked, around)| {
                let terms = ParsedQuery::new(&asked, false).unwrap();
                let finder = terms.finder();
                let Some(Beginnings { texts, .. }) = &finder.beginnings else { return Ok(()) };
                let Some(sieve) = WordSieve::of(texts.get(1..).unwrap_or_default()) else {
                    return Ok(());
                };
                prop_assert!(is_sifted(&finder, &sieve, &text, &around));
                Ok(())
            },
        );
        assert!(outcome.is_err());
    }

    /// Whether a finder that was spoiled is found out.
    fn is_found_out(spoil: impl Fn(&mut Beginnings)) -> bool {
        let outcome = TestRunner::deterministic().run(&(texts(), asked()), |(text, asked)| {
            let terms = ParsedQuery::new(&asked, false).unwrap();
            let mut finder = terms.finder();
            finder.beginnings.as_mut().into_iter().for_each(&spoil);
            prop_assert_eq!(finder.hits(&text), terms.match_ranges(&text));
            Ok(())
        });
        outcome.is_err()
    }

    #[test]
    fn a_finder_that_misses_beginnings_would_be_found_out() {
        assert!(is_found_out(|beginnings| beginnings.letters.clear()));
        assert!(is_found_out(|beginnings| beginnings
            .texts
            .iter_mut()
            .for_each(|text| text.push('e'))));
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
        assert!(differing > 10_000, "some stems are no beginnings: {differing}");
    }
}
