//! The plan of an import: which files become which documents, and which directories which folders.
//! IDs are minted here, so that links can be made to files that are not read yet.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use leafbase_model::{Day, DocumentId, FolderId, FolderRecord, Location, Result};

use crate::operations::transfer::attachable::Attachable;
use crate::operations::transfer::report::Skipped;
use crate::operations::transfer::source::{ImportSource, SourceEntry, reason_to_skip};
use crate::operations::transfer::targets::{Targets, markdown_extension};
use crate::operations::transfer::{layout, names, reading, urls};

/// A file that becomes a document.
#[derive(Debug)]
pub(super) struct PlannedFile {
    pub(super) path: String,
    pub(super) id: DocumentId,
    pub(super) location: Location,
    /// The folder for it, if it is no daily note.
    pub(super) folder: Option<FolderId>,
    /// The day that it is the daily note of.
    pub(super) day: Option<Day>,
    /// The day that it is named by, though that has a note already.
    pub(super) taken_day: Option<Day>,
}

/// What a plan is made by, beside the files.
pub(super) struct Given<'a> {
    /// The folder that everything goes into, before those that it is in, the nearest first.
    pub(super) into: &'a [FolderId],
    /// Whether a file named by this day can become its note.
    pub(super) takes_note: &'a dyn Fn(Day) -> Result<bool>,
    pub(super) mint: &'a mut dyn FnMut() -> [u8; 16],
}

/// What is to be imported, in order.
#[derive(Debug)]
pub(super) enum Step {
    /// A folder, before all that is in it.
    Folder(FolderRecord),
    /// The file of this number.
    File(usize),
}

/// What an import will do.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) files: Vec<PlannedFile>,
    pub(super) steps: Vec<Step>,
    pub(super) targets: Targets,
    /// Files that documents may show.
    pub(super) attachable: Attachable,
    pub(super) skipped: Vec<Skipped>,
    /// The place of each document's file in the list.
    numbers: HashMap<DocumentId, usize>,
    /// The directory of each folder to be made.
    directories: HashMap<FolderId, String>,
    /// The folder that each folder is in.
    parents: HashMap<FolderId, FolderId>,
}

impl Plan {
    /// Plans the import of all that `source` holds.
    pub(super) fn of(source: &mut dyn ImportSource, given: Given<'_>) -> Result<Self> {
        let (mut paths, mut others) = (BTreeSet::new(), BTreeSet::new());
        let (mut directories, mut skipped) = (BTreeSet::new(), Vec::new());
        for entry in source.entries()? {
            let (path, is_file) = match entry {
                SourceEntry::File(path) => (path, true),
                SourceEntry::EmptyDirectory(path) => (path, false),
                SourceEntry::Skipped(entry) => {
                    skipped.push(entry);
                    continue;
                }
            };
            if let Some(reason) = reason_to_skip(&path) {
                skipped.push(Skipped { path, reason: reason.to_owned() });
                continue;
            }
            if !is_file {
                add_directory(&mut directories, &path);
            } else if markdown_extension(&path).is_some() {
                paths.insert(path);
            } else {
                others.insert(path);
            }
        }
        skipped.sort_by(|one, other| one.path.cmp(&other.path));
        let notes = daily_notes(&paths, given.takes_note)?;
        // A directory of nothing but daily notes has no folder: they are kept in none.
        for path in paths.iter().filter(|path| !notes.contains_key(*path)) {
            add_directory(&mut directories, urls::directory(path));
        }
        let attachable = Attachable::new(others);
        let mut plan = Self { attachable, skipped, ..Self::default() };
        plan.lay_out(paths, &directories, &notes, given);
        Ok(plan)
    }

    /// The file that becomes this document.
    pub(super) fn file(&self, document: DocumentId) -> Option<&PlannedFile> {
        self.files.get(*self.numbers.get(&document)?)
    }

    /// The directory that becomes this folder.
    pub(super) fn directory(&self, folder: FolderId) -> &str {
        self.directories.get(&folder).map_or("", String::as_str)
    }

    /// The folder that `folder` was in when the import began, or is to be made in.
    pub(super) fn above(&self, folder: FolderId) -> Option<FolderId> {
        self.parents.get(&folder).copied()
    }

