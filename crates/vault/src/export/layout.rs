//! The layout of an export: which document becomes which file, and which folder which directory.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

use leafbase::bulk::{SpaceView, StoredDocument, daily_note_title};
use leafbase::markdown;
use leafbase::{Day, DocumentId, DocumentRecord, FolderId, FolderRecord, Location, Result};

use crate::file_names::{
    AllocatedNames, DAILY_NOTES, decode, fold, is_refused, is_too_long, without_extension,
};
use crate::link_paths::{directory, file_name};
use crate::markdown_file::{self, literal, plain_title};
use crate::report::{Skipped, VaultWarning, VaultWarningKind};

/// The top-level directory of attachments.
pub(crate) const ATTACHMENTS: &str = "attachments";

/// The top-level directories of the built-in locations.
const BUILT_IN: [(Location, &str); 2] =
    [(Location::Templates, "templates"), (Location::DailyNotes, DAILY_NOTES)];

/// A document and its file.
#[derive(Debug)]
pub(crate) struct ExportedDocument {
    pub(crate) id: DocumentId,
    pub(crate) path: String,
}

#[derive(Debug, Default)]
pub(crate) struct ExportLayout {
    /// Parents before children.
    pub(crate) directories: Vec<String>,
    /// By directory, then by title.
    pub(crate) documents: Vec<ExportedDocument>,
    /// Indices in `documents`.
    pub(crate) numbers: HashMap<DocumentId, usize>,
    /// The days of daily notes.
    pub(super) days: HashMap<DocumentId, Day>,
    /// The directory of attachments, created only if there are any.
    pub(crate) attachments: String,
    pub(super) warnings: Vec<VaultWarning>,
    pub(super) skipped: Vec<Skipped>,
}

/// A document without a path yet.
struct TitledDocument {
    title: String,
    record: DocumentRecord,
    /// The path of the file that it was read from, if its name still says title or day.
    source_path: Option<String>,
}

impl TitledDocument {
    fn new(view: &SpaceView<'_>, title: String, record: DocumentRecord) -> Result<Self> {
        let root = view.block(record.id.root())?;
        let layout = root.and_then(|root| root.data.layout);
        let path = layout.and_then(|layout| layout.file).map(|file| String::from(file.path));
        let source_path = path.filter(|path| match record.day {
            Some(day) => markdown_file::day(path) == Some(day),
            None => markdown_file::title(path) == title,
        });
        Ok(Self { title, record, source_path })
    }

    /// The directory that a daily note was read from: it is in no folder.
    fn source_directory(&self) -> Option<&str> {
        let path = self.source_path.as_deref().filter(|_| self.record.day.is_some())?;
        (self.record.location == Location::DailyNotes).then(|| directory(path))
    }
}

/// The names that folders had as directories, where those say the names of the folders.
fn directory_names(
    folders: &HashMap<FolderId, FolderRecord>,
    documents: &BTreeMap<Location, Vec<TitledDocument>>,
) -> HashMap<FolderId, String> {
    let mut names = HashMap::new();
    for document in documents.values().flatten() {
        let (Location::Folder(mut id), Some(path)) =
            (document.record.location, &document.source_path)
        else {
            continue;
        };
        for name in directory(path).rsplit('/') {
            let Some(folder) = folders.get(&id).filter(|folder| folder.name == decode(name)) else {
                break;
            };
            names.entry(id).or_insert_with(|| name.to_owned());
            let Some(parent) = folder.parent else { break };
            id = parent;
        }
    }
    names
}

