//! Cursors of task lists as text: a letter for the scope, then the position to resume after.

use std::fmt::Write;

use leafbase_model::{BlockId, DocumentId, Error, Result};
use leafbase_store::PageCursor;

use crate::operations::cursor_text::{read_cursor, write_cursor};

/// Characters of an ID in text form.
const ID_CHARS: usize = 26;

/// Tasks that an anchor keeps on either side of the boundary between two pages.
const ANCHOR_TASKS: usize = 8;
/// Separates the two sides.
const SEPARATOR: char = '-';

fn foreign() -> Error {
    Error::validation("the cursor belongs to another list of tasks").at("cursor")
}

/// The cursor without the letter of its scope.
pub(super) fn payload(text: &str, letter: char) -> Result<&str> {
    text.strip_prefix(letter).ok_or_else(foreign)
}

/// Encodes a cursor of an index for the scope with this letter.
pub(super) fn write(letter: char, cursor: &PageCursor) -> String {
    format!("{letter}{}", write_cursor(cursor.as_bytes()))
}

pub(super) fn read(letter: char, text: &str) -> Result<PageCursor> {
    let bytes = read_cursor(payload(text, letter)?).ok_or_else(foreign)?;
    Ok(PageCursor::from_bytes(&bytes))
}

/// The boundary between two pages of a list that has no index of its own: the last tasks returned
/// and the first not yet returned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TaskListAnchor {
    returned: Vec<BlockId>,
    upcoming: Vec<BlockId>,
}

impl TaskListAnchor {
    /// The boundary before the task at `index` of `listed`.
    pub(super) fn at(listed: &[BlockId], index: usize) -> Self {
        debug_assert!(index <= listed.len(), "a boundary lies within the list");
        let (before, after) = listed.split_at(index.min(listed.len()));
        let given =
            before.last_chunk::<ANCHOR_TASKS>().map_or(before, <[_; ANCHOR_TASKS]>::as_slice);
        let ahead =
            after.first_chunk::<ANCHOR_TASKS>().map_or(after, <[_; ANCHOR_TASKS]>::as_slice);
        Self { returned: given.to_vec(), upcoming: ahead.to_vec() }
    }

    /// The number of tasks of `listed` before the boundary now. Since the page was returned, tasks
    /// may have been added, removed or reordered, so the boundary is placed where the fewest anchor
    /// tasks are on the wrong side. If none of them is listed any more, the list starts again:
    /// returning a task twice is better than skipping it.
    pub(super) fn find(&self, listed: &[BlockId]) -> usize {
        let (mut right, mut best) = (0_i32, None);
        let mut consider = |right, index| {
            if best.is_none_or(|(most, _)| right > most) {
                best = Some((right, index));
            }
        };
        for (index, task) in listed.iter().enumerate() {
            if self.returned.contains(task) {
                right += 1;
                consider(right, index + 1);
            } else if self.upcoming.contains(task) {
                consider(right, index);
                right -= 1;
            }
        }
        best.map_or(0, |(_, index)| index)
    }

    pub(super) fn write(&self, letter: char, document: DocumentId) -> String {
        let ids = self.returned.len() + self.upcoming.len();
        let mut text = String::with_capacity(ID_CHARS * (ids + 1) + 2 * SEPARATOR.len_utf8());
        text.push(letter);
        // Writing to a string never fails.
        let _ = write!(text, "{document}");
        for id in &self.returned {
            let _ = write!(text, "{id}");
        }
        text.push(SEPARATOR);
        for id in &self.upcoming {
            let _ = write!(text, "{id}");
        }
        text
    }

    pub(super) fn read(letter: char, document: DocumentId, text: &str) -> Result<Self> {
        let ids = payload(text, letter)?.strip_prefix(&document.to_string()).ok_or_else(foreign)?;
        let (given, ahead) = ids.split_once(SEPARATOR).ok_or_else(foreign)?;
        Ok(Self { returned: read_ids(given)?, upcoming: read_ids(ahead)? })
    }
}

fn read_ids(text: &str) -> Result<Vec<BlockId>> {
    let ids = text.as_bytes().chunks(ID_CHARS).map(|id| std::str::from_utf8(id).ok()?.parse().ok());
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
            TaskListAnchor::default(),
            TaskListAnchor::at(&ids("abc"), 0),
            TaskListAnchor::at(&ids("abc"), 1),
            TaskListAnchor::at(&ids("abc"), 3),
        ] {
            assert_eq!(
                TaskListAnchor::read('d', document, &seam.write('d', document)).unwrap(),
                seam
            );
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
            assert_eq!(
                TaskListAnchor::at(&listed, index).find(&later),
                expected,
                "{before} becomes {after}"
            );
        }
    }

    #[test]
    fn what_is_no_cursor_of_the_listing_is_refused() {
        for text in ["", "u00", "a0", "a0g", "aä", "a+1", "ä"] {
            let error = read('a', text).unwrap_err();
            assert_eq!((error.code(), error.path()), ("VALIDATION", "cursor"), "{text}");
        }
        let document = DocumentId::from_bytes([7; 16]);
        let other = TaskListAnchor::default().write('d', DocumentId::from_bytes([8; 16]));
        let ids = ["", "x-", "-x", "--", "ääääääääääääää-"].map(|ids| format!("d{document}{ids}"));
        for text in ["", "d", "a", &other].into_iter().chain(ids.iter().map(String::as_str)) {
            let error = TaskListAnchor::read('d', document, text).unwrap_err();
            assert_eq!((error.code(), error.path()), ("VALIDATION", "cursor"), "{text}");
        }
    }
}