    fn lay_out(
        &mut self,
        paths: BTreeSet<String>,
        directories: &BTreeSet<String>,
        notes: &BTreeMap<String, Day>,
        Given { into, mint, takes_note: _ }: Given<'_>,
    ) {
        let mut folders: BTreeMap<&str, FolderId> = BTreeMap::new();
        let top = into.first().copied();
        self.parents.extend(into.iter().copied().zip(into.iter().copied().skip(1)));
        // A directory sorts before all that is below it.
        for path in directories {
            let id = FolderId::from_bytes(mint());
            let parent = folders.get(urls::directory(path)).copied().or(top);
            let name = path.rsplit('/').next().unwrap_or_default();
            folders.insert(path, id);
            self.directories.insert(id, path.clone());
            self.parents.extend(parent.map(|parent| (id, parent)));
            self.steps.push(Step::Folder(FolderRecord { id, name: names::decode(name), parent }));
        }
        self.targets = Targets::new(paths.iter().map(String::as_str));
        for path in paths {
            let id = DocumentId::from_bytes(mint());
            let folder = nearest(&folders, urls::directory(&path)).or(top);
            let kept = folder.map_or(Location::Unsorted, Location::Folder);
            let day = notes.get(&path).copied();
            let location = if day.is_some() { Location::DailyNotes } else { kept };
            let taken_day = reading::day(&path).filter(|_| day.is_none());
            self.steps.push(Step::File(self.files.len()));
            self.numbers.insert(id, self.files.len());
            self.files.push(PlannedFile { path, id, location, folder, day, taken_day });
        }
    }
}

/// The folder of `directory`, or of the nearest above it that has one.
fn nearest(folders: &BTreeMap<&str, FolderId>, mut directory: &str) -> Option<FolderId> {
    while !directory.is_empty() {
        if let Some(folder) = folders.get(directory) {
            return Some(*folder);
        }
        directory = urls::directory(directory);
    }
    None
}

/// Adds `directory` and all that it is in.
fn add_directory(directories: &mut BTreeSet<String>, mut directory: &str) {
    while !directory.is_empty() && directories.insert(directory.to_owned()) {
        directory = urls::directory(directory);
    }
}

/// The files that become daily notes: for each day the one among the notes of an export, else the
/// first that is named by it.
fn daily_notes(
    paths: &BTreeSet<String>,
    takes_note: &dyn Fn(Day) -> Result<bool>,
) -> Result<BTreeMap<String, Day>> {
    let (mut notes, mut days) = (BTreeMap::new(), BTreeSet::new());
    let (exported, others): (Vec<&String>, _) =
        paths.iter().partition(|path| layout::is_note(path));
    for path in exported.into_iter().chain(others) {
        if let Some(day) = reading::day(path)
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
    use crate::operations::transfer::source::MemorySource;

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
        let given = Given { into: &[], takes_note: &|_| Ok(true), mint: &mut mint };
        let plan = Plan::of(&mut source, given).expect("a plan");
        let steps = plan.steps.iter().map(|step| match step {
            Step::Folder(folder) => folder.name.clone(),
            Step::File(index) => plan.files[*index].path.clone(),
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
        assert_eq!(plan.attachable.paths().collect::<Vec<_>>(), ["pic.png"]);
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
        let given = Given { into: &[], takes_note: &|day| Ok(day != taken), mint: &mut mint };
        let plan = Plan::of(&mut source, given).expect("a plan");
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
        let folders = plan.steps.iter().filter(|step| matches!(step, Step::Folder(_))).count();
        assert_eq!(folders, 1, "there is no folder for a directory of daily notes alone");
    }

    #[test]
    fn of_several_files_of_a_day_the_exported_note_is_taken() {
        let files = ["2026-03-01.md", "Daily Notes/2026-03-01.md", "a/daily notes/2026-03-01.md"];
        let mut source: MemorySource = files.into_iter().map(|path| (path, "")).collect();
        let given = Given { into: &[], takes_note: &|_| Ok(true), mint: &mut || [1; 16] };
        let plan = Plan::of(&mut source, given).expect("a plan");
        let notes =
            plan.files.iter().filter(|file| file.day.is_some()).map(|file| file.path.as_str());
        assert_eq!(notes.collect::<Vec<_>>(), ["Daily Notes/2026-03-01.md"]);
    }
}
