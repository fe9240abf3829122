//! The query parser: words and phrases of what a user typed. Every text is a valid query.

use std::collections::HashSet;

use frostem::{Algorithm, Stemmer};
use leafbase_model::{Error, Limits, Result, TermMode};

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

/// How the terms of a clause have to occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ClauseKind {
    /// One after the other.
    Phrase,
    /// The pairs of a run of a script without spaces: each counts by itself.
    Run,
}

/// A word, phrase or run of a query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct QueryClause {
    /// The clause as it was written.
    pub(crate) source: String,
    pub(crate) kind: ClauseKind,
    /// At least one.
    pub(crate) terms: Vec<ClauseTerm>,
    /// The stem, if the clause is a single word that can have one.
    pub(crate) stem: Option<String>,
    /// The word as it was written, if it is a compound: documents with it score higher.
    pub(crate) compound: Option<String>,
    /// The parts of a compound, of which one is enough unless all terms are required.
    pub(crate) parts: Vec<QueryClause>,
}

/// A query, parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedQuery {
    pub(crate) clauses: Vec<QueryClause>,
    pub(crate) mode: TermMode,
}

impl ParsedQuery {
    /// Parses texts. A text in quotation marks is a phrase; the last word of a text is a prefix.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::LimitExceeded`] at `include` for more than [`MAX_QUERY_TERMS`]
    /// texts, and at `include[n]` for one that is longer than [`MAX_QUERY_TERM_BYTES`].
    pub fn new<T: AsRef<str>>(texts: &[T], mode: TermMode) -> Result<Self> {
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
        let mut seen = HashSet::new();
        // Words that differ in case alone are one clause.
        let key = |clause: &QueryClause| QueryClause { source: String::new(), ..clause.clone() };
        clauses.retain(|clause| seen.insert(key(clause)));
        // A compound that is all of a query is a name: its parts alone are another one.
        let splits = match mode {
            TermMode::All => false,
            TermMode::Most => clauses.len() > 1,
            TermMode::Any => true,
        };
        if splits {
            for clause in &mut clauses {
                clause.parts = clause.split(stemmer);
            }
        }
        Ok(Self { clauses, mode })
    }

    /// The query for documents with any of these phrases: each text is one, without prefixes and
    /// stems.
    pub fn phrases<T: AsRef<str>>(texts: &[T]) -> Self {
        let clauses = texts.iter().filter_map(|text| phrase_clause(text.as_ref())).collect();
        Self { clauses, mode: TermMode::Any }
    }

    /// Whether the query has no words. Such a query matches nothing.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// The query without some of its words, by index.
    #[must_use]
    pub fn without(&self, clauses: &[usize]) -> Self {
        let kept = self.clauses.iter().enumerate().filter(|(index, _)| !clauses.contains(index));
        Self { clauses: kept.map(|(_, clause)| clause.clone()).collect(), mode: self.mode }
    }

    /// The word of an index as it was written.
    pub fn source(&self, clause: usize) -> &str {
        self.clauses.get(clause).map_or("", |clause| &clause.source)
    }

    /// The clauses and their parts: whatever a text may match.
    pub(crate) fn matchers(&self) -> impl Iterator<Item = &QueryClause> {
        self.clauses.iter().flat_map(|clause| std::iter::once(clause).chain(&clause.parts))
    }
}

/// The clauses of a text. A quotation mark without a closing one is ignored.
fn parse_text(stemmer: Stemmer, text: &str) -> Vec<QueryClause> {
    let (mut clauses, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = split_at_quote(rest)
        && let Some((quoted, end)) = split_at_quote(after)
    {
        clauses.extend(word_clauses(stemmer, before, false));
        clauses.extend(phrase_clause(quoted));
        rest = end;
    }
    clauses.extend(word_clauses(stemmer, rest, true));
    clauses
}

/// A clause for each word of a text. With `is_end` the last one is a prefix.
fn word_clauses(stemmer: Stemmer, text: &str, is_end: bool) -> Vec<QueryClause> {
    let words = query_words(text);
    let last = words.len().saturating_sub(1);
    let clause = |(number, word): (usize, &QueryWord)| {
        word_clause(stemmer, text, word, is_end && number == last)
    };
    words.iter().enumerate().map(clause).collect()
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

fn word_clause(stemmer: Stemmer, text: &str, word: &QueryWord, is_last: bool) -> QueryClause {
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
    let source = text.get(word.range.clone()).unwrap_or_default().to_owned();
    let kind = if word.is_run() { ClauseKind::Run } else { ClauseKind::Phrase };
    QueryClause { source, kind, terms, stem, compound: word.whole.clone(), parts: Vec::new() }
}

fn phrase_clause(quoted: &str) -> Option<QueryClause> {
    let words = query_words(quoted);
    let parts = words.iter().flat_map(|word| &word.parts);
    let first = parts.clone().next()?.position;
    let terms = parts.map(|part| ClauseTerm {
        text: part.text.clone(),
        offset: offset(first, part.position),
        is_prefix: part.prefix,
    });
    Some(QueryClause {
        source: quoted.trim().to_owned(),
        kind: ClauseKind::Phrase,
        terms: terms.collect(),
        stem: None,
        compound: None,
        parts: Vec::new(),
    })
}

/// The distance of two positions. Queries are shorter than 2^32 bytes.
fn offset(first: usize, position: usize) -> u32 {
    u32::try_from(position - first).unwrap_or(u32::MAX)
}

impl QueryClause {
    /// The parts of a compound as words.
    fn split(&self, stemmer: Stemmer) -> Vec<Self> {
        if self.compound.is_none() {
            return Vec::new();
        }
        let single = |term: &ClauseTerm| Self {
            source: term.text.clone(),
            kind: ClauseKind::Phrase,
            terms: vec![ClauseTerm { text: term.text.clone(), offset: 0, is_prefix: false }],
            stem: stem_of(stemmer, &term.text),
            compound: None,
            parts: Vec::new(),
        };
        self.terms.iter().map(single).collect()
    }

    /// The pairs of a run that satisfy it: both of a run of three characters, half of a longer one,
    /// because the pairs across two words are missing where the words are apart.
    pub(crate) const fn required_pairs(&self) -> usize {
        match self.terms.len() {
            pairs @ 0..=2 => pairs,
            pairs => pairs.div_ceil(2),
        }
    }
}
