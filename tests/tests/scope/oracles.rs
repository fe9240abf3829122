//! Ways of finding out about what is hidden, each by itself: IDs, errors, files, names, pages, and
//! what the searches give.

use std::collections::BTreeSet;
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;

use leafbase::{
    Connection, DeleteBlocks, DocumentId, ErrorKind, Fetch, GetItems, MoveBlocks, Position, Scope,
    Scoped, SearchBlocks, SearchDocuments, SearchIndexing, Space, UploadFile,
};
use leafbase_store::kv::{KeyRange, MemoryStore, Store, WriteOptions};
use leafbase_test_outline::FixedClock;
use serde_json::{Value, json};

use crate::calls::{Call, Reply, answer};
use crate::counting::Counting;
use crate::logs::logged;
use crate::world::{limits, read};

/// A document that is seen, one that is not, and a connection to each.
struct Scene {
    space: Space,
    all: Connection,
    scope: Scope,
    guest: Connection<Scoped>,
    seen: DocumentId,
    hidden: DocumentId,
}

fn scene_over(store: Arc<dyn Store>) -> Scene {
    let builder = Space::builder().limits(limits()).clock(FixedClock::at(1_767_225_600_000));
    let space = builder.search_indexing(SearchIndexing::OnDemand).over(store, true).unwrap();
    let all = space.connect();
    let [seen, hidden] =
        ["amber", "zqcanary"].map(|title| all.create_document(title).unwrap().id());
    let scope = space.scope([seen]);
    let guest = scope.connect();
    Scene { space, all, scope, guest, seen, hidden }
}

fn scene() -> Scene {
    scene_over(Arc::new(MemoryStore::new()))
}

impl Scene {
    fn ask(&self, operation: &'static str, body: Value) -> Reply {
        answer(&self.guest, &Call::new(operation, body), &limits())
    }

    fn collection(&self, home: DocumentId, properties: Value) -> leafbase::BlockId {
        let schema = json!({"name": "Books", "properties": properties});
        let request = json!({"schema": schema, "position": {"position": "end", "pageId": home}});
        self.all.create_collection(read(&request)).unwrap().id
    }

    fn found(&self, request: impl Into<SearchDocuments>) -> usize {
        self.guest.search(request).unwrap().len()
    }
}

const UNKNOWN: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

#[test]
fn what_is_written_reads_back_alike() {
    let hidden = scene().hidden.to_string();
    let told = |id: &str| {
        let scene = scene();
        let text = format!("[x](block://{id}) <block://{id}> <a href=\"block://{id}\">y</a>");
        let position = json!({"position": "end", "pageId": scene.seen});
        let collection = scene.collection(
            scene.seen,
            json!([{"name": "Note", "type": "text"}, {"name": "Site", "type": "url"}]),
        );
        for (operation, body) in [
            ("insert", json!({"markdown": text, "position": position})),
            (
                "insert",
                json!({"blocks": [{"type": "richUrl", "url": format!("block://{id}"), "title": "t"}], "position": position}),
            ),
            (
                "comment",
                json!({"comments": [{"blockId": scene.seen, "content": format!("[x](block://{id})")}]}),
            ),
            (
                "add_items",
                json!({"collectionId": collection, "items": [{"title": "t", "properties": {"note": text, "site": format!("block://{id}")}}]}),
            ),
        ] {
            assert!(scene.ask(operation, body.clone()).is_ok, "{operation} {body}");
        }
        let items = scene.ask("items", json!({"collectionId": collection})).value();
        let markdown = scene.ask("fetch_markdown", json!({"id": scene.seen})).json;
        let tree = scene.ask("fetch", json!({"id": scene.seen, "fetchMetadata": true}));
        let lines = scene
            .ask("search_blocks", json!({"blockId": scene.seen, "pattern": "block|out_of"}))
            .value();
        let shown =
            format!("{} {markdown} {} {lines}", items["items"][0]["properties"], tree.value());
        assert!(!shown.contains(id) && !tree.debug.contains(id), "{shown}");
        // The IDs of what was made are other ones each time.
        let own: BTreeSet<String> = shown
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .filter(|word| word.len() == 26)
            .map(str::to_owned)
            .collect();
        own.iter().fold(shown, |shown, id| shown.replace(id, "an ID"))
    };
    assert_eq!(told(UNKNOWN), told(&hidden));
    assert_eq!(told(UNKNOWN), told(&UNKNOWN.to_lowercase()));
}

