//! Collections made at any position, listed, and their schemas shown.

use leafbase::{BlockId, BlockKind, DayRef, DeleteDocuments, Fetch, InsertBlocks, Limits};
use serde_json::{Value, json};

use super::shelf::{Shelf, column, end, relation, schema, select, with};

#[test]
fn a_collection_is_made_with_keys_for_its_properties() {
    let mut shelf = Shelf::new();
    let body = json!({"schema": {"name": " *My*\nbooks ", "properties": [
        {"name": "Read", "type": "checkbox"}, {"name": "read", "type": "link"}, select("State", "select", &["open"])]},
        "position": end("library")});
    let reply = shelf.ask("create", &body).unwrap();
    shelf.name("made", reply["id"].as_str().unwrap().parse().unwrap());
    let schema = json!({"key": "my_books", "name": "*My* books", "contentPropDetails": {"key": "title", "name": "Title"}, "properties": [
        {"key": "read", "name": "Read", "type": "boolean"}, {"key": "read_2", "name": "read", "type": "url"},
        {"key": "state", "name": "State", "type": "singleSelect", "options": [{"name": "open"}]}]});
    let id = shelf.id("made");
    assert_eq!(
        reply,
        json!({"id": id, "collectionBlockId": id, "name": "*My* books", "schema": schema})
    );
    assert_eq!(
        shelf.ask("schema", &json!({"collectionId": "@made", "format": "schema"})).unwrap(),
        schema
    );
    let block = shelf.notes.fetch(Fetch::new(shelf.id("made")).depth(0)).unwrap();
    assert_eq!(
        (block.data.kind, block.data.inline.as_str()),
        (BlockKind::Collection, "*My* books")
    );
    shelf.check();
}

#[test]
fn a_schema_is_shown_in_two_formats() {
    let mut shelf = Shelf::new();
    shelf.create("books", "library", json!([select("State", "select", &["open"])]));
    let ask = |body: Value| shelf.ask("schema", &body).unwrap();
    let state =
        |body: Value| ask(body)["$defs"]["properties"]["properties"]["state"]["anyOf"][1].clone();
    assert_eq!(
        ask(json!({"collectionId": "@books"}))["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert_eq!(
        state(json!({"collectionId": "@books", "format": "json-schema-items"})),
        json!({"enum": ["open"]})
    );
    let new_options = state(json!({"collectionId": "@books", "allowNewSelectOptions": true}));
    assert_eq!(new_options["anyOf"][0], json!({"enum": ["open"]}));
    assert_eq!(ask(json!({"collectionId": "@books", "format": "schema"}))["name"], "books");
    for id in ["@library", "01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        for format in ["schema", "json-schema-items"] {
            let line = shelf.line("schema", &json!({"collectionId": id, "format": format}));
            assert_eq!(line, "NOT_FOUND collectionId: no collection has this ID");
        }
    }
}

