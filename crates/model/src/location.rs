//! Locations in block trees: where a block is, and where blocks are inserted.

use crate::{BlockId, DocumentId};

/// Where a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockLocation {
    /// The document that contains the block.
    pub document: DocumentId,
    /// The parent; `None` for the root of a document.
    pub parent: Option<BlockId>,
}

/// Where blocks are inserted: among the children of `parent`, right after its child `after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct InsertTarget {
    /// The document that contains `parent`.
    #[serde(rename = "documentId")]
    pub document: DocumentId,
    /// The parent of the inserted blocks.
    #[serde(rename = "parentId")]
    pub parent: BlockId,
    /// The previous sibling; `None` inserts the blocks as the first children.
    #[serde(rename = "afterId", skip_serializing_if = "Option::is_none")]
    pub after: Option<BlockId>,
}
