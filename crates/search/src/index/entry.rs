//! A document on its way into the index. Its words are handed over as one text for each field, in which every word stands with its positions: so they
//! are cut and sorted where documents are made, and the thread of the index only takes them over.

use std::iter::Empty;

use tantivy::Document;
use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf};
use tantivy::schema::{Field, Value};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::room::Place;
use crate::document::{Stems, Words};
use crate::grams::Marked;

/// A number is written in bytes of so many bits, the last one of them marked: any of them is a text.
const BITS: u32 = 6;
const LAST: u8 = 1 << BITS;

/// What the index takes of a document. In a box: tantivy makes room for 40,000 of them at once, and again with each commit.
#[derive(Debug)]
pub(crate) struct Entry(Box<Parts>);

#[derive(Debug)]
pub(crate) struct Parts {
    pub(super) id: (Field, [u8; 16]),
    /// As [`packed_words`] and [`packed_stems`] write them.
    pub(super) texts: [(Field, String); 4],
    pub(super) numbers: Vec<(Field, u64)>,
    pub(super) grams: Marked,
    /// What it takes until it is taken over.
    pub(super) _place: Place,
}

impl Entry {
    pub(super) fn of(parts: Parts) -> Self {
        Self(Box::new(parts))
    }

    pub(super) fn grams(&self) -> &Marked {
        &self.0.grams
    }
}

impl Document for Entry {
    type Value<'e> = Part<'e>;
    type FieldsValuesIter<'e> = std::vec::IntoIter<(Field, Part<'e>)>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        let Parts { id, texts, numbers, .. } = &*self.0;
        let mut parts = Vec::with_capacity(1 + texts.len() + numbers.len());
        parts.push((id.0, Part::Bytes(&id.1)));
        parts.extend(texts.iter().map(|(field, text)| (*field, Part::Text(text))));
        parts.extend(numbers.iter().map(|(field, number)| (*field, Part::Number(*number))));
        parts.into_iter()
    }
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'e> {
    Bytes(&'e [u8]),
    Text(&'e str),
    Number(u64),
}

impl<'e> Value<'e> for Part<'e> {
    type ArrayIter = Empty<Self>;
    type ObjectIter = Empty<(&'e str, Self)>;

    fn as_value(&self) -> ReferenceValue<'e, Self> {
        ReferenceValue::Leaf(match *self {
            Self::Bytes(bytes) => ReferenceValueLeaf::Bytes(bytes),
            Self::Text(text) => ReferenceValueLeaf::Str(text),
            Self::Number(number) => ReferenceValueLeaf::U64(number),
        })
    }
}

/// Words, each as its length, its letters, how many positions it has, and from each one the distance to the next.
pub(super) fn packed_words(words: &Words) -> String {
    let mut packed = String::with_capacity(words.bytes() + words.length() as usize * 3);
    for (word, positions) in words.iter() {
        put_word(&mut packed, word, positions.len());
        let mut last = 0;
        for position in positions {
            put(&mut packed, position.wrapping_sub(last));
            last = *position;
        }
    }
    packed
}

/// The same of stems, which stand nowhere.
pub(super) fn packed_stems(stems: &Stems) -> String {
    let mut packed = String::new();
    for (stem, times) in stems.iter() {
        put_word(&mut packed, stem, times as usize);
        packed.extend((0..times).map(|_| char::from(LAST)));
    }
    packed
}

fn put_word(packed: &mut String, word: &str, times: usize) {
    put(packed, u32::try_from(word.len()).unwrap_or(u32::MAX));
    packed.push_str(word);
    put(packed, u32::try_from(times).unwrap_or(u32::MAX));
}

fn put(packed: &mut String, mut number: u32) {
    while number >= u32::from(LAST) {
        packed.push(char::from(u8::try_from(number % u32::from(LAST)).unwrap_or_default()));
        number >>= BITS;
    }
    packed.push(char::from(u8::try_from(number).unwrap_or_default() | LAST));
}

/// Reads what was packed.
#[derive(Clone, Debug, Default)]
pub(super) struct Unpacking(Token);

/// The words that are still to come.
#[derive(Debug)]
pub(super) struct Packed<'p> {
    rest: &'p str,
    /// How often the word occurs again.
    times: u32,
    token: &'p mut Token,
}

impl Tokenizer for Unpacking {
    type TokenStream<'p> = Packed<'p>;

    fn token_stream<'p>(&'p mut self, text: &'p str) -> Packed<'p> {
        self.0.reset();
        Packed { rest: text, times: 0, token: &mut self.0 }
    }
}

impl Packed<'_> {
    fn number(&mut self) -> u32 {
        let (mut number, mut shift) = (0, 0);
        for (at, byte) in self.rest.bytes().enumerate() {
            number |= u32::from(byte % LAST).checked_shl(shift).unwrap_or_default();
            shift += BITS;
            if byte >= LAST {
                self.rest = self.rest.get(at + 1..).unwrap_or_default();
                return number;
            }
        }
        self.rest = "";
        number
    }
}

impl TokenStream for Packed<'_> {
    fn advance(&mut self) -> bool {
        if self.times == 0 {
            if self.rest.is_empty() {
                return false;
            }
            let length = self.number() as usize;
            let (word, rest) = self.rest.split_at_checked(length).unwrap_or_default();
            self.token.text.clear();
            self.token.text.push_str(word);
            self.rest = rest;
            self.times = self.number();
            self.token.position = 0;
        }
        self.times = self.times.saturating_sub(1);
        self.token.position += self.number() as usize;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tantivy::tokenizer::{TokenStream, Tokenizer};

    use super::{Unpacking, packed_stems, packed_words};
    use crate::document::{Stems, Words};

    /// Each word with its positions, again and again.
    fn unpacked(packed: &str) -> Vec<(String, usize)> {
        let (mut tokenizer, mut found) = (Unpacking::default(), Vec::new());
        let mut stream = tokenizer.token_stream(packed);
        stream.process(&mut |token| found.push((token.text.clone(), token.position)));
        found
    }

    proptest! {
        #[test]
        fn words_are_unpacked_as_they_were_packed(
            all in prop::collection::vec(("[a-zé東\\.]{1,80}", prop::collection::btree_set(any::<u32>(), 1..5)), 0..9)
        ) {
            let (mut words, mut stems, mut expected, mut counted) =
                (Words::with_capacity(0, 0), Stems::new(0), Vec::new(), Vec::new());
            for (word, positions) in &all {
                words.push(word, positions.iter().copied());
                stems.push(word, u32::try_from(positions.len()).unwrap_or_default());
                expected.extend(positions.iter().map(|at| (word.clone(), *at as usize)));
                counted.extend(positions.iter().map(|_| (word.clone(), 0)));
            }
            prop_assert_eq!(unpacked(&packed_words(&words)), expected);
            prop_assert_eq!(unpacked(&packed_stems(&stems)), counted);
        }
    }
}
