//! Folders of a scope: the documents in them, and when documents entered them.

use std::collections::{BTreeMap, BTreeSet};

use leafbase_model::{DocumentId, Edit, FolderId, Location, Result, Timestamp, invariant};
use leafbase_store::SpaceReader;

/// How many rows of the change log are read at a time.
const ROWS_PER_READ: usize = 64;

/// The folders that a scope names.
#[derive(Debug, Default)]
pub(crate) struct ScopeFolders(BTreeSet<FolderId>);

impl ScopeFolders {
    pub(crate) fn new(folders: impl IntoIterator<Item = FolderId>) -> Self {
        Self(folders.into_iter().collect())
    }

    /// The folders, by ID.
    pub(crate) fn named(&self) -> impl Iterator<Item = FolderId> {
        self.0.iter().copied()
    }

    /// Whether the scope names none: then nothing has to be read.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The folders and their subfolders, in the state that `reader` reads.
    pub(crate) fn expand<'a>(&'a self, reader: SpaceReader<'a>) -> Result<ExpandedFolders<'a>> {
        let mut folders = BTreeSet::new();
        let mut waiting: Vec<_> = self.0.iter().copied().collect();
        while let Some(folder) = waiting.pop() {
            // A scope may name a folder and one within it.
            if folders.insert(folder) {
                waiting.extend(reader.folders_in(Some(folder))?.iter().map(|below| below.id));
            }
        }
        Ok(ExpandedFolders { named: &self.0, folders, reader })
    }
}

/// The folders of a scope with their subfolders, in one state of the space.
pub(crate) struct ExpandedFolders<'a> {
    named: &'a BTreeSet<FolderId>,
    folders: BTreeSet<FolderId>,
    reader: SpaceReader<'a>,
}

/// Documents that entered the folders of a scope by one change.
#[derive(Debug, PartialEq)]
pub(crate) struct FolderEntry {
    pub(crate) sequence: u64,
    pub(crate) at: Timestamp,
    pub(crate) documents: Vec<DocumentId>,
}

/// An edit of where documents and folders are.
struct RelocationEdit {
    sequence: u64,
    at: Timestamp,
    edit: Edit,
}

/// The last change with which something entered the scope, and its time.
type EnteredBy = (u64, Timestamp);

impl ExpandedFolders<'_> {
    /// The documents in the folders.
    pub(crate) fn documents(&self) -> Result<BTreeSet<DocumentId>> {
        let mut documents = BTreeSet::new();
        for folder in &self.folders {
            documents.extend(self.reader.documents_at(Location::Folder(*folder))?);
        }
        Ok(documents)
    }

    /// The documents in the folders that entered them after the change `sequence`, by the change
    /// with which each did so last. Where it is not certain that a document was inside before a
    /// change, it counts as having entered with it.
    pub(crate) fn entries_after(&self, sequence: u64) -> Result<Vec<FolderEntry>> {
        let edits = self.relocations_after(sequence)?;
        let folders = self.entered_folders(&edits)?;
        let mut entered: BTreeMap<DocumentId, EnteredBy> = BTreeMap::new();
        for (folder, by) in &folders {
            let documents = self.reader.documents_at(Location::Folder(*folder))?;
            entered.extend(documents.into_iter().map(|document| (document, *by)));
        }
        for RelocationEdit { sequence, at, edit } in &edits {
            let (from, record) = match edit {
                Edit::CreateDocument { record, .. } => (None, record),
                Edit::UpdateDocument { before, after } => (Some(before.location), after),
                _ => continue,
            };
            let is_inside = |location| match location {
                Location::Folder(folder) => self.was_inside(folder, *sequence, &folders),
                _ => false,
            };
            if is_inside(record.location) && !from.is_some_and(is_inside) {
                entered.insert(record.id, (*sequence, *at));
            }
        }
        let present = self.documents()?;
        let mut entries: BTreeMap<u64, FolderEntry> = BTreeMap::new();
        for (document, (sequence, at)) in entered {
            // No call has seen a document that left again.
            if present.contains(&document) {
                let entry = || FolderEntry { sequence, at, documents: Vec::new() };
                entries.entry(sequence).or_insert_with(entry).documents.push(document);
            }
        }
        Ok(entries.into_values().collect())
    }

    /// Whether `folder` was in the scope before the change `sequence`, and still is. `entered` are
    /// the folders that entered it.
    fn was_inside(
        &self,
        folder: FolderId,
        sequence: u64,
        entered: &BTreeMap<FolderId, EnteredBy>,
    ) -> bool {
        self.folders.contains(&folder)
            && entered.get(&folder).is_none_or(|(entered_by, _)| *entered_by < sequence)
    }

    /// The folders that were moved into the scope, and those below them.
    fn entered_folders(&self, edits: &[RelocationEdit]) -> Result<BTreeMap<FolderId, EnteredBy>> {
        let mut entered = BTreeMap::new();
        // That one folder entered may mean that another one came from outside: until nothing is
        // new. Each round adds a folder or a later change, so it ends.
        loop {
            let known = entered.clone();
            for RelocationEdit { sequence, at, edit } in edits {
                let Edit::UpdateFolder { before, after } = edit else { continue };
                let is_inside = after.parent.is_some_and(|parent| self.folders.contains(&parent));
                let was_inside = before
                    .parent
                    .is_some_and(|parent| self.was_inside(parent, *sequence, &entered));
                if is_inside && !was_inside && !self.named.contains(&after.id) {
                    self.enter(after.id, (*sequence, *at), &mut entered)?;
                }
            }
            if entered == known {
                return Ok(entered);
            }
        }
    }

    /// Notes that `folder` entered the scope with all folders below it.
    fn enter(
        &self,
        folder: FolderId,
        by: EnteredBy,
        entered: &mut BTreeMap<FolderId, EnteredBy>,
    ) -> Result<()> {
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![folder]);
        while let Some(folder) = waiting.pop() {
            if seen.insert(folder) && self.folders.contains(&folder) {
                let last = entered.entry(folder).or_insert(by);
                *last = (*last).max(by);
                waiting.extend(self.reader.folders_in(Some(folder))?.iter().map(|below| below.id));
            }
        }
        Ok(())
    }

    /// The edits after the change `sequence` that say where documents and folders are.
    fn relocations_after(&self, mut sequence: u64) -> Result<Vec<RelocationEdit>> {
        let mut edits = Vec::new();
        loop {
            let changes = self.reader.changes_after(sequence, ROWS_PER_READ)?;
            if changes.is_empty() {
                return Ok(edits);
            }
            for change in changes {
                invariant!(change.sequence > sequence, "the change log is read in ascending order");
                sequence = change.sequence;
                let is_relocation = |edit: &Edit| {
                    matches!(
                        edit,
                        Edit::CreateDocument { .. }
                            | Edit::UpdateDocument { .. }
                            | Edit::UpdateFolder { .. }
                    )
                };
                let at = change.stamp.at;
                edits.extend(
                    change.edits.into_iter().filter(is_relocation).map(|edit| RelocationEdit {
                        sequence,
                        at,
                        edit,
                    }),
                );
            }
        }
    }
}
