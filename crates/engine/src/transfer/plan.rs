//! The plan of an import: which files become which documents, and which directories which folders. IDs are minted here, so that links
//! can be made to files that are not read yet.

use std::collections::{BTreeMap, BTreeSet};

use leafbase_model::{DocumentId, FolderId, FolderRecord, Location, Result};

use crate::transfer::report::Skipped;
use crate::transfer::source::{ImportSource, SourceEntry, reason_to_skip};
use crate::transfer::targets::Targets;
use crate::transfer::{names, urls};

/// A file that becomes a document.
#[derive(Debug)]
pub(super) struct PlannedFile {
    pub(super) path: String,
    pub(super) id: DocumentId,
    pub(super) location: Location,
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
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) files: Vec<PlannedFile>,
    pub(super) steps: Vec<Step>,
    pub(super) targets: Targets,
    pub(super) skipped: Vec<Skipped>,
}

impl Plan {
    /// Plans the import of all that `source` holds into the folder `into`.
    pub(super) fn of(
        source: &mut dyn ImportSource,
        into: Option<FolderId>,
        mint: &mut dyn FnMut() -> [u8; 16],
    ) -> Result<Self> {
        let (mut paths, mut directories, mut skipped) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for entry in source.entries()? {
            let (path, is_file) = match entry {
                SourceEntry::File(path) => (path, true),
                SourceEntry::EmptyDirectory(path) => (path, false),
                SourceEntry::Skipped(entry) => {
                    skipped.push(entry);
                    continue;
                }
            };
            if let Some(reason) = reason_to_skip(&path, is_file) {
                skipped.push(Skipped { path, reason: reason.to_owned() });
                continue;
            }
            let mut directory = if is_file { urls::directory(&path) } else { path.as_str() };
            while !directory.is_empty() && directories.insert(directory.to_owned()) {
                directory = urls::directory(directory);
            }
            if is_file {
                paths.insert(path);
            }
        }
        skipped.sort_by(|one, other| one.path.cmp(&other.path));
        let mut plan = Self { files: Vec::new(), steps: Vec::new(), targets: Targets::default(), skipped };
        plan.lay_out(paths, &directories, into, mint);
        Ok(plan)
    }

    fn lay_out(
        &mut self,
        paths: BTreeSet<String>,
        directories: &BTreeSet<String>,
        into: Option<FolderId>,
        mint: &mut dyn FnMut() -> [u8; 16],
    ) {
        let mut folders: BTreeMap<&str, FolderId> = BTreeMap::new();
        // A directory sorts before all that is below it.
        for path in directories {
            let id = FolderId::from_bytes(mint());
            let parent = folders.get(urls::directory(path)).copied().or(into);
            let name = path.rsplit('/').next().unwrap_or_default();
            folders.insert(path, id);
            self.steps.push(Step::Folder(FolderRecord { id, name: names::decode(name), parent }));
        }
        self.targets = Targets::new(paths.iter().map(String::as_str));
        for path in paths {
            let folder = folders.get(urls::directory(&path)).copied().or(into);
            let location = folder.map_or(Location::Unsorted, Location::Folder);
            self.steps.push(Step::File(self.files.len()));
            self.files.push(PlannedFile { path, id: DocumentId::from_bytes(mint()), location });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::source::MemorySource;

    #[test]
    fn directories_come_before_what_is_in_them() {
        let files = ["b/c/x.md", "a.md", "b/y.md", ".git/z.md", "pic.png", "../out.md", "b/.hidden.md"];
        let mut source: MemorySource = files.into_iter().map(|path| (path, "")).collect();
        let mut number = 0_u8;
        let plan = Plan::of(&mut source, None, &mut || {
            number += 1;
            [number; 16]
        });
        let plan = plan.expect("a plan");
        let steps = plan.steps.iter().map(|step| match step {
            Step::Folder(folder) => folder.name.clone(),
            Step::File(index) => plan.files[*index].path.clone(),
        });
        assert_eq!(steps.collect::<Vec<_>>(), ["b", "c", "a.md", "b/c/x.md", "b/y.md"]);
        let skipped: Vec<_> = plan.skipped.iter().map(|entry| (entry.path.as_str(), entry.reason.as_str())).collect();
        assert_eq!(
            skipped,
            [
                ("../out.md", "not a path within the folder"),
                (".git/z.md", "hidden"),
                ("b/.hidden.md", "hidden"),
                ("pic.png", "not markdown"),
            ]
        );
        assert_eq!(plan.files[0].location, Location::Unsorted);
        assert_eq!(plan.files[1].location, Location::Folder(FolderId::from_bytes([2; 16])));
    }
}
