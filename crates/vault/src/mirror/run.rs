//! A mirror in progress: files are read into documents, then documents are written to files.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

use leafbase::bulk::{self, DocumentFactory, invariant};
use leafbase::{
    AssetId, Connection, DeleteDocuments, DeleteFolders, Destination, DocumentId, Error, ErrorKind,
    FolderDestination, FolderPatch, Location, MoveDocuments, Progress, RestoreDailyNotes, Result,
    UpdateFolders,
};

use super::document_edits;
use super::file_base::{BaseRecords, FileBase, FileSet, FileVersion, MirrorBase, MirrorState};
use super::files::MirrorFiles;
use super::listed_files::ListedFiles;
use super::options::{MirrorOptions, MirrorReport};
use super::pairs::{Pair, pairs};
use super::plan::{MirrorPlan, PlanInput};
use super::space_side::{Directories, SpaceSide, below, join};
use crate::file_names::decode;
use crate::link_paths::{directory, file_name};
use crate::markdown_file;
use crate::report::{ImportReport, MirrorChangeKind, ProgressCounter, VaultWarning};

/// A mirror in progress.
pub(super) struct MirrorRun<'a, 'f, 'p> {
    pub(super) notes: &'a Connection,
    pub(super) options: &'a MirrorOptions,
    pub(super) files: ListedFiles<'f>,
    pub(super) records: BaseRecords,
    /// The records of the mirror of a folder that is imported.
    other_records: Option<BaseRecords>,
    pub(super) report: MirrorReport,
    /// Counts of the documents that files became.
    pub(super) created: ImportReport,
    pub(super) progress: ProgressCounter<'p>,
    /// The file of each document that has one.
    pub(super) paths: BTreeMap<DocumentId, String>,
    /// The last change that the mirror made to a document, or the one that it planned with.
    pub(super) changes: HashMap<DocumentId, u64>,
    /// The change at which each document was last equal to its file, in this history.
    pub(super) base_changes: HashMap<DocumentId, u64>,
    /// Documents that are equal to their file, though their base does not say so.
    pub(super) settled: BTreeSet<DocumentId>,
    /// Documents that were renamed on either side, or have blocks with other anchors, until their
    /// files and the links to them are written.
    pub(super) unnamed: BTreeSet<DocumentId>,
    /// Documents that are written to their files.
    pub(super) written: BTreeSet<DocumentId>,
    /// New documents that show no upload, until their bases are kept.
    pub(super) without_files: HashSet<DocumentId>,
    /// The files of uploads.
    pub(super) uploads: HashMap<AssetId, String>,
    /// Documents whose files a mirror renamed that ended before it wrote their links.
    pub(super) resumed: BTreeSet<DocumentId>,
    /// Whether others wrote in between, so that the next mirror has to look again.
    pub(super) is_incomplete: bool,
}

/// State of the space when a mirror begins.
struct SpaceState {
    side: SpaceSide,
    base: MirrorBase,
    trash: BTreeSet<DocumentId>,
    is_same_history: bool,
}

impl<'a, 'f, 'p> MirrorRun<'a, 'f, 'p> {
    pub(super) fn new(
        notes: &'a Connection,
        files: &'f mut dyn MirrorFiles,
        options: &'a MirrorOptions,
        progress: &'p mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Self> {
        let top = options.folder.map_or_else(String::new, |folder| folder.to_string());
        let name = options.name.clone().unwrap_or_else(|| files.identity());
        // Another part of the space is another mirror.
        let of_mirror = BaseRecords::new(&format!("{top} {name}"));
        let (records, other_records) = match &options.import {
            Some(_) => (BaseRecords::of_import(&top, &name), Some(of_mirror)),
            None => (of_mirror, None),
        };
        let files = ListedFiles::new(files, options.import.is_some())?;
        let report = MirrorReport { skipped: files.skipped.clone(), ..MirrorReport::default() };
        Ok(Self {
            notes,
            options,
            files,
            records,
            other_records,
            report,
            created: ImportReport::default(),
            progress: ProgressCounter::new(progress, 0),
            paths: BTreeMap::new(),
            changes: HashMap::new(),
            base_changes: HashMap::new(),
            settled: BTreeSet::new(),
            unnamed: BTreeSet::new(),
            written: BTreeSet::new(),
            without_files: HashSet::new(),
            uploads: HashMap::new(),
            resumed: BTreeSet::new(),
            is_incomplete: false,
        })
    }

