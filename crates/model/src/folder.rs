//! Folders that documents are kept in, and the locations that every space has.

use std::fmt;
use std::str::FromStr;

use serde::ser::{Serialize, Serializer};

use crate::json::wire_enum;
use crate::{Error, FolderId, Result};

/// A folder as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
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

wire_enum! {
    /// A location that every space has, and that is no folder: it can be no parent, is not moved
    /// and not deleted.
    BuiltInLocation {
        /// Documents in no folder.
        #[default]
        Unsorted = "unsorted",
        /// Daily notes.
        DailyNotes = "daily_notes",
        /// Documents to copy from.
        Templates = "templates",
        /// Deleted documents.
        Trash = "trash",
    }
}

impl BuiltInLocation {
    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unsorted => "Unsorted",
            Self::DailyNotes => "Daily notes",
            Self::Templates => "Templates",
            Self::Trash => "Trash",
        }
    }
}

/// What stands where the ID of a folder does: a folder, or the name of a built-in location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FolderRef {
    /// This built-in location.
    BuiltIn(BuiltInLocation),
    /// This folder.
    Folder(FolderId),
}

impl From<FolderId> for FolderRef {
    fn from(folder: FolderId) -> Self {
        Self::Folder(folder)
    }
}

impl From<BuiltInLocation> for FolderRef {
    fn from(location: BuiltInLocation) -> Self {
        Self::BuiltIn(location)
    }
}

impl fmt::Display for FolderRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn(location) => location.fmt(f),
            Self::Folder(folder) => folder.fmt(f),
        }
    }
}

impl FromStr for FolderRef {
    type Err = Error;

    /// A malformed ID is [`FolderId::NIL`], which no folder has: it is not found, like any unknown
    /// ID.
    fn from_str(text: &str) -> Result<Self> {
        Ok(match text.parse::<BuiltInLocation>() {
            Ok(location) => location.into(),
            Err(_) => text.parse().unwrap_or(FolderId::NIL).into(),
        })
    }
}

impl Serialize for FolderRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A folder, or a built-in location, as the listing of folders shows it.
///
/// As JSON: `{"id", "name", "parentFolderId", "documentCount", "folders": [..]}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Folder {
    /// Its ID, or the name of the built-in location.
    pub id: FolderRef,
    /// Its name.
    pub name: String,
    /// The folder it is in; none at the top.
    #[serde(rename = "parentFolderId", skip_serializing_if = "Option::is_none")]
    pub parent: Option<FolderId>,
    /// How many documents are kept right in it, those in its folders not counted.
    pub document_count: u64,
    /// The folders in it, by name, upper and lower case alike, and then by ID.
    pub folders: Vec<Folder>,
}

impl Folder {
    /// Its ID, if it is no built-in location.
    pub const fn folder_id(&self) -> Option<FolderId> {
        match self.id {
            FolderRef::Folder(folder) => Some(folder),
            FolderRef::BuiltIn(_) => None,
        }
    }

    /// This folder and all in it, each with its depth from 0.
    pub fn walk(&self) -> impl Iterator<Item = (usize, &Folder)> {
        let mut waiting = vec![(0, self)];
        std::iter::from_fn(move || {
            let (depth, folder) = waiting.pop()?;
            waiting.extend(folder.folders.iter().rev().map(|within| (depth + 1, within)));
            Some((depth, folder))
        })
    }
}
