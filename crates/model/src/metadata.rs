//! Stamps and comments of blocks.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::{Author, CommentId, Result, Stamp, Timestamp};

/// A comment on a block.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// The comment ID.
    pub id: CommentId,
    /// The author; omitted from the JSON if anonymous.
    #[serde(skip_serializing_if = "Author::is_anonymous")]
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub author: Author,
    /// The content: inline markdown.
    pub content: String,
    /// The creation time.
    pub created_at: Timestamp,
}

impl Comment {
    /// What a purge leaves of a comment in the change log: its ID and its time.
    pub fn redacted(id: CommentId, created_at: Timestamp) -> Self {
        Self { id, author: Author::ANONYMOUS, content: String::new(), created_at }
    }

    /// Whether a purge redacted the comment: every other one has a content.
    pub const fn is_redacted(&self) -> bool {
        self.content.is_empty()
    }
}

/// The stamps and comments of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Time and author of the creation.
    pub created: Stamp,
    /// Time and author of the last change.
    pub modified: Stamp,
    /// The comments, oldest first.
    pub comments: Vec<Comment>,
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("createdAt", &self.created.at)?;
        map.serialize_entry("lastModifiedAt", &self.modified.at)?;
        if !self.created.by.is_anonymous() {
            map.serialize_entry("createdBy", &self.created.by)?;
        }
        if !self.modified.by.is_anonymous() {
            map.serialize_entry("lastModifiedBy", &self.modified.by)?;
        }
        if !self.comments.is_empty() {
            map.serialize_entry("comments", &self.comments)?;
        }
        map.end()
    }
}
