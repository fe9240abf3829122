//! Limits, one below, at, and above.

pub mod asking;
mod collections;
mod lists;
mod search;
mod texts;
mod whole;

use leafbase::{Connection, Error, Fetch, Limits, Space};
use serde_json::json;

use crate::host::{Host, wrong};

fn small() -> Limits {
    let mut limits = Limits::default();
    (limits.block_text, limits.block_raw, limits.title) = (64, 96, 16);
    limits
}

/// Asserts which of the sizes around `limit` are taken in. What is refused leaves no trace.
fn around(notes: &Connection, limit: usize, path: &str, send: impl Fn(usize) -> Result<(), Error>) {
    around_made(notes, limit, path, |size| size, send);
}

/// The same of requests that first need something to be there.
fn around_made<T>(
    notes: &Connection,
    limit: usize,
    path: &str,
    make: impl Fn(usize) -> T,
    send: impl Fn(T) -> Result<(), Error>,
) {
    for size in [limit - 1, limit] {
        send(make(size)).unwrap_or_else(|error| panic!("{size} of {limit} at {path}: {error}"));
    }
    for size in [limit + 1, limit * 3] {
        let made = make(size);
        let before = notes.space().stats().unwrap();
        assert_eq!(
            wrong(&send(made).unwrap_err()),
            format!("LIMIT_EXCEEDED {path}").trim_end(),
            "{size} of {limit}"
        );
        assert_eq!(
            notes.space().stats().unwrap(),
            before,
            "{size} of {limit} at {path} left a trace"
        );
    }
}

/// A limit of ten, which this is not, and which leaves something behind where it is one.
fn broken(refused_from: usize, leaves: bool) {
    let host = Host::new();
    around(&host.notes, 10, "blocks", |size| {
        if leaves || size < refused_from {
            host.notes.insert_markdown("x", host.document()).map(drop)?;
        }
        if size < refused_from {
            Ok(())
        } else {
            Err(Error::limit("blocks", 10, size).at("blocks"))
        }
    });
}

#[test]
fn a_limit_that_holds_is_one() {
    broken(11, false);
}

/// The control.
#[test]
#[should_panic(expected = "10 of 10 at blocks")]
fn a_limit_that_refuses_one_too_few_is_noticed() {
    broken(10, false);
}

/// The control.
#[test]
#[should_panic(expected = "called `Result::unwrap_err()` on an `Ok` value")]
fn a_limit_that_takes_one_too_many_is_noticed() {
    broken(12, false);
}

/// The control.
#[test]
#[should_panic(expected = "11 of 10 at blocks left a trace")]
fn what_is_refused_after_something_was_written_is_noticed() {
    broken(11, true);
}

fn send(host: &Host, operation: &str, body: &serde_json::Value) -> Result<(), Error> {
    host.ask(operation, &body.to_string()).map(drop)
}

fn insertion(block: serde_json::Value) -> serde_json::Value {
    json!({"blocks": [block], "position": {"pageId": "@root"}})
}