#[test]
fn ids_are_never_the_callers() {
    let scene = scene();
    let copy = |id: &str| json!({"blocks": [{"type": "text", "markdown": "x", "id": id}], "position": {"pageId": scene.seen}});
    // The ID of a block that is sent back is that of another one.
    for id in [&scene.hidden.to_string(), UNKNOWN] {
        let made = scene.ask("insert", copy(id));
        assert!(made.is_ok && !made.debug.contains(id), "{}", made.debug);
    }
    let block = |id: &str| {
        let mut kept = copy(id);
        kept["keepIds"] = true.into();
        kept
    };
    let item = |id: &str| json!({"collectionId": scene.seen, "items": [{"title": "x", "id": id}]});
    for (operation, body) in [("insert", &block as &dyn Fn(&str) -> Value), ("add_items", &item)] {
        let [found, expected] =
            [&scene.hidden.to_string(), UNKNOWN].map(|id| scene.ask(operation, body(id)));
        assert!(!found.is_ok, "{operation}");
        assert_eq!(found, expected, "{operation}");
    }
}

#[test]
fn ids_carry_no_counter() {
    let scene = scene();
    let text = "x\n\n".repeat(12);
    let mut made: Vec<_> = scene
        .guest
        .insert_markdown(&text, scene.seen)
        .unwrap()
        .iter()
        .map(|block| block.id.to_bytes())
        .collect();
    made.push(scene.hidden.to_bytes());
    assert!(made.iter().all(|id| id[..6] == made[0][..6]), "all are of one millisecond");
    assert!(!made.is_sorted(), "they do not count up");
    let random: BTreeSet<_> = made.iter().map(|id| &id[6..12]).collect();
    assert_eq!(random.len(), made.len(), "they differ in more than their ends");
}

/// A call fails with its first look at the store, or with a later one.
#[test]
fn a_store_that_fails_names_nothing() {
    let store = Counting::default();
    let scene = scene_over(Arc::new(store.clone()));
    let file =
        scene.guest.upload_file(UploadFile::new(scene.seen), &b"x"[..]).unwrap().asset_url.id();
    for (operation, body) in [
        ("fetch", json!({"id": scene.seen})),
        ("documents", json!({})),
        ("collections", json!({})),
        ("insert", json!({"markdown": "x", "position": {"pageId": scene.seen}})),
        (
            "insert",
            json!({"blocks": [{"type": "text", "listStyle": "task", "taskInfo": {"scheduleDate": "today"}}], "position": {"pageId": scene.seen}}),
        ),
        ("upload", json!({"pageId": scene.seen})),
        ("search_blocks", json!({"blockId": scene.seen, "pattern": "x"})),
        ("search", json!({"include": "x"})),
        ("file", json!({"id": file})),
        ("open_file", json!({"id": file})),
        ("info", json!({})),
        ("changes", json!({})),
    ] {
        for (kind, after) in [ErrorKind::Corrupted, ErrorKind::Storage]
            .iter()
            .flat_map(|kind| [0, 1, 2, 3].map(|after| (*kind, after)))
        {
            store.fail(Some((kind, "zqcanary in /home/zqcanary", after)));
            let (reply, log) = logged(|| scene.ask(operation, body.clone()));
            store.fail(None);
            assert!(!reply.is_ok || after > 0, "{operation}");
            assert!(
                !format!("{reply:?} {log}").contains("zqcanary"),
                "{operation}, {after}: {reply:?} {log}"
            );
        }
    }
}

