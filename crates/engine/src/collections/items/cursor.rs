//! Where a listing of items goes on, as text: the collection, and the items that were given last.

use leafbase_model::{BlockId, Error, Result};

/// Characters of an ID.
const ID: usize = 26;

/// How many of the items given last are remembered: if some of them are gone, the list goes on behind the last one that is not.
pub(super) const REMEMBERED: usize = 8;

/// The items of `collection` that were given last, the very last one at the end.
pub(super) fn write(collection: BlockId, last: &[BlockId]) -> String {
    let ids = std::iter::once(&collection).chain(last);
    std::iter::once("c".to_owned()).chain(ids.map(ToString::to_string)).collect()
}

pub(super) fn read(collection: BlockId, text: &str) -> Result<Vec<BlockId>> {
    let foreign = || Error::validation("the cursor is not of this listing").at("cursor");
    let ids = text.strip_prefix('c').and_then(|text| text.strip_prefix(&collection.to_string()));
    let ids = ids.ok_or_else(foreign)?.as_bytes().chunks(ID);
    let ids = ids.map(|id| std::str::from_utf8(id).ok()?.parse().ok());
    ids.collect::<Option<_>>().ok_or_else(foreign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back() {
        let collection = BlockId::from_bytes([7; 16]);
        for ids in [vec![], vec![BlockId::from_bytes([1; 16]), BlockId::from_bytes([255; 16])]] {
            assert_eq!(read(collection, &write(collection, &ids)).unwrap(), ids);
        }
    }

    #[test]
    fn what_is_no_cursor_of_the_collection_is_refused() {
        let collection = BlockId::from_bytes([7; 16]);
        let other = write(BlockId::from_bytes([8; 16]), &[]);
        for text in ["", "c", "d", &other, &format!("c{collection}x"), &format!("c{collection}ääääääääääääää")]
        {
            let error = read(collection, text).unwrap_err();
            assert_eq!((error.code(), error.path()), ("VALIDATION", "cursor"), "{text}");
        }
    }
}
