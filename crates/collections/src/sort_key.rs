//! Bytes that sort as values do, for indexes, sorting and cursors. No key of a column is the
//! beginning of another, so that other bytes may follow them; none is longer than
//! [`SORT_KEY_BYTES`].
//!
//! Text is compared folded: letters in lower case, accents apart and after the letter, however they
//! were typed. What two texts differ in beyond [`TEXT_BYTES`] bytes of that does not count for
//! their order: such texts are equal in it. So a key says all that an order needs, and an index by
//! it is in the very order of the values.

use leafbase_model::{Day, PropertyKind, PropertyValue, SelectOption};
use unicode_normalization::UnicodeNormalization;

/// As many bytes of a folded text count for its order.
pub const TEXT_BYTES: usize = 256;

/// The longest key of a value.
pub const SORT_KEY_BYTES: usize = TEXT_BYTES + 1;

/// The text as it is compared.
pub fn fold(text: &str) -> String {
    // Most texts are, and every row of a query may be folded.
    if text.is_ascii() && !text.contains('\0') {
        return text.to_ascii_lowercase();
    }
    text.nfd().flat_map(char::to_lowercase).map(alike).collect()
}

/// Letters that lower case leaves apart; and no NUL, which ends keys.
const fn alike(letter: char) -> char {
    match letter {
        'ς' => 'σ',
        '\0' => '\u{1}',
        letter => letter,
    }
}

/// The keys under which an item stands in the index of a column that has this value: one, or one
/// for each option of a multiple select; none for relations, which have back links, and for an
/// empty text. Of a column of type text, the title among them, by the folded text.
pub fn index_keys(kind: &PropertyKind, value: &PropertyValue) -> Vec<Vec<u8>> {
    match (kind, value) {
        (_, PropertyValue::Options(names)) => names.iter().map(|name| option_key(name)).collect(),
        (PropertyKind::SingleSelect(_), PropertyValue::Text(name)) => vec![option_key(name)],
        _ => scalar_key(value).into_iter().collect(),
    }
}

/// The key by which items are sorted: that of the index, but an option sorts by its place in the
/// schema. None sorts last, as do several options and relations, which have no order.
pub fn sort_key(kind: &PropertyKind, value: &PropertyValue) -> Option<Vec<u8>> {
    match (kind, value) {
        (PropertyKind::SingleSelect(options), PropertyValue::Text(name)) => {
            Some(rank(options, name).to_vec())
        }
        _ => scalar_key(value),
    }
}

/// The place of an option in the schema.
pub(crate) fn rank(options: &[SelectOption], name: &str) -> [u8; 2] {
    let place = options.iter().position(|option| option.name == name);
    place.and_then(|place| u16::try_from(place).ok()).unwrap_or(u16::MAX).to_be_bytes()
}

fn scalar_key(value: &PropertyValue) -> Option<Vec<u8>> {
    match value {
        PropertyValue::Text(text) if text.is_empty() => None,
        PropertyValue::Text(text) => Some(text_key(&fold(text))),
        PropertyValue::Number(number) => Some(number_key(*number).to_vec()),
        PropertyValue::Boolean(value) => Some(vec![u8::from(*value)]),
        PropertyValue::Date(day) => Some(day_key(*day).to_vec()),
        PropertyValue::Options(_) | PropertyValue::Relations(_) => None,
    }
}

/// Options are told apart exactly.
pub(crate) fn option_key(name: &str) -> Vec<u8> {
    text_key(&name.replace('\0', "\u{1}"))
}

/// `folded` has no NUL: 0 ends a whole text, 1 one that is cut, which is always of full length.
fn text_key(folded: &str) -> Vec<u8> {
    let mut key = text_prefix(folded);
    key.push(u8::from(folded.len() > TEXT_BYTES));
    key
}

/// What the keys of all texts begin with that begin so.
pub(crate) fn text_prefix(folded: &str) -> Vec<u8> {
    folded.bytes().take(TEXT_BYTES).collect()
}

/// Both zeros are one.
fn number_key(number: f64) -> [u8; 8] {
    let bits = if number == 0.0 { 0 } else { number.to_bits() };
    let is_negative = bits >> 63 == 1;
    (if is_negative { !bits } else { bits | 1 << 63 }).to_be_bytes()
}

fn day_key(day: Day) -> [u8; 4] {
    // Days lie within the years 0 to 9999.
    u32::try_from(day.epoch_days() + 719_528).unwrap_or_default().to_be_bytes()
}

/// The first bytes after all that begin with `prefix`; none if there are none.
pub(crate) fn after(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operands are folded before keys are made of them, and those are folded again.
    #[test]
    fn what_is_folded_stays_as_it_is() {
        for letter in char::MIN..=char::MAX {
            let folded = fold(&letter.to_string());
            assert_eq!(fold(&folded), folded, "{letter:?}");
            assert!(!folded.is_empty() && !folded.contains('\0'), "{letter:?}");
        }
    }

    #[test]
    fn texts_that_read_alike_are_equal() {
        for (one, other) in [
            ("Über", "u\u{308}BER"),
            ("ΟΔΟΣ", "οδος"),
            ("K", "\u{212a}"),
            ("İ", "i\u{307}"),
            ("a\0", "a\u{1}"),
        ] {
            assert_eq!(fold(one), fold(other));
        }
        assert_ne!(fold("Uber"), fold("Über"));
        assert!(fold("e") < fold("é") && fold("é") < fold("f"));
    }
}
