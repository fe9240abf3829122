//! The routes: a line for each operation.

use leafbase::json::FromJson;
use leafbase::{
    AccessScope, AddComments, AddItems, AddTasks, ApplyMarkdown, BackLinks, Batch, BlockId,
    Connection, CountItems, CreateCollection, CreateDocuments, CreateFolders, CreateFromTemplate,
    DeleteBlocks, DeleteComments, DeleteDocuments, DeleteFolders, DeleteItems, DeleteTasks,
    DocumentId, DuplicateBlocks, EditMarkdown, Error, ErrorKind, Fetch, FindDocuments, FolderId,
    Full, GetEmbeddings, GetItems, GetSchema, IndentBlocks, InsertBlocks, ListCollections,
    ListComments, ListDocuments, ListScopedDocuments, ListTags, ListTasks, MergeBlock,
    MissingEmbeddings, MoveBlocks, MoveDocuments, MoveFolders, Position, PurgeDocuments,
    PutEmbeddings, QueryItems, RemoveEmbeddings, ReplaceSchema, ReplaceText, ResolveBlocks,
    ResolveEmbeds, RestoreDailyNotes, Result, Scoped, SearchBlocks, SearchDocuments, ShiftBlocks,
    SortBlocks, Space, SplitBlock, Unbatched, UndoChanges, UnlinkedMentions, UpdateBlocks,
    UpdateComments, UpdateDocuments, UpdateFolders, UpdateItems, UpdateScopedDocuments,
    UpdateTasks, UploadFile,
};
use serde_json::{Value, json};

use crate::{Answer, Incoming};

/// An operation at a path.
pub(crate) struct Route<C> {
    pub(crate) verb: &'static str,
    pub(crate) path: &'static str,
    pub(crate) name: &'static str,
    pub(crate) call: fn(&Space, &C, &Incoming) -> Result<Answer>,
}

/// The request in the query string and the parameters of the path.
fn query<T: FromJson>(space: &Space, incoming: &Incoming) -> Result<T> {
    let own = incoming.path.iter().filter(|(name, _)| !["space", "link"].contains(&name.as_str()));
    let path: Vec<_> = own.map(|(name, value)| (name.as_str(), value.as_str())).collect();
    space.read_query(&incoming.query, &path)
}

/// A body of text.
fn text(incoming: &Incoming) -> Result<&str> {
    std::str::from_utf8(&incoming.body)
        .map_err(|error| Error::validation(format!("the body is not UTF-8: {error}")))
}

/// The request in the body, with the parameters of the path.
fn body<T: FromJson>(space: &Space, incoming: &Incoming) -> Result<T> {
    let text = text(incoming)?;
    let own = incoming.path.iter().filter(|(name, _)| !["space", "link"].contains(&name.as_str()));
    // What is no object is refused where it is read.
    match serde_json::from_str(text) {
        Ok(Value::Object(mut fields)) => {
            fields.extend(own.map(|(name, value)| (name.clone(), json!(value))));
            space.read_json(&Value::Object(fields).to_string())
        }
        _ => space.read_json(text),
    }
}

macro_rules! routes {
    ($($verb:literal $path:literal $method:ident($request:ty) $from:ident;)*) => {
        &[$(Route {
            verb: $verb,
            path: $path,
            name: stringify!($method),
            call: |space, notes, incoming| {
                Ok(Answer::json(&notes.$method($from::<$request>(space, incoming)?)?))
            },
        },)*]
    };
}

/// Blocks in JSON, or markdown with the position in the query.
fn insert<A: AccessScope>(
    space: &Space,
    notes: &Connection<A>,
    incoming: &Incoming,
) -> Result<Answer> {
    if incoming.content_type.starts_with("text/markdown") {
        let position: Position = query(space, incoming)?;
        return Ok(Answer::json(&notes.insert_markdown(text(incoming)?, position)?));
    }
    Ok(Answer::json(&notes.insert_blocks(body::<InsertBlocks>(space, incoming)?)?))
}

/// Blocks in JSON, or as markdown if the request accepts that.
fn fetch<A: AccessScope>(
    space: &Space,
    notes: &Connection<A>,
    incoming: &Incoming,
) -> Result<Answer> {
    let request: Fetch = query(space, incoming)?;
    Ok(if incoming.wants_markdown {
        Answer(200, "text/markdown", notes.fetch_markdown(request)?.into_bytes())
    } else {
        Answer::json(&notes.fetch(request)?)
    })
}

