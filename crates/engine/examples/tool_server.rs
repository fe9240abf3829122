//! Offers a space to an agent over standard input and output, by the Model Context Protocol (crate
//! `rmcp`), with three tools: agents do better with few. `read` does any operation that reads,
//! `write` a batch of operations that write, all or none, and `search` finds documents. Requests
//! and replies go straight through as JSON, and so do errors, which name the place.
//!
//! `cargo run --example tool_server --features schemars -- notes.leafbase`; the space is made if it
//! does not exist, and is in memory without a path. `tool_server/session.jsonl` is a session to
//! pipe in.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "an example stays short")]

use std::path::Path;
use std::sync::Arc;

use leafbase::json::FromJson;
use leafbase::{
    BackLinks, Batch, Connection, CountItems, Error, Fetch, FindDocuments, GetItems, GetMarkdown,
    GetSchema, ListCollections, ListComments, ListDocuments, ListTags, ListTasks, QueryItems,
    ResolveBlocks, ResolveEmbeds, SearchBlocks, SearchDocuments, Space, ToolSchemas,
    UnlinkedMentions, tool_schemas,
};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};

#[derive(Clone)]
struct Agent {
    notes: Connection,
    schemas: Arc<ToolSchemas>,
}

/// Does the operation that a request names: a line for each.
macro_rules! reads {
    ($($method:ident($request:ty)),+ $(,)?) => {
        const READS: &[&str] = &[$(stringify!($method)),+];

        fn read(notes: &Connection, operation: &str, request: Value) -> Result<Value, Error> {
            match operation {
                $(stringify!($method) => {
                    Ok(json!(notes.$method(<$request>::from_json(request)?)?))
                })+
                _ => Err(Error::validation(format!("there is no {operation:?}")).at("operation")),
            }
        }
    };
}

reads! {
    fetch(Fetch),
    fetch_markdown(Fetch),
    content_markdown(GetMarkdown),
    resolve(ResolveBlocks),
    back_links(BackLinks),
    unlinked_mentions(UnlinkedMentions),
    resolve_embeds(ResolveEmbeds),
    find_documents(FindDocuments),
    list_tags(ListTags),
    list_documents(ListDocuments),
    search_blocks(SearchBlocks),
    tasks(ListTasks),
    list_collections(ListCollections),
    collection_schema(GetSchema),
    items(GetItems),
    query_items(QueryItems),
    count_items(CountItems),
    list_comments(ListComments),
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// The schemas of operations, with those that have no request of their own.
fn schemas() -> ToolSchemas {
    let mut schemas = tool_schemas();
    let mut added = [schemas.tools[0].clone(), schemas.tools[0].clone()];
    assert_eq!(added[0].name, "fetch");
    added[0].name = "fetch_markdown";
    added[1].name = "folders";
    added[0].schema["description"] = json!("As fetch; the reply is one text of markdown.");
    added[1].schema = json!({ "type": "object", "additionalProperties": false,
        "description": "All folders, with their folders and how many documents are in each." });
    schemas.tools.extend(added);
    schemas
}

impl Agent {
    fn call(&self, tool: &str, mut arguments: Map<String, Value>) -> Result<Value, Error> {
        match tool {
            "read" => {
                let operation = arguments.remove("operation").unwrap_or_default();
                match operation.as_str().unwrap_or_default() {
                    "describe" => {
                        let of = arguments.remove("of").unwrap_or_default();
                        Nothing::from_json(Value::Object(arguments))?;
                        let schema = self.schemas.standalone(of.as_str().unwrap_or_default());
                        schema
                            .ok_or_else(|| Error::validation("there is no such operation").at("of"))
                    }
                    "folders" => {
                        Nothing::from_json(Value::Object(arguments))?;
                        Ok(json!(self.notes.folders()?))
                    }
                    operation => read(&self.notes, operation, Value::Object(arguments)),
                }
            }
            "write" => {
                let batch = Batch::from_json(Value::Object(arguments))?;
                Ok(json!(self.notes.run_batch(batch)?))
            }
            "search" => {
                let request = SearchDocuments::from_json(Value::Object(arguments))?;
                Ok(json!(self.notes.search(request)?))
            }
            _ => Err(Error::validation(format!("there is no tool {tool:?}"))),
        }
    }

    fn tools(&self) -> Vec<Tool> {
        let object = |schema: Value| Arc::new(schema.as_object().unwrap().clone());
        let schema = |name| object(self.schemas.standalone(name).unwrap());
        let names = [READS, &["folders", "describe"]].concat();
        let read = json!({
            "type": "object",
            "properties": {
                "operation": { "type": "string", "enum": names },
                "of": { "type": "string", "description": "With describe: the operation." },
            },
            "required": ["operation"],
        });
        // What a batch does not do is left out.
        let others =
            ["upload_file", "purge_documents", "put_embeddings", "remove_embeddings", "run_batch"];
        let writes = self.schemas.tools.iter().filter(|tool| tool.is_write).map(|tool| tool.name);
        let writes: Vec<&str> = writes.filter(|name| !others.contains(name)).collect();
        let about = format!(
            "Does operations that write in one transaction, all or none: {}. The fields of each stand \
             beside its name; read describes them. \"$0.id\" is the id in the reply to operation 0.",
            writes.join(", "),
        );
        let about_read = "Does one operation that reads; its fields stand beside its name. \
            {\"operation\": \"describe\", \"of\": \"fetch\"} returns the schema of any operation.";
        let about_search = "Finds documents by words or patterns, the most relevant first.";
        let read_only = || ToolAnnotations::new().read_only(true);
        vec![
            Tool::new("read", about_read, object(read)).with_annotations(read_only()),
            Tool::new("write", about, schema("run_batch")),
            Tool::new("search", about_search, schema("search")).with_annotations(read_only()),
        ]
    }
}

impl ServerHandler for Agent {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("leafbase", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // Calls block, and nothing else waits in this process.
        let result = match self.call(&request.name, request.arguments.unwrap_or_default()) {
            Ok(reply) => CallToolResult::structured(reply),
            // An error of an operation is for the agent to read, not a failure of the server.
            Err(error) => CallToolResult::error(vec![ContentBlock::text(json!(error).to_string())]),
        };
        Ok(result.into())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let space = match std::env::args_os().nth(1) {
        Some(path) if Path::new(&path).exists() => Space::open(path)?,
        Some(path) => Space::create(path)?,
        None => Space::in_memory()?,
    };
    let agent = Agent { notes: space.connect().acting_as("agent"), schemas: Arc::new(schemas()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let service = runtime.block_on(agent.serve(rmcp::transport::stdio()))?;
    runtime.block_on(service.waiting())?;
    Ok(space.close()?)
}
