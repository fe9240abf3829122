//! Requests that are refused as a whole: what is named is not there, is too much, or is told before
//! another fault.

use leafbase::Limits;

use super::library::Library;

fn library() -> Library {
    let mut library = Library::new();
    library.run(&[
        ("add people", r#"[{"title":"Ada"}]"#, "Ada"),
        (
            "add books",
            r#"[{"name":"Dune","content":[{"type":"text","markdown":"words"}]},{"name":"Emma"}]"#,
            "Dune Emma",
        ),
    ]);
    let dune =
        library.notes.fetch(leafbase::Fetch::new(library.id::<leafbase::BlockId>("Dune"))).unwrap();
    library.name("words", &dune.children()[0].id.to_string());
    library.name("gone", "01KASZ4ZJG0000000000000001");
    library
}

#[test]
fn what_is_named_is_there() {
    let missing = "NOT_FOUND collectionId: no collection has this ID";
    let mut library = library();
    for collection in ["gone", "home", "Dune", "words"] {
        library.run(&[
            (&format!("add {collection}"), r#"[{"pages":1}]"#, missing),
            (&format!("update {collection}"), r#"[{"id":"@Dune"}]"#, missing),
            (&format!("delete {collection}"), r#"["@Dune"]"#, missing),
        ]);
    }
    for item in ["gone", "home", "books", "Ada", "words"] {
        library.run(&[
            (
                "update books",
                &format!(r#"[{{"id":"@Dune"}},{{"id":"@{item}"}},{{"id":"@{item}"}}]"#),
                "NOT_FOUND itemsToUpdate[1].id: no item has this ID",
            ),
            (
                "delete books",
                &format!(r#"["@Dune","@{item}","@{item}"]"#),
                "NOT_FOUND idsToDelete[1]: no item has this ID",
            ),
        ]);
    }
    let dune: leafbase::BlockId = library.id("Dune");
    library.run(&[
        ("update books", r#"[{"id":"@Dune"},{"id":"@Dune"}]"#, "VALIDATION itemsToUpdate[1].id: the item occurs twice in the request"),
        ("delete books", r#"["@Dune","@Dune"]"#, &format!("VALIDATION idsToDelete[1]: item {dune} is named twice")),
        (
            "update books",
            r#"[{"id":"@Dune","content":[]}]"#,
            "VALIDATION itemsToUpdate[0].content: an update of a block leaves its content as it is: update the blocks in it, insert or delete them",
        ),
    ]);
}

#[test]
fn an_empty_request_changes_nothing() {
    let mut library = library();
    let before = library.dump();
    library.run(&[
        ("add books", "[]", ""),
        ("update books", "[]", ""),
        ("delete books", "[]", ""),
        ("add+ books", "[]", ""),
    ]);
    assert_eq!(library.dump(), before);
}

/// Two entries that are wrong each in its own way, in both orders.
#[test]
fn the_first_entry_at_fault_is_told() {
    let added = [
        r#"{"properties":{"pages":"x"}}"#,
        r#"{"name":"a\n\nb"}"#,
        r#"{"content":[{"type":"collection"}]}"#,
        r#"{"properties":{"by":"@gone"}}"#,
    ];
    let updated = [
        r#"{"id":"@Dune","properties":{"pages":"x"}}"#,
        r#"{"id":"@gone"}"#,
        r#"{"id":"@Emma","name":"a\n\nb"}"#,
        r#"{"id":"@Emma","properties":{"by":"@gone"}}"#,
    ];
    for (operation, list, entries) in
        [("add books", "items", added), ("update books", "itemsToUpdate", updated)]
    {
        for (first, second) in
            [(0, 1), (1, 0), (0, 2), (2, 0), (0, 3), (3, 0), (1, 2), (2, 1), (1, 3), (3, 1)]
        {
            let found =
                library().line(operation, &format!("[{},{}]", entries[first], entries[second]));
            assert!(found.contains(&format!(" {list}[0].")), "{first} {second}: {found}");
        }
    }
}

#[test]
fn a_request_has_no_more_entries_than_the_limit() {
    let mut limits = Limits::default();
    limits.blocks_per_request = 3;
    let mut library = Library::with_limits(limits);
    let refused = |what: &str, list: &str| {
        format!("LIMIT_EXCEEDED {list}: {what} in one request: at most 3, got 4")
    };
    library.run(&[
        ("add books", r#"[{"name":"a"},{"name":"b"},{"name":"c"}]"#, "a b c"),
        ("add books", r#"[{},{},{},{}]"#, &refused("items", "items")),
        (
            "add books",
            r#"[{"content":[{"type":"line"}]},{"content":[{"type":"line"}]}]"#,
            &refused("blocks", "items"),
        ),
        ("add books", r#"[{"name":"d","content":[{"type":"text","markdown":"x\n\ny"}]}]"#, "d"),
        (
            "update books",
            r#"[{"id":"@a"},{"id":"@b"},{"id":"@c"},{"id":"@d"}]"#,
            &refused("items", "itemsToUpdate"),
        ),
        ("delete books", r#"["@a","@b","@c","@d"]"#, &refused("items", "idsToDelete")),
        ("delete books", r#"["@a","@b","@c"]"#, "a b c"),
    ]);
}