    /// Mirrors, and returns what it did, with the counts of new documents.
    pub(super) fn run(mut self) -> Result<(MirrorReport, ImportReport)> {
        // Before the snapshot: writes in between are read again.
        let position = self.notes.last_position()?;
        let digest = self.files.digest();
        let state = bulk::read(self.notes, |view| self.records.state(view))?;
        if let Some(MirrorState { position: last, files: Some(files) }) = state
            && last == position
            && digest.as_ref() == Some(&files.digest)
        {
            self.report.unchanged = files.documents;
            return Ok((self.report, self.created));
        }
        let mut base = bulk::read(self.notes, |view| self.records.read(view))?;
        self.resume_renames(&mut base);
        if base.files.is_empty() && self.options.import.is_some() {
            self.adopt(&mut base)?;
        }
        if base.position == Some(position) && self.is_current(&base) {
            let documents = base.files.len() as u64;
            self.report.unchanged = documents;
            // The next mirror needs no base to see that nothing changed.
            if let Some(digest) = digest.filter(|_| !self.options.dry_run) {
                let files = Some(FileSet { digest, documents });
                self.records.put_state(self.notes, &MirrorState { position, files })?;
            }
            return Ok((self.report, self.created));
        }
        let is_at_position = base.position == Some(position);
        let state = self.space_state(base)?;
        self.check_not_empty(&state)?;
        let SpaceState { side, base, trash, is_same_history } = state;
        self.assume_uploads(&base)?;
        let bases = base.files.clone();
        if is_same_history {
            self.base_changes = bases.iter().map(|(id, base)| (*id, base.change)).collect();
        }
        // A first import makes its own folders.
        let directories = if self.options.import.is_some() && bases.is_empty() {
            Directories::default()
        } else {
            Directories::new(&side, &bases, &self.files)
        };
        let notes = self.files.notes.clone();
        let by_base_alone = self.options.import.is_some();
        let pairs =
            pairs(&side, base.files, &notes, by_base_alone, &mut |path| self.files.hash(path))?;
        self.assume_shown_uploads(&pairs)?;
        let mut input = PlanInput {
            side: &side,
            files: &mut self.files,
            is_same_history,
            trash: &trash,
            gone: &base.gone,
        };
        let mut plan = input.plan(&pairs, &mut self.report)?;
        if self.options.import_only {
            plan.keep_imports(&mut self.report);
            self.find_returned(&side, &bases, &mut plan)?;
            self.is_incomplete = true;
        }
        self.report.unchanged = plan.unchanged;
        self.progress.add(plan.steps());
        if self.options.dry_run {
            plan.report(&mut self.report);
            self.paths.clone_from(&plan.paths);
            self.read_files(&plan, &directories)?;
            self.report.sort_changes();
            return Ok((self.report, self.created));
        }
        self.carry_over(&side, &bases, &plan, &pairs, directories)?;
        // A mirror that wrote to the space leaves the position to the next one, which finds nothing
        // to do: others may have written in between.
        if !(self.report.canceled || self.is_incomplete || is_at_position) {
            self.records.put_state(self.notes, &MirrorState { position, files: None })?;
        }
        let line = |warning: &VaultWarning| (warning.path.clone(), warning.line);
        self.report.warnings.sort_by_key(line);
        self.report.sort_changes();
        Ok((self.report, self.created))
    }

    /// Takes the paths of files that a mirror renamed before it ended early.
    fn resume_renames(&mut self, base: &mut MirrorBase) {
        for (id, base) in &mut base.files {
            let next = std::mem::take(&mut base.next_path);
            let is_renamed = !next.is_empty() && self.files.stat(&base.file.path).is_none();
            if is_renamed && self.files.stat(&next).is_some() {
                base.file.path = next;
                self.resumed.insert(*id);
            }
        }
    }

