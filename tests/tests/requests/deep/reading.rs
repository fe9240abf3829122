//! JSON of any depth on a small stack: read as deep as pages, folders and filters may nest, and
//! refused beyond.

use leafbase::{
    AddItems, CountItems, Fetch, GetItems, ItemDraft, ItemFilter, Limits, Operator, QueryItems,
    Space,
};
use serde_json::json;

use super::{boundless, nested, on_a_small_stack, on_a_stack_of, path};
use crate::bounds::asking::{OPERATIONS, ask};
use crate::host::{Host, wrong};

const MILLION: usize = 1_000_000;

/// `inner` in so many objects and lists that `open` begins and `close` ends.
fn within(open: &str, inner: &str, close: &str, levels: usize) -> String {
    open.repeat(levels) + inner + &close.repeat(levels)
}

fn pages(levels: usize) -> String {
    within(
        r#"{"type":"page","title":"p","content":["#,
        r#"{"type":"page","title":"p"}"#,
        "]}",
        levels - 1,
    )
}

#[test]
fn a_million_brackets_are_refused_by_every_operation() {
    on_a_small_stack(|| {
        let host = Host::with_limits(boundless());
        let before = host.notes.space().stats().unwrap();
        let closed = within("[", "1", "]", MILLION);
        for text in [closed, r#"{"a":"#.repeat(MILLION), r#"{"content":["#.repeat(MILLION)] {
            for operation in OPERATIONS {
                let error = ask(&host.notes, operation, &text).unwrap_err();
                assert_eq!(wrong(&error), "LIMIT_EXCEEDED", "{operation}");
            }
        }
        assert_eq!(host.notes.space().stats().unwrap(), before);
    });
}

/// Requests whose lists nest, `@` being the list.
fn nesting_requests(host: &Host) -> Vec<(&'static str, String)> {
    let page = host.id("root").to_string();
    let collection = host.id("collection").to_string();
    let position = json!({"pageId": page, "position": "end"});
    let text = host.id("text").to_string();
    let item = host.id("collectionItem").to_string();
    let requests = [
        ("insert_blocks", json!({"blocks": "@", "position": position})),
        ("create_documents", json!({"documents": "@"})),
        ("add_items", json!({"collectionId": collection, "items": [{"content": "@"}]})),
        ("add_items", json!({"collectionId": collection, "items": [{"properties": {"x": "@"}}]})),
        (
            "update_items",
            json!({"collectionId": collection, "itemsToUpdate": [{"id": item, "properties": {"x": "@"}}]}),
        ),
        ("update_blocks", json!({"blocks": [{"id": text, "markdown": "@"}]})),
        ("add_comments", json!({"comments": [{"blockId": text, "content": "@"}]})),
        (
            "create_collection",
            json!({"schema": {"name": "x", "properties": "@"}, "position": position}),
        ),
        ("query_items", json!({"collectionId": collection, "filter": {"and": "@"}})),
        (
            "query_items",
            json!({"collectionId": collection, "filter": {"property": "title", "anyOf": "@"}}),
        ),
        ("create_folders", json!({"folders": "@"})),
        ("search", json!({"include": "@"})),
    ];
    requests.map(|(operation, body)| (operation, body.to_string())).into()
}