/// Makes every row that has to do with the document unreadable.
fn damage(store: &MemoryStore, document: DocumentId) {
    let (id, mut keys) = (document.to_bytes(), Vec::new());
    let mut gather = |key: &[u8], _: &[u8]| {
        keys.extend(key.windows(16).any(|part| part == id).then(|| key.to_vec()));
        Ok(ControlFlow::Continue(()))
    };
    store.snapshot().unwrap().scan(KeyRange::half_open(&[0x10], &[0xff]), &mut gather).unwrap();
    assert!(keys.len() > 3, "{keys:?}");
    let mut write = |rows: &mut dyn leafbase_store::kv::Transaction| {
        keys.iter().try_for_each(|key| rows.put(key, b"\xff"))
    };
    store.write(WriteOptions::default(), &mut write).unwrap();
}

#[test]
fn a_rest_that_is_damaged_changes_nothing() {
    let store = Arc::new(MemoryStore::new());
    let scene = scene_over(store.clone());
    scene.all.insert_markdown("zqcanary amber", scene.hidden).unwrap();
    scene.collection(scene.hidden, json!([]));
    scene.guest.insert_markdown("amber", scene.seen).unwrap();
    let told = || {
        let calls = [
            ("documents", json!({"fetchMetadata": true})),
            ("fetch", json!({"id": scene.seen})),
            ("fetch", json!({"id": UNKNOWN})),
            ("collections", json!({})),
            ("search", json!({"include": "amber"})),
            ("search", json!({"regexps": "am.er"})),
            ("search_blocks", json!({"blockId": scene.seen, "pattern": "x"})),
            ("changes", json!({})),
        ];
        calls.map(|(operation, body)| {
            let (reply, log) = logged(|| scene.ask(operation, body));
            assert!(!log.contains(&scene.hidden.to_string()), "{operation}: {log}");
            reply
        })
    };
    let before = told();
    damage(&store, scene.hidden);
    assert_eq!(scene.all.fetch(Fetch::new(scene.hidden)).unwrap_err().kind(), ErrorKind::Corrupted);
    for (before, after) in before.iter().zip(told()) {
        assert_eq!(before, &after);
    }
}

#[test]
fn a_link_to_a_day_says_nothing_of_its_note() {
    let scene = scene();
    scene
        .guest
        .insert_markdown("[then](date://2026-01-01) [later](date://2026-01-02)", scene.seen)
        .unwrap();
    let told = || scene.ask("fetch", json!({"id": scene.seen, "maxDepth": 1}));
    let before = told();
    let day = Position::end_of_day(leafbase::DayRef::Date("2026-01-01".parse().unwrap()));
    scene.all.insert_markdown("zqcanary", day).unwrap();
    assert_eq!(told(), before);
    assert!(before.json.contains("date://2026-01-01"));
    assert!(!scene.ask("fetch", json!({"date": "2026-01-01"})).is_ok);
}

#[test]
fn options_of_other_collections_are_never_told() {
    let scene = scene();
    let select =
        |option: &str| json!([{"name": "State", "type": "select", "options": [{"name": option}]}]);
    scene.collection(scene.hidden, select("zqcanary"));
    let own = scene.collection(scene.seen, select("Open"));
    let reply = scene.ask(
        "add_items",
        json!({"collectionId": own, "items": [{"title": "x", "properties": {"state": "?"}}]}),
    );
    assert!(reply.json.contains("Open") && !reply.json.contains("zqcanary"), "{}", reply.json);
    let schema = scene.ask("schema", json!({"collectionId": own, "allowNewSelectOptions": true}));
    assert!(!schema.json.contains("zqcanary"));
}

#[test]
fn what_left_the_scope_is_not_found_by_an_index_that_lags() {
    let scene = scene();
    let blocks = scene.guest.insert_markdown("birch\n\ncedar", scene.seen).unwrap();
    scene.space.flush_search().unwrap();
    assert_eq!([scene.found("birch"), scene.found("cedar")], [1, 1]);
    scene.all.move_blocks(MoveBlocks::new([blocks[0].id], Position::end_of(scene.hidden))).unwrap();
    scene.all.delete_blocks(DeleteBlocks::from(blocks[1].id)).unwrap();
    assert_eq!([scene.found("birch"), scene.found("cedar"), scene.found("amber")], [0, 0, 1]);
    scene.scope.remove([scene.seen]);
    assert_eq!([scene.found("amber"), scene.found(SearchDocuments::pattern("a.*"))], [0, 0]);
}

