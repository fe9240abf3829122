//! Folders with documents in them as text, for the rules of folders: as they should be, or lying.

use std::collections::BTreeMap;
use std::fmt::Write;

use leafbase_model::{
    DocumentId, DocumentRecord, Edit, FolderDestination, FolderDraft, FolderId, FolderRecord,
    FolderRef, Limits, Location, Result, Timestamp,
};
use leafbase_test_outline::{SequentialIds, stamp};
use leafbase_tree_ops::{
    Context, FolderPlan, ReadFolders, create_folders, delete_folders, move_folders,
};

/// Folders and the documents in them. As text: a line for each, indented by what it is in; `*name`
/// is a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shelf {
    pub(crate) folders: BTreeMap<FolderId, FolderRecord>,
    pub(crate) documents: BTreeMap<DocumentId, DocumentRecord>,
    pub(crate) limits: Limits,
    /// Tells that every folder is at the top.
    pub(crate) lies: bool,
}

pub(crate) fn bytes(name: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    bytes
}

pub(crate) fn folder(name: &str) -> FolderRef {
    name.parse().map_or_else(|_| FolderId::from_bytes(bytes(name)).into(), FolderRef::BuiltIn)
}

pub(crate) fn refs(names: &str) -> Vec<FolderRef> {
    names.split_whitespace().map(folder).collect()
}

pub(crate) fn destination(name: &str) -> FolderDestination {
    if name == "root" { FolderDestination::Root } else { FolderDestination::Folder(folder(name)) }
}

