//! Every operation of a full connection that reads JSON: the text of a request in, that of the
//! reply out.

use leafbase::json::FromJson;
use leafbase::{Connection, Error};

/// Their names.
pub const OPERATIONS: [&str; 35] = [
    "fetch",
    "fetch_markdown",
    "content_markdown",
    "insert_blocks",
    "update_blocks",
    "delete_blocks",
    "move_blocks",
    "add_comments",
    "search",
    "search_blocks",
    "list_collections",
    "create_collection",
    "collection_schema",
    "replace_schema",
    "items",
    "add_items",
    "update_items",
    "delete_items",
    "query_items",
    "count_items",
    "tasks",
    "add_tasks",
    "update_tasks",
    "delete_tasks",
    "list_documents",
    "create_documents",
    "create_from_template",
    "delete_documents",
    "move_documents",
    "restore_daily_notes",
    "purge_documents",
    "create_folders",
    "move_folders",
    "delete_folders",
    "upload_file",
];

fn told<T: serde::Serialize>(reply: T) -> Result<String, Error> {
    Ok(serde_json::to_string(&reply).unwrap())
}

pub fn ask(notes: &Connection, operation: &str, body: &str) -> Result<String, Error> {
    fn read<T: FromJson>(notes: &Connection, body: &str) -> Result<T, Error> {
        notes.space().read_json(body)
    }
    match operation {
        "fetch" => told(notes.fetch(read(notes, body)?)?),
        "fetch_markdown" => told(notes.fetch_markdown(read(notes, body)?)?),
        "content_markdown" => {
            told(notes.content_markdown(read::<leafbase::GetMarkdown>(notes, body)?)?)
        }
        "insert_blocks" => told(notes.insert_blocks(read(notes, body)?)?),
        "update_blocks" => told(notes.update_blocks(read(notes, body)?)?),
        "delete_blocks" => told(notes.delete_blocks(read(notes, body)?)?),
        "move_blocks" => told(notes.move_blocks(read(notes, body)?)?),
        "add_comments" => told(notes.add_comments(read(notes, body)?)?),
        "search" => told(notes.search(read::<leafbase::SearchDocuments>(notes, body)?)?),
        "search_blocks" => told(notes.search_blocks(read(notes, body)?)?),
        "list_collections" => told(notes.list_collections(read(notes, body)?)?),
        "create_collection" => told(notes.create_collection(read(notes, body)?)?),
        "collection_schema" => told(notes.collection_schema(read(notes, body)?)?),
        "replace_schema" => told(notes.replace_schema(read(notes, body)?)?),
        "items" => told(notes.items(read::<leafbase::GetItems>(notes, body)?)?),
        "add_items" => told(notes.add_items(read(notes, body)?)?),
        "update_items" => told(notes.update_items(read(notes, body)?)?),
        "delete_items" => told(notes.delete_items(read(notes, body)?)?),
        "query_items" => told(notes.query_items(read(notes, body)?)?),
        "count_items" => told(notes.count_items(read(notes, body)?)?),
        "tasks" => told(notes.tasks(read::<leafbase::ListTasks>(notes, body)?)?),
        "add_tasks" => told(notes.add_tasks(read(notes, body)?)?),
        "update_tasks" => told(notes.update_tasks(read::<leafbase::UpdateTasks>(notes, body)?)?),
        "delete_tasks" => told(notes.delete_tasks(read::<leafbase::DeleteTasks>(notes, body)?)?),
        other => ask_of_documents(notes, other, body),
    }
}

fn ask_of_documents(notes: &Connection, operation: &str, body: &str) -> Result<String, Error> {
    let space = notes.space();
    match operation {
        "list_documents" => told(notes.list_documents(space.read_json(body)?)?),
        "create_documents" => told(notes.create_documents(space.read_json(body)?)?),
        "create_from_template" => told(notes.create_from_template(space.read_json(body)?)?),
        "delete_documents" => {
            told(notes.delete_documents(space.read_json::<leafbase::DeleteDocuments>(body)?)?)
        }
        "move_documents" => told(notes.move_documents(space.read_json(body)?)?),
        "restore_daily_notes" => told(notes.restore_daily_notes(space.read_json(body)?)?),
        "purge_documents" => told(notes.purge_documents(space.read_json(body)?)?),
        "create_folders" => told(notes.create_folders(space.read_json(body)?)?),
        "move_folders" => told(notes.move_folders(space.read_json(body)?)?),
        "delete_folders" => told(notes.delete_folders(space.read_json(body)?)?),
        "upload_file" => told(notes.upload_file(space.read_json(body)?, &b"bytes"[..])?),
        other => panic!("no operation {other}"),
    }
}
