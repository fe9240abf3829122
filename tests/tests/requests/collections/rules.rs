//! What may stand where, and that items are pages.

use serde_json::{Value, json};

use super::shelves::Shelves;

fn at_end(page: &str) -> Value {
    json!({"position": "end", "pageId": page})
}

fn beside(side: &str, sibling: &str) -> Value {
    json!({"position": side, "siblingId": sibling})
}

fn moving(block: &str, position: Value) -> Value {
    json!({"blockIds": [block], "position": position})
}

#[test]
fn items_enter_leave_and_stand_by_their_own_operations_alone() {
    let shelves = Shelves::of_books();
    let before = shelves.show();
    let put = |position: Value| json!({"markdown": "text", "position": position});
    let only_items = "a block of type collection contains only items; use the item operations";
    let stays = "blockIds[0]: a block of type collectionItem cannot be moved; only its deletion removes it from its collection";
    let below = "blockIds[0]: a block cannot be moved below itself or its descendants";
    for (operation, body, message) in [
        ("move_blocks", moving("@dune", at_end("@home")), stays.to_owned()),
        ("move_blocks", moving("@dune", at_end("@frank")), stays.to_owned()),
        (
            "move_blocks",
            moving("@dune", beside("before", "@messiah")),
            format!("position.siblingId: {only_items}"),
        ),
        (
            "move_blocks",
            moving("@frank", at_end("@books")),
            format!("position.pageId: {only_items}"),
        ),
        (
            "move_blocks",
            moving("@books", beside("after", "@frank")),
            format!("position.siblingId: {only_items}"),
        ),
        ("move_blocks", moving("@books", at_end("@omelas")), below.to_owned()),
        ("move_blocks", moving("@books", at_end("@spice")), below.to_owned()),
        ("insert_blocks", put(at_end("@books")), format!("position.pageId: {only_items}")),
        (
            "insert_blocks",
            put(beside("after", "@dune")),
            format!("position.siblingId: {only_items}"),
        ),
        (
            "insert_blocks",
            json!({"blocks": [{"type": "collectionItem", "markdown": "x"}], "position": at_end("@home")}),
            "blocks[0].type: a block of type collectionItem is created by the item operations"
                .to_owned(),
        ),
        (
            "update_blocks",
            json!({"blocks": [{"id": "@dune", "properties": {"pages": 1}}]}),
            "blocks[0].properties: properties are given with the operations on collection items"
                .to_owned(),
        ),
        (
            "update_blocks",
            json!({"blocks": [{"id": "@dune", "type": "page"}]}),
            "blocks[0].type: a block of type collectionItem cannot become one of type page"
                .to_owned(),
        ),
        (
            "update_blocks",
            json!({"blocks": [{"id": "@dune", "markdown": "one\n\ntwo"}]}),
            "blocks[0].markdown: the title of an item is one paragraph".to_owned(),
        ),
        (
            "update_blocks",
            json!({"blocks": [{"id": "@dune", "title": "one\n\ntwo"}]}),
            "blocks[0].title: the title of an item is one paragraph".to_owned(),
        ),
    ] {
        let error = shelves.run_json(operation, body.clone()).expect_err(&body.to_string());
        assert_eq!(shelves.with_names(&error.to_string()), message, "{operation} {body}");
    }
    assert_eq!(shelves.show(), before);
    shelves.check();
}

/// The items of a collection under the limit on nesting, of which they are a level.
#[test]
fn collections_nest_as_deep_as_pages_may() {
    let mut limits = leafbase::Limits::default();
    limits.page_nesting = 4;
    let mut shelves = Shelves::with_limits(limits);
    shelves.create("outer", "home", json!({"name": "Outer", "properties": []}));
    shelves.add("outer", &[("item", json!({}))]);
    shelves.create("inner", "item", json!({"name": "Inner", "properties": []}));
    shelves.add("inner", &[("deep", json!({}))]);
    let page = shelves.request(
        &json!({"blocks": [{"type": "page", "markdown": "p"}], "position": at_end("@other")}),
    );
    let page = shelves.notes.insert_blocks(page.unwrap()).unwrap()[0].id;
    shelves.name("page", page);
    let too_deep = |shelves: &Shelves, operation: &str, body: Value| {
        let error = shelves.run_json(operation, body).unwrap_err().to_string();
        assert!(error.ends_with("pages within pages: at most 4, got 5"), "{error}");
        shelves.check();
    };
    too_deep(&shelves, "move_blocks", moving("@outer", at_end("@page")));
    too_deep(&shelves, "insert_blocks", json!({"markdown": "x", "position": at_end("@deep")}));
    shelves.run_json("move_blocks", moving("@outer", at_end("@other"))).unwrap();
    shelves.run_json("move_blocks", moving("@inner", at_end("@page"))).unwrap();
    shelves.run_json("move_blocks", moving("@page", at_end("@item"))).unwrap_err();
    shelves.check();
}

