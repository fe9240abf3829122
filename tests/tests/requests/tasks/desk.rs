//! A space at noon of Sunday, 2026-03-01 in its zone's UTC, where requests name tasks by their
//! text: `@milk`.

use std::collections::BTreeMap;
use std::sync::Arc;

use leafbase::json::FromJson;
use leafbase::{Error, Limits, Space, SpaceBuilder, Timestamp, json};
use leafbase_test_outline::{FixedClock, SequentialIds};
use serde_json::Value;

use crate::host::wrong;

pub const NOON: &str = "2026-03-01T12:00:00Z";

/// A space with the documents `@trip` and `@home`, the template `@plan`, and the folder that none
/// of them is in.
pub struct Desk {
    pub notes: leafbase::Connection,
    pub clock: Arc<FixedClock>,
    names: BTreeMap<String, String>,
}

/// What a request is called, what it is, and what comes of it.
pub type Step<'a> = (&'a str, &'a str, &'a str);

/// A text without its marker.
fn unmarked(text: &str) -> &str {
    ["- [ ] ", "- [x] ", "- [-] ", "- ", "1. ", "# "]
        .into_iter()
        .find_map(|marker| text.strip_prefix(marker))
        .unwrap_or(text)
}

impl Desk {
    pub fn new() -> Self {
        Self::built(NOON, |builder| builder)
    }

    pub fn with_limits(limits: Limits) -> Self {
        Self::built(NOON, |builder| builder.limits(limits))
    }

