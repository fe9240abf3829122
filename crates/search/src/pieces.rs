//! Text as pieces: words with their parts, and runs of characters without spaces. Index and query
//! both begin here, so that they count positions alike.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use crate::fold::{fold, is_left_out};
use crate::scripts::{is_picture, is_unspaced};

/// A word, or a run of characters that is written without spaces. Ranges are bytes of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A word: sections between which it has punctuation, each of parts that are all letters or all
    /// digits.
    Word(Vec<Section>),
    /// Characters, each with the marks that belong to it.
    Run(Vec<Range<usize>>),
}

/// What stands between two signs within a word, in its parts: `v1` in `v1.2` is `v` and `1`.
pub(crate) type Section = Vec<Range<usize>>;

impl Piece {
    /// How many positions it takes: one for each part, or each character.
    pub(crate) fn positions(&self) -> usize {
        match self {
            Self::Word(sections) => sections.iter().map(Vec::len).sum(),
            Self::Run(characters) => characters.len(),
        }
    }

    /// The sections of a word.
    pub(crate) fn sections(&self) -> &[Section] {
        match self {
            Self::Word(sections) => sections,
            Self::Run(_) => &[],
        }
    }
}

/// The pieces of `text`, in order. What has neither letter nor digit, and is no picture, is left
/// out.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let (mut found, mut run) = (Vec::new(), 0..0);
    for (at, segment) in text.split_word_bound_indices() {
        for (unspaced, range) in stretches(at, segment) {
            if unspaced && run.end == range.start && !run.is_empty() {
                run.end = range.end;
                continue;
            }
            found.extend(characters(text, std::mem::take(&mut run)));
            if unspaced {
                run = range;
            } else {
                found.extend(word(text, range.clone()).or_else(|| picture(text, range)));
            }
        }
    }
    found.extend(characters(text, run));
    found
}

/// A segment in stretches of characters that are all written with spaces between words, or all
/// without.
fn stretches(at: usize, segment: &str) -> Vec<(bool, Range<usize>)> {
    // Most text is of one kind.
    if segment.is_ascii() {
        return vec![(false, at..at + segment.len())];
    }
    let mut found: Vec<(bool, Range<usize>)> = Vec::new();
    for (offset, character) in segment.grapheme_indices(true) {
        let range = at + offset..at + offset + character.len();
        let unspaced = character.chars().next().is_some_and(is_unspaced);
        match found.last_mut() {
            Some((before, stretch)) if *before == unspaced => stretch.end = range.end,
            _ => found.push((unspaced, range)),
        }
    }
    found
}

fn characters(text: &str, run: Range<usize>) -> Option<Piece> {
    let at = run.start;
    let characters = text.get(run)?.grapheme_indices(true);
    let ranges: Vec<_> =
        characters.map(|(offset, one)| at + offset..at + offset + one.len()).collect();
    (!ranges.is_empty()).then_some(Piece::Run(ranges))
}

/// What Unicode takes for a word, as a piece.
pub(crate) fn word(text: &str, range: Range<usize>) -> Option<Piece> {
    let at = range.start;
    let mut sections: Vec<Section> = Vec::new();
    // What the last part is of; none after a sign.
    let mut last = None;
    for (offset, letter) in text.get(range)?.char_indices() {
        let range = at + offset..at + offset + letter.len_utf8();
        let class = class(letter);
        match (class, last, sections.last_mut()) {
            (Class::Sign, ..) => {}
            // Marks and the like belong to what they follow.
            (Class::Attached, Some(_), Some(section)) => extend(section, range.end),
            (Class::Attached, ..) => continue,
            (_, Some(before), Some(section)) if class == before => extend(section, range.end),
            (_, Some(_), Some(section)) => section.push(range),
            _ => sections.push(vec![range]),
        }
        last = match class {
            Class::Sign => None,
            Class::Attached => last,
            class => Some(class),
        };
    }
    (!sections.is_empty()).then_some(Piece::Word(sections))
}

/// An emoji with all that changes how it looks: a word.
fn picture(text: &str, range: Range<usize>) -> Option<Piece> {
    let first = text.get(range.clone())?.chars().next()?;
    is_picture(first).then(|| Piece::Word(vec![vec![range]]))
}

fn extend(section: &mut Section, end: usize) {
    if let Some(part) = section.last_mut() {
        part.end = end;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Attached,
    Sign,
}

fn class(letter: char) -> Class {
    if is_left_out(letter) {
        Class::Attached
    } else if letter.is_numeric() {
        Class::Digit
    } else if letter.is_alphabetic() {
        Class::Letter
    } else if is_combining_mark(letter) || fold(letter.encode_utf8(&mut [0; 4])).is_empty() {
        Class::Attached
    } else {
        Class::Sign
    }
}
