//! `null` for an optional field is the field left out, in every request and every part of one.

use leafbase_model::json::FromJson;
use leafbase_model::{
    AddComments, AddItems, AddTasks, ApplyMarkdown, BackLinks, BlockDraft, BlockPatch,
    CommentDraft, ContentPropertyDraft, CountItems, CreateCollection, CreateDocuments,
    CreateFolders, CreateFromTemplate, DeleteBlocks, DeleteDocuments, DeleteFolders, DeleteItems,
    DeleteTasks, Destination, DuplicateBlocks, EditMarkdown, EmbeddingDraft, Fetch,
    FolderDestination, FolderDraft, GetItems, GetMarkdown, GetSchema, IndentBlocks, InsertBlocks,
    ItemDraft, ItemUpdate, ListCollections, ListDocuments, ListScopedDocuments, ListTags,
    ListTasks, MissingEmbeddings, MoveBlocks, MoveDocuments, MoveFolders, Position, PropertyDraft,
    PurgeDocuments, PutEmbeddings, QueryItems, RemoveEmbeddings, ReplaceSchema, ReplaceText,
    ResolveEmbeds, RestoreDailyNotes, SchemaDraft, SearchBlocks, SearchDocuments, SelectOption,
    ShiftBlocks, Sort, SortBlocks, TaskDestination, TaskDraft, TaskPatch, TaskUpdate,
    UnlinkedMentions, UpdateBlocks, UpdateItems, UpdateTasks, UploadFile,
};
use schemars::{JsonSchema, Schema, schema_for};
use serde_json::{Value, json};

const ID: &str = "01K9Z3VW5R00000000000000A7";

/// The optional fields of `T` whose `null` is not the field left out; `base` has what is required.
fn unlike<T: FromJson + JsonSchema + PartialEq>(base: &Value) -> Vec<String> {
    let expected = T::from_json(base.clone()).unwrap_or_else(|error| panic!("{base}: {error}"));
    let is_expected = |value| T::from_json(value).ok().as_ref() == Some(&expected);
    unlike_of(&T::schema_name(), &schema_for!(T), base, &is_expected)
}

/// [`unlike`] of the type with this name and schema. One function for all types: an instance for
/// each is long to compile.
fn unlike_of(
    name: &str,
    schema: &Schema,
    base: &Value,
    is_expected: &dyn Fn(Value) -> bool,
) -> Vec<String> {
    let schema = schema.as_value();
    // A request that has another form beside its object, such as a name alone.
    let mut forms = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let object = forms.find(|form| form["type"] == "object").unwrap_or(schema);
    let fields = object["properties"].as_object().unwrap();
    let optional = fields.keys().filter(|name| base.get(name).is_none());
    let is_unlike = |field: &&String| {
        let mut with_null = base.clone();
        with_null[*field] = Value::Null;
        !is_expected(with_null)
    };
    optional.filter(is_unlike).map(|field| format!("{name}.{field}")).collect()
}

macro_rules! unlike {
    ($($request:ty: $base:tt,)*) => {
        [$(unlike::<$request>(&json!($base))),*].concat()
    };
}

