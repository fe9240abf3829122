//! Every form of a position, for insertion and for moves.

use serde_json::{Value, json};

use crate::host::Host;

/// The texts of a page's children.
fn children(host: &Host, target: &Value) -> Option<Vec<String>> {
    let page = host.ask("fetch", &target.to_string()).ok()?;
    Some(
        page["content"]
            .as_array()?
            .iter()
            .map(|child| child["markdown"].as_str().unwrap_or_default().into())
            .collect(),
    )
}

fn request(operation: &str, what: &Value, position: &Value) -> String {
    let name = if operation == "insert" { "markdown" } else { "blockIds" };
    json!({name: what, "position": position}).to_string()
}

/// A page of two texts, `@a` and `@b`, a text `@lone`, and two texts to be moved.
fn host() -> (Host, Value) {
    let mut host = Host::new();
    for (text, page) in
        [("a", "other"), ("b", "other"), ("lone", "root"), ("x", "root"), ("y", "root")]
    {
        let made =
            host.notes.insert_markdown(text, leafbase::Position::end_of(host.id(page))).unwrap().0
                [0]
            .id;
        host.name(text, made);
    }
    let ids = json!([host.id("x"), host.id("y")]);
    (host, ids)
}

#[test]
fn blocks_go_where_the_position_says() {
    let cases = [
        (json!({"position": "start", "pageId": "@other"}), "other", vec!["x", "y", "a", "b"]),
        (json!({"position": "end", "pageId": "@other"}), "other", vec!["a", "b", "x", "y"]),
        (json!({"pageId": "@other"}), "other", vec!["a", "b", "x", "y"]),
        (json!({"position": "before", "siblingId": "@a"}), "other", vec!["x", "y", "a", "b"]),
        (json!({"position": "after", "siblingId": "@a"}), "other", vec!["a", "x", "y", "b"]),
        (json!({"position": "before", "siblingId": "@b"}), "other", vec!["a", "x", "y", "b"]),
        (json!({"position": "after", "siblingId": "@b"}), "other", vec!["a", "b", "x", "y"]),
        (json!({"position": "start", "pageId": "@lone"}), "lone", vec!["x", "y"]),
        (json!({"position": "end", "pageId": "@lone"}), "lone", vec!["x", "y"]),
        (json!({"position": "end", "pageId": "@collectionItem"}), "collectionItem", vec!["x", "y"]),
    ];
    for operation in ["insert", "move"] {
        for (position, page, expected) in &cases {
            let (host, ids) = host();
            let what = if operation == "insert" { json!("x\n\ny") } else { ids };
            let reply = host.ask(operation, &request(operation, &what, position)).unwrap();
            assert_eq!(reply["items"].as_array().unwrap().len(), 2);
            assert_eq!(
                children(&host, &json!({"id": host.id(page)})).unwrap(),
                *expected,
                "{operation} {position}"
            );
        }
    }
}

#[test]
fn a_day_gets_its_note_with_the_first_block() {
    let cases = [
        json!({"position": "start", "date": "1970-01-02"}),
        json!({"position": "end", "date": "tomorrow"}),
        json!({"date": "yesterday"}),
        json!({"date": "today"}),
        json!({"position": "start"}),
        json!({}),
    ];
    for operation in ["insert", "move"] {
        for position in &cases {
            let (host, ids) = host();
            let day = json!({"date": position.get("date").cloned().unwrap_or(json!("today"))});
            assert_eq!(children(&host, &day), None, "a note is not made by reading");
            let what = if operation == "insert" { json!("x\n\ny") } else { ids };
            host.ask(operation, &request(operation, &what, position)).unwrap();
            assert_eq!(children(&host, &day).unwrap(), ["x", "y"], "{operation} {position}");
            host.ask("insert", &request("insert", &json!("z"), position)).unwrap();
            let expected = if position.get("position") == Some(&json!("start")) {
                ["z", "x", "y"]
            } else {
                ["x", "y", "z"]
            };
            assert_eq!(
                children(&host, &day).unwrap(),
                expected,
                "the note that is there is taken: {position}"
            );
            assert_eq!(host.notes.documents().unwrap().0.len(), 3);
        }
    }
}

