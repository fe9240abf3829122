//! A space with a document in every place there is, asked by JSON and told in short lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use leafbase::json::FromJson;
use leafbase::{
    BuiltInLocation, Connection, DocumentId, Error, ErrorKind, Fetch, FolderId, Limits, Space, json,
};
use leafbase_test_outline::{FixedClock, SequentialIds};
use serde_json::Value;

use crate::host::wrong;

/// Documents and folders by name: in a body `@name` stands for the ID, in an outcome the ID is told
/// as the name.
pub struct Library {
    pub notes: Connection,
    pub clock: Arc<FixedClock>,
    names: BTreeMap<String, String>,
}

/// What an outcome begins with that is an error.
const REFUSALS: [&str; 6] =
    ["NOT_FOUND", "VALIDATION", "INVALID_MARKDOWN", "RULE_VIOLATION", "CONFLICT", "LIMIT_EXCEEDED"];

/// 2026-03-10T12:00:00Z, a Tuesday.
const NOON: u64 = 1_773_144_000_000;

impl Library {
    /// A space in this zone without documents, at noon UTC of 2026-03-10.
    pub fn empty(zone: &str, limits: Limits) -> Self {
        let clock = Arc::new(FixedClock::at(NOON));
        let space = Space::builder()
            .clock(clock.clone())
            .ids(SequentialIds::new(1))
            .zone(zone)
            .limits(limits);
        Self { notes: space.in_memory().unwrap().connect(), clock, names: BTreeMap::new() }
    }