#[test]
fn a_million_levels_within_a_request_are_refused() {
    on_a_small_stack(|| {
        for limits in [Limits::default(), boundless()] {
            let host = Host::with_limits(limits);
            let before = host.notes.space().stats().unwrap();
            let lists = [
                format!(
                    "[{}]",
                    within(r#"{"type":"page","content":["#, r#"{"type":"page"}"#, "]}", 300_000)
                ),
                format!("[{}]", within(r#"{"name":"f","folders":["#, "", "]}", MILLION / 2)),
                format!(
                    "[{}]",
                    within(r#"{"not":"#, r#"{"property":"title","isEmpty":true}"#, "}", MILLION)
                ),
                within("[", "", "]", MILLION),
            ];
            for (operation, body) in nesting_requests(&host) {
                for list in &lists {
                    let error =
                        ask(&host.notes, operation, &body.replace("\"@\"", list)).unwrap_err();
                    assert_eq!(wrong(&error), "LIMIT_EXCEEDED", "{body}");
                }
            }
            assert_eq!(host.notes.space().stats().unwrap(), before);
        }
    });
}

/// What nests as deep as JSON may, but where nothing nests, is refused for what it is.
#[test]
fn lists_where_none_may_be_are_refused() {
    on_a_small_stack(|| {
        let host = Host::new();
        let before = host.notes.space().stats().unwrap();
        let list = within("[", "", "]", 130);
        for (operation, body) in nesting_requests(&host) {
            let error = ask(&host.notes, operation, &body.replace("\"@\"", &list)).unwrap_err();
            assert!(["VALIDATION", "SCHEMA_MISMATCH"].contains(&error.code()), "{body}: {error}");
        }
        assert_eq!(host.notes.space().stats().unwrap(), before);
    });
}

#[test]
fn as_deep_as_may_be_is_read_and_told_on_a_small_stack() {
    on_a_small_stack(|| {
        let host = Host::new();
        let page = host.id("root");
        let told = |operation: &str, body: &str| {
            ask(&host.notes, operation, body).map_err(|error| wrong(&error))
        };
        let insert = |levels: usize| {
            told(
                "insert_blocks",
                &format!(r#"{{"blocks":[{}],"position":{{"pageId":"{page}"}}}}"#, pages(levels)),
            )
        };
        let create = |levels: usize| {
            told("create_documents", &format!(r#"{{"documents":[{}]}}"#, pages(levels)))
        };
        let folders = |levels: usize| {
            let folder = within(r#"{"name":"f","folders":["#, r#"{"name":"f"}"#, "]}", levels - 1);
            told("create_folders", &format!(r#"{{"folders":[{folder}]}}"#))
        };
        insert(64).unwrap();
        assert_eq!(insert(65), Err(path("blocks[0]", 64)));
        folders(65).unwrap();
        assert_eq!(
            folders(66),
            Err(format!("LIMIT_EXCEEDED folders[0]{}", ".folders[0]".repeat(65)))
        );
        create(60).unwrap();
        let whole = told("fetch", &format!(r#"{{"id":"{page}"}}"#)).unwrap();
        assert_eq!(whole.matches(r#""content":["#).count(), 66);
        told("fetch_markdown", &format!(r#"{{"id":"{page}"}}"#)).unwrap();
        host.notes
            .delete_blocks(serde_json::from_value(json!({"blockIds": [host.id("page")]})).unwrap())
            .unwrap();
    });
}

/// However high a host sets the limits, 500 levels are all: what replies are made of is written and
/// dropped by recursion.
#[test]
fn no_limit_lets_more_than_500_levels_in() {
    on_a_stack_of(16 << 20, || {
        let host = Host::with_limits(boundless());
        let page = host.id("root");
        let told = |operation: &str, body: &str| {
            ask(&host.notes, operation, body).map_err(|error| wrong(&error))
        };
        let insert = |levels: usize| {
            told(
                "insert_blocks",
                &format!(r#"{{"blocks":[{}],"position":{{"pageId":"{page}"}}}}"#, pages(levels)),
            )
        };
        insert(500).unwrap();
        // The path of the error is bounded: its middle is cut out.
        let is_cut = |error: String| {
            error.starts_with("LIMIT_EXCEEDED blocks[0].content[0].")
                && error.contains('…')
                && error.ends_with(".content[0]")
                && error.len() < path("blocks[0]", 100).len()
        };
        assert!(is_cut(insert(501).unwrap_err()));
        assert_eq!(insert(600), Err("LIMIT_EXCEEDED".to_owned()));
        let drafts = |levels| leafbase::InsertBlocks::blocks(vec![nested(levels)], host.document());
        let top = host.notes.insert_blocks(drafts(500)).unwrap()[0].id;
        assert!(is_cut(wrong(&host.notes.insert_blocks(drafts(501)).unwrap_err())));
        let markdown = |levels| {
            within("<page><pageTitle>p</pageTitle><content>", "x", "</content></page>", levels)
        };
        host.notes.insert_markdown(&markdown(499), host.document()).unwrap();
        let error = host.notes.insert_markdown(&markdown(500), host.document()).unwrap_err();
        assert_eq!(wrong(&error), "LIMIT_EXCEEDED markdown");
        let to = leafbase::Position::end_of(host.id("page"));
        let moved = host.notes.move_blocks(leafbase::MoveBlocks::new(vec![top], to));
        assert_eq!(wrong(&moved.unwrap_err()), "LIMIT_EXCEEDED blockIds[0]");
        assert_eq!(host.notes.fetch(Fetch::new(top)).unwrap().walk().count(), 500);
    });
}

/// A collection of items with a title and nothing else.
fn asked(filter: ItemFilter) -> [String; 2] {
    let host = Host::new();
    let collection = host.id("collection");
    let add = AddItems::new(collection, [ItemDraft::new("Dune")]);
    host.notes.add_items(add).unwrap();
    let told = |outcome: Result<usize, leafbase::Error>| match outcome {
        Ok(count) => count.to_string(),
        Err(error) => wrong(&error),
    };
    let query = QueryItems::of(collection).filtered(filter.clone());
    let count = CountItems::of(collection).filtered(filter);
    assert_eq!(host.notes.items(GetItems::of(collection)).unwrap().len(), 2);
    [
        told(host.notes.query_items(query).map(|page| page.len())),
        told(host.notes.count_items(count).map(|counts| usize::try_from(counts.count).unwrap())),
    ]
}

#[test]
fn filters_nest_sixteen_levels() {
    on_a_small_stack(|| {
        let named = || ItemFilter::on("title", Operator::Equals, "Dune");
        let not = |levels: usize| (0..levels).fold(named(), |filter, _| filter.negated());
        assert_eq!(asked(not(16)), ["1", "1"]);
        let refused = format!("LIMIT_EXCEEDED filter{}", ".not".repeat(17));
        for levels in [17, 48, MILLION] {
            assert_eq!(asked(not(levels)), [refused.as_str(); 2]);
        }
        let mixed = (0..MILLION).fold(named(), |filter, level| match level % 3 {
            0 => filter.and(named()),
            1 => named().or(filter),
            _ => filter.negated(),
        });
        assert!(asked(mixed)[0].starts_with("LIMIT_EXCEEDED filter."));

        let space = Space::in_memory().unwrap();
        let body = |operation: &str, levels: usize| {
            let filter =
                within(r#"{"not":"#, r#"{"property":"title","isEmpty":true}"#, "}", levels);
            let body = format!(r#"{{"collectionId":"x","filter":{filter}}}"#);
            wrong(&ask(&space.connect(), operation, &body).unwrap_err())
        };
        for operation in ["query_items", "count_items"] {
            assert_eq!(body(operation, 16), "NOT_FOUND collectionId");
            assert_eq!(body(operation, 17), refused);
            assert_eq!(body(operation, MILLION), "LIMIT_EXCEEDED");
        }
    });
}