impl ExportLayout {
    /// Lays out all documents except those in the trash.
    pub(crate) fn new(view: &SpaceView<'_>) -> Result<Self> {
        let mut layout = Self::default();
        let mut folders: HashMap<Option<FolderId>, Vec<FolderRecord>> = HashMap::new();
        let all: HashMap<_, _> = view.folders()?.into_iter().map(|it| (it.id, it)).collect();
        layout.skipped.extend(inbox(view)?);
        let mut documents = layout.documents_by_location(view)?;
        let directory_names = directory_names(&all, &documents);
        for folder in all.into_values() {
            folders.entry(folder.parent).or_default().push(folder);
        }
        let mut notes = Self::notes_by_directory(&mut documents);
        // Iterative pre-order traversal of the folder tree: parents are created before their
        // children.
        let mut stack = vec![(Location::Unsorted, String::new())];
        while let Some((location, directory)) = stack.pop() {
            let mut names = AllocatedNames::default();
            let mut below = Vec::new();
            let parent = match location {
                Location::Unsorted => Some(None),
                Location::Folder(folder) => Some(Some(folder)),
                _ => None,
            };
            // Folders are named before documents, so that a document never takes a folder's name.
            let mut children =
                parent.and_then(|parent| folders.remove(&parent)).unwrap_or_else(Vec::new);
            children.sort_by(|one, other| (&one.name, one.id).cmp(&(&other.name, other.id)));
            for child in children {
                let own = directory_names.get(&child.id).filter(|name| names.claim_exact(name));
                let name = own.cloned().unwrap_or_else(|| names.claim(&child.name, ""));
                let path = format!("{directory}{name}");
                if own.is_some() {
                    layout.warn_of_name(&path);
                } else {
                    layout.warnings.extend(directory_warning(&child.name, &path));
                }
                below.push((Location::Folder(child.id), path));
            }
            if location == Location::Unsorted {
                for (built_in, name) in BUILT_IN {
                    if documents.contains_key(&built_in) {
                        let path = names.claim(name, "");
                        layout.warn_of_location(built_in, &path);
                        below.push((built_in, path));
                    }
                }
                for path in Self::directories_of_notes(&notes) {
                    names.reserve(&path);
                    layout.directories.push(path);
                }
                // Allocated after folders, which keep their names, and before documents.
                layout.attachments = names.claim(ATTACHMENTS, "");
            }
            layout.directories.extend(below.iter().map(|(_, path)| path.clone()));
            let mut here = documents.remove(&location).unwrap_or_default();
            here.extend(notes.remove(directory.trim_end_matches('/')).unwrap_or_default());
            layout.add_documents(here, &directory, &mut names);
            // Reversed: the stack yields the first directory first.
            stack.extend(
                below.into_iter().rev().map(|(location, path)| (location, format!("{path}/"))),
            );
        }
        // Directories that had daily notes alone.
        for (path, here) in notes {
            layout.directories.push(path.clone());
            layout.add_documents(here, &format!("{path}/"), &mut AllocatedNames::default());
        }
        let mut seen = HashSet::new();
        layout.directories.retain(|path| seen.insert(path.clone()));
        for document in documents.into_values().flatten() {
            let reason = "its folder does not exist".to_owned();
            layout.skipped.push(Skipped { path: document.title, reason });
        }
        debug_assert_eq!(layout.documents.len(), layout.numbers.len(), "numbers are indices");
        Ok(layout)
    }

    /// The layout of a Logseq graph: journals, pages and assets. Files that are in such a directory
    /// stay there.
    pub(crate) fn for_logseq(mut self) -> Self {
        let mut taken = HashSet::new();
        for document in &mut self.documents {
            let path = match self.days.get(&document.id) {
                Some(day) => format!("journals/{}.md", day.to_string().replace('-', "_")),
                None if document.path.starts_with("pages/") => document.path.clone(),
                None => format!("pages/{}", document.path),
            };
            let stem = without_extension(&path).to_owned();
            document.path = path;
            for number in 2.. {
                if taken.insert(fold(&document.path)) {
                    break;
                }
                document.path = format!("{stem} {number}.md");
            }
        }
        let mut directories = BTreeSet::new();
        for document in &self.documents {
            let mut at = directory(&document.path);
            while !at.is_empty() && directories.insert(at.to_owned()) {
                at = directory(at);
            }
        }
        // A directory sorts before those below it.
        self.directories = directories.into_iter().collect();
        "assets".clone_into(&mut self.attachments);
        self
    }

    /// All documents by location; those in the trash are skipped.
    fn documents_by_location(
        &mut self,
        view: &SpaceView<'_>,
    ) -> Result<BTreeMap<Location, Vec<TitledDocument>>> {
        let mut documents: BTreeMap<Location, Vec<TitledDocument>> = BTreeMap::new();
        let mut failed = None;
        view.documents(&mut |StoredDocument { record, title, .. }| {
            if record.location == Location::Trash {
                let reason = "it is in the trash".to_owned();
                self.skipped.push(Skipped { path: plain_title(&title), reason });
            } else {
                match TitledDocument::new(view, title, record) {
                    Ok(document) => {
                        documents.entry(document.record.location).or_default().push(document);
                    }
                    Err(error) => {
                        failed = Some(error);
                        return ControlFlow::Break(());
                    }
                }
            }
            ControlFlow::Continue(())
        })?;
        failed.map_or(Ok(documents), Err)
    }

    /// Takes the daily notes that were read from a directory of their own, by directory.
    fn notes_by_directory(
        documents: &mut BTreeMap<Location, Vec<TitledDocument>>,
    ) -> BTreeMap<String, Vec<TitledDocument>> {
        let mut notes: BTreeMap<String, Vec<TitledDocument>> = BTreeMap::new();
        let Some(all) = documents.remove(&Location::DailyNotes) else { return notes };
        for note in all {
            match note.source_directory().map(ToOwned::to_owned) {
                Some(directory) => notes.entry(directory).or_default().push(note),
                None => documents.entry(Location::DailyNotes).or_default().push(note),
            }
        }
        notes
    }

    /// The directories at the top that daily notes are below.
    fn directories_of_notes(notes: &BTreeMap<String, Vec<TitledDocument>>) -> Vec<String> {
        let tops = notes.keys().filter_map(|path| path.split('/').next());
        let mut tops: Vec<_> = tops.filter(|top| !top.is_empty()).map(ToOwned::to_owned).collect();
        tops.dedup();
        tops
    }