fn upload<A: Unbatched>(
    space: &Space,
    notes: &Connection<A>,
    incoming: &Incoming,
) -> Result<Answer> {
    let path = [("contentType", incoming.content_type.as_str())];
    let request: UploadFile = space.read_query(&incoming.query, &path)?;
    Ok(Answer::json(&notes.upload_file(request, &*incoming.body)?))
}

fn open<A: Unbatched>(_: &Space, notes: &Connection<A>, incoming: &Incoming) -> Result<Answer> {
    let id = incoming.path["id"].parse().unwrap_or_default();
    let mut bytes = Vec::new();
    let mut file = notes.open_file(id)?;
    std::io::copy(&mut file, &mut bytes)
        .map_err(|error| Error::new(ErrorKind::Storage, error.to_string()))?;
    Ok(Answer(200, "application/octet-stream", bytes))
}

fn properties<A: AccessScope>(
    _: &Space,
    notes: &Connection<A>,
    incoming: &Incoming,
) -> Result<Answer> {
    let id = incoming.path["id"].parse().unwrap_or_default();
    Ok(Answer::json(&notes.document_properties(id)?))
}

/// Keeps a scope under a token, which is the link: `{"documentIds": [..], "pageIds": [..],
/// "folderIds": [..], "readOnly": true}`.
fn share(space: &Space, _: &Connection<Full>, incoming: &Incoming) -> Result<Answer> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Share {
        #[serde(default)]
        document_ids: Vec<DocumentId>,
        #[serde(default)]
        page_ids: Vec<BlockId>,
        #[serde(default)]
        folder_ids: Vec<FolderId>,
        #[serde(default)]
        read_only: bool,
    }
    let share: Share = body(space, incoming)?;
    let scope = space.folder_scope(share.folder_ids);
    scope.add(share.document_ids);
    scope.add_pages(share.page_ids);
    let link = crate::token();
    let name = format!("{}{link}", crate::LINK);
    space.keep_scope(&name, &if share.read_only { scope.read_only() } else { scope })?;
    Ok(Answer::json(&json!({ "link": format!("/links/{link}") })))
}

/// The operations that both connections have.
macro_rules! shared {
    () => {
        routes! {
            "PUT" "/blocks" update_blocks(UpdateBlocks) body;
            "DELETE" "/blocks" delete_blocks(DeleteBlocks) body;
            "PUT" "/blocks/move" move_blocks(MoveBlocks) body;
            "PUT" "/blocks/split" split_block(SplitBlock) body;
            "PUT" "/blocks/merge" merge_block(MergeBlock) body;
            "PUT" "/blocks/indent" indent_blocks(IndentBlocks) body;
            "POST" "/blocks/duplicate" duplicate_blocks(DuplicateBlocks) body;
            "PUT" "/blocks/shift" shift_blocks(ShiftBlocks) body;
            "PUT" "/blocks/sort" sort_blocks(SortBlocks) body;
            "PUT" "/blocks/replace" replace_text(ReplaceText) body;
            "PUT" "/blocks/markdown" apply_markdown(ApplyMarkdown) body;
            "PATCH" "/blocks/markdown" edit_markdown(EditMarkdown) body;
            "GET" "/blocks/search" search_blocks(SearchBlocks) query;
            "POST" "/blocks/resolve" resolve(ResolveBlocks) body;
            "GET" "/blocks/links" back_links(BackLinks) query;
            "GET" "/blocks/mentions" unlinked_mentions(UnlinkedMentions) query;
            "GET" "/blocks/embeds" resolve_embeds(ResolveEmbeds) query;
            "GET" "/documents/search" search(SearchDocuments) query;
            "GET" "/documents/find" find_documents(FindDocuments) query;
            "GET" "/tags" list_tags(ListTags) query;
            "GET" "/collections" list_collections(ListCollections) query;
            "POST" "/collections" create_collection(CreateCollection) body;
            "GET" "/collections/{collectionId}/schema" collection_schema(GetSchema) query;
            "PUT" "/collections/{collectionId}/schema" replace_schema(ReplaceSchema) body;
            "GET" "/collections/{collectionId}/items" items(GetItems) query;
            "POST" "/collections/{collectionId}/items" add_items(AddItems) body;
            "PUT" "/collections/{collectionId}/items" update_items(UpdateItems) body;
            "DELETE" "/collections/{collectionId}/items" delete_items(DeleteItems) body;
            "POST" "/collections/{collectionId}/query" query_items(QueryItems) body;
            "POST" "/collections/{collectionId}/count" count_items(CountItems) body;
            "GET" "/comments" list_comments(ListComments) query;
            "POST" "/comments" add_comments(AddComments) body;
            "PUT" "/comments" update_comments(UpdateComments) body;
            "DELETE" "/comments" delete_comments(DeleteComments) body;
            "POST" "/batch" run_batch(Batch) body;
        }
    };
}