    /// Takes the bases of a mirror of the folder, or of the folder under the path that it had
    /// before, if at least half of the files are as they were there.
    fn adopt(&mut self, base: &mut MirrorBase) -> Result<()> {
        let mut most = (0, BTreeMap::new());
        let mirrored = match &self.other_records {
            Some(records) => bulk::read(self.notes, |view| records.read(view))?.files,
            None => BTreeMap::new(),
        };
        for other in std::mem::take(&mut base.others).into_values().chain([mirrored]) {
            let mut equal = 0;
            for known in other.values().map(|base| &base.file) {
                // By content: a folder that was copied has other times.
                let stat = self.files.notes.get(&known.path);
                if stat.is_some_and(|stat| stat.size == known.size)
                    && self.files.hash(&known.path)? == known.hash
                {
                    equal += 1;
                }
            }
            if equal > most.0 {
                most = (equal, other);
            }
        }
        let (equal, files) = most;
        if equal * 2 >= self.files.notes.len() && !self.options.dry_run {
            let adopted: Vec<_> =
                files.iter().map(|(id, base)| (*id, Some(base.clone()))).collect();
            self.records.put(self.notes, &adopted)?;
            base.files = files;
        }
        Ok(())
    }

    /// Whether all files are as the base says, and there are no others.
    fn is_current(&self, base: &MirrorBase) -> bool {
        let is_known = |file: &FileVersion| {
            self.files.stat(&file.path).is_some_and(|stat| file.is_current(stat))
        };
        let attached = |base: &FileBase| {
            // An attachment that is gone leaves the document as it is.
            base.attachments.iter().all(|attachment| {
                self.files.stat(&attachment.file.path).is_none() || is_known(&attachment.file)
            })
        };
        base.files.len() == self.files.notes.len()
            && base.files.values().all(|base| is_known(&base.file) && attached(base))
    }

    fn space_state(&self, base: MirrorBase) -> Result<SpaceState> {
        let is_same_history = match base.position {
            // Bases from before the first complete mirror are of this history if there is no
            // position of another one.
            None => true,
            Some(position) => match self.notes.changes_since(position).next() {
                Some(Err(error)) if error.kind() == ErrorKind::HistoryGone => false,
                Some(Err(error)) => return Err(error),
                _ => true,
            },
        };
        let (side, trash) = bulk::read(self.notes, |view| {
            let side = SpaceSide::read(view, self.options)?;
            let mut trash = BTreeSet::new();
            let known = base.files.keys().chain(base.gone.keys());
            for id in known.filter(|id| !side.documents.contains_key(id)) {
                let row = view.document(*id)?;
                if row.is_some_and(|row| row.record.location == Location::Trash) {
                    trash.insert(*id);
                }
            }
            Ok((side, trash))
        })?;
        Ok(SpaceState { side, base, trash, is_same_history })
    }

    /// Refuses to remove all documents because the folder is empty.
    fn check_not_empty(&self, state: &SpaceState) -> Result<()> {
        let is_known = |id: &DocumentId| state.side.documents.contains_key(id);
        if self.options.allow_empty
            || self.options.import_only
            || !self.files.notes.is_empty()
            || !state.base.files.keys().any(is_known)
        {
            return Ok(());
        }
        let message = "the folder has no file of the documents that it had: it may not be mounted";
        Err(Error::new(ErrorKind::Conflict, message))
    }

    fn carry_over(
        &mut self,
        side: &SpaceSide,
        bases: &BTreeMap<DocumentId, FileBase>,
        plan: &MirrorPlan,
        pairs: &[Pair],
        mut directories: Directories,
    ) -> Result<()> {
        self.paths.clone_from(&plan.paths);
        self.written.clone_from(&plan.written);
        let is_done = |id: &&DocumentId| {
            !(plan.is_pending(**id) || plan.moved.contains(*id) || plan.renamed.contains_key(*id))
        };
        self.settled.extend(plan.refreshed.iter().filter(is_done));
        self.unnamed = plan.moved.iter().chain(plan.renamed.keys()).copied().collect();
        for (id, document) in &side.documents {
            self.changes.insert(*id, document.row.last_change);
        }
        // Their files are still equal to the version of the base.
        let left = plan.left.iter().filter_map(|(id, comparison)| Some((*id, comparison.base?)));
        self.changes.extend(left);
        // Files are read before any is written, so that no document overwrites an edit of its file,
        // and links are written with the names that documents have by then.
        self.restore(plan)?;
        self.rename_folders(plan, bases, &mut directories)?;
        self.rename_documents(plan, &mut directories)?;
        self.read_files(plan, &directories)?;
        self.trash(plan, bases)?;
        self.delete_emptied(plan, &directories)?;
        // New files may have the paths of those that are removed, and of bases that are forgotten:
        // after a crash they would be taken for them.
        self.remove_files(plan, bases)?;
        let kept = pairs.iter().filter_map(|pair| pair.document);
        let kept: BTreeSet<DocumentId> = kept.chain(plan.restored.keys().copied()).collect();
        let forgotten = plan.forgotten.iter().filter(|id| !kept.contains(id));
        self.forget_bases(forgotten.copied().collect())?;
        self.write_files(plan, bases)
    }

