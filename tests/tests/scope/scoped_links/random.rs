//! Texts of random pieces: what leads to what a guest does not see shows nothing of it, and comes
//! back as it was.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;

/// `@1` and `@2` are IDs of what is not seen.
const PIECES: &[&str] = &[
    "[a](",
    "![a](",
    "](",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "block://@1",
    "block://@2",
    "BLOCK:@1",
    "block%3A//@2",
    "block&colon;//@1",
    "block://nope",
    "block://@1/b c",
    "`",
    "``",
    "\\",
    "|",
    "\n",
    "\n\n",
    " ",
    "[b]: ",
    "<a href='",
    "<a href=\"",
    "<a href=",
    "'",
    "\"",
    "invalid:out_of_scope#1",
    "invalid:out_of_scope#2",
    "invalid:out_of_scope#",
    "words",
    "*",
    "&",
    "1",
    "https://b.example/?",
    "<!--",
    "-->",
    "</a>",
    "](block://@1)",
    "<block://@2>",
    "| - |\n",
];

/// Blocks with a text.
const KINDS: &[(&str, &[&str])] = &[
    ("text", &["markdown"]),
    ("page", &["markdown"]),
    ("table", &["markdown"]),
    ("richUrl", &["url", "title", "description"]),
    ("image", &["url", "altText"]),
];

fn block(kind: &str, fields: &[&str], texts: &[String]) -> Value {
    let mut block = json!({"type": kind});
    for (field, text) in fields.iter().zip(texts) {
        block[*field] = json!(text);
    }
    block
}

#[test]
fn whatever_stands_around_it() {
    let scene = scene();
    let text = prop::collection::vec(prop::sample::select(PIECES), 1..10)
        .prop_map(|pieces| pieces.concat());
    let made = (prop::sample::select(KINDS), prop::collection::vec(text, 3));
    let one = [scene.target("hidden"), scene.target("missing")];
    let other = [scene.target("trashed"), "01ARZ3NDEKTSV4RRFFQ69G5FAW"];
    let name = |text: &str, ids: [&str; 2]| text.replace("@1", ids[0]).replace("@2", ids[1]);
    let anonymous = |value: &Value, ids: [&str; 2]| {
        let mut value = value.clone();
        (value["id"], value["metadata"]) = (Value::Null, Value::Null);
        value.to_string().replace(ids[0], "@1").replace(ids[1], "@2")
    };
    let hiding = Cell::new(0);
    TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(512) }).run(&made, |((kind, fields), texts)| {
        let insert = |ids: [&str; 2]| {
            let texts: Vec<_> = texts.iter().map(|text| name(text, ids)).collect();
            let request = json!({"blocks": [block(kind, fields, &texts)], "position": {"position": "end", "pageId": scene.document}});
            let request: InsertBlocks = json::from_str(&request.to_string(), &Limits::default()).unwrap();
            scene.notes.insert_blocks(request).ok().map(|inserted| inserted[0].id)
        };
        let (Some(block), Some(twin)) = (insert(one), insert(other)) else { return Ok(()) };
        let (shown, kept) = (scene.guest_sees(block), scene.kept(block));
        hiding.set(hiding.get() + usize::from(shown["markdown"] != kept["markdown"]));
        prop_assert_eq!(anonymous(&shown, one), anonymous(&scene.guest_sees(twin), other), "it tells which it is");
        for field in fields.iter().chain(&["markdown"]) {
            let Some(text) = shown.get(*field) else { continue };
            scene.update(block, &json!({*field: text})).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(&scene.kept(block), &kept, "{} {}", field, text);
        }
        Ok(())
    }).unwrap();
    assert!(hiding.get() > 100, "hardly a text had something to hide: {}", hiding.get());
}
