//! How long texts may be: comments, addresses, files, and the limits as they come.

use leafbase::{InsertBlocks, Limits, UploadFile};
use serde_json::{Value, json};

use super::around;
use super::asking::ask;
use crate::host::{Host, wrong};

#[test]
fn bytes_of_a_comment() {
    let host = Host::new();
    let text = host.id("text").to_string();
    around(&host.notes, 64 << 10, "comments[0].content", |size| {
        let comment = json!({"blockId": text, "content": "x".repeat(size)});
        ask(&host.notes, "add_comments", &json!({"comments": [comment]}).to_string()).map(drop)
    });
}

#[test]
fn bytes_of_an_attribute() {
    let mut limits = Limits::default();
    limits.attribute = 32;
    let host = Host::with_limits(limits);
    let end = json!({"pageId": host.id("root").to_string(), "position": "end"});
    let send =
        |operation: &str, body: &Value| ask(&host.notes, operation, &body.to_string()).map(drop);
    let url = |size: usize| format!("https://x.y/{}", "x".repeat(size - 12));
    for (block_type, field) in [
        ("image", "url"),
        ("image", "altText"),
        ("video", "url"),
        ("video", "altText"),
        ("file", "url"),
        ("file", "fileName"),
        ("richUrl", "url"),
        ("richUrl", "title"),
        ("richUrl", "description"),
        ("drawing", "url"),
        ("whiteboard", "url"),
        ("code", "languageTag"),
    ] {
        let value = |size: usize| if field == "url" { url(size) } else { "x".repeat(size) };
        around(&host.notes, 32, &format!("blocks[0].{field}"), |size| {
            let mut block = json!({"type": block_type});
            if !["code", "drawing", "whiteboard"].contains(&block_type) {
                block["url"] = json!("https://x.y/");
            }
            if field == "languageTag" {
                block["language"] = json!("other");
            }
            block[field] = json!(value(size));
            send("insert_blocks", &json!({"blocks": [block], "position": end}))
        });
        around(&host.notes, 32, &format!("blocks[0].{field}"), |size| {
            let mut patch = json!({"id": host.id(block_type).to_string()});
            if field == "languageTag" {
                patch["language"] = json!("other");
            }
            patch[field] = json!(value(size));
            send("update_blocks", &json!({"blocks": [patch]}))
        });
    }
}

#[test]
fn bytes_of_a_file() {
    let mut limits = Limits::default();
    limits.upload = 100;
    let host = Host::with_limits(limits);
    around(&host.notes, 100, "", |size| {
        host.notes.upload_file(UploadFile::new(host.document()), &vec![7_u8; size][..]).map(drop)
    });
}

#[test]
fn bytes_of_json_and_of_markdown() {
    let mut limits = Limits::default();
    (limits.json, limits.markdown) = (200, 100);
    let host = Host::with_limits(limits);
    let end = json!({"pageId": host.id("root").to_string(), "position": "end"});
    for operation in super::asking::OPERATIONS {
        let error = ask(&host.notes, operation, &" ".repeat(201)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "bytes of JSON in one request: at most 200, got 201",
            "{operation}"
        );
        assert_eq!(
            wrong(&ask(&host.notes, operation, &" ".repeat(200)).unwrap_err()),
            "VALIDATION",
            "{operation}"
        );
    }
    around(&host.notes, 200, "", |size| {
        let body = json!({"markdown": "x\n".repeat(10), "position": end}).to_string();
        ask(&host.notes, "insert_blocks", &(body.clone() + &" ".repeat(size - body.len())))
            .map(drop)
    });
    around(&host.notes, 100, "markdown", |size| {
        host.notes.insert_markdown(&"x".repeat(size), host.document()).map(drop)
    });
}

/// One below, at and above the limits that are documented.
#[test]
fn the_lengths_as_they_come() {
    let host = Host::new();
    let end = json!({"pageId": host.id("root").to_string(), "position": "end"});
    let insert = |block: Value| {
        ask(&host.notes, "insert_blocks", &json!({"blocks": [block], "position": end}).to_string())
            .map(drop)
    };
    around(&host.notes, 256 << 10, "blocks[0].markdown", |size| {
        insert(json!({"type": "text", "markdown": "x".repeat(size)}))
    });
    around(&host.notes, 1 << 20, "blocks[0].rawCode", |size| {
        insert(json!({"type": "code", "rawCode": "x".repeat(size)}))
    });
    around(&host.notes, 8 << 10, "blocks[0].altText", |size| {
        insert(json!({"type": "image", "url": "https://x.y/", "altText": "x".repeat(size)}))
    });
    around(&host.notes, 1_000, "blocks[0].title", |size| {
        insert(json!({"type": "page", "title": "é".repeat(size)}))
    });
    around(&host.notes, 1_000, "documents[0].title", |size| {
        ask(
            &host.notes,
            "create_documents",
            &json!({"documents": [{"title": "é".repeat(size)}]}).to_string(),
        )
        .map(drop)
    });
    around(&host.notes, 1_000, "folders[0].name", |size| {
        ask(
            &host.notes,
            "create_folders",
            &json!({"folders": [{"name": "é".repeat(size)}]}).to_string(),
        )
        .map(drop)
    });
    let lines = |size: usize| "\n".repeat(size - 1) + "x";
    around(&host.notes, 16 << 20, "markdown", |size| {
        host.notes.insert_markdown(&lines(size), host.document()).map(drop)
    });
    around(&host.notes, 16 << 20, "", |size| {
        let body = json!({"markdown": "x", "position": end}).to_string();
        let request: InsertBlocks =
            host.notes.space().read_json(&(" ".repeat(size - body.len()) + &body))?;
        host.notes.insert_blocks(request).map(drop)
    });
}
