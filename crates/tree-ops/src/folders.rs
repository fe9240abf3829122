//! Folders: what may be made where, moved where, and what becomes of what is in a deleted one.

use std::collections::HashSet;
use std::mem::take;

use leafbase_model::{
    DocumentRecord, Edit, Error, FolderDestination, FolderDraft, FolderId, FolderRecord, FolderRef,
    Limits, Location, Result,
};

use crate::Context;
use crate::batch::check_count;

/// Reads of the folders of one consistent state.
pub trait ReadFolders {
    /// The folder, if it exists.
    ///
    /// # Errors
    /// What the store reports.
    fn folder(&self, folder: FolderId) -> Result<Option<FolderRecord>>;

    /// The folders right in `folder`.
    ///
    /// # Errors
    /// What the store reports.
    fn folders_in(&self, folder: FolderId) -> Result<Vec<FolderRecord>>;

    /// The documents right in `folder`.
    ///
    /// # Errors
    /// What the store reports.
    fn documents_in(&self, folder: FolderId) -> Result<Vec<DocumentRecord>>;

    /// How many documents are right in `folder`. A store that keeps count should say so without
    /// reading them.
    ///
    /// # Errors
    /// What the store reports.
    fn document_count(&self, folder: FolderId) -> Result<u64> {
        Ok(self.documents_in(folder)?.len() as u64)
    }
}

/// Folders that are to be made, parents before children and without nesting.
#[derive(Clone, Debug, Default)]
pub struct FolderPlan(Vec<Planned>);

#[derive(Clone, Debug)]
struct Planned {
    name: String,
    parent: Option<FolderRef>,
    /// The one before it that it is made in.
    above: Option<usize>,
    /// Its step in the path of the request; none for one that the request does not list.
    number: Option<usize>,
}

/// A list of drafts on its way into a plan.
struct Level {
    above: Option<usize>,
    number: usize,
    rest: std::vec::IntoIter<FolderDraft>,
}

impl FolderPlan {
    /// The folders of the request's list `folders`. Drafts may be nested deeper than the call stack
    /// allows.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::LimitExceeded`] at `folders` for too many.
    pub fn of(drafts: Vec<FolderDraft>, limits: &Limits) -> Result<Self> {
        let mut plan = Self::default();
        let mut levels = vec![Level { above: None, number: 0, rest: drafts.into_iter() }];
        while let Some(level) = levels.last_mut() {
            let Some(mut draft) = level.rest.next() else {
                levels.pop();
                continue;
            };
            let (name, folders) = (take(&mut draft.name), take(&mut draft.folders));
            let at = plan.0.len();
            plan.0.push(Planned {
                name,
                parent: draft.parent,
                above: level.above,
                number: Some(level.number),
            });
            level.number += 1;
            levels.push(Level { above: Some(at), number: 0, rest: folders.into_iter() });
        }
        check_count("folders in one request", limits.blocks_per_request, plan.0.len(), "folders")?;
        Ok(plan)
    }

    /// One folder, the fields of which stand in the request itself.
    pub fn one(name: impl Into<String>, parent: Option<FolderId>) -> Self {
        Self(vec![Planned {
            name: name.into(),
            parent: parent.map(FolderRef::from),
            above: None,
            number: None,
        }])
    }

    fn path(&self, planned: &Planned) -> String {
        let step = |planned: &Planned| planned.number.map(|number| format!("folders[{number}]"));
        let above = |planned: &&Planned| planned.above.and_then(|above| self.0.get(above));
        let mut steps: Vec<_> =
            std::iter::successors(Some(planned), above).filter_map(step).collect();
        steps.reverse();
        steps.join(".")
    }
}

/// Makes the folders of `plan`, and gives them in its order: parents before children.
///
/// # Errors
/// Below `folders[n]`: [`leafbase_model::ErrorKind::Validation`] for a name without letters and for
/// a nested folder that names a parent; [`leafbase_model::ErrorKind::NotFound`] for a parent that
/// does not exist, [`leafbase_model::ErrorKind::RuleViolation`] for a built-in one, and
/// [`leafbase_model::ErrorKind::LimitExceeded`] for a name too long and a folder too deep.
pub fn create_folders<T: ReadFolders + ?Sized>(
    folders: &T,
    context: &Context<'_>,
    plan: &FolderPlan,
) -> Result<Vec<FolderRecord>> {
    let batch = Batch::new(folders, context.limits);
    let mut made: Vec<(FolderRecord, usize)> = Vec::with_capacity(plan.0.len());
    for planned in &plan.0 {
        let above = planned.above.and_then(|above| made.get(above));
        let record = batch.planned(planned, above).map_err(|error| error.at(plan.path(planned)));
        let (parent, depth) = record?;
        let id = FolderId::from_bytes(context.ids.new_id(context.stamp.at));
        made.push((FolderRecord { id, name: planned.name.clone(), parent }, depth));
    }
    Ok(made.into_iter().map(|(record, _)| record).collect())
}

