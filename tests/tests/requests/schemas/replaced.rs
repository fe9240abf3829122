//! Schemas replaced, with what that does to the items and to the other ends of relations.

use leafbase::{DeleteDocuments, Fetch};
use serde_json::{Value, json};

use super::shelf::{Shelf, column, end, relation, schema, select, with};

#[test]
fn both_ends_of_a_relation_are_in_the_schemas() {
    let people = || relation("Author", "@people");
    for (properties, books, in_people) in [
        (json!([people()]), "author*>books", "books>author"),
        (
            json!([people(), relation("Editor", "@people")]),
            "author*>books editor*>books_2",
            "books>author books_2>editor",
        ),
        (
            json!([with(people(), json!({"inverseKey": "wrote", "single": true}))]),
            "author*1>wrote",
            "wrote>author",
        ),
        (json!([relation("Sequel", "self")]), "sequel*>sequel_of sequel_of>sequel", ""),
        (json!([with(relation("Like", "self"), json!({"inverseKey": "like"}))]), "like*>like", ""),
        (
            json!([
                with(relation("Next", "self"), json!({"inverseKey": "previous"})),
                relation("Previous", "self")
            ]),
            "next*>previous previous>next",
            "",
        ),
    ] {
        for is_new in [true, false] {
            let mut shelf = Shelf::new();
            shelf.create("people", "club", json!([]));
            if is_new {
                shelf.create("books", "library", properties.clone());
            } else {
                shelf.create("books", "library", json!([]));
                shelf.replace("books", properties.clone());
            }
            assert_eq!(
                (shelf.columns("books").as_str(), shelf.columns("people").as_str()),
                (books, in_people)
            );
            shelf.check();
            // What is there already is not written.
            let sequence = shelf.notes.last_sequence().unwrap();
            let shown = shelf
                .ask("schema", &json!({"collectionId": "@books", "format": "schema"}))
                .unwrap();
            assert!(
                shelf
                    .line("replace", &json!({"collectionId": "@books", "schema": shown}))
                    .starts_with('{')
            );
            assert_eq!(shelf.notes.last_sequence().unwrap(), sequence, "{properties}");
        }
    }
}

