//! Calls of a scoped connection as a host passes them on: an operation, its body, and what came of
//! it, to the byte.

use std::fmt::Debug;
use std::io::Read;

use leafbase::json::FromJson;
use leafbase::{
    AssetId, BackLinks, BlockId, Connection, DocumentId, Error, Limits, ReplaceText, ResolveBlocks,
    ResolveEmbeds, Scoped, UnlinkedMentions, json,
};
use serde::Serialize;
use serde_json::Value;

/// Every operation of a scoped connection.
pub const OPERATIONS: [&str; 52] = [
    "documents",
    "document",
    "update_documents",
    "document_properties",
    "list_tags",
    "document_of",
    "resolve",
    "back_links",
    "unlinked_mentions",
    "resolve_embeds",
    "find_documents",
    "run_batch",
    "fetch",
    "fetch_markdown",
    "content_markdown",
    "insert",
    "update",
    "delete",
    "move",
    "split",
    "merge",
    "indent",
    "duplicate",
    "shift",
    "sort",
    "replace",
    "apply",
    "edit",
    "undo",
    "comment",
    "list_comments",
    "update_comments",
    "delete_comments",
    "upload",
    "file",
    "open_file",
    "collections",
    "create_collection",
    "schema",
    "replace_schema",
    "items",
    "add_items",
    "update_items",
    "delete_items",
    "query",
    "count",
    "search",
    "search_blocks",
    "info",
    "author",
    "changes",
    "last_sequence",
];

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub operation: &'static str,
    pub body: Value,
}

impl Call {
    pub fn new(operation: &'static str, body: Value) -> Self {
        Self { operation, body }
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The JSON of a reply, or of an error.
    pub json: String,
    /// What a program that is linked to the library can look into.
    pub debug: String,
    pub is_ok: bool,
}

impl Reply {
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.json).unwrap()
    }
}

type Outcome = Result<(String, String), Error>;

fn told<T: Serialize + Debug>(reply: T) -> Outcome {
    Ok((serde_json::to_string(&reply).unwrap(), format!("{reply:?}")))
}

fn read<T: FromJson>(call: &Call, limits: &Limits) -> Result<T, Error> {
    json::from_str(&call.body.to_string(), limits)
}

/// The ID in a path of a host, where malformed ones are like unknown ones.
fn id(call: &Call) -> BlockId {
    call.body["id"].as_str().and_then(|id| id.parse().ok()).unwrap_or_default()
}

pub fn answer(notes: &Connection<Scoped>, call: &Call, limits: &Limits) -> Reply {
    let reply = outcome(notes, call, limits);
    let is_ok = reply.is_ok();
    let (json, debug) = reply.unwrap_or_else(|error| {
        (serde_json::to_string(&error).unwrap(), format!("{error:?} {error}"))
    });
    Reply { json, debug, is_ok }
}

fn outcome(notes: &Connection<Scoped>, call: &Call, limits: &Limits) -> Outcome {
    match call.operation {
        "documents" => told(notes.list_documents(read(call, limits)?)?),
        "document" => told(notes.document(DocumentId::of_root(id(call)))?),
        "document_properties" => told(notes.document_properties(DocumentId::of_root(id(call)))?),
        "list_tags" => told(notes.list_tags(read(call, limits)?)?),
        "update_documents" => told(notes.update_documents(read(call, limits)?)?),
        "document_of" => told(notes.document_of(id(call))?),
        "resolve" => told(notes.resolve(read::<ResolveBlocks>(call, limits)?)?),
        "back_links" => told(notes.back_links(read::<BackLinks>(call, limits)?)?),
        "unlinked_mentions" => {
            told(notes.unlinked_mentions(read::<UnlinkedMentions>(call, limits)?)?)
        }
        "resolve_embeds" => told(notes.resolve_embeds(read::<ResolveEmbeds>(call, limits)?)?),
        "find_documents" => told(notes.find_documents(read(call, limits)?)?),
        "run_batch" => told(notes.run_batch(read(call, limits)?)?),
        "fetch" => told(notes.fetch(read(call, limits)?)?),
        "fetch_markdown" => told(notes.fetch_markdown(read(call, limits)?)?),
        "content_markdown" => told(notes.content_markdown(id(call))?),
        "insert" => told(notes.insert_blocks(read(call, limits)?)?),
        "update" => told(notes.update_blocks(read(call, limits)?)?),
        "delete" => told(notes.delete_blocks(read(call, limits)?)?),
        "move" => told(notes.move_blocks(read(call, limits)?)?),
        "split" => told(notes.split_block(read(call, limits)?)?),
        "merge" => told(notes.merge_block(read(call, limits)?)?),
        "indent" => told(notes.indent_blocks(read(call, limits)?)?),
        "duplicate" => told(notes.duplicate_blocks(read(call, limits)?)?),
        "shift" => told(notes.shift_blocks(read(call, limits)?)?),
        "sort" => told(notes.sort_blocks(read(call, limits)?)?),
        "replace" => told(notes.replace_text(read::<ReplaceText>(call, limits)?)?),
        "apply" => told(notes.apply_markdown(read(call, limits)?)?),
        "edit" => told(notes.edit_markdown(read(call, limits)?)?),
        "undo" => told(notes.undo(read::<leafbase::UndoChanges>(call, limits)?)?),
        "comment" => told(notes.add_comments(read(call, limits)?)?),
        "list_comments" => told(notes.list_comments(read(call, limits)?)?),
        "update_comments" => told(notes.update_comments(read(call, limits)?)?),
        "delete_comments" => told(notes.delete_comments(read(call, limits)?)?),
        "upload" => told(notes.upload_file(read(call, limits)?, &b"a text"[..])?),
        "file" => {
            let record = notes.file(AssetId::from_bytes(id(call).to_bytes()))?;
            told(format!("{record:?}"))
        }
        "open_file" => {
            let mut text = String::new();
            match notes
                .open_file(AssetId::from_bytes(id(call).to_bytes()))?
                .read_to_string(&mut text)
            {
                Ok(_) => told(text),
                Err(error) => told(format!("{error} {error:?}")),
            }
        }
        "changes" => {
            let after = call.body["after"].as_u64().unwrap_or_default();
            told(notes.changes_since(after).collect::<Result<Vec<_>, _>>()?)
        }
        "last_sequence" => told(notes.last_sequence()?),
        "info" => told(notes.info()?),
        "author" => told(notes.author().as_str()),
        _ => of_collections(notes, call, limits),
    }
}

fn of_collections(notes: &Connection<Scoped>, call: &Call, limits: &Limits) -> Outcome {
    match call.operation {
        "collections" => told(notes.list_collections(read(call, limits)?)?),
        "create_collection" => told(notes.create_collection(read(call, limits)?)?),
        "schema" => told(notes.collection_schema(read(call, limits)?)?),
        "replace_schema" => told(notes.replace_schema(read(call, limits)?)?),
        "items" => told(notes.items(read::<leafbase::GetItems>(call, limits)?)?),
        "add_items" => told(notes.add_items(read(call, limits)?)?),
        "update_items" => told(notes.update_items(read(call, limits)?)?),
        "delete_items" => told(notes.delete_items(read(call, limits)?)?),
        "query" => told(notes.query_items(read(call, limits)?)?),
        "count" => told(notes.count_items(read(call, limits)?)?),
        "search" => told(notes.search(read::<leafbase::SearchDocuments>(call, limits)?)?),
        "search_blocks" => told(notes.search_blocks(read(call, limits)?)?),
        other => panic!("no operation {other}"),
    }
}
