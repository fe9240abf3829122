//! Every field on every type of block: changed where the type has it, refused by its name where it
//! has not.

use serde_json::{Value, json};

use crate::host::Host;

const TYPES: [&str; 13] = [
    "text",
    "page",
    "collectionItem",
    "image",
    "video",
    "file",
    "drawing",
    "whiteboard",
    "table",
    "collection",
    "code",
    "richUrl",
    "line",
];

/// Each field with a value that is not its default, and the types that have it.
fn fields() -> Vec<(&'static str, Value, &'static [&'static str])> {
    const LOOK: &[&str] = &["text", "page"];
    const MEDIA: &[&str] = &["image", "video"];
    const LINKED: &[&str] = &["image", "video", "file", "drawing", "whiteboard", "richUrl"];
    vec![
        ("indentationLevel", json!(2), &TYPES),
        ("listStyle", json!("bullet"), &TYPES),
        ("color", json!("#004080"), &TYPES),
        ("decorations", json!(["quote"]), &TYPES),
        ("textStyle", json!("h2"), LOOK),
        ("textAlignment", json!("center"), LOOK),
        ("font", json!("serif"), LOOK),
        ("cardLayout", json!("regular"), LOOK),
        ("title", json!("a title"), &["page", "collectionItem", "richUrl"]),
        ("url", json!("https://a.example/x"), LINKED),
        ("altText", json!("words"), MEDIA),
        ("size", json!("fill"), MEDIA),
        ("width", json!("fullWidth"), MEDIA),
        ("fileName", json!("a.pdf"), &["file"]),
        ("blockLayout", json!("card"), &["file"]),
        ("rawCode", json!("x"), &["code"]),
        ("language", json!("rust"), &["code"]),
        ("description", json!("words"), &["richUrl"]),
        ("layout", json!("card"), &["richUrl"]),
        ("lineStyle", json!("strong"), &["line"]),
    ]
}

/// Where replies have what requests give as this field: the title of an item stands under the
/// content key of its schema.
fn shown_as<'a>(block_type: &str, field: &'a str) -> &'a str {
    match (block_type, field) {
        ("collectionItem", "markdown" | "title") => "title",
        ("richUrl", "title") => "title",
        (_, "title") => "markdown",
        _ => field,
    }
}

#[test]
fn a_type_has_its_fields_and_no_other() {
    for (field, value, types) in fields() {
        let host = Host::new();
        for block_type in TYPES {
            let body = json!({"blocks": [{"id": host.id(block_type), field: value}]});
            let before = host.dump();
            let outcome = host.ask("update", &body.to_string());
            if types.contains(&block_type) {
                let reply =
                    outcome.unwrap_or_else(|error| panic!("{field} of {block_type}: {error}"));
                let shown = shown_as(block_type, field);
                let default = ["blockLayout", "layout", "cardLayout", "size"].contains(&field);
                let found = &reply["items"][0][shown];
                assert!(
                    *found == value || (default && found.is_null()),
                    "{field} of {block_type}: {found}"
                );
            } else {
                let error = outcome.unwrap_err();
                assert_eq!(
                    (error.code(), error.path()),
                    ("VALIDATION", format!("blocks[0].{field}").as_str())
                );
                assert_eq!(
                    error.message(),
                    format!("a block of type {block_type} has no field {field}")
                );
                assert_eq!(host.dump(), before);
            }
        }
    }
}

#[test]
fn fields_of_a_new_block_are_the_same() {
    let host = Host::new();
    for (field, value, types) in fields() {
        for block_type in
            TYPES.iter().filter(|block_type| !["collection", "collectionItem"].contains(block_type))
        {
            let body = json!({"blocks": [{"type": block_type, field: value}], "position": {"pageId": "@other"}});
            let outcome = host.line("insert", &body.to_string());
            let expected = format!("VALIDATION blocks[0].{field}");
            assert_eq!(
                outcome != expected,
                types.contains(block_type),
                "{field} of {block_type}: {outcome}"
            );
        }
    }
}

#[test]
fn markdown_is_a_field_of_every_type() {
    let host = Host::new();
    for (block_type, markdown) in [
        ("text", "words"),
        ("page", "words"),
        ("collectionItem", "words"),
        ("collection", "words"),
        ("table", "| c |\n| --- |\n| d |"),
        ("image", "![a](https://a.example/a.png)"),
        ("video", "![a](https://a.example/a.mp4)"),
        ("file", "[a](asset://1/a.pdf)"),
        ("drawing", "![Drawing](asset://1/a.png)"),
        ("whiteboard", "![Whiteboard](asset://1/a.png)"),
        ("code", "```rust\nx\n```"),
        ("richUrl", "[a](https://a.example)"),
        ("line", "***"),
    ] {
        let body = json!({"blocks": [{"id": host.id(block_type), "markdown": markdown}]});
        let reply = host.ask("update", &body.to_string()).unwrap();
        assert_eq!(reply["items"][0][shown_as(block_type, "markdown")], markdown, "{block_type}");
    }
}
