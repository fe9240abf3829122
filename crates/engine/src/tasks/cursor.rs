//! Where a listing of tasks goes on, as text: a letter for the listing, and what it goes on behind.

use leafbase_model::{BlockId, DocumentId, Error, Result};
use leafbase_store::Cursor;

/// Characters of an ID.
const ID: usize = 26;

/// How many of the tasks given last are remembered: if some of them are gone, the list goes on behind the last one that is not.
pub(super) const REMEMBERED: usize = 8;

fn foreign() -> Error {
    Error::validation("the cursor is not of this listing").at("cursor")
}

/// What follows the letter of the listing.
fn behind(text: &str, letter: char) -> Result<&str> {
    text.strip_prefix(letter).ok_or_else(foreign)
}

/// A cursor of an index, for the listing of this letter.
pub(super) fn write(letter: char, cursor: &Cursor) -> String {
    let mut text = String::from(letter);
    text.extend(cursor.as_bytes().iter().map(|byte| format!("{byte:02x}")));
    text
}

pub(super) fn read(letter: char, text: &str) -> Result<Cursor> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = behind(text, letter)?.as_bytes().chunks(2).map(byte).collect();
    Ok(Cursor::from_bytes(&bytes.ok_or_else(foreign)?))
}

/// The tasks of `document` that were given last, the very last one at the end.
pub(super) fn write_last(letter: char, document: DocumentId, last: &[BlockId]) -> String {
    let ids = last.iter().map(ToString::to_string);
    std::iter::once(format!("{letter}{document}")).chain(ids).collect()
}

pub(super) fn read_last(letter: char, document: DocumentId, text: &str) -> Result<Vec<BlockId>> {
    let ids = behind(text, letter)?.strip_prefix(&document.to_string()).ok_or_else(foreign)?;
    let ids = ids.as_bytes().chunks(ID).map(|id| std::str::from_utf8(id).ok()?.parse().ok());
    ids.collect::<Option<_>>().ok_or_else(foreign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back() {
        for bytes in [&[][..], &[0], &[255, 0, 16]] {
            let cursor = Cursor::from_bytes(bytes);
            assert_eq!(read('a', &write('a', &cursor)).unwrap(), cursor);
        }
        let document = DocumentId::from_bytes([7; 16]);
        for ids in [vec![], vec![BlockId::from_bytes([1; 16]), BlockId::from_bytes([255; 16])]] {
            assert_eq!(read_last('d', document, &write_last('d', document, &ids)).unwrap(), ids);
        }
    }

    #[test]
    fn what_is_no_cursor_of_the_listing_is_refused() {
        for text in ["", "u00", "a0", "a0g", "aä", "a+1", "ä"] {
            let error = read('a', text).unwrap_err();
            assert_eq!((error.code(), error.path()), ("VALIDATION", "cursor"), "{text}");
        }
        let document = DocumentId::from_bytes([7; 16]);
        let other = write_last('d', DocumentId::from_bytes([8; 16]), &[]);
        for text in ["", "d", "a", &other, &format!("d{document}x"), &format!("d{document}ääääääääääääää")]
        {
            let error = read_last('d', document, text).unwrap_err();
            assert_eq!((error.code(), error.path()), ("VALIDATION", "cursor"), "{text}");
        }
    }
}
