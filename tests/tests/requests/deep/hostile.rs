//! A million containers within one another, in every text that a request may give.

use leafbase::{Connection, Error};
use serde_json::json;

use super::{boundless, on_a_small_stack};
use crate::bounds::asking::ask;
use crate::host::Host;

const MILLION: usize = 1_000_000;

/// What begins a container of the dialect, and what ends it.
const CONTAINERS: [(&str, &str); 12] = [
    ("> ", ""),
    ("- ", ""),
    ("1. ", ""),
    ("> - [ ] ", ""),
    ("<callout>", "</callout>"),
    ("<caption>", "</caption>"),
    ("<page>", "</page>"),
    ("<page><pageTitle>x</pageTitle><content>", "</content></page>"),
    ("<card><pageTitle>", "</pageTitle></card>"),
    ("<highlight color=\"blue\">", "</highlight>"),
    ("[", "](x)"),
    ("**_", "_**"),
];

/// Every place of a request that takes a text, by its path.
fn doors(host: &Host) -> Vec<(&'static str, &'static str, serde_json::Value)> {
    let end = json!({"pageId": host.id("root").to_string(), "position": "end"});
    let id = |name: &str| host.id(name).to_string();
    vec![
        ("insert_blocks", "markdown", json!({"markdown": "@", "position": end})),
        (
            "insert_blocks",
            "blocks",
            json!({"blocks": [{"type": "text", "markdown": "@"}], "position": end}),
        ),
        (
            "insert_blocks",
            "blocks",
            json!({"blocks": [{"type": "page", "title": "@"}], "position": end}),
        ),
        ("update_blocks", "blocks", json!({"blocks": [{"id": id("text"), "markdown": "@"}]})),
        ("update_blocks", "blocks", json!({"blocks": [{"id": id("page"), "title": "@"}]})),
        ("update_blocks", "blocks", json!({"blocks": [{"id": id("table"), "markdown": "@"}]})),
        ("update_blocks", "blocks", json!({"blocks": [{"id": id("code"), "markdown": "@"}]})),
        (
            "add_comments",
            "comments",
            json!({"comments": [{"blockId": id("child"), "content": "@"}]}),
        ),
        ("add_tasks", "tasks", json!({"tasks": [{"markdown": "@"}]})),
        ("create_documents", "documents", json!({"documents": [{"title": "@"}]})),
        (
            "add_items",
            "items",
            json!({"collectionId": id("collection"), "items": [{"title": "@"}]}),
        ),
        (
            "add_items",
            "items",
            json!({"collectionId": id("collection"), "items": [{"properties": {"note": "@"}}]}),
        ),
    ]
}

/// Gives the items of the host's collection a text.
fn give_note(host: &Host) {
    let collection = host.id("collection");
    let schema = json!({"name": "collection", "properties": [{"key": "note", "name": "Note", "type": "text"}]});
    let body = json!({"collectionId": collection.to_string(), "schema": schema}).to_string();
    ask(&host.notes, "replace_schema", &body).unwrap();
}

/// An answer, or an error that names the place and leaves no trace.
fn assert_definite(
    notes: &Connection,
    what: &str,
    path: &str,
    before: leafbase::SpaceStats,
    outcome: Result<(), &Error>,
) {
    let Err(error) = outcome else { return };
    let codes = ["LIMIT_EXCEEDED", "VALIDATION", "INVALID_MARKDOWN", "RULE_VIOLATION"];
    assert!(codes.contains(&error.code()) && error.path().starts_with(path), "{what}: {error}");
    assert_eq!(notes.space().stats().unwrap(), before, "{what} left a trace");
}

/// A text at a door.
fn knock(host: &Host, (operation, path, body): &(&str, &str, serde_json::Value), text: &str) {
    let before = host.notes.space().stats().unwrap();
    let body = body.to_string().replace("\"@\"", &json!(text).to_string());
    let outcome = ask(&host.notes, operation, &body).map(drop);
    let what = format!("{operation} of {}", text.chars().take(40).collect::<String>());
    assert_definite(&host.notes, &what, path, before, outcome.as_ref().copied());
}

fn nested(open: &str, close: &str, levels: usize) -> String {
    open.repeat(levels) + "x" + &close.repeat(levels)
}

#[test]
fn a_million_containers_in_every_text() {
    on_a_small_stack(|| {
        let host = Host::new();
        give_note(&host);
        let doors = doors(&host);
        // Longer ones would be refused for the length of the JSON alone.
        for (open, _) in CONTAINERS.into_iter().filter(|(open, _)| open.len() < 9) {
            let text = open.repeat(MILLION);
            doors.iter().for_each(|door| knock(&host, door, &text));
        }
        read_all(&host);
    });
}

#[test]
fn containers_in_every_text_where_no_length_is_refused() {
    on_a_small_stack(|| {
        for (open, close) in CONTAINERS {
            let host = Host::with_limits(boundless());
            give_note(&host);
            let doors = doors(&host);
            let levels = if open.len() + close.len() < 3 { MILLION } else { 10_000 };
            let text = nested(open, close, levels);
            doors.iter().for_each(|door| knock(&host, door, &text));
            read_all(&host);
        }
    });
}

#[test]
fn a_million_containers_in_markdown_of_any_length() {
    on_a_small_stack(|| {
        for (open, close) in CONTAINERS {
            let host = Host::with_limits(boundless());
            let closed = nested(open, close, if open.len() < 9 { MILLION } else { MILLION / 8 });
            for text in [open.repeat(MILLION), closed] {
                let before = host.notes.space().stats().unwrap();
                let outcome = host.notes.insert_markdown(&text, host.document()).map(drop);
                assert_definite(&host.notes, open, "markdown", before, outcome.as_ref().copied());
            }
        }
    });
}

/// What was taken in is read back in every form there is.
fn read_all(host: &Host) {
    let root = json!({"id": host.id("root").to_string(), "fetchMetadata": true}).to_string();
    let whole = ask(&host.notes, "fetch", &root).unwrap();
    assert!(whole.contains("\"content\":["));
    ask(&host.notes, "fetch_markdown", &root).unwrap();
    ask(&host.notes, "search", r#"{"include": "x"}"#).unwrap();
    ask(
        &host.notes,
        "search_blocks",
        &json!({"blockId": host.id("root").to_string(), "pattern": "x"}).to_string(),
    )
    .unwrap();
}
