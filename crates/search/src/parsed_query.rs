//! The query parser: words and phrases of what a user typed. Every text is a valid query.

use std::collections::HashSet;

use frostem::{Algorithm, Stemmer};
use leafbase_model::{Error, Limits, Result, TermMode};
use unicode_normalization::char::is_combining_mark;

use crate::edit_distance::max_edits;
use crate::languages::Languages;
use crate::query_words::{QueryPart, QueryWord, query_words};
use crate::scripts::is_unspaced;
use crate::stems::stem_of;
use crate::word_forms::WordForms;

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
    /// A single word, which may be misspelt.
    Word,
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
    /// The other forms of a single word.
    pub(crate) forms: WordForms,
    /// The word as it was written, if it is a compound: documents with it score higher.
    pub(crate) compound: Option<String>,
    /// The parts of a compound, of which one is enough unless all terms are required.
    pub(crate) parts: Vec<QueryClause>,
    /// The simple word after this one, if it is one as well: documents with both in a row score
    /// higher.
    pub(crate) next: Option<ClauseTerm>,
}

/// A word of a query that no document has, with a like one that documents have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TermCorrection {
    /// The clause of the query, by index.
    pub(crate) clause: usize,
    /// The word as it was written.
    pub term: String,
    /// The word that it was read as.
    pub read_as: String,
    /// Whether all words with this prefix match.
    pub(crate) is_prefix: bool,
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
        let mut lengths = texts.iter().map(|text| text.as_ref().len()).enumerate();
        if let Some((index, length)) = lengths.find(|(_, length)| *length > MAX_QUERY_TERM_BYTES) {
            let error = Error::limit("bytes of a term", MAX_QUERY_TERM_BYTES, length);
            return Err(error.at(format_args!("include[{index}]")));
        }
        Ok(Self::in_languages(texts, mode, &Languages::default()))
    }

    /// Like [`Self::new`], with the stems of these languages, and without limits: a caller has
    /// checked the texts of each field.
    pub fn in_languages<T: AsRef<str>>(texts: &[T], mode: TermMode, languages: &Languages) -> Self {
        let mut clauses: Vec<QueryClause> =
            texts.iter().flat_map(|text| parse_text(languages, text.as_ref())).collect();
        let mut seen = HashSet::new();
        // Words that differ in case alone are one clause.
        let key = |clause: &QueryClause| QueryClause {
            source: String::new(),
            next: None,
            ..clause.clone()
        };
        clauses.retain(|clause| seen.insert(key(clause)));
        // A compound that is all of a query is a name: its parts alone are another one.
        let splits = match mode {
            TermMode::All => false,
            TermMode::Most => clauses.len() > 1,
            TermMode::Any => true,
        };
        if !splits {
            for clause in &mut clauses {
                clause.parts.clear();
            }
        }
        Self { clauses, mode }
    }

    /// The query for documents with any of these phrases: each text is one, without prefixes and
    /// stems.
    pub fn phrases<T: AsRef<str>>(texts: &[T]) -> Self {
        let clauses = texts.iter().filter_map(|text| phrase_clause(text.as_ref())).collect();
        Self { clauses, mode: TermMode::Any }
    }

    /// The number of its clauses.
    pub fn clause_count(&self) -> usize {
        self.clauses.len()
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

    /// The query with the words that its own ones were read as, for highlighting.
    #[must_use]
    pub fn corrected<'c>(&self, found: impl IntoIterator<Item = &'c TermCorrection>) -> Self {
        let (mut corrected, mut seen) = (self.clone(), Vec::new());
        for correction in found {
            // Most documents have the same words in place of one.
            if seen.contains(&correction) {
                continue;
            }
            seen.push(correction);
            if let Some(clause) = corrected.clauses.get_mut(correction.clause) {
                let word = clause.read_as(correction.read_as.clone(), correction.is_prefix);
                if !clause.parts.contains(&word) {
                    clause.parts.push(word);
                }
            }
        }
        corrected
    }

    /// The clauses and their parts: whatever a text may match.
    pub(crate) fn matchers(&self) -> impl Iterator<Item = &QueryClause> {
        self.clauses.iter().flat_map(|clause| std::iter::once(clause).chain(&clause.parts))
    }
}

