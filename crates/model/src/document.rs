//! Documents and their locations.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::json::Refused;
use crate::{BuiltInLocation, Day, DocumentId, Error, FolderId, FolderRef, Result, Timestamp};

/// The location of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Location {
    /// In no folder.
    #[default]
    Unsorted,
    /// Among the templates.
    Templates,
    /// Among the daily notes.
    DailyNotes,
    /// In a folder.
    Folder(FolderId),
    /// In the trash.
    Trash,
    /// The inbox of tasks: a hidden document, at most one per space.
    Inbox,
}

/// A location that a request may choose. As JSON: `{"destination": "unsorted"}`, `{"destination":
/// "templates"}` or `{"folderId": ".."}`.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(try_from = "DestinationJson", into = "DestinationJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Destination {
    /// In no folder.
    #[default]
    Unsorted,
    /// Among the templates.
    Templates,
    /// In a folder.
    Folder(FolderId),
}

impl From<FolderId> for Destination {
    fn from(folder: FolderId) -> Self {
        Self::Folder(folder)
    }
}

impl From<Destination> for Location {
    fn from(destination: Destination) -> Self {
        match destination {
            Destination::Unsorted => Self::Unsorted,
            Destination::Templates => Self::Templates,
            Destination::Folder(folder) => Self::Folder(folder),
        }
    }
}

impl TryFrom<Location> for Destination {
    type Error = Error;

    /// [`crate::ErrorKind::RuleViolation`] for a location that no request can choose.
    fn try_from(location: Location) -> Result<Self> {
        match location {
            Location::Unsorted => Ok(Self::Unsorted),
            Location::Templates => Ok(Self::Templates),
            Location::Folder(folder) => Ok(Self::Folder(folder)),
            Location::DailyNotes => Self::built_in(BuiltInLocation::DailyNotes),
            Location::Trash => Self::built_in(BuiltInLocation::Trash),
            Location::Inbox => Err(Error::rule("there is one inbox, made by its first task")),
        }
    }
}

impl From<BuiltInLocation> for Location {
    fn from(location: BuiltInLocation) -> Self {
        match location {
            BuiltInLocation::Unsorted => Self::Unsorted,
            BuiltInLocation::DailyNotes => Self::DailyNotes,
            BuiltInLocation::Templates => Self::Templates,
            BuiltInLocation::Trash => Self::Trash,
        }
    }
}

impl Destination {
    fn built_in(location: BuiltInLocation) -> Result<Self> {
        match location {
            BuiltInLocation::Unsorted => Ok(Self::Unsorted),
            BuiltInLocation::Templates => Ok(Self::Templates),
            BuiltInLocation::DailyNotes => {
                Err(Error::rule("daily notes are made by the first write to their day"))
            }
            BuiltInLocation::Trash => {
                Err(Error::rule("documents come into the trash by being deleted only"))
            }
        }
    }
}

/// The JSON of a [`Destination`]: exactly one of `destination` and `folderId`.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "Destination"))]
struct DestinationJson {
    /// `unsorted` or `templates`. Either this or `folderId`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    destination: Option<BuiltInLocation>,
    /// The folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder_id: Option<FolderRef>,
}

impl From<Destination> for DestinationJson {
    fn from(destination: Destination) -> Self {
        let (destination, folder_id) = match destination {
            Destination::Unsorted => (Some(BuiltInLocation::Unsorted), None),
            Destination::Templates => (Some(BuiltInLocation::Templates), None),
            Destination::Folder(folder) => (None, Some(folder.into())),
        };
        Self { destination, folder_id }
    }
}

impl TryFrom<DestinationJson> for Destination {
    type Error = Refused;

    fn try_from(json: DestinationJson) -> Result<Self, Refused> {
        // Built-in IDs of the folder listing are accepted in either field; some are no
        // destinations.
        let (location, name) = match (json.destination, json.folder_id) {
            (Some(location), None) => (location, "destination"),
            (None, Some(FolderRef::BuiltIn(location))) => (location, "folderId"),
            (None, Some(FolderRef::Folder(folder))) => return Ok(Self::Folder(folder)),
            _ => {
                let message = "name exactly one of destination and folderId";
                return Err(Error::validation(message).into());
            }
        };
        Ok(Self::built_in(location).map_err(|error| error.at(name))?)
    }
}

