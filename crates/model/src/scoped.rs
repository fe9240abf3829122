//! What scoped connections ask and are shown where that is not what full ones do: neither where
//! documents are kept nor the space's own change log.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::json::{is_default, or_default};
use crate::{Author, BlockId, Day, DocumentId, Timestamp};

/// Lists the documents of a scope. As JSON: `{"fetchMetadata": true}`.
///
/// ```
/// use leafbase_model::ListScopedDocuments;
/// assert_eq!(ListScopedDocuments::new().with_metadata(), serde_json::from_str(r#"{"fetchMetadata": true}"#)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ListScopedDocuments {
    /// Whether the times are shown.
    #[serde(rename = "fetchMetadata", default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "is_default")]
    pub metadata: bool,
}

impl ListScopedDocuments {
    /// All, without times.
    pub fn new() -> Self {
        Self::default()
    }

    /// With the times.
    pub fn with_metadata(mut self) -> Self {
        self.metadata = true;
        self
    }
}

/// A document as a scoped connection shows it: not where it is kept, which is the rest of the
/// space's.
///
/// As JSON: `id`, `title`, `isDeleted` (`false`: what is in the trash is not shown),
/// `dailyNoteDate`, and with metadata `createdAt` and `lastModifiedAt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedDocument {
    /// Its ID, which is its root block's.
    pub id: DocumentId,
    /// The text of its root block.
    pub title: String,
    /// The day whose note it is.
    pub day: Option<Day>,
    /// When it was made, and when it or a block of it last changed, if the request asked for it.
    pub times: Option<(Timestamp, Timestamp)>,
}

impl Serialize for ScopedDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("isDeleted", &false)?;
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

/// A write to documents of a scope, as its connections are told of it: numbered within the scope,
/// from 1 and without gaps.
///
/// As JSON: `sequence`, `at`, `by` unless nobody is known, `documentIds`, `blockIds`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedChange {
    /// The number of the write among those of the scope.
    pub sequence: u64,
    /// When it was made.
    pub at: Timestamp,
    /// Who made it.
    pub by: Author,
    /// The documents of the scope that it changed, by ID: read them anew. One that is not found
    /// then has left.
    pub documents: Vec<DocumentId>,
    /// The blocks in them that it made, changed, moved, commented or took away, by ID.
    pub blocks: Vec<BlockId>,
}

impl Serialize for ScopedChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sequence", &self.sequence)?;
        map.serialize_entry("at", &self.at)?;
        if !self.by.is_nobody() {
            map.serialize_entry("by", self.by.as_str())?;
        }
        map.serialize_entry("documentIds", &self.documents)?;
        map.serialize_entry("blockIds", &self.blocks)?;
        map.end()
    }
}
