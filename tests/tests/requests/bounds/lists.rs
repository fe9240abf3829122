//! How many blocks, items, folders and IDs one request may have: every list that there is, with the
//! limit small and as it comes.

use leafbase::{BlockId, Connection, CreateFolders, FolderDraft, Limits};
use serde_json::{Value, json};

use super::asking::ask;
use super::{around, around_made};
use crate::host::{Host, wrong};

const MOST: usize = 5;

fn host() -> Host {
    let mut limits = Limits::default();
    limits.blocks_per_request = MOST;
    Host::with_limits(limits)
}

fn send(notes: &Connection, operation: &str, body: &Value) -> Result<(), leafbase::Error> {
    ask(notes, operation, &body.to_string()).map(drop)
}

/// The IDs in a reply.
fn ids(reply: &str) -> Vec<Value> {
    let reply: Value = serde_json::from_str(reply).unwrap();
    reply["items"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect()
}

/// Makes things one by one, and gives their IDs.
fn made(notes: &Connection, operation: &str, one: &Value) -> impl Fn(usize) -> Vec<Value> + use<> {
    let (notes, operation, body) = (notes.clone(), operation.to_owned(), one.to_string());
    move |size| (0..size).flat_map(|_| ids(&ask(&notes, &operation, &body).unwrap())).collect()
}

#[test]
fn comments_and_tasks() {
    let host = host();
    let notes = &host.notes;
    let text = host.id("text").to_string();
    around(notes, MOST, "comments", |size| {
        send(
            notes,
            "add_comments",
            &json!({"comments": vec![json!({"blockId": text, "content": "x"}); size]}),
        )
    });
    around(notes, MOST, "tasks", |size| {
        send(notes, "add_tasks", &json!({"tasks": vec![json!({"markdown": "x"}); size]}))
    });
    let tasks = made(notes, "add_tasks", &json!({"tasks": [{"markdown": "x"}]}));
    around_made(notes, MOST, "tasksToUpdate", &tasks, |ids| {
        let patches: Vec<Value> = ids.iter().map(|id| json!({"id": id, "markdown": "y"})).collect();
        send(notes, "update_tasks", &json!({"tasksToUpdate": patches}))
    });
    around_made(notes, MOST, "idsToDelete", &tasks, |ids| {
        send(notes, "delete_tasks", &json!({"idsToDelete": ids}))
    });
}

#[test]
fn items() {
    let host = host();
    let (notes, collection) = (&host.notes, host.id("collection").to_string());
    around(notes, MOST, "items", |size| {
        send(
            notes,
            "add_items",
            &json!({"collectionId": collection, "items": vec![json!({"title": "x"}); size]}),
        )
    });
    // With the blocks of their pages.
    let content = |size: usize| vec![json!({"type": "text"}); size];
    around(notes, MOST, "items", |size| {
        let with_page = vec![json!({"title": "x", "content": content(1)}); size / 2];
        let without = vec![json!({"title": "x"}); size % 2];
        let items = [with_page, without].concat();
        send(notes, "add_items", &json!({"collectionId": collection, "items": items}))
    });
    let one = |size| json!({"collectionId": collection, "items": [{"title": "x", "content": content(size)}]});
    for (size, path) in [(MOST, "items"), (MOST + 1, "items[0].content")] {
        assert_eq!(
            wrong(&send(notes, "add_items", &one(size)).unwrap_err()),
            format!("LIMIT_EXCEEDED {path}")
        );
    }
    let items =
        made(notes, "add_items", &json!({"collectionId": collection, "items": [{"title": "x"}]}));
    around_made(notes, MOST, "itemsToUpdate", &items, |ids| {
        let patches: Vec<Value> = ids.iter().map(|id| json!({"id": id, "title": "y"})).collect();
        send(notes, "update_items", &json!({"collectionId": collection, "itemsToUpdate": patches}))
    });
    around_made(notes, MOST, "idsToDelete", &items, |ids| {
        send(notes, "delete_items", &json!({"collectionId": collection, "idsToDelete": ids}))
    });
}

#[test]
fn documents() {
    let host = host();
    let notes = &host.notes;
    around(notes, MOST, "documents", |size| {
        send(notes, "create_documents", &json!({"documents": vec![json!({"title": "x"}); size]}))
    });
    let documents = made(notes, "create_documents", &json!({"documents": [{"title": "x"}]}));
    let trashed = |size: usize| {
        let ids = documents(size);
        ids.chunks(MOST)
            .for_each(|ids| send(notes, "delete_documents", &json!({"documentIds": ids})).unwrap());
        ids
    };
    around_made(notes, MOST, "documentIds", &documents, |ids| {
        send(
            notes,
            "move_documents",
            &json!({"documentIds": ids, "destination": {"destination": "templates"}}),
        )
    });
    around_made(notes, MOST, "documentIds", &documents, |ids| {
        send(notes, "delete_documents", &json!({"documentIds": ids}))
    });
    around_made(notes, MOST, "documentIds", trashed, |ids| {
        send(notes, "purge_documents", &json!({"documentIds": ids}))
    });
}

#[test]
fn folders() {
    let host = host();
    let notes = &host.notes;
    around(notes, MOST, "folders", |size| {
        let inner = vec![FolderDraft::new("x"); size - 1];
        notes
            .create_folders(CreateFolders::new([FolderDraft::new("x").with_folders(inner)]))
            .map(drop)
    });
    let folders = made(notes, "create_folders", &json!({"folders": [{"name": "x"}]}));
    let home = folders(1)[0].clone();
    around_made(notes, MOST, "folderIds", &folders, |ids| {
        send(
            notes,
            "move_folders",
            &json!({"folderIds": ids, "destination": {"parentFolderId": home}}),
        )
    });
    around_made(notes, MOST, "folderIds", &folders, |ids| {
        send(notes, "delete_folders", &json!({"folderIds": ids}))
    });
    around(notes, MOST, "folderId", |size| {
        send(notes, "list_documents", &json!({"folderId": vec![home.clone(); size]}))
    });
    around(notes, MOST, "folderIds", |size| {
        send(notes, "search", &json!({"include": "x", "folderIds": vec![home.clone(); size]}))
    });
}

#[test]
fn documents_that_a_question_names() {
    let host = host();
    let (notes, root) = (&host.notes, host.id("root").to_string());
    around(notes, MOST, "documentIds", |size| {
        send(notes, "search", &json!({"include": "x", "documentIds": vec![&root; size]}))
    });
    around(notes, MOST, "documentIds", |size| {
        send(notes, "list_collections", &json!({"documentIds": vec![&root; size]}))
    });
}

/// The default, by IDs that are nowhere: as many as may be are looked up, one more is too many.
#[test]
fn twenty_thousand_ids() {
    let host = Host::new();
    let collection = host.id("collection").to_string();
    let ids = |count: u128| -> Vec<String> {
        (1..=count)
            .map(|number| BlockId::from_bytes((number << 40).to_be_bytes()).to_string())
            .collect()
    };
    let stats = || {
        let mut stats = host.notes.space().stats().unwrap();
        // The first search builds an index.
        stats.unindexed = None;
        stats
    };
    let before = stats();
    let end = json!({"pageId": host.id("root").to_string(), "position": "end"});
    for (operation, list, rest) in [
        ("delete_blocks", "blockIds", json!({})),
        ("move_blocks", "blockIds", json!({"position": end})),
        ("delete_tasks", "idsToDelete", json!({})),
        ("delete_items", "idsToDelete", json!({"collectionId": collection})),
        ("delete_documents", "documentIds", json!({})),
        ("move_documents", "documentIds", json!({"destination": {"destination": "templates"}})),
        ("restore_daily_notes", "documentIds", json!({})),
        ("purge_documents", "documentIds", json!({})),
        ("delete_folders", "folderIds", json!({})),
        ("move_folders", "folderIds", json!({"destination": "root"})),
        ("list_documents", "folderId", json!({})),
        ("list_collections", "documentIds", json!({})),
        ("search", "documentIds", json!({"include": "x"})),
        ("search", "folderIds", json!({"include": "x"})),
    ] {
        let outcome = |count: u128| {
            let mut body = rest.clone();
            body[list] = json!(ids(count));
            wrong(&send(&host.notes, operation, &body).unwrap_err())
        };
        assert_eq!(outcome(20_000), format!("NOT_FOUND {list}[0]"), "{operation}");
        assert_eq!(outcome(20_001), format!("LIMIT_EXCEEDED {list}"), "{operation}");
    }
    assert_eq!(stats(), before);
}