#[test]
fn what_fails_at_a_day_leaves_no_note() {
    let host = Host::new();
    let day = r#""position":{"date":"2026-03-01"}"#;
    host.table(&[
        (
            "insert",
            &format!(r#"{{"blocks":[{{"type":"text","cardLayout":"small"}}],{day}}}"#),
            "RULE_VIOLATION blocks[0].cardLayout",
        ),
        (
            "insert",
            &format!(r#"{{"blocks":[{{"type":"collection"}}],{day}}}"#),
            "RULE_VIOLATION blocks[0].type",
        ),
        ("insert", &format!(r#"{{"markdown":"- \n- x",{day}}}"#), "INVALID_MARKDOWN markdown"),
        (
            "move",
            &format!(r#"{{"blockIds":["@text","@root"],{day}}}"#),
            "RULE_VIOLATION blockIds[1]",
        ),
        ("move", &format!(r#"{{"blockIds":["@text","@text"],{day}}}"#), "VALIDATION blockIds[1]"),
        ("fetch", r#"{"date":"2026-03-01"}"#, "NOT_FOUND date"),
    ]);
}

#[test]
fn places_that_are_none_are_refused() {
    let host = Host::new();
    let mut rows = Vec::new();
    for (position, outcome) in [
        (r#"{"position":"before","pageId":"@page"}"#, "INVALID_POSITION position"),
        (r#"{"position":"start","siblingId":"@text"}"#, "INVALID_POSITION position"),
        (r#"{"position":"after"}"#, "INVALID_POSITION position"),
        (r#"{"pageId":"@page","date":"today"}"#, "INVALID_POSITION position"),
        (
            r#"{"position":"before","siblingId":"@text","pageId":"@page"}"#,
            "INVALID_POSITION position",
        ),
        (r#"{"position":"middle","pageId":"@page"}"#, "INVALID_POSITION position.position"),
        (r#"{"position":"end","pageId":"@page","index":1}"#, "VALIDATION position.index"),
        (r#"{"date":"2026-02-30"}"#, "VALIDATION position.date"),
        (r#"{"date":"someday"}"#, "VALIDATION position.date"),
        (r#"{"position":"before","siblingId":"@root"}"#, "INVALID_POSITION position.siblingId"),
        (r#"{"position":"after","siblingId":"@root"}"#, "INVALID_POSITION position.siblingId"),
        (r#"{"pageId":"@line"}"#, "RULE_VIOLATION position.pageId"),
        (r#"{"pageId":"@image"}"#, "RULE_VIOLATION position.pageId"),
        (r#"{"pageId":"@code"}"#, "RULE_VIOLATION position.pageId"),
        (r#"{"pageId":"@table"}"#, "RULE_VIOLATION position.pageId"),
        (r#"{"pageId":"@collection"}"#, "RULE_VIOLATION position.pageId"),
    ] {
        rows.push(("insert", format!(r#"{{"markdown":"x","position":{position}}}"#), outcome));
        rows.push(("move", format!(r#"{{"blockIds":"@child","position":{position}}}"#), outcome));
    }
    rows.push((
        "move",
        r#"{"blockIds":"@page","position":{"pageId":"@page"}}"#.into(),
        "RULE_VIOLATION blockIds[0]",
    ));
    rows.push((
        "move",
        r#"{"blockIds":"@page","position":{"pageId":"@child"}}"#.into(),
        "RULE_VIOLATION blockIds[0]",
    ));
    rows.push((
        "move",
        r#"{"blockIds":"@text","position":{"position":"after","siblingId":"@text"}}"#.into(),
        "INVALID_POSITION position.siblingId",
    ));
    let rows: Vec<_> = rows
        .iter()
        .map(|(operation, body, outcome)| (*operation, body.as_str(), *outcome))
        .collect();
    host.table(&rows);
}
