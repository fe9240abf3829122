//! Versions of a block.

use crate::{Author, Timestamp};

/// A change as a version of one block. As JSON: `{"sequence", "at", "by", "events", "markdown"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockVersion {
    /// The sequence number of the change.
    pub sequence: u64,
    /// The time of the write.
    pub at: Timestamp,
    /// The author.
    #[serde(skip_serializing_if = "Author::is_anonymous")]
    pub by: Author,
    /// What it did to the block, each once.
    pub events: Vec<BlockEvent>,
    /// The markdown of the block after it, as in replies; absent if it removed the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
}

/// What a change did to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum BlockEvent {
    /// It was inserted, alone or with blocks around it, or returned.
    Inserted,
    /// Its text or another field was changed.
    Updated,
    /// It was moved itself, not with a block around it.
    Moved,
    /// It was removed.
    Removed,
    /// A comment on it was added, changed or removed.
    Commented,
}
