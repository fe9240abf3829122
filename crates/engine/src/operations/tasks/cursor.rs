//! Cursors of task listings as text: a letter for the listing, then its position.

use leafbase_model::{BlockId, DocumentId, Error, Result};
use leafbase_store::PageCursor;

/// The length of an ID in characters.
const ID: usize = 26;

/// How many task IDs a cursor contains on either side of its position.
const REMEMBERED: usize = 8;
/// Separates the IDs of the two sides.
const SEAM: char = '-';

fn foreign() -> Error {
    Error::validation("the cursor is not of this listing").at("cursor")
}

/// The text after the letter of the listing.
fn behind(text: &str, letter: char) -> Result<&str> {
    text.strip_prefix(letter).ok_or_else(foreign)
}

/// The text of an index cursor for the listing of this letter.
pub(super) fn write(letter: char, cursor: &PageCursor) -> String {
    let mut text = String::from(letter);
    text.extend(cursor.as_bytes().iter().map(|byte| format!("{byte:02x}")));
    text
}

pub(super) fn read(letter: char, text: &str) -> Result<PageCursor> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = behind(text, letter)?.as_bytes().chunks(2).map(byte).collect();
    Ok(PageCursor::from_bytes(&bytes.ok_or_else(foreign)?))
}

/// The position of a cursor within a list: the last tasks that were returned, and the first that
/// were not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seam {
    given: Vec<BlockId>,
    ahead: Vec<BlockId>,
}

impl Seam {
    /// The position before the task at `index` of `listed`.
    pub(super) fn at(listed: &[BlockId], index: usize) -> Self {
        let (given, ahead) = listed.split_at_checked(index).unwrap_or((listed, &[]));
        let given = given.get(given.len().saturating_sub(REMEMBERED)..).unwrap_or_default();
        let ahead = ahead.get(..REMEMBERED).unwrap_or(ahead);
        Self { given: given.to_vec(), ahead: ahead.to_vec() }
    }

    /// The index of the position in the current list. Tasks may have been added, removed and
    /// reordered (one below a task of the inbox that was closed), so it is the index with the
    /// fewest remembered tasks on the wrong side. If no remembered task is left, the listing
    /// restarts: returning a task twice is better than skipping one.
    pub(super) fn find(&self, listed: &[BlockId]) -> usize {
        let (mut right, mut best) = (0_i32, None);
        let mut consider = |right, index| {
            if best.is_none_or(|(most, _)| right > most) {
                best = Some((right, index));
            }
        };
        for (index, task) in listed.iter().enumerate() {
            if self.given.contains(task) {
                right += 1;
                consider(right, index + 1);
            } else if self.ahead.contains(task) {
                consider(right, index);
                right -= 1;
            }
        }
        best.map_or(0, |(_, index)| index)
    }

    pub(super) fn write(&self, letter: char, document: DocumentId) -> String {
        let text = |ids: &[BlockId]| ids.iter().map(ToString::to_string).collect::<String>();
        format!("{letter}{document}{}{SEAM}{}", text(&self.given), text(&self.ahead))
    }

    pub(super) fn read(letter: char, document: DocumentId, text: &str) -> Result<Self> {
        let ids = behind(text, letter)?.strip_prefix(&document.to_string()).ok_or_else(foreign)?;
        let (given, ahead) = ids.split_once(SEAM).ok_or_else(foreign)?;
        Ok(Self { given: read_ids(given)?, ahead: read_ids(ahead)? })
    }
}

fn read_ids(text: &str) -> Result<Vec<BlockId>> {
    let ids = text.as_bytes().chunks(ID).map(|id| std::str::from_utf8(id).ok()?.parse().ok());
    ids.collect::<Option<_>>().ok_or_else(foreign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back() {
        for bytes in [&[][..], &[0], &[255, 0, 16]] {
            let cursor = PageCursor::from_bytes(bytes);
            assert_eq!(read('a', &write('a', &cursor)).unwrap(), cursor);
        }
        let document = DocumentId::from_bytes([7; 16]);
        for seam in [
            Seam::default(),
            Seam::at(&ids("abc"), 0),
            Seam::at(&ids("abc"), 1),
            Seam::at(&ids("abc"), 3),
        ] {
            assert_eq!(Seam::read('d', document, &seam.write('d', document)).unwrap(), seam);
        }
    }

    fn ids(letters: &str) -> Vec<BlockId> {
        letters.bytes().map(|letter| BlockId::from_bytes([letter; 16])).collect()
    }

    /// A list that is cut at `|`, the list that it becomes, and where it is cut then.
    const SEAMS: &[(&str, &str)] = &[
        ("abc|def", "abc|def"),
        ("|abc", "|abc"),
        ("abc|", "abc|"),
        // Some went, on either side or on both.
        ("abc|def", "a|def"),
        ("abc|def", "|def"),
        ("abc|def", "abc|f"),
        ("abc|def", "b|e"),
        ("abc|def", "abc|"),
        ("abcdefghijkl|m", "a|m"),
        // Others came: between them they are new.
        ("abc|def", "xabc|def"),
        ("abc|def", "abc|xdef"),
        ("abc|def", "x|def"),
        // Some stand elsewhere: the others tell.
        ("abc|def", "cab|def"),
        ("abc|def", "ab|defc"),
        ("abc|def", "dabc|ef"),
        ("ab|cd", "|cdb"),
        // Nothing is left that is known.
        ("abc|def", "|xyz"),
        ("abc|def", "|"),
    ];

    #[test]
    fn a_seam_is_found_again() {
        for (before, after) in SEAMS {
            let cut = |text: &str| (ids(&text.replace('|', "")), text.find('|').unwrap());
            let ((listed, index), (later, expected)) = (cut(before), cut(after));
            assert_eq!(Seam::at(&listed, index).find(&later), expected, "{before} becomes {after}");
        }
    }

    #[test]
    fn what_is_no_cursor_of_the_listing_is_refused() {
        for text in ["", "u00", "a0", "a0g", "aä", "a+1", "ä"] {
            let error = read('a', text).unwrap_err();
            assert_eq!((error.code(), error.path()), ("VALIDATION", "cursor"), "{text}");
        }
        let document = DocumentId::from_bytes([7; 16]);
        let other = Seam::default().write('d', DocumentId::from_bytes([8; 16]));
        let ids = ["", "x-", "-x", "--", "ääääääääääääää-"].map(|ids| format!("d{document}{ids}"));
        for text in ["", "d", "a", &other].into_iter().chain(ids.iter().map(String::as_str)) {
            let error = Seam::read('d', document, text).unwrap_err();
            assert_eq!((error.code(), error.path()), ("VALIDATION", "cursor"), "{text}");
        }
    }
}
