//! All documents and folders of a space, and what each is called from the top.

use std::collections::HashMap;

use leafbase::{BuiltInLocation, Connection, Document, Folder, FolderId, FolderRef, Location};

use crate::fault::Result;

/// The documents of a space, by path, and its folders.
pub(crate) struct Catalog {
    pub(crate) documents: Vec<(String, Document)>,
    pub(crate) folders: Folders,
}

/// The folders of a space.
pub(crate) struct Folders {
    /// As the engine lists them: built-in locations first.
    pub(crate) listed: Vec<Folder>,
    paths: HashMap<FolderId, String>,
}

impl Catalog {
    /// Reads all titles: names are given by titles, and the engine finds documents by their IDs.
    pub(crate) fn read(notes: &Connection) -> Result<Self> {
        let folders = Folders::read(notes)?;
        let documents =
            notes.documents()?.into_iter().map(|document| (folders.path_of(&document), document));
        let mut documents: Vec<_> = documents.collect();
        documents.sort_by_cached_key(|(path, document)| (path.to_lowercase(), document.id()));
        Ok(Self { documents, folders })
    }

    /// Those kept at `location`.
    pub(crate) fn at(&self, location: Location) -> impl Iterator<Item = &Document> {
        let documents = self.documents.iter().map(|(_, document)| document);
        documents.filter(move |document| document.record.location == location)
    }
}

impl Folders {
    pub(crate) fn read(notes: &Connection) -> Result<Self> {
        let listed = notes.folders()?.0;
        let (mut paths, mut above): (HashMap<_, _>, Vec<String>) = (HashMap::new(), Vec::new());
        for (depth, folder) in listed.iter().flat_map(Folder::walk) {
            above.truncate(depth);
            above.push(folder.name.clone());
            paths.extend(folder.folder_id().map(|id| (id, above.join("/"))));
        }
        Ok(Self { listed, paths })
    }

    /// What a document is called from the top.
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

    /// What a folder is called from the top.
    pub(crate) fn path(&self, folder: FolderId) -> Option<&str> {
        self.paths.get(&folder).map(String::as_str)
    }

    /// Each folder that is no built-in location, with its path.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (&str, FolderId)> {
        self.paths.iter().map(|(id, path)| (path.as_str(), *id))
    }

    /// The folders at the top, those in `folder`, or none for a built-in location.
    pub(crate) fn within(&self, place: Option<FolderRef>) -> &[Folder] {
        let Some(place) = place else {
            let built_in =
                self.listed.iter().take_while(|folder| folder.folder_id().is_none()).count();
            return self.listed.get(built_in..).unwrap_or_default();
        };
        let mut all = self.listed.iter().flat_map(Folder::walk);
        all.find(|(_, folder)| folder.id == place).map_or(&[], |(_, folder)| &folder.folders)
    }
}