    /// Folders `Home`, in it `Garden`, and `Work`; documents `loose`, `template`, `bills` in Home,
    /// `seeds` in Garden, `plan` in Work; notes `today` and `tomorrow`; in the trash `rubbish` and
    /// the notes `old` of the 1st, `taken` of today; the `inbox` with a task.
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    pub fn with_limits(limits: Limits) -> Self {
        let mut library = Self::empty("UTC", limits);
        library.folder("Home", None);
        library.folder("Garden", Some("Home"));
        library.folder("Work", None);
        for (name, destination) in [
            ("loose", r#"{"destination":"unsorted"}"#),
            ("template", r#"{"destination":"templates"}"#),
            ("bills", r#"{"folderId":"@Home"}"#),
            ("seeds", r#"{"folderId":"@Garden"}"#),
            ("plan", r#"{"folderId":"@Work"}"#),
            ("rubbish", r#"{"destination":"unsorted"}"#),
        ] {
            library.document(name, destination);
        }
        library.note("old", "2026-03-01");
        library.note("taken", "2026-03-10");
        library.done("delete", r#"{"documentIds":["@rubbish","@old","@taken"]}"#);
        library.note("today", "2026-03-10");
        library.note("tomorrow", "tomorrow");
        let task = library
            .done("addTasks", r#"{"tasks":[{"markdown":"call","location":{"type":"inbox"}}]}"#);
        let task = task["items"][0]["id"].as_str().unwrap().parse::<leafbase::BlockId>().unwrap();
        library.name("inbox", library.notes.document_of(task).unwrap().to_string());
        library
    }

    pub fn name(&mut self, name: &str, id: impl ToString) {
        self.names.insert(name.to_owned(), id.to_string());
    }

    pub fn folder(&mut self, name: &str, parent: Option<&str>) {
        let parent = parent.map(|parent| self.names[parent].parse::<FolderId>().unwrap());
        let made = self.notes.create_folder(name, parent).unwrap();
        self.name(name, made.id);
    }

    pub fn document(&mut self, name: &str, destination: &str) {
        let body = format!(r#"{{"documents":[{{"title":"{name}"}}],"destination":{destination}}}"#);
        let id = self.done("create", &body)["items"][0]["id"].as_str().unwrap().to_owned();
        self.name(name, id);
    }

    /// Writes to a day, and names its note.
    pub fn note(&mut self, name: &str, day: &str) {
        let body = format!(r#"{{"markdown":"{name}","position":{{"date":"{day}"}}}}"#);
        let block = self.notes.insert_blocks(self.read(&body).unwrap()).unwrap()[0].id;
        self.name(name, self.notes.document_of(block).unwrap());
    }

    pub fn id(&self, name: &str) -> DocumentId {
        self.names[name].parse().unwrap()
    }

    pub fn read<T: FromJson>(&self, body: &str) -> Result<T, Error> {
        let mut text = body.to_owned();
        for (name, id) in &self.names {
            text = text.replace(&format!("\"@{name}\""), &format!("\"{id}\""));
        }
        json::from_str(&text, self.notes.space().limits())
    }

    /// Passes a request on.
    pub fn ask(&self, operation: &str, body: &str) -> Result<Value, Error> {
        let notes = &self.notes;
        let reply = match operation {
            "list" => serde_json::to_value(notes.list_documents(self.read(body)?)?),
            "create" => serde_json::to_value(notes.create_documents(self.read(body)?)?),
            "copy" => serde_json::to_value(notes.create_from_template(self.read(body)?)?),
            "delete" => serde_json::to_value(
                notes.delete_documents(self.read::<leafbase::DeleteDocuments>(body)?)?,
            ),
            "move" => serde_json::to_value(notes.move_documents(self.read(body)?)?),
            "updateDocuments" => serde_json::to_value(notes.update_documents(self.read(body)?)?),
            "updateFolders" => serde_json::to_value(notes.update_folders(self.read(body)?)?),
            "restore" => serde_json::to_value(notes.restore_daily_notes(self.read(body)?)?),
            "purge" => serde_json::to_value(notes.purge_documents(self.read(body)?)?),
            "createFolders" => serde_json::to_value(notes.create_folders(self.read(body)?)?),
            "moveFolders" => serde_json::to_value(notes.move_folders(self.read(body)?)?),
            "deleteFolders" => serde_json::to_value(notes.delete_folders(self.read(body)?)?),
            "insert" => serde_json::to_value(notes.insert_blocks(self.read(body)?)?),
            "update" => serde_json::to_value(notes.update_blocks(self.read(body)?)?),
            "addTasks" => serde_json::to_value(notes.add_tasks(self.read(body)?)?),
            "fetch" => serde_json::to_value(notes.fetch(self.read(body)?)?),
            other => panic!("no operation {other}"),
        };
        Ok(reply.unwrap())
    }

    /// The reply to a request that is allowed.
    #[track_caller]
    pub fn done(&self, operation: &str, body: &str) -> Value {
        self.ask(operation, body).unwrap_or_else(|error| panic!("{operation} {body}: {error:?}"))
    }

    /// What comes of a request in one line: each item as `name` or `name:place`, or the code and
    /// the path of the error.
    pub fn line(&self, operation: &str, body: &str) -> String {
        match self.ask(operation, body) {
            Err(error) => wrong(&error),
            Ok(reply) => {
                let items = reply["items"].as_array().cloned().unwrap_or_else(|| vec![reply]);
                items.iter().map(|item| self.told(item)).collect::<Vec<_>>().join(" ")
            }
        }
    }

    fn told(&self, item: &Value) -> String {
        let Value::Object(fields) = item else { return self.name_of(item) };
        let name = self.name_of(&fields["id"]);
        let name = if name == "?" {
            fields.get("title").or(fields.get("name")).map_or(name, text)
        } else {
            name
        };
        match (fields.get("location"), fields.get("parentFolderId")) {
            (Some(Value::Object(location)), _) => {
                let place =
                    location.values().next().map(|place| self.name_of(place)).unwrap_or_default();
                format!("{name}:{place}")
            }
            (_, Some(parent)) => format!("{name}:{}", self.name_of(parent)),
            _ => name,
        }
    }

    /// The name of an ID, or the word itself if it is none.
    fn name_of(&self, id: &Value) -> String {
        let id = text(id);
        let known =
            self.names.iter().find(|(_, known)| **known == id).map(|(name, _)| name.clone());
        known.unwrap_or_else(|| {
            if id.parse::<BuiltInLocation>().is_ok() { id } else { "?".to_owned() }
        })
    }

    /// The tree of folders, each with its count.
    pub fn folders(&self) -> String {
        let folders = self.notes.folders().unwrap();
        let folders = folders.iter().flat_map(leafbase::Folder::walk);
        let line = |(depth, folder): (usize, &leafbase::Folder)| {
            let parent = folder
                .parent
                .map(|parent| format!(" in {}", self.name_of(&Value::from(parent.to_string()))));
            format!(
                "{}{} {}{}",
                "  ".repeat(depth),
                folder.name,
                folder.document_count,
                parent.unwrap_or_default()
            )
        };
        folders.map(line).collect::<Vec<_>>().join("\n")
    }

    /// Everything in the space, with what the listings say of it.
    pub fn state(&self) -> String {
        serde_json::to_string_pretty(&self.shown()).unwrap()
    }

    /// The state without the revisions of folders and documents, which an undo increments, and
    /// these revisions by ID.
    fn content(&self) -> (String, BTreeMap<String, u64>) {
        let (mut shown, mut revs) = (self.shown(), BTreeMap::new());
        shown.iter_mut().take(2).for_each(|listing| take_revs(listing, &mut revs));
        (serde_json::to_string_pretty(&shown).unwrap(), revs)
    }

    /// The folders, the documents, and each document with its blocks.
    fn shown(&self) -> Vec<Value> {
        let documents =
            self.notes.list_documents(leafbase::ListDocuments::new().with_metadata()).unwrap();
        let mut shown = vec![
            serde_json::to_value(self.notes.folders().unwrap()).unwrap(),
            serde_json::to_value(&documents).unwrap(),
        ];
        let hidden = self.names.get("inbox").map(|inbox| inbox.parse::<DocumentId>().unwrap());
        for id in documents.iter().map(leafbase::Document::id).chain(hidden) {
            shown.push(
                serde_json::to_value(self.notes.fetch(Fetch::new(id).with_metadata()).unwrap())
                    .unwrap(),
            );
        }
        shown
    }

    /// Asserts the outcome of each request, one after the other; one that is refused leaves no
    /// trace.
    #[track_caller]
    pub fn table(&self, rows: &[(&str, &str, &str)]) {
        for (operation, body, expected) in rows {
            let (before, sequence) = (self.state(), self.notes.last_sequence().unwrap());
            assert_eq!(self.line(operation, body), *expected, "{operation} {body}");
            if REFUSALS.contains(&expected.split(' ').next().unwrap()) {
                assert_eq!(self.state(), before, "{operation} {body} left a trace");
                assert_eq!(
                    self.notes.last_sequence().unwrap(),
                    sequence,
                    "{operation} {body} wrote something"
                );
            }
        }
    }

    /// Asserts the outcome of a request that is allowed, and that its inverse leads back, but
    /// lowers no revision of a document or a folder.
    #[track_caller]
    pub fn undone(&self, operation: &str, body: &str, expected: &str) {
        let (before, sequence) = (self.state(), self.notes.last_sequence().unwrap());
        let (content, _) = self.content();
        assert_eq!(self.line(operation, body), expected, "{operation} {body}");
        assert_ne!(self.state(), before, "{operation} {body} did nothing");
        let (_, revs) = self.content();
        let changes = self.notes.changes_since(sequence).collect::<Result<Vec<_>, _>>().unwrap();
        assert_eq!(changes.len(), 1, "{operation} {body} is one write");
        self.notes.space().apply(self.notes.author(), &changes[0].inverse().unwrap()).unwrap();
        let (undone, raised) = self.content();
        assert_eq!(undone, content, "{operation} {body} is not undone");
        let is_lower = |(id, rev): &(&String, &u64)| raised.get(*id).is_some_and(|new| new < *rev);
        assert_eq!(revs.iter().find(is_lower), None, "{operation} {body} lowers a revision");
        assert!(self.notes.space().check().unwrap().is_clean());
    }

    /// Asserts the outcome of a purge, and that it has no inverse.
    #[track_caller]
    pub fn purged(&self, body: &str, expected: &str) {
        assert_eq!(self.line("purge", body), expected, "{body}");
        let change = self.notes.changes_since(0).last().unwrap().unwrap();
        assert_eq!(change.inverse().unwrap_err().kind(), ErrorKind::HistoryGone);
        assert!(self.notes.space().check().unwrap().is_clean());
    }
}

/// Takes the revisions out of a listing.
fn take_revs(listing: &mut Value, revs: &mut BTreeMap<String, u64>) {
    match listing {
        Value::Object(fields) => {
            if let Some(rev) = fields.remove("rev") {
                revs.insert(text(&fields["id"]), rev.as_u64().unwrap());
            }
            fields.values_mut().for_each(|value| take_revs(value, revs));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| take_revs(value, revs)),
        _ => {}
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_state_tells_every_change() {
    let library = Library::new();
    for (operation, body) in [
        ("move", r#"{"documentIds":"@loose","destination":{"folderId":"@Work"}}"#),
        ("delete", r#"{"documentIds":"@loose"}"#),
        ("restore", r#"{"documentIds":"@old"}"#),
        ("purge", r#"{"documentIds":"@rubbish"}"#),
        ("createFolders", r#"{"folders":[{"name":"a"}]}"#),
        ("moveFolders", r#"{"folderIds":"@Garden","destination":"root"}"#),
        ("deleteFolders", r#"{"folderIds":"@Work"}"#),
        ("update", r#"{"blocks":[{"id":"@seeds","title":"x"}]}"#),
        ("addTasks", r#"{"tasks":[{"markdown":"x","location":{"type":"inbox"}}]}"#),
    ] {
        let before = library.state();
        assert_eq!(before, library.state());
        library.done(operation, body);
        assert_ne!(before, library.state(), "{operation} {body}");
    }
}

#[test]
#[should_panic(expected = "left == right")]
fn a_table_is_read() {
    Library::new().table(&[("delete", r#"{"documentIds":"@rubbish"}"#, "rubbish")]);
}

#[test]
#[should_panic(expected = "did nothing")]
fn what_is_undone_was_done() {
    Library::new().undone("delete", r#"{"documentIds":[]}"#, "");
}
