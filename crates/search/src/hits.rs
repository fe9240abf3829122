//! Where what is asked for stands in a text.

use std::ops::Range;

use frostem::{Algorithm, Stemmer};

use crate::asked::{Clause, Part, Terms};
use crate::document::stem_of;
use crate::tokens::{Token, TokenKind, tokens};

impl Terms {
    /// Where what is asked for stands in a text: bytes, in order, apart from each other. All of its
    /// words are cut out: where many texts are looked through, [`Terms::highlighter`] does less.
    pub fn hits(&self, text: &str) -> Vec<Range<usize>> {
        let text = Text::new(text, self.clauses.iter().any(|clause| clause.stem.is_some()));
        apart(self.clauses.iter().flat_map(|clause| text.hits(clause)).collect())
    }
}

/// In order, those that overlap put together.
pub(crate) fn apart(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_unstable_by_key(|range| (range.start, range.end));
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in found {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

/// A text in which much is looked for.
struct Text {
    tokens: Vec<Token>,
    /// The tokens by what they say.
    ordered: Vec<usize>,
    /// Stems, each with its token.
    stems: Vec<(String, usize)>,
}

impl Text {
    fn new(text: &str, with_stems: bool) -> Self {
        let tokens = tokens(text);
        let mut ordered: Vec<usize> = (0..tokens.len()).collect();
        ordered.sort_by_key(|number| tokens.get(*number).map(|token| token.text.as_str()));
        let stemmer = Stemmer::new(Algorithm::English);
        let stem = |(number, token): (usize, &Token)| {
            let is_word = matches!(token.kind, TokenKind::Word | TokenKind::Part);
            is_word.then(|| stem_of(stemmer, &token.text)).flatten().map(|stem| (stem, number))
        };
        let mut stems: Vec<_> = if with_stems {
            tokens.iter().enumerate().filter_map(|(number, token)| stem((number, token))).collect()
        } else {
            Vec::new()
        };
        stems.sort_unstable();
        Self { tokens, ordered, stems }
    }

    fn hits(&self, clause: &Clause) -> Vec<Range<usize>> {
        let Some((first, rest)) = clause.parts.split_first() else { return Vec::new() };
        let rows = self.answering(first).filter_map(|token| self.row(token, rest));
        let stems =
            clause.stem.iter().flat_map(|stem| self.of_stem(stem)).map(|token| token.range.clone());
        rows.chain(stems).collect()
    }

    /// The tokens that say what a part asks for.
    fn answering(&self, part: &Part) -> impl Iterator<Item = &Token> {
        let from = self.ordered.partition_point(|number| self.text(*number) < part.text.as_str());
        let tokens = self.ordered.iter().skip(from).filter_map(|number| self.tokens.get(*number));
        tokens.take_while(|token| part.is(token))
    }

    fn of_stem(&self, stem: &str) -> impl Iterator<Item = &Token> {
        let from = self.stems.partition_point(|(other, _)| other.as_str() < stem);
        let same = self.stems.iter().skip(from).take_while(move |(other, _)| other == stem);
        same.filter_map(|(_, number)| self.tokens.get(*number))
    }

    fn text(&self, number: usize) -> &str {
        self.tokens.get(number).map_or("", |token| token.text.as_str())
    }

    /// The row that begins with a token, if the others follow.
    fn row(&self, first: &Token, rest: &[Part]) -> Option<Range<usize>> {
        let mut end = first.range.end;
        for part in rest {
            let position = first.position + part.offset as usize;
            let from = self.tokens.partition_point(|token| token.position < position);
            let mut there =
                self.tokens.iter().skip(from).take_while(|token| token.position == position);
            end = end.max(there.find(|token| part.is(token))?.range.end);
        }
        Some(first.range.start..end)
    }
}

impl Part {
    fn is(&self, token: &Token) -> bool {
        if self.is_prefix { token.text.starts_with(&self.text) } else { token.text == self.text }
    }
}