/// The record of a document. Its title is the text of its root block.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentRecord {
    /// The document ID, equal to the ID of its root block.
    pub id: DocumentId,
    /// The location.
    pub location: Location,
    /// The day of a daily note.
    #[serde(rename = "dailyNoteDate", skip_serializing_if = "Option::is_none")]
    pub day: Option<Day>,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change of the document or one of its blocks. Moving it into or out of
    /// the trash is a change; moving it to another folder is not.
    #[serde(rename = "lastModifiedAt")]
    pub modified_at: Timestamp,
    /// The revision: 1 on creation, incremented by each write that changes the document or one of
    /// its blocks, an undo included, and by the erasure, so that a document that is created again
    /// continues with a higher one. Like the modification time it stays when a document moves to
    /// another folder, and when an item changes because of the other end of a relation.
    pub rev: u64,
}

impl DocumentRecord {
    /// The record of a document that is created at the instant `at`.
    pub const fn new(id: DocumentId, location: Location, day: Option<Day>, at: Timestamp) -> Self {
        Self { id, location, day, created_at: at, modified_at: at, rev: 1 }
    }

    /// The record after a move to `location` at the instant `at`.
    pub fn kept_at(&self, location: Location, at: Timestamp) -> Self {
        let mut record = Self { location, ..self.clone() };
        if self.changes_at(location) {
            // The clock may have been set back: modification times never decrease.
            record.modified_at = self.modified_at.max(at);
            record.rev = self.rev.saturating_add(1);
        }
        record
    }

    /// Whether a move to `location` changes the document: entering or leaving the trash does,
    /// other moves only relocate it.
    pub fn changes_at(&self, location: Location) -> bool {
        (self.location == Location::Trash) != (location == Location::Trash)
    }
}

/// A document in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The stored record.
    pub record: DocumentRecord,
    /// The text of the root block.
    pub title: String,
    /// Whether the request asked for the timestamps.
    pub with_times: bool,
    /// Whether `destination` repeats the location, as in the reply to a move.
    pub with_destination: bool,
    /// A clickable link, in replies with times and of created documents.
    pub clickable_link: Option<String>,
}

impl Document {
    /// The document ID.
    pub const fn id(&self) -> DocumentId {
        self.record.id
    }

    /// The revision.
    pub const fn rev(&self) -> u64 {
        self.record.rev
    }

    /// The creation time.
    pub const fn created_at(&self) -> Timestamp {
        self.record.created_at
    }

    /// The time of the last change of the document or one of its blocks.
    pub const fn modified_at(&self) -> Timestamp {
        self.record.modified_at
    }
}

impl Serialize for Location {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Unsorted => map.serialize_entry("destination", "unsorted")?,
            Self::Templates => map.serialize_entry("destination", "templates")?,
            Self::DailyNotes => map.serialize_entry("destination", "daily_notes")?,
            Self::Trash => map.serialize_entry("destination", "trash")?,
            Self::Inbox => map.serialize_entry("destination", "inbox")?,
            // A folder is the only location with an ID.
            Self::Folder(id) => map.serialize_entry("folderId", id)?,
        }
        map.end()
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.record.id)?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("isDeleted", &(self.record.location == Location::Trash))?;
        map.serialize_entry("location", &self.record.location)?;
        if self.with_destination {
            map.serialize_entry("destination", &self.record.location)?;
        }
        if let Some(day) = self.record.day {
            map.serialize_entry("dailyNoteDate", &day)?;
        }
        if self.with_times {
            map.serialize_entry("createdAt", &self.record.created_at)?;
            map.serialize_entry("lastModifiedAt", &self.record.modified_at)?;
        }
        if let Some(link) = &self.clickable_link {
            map.serialize_entry("clickableLink", link)?;
        }
        map.serialize_entry("rev", &self.record.rev)?;
        map.end()
    }
}
