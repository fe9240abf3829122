//! Drives every operation over HTTP: statuses and bodies.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::routes;

/// One request, and what is expected of the reply. `@name` stands for what an earlier step kept.
struct Step {
    /// Verb and path.
    call: &'static str,
    body: &'static str,
    status: u16,
    /// A pointer into the reply and the JSON there; `-` for nothing there.
    expected: &'static [(&'static str, &'static str)],
    /// What is kept for later steps: names, and pointers into the reply.
    kept: &'static [(&'static str, &'static str)],
}

macro_rules! steps {
    ($($call:literal $body:literal => $status:literal
        [$($pointer:literal $value:literal),*] $(keep [$($name:ident $from:literal),*])?;)*) => {
        &[$(Step {
            call: $call,
            body: $body,
            status: $status,
            expected: &[$(($pointer, $value)),*],
            kept: &[$($((stringify!($name), $from)),*)?],
        }),*]
    };
}

/// On a full connection, below `/spaces/notes`.
const FULL: &[Step] = steps! {
    "GET /connection" "" => 200 ["/space/name" "\"notes\""];
    "POST /folders" r#"{"folders":[{"name":"Brief"}]}"# => 200 [];
    "POST /undo" r#"{"sequences":[1]}"# => 200 ["/sequence" "2"];
    "POST /undo" r#"{"sequences":[1]}"# => 409 ["/code" "\"CONFLICT\""];
    "POST /undo" r#"{"sequences":[9]}"# => 404 ["/details/0/path" "\"sequences[0]\""];
    // Folders and documents.
    "POST /folders" r#"{"folders":[{"name":"Travel"},{"name":"Old"}]}"# => 200
        ["/items/0/name" "\"Travel\""] keep [travel "/items/0/id", old "/items/1/id"];
    "PUT /folders" r#"{"folders":[{"id":"@old","name":"Older"}]}"# => 200 ["/items/0/name" "\"Older\""];
    "PUT /folders/move" r#"{"folderIds":["@old"],"destination":{"parentFolderId":"@travel"}}"# => 200
        ["/items/0/parentFolderId" "\"@travel\""];
    "DELETE /folders" r#"{"folderIds":["@old"]}"# => 200 ["/items/0" "\"@old\""];
    "GET /folders" "" => 200 ["/items/4/name" "\"Travel\""];
    "POST /documents" r#"{"documents":[{"title":"Lisbon"},{"title":"Diary"}],"destination":{"folderId":"@travel"}}"# => 200
        ["/items/0/title" "\"Lisbon\"", "/items/0/location/folderId" "\"@travel\""]
        keep [trip "/items/0/id", diary "/items/1/id"];
    "PUT /documents" r#"{"documents":[{"id":"@trip","title":"Trip"}]}"# => 200 ["/items/0/title" "\"Trip\""];
    "PUT /documents/move" r#"{"documentIds":["@diary"],"destination":{"destination":"templates"}}"# => 200
        ["/items/0/destination/destination" "\"templates\""];
    "POST /documents/copy" r#"{"templateId":"@diary","destination":null}"# => 200
        ["/title" "\"Diary\""] keep [copy "/id"];
    "DELETE /documents" r#"{"documentIds":["@copy"]}"# => 200 ["/items/0" "\"@copy\""];
    "PUT /documents/restore" r#"{"documentIds":["@copy"]}"# => 422 ["/code" "\"RULE_VIOLATION\""];
    "DELETE /documents/trash" r#"{"documentIds":["@copy"]}"# => 200 ["/items/0" "\"@copy\""];
    "GET /documents?folderId=@travel&fetchMetadata=true&limit=5" "" => 200
        ["/items/0/id" "\"@trip\"", "/items/1" "-", "/items/0/isDeleted" "false"];
    "GET /documents/find?name=travel/trip" "" => 200 ["/items/0/id" "\"@trip\""];
    "GET /documents?folderId=unsorted&limit=0" "" => 400 ["/details/0/path" "\"limit\""];
    // Blocks.
    "POST /blocks" r#"{"blocks":[{"type":"text","markdown":"Meeting Notes\n\n- Discussed","textStyle":null}],"position":{"pageId":"@trip"}}"# => 200
        ["/items/1/listStyle" "\"bullet\""] keep [heading "/items/0/id", bullet "/items/1/id"];
    "PUT /blocks" r###"{"blocks":[{"id":"@heading","markdown":"## Meeting Notes"}]}"### => 200
        ["/items/0/textStyle" "\"h2\"", "/items/0/rev" "2"];
    "PUT /blocks" r#"{"blocks":[{"id":"@heading","rev":1,"markdown":"stale"}]}"# => 409 ["/code" "\"CONFLICT\""];
    "PUT /blocks/move" r#"{"blockIds":["@bullet"],"position":{"siblingId":"@heading","position":"before"}}"# => 200
        ["/items/0" "\"@bullet\""];
    "PUT /blocks/split" r#"{"blockId":"@bullet","offset":3}"# => 200 ["/items/0/id" "\"@bullet\""]
        keep [rest "/items/1/id"];
    "PUT /blocks/indent" r#"{"firstId":"@rest"}"# => 200 ["/items/0/indentationLevel" "1"];
    "PUT /blocks/merge" r#"{"blockId":"@rest"}"# => 200 ["/items/0/markdown" "\"- Discussed\""];
    "POST /blocks/duplicate" r#"{"firstId":"@bullet"}"# => 200 ["/items/0/markdown" "\"- Discussed\""]
        keep [copy "/items/0/id"];
    "PUT /blocks/shift" r#"{"firstId":"@copy"}"# => 200 ["/items/0" "\"@copy\""];
    "PUT /blocks/sort" r#"{"parentId":"@copy","by":"createdAt"}"# => 200 ["/items" "[]"];
    "DELETE /blocks" r#"{"blockIds":["@copy"]}"# => 200 ["/items/0" "\"@copy\""];
    "PUT /blocks/replace" r#"{"find":"DISCUSSED","replacement":"decided","keepCase":true,"dryRun":true}"# => 200
        ["/replaced" "1", "/blocks/0/markdown" "\"- Decided\"", "/blocks/0/blockId" "\"@bullet\""];
    "PATCH /blocks/markdown" r#"{"pageId":"@trip","edits":[{"edit":"replace","text":"Discussed","markdown":"Decided"}],"dryRun":true}"# => 200
        ["/updated/0" "\"@bullet\"", "/dryRun" "true"];
    "PUT /blocks/markdown" r#"{"pageId":"@trip","markdown":"x","expected":"y"}"# => 409 ["/code" "\"CONFLICT\""];
    "GET /blocks?id=@trip&maxDepth=1&fetchMetadata=true" "" => 200
        ["/metadata/documentId" "\"@trip\"", "/content/1/markdown" r###""## Meeting Notes""###]
        keep [block "/content/1"];
    // A fetched block is sent back as it came.
    "PUT /blocks" r#"{"blocks":[@block]}"# => 200 ["/items/0/rev" "2"];
    "GET /blocks/search?blockId=@trip&pattern=%5E%23%23+&beforeBlockCount=0" "" => 200
        ["/items/0/blockId" "\"@heading\"", "/items/0/rev" "2", "/items/0/beforeBlocks/0" "-"];
    "GET /blocks/search?blockId=@trip&pattern=%28" "" => 400 ["/code" "\"INVALID_PATTERN\""];
    "POST /blocks/resolve" r#"{"blockIds":["@heading"]}"# => 200
        ["/items/0/documentId" "\"@trip\"", "/items/0/pageBlockPath/0/content" "\"Trip\""];
    "POST /blocks" r#"{"markdown":"[home](block://@trip)","position":{"pageId":"@diary"}}"# => 200 [] keep [home "/items/0/id"];
    "GET /blocks/embeds?id=@trip&maxDepth=1" "" => 200 ["/targets" "[]"];
    "GET /blocks/mentions?id=@trip" "" => 200 [];
    "GET /tags?prefix=a" "" => 200 ["/items" "[]"];
    "GET /documents/@trip/properties" "" => 200 [];
    "GET /blocks/links?id=@trip&within=false&limit=1" "" => 200
        ["/items/0/blockId" "\"@home\"", "/items/0/documentId" "\"@diary\"", "/nextCursor" "-"];
    "DELETE /blocks" r#"{"blockIds":["@bullet"]}"# => 200 ["/items/0" "\"@bullet\""];
    "DELETE /blocks" r#"{"blockIds":["@bullet"]}"# => 404
        ["/code" "\"NOT_FOUND\"", "/details/0/path" "\"blockIds[0]\""];
    "GET /blocks?date=today" "" => 404 ["/code" "\"NOT_FOUND\""];
    "GET /blocks?id=@trip&fetchBlocks=true" "" => 400 ["/details/0/path" "\"fetchBlocks\""];
    "POST /blocks" "{" => 400 ["/code" "\"VALIDATION\""];
    "GET /documents/search?include=meeting&documentFilterMode=include" "" => 200
        ["/items/0/documentId" "\"@trip\"", "/items/0/exposedDocumentId" "\"@trip\""];
    // Tasks.
    "POST /tasks" r#"{"tasks":[{"markdown":"call Ana","taskInfo":{"deadlineDate":"tomorrow"}}]}"# => 200
        ["/items/0/location/type" "\"inbox\""] keep [task "/items/0/id"];
    "PUT /tasks" r#"{"tasksToUpdate":[{"id":"@task","markdown":"- [x] call Ana"}]}"# => 200
        ["/items/0/taskInfo/state" "\"done\""];
    "GET /tasks?scope=logbook" "" => 200 ["/items/0/id" "\"@task\""];
    "GET /tasks" "" => 200 ["/items/0" "-"];
    "DELETE /tasks" r#"{"idsToDelete":["@task"]}"# => 200 ["/items/0" "\"@task\""];
    // Collections.
    "POST /collections" r#"{"schema":{"name":"Books","properties":[{"name":"State","type":"singleSelect","options":["new","read"]}]},"position":{"pageId":"@trip"}}"# => 200
        ["/schema/properties/0/key" "\"state\""] keep [books "/collectionBlockId"];
    "GET /collections" "" => 200 ["/items/0/id" "\"@books\""];
    "GET /collections/@books/schema?format=schema" "" => 200 ["/key" "\"books\""] keep [schema ""];
    "PUT /collections/@books/schema" r#"{"schema":@schema}"# => 200 ["/collectionBlockId" "\"@books\""];
    "POST /collections/@books/items" r#"{"items":[{"title":"Dune","properties":{"state":"new"}},{"title":"Emma"}]}"# => 200
        ["/items/1/properties" "{}"] keep [dune "/items/0/id", item "/items/0"];
    "PUT /collections/@books/items" r#"{"itemsToUpdate":[@item]}"# => 200 ["/items/0/rev" "1"];
    "PUT /collections/@books/items" r#"{"itemsToUpdate":[{"id":"@dune","properties":{"state":"lent"}}]}"# => 422
        ["/code" "\"SCHEMA_MISMATCH\"", "/details/0/path" "\"itemsToUpdate[0].properties.state\""];
    "GET /collections/@books/items?maxDepth=0&limit=1" "" => 200 ["/items/0/id" "\"@dune\"", "/items/1" "-"];
    "POST /collections/@books/query" r#"{"filter":{"property":"state","equals":"new"}}"# => 200
        ["/items/0/id" "\"@dune\"", "/items/1" "-"];
    "POST /collections/@books/count" "{}" => 200 ["/count" "2"];
    "DELETE /collections/@books/items" r#"{"idsToDelete":["@dune"]}"# => 200 ["/items/0" "\"@dune\""];
    // Comments and files.
    "POST /comments" r#"{"comments":[{"blockId":"@heading","content":"when?"}]}"# => 200 []
        keep [comment "/items/0/commentId"];
    "PUT /comments" r#"{"comments":[{"id":"@comment","resolved":true}]}"# => 200 ["/items/0/content" "\"when?\""];
    "GET /comments?documentId=@trip" "" => 200 ["/items/0/id" "\"@comment\""];
    "DELETE /comments" r#"{"commentIds":["@comment"]}"# => 200 ["/items/0" "\"@comment\""];
    "POST /upload?pageId=@trip&position=end&fileName=a.txt" "the bytes" => 200 [] keep [url "/assetUrl"];
    "POST /upload" "the bytes" => 400 ["/code" "\"INVALID_POSITION\""];
    "GET /files/@url" "" => 200 ["" "\"the bytes\""];
    // Several at once.
    "POST /batch" r#"{"operations":[{"operation":"create_documents","documents":[{"title":"Porto"}]},{"operation":"insert_blocks","markdown":"tram","position":{"pageId":"$0.id"}}]}"# => 200
        ["/replies/1/items/0/markdown" "\"tram\""];
    "POST /batch" r#"{"operations":[],"expect":{"sequence":0}}"# => 409 ["/details/0/path" "\"expect.sequence\""];
    // Vectors of a model.
    "PUT /embeddings" r#"{"model":"m","embeddings":[{"id":"@trip","vector":[0.5,1.0]}]}"# => 200 [];
    "GET /embeddings?model=m&ids=@trip" "" => 200 ["/items/0/id" "\"@trip\""];
    "GET /embeddings/missing?model=m" "" => 200 [];
    "DELETE /embeddings" r#"{"model":"m"}"# => 200 [];
    // Share links.
    "PUT /collections/@books/schema" "{" => 400 ["/code" "\"VALIDATION\""];
    "POST /links" r#"{"documentIds":["@trip"]}"# => 200 [] keep [ended "/link"];
    "DELETE /links" r#"{"link":"@ended"}"# => 200 ["/link" "\"@ended\""];
    "DELETE /links" r#"{"link":"@ended"}"# => 404 ["/code" "\"NOT_FOUND\""];
    "POST /links" r#"{"documentIds":["@trip"]}"# => 200 [] keep [link "/link"];
    "POST /links" r#"{"folderIds":["@travel"],"readOnly":true}"# => 200 [] keep [reader "/link"];
    "POST /links" r#"{"pageIds":["@heading"]}"# => 200 [] keep [page "/link"];
};

/// On a share link: what it shows, and that it shows nothing else.
const SCOPED: &[Step] = steps! {
    "GET /connection" "" => 200 [];
    "GET /documents?fetchMetadata=true" "" => 200
        ["/items/0/id" "\"@trip\"", "/items/1" "-", "/items/0/isDeleted" "false"];
    "GET /documents/find?name=diary" "" => 200 ["/items/0" "-"];
    "GET /documents/find?name=trip" "" => 200 ["/items/0/id" "\"@trip\""];
    "PUT /documents" r#"{"documents":[{"id":"@trip","title":"Journey"}]}"# => 200 ["/items/0/title" "\"Journey\""];
    "PUT /documents" r#"{"documents":[{"id":"@diary","title":"x"}]}"# => 404 ["/code" "\"NOT_FOUND\""];
    "POST /blocks" r#"{"markdown":"a\n\nb","position":{"pageId":"@trip"}}"# => 200 [] keep [a "/items/0/id", b "/items/1/id"];
    "POST /blocks" r#"{"markdown":"a","position":{"date":"today"}}"# => 400 ["/code" "\"INVALID_POSITION\""];
    "PUT /blocks" r#"{"blocks":[{"id":"@a","text":"*a*"}]}"# => 200 ["/items/0/markdown" r#""\\*a\\*""#];
    "PUT /blocks/move" r#"{"blockIds":["@b"],"position":{"siblingId":"@a","position":"before"}}"# => 200 ["/items/0" "\"@b\""];
    "DELETE /blocks" r#"{"blockIds":["@b"]}"# => 200 ["/items/0" "\"@b\""];
    "PUT /blocks/split" r#"{"blockId":"@a","offset":1}"# => 200 ["/items/0/id" "\"@a\""]
        keep [rest "/items/1/id"];
    "PUT /blocks/indent" r#"{"firstId":"@rest"}"# => 200 ["/items/0/indentationLevel" "1"];
    "PUT /blocks/merge" r#"{"blockId":"@rest"}"# => 200 ["/items/0/markdown" r#""\\*a\\*""#];
    "POST /blocks/duplicate" r#"{"firstId":"@a"}"# => 200 [] keep [copy "/items/0/id"];
    "PUT /blocks/shift" r#"{"firstId":"@copy"}"# => 200 ["/items/0" "\"@copy\""];
    "PUT /blocks/sort" r#"{"parentId":"@copy","by":"createdAt"}"# => 200 ["/items" "[]"];
    "DELETE /blocks" r#"{"blockIds":["@copy"]}"# => 200 ["/items/0" "\"@copy\""];
    "PATCH /blocks/markdown" r#"{"pageId":"@trip","edits":[{"edit":"insertAfter","text":"none","markdown":"b"}]}"# => 409
        ["/details/0/path" "\"edits[0].text\""];
    "PUT /blocks/markdown" r#"{"pageId":"@diary","markdown":"x"}"# => 404 ["/code" "\"NOT_FOUND\""];
    "PUT /blocks/replace" r#"{"pattern":"(A)","replacement":"$1$1","blockIds":"@a"}"# => 200
        ["/blocks/0/markdown" r#""\\*aa\\*""#];
    "GET /blocks?id=@a" "" => 200 ["/id" "\"@a\""];
    "GET /blocks?id=@diary" "" => 404 ["/code" "\"NOT_FOUND\""];
    "GET /blocks/search?documentId=@trip&pattern=Meeting" "" => 200 ["/items/0/blockId" "\"@heading\""];
    "POST /blocks/resolve" r#"{"blockIds":["@a"]}"# => 200 ["/items/0/documentId" "\"@trip\""];
    "GET /blocks/links?id=@trip" "" => 200 ["/items" "[]"];
    "GET /blocks/embeds?id=@trip" "" => 200 ["/embeds" "[]"];
    "GET /tags" "" => 200 ["/items" "[]"];
    "GET /documents/@trip/properties" "" => 200 [];
    "GET /documents/@diary/properties" "" => 404 [];
    "GET /blocks/mentions?id=@trip" "" => 200 [];
    "GET /blocks/mentions?id=@diary" "" => 404 ["/details/0/path" "\"id\""];
    "GET /blocks/links?id=@diary" "" => 404 ["/details/0/path" "\"id\""];
    "GET /documents/search?include=meeting" "" => 200 ["/items/0/documentId" "\"@trip\""];
    "GET /collections" "" => 200 ["/items/0/id" "\"@books\""];
    "POST /collections" r#"{"schema":{"name":"People","properties":[]},"position":{"pageId":"@trip"}}"# => 200 []
        keep [people "/id"];
    "GET /collections/@people/schema?format=schema" "" => 200 ["/key" "\"people\""];
    "PUT /collections/@people/schema" r#"{"schema":{"name":"Folk","properties":[]}}"# => 200 ["/name" "\"Folk\""];
    "POST /collections/@people/items" r#"{"items":[{"title":"Ana"}]}"# => 200 [] keep [ana "/items/0/id"];
    "PUT /collections/@people/items" r#"{"itemsToUpdate":[{"id":"@ana","title":"Ana B."}]}"# => 200 [];
    "GET /collections/@people/items" "" => 200 ["/items/0/id" "\"@ana\""];
    "POST /collections/@people/query" "{}" => 200 ["/items/0/id" "\"@ana\""];
    "POST /collections/@people/count" "{}" => 200 ["/count" "1"];
    "DELETE /collections/@people/items" r#"{"idsToDelete":["@ana"]}"# => 200 ["/items/0" "\"@ana\""];
    "POST /comments" r#"{"comments":[{"blockId":"@a","content":"why?"}]}"# => 200 [] keep [why "/items/0/commentId"];
    "GET /comments?documentId=@trip" "" => 200 ["/items/0/id" "\"@why\""];
    "PUT /comments" r#"{"comments":[{"id":"@why","content":"how?"}]}"# => 200 ["/items/0/content" "\"how?\""];
    "DELETE /comments" r#"{"commentIds":["@why"]}"# => 200 ["/items/0" "\"@why\""];
    "POST /upload?pageId=@trip" "more bytes" => 200 [] keep [url "/assetUrl"];
    "GET /files/@url" "" => 200 ["" "\"more bytes\""];
    "POST /batch" r#"{"operations":[{"operation":"delete_blocks","blockIds":["@a"]}],"dryRun":true}"# => 200 ["/dryRun" "true"];
};

/// A link for reading: every write is refused, whatever it names.
const READ_ONLY: &[Step] = steps! {
    "GET /blocks?id=@trip&maxDepth=0" "" => 200 ["/title" "\"Journey\""];
    "PUT /blocks" r#"{"blocks":[{"id":"@a","markdown":"x"}]}"# => 403 ["/code" "\"READ_ONLY\""];
    "DELETE /blocks" r#"{"blockIds":["@diary"]}"# => 403 ["/code" "\"READ_ONLY\""];
};

/// A link to a page: a document of its own.
const PAGE: &[Step] = steps! {
    "GET /documents" "" => 200 ["/items/0/id" "\"@heading\"", "/items/1" "-"];
    "POST /blocks" r#"{"markdown":"minutes","position":{"pageId":"@heading"}}"# => 200 [] keep [minutes "/items/0/id"];
    "POST /blocks/resolve" r#"{"blockIds":["@minutes"]}"# => 200 ["/items/0/documentId" "\"@heading\""];
    "GET /blocks?id=@trip" "" => 404 ["/code" "\"NOT_FOUND\""];
    "DELETE /blocks" r#"{"blockIds":["@heading"]}"# => 422 ["/code" "\"RULE_VIOLATION\""];
};

/// Texts kept from replies.
type Kept = BTreeMap<&'static str, String>;

fn filled(text: &str, kept: &Kept) -> String {
    // Longer names first: one may begin with another.
    let mut names: Vec<_> = kept.iter().collect();
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    names
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("@{name}"), value))
}

