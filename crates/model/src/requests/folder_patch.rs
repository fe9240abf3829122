//! Requests that update folders.

use crate::json::{ReadOnlyField, Refused};
use crate::{Error, FolderDestination, FolderId, FolderRef, Result};

/// An update of a folder: absent fields stay unchanged. As JSON: `{"id": "..", "rev": 3, "name":
/// "..", "parentFolderId": ".."}`; `"destination": "root"` moves it to the top level, where a
/// folder has no `parentFolderId`.
///
/// A folder of a reply is an update that changes nothing: what else replies have is ignored.
///
/// ```
/// use leafbase_model::{FolderId, FolderPatch};
/// # let (lisbon, travel) = (FolderId::NIL, FolderId::NIL);
/// let json = r#"{
///     "id": "00000000000000000000000000", "name": "Lisbon", "documentCount": 7, "rev": 2,
///     "parentFolderId": "00000000000000000000000000", "folders": []
/// }"#;
/// let patch = FolderPatch::of(lisbon).named("Lisbon").moved_to(travel).if_rev(2);
/// assert_eq!(patch, serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "FolderPatchJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FolderPatch {
    /// The folder.
    pub id: FolderRef,
    /// The expected revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rev: Option<u64>,
    /// The new name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The new parent.
    #[serde(rename = "destination", skip_serializing_if = "Option::is_none")]
    pub parent: Option<FolderDestination>,
}

impl FolderPatch {
    /// An update of `folder` that changes nothing yet.
    pub fn of(folder: FolderId) -> Self {
        Self { id: folder.into(), rev: None, name: None, parent: None }
    }

    /// Sets the name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the parent folder.
    pub fn moved_to(mut self, parent: impl Into<FolderDestination>) -> Self {
        self.parent = Some(parent.into());
        self
    }

    /// Makes the update conditional on the folder's revision.
    pub fn if_rev(mut self, rev: u64) -> Self {
        self.rev = Some(rev);
        self
    }
}

/// The JSON of a [`FolderPatch`], with the read-only fields of replies.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "FolderPatch"))]
#[expect(dead_code, reason = "read-only fields are accepted and ignored")]
struct FolderPatchJson {
    /// The folder.
    id: FolderRef,
    /// The expected revision.
    #[serde(default)]
    rev: Option<u64>,
    /// The new name.
    #[serde(default)]
    name: Option<String>,
    /// The new parent folder. Not together with `destination`.
    #[serde(default)]
    parent_folder_id: Option<FolderRef>,
    /// The new parent: `root` for the top level.
    #[serde(default)]
    destination: Option<FolderDestination>,
    #[serde(default)]
    document_count: ReadOnlyField,
    #[serde(default)]
    folders: ReadOnlyField,
}

impl TryFrom<FolderPatchJson> for FolderPatch {
    type Error = Refused;

    fn try_from(json: FolderPatchJson) -> Result<Self, Refused> {
        let FolderPatchJson { id, rev, name, parent_folder_id, destination, .. } = json;
        let parent = match (parent_folder_id.map(FolderDestination::Folder), destination) {
            (Some(parent), Some(destination)) if parent != destination => {
                let message = "parentFolderId and destination differ: give one of them";
                return Err(Error::validation(message).at("destination").into());
            }
            (parent, destination) => parent.or(destination),
        };
        Ok(Self { id, rev, name, parent })
    }
}

/// Updates folders. As JSON: `{"folders": [{"id": "..", "name": ".."}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct UpdateFolders {
    /// The updates, at most one for each folder.
    pub folders: Vec<FolderPatch>,
}

impl UpdateFolders {
    /// Makes these updates.
    pub fn new(folders: impl IntoIterator<Item = FolderPatch>) -> Self {
        Self { folders: folders.into_iter().collect() }
    }
}
