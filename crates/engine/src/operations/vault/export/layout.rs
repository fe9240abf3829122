//! The layout of an export: which document becomes which file, and which folder which directory.

use std::collections::{BTreeMap, HashMap};

use leafbase_markdown as markdown;
use leafbase_model::{Day, DocumentId, DocumentRecord, FolderId, FolderRecord, Location, Result};
use leafbase_store::{DocumentQuery, SpaceReader, StoredDocument};

use crate::operations::vault::file_names::{AllocatedNames, DAILY_NOTES, decode, is_too_long};
use crate::operations::vault::markdown_file::{literal, plain_title};
use crate::operations::vault::report::{Skipped, VaultWarning, VaultWarningKind};
use crate::support::days;

/// Documents per page of the listing.
const DOCUMENTS_PER_PAGE: usize = 1_000;

/// The top-level directory of attachments.
const ATTACHMENTS: &str = "attachments";

/// The top-level directories of the built-in locations.
const BUILT_IN: [(Location, &str); 2] =
    [(Location::Templates, "templates"), (Location::DailyNotes, DAILY_NOTES)];

/// A document and its file.
#[derive(Debug)]
pub(super) struct ExportedDocument {
    pub(super) id: DocumentId,
    pub(super) path: String,
}

#[derive(Debug, Default)]
pub(super) struct ExportLayout {
    /// Parents before children.
    pub(super) directories: Vec<String>,
    /// By directory, then by title.
    pub(super) documents: Vec<ExportedDocument>,
    /// Indices in `documents`.
    pub(super) numbers: HashMap<DocumentId, usize>,
    /// The directory of attachments, created only if there are any.
    pub(super) attachments: String,
    pub(super) warnings: Vec<VaultWarning>,
    pub(super) skipped: Vec<Skipped>,
}

/// A document without a path yet.
struct TitledDocument {
    title: String,
    record: DocumentRecord,
}

impl ExportLayout {
    /// Lays out all documents except those in the trash.
    pub(super) fn new(reader: SpaceReader<'_>) -> Result<Self> {
        let mut layout = Self::default();
        let mut folders: HashMap<Option<FolderId>, Vec<FolderRecord>> = HashMap::new();
        for folder in reader.folders()? {
            folders.entry(folder.parent).or_default().push(folder);
        }
        layout.skipped.extend(inbox(reader)?);
        let mut documents = layout.documents_by_location(reader)?;
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
                let path = format!("{directory}{}", names.claim(&child.name, ""));
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
                // Allocated after folders, which keep their names, and before documents.
                layout.attachments = names.claim(ATTACHMENTS, "");
            }
            layout.directories.extend(below.iter().map(|(_, path)| path.clone()));
            if let Some(documents) = documents.remove(&location) {
                layout.add_documents(documents, &directory, &mut names);
            }
            // Reversed: the stack yields the first directory first.
            stack.extend(
                below.into_iter().rev().map(|(location, path)| (location, format!("{path}/"))),
            );
        }
        for document in documents.into_values().flatten() {
            let reason = "its folder does not exist".to_owned();
            layout.skipped.push(Skipped { path: document.title, reason });
        }
        debug_assert_eq!(layout.documents.len(), layout.numbers.len(), "numbers are indices");
        Ok(layout)
    }

    /// All documents by location; those in the trash are skipped.
    fn documents_by_location(
        &mut self,
        reader: SpaceReader<'_>,
    ) -> Result<BTreeMap<Location, Vec<TitledDocument>>> {
        let mut documents: BTreeMap<Location, Vec<TitledDocument>> = BTreeMap::new();
        let mut cursor = None;
        loop {
            let page = reader.find_documents(
                &DocumentQuery::default(),
                cursor.as_ref(),
                DOCUMENTS_PER_PAGE,
            )?;
            for StoredDocument { record, title, .. } in page.documents {
                if record.location == Location::Trash {
                    let reason = "it is in the trash".to_owned();
                    self.skipped.push(Skipped { path: plain_title(&title), reason });
                } else {
                    let document = TitledDocument { title, record };
                    documents.entry(document.record.location).or_default().push(document);
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(documents);
            }
        }
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
        for TitledDocument { title, record } in documents {
            // Other programs recognize a daily note by its date.
            let (words, name) = if let Some(day) = record.day {
                let words = day.to_string();
                let name = names.claim(&words, ".md");
                (words, name)
            } else {
                let words = plain_title(&title);
                let name = names.claim_document(&words);
                (words, name)
            };
            let path = format!("{directory}{name}");
            if let Some(message) = title_warning(&title, &words, &name, record.day) {
                self.warnings.push(VaultWarning::of_file(
                    path.as_str(),
                    VaultWarningKind::Title,
                    message,
                ));
            }
            debug_assert!(!self.numbers.contains_key(&record.id), "a document has one file");
            self.numbers.insert(record.id, self.documents.len());
            self.documents.push(ExportedDocument { id: record.id, path });
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

/// The tasks of the inbox, which are in no document.
fn inbox(reader: SpaceReader<'_>) -> Result<Option<Skipped>> {
    let Some(inbox) = reader.inbox()? else { return Ok(None) };
    let tasks = match reader.tasks_of(inbox.id, false)?.len() {
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
        let expected = days::long_form(day);
        (title != expected)
            .then(|| format!("the title {title:?} of a daily note reads back as {expected:?}"))
    } else if markdown::plain_text(title).trim().is_empty() {
        Some("the document has no title".to_owned())
    } else if is_too_long(words) {
        Some(format!("the title {words:?} is too long for a file name"))
    } else if decode(stem) != words {
        Some(format!("another document has the file name of {words:?}"))
    } else if literal(words) != title {
        Some(format!("the title {title:?} is written as plain text"))
    } else {
        None
    }
}
