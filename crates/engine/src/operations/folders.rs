//! Folders of documents.

use std::collections::BTreeSet;
use std::ops::Range;

use leafbase_model::{
    BuiltInLocation, CreateFolders, DeleteFolders, DocumentRecord, Edit, Error, Folder, FolderId,
    FolderPatch, FolderRecord, FolderRef, IdMap, Items, Location, MoveFolders, Result,
    UpdateFolders, invariant,
};
use leafbase_store::{DocumentQuery, SpaceReader, Within};
use leafbase_tree_ops::{self as ops, FolderPlan, ReadFolders};

use crate::core::access::FullAccess;
use crate::core::connection::Connection;
use crate::operations::documents;

impl<A: FullAccess> Connection<A> {
    /// The built-in locations (unsorted, daily notes, templates, trash), then the top-level folders
    /// with their nested ones. Each has the number of documents directly in it. Siblings are sorted
    /// by name, ignoring case, and then by ID. The cost grows with the number of folders, not of
    /// documents.
    ///
    /// ```
    /// use leafbase::BuiltInLocation;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// notes.create_document("Trip")?;
    /// notes.create_folder("Travel", None)?;
    /// let folders = notes.folders()?;
    /// assert_eq!(
    ///     (folders[0].id, folders[0].document_count),
    ///     (BuiltInLocation::Unsorted.into(), 1),
    /// );
    /// assert_eq!(folders[4].name, "Travel");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of the store.
    pub fn folders(&self) -> Result<Items<Folder>> {
        self.operation("folders").read_all(|reader| {
            let counts = reader.location_counts()?;
            let built_in = BuiltInLocation::ALL.iter().map(|location| built_in(&counts, *location));
            let mut shown: Vec<_> = built_in.collect();
            shown.append(&mut tree(reader, &counts)?);
            Ok(Items(shown))
        })
    }

    /// Creates a folder in `parent`, or at the top level.
    ///
    /// ```
    /// use leafbase::MoveDocuments;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let travel = notes.create_folder("Travel", None)?;
    /// let lisbon = notes.create_folder("Lisbon", Some(travel.id))?;
    /// let trip = notes.create_document("Trip")?;
    /// notes.move_documents(MoveDocuments::new([trip.id()], lisbon.id))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `parentFolderId`; [`crate::ErrorKind::Validation`] at
    /// `name` if it is blank; [`crate::ErrorKind::LimitExceeded`] at `name` if it is too long, and
    /// if the folder would be too deep.
    pub fn create_folder(&self, name: &str, parent: Option<FolderId>) -> Result<FolderRecord> {
        let made = self.create_planned("create_folder", &FolderPlan::one(name, parent))?;
        let Some(folder) = made.into_iter().next() else {
            invariant!("a plan of one folder creates one")
        };
        Ok(folder)
    }

    /// Creates folders with nested folders and returns them: parents before children, otherwise in
    /// the order of the request.
    ///
    /// ```
    /// use leafbase::{CreateFolders, FolderDraft};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trips = FolderDraft::new("Trips").with_folders([FolderDraft::new("2026")]);
    /// let made = notes.create_folders(CreateFolders::new([trips]))?;
    /// assert_eq!(made[1].parent, Some(made[0].id));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Below `folders[n]` the errors of [`Self::create_folder`]; [`crate::ErrorKind::Validation`]
    /// at `parentFolderId` for a nested folder that names a parent;
    /// [`crate::ErrorKind::RuleViolation`] there for a built-in location;
    /// [`crate::ErrorKind::LimitExceeded`] at `folders` for too many. Nothing is created then.
    pub fn create_folders(&self, request: CreateFolders) -> Result<Items<FolderRecord>> {
        let plan = self.prepare(|| FolderPlan::of(request.folders, self.limits()))?;
        self.create_planned("create_folders", &plan).map(Items)
    }

    fn create_planned(
        &self,
        operation: &'static str,
        plan: &FolderPlan,
    ) -> Result<Vec<FolderRecord>> {
        let (made, _) = self.operation(operation).write(|transaction| {
            let made = transaction.plan_with_reader(|reader, context| {
                ops::create_folders(&FolderReader(reader), context, plan)
            })?;
            transaction.apply(made.iter().cloned().map(Edit::CreateFolder).collect())?;
            Ok(made)
        })?;
        Ok(made)
    }

