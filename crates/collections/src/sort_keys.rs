//! Order-preserving encoding of values, for indexes, sorting and cursors. No key of a column is a
//! prefix of another, so other bytes can follow it; the longest has [`SORT_KEY_BYTES`].
//!
//! Text is compared case-folded and decomposed (NFD): accents sort after their letter, however they
//! were typed. Only the first [`TEXT_BYTES`] bytes of that count: texts that differ later are equal
//! in order. A key therefore holds everything that an order needs, and an index scan yields the
//! exact order.

use std::collections::BTreeSet;

use leafbase_model::{Day, PropertyKind, PropertyValue, SelectOption};
use unicode_normalization::UnicodeNormalization;

/// Bytes of a folded text that count for its order.
pub const TEXT_BYTES: usize = 256;

/// Length of the longest sort key in bytes.
pub const SORT_KEY_BYTES: usize = TEXT_BYTES + 1;

/// Folds a text for comparison: lowercased and decomposed.
pub fn fold(text: &str) -> String {
    // Fast path: most texts are ASCII, and a query may fold every row.
    if text.is_ascii() && !text.contains('\0') {
        return text.to_ascii_lowercase();
    }
    // Decomposed before lowercasing, so that combining marks follow the lowercase letter.
    text.nfd().flat_map(char::to_lowercase).map(alike).collect()
}

/// Characters that lowercasing leaves distinct. NUL is replaced, because it terminates text keys.
const fn alike(letter: char) -> char {
    match letter {
        'ς' => 'σ',
        '\0' => '\u{1}',
        letter => letter,
    }
}

/// The keys of a value in the index of its column: one, or one per option of a multiple select.
/// Empty for relations, which are found through back links, and for an empty text. The key of a
/// text column, which includes the title, depends on the folded text alone.
pub fn index_keys(kind: &PropertyKind, value: &PropertyValue) -> Vec<Vec<u8>> {
    match (kind, value) {
        (_, PropertyValue::Options(names)) => names.iter().map(|name| option_key(name)).collect(),
        (PropertyKind::SingleSelect(_), PropertyValue::Text(name)) => vec![option_key(name)],
        _ => scalar_key(value).into_iter().collect(),
    }
}

/// The key by which items are sorted: the index key, except that an option sorts by its rank in the
/// schema. `None` sorts last; multiple selects and relations have no order.
pub fn sort_key(kind: &PropertyKind, value: &PropertyValue) -> Option<Vec<u8>> {
    match (kind, value) {
        (PropertyKind::SingleSelect(options), PropertyValue::Text(name)) => {
            Some(rank(options, name).to_vec())
        }
        _ => scalar_key(value),
    }
}

/// The index of an option in the schema.
pub(crate) fn rank(options: &[SelectOption], name: &str) -> [u8; 2] {
    // Two bytes suffice for the maximum number of options; an unknown one sorts last.
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

/// Options are compared exactly, not folded.
pub(crate) fn option_key(name: &str) -> Vec<u8> {
    text_key(&name.replace('\0', "\u{1}"))
}

/// The keys of the options of a select, in their order. `None` if two options have one key, as long
/// names may: then the index does not tell their items apart.
pub(crate) fn distinct_option_keys(options: &[SelectOption]) -> Option<Vec<Vec<u8>>> {
    let keys: Vec<_> = options.iter().map(|option| option_key(&option.name)).collect();
    let distinct: BTreeSet<_> = keys.iter().collect();
    (distinct.len() == keys.len()).then_some(keys)
}

/// Appends the terminator: 0 for a complete text, 1 for a truncated one, which always has full
/// length. `folded` contains no NUL.
fn text_key(folded: &str) -> Vec<u8> {
    debug_assert!(!folded.contains('\0'), "NUL terminates text keys");
    let mut key = text_prefix(folded);
    key.push(u8::from(folded.len() > TEXT_BYTES));
    debug_assert!(key.len() <= SORT_KEY_BYTES, "sort keys have a bounded length");
    key
}

/// The common prefix of the keys of all texts that start with `folded`.
pub(crate) fn text_prefix(folded: &str) -> Vec<u8> {
    folded.bytes().take(TEXT_BYTES).collect()
}

/// Flips the sign bit, and all bits of negative numbers, so that bytes compare as numbers do. Both
/// zeros have one key.
fn number_key(number: f64) -> [u8; 8] {
    // Negative zero compares equal to zero and must have the same key.
    let bits = if number == 0.0 { 0 } else { number.to_bits() };
    let is_negative = bits >> 63 == 1;
    (if is_negative { !bits } else { bits | 1 << 63 }).to_be_bytes()
}

/// Days from the start of year 0 to the Unix epoch.
const DAYS_BEFORE_EPOCH: i64 = 719_528;

fn day_key(day: Day) -> [u8; 4] {
    let days = u32::try_from(day.epoch_days() + DAYS_BEFORE_EPOCH);
    debug_assert!(days.is_ok(), "{day} is in the years 0 to 9999");
    days.unwrap_or(0).to_be_bytes()
}

/// The prefix successor: the smallest byte string after all that start with `prefix`. `None` if
/// there is no upper bound.
pub(crate) fn after(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    // Trailing 0xff bytes have no successor: drop them and increment the byte before.
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            debug_assert!(next > last, "the successor is larger");
            end.push(next);
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operands are folded before keys are derived from them, which folds them again.
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