impl Shelf {
    pub(crate) fn new(text: &str) -> Self {
        let (mut shelf, mut path) = (Self::default(), Vec::new());
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let name = line.trim();
            path.truncate((line.len() - line.trim_start().len()) / 2);
            let parent = path.last().copied();
            if name.starts_with('*') {
                shelf.put(name, parent);
                continue;
            }
            let id = FolderId::from_bytes(bytes(name));
            shelf.folders.insert(id, FolderRecord { id, name: name.to_owned(), parent, rev: 1 });
            path.push(id);
        }
        shelf
    }

    fn put(&mut self, name: &str, folder: Option<FolderId>) {
        let (id, at) = (DocumentId::from_bytes(bytes(name)), Timestamp::from_millis(0));
        let location = folder.map_or(Location::Unsorted, Location::Folder);
        self.documents.insert(
            id,
            DocumentRecord { id, location, day: None, created_at: at, modified_at: at, rev: 1 },
        );
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let mut waiting: Vec<(usize, Option<FolderId>)> = vec![(0, None)];
        while let Some((depth, at)) = waiting.pop() {
            if let Some(folder) = at {
                writeln!(text, "{}{}", "  ".repeat(depth - 1), self.folders[&folder].name).unwrap();
            }
            let location = at.map_or(Location::Unsorted, Location::Folder);
            for document in self.documents.values().filter(|document| document.location == location)
            {
                let name = String::from_utf8(document.id.to_bytes().to_vec()).unwrap();
                writeln!(text, "{}{}", "  ".repeat(depth), name.trim_end_matches('\0')).unwrap();
            }
            let mut within: Vec<_> =
                self.folders.values().filter(|folder| folder.parent == at).collect();
            within.sort_by(|one, other| other.name.cmp(&one.name));
            waiting.extend(within.iter().map(|folder| (depth + 1, Some(folder.id))));
        }
        text
    }

    /// Writes one edit, as a store would: what it tells of must be there, and nothing may be left
    /// without a place.
    fn write(&mut self, edit: &Edit) -> Result<(), String> {
        match edit.clone() {
            Edit::CreateFolder(folder) => {
                let known = folder.parent.is_none_or(|parent| self.folders.contains_key(&parent));
                let taken = self.folders.insert(folder.id, folder);
                (known && taken.is_none()).then_some(()).ok_or("made twice, or nowhere")?;
            }
            Edit::RemoveFolder(folder) => {
                if self.folders.remove(&folder.id) != Some(folder) {
                    return Err("it is not what goes".to_owned());
                }
            }
            Edit::UpdateFolder { before, after } => {
                if self.folders.insert(before.id, after) != Some(before) {
                    return Err("it is not what changes".to_owned());
                }
            }
            Edit::UpdateDocument { before, after } => {
                if self.documents.insert(before.id, after) != Some(before) {
                    return Err("it is not what moves".to_owned());
                }
            }
            other => return Err(format!("{other:?}")),
        }
        self.check(self.folders.len())
    }

    /// Every folder is reached from the top in so many steps, and every document is somewhere.
    fn check(&self, steps: usize) -> Result<(), String> {
        for folder in self.folders.values() {
            let (mut depth, mut at) = (0, folder.parent);
            while let Some(parent) = at {
                at = self
                    .folders
                    .get(&parent)
                    .ok_or_else(|| format!("{} is nowhere", folder.name))?
                    .parent;
                depth += 1;
                if depth > steps {
                    return Err(format!("{} is too deep, or in itself", folder.name));
                }
            }
        }
        let is_kept = |document: &DocumentRecord| match document.location {
            Location::Folder(folder) => self.folders.contains_key(&folder),
            location => location == Location::Unsorted,
        };
        if self.documents.values().all(is_kept) {
            Ok(())
        } else {
            Err("a document is nowhere".to_owned())
        }
    }

    /// Writes edits; the laws hold after each, the limit after the last, and the inverses lead
    /// back.
    pub(crate) fn write_all(&mut self, edits: &[Edit]) -> Result<(), String> {
        let before = self.clone();
        edits.iter().try_for_each(|edit| self.write(edit))?;
        // What leaves a folder that moves may be deeper in between.
        self.check(self.limits.folder_nesting)?;
        let mut undone = self.clone();
        edits.iter().rev().try_for_each(|edit| undone.write(&edit.inverse().unwrap()))?;
        if undone == before { Ok(()) } else { Err("what was done is not undone".to_owned()) }
    }

    pub(crate) fn with<T>(&self, run: impl FnOnce(&Context<'_>) -> T) -> T {
        let (stamp, ids) = (stamp(1), SequentialIds::new(1));
        run(&Context { limits: &self.limits, stamp: &stamp, ids: &ids })
    }

    pub(crate) fn create(&self, drafts: Vec<FolderDraft>) -> Result<Vec<Edit>> {
        let plan = FolderPlan::of(drafts, &self.limits)?;
        let made = self.with(|context| create_folders(self, context, &plan))?;
        Ok(made.into_iter().map(Edit::CreateFolder).collect())
    }

    pub(crate) fn go(&self, names: &str, to: &str) -> Result<Vec<Edit>> {
        Ok(self.with(|context| move_folders(self, context, &refs(names), destination(to)))?.edits)
    }

    pub(crate) fn delete(&self, names: &str, must_be_empty: bool) -> Result<Vec<Edit>> {
        self.with(|context| delete_folders(self, context, &refs(names), must_be_empty))
    }
}

impl ReadFolders for Shelf {
    fn folder(&self, folder: FolderId) -> Result<Option<FolderRecord>> {
        let found = self.folders.get(&folder).cloned();
        Ok(if self.lies {
            found.map(|folder| FolderRecord { parent: None, ..folder })
        } else {
            found
        })
    }

    fn folders_in(&self, folder: FolderId) -> Result<Vec<FolderRecord>> {
        Ok(self.folders.values().filter(|within| within.parent == Some(folder)).cloned().collect())
    }

    fn documents_in(&self, folder: FolderId) -> Result<Vec<DocumentRecord>> {
        let here = |document: &&DocumentRecord| document.location == Location::Folder(folder);
        Ok(self.documents.values().filter(here).cloned().collect())
    }
}
