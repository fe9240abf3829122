//! The space side of a mirror: its documents with their places, and the directory of each folder.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

use leafbase::bulk::{SpaceView, StoredDocument};
use leafbase::{DocumentId, Error, FolderId, FolderRecord, Location, Result};

use super::file_base::FileBase;
use super::listed_files::ListedFiles;
use super::options::MirrorOptions;
use crate::file_names::{AllocatedNames, DAILY_NOTES, decode};
use crate::link_paths::{directory, file_name};
use crate::markdown_file::plain_title;

/// The place of documents outside of the mirrored part. No directory has this name.
const ELSEWHERE: &str = "../";

/// The documents of the mirrored part of a space.
#[derive(Debug, Default)]
pub(super) struct SpaceSide {
    pub(super) documents: BTreeMap<DocumentId, MirroredDocument>,
    /// The folder that is mirrored; with none the whole space.
    pub(super) top: Option<FolderId>,
    /// Whether documents elsewhere belong to it as well: those of an import may have been moved.
    is_import: bool,
    folders: HashMap<FolderId, FolderRecord>,
}

/// A document and where it is.
#[derive(Clone, Debug)]
pub(super) struct MirroredDocument {
    pub(super) row: StoredDocument,
    /// Its folder in names, or that it is a daily note.
    pub(super) place: String,
}

impl SpaceSide {
    pub(super) fn read(view: &SpaceView<'_>, options: &MirrorOptions) -> Result<Self> {
        let mut side = Self::without_documents(view, options)?;
        let mut rows = Vec::new();
        view.documents(&mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        for row in rows {
            if let Some(place) = side.place(row.record.location) {
                side.documents.insert(row.record.id, MirroredDocument { row, place });
            }
        }
        Ok(side)
    }

    /// The folders alone.
    pub(super) fn without_documents(view: &SpaceView<'_>, options: &MirrorOptions) -> Result<Self> {
        let folders = view.folders()?.into_iter().map(|folder| (folder.id, folder)).collect();
        let (top, is_import) = (options.folder, options.import.is_some());
        let side = Self { documents: BTreeMap::new(), top, is_import, folders };
        if top.is_some_and(|top| !side.folders.contains_key(&top)) {
            return Err(Error::no_folder().at("folder"));
        }
        Ok(side)
    }

    /// A location in names. `None` outside of the mirrored part.
    pub(super) fn place(&self, location: Location) -> Option<String> {
        let place = self.mirrored_place(location);
        let is_live = !matches!(location, Location::Trash | Location::Templates);
        place.or_else(|| (self.is_import && is_live).then(|| ELSEWHERE.to_owned()))
    }

    fn mirrored_place(&self, location: Location) -> Option<String> {
        match (location, self.top) {
            (Location::Unsorted, None) => Some(String::new()),
            // No directory has this name: it would be hidden.
            (Location::DailyNotes, None) => Some("./".to_owned()),
            (Location::Folder(folder), _) => self.folder_place(folder),
            _ => None,
        }
    }

    /// The names of a folder and those above it, below the mirrored one.
    fn folder_place(&self, folder: FolderId) -> Option<String> {
        let (mut names, mut at) = (Vec::new(), Some(folder));
        while at != self.top {
            let record = self.folders.get(&at?)?;
            // Damage could have made the parents a cycle.
            if names.len() > self.folders.len() {
                return None;
            }
            names.push(crate::file_names::encode(&record.name));
            at = record.parent;
        }
        names.reverse();
        Some(names.join("/"))
    }

    /// The name of a folder.
    pub(super) fn folder_name(&self, folder: FolderId) -> Option<&str> {
        Some(self.folders.get(&folder)?.name.as_str())
    }

    fn parent(&self, folder: FolderId) -> Option<FolderId> {
        self.folders.get(&folder)?.parent
    }

    /// The folders of the mirrored part, parents first.
    fn folders(&self) -> Vec<(String, &FolderRecord)> {
        let place = |folder: &FolderRecord| self.folder_place(folder.id);
        let is_below = |folder: &&FolderRecord| Some(folder.id) != self.top;
        let folders = self.folders.values().filter(is_below);
        let mut found: Vec<_> =
            folders.filter_map(|folder| Some((place(folder)?, folder))).collect();
        found.sort_by(|one, other| {
            let depth = |place: &str| place.matches('/').count();
            (depth(&one.0), &one.0, one.1.id).cmp(&(depth(&other.0), &other.0, other.1.id))
        });
        found
    }
}

/// The directory of each folder, and the other way.
#[derive(Debug, Default)]
pub(super) struct Directories {
    of_folder: HashMap<FolderId, String>,
    folders: HashMap<String, FolderId>,
    top: Option<FolderId>,
}

impl Directories {
    /// The directories that folders have by the base, by their names, or else will have.
    pub(super) fn new(
        side: &SpaceSide,
        bases: &BTreeMap<DocumentId, FileBase>,
        files: &ListedFiles<'_>,
    ) -> Self {
        let existing = &files.all_directories;
        let mut directories = Self { top: side.top, ..Self::default() };
        for (document, base) in bases {
            let found = side.documents.get(document).filter(|found| found.place == base.place);
            if let Some(Location::Folder(folder)) = found.map(|found| found.row.record.location) {
                directories.assume(side, folder, directory(&base.file.path), existing);
            }
        }
        let mut names: HashMap<String, AllocatedNames> = HashMap::new();
        for path in existing.iter().map(String::as_str).chain(files.taken_paths()) {
            names.entry(directory(path).to_owned()).or_default().reserve(file_name(path));
        }
        for (_, folder) in side.folders() {
            if directories.of_folder.contains_key(&folder.id) {
                continue;
            }
            let Some(above) = directories.directory(folder.parent).map(ToOwned::to_owned) else {
                continue;
            };
            let is_free = |at: &&String| {
                directory(at) == above
                    && decode(file_name(at)) == folder.name
                    && !directories.folders.contains_key(*at)
            };
            let found = existing.iter().find(is_free).cloned();
            let path = found.unwrap_or_else(|| {
                join(&above, &names.entry(above.clone()).or_default().claim(&folder.name, ""))
            });
            directories.insert(folder.id, path);
        }
        directories
    }

