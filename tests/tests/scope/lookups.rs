//! Equal treatment: whatever is asked of an ID that is hidden, in the trash, malformed or unknown
//! has the same answer, after the same look-ups in the store.

use std::sync::Arc;

use leafbase::{
    AddComments, BlockId, CommentDraft, Connection, DeleteDocuments, DocumentId, Fetch, Position,
    Scoped, SearchIndexing, Space, UploadFile,
};
use serde_json::{Value, json};

use crate::calls::{Call, OPERATIONS, Reply, answer};
use crate::counting::Counting;
use crate::present::{Present, Writer};
use crate::world::{limits, read};

/// A document with something of each kind that has an ID.
#[derive(Clone, Copy, Debug)]
struct Home {
    document: DocumentId,
    text: BlockId,
    page: BlockId,
    collection: BlockId,
    item: BlockId,
    file: BlockId,
    asset: BlockId,
    comment: BlockId,
}

impl Home {
    fn new(notes: &Connection, title: &str) -> Self {
        let document = notes.create_document(title).unwrap().id();
        let made = notes.insert_markdown("a text\n\nanother", document).unwrap();
        let page = json!({"blocks": [{"type": "page", "markdown": "a page"}], "position": {"position": "end", "pageId": document}});
        let page = notes.insert_blocks(read(&page)).unwrap()[0].id;
        let schema = json!({"name": "Books", "properties": [{"name": "Note", "type": "text"}, {"name": "Next", "type": "relation", "targetCollectionId": "self"}]});
        let request =
            json!({"schema": schema, "position": {"position": "end", "pageId": document}});
        let collection = notes.create_collection(read(&request)).unwrap().id;
        let items = json!({"collectionId": collection, "items": [{"title": "Dune"}]});
        let item = notes.add_items(read(&items)).unwrap()[0].id;
        let uploaded = notes
            .upload_file(UploadFile::new(Position::end_of(document)).named("x.txt"), &b"x"[..])
            .unwrap();
        let asset = BlockId::from_bytes(uploaded.asset_url.id().to_bytes());
        let text = made[0].id;
        let draft = CommentDraft::new(text, "a comment");
        let comment = notes.add_comments(AddComments::new([draft])).unwrap()[0].comment_id;
        let (file, comment) = (uploaded.block_id, BlockId::from_bytes(comment.to_bytes()));
        Self { document, text, page, collection, item, file, asset, comment }
    }

    fn ids(&self) -> [(&'static str, BlockId); 8] {
        let Self { document, text, page, collection, item, file, asset, comment } = *self;
        [
            ("a document", document.root()),
            ("a text", text),
            ("a page", page),
            ("a collection", collection),
            ("an item", item),
            ("the block of a file", file),
            ("a file", asset),
            ("a comment", comment),
        ]
    }
}

struct Scene {
    store: Counting,
    space: Space,
    seen: Home,
    hidden: Home,
    trashed: Home,
    /// Whether a refusal tells a hidden ID from one that does not exist.
    tells_hidden: bool,
}

impl Scene {
    /// The same, every time. `was_read` tells whether all of it was read since it was opened.
    fn new(tells_hidden: bool, was_read: bool) -> Self {
        let (store, present) = (Counting::default(), Present::default());
        present.begin(Writer::Host(1), 0);
        let builder = Space::builder().limits(limits()).clock(present.clone()).ids(present.clone());
        let builder = builder.search_indexing(SearchIndexing::OnDemand);
        let space = builder.clone().over(Arc::new(store.clone()), true).unwrap();
        let notes = space.connect();
        let [seen, hidden, trashed] =
            ["seen", "hidden", "trashed"].map(|title| Home::new(&notes, title));
        notes.delete_documents(DeleteDocuments::from(trashed.document)).unwrap();
        drop(notes);
        space.close().unwrap();
        let space = builder.over(Arc::new(store.clone()), false).unwrap();
        let scene = Self { store, space, seen, hidden, trashed, tells_hidden };
        if was_read {
            for home in [seen, hidden, trashed] {
                for (_, id) in home.ids().into_iter().take(6) {
                    scene.space.connect().fetch(Fetch::new(id).with_metadata()).unwrap();
                }
            }
        }
        scene
    }