/// The clauses of a text. A quotation mark without a closing one is ignored. In Chinese and in
/// Japanese prose corner brackets are around names: the text within is not a phrase there.
fn parse_text(languages: &Languages, text: &str) -> Vec<QueryClause> {
    let (mut clauses, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = split_at_quote(rest)
        && let Some((quoted, end)) = split_at_quote(after)
    {
        clauses.extend(word_clauses(languages, before, false));
        let has_corner_bracket =
            rest.strip_prefix(before).is_some_and(|quoted| quoted.starts_with(['「', '『']));
        if has_corner_bracket && quoted.chars().any(is_unspaced) {
            clauses.extend(word_clauses(languages, quoted, false));
        } else {
            clauses.extend(phrase_clause(quoted));
        }
        rest = end;
    }
    clauses.extend(word_clauses(languages, rest, true));
    clauses
}

/// A clause for each word of a text. With `is_end` the last one is a prefix.
fn word_clauses(languages: &Languages, text: &str, is_end: bool) -> Vec<QueryClause> {
    let words = query_words(text);
    let last = words.len().saturating_sub(1);
    let clause = |(number, word): (usize, &QueryWord)| {
        word_clause(languages, text, word, is_end && number == last)
    };
    let mut clauses: Vec<_> = words.iter().enumerate().map(clause).collect();
    // One pair less than words: the last clause has no next word.
    for (clause, pair) in clauses.iter_mut().zip(words.windows(2)) {
        clause.next = next_word(pair, is_end && words.last() == pair.last());
    }
    clauses
}

/// The second of two words, as a term after the first one; `None` unless both are simple.
fn next_word(pair: &[QueryWord], is_last: bool) -> Option<ClauseTerm> {
    let [QueryWord { parts: first, .. }, QueryWord { parts: second, .. }] = pair else {
        return None;
    };
    let ([first], [second]) = (first.as_slice(), second.as_slice()) else { return None };
    Some(ClauseTerm {
        text: second.text.clone(),
        offset: offset(first.position, second.position),
        is_prefix: second.prefix || is_last,
    })
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

fn word_clause(languages: &Languages, text: &str, word: &QueryWord, is_last: bool) -> QueryClause {
    let first = word.parts.first().map_or(0, |part| part.position);
    let last = word.parts.len().saturating_sub(1);
    let terms = word.parts.iter().enumerate().map(|(index, part)| ClauseTerm {
        text: part.text.clone(),
        offset: offset(first, part.position),
        is_prefix: part.prefix || (is_last && index == last),
    });
    let terms: Vec<_> = terms.collect();
    let source = text.get(word.range.clone());
    debug_assert!(source.is_some(), "the range {:?} is within {text:?}", word.range);
    let source = source.unwrap_or_default().to_owned();
    let (stem, forms) = match (terms.as_slice(), word.parts.as_slice()) {
        ([term], [part]) => forms_of(languages, text, part, term),
        _ => Default::default(),
    };
    let kind = if word.is_run() { ClauseKind::Run } else { word_kind(&terms) };
    let compound = word.whole.clone();
    let is_compound = compound.is_some();
    let parts = word.parts.iter().filter(|_| is_compound);
    let parts = parts.map(|part| part_clause(languages, text, part)).collect();
    QueryClause { source, kind, terms, stem, forms, compound, parts, next: None }
}

/// A part of a compound as a word.
fn part_clause(languages: &Languages, text: &str, part: &QueryPart) -> QueryClause {
    let term = ClauseTerm { text: part.text.clone(), offset: 0, is_prefix: false };
    let (stem, forms) = forms_of(languages, text, part, &term);
    let source = term.text.clone();
    let terms = vec![term];
    let kind = word_kind(&terms);
    QueryClause { source, kind, terms, stem, forms, compound: None, parts: Vec::new(), next: None }
}

/// The English stem and the other forms of a word. A pair of characters has none.
fn forms_of(
    languages: &Languages,
    text: &str,
    part: &QueryPart,
    term: &ClauseTerm,
) -> (Option<String>, WordForms) {
    let source = text.get(part.range.clone());
    debug_assert!(source.is_some(), "the range {:?} is within {text:?}", part.range);
    let source = source.unwrap_or_default();
    let Some(first) = term.text.chars().next().filter(|first| !is_unspaced(*first)) else {
        return Default::default();
    };
    let others = languages.of_query(first).into_iter();
    let others = others.filter(|language| *language != Algorithm::English);
    let forms = WordForms::of(source, &term.text, others);
    let english =
        languages.has_english().then(|| stem_of(Stemmer::new(Algorithm::English), &term.text));
    (english.flatten(), forms)
}

/// The kind of a word with these terms. Numbers and compounds are never misspelt.
fn word_kind(terms: &[ClauseTerm]) -> ClauseKind {
    let is_letter = |letter: char| letter.is_alphabetic() || is_combining_mark(letter);
    match terms {
        [ClauseTerm { text, .. }]
            if max_edits(text.chars().count()) > 0 && text.chars().all(is_letter) =>
        {
            ClauseKind::Word
        }
        _ => ClauseKind::Phrase,
    }
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
        forms: WordForms::default(),
        compound: None,
        parts: Vec::new(),
        next: None,
    })
}

/// The distance of two positions. Queries are shorter than 2^32 bytes.
fn offset(first: usize, position: usize) -> u32 {
    debug_assert!(first <= position, "the words of a query are in its order");
    u32::try_from(position - first).unwrap_or(u32::MAX)
}

impl QueryClause {
    /// The clause of another word, which this one is read as. A prefix is not a word: it has no
    /// stems.
    pub(crate) fn read_as(&self, word: String, is_prefix: bool) -> Self {
        let is_stemmed = self.stem.is_some() && !is_prefix;
        let languages =
            self.forms.stems.iter().filter(|_| !is_prefix).map(|(language, _)| *language);
        let stems = WordForms::of(&word, &word, languages).stems;
        Self {
            source: self.source.clone(),
            kind: ClauseKind::Phrase,
            stem: is_stemmed.then(|| stem_of(Stemmer::new(Algorithm::English), &word)).flatten(),
            forms: WordForms { stems, accented: None },
            terms: vec![ClauseTerm { text: word, offset: 0, is_prefix }],
            compound: None,
            parts: Vec::new(),
            next: None,
        }
    }

    /// The pairs of a run that satisfy it, if they also have the weight: both of a run of three
    /// characters, half of a longer one, because the pairs across two words are missing where the
    /// words are apart.
    pub(crate) const fn required_pairs(&self) -> usize {
        match self.terms.len() {
            pairs @ 0..=2 => pairs,
            pairs => pairs.div_ceil(2),
        }
    }
}
