//! Requests that update documents.

use crate::json::{ReadOnlyField, Refused};
use crate::{BuiltInLocation, DocumentId, Error, FolderRef, Location, Result};

/// An update of a document: absent fields stay unchanged. As JSON: `{"id": "..", "rev": 3, "title":
/// "..", "location": {"folderId": ".."}}`; `destination` is another name of `location`.
///
/// A document of a reply is an update that changes nothing: what else replies have is ignored.
///
/// ```
/// use leafbase_model::{DocumentId, DocumentPatch, FolderId};
/// # let (trip, travel) = (DocumentId::NIL, FolderId::NIL);
/// let json = r#"{
///     "id": "00000000000000000000000000", "title": "Trip", "isDeleted": false, "rev": 3,
///     "location": {"folderId": "00000000000000000000000000"}
/// }"#;
/// let patch = DocumentPatch::of(trip).titled("Trip").moved_to(travel).if_rev(3);
/// assert_eq!(patch, serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "DocumentPatchJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DocumentPatch {
    /// The document.
    pub id: DocumentId,
    /// The expected revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rev: Option<u64>,
    /// The new title: inline markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The new location. One that is no [`crate::Destination`] can only be where the document is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

impl DocumentPatch {
    /// An update of `document` that changes nothing yet.
    pub fn of(document: DocumentId) -> Self {
        Self { id: document, ..Self::default() }
    }

    /// Sets the title.
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the location.
    pub fn moved_to(mut self, destination: impl Into<crate::Destination>) -> Self {
        self.location = Some(destination.into().into());
        self
    }

    /// Makes the update conditional on the document's revision.
    pub fn if_rev(mut self, rev: u64) -> Self {
        self.rev = Some(rev);
        self
    }
}

/// The JSON of a [`DocumentPatch`], with the read-only fields of replies.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "DocumentPatch"))]
#[expect(dead_code, reason = "read-only fields are accepted and ignored")]
struct DocumentPatchJson {
    /// The document.
    id: DocumentId,
    /// The expected revision.
    #[serde(default)]
    rev: Option<u64>,
    /// The new title: inline markdown.
    #[serde(default)]
    title: Option<String>,
    /// The new location.
    #[serde(default)]
    location: Option<LocationJson>,
    /// Another name of `location`.
    #[serde(default)]
    destination: Option<LocationJson>,
    #[serde(default)]
    is_deleted: ReadOnlyField,
    #[serde(default)]
    daily_note_date: ReadOnlyField,
    #[serde(default)]
    created_at: ReadOnlyField,
    #[serde(default)]
    last_modified_at: ReadOnlyField,
    #[serde(default)]
    clickable_link: ReadOnlyField,
}

impl TryFrom<DocumentPatchJson> for DocumentPatch {
    type Error = Refused;

    fn try_from(json: DocumentPatchJson) -> Result<Self, Refused> {
        let DocumentPatchJson { id, rev, title, location, destination, .. } = json;
        let location = read_location(location, "location")?;
        let destination = read_location(destination, "destination")?;
        if location.is_some() && destination.is_some() && location != destination {
            let message = "location and destination differ: give one of them";
            return Err(Error::validation(message).at("destination").into());
        }
        let location = location.or(destination);
        Ok(Self { id, rev, title, location })
    }
}

pub(super) fn read_location(json: Option<LocationJson>, field: &str) -> Result<Option<Location>> {
    json.map(LocationJson::location).transpose().map_err(|error| error.at(field))
}

/// A location as replies show it: exactly one of `destination` and `folderId`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "DocumentLocation"))]
pub(crate) struct LocationJson {
    /// A built-in location. Either this or `folderId`.
    #[serde(default)]
    destination: Option<BuiltInLocation>,
    /// The folder.
    #[serde(default)]
    folder_id: Option<FolderRef>,
}

impl LocationJson {
    fn location(self) -> Result<Location> {
        match (self.destination, self.folder_id) {
            (Some(location), None) | (None, Some(FolderRef::BuiltIn(location))) => {
                Ok(location.into())
            }
            (None, Some(FolderRef::Folder(folder))) => Ok(Location::Folder(folder)),
            _ => Err(Error::validation("name exactly one of destination and folderId")),
        }
    }
}

/// Updates documents. As JSON: `{"documents": [{"id": "..", "title": ".."}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct UpdateDocuments {
    /// The updates, at most one for each document.
    pub documents: Vec<DocumentPatch>,
}

impl UpdateDocuments {
    /// Makes these updates.
    pub fn new(documents: impl IntoIterator<Item = DocumentPatch>) -> Self {
        Self { documents: documents.into_iter().collect() }
    }
}

/// An update of a document of a scope. As JSON: `{"id": "..", "title": ".."}`; what else replies
/// have is ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(from = "ScopedDocumentPatchJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ScopedDocumentPatch {
    /// The document.
    pub id: DocumentId,
    /// The new title: inline markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl ScopedDocumentPatch {
    /// An update of `document` that changes nothing yet.
    pub fn of(document: DocumentId) -> Self {
        Self { id: document, title: None }
    }

    /// Sets the title.
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

/// The JSON of a [`ScopedDocumentPatch`], with the read-only fields of replies.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "ScopedDocumentPatch"))]
#[expect(dead_code, reason = "read-only fields are accepted and ignored")]
struct ScopedDocumentPatchJson {
    /// The document.
    id: DocumentId,
    /// The new title: inline markdown.
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    is_deleted: ReadOnlyField,
    #[serde(default)]
    daily_note_date: ReadOnlyField,
    #[serde(default)]
    created_at: ReadOnlyField,
    #[serde(default)]
    last_modified_at: ReadOnlyField,
}

impl From<ScopedDocumentPatchJson> for ScopedDocumentPatch {
    fn from(ScopedDocumentPatchJson { id, title, .. }: ScopedDocumentPatchJson) -> Self {
        Self { id, title }
    }
}

/// Updates documents of a scope. As JSON: `{"documents": [{"id": "..", "title": ".."}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct UpdateScopedDocuments {
    /// The updates, at most one for each document.
    pub documents: Vec<ScopedDocumentPatch>,
}

impl UpdateScopedDocuments {
    /// Makes these updates.
    pub fn new(documents: impl IntoIterator<Item = ScopedDocumentPatch>) -> Self {
        Self { documents: documents.into_iter().collect() }
    }
}
