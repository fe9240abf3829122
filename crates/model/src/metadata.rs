//! Stamps and comments of blocks.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::requests::given;
use crate::{Author, CommentId, DocumentId, Result, Stamp, Timestamp};

/// A comment on a block. As JSON: `{"id", "author", "content", "createdAt"}`, and where it was
/// edited or resolved `lastModifiedAt`, `lastModifiedBy`, `resolvedAt`, `resolvedBy`. Anonymous
/// authors are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The comment ID.
    pub id: CommentId,
    /// The author.
    pub author: Author,
    /// The content: inline markdown.
    pub content: String,
    /// The creation time.
    pub created_at: Timestamp,
    /// Time and author of the last change of the content; `None` if it was never changed.
    pub edited: Option<Stamp>,
    /// When and by whom the comment was resolved; `None` while it is open.
    pub resolved: Option<Stamp>,
}

impl Comment {
    /// A comment with this stamp, never edited and open.
    pub fn new(id: CommentId, stamp: Stamp, content: impl Into<String>) -> Self {
        let (content, edited, resolved) = (content.into(), None, None);
        Self { id, author: stamp.by, content, created_at: stamp.at, edited, resolved }
    }

    /// What a purge leaves of a comment in the change log: its ID and its time.
    pub fn redacted(id: CommentId, created_at: Timestamp) -> Self {
        Self::new(id, Stamp { at: created_at, by: Author::ANONYMOUS }, "")
    }

    /// Whether a purge redacted the comment: every other one has a content.
    pub const fn is_redacted(&self) -> bool {
        self.content.is_empty()
    }

    /// Writes the fields of its JSON.
    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("id", &self.id)?;
        write_author(map, "author", &self.author)?;
        map.serialize_entry("content", &self.content)?;
        map.serialize_entry("createdAt", &self.created_at)?;
        for (at, by, stamp) in [
            ("lastModifiedAt", "lastModifiedBy", &self.edited),
            ("resolvedAt", "resolvedBy", &self.resolved),
        ] {
            if let Some(stamp) = stamp {
                map.serialize_entry(at, &stamp.at)?;
                write_author(map, by, &stamp.by)?;
            }
        }
        Ok(())
    }
}

/// Writes an author who is not anonymous.
fn write_author<M: SerializeMap>(
    map: &mut M,
    name: &'static str,
    author: &Author,
) -> Result<(), M::Error> {
    if author.is_anonymous() { Ok(()) } else { map.serialize_entry(name, author) }
}

impl Serialize for Comment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write(&mut map)?;
        map.end()
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
    /// The document, of the block that was asked for; of those below it, which are in the same
    /// one, `None`.
    pub document: Option<DocumentId>,
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        given(&mut map, "documentId", self.document.as_ref())?;
        map.serialize_entry("createdAt", &self.created.at)?;
        map.serialize_entry("lastModifiedAt", &self.modified.at)?;
        write_author(&mut map, "createdBy", &self.created.by)?;
        write_author(&mut map, "lastModifiedBy", &self.modified.by)?;
        if !self.comments.is_empty() {
            map.serialize_entry("comments", &self.comments)?;
        }
        map.end()
    }
}