    /// Takes `path` as the directory of `folder`, and so on above, as far as both have none yet.
    fn assume(
        &mut self,
        side: &SpaceSide,
        folder: FolderId,
        path: &str,
        existing: &BTreeSet<String>,
    ) {
        let (mut folder, mut path) = (folder, path);
        while !path.is_empty() && existing.contains(path) && Some(folder) != self.top {
            if self.of_folder.contains_key(&folder) || self.folders.contains_key(path) {
                return;
            }
            self.insert(folder, path.to_owned());
            let Some(parent) = side.parent(folder) else { return };
            (folder, path) = (parent, directory(path));
        }
    }

    pub(super) fn insert(&mut self, folder: FolderId, path: String) {
        self.of_folder.insert(folder, path.clone());
        self.folders.insert(path, folder);
    }

    /// Gives the folders of a directory and of those below it the directories at another path.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        for (folder, path) in &mut self.of_folder {
            if let Some(below) = below(path, from) {
                let renamed = format!("{to}{below}");
                self.folders.remove(path);
                self.folders.insert(renamed.clone(), *folder);
                *path = renamed;
            }
        }
    }

    /// The directory of a folder; without one, the top.
    pub(super) fn directory(&self, folder: Option<FolderId>) -> Option<&str> {
        match folder {
            folder if folder == self.top => Some(""),
            Some(folder) => self.of_folder.get(&folder).map(String::as_str),
            None => None,
        }
    }

    /// The directories of folders.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.folders.keys().map(String::as_str)
    }

    /// The folder of a directory. `None` if it has none yet, or is the top.
    pub(super) fn folder(&self, path: &str) -> Option<FolderId> {
        self.folders.get(path).copied()
    }

    /// The folders by their directories.
    pub(super) fn folders(&self) -> &HashMap<String, FolderId> {
        &self.folders
    }
}

/// Allocates the paths of files that documents get.
#[derive(Debug, Default)]
pub(super) struct FilePaths {
    names: HashMap<String, AllocatedNames>,
    taken: HashSet<String>,
}

impl FilePaths {
    /// All but `paths`.
    pub(super) fn new<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        let mut allocated = Self::default();
        for path in paths {
            allocated.reserve(path);
        }
        allocated
    }

    pub(super) fn reserve(&mut self, path: &str) {
        self.names.entry(directory(path).to_owned()).or_default().reserve(file_name(path));
        self.taken.insert(path.to_owned());
    }

    /// The path of a new file for a document. `None` if its folder has no directory.
    pub(super) fn claim(
        &mut self,
        document: &MirroredDocument,
        directories: &Directories,
    ) -> Option<String> {
        let StoredDocument { record, title, .. } = &document.row;
        let at = match record.location {
            Location::Folder(folder) => directories.directory(Some(folder))?,
            Location::DailyNotes => DAILY_NOTES,
            _ => "",
        };
        let names = self.names.entry(at.to_owned()).or_default();
        let name = match record.day {
            Some(day) => names.claim(&day.to_string(), ".md"),
            None => names.claim_document(&plain_title(title)),
        };
        let path = join(at, &name);
        self.taken.insert(path.clone());
        Some(path)
    }

    /// The path of a directory at the top.
    pub(super) fn claim_directory(&mut self, name: &str) -> String {
        self.names.entry(String::new()).or_default().claim(name, "")
    }

    /// The path of the second file of a conflict.
    pub(super) fn claim_conflict(&mut self, path: &str) -> String {
        self.claim_titled(path, " (conflict)")
    }

    /// A free path for a file that will have the path `path`.
    pub(super) fn claim_beside(&mut self, path: &str) -> String {
        self.claim_titled(path, "")
    }

    fn claim_titled(&mut self, path: &str, suffix: &str) -> String {
        let stem = decode(crate::file_names::without_extension(file_name(path)));
        let at = directory(path);
        let names = self.names.entry(at.to_owned()).or_default();
        join(at, &names.claim_document(&format!("{stem}{suffix}")))
    }
}

pub(super) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// The rest of a path below `directory`, with its `/`; empty for the directory itself.
pub(super) fn below<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    path.strip_prefix(directory).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}
