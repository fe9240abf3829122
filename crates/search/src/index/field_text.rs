//! Analyzed fields as strings, and the tokenizer that reads them back.
//!
//! tantivy tokenizes texts itself; its pre-tokenized strings allocate one string per token. A
//! document is analyzed before it reaches the index, so its tokens are serialized into one string
//! per field: for each token its position and its length in bytes as varints of 6 bits per byte
//! (bit 6 set on all but the last one, so each byte is ASCII), then its text.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// The name under which the schema refers to [`FieldTextTokenizer`].
pub(super) const TOKENIZER: &str = "leafbase_tokens";

const VARINT_BITS: u32 = 6;
const VARINT_MASK: u8 = (1 << VARINT_BITS) - 1;
const VARINT_CONTINUES: u8 = 1 << VARINT_BITS;

/// Appends a token. Positions of equal terms must not decrease: tantivy delta-encodes them.
pub(super) fn push_token(text: &mut String, term: &str, position: u32) {
    push_varint(text, position);
    // Tokens are cut at 255 bytes, so the length always fits.
    push_varint(text, u32::try_from(term.len()).unwrap_or(u32::MAX));
    text.push_str(term);
}

fn push_varint(text: &mut String, mut number: u32) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= VARINT_BITS;
        if number == 0 {
            text.push(char::from(low & VARINT_MASK));
            return;
        }
        text.push(char::from(low & VARINT_MASK | VARINT_CONTINUES));
    }
}

/// Iterates over the tokens of a field text.
struct FieldTextReader<'t> {
    rest: &'t str,
}

impl FieldTextReader<'_> {
    fn varint(&mut self) -> Option<u32> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = *self.rest.as_bytes().first()?;
            self.rest = self.rest.get(1..)?;
            number |= u32::from(byte & VARINT_MASK).checked_shl(shift)?;
            shift += VARINT_BITS;
            if byte & VARINT_CONTINUES == 0 {
                return Some(number);
            }
        }
    }
}

impl<'t> Iterator for FieldTextReader<'t> {
    type Item = (&'t str, u32);

    fn next(&mut self) -> Option<Self::Item> {
        let position = self.varint()?;
        let length = self.varint()?;
        let token = self.rest.split_at_checked(length as usize);
        debug_assert!(token.is_some(), "a field text holds whole tokens");
        let (term, rest) = token?;
        self.rest = rest;
        Some((term, position))
    }
}

/// Reads tokens that [`push_token`] wrote.
#[derive(Clone, Default)]
pub(super) struct FieldTextTokenizer {
    token: Token,
}

impl Tokenizer for FieldTextTokenizer {
    type TokenStream<'t> = FieldTextStream<'t>;

    fn token_stream<'t>(&'t mut self, text: &'t str) -> FieldTextStream<'t> {
        FieldTextStream { reader: FieldTextReader { rest: text }, token: &mut self.token }
    }
}

/// The tokens of one field text. The token's buffer is reused, so no token allocates.
pub(super) struct FieldTextStream<'t> {
    reader: FieldTextReader<'t>,
    token: &'t mut Token,
}

impl TokenStream for FieldTextStream<'_> {
    fn advance(&mut self) -> bool {
        let Some((term, position)) = self.reader.next() else { return false };
        self.token.position = position as usize;
        self.token.text.clear();
        self.token.text.push_str(term);
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

    use super::*;

    proptest! {
        #[test]
        fn tokens_round_trip(tokens in prop::collection::vec((".{0,80}", any::<u32>()), 0..20)) {
            let mut text = String::new();
            for (term, position) in &tokens {
                push_token(&mut text, term, *position);
            }
            let (mut tokenizer, mut read) = (FieldTextTokenizer::default(), Vec::new());
            tokenizer.token_stream(&text).process(&mut |token| {
                read.push((token.text.clone(), u32::try_from(token.position).unwrap()));
            });
            prop_assert_eq!(read, tokens);
        }
    }
}
