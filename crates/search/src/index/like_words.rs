//! Words of the dictionary that are like a misspelt one.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use tantivy::Term;
use tantivy::query::FuzzyTermQuery;

use super::clause_search::ClauseSearch;
use super::error::IndexFailure;
use crate::document::TextField;
use crate::edit_distance::{edit_distance, max_edits};
use crate::parsed_query::{ClauseTerm, QueryClause};
use crate::ranking::MAX_READINGS;

/// The length of the shortest prefix that is corrected, in characters: more words than not are like
/// a shorter one.
const MIN_PREFIX_CHARS: usize = 5;

/// Which words of the dictionary are compared with a misspelt one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordPart {
    Whole,
    /// The beginning, as long as the misspelt one or an edit more or less.
    Prefix,
}

/// Whether words begin with the first letter of the misspelt one. Few misspellings are in the first
/// letter: words with another one are looked for if there is none with the same. A dictionary is
/// ordered by the first letter, so that little of it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstLetter {
    Same,
    Other,
}

impl ClauseSearch<'_> {
    /// The words that a term, which no document has, is read as: those of the least number of edits
    /// that documents have, and of these the ones with its first letter, if there are any; the most
    /// frequent ones first. Reads the dictionary near the term, and the postings of the words that
    /// it finds there.
    pub(super) fn like_words(
        &self,
        clause: &QueryClause,
    ) -> Result<Vec<QueryClause>, IndexFailure> {
        let [term] = clause.terms.as_slice() else { return Ok(Vec::new()) };
        let length = term.text.chars().count();
        let letters = [FirstLetter::Same, FirstLetter::Other];
        let whole = (1..=max_edits(length))
            .flat_map(|edits| letters.map(|first| (edits, WordPart::Whole, first)));
        let is_long = term.is_prefix && length >= MIN_PREFIX_CHARS;
        let prefix = is_long.then_some((1, WordPart::Prefix, FirstLetter::Same));
        for (edits, part, first) in whole.chain(prefix) {
            let words = self.near(&term.text, edits, part, first)?;
            let found = self.most_frequent(words, part)?;
            if !found.is_empty() {
                return Ok(read_as(clause, found, part == WordPart::Prefix));
            }
        }
        Ok(Vec::new())
    }

    /// The words, or prefixes, that current documents have, the most frequent ones first.
    fn most_frequent(
        &self,
        words: BTreeSet<String>,
        part: WordPart,
    ) -> Result<Vec<String>, IndexFailure> {
        let mut found = BTreeSet::new();
        for text in words {
            let is_prefix = part == WordPart::Prefix;
            let read = ClauseTerm { text, offset: 0, is_prefix };
            let documents = self.document_frequency(&read)?;
            if documents > 0 {
                found.insert((Reverse(documents), read.text));
            }
        }
        Ok(found.into_iter().map(|(_, word)| word).collect())
    }

    /// The words, or their prefixes, that are this many edits from a text, of all documents: the
    /// dictionary of a segment is not restricted to some.
    fn near(
        &self,
        text: &str,
        edits: u8,
        part: WordPart,
        first: FirstLetter,
    ) -> Result<BTreeSet<String>, IndexFailure> {
        let near =
            NearWords { text: text.chars().collect(), edits: usize::from(edits), part, first };
        let begins = text.chars().next().filter(|_| first == FirstLetter::Same);
        let begins = begins.map(|letter| (letter.to_string(), key_after(letter)));
        let mut found = BTreeSet::new();
        // The automaton reads texts, whatever their field.
        let term = Term::from_field_text(self.snapshot.fields.text(TextField::Body), text);
        let query = match part {
            WordPart::Whole => FuzzyTermQuery::new(term, edits, true),
            WordPart::Prefix => FuzzyTermQuery::new_prefix(term, edits, true),
        };
        let automaton = query.automaton()?;
        for field in [TextField::Title, TextField::Body] {
            let field = self.snapshot.fields.text(field);
            for (segment, _) in self.snapshot.segments() {
                let index = segment.inverted_index(field)?;
                let mut terms = index.terms().search(&automaton);
                if let Some((lower, upper)) = &begins {
                    terms = terms.ge(lower).lt(upper);
                }
                let mut terms = terms.into_stream()?;
                while terms.advance() {
                    let word = std::str::from_utf8(terms.key());
                    let word = word.map_err(|_| IndexFailure::corrupt("a term is not UTF-8"))?;
                    found.extend(near.of_word(word));
                }
            }
        }
        for document in self.overlay.dirty {
            document.each_term(&mut |word| found.extend(near.of_word(word)));
        }
        Ok(found)
    }
}

/// The lowest key above all that begin with a letter.
fn key_after(letter: char) -> Vec<u8> {
    let mut key = letter.to_string().into_bytes();
    if let Some(last) = key.last_mut() {
        // No byte of a text in UTF-8 is the highest one.
        *last += 1;
    }
    key
}

/// The first of these words as clauses. The stem of one finds the others that have it.
fn read_as(clause: &QueryClause, words: Vec<String>, is_prefix: bool) -> Vec<QueryClause> {
    let mut found: Vec<QueryClause> = Vec::new();
    for word in words {
        let read = clause.read_as(word, is_prefix);
        let same = |other: &QueryClause| (&other.stem, &other.forms) == (&read.stem, &read.forms);
        let has_stem = read.stem.is_some() || !read.forms.stems.is_empty();
        if !has_stem || !found.iter().any(same) {
            found.push(read);
        }
    }
    found.truncate(MAX_READINGS);
    found
}

/// The words that are near a misspelt one.
struct NearWords {
    text: Vec<char>,
    edits: usize,
    part: WordPart,
    first: FirstLetter,
}

impl NearWords {
    /// A word, or its prefix, if it is near. A number is never what a word was meant to be.
    fn of_word(&self, word: &str) -> Option<String> {
        let length = word.chars().count();
        // Spares most words of dirty documents the rest.
        let begins_alike = word.chars().next() == self.text.first().copied();
        if begins_alike != (self.first == FirstLetter::Same)
            || length + self.edits < self.text.len()
            || (self.part == WordPart::Whole && length > self.text.len() + self.edits)
            || word.chars().any(char::is_numeric)
        {
            return None;
        }
        let word: Vec<char> = word.chars().collect();
        let is_near = |word: &&[char]| edit_distance(&self.text, word) == self.edits;
        let found = match self.part {
            WordPart::Whole => Some(word.as_slice()).filter(is_near),
            // Of several prefixes the longest: it says most.
            WordPart::Prefix => {
                let longest = word.len().min(self.text.len() + self.edits);
                let lengths = (self.text.len().saturating_sub(self.edits)..=longest).rev();
                lengths.filter_map(|length| word.get(..length)).find(is_near)
            }
        };
        found.map(|found| found.iter().collect())
    }
}