    /// Moves folders with their content to the top level or into another folder, and returns the
    /// changed records. A folder that is named together with one of its ancestors is moved out of
    /// it.
    ///
    /// ```
    /// use leafbase::MoveFolders;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let (travel, lisbon) =
    ///     (notes.create_folder("Travel", None)?, notes.create_folder("Lisbon", None)?);
    /// let moved = notes.move_folders(MoveFolders::new([lisbon.id], travel.id))?;
    /// assert_eq!(moved[0].parent, Some(travel.id));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// At `destination.parentFolderId` and `folderIds[n]`: [`crate::ErrorKind::NotFound`];
    /// [`crate::ErrorKind::Validation`] for a folder named twice;
    /// [`crate::ErrorKind::RuleViolation`] for a built-in location, and for a move into the folder
    /// itself or a descendant; [`crate::ErrorKind::LimitExceeded`] if the folders would nest too
    /// deep. Nothing is moved then.
    pub fn move_folders(&self, request: MoveFolders) -> Result<Items<FolderRecord>> {
        let MoveFolders { folder_ids, destination, .. } = request;
        let (moved, _) = self.operation("move_folders").write(|transaction| {
            let moved = transaction.plan_with_reader(|reader, context| {
                ops::move_folders(&FolderReader(reader), context, &folder_ids, destination)
            })?;
            transaction.apply(moved.edits)?;
            Ok(moved.records)
        })?;
        Ok(Items(moved))
    }

    /// Renames and moves folders, and returns them in the order of the request. The updates are
    /// made one after the other, in one write. A folder as a reply has it changes nothing.
    ///
    /// ```
    /// use leafbase::{FolderPatch, UpdateFolders};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let (travel, lisbon) =
    ///     (notes.create_folder("Travel", None)?, notes.create_folder("Lisbon", None)?);
    /// let patch = FolderPatch::of(lisbon.id).named("Lisboa").moved_to(travel.id);
    /// let updated = notes.update_folders(UpdateFolders::new([patch.if_rev(lisbon.rev)]))?;
    /// assert_eq!((&*updated[0].name, updated[0].parent), ("Lisboa", Some(travel.id)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The path names the first bad entry, and nothing is changed. A built-in location as the
    /// listing shows it is left out. At `folders[n].id`:
    /// [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::Validation`] for a folder named twice;
    /// [`crate::ErrorKind::RuleViolation`] for a changed built-in location. At `folders[n].rev`:
    /// [`crate::ErrorKind::Conflict`] if the folder no longer has it. At `folders[n].name`:
    /// [`crate::ErrorKind::Validation`] if it is blank; [`crate::ErrorKind::LimitExceeded`]. At
    /// `folders[n].parentFolderId`: [`crate::ErrorKind::NotFound`];
    /// [`crate::ErrorKind::RuleViolation`] for a built-in location, the folder itself and a folder
    /// in it; [`crate::ErrorKind::LimitExceeded`] if folders would nest too deep. At `folders`:
    /// [`crate::ErrorKind::LimitExceeded`] for more than [`crate::Limits::blocks_per_request`].
    pub fn update_folders(&self, request: UpdateFolders) -> Result<Items<FolderRecord>> {
        let (patches, most) = (request.folders, self.limits().blocks_per_request);
        self.prepare(|| {
            let found = patches.len();
            if found > most {
                return Err(Error::limit("folders in one request", most, found).at("folders"));
            }
            Ok(())
        })?;
        let (updated, _) = self.operation("update_folders").write(|transaction| {
            let (mut named, mut updated) = (BTreeSet::new(), Vec::with_capacity(patches.len()));
            let changes =
                patches.iter().enumerate().filter(|(_, patch)| !is_builtin_as_shown(patch));
            for (index, patch) in changes {
                // Each on the state that the ones before leave: together they may form no cycle.
                let (record, edit) = transaction.plan_with_reader(|reader, context| {
                    ops::update_folder(&FolderReader(reader), context, patch, &mut named)
                        .map_err(|error| error.at(format_args!("folders[{index}]")))
                })?;
                transaction.apply(edit.into_iter().collect())?;
                updated.push(record);
            }
            Ok(updated)
        })?;
        Ok(Items(updated))
    }

