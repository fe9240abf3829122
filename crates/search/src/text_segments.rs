//! Segmentation of text into words with their parts and runs of scripts without spaces. Documents
//! and queries both start here, so that their positions agree.

use std::ops::Range;

use leafbase_model::is_emoji;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use crate::fold::{fold, is_ignored};
use crate::scripts::is_unspaced;

/// A segment of a text. Ranges are bytes of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextSegment {
    /// A word. Punctuation separates its sections.
    Word(Vec<WordSection>),
    /// A run of characters of scripts without spaces, each with its combining marks.
    Unspaced(Vec<Range<usize>>),
}

/// Parts of a word, each all letters or all digits: in `v1.2` the sections `v1` and `2` have the
/// parts `v`, `1` and `2`.
pub(crate) type WordSection = Vec<Range<usize>>;

impl TextSegment {
    /// The number of positions it takes: one per part or character.
    pub(crate) fn positions(&self) -> usize {
        match self {
            Self::Word(sections) => sections.iter().map(Vec::len).sum(),
            Self::Unspaced(characters) => characters.len(),
        }
    }

    pub(crate) fn sections(&self) -> &[WordSection] {
        match self {
            Self::Word(sections) => sections,
            Self::Unspaced(_) => &[],
        }
    }
}

/// The segments of `text`, in order. Without letters, digits or emoji there are none.
pub(crate) fn text_segments(text: &str) -> Vec<TextSegment> {
    let (mut segments, mut run) = (Vec::new(), 0..0);
    for (at, word) in text.split_word_bound_indices() {
        for (unspaced, range) in split_by_script(at, word) {
            // UAX 29 separates ideographs; adjacent ones are one run.
            if unspaced && run.end == range.start && !run.is_empty() {
                run.end = range.end;
                continue;
            }
            segments.extend(unspaced_segment(text, std::mem::take(&mut run)));
            if unspaced {
                run = range;
            } else {
                let word = word_segment(text, range.clone());
                segments.extend(word.or_else(|| emoji_segment(text, range)));
            }
        }
    }
    segments.extend(unspaced_segment(text, run));
    segments
}

/// A UAX 29 word split where scripts with and without spaces meet; `true` marks those without.
fn split_by_script(at: usize, word: &str) -> Vec<(bool, Range<usize>)> {
    if word.is_ascii() {
        return vec![(false, at..at + word.len())];
    }
    let mut found: Vec<(bool, Range<usize>)> = Vec::new();
    for (offset, character) in word.grapheme_indices(true) {
        let range = at + offset..at + offset + character.len();
        let unspaced = character.chars().next().is_some_and(is_unspaced);
        match found.last_mut() {
            Some((before, last)) if *before == unspaced => last.end = range.end,
            _ => found.push((unspaced, range)),
        }
    }
    found
}

fn unspaced_segment(text: &str, run: Range<usize>) -> Option<TextSegment> {
    let at = run.start;
    let characters = text.get(run)?.grapheme_indices(true);
    let ranges: Vec<_> =
        characters.map(|(offset, one)| at + offset..at + offset + one.len()).collect();
    (!ranges.is_empty()).then_some(TextSegment::Unspaced(ranges))
}

/// A UAX 29 word as a segment; `None` without letters and digits.
pub(crate) fn word_segment(text: &str, range: Range<usize>) -> Option<TextSegment> {
    let at = range.start;
    let mut sections: Vec<WordSection> = Vec::new();
    // The class of the last part; `None` after punctuation.
    let mut last = None;
    for (offset, character) in text.get(range)?.char_indices() {
        let range = at + offset..at + offset + character.len_utf8();
        let class = character_class(character);
        match (class, last, sections.last_mut()) {
            (CharacterClass::Punctuation, ..) => {}
            (CharacterClass::Extender, Some(_), Some(section)) => extend(section, range.end),
            // Without a part before it, an extender has nothing to extend.
            (CharacterClass::Extender, ..) => continue,
            (_, Some(before), Some(section)) if class == before => extend(section, range.end),
            (_, Some(_), Some(section)) => section.push(range),
            _ => sections.push(vec![range]),
        }
        last = match class {
            CharacterClass::Punctuation => None,
            CharacterClass::Extender => last,
            class => Some(class),
        };
    }
    (!sections.is_empty()).then_some(TextSegment::Word(sections))
}

/// An emoji with its modifiers, as a word.
fn emoji_segment(text: &str, range: Range<usize>) -> Option<TextSegment> {
    let first = text.get(range.clone())?.chars().next()?;
    is_emoji(first).then(|| TextSegment::Word(vec![vec![range]]))
}

fn extend(section: &mut WordSection, end: usize) {
    if let Some(part) = section.last_mut() {
        part.end = end;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharacterClass {
    Letter,
    Digit,
    /// Belongs to the part before it.
    Extender,
    Punctuation,
}

fn character_class(character: char) -> CharacterClass {
    if is_ignored(character) {
        CharacterClass::Extender
    } else if character.is_numeric() {
        CharacterClass::Digit
    } else if character.is_alphabetic() {
        CharacterClass::Letter
    } else if is_combining_mark(character) || fold(character.encode_utf8(&mut [0; 4])).is_empty() {
        CharacterClass::Extender
    } else {
        CharacterClass::Punctuation
    }
}
