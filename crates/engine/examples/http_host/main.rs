//! A host over HTTP: several spaces, and share links with scopes, on loopback. Each operation is at
//! a path with its name; its request is the body, in JSON, which goes straight through both ways.
//!
//! `cargo run --example http_host -- notes work` serves spaces in memory and prints the address and
//! the token of each; `-- --check` serves two and plays `session.txt`. Owners use `/spaces/NAME/..`
//! with `Authorization: Bearer TOKEN`; their operation `share` makes a link that needs no token.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "an example stays short")]

mod check;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};
use leafbase::{
    BlockId, Connection, DocumentId, Error, ErrorKind, Full, IdSource, RandomIds, Result, Scoped,
    Space, SpaceBuilder, Timestamp, Unbatched, UploadFile,
};
use tokio::runtime::Runtime;

/// The spaces by path, each with the token of its owner.
type Host = Arc<BTreeMap<String, (Space, String)>>;
type Answer = (StatusCode, [(HeaderName, &'static str); 1], Vec<u8>);

/// An operation and its request, as they came.
struct Call<'a> {
    operation: &'a str,
    query: &'a str,
    body: &'a [u8],
}

impl Call<'_> {
    fn request<T: leafbase::json::FromJson>(&self, space: &Space) -> Result<T> {
        let body = std::str::from_utf8(self.body);
        space.read_json(body.map_err(|_| Error::validation("the body is not UTF-8"))?)
    }
}

fn answer(status: u16, content_type: &'static str, body: Vec<u8>) -> Answer {
    (StatusCode::from_u16(status).expect("a status"), [(CONTENT_TYPE, content_type)], body)
}

fn json(status: u16, reply: &impl serde::Serialize) -> Answer {
    answer(status, "application/json", serde_json::to_vec(reply).expect("replies are JSON"))
}

/// Operations by name, each with the type of its request.
macro_rules! operations {
    ($table:ident$(<$any:ident: Unbatched>)?($connection:ty) else $others:ident;
        $($operation:ident($request:ident))+) => {
        fn $table$(<$any: Unbatched>)?(space: &Space, notes: &$connection, call: &Call<'_>)
            -> Result<Answer>
        {
            match call.operation {
                $(stringify!($operation) => {
                    Ok(json(200, &notes.$operation(call.request::<leafbase::$request>(space)?)?))
                })+
                _ => $others(space, notes, call),
            }
        }
    };
}

operations! { shared<A: Unbatched>(Connection<A>) else special;
    fetch(Fetch) fetch_markdown(Fetch) content_markdown(GetMarkdown) search(SearchDocuments)
    search_blocks(SearchBlocks) resolve(ResolveBlocks) back_links(BackLinks)
    unlinked_mentions(UnlinkedMentions) resolve_embeds(ResolveEmbeds) list_tags(ListTags)
    list_collections(ListCollections) collection_schema(GetSchema) items(GetItems)
    query_items(QueryItems) count_items(CountItems) list_comments(ListComments)
    insert_blocks(InsertBlocks) update_blocks(UpdateBlocks) delete_blocks(DeleteBlocks)
    move_blocks(MoveBlocks) split_block(SplitBlock) merge_block(MergeBlock)
    indent_blocks(IndentBlocks) duplicate_blocks(DuplicateBlocks) shift_blocks(ShiftBlocks)
    sort_blocks(SortBlocks) replace_text(ReplaceText) apply_markdown(ApplyMarkdown)
    edit_markdown(EditMarkdown) create_collection(CreateCollection) replace_schema(ReplaceSchema)
    add_items(AddItems) update_items(UpdateItems) delete_items(DeleteItems)
    add_comments(AddComments) update_comments(UpdateComments) delete_comments(DeleteComments)
}

operations! { full(Connection<Full>) else owned;
    find_documents(FindDocuments) list_documents(ListDocuments) tasks(ListTasks)
    embeddings(GetEmbeddings) missing_embeddings(MissingEmbeddings)
    create_documents(CreateDocuments) update_documents(UpdateDocuments)
    delete_documents(DeleteDocuments) move_documents(MoveDocuments)
    restore_daily_notes(RestoreDailyNotes) purge_documents(PurgeDocuments)
    create_from_template(CreateFromTemplate) create_folders(CreateFolders)
    update_folders(UpdateFolders) delete_folders(DeleteFolders) move_folders(MoveFolders)
    add_tasks(AddTasks) update_tasks(UpdateTasks) delete_tasks(DeleteTasks)
    put_embeddings(PutEmbeddings) remove_embeddings(RemoveEmbeddings) undo(UndoChanges)
    run_batch(Batch)
}

operations! { scoped(Connection<Scoped>) else shared;
    find_documents(FindDocuments) list_documents(ListScopedDocuments)
    update_documents(UpdateScopedDocuments) run_batch(Batch)
}

/// Operations whose request is not JSON alone.
fn special<A: Unbatched>(space: &Space, notes: &Connection<A>, call: &Call<'_>) -> Result<Answer> {
    match call.operation {
        "info" => Ok(json(200, &notes.info()?)),
        "upload_file" => {
            let request: UploadFile = space.read_query(call.query, &[])?;
            Ok(json(200, &notes.upload_file(request, call.body)?))
        }
        "open_file" => {
            // An ID that cannot be read is that of no file.
            let id = call.query.strip_prefix("id=").and_then(|id| id.parse().ok());
            let (mut file, mut bytes) = (notes.open_file(id.unwrap_or_default())?, Vec::new());
            std::io::copy(&mut file, &mut bytes)
                .map_err(|error| Error::new(ErrorKind::Storage, error.to_string()))?;
            Ok(answer(200, "application/octet-stream", bytes))
        }
        name => Err(Error::new(ErrorKind::NotFound, format!("there is no operation {name:?}"))),
    }
}

/// What owners alone do: folders and links. A link is the name of a scope that the space keeps.
fn owned(space: &Space, notes: &Connection<Full>, call: &Call<'_>) -> Result<Answer> {
    match call.operation {
        "folders" => Ok(json(200, &notes.folders()?)),
        "share" | "share_to_read" => {
            let scope = space.scope(call.request::<Vec<DocumentId>>(space)?);
            let scope = if call.operation == "share" { scope } else { scope.read_only() };
            let link = format!("/links/{}", token());
            space.keep_scope(&link, &scope)?;
            Ok(json(200, &link))
        }
        "unshare" => Ok(json(200, &space.delete_kept_scope(&call.request::<String>(space)?)?)),
        _ => shared(space, notes, call),
    }
}

fn token() -> String {
    BlockId::from_bytes(RandomIds.new_id(Timestamp::from_millis(0))).to_string()
}

fn hosted(names: &[impl AsRef<str>], builder: impl Fn() -> SpaceBuilder) -> Result<Host> {
    let spaces = names.iter().map(|name| {
        let space = builder().name(name.as_ref()).in_memory()?;
        Ok((format!("/spaces/{}", name.as_ref()), (space, token())))
    });
    Ok(Arc::new(spaces.collect::<Result<_>>()?))
}

/// Does a call below the path of a space or of a link.
fn call_at(host: &Host, path: &str, headers: &HeaderMap, call: &Call<'_>) -> Result<Answer> {
    let given =
        |token| headers.get(AUTHORIZATION).is_some_and(|it| it == &format!("Bearer {token}"));
    if let Some((space, _)) = host.get(path).filter(|(_, token)| given(token)) {
        return full(space, &space.connect(), call);
    }
    let mut spaces = host.values().map(|(space, _)| space);
    match spaces.find_map(|space| Some((space, space.kept_scope(path).ok()?))) {
        Some((space, scope)) => scoped(space, &scope.connect(), call),
        None => Ok(answer(401, "text/plain", b"there is no such space or link".to_vec())),
    }
}

async fn serve(State(host): State<Host>, (uri, headers): (Uri, HeaderMap), body: Bytes) -> Answer {
    // Calls block, so they run where blocking is allowed.
    let answered = tokio::task::spawn_blocking(move || {
        let (path, operation) = uri.path().rsplit_once('/').unwrap_or_default();
        let query = uri.query().unwrap_or_default();
        let call = Call { operation, query, body: &body };
        call_at(&host, path, &headers, &call)
            .unwrap_or_else(|error| json(error.http_status(), &error))
    });
    answered.await.expect("no call panics")
}

/// Serves on a free port, as long as the runtime lives.
fn start(host: &Host) -> std::io::Result<(std::net::SocketAddr, Runtime)> {
    let runtime = Runtime::new()?;
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    // Uploads are read as a whole here: larger ones are refused.
    let limit = DefaultBodyLimit::max(64 << 20);
    let router = Router::new().fallback(serve).layer(limit).with_state(host.clone());
    runtime.spawn(async move { axum::serve(listener, router).await });
    Ok((address, runtime))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if names == ["--check"] {
        return check::play();
    }
    let host = hosted(&names, Space::builder)?;
    let (address, runtime) = start(&host)?;
    for (path, (_, token)) in &*host {
        println!("http://{address}{path}/ with Authorization: Bearer {token}");
    }
    runtime.block_on(std::future::pending())
}
