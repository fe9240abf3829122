//! The plan of an import: which files become documents, and which directories become folders. It
//! allocates all IDs, so that links can lead to files that have not been read yet.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use leafbase::{Day, DocumentId, FolderId, FolderRecord, Location, Result};

use super::link_targets::{AttachmentCandidates, DocumentTargets, FileIndex};
use crate::file_names::{decode, is_exported_daily_note, markdown_extension};
use crate::folder::{ImportSource, SourceEntry, reason_to_skip};
use crate::link_paths::{directory, file_name};
use crate::markdown_file;
use crate::report::Skipped;

/// A file that becomes a document.
#[derive(Debug)]
pub(crate) struct PlannedFile {
    pub(crate) path: String,
    pub(crate) id: DocumentId,
    pub(super) location: Location,
    /// The folder of its directory, for a daily note, too.
    pub(super) folder: Option<FolderId>,
    /// The day of which it becomes the daily note.
    pub(super) day: Option<Day>,
    /// The day in its name, if that day already has a note.
    pub(super) taken_day: Option<Day>,
    /// Whether its document existed before: it is a target of links alone.
    pub(super) is_known: bool,
    /// The path that it had before it was renamed.
    former_path: Option<String>,
}

/// The files and directories of an import whose documents and folders exist.
#[derive(Debug, Default)]
pub(crate) struct KnownFiles {
    pub(crate) documents: HashMap<String, DocumentId>,
    pub(crate) folders: HashMap<String, FolderId>,
    /// The paths that files had before they were renamed, by their documents.
    pub(crate) former_paths: BTreeMap<DocumentId, String>,
}

/// What planning depends on apart from the files.
pub(crate) struct PlanContext<'a> {
    /// The folder that receives everything, then its ancestors, the nearest first.
    pub(crate) into: &'a [FolderId],
    /// Maximum nesting of folders.
    pub(crate) max_folders: usize,
    /// Whether the daily note of a day can be created. `None` imports no daily notes.
    pub(crate) takes_note: Option<&'a dyn Fn(Day) -> Result<bool>>,
    pub(crate) new_id: &'a mut dyn FnMut() -> [u8; 16],
    pub(crate) known: &'a KnownFiles,
}

impl PlanContext<'_> {
    /// Whether a new document or folder at `path` would be in too many folders.
    fn is_too_deep(&self, path: &str, is_file: bool) -> bool {
        if self.known.documents.contains_key(path) || self.known.folders.contains_key(path) {
            return false;
        }
        let directories = path.split('/').count() - usize::from(is_file);
        directories + self.into.len() > self.max_folders
    }
}

/// A step of an import.
#[derive(Debug)]
pub(crate) enum PlanStep {
    /// Creates a folder, before everything in it.
    Folder(FolderRecord),
    /// Imports a file.
    File(FileIndex),
}

/// The steps of an import, and the files they concern.
#[derive(Debug, Default)]
pub(crate) struct ImportPlan {
    pub(crate) files: Vec<PlannedFile>,
    pub(super) steps: Vec<PlanStep>,
    pub(super) documents: DocumentTargets,
    /// The same files by their former paths, if any was renamed.
    pub(super) former_documents: Option<DocumentTargets>,
    pub(super) attachments: AttachmentCandidates,
    pub(super) skipped: Vec<Skipped>,
    file_of_document: HashMap<DocumentId, FileIndex>,
    /// The directory of each new folder.
    directories: HashMap<FolderId, String>,
    /// The parent of each folder.
    parents: HashMap<FolderId, FolderId>,
}

impl ImportPlan {
    /// Plans the import of a source.
    pub(crate) fn new(source: &mut dyn ImportSource, context: PlanContext<'_>) -> Result<Self> {
        let mut plan = Self::default();
        let (mut paths, mut others) = (BTreeSet::new(), BTreeSet::new());
        let mut directories = BTreeSet::new();
        for entry in source.entries()? {
            let (path, is_file) = match entry {
                SourceEntry::File(path) => (path, true),
                SourceEntry::EmptyDirectory(path) => (path, false),
                SourceEntry::Skipped(entry) => {
                    plan.skipped.push(entry);
                    continue;
                }
            };
            let is_note = is_file && markdown_extension(&path).is_some();
            if let Some(reason) = reason_to_skip(&path) {
                plan.skipped.push(Skipped { path, reason: reason.to_owned() });
            } else if (is_note || !is_file) && context.is_too_deep(&path, is_file) {
                let reason = format!("folders nest at most {} levels", context.max_folders);
                plan.skipped.push(Skipped { path, reason });
            } else if !is_file {
                add_directory(&mut directories, &path);
            } else if is_note {
                paths.insert(path);
            } else {
                others.insert(path);
            }
        }
        plan.skipped.sort_by(|one, other| one.path.cmp(&other.path));
        plan.attachments = AttachmentCandidates::new(others);
        let is_new = |path: &&String| !context.known.documents.contains_key(*path);
        let notes = context
            .takes_note
            .map(|takes_note| daily_notes(paths.iter().filter(is_new), takes_note));
        let notes = notes.transpose()?;
        let is_note = |path: &str| notes.as_ref().is_some_and(|notes| notes.contains_key(path));
        // A directory of daily notes alone has no folder: they have a location of their own.
        for path in paths.iter().filter(is_new).filter(|path| !is_note(path)) {
            add_directory(&mut directories, directory(path));
        }
        directories.extend(context.known.folders.keys().cloned());
        plan.add_steps(paths, &directories, notes.as_ref(), context);
        Ok(plan)
    }