    fn add_documents(
        &mut self,
        mut documents: Vec<TitledDocument>,
        directory: &str,
        names: &mut AllocatedNames,
    ) {
        // Sorted by title, then by ID: numbering of equal names is deterministic.
        documents.sort_by(|one, other| {
            (&one.title, one.record.id).cmp(&(&other.title, other.record.id))
        });
        // Documents that keep the name of their file come first.
        for TitledDocument { source_path, .. } in &mut documents {
            *source_path = source_path.take().filter(|path| names.claim_exact(file_name(path)));
        }
        for TitledDocument { title, record, source_path } in documents {
            // Other programs recognize a daily note by its date.
            let words = match record.day {
                Some(day) => day.to_string(),
                None => plain_title(&title),
            };
            let name = match &source_path {
                Some(path) => file_name(path).to_owned(),
                None if record.day.is_some() => names.claim(&words, ".md"),
                None => names.claim_document(&words),
            };
            let path = format!("{directory}{name}");
            if source_path.is_some() {
                self.warn_of_name(&path);
            } else {
                self.warnings.extend(file_warnings(&title, record.day, &path));
            }
            debug_assert!(!self.numbers.contains_key(&record.id), "a document has one file");
            self.days.extend(record.day.map(|day| (record.id, day)));
            self.numbers.insert(record.id, self.documents.len());
            self.documents.push(ExportedDocument { id: record.id, path });
        }
    }

    /// Warns of a name that is written as it was read.
    fn warn_of_name(&mut self, path: &str) {
        if is_refused(file_name(path)) {
            let message = "some systems refuse the name, which is written as it was";
            self.warnings.push(VaultWarning::of_file(path, VaultWarningKind::FileName, message));
        }
    }

    fn warn_of_location(&mut self, location: Location, path: &str) {
        // Daily notes read back as such.
        if location != Location::DailyNotes {
            let message =
                "the templates are written to a directory and read back as ordinary documents";
            self.warnings.push(VaultWarning::of_file(path, VaultWarningKind::Location, message));
        }
    }
}

/// The warning of a folder whose new directory has another name.
pub(crate) fn directory_warning(name: &str, path: &str) -> Option<VaultWarning> {
    use VaultWarningKind::{FileName, Title};
    let written = file_name(path);
    let (kind, message) = if is_too_long(name) {
        (Title, format!("the name {name:?} is too long for a directory"))
    } else if decode(written) != name {
        (Title, format!("another directory has the name of the folder {name:?}"))
    } else if is_refused(name) {
        (FileName, format!("{name:?} is written as {written}: some systems refuse it"))
    } else {
        return None;
    };
    Some(VaultWarning::of_file(path, kind, message))
}

/// The warnings of a document whose new file cannot say its title, or has a name that some systems
/// refuse.
pub(crate) fn file_warnings(title: &str, day: Option<Day>, path: &str) -> Vec<VaultWarning> {
    let (name, mut warnings) = (file_name(path), Vec::new());
    // Other programs recognize a daily note by its date.
    let words = day.map_or_else(|| plain_title(title), |day| day.to_string());
    if let Some(message) = title_warning(title, &words, name, day) {
        warnings.push(VaultWarning::of_file(path, VaultWarningKind::Title, message));
    }
    if is_refused(&words) {
        let message = format!("{words:?} is written as {name}: some systems refuse it");
        warnings.push(VaultWarning::of_file(path, VaultWarningKind::FileName, message));
    }
    warnings
}

/// The tasks of the inbox, which are in no document.
fn inbox(view: &SpaceView<'_>) -> Result<Option<Skipped>> {
    let tasks = match view.inbox_task_count()? {
        0 => return Ok(None),
        1 => "1 task is".to_owned(),
        tasks => format!("{tasks} tasks are"),
    };
    Ok(Some(Skipped { path: "Inbox".to_owned(), reason: format!("{tasks} in no document") }))
}

/// Why a title does not read back from the name of its file, if it does not.
fn title_warning(title: &str, words: &str, name: &str, day: Option<Day>) -> Option<String> {
    let stem = name.strip_suffix(".md").unwrap_or(name);
    if let Some(day) = day {
        let expected = daily_note_title(day);
        (title != expected)
            .then(|| format!("the title {title:?} of a daily note reads back as {expected:?}"))
    } else if markdown::plain_text(title).trim().is_empty() {
        Some("the document has no title".to_owned())
    } else if is_too_long(words) {
        Some(format!("the title {words:?} is too long for a file name"))
    } else if decode(stem) != words {
        Some(format!("another entry has the file name of {words:?}"))
    } else if literal(words) != title {
        Some(format!("the title {title:?} is written as plain text"))
    } else {
        None
    }
}
