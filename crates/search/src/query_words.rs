//! Tokenization of queries: the words of a query as the tokens that they match.

use std::ops::Range;

use crate::text_segments::{TextSegment, text_segments};
use crate::token::{folded, span};

/// A word of a query. A text matches if tokens match all parts at consecutive positions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueryWord {
    /// Its range in the query, in bytes.
    pub range: Range<usize>,
    /// Its parts, at least one. A simple word is its only part; characters of a script without
    /// spaces are matched in pairs.
    pub parts: Vec<QueryPart>,
    /// The whole word, if it is a compound. Documents that have it as written score higher.
    pub whole: Option<String>,
}

impl QueryWord {
    /// Whether it is a run of two or more characters of a script without spaces.
    pub(crate) const fn is_run(&self) -> bool {
        self.whole.is_none() && self.parts.len() > 1
    }
}

/// A token that a query word matches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueryPart {
    /// Its range in the query, in bytes.
    pub range: Range<usize>,
    /// The folded text.
    pub text: String,
    /// Its position, counted through the whole query as [`crate::tokens`] counts through a text, so
    /// that the parts of a phrase are as far apart as their tokens.
    pub position: usize,
    /// Whether tokens with this prefix match. A single character of a script without spaces matches
    /// the pairs that it begins.
    pub prefix: bool,
}

/// The words of a query, in order.
pub fn query_words(text: &str) -> Vec<QueryWord> {
    let (mut words, mut position) = (Vec::new(), 0);
    for segment in text_segments(text) {
        words.extend(query_word(text, &segment, position));
        position += segment.positions();
    }
    words
}

fn query_word(text: &str, segment: &TextSegment, position: usize) -> Option<QueryWord> {
    let (ranges, whole): (Vec<Range<usize>>, _) = match segment {
        TextSegment::Word(sections) => {
            (sections.iter().flatten().cloned().collect(), span(sections.iter().flatten()))
        }
        TextSegment::Unspaced(characters) => match characters.as_slice() {
            [_] => (characters.clone(), None),
            many => {
                let pairs = many.windows(2).filter_map(|pair| span(pair.iter()));
                (pairs.collect(), None)
            }
        },
    };
    let prefix = matches!(segment, TextSegment::Unspaced(characters) if characters.len() == 1);
    let parts = ranges.iter().enumerate().map(|(offset, range)| QueryPart {
        range: range.clone(),
        text: folded(text, range),
        position: position + offset,
        prefix,
    });
    // Characters that fold to nothing have no token.
    let parts: Vec<_> = parts.filter(|part| !part.text.is_empty()).collect();
    let whole = whole.filter(|_| parts.len() > 1).map(|range| folded(text, &range));
    let range = match segment {
        TextSegment::Word(sections) => span(sections.iter().flatten()),
        TextSegment::Unspaced(characters) => span(characters.iter()),
    };
    (!parts.is_empty()).then_some(QueryWord { range: range?, parts, whole })
}
