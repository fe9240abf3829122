//! Folders that documents are kept in.

use crate::FolderId;

/// A folder as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FolderRecord {
    /// Its ID.
    pub id: FolderId,
    /// Its name.
    pub name: String,
    /// The folder it is in; none at the top.
    #[serde(skip_serializing_if = "Option::is_none", rename = "parentFolderId")]
    pub parent: Option<FolderId>,
}