pub(crate) const SHARED_FULL: &[Route<Connection<Full>>] = shared!();
pub(crate) const SHARED_SCOPED: &[Route<Connection<Scoped>>] = shared!();

pub(crate) const FULL: &[Route<Connection<Full>>] = routes! {
    "GET" "/documents" list_documents(ListDocuments) query;
    "POST" "/documents" create_documents(CreateDocuments) body;
    "PUT" "/documents" update_documents(UpdateDocuments) body;
    "DELETE" "/documents" delete_documents(DeleteDocuments) body;
    "PUT" "/documents/move" move_documents(MoveDocuments) body;
    "PUT" "/documents/restore" restore_daily_notes(RestoreDailyNotes) body;
    "DELETE" "/documents/trash" purge_documents(PurgeDocuments) body;
    "POST" "/documents/copy" create_from_template(CreateFromTemplate) body;
    "POST" "/folders" create_folders(CreateFolders) body;
    "PUT" "/folders" update_folders(UpdateFolders) body;
    "DELETE" "/folders" delete_folders(DeleteFolders) body;
    "PUT" "/folders/move" move_folders(MoveFolders) body;
    "GET" "/tasks" tasks(ListTasks) query;
    "POST" "/tasks" add_tasks(AddTasks) body;
    "PUT" "/tasks" update_tasks(UpdateTasks) body;
    "DELETE" "/tasks" delete_tasks(DeleteTasks) body;
    "PUT" "/embeddings" put_embeddings(PutEmbeddings) body;
    "GET" "/embeddings" embeddings(GetEmbeddings) query;
    "DELETE" "/embeddings" remove_embeddings(RemoveEmbeddings) body;
    "GET" "/embeddings/missing" missing_embeddings(MissingEmbeddings) query;
    "POST" "/undo" undo(UndoChanges) body;
};

pub(crate) const SCOPED: &[Route<Connection<Scoped>>] = routes! {
    "GET" "/documents" list_documents(ListScopedDocuments) query;
    "PUT" "/documents" update_documents(UpdateScopedDocuments) body;
};

/// What is no request in JSON, or has none.
macro_rules! special {
    () => {
        &[
            Route { verb: "POST", path: "/blocks", name: "insert_blocks", call: insert },
            Route { verb: "POST", path: "/upload", name: "upload_file", call: upload },
            Route { verb: "GET", path: "/files/{id}", name: "open_file", call: open },
            Route {
                verb: "GET",
                path: "/connection",
                name: "info",
                call: |_, notes, _| Ok(Answer::json(&notes.info()?)),
            },
            Route { verb: "GET", path: "/blocks", name: "fetch", call: fetch },
            Route {
                verb: "GET",
                path: "/documents/{id}/properties",
                name: "document_properties",
                call: properties,
            },
        ]
    };
}

pub(crate) const SPECIAL_FULL: &[Route<Connection<Full>>] = special!();
pub(crate) const SPECIAL_SCOPED: &[Route<Connection<Scoped>>] = special!();

/// Ends a link: `{"link": "/links/TOKEN"}`.
fn unshare(space: &Space, _: &Connection<Full>, incoming: &Incoming) -> Result<Answer> {
    #[derive(serde::Deserialize)]
    struct Unshare {
        link: String,
    }
    let Unshare { link } = body(space, incoming)?;
    let token = link.strip_prefix("/links/").unwrap_or(&link);
    space.delete_kept_scope(&format!("{}{token}", crate::LINK))?;
    Ok(Answer::json(&json!({ "link": link })))
}

pub(crate) const OWN: &[Route<Connection<Full>>] = &[
    Route {
        verb: "GET",
        path: "/folders",
        name: "folders",
        call: |_, notes, _| Ok(Answer::json(&notes.folders()?)),
    },
    Route { verb: "POST", path: "/links", name: "share", call: share },
    Route { verb: "DELETE", path: "/links", name: "unshare", call: unshare },
];