    pub fn built(now: &str, build: impl FnOnce(SpaceBuilder) -> SpaceBuilder) -> Self {
        let now: Timestamp = now.parse().unwrap();
        let clock = Arc::new(FixedClock::at(now.as_millis().unsigned_abs()));
        let builder = Space::builder().clock(Arc::clone(&clock)).ids(SequentialIds::new(1));
        let notes = build(builder).in_memory().unwrap().connect().acting_as("Ada");
        let mut desk = Self { notes, clock, names: BTreeMap::new() };
        desk.run(&[
            ("create", r#"{"documents":[{"title":"trip"},{"title":"home"}]}"#, "trip home"),
            (
                "create",
                r#"{"documents":[{"title":"plan"}],"destination":{"destination":"templates"}}"#,
                "plan",
            ),
        ]);
        desk
    }

    /// The body with the IDs that its names stand for.
    fn body(&self, body: &str) -> String {
        let mut text = body.to_owned();
        for (name, id) in &self.names {
            text = text.replace(&format!("\"@{name}\""), &format!("\"{id}\""));
        }
        text
    }

    fn request<T: FromJson>(&self, body: &str) -> Result<T, Error> {
        json::from_str(&self.body(body), self.notes.space().limits())
    }

    /// Passes a request on as a host does.
    pub fn ask(&mut self, operation: &str, body: &str) -> Result<Value, Error> {
        let notes = &self.notes;
        let reply = match operation {
            "list" | "page" | "look" => {
                serde_json::to_value(notes.tasks(self.request::<leafbase::ListTasks>(body)?)?)
            }
            "add" => serde_json::to_value(notes.add_tasks(self.request(body)?)?),
            "change" => serde_json::to_value(
                notes.update_tasks(self.request::<leafbase::UpdateTasks>(body)?)?,
            ),
            "drop" => serde_json::to_value(
                notes.delete_tasks(self.request::<leafbase::DeleteTasks>(body)?)?,
            ),
            "insert" => serde_json::to_value(notes.insert_blocks(self.request(body)?)?),
            "update" => serde_json::to_value(notes.update_blocks(self.request(body)?)?),
            "delete" => serde_json::to_value(notes.delete_blocks(self.request(body)?)?),
            "move" => serde_json::to_value(notes.move_blocks(self.request(body)?)?),
            "read" => {
                Ok(Value::from(notes.content_markdown(self.request::<leafbase::BlockId>(body)?)?))
            }
            "note" => {
                let note = notes.fetch(self.request(body)?)?;
                let content = notes.content_markdown(note.id)?;
                serde_json::to_value(note)
                    .map(|note| serde_json::json!({"title": note["markdown"], "id": note["id"], "content": content}))
            }
            "block" => serde_json::to_value(notes.fetch(self.request(body)?)?),
            "create" => serde_json::to_value(notes.create_documents(self.request(body)?)?),
            "trash" => serde_json::to_value(
                notes.delete_documents(self.request::<leafbase::DeleteDocuments>(body)?)?,
            ),
            "restore" => serde_json::to_value(notes.move_documents(self.request(body)?)?),
            "purge" => serde_json::to_value(notes.purge_documents(self.request(body)?)?),
            "copy" => serde_json::to_value(notes.create_from_template(self.request(body)?)?),
            other => panic!("no operation {other}"),
        };
        let reply = reply.unwrap();
        self.learn(&reply);
        Ok(reply)
    }

    /// Names what a reply shows by its text or title; what comes later takes a name over.
    fn learn(&mut self, reply: &Value) {
        let mut waiting = vec![reply];
        while let Some(value) = waiting.pop() {
            match value {
                Value::Object(fields) => {
                    let name =
                        fields.get("markdown").or(fields.get("title")).and_then(Value::as_str);
                    if let (Some(name), Some(id)) = (name, fields.get("id").and_then(Value::as_str))
                    {
                        self.names.insert(unmarked(name).to_owned(), id.to_owned());
                    }
                    if let Some(cursor) = fields.get("nextCursor").and_then(Value::as_str) {
                        self.names.insert("next".to_owned(), cursor.to_owned());
                    }
                    waiting.extend(fields.values());
                }
                Value::Array(values) => waiting.extend(values),
                _ => {}
            }
        }
    }

    /// What comes of a request in one line.
    pub fn line(&mut self, operation: &str, body: &str) -> String {
        let reply = match self.ask(operation, body) {
            Ok(reply) => reply,
            Err(error) => return wrong(&error),
        };
        let Some(items) = reply["items"].as_array() else {
            let text = if operation == "note" { &reply["content"] } else { &reply };
            return text.as_str().map_or_else(|| text.to_string(), str::to_owned);
        };
        let full = ["look", "add", "change"].contains(&operation);
        let mut words: Vec<_> = items.iter().map(|item| self.word(item, full)).collect();
        // What a cursor leads to.
        words.extend(
            (operation == "page" && !reply["nextCursor"].is_null()).then(|| "..".to_owned()),
        );
        words.join(" ")
    }

    /// A task as `milk(done on 2026-03-01 by 2026-03-02)@inbox`, or its text alone.
    fn word(&self, item: &Value, full: bool) -> String {
        let named = |id: &Value| {
            let named = self.names.iter().find(|(_, known)| Some(known.as_str()) == id.as_str());
            named.map_or_else(|| id.to_string(), |(name, _)| name.clone())
        };
        let Some(text) = item.get("markdown").or(item.get("title")).and_then(Value::as_str) else {
            return if item.is_object() { "_".to_owned() } else { named(item) };
        };
        let (Some(info), Some(location), true) = (item.get("taskInfo"), item.get("location"), full)
        else {
            return unmarked(text).to_owned();
        };
        let text = unmarked(text);
        let mut notes = Vec::new();
        notes.extend(info["state"].as_str().filter(|state| *state != "todo").map(str::to_owned));
        for (word, name) in [
            ("on ", "scheduleDate"),
            ("by ", "deadlineDate"),
            ("at ", "completedAt"),
            ("at ", "canceledAt"),
        ] {
            notes.extend(info[name].as_str().map(|value| format!("{word}{value}")));
        }
        let notes = if notes.is_empty() { String::new() } else { format!("({})", notes.join(" ")) };
        let place = match location["type"].as_str() {
            Some("dailyNote") => location["date"].as_str().unwrap_or("?").to_owned(),
            Some("document") => named(&location["documentId"]),
            place => place.unwrap_or("?").to_owned(),
        };
        format!("{text}{notes}@{place}")
    }

    /// Takes the steps and asserts what comes of each. One that is refused leaves no trace; all of
    /// it is undone at the end.
    pub fn run(&mut self, steps: &[Step<'_>]) {
        for (operation, body, expected) in steps {
            let before = self.notes.last_sequence().unwrap();
            let found = self.line(operation, body);
            assert_eq!(found, *expected, "{operation} {body}");
            if is_refusal(expected) {
                assert_eq!(
                    self.notes.last_sequence().unwrap(),
                    before,
                    "{operation} {body} left a trace"
                );
            }
        }
        assert!(self.notes.space().check().unwrap().is_clean());
    }

    /// The scopes that hold the task of this text, those of its document left out.
    pub fn scopes(&mut self, text: &str) -> String {
        let mut holding = Vec::new();
        for scope in ["active", "upcoming", "inbox", "logbook"] {
            let listed = self.line("list", &format!(r#"{{"scope":"{scope}"}}"#));
            holding.extend(listed.split(' ').any(|word| word == text).then_some(scope));
        }
        holding.join(" ")
    }
}

fn is_refusal(line: &str) -> bool {
    line.split(' ').next().is_some_and(|code| {
        code.len() > 3 && code.chars().all(|char| char.is_ascii_uppercase() || char == '_')
    })
}

#[test]
fn a_step_that_turns_out_otherwise_fails() {
    let wrong =
        std::panic::catch_unwind(|| Desk::new().run(&[("list", r#"{"scope":"inbox"}"#, "milk")]));
    assert!(wrong.is_err());
    let unnoticed = std::panic::catch_unwind(|| {
        Desk::new().run(&[("add", r#"{"tasks":[{"markdown":"MILK"}]}"#, "MILK")])
    });
    assert!(unnoticed.is_err());
}