    fn notes(&self) -> Connection<Scoped> {
        self.space.scope([self.seen.document, self.trashed.document]).connect()
    }

    /// The reply to a call in which `@id` stands for this ID and `@text` for one that is seen, and
    /// the look-ups for it: of keys, and of ranges.
    fn asked(&self, (operation, body): (&'static str, &str), id: &str) -> (Reply, [usize; 2]) {
        let mut body = body.replace("@id", id);
        for (name, id) in [
            ("@document", self.seen.document.root()),
            ("@text", self.seen.text),
            ("@collection", self.seen.collection),
            ("@item", self.seen.item),
            ("@page", self.seen.page),
            ("@comment", self.seen.comment),
        ] {
            body = body.replace(name, &id.to_string());
        }
        let call = Call::new(operation, serde_json::from_str::<Value>(&body).unwrap());
        if operation == "search" {
            // The first search looks up what the index lacks.
            answer(&self.notes(), &Call::new("search", json!({"include": "text"})), &limits());
        }
        let (notes, before) = (self.notes(), self.store.counts());
        let mut reply = answer(&notes, &call, &limits());
        let after = self.store.counts();
        let exists = |id: BlockId| self.space.connect().document_of(id).is_ok();
        if self.tells_hidden && !reply.is_ok && id.parse().is_ok_and(exists) {
            reply.json = reply.json.replace("has this ID", "is visible");
        }
        (reply, [0, 1].map(|count| after[count] - before[count]))
    }
}

/// Every operation with an ID at every place that takes one.
const PLACES: &[(&str, &str)] = &[
    ("document", r#"{"id": "@id"}"#),
    ("update_documents", r#"{"documents": [{"id": "@id"}]}"#),
    ("update_documents", r#"{"documents": [{"id": "@document"}, {"id": "@id", "title": ""}]}"#),
    ("update_documents", r#"{"documents": [{"id": "@document", "title": "[x](block://@id)"}]}"#),
    (
        "update_documents",
        r#"{"documents": [{"id": "@document", "title": "[x](asset://@id/x.txt)"}]}"#,
    ),
    ("document_properties", r#"{"id": "@id"}"#),
    ("document_of", r#"{"id": "@id"}"#),
    ("resolve", r#"{"blockIds": ["@text", "@id"]}"#),
    ("run_batch", r#"{"operations": [{"operation": "delete_blocks", "blockIds": ["@id"]}]}"#),
    ("fetch", r#"{"id": "@id"}"#),
    ("fetch", r#"{"id": "@id", "maxDepth": 0, "fetchMetadata": true}"#),
    ("fetch_markdown", r#"{"id": "@id"}"#),
    ("resolve_embeds", r#"{"id": "@id"}"#),
    ("back_links", r#"{"id": "@id"}"#),
    ("unlinked_mentions", r#"{"id": "@id", "cursor": "x"}"#),
    ("back_links", r#"{"id": "@id", "within": false, "cursor": "x"}"#),
    ("content_markdown", r#"{"id": "@id"}"#),
    ("insert", r#"{"markdown": "x", "position": {"position": "start", "pageId": "@id"}}"#),
    ("insert", r#"{"markdown": "x", "position": {"position": "end", "pageId": "@id"}}"#),
    ("insert", r#"{"markdown": "", "position": {"position": "end", "pageId": "@id"}}"#),
    ("insert", r#"{"markdown": "x", "position": {"position": "before", "siblingId": "@id"}}"#),
    ("insert", r#"{"markdown": "x", "position": {"position": "after", "siblingId": "@id"}}"#),
    (
        "insert",
        r#"{"markdown": "[x](block://@id)", "position": {"position": "end", "pageId": "@document"}}"#,
    ),
    (
        "insert",
        r#"{"markdown": "[x](asset://@id/x.txt)", "position": {"position": "end", "pageId": "@document"}}"#,
    ),
    (
        "insert",
        r#"{"blocks": [{"type": "file", "url": "asset://@id/x.txt"}], "position": {"position": "end", "pageId": "@document"}}"#,
    ),
    (
        "insert",
        r#"{"blocks": [{"type": "richUrl", "url": "block://@id"}], "position": {"position": "end", "pageId": "@document"}}"#,
    ),
    ("update", r#"{"blocks": [{"id": "@id"}]}"#),
    ("update", r#"{"blocks": [{"id": "@id", "markdown": "x"}]}"#),
    ("update", r#"{"blocks": [{"id": "@text", "markdown": "x"}, {"id": "@id", "markdown": "x"}]}"#),
    ("update", r#"{"blocks": [{"id": "@id", "rev": 77}]}"#),
    ("update", r#"{"blocks": [{"id": "@id", "taskInfo": {"state": "done"}}]}"#),
    ("update", r#"{"blocks": [{"id": "@text", "markdown": "[x](block://@id)"}]}"#),
    ("update", r#"{"blocks": [{"id": "@text", "markdown": "[x](asset://@id/x.txt)"}]}"#),
    ("delete", r#"{"blockIds": ["@id"]}"#),
    ("delete", r#"{"blockIds": ["@text", "@id"]}"#),
    ("move", r#"{"blockIds": ["@id"], "position": {"position": "end", "pageId": "@document"}}"#),
    ("move", r#"{"blockIds": ["@id"], "position": {"position": "end", "pageId": "@id"}}"#),
    (
        "move",
        r#"{"blockIds": ["@text", "@id"], "position": {"position": "end", "pageId": "@page"}}"#,
    ),
    ("move", r#"{"blockIds": ["@text"], "position": {"position": "end", "pageId": "@id"}}"#),
    ("move", r#"{"blockIds": ["@text"], "position": {"position": "before", "siblingId": "@id"}}"#),
    ("split", r#"{"blockId": "@id", "offset": 1}"#),
    ("merge", r#"{"blockId": "@id"}"#),
    ("indent", r#"{"firstId": "@id"}"#),
    ("indent", r#"{"firstId": "@text", "lastId": "@id"}"#),
    ("duplicate", r#"{"firstId": "@id"}"#),
    ("duplicate", r#"{"firstId": "@text", "lastId": "@id"}"#),
    ("shift", r#"{"firstId": "@id"}"#),
    ("shift", r#"{"firstId": "@text", "lastId": "@id", "direction": "down"}"#),
    ("sort", r#"{"parentId": "@id"}"#),
    ("replace", r#"{"find": "a", "replacement": "b", "blockIds": ["@text", "@id"]}"#),
    ("replace", r#"{"find": "a", "replacement": "b", "documentIds": "@id"}"#),
    (
        "replace",
        r#"{"find": "a", "replacement": "b", "documentIds": ["@document", "@id"], "documentFilterMode": "exclude"}"#,
    ),
    ("replace", r#"{"find": "a", "replacement": "b", "folderIds": ["@id"]}"#),
    ("apply", r#"{"pageId": "@id", "markdown": "x"}"#),
    ("apply", r#"{"pageId": "@id", "markdown": "x", "expected": "y"}"#),
    ("apply", r#"{"pageId": "@page", "markdown": "[x](block://@id)"}"#),
    ("edit", r#"{"pageId": "@id", "edits": [{"edit": "replace", "text": "a", "markdown": "b"}]}"#),
    ("edit", r#"{"pageId": "@id", "edits": []}"#),
    ("comment", r#"{"comments": [{"blockId": "@id", "content": "x"}]}"#),
    (
        "comment",
        r#"{"comments": [{"blockId": "@text", "content": "x"}, {"blockId": "@id", "content": ""}]}"#,
    ),
    ("comment", r#"{"comments": [{"blockId": "@text", "content": "[x](block://@id)"}]}"#),
    ("list_comments", r#"{"documentId": "@id"}"#),
    ("list_comments", r#"{"blockIds": ["@text", "@id"], "resolved": true}"#),
    ("update_comments", r#"{"comments": [{"id": "@id", "content": "x"}]}"#),
    ("update_comments", r#"{"comments": [{"id": "@comment"}, {"id": "@id", "content": ""}]}"#),
    ("update_comments", r#"{"comments": [{"id": "@comment", "content": "[x](block://@id)"}]}"#),
    ("delete_comments", r#"{"commentIds": ["@id"]}"#),
    ("delete_comments", r#"{"commentIds": ["@comment", "@id"]}"#),
    ("upload", r#"{"position": "end", "pageId": "@id", "fileName": "x.txt"}"#),
    ("upload", r#"{"position": "after", "siblingId": "@id", "contentType": "?"}"#),
    ("file", r#"{"id": "@id"}"#),
    ("open_file", r#"{"id": "@id"}"#),
    ("collections", r#"{"documentIds": ["@id"]}"#),
    ("collections", r#"{"documentIds": ["@document", "@id"], "documentFilterMode": "exclude"}"#),
    (
        "create_collection",
        r#"{"schema": {"name": "c", "properties": []}, "position": {"position": "end", "pageId": "@id"}}"#,
    ),
    (
        "create_collection",
        r#"{"schema": {"name": "c", "properties": [{"name": "r", "type": "relation", "targetCollectionId": "@id"}]}, "position": {"position": "end", "pageId": "@document"}}"#,
    ),
    ("schema", r#"{"collectionId": "@id"}"#),
    ("schema", r#"{"collectionId": "@id", "format": "schema"}"#),
    ("replace_schema", r#"{"collectionId": "@id", "schema": {"name": "c", "properties": []}}"#),
    (
        "replace_schema",
        r#"{"collectionId": "@collection", "schema": {"name": "c", "properties": [{"name": "r", "type": "relation", "targetCollectionId": "@id"}]}}"#,
    ),
    ("items", r#"{"collectionId": "@id"}"#),
    ("items", r#"{"collectionId": "@id", "cursor": "x"}"#),
    ("add_items", r#"{"collectionId": "@id", "items": [{"title": "x"}]}"#),
    ("add_items", r#"{"collectionId": "@id", "items": []}"#),
    (
        "add_items",
        r#"{"collectionId": "@collection", "items": [{"title": "x", "properties": {"next": ["@item", "@id"]}}]}"#,
    ),
    (
        "add_items",
        r#"{"collectionId": "@collection", "items": [{"title": "[x](block://@id)", "properties": {"note": "[x](block://@id)"}}]}"#,
    ),
    ("update_items", r#"{"collectionId": "@id", "itemsToUpdate": [{"id": "@item"}]}"#),
    ("update_items", r#"{"collectionId": "@collection", "itemsToUpdate": [{"id": "@id"}]}"#),
    (
        "update_items",
        r#"{"collectionId": "@collection", "itemsToUpdate": [{"id": "@item", "properties": {"next": ["@id"]}}]}"#,
    ),
    ("delete_items", r#"{"collectionId": "@id", "idsToDelete": ["@item"]}"#),
    ("delete_items", r#"{"collectionId": "@collection", "idsToDelete": ["@item", "@id"]}"#),
    ("query", r#"{"collectionId": "@id"}"#),
    (
        "query",
        r#"{"collectionId": "@collection", "filter": {"property": "next", "anyOf": ["@id"]}}"#,
    ),
    ("count", r#"{"collectionId": "@id", "groupBy": "next"}"#),
    (
        "count",
        r#"{"collectionId": "@collection", "filter": {"not": {"property": "next", "equals": ["@id"]}}}"#,
    ),
    ("search", r#"{"include": "text", "documentIds": ["@id"]}"#),
    (
        "search",
        r#"{"include": "text", "documentIds": ["@document", "@id"], "documentFilterMode": "exclude"}"#,
    ),
    ("search", r#"{"regexps": "te.t", "documentIds": "@id"}"#),
    ("search", r#"{"include": "text", "folderIds": ["@id"]}"#),
    ("search_blocks", r#"{"blockId": "@id", "pattern": "x"}"#),
    ("search_blocks", r#"{"documentId": "@id", "pattern": "(a"}"#),
];

const UNKNOWN: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// The first place at which an ID is treated unlike one that never was.
fn difference(tells_hidden: bool) -> Option<String> {
    for was_read in [false, true] {
        for place in PLACES {
            let ask = |id: &str| Scene::new(tells_hidden, was_read).asked(*place, id);
            let expected = ask(UNKNOWN);
            let scene = Scene::new(tells_hidden, was_read);
            let mut ids = vec![("malformed".to_owned(), "01ARZ3NDEKTSV4RRFFQ69G5FAI".to_owned())];
            for (what, home) in [("hidden", scene.hidden), ("in the trash", scene.trashed)] {
                ids.extend(
                    home.ids().map(|(kind, id)| (format!("{kind} that is {what}"), id.to_string())),
                );
                ids.push((
                    format!("{what}, in small letters"),
                    home.text.to_string().to_lowercase(),
                ));
                ids.push((format!("{what}, cut short"), home.text.to_string()[..25].to_owned()));
            }
            // What is not an ID makes no address of a file either: it is text.
            let names_file = place.1.contains("asset://");
            for (what, id) in
                ids.into_iter().filter(|(_, id)| !names_file || id.parse::<BlockId>().is_ok())
            {
                let found = ask(&id);
                if found != expected {
                    return Some(format!(
                        "{place:?} of {what}:\n{found:?}\nof one that never was:\n{expected:?}"
                    ));
                }
            }
        }
    }
    None
}

#[test]
fn what_is_not_seen_is_answered_like_what_never_was_after_as_many_look_ups() {
    if let Some(difference) = difference(false) {
        panic!("{difference}");
    }
}

/// A document that was found to be seen is looked up once in a call: a further block of it costs
/// less than one that is not there.
#[test]
fn a_document_is_looked_up_once_in_a_call() {
    let insertion = |links: &str| {
        let body =
            r#"{"markdown": "LINKS", "position": {"position": "end", "pageId": "@document"}}"#;
        let (reply, looked_up) =
            Scene::new(false, true).asked(("insert", &body.replace("LINKS", links)), UNKNOWN);
        assert!(reply.is_ok, "{reply:?}");
        looked_up.iter().sum::<usize>()
    };
    let one = insertion("[x](block://@text)");
    let [seen, again, missing] = ["@page", "@text", "@id"]
        .map(|id| insertion(&format!("[x](block://@text) [x](block://{id})")));
    assert!(one < seen && seen < missing, "{one} {seen} {missing}");
    assert_eq!(again, one, "and a block that is named twice is looked up once");
}

#[test]
fn what_is_refused_leaves_no_trace() {
    for place in PLACES {
        let scene = Scene::new(false, false);
        let notes = scene.space.connect();
        for id in [scene.hidden.text, scene.hidden.collection, scene.hidden.document.root()] {
            let before = notes.last_sequence().unwrap();
            let (reply, _) = scene.asked(*place, &id.to_string());
            assert!(reply.is_ok || notes.last_sequence().unwrap() == before, "{place:?}");
        }
    }
}

#[test]
fn an_error_that_tells_what_is_hidden_is_noticed() {
    assert!(difference(true).is_some());
}

#[test]
fn every_operation_that_takes_an_id_is_asked() {
    let without = [
        "documents",
        "find_documents",
        "list_tags",
        "info",
        "author",
        "changes",
        "last_sequence",
        "undo",
    ];
    for operation in OPERATIONS {
        let is_asked = PLACES.iter().any(|(asked, _)| *asked == operation);
        assert_eq!(is_asked, !without.contains(&operation), "{operation}");
    }
}

/// Every place takes an ID of the right kind: otherwise nothing would be shown by what it refuses.
#[test]
fn places_take_what_is_seen() {
    for place in PLACES {
        let scene = Scene::new(false, false);
        let mut taken =
            scene.seen.ids().into_iter().map(|(_, id)| scene.asked(*place, &id.to_string()).0);
        // A rule that forbids it is another answer than that it is not found.
        assert!(taken.any(|reply| !reply.json.contains("NOT_FOUND")), "{place:?}");
    }
}
