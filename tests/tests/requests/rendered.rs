//! The `markdown` of kinds that have no text of their own: made from their fields, read into them,
//! and harmless where a reply is sent back with something changed.

use leafbase::BlockType;
use serde_json::{Value, json};

use crate::host::Host;

const KINDS: [(&str, &str, &str, &str, &str); 8] = [
    (
        "image",
        "![a cat](asset://1/cat.png)",
        "url",
        "asset://2/dog.png",
        "![a dog](asset://3/dog.png)",
    ),
    ("video", "![a cat](asset://1/cat.mp4)", "altText", "a dog", "![a dog](asset://3/dog.mp4)"),
    (
        "file",
        "[paper.pdf](asset://1/paper.pdf)",
        "fileName",
        "other.pdf",
        "[x.pdf](asset://3/x.pdf)",
    ),
    (
        "drawing",
        "![Drawing](asset://1/d.png)",
        "url",
        "asset://2/d.png",
        "![Drawing](asset://3/d.png)",
    ),
    (
        "whiteboard",
        "![Whiteboard](asset://1/w.png)",
        "url",
        "asset://2/w.png",
        "![Whiteboard](asset://3/w.png)",
    ),
    ("code", "```rust\nfn main() {}\n```", "rawCode", "fn other() {}", "```python\nprint()\n```"),
    ("richUrl", "[a site](https://a.example)", "title", "another site", "[b](https://b.example)"),
    ("line", "***", "lineStyle", "pageBreak", "******"),
];

/// The block of a reply, as a request gives it.
fn block(host: &Host, kind: &str) -> Value {
    let mut block = host.ask("fetch", &json!({"id": host.id(kind)}).to_string()).unwrap();
    block.as_object_mut().unwrap().remove("rev");
    block
}

fn update(host: &Host, block: &Value) -> String {
    host.line("update", &json!({"blocks": [block]}).to_string())
}

#[test]
fn every_type_without_a_text_of_its_own_is_listed() {
    let rendered = BlockType::ALL.iter().filter(|block_type| !block_type.has_own_markdown());
    let rendered: Vec<&str> = rendered.map(|block_type| block_type.as_str()).collect();
    assert_eq!(KINDS.map(|(kind, ..)| kind).as_slice(), rendered);
}

#[test]
fn what_a_reply_shows_can_be_sent_back_with_one_field_changed() {
    let host = Host::new();
    for (kind, markdown, field, value, other) in KINDS {
        update(&host, &json!({"id": host.id(kind), "markdown": markdown}));
        let read = block(&host, kind);
        assert_eq!(read["markdown"], markdown, "{kind}");

        let mut changed = read.clone();
        changed[field] = value.into();
        host.ask("update", &json!({"blocks": [changed]}).to_string()).unwrap();
        let written = block(&host, kind);
        assert_eq!(
            written[field], value,
            "{kind}: the field given wins over the markdown that was only shown"
        );
        assert_ne!(written["markdown"], markdown, "{kind}");

        // The one read before says something else than the block now: it would take the change
        // back.
        let mut stale = read.clone();
        stale[field] = value.into();
        assert_eq!(update(&host, &stale), "VALIDATION blocks[0].markdown", "{kind}");
        let both = json!({"id": host.id(kind), "markdown": other, field: value});
        assert_eq!(update(&host, &both), "VALIDATION blocks[0].markdown", "{kind}");

        update(&host, &json!({"id": host.id(kind), "markdown": other, "indentationLevel": 1}));
        let written = block(&host, kind);
        assert_eq!(
            (&written["markdown"], &written["indentationLevel"]),
            (&json!(other), &json!(1)),
            "{kind}"
        );
    }
}

#[test]
fn a_new_block_says_one_thing() {
    let host = Host::new();
    for (kind, markdown, field, value, _) in KINDS {
        let insert = |block: Value| {
            host.ask(
                "insert",
                &json!({"blocks": [block], "position": {"pageId": "@other"}}).to_string(),
            )
            .map(|mut reply| reply["items"][0].take())
            .map_err(|error| format!("{} {}", error.code(), error.path()))
        };
        let made = insert(json!({"type": kind, "markdown": markdown})).unwrap();
        assert_eq!(made["markdown"], markdown, "{kind}");
        let mut copy = made.clone();
        (copy["id"], copy["rev"]) = (Value::Null, Value::Null);
        copy.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let copied = insert(copy).unwrap();
        assert_eq!(
            (&copied["markdown"], &copied[field]),
            (&made["markdown"], &made[field]),
            "{kind}"
        );
        let both = insert(json!({"type": kind, "markdown": markdown, field: value}));
        if (kind, field) == ("richUrl", "title") {
            // Other programs write the link alone: the title beside it says more.
            assert_eq!(both.unwrap()[field], value);
            continue;
        }
        assert_eq!(both, Err("VALIDATION blocks[0].markdown".to_owned()), "{kind}");
        assert_eq!(
            insert(json!({"type": kind, "markdown": "# something else"})),
            Err("INVALID_MARKDOWN blocks[0].markdown".to_owned()),
            "{kind}"
        );
    }
}

#[test]
fn markdown_gives_blocks_of_every_kind_that_it_can_say() {
    let host = Host::new();
    for (kind, markdown) in [
        ("image", "![a cat](asset://1/cat.png)"),
        ("video", "![a cat](asset://1/cat.mp4)"),
        ("file", "[paper.pdf](asset://1/paper.pdf)"),
        ("code", "```rust\nfn main() {}\n```"),
        ("richUrl", "[a site](https://a.example)"),
        ("line", "*****"),
        ("table", "| a |\n| --- |\n| b |"),
    ] {
        let body = json!({"markdown": markdown, "position": {"pageId": "@other"}});
        let reply = host.ask("insert", &body.to_string()).unwrap();
        let made = &reply["items"][0];
        assert_eq!((&made["type"], &made["markdown"]), (&json!(kind), &json!(markdown)));
    }
    let table = host.ask("fetch", r#"{"id":"@table"}"#).unwrap();
    assert_eq!(table["rows"], json!([[{"value": "a"}], [{"value": "b"}]]));
}
