//! The operations as tools: names, descriptions and JSON Schemas of their requests (feature
//! `schemars`).

use std::collections::BTreeSet;

use leafbase_model::{
    AddComments, AddItems, AddTasks, ApplyMarkdown, BackLinks, Batch, CountItems, CreateCollection,
    CreateDocuments, CreateFolders, CreateFromTemplate, DeleteBlocks, DeleteComments,
    DeleteDocuments, DeleteFolders, DeleteItems, DeleteTasks, DuplicateBlocks, EditMarkdown, Fetch,
    FindDocuments, GetEmbeddings, GetItems, GetMarkdown, GetSchema, IndentBlocks, InsertBlocks,
    ListCollections, ListComments, ListDocuments, ListScopedDocuments, ListTags, ListTasks,
    MergeBlock, MissingEmbeddings, MoveBlocks, MoveDocuments, MoveFolders, PurgeDocuments,
    PutEmbeddings, QueryItems, RemoveEmbeddings, ReplaceSchema, ReplaceText, ResolveBlocks,
    ResolveEmbeds, RestoreDailyNotes, SearchBlocks, SearchDocuments, ShiftBlocks, SortBlocks,
    SplitBlock, UndoChanges, UnlinkedMentions, UpdateBlocks, UpdateComments, UpdateDocuments,
    UpdateFolders, UpdateItems, UpdateScopedDocuments, UpdateTasks, UploadFile,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// The operations of a connection as tools, with the definitions that their schemas share.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolSchemas {
    /// The operations.
    pub tools: Vec<ToolSchema>,
    /// The schemas that those of the operations refer to as `#/$defs/NAME`.
    pub definitions: Map<String, Value>,
}

/// An operation as a tool: what a server for agents lists.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolSchema {
    /// The name of the operation: that of the method of [`Connection`](crate::Connection), and, if
    /// batches have it, of an operation of a [`Batch`].
    pub name: &'static str,
    /// What it does, in one sentence.
    pub description: &'static str,
    /// Whether it writes.
    pub is_write: bool,
    /// The JSON Schema (2020-12) of its request, which refers to [`ToolSchemas::definitions`]: an
    /// object without `oneOf`, `anyOf`, `allOf` and `$ref` at its root, as tool interfaces want it.
    pub schema: Value,
}

impl ToolSchemas {
    /// The schema of an operation with the definitions that it needs, for a list whose entries
    /// stand alone. `None` if there is no operation of this name.
    pub fn standalone(&self, name: &str) -> Option<Value> {
        let mut schema = self.tools.iter().find(|tool| tool.name == name)?.schema.clone();
        let mut needed = Map::new();
        let mut waiting = names_in(&schema);
        while let Some(name) = waiting.pop() {
            if let Some(definition) = self.definitions.get(&name)
                && !needed.contains_key(&name)
            {
                waiting.extend(names_in(definition));
                needed.insert(name, definition.clone());
            }
        }
        if let (Some(root), false) = (schema.as_object_mut(), needed.is_empty()) {
            root.insert("$defs".to_owned(), Value::Object(needed));
        }
        Some(schema)
    }
}

/// The names of the definitions that a schema refers to.
fn names_in(schema: &Value) -> Vec<String> {
    let (mut names, mut waiting) = (Vec::new(), vec![schema]);
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(fields) => {
                let name = fields.get("$ref").and_then(Value::as_str);
                names
                    .extend(name.and_then(|name| name.strip_prefix("#/$defs/")).map(str::to_owned));
                waiting.extend(fields.values());
            }
            Value::Array(values) => waiting.extend(values),
            _ => {}
        }
    }
    names
}

/// The types of the requests, by operation.
macro_rules! tools {
    ($generator:ident; $($name:ident($request:ty), $is_write:literal, $description:literal;)+) => {
        vec![$(ToolSchema {
            name: stringify!($name),
            description: $description,
            is_write: $is_write,
            schema: root(<$request>::json_schema(&mut $generator).to_value()),
        }),+]
    };
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

/// The schema of a request. Its description is that of the tool.
fn root(mut schema: Value) -> Value {
    if let Some(root) = schema.as_object_mut() {
        root.remove("title");
        root.remove("description");
    }
    compact(schema)
}

/// A part of the pattern of IDs.
const ID_PATTERN: &str = "{25}";

/// The schema in few bytes: descriptions are one paragraph without examples, and what may be null
/// is a list of types where it can be.
fn compact(mut schema: Value) -> Value {
    let mut waiting = vec![&mut schema];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(fields) => {
                shorten(fields);
                waiting.extend(fields.values_mut());
            }
            Value::Array(values) => waiting.extend(values),
            _ => {}
        }
    }
    schema
}