    /// Deletes folders and returns the requested IDs. The content of a folder moves to its nearest
    /// remaining ancestor; at the top level, documents become unsorted. The cost grows with the
    /// number of documents and folders directly in them.
    ///
    /// With `must_be_empty`, a folder that is not empty is refused. Folders deleted by the same
    /// request do not count as content; documents do, wherever they are.
    ///
    /// ```
    /// use leafbase::{CreateDocuments, DeleteFolders, ErrorKind};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let travel = notes.create_folder("Travel", None)?;
    /// notes.create_documents(CreateDocuments::titled(["Trip"]).at(travel.id))?;
    /// let refused = notes.delete_folders(DeleteFolders::new([travel.id]).if_empty()).unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::RuleViolation);
    /// notes.delete_folders(DeleteFolders::new([travel.id]))?; // the trip is unsorted now
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// At `folderIds[n]`: [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::Validation`] for a
    /// folder named twice; [`crate::ErrorKind::RuleViolation`] for a built-in location, and for a
    /// folder that is not empty. Nothing is deleted then.
    pub fn delete_folders(&self, request: DeleteFolders) -> Result<Items<FolderId>> {
        let DeleteFolders { folder_ids, must_be_empty, .. } = request;
        self.operation("delete_folders").write(|transaction| {
            let edits = transaction.plan_with_reader(|reader, context| {
                ops::delete_folders(&FolderReader(reader), context, &folder_ids, must_be_empty)
            })?;
            transaction.apply(edits)
        })?;
        let folder = |id| if let FolderRef::Folder(folder) = id { Some(folder) } else { None };
        Ok(Items(folder_ids.into_iter().filter_map(folder).collect()))
    }
}

/// The folders of one version of the store, as plans read them.
pub(crate) struct FolderReader<'a>(pub(crate) SpaceReader<'a>);

impl ReadFolders for FolderReader<'_> {
    fn folder(&self, folder: FolderId) -> Result<Option<FolderRecord>> {
        self.0.folder(folder)
    }

    fn folders_in(&self, folder: FolderId) -> Result<Vec<FolderRecord>> {
        self.0.folders_in(Some(folder))
    }

    fn documents_in(&self, folder: FolderId) -> Result<Vec<DocumentRecord>> {
        let within = Within::Location(Location::Folder(folder));
        let query = DocumentQuery { within, ..DocumentQuery::default() };
        let (rows, _) = documents::query::find(self.0, &query, None, usize::MAX)?;
        Ok(rows.into_iter().map(|row| row.record).collect())
    }

    fn document_count(&self, folder: FolderId) -> Result<u64> {
        self.0.location_count(Location::Folder(folder))
    }
}

/// The number of documents in each location that has some.
type LocationCounts = IdMap<Location, u64>;

/// Whether a patch is a built-in location as the listing shows it, so that there is nothing to do.
fn is_builtin_as_shown(patch: &FolderPatch) -> bool {
    let FolderRef::BuiltIn(location) = patch.id else { return false };
    let has_its_name = patch.name.as_deref().is_none_or(|name| name == location.name());
    has_its_name && patch.parent.is_none() && patch.rev.is_none()
}

fn built_in(counts: &LocationCounts, location: BuiltInLocation) -> Folder {
    Folder {
        id: location.into(),
        name: location.name().to_owned(),
        parent: None,
        document_count: counts.get(&location.into()).copied().unwrap_or(0),
        rev: None,
        folders: Vec::new(),
    }
}

/// The top-level folders with their descendants, siblings by name.
fn tree(reader: SpaceReader<'_>, counts: &LocationCounts) -> Result<Vec<Folder>> {
    let records = reader.folders_by_name()?;
    let mut siblings: IdMap<Option<FolderId>, Range<usize>> = IdMap::default();
    for (index, record) in records.iter().enumerate() {
        siblings.entry(record.parent).or_insert(index..index).end = index + 1;
    }
    let below = |parent| siblings.get(&parent).map_or(0..0, Range::clone);
    // Parents before their descendants, siblings last first.
    let mut waiting: Vec<usize> = below(None).collect();
    let mut ordered = Vec::with_capacity(records.len());
    while let Some(index) = waiting.pop() {
        let Some(record) = records.get(index) else {
            invariant!("the ranges of siblings are of the folders")
        };
        let folders = below(Some(record.id));
        ordered.push((index, folders.len()));
        waiting.extend(folders);
    }
    if ordered.len() < records.len() {
        return Err(Error::corrupted("folders: some are in none that is at the top"));
    }
    // In reverse order a folder comes right after those in it, which are the last ones built.
    let mut built: Vec<Folder> = Vec::with_capacity(records.len());
    for (index, below) in ordered.into_iter().rev() {
        let (Some(first), Some(record)) = (built.len().checked_sub(below), records.get(index))
        else {
            invariant!("the folders in a folder are built before it")
        };
        let folders = built.split_off(first);
        let FolderRecord { id, name, parent, rev } = record.clone();
        let document_count = counts.get(&Location::Folder(id)).copied().unwrap_or(0);
        built.push(Folder { id: id.into(), name, parent, document_count, rev: Some(rev), folders });
    }
    Ok(built)
}