#[test]
fn words_of_relations_folders_files_and_parents_find_nothing() {
    let scene = scene();
    let hidden = scene.collection(scene.hidden, json!([]));
    let related = json!({"collectionId": hidden, "items": [{"title": "zqcanary"}]});
    let related = scene.all.add_items(read(&related)).unwrap()[0].id;
    let seen = scene.collection(
        scene.seen,
        json!([{"name": "zqcanary", "type": "relation", "targetCollectionId": hidden}]),
    );
    let item = json!({"collectionId": seen, "items": [{"title": "dune", "properties": {"zqcanary": [related]}}]});
    scene.all.add_items(read(&item)).unwrap();
    let folder = scene.all.create_folder("zqcanary", None).unwrap().id;
    scene
        .all
        .move_documents(leafbase::MoveDocuments::new(
            [scene.seen],
            leafbase::Destination::Folder(folder),
        ))
        .unwrap();
    scene.all.upload_file(UploadFile::new(scene.hidden).named("zqcanary.txt"), &b"x"[..]).unwrap();
    assert_eq!(scene.found("dune"), 1, "the control");
    let searched = [
        scene.found("zqcanary"),
        scene.found("zqc"),
        scene.found(SearchDocuments::pattern("zqcanary")),
        scene.guest.search_blocks(SearchBlocks::new(scene.seen, "zqcanary")).unwrap().items.len(),
    ];
    assert_eq!(searched, [0; 4]);
}

#[test]
fn query_syntax_reaches_no_field() {
    let scene = scene();
    let hidden = scene.hidden;
    for query in [
        "*",
        "title:zqcanary",
        "_all:zqcanary",
        "zqcanary~2",
        "amber OR zqcanary",
        "-nothing",
        "[a TO z]",
        "zq*",
    ] {
        // The document that has all words but one is found by these words.
        let has_words = matches!(query, "amber OR zqcanary" | "[a TO z]");
        let is_complete = query == "[a TO z]" && scene.found("a to z") == 1;
        let all = scene.found(SearchDocuments::words(query).all_words());
        assert_eq!(all, usize::from(is_complete), "{query}");
        assert!(scene.found(query) <= usize::from(has_words), "{query}");
    }
    assert_eq!(scene.found(format!("document:{hidden}").as_str()), 0);
    assert_eq!(scene.found(hidden.to_string().as_str()), 0);
}

#[test]
fn context_ends_with_the_document() {
    let scene = scene();
    scene.guest.insert_markdown("birch", scene.seen).unwrap();
    let reply = scene.ask(
        "search_blocks",
        json!({"blockId": scene.seen, "pattern": "birch", "beforeBlockCount": 100, "afterBlockCount": 100}),
    );
    assert_eq!(reply.value()["items"][0]["afterBlocks"], json!([]));
    assert_eq!(reply.value()["items"][0]["beforeBlocks"].as_array().unwrap().len(), 1);
    assert!(!reply.debug.contains("zqcanary"));
}

#[test]
fn scopes_of_one_space_see_each_their_own() {
    let scene = scene();
    scene
        .all
        .insert_markdown(&format!("birch [there](block://{})", scene.seen), scene.hidden)
        .unwrap();
    scene
        .guest
        .insert_markdown(&format!("birch [there](block://{})", scene.hidden), scene.seen)
        .unwrap();
    let other = scene.space.scoped([scene.hidden]);
    let own = |notes: &Connection<Scoped>, home: DocumentId| {
        let found: Vec<_> =
            notes.search("birch").unwrap().iter().map(|found| found.document_id).collect();
        assert_eq!(found, [home]);
        assert_eq!(notes.content_markdown(home).unwrap(), "birch [there](invalid:out_of_scope#1)");
    };
    for _ in 0..2 {
        own(&scene.guest, scene.seen);
        own(&other, scene.hidden);
        assert_eq!(scene.all.search("birch").unwrap().len(), 2);
        assert_eq!(
            scene.space.scoped([scene.seen, scene.hidden]).content_markdown(scene.seen).unwrap(),
            scene.all.content_markdown(scene.seen).unwrap()
        );
    }
}