/// Sends a request as it goes over the wire, and returns the status and the body.
fn send(address: SocketAddr, call: &str, headers: &str, body: &str) -> (u16, String) {
    let (verb, path) = call.split_once(' ').unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "{verb} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

/// Does the steps below a prefix. Returns the calls that were made.
fn run(
    address: SocketAddr,
    (prefix, headers): (&str, &str),
    steps: &[Step],
    kept: &mut Kept,
) -> BTreeSet<String> {
    let mut calls = BTreeSet::new();
    for Step { call, body, status, expected, kept: keep } in steps {
        let (verb, path) = call.split_once(' ').unwrap();
        let path = path.split('?').next().unwrap();
        calls.insert(format!("{verb} {path}"));
        let (call, body) = (filled(call, kept), filled(body, kept));
        let (verb, path) = call.split_once(' ').unwrap();
        let media = if path.starts_with("/upload") { "text/plain" } else { "application/json" };
        let headers = format!("{headers}Content-Type: {media}\r\n");
        let (found, text) = send(address, &format!("{verb} {prefix}{path}"), &headers, &body);
        assert_eq!(found, *status, "{call} {body}: {text}");
        let reply: Value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        for (pointer, value) in *expected {
            let value = filled(value, kept);
            let found = reply.pointer(pointer).map_or("-".to_owned(), Value::to_string);
            assert_eq!(found, value, "{call} {body} at {pointer}: {reply}");
        }
        for (name, pointer) in *keep {
            let value = reply.pointer(pointer).unwrap_or_else(|| panic!("{call}: {reply}"));
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            // Of the address of a file, its ID.
            let text =
                text.strip_prefix("asset://").map_or(&*text, |url| url.split('/').next().unwrap());
            kept.insert(name, text.to_owned());
        }
    }
    println!("{prefix}: {} steps", steps.len());
    calls
}

/// How many routes there are, each of which was called: the parameters of its path stand for
/// something. Or the name of one that was not.
fn complete<C>(
    tables: &[&[routes::Route<C>]],
    calls: &BTreeSet<String>,
) -> Result<usize, &'static str> {
    let mut count = 0;
    for route in tables.iter().copied().flatten() {
        let is_call = |call: &String| {
            let (verb, path) = call.split_once(' ').unwrap();
            let mut parts = route.path.split('/').zip(path.split('/'));
            verb == route.verb
                && route.path.matches('/').count() == path.matches('/').count()
                && parts.all(|(own, called)| {
                    own == called || (own.starts_with('{') && called.starts_with('@'))
                })
        };
        if !calls.iter().any(is_call) {
            return Err(route.name);
        }
        count += 1;
    }
    Ok(count)
}

