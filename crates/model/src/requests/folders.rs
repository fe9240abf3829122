//! The folder operations.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::given;
use crate::json::{FromJson, Object, deserialize_through_json, one_or_many};
use crate::nested::{Nested, without_recursion};
use crate::{Error, FolderId, FolderRef, Result};

/// A folder that is to be made, with the folders in it. As JSON: `{"name": "..", "parentFolderId":
/// "..", "folders": [..]}`.
///
/// However deep it nests, it is cloned, compared and dropped without recursion. Only printing and
/// serializing recurse through it.
///
/// ```
/// use leafbase_model::FolderDraft;
/// let json = r#"{"name": "Travel", "folders": [{"name": "Lisbon"}]}"#;
/// assert_eq!(FolderDraft::new("Travel").with_folders([FolderDraft::new("Lisbon")]), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct FolderDraft {
    /// Its name.
    pub name: String,
    /// The folder to make it in; none for the top. Only for one that is in no other draft.
    pub parent: Option<FolderRef>,
    /// The folders to make in it.
    pub folders: Vec<FolderDraft>,
}

impl FolderDraft {
    /// A folder of this name at the top, with nothing in it.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), parent: None, folders: Vec::new() }
    }

    /// The same folder in `parent`.
    pub fn within(mut self, parent: FolderId) -> Self {
        self.parent = Some(parent.into());
        self
    }

    /// The same folder with these in it.
    pub fn with_folders(mut self, folders: impl IntoIterator<Item = FolderDraft>) -> Self {
        self.folders = folders.into_iter().collect();
        self
    }
}

impl Nested for FolderDraft {
    fn below(&self) -> &[Self] {
        &self.folders
    }

    fn take_below(&mut self) -> Vec<Self> {
        std::mem::take(&mut self.folders)
    }

    fn with_below(&self, folders: Vec<Self>) -> Self {
        Self { name: self.name.clone(), parent: self.parent, folders }
    }

    fn is_alike(&self, other: &Self) -> bool {
        self.name == other.name && self.parent == other.parent
    }
}

without_recursion!(FolderDraft);

impl Eq for FolderDraft {}

impl FromJson for FolderDraft {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            name: object.required("name")?,
            parent: object.nullable("parentFolderId")?.flatten(),
            folders: object.optional("folders")?.unwrap_or_default(),
        };
        object.finish()?;
        Ok(read)
    }
}

impl Serialize for FolderDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        given(&mut map, "parentFolderId", self.parent.as_ref())?;
        given(&mut map, "folders", (!self.folders.is_empty()).then_some(&self.folders))?;
        map.end()
    }
}

/// Makes folders, with folders in them. As JSON: `{"folders": [{"name": ".."}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct CreateFolders {
    /// The folders.
    pub folders: Vec<FolderDraft>,
}

impl CreateFolders {
    /// Makes these folders.
    pub fn new(folders: impl IntoIterator<Item = FolderDraft>) -> Self {
        Self { folders: folders.into_iter().collect() }
    }
}

impl FromJson for CreateFolders {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let folders = object.required("folders")?;
        object.finish()?;
        Ok(Self { folders })
    }
}

/// Where folders are moved to. As JSON: `"root"`, `{"destination": "root"}` or `{"parentFolderId":
/// ".."}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FolderDestination {
    /// To the top.
    #[default]
    Root,
    /// Into this folder.
    Folder(FolderRef),
}

impl From<FolderId> for FolderDestination {
    fn from(folder: FolderId) -> Self {
        Self::Folder(folder.into())
    }
}

impl FromJson for FolderDestination {
    fn from_json(value: Value) -> Result<Self> {
        let root = |word: &str| match word {
            "root" => Ok(Self::Root),
            other => {
                let got = crate::json::quoted(other);
                Err(Error::validation(format!(
                    "unknown value {got}, expected root or a parentFolderId"
                )))
            }
        };
        if let Value::String(word) = &value {
            return root(word);
        }
        let mut object = Object::new(value)?;
        let word: Option<String> = object.optional("destination")?;
        let parent: Option<FolderRef> = object.optional("parentFolderId")?;
        object.finish()?;
        match (word, parent) {
            (Some(word), None) => root(&word).map_err(|error| error.at("destination")),
            (None, Some(parent)) => Ok(Self::Folder(parent)),
            _ => Err(Error::validation("name exactly one of destination and parentFolderId")),
        }
    }
}

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

fn folder_ids(object: &mut Object) -> Result<Vec<FolderRef>> {
    let value =
        object.take("folderIds").ok_or_else(|| Error::validation("is missing").at("folderIds"))?;
    one_or_many(value).map_err(|error| error.at("folderIds"))
}

/// Moves folders with all in them. As JSON: `{"folderIds": [".."], "destination":
/// {"parentFolderId": ".."}}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MoveFolders {
    /// The folders.
    pub folder_ids: Vec<FolderRef>,
    /// Where to.
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

impl FromJson for MoveFolders {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            folder_ids: folder_ids(&mut object)?,
            destination: object.required("destination")?,
        };
        object.finish()?;
        Ok(read)
    }
}

/// Deletes folders: what is in them goes to the folder that they are in, documents of a top one to
/// `unsorted`. As JSON: `{"folderIds": [".."], "mustBeEmpty": true}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteFolders {
    /// The folders.
    pub folder_ids: Vec<FolderRef>,
    /// Whether one with something in it is refused.
    pub must_be_empty: bool,
}

impl DeleteFolders {
    /// Deletes these folders, whatever is in them.
    pub fn new(folders: impl IntoIterator<Item = FolderId>) -> Self {
        Self {
            folder_ids: folders.into_iter().map(FolderRef::from).collect(),
            must_be_empty: false,
        }
    }

    /// The same, but refused if one is not empty.
    pub fn if_empty(mut self) -> Self {
        self.must_be_empty = true;
        self
    }
}

impl FromJson for DeleteFolders {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            folder_ids: folder_ids(&mut object)?,
            must_be_empty: object.optional("mustBeEmpty")?.unwrap_or_default(),
        };
        object.finish()?;
        Ok(read)
    }
}

impl Serialize for DeleteFolders {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("folderIds", &self.folder_ids)?;
        given(&mut map, "mustBeEmpty", self.must_be_empty.then_some(&true))?;
        map.end()
    }
}

deserialize_through_json!(
    FolderDraft,
    CreateFolders,
    FolderDestination,
    MoveFolders,
    DeleteFolders
);