#[test]
fn an_author_is_a_name_and_nothing_more() {
    let scene = scene();
    let block = scene.all.acting_as("Ada").insert_markdown("x", scene.seen).unwrap()[0].id;
    let metadata =
        scene.ask("fetch", json!({"id": block, "fetchMetadata": true})).value()["metadata"].clone();
    let names: Vec<&str> = metadata.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["createdAt", "createdBy", "documentId", "lastModifiedAt", "lastModifiedBy"]);
    assert_eq!([&metadata["createdBy"], &metadata["lastModifiedBy"]], ["Ada", "Ada"]);
}

#[test]
fn an_address_of_a_file_says_nothing_of_its_bytes_and_gives_none_of_them() {
    let scene = scene();
    let upload = |notes: &Connection, home: DocumentId| {
        notes.upload_file(UploadFile::new(home), &b"the same"[..]).unwrap().asset_url
    };
    let (hidden, own) = (upload(&scene.all, scene.hidden), upload(&scene.all, scene.seen));
    assert_ne!(hidden.id(), own.id(), "the same bytes are another file");
    let mut text = String::new();
    scene.guest.open_file(own.id()).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "the same");
    // What names it where no block is shows it to nobody.
    let collection = scene.collection(
        scene.seen,
        json!([{"name": "Note", "type": "text"}, {"name": "Site", "type": "url"}]),
    );
    for (operation, body) in [
        (
            "comment",
            json!({"comments": [{"blockId": scene.seen, "content": format!("[x]({hidden})")}]}),
        ),
        ("insert", json!({"markdown": format!("`{hidden}`"), "position": {"pageId": scene.seen}})),
        (
            "insert",
            json!({"blocks": [{"type": "code", "rawCode": hidden}], "position": {"pageId": scene.seen}}),
        ),
        (
            "insert",
            json!({"blocks": [{"type": "richUrl", "url": hidden}], "position": {"pageId": scene.seen}}),
        ),
        (
            "insert",
            json!({"blocks": [{"type": "image", "url": hidden}], "position": {"pageId": scene.seen}}),
        ),
        (
            "insert",
            json!({"markdown": format!("![x]({hidden})"), "position": {"pageId": scene.seen}}),
        ),
        (
            "add_items",
            json!({"collectionId": collection, "items": [{"title": "x", "properties": {"note": format!("[x]({hidden})"), "site": hidden}}]}),
        ),
        ("update", json!({"blocks": [{"id": scene.seen, "markdown": format!("[x]({hidden})")}]})),
    ] {
        scene.ask(operation, body.clone());
        assert_eq!(
            scene.guest.file(hidden.id()).unwrap_err().kind(),
            ErrorKind::NotFound,
            "{operation} {body}"
        );
        assert_eq!(
            scene.guest.open_file(hidden.id()).unwrap_err().kind(),
            ErrorKind::NotFound,
            "{operation} {body}"
        );
    }
}

#[test]
fn a_page_sees_the_scope_as_it_is_then() {
    let scene = scene();
    let collection = scene.collection(scene.seen, json!([]));
    let items = json!({"collectionId": collection, "items": [{"title": "a"}, {"title": "b"}, {"title": "c"}]});
    scene.guest.add_items(read(&items)).unwrap();
    let first = scene.guest.items(GetItems::of(collection).limit(1)).unwrap();
    let cursor = first.next_cursor.unwrap();
    let next = || scene.guest.items(GetItems::of(collection).limit(1).after(cursor.clone()));
    assert_eq!(next().unwrap().items[0].title, "b");
    scene.scope.remove([scene.seen]);
    assert_eq!(next().unwrap_err().kind(), ErrorKind::NotFound);
    // A cursor of somebody else opens nothing.
    let other = scene.space.scoped([scene.hidden]);
    assert_eq!(
        other.items(GetItems::of(collection).after(cursor.clone())).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    scene.scope.add([scene.seen]);
    assert_eq!(next().unwrap().items[0].title, "b");
}