    /// Whether the host cancelled. Counts a step.
    pub(super) fn is_stopped(&mut self) -> bool {
        self.progress.report();
        self.report.canceled |= self.progress.is_canceled();
        self.report.canceled
    }

    /// Takes documents out of the trash whose files were edited.
    fn restore(&mut self, plan: &MirrorPlan) -> Result<()> {
        for document in plan.restored.keys() {
            if self.is_stopped() {
                return Ok(());
            }
            let destination = match self.options.folder {
                Some(folder) => Destination::Folder(folder),
                None => Destination::Unsorted,
            };
            match self.notes.move_documents(MoveDocuments::new([*document], destination)) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::RuleViolation => {
                    // A daily note returns to its day.
                    let request = RestoreDailyNotes::new([*document]);
                    self.notes.restore_daily_notes(request)?;
                }
                Err(error) => return Err(error),
            }
            let row = bulk::read(self.notes, |view| view.document(*document))?;
            self.changes.extend(row.map(|row| (*document, row.last_change)));
            let Some(path) = self.paths.get(document).cloned() else {
                invariant!("a document that returns or is renamed has a file, {document} has none")
            };
            self.report.add(MirrorChangeKind::Restored, &path, None);
        }
        Ok(())
    }

    /// Renames the folders of directories that were renamed: all files of one are in another one.
    fn rename_folders(
        &self,
        plan: &MirrorPlan,
        bases: &BTreeMap<DocumentId, FileBase>,
        directories: &mut Directories,
    ) -> Result<()> {
        let renames =
            plan.renamed.iter().filter_map(|(id, from)| Some((from, self.paths.get(id)?)));
        let renames = renames.filter_map(|(from, to)| self.renamed_directory(from, to));
        let renames: BTreeSet<(String, String)> = renames.collect();
        for (from, to) in renames {
            let is_moved = |(id, base): (&DocumentId, &FileBase)| {
                let rest = below(&base.file.path, &from);
                let path = rest.map(|rest| format!("{to}{rest}"));
                path.is_none_or(|path| self.paths.get(id) == Some(&path))
            };
            let folder = directories.folder(&from).filter(|_| directories.folder(&to).is_none());
            if let Some(folder) = folder.filter(|_| bases.iter().all(is_moved)) {
                let parent = match self.location(&to, directories)? {
                    Location::Folder(parent) => FolderDestination::from(parent),
                    _ => FolderDestination::Root,
                };
                let patch = FolderPatch::of(folder).named(decode(file_name(&to))).moved_to(parent);
                match self.notes.update_folders(UpdateFolders::new([patch])) {
                    Ok(_) => directories.rename(&from, &to),
                    // Deleted meanwhile: the documents get a new one.
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// The directory that is gone, and the one that has its name by now, if a file was moved.
    fn renamed_directory(&self, from: &str, to: &str) -> Option<(String, String)> {
        let is_gone = |path: &str| !path.is_empty() && !self.files.all_directories.contains(path);
        let (mut from, mut to) = (directory(from), directory(to));
        // The topmost one: those below it keep their names.
        while file_name(from) == file_name(to)
            && is_gone(directory(from))
            && !directory(to).is_empty()
        {
            (from, to) = (directory(from), directory(to));
        }
        (from != to && is_gone(from) && !to.is_empty()).then(|| (from.to_owned(), to.to_owned()))
    }

    /// Deletes the folders of directories that are gone, if they are empty since the documents of
    /// renamed files were moved.
    fn delete_emptied(&mut self, plan: &MirrorPlan, directories: &Directories) -> Result<()> {
        let mut gone = BTreeSet::new();
        for from in plan.renamed.values() {
            let mut at = directory(from);
            while !(at.is_empty() || self.files.all_directories.contains(at)) && gone.insert(at) {
                at = directory(at);
            }
        }
        // In reverse, so that nested folders come first.
        let folders = gone.into_iter().rev().filter_map(|path| directories.folder(path));
        for folder in folders.collect::<Vec<_>>() {
            if self.is_stopped() {
                break;
            }
            match self.notes.delete_folders(DeleteFolders::new([folder]).if_empty()) {
                // Something else is in it, or it was deleted meanwhile.
                Err(error)
                    if !matches!(error.kind(), ErrorKind::RuleViolation | ErrorKind::NotFound) =>
                {
                    return Err(error);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Gives documents the names of their files.
    fn rename_documents(&mut self, plan: &MirrorPlan, directories: &mut Directories) -> Result<()> {
        let factory = DocumentFactory::new(self.notes);
        let mut former_paths = plan.restored.clone();
        former_paths.extend(plan.renamed.clone());
        for (document, from) in &former_paths {
            if self.is_stopped() {
                return Ok(());
            }
            let Some(path) = self.paths.get(document).cloned() else {
                invariant!("a document that returns or is renamed has a file, {document} has none")
            };
            let row = bulk::read(self.notes, |view| view.document(*document))?;
            if !plan.is_pending(*document) {
                self.settled.insert(*document);
            }
            // A daily note keeps its day, whatever its file is called.
            let Some(row) = row.filter(|row| row.record.day.is_none()) else { continue };
            let is_named = file_name(from) == file_name(&path);
            let title = (!is_named).then(|| markdown_file::title(&path));
            // One that returned is not in its folder.
            let is_placed =
                directory(from) == directory(&path) && !plan.restored.contains_key(document);
            let location = if is_placed { None } else { Some(self.location(&path, directories)?) };
            let expected = self.changes.get(document).copied();
            let change = document_edits::rename(
                self.notes,
                &factory,
                *document,
                title.as_deref(),
                location,
            )?;
            if expected == Some(row.last_change) {
                self.changes.extend(change.map(|change| (*document, change)));
            }
            if *from != path {
                self.report.add(MirrorChangeKind::DocumentRenamed, &path, Some(from));
            }
        }
        Ok(())
    }

    /// The location of the documents in the directory of a file. Folders are created as needed.
    fn location(&self, path: &str, directories: &mut Directories) -> Result<Location> {
        let at = directory(path);
        let parts: Vec<&str> = at.split('/').filter(|part| !part.is_empty()).collect();
        let (mut parent, mut path) = (self.options.folder, String::new());
        for part in parts {
            path = join(&path, part);
            if directories.folder(&path).is_none() {
                let folder = self.notes.create_folder(&decode(part), parent)?;
                directories.insert(folder.id, path.clone());
            }
            parent = directories.folder(&path);
        }
        Ok(parent.map_or(Location::Unsorted, Location::Folder))
    }

    /// Moves documents to the trash whose files were removed.
    fn trash(&mut self, plan: &MirrorPlan, bases: &BTreeMap<DocumentId, FileBase>) -> Result<()> {
        let mut gone = Vec::new();
        for (document, path) in &plan.trashed {
            if self.is_stopped() {
                break;
            }
            self.progress.count();
            let row = bulk::read(self.notes, |view| view.document(*document))?;
            let planned = self.changes.get(document);
            if row.as_ref().map(|row| &row.last_change) != planned {
                self.skip_changed(path);
                continue;
            }
            self.notes.delete_documents(DeleteDocuments::new([*document]))?;
            self.report.add(MirrorChangeKind::DocumentTrashed, path, None);
            gone.push((*document, bases.get(document).map(FileBase::gone)));
        }
        self.records.put(self.notes, &gone)
    }

    pub(super) fn skip_changed(&mut self, path: &str) {
        self.is_incomplete = true;
        self.report.skip(path, "it changed while the mirror ran: the next one carries it over");
    }
}
