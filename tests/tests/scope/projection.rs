//! The rest of a space, as a full connection shows it: what scoped calls must leave as it is.

use std::collections::BTreeSet;

use leafbase::{
    BlockId, Connection, DocumentId, Fetch, ListDocuments, ListTasks, Location, TaskScope,
};
use serde_json::{Value, json};

/// All documents but these as long as they are seen, with their collections, and without those of
/// these that are pages; folders, and tasks of the inbox.
pub fn of_the_rest(notes: &Connection, scope: &[DocumentId]) -> Value {
    let documents = notes.list_documents(ListDocuments::new().with_metadata()).unwrap();
    let hidden = documents.iter().filter(|document| {
        !scope.contains(&document.id()) || document.record.location == Location::Trash
    });
    let documents: Vec<Value> =
        hidden.map(|document| document_of(notes, document, scope)).collect();
    json!({
        "documents": documents,
        "folders": notes.folders().unwrap(),
        "inbox": notes.tasks(ListTasks::new(TaskScope::Inbox)).unwrap().items,
    })
}

fn document_of(notes: &Connection, document: &leafbase::Document, scope: &[DocumentId]) -> Value {
    let tree = notes.fetch(Fetch::new(document.id()).with_metadata()).unwrap();
    let (mut tree, mut document, mut collections) = (json!(tree), json!(document), Vec::new());
    let is_trashed = document["isDeleted"] == true;
    if !is_trashed && prune(&mut tree, scope) {
        // What is written in a page changes its document.
        let fields = document.as_object_mut().unwrap();
        fields.retain(|name, _| !["rev", "lastModifiedAt"].contains(&name.as_str()));
    }
    collect_collections(&tree, &mut collections);
    let collections: Vec<Value> = collections.into_iter().map(|id| collection(notes, id)).collect();
    json!({"document": document, "tree": tree, "collections": collections})
}

/// Takes the pages out of a tree. Whether there were any.
fn prune(tree: &mut Value, pages: &[DocumentId]) -> bool {
    let Some(content) = tree["content"].as_array_mut() else { return false };
    let before = content.len();
    let is_page = |block: &Value| pages.iter().any(|page| block["id"] == page.to_string());
    content.retain(|block| !is_page(block));
    let mut has_pages = content.len() < before;
    for block in content {
        has_pages |= prune(block, pages);
    }
    has_pages
}

fn collect_collections(tree: &Value, found: &mut Vec<BlockId>) {
    if tree["type"] == "collection" {
        found.push(tree["id"].as_str().unwrap().parse().unwrap());
    }
    for block in tree["content"].as_array().into_iter().flatten() {
        collect_collections(block, found);
    }
}

fn collection(notes: &Connection, id: BlockId) -> Value {
    let items = notes.items(id).unwrap().items;
    let blocks: Vec<_> = items
        .iter()
        .map(|item| notes.fetch(Fetch::new(item.id).with_metadata()).unwrap())
        .collect();
    json!({"id": id, "schema": notes.schema(id).unwrap(), "items": blocks})
}

/// The same without what points at blocks that are gone, and without the titles that are shown
/// beside related IDs.
pub fn without(mut rest: Value, gone: &BTreeSet<String>) -> Value {
    for document in rest["documents"].as_array_mut().into_iter().flatten() {
        for collection in document["collections"].as_array_mut().into_iter().flatten() {
            settle(collection, gone);
        }
    }
    rest
}

fn settle(collection: &mut Value, gone: &BTreeSet<String>) {
    let mut dropped = Vec::new();
    if let Some(properties) = collection["schema"]["properties"].as_array_mut() {
        properties.retain(|property| {
            let leads_on =
                property["targetCollectionId"].as_str().is_none_or(|target| !gone.contains(target));
            if !leads_on {
                dropped.push(property["key"].clone());
            }
            leads_on
        });
    }
    for item in collection["items"].as_array_mut().into_iter().flatten() {
        let Some(values) = item.get_mut("properties").and_then(Value::as_object_mut) else {
            continue;
        };
        values.retain(|key, _| !dropped.contains(&Value::from(key.as_str())));
        for value in values.values_mut() {
            if let Some(related) = value.get_mut("relations").and_then(Value::as_array_mut) {
                related
                    .retain(|item| item["blockId"].as_str().is_some_and(|id| !gone.contains(id)));
                for item in related.iter_mut() {
                    item.as_object_mut().unwrap().remove("title");
                }
            }
        }
        values.retain(|_, value| {
            value["relations"].as_array().is_none_or(|related| !related.is_empty())
        });
        if values.is_empty() {
            item.as_object_mut().unwrap().remove("properties");
        }
    }
}