/// What a move of folders does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MovedFolders {
    /// What to write. A folder that already is where it is to go has no edit.
    pub edits: Vec<Edit>,
    /// The folders as they are then, in the order of the request.
    pub records: Vec<FolderRecord>,
}

/// Moves folders, with all in them, to `destination`. A folder may be named together with one that
/// it is in: it leaves it.
///
/// # Errors
/// At `destination.parentFolderId` and `folderIds[n]`: [`leafbase_model::ErrorKind::NotFound`],
/// [`leafbase_model::ErrorKind::Validation`] for a folder named twice,
/// [`leafbase_model::ErrorKind::RuleViolation`] for a built-in location and a move into the folder
/// itself or one in it, and [`leafbase_model::ErrorKind::LimitExceeded`] if what is in it would be
/// too deep.
pub fn move_folders<T: ReadFolders + ?Sized>(
    folders: &T,
    context: &Context<'_>,
    ids: &[FolderRef],
    destination: FolderDestination,
) -> Result<MovedFolders> {
    let batch = Batch::new(folders, context.limits);
    let parent = match destination {
        FolderDestination::Root => None,
        FolderDestination::Folder(parent) => {
            let found =
                batch.parent(parent).map_err(|error| error.at("destination.parentFolderId"));
            Some(found?.id)
        }
    };
    // All go to the same place, and nothing that it is in moves: what is no ring for each alone is
    // none for all of them.
    let lineage = parent.map_or(Ok(Vec::new()), |parent| batch.lineage(parent))?;
    let going = batch.named(ids, |folder| {
        if lineage.contains(&folder.id) {
            return Err(Error::rule(format!(
                "folder {} cannot go into itself or a folder in it",
                folder.id
            )));
        }
        Ok(())
    })?;
    batch.check_depths(&going, lineage.len())?;
    let mut moved = MovedFolders::default();
    for before in going {
        let after = FolderRecord { parent, ..before.clone() };
        moved.records.push(after.clone());
        if before != after {
            moved.edits.push(Edit::UpdateFolder { before, after });
        }
    }
    Ok(moved)
}

/// Deletes folders. What is in one goes to the nearest folder around it that stays; at the top, its
/// documents go to `unsorted`. With `must_be_empty` a folder with something in it is refused
/// instead; what this request deletes too does not count.
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
    let batch = Batch::new(folders, context.limits);
    let gone: HashSet<FolderRef> = ids.iter().copied().collect();
    let going =
        batch.named(
            ids,
            |folder| if must_be_empty { batch.check_empty(folder, &gone) } else { Ok(()) },
        )?;
    let (mut edits, mut removals) = (Vec::new(), Vec::with_capacity(going.len()));
    for folder in going {
        let lineage = batch.lineage(folder.id)?;
        let heir = lineage.iter().copied().find(|above| !gone.contains(&FolderRef::from(*above)));
        for before in folders.documents_in(folder.id)? {
            let location = heir.map_or(Location::Unsorted, Location::Folder);
            let after = before.kept_at(location, context.stamp.at);
            edits.push(Edit::UpdateDocument { before, after });
        }
        for before in folders
            .folders_in(folder.id)?
            .into_iter()
            .filter(|within| !gone.contains(&within.id.into()))
        {
            let after = FolderRecord { parent: heir, ..before.clone() };
            edits.push(Edit::UpdateFolder { before, after });
        }
        removals.push((lineage.len(), Edit::RemoveFolder(folder)));
    }
    // The deepest first: each is empty when it goes.
    removals.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
    edits.extend(removals.into_iter().map(|(_, removal)| removal));
    Ok(edits)
}

