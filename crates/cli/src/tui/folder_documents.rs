//! The documents of an open folder, followed as they change.

use leafbase::{
    BuiltInLocation, Connection, Document, DocumentId, FolderRef, Full, ListDocuments, ListPatch,
    Location, PatchStep, Watcher,
};

/// The documents directly in a folder: by title, daily notes the latest first.
pub(crate) struct FolderDocuments {
    folder: FolderRef,
    watcher: Watcher<Full, ListDocuments>,
    documents: Vec<(DocumentId, String)>,
}

impl FolderDocuments {
    pub(crate) fn open(notes: &Connection, folder: FolderRef) -> leafbase::Result<Self> {
        let request = match folder {
            FolderRef::Folder(folder) => ListDocuments::new().within(folder),
            FolderRef::BuiltIn(location) => ListDocuments::new().at(location),
        };
        let watcher = notes.watch(request)?;
        let mut listing = Self { folder, watcher, documents: Vec::new() };
        listing.sort();
        Ok(listing)
    }

    pub(crate) fn documents(&self) -> &[(DocumentId, String)] {
        &self.documents
    }

    /// Applies patches of the watcher; returns whether a row changed.
    pub(crate) fn refresh(&mut self) -> leafbase::Result<bool> {
        let mut is_changed = false;
        while let Some(patch) = self.watcher.try_next()? {
            is_changed |= self.changes_rows(&patch);
        }
        if is_changed {
            self.sort();
        }
        Ok(is_changed)
    }

    /// Whether a patch does more than to update the revision of a document.
    fn changes_rows(&self, patch: &ListPatch<Document>) -> bool {
        let keeps_row = |step: &PatchStep<Document>| match step {
            PatchStep::Update { entry, .. } => {
                self.documents.iter().any(|(id, title)| *id == entry.id() && *title == entry.title)
            }
            _ => false,
        };
        !patch.steps.iter().all(keeps_row)
    }

    fn sort(&mut self) {
        let location = match self.folder {
            FolderRef::Folder(folder) => Location::Folder(folder),
            FolderRef::BuiltIn(location) => location.into(),
        };
        // The listing of a folder has the documents of its subfolders, too.
        let entries = self.watcher.entries().iter();
        let mut found: Vec<_> = entries.filter(|one| one.record.location == location).collect();
        if self.folder == FolderRef::BuiltIn(BuiltInLocation::DailyNotes) {
            found.sort_by_key(|document| std::cmp::Reverse(document.record.day));
        } else {
            found.sort_by_cached_key(|document| (document.title.to_lowercase(), document.id()));
        }
        self.documents =
            found.into_iter().map(|document| (document.id(), document.title.clone())).collect();
    }
}
