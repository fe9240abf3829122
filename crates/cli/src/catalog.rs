//! All documents and folders of a space with their paths.

use std::collections::HashMap;

use leafbase::{BuiltInLocation, Connection, Document, Folder, FolderId, FolderRef, Location};

use crate::error::CliResult;
use crate::show::line;

/// The documents of a space, sorted by path, and its folders.
pub(crate) struct Catalog {
    pub(crate) documents: Vec<(String, Document)>,
    pub(crate) folders: FolderCatalog,
}

/// The folders of a space with their paths.
pub(crate) struct FolderCatalog {
    /// In the engine's order: built-in locations first.
    pub(crate) listed: Vec<Folder>,
    paths: HashMap<FolderId, String>,
}

impl Catalog {
    /// Reads the records of all documents.
    pub(crate) fn read(notes: &Connection) -> CliResult<Self> {
        let folders = FolderCatalog::read(notes)?;
        let documents =
            notes.documents()?.into_iter().map(|document| (folders.path_of(&document), document));
        let mut documents: Vec<_> = documents.collect();
        documents.sort_by_cached_key(|(path, document)| (path.to_lowercase(), document.id()));
        Ok(Self { documents, folders })
    }

    /// The documents in `location`.
    pub(crate) fn at(&self, location: Location) -> impl Iterator<Item = &Document> {
        let documents = self.documents.iter().map(|(_, document)| document);
        documents.filter(move |document| document.record.location == location)
    }
}

impl FolderCatalog {
    pub(crate) fn read(notes: &Connection) -> CliResult<Self> {
        let listed = notes.folders()?.0;
        let (mut paths, mut above): (HashMap<_, _>, Vec<String>) = (HashMap::new(), Vec::new());
        for (depth, folder) in listed.iter().flat_map(Folder::walk) {
            above.truncate(depth);
            above.push(folder.name.clone());
            paths.extend(folder.folder_id().map(|id| (id, above.join("/"))));
        }
        Ok(Self { listed, paths })
    }

    /// The path of a document, or its title at the top level.
    pub(crate) fn path_of(&self, document: &Document) -> String {
        let within = |place: &str| format!("{place}/{}", document.title);
        match (document.record.location, document.record.day) {
            (Location::Folder(folder), _) => {
                self.path(folder).map_or_else(|| document.title.clone(), within)
            }
            (Location::Templates, _) => within(BuiltInLocation::Templates.as_str()),
            (Location::Trash, _) => within(BuiltInLocation::Trash.as_str()),
            (Location::DailyNotes, Some(day)) => day.to_string(),
            _ => document.title.clone(),
        }
    }

    /// The path of a document as lines show it, without control characters.
    pub(crate) fn shown_path(&self, document: &Document) -> String {
        line::plain(&self.path_of(document))
    }

    /// The path of a folder.
    pub(crate) fn path(&self, folder: FolderId) -> Option<&str> {
        self.paths.get(&folder).map(String::as_str)
    }

    /// Every folder except built-in locations, with its path.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (&str, FolderId)> {
        self.paths.iter().map(|(id, path)| (path.as_str(), *id))
    }

    /// The folders at the top level, or the subfolders of `place`.
    pub(crate) fn within(&self, place: Option<FolderRef>) -> &[Folder] {
        let Some(place) = place else {
            // Built-in locations are a prefix of the list and have no folder ID.
            let built_in = self.listed.partition_point(|folder| folder.folder_id().is_none());
            return self.listed.split_at(built_in).1;
        };
        let mut all = self.listed.iter().flat_map(Folder::walk);
        all.find(|(_, folder)| folder.id == place).map_or(&[], |(_, folder)| &folder.folders)
    }
}
