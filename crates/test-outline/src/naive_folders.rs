//! Folder operations of the naive space: a tree of records, and documents that name their folder.

use leafbase_model::{
    BuiltInLocation, CreateFolders, DeleteFolders, Destination, Error, Folder, FolderDestination,
    FolderDraft, FolderId, FolderRecord, FolderRef, Location, MoveFolders, Result,
};

use crate::naive::By;
use crate::naive_comments::at;
use crate::naive_rules as rules;
use crate::{Broken, NaiveSpace};

impl NaiveSpace {
    /// The folder tree, built-in locations first.
    pub fn folder_tree(&self) -> Vec<Folder> {
        let order = [
            BuiltInLocation::Unsorted,
            BuiltInLocation::DailyNotes,
            BuiltInLocation::Templates,
            BuiltInLocation::Trash,
        ];
        let built_in = |location: BuiltInLocation| Folder {
            id: location.into(),
            name: location.name().to_owned(),
            parent: None,
            document_count: self.count(location.into()),
            rev: None,
            folders: Vec::new(),
        };
        order.into_iter().map(built_in).chain(self.folders_in(None)).collect()
    }

    fn folders_in(&self, parent: Option<FolderId>) -> Vec<Folder> {
        let mut within: Vec<_> =
            self.folders.iter().filter(|folder| folder.parent == parent).collect();
        within.sort_by_key(|folder| (folder.name.to_lowercase(), folder.id));
        let shown = |folder: &FolderRecord| Folder {
            id: folder.id.into(),
            name: folder.name.clone(),
            parent,
            document_count: self.count(Location::Folder(folder.id)),
            rev: Some(folder.rev),
            folders: self.folders_in(Some(folder.id)),
        };
        within.into_iter().map(shown).collect()
    }

    fn count(&self, location: Location) -> u64 {
        let trash_too = location == Location::Unsorted && self.breaks(Broken::TrashIsCounted);
        let counts = |found: Location| found == location || trash_too && found == Location::Trash;
        self.documents.iter().filter(|document| counts(document.record.location)).count() as u64
    }

    /// The folder with this ID.
    pub fn folder(&self, id: FolderId) -> Option<&FolderRecord> {
        self.folders.iter().find(|folder| folder.id == id)
    }

    /// A folder of a request, which must not be a built-in location.
    pub(crate) fn named(&self, folder: FolderRef) -> Result<FolderId> {
        match folder {
            FolderRef::Folder(id) => {
                self.folder(id).map(|found| found.id).ok_or_else(Error::no_folder)
            }
            FolderRef::BuiltIn(_) => Err(Error::rule("a built-in location")),
        }
    }

    /// The folder and its ancestors.
    pub(crate) fn folder_path(&self, folder: Option<FolderId>) -> Vec<FolderId> {
        let Some(found) = folder.and_then(|folder| self.folder(folder)) else { return Vec::new() };
        let mut path = vec![found.id];
        path.extend(self.folder_path(found.parent));
        path
    }

    /// The folder and its descendants.
    pub(crate) fn folders_below(&self, folder: FolderId) -> Vec<FolderId> {
        let below = self.folders.iter().filter(|found| found.parent == Some(folder));
        std::iter::once(folder)
            .chain(below.flat_map(|found| self.folders_below(found.id)))
            .collect()
    }

    pub(crate) fn folder_height(&self, folder: FolderId) -> usize {
        let below = self.folders.iter().filter(|found| found.parent == Some(folder));
        1 + below.map(|found| self.folder_height(found.id)).max().unwrap_or(0)
    }

    pub(crate) fn check_destination(&self, destination: Destination) -> Result<()> {
        match destination {
            Destination::Folder(folder) if self.folder(folder).is_none() => {
                Err(Error::no_folder().at("destination.folderId"))
            }
            _ => Ok(()),
        }
    }

