//! IDs that nothing bears: unknown or malformed, every operation has the same words for them.

use serde_json::json;

use crate::host::Host;

#[test]
fn unknown_and_malformed_are_answered_alike() {
    let host = Host::new();
    let before = host.dump();
    let requests = [
        ("fetch", r#"{"id":"?"}"#, "id"),
        ("fetch", r#"{"id":"?","maxDepth":0}"#, "id"),
        ("insert", r#"{"markdown":"x","position":{"pageId":"?"}}"#, "position.pageId"),
        (
            "insert",
            r#"{"blocks":[{"type":"text"}],"position":{"position":"start","pageId":"?"}}"#,
            "position.pageId",
        ),
        (
            "insert",
            r#"{"markdown":"x","position":{"position":"before","siblingId":"?"}}"#,
            "position.siblingId",
        ),
        (
            "insert",
            r#"{"markdown":"x","position":{"position":"after","siblingId":"?"}}"#,
            "position.siblingId",
        ),
        (
            "update",
            r#"{"blocks":[{"id":"@text","markdown":"y"},{"id":"?","markdown":"x"}]}"#,
            "blocks[1].id",
        ),
        ("update", r#"{"blocks":[{"id":"?","rev":3,"cardLayout":"small"}]}"#, "blocks[0].id"),
        ("delete", r#"{"blockIds":["@text","?"]}"#, "blockIds[1]"),
        ("delete", r#"{"blockIds":"?"}"#, "blockIds[0]"),
        ("move", r#"{"blockIds":["@text","?"],"position":{"pageId":"@page"}}"#, "blockIds[1]"),
        ("move", r#"{"blockIds":["@text"],"position":{"pageId":"?"}}"#, "position.pageId"),
        (
            "move",
            r#"{"blockIds":["@text"],"position":{"position":"before","siblingId":"?"}}"#,
            "position.siblingId",
        ),
    ];
    for (operation, body, path) in requests {
        for id in [
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "",
            "x",
            "01ARZ3NDEKTSV4RRFFQ69G5FA!",
            "ÄÖ",
            "00000000000000000000000000",
        ] {
            let error =
                host.ask(operation, &body.replace("\"?\"", &json!(id).to_string())).unwrap_err();
            let message = format!("{path}: no block has this ID");
            let expected = json!({"code": "NOT_FOUND", "error": message, "message": message,
                "details": [{"path": path, "message": "no block has this ID"}]});
            assert_eq!(
                serde_json::to_value(&error).unwrap(),
                expected,
                "{operation} {body} of {id:?}"
            );
        }
    }
    for id in ["01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(), leafbase::DocumentId::NIL] {
        assert_eq!(host.notes.document(id).unwrap_err().to_string(), "no document has this ID");
        assert_eq!(host.notes.document_of(id).unwrap_err().to_string(), "no block has this ID");
        assert_eq!(
            host.notes.content_markdown(id).unwrap_err().to_string(),
            "pageId: no block has this ID"
        );
    }
    assert_eq!(host.dump(), before);
}
