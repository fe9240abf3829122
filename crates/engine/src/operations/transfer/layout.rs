//! The layout of an export: which document becomes which file, and which folder which directory.

use std::collections::{BTreeMap, HashMap};

use leafbase_markdown as markdown;
use leafbase_model::{Day, DocumentId, DocumentRecord, FolderId, FolderRecord, Location, Result};
use leafbase_store::{DocumentQuery, SpaceReader};

use crate::operations::transfer::names::{self, Names};
use crate::operations::transfer::report::{Adaptation, AdaptationKind, Skipped};
use crate::operations::transfer::{titles, urls};
use crate::support::days;

/// How many documents one look-up of a listing reads.
const PAGE: usize = 1_000;

/// The directory of uploaded files, at the top.
const ATTACHMENTS: &str = "attachments";

/// The directories of the built-in locations, at the top.
const BUILT_IN: [(Location, &str); 2] =
    [(Location::Templates, "templates"), (Location::DailyNotes, DAILY_NOTES)];
const DAILY_NOTES: &str = "daily notes";

/// Whether the file at `path` is where an export keeps the daily notes.
pub(super) fn is_note(path: &str) -> bool {
    urls::directory(path).eq_ignore_ascii_case(DAILY_NOTES)
}

/// A document and its file.
#[derive(Debug)]
pub(super) struct LaidOut {
    pub(super) id: DocumentId,
    pub(super) path: String,
}

/// Where everything goes.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Each after the one that it is in.
    pub(super) directories: Vec<String>,
    /// In the order of directories, then of titles.
    pub(super) documents: Vec<LaidOut>,
    /// The number of each document.
    pub(super) numbers: HashMap<DocumentId, usize>,
    /// The directory for uploaded files, which is made if there is something to put into it.
    pub(super) attachments: String,
    pub(super) adaptations: Vec<Adaptation>,
    pub(super) skipped: Vec<Skipped>,
}

/// A document that has no path yet.
struct Titled {
    title: String,
    record: DocumentRecord,
}

impl Layout {
    /// Lays out all that `reader` reads.
    pub(super) fn of(reader: SpaceReader<'_>) -> Result<Self> {
        let mut layout = Self::default();
        let mut folders: HashMap<Option<FolderId>, Vec<FolderRecord>> = HashMap::new();
        for folder in reader.folders()? {
            folders.entry(folder.parent).or_default().push(folder);
        }
        layout.skipped.extend(inbox(reader)?);
        let mut documents = layout.by_location(reader)?;
        let mut waiting = vec![(Location::Unsorted, String::new())];
        while let Some((location, directory)) = waiting.pop() {
            let mut names = Names::default();
            let mut below = Vec::new();
            let folder = if let Location::Folder(folder) = location { Some(folder) } else { None };
            if matches!(location, Location::Unsorted | Location::Folder(_)) {
                let mut children = folders.remove(&folder).unwrap_or_default();
                children.sort_by(|one, other| (&one.name, one.id).cmp(&(&other.name, other.id)));
                for child in children {
                    let path = format!("{directory}{}", names.claim(&child.name, ""));
                    below.push((Location::Folder(child.id), path));
                }
            }
            if location == Location::Unsorted {
                for (built_in, name) in BUILT_IN {
                    if documents.contains_key(&built_in) {
                        let path = names.claim(name, "");
                        layout.tell_built_in(built_in, &path);
                        below.push((built_in, path));
                    }
                }
                layout.attachments = names.claim(ATTACHMENTS, "");
            }
            layout.directories.extend(below.iter().map(|(_, path)| path.clone()));
            layout.place(documents.remove(&location).unwrap_or_default(), &directory, &mut names);
            waiting.extend(
                below.into_iter().rev().map(|(location, path)| (location, format!("{path}/"))),
            );
        }
        for titled in documents.into_values().flatten() {
            layout.skipped.push(Skipped {
                path: titled.title,
                reason: "its folder does not exist".to_owned(),
            });
        }
        Ok(layout)
    }

    /// The documents out of the trash by where they are kept.
    fn by_location(&mut self, reader: SpaceReader<'_>) -> Result<BTreeMap<Location, Vec<Titled>>> {
        let mut documents: BTreeMap<Location, Vec<Titled>> = BTreeMap::new();
        let mut cursor = None;
        loop {
            let page = reader.find_documents(&DocumentQuery::default(), cursor.as_ref(), PAGE)?;
            for record in page.documents {
                let title = reader
                    .block(record.id.root())?
                    .map(|root| root.data.markdown)
                    .unwrap_or_default();
                if record.location == Location::Trash {
                    let path = titles::words(&title);
                    self.skipped.push(Skipped { path, reason: "it is in the trash".to_owned() });
                } else {
                    documents.entry(record.location).or_default().push(Titled { title, record });
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(documents);
            }
        }
    }

    fn place(&mut self, mut documents: Vec<Titled>, directory: &str, names: &mut Names) {
        documents.sort_by(|one, other| {
            (&one.title, one.record.id).cmp(&(&other.title, other.record.id))
        });
        for Titled { title, record } in documents {
            // Other programs know a daily note by its date.
            let words = record.day.map_or_else(|| titles::words(&title), |day| day.to_string());
            let name = match record.day {
                Some(_) => names.claim(&words, ".md"),
                None => names.claim_document(&words),
            };
            let path = format!("{directory}{name}");
            if let Some(message) = title_changed(&title, &words, &name, record.day) {
                let path = path.clone();
                self.adaptations.push(Adaptation {
                    path,
                    line: None,
                    kind: AdaptationKind::Title,
                    message,
                });
            }
            self.numbers.insert(record.id, self.documents.len());
            self.documents.push(LaidOut { id: record.id, path });
        }
    }

    fn tell_built_in(&mut self, location: Location, path: &str) {
        let (path, kind) = (path.to_owned(), AdaptationKind::Location);
        if location == Location::DailyNotes {
            return;
        }
        let message =
            "the templates are written to a directory, and are read back as ordinary documents"
                .to_owned();
        self.adaptations.push(Adaptation { path, line: None, kind, message });
    }
}

/// The tasks that stand in no document.
fn inbox(reader: SpaceReader<'_>) -> Result<Option<Skipped>> {
    let Some(inbox) = reader.inbox()? else { return Ok(None) };
    let tasks = match reader.tasks_of(inbox.id, false)?.len() {
        0 => return Ok(None),
        1 => "1 task stands".to_owned(),
        tasks => format!("{tasks} tasks stand"),
    };
    Ok(Some(Skipped { path: "Inbox".to_owned(), reason: format!("{tasks} in no document") }))
}

/// What is to be said of a title that its file's name does not give back.
fn title_changed(title: &str, words: &str, name: &str, day: Option<Day>) -> Option<String> {
    let plain = name.strip_suffix(".md").unwrap_or(name);
    if let Some(day) = day {
        let expected = days::long_form(day);
        (title != expected)
            .then(|| format!("the title {title:?} of a daily note is read back as {expected:?}"))
    } else if markdown::plain_text(title).trim().is_empty() {
        Some("the document has no title".to_owned())
    } else if names::is_too_long(words) {
        Some(format!("the title {words:?} is too long for a file's name"))
    } else if names::decode(plain) != words {
        Some(format!("the name of {words:?} is taken by another document"))
    } else if titles::literal(words) != title {
        Some(format!("the title {title:?} is written as plain text"))
    } else {
        None
    }
}
