//! Folders: creation, moves and deletion.

use std::collections::HashSet;
use std::mem::take;

use leafbase_model::{
    DocumentRecord, Edit, Error, FolderDestination, FolderDraft, FolderId, FolderRecord, FolderRef,
    Limits, Location, Result, invariant,
};

use crate::context::Context;
use crate::request::check_count;

mod update;

pub use update::update_folder;

/// Reads of folders in one consistent state.
pub trait ReadFolders {
    /// The folder, if it exists.
    ///
    /// # Errors
    /// Store errors.
    fn folder(&self, folder: FolderId) -> Result<Option<FolderRecord>>;

    /// The direct subfolders of `folder`.
    ///
    /// # Errors
    /// Store errors.
    fn folders_in(&self, folder: FolderId) -> Result<Vec<FolderRecord>>;

    /// The documents directly in `folder`.
    ///
    /// # Errors
    /// Store errors.
    fn documents_in(&self, folder: FolderId) -> Result<Vec<DocumentRecord>>;

    /// Number of documents directly in `folder`. A store that maintains this count should return it
    /// without reading the documents.
    ///
    /// # Errors
    /// Store errors.
    fn document_count(&self, folder: FolderId) -> Result<u64> {
        Ok(self.documents_in(folder)?.len() as u64)
    }
}

/// Folders to create as a flat list, parents before children.
#[derive(Clone, Debug, Default)]
pub struct FolderPlan(Vec<PlannedFolder>);

#[derive(Clone, Debug)]
struct PlannedFolder {
    name: String,
    parent: Option<FolderRef>,
    /// Index of the planned folder that contains it.
    above: Option<usize>,
    /// Its index in the request's list; `None` for a folder that is not in a list.
    number: Option<usize>,
}

/// The rest of a list of nested drafts.
struct FolderDraftLevel {
    above: Option<usize>,
    number: usize,
    rest: std::vec::IntoIter<FolderDraft>,
}

impl FolderPlan {
    /// Flattens the request's list `folders`, without recursion: drafts may be nested to any depth.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::LimitExceeded`] at `folders` for too many.
    pub fn of(drafts: Vec<FolderDraft>, limits: &Limits) -> Result<Self> {
        let mut plan = Self::default();
        let mut levels =
            vec![FolderDraftLevel { above: None, number: 0, rest: drafts.into_iter() }];
        while let Some(level) = levels.last_mut() {
            let Some(mut draft) = level.rest.next() else {
                levels.pop();
                continue;
            };
            let (name, folders) = (take(&mut draft.name), take(&mut draft.folders));
            let at = plan.0.len();
            plan.0.push(PlannedFolder {
                name,
                parent: draft.parent,
                above: level.above,
                number: Some(level.number),
            });
            level.number += 1;
            // Depth first: the subfolders are planned before the next sibling.
            levels.push(FolderDraftLevel { above: Some(at), number: 0, rest: folders.into_iter() });
        }
        check_count("folders in one request", limits.blocks_per_request, plan.0.len(), "folders")?;
        Ok(plan)
    }

    /// A single folder whose fields the request contains directly.
    pub fn one(name: impl Into<String>, parent: Option<FolderId>) -> Self {
        Self(vec![PlannedFolder {
            name: name.into(),
            parent: parent.map(FolderRef::from),
            above: None,
            number: None,
        }])
    }

    fn path(&self, planned: &PlannedFolder) -> String {
        let step =
            |planned: &PlannedFolder| planned.number.map(|number| format!("folders[{number}]"));
        debug_assert!(
            planned.above.is_none_or(|above| above < self.0.len()),
            "a parent precedes its children in the plan"
        );
        let above = |planned: &&PlannedFolder| planned.above.and_then(|above| self.0.get(above));
        let mut steps: Vec<_> =
            std::iter::successors(Some(planned), above).filter_map(step).collect();
        steps.reverse();
        steps.join(".")
    }
}

