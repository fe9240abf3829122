//! Documents and blocks by the beginning of their IDs, as people shorten them.

use leafbase_model::{BlockId, DocumentId, Error, Result};

use crate::core::access::FullAccess;
use crate::core::connection::Connection;

/// Characters of an ID.
const ID_CHARACTERS: usize = 26;

/// What has an ID with a prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct FoundIds {
    /// The documents, by ID.
    pub documents: Vec<DocumentId>,
    /// The blocks, by ID, those that are roots of documents included.
    pub blocks: Vec<BlockId>,
}

impl<A: FullAccess> Connection<A> {
    /// The documents and the blocks whose IDs begin with `prefix`, at most `limit` of each; those
    /// in the trash and items of collections included. Case does not matter. As many as `limit`
    /// may not be all. The cost grows with what is found, not with the space.
    ///
    /// An ID begins with its time: ten characters tell the millisecond, six some 17 minutes. So
    /// what one import made may share as many.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// let short = &trip.to_string()[..20];
    /// let found = notes.find_ids(short, 10)?;
    /// assert_eq!((found.documents, found.blocks), (vec![trip], vec![trip.root()]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] at `prefix` if no ID begins so, or if it is empty.
    pub fn find_ids(&self, prefix: &str, limit: usize) -> Result<FoundIds> {
        let (first, last) = bounds(prefix).ok_or_else(|| {
            Error::validation("no ID (26 characters of a ULID) begins so").at("prefix")
        })?;
        self.operation("find_ids").read(|tree| {
            let reader = tree.full_reader()?;
            let [from, to] = [first, last].map(DocumentId::of_root);
            Ok(FoundIds {
                documents: reader.documents_between(from, to, limit)?,
                blocks: reader.blocks_between(first, last, limit)?,
            })
        })
    }
}

/// The lowest and the highest ID with this prefix.
fn bounds(prefix: &str) -> Option<(BlockId, BlockId)> {
    let missing = ID_CHARACTERS.checked_sub(prefix.len()).filter(|_| !prefix.is_empty())?;
    let filled = |with: &str| format!("{prefix}{}", with.repeat(missing)).parse().ok();
    Some((filled("0")?, filled("Z")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_has_the_ids_between_its_bounds() {
        let id = "01K8Z3N7QF4XG9V2B6M0D5RATW";
        for length in 1..=ID_CHARACTERS {
            let (first, last) = bounds(&id[..length].to_lowercase()).unwrap();
            let own: BlockId = id.parse().unwrap();
            assert!(first <= own && own <= last, "{length}");
            for bound in [first, last] {
                assert!(bound.to_string().starts_with(&id[..length]), "{length}: {bound}");
            }
            let others = [first.to_bytes(), last.to_bytes()].map(u128::from_be_bytes);
            let others = [others[0].checked_sub(1), others[1].checked_add(1)];
            for other in others.into_iter().flatten() {
                let other = BlockId::from_bytes(other.to_be_bytes()).to_string();
                assert!(!other.starts_with(&id[..length]), "{length}: {other}");
            }
        }
        for wrong in ["", "8", "01I", "01 ", "é", &format!("{id}0")] {
            assert_eq!(bounds(wrong), None, "{wrong:?}");
        }
    }
}
