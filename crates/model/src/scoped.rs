//! Requests and replies specific to scoped connections, which see neither locations of documents
//! nor the change log of the space.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::json::{is_default, one_or_many_or_none, or_default};
#[cfg(feature = "schemars")]
use crate::json_schemas::OneOrMany;
use crate::{Author, BlockId, Day, DocumentId, Timestamp};

/// Lists the documents of a scope. As JSON: `{"tags": "travel", "fetchMetadata": true}`.
///
/// ```
/// use leafbase_model::ListScopedDocuments;
/// let json = r#"{"tags": "travel", "fetchMetadata": true}"#;
/// let request = ListScopedDocuments::new().tagged("travel").with_metadata();
/// assert_eq!(request, serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct ListScopedDocuments {
    /// Tags, all of which the documents have, as in a [`crate::DocumentFilter`].
    #[serde(default, deserialize_with = "one_or_many_or_none")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<OneOrMany<String>>"))]
    pub tags: Vec<String>,
    /// Whether entries include the times of creation and modification.
    #[serde(rename = "fetchMetadata", default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "is_default")]
    pub metadata: bool,
}

impl ListScopedDocuments {
    /// All documents, without times.
    pub fn new() -> Self {
        Self::default()
    }

    /// Restricts the list to documents with this tag, too.
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Includes the times of creation and modification.
    pub fn with_metadata(mut self) -> Self {
        self.metadata = true;
        self
    }
}

/// A document in a reply to a scoped connection: without its location, which belongs to the rest of
/// the space.
///
/// As JSON: `id`, `title`, `isDeleted`, `dailyNoteDate`, and with metadata `createdAt` and
/// `lastModifiedAt`. It has no `rev`, which would count writes to hidden parts, such as relations
/// to collections outside of the scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedDocument {
    /// The document ID, equal to the ID of its root block.
    pub id: DocumentId,
    /// The text of the root block; empty for a deleted document.
    pub title: String,
    /// Whether the document is in the trash or does not exist: its ID is all that is shown of it.
    pub is_deleted: bool,
    /// The day of a daily note.
    pub day: Option<Day>,
    /// The times of creation and of the last modification, if the request asked for them.
    pub times: Option<(Timestamp, Timestamp)>,
}

impl Serialize for ScopedDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("isDeleted", &self.is_deleted)?;
        if let Some(day) = self.day {
            map.serialize_entry("dailyNoteDate", &day)?;
        }
        if let Some((created, modified)) = self.times {
            map.serialize_entry("createdAt", &created)?;
            map.serialize_entry("lastModifiedAt", &modified)?;
        }
        map.end()
    }
}

/// A write to documents of a scope, numbered within the scope from 1 without gaps.
///
/// As JSON: `sequence`, `at`, `by` unless anonymous, `documentIds`, `blockIds`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ScopedChange {
    /// The sequence number within the scope.
    pub sequence: u64,
    /// The time of the write.
    pub at: Timestamp,
    /// The author.
    #[serde(skip_serializing_if = "Author::is_anonymous")]
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub by: Author,
    /// The changed documents of the scope, by ID. A client reads them again; a document that is not
    /// found has left the scope.
    #[serde(rename = "documentIds")]
    pub documents: Vec<DocumentId>,
    /// The blocks of those documents that were inserted, updated, moved, commented or removed, by
    /// ID.
    #[serde(rename = "blockIds")]
    pub blocks: Vec<BlockId>,
}