/// Creates the folders of `plan` and returns them in its order, parents before children.
///
/// # Errors
/// Below `folders[n]`: [`leafbase_model::ErrorKind::Validation`] for a blank name and for a nested
/// folder that names a parent; [`leafbase_model::ErrorKind::NotFound`] for a parent that does not
/// exist, [`leafbase_model::ErrorKind::RuleViolation`] for a built-in one, and
/// [`leafbase_model::ErrorKind::LimitExceeded`] for a name that is too long and a folder that is
/// too deep.
pub fn create_folders<T: ReadFolders + ?Sized>(
    folders: &T,
    context: &Context<'_>,
    plan: &FolderPlan,
) -> Result<Vec<FolderRecord>> {
    let reader = RequestFolders::new(folders, context.limits);
    let mut created: Vec<(FolderRecord, usize)> = Vec::with_capacity(plan.0.len());
    for planned in &plan.0 {
        let above = planned.above.and_then(|above| created.get(above));
        invariant!(
            planned.above.is_none() || above.is_some(),
            "a plan lists parents before their children"
        );
        let record = reader.planned(planned, above).map_err(|error| error.at(plan.path(planned)));
        let (parent, depth) = record?;
        let id = FolderId::from_bytes(context.ids.new_id(context.stamp.at));
        created.push((FolderRecord { id, name: planned.name.clone(), parent, rev: 1 }, depth));
    }
    Ok(created.into_iter().map(|(record, _)| record).collect())
}

/// Result of a move of folders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MovedFolders {
    /// Edits to apply. A folder that is already in place has none.
    pub edits: Vec<Edit>,
    /// The folders after the move, in the order of the request.
    pub records: Vec<FolderRecord>,
}

/// Moves folders with their content to `destination`. A folder may be named together with one of
/// its ancestors: it then leaves that ancestor.
///
/// # Errors
/// At `destination.parentFolderId` and `folderIds[n]`: [`leafbase_model::ErrorKind::NotFound`],
/// [`leafbase_model::ErrorKind::Validation`] for a duplicate,
/// [`leafbase_model::ErrorKind::RuleViolation`] for a built-in location and a move of a folder into
/// itself or a descendant, and [`leafbase_model::ErrorKind::LimitExceeded`] if a descendant would
/// be nested too deep.
pub fn move_folders<T: ReadFolders + ?Sized>(
    folders: &T,
    context: &Context<'_>,
    ids: &[FolderRef],
    destination: FolderDestination,
) -> Result<MovedFolders> {
    let reader = RequestFolders::new(folders, context.limits);
    let parent = match destination {
        FolderDestination::Root => None,
        FolderDestination::Folder(parent) => {
            let found =
                reader.parent(parent).map_err(|error| error.at("destination.parentFolderId"));
            Some(found?.id)
        }
    };
    // All folders move to the same parent, and none of its ancestors moves. So if no single move
    // creates a cycle, all of them together create none.
    // The lineage includes the destination itself: a folder cannot move into itself.
    let lineage = parent.map_or(Ok(Vec::new()), |parent| reader.lineage(parent))?;
    let moving = reader.look_up_all(ids, |folder| {
        if lineage.contains(&folder.id) {
            return Err(Error::rule(format!(
                "folder {} cannot be moved into itself or its descendants",
                folder.id
            )));
        }
        Ok(())
    })?;
    reader.check_depths(&moving, lineage.len())?;
    let mut moved = MovedFolders::default();
    for before in moving {
        // An unchanged folder is part of the reply, but has no edit.
        if before.parent == parent {
            moved.records.push(before);
            continue;
        }
        let after = before.kept_in(parent);
        moved.records.push(after.clone());
        moved.edits.push(Edit::UpdateFolder { before, after });
    }
    Ok(moved)
}

