//! Versions of a document.

use crate::{Author, BlockId, Timestamp};

/// A change as a version of one document. As JSON: `{"sequence", "at", "by", "blockIds", "inserted",
/// "updated", "moved", "removed", "commented"}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentVersion {
    /// The sequence number of the change.
    pub sequence: u64,
    /// The time of the write.
    pub at: Timestamp,
    /// The author.
    #[serde(skip_serializing_if = "Author::is_anonymous")]
    pub by: Author,
    /// The blocks of the document that it wrote, by ID.
    #[serde(rename = "blockIds")]
    pub blocks: Vec<BlockId>,
    /// How many blocks it inserted, descendants included.
    pub inserted: usize,
    /// How many it updated.
    pub updated: usize,
    /// How many it moved, within the document, into it or out of it.
    pub moved: usize,
    /// How many it removed, descendants included.
    pub removed: usize,
    /// How many comments it added, changed or removed.
    pub commented: usize,
}
