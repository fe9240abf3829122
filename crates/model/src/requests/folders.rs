//! Requests of the folder operations.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::given;
use crate::json::{
    Object, RecursiveDraft, deserialize_by, is_default, one_or_many, or_default, read_recursive,
};
#[cfg(feature = "schemars")]
use crate::json_schemas::OneOrMany;
use crate::nested::{Nested, without_recursion};
use crate::{Error, FolderId, FolderRef, Result};

/// A folder to create, with its subfolders. As JSON: `{"name": "..", "parentFolderId": "..",
/// "folders": [..]}`. A folder of a reply is one to create as well, with an ID of its own.
///
/// Cloning, comparing and dropping a draft does not recurse, whatever its depth; formatting and
/// serializing do.
///
/// ```
/// use leafbase_model::FolderDraft;
/// let json = r#"{"name": "Travel", "folders": [{"name": "Lisbon"}]}"#;
/// let travel = FolderDraft::new("Travel").with_folders([FolderDraft::new("Lisbon")]);
/// assert_eq!(travel, serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct FolderDraft {
    /// The name.
    pub name: String,
    /// The parent folder; the top level if absent. Only for drafts that are not nested in another
    /// one.
    pub parent: Option<FolderRef>,
    /// The subfolders to create.
    pub folders: Vec<FolderDraft>,
}

impl FolderDraft {
    /// A folder at the top level, without subfolders.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), parent: None, folders: Vec::new() }
    }

    /// Sets the parent folder.
    pub fn within(mut self, parent: FolderId) -> Self {
        self.parent = Some(parent.into());
        self
    }

    /// Sets the subfolders.
    pub fn with_folders(mut self, folders: impl IntoIterator<Item = FolderDraft>) -> Self {
        self.folders = folders.into_iter().collect();
        self
    }
}

impl Nested for FolderDraft {
    fn children(&self) -> &[Self] {
        &self.folders
    }

    fn take_children(&mut self) -> Vec<Self> {
        std::mem::take(&mut self.folders)
    }

    fn with_children(&self, folders: Vec<Self>) -> Self {
        Self { name: self.name.clone(), parent: self.parent, folders }
    }

    fn eq_without_children(&self, other: &Self) -> bool {
        self.name == other.name && self.parent == other.parent
    }
}

without_recursion!(FolderDraft);

impl RecursiveDraft for FolderDraft {
    const CHILDREN: &'static str = "folders";

    fn read_alone(mut object: Object, _: bool) -> Result<Self> {
        let name = object.required("name")?;
        let parent = object.optional("parentFolderId")?;
        // Of a folder in a reply. Built-in locations, which a listing has as well, are not drafts.
        if let Some(FolderRef::BuiltIn(location)) = object.optional("id")? {
            let message = format!("{location} is a built-in location, which cannot be created");
            return Err(Error::validation(message).at("id"));
        }
        object.take_unlisted("rev");
        object.take_unlisted("documentCount");
        object.finish()?;
        Ok(Self { name, parent, folders: Vec::new() })
    }

    fn children_mut(&mut self) -> &mut Vec<Self> {
        &mut self.folders
    }

    /// In a reply a subfolder names its parent, whose copy gets another ID.
    fn adapt_children(parent: &Object, children: &mut [Value]) {
        let id = parent.get("id");
        for child in children.iter_mut().filter_map(Value::as_object_mut) {
            if id.is_some() && child.get("parentFolderId") == id {
                child.remove("parentFolderId");
            }
        }
    }
}

impl Eq for FolderDraft {}

impl Serialize for FolderDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        given(&mut map, "parentFolderId", self.parent.as_ref())?;
        given(&mut map, "folders", (!self.folders.is_empty()).then_some(&self.folders))?;
        map.end()
    }
}

/// Creates folders with their subfolders. As JSON: `{"folders": [{"name": ".."}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct CreateFolders {
    /// The folders.
    pub folders: Vec<FolderDraft>,
}

impl CreateFolders {
    /// Creates these folders.
    pub fn new(folders: impl IntoIterator<Item = FolderDraft>) -> Self {
        Self { folders: folders.into_iter().collect() }
    }
}

/// The new parent of moved folders. As JSON: `"root"`, `{"destination": "root"}` or
/// `{"parentFolderId": ".."}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FolderDestination {
    /// The top level.
    #[default]
    Root,
    /// A folder.
    Folder(FolderRef),
}

impl From<FolderId> for FolderDestination {
    fn from(folder: FolderId) -> Self {
        Self::Folder(folder.into())
    }
}

impl FolderDestination {
    fn built_in(name: &str) -> Result<Self> {
        if name == "root" {
            return Ok(Self::Root);
        }
        let got = crate::json::quoted(name);
        Err(Error::validation(format!(
            "unknown destination {got}, expected root or a parentFolderId"
        )))
    }

    fn read(value: Value) -> Result<Self> {
        // The bare string is the short form of `{"destination": "root"}`.
        if let Value::String(name) = &value {
            return Self::built_in(name);
        }
        let mut object = Object::new(value)?;
        let name: Option<String> = object.optional("destination")?;
        let parent: Option<FolderRef> = object.optional("parentFolderId")?;
        object.finish()?;
        // Exclusive forms: a folder moves to the top level or into a parent.
        match (name, parent) {
            (Some(name), None) => Self::built_in(&name).map_err(|error| error.at("destination")),
            (None, Some(parent)) => Ok(Self::Folder(parent)),
            _ => Err(Error::validation("name exactly one of destination and parentFolderId")),
        }
    }
}

deserialize_by!(FolderDraft: read_recursive, FolderDestination: Self::read);

impl Serialize for FolderDestination {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Root => map.serialize_entry("destination", "root")?,
            Self::Folder(parent) => map.serialize_entry("parentFolderId", parent)?,
        }
        map.end()
    }
}

/// Moves folders with their contents. As JSON: `{"folderIds": [".."], "destination":
/// {"parentFolderId": ".."}}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
pub struct MoveFolders {
    /// The folders.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<FolderRef>"))]
    pub folder_ids: Vec<FolderRef>,
    /// The new parent.
    pub destination: FolderDestination,
}

impl MoveFolders {
    /// Moves these folders to `destination`.
    pub fn new(
        folders: impl IntoIterator<Item = FolderId>,
        destination: impl Into<FolderDestination>,
    ) -> Self {
        Self {
            folder_ids: folders.into_iter().map(FolderRef::from).collect(),
            destination: destination.into(),
        }
    }
}

/// Deletes folders. Their contents move to the parent folder, documents of top-level folders to
/// `unsorted`. As JSON: `{"folderIds": [".."], "mustBeEmpty": true}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
pub struct DeleteFolders {
    /// The folders.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<FolderRef>"))]
    pub folder_ids: Vec<FolderRef>,
    /// Whether non-empty folders are refused.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub must_be_empty: bool,
}

impl DeleteFolders {
    /// Deletes these folders, empty or not.
    pub fn new(folders: impl IntoIterator<Item = FolderId>) -> Self {
        Self {
            folder_ids: folders.into_iter().map(FolderRef::from).collect(),
            must_be_empty: false,
        }
    }

    /// Refuses non-empty folders.
    pub fn if_empty(mut self) -> Self {
        self.must_be_empty = true;
        self
    }
}
