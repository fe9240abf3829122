//! Cursors of item listings: the collection, and the items around the page boundary.

use leafbase_model::{BlockId, Error, Result};

/// Length of an ID as text.
const ID: usize = 26;

/// Items remembered on each side of the boundary. If some are deleted, the listing resumes at the
/// nearest one that still exists.
pub(super) const REMEMBERED: usize = 8;
/// Separates the two sides.
const BORDER: char = '.';

/// The items around a page boundary, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListingCursor {
    /// The last items returned.
    pub(super) before: Vec<BlockId>,
    /// The next items to return.
    pub(super) behind: Vec<BlockId>,
}

pub(super) fn write(collection: BlockId, around: &ListingCursor) -> String {
    debug_assert!(
        around.before.len() <= REMEMBERED && around.behind.len() <= REMEMBERED,
        "a cursor has a bounded length"
    );
    let mut text = format!("c{collection}");
    text.extend(around.before.iter().map(ToString::to_string));
    text.push(BORDER);
    text.extend(around.behind.iter().map(ToString::to_string));
    text
}

pub(super) fn read(collection: BlockId, text: &str) -> Result<ListingCursor> {
    let foreign = || Error::validation("the cursor is not of this listing").at("cursor");
    let rest = text
        .strip_prefix('c')
        .and_then(|text| text.strip_prefix(&collection.to_string()))
        .ok_or_else(foreign)?;
    // Without a separator there is no next item.
    let (before, behind) = rest.split_once(BORDER).unwrap_or((rest, ""));
    ids(before)
        .zip(ids(behind))
        .map(|(before, behind)| ListingCursor { before, behind })
        .ok_or_else(foreign)
}

fn ids(text: &str) -> Option<Vec<BlockId>> {
    text.as_bytes().chunks(ID).map(|id| std::str::from_utf8(id).ok()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back() {
        let collection = BlockId::from_bytes([7; 16]);
        let ids = || vec![BlockId::from_bytes([1; 16]), BlockId::from_bytes([255; 16])];
        for (before, behind) in [(vec![], vec![]), (ids(), vec![]), (vec![], ids()), (ids(), ids())]
        {
            let around = ListingCursor { before, behind };
            assert_eq!(read(collection, &write(collection, &around)).unwrap(), around);
        }
    }

    #[test]
    fn what_is_no_cursor_of_the_collection_is_refused() {
        let collection = BlockId::from_bytes([7; 16]);
        let other = write(BlockId::from_bytes([8; 16]), &ListingCursor::default());
        let wrong =
            ["x", "x.", ".x", "..", "ääääääääääääää."].map(|rest| format!("c{collection}{rest}"));
        for text in ["", "c", "d", &other].into_iter().chain(wrong.iter().map(String::as_str)) {
            let error = read(collection, text).unwrap_err();
            assert_eq!((error.code(), error.path()), ("VALIDATION", "cursor"), "{text}");
        }
    }
}