#[test]
fn blocks_in_one_request() {
    let mut limits = Limits::default();
    limits.blocks_per_request = 10;
    let host = Host::with_limits(limits);
    let end = json!({"pageId": "@root"});
    around(&host.notes, 10, "blocks", |size| {
        send(
            &host,
            "insert",
            &json!({"blocks": vec![json!({"type": "text"}); size], "position": end}),
        )
    });
    around(&host.notes, 10, "blocks", |size| {
        let page = json!({"type": "page", "content": vec![json!({"type": "text"}); size - 1]});
        send(&host, "insert", &json!({"blocks": [page], "position": end}))
    });
    let paragraphs = |size: usize| vec!["x"; size].join("\n\n");
    around(&host.notes, 10, "markdown", |size| {
        send(&host, "insert", &json!({"markdown": paragraphs(size), "position": end}))
    });
    // Those that a text is split into count, too.
    around(&host.notes, 10, "blocks", |size| {
        send(&host, "insert", &insertion(json!({"type": "text", "markdown": paragraphs(size)})))
    });
    around(&host.notes, 10, "blocks", |size| {
        let split = json!({"type": "text", "markdown": paragraphs(size - 2)});
        let page = json!({"type": "page", "content": [split, {"type": "text"}]});
        send(&host, "insert", &json!({"blocks": [page], "position": end}))
    });
    around(&host.notes, 10, "blocks", |size| {
        let patches = json!([{"id": "@text", "markdown": paragraphs(size - 1)}, {"id": "@child", "markdown": "y"}]);
        send(&host, "update", &json!({"blocks": patches}))
    });
    let made = |size: usize| {
        let one = |_| host.notes.insert_markdown("x", host.document()).unwrap().0[0].id;
        (0..size).map(one).collect::<Vec<_>>()
    };
    around_made(&host.notes, 10, "blockIds", made, |ids| {
        send(&host, "move", &json!({"blockIds": ids, "position": {"pageId": "@other"}}))
    });
    around_made(&host.notes, 10, "blockIds", made, |ids| {
        send(&host, "delete", &json!({"blockIds": ids}))
    });
    around(&host.notes, 10, "", |size| {
        send(
            &host,
            "create",
            &json!({"type": "page", "content": vec![json!({"type": "text"}); size - 1]}),
        )
    });
}

#[test]
fn bytes_of_a_text() {
    let host = Host::with_limits(small());
    let update = |id: &str, markdown: String| json!({"blocks": [{"id": id, "markdown": markdown}]});
    around(&host.notes, 64, "blocks[0].markdown", |size| {
        send(
            &host,
            "insert",
            &insertion(
                json!({"type": "text", "markdown": "é".repeat(size / 2) + &"x".repeat(size % 2)}),
            ),
        )
    });
    around(&host.notes, 64, "blocks[0].markdown", |size| {
        send(&host, "update", &update("@text", "x".repeat(size)))
    });
    around(&host.notes, 64, "markdown", |size| {
        send(
            &host,
            "insert",
            &json!({"markdown": "x".repeat(size), "position": {"pageId": "@root"}}),
        )
    });
    // Before it is split: one text of a request is never more than one text's work.
    let many = "x\n\n".repeat(1_000);
    assert_eq!(
        host.line("update", &update("@text", many.clone()).to_string()),
        "LIMIT_EXCEEDED blocks[0].markdown"
    );
    assert_eq!(
        host.line("insert", &insertion(json!({"type": "text", "markdown": many})).to_string()),
        "LIMIT_EXCEEDED blocks[0].markdown"
    );
    around(&host.notes, 96, "blocks[0].markdown", |size| {
        send(
            &host,
            "update",
            &update("@table", format!("| a |\n| --- |\n| {} |", "x".repeat(size - 18))),
        )
    });
}

#[test]
fn bytes_of_code() {
    let host = Host::with_limits(small());
    around(&host.notes, 96, "blocks[0].rawCode", |size| {
        send(&host, "insert", &insertion(json!({"type": "code", "rawCode": "x".repeat(size)})))
    });
    around(&host.notes, 96, "blocks[0].rawCode", |size| {
        send(&host, "update", &json!({"blocks": [{"id": "@code", "rawCode": "x".repeat(size)}]}))
    });
    let fenced = |size: usize| format!("```rust\n{}\n```", "x".repeat(size));
    around(&host.notes, 96, "blocks[0].rawCode", |size| {
        send(&host, "update", &json!({"blocks": [{"id": "@code", "markdown": fenced(size)}]}))
    });
    let long = json!({"blocks": [{"id": "@code", "markdown": fenced(1_000_000)}]});
    assert_eq!(host.line("update", &long.to_string()), "LIMIT_EXCEEDED blocks[0].markdown");
}

