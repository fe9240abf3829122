//! The tree of folders and documents: only open folders are read.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use leafbase::{
    BuiltInLocation, Connection, Document, DocumentId, ErrorKind, Folder, FolderRef, Location,
};

use super::folder_documents::FolderDocuments;

/// A row of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeRow {
    pub(crate) depth: usize,
    pub(crate) target: TreeTarget,
    pub(crate) name: String,
    /// Of a folder: the documents directly in it.
    pub(crate) documents: u64,
    pub(crate) is_open: bool,
}

/// The folder or document of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeTarget {
    Folder(FolderRef),
    Document(DocumentId),
}

pub(crate) struct FolderTree {
    folders: Vec<Folder>,
    open: HashMap<FolderRef, FolderDocuments>,
    rows: Vec<TreeRow>,
    selected: usize,
}

/// Pending rows of the traversal.
enum PendingRows<'t> {
    Folder(usize, &'t Folder),
    Documents(usize, FolderRef),
}

impl FolderTree {
    /// The tree with the unsorted documents.
    pub(crate) fn read(notes: &Connection) -> leafbase::Result<Self> {
        let unsorted = FolderRef::BuiltIn(BuiltInLocation::Unsorted);
        let open = HashMap::from([(unsorted, FolderDocuments::open(notes, unsorted)?)]);
        let folders = in_order(notes.folders()?.0);
        let mut tree = Self { folders, open, rows: Vec::new(), selected: 0 };
        tree.arrange();
        Ok(tree)
    }

    pub(crate) fn rows(&self) -> &[TreeRow] {
        &self.rows
    }

    pub(crate) const fn selected(&self) -> usize {
        self.selected
    }

    pub(crate) fn selected_row(&self) -> Option<&TreeRow> {
        self.rows.get(self.selected)
    }

    /// The selected folder, or the parent of the selected document.
    pub(crate) fn selected_folder(&self) -> Option<FolderRef> {
        let row = self.selected_row()?;
        if let TreeTarget::Folder(folder) = row.target {
            return Some(folder);
        }
        let mut above = self.rows.get(..self.selected)?.iter().rev();
        above.find_map(|it| match it.target {
            TreeTarget::Folder(folder) if it.depth < row.depth => Some(folder),
            _ => None,
        })
    }

    pub(crate) fn select(&mut self, row: usize) {
        self.selected = row.min(self.rows.len().saturating_sub(1));
    }

    /// Opens a folder, or closes it.
    pub(crate) fn toggle(&mut self, notes: &Connection, folder: FolderRef) -> leafbase::Result<()> {
        if self.open.remove(&folder).is_none() {
            self.open.insert(folder, FolderDocuments::open(notes, folder)?);
        }
        self.arrange();
        Ok(())
    }

    /// Closes the selected folder; from another row goes to the folder that it is in.
    pub(crate) fn leave(&mut self) {
        let Some(row) = self.selected_row().cloned() else { return };
        if let (TreeTarget::Folder(folder), true) = (row.target, row.is_open) {
            self.open.remove(&folder);
            self.arrange();
            return;
        }
        let above = self.rows.get(..self.selected).unwrap_or_default();
        self.selected = above.iter().rposition(|it| it.depth < row.depth).unwrap_or(self.selected);
    }

    /// Selects a document; opens the folders that it is in.
    pub(crate) fn reveal(
        &mut self,
        notes: &Connection,
        document: &Document,
    ) -> leafbase::Result<()> {
        let mut folder = Some(match document.record.location {
            Location::Folder(folder) => FolderRef::Folder(folder),
            Location::Unsorted => FolderRef::BuiltIn(BuiltInLocation::Unsorted),
            Location::DailyNotes => FolderRef::BuiltIn(BuiltInLocation::DailyNotes),
            Location::Templates => FolderRef::BuiltIn(BuiltInLocation::Templates),
            Location::Trash => FolderRef::BuiltIn(BuiltInLocation::Trash),
            // The inbox is in no folder.
            Location::Inbox => return Ok(()),
        });
        while let Some(one) = folder {
            if let Entry::Vacant(closed) = self.open.entry(one) {
                closed.insert(FolderDocuments::open(notes, one)?);
            }
            let mut all = self.folders.iter().flat_map(Folder::walk);
            let parent = all.find(|(_, it)| it.id == one).and_then(|(_, it)| it.parent);
            folder = parent.map(FolderRef::Folder);
        }
        self.arrange();
        let target = TreeTarget::Document(document.id());
        let row = self.rows.iter().position(|row| row.target == target);
        self.selected = row.unwrap_or(self.selected);
        Ok(())
    }

    /// Applies writes to the tree; returns whether a row changed.
    pub(crate) fn refresh(&mut self, notes: &Connection) -> leafbase::Result<bool> {
        let folders = in_order(notes.folders()?.0);
        let mut is_changed = folders != self.folders;
        self.folders = folders;
        let mut gone = Vec::new();
        for (folder, listing) in &mut self.open {
            match listing.refresh() {
                Ok(has_changed) => is_changed |= has_changed,
                Err(error) if error.kind() == ErrorKind::NotFound => gone.push(*folder),
                Err(error) => return Err(error),
            }
        }
        for folder in gone {
            self.open.remove(&folder);
        }
        if is_changed {
            self.arrange();
        }
        Ok(is_changed)
    }

    /// Rebuilds the rows, and keeps the selected target.
    fn arrange(&mut self) {
        let before = self.selected_row().map(|row| row.target);
        let mut rows = Vec::new();
        let mut pending: Vec<_> =
            self.folders.iter().rev().map(|folder| PendingRows::Folder(0, folder)).collect();
        while let Some(next) = pending.pop() {
            match next {
                PendingRows::Folder(depth, folder) => {
                    let is_open = self.open.contains_key(&folder.id);
                    // A built-in location without documents is left out.
                    if folder.folder_id().is_none() && folder.document_count == 0 {
                        continue;
                    }
                    rows.push(TreeRow::of_folder(depth, folder, is_open));
                    if is_open {
                        pending.push(PendingRows::Documents(depth + 1, folder.id));
                        let within = folder.folders.iter().rev();
                        pending.extend(within.map(|it| PendingRows::Folder(depth + 1, it)));
                    }
                }
                PendingRows::Documents(depth, folder) => {
                    let documents =
                        self.open.get(&folder).map_or(&[][..], FolderDocuments::documents);
                    rows.extend(documents.iter().map(|it| TreeRow::of_document(depth, it)));
                }
            }
        }
        self.rows = rows;
        let row = self.rows.iter().position(|row| Some(row.target) == before);
        self.select(row.unwrap_or(self.selected));
    }
}

impl TreeRow {
    fn of_folder(depth: usize, folder: &Folder, is_open: bool) -> Self {
        let (name, documents) = (folder.name.clone(), folder.document_count);
        Self { depth, target: TreeTarget::Folder(folder.id), name, documents, is_open }
    }

    fn of_document(depth: usize, (id, title): &(DocumentId, String)) -> Self {
        let (target, name) = (TreeTarget::Document(*id), title.clone());
        Self { depth, target, name, documents: 0, is_open: false }
    }
}

/// The folders as the tree shows them: the trash last.
fn in_order(mut folders: Vec<Folder>) -> Vec<Folder> {
    let trash = FolderRef::BuiltIn(BuiltInLocation::Trash);
    folders.sort_by_key(|folder| folder.id == trash);
    folders
}