#[test]
fn a_relation_that_goes_takes_the_other_end_and_its_values_along() {
    for (collection, edits) in [
        ("books", "update @b1, schema @people, schema @books"),
        ("people", "update @b1, schema @books, schema @people"),
    ] {
        let shelf = Shelf::of_books();
        shelf.replace("books", json!([relation("Author", "@people"), column("Size", "text")]));
        shelf.set("b1", json!({"author": ["@p1", "@p2"], "size": "12"}));
        shelf.set("b2", json!({"size": "13"}));
        let (before, sequence) = (shelf.dump(), shelf.notes.last_sequence().unwrap());
        let left = if collection == "books" { json!([column("Size", "text")]) } else { json!([]) };
        assert!(shelf.replace(collection, left).starts_with('{'));
        assert_eq!(
            (shelf.columns("books").as_str(), shelf.columns("people").as_str()),
            ("size", "")
        );
        assert_eq!(shelf.held("b1"), r#"{"size":"12"}"#);
        assert_eq!(shelf.last_edits(), edits);
        shelf.check();
        shelf.undo_to(sequence, &before);
    }
}

#[test]
fn adding_renaming_and_reordering_touch_no_item() {
    let shelf = Shelf::of_books();
    shelf.replace("books", json!([column("Size", "text"), select("State", "select", &["open"])]));
    shelf.set("b1", json!({"size": "12", "state": "open"}));
    for (properties, edits) in [
        (
            json!([column("Size", "text"), select("State", "select", &["new", "open"])]),
            "schema @books",
        ),
        (
            json!([select("State", "select", &["new", "open"]), column("Size", "text")]),
            "schema @books",
        ),
        (
            json!([select("State", "select", &["new", "open"]), {"key": "size", "name": "Pages", "type": "text"}]),
            "schema @books",
        ),
        (
            json!([select("State", "select", &["new", "open"]), {"key": "size", "name": "Pages", "type": "text"},
                column("Due", "date"), relation("Author", "@people"), relation("Sequel", "self")]),
            "schema @people, schema @books",
        ),
    ] {
        shelf.replace("books", properties);
        assert_eq!(shelf.last_edits(), edits);
        assert_eq!(shelf.held("b1"), r#"{"size":"12","state":"open"}"#);
        shelf.check();
    }
    assert_eq!(
        shelf.columns("books"),
        "state size due author*>books sequel*>sequel_of sequel_of>sequel"
    );
}

#[test]
fn the_name_of_the_schema_is_that_of_the_block() {
    let shelf = Shelf::of_books();
    let (before, sequence) = (shelf.dump(), shelf.notes.last_sequence().unwrap());
    let line = shelf.line(
        "replace",
        &json!({"collectionId": "@books", "schema": schema(" _Volumes_ ", json!([]))}),
    );
    let schema = r#"{"key":"books","name":"_Volumes_","contentPropDetails":{"key":"title","name":"Title"},"properties":[]}"#;
    assert_eq!(
        serde_json::from_str::<Value>(&line).unwrap(),
        json!({"id": "@books", "collectionBlockId": "@books", "name": "_Volumes_",
            "schema": serde_json::from_str::<Value>(schema).unwrap()})
    );
    assert_eq!(shelf.last_edits(), "schema @books, update @books");
    let block = shelf.notes.fetch(Fetch::new(shelf.id("books")).depth(0)).unwrap();
    assert_eq!((block.data.inline.as_str(), block.rev), ("_Volumes_", 2));
    shelf.check();
    shelf.undo_to(sequence, &before);
}

/// A column of the books, what two items hold in it, and what it becomes: the items in the way, and
/// what the two hold when they have given way.
#[test]
fn values_convert_or_are_in_the_way() {
    let open_or_shut = ["open", "shut"];
    for (column_before, first, second, column_after, in_the_way, held) in [
        (
            column("X", "text"),
            json!("12"),
            json!("large"),
            column("X", "number"),
            "@b2 \"b2\" (x)",
            ["{\"x\":12}", "{}"],
        ),
        (
            column("X", "text"),
            json!("12"),
            json!("large"),
            column("X", "url"),
            "",
            ["{\"x\":\"12\"}", "{\"x\":\"large\"}"],
        ),
        (
            column("X", "text"),
            json!("true"),
            json!("no"),
            column("X", "boolean"),
            "@b2 \"b2\" (x)",
            ["{\"x\":true}", "{}"],
        ),
        (
            column("X", "text"),
            json!("2026-03-01"),
            json!("soon"),
            column("X", "date"),
            "@b2 \"b2\" (x)",
            ["{\"x\":\"2026-03-01\"}", "{}"],
        ),
        (
            column("X", "text"),
            json!("a@b"),
            json!("a"),
            column("X", "email"),
            "@b2 \"b2\" (x)",
            ["{\"x\":\"a@b\"}", "{}"],
        ),
        (
            column("X", "date"),
            json!("day 2026-03-01"),
            json!("day 2026-03-02"),
            column("X", "text"),
            "",
            ["{\"x\":\"2026-03-01\"}", "{\"x\":\"2026-03-02\"}"],
        ),
        (
            column("X", "number"),
            json!(3),
            json!(0.5),
            column("X", "text"),
            "",
            ["{\"x\":\"3\"}", "{\"x\":\"0.5\"}"],
        ),
        (
            column("X", "number"),
            json!(3),
            json!(0.5),
            column("X", "date"),
            "@b1 \"b1\" (x), @b2 \"b2\" (x)",
            ["{}", "{}"],
        ),
        (
            column("X", "text"),
            json!("open"),
            json!("ajar"),
            select("X", "select", &open_or_shut),
            "@b2 \"b2\" (x: \"ajar\")",
            ["{\"x\":\"open\"}", "{}"],
        ),
        (
            select("X", "select", &open_or_shut),
            json!("open"),
            json!("shut"),
            select("X", "select", &["open"]),
            "@b2 \"b2\" (x: \"shut\")",
            ["{\"x\":\"open\"}", "{}"],
        ),
        (
            select("X", "select", &open_or_shut),
            json!("open"),
            json!("shut"),
            select("X", "multiSelect", &open_or_shut),
            "",
            ["{\"x\":[\"open\"]}", "{\"x\":[\"shut\"]}"],
        ),
        (
            select("X", "multiSelect", &open_or_shut),
            json!(["open"]),
            json!(["shut", "open"]),
            select("X", "multiSelect", &["open"]),
            "@b2 \"b2\" (x: \"shut\")",
            ["{\"x\":[\"open\"]}", "{\"x\":[\"open\"]}"],
        ),
        (
            select("X", "multiSelect", &open_or_shut),
            json!(["open"]),
            json!(["shut", "open"]),
            column("X", "text"),
            "@b2 \"b2\" (x)",
            ["{\"x\":\"open\"}", "{}"],
        ),
        (
            relation("X", "@people"),
            json!(["@p1"]),
            json!(["@p1", "@p2"]),
            with(relation("X", "@people"), json!({"single": true})),
            "@b2 \"b2\" (x)",
            ["{\"x\":{\"relations\":[{\"blockId\":\"@p1\"}]}}", "{}"],
        ),
        (
            relation("X", "@people"),
            json!(["@p1"]),
            json!(["@p1", "@p2"]),
            column("X", "text"),
            "@b1 \"b1\" (x), @b2 \"b2\" (x)",
            ["{}", "{}"],
        ),
        (
            relation("X", "@people"),
            json!(["@p1"]),
            json!(["@p1", "@p2"]),
            relation("X", "self"),
            "@b1 \"b1\" (x), @b2 \"b2\" (x)",
            ["{}", "{}"],
        ),
        (
            column("X", "text"),
            json!("p1"),
            json!("p2"),
            relation("X", "@people"),
            "@b1 \"b1\" (x), @b2 \"b2\" (x)",
            ["{}", "{}"],
        ),
        (
            with(relation("X", "self"), json!({"inverseKey": "x"})),
            json!(["@b2"]),
            json!(["@b2"]),
            with(relation("X", "self"), json!({"inverseKey": "x", "single": true})),
            "@b2 \"b2\" (x)",
            ["{}", "{}"],
        ),
    ] {
        let shelf = Shelf::of_books();
        // At both ends, the items of a collection are visited in its order.
        shelf.replace("books", json!([column_before]));
        shelf.set("b1", json!({"x": first}));
        shelf.set("b2", json!({"x": second}));
        shelf.check();
        let (before, sequence) = (shelf.dump(), shelf.notes.last_sequence().unwrap());
        let line = shelf.replace("books", json!([column_after]));
        if in_the_way.is_empty() {
            assert!(line.starts_with('{'), "{line}");
        } else {
            let mut named: Vec<_> = in_the_way.split(", ").collect();
            named.reverse();
            let expected = format!(
                "SCHEMA_MISMATCH schema: items have values that the new schema cannot hold, and dropUnconvertible is not set: {}",
                named.join(", ")
            );
            assert_eq!(
                (line.as_str(), shelf.dump()),
                (expected.as_str(), before.clone()),
                "{column_after}"
            );
            let line = shelf.replace_dropping("books", json!([column_after]));
            assert!(line.starts_with('{'), "{line}");
        }
        assert_eq!(
            ["b1", "b2"].map(|item| shelf.held(item)),
            held,
            "{column_before} to {column_after}"
        );
        shelf.check();
        shelf.undo_to(sequence, &before);
    }
}

#[test]
fn values_follow_options_that_are_renamed() {
    let states = |one: &str, of: &[&str]| select("State", one, of);
    let renames = |pairs: &[[&str; 2]]| -> Value {
        let rename = |[from, to]: &[&str; 2]| json!({"property": "state", "from": from, "to": to});
        pairs.iter().map(rename).collect()
    };
    let (single, multi) = ("select", "multiSelect");
    for (before, after, pairs, values, held, edits) in [
        // One is renamed, others stay as they are.
        (
            states(single, &["open", "shut"]),
            states(single, &["doing", "shut"]),
            &[["open", "doing"]][..],
            [json!("open"), json!("shut")],
            [r#"{"state":"doing"}"#, r#"{"state":"shut"}"#],
            "update @b1, schema @books",
        ),
        // Two change places.
        (
            states(single, &["open", "shut"]),
            states(single, &["shut", "open"]),
            &[["open", "shut"], ["shut", "open"]],
            [json!("open"), json!("shut")],
            [r#"{"state":"shut"}"#, r#"{"state":"open"}"#],
            "update @b1, update @b2, schema @books",
        ),
        // Two become one, once in each value.
        (
            states(multi, &["a", "b", "c"]),
            states(multi, &["ab", "c"]),
            &[["a", "ab"], ["b", "ab"]],
            [json!(["a", "c", "b"]), json!(["b"])],
            [r#"{"state":["ab","c"]}"#, r#"{"state":["ab"]}"#],
            "update @b1, update @b2, schema @books",
        ),
        // With another type.
        (
            states(single, &["open"]),
            states(multi, &["doing"]),
            &[["open", "doing"]],
            [json!("open"), json!("open")],
            [r#"{"state":["doing"]}"#; 2],
            "update @b1, update @b2, schema @books",
        ),
    ] {
        let shelf = Shelf::of_books();
        shelf.replace("books", json!([before]));
        shelf.set("b1", json!({"state": values[0]}));
        shelf.set("b2", json!({"state": values[1]}));
        let (dump, sequence) = (shelf.dump(), shelf.notes.last_sequence().unwrap());
        let body = json!({"collectionId": "@books", "schema": schema("books", json!([after])),
            "renameOptions": renames(pairs)});
        let line = shelf.line("replace", &body);
        assert!(line.starts_with('{'), "{line}");
        assert_eq!(["b1", "b2"].map(|item| shelf.held(item)), held, "{after}");
        assert_eq!(shelf.last_edits(), edits);
        shelf.check();
        shelf.undo_to(sequence, &dump);
    }
    let shelf = Shelf::of_books();
    shelf.replace("books", json!([states(single, &["open", "shut"]), column("Size", "text")]));
    shelf.set("b1", json!({"state": "shut"}));
    let dump = shelf.dump();
    let columns = json!([states(single, &["doing"]), column("Size", "text")]);
    for (rename, error) in [
        (
            json!([{"property": "stat", "from": "open", "to": "doing"}]),
            "renameOptions[0].property: the collection has no property \"stat\", expected one of state, size, title",
        ),
        (
            json!([{"property": "size", "from": "open", "to": "doing"}]),
            "renameOptions[0].property: the property \"size\" is not a select",
        ),
        (
            renames(&[["open", "doing"], ["ajar", "doing"]]),
            "renameOptions[1].from: the former schema has no option \"ajar\" of \"state\"",
        ),
        (
            renames(&[["open", "done"]]),
            "renameOptions[0].to: the new schema has no option \"done\" of \"state\"",
        ),
        (
            renames(&[["open", "doing"], ["open", "doing"]]),
            "renameOptions[1].from: the option \"open\" is renamed twice",
        ),
        (
            renames(&[["open", "doing"]]),
            "schema: items have values that the new schema cannot hold, and dropUnconvertible is not set: @b1 \"b1\" (state: \"shut\")",
        ),
    ] {
        let body = json!({"collectionId": "@books", "schema": schema("books", columns.clone()),
            "renameOptions": rename});
        assert_eq!(shelf.line("replace", &body), format!("SCHEMA_MISMATCH {error}"));
        assert_eq!(shelf.dump(), dump);
    }
}

#[test]
fn items_are_in_the_way_at_the_other_end_as_well() {
    for (property, held, edits) in [
        (
            with(relation("Books", "@books"), json!({"single": true})),
            ["{\"author\":{\"relations\":[{\"blockId\":\"@p2\"}]}}", "{}"],
            "update @b1, update @b2, schema @people",
        ),
        (
            column("Books", "text"),
            ["{}", "{}"],
            "update @b1, update @b2, schema @books, schema @people",
        ),
        (
            with(relation("Books", "self"), json!({"inverseKey": "books"})),
            ["{}", "{}"],
            "update @b1, update @b2, schema @books, schema @people",
        ),
    ] {
        let shelf = Shelf::of_books();
        shelf.replace("books", json!([relation("Author", "@people")]));
        shelf.set("b1", json!({"author": ["@p1", "@p2"]}));
        shelf.set("b2", json!({"author": ["@p1"]}));
        let (before, sequence) = (shelf.dump(), shelf.notes.last_sequence().unwrap());
        let line = shelf.replace("people", json!([property]));
        assert!(
            line.starts_with("SCHEMA_MISMATCH schema: ") && line.contains("@p1 \"p1\" (books)"),
            "{line}"
        );
        // Of the one who has one book nothing is lost where one is taken.
        assert_eq!(line.contains("p2"), property.get("single").is_none());
        assert_eq!(shelf.dump(), before);
        let line = shelf.replace_dropping("people", json!([property]));
        assert!(line.starts_with('{'), "{line}");
        assert_eq!(["b1", "b2"].map(|item| shelf.held(item)), held, "{property}");
        assert_eq!(shelf.last_edits(), edits);
        shelf.check();
        shelf.undo_to(sequence, &before);
    }
}

#[test]
fn a_relation_within_a_collection_goes_with_both_ends() {
    let own = |name: &str| relation(name, "self");
    // The end that is left out takes the other along, whichever holds what the items have.
    for properties in [
        json!([]),
        json!([own("Sequel")]),
        json!([own("Sequel of")]),
        json!([with(own("Sequel"), json!({"inverseKey": "sequel_of", "single": true}))]),
    ] {
        let shelf = Shelf::of_books();
        shelf.replace("books", json!([own("Sequel")]));
        shelf.set("b1", json!({"sequel": ["@b2"]}));
        let (before, sequence) = (shelf.dump(), shelf.notes.last_sequence().unwrap());
        let line = shelf.replace(
            "books",
            json!([with(column("Sequel of", "text"), json!({"key": "sequel_of"}))]),
        );
        assert!(
            line.starts_with("SCHEMA_MISMATCH schema: ") && line.contains("@b2 \"b2\" (sequel_of)"),
            "{line}"
        );
        assert!(shelf.replace("books", properties).starts_with('{'));
        assert_eq!((shelf.columns("books"), shelf.held("b1")), (String::new(), "{}".to_owned()));
        assert_eq!(shelf.last_edits(), "update @b1, schema @books");
        shelf.check();
        shelf.undo_to(sequence, &before);
    }
}

#[test]
fn what_is_in_the_trash_is_read_and_not_changed() {
    let shelf = Shelf::of_books();
    shelf.replace("books", json!([relation("Author", "@people"), relation("Editor", "@people")]));
    shelf.notes.delete_documents(DeleteDocuments::new([shelf.document("people")])).unwrap();
    let before = shelf.dump();
    let restore = |path: &str| {
        format!(
            "RULE_VIOLATION {path}: the collection @people \"people\", the other end of a relation, is in the trash: restore it"
        )
    };
    let author = || relation("Author", "@people");
    for (line, expected) in [
        (
            shelf.replace("people", json!([])),
            "RULE_VIOLATION collectionId: the document is in the trash: restore it to change its collections"
                .to_owned(),
        ),
        (shelf.replace("books", json!([author()])), restore("schema.properties")),
        (
            shelf.replace("books", json!([author(), relation("Editor", "@people"), relation("Reader", "@people")])),
            restore("schema.properties[2].targetCollectionId"),
        ),
        (
            shelf.line(
                "create",
                &json!({"schema": schema("x", json!([column("A", "text"), author()])), "position": end("library")}),
            ),
            restore("schema.properties[1].targetCollectionId"),
        ),
    ] {
        assert_eq!(line, expected);
    }
    let line =
        shelf.line("create", &json!({"schema": schema("x", json!([])), "position": end("club")}));
    assert!(
        line.starts_with("RULE_VIOLATION position.pageId: the document is in the trash"),
        "{line}"
    );
    assert_eq!(shelf.dump(), before);
    // What the other end does not notice is allowed.
    let line = shelf
        .replace("books", json!([author(), relation("Editor", "@people"), column("Size", "text")]));
    assert!(line.starts_with('{'), "{line}");
    assert_eq!(shelf.columns("people"), "books>author books_2>editor");
    shelf.check();
}

#[test]
fn items_in_the_trash_are_unrelated_like_others() {
    let shelf = Shelf::of_books();
    shelf.replace("books", json!([relation("Author", "@people")]));
    shelf.set("b1", json!({"author": ["@p1"]}));
    shelf.set("b2", json!({"author": ["@p1"]}));
    let (state, sequence) = (shelf.dump(), shelf.notes.last_sequence().unwrap());
    shelf.notes.delete_documents(DeleteDocuments::new([shelf.document("books")])).unwrap();
    let single = json!([with(relation("Books", "@books"), json!({"single": true}))]);
    assert!(shelf.replace("people", single.clone()).starts_with("SCHEMA_MISMATCH schema: "));
    assert!(shelf.replace_dropping("people", single).starts_with('{'));
    assert_eq!(["b1", "b2"].map(|item| shelf.held(item)), ["{}", "{}"]);
    assert_eq!(shelf.last_edits(), "update @b1, update @b2, schema @people");
    shelf.check();
    shelf.undo_to(sequence, &state);
}

#[test]
#[should_panic(expected = "left == right")]
fn a_state_that_undoing_does_not_lead_back_to_is_seen() {
    let shelf = Shelf::of_books();
    shelf.replace("books", json!([column("Size", "text")]));
    let (state, sequence) = (shelf.dump(), shelf.notes.last_sequence().unwrap());
    shelf.set("b1", json!({"size": "12"}));
    assert_ne!(shelf.dump(), state);
    shelf.undo_to(sequence + 1, &state);
}

#[test]
#[should_panic(expected = "the collection has no such property")]
fn a_value_that_the_schema_does_not_know_is_seen() {
    let shelf = Shelf::of_books();
    shelf.set("b1", json!({"size": "12"}));
    shelf.check();
}
