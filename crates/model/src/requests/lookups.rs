//! Requests that find what others name by ID: where blocks are, and documents by title or path.

use crate::json::one_or_many;
#[cfg(feature = "schemars")]
use crate::json_schemas::OneOrMany;
use crate::{BlockId, Day, DocumentId, PathStep};

/// Asks where blocks are. As JSON: `{"blockIds": [..]}`.
///
/// ```
/// use leafbase_model::{BlockId, ResolveBlocks};
/// let json = r#"{"blockIds": ["00000000000000000000000000"]}"#;
/// assert_eq!(ResolveBlocks::new([BlockId::NIL]), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ResolveBlocks {
    /// The blocks.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<BlockId>"))]
    pub block_ids: Vec<BlockId>,
}

impl ResolveBlocks {
    /// Asks where these blocks are.
    pub fn new(blocks: impl IntoIterator<Item = BlockId>) -> Self {
        Self { block_ids: blocks.into_iter().collect() }
    }
}

impl From<BlockId> for ResolveBlocks {
    fn from(block: BlockId) -> Self {
        Self::new([block])
    }
}

/// Where a block is. As JSON: `{"blockId", "documentId", "dailyNoteDate", "pageBlockPath": [{"id",
/// "content"}]}`, the day only of a block in a daily note.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ResolvedBlock {
    /// The block.
    pub block_id: BlockId,
    /// Its document.
    pub document_id: DocumentId,
    /// The day of the daily note that it is in.
    #[serde(rename = "dailyNoteDate", skip_serializing_if = "Option::is_none")]
    pub day: Option<Day>,
    /// The pages that contain it, from the root of the document.
    #[serde(rename = "pageBlockPath")]
    pub path: Vec<PathStep>,
}

/// Finds documents by name: a title, or on a full connection also a path, which is the names of the
/// folders from the top and the title, separated by `/`. Where no document outside of the trash has
/// it, also by the day of a daily note and by an alias. Case does not matter. As JSON: `{"name":
/// "Travel/Lisbon"}`.
///
/// ```
/// use leafbase_model::FindDocuments;
/// let json = r#"{"name": "Travel/Lisbon"}"#;
/// assert_eq!(FindDocuments::named("Travel/Lisbon"), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FindDocuments {
    /// The title, as replies show it, the path, or otherwise the day or an alias.
    pub name: String,
}

impl FindDocuments {
    /// Finds the documents with this name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into() }
    }
}
