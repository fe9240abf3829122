//! The query parser: words and phrases of what a user typed. Every text is a valid query.

use std::collections::HashSet;

use frostem::{Algorithm, Stemmer};
use leafbase_model::{Error, Limits, Result};

use crate::query_words::{QueryWord, query_words};
use crate::stems::stem_of;

/// The most texts of a query.
pub const MAX_QUERY_TERMS: usize = Limits::TERMS;
/// The length of the longest text of a query, in bytes.
pub const MAX_QUERY_TERM_BYTES: usize = Limits::TERM_BYTES;

/// A term of a clause.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClauseTerm {
    pub(crate) text: String,
    /// Its position, counted from the first term.
    pub(crate) offset: u32,
    /// Whether it matches all terms with this prefix.
    pub(crate) is_prefix: bool,
}

/// Consecutive terms that a document must have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct QueryClause {
    /// At least one.
    pub(crate) terms: Vec<ClauseTerm>,
    /// The stem, if the clause is a single word that can have one.
    pub(crate) stem: Option<String>,
    /// The word as it was written, if it is a compound: documents with it score higher.
    pub(crate) compound: Option<String>,
}

/// A query, parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedQuery {
    pub(crate) clauses: Vec<QueryClause>,
    /// Whether one clause is enough.
    pub(crate) any: bool,
}

impl ParsedQuery {
    /// Parses texts. A text in quotation marks is a phrase; the last word of a text is a prefix.
    /// With `any` a document needs to match one clause instead of all.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::LimitExceeded`] at `include` for more than [`MAX_QUERY_TERMS`]
    /// texts, and at `include[n]` for one that is longer than [`MAX_QUERY_TERM_BYTES`].
    pub fn new<T: AsRef<str>>(texts: &[T], any: bool) -> Result<Self> {
        if texts.len() > MAX_QUERY_TERMS {
            let error = Error::limit("terms of a search", MAX_QUERY_TERMS, texts.len());
            return Err(error.at("include"));
        }
        let (stemmer, mut clauses) = (Stemmer::new(Algorithm::English), Vec::new());
        for (index, text) in texts.iter().enumerate() {
            let text = text.as_ref();
            if text.len() > MAX_QUERY_TERM_BYTES {
                let error = Error::limit("bytes of a term", MAX_QUERY_TERM_BYTES, text.len());
                return Err(error.at(format_args!("include[{index}]")));
            }
            clauses.extend(parse_text(stemmer, text));
        }
        if any {
            let parts: Vec<QueryClause> =
                clauses.iter().flat_map(|clause| clause.parts(stemmer)).collect();
            clauses.extend(parts);
        }
        let mut seen = HashSet::new();
        clauses.retain(|clause| seen.insert(clause.clone()));
        Ok(Self { clauses, any })
    }

    /// Whether the query has no words. Such a query matches nothing.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }
}

/// The clauses of a text. A quotation mark without a closing one is ignored.
fn parse_text(stemmer: Stemmer, text: &str) -> Vec<QueryClause> {
    let (mut clauses, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = split_at_quote(rest)
        && let Some((quoted, end)) = split_at_quote(after)
    {
        clauses.extend(query_words(before).iter().map(|word| word_clause(stemmer, word, false)));
        clauses.extend(phrase_clause(&query_words(quoted)));
        rest = end;
    }
    let words = query_words(rest);
    let last = words.len().saturating_sub(1);
    let words = words.iter().enumerate();
    clauses.extend(words.map(|(number, word)| word_clause(stemmer, word, number == last)));
    clauses
}

/// The text before and after the first quotation mark.
fn split_at_quote(text: &str) -> Option<(&str, &str)> {
    let is_hebrew = |character: Option<char>| matches!(character, Some('\u{5d0}'..='\u{5ea}'));
    text.char_indices().find_map(|(at, character)| {
        let (before, after) = (text.get(..at)?, text.get(at + character.len_utf8()..)?);
        // Between Hebrew letters it marks an abbreviation.
        let is_in_word = character == '"'
            && is_hebrew(before.chars().next_back())
            && is_hebrew(after.chars().next());
        (is_quote(character) && !is_in_word).then_some((before, after))
    })
}

fn is_quote(character: char) -> bool {
    "\"＂“”„‟«»「」『』〝〞〟".contains(character)
}

fn word_clause(stemmer: Stemmer, word: &QueryWord, is_last: bool) -> QueryClause {
    let first = word.parts.first().map_or(0, |part| part.position);
    let last = word.parts.len().saturating_sub(1);
    let terms = word.parts.iter().enumerate().map(|(index, part)| ClauseTerm {
        text: part.text.clone(),
        offset: offset(first, part.position),
        is_prefix: part.prefix || (is_last && index == last),
    });
    let terms: Vec<_> = terms.collect();
    let stem = match terms.as_slice() {
        [only] => stem_of(stemmer, &only.text),
        _ => None,
    };
    QueryClause { terms, stem, compound: word.whole.clone() }
}

fn phrase_clause(words: &[QueryWord]) -> Option<QueryClause> {
    let parts = words.iter().flat_map(|word| &word.parts);
    let first = parts.clone().next()?.position;
    let terms = parts.map(|part| ClauseTerm {
        text: part.text.clone(),
        offset: offset(first, part.position),
        is_prefix: part.prefix,
    });
    Some(QueryClause { terms: terms.collect(), stem: None, compound: None })
}

/// The distance of two positions. Queries are shorter than 2^32 bytes.
fn offset(first: usize, position: usize) -> u32 {
    u32::try_from(position - first).unwrap_or(u32::MAX)
}

impl QueryClause {
    /// The parts of a compound as clauses of their own: where any word is enough, one part of a
    /// compound is, too.
    fn parts(&self, stemmer: Stemmer) -> Vec<Self> {
        if self.compound.is_none() {
            return Vec::new();
        }
        let single = |term: &ClauseTerm| Self {
            terms: vec![ClauseTerm { text: term.text.clone(), offset: 0, is_prefix: false }],
            stem: stem_of(stemmer, &term.text),
            compound: None,
        };
        self.terms.iter().map(single).collect()
    }
}