/// Deletes folders. Their content moves to the nearest ancestor that remains; without one,
/// documents move to `unsorted` and folders to the top level. With `must_be_empty`, a folder that
/// is not empty is an error instead; folders deleted by the same request do not count.
///
/// # Errors
/// At `folderIds[n]`: [`leafbase_model::ErrorKind::NotFound`],
/// [`leafbase_model::ErrorKind::Validation`] for a folder named twice, and
/// [`leafbase_model::ErrorKind::RuleViolation`] for a built-in location and for one that is not
/// empty.
pub fn delete_folders<T: ReadFolders + ?Sized>(
    folders: &T,
    context: &Context<'_>,
    ids: &[FolderRef],
    must_be_empty: bool,
) -> Result<Vec<Edit>> {
    let reader = RequestFolders::new(folders, context.limits);
    let deleted_refs: HashSet<FolderRef> = ids.iter().copied().collect();
    let deleted = reader.look_up_all(ids, |folder| {
        if must_be_empty { reader.check_empty(folder, &deleted_refs) } else { Ok(()) }
    })?;
    let (mut edits, mut removals) = (Vec::new(), Vec::with_capacity(deleted.len()));
    for folder in deleted {
        let lineage = reader.lineage(folder.id)?;
        let new_parent =
            lineage.iter().copied().find(|above| !deleted_refs.contains(&FolderRef::from(*above)));
        for before in folders.documents_in(folder.id)? {
            // Documents cannot be at the top level, so `unsorted` receives them.
            let location = new_parent.map_or(Location::Unsorted, Location::Folder);
            let after = before.kept_at(location, context.stamp.at);
            edits.push(Edit::UpdateDocument { before, after });
        }
        for before in folders
            .folders_in(folder.id)?
            .into_iter()
            .filter(|within| !deleted_refs.contains(&within.id.into()))
        {
            let after = before.kept_in(new_parent);
            edits.push(Edit::UpdateFolder { before, after });
        }
        removals.push((lineage.len(), Edit::RemoveFolder(folder)));
    }
    // Deepest first, so that every folder is empty when its edit is applied.
    removals.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
    edits.extend(removals.into_iter().map(|(_, removal)| removal));
    Ok(edits)
}

/// Folders and all their descendants, each once.
///
/// # Errors
/// Store errors.
pub fn folders_within<T: ReadFolders + ?Sized>(
    folders: &T,
    tops: &[FolderId],
) -> Result<Vec<FolderId>> {
    let mut found = Vec::with_capacity(tops.len());
    let (mut seen, mut pending) = (HashSet::new(), tops.iter().rev().copied().collect::<Vec<_>>());
    while let Some(folder) = pending.pop() {
        // A folder of the request may also be a descendant of another one.
        if seen.insert(folder) {
            found.push(folder);
            pending.extend(folders.folders_in(folder)?.iter().map(|within| within.id));
        }
    }
    Ok(found)
}

/// Reads of one request.
struct RequestFolders<'a, T: ?Sized> {
    folders: &'a T,
    limits: &'a Limits,
}

impl<'a, T: ReadFolders + ?Sized> RequestFolders<'a, T> {
    fn new(folders: &'a T, limits: &'a Limits) -> Self {
        Self { folders, limits }
    }

    /// Looks up each folder of the request's `folderIds`; `check` decides whether it can be used.
    fn look_up_all(
        &self,
        ids: &[FolderRef],
        check: impl Fn(&FolderRecord) -> Result<()>,
    ) -> Result<Vec<FolderRecord>> {
        check_count("IDs in one request", self.limits.blocks_per_request, ids.len(), "folderIds")?;
        let mut unique_ids = HashSet::new();
        let mut found = Vec::with_capacity(ids.len());
        for (index, id) in ids.iter().enumerate() {
            let mut look_up = || {
                let folder = self.find(*id, |location| {
                    format!("{location} is a built-in location and cannot be moved or deleted")
                })?;
                // Existence first: a duplicate of an unknown folder is reported as not found.
                if !unique_ids.insert(*id) {
                    return Err(Error::validation(format!("folder {id} is named twice")));
                }
                check(&folder)?;
                Ok(folder)
            };
            found.push(
                look_up().map_err(|error: Error| error.at(format_args!("folderIds[{index}]")))?,
            );
        }
        Ok(found)
    }

    fn parent(&self, id: FolderRef) -> Result<FolderRecord> {
        self.find(id, |location| {
            format!("{location} is a built-in location and cannot contain folders")
        })
    }

    fn find(
        &self,
        id: FolderRef,
        refusal: impl FnOnce(leafbase_model::BuiltInLocation) -> String,
    ) -> Result<FolderRecord> {
        match id {
            FolderRef::BuiltIn(location) => Err(Error::rule(refusal(location))),
            FolderRef::Folder(folder) => self.folders.folder(folder)?.ok_or_else(Error::no_folder),
        }
    }