/// Where a collection `x` comes among the blocks of the library: `a`, a page with `c` in it, an
/// image.
#[test]
fn a_collection_stands_at_any_position() {
    let scene = || {
        let mut shelf = Shelf::new();
        let blocks = json!({"blocks": [{"type": "text", "markdown": "a"}, {"type": "page", "markdown": "b",
            "content": [{"type": "text", "markdown": "c"}]}, {"type": "image", "url": "u"}], "position": end("library")});
        let insert: InsertBlocks = shelf.request(&blocks).unwrap();
        let made = shelf.notes.insert_blocks(insert).unwrap();
        for (name, id) in [
            ("a", made[0].id),
            ("b", made[1].id),
            ("c", made[1].children()[0].id),
            ("image", made[2].id),
        ] {
            shelf.name(name, id);
        }
        shelf
    };
    let outline = |shelf: &Shelf| {
        let library = shelf.notes.fetch(Fetch::new(shelf.id("library"))).unwrap();
        let shown = |(depth, block): (usize, &leafbase::Block)| {
            format!("{depth}{} {}", block.data.block_type(), block.data.inline)
        };
        library.walk().skip(1).map(shown).collect::<Vec<_>>().join(", ")
    };
    for (position, expected) in [
        (
            json!({"position": "start", "pageId": "@library"}),
            "1collection x, 1text a, 1page b, 2text c, 1image ![](u)",
        ),
        (
            json!({"position": "end", "pageId": "@library"}),
            "1text a, 1page b, 2text c, 1image ![](u), 1collection x",
        ),
        (
            json!({"position": "end", "pageId": "@b"}),
            "1text a, 1page b, 2text c, 2collection x, 1image ![](u)",
        ),
        (
            json!({"position": "before", "siblingId": "@c"}),
            "1text a, 1page b, 2collection x, 2text c, 1image ![](u)",
        ),
        (
            json!({"position": "after", "siblingId": "@a"}),
            "1text a, 1collection x, 1page b, 2text c, 1image ![](u)",
        ),
        (
            json!({"position": "end", "pageId": "@a"}),
            "1page a, 2collection x, 1page b, 2text c, 1image ![](u)",
        ),
        (
            json!({"position": "end", "pageId": "@image"}),
            "RULE_VIOLATION position.pageId: a block of type image cannot have children",
        ),
        (
            json!({"position": "before", "siblingId": "@library"}),
            "INVALID_POSITION position.siblingId: the root of a document has no siblings",
        ),
        (
            json!({"position": "end", "pageId": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
            "NOT_FOUND position.pageId: no block has this ID",
        ),
        (
            json!({"position": "after", "siblingId": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
            "NOT_FOUND position.siblingId: no block has this ID",
        ),
    ] {
        let shelf = scene();
        let (before, sequence) = (shelf.dump(), shelf.notes.last_sequence().unwrap());
        let line =
            shelf.line("create", &json!({"schema": schema("x", json!([])), "position": position}));
        if line.starts_with('{') {
            assert_eq!(outline(&shelf), expected, "{position}");
            shelf.undo_to(sequence, &before);
        } else {
            assert_eq!((line.as_str(), shelf.dump()), (expected, before), "{position}");
        }
        shelf.check();
    }
}

#[test]
fn nothing_but_items_stands_in_a_collection() {
    let shelf = Shelf::of_books();
    let refused = "a block of type collection contains only items; use the item operations";
    for (position, path) in
        [(end("books"), "pageId"), (json!({"position": "after", "siblingId": "@b1"}), "siblingId")]
    {
        let line =
            shelf.line("create", &json!({"schema": schema("x", json!([])), "position": position}));
        assert_eq!(line, format!("RULE_VIOLATION position.{path}: {refused}"));
    }
    // In the page of an item there is room.
    assert!(
        shelf
            .ask("create", &json!({"schema": schema("x", json!([])), "position": end("b1")}))
            .is_ok()
    );
    shelf.check();
}

#[test]
fn a_day_has_room_for_collections() {
    let shelf = Shelf::new();
    let [one, two] = [
        json!({"schema": schema("x", json!([]))}),
        json!({"schema": schema("y", json!([])), "position": {"position": "end", "date": "today"}}),
    ]
    .map(|body| {
        shelf.ask("create", &body).unwrap()["id"].as_str().unwrap().parse::<BlockId>().unwrap()
    });
    let note = shelf.notes.fetch(Fetch::day(DayRef::Today)).unwrap();
    assert_eq!(note.children().iter().map(|block| block.id).collect::<Vec<_>>(), [one, two]);
    // What is refused makes no note.
    let documents = shelf.notes.documents().unwrap().len();
    let line = shelf.line(
        "create",
        &json!({"schema": schema(" ", json!([])), "position": {"position": "end", "date": "tomorrow"}}),
    );
    assert_eq!(
        (line.as_str(), shelf.notes.documents().unwrap().len()),
        ("VALIDATION schema.name: the name is blank", documents)
    );
    shelf.check();
}

/// Of a schema that is given to a new collection and to one that there is.
#[test]
fn a_schema_that_cannot_be_is_refused_at_its_path() {
    let shelf = Shelf::of_books();
    let before = shelf.dump();
    let long = "x".repeat(1_001);
    for (draft, expected) in [
        (schema(" \n ", json!([])), "VALIDATION schema.name: the name is blank"),
        (
            schema(&long, json!([])),
            "LIMIT_EXCEEDED schema.name: characters of a name: at most 1000, got 1001",
        ),
        (
            schema("<highlight color='puce'>x</highlight>", json!([])),
            "INVALID_MARKDOWN schema.name",
        ),
        (json!({"properties": []}), "VALIDATION schema.name: the field `name` is missing"),
        (json!({"name": "x"}), "VALIDATION schema.properties: the field `properties` is missing"),
        (
            schema("x", json!([{"name": "A", "type": "colour"}])),
            "VALIDATION schema.properties[0].type",
        ),
        (
            schema("x", json!([column("A", "text"), column(" ", "text")])),
            "VALIDATION schema.properties[1].name: the name is blank",
        ),
        (
            schema("x", json!([select("A", "select", &["a", "a"])])),
            "VALIDATION schema.properties[0].options[1].name: \"a\" is an option already",
        ),
        (
            schema(
                "x",
                json!([
                    with(column("A", "text"), json!({"key": "title"})),
                    with(column("B", "text"), json!({"key": "title"}))
                ]),
            ),
            "VALIDATION schema.properties[",
        ),
        (
            schema("x", json!([relation("A", "@library")])),
            "NOT_FOUND schema.properties[0].targetCollectionId: no collection has this ID",
        ),
        (
            schema("x", json!([relation("A", "01ARZ3NDEKTSV4RRFFQ69G5FAV")])),
            "NOT_FOUND schema.properties[0].targetCollectionId: no collection has this ID",
        ),
        (
            schema("x", json!([with(relation("A", "@people"), json!({"inverseKey": "title"}))])),
            "VALIDATION schema.properties[0].inverseKey: \"title\" is a key already in the collection \"people\"",
        ),
        (
            schema(
                "x",
                json!([
                    column("B", "text"),
                    with(relation("A", "self"), json!({"inverseKey": "b"}))
                ]),
            ),
            "VALIDATION schema.properties[1].inverseKey: the property \"b\" cannot be the other end of \"a\"",
        ),
    ] {
        for (operation, body) in [
            ("create", json!({"schema": draft, "position": end("library")})),
            ("replace", json!({"collectionId": "@books", "schema": draft})),
        ] {
            let line = shelf.line(operation, &body);
            assert!(line.starts_with(expected), "{operation}: {line}, expected {expected}");
        }
    }
    assert_eq!(shelf.dump(), before);
    for id in ["@library", "@b1", "01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        let line =
            shelf.line("replace", &json!({"collectionId": id, "schema": schema(" ", json!([]))}));
        assert_eq!(line, "NOT_FOUND collectionId: no collection has this ID");
    }
}

#[test]
fn collections_are_listed_by_document() {
    let mut shelf = Shelf::of_books();
    shelf.create("more", "library", json!([]));
    let listed = |shelf: &Shelf, body: Value| shelf.line("list", &body).replace("\"", "");
    let [books, people, more] = [
        "{documentId:@library,id:@books,itemCount:2,name:books}",
        "{documentId:@club,id:@people,itemCount:2,name:people}",
        "{documentId:@library,id:@more,itemCount:0,name:more}",
    ];
    for (body, expected) in [
        (json!({}), format!("{{items:[{books},{more},{people}]}}")),
        (json!({"documentIds": "@library"}), format!("{{items:[{books},{more}]}}")),
        (
            json!({"documentIds": ["@club"], "documentFilterMode": "include"}),
            format!("{{items:[{people}]}}"),
        ),
        (
            json!({"documentIds": ["@club", "@library", "@club"]}),
            format!("{{items:[{books},{more},{people}]}}"),
        ),
        (json!({"documentIds": []}), "{items:[]}".to_owned()),
        (
            json!({"documentIds": ["@club", "@books"]}),
            "NOT_FOUND documentIds[1]: no document has this ID".to_owned(),
        ),
        (
            json!({"documentIds": ["@club"], "documentFilterMode": "exclude"}),
            "VALIDATION documentFilterMode: a connection to the full space takes include alone"
                .to_owned(),
        ),
        (json!({"documentFilterMode": "include"}), format!("{{items:[{books},{more},{people}]}}")),
        (json!({"documentFilterMode": "exclude"}), format!("{{items:[{books},{more},{people}]}}")),
    ] {
        assert_eq!(listed(&shelf, body.clone()), expected, "{body}");
    }
    // In the trash they are listed, too.
    shelf.notes.delete_documents(DeleteDocuments::new([shelf.document("people")])).unwrap();
    assert_eq!(listed(&shelf, json!({"documentIds": "@club"})), format!("{{items:[{people}]}}"));
    assert_eq!(listed(&shelf, json!({})), format!("{{items:[{books},{more},{people}]}}"));
}

#[test]
fn a_collection_below_a_task_of_the_inbox_is_in_no_listing() {
    let mut shelf = Shelf::new();
    let task = json!({"tasks": [{"markdown": "t"}]});
    let made = shelf.notes.add_tasks(shelf.request(&task).unwrap()).unwrap();
    shelf.name("task", made[0].id);
    let inbox = shelf.document("task");
    shelf.name("inbox", inbox.root());
    let create = |home: &str| {
        shelf.line("create", &json!({"schema": schema("x", json!([])), "position": end(home)}))
    };
    assert!(
        create("inbox")
            .starts_with("RULE_VIOLATION position.pageId: the inbox contains only tasks")
    );
    assert!(create("task").starts_with('{'));
    for body in [json!({}), json!({"documentIds": "@inbox"})] {
        assert_eq!(shelf.line("list", &body), r#"{"items":[]}"#);
    }
    shelf.check();
}

#[test]
fn a_place_too_deep_and_a_name_too_long_are_refused() {
    let mut limits = Limits::default();
    (limits.page_nesting, limits.block_text) = (1, 8);
    let mut shelf = Shelf::with_limits(limits);
    let page = shelf
        .request(
            &json!({"blocks": [{"type": "page", "markdown": "b"}], "position": end("library")}),
        )
        .unwrap();
    let made = shelf.notes.insert_blocks(page).unwrap()[0].id;
    shelf.name("page", made);
    for (home, name, expected) in [
        ("page", "x", "LIMIT_EXCEEDED position.pageId: pages within pages: at most 1, got 2"),
        (
            "library",
            "nine char",
            "LIMIT_EXCEEDED schema.name: bytes of a block's text: at most 8, got 9",
        ),
    ] {
        let line = shelf
            .line("create", &json!({"schema": schema(name, json!([])), "position": end(home)}));
        assert_eq!(line, expected);
    }
}
