//! The settings of a space: what its connections share and a call may change.

use crate::{BlockId, DocumentId, FolderId};

/// The settings of a space.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct SpaceSettings {
    /// The name.
    pub name: String,
    /// The IANA name of the time zone in which the space counts days.
    #[serde(rename = "timezone")]
    pub zone: String,
}

/// A scope that a host keeps in the space. As JSON: `{"name", "documentIds", "pageIds",
/// "folderIds", "readOnly"}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptScope {
    /// The name.
    pub name: String,
    /// The documents that it names, by ID.
    #[serde(rename = "documentIds")]
    pub documents: Vec<DocumentId>,
    /// The pages that it names, by ID.
    #[serde(rename = "pageIds")]
    pub pages: Vec<BlockId>,
    /// The folders whose documents are in it, by ID.
    #[serde(rename = "folderIds")]
    pub folders: Vec<FolderId>,
    /// Whether it is for reading only.
    #[serde(rename = "readOnly")]
    pub is_read_only: bool,
}