#[test]
fn items_are_pages() {
    let mut shelves = Shelves::of_books();
    let put = |text: &str| json!({"markdown": text, "position": at_end("@omelas")});
    let added = shelves.request(&put("- [ ] read it\n- [x] buy it\n\nsee [Dune](block://@dune)"));
    let added = shelves.notes.insert_blocks(added.unwrap()).unwrap();
    for (name, block) in ["read", "buy", "see"].into_iter().zip(added.iter()) {
        shelves.name(name, block.id);
    }
    shelves.check();
    // An item as a block: its title under the schema's key, its values, its page.
    let shown = shelves.run_json("fetch", json!({"id": "@omelas"})).unwrap();
    assert_eq!(shown["type"], "collectionItem");
    assert_eq!(shown["content"].as_array().unwrap().len(), 3);
    let titles = |value: &Value| {
        let relations = value["relations"].as_array().cloned().unwrap_or_default();
        relations
            .iter()
            .map(|item| item["title"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join("+")
    };
    assert_eq!(titles(&shown["properties"]["author"]), "ursula+frank");
    assert_eq!(titles(&shown["properties"]["notes"]), "walk");
    assert_eq!(shown["title"], "omelas");
    let cut = shelves.run_json("fetch", json!({"id": "@omelas", "maxDepth": 0})).unwrap();
    assert_eq!(cut["contentPreview"], "read it buy it see Dune");
    let updated = shelves.run_json(
        "update_blocks",
        json!({"blocks": [{"id": "@omelas", "markdown": "# The *ones*"}]}),
    );
    let updated = updated.unwrap()["items"][0].clone();
    assert_eq!(
        (titles(&updated["properties"]["author"]), &updated["title"]),
        ("ursula+frank".into(), &json!("# The *ones*"))
    );
    // A collection shows none of its items, wherever it stands.
    let home = shelves.run_json("fetch", json!({"id": "@home"})).unwrap();
    let books = &home["content"][0];
    assert_eq!(
        (&books["type"], &books["markdown"], books.get("content")),
        (&json!("collection"), &json!("Books"), None)
    );
    // Tasks on pages of items are tasks.
    let tasks = |scope: &str| {
        let listed = shelves.run_json("tasks", json!({"scope": scope})).unwrap();
        let items = listed["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|task| task["markdown"].as_str().unwrap().to_owned());
        items.collect::<Vec<_>>().join(" ")
    };
    let schedule =
        |day: &str| json!({"blocks": [{"id": "@read", "taskInfo": {"scheduleDate": day}}]});
    assert_eq!((tasks("active"), tasks("logbook")), (String::new(), "- [x] buy it".to_owned()));
    shelves.run_json("update_blocks", schedule("today")).unwrap();
    assert_eq!((tasks("active"), tasks("upcoming")), ("- [ ] read it".to_owned(), String::new()));
    shelves.run_json("update_blocks", schedule("tomorrow")).unwrap();
    assert_eq!((tasks("active"), tasks("upcoming")), (String::new(), "- [ ] read it".to_owned()));
    // Comments on items and on what is on their pages go with them.
    for block in ["@omelas", "@see"] {
        shelves
            .run_json("add_comments", json!({"comments": [{"blockId": block, "content": "hm"}]}))
            .unwrap();
    }
    let shown = shelves.run_json("fetch", json!({"id": "@omelas", "fetchMetadata": true})).unwrap();
    assert_eq!(shown["metadata"]["comments"][0]["content"], "hm");
    shelves.check();
    shelves
        .run_json("delete_items", json!({"collectionId": "@books", "idsToDelete": ["@omelas"]}))
        .unwrap();
    shelves.check();
    assert_eq!(tasks("upcoming"), "");
}

/// An item may be a task as a page may.
#[test]
fn items_and_collections_have_the_fields_that_pages_have() {
    let shelves = Shelves::of_books();
    for block in ["@dune", "@notes"] {
        let fields = json!({"id": block, "listStyle": "task", "taskInfo": {"state": "done"}, "indentationLevel": 2});
        shelves.run_json("update_blocks", json!({"blocks": [fields]})).unwrap();
        shelves.check();
    }
    let tasks = shelves.run_json("tasks", json!({"scope": "logbook"})).unwrap();
    assert_eq!(tasks["items"].as_array().unwrap().len(), 2);
}
