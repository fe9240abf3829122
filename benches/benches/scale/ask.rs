//! The questions and the writes that are measured, and what every peer does with them.

use crate::facts::Target;
use crate::plan::{LATELY, QUIET, TODAY};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    Everywhere,
    Unsorted,
    /// None of them changed after it was made, while half of the other documents did.
    Templates,
    DailyNotes,
    Trash,
    /// The first folder at the top, with the 24 folders in it.
    Tree,
    /// The folder that has as many documents at every size.
    Box,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Created,
    Modified,
    Note,
}

/// Fifty documents.
#[derive(Clone, Copy, Debug)]
pub struct List {
    pub within: Within,
    /// Those of these days, the last of them none for all later ones.
    pub days: Option<(Field, i64, Option<i64>)>,
    /// The last change first; else by the days that are filtered by, or by ID.
    pub latest: bool,
    /// The 20th fifty; else the first.
    pub far: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Active,
    Upcoming,
    Inbox,
    Logbook,
    /// All of the busy document.
    Document,
}

#[derive(Clone, Copy, Debug)]
pub enum Question {
    List(List),
    Tasks(Scope),
    Folders,
    Today,
    /// The document of this number, with metadata.
    Fetch(usize),
    /// The busy document, with metadata.
    FetchBusy,
    Info,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    NewDay,
    AddTask,
    AddInboxTask,
    Complete,
    Move,
    TrashAndRestore,
    Comment,
}

pub const WRITES: [(&str, Write); 7] = [
    ("first write to a new day", Write::NewDay),
    ("add a task to a document", Write::AddTask),
    ("add a task to the inbox", Write::AddInboxTask),
    ("complete a task", Write::Complete),
    ("move a document", Write::Move),
    ("delete to trash and restore", Write::TrashAndRestore),
    ("add a comment", Write::Comment),
];

pub trait Peer {
    /// The answer, which the caller drops.
    fn ask(&mut self, question: Question) -> Box<dyn Answer>;
    /// One after the other on these documents: how long each took. All but comments is undone at
    /// the end.
    fn write(&mut self, write: Write, targets: &[Target]) -> Vec<Duration>;
    /// Everything is on the disk, where it is read from after the next opening.
    fn flush(&mut self);
}

pub trait Answer {
    /// What every peer says alike.
    fn lines(&self) -> Vec<String>;
}

const fn list(within: Within) -> List {
    List { within, days: None, latest: false, far: false }
}

impl List {
    const fn of(self, field: Field, from: i64, to: i64) -> Self {
        Self { days: Some((field, from, Some(to))), ..self }
    }

    const fn since(self, field: Field, from: i64) -> Self {
        Self { days: Some((field, from, None)), ..self }
    }

    const fn latest(self) -> Self {
        Self { latest: true, ..self }
    }
}

/// Each row's name and question. Where a row says `few`, as many documents fit at every size; else
/// they grow with it.
pub fn questions() -> Vec<(&'static str, Question)> {
    use Field::{Created, Modified, Note};
    use Within::{Box, DailyNotes, Everywhere, Templates, Trash, Tree, Unsorted};
    let (first, last) = QUIET;
    let lists = [
        ("list 50", list(Everywhere)),
        ("list 50, unsorted", list(Unsorted)),
        ("list 50, daily notes", list(DailyNotes)),
        ("list 50, trash", list(Trash)),
        ("list 50, a folder and 24 below", list(Tree)),
        ("list 50, created in January (few)", list(Everywhere).of(Created, first, last)),
        ("list 50, changed in January (few)", list(Everywhere).of(Modified, first, last)),
        ("list 50, notes of 60 days (few)", list(Everywhere).of(Note, TODAY - 59, TODAY)),
        ("list 50, unsorted, created in January (few)", list(Unsorted).of(Created, first, last)),
        ("list 50, unsorted, changed in January (few)", list(Unsorted).of(Modified, first, last)),
        ("list 50, created lately", list(Everywhere).since(Created, LATELY)),
        ("list 50, changed lately", list(Everywhere).since(Modified, LATELY)),
        ("list 50, unsorted, created lately", list(Unsorted).since(Created, LATELY)),
        ("list 50, unsorted, changed lately", list(Unsorted).since(Modified, LATELY)),
        ("latest 50", list(Everywhere).latest()),
        ("latest 50, 20th page", List { far: true, ..list(Everywhere).latest() }),
        ("latest 50, changed lately", list(Everywhere).since(Modified, LATELY).latest()),
        (
            "latest 50, changed in January (few)",
            list(Everywhere).of(Modified, first, last).latest(),
        ),
        ("latest 50, unsorted", list(Unsorted).latest()),
        ("latest 50, unsorted, changed lately", list(Unsorted).since(Modified, LATELY).latest()),
        ("latest 50, templates", list(Templates).latest()),
        ("latest 50, a folder of 60 (few)", list(Box).latest()),
        ("latest 50, a folder and 24 below", list(Tree).latest()),
    ];
    let others = [
        ("tasks active, first 50", Question::Tasks(Scope::Active)),
        ("tasks upcoming, first 50", Question::Tasks(Scope::Upcoming)),
        ("tasks inbox, first 50", Question::Tasks(Scope::Inbox)),
        ("tasks logbook, newest 50", Question::Tasks(Scope::Logbook)),
        ("tasks of a document, 20", Question::Tasks(Scope::Document)),
        ("folder tree with counts", Question::Folders),
        ("today's daily note", Question::Today),
        ("fetch 30 blocks with metadata", Question::FetchBusy),
        ("connection info", Question::Info),
    ];
    lists.into_iter().map(|(name, list)| (name, Question::List(list))).chain(others).collect()
}
