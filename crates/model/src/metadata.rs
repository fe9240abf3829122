//! Who made and changed a block, when, and what was remarked on it.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::{Author, CommentId, Result, Stamp, Timestamp};

/// A remark on a block.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// Its ID.
    pub id: CommentId,
    /// Who made it; left out of the JSON if nobody in particular.
    #[serde(skip_serializing_if = "Author::is_nobody")]
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub author: Author,
    /// What it says.
    pub content: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Who made and changed a block, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The making.
    pub created: Stamp,
    /// The last change.
    pub modified: Stamp,
    /// Its comments, oldest first.
    pub comments: Vec<Comment>,
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("createdAt", &self.created.at)?;
        map.serialize_entry("lastModifiedAt", &self.modified.at)?;
        if !self.created.by.is_nobody() {
            map.serialize_entry("createdBy", &self.created.by)?;
        }
        if !self.modified.by.is_nobody() {
            map.serialize_entry("lastModifiedBy", &self.modified.by)?;
        }
        if !self.comments.is_empty() {
            map.serialize_entry("comments", &self.comments)?;
        }
        map.end()
    }
}
