//! The ranges of a text that match a query, found by tokenizing the whole text.

use std::ops::Range;

use frostem::{Algorithm, Stemmer};

use crate::parsed_query::{ClauseKind, ClauseTerm, ParsedQuery, QueryClause};
use crate::stems::stem_of;
use crate::token::{Token, TokenKind};
use crate::tokens::tokens;
use crate::word_forms::WordForms;

impl ParsedQuery {
    /// The ranges that match, in bytes, sorted and disjoint. Tokenizes the whole text: a
    /// highlighter is faster over many texts.
    pub fn match_ranges(&self, text: &str) -> Vec<Range<usize>> {
        let has_english = self.matchers().any(|clause| clause.stem.is_some());
        let mut languages = Vec::from_iter(has_english.then_some(Algorithm::English));
        for (language, _) in self.matchers().flat_map(|clause| &clause.forms.stems) {
            if !languages.contains(language) {
                languages.push(*language);
            }
        }
        let text = TokenizedText::new(text, &languages);
        merge_overlapping(self.matchers().flat_map(|clause| text.matches(clause)).collect())
    }
}

/// Sorts ranges and merges those that overlap.
pub(crate) fn merge_overlapping(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|next, last| {
        let overlaps = next.start < last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    ranges
}

/// The tokens of a text, in order of position, and their indexes sorted by text, and by language
/// and stem.
struct TokenizedText {
    tokens: Vec<Token>,
    by_text: Vec<usize>,
    by_stem: Vec<(&'static str, String, usize)>,
}

impl TokenizedText {
    fn new(source: &str, languages: &[Algorithm]) -> Self {
        let tokens = tokens(source);
        let mut by_text: Vec<usize> = (0..tokens.len()).collect();
        by_text.sort_by_key(|index| tokens.get(*index).map(|token| token.text.as_str()));
        let mut by_stem = Vec::new();
        let stemmer = Stemmer::new(Algorithm::English);
        let is_word = |token: &Token| matches!(token.kind, TokenKind::Word | TokenKind::Part);
        for (index, token) in tokens.iter().enumerate().filter(|(_, token)| is_word(token)) {
            for language in languages {
                let stem = match language {
                    Algorithm::English => stem_of(stemmer, &token.text),
                    other => source
                        .get(token.range.clone())
                        .and_then(|written| WordForms::stem(written, *other)),
                };
                by_stem.extend(stem.map(|stem| (language.name(), stem, index)));
            }
        }
        by_stem.sort_unstable();
        Self { tokens, by_text, by_stem }
    }

    fn matches(&self, clause: &QueryClause) -> Vec<Range<usize>> {
        if clause.kind == ClauseKind::Run {
            let pairs = clause.terms.iter().flat_map(|pair| self.with_term(pair));
            return pairs.map(|token| token.range.clone()).collect();
        }
        // A clause has at least one term.
        let Some((first, rest)) = clause.terms.split_first() else { return Vec::new() };
        let phrases = self.with_term(first).filter_map(|token| self.phrase(token, rest));
        let english = clause.stem.iter().map(|stem| (Algorithm::English, stem));
        let others = clause.forms.stems.iter().map(|(language, stem)| (*language, stem));
        let stems = english.chain(others);
        let stems = stems.flat_map(|(language, stem)| self.with_stem(language, stem));
        phrases.chain(stems.map(|token| token.range.clone())).collect()
    }

    fn with_term<'t>(&'t self, term: &'t ClauseTerm) -> impl Iterator<Item = &'t Token> {
        let is_before = |index: &usize| {
            self.tokens.get(*index).is_some_and(|token| token.text.as_str() < term.text.as_str())
        };
        let from = self.by_text.partition_point(is_before);
        let tokens = self.by_text.iter().skip(from).filter_map(|index| self.tokens.get(*index));
        tokens.take_while(|token| term.matches(token))
    }

    fn with_stem<'t>(
        &'t self,
        language: Algorithm,
        stem: &'t str,
    ) -> impl Iterator<Item = &'t Token> {
        let key = (language.name(), stem);
        let from = self.by_stem.partition_point(|(name, other, _)| (*name, other.as_str()) < key);
        let rest = self.by_stem.iter().skip(from);
        let same = rest.take_while(move |(name, other, _)| (*name, other.as_str()) == key);
        same.filter_map(|(.., index)| self.tokens.get(*index))
    }

    /// The range of the phrase that starts with a token, if the other terms follow.
    fn phrase(&self, first: &Token, rest: &[ClauseTerm]) -> Option<Range<usize>> {
        let mut end = first.range.end;
        for term in rest {
            let position = first.position + term.offset as usize;
            let from = self.tokens.partition_point(|token| token.position < position);
            // A compound has the position of its first part.
            let mut here =
                self.tokens.iter().skip(from).take_while(|token| token.position == position);
            end = end.max(here.find(|token| term.matches(token))?.range.end);
        }
        Some(first.range.start..end)
    }
}

impl ClauseTerm {
    fn matches(&self, token: &Token) -> bool {
        self.is_in(&token.text)
    }

    /// Whether a token of this text matches.
    pub(crate) fn is_in(&self, token: &str) -> bool {
        if self.is_prefix { token.starts_with(&self.text) } else { token == self.text }
    }
}
