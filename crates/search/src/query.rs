//! Queries: the words that are asked for, in the form that tokens answer.

use std::ops::Range;

use crate::pieces::{Piece, pieces};
use crate::tokens::{folded, span};

/// A word of a query. A document has it where all its parts stand at their positions in a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueryWord {
    /// Where it stands in the query, in bytes.
    pub range: Range<usize>,
    /// Its parts, at least one: a word without parts is its only one, characters without spaces are
    /// asked for in pairs.
    pub parts: Vec<QueryPart>,
    /// The word as a whole, if it has parts: documents that have it as it is written match better.
    pub whole: Option<String>,
}

/// What one token must say.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueryPart {
    /// The folded text.
    pub text: String,
    /// Its position, counted through the whole query as [`crate::tokens`] counts through a text:
    /// for a phrase, the distance between two parts is that between their tokens.
    pub position: usize,
    /// Whether tokens that only begin with it answer, too: a single character of a script without
    /// spaces is found by the pairs that it begins.
    pub prefix: bool,
}

/// The words of a query, in order.
pub fn query_words(text: &str) -> Vec<QueryWord> {
    let (mut found, mut position) = (Vec::new(), 0);
    for piece in pieces(text) {
        found.extend(query_word(text, &piece, position));
        position += piece.positions();
    }
    found
}

fn query_word(text: &str, piece: &Piece, position: usize) -> Option<QueryWord> {
    let (asked, whole): (Vec<Range<usize>>, _) = match piece {
        Piece::Word(sections) => {
            (sections.iter().flatten().cloned().collect(), span(sections.iter().flatten()))
        }
        Piece::Run(characters) => match characters.as_slice() {
            [_] => (characters.clone(), None),
            many => {
                let pairs = many.windows(2).filter_map(|pair| span(pair.iter()));
                (pairs.collect(), None)
            }
        },
    };
    let prefix = matches!(piece, Piece::Run(characters) if characters.len() == 1);
    let parts = asked.iter().enumerate().map(|(offset, range)| QueryPart {
        text: folded(text, range),
        position: position + offset,
        prefix,
    });
    let parts: Vec<_> = parts.filter(|part| !part.text.is_empty()).collect();
    let whole = whole.filter(|_| parts.len() > 1).map(|range| folded(text, &range));
    let range = match piece {
        Piece::Word(sections) => span(sections.iter().flatten()),
        Piece::Run(characters) => span(characters.iter()),
    };
    (!parts.is_empty()).then_some(QueryWord { range: range?, parts, whole })
}