    /// The file that becomes this document.
    pub(super) fn file(&self, document: DocumentId) -> Option<&PlannedFile> {
        self.files.get(self.index_of(document)?)
    }

    /// The index of the file that becomes this document.
    pub(super) fn index_of(&self, document: DocumentId) -> Option<FileIndex> {
        self.file_of_document.get(&document).copied()
    }

    /// The path of the file that becomes this document.
    pub(crate) fn path_of(&self, document: DocumentId) -> &str {
        self.file(document).map_or("", |file| file.path.as_str())
    }

    /// The path of a file of the plan.
    pub(crate) fn path(&self, file: FileIndex) -> &str {
        let file = self.files.get(file);
        debug_assert!(file.is_some(), "file indices come from the plan");
        file.map_or("", |file| file.path.as_str())
    }

    /// The path that a file of the plan had before it was renamed; its path if it was not.
    pub(super) fn former_path(&self, file: FileIndex) -> &str {
        let former = self.files.get(file).and_then(|file| file.former_path.as_deref());
        former.unwrap_or_else(|| self.path(file))
    }

    /// Whether documents of files existed before.
    pub(super) fn has_known_files(&self) -> bool {
        self.files.iter().any(|file| file.is_known)
    }

    /// The directory that becomes this folder.
    pub(super) fn directory(&self, folder: FolderId) -> &str {
        self.directories.get(&folder).map_or("", String::as_str)
    }

    /// The parent that `folder` had when the import began, or is created in.
    pub(super) fn parent(&self, folder: FolderId) -> Option<FolderId> {
        self.parents.get(&folder).copied()
    }

    fn add_steps(
        &mut self,
        paths: BTreeSet<String>,
        directories: &BTreeSet<String>,
        notes: Option<&BTreeMap<String, Day>>,
        PlanContext { into, new_id, known, .. }: PlanContext<'_>,
    ) {
        let mut folders: BTreeMap<&str, FolderId> = BTreeMap::new();
        let top = into.first().copied();
        self.parents.extend(into.iter().copied().zip(into.iter().copied().skip(1)));
        // A directory sorts before everything below it, so parents are created first.
        for path in directories {
            if let Some(id) = known.folders.get(path) {
                folders.insert(path, *id);
                continue;
            }
            let id = FolderId::from_bytes(new_id());
            let parent = folders.get(directory(path)).copied().or(top);
            let name = decode(file_name(path));
            folders.insert(path, id);
            self.directories.insert(id, path.clone());
            self.parents.extend(parent.map(|parent| (id, parent)));
            self.steps.push(PlanStep::Folder(FolderRecord { id, name, parent, rev: 1 }));
        }
        self.documents = DocumentTargets::new(paths.iter().map(String::as_str));
        for path in paths {
            // IDs are allocated now, so that links can lead to files that are read later.
            let known_id = known.documents.get(&path).copied();
            let is_known = known_id.is_some();
            let id = known_id.unwrap_or_else(|| DocumentId::from_bytes(new_id()));
            let former_path = known.former_paths.get(&id).cloned();
            let folder = nearest(&folders, directory(&path)).or(top);
            let day = notes.and_then(|notes| notes.get(&path)).copied();
            let location = match day {
                Some(_) => Location::DailyNotes,
                None => folder.map_or(Location::Unsorted, Location::Folder),
            };
            let is_taken = notes.is_some() && day.is_none() && !is_known;
            let taken_day = if is_taken { markdown_file::day(&path) } else { None };
            // Files follow all folders, and their index is their position in `files`.
            self.steps.extend((!is_known).then_some(PlanStep::File(self.files.len())));
            self.file_of_document.insert(id, self.files.len());
            self.files.push(PlannedFile {
                path,
                id,
                location,
                folder,
                day,
                taken_day,
                is_known,
                former_path,
            });
        }
        if !known.former_paths.is_empty() {
            let former = (0..self.files.len()).map(|file| self.former_path(file));
            self.former_documents = Some(DocumentTargets::new(former));
        }
        debug_assert!(
            self.files.is_sorted_by(|one, other| one.path < other.path),
            "files are sorted by path and deduplicated"
        );
    }
}

/// The folder of `path`, or of its nearest ancestor that has one.
fn nearest(folders: &BTreeMap<&str, FolderId>, mut path: &str) -> Option<FolderId> {
    while !path.is_empty() {
        if let Some(folder) = folders.get(path) {
            return Some(*folder);
        }
        path = directory(path);
    }
    None
}