pub(crate) fn check(address: SocketAddr, tokens: &[&str]) {
    let mut kept = Kept::new();
    let own = format!("Authorization: Bearer {}\r\n", tokens[0]);
    let full = run(address, ("/spaces/notes", &own), FULL, &mut kept);
    let [link, reader, page] = ["link", "reader", "page"].map(|name| kept[name].clone());
    let scoped = run(address, (&link, ""), SCOPED, &mut kept);
    run(address, (&reader, ""), READ_ONLY, &mut kept);

    // Markdown as it is, with the position in the query.
    let call = format!("POST /spaces/notes/blocks?pageId={}&position=start", kept["trip"]);
    let headers = format!("{own}Content-Type: text/markdown\r\n");
    let (status, text) = send(address, &call, &headers, "# Title\n\n- [ ] one");
    assert!(status == 200 && text.contains("\"taskInfo\""), "{status} {text}");

    let call = format!("GET /spaces/notes/blocks?id={}", kept["heading"]);
    let (status, text) = send(address, &call, &format!("{own}Accept: text/markdown\r\n"), "");
    assert_eq!((status, text.as_str()), (200, "## Meeting Notes"));
    // The heading becomes a page with its first child.
    run(address, (&page, ""), PAGE, &mut kept);
    // A file of three megabytes.
    let call = format!("POST /spaces/notes/upload?pageId={}", kept["trip"]);
    let headers = format!("{own}Content-Type: text/plain\r\n");
    let (status, text) = send(address, &call, &headers, &"x".repeat(3 << 20));
    assert_eq!(status, 200, "{text}");

    // Without the right token, or with that of another space, nothing is said.
    let other = format!("Authorization: Bearer {}\r\n", tokens[1]);
    for headers in ["", "Authorization: Bearer x\r\n", &other] {
        assert_eq!(send(address, "GET /spaces/notes/documents", headers, "").0, 401);
    }
    assert_eq!(send(address, "GET /links/nonsense/documents", "", "").0, 401);
    let (status, text) = send(address, "GET /spaces/work/documents", &other, "");
    assert_eq!((status, text.as_str()), (200, r#"{"items":[]}"#), "a space of its own");

    let full =
        complete(&[routes::SHARED_FULL, routes::FULL, routes::SPECIAL_FULL, routes::OWN], &full);
    let scoped =
        complete(&[routes::SHARED_SCOPED, routes::SCOPED, routes::SPECIAL_SCOPED], &scoped);
    // The control: a route that no step calls is named.
    assert_eq!(complete(&[routes::OWN], &BTreeSet::new()), Err("folders"));
    let (full, scoped) = (full.expect("each is called"), scoped.expect("each is called"));
    println!("{full} routes of full connections and {scoped} of share links, each checked");
}
