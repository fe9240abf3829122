//! What a search asks for: words and phrases, read from what somebody typed. No text is a syntax
//! error.

use std::collections::HashSet;

use frostem::{Algorithm, Stemmer};
use leafbase_model::{Error, Limits, Result};

use crate::document::stem_of;
use crate::query::{QueryWord, query_words};

/// The most texts of a search.
pub const MOST_TERMS: usize = Limits::TERMS;
/// The longest of them, in bytes.
pub const LONGEST_TERM: usize = Limits::TERM_BYTES;

/// A word in a row of words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    pub(crate) text: String,
    /// How many positions after the first one.
    pub(crate) offset: u32,
    /// Whether it may be the beginning of one.
    pub(crate) is_prefix: bool,
}

/// Something that has to occur.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Clause {
    /// In a row; at least one.
    pub(crate) parts: Vec<Part>,
    /// The stem, if it is a single word that can have one.
    pub(crate) stem: Option<String>,
    /// The word as it was written, if it has several parts: what has it so is better.
    pub(crate) whole: Option<String>,
}

/// What a search asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    pub(crate) clauses: Vec<Clause>,
    pub(crate) any: bool,
}

impl Terms {
    /// Reads texts. What stands in quotation marks is a phrase; the last word of a text may be the
    /// beginning of one. With `any` one of all is enough.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::LimitExceeded`] at `include` for more than [`MOST_TERMS`]
    /// texts, and at `include[n]` for one that is longer than [`LONGEST_TERM`].
    pub fn new<T: AsRef<str>>(texts: &[T], any: bool) -> Result<Self> {
        if texts.len() > MOST_TERMS {
            return Err(Error::limit("terms of a search", MOST_TERMS, texts.len()).at("include"));
        }
        let (stemmer, mut clauses) = (Stemmer::new(Algorithm::English), Vec::new());
        for (index, text) in texts.iter().enumerate() {
            let text = text.as_ref();
            if text.len() > LONGEST_TERM {
                let error = Error::limit("bytes of a term", LONGEST_TERM, text.len());
                return Err(error.at(format_args!("include[{index}]")));
            }
            clauses.extend(clauses_of(stemmer, text));
        }
        if any {
            let parts: Vec<Clause> =
                clauses.iter().flat_map(|clause| clause.apart(stemmer)).collect();
            clauses.extend(parts);
        }
        let mut met = HashSet::new();
        clauses.retain(|clause| met.insert(clause.clone()));
        Ok(Self { clauses, any })
    }

    /// Whether nothing is asked for: there was no word.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }
}

/// The clauses of a text: what stands between quotation marks is one. A mark that is not closed is
/// none.
fn clauses_of(stemmer: Stemmer, text: &str) -> Vec<Clause> {
    let (mut clauses, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = split_at_mark(rest)
        && let Some((quoted, behind)) = split_at_mark(after)
    {
        clauses.extend(query_words(before).iter().map(|word| of_word(stemmer, word, false)));
        clauses.extend(phrase(&query_words(quoted)));
        rest = behind;
    }
    let words = query_words(rest);
    let last = words.len().saturating_sub(1);
    clauses.extend(
        words.iter().enumerate().map(|(number, word)| of_word(stemmer, word, number == last)),
    );
    clauses
}

/// What stands before the first quotation mark, and what behind.
fn split_at_mark(text: &str) -> Option<(&str, &str)> {
    let is_hebrew = |letter: Option<char>| matches!(letter, Some('\u{5d0}'..='\u{5ea}'));
    text.char_indices().find_map(|(at, letter)| {
        let (before, after) = (text.get(..at)?, text.get(at + letter.len_utf8()..)?);
        // Within a word it is a sign of abbreviations.
        let is_in_word = letter == '"'
            && is_hebrew(before.chars().next_back())
            && is_hebrew(after.chars().next());
        (is_mark(letter) && !is_in_word).then_some((before, after))
    })
}

const fn is_mark(letter: char) -> bool {
    matches!(
        letter,
        '"' | '＂'
            | '“'
            | '”'
            | '„'
            | '‟'
            | '«'
            | '»'
            | '「'
            | '」'
            | '『'
            | '』'
            | '〝'
            | '〞'
            | '〟'
    )
}

fn of_word(stemmer: Stemmer, word: &QueryWord, is_last: bool) -> Clause {
    let first = word.parts.first().map_or(0, |part| part.position);
    let last = word.parts.len().saturating_sub(1);
    let parts = word.parts.iter().enumerate().map(|(index, part)| Part {
        text: part.text.clone(),
        offset: u32::try_from(part.position - first).unwrap_or(u32::MAX),
        is_prefix: part.prefix || (is_last && index == last),
    });
    let parts: Vec<_> = parts.collect();
    let stem = match parts.as_slice() {
        [only] => stem_of(stemmer, &only.text),
        _ => None,
    };
    Clause { parts, stem, whole: word.whole.clone() }
}

fn phrase(words: &[QueryWord]) -> Option<Clause> {
    let all = words.iter().flat_map(|word| &word.parts);
    let first = all.clone().next()?.position;
    let parts = all.map(|part| Part {
        text: part.text.clone(),
        offset: u32::try_from(part.position - first).unwrap_or(u32::MAX),
        is_prefix: part.prefix,
    });
    Some(Clause { parts: parts.collect(), stem: None, whole: None })
}

impl Clause {
    /// The parts of a word of several, each by itself: where any word is enough, so is a part of
    /// one.
    fn apart(&self, stemmer: Stemmer) -> Vec<Self> {
        if self.whole.is_none() {
            return Vec::new();
        }
        let single = |part: &Part| Self {
            parts: vec![Part { text: part.text.clone(), offset: 0, is_prefix: false }],
            stem: stem_of(stemmer, &part.text),
            whole: None,
        };
        self.parts.iter().map(single).collect()
    }
}
