//! Updates of documents and folders in the naive space.

use leafbase_model::{
    BlockData, BlockDraft, Document, DocumentPatch, Error, ErrorKind, FolderDestination,
    FolderPatch, FolderRecord, FolderRef, Location, Result, UpdateDocuments, UpdateFolders,
};

use crate::naive::By;
use crate::naive_comments::at;
use crate::{Broken, NaiveSpace, naive_rules as rules};

impl NaiveSpace {
    /// Updates titles and locations of documents.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn update_documents(
        &mut self,
        by: By<'_>,
        request: &UpdateDocuments,
    ) -> Result<Vec<Document>> {
        let patches = &request.documents;
        rules::check_count(patches.len(), &self.limits, "documents")?;
        for (index, patch) in patches.iter().enumerate() {
            self.check_patch(by, index, patches).map_err(|error| at("documents", index, error))?;
            debug_assert!(self.document(patch.id).is_some(), "a checked document exists");
        }
        self.write(by.0, |space| {
            for patch in patches {
                if let Some(location) = patch.location {
                    space.set_location(patch.id, location);
                }
                if let Some(title) = &patch.title {
                    let data = &space.get(patch.id.root()).record.data;
                    let data = BlockData { inline: title.clone(), ..data.clone() };
                    space.revise(patch.id.root(), data, by.0);
                }
            }
            Ok(())
        })?;
        Ok(patches.iter().map(|patch| self.shown_document(patch.id, false)).collect())
    }

    fn check_patch(&self, by: By<'_>, index: usize, patches: &[DocumentPatch]) -> Result<()> {
        let Some(patch) = patches.get(index) else { return Ok(()) };
        let found = self.document(patch.id).ok_or_else(|| Error::no_document().at("id"))?;
        let (record, title) = (&found.record, &found.root.record.data.inline);
        rules::check_once(index, patches, |patch| patch.id).map_err(|error| error.at("id"))?;
        if record.location == Location::Inbox {
            return Err(Error::rule("the inbox").at("id"));
        }
        check_rev(patch.rev, record.rev)?;
        let location = patch.location.unwrap_or(record.location);
        let is_place =
            matches!(location, Location::Unsorted | Location::Templates | Location::Folder(_));
        let is_note = record.day.is_some() && !self.breaks(Broken::DailyNotesMove);
        if location != record.location && (!is_place || is_note) {
            return Err(Error::rule("it stays").at("location"));
        }
        if let Location::Folder(folder) = location
            && self.folder(folder).is_none()
        {
            return Err(Error::no_folder().at("location.folderId"));
        }
        let Some(new) = patch.title.as_ref().filter(|new| *new != title) else { return Ok(()) };
        let page = BlockDraft::new(BlockData::page(new.clone()));
        let checked = rules::drafted(&page, 0, by.0, &self.limits);
        checked.map_err(|error| Error::new(error.kind(), error.message()).at("title"))?;
        if location == Location::Trash {
            return Err(Error::rule("in the trash").at("title"));
        }
        Ok(())
    }

    /// Renames and moves folders, one after the other.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn update_folders(
        &mut self,
        by: By<'_>,
        request: &UpdateFolders,
    ) -> Result<Vec<FolderRecord>> {
        let patches = &request.folders;
        rules::check_count(patches.len(), &self.limits, "folders")?;
        let ids = self.write(by.0, |space| {
            let mut ids = Vec::new();
            for (index, patch) in patches.iter().enumerate() {
                if is_location_as_shown(patch) {
                    continue;
                }
                let id = space.named(patch.id).map_err(|error| error.at("id")).and_then(|id| {
                    rules::check_once(index, patches, |patch| patch.id)
                        .map_err(|error| error.at("id"))?;
                    space.update_folder_by(patch)?;
                    Ok(id)
                });
                ids.push(id.map_err(|error| at("folders", index, error))?);
            }
            Ok(ids)
        })?;
        Ok(ids.iter().filter_map(|id| self.folder(*id).cloned()).collect())
    }

    fn update_folder_by(&mut self, patch: &FolderPatch) -> Result<()> {
        let id = self.named(patch.id)?;
        let before = self.folder(id).ok_or_else(Error::no_folder)?.clone();
        check_rev(patch.rev, before.rev)?;
        if let Some(name) = patch.name.as_ref().filter(|name| **name != before.name) {
            self.check_name(name).map_err(|error| error.at("name"))?;
        }
        let at_parent = |error: Error| error.at("parentFolderId");
        let parent = match patch.parent {
            None => before.parent,
            Some(FolderDestination::Root) => None,
            Some(FolderDestination::Folder(parent)) => Some(self.named(parent).map_err(at_parent)?),
        };
        if parent != before.parent {
            let path = self.folder_path(parent);
            if path.contains(&id) {
                return Err(at_parent(Error::rule("below itself")));
            }
            self.check_folder_depth(path.len() + self.folder_height(id) - 1).map_err(at_parent)?;
        }
        for folder in self.folders.iter_mut().filter(|folder| folder.id == id) {
            folder.parent = parent;
            folder.name = patch.name.clone().unwrap_or_else(|| folder.name.clone());
        }
        Ok(())
    }
}

fn check_rev(expected: Option<u64>, found: u64) -> Result<()> {
    if expected.is_some_and(|expected| expected != found) {
        return Err(Error::new(ErrorKind::Conflict, "another revision").at("rev"));
    }
    Ok(())
}

/// Whether a patch is a built-in location as the listing shows it: nothing changes then.
fn is_location_as_shown(patch: &FolderPatch) -> bool {
    let FolderRef::BuiltIn(location) = patch.id else { return false };
    let is_named = patch.name.as_deref().is_none_or(|name| name == location.name());
    is_named && patch.parent.is_none() && patch.rev.is_none()
}
