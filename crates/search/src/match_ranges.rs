//! The ranges of a text that match a query, found by tokenizing the whole text.

use std::ops::Range;

use frostem::{Algorithm, Stemmer};

use crate::parsed_query::{ClauseKind, ClauseTerm, ParsedQuery, QueryClause};
use crate::stems::stem_of;
use crate::token::{Token, TokenKind};
use crate::tokens::tokens;

impl ParsedQuery {
    /// The ranges that match, in bytes, sorted and disjoint. Tokenizes the whole text: a
    /// highlighter is faster over many texts.
    pub fn match_ranges(&self, text: &str) -> Vec<Range<usize>> {
        let has_stems = self.matchers().any(|clause| clause.stem.is_some());
        let text = TokenizedText::new(text, has_stems);
        merge_overlapping(self.matchers().flat_map(|clause| text.matches(clause)).collect())
    }
}

/// Sorts ranges and merges those that overlap.
pub(crate) fn merge_overlapping(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The tokens of a text, in order of position, and their indexes sorted by text and by stem.
struct TokenizedText {
    tokens: Vec<Token>,
    by_text: Vec<usize>,
    by_stem: Vec<(String, usize)>,
}

impl TokenizedText {
    fn new(text: &str, has_stems: bool) -> Self {
        let tokens = tokens(text);
        let mut by_text: Vec<usize> = (0..tokens.len()).collect();
        by_text.sort_by_key(|index| tokens.get(*index).map(|token| token.text.as_str()));
        let mut by_stem = Vec::new();
        if has_stems {
            let stemmer = Stemmer::new(Algorithm::English);
            for (index, token) in tokens.iter().enumerate() {
                if matches!(token.kind, TokenKind::Word | TokenKind::Part) {
                    by_stem.extend(stem_of(stemmer, &token.text).map(|stem| (stem, index)));
                }
            }
            by_stem.sort_unstable();
        }
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
        let stems = clause.stem.iter().flat_map(|stem| self.with_stem(stem));
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

    fn with_stem(&self, stem: &str) -> impl Iterator<Item = &Token> {
        let from = self.by_stem.partition_point(|(other, _)| other.as_str() < stem);
        let same = self.by_stem.iter().skip(from).take_while(move |(other, _)| other == stem);
        same.filter_map(|(_, index)| self.tokens.get(*index))
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
