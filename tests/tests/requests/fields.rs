//! Every field on every type of block: changed where the type has it, refused by its name where it
//! has not.

use leafbase::{BlockType, tool_schemas};
use serde_json::{Value, json};

use crate::host::Host;

/// The names of all types.
fn types() -> Vec<&'static str> {
    BlockType::ALL.iter().map(|block_type| block_type.as_str()).collect()
}

/// Each field with a value that is not its default, and the types that have it.
fn fields() -> Vec<(&'static str, Value, Vec<&'static str>)> {
    const LOOK: &[&str] = &["text", "page"];
    const MEDIA: &[&str] = &["image", "video"];
    const LINKED: &[&str] = &["image", "video", "file", "drawing", "whiteboard", "richUrl"];
    vec![
        ("indentationLevel", json!(2), types()),
        ("listStyle", json!("bullet"), types()),
        ("color", json!("#004080"), types()),
        ("decorations", json!(["quote"]), types()),
        ("textStyle", json!("h2"), LOOK.to_vec()),
        ("textAlignment", json!("center"), LOOK.to_vec()),
        ("font", json!("serif"), LOOK.to_vec()),
        ("cardLayout", json!("regular"), LOOK.to_vec()),
        ("title", json!("a title"), vec!["page", "collectionItem", "richUrl"]),
        ("url", json!("https://a.example/x"), LINKED.to_vec()),
        ("altText", json!("words"), MEDIA.to_vec()),
        ("size", json!("fill"), MEDIA.to_vec()),
        ("width", json!("fullWidth"), MEDIA.to_vec()),
        ("fileName", json!("a.pdf"), vec!["file"]),
        ("blockLayout", json!("card"), vec!["file"]),
        ("rawCode", json!("x"), vec!["code"]),
        ("language", json!("rust"), vec!["code"]),
        ("description", json!("words"), vec!["richUrl"]),
        ("layout", json!("card"), vec!["richUrl"]),
        ("lineStyle", json!("strong"), vec!["line"]),
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
    for (field, value, has) in fields() {
        let host = Host::new();
        for block_type in types() {
            let body = json!({"blocks": [{"id": host.id(block_type), field: value}]});
            let before = host.dump();
            let outcome = host.ask("update", &body.to_string());
            if has.contains(&block_type) {
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
fn every_field_of_the_schema_is_listed() {
    let definitions = tool_schemas().definitions;
    let patch = definitions["BlockPatch"]["properties"].as_object().unwrap();
    let listed: Vec<&str> = fields().into_iter().map(|(field, ..)| field).collect();
    // They are of every block, or have tests of their own.
    let others =
        ["id", "rev", "type", "markdown", "inlineMarkdown", "text", "taskInfo", "languageTag"];
    // As replies have them: an update does not change them.
    let replied = [
        "colorDark",
        "content",
        "contentPreview",
        "documentId",
        "metadata",
        "mimeType",
        "rows",
        "uploaded",
    ];
    let known = [listed.as_slice(), &others, &replied].concat();
    let missing = patch.keys().filter(|name| !known.contains(&name.as_str()));
    assert_eq!(missing.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn fields_of_a_new_block_are_the_same() {
    let host = Host::new();
    for (field, value, has) in fields() {
        for block_type in types()
            .iter()
            .filter(|block_type| !["collection", "collectionItem"].contains(block_type))
        {
            let body = json!({"blocks": [{"type": block_type, field: value}], "position": {"pageId": "@other"}});
            let outcome = host.line("insert", &body.to_string());
            let expected = format!("VALIDATION blocks[0].{field}");
            assert_eq!(
                outcome != expected,
                has.contains(block_type),
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