/// Folders and all in them, each once.
///
/// # Errors
/// What the store reports.
pub fn folders_within<T: ReadFolders + ?Sized>(
    folders: &T,
    tops: &[FolderId],
) -> Result<Vec<FolderId>> {
    let mut found = Vec::with_capacity(tops.len());
    let (mut met, mut waiting) = (HashSet::new(), tops.iter().rev().copied().collect::<Vec<_>>());
    while let Some(folder) = waiting.pop() {
        if met.insert(folder) {
            found.push(folder);
            waiting.extend(folders.folders_in(folder)?.iter().map(|within| within.id));
        }
    }
    Ok(found)
}

/// Reads for one request.
struct Batch<'a, T: ?Sized> {
    folders: &'a T,
    limits: &'a Limits,
}

impl<'a, T: ReadFolders + ?Sized> Batch<'a, T> {
    fn new(folders: &'a T, limits: &'a Limits) -> Self {
        Self { folders, limits }
    }

    /// Looks up each folder of the request's `folderIds`, and lets `check` say whether it may go.
    fn named(
        &self,
        ids: &[FolderRef],
        check: impl Fn(&FolderRecord) -> Result<()>,
    ) -> Result<Vec<FolderRecord>> {
        check_count("IDs in one request", self.limits.blocks_per_request, ids.len(), "folderIds")?;
        let (mut named, mut going) = (HashSet::new(), Vec::with_capacity(ids.len()));
        for (index, id) in ids.iter().enumerate() {
            let mut one = || {
                let folder = self.find(*id, |location| {
                    format!("{location} is a built-in location, which stays")
                })?;
                if !named.insert(*id) {
                    return Err(Error::validation(format!("folder {id} is named twice")));
                }
                check(&folder)?;
                Ok(folder)
            };
            going.push(one().map_err(|error: Error| error.at(format_args!("folderIds[{index}]")))?);
        }
        Ok(going)
    }

    fn parent(&self, id: FolderRef) -> Result<FolderRecord> {
        self.find(id, |location| {
            format!("{location} is a built-in location, in which there are no folders")
        })
    }

    fn find(
        &self,
        id: FolderRef,
        refusal: impl FnOnce(leafbase_model::BuiltInLocation) -> String,
    ) -> Result<FolderRecord> {
        match id {
            FolderRef::BuiltIn(location) => Err(Error::rule(refusal(location))),
            FolderRef::Folder(folder) => self.folders.folder(folder)?.ok_or_else(Error::not_found),
        }
    }

    /// Where a planned folder is made, and how many folders it will be in; `above` is the one made
    /// before that it is in.
    fn planned(
        &self,
        planned: &Planned,
        above: Option<&(FolderRecord, usize)>,
    ) -> Result<(Option<FolderId>, usize)> {
        let (parent, depth) = match (planned.parent, above) {
            (None, None) => (None, 0),
            (None, Some((above, depth))) => (Some(above.id), depth + 1),
            (Some(_), Some(_)) => {
                return Err(Error::validation("it is made in the folder that it is nested in")
                    .at("parentFolderId"));
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

    /// `folder`, the one it is in, and so on up to the top.
    fn lineage(&self, folder: FolderId) -> Result<Vec<FolderId>> {
        let (mut lineage, mut next) = (Vec::new(), Some(folder));
        while let Some(id) = next {
            if lineage.contains(&id) {
                return Err(Error::corrupted(format_args!(
                    "the folders around folder {id} go round"
                )));
            }
            lineage.push(id);
            let record = self.folders.folder(id)?;
            next = record
                .ok_or_else(|| Error::corrupted(format_args!("folder {id} is not there")))?
                .parent;
        }
        Ok(lineage)
    }

    /// Checks that nothing in the folders comes too deep when they are at `depth`. Those that go
    /// themselves leave the ones that they are in.
    fn check_depths(&self, going: &[FolderRecord], depth: usize) -> Result<()> {
        let gone: HashSet<FolderId> = going.iter().map(|folder| folder.id).collect();
        for (index, folder) in going.iter().enumerate() {
            let stands = self.lineage(folder.id)?.len();
            if depth >= stands {
                let deepest = self.deepest(folder.id, depth, &gone)?;
                self.check_depth(deepest)
                    .map_err(|error| error.at(format_args!("folderIds[{index}]")))?;
            }
        }
        Ok(())
    }

    /// How deep the deepest folder in `folder` is when that one is at `depth`; one too many is told
    /// as soon as it is met.
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
        return Err(Error::validation("a folder needs a name"));
    }
    Ok(())
}