/// Adds `path` and its ancestors.
fn add_directory(directories: &mut BTreeSet<String>, mut path: &str) {
    while !path.is_empty() && directories.insert(path.to_owned()) {
        path = directory(path);
    }
}

/// The files that become daily notes: for each day the one that an export wrote, otherwise the
/// first file named by the day.
fn daily_notes<'a>(
    paths: impl Iterator<Item = &'a String>,
    takes_note: &dyn Fn(Day) -> Result<bool>,
) -> Result<BTreeMap<String, Day>> {
    let (mut notes, mut days) = (BTreeMap::new(), BTreeSet::new());
    let (exported, others): (Vec<&String>, _) =
        paths.partition(|path| is_exported_daily_note(path));
    for path in exported.into_iter().chain(others) {
        if let Some(day) = markdown_file::day(path)
            && !days.contains(&day)
            && takes_note(day)?
        {
            days.insert(day);
            notes.insert(path.clone(), day);
        }
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::MemorySource;

    #[test]
    fn directories_come_before_what_is_in_them() {
        let files =
            ["b/c/x.md", "a.md", "b/y.md", ".git/z.md", "pic.png", "../out.md", "b/.hidden.md"];
        let mut source: MemorySource = files.into_iter().map(|path| (path, "")).collect();
        let mut number = 0_u8;
        let mut mint = || {
            number += 1;
            [number; 16]
        };
        let context = PlanContext {
            into: &[],
            max_folders: 64,
            takes_note: Some(&|_| Ok(true)),
            new_id: &mut mint,
            known: &KnownFiles::default(),
        };
        let plan = ImportPlan::new(&mut source, context).expect("a plan");
        let steps = plan.steps.iter().map(|step| match step {
            PlanStep::Folder(folder) => folder.name.clone(),
            PlanStep::File(index) => plan.files[*index].path.clone(),
        });
        assert_eq!(steps.collect::<Vec<_>>(), ["b", "c", "a.md", "b/c/x.md", "b/y.md"]);
        let skipped: Vec<_> =
            plan.skipped.iter().map(|entry| (entry.path.as_str(), entry.reason.as_str())).collect();
        assert_eq!(
            skipped,
            [
                ("../out.md", "not a path within the folder"),
                (".git/z.md", "hidden"),
                ("b/.hidden.md", "hidden"),
            ]
        );
        assert_eq!(plan.attachments.paths().collect::<Vec<_>>(), ["pic.png"]);
        assert_eq!(plan.files[0].location, Location::Unsorted);
        assert_eq!(plan.files[1].location, Location::Folder(FolderId::from_bytes([2; 16])));
    }

    #[test]
    fn files_named_by_a_day_are_daily_notes() {
        let files = [
            "log/2026-03-01.md",
            "old/2026-03-01.md",
            "old/a.md",
            "2026-03-02.md",
            "2026-02-30.md",
            "j/2026_03_03.md",
        ];
        let mut source: MemorySource = files.into_iter().map(|path| (path, "")).collect();
        let (mut number, taken) = (0_u8, "2026-03-02".parse::<Day>().expect("a day"));
        let mut mint = || {
            number += 1;
            [number; 16]
        };
        let context = PlanContext {
            into: &[],
            max_folders: 64,
            takes_note: Some(&|day| Ok(day != taken)),
            new_id: &mut mint,
            known: &KnownFiles::default(),
        };
        let plan = ImportPlan::new(&mut source, context).expect("a plan");
        let shown = |file: &PlannedFile| match (file.day, file.taken_day) {
            (Some(_), _) => format!("{} note", file.path),
            (_, Some(_)) => format!("{} taken", file.path),
            _ => file.path.clone(),
        };
        let planned: Vec<_> = plan.files.iter().map(shown).collect();
        let expected = [
            "2026-02-30.md",
            "2026-03-02.md taken",
            "j/2026_03_03.md note",
            "log/2026-03-01.md note",
            "old/2026-03-01.md taken",
            "old/a.md",
        ];
        assert_eq!(planned, expected);
        let folders = plan.steps.iter().filter(|step| matches!(step, PlanStep::Folder(_))).count();
        assert_eq!(folders, 1, "there is no folder for a directory of daily notes alone");
    }

    #[test]
    fn of_several_files_of_a_day_the_exported_note_is_taken() {
        let files = ["2026-03-01.md", "Daily Notes/2026-03-01.md", "a/daily notes/2026-03-01.md"];
        let mut source: MemorySource = files.into_iter().map(|path| (path, "")).collect();
        let context = PlanContext {
            into: &[],
            max_folders: 64,
            takes_note: Some(&|_| Ok(true)),
            new_id: &mut || [1; 16],
            known: &KnownFiles::default(),
        };
        let plan = ImportPlan::new(&mut source, context).expect("a plan");
        let notes =
            plan.files.iter().filter(|file| file.day.is_some()).map(|file| file.path.as_str());
        assert_eq!(notes.collect::<Vec<_>>(), ["Daily Notes/2026-03-01.md"]);
    }
}