fn shorten(fields: &mut Map<String, Value>) {
    // Numbers say their bounds.
    if fields.get("format").is_some_and(Value::is_string) {
        fields.remove("format");
    }
    // A malformed ID is read like one that does not exist.
    let pattern = fields.get("pattern").and_then(Value::as_str);
    if pattern.is_some_and(|pattern| pattern.contains(ID_PATTERN)) {
        fields.remove("pattern");
    }
    if let Some(Value::String(text)) = fields.get_mut("description") {
        let paragraph = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
        let sentence = paragraph.split(" As JSON").next().unwrap_or_default();
        sentence.clone_into(text);
    }
    let null = json!({ "type": "null" });
    let Some([form, last]) = fields.get("anyOf").and_then(Value::as_array).map(Vec::as_slice)
    else {
        return;
    };
    if *last != null {
        return;
    }
    let Some(form) = form.as_object() else { return };
    let mut form = form.clone();
    let types = match form.get("type") {
        Some(Value::String(one)) if one == "null" => json!("null"),
        Some(Value::String(one)) => json!([one, "null"]),
        None if form.is_empty() => {
            fields.remove("anyOf");
            return;
        }
        _ => return,
    };
    if let Some(Value::Array(values)) = form.get_mut("enum") {
        values.push(Value::Null);
    }
    form.insert("type".to_owned(), types);
    fields.remove("anyOf");
    for (name, value) in form {
        fields.entry(name).or_insert(value);
    }
}

/// The operations of a full connection. Those of a scoped one are the ones that are not on folders,
/// tasks, templates, the trash and whole documents; [`scoped_tool_schemas`] lists them.
///
/// The schemas accept every request that [`Space::read_json`](crate::Space::read_json) accepts.
/// They accept more: exclusive fields together, days and ULIDs that do not exist, fields that a
/// block of the type does not have, texts and lists beyond the limits, patterns and markdown that
/// cannot be read. Reading and the operation refuse these, with a path.
///
/// ```
/// let schemas = leafbase::tool_schemas();
/// let fetch = schemas.standalone("fetch").unwrap();
/// assert_eq!(fetch["type"], "object");
/// assert!(fetch["properties"]["maxDepth"].is_object() && fetch["$defs"]["DayRef"].is_object());
/// ```
pub fn tool_schemas() -> ToolSchemas {
    let mut generator = generator();
    let tools = tools! {
        generator;
        fetch(Fetch), false, "Reads a block, a document or a daily note with all below it.";
        content_markdown(GetMarkdown), false, "Reads the content of a page as markdown to edit.";
        insert_blocks(InsertBlocks), true, "Inserts blocks or markdown at a position.";
        update_blocks(UpdateBlocks), true, "Changes fields of blocks.";
        delete_blocks(DeleteBlocks), true, "Deletes blocks with all below them.";
        move_blocks(MoveBlocks), true, "Moves blocks with all below them.";
        split_block(SplitBlock), true, "Splits a text at an offset in its plain text.";
        merge_block(MergeBlock), true, "Appends a text to the text before it.";
        indent_blocks(IndentBlocks), true, "Indents or outdents a range of siblings.";
        duplicate_blocks(DuplicateBlocks), true, "Copies a range of siblings behind it.";
        shift_blocks(ShiftBlocks), true, "Moves a range of siblings up or down by one.";
        sort_blocks(SortBlocks), true, "Sorts the children of a page.";
        replace_text(ReplaceText), true, "Replaces text in blocks, documents or everywhere.";
        apply_markdown(ApplyMarkdown), true, "Makes a page say what an edited markdown text says.";
        edit_markdown(EditMarkdown), true, "Edits the markdown of a page at exact texts.";
        search(SearchDocuments), false, "Finds documents by words or patterns, ranked.";
        search_blocks(SearchBlocks), false, "Finds blocks that match a pattern.";
        put_embeddings(PutEmbeddings), true, "Stores vectors of blocks and documents.";
        missing_embeddings(MissingEmbeddings), false, "Lists what has no vector of a model.";
        embeddings(GetEmbeddings), false, "Reads vectors of a model.";
        remove_embeddings(RemoveEmbeddings), true, "Removes vectors of a model.";
        resolve(ResolveBlocks), false, "Tells in which document and under which pages blocks are.";
        back_links(BackLinks), false, "Lists the links to a block, a page or a document.";
        unlinked_mentions(UnlinkedMentions), false, "Lists blocks that say a title without a link.";
        resolve_embeds(ResolveEmbeds), false, "Reads what blocks embed, to any depth.";
        find_documents(FindDocuments), false, "Finds documents by title, path, day or alias.";
        list_tags(ListTags), false, "Lists tags with the number of their documents.";
        list_documents(ListDocuments), false, "Lists documents.";
        create_documents(CreateDocuments), true, "Creates documents.";
        create_from_template(CreateFromTemplate), true, "Copies a template to a new document.";
        update_documents(UpdateDocuments), true, "Changes titles and locations of documents.";
        move_documents(MoveDocuments), true, "Moves documents, also out of the trash.";
        delete_documents(DeleteDocuments), true, "Moves documents to the trash.";
        restore_daily_notes(RestoreDailyNotes), true, "Restores daily notes from the trash.";
        purge_documents(PurgeDocuments), true, "Erases documents of the trash for good.";
        create_folders(CreateFolders), true, "Creates folders.";
        move_folders(MoveFolders), true, "Moves folders.";
        update_folders(UpdateFolders), true, "Renames and moves folders.";
        delete_folders(DeleteFolders), true, "Deletes folders, whose content moves up.";
        tasks(ListTasks), false, "Lists tasks.";
        add_tasks(AddTasks), true, "Adds tasks to the inbox, a daily note or a document.";
        update_tasks(UpdateTasks), true, "Changes, completes and moves tasks.";
        delete_tasks(DeleteTasks), true, "Deletes tasks.";
        list_collections(ListCollections), false, "Lists collections.";
        create_collection(CreateCollection), true, "Creates a collection with a schema.";
        collection_schema(GetSchema), false, "Reads the schema of a collection.";
        replace_schema(ReplaceSchema), true, "Replaces the schema of a collection.";
        items(GetItems), false, "Lists the items of a collection.";
        query_items(QueryItems), false, "Lists the items that match a filter, sorted.";
        count_items(CountItems), false, "Counts the items that match a filter.";
        add_items(AddItems), true, "Adds items to a collection.";
        update_items(UpdateItems), true, "Changes items.";
        delete_items(DeleteItems), true, "Deletes items.";
        list_comments(ListComments), false, "Lists comments.";
        add_comments(AddComments), true, "Adds comments to blocks.";
        update_comments(UpdateComments), true, "Edits, resolves and reopens comments.";
        delete_comments(DeleteComments), true, "Deletes comments.";
        upload_file(UploadFile), true, "Says where uploaded bytes are shown; they come beside it.";
        undo(UndoChanges), true, "Undoes changes by their sequence numbers, as one.";
        run_batch(Batch), true, "Does several operations, all or none.";
    };
    with_definitions(tools, generator)
}