#[test]
fn null_is_the_field_left_out() {
    let found = unlike! {
        Fetch: {"id": ID},
        Fetch: {"date": "today"},
        InsertBlocks: {"blocks": []},
        InsertBlocks: {"markdown": "a"},
        UpdateBlocks: {"blocks": []},
        DeleteBlocks: {"blockIds": []},
        MoveBlocks: {"blockIds": [], "position": {}},
        IndentBlocks: {"firstId": ID},
        DuplicateBlocks: {"firstId": ID},
        ShiftBlocks: {"firstId": ID},
        SortBlocks: {"parentId": ID},
        ReplaceText: {"find": "a", "replacement": "b"},
        GetMarkdown: {"pageId": ID},
        ApplyMarkdown: {"pageId": ID, "markdown": "a"},
        EditMarkdown: {"pageId": ID, "edits": []},
        Position: {},
        Position: {"siblingId": ID, "position": "after"},
        BlockDraft: {"type": "text"},
        BlockDraft: {"type": "page"},
        BlockDraft: {"type": "line"},
        BlockDraft: {"type": "image", "url": "https://a.example/a.png"},
        BlockDraft: {"type": "code"},
        BlockDraft: {"type": "richUrl", "url": "https://a.example"},
        BlockPatch: {"id": ID},
        TaskPatch: {},
        ListTags: {},
        ListDocuments: {},
        ListScopedDocuments: {},
        CreateDocuments: {"documents": [{}]},
        CreateFromTemplate: {"templateId": ID},
        DeleteDocuments: {"documentIds": []},
        MoveDocuments: {"documentIds": [], "destination": {"destination": "unsorted"}},
        RestoreDailyNotes: {"documentIds": []},
        PurgeDocuments: {"documentIds": []},
        PurgeDocuments: {"olderThanDays": 1},
        Destination: {"folderId": ID},
        CreateFolders: {"folders": []},
        FolderDraft: {"name": "a"},
        MoveFolders: {"folderIds": [], "destination": "root"},
        FolderDestination: {"parentFolderId": ID},
        DeleteFolders: {"folderIds": []},
        SearchDocuments: {"include": "a"},
        SearchDocuments: {"regexps": "a"},
        SearchDocuments: {"embedding": {"model": "a", "vector": [1]}},
        PutEmbeddings: {"model": "a", "embeddings": []},
        EmbeddingDraft: {"id": ID, "vector": [1]},
        MissingEmbeddings: {"model": "a"},
        RemoveEmbeddings: {"model": "a"},
        SearchBlocks: {"blockId": ID, "pattern": "a"},
        SearchBlocks: {"documentId": ID, "pattern": "a"},
        BackLinks: {"id": ID},
        UnlinkedMentions: {"id": ID},
        ResolveEmbeds: {"id": ID},
        ListTasks: {"scope": "active"},
        AddTasks: {"tasks": []},
        TaskDraft: {"markdown": "a"},
        UpdateTasks: {"tasksToUpdate": []},
        TaskUpdate: {"id": ID},
        TaskDestination: {"type": "inbox"},
        DeleteTasks: {"idsToDelete": []},
        ListCollections: {},
        CreateCollection: {"schema": {"name": "a", "properties": []}},
        SchemaDraft: {"name": "a", "properties": []},
        ContentPropertyDraft: {"name": "a"},
        PropertyDraft: {"name": "a", "type": "text"},
        PropertyDraft: {"name": "a", "type": "select"},
        PropertyDraft: {"name": "a", "type": "relation", "targetCollectionId": ID},
        SelectOption: {"name": "a"},
        GetSchema: {"collectionId": ID},
        ReplaceSchema: {"collectionId": ID, "schema": {"name": "a", "properties": []}},
        GetItems: {"collectionId": ID},
        AddItems: {"collectionId": ID, "items": []},
        ItemDraft: {},
        UpdateItems: {"collectionId": ID, "itemsToUpdate": []},
        ItemUpdate: {"id": ID},
        DeleteItems: {"collectionId": ID, "idsToDelete": []},
        QueryItems: {"collectionId": ID},
        CountItems: {"collectionId": ID},
        Sort: {"property": "a"},
        AddComments: {"comments": []},
        CommentDraft: {"blockId": ID, "content": "a"},
        UploadFile: {"pageId": ID},
        UploadFile: {"date": "today"},
    };
    // In an update, `null` clears these.
    let clears = [
        "BlockPatch.color",
        "TaskPatch.scheduleDate",
        "TaskPatch.deadlineDate",
        "TaskPatch.completedAt",
        "TaskPatch.canceledAt",
    ];
    let found: Vec<_> =
        found.iter().map(String::as_str).filter(|field| !clears.contains(field)).collect();
    assert_eq!(found, [""; 0], "null is refused, or not the same as absent");
    assert_eq!(unlike::<BlockPatch>(&json!({"id": ID})), [clears[0]]);
}
