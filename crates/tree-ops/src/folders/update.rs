//! Updates of folders: name and parent.

use std::collections::{BTreeSet, HashSet};

use leafbase_model::{
    Edit, Error, ErrorKind, FolderDestination, FolderId, FolderPatch, FolderRecord, Result,
};

use super::{ReadFolders, RequestFolders, check_name};
use crate::context::Context;

/// The folder of a patch after it, and the edit, if it changes anything. `folders` are as earlier
/// patches of the request left them, and `named` are those that they named.
///
/// # Errors
/// At `id`: [`ErrorKind::NotFound`], [`ErrorKind::Validation`] for a folder named twice, and
/// [`ErrorKind::RuleViolation`] for a built-in location. At `rev`: [`ErrorKind::Conflict`]. At
/// `name`: [`ErrorKind::Validation`] for a blank one, [`ErrorKind::LimitExceeded`]. At
/// `parentFolderId`: [`ErrorKind::NotFound`], [`ErrorKind::RuleViolation`] for a built-in location,
/// the folder itself or one in it, [`ErrorKind::LimitExceeded`] if folders would nest too deep.
pub fn update_folder<T: ReadFolders + ?Sized>(
    folders: &T,
    context: &Context<'_>,
    patch: &FolderPatch,
    named: &mut BTreeSet<FolderId>,
) -> Result<(FolderRecord, Option<Edit>)> {
    let reader = RequestFolders::new(folders, context.limits);
    let before = reader.to_update(patch, named).map_err(|error| error.at("id"))?;
    if let Some(expected) = patch.rev.filter(|expected| *expected != before.rev) {
        let message = format!("expected rev {expected}, but the folder has rev {}", before.rev);
        return Err(Error::new(ErrorKind::Conflict, message).at("rev"));
    }
    let mut after = before.clone();
    if let Some(name) = patch.name.as_ref().filter(|name| **name != before.name) {
        check_name(name, context.limits).map_err(|error| error.at("name"))?;
        after.name.clone_from(name);
    }
    if let Some(parent) = patch.parent {
        let parent = reader.new_parent(&before, parent);
        after.parent = parent.map_err(|error| error.at("parentFolderId"))?;
    }
    if before == after {
        return Ok((before, None));
    }
    after.rev = before.rev.saturating_add(1);
    Ok((after.clone(), Some(Edit::UpdateFolder { before, after })))
}

impl<T: ReadFolders + ?Sized> RequestFolders<'_, T> {
    /// The folder of a patch, which is the first one that names it.
    fn to_update(
        &self,
        patch: &FolderPatch,
        named: &mut BTreeSet<FolderId>,
    ) -> Result<FolderRecord> {
        let found = self.find(patch.id, |location| {
            format!("{location} is a built-in location and cannot be changed")
        })?;
        if !named.insert(found.id) {
            return Err(Error::validation(format!("folder {} is named twice", found.id)));
        }
        Ok(found)
    }

    /// The parent that `folder` gets.
    fn new_parent(
        &self,
        folder: &FolderRecord,
        destination: FolderDestination,
    ) -> Result<Option<FolderId>> {
        let parent = match destination {
            FolderDestination::Root => None,
            FolderDestination::Folder(parent) => Some(self.parent(parent)?.id),
        };
        if parent == folder.parent {
            return Ok(parent);
        }
        // The lineage includes the parent itself: a folder cannot move into itself.
        let lineage = parent.map_or(Ok(Vec::new()), |parent| self.lineage(parent))?;
        if lineage.contains(&folder.id) {
            let message =
                format!("folder {} cannot be moved into itself or its descendants", folder.id);
            return Err(Error::rule(message));
        }
        // As for moves: a folder that goes up cannot exceed the limit.
        if lineage.len() >= self.lineage(folder.id)?.len() {
            self.check_depth(self.deepest(folder.id, lineage.len(), &HashSet::new())?)?;
        }
        Ok(parent)
    }
}