#[test]
fn characters_of_a_title() {
    let host = Host::with_limits(small());
    around(&host.notes, 16, "markdown", |size| {
        host.notes.create_document(&"é".repeat(size)).map(drop)
    });
    around(&host.notes, 16, "blocks[0].title", |size| {
        send(&host, "insert", &insertion(json!({"type": "page", "title": "x".repeat(size)})))
    });
    around(&host.notes, 16, "blocks[0].title", |size| {
        send(&host, "update", &json!({"blocks": [{"id": "@page", "title": "x".repeat(size)}]}))
    });
    let text = |size: usize| {
        host.notes.insert_markdown(&"x".repeat(size), host.document()).unwrap().0[0].id
    };
    around_made(&host.notes, 16, "position.pageId", text, |id| {
        host.notes.insert_markdown("child", leafbase::Position::end_of(id)).map(drop)
    });
    around(&host.notes, 16, "name", |size| {
        host.notes.create_folder(&"x".repeat(size), None).map(drop)
    });
    around(&host.notes, 16, "name", |size| {
        leafbase::Space::builder().name("x".repeat(size)).limits(small()).in_memory().map(drop)
    });
}

#[test]
fn bytes_of_an_author() {
    let host = Host::new();
    around(&host.notes, 8 << 10, "author", |size| {
        host.notes.acting_as(&"x".repeat(size)).create_document("by").map(drop)
    });
}

#[test]
fn a_long_text_is_refused_before_any_work_is_done_on_it() {
    let host = Host::new();
    let error =
        host.notes.update_markdown(host.id("text"), &"x\n\n".repeat(5_000_000)).unwrap_err();
    assert_eq!(wrong(&error), "LIMIT_EXCEEDED blocks[0].markdown");
    let draft = leafbase::BlockDraft::new(leafbase::BlockData::text("x\n\n".repeat(5_000_000)));
    let error = host
        .notes
        .insert_blocks(leafbase::InsertBlocks::blocks(vec![draft], host.document()))
        .unwrap_err();
    assert_eq!(wrong(&error), "LIMIT_EXCEEDED blocks[0].markdown");
    let error =
        host.notes.insert_markdown(&"x\n\n".repeat(5_000_000), host.document()).unwrap_err();
    assert_eq!(wrong(&error), "LIMIT_EXCEEDED markdown");
    let one_line = "<callout>x</callout>".repeat(500_000);
    let error = host.notes.insert_markdown(&one_line, host.document()).unwrap_err();
    assert_eq!(wrong(&error), "LIMIT_EXCEEDED markdown");
}

#[test]
fn blocks_in_one_fetch() {
    let mut limits = Limits::default();
    limits.blocks_per_fetch = 5;
    let notes = Space::builder().limits(limits).in_memory().unwrap().connect();
    let document = notes.create_document("Trip").unwrap().id();
    notes.insert_markdown("1\n\n2\n\n3\n\n4", document).unwrap();
    assert_eq!(notes.fetch(Fetch::new(document)).unwrap().children().len(), 4);
    notes.insert_markdown("5", document).unwrap();
    assert_eq!(wrong(&notes.fetch(Fetch::new(document)).unwrap_err()), "LIMIT_EXCEEDED id");
    notes.fetch(Fetch::new(document).depth(0)).unwrap();
}

/// One that is out of range is not a number of levels at all.
#[test]
fn levels_of_indentation() {
    let host = Host::new();
    for (level, expected) in
        [(4, Ok(())), (5, Ok(())), (6, Err("VALIDATION")), (15, Err("VALIDATION"))]
    {
        let before = host.notes.space().stats().unwrap();
        let inserted =
            send(&host, "insert", &insertion(json!({"type": "text", "indentationLevel": level})));
        assert_eq!(
            inserted.map_err(|error| wrong(&error)),
            expected.map_err(|code| format!("{code} blocks[0].indentationLevel"))
        );
        let mut draft = leafbase::BlockDraft::new(leafbase::BlockData::text("x"));
        draft.data.indentation = level;
        let request = leafbase::InsertBlocks::blocks(vec![draft], host.document());
        let inserted = host.notes.insert_blocks(request).map(drop);
        assert_eq!(
            inserted.map_err(|error| wrong(&error)),
            expected.map_err(|code| format!("{code} blocks[0].indentationLevel"))
        );
        assert!(expected.is_ok() || host.notes.space().stats().unwrap() == before);
    }
}
