//! The rest of a space, as a full connection shows it: what scoped calls must leave as it is.

use std::collections::BTreeSet;

use leafbase::{
    Block, BlockId, BlockType, Connection, Content, Document, DocumentId, Fetch, Folder, Items,
    ListDocuments, ListTasks, Location, Schema, Task, TaskScope, Timestamp,
};
use serde::Serialize;
use serde_json::Value;

/// All documents but some, folders, and tasks of the inbox. Compared as it is, which takes less
/// time than as JSON.
#[derive(PartialEq, Serialize)]
pub struct Rest {
    documents: Vec<RestDocument>,
    folders: Items<Folder>,
    inbox: Vec<Task>,
}

#[derive(PartialEq, Serialize)]
struct RestDocument {
    document: Document,
    tree: Block,
    collections: Vec<RestCollection>,
}

#[derive(PartialEq, Serialize)]
struct RestCollection {
    id: BlockId,
    schema: Schema,
    items: Vec<Block>,
}

/// All documents but these as long as they are seen, with their collections, and without those of
/// these that are pages; folders, and tasks of the inbox.
pub fn of_the_rest(notes: &Connection, scope: &[DocumentId]) -> Rest {
    let documents = notes.list_documents(ListDocuments::new().with_metadata()).unwrap().items;
    let hidden = documents.into_iter().filter(|document| {
        !scope.contains(&document.id()) || document.record.location == Location::Trash
    });
    Rest {
        documents: hidden.map(|document| document_of(notes, document, scope)).collect(),
        folders: notes.folders().unwrap(),
        inbox: notes.tasks(ListTasks::new(TaskScope::Inbox)).unwrap().items,
    }
}

fn document_of(notes: &Connection, mut document: Document, scope: &[DocumentId]) -> RestDocument {
    let mut tree = notes.fetch(Fetch::new(document.id()).with_metadata()).unwrap();
    let is_trashed = document.record.location == Location::Trash;
    if !is_trashed && prune(&mut tree, scope) {
        // What is written in a page changes its document.
        document.record.rev = 0;
        document.record.modified_at = Timestamp::from_millis(0);
    }
    let blocks = tree.walk().map(|(_, block)| block);
    let collections = blocks.filter(|block| block.data.block_type() == BlockType::Collection);
    let collections = collections.map(|block| collection(notes, block.id)).collect();
    RestDocument { document, tree, collections }
}

/// Takes the pages out of a tree. Whether there were any.
fn prune(tree: &mut Block, pages: &[DocumentId]) -> bool {
    let Content::Blocks(content) = &mut tree.content else { return false };
    let before = content.len();
    content.retain(|block| !pages.contains(&DocumentId::of_root(block.id)));
    let mut has_pages = content.len() < before;
    for block in content {
        has_pages |= prune(block, pages);
    }
    has_pages
}

fn collection(notes: &Connection, id: BlockId) -> RestCollection {
    let item_ids: Vec<_> = notes.items(id).unwrap().items.iter().map(|item| item.id).collect();
    let fetched = |item: BlockId| notes.fetch(Fetch::new(item).with_metadata()).unwrap();
    RestCollection {
        id,
        schema: notes.schema(id).unwrap(),
        items: item_ids.into_iter().map(fetched).collect(),
    }
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
