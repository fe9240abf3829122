//! Documents: a root page, and where it is kept.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::{Day, DocumentId, FolderId, Timestamp};

/// Where a document is kept.
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
}

/// A document as the store keeps it. Its title is the text of its root block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentRecord {
    /// Its ID, which is its root block's.
    pub id: DocumentId,
    /// Where it is kept.
    pub location: Location,
    /// The day whose note it is.
    pub day: Option<Day>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it, or a block of it, last changed.
    pub modified_at: Timestamp,
}

/// A document as a listing shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What the store keeps.
    pub record: DocumentRecord,
    /// The text of its root block.
    pub title: String,
    /// Whether the request asked for the times.
    pub with_times: bool,
    /// A link that a person can click, if the space has a template for it.
    pub clickable_link: Option<String>,
}

impl Document {
    /// Its ID.
    pub const fn id(&self) -> DocumentId {
        self.record.id
    }

    /// When it was made.
    pub const fn created_at(&self) -> Timestamp {
        self.record.created_at
    }

    /// When it, or a block of it, last changed.
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
        map.end()
    }
}