    /// Creates folders, parents first.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn create_folders(
        &mut self,
        by: By<'_>,
        request: &CreateFolders,
    ) -> Result<Vec<FolderRecord>> {
        fn count(drafts: &[FolderDraft]) -> usize {
            drafts.iter().map(|draft| 1 + count(&draft.folders)).sum()
        }
        rules::check_count(count(&request.folders), &self.limits, "folders")?;
        self.write(by.0, |space| {
            let former = space.folders.len();
            for (index, draft) in request.folders.iter().enumerate() {
                space.create_top(by, draft).map_err(|error| at("folders", index, error))?;
            }
            Ok(space.folders[former..].to_vec())
        })
    }

    fn create_top(&mut self, by: By<'_>, draft: &FolderDraft) -> Result<()> {
        let parent = draft.parent.map(|parent| self.named(parent)).transpose();
        let parent = parent.map_err(|error| error.at("parentFolderId"))?;
        self.create_within(by, draft, parent)
    }

    fn create_within(
        &mut self,
        by: By<'_>,
        draft: &FolderDraft,
        parent: Option<FolderId>,
    ) -> Result<()> {
        self.check_name(&draft.name).map_err(|error| error.at("name"))?;
        self.check_folder_depth(self.folder_path(parent).len())?;
        let id = FolderId::from_bytes(by.1.new_id(by.0.at));
        self.folders.push(FolderRecord { id, name: draft.name.clone(), parent, rev: 1 });
        for (index, within) in draft.folders.iter().enumerate() {
            let made = match within.parent {
                Some(_) => Err(Error::validation("it is in another one").at("parentFolderId")),
                None => self.create_within(by, within, Some(id)),
            };
            made.map_err(|error| at("folders", index, error))?;
        }
        Ok(())
    }

    pub(crate) fn check_name(&self, name: &str) -> Result<()> {
        let found = name.chars().count();
        if found > self.limits.title {
            return Err(Error::limit("characters", self.limits.title, found));
        }
        if name.trim().is_empty() { Err(Error::validation("no name")) } else { Ok(()) }
    }

    pub(crate) fn check_folder_depth(&self, depth: usize) -> Result<()> {
        let most = self.limits.folder_nesting;
        if depth > most && !self.breaks(Broken::FoldersGoDeep) {
            return Err(Error::limit("folders within folders", most, depth));
        }
        Ok(())
    }

    /// Moves folders with their content.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn move_folders(&mut self, by: By<'_>, request: &MoveFolders) -> Result<Vec<FolderRecord>> {
        let parent = match request.destination {
            FolderDestination::Root => None,
            FolderDestination::Folder(folder) => {
                Some(self.named(folder).map_err(|error| error.at("destination.parentFolderId"))?)
            }
        };
        let ids = self.named_once(&request.folder_ids, |space, id| {
            let below_itself = space.folder_path(parent).contains(&id);
            if below_itself { Err(Error::rule("below itself")) } else { Ok(()) }
        })?;
        self.write(by.0, |space| {
            for folder in space.folders.iter_mut().filter(|folder| ids.contains(&folder.id)) {
                folder.parent = parent;
            }
            for (index, id) in ids.iter().enumerate() {
                let deepest = space.folder_path(parent).len() + space.folder_height(*id) - 1;
                space.check_folder_depth(deepest).map_err(|error| at("folderIds", index, error))?;
            }
            Ok(())
        })?;
        Ok(ids.iter().map(|id| self.folder(*id).unwrap().clone()).collect())
    }

    /// The folders of a request; each must be unique and allowed.
    fn named_once(
        &self,
        folders: &[FolderRef],
        allowed: impl Fn(&Self, FolderId) -> Result<()>,
    ) -> Result<Vec<FolderId>> {
        rules::check_count(folders.len(), &self.limits, "folderIds")?;
        let checked = |(index, folder): (usize, &FolderRef)| {
            let named = self.named(*folder);
            let named = named
                .and_then(|id| rules::check_once(index, folders, |folder| *folder).map(|()| id));
            named
                .and_then(|id| allowed(self, id).map(|()| id))
                .map_err(|error| at("folderIds", index, error))
        };
        folders.iter().enumerate().map(checked).collect()
    }

    /// Deletes folders. Their content moves up.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn delete_folders(&mut self, by: By<'_>, request: &DeleteFolders) -> Result<Vec<FolderId>> {
        let gone = |folder: &FolderRecord| request.folder_ids.contains(&folder.id.into());
        let ids = self.named_once(&request.folder_ids, |space, id| {
            let documents = space
                .documents
                .iter()
                .any(|document| document.record.location == Location::Folder(id));
            let folders =
                space.folders.iter().any(|folder| folder.parent == Some(id) && !gone(folder));
            let is_full = (documents || folders) && !space.breaks(Broken::FullFoldersGo);
            if request.must_be_empty && is_full {
                Err(Error::rule("it is not empty"))
            } else {
                Ok(())
            }
        })?;
        self.write(by.0, |space| {
            for id in &ids {
                space.delete_folder(*id);
            }
            Ok(ids)
        })
    }

    fn delete_folder(&mut self, id: FolderId) {
        let Some(parent) = self.folder(id).map(|found| found.parent) else { return };
        for document in &mut self.documents {
            if document.record.location == Location::Folder(id) {
                document.record.location = parent.map_or(Location::Unsorted, Location::Folder);
            }
        }
        if self.breaks(Broken::FoldersGoWithTheirParent) {
            self.folders.retain(|folder| folder.parent != Some(id));
        }
        for folder in self.folders.iter_mut().filter(|folder| folder.parent == Some(id)) {
            folder.parent = parent;
        }
        self.folders.retain(|folder| folder.id != id);
    }
}
