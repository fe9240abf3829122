//! Offers a space to an agent over standard input and output: JSON-RPC 2.0, a message a line, with
//! the methods of the Model Context Protocol for tools. Requests go straight through serde, and so
//! do replies and errors; the JSON Schemas come from the feature `schemars`.
//!
//! `cargo run --example tool_server --features schemars -- notes.leafbase`; the space is made if it
//! does not exist, and is in memory without a path. `tool_server/session.jsonl` is a session to
//! pipe in.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example stays short"
)]

use std::io::{self, BufRead, Write};
use std::path::Path;

use leafbase::{
    AddComments, AddTasks, Connection, CreateDocuments, DeleteBlocks, Error, Fetch, InsertBlocks,
    ListDocuments, ListTasks, MoveBlocks, SearchBlocks, SearchDocuments, Space, UpdateBlocks,
    UpdateTasks,
};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// An operation as a tool.
struct Tool {
    name: &'static str,
    about: &'static str,
    schema: fn() -> Value,
    call: fn(&Space, &Connection, &str) -> Result<Value, Error>,
}

fn schema_of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}

macro_rules! tools {
    ($($method:ident($request:ty): $about:literal;)*) => {
        &[$(Tool {
            name: stringify!($method),
            about: $about,
            schema: schema_of::<$request>,
            call: |space, notes, arguments| {
                let reply = notes.$method(space.read_json::<$request>(arguments)?)?;
                serde_json::to_value(reply).map_err(|error| Error::validation(error.to_string()))
            },
        }),*]
    };
}

const TOOLS: &[Tool] = tools! {
    fetch(Fetch): "Reads a block with its descendants";
    insert_blocks(InsertBlocks): "Puts new blocks at a position";
    update_blocks(UpdateBlocks): "Changes blocks";
    move_blocks(MoveBlocks): "Moves blocks";
    delete_blocks(DeleteBlocks): "Deletes blocks with all below them";
    create_documents(CreateDocuments): "Makes documents";
    list_documents(ListDocuments): "Lists documents";
    search(SearchDocuments): "Finds documents by words and patterns";
    search_blocks(SearchBlocks): "Finds blocks of one document by patterns";
    tasks(ListTasks): "Lists tasks";
    add_tasks(AddTasks): "Makes tasks";
    update_tasks(UpdateTasks): "Changes tasks";
    add_comments(AddComments): "Adds comments to blocks";
};

fn described(tool: &Tool) -> Value {
    json!({ "name": tool.name, "description": tool.about, "inputSchema": (tool.schema)() })
}

/// The result of a tool call; an error of an operation is a result for the agent to read, not a
/// failure of the server.
fn call(space: &Space, notes: &Connection, params: &Value) -> Result<Value, Value> {
    let name = params["name"].as_str().unwrap_or_default();
    let tool = TOOLS.iter().find(|tool| tool.name == name);
    let tool = tool.ok_or_else(
        || json!({ "code": -32602, "message": format!("there is no tool {name:?}") }),
    )?;
    let arguments = params.get("arguments").unwrap_or(&json!({})).to_string();
    let (reply, is_error) = match (tool.call)(space, notes, &arguments) {
        Ok(reply) => (reply, false),
        Err(error) => (json!(error), true),
    };
    Ok(
        json!({ "content": [{ "type": "text", "text": reply.to_string() }], "structuredContent": reply, "isError": is_error }),
    )
}

fn answer(space: &Space, notes: &Connection, message: &Value) -> Option<Value> {
    let id = message.get("id")?; // without one it is a notification
    let outcome = match message["method"].as_str().unwrap_or_default() {
        "initialize" => Ok(json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "leafbase", "version": env!("CARGO_PKG_VERSION") },
        })),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": TOOLS.iter().map(described).collect::<Vec<_>>() })),
        "tools/call" => call(space, notes, &message["params"]),
        other => Err(json!({ "code": -32601, "message": format!("there is no method {other:?}") })),
    };
    Some(match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let space = match std::env::args_os().nth(1) {
        Some(path) if Path::new(&path).exists() => Space::open(path)?,
        Some(path) => Space::create(path)?,
        None => Space::in_memory()?,
    };
    let notes = space.connect().acting_as("agent");
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let reply = match serde_json::from_str::<Value>(&line?) {
            Ok(message) => answer(&space, &notes, &message),
            Err(error) => Some(
                json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": error.to_string() } }),
            ),
        };
        if let Some(reply) = reply {
            writeln!(out, "{reply}")?;
            out.flush()?;
        }
    }
    Ok(space.close()?)
}