    /// Parent and depth of a planned folder; `above` is the created folder that contains it.
    fn planned(
        &self,
        planned: &PlannedFolder,
        above: Option<&(FolderRecord, usize)>,
    ) -> Result<(Option<FolderId>, usize)> {
        let (parent, depth) = match (planned.parent, above) {
            (None, None) => (None, 0),
            (None, Some((above, depth))) => (Some(above.id), depth + 1),
            (Some(_), Some(_)) => {
                return Err(
                    Error::validation("a nested folder cannot name a parent").at("parentFolderId")
                );
            }
            (Some(parent), None) => {
                let parent = self.parent(parent).map_err(|error| error.at("parentFolderId"))?.id;
                (Some(parent), self.lineage(parent)?.len())
            }
        };
        check_name(&planned.name, self.limits).map_err(|error| error.at("name"))?;
        self.check_depth(depth)?;
        Ok((parent, depth))
    }

    fn check_depth(&self, depth: usize) -> Result<()> {
        let most = self.limits.deepest_folder();
        if depth > most { Err(Error::limit("folders within folders", most, depth)) } else { Ok(()) }
    }

    /// `folder` and its ancestors, up to the top level.
    fn lineage(&self, folder: FolderId) -> Result<Vec<FolderId>> {
        let (mut lineage, mut next) = (Vec::new(), Some(folder));
        while let Some(id) = next {
            // Only a damaged store has a cycle: moves check the lineage of their destination.
            if lineage.contains(&id) {
                return Err(Error::corrupted(format_args!(
                    "the ancestors of folder {id} form a cycle"
                )));
            }
            lineage.push(id);
            let record = self.folders.folder(id)?;
            next = record
                .ok_or_else(|| Error::corrupted(format_args!("folder {id} has no record")))?
                .parent;
        }
        Ok(lineage)
    }

    /// Checks the depth of all descendants when the folders are at `depth`. Descendants that move
    /// themselves leave their parent and do not count.
    fn check_depths(&self, moving: &[FolderRecord], depth: usize) -> Result<()> {
        let gone: HashSet<FolderId> = moving.iter().map(|folder| folder.id).collect();
        for (index, folder) in moving.iter().enumerate() {
            let old_depth = self.lineage(folder.id)?.len();
            // Moving up cannot exceed the limit, so the descendants are not read.
            if depth >= old_depth {
                let deepest = self.deepest(folder.id, depth, &gone)?;
                self.check_depth(deepest)
                    .map_err(|error| error.at(format_args!("folderIds[{index}]")))?;
            }
        }
        Ok(())
    }

    /// Depth of the deepest folder in `folder` when that one is at `depth`. Stops at the first
    /// level that exceeds the limit.
    fn deepest(
        &self,
        folder: FolderId,
        mut depth: usize,
        gone: &HashSet<FolderId>,
    ) -> Result<usize> {
        let mut level = vec![folder];
        while self.check_depth(depth).is_ok() {
            let mut below = Vec::new();
            for folder in level {
                below.extend(self.folders.folders_in(folder)?.into_iter().map(|within| within.id));
            }
            level = below.into_iter().filter(|within| !gone.contains(within)).collect();
            if level.is_empty() {
                break;
            }
            depth += 1;
        }
        Ok(depth)
    }

    fn check_empty(&self, folder: &FolderRecord, gone: &HashSet<FolderRef>) -> Result<()> {
        let documents = self.folders.document_count(folder.id)?;
        let within = self.folders.folders_in(folder.id)?;
        let folders =
            within.iter().filter(|within| !gone.contains(&FolderRef::from(within.id))).count();
        if documents == 0 && folders == 0 {
            return Ok(());
        }
        let message = format!(
            "folder {} is not empty: documents in it {documents}, folders in it {folders}",
            folder.id
        );
        Err(Error::rule(message))
    }
}

fn check_name(name: &str, limits: &Limits) -> Result<()> {
    let characters = name.chars().count();
    if characters > limits.title {
        return Err(Error::limit("characters of a folder's name", limits.title, characters));
    }
    if name.trim().is_empty() {
        return Err(Error::validation("the name of a folder cannot be blank"));
    }
    Ok(())
}
