//! Folders, and the built-in locations of every space.

use std::fmt;
use std::str::FromStr;

use serde::ser::{Serialize, Serializer};

use crate::json::{from_text, wire_enum};
use crate::{Error, FolderId, Result};

/// The record of a folder.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FolderRecord {
    /// The folder ID.
    pub id: FolderId,
    /// The name.
    pub name: String,
    /// The parent folder; `None` at the top level.
    #[serde(skip_serializing_if = "Option::is_none", rename = "parentFolderId")]
    pub parent: Option<FolderId>,
    /// The revision: 1 on creation, incremented by each change of the record and by the removal, so
    /// that a folder that is created again continues with a higher one.
    pub rev: u64,
}

impl FolderRecord {
    /// The record after a move into `parent`.
    pub fn kept_in(&self, parent: Option<FolderId>) -> Self {
        Self { parent, rev: self.rev.saturating_add(1), ..self.clone() }
    }
}

wire_enum! {
    /// A location that exists in every space. It is not a folder: it cannot be a parent, nor be
    /// moved or deleted.
    BuiltInLocation {
        /// Documents in no folder.
        #[default]
        Unsorted = "unsorted",
        /// Daily notes.
        DailyNotes = "daily_notes",
        /// Templates of documents.
        Templates = "templates",
        /// Deleted documents.
        Trash = "trash",
    }
}

impl BuiltInLocation {
    /// The display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unsorted => "Unsorted",
            Self::DailyNotes => "Daily notes",
            Self::Templates => "Templates",
            Self::Trash => "Trash",
        }
    }
}

/// A folder or a built-in location, wherever a request or reply has the ID of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FolderRef {
    /// A built-in location.
    BuiltIn(BuiltInLocation),
    /// A folder.
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

    /// A malformed ID parses as [`FolderId::NIL`], which no folder has, so that it is not found
    /// like any unknown ID.
    fn from_str(text: &str) -> Result<Self> {
        // Names first: none of them has the 26 characters of an ID, so the order is unambiguous.
        Ok(match text.parse::<BuiltInLocation>() {
            Ok(location) => location.into(),
            Err(_) => text.parse().unwrap_or(FolderId::NIL).into(),
        })
    }
}

from_text!(FolderRef: "an ID");

impl Serialize for FolderRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A folder or built-in location in a listing of folders.
///
/// As JSON: `{"id", "name", "parentFolderId", "documentCount", "rev", "folders": [..]}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Folder {
    /// The folder ID, or the name of the built-in location.
    pub id: FolderRef,
    /// The name.
    pub name: String,
    /// The parent folder; `None` at the top level.
    #[serde(rename = "parentFolderId", skip_serializing_if = "Option::is_none")]
    pub parent: Option<FolderId>,
    /// The number of documents directly in this folder.
    pub document_count: u64,
    /// The revision of the folder; `None` for a built-in location.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rev: Option<u64>,
    /// The subfolders by name, case-insensitively, then by ID.
    pub folders: Vec<Folder>,
}

impl Folder {
    /// The folder ID; `None` for a built-in location.
    pub const fn folder_id(&self) -> Option<FolderId> {
        match self.id {
            FolderRef::Folder(folder) => Some(folder),
            FolderRef::BuiltIn(_) => None,
        }
    }

    /// Iterates over this folder and all descendants in preorder, each with its depth from 0.
    pub fn walk(&self) -> impl Iterator<Item = (usize, &Folder)> {
        // Preorder traversal with an explicit stack: limits may allow deeply nested folders.
        let mut waiting = vec![(0, self)];
        std::iter::from_fn(move || {
            let (depth, folder) = waiting.pop()?;
            waiting.extend(folder.folders.iter().rev().map(|within| (depth + 1, within)));
            Some((depth, folder))
        })
    }
}
