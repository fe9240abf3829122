//! Documents are made in batches, named and renamed.

use leafbase::{BlockData, BlockDraft, BlockPatch, CreateDocuments, Destination, Document};
use leafbase_model::Limits;
use serde_json::json;

use crate::documents::Library;
use crate::host::wrong;

#[test]
fn documents_are_made_where_it_is_said() {
    let library = Library::new();
    for (body, expected) in [
        (r#"{"documents":[{"title":"a"}]}"#, "a:unsorted"),
        (
            r#"{"documents":[{"title":"a"},{"title":"b"}],"destination":{"destination":"unsorted"}}"#,
            "a:unsorted b:unsorted",
        ),
        (
            r#"{"documents":[{"markdown":"a","type":"page"}],"destination":{"destination":"templates"}}"#,
            "a:templates",
        ),
        (r#"{"documents":[{"title":"a"}],"destination":{"folderId":"@Garden"}}"#, "a:Garden"),
        (r#"{"documents":[{"title":"a"}],"destination":{"folderId":"templates"}}"#, "a:templates"),
        (
            r#"{"documents":[{"title":"*a*","content":[{"type":"text","markdown":"x"}]}]}"#,
            "*a*:unsorted",
        ),
    ] {
        library.undone("create", body, expected);
    }
}

#[test]
fn a_made_document_has_its_content_and_a_link() {
    let library = Library::new();
    let body = r#"{"documents":[{"title":"a","content":[{"type":"text","markdown":"x\n\ny"}]},{"type":"text","markdown":"b"}]}"#;
    let reply = library.done("create", body);
    let (first, second) = (&reply["items"][0], &reply["items"][1]);
    let id = first["id"].as_str().unwrap();
    let link = library.notes.space().block_url(id.parse::<leafbase::BlockId>().unwrap());
    assert!(link.contains(id));
    let expected = json!({"id": id, "title": "a", "isDeleted": false, "location": {"destination": "unsorted"}, "clickableLink": link, "rev": 1});
    assert_eq!(*first, expected);
    assert_eq!(
        library.notes.content_markdown(id.parse::<leafbase::BlockId>().unwrap()).unwrap(),
        "x\n\ny"
    );
    assert!(second["clickableLink"].as_str().unwrap().contains(second["id"].as_str().unwrap()));
    let listed = library.done("list", r#"{"location":"unsorted"}"#);
    assert!(
        listed["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|document| document.get("clickableLink").is_none())
    );
    assert!(library.notes.create_document("c").unwrap().clickable_link.is_some());
}

#[test]
fn documents_that_are_not_made() {
    let mut limits = Limits::default();
    limits.blocks_per_request = 4;
    let library = Library::with_limits(limits);
    library.table(&[
        (
            "create",
            r#"{"documents":[{"title":"a"}],"destination":{"destination":"trash"}}"#,
            "RULE_VIOLATION destination.destination",
        ),
        (
            "create",
            r#"{"documents":[{"title":"a"}],"destination":{"folderId":"trash"}}"#,
            "RULE_VIOLATION destination.folderId",
        ),
        (
            "create",
            r#"{"documents":[{"title":"a"}],"destination":{"destination":"daily_notes"}}"#,
            "RULE_VIOLATION destination.destination",
        ),
        (
            "create",
            r#"{"documents":[{"title":"a"}],"destination":{"destination":"inbox"}}"#,
            "VALIDATION destination.destination",
        ),
        ("create", r#"{"documents":[{"title":"a"}],"destination":{"folderId":"?"}}"#, "NOT_FOUND destination.folderId"),
        ("create", r#"{"documents":[],"destination":{"folderId":"?"}}"#, "NOT_FOUND destination.folderId"),
        (
            "create",
            r#"{"documents":[],"destination":{"folderId":"@Home","destination":"unsorted"}}"#,
            "VALIDATION destination",
        ),
        ("create", r#"{"documents":[{"title":"a"},{"type":"line"}]}"#, "RULE_VIOLATION documents[1].type"),
        (
            "create",
            r#"{"documents":[{"title":"a"},{"type":"text","markdown":"a\n\nb"}]}"#,
            "VALIDATION documents[1].markdown",
        ),
        (
            "create",
            r#"{"documents":[{"title":"a","content":[{"type":"line"},{"type":"text","cardLayout":"small"}]}]}"#,
            "RULE_VIOLATION documents[0].content[1].cardLayout",
        ),
        (
            "create",
            r#"{"documents":[{"title":"a","content":[{"type":"text","color":"blue"}]}]}"#,
            "VALIDATION documents[0].content[0].color",
        ),
        ("create", r#"{"documents":[{"name":"a"}]}"#, "VALIDATION documents[0].name"),
        ("create", r#"{"documents":{"title":"a"}}"#, "VALIDATION documents"),
        ("create", "{}", "VALIDATION documents"),
        ("create", r#"{"documents":[{},{},{},{},{}]}"#, "LIMIT_EXCEEDED documents"),
        (
            "create",
            r#"{"documents":[{"content":[{"type":"line"}]},{"content":[{"type":"text","markdown":"a\n\nb"}]}]}"#,
            "LIMIT_EXCEEDED documents",
        ),
    ]);
    library.undone(
        "create",
        r#"{"documents":[{},{},{},{}]}"#,
        "? ? ? ?".replace('?', ":unsorted").trim(),
    );
}

#[test]
fn drafts_of_any_depth_are_refused_on_a_small_stack() {
    let run = || {
        let library = Library::empty("UTC", Limits::default());
        let page = || BlockDraft::new(BlockData::page("p"));
        let deep = || (1..200_000).fold(page(), |inner, _| page().with_content(vec![inner]));
        for pages in [
            vec![deep()],
            vec![page(), deep(), deep()],
            vec![BlockDraft::new(BlockData::page("x\n\ny")), deep()],
        ] {
            library
                .notes
                .create_documents(CreateDocuments::new(pages, Destination::Unsorted))
                .unwrap_err();
        }
        assert_eq!(library.line("list", "{}"), "");
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(run).unwrap().join().unwrap();
}

#[test]
fn a_document_is_renamed_by_its_root() {
    let library = Library::new();
    library.clock.advance(1_000);
    let titled = |title: &str| BlockPatch::markdown(library.id("bills").root(), title);
    library.notes.update_blocks(leafbase::UpdateBlocks::new([titled("Bills of *March*")])).unwrap();
    let listed =
        library.notes.list_documents(leafbase::ListDocuments::new().with_metadata()).unwrap();
    let bills = listed.iter().find(|document| document.id() == library.id("bills")).unwrap();
    assert_eq!(bills.title, "Bills of *March*");
    assert_eq!(bills.modified_at().as_millis() - bills.created_at().as_millis(), 1_000);
    let error = library
        .notes
        .update_blocks(leafbase::UpdateBlocks::new([titled(&"x".repeat(1_001))]))
        .unwrap_err();
    assert_eq!(wrong(&error), "LIMIT_EXCEEDED blocks[0].markdown");
}

#[test]
fn a_request_built_in_rust_does_the_same() {
    let library = Library::new();
    let made = library
        .notes
        .create_documents(CreateDocuments::titled(["a", "b"]).at(Destination::Templates))
        .unwrap();
    assert_eq!(made.iter().map(|made| made.title.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let ids: Vec<_> = made.iter().map(Document::id).collect();
    assert_eq!(library.notes.delete_documents(ids[0]).unwrap().0, [ids[0]]);
    let moved = library
        .notes
        .move_documents(leafbase::MoveDocuments::new(ids.clone(), Destination::Unsorted))
        .unwrap();
    assert_eq!(moved.iter().map(Document::id).collect::<Vec<_>>(), ids);
}