fn with_definitions(tools: Vec<ToolSchema>, mut generator: SchemaGenerator) -> ToolSchemas {
    let definitions = generator.take_definitions(true).into_iter();
    ToolSchemas {
        tools,
        definitions: definitions.map(|(name, schema)| (name, compact(schema))).collect(),
    }
}

/// The operations that full and scoped connections share, requests included.
const SHARED: [&str; 40] = [
    "fetch",
    "content_markdown",
    "insert_blocks",
    "update_blocks",
    "delete_blocks",
    "move_blocks",
    "split_block",
    "merge_block",
    "indent_blocks",
    "duplicate_blocks",
    "shift_blocks",
    "sort_blocks",
    "replace_text",
    "apply_markdown",
    "edit_markdown",
    "search",
    "search_blocks",
    "resolve",
    "back_links",
    "unlinked_mentions",
    "resolve_embeds",
    "find_documents",
    "list_tags",
    "list_collections",
    "create_collection",
    "collection_schema",
    "replace_schema",
    "items",
    "query_items",
    "count_items",
    "add_items",
    "update_items",
    "delete_items",
    "list_comments",
    "add_comments",
    "update_comments",
    "delete_comments",
    "upload_file",
    "undo",
    "run_batch",
];

/// The operations of a scoped connection, as [`tool_schemas`].
///
/// ```
/// let schemas = leafbase::scoped_tool_schemas();
/// assert!(schemas.tools.iter().all(|tool| !["tasks", "create_folders"].contains(&tool.name)));
/// ```
pub fn scoped_tool_schemas() -> ToolSchemas {
    let mut generator = generator();
    let own = tools! {
        generator;
        list_documents(ListScopedDocuments), false, "Lists documents.";
        update_documents(UpdateScopedDocuments), true, "Changes titles of documents.";
    };
    let own = with_definitions(own, generator);
    let mut schemas = tool_schemas();
    schemas.tools.retain(|tool| SHARED.contains(&tool.name));
    schemas.tools.extend(own.tools);
    schemas.definitions.extend(own.definitions);
    let needed: BTreeSet<String> = schemas
        .tools
        .iter()
        .filter_map(|tool| schemas.standalone(tool.name))
        .filter_map(|schema| schema.get("$defs").and_then(Value::as_object).cloned())
        .flat_map(|definitions| definitions.into_iter().map(|(name, _)| name))
        .collect();
    schemas.definitions.retain(|name, _| needed.contains(name));
    schemas
}
