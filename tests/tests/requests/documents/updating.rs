//! Titles and locations of documents that change, and replies that come back as updates.

use leafbase::{
    Document, DocumentPatch, Fetch, Limits, ListDocuments, Location, ScopedDocumentPatch, Space,
    UpdateDocuments, UpdateScopedDocuments,
};
use serde_json::{Value, json};

use crate::documents::Library;
use crate::host::wrong;

#[test]
fn outcomes() {
    let mut limits = Limits::default();
    (limits.title, limits.blocks_per_request) = (29, 12);
    let library = Library::with_limits(limits);
    let long = r#"{"documents":[{"id":"@loose"},{"id":"@plan","title":"123456789 123456789 123456789 x"}]}"#;
    let many = json!({"documents": vec![json!({"id": "?"}); 13]}).to_string();
    library.table(&[
        ("updateDocuments", r#"{"documents":[]}"#, ""),
        (
            "updateDocuments",
            r#"{"documents":[{"id":"@loose","title":"x"},{"id":"?"}]}"#,
            "NOT_FOUND documents[1].id",
        ),
        (
            "updateDocuments",
            r#"{"documents":[{"id":"?"},{"id":"?"}]}"#,
            "NOT_FOUND documents[0].id",
        ),
        (
            "updateDocuments",
            r#"{"documents":[{"id":"@loose"},{"id":"@loose"}]}"#,
            "VALIDATION documents[1].id",
        ),
        ("updateDocuments", r#"{"documents":[{"id":"@inbox"}]}"#, "RULE_VIOLATION documents[0].id"),
        (
            "updateDocuments",
            r#"{"documents":[{"id":"@loose","rev":7,"title":"x"}]}"#,
            "CONFLICT documents[0].rev",
        ),
        (
            "updateDocuments",
            r#"{"documents":[{"id":"@loose","location":{"folderId":"?"}}]}"#,
            "NOT_FOUND documents[0].location.folderId",
        ),
        (
            "updateDocuments",
            r#"{"documents":[{"id":"@loose","location":{"destination":"trash"}}]}"#,
            "RULE_VIOLATION documents[0].location",
        ),
        (
            "updateDocuments",
            r#"{"documents":[{"id":"@loose","destination":{"destination":"daily_notes"}}]}"#,
            "RULE_VIOLATION documents[0].location",
        ),
        (
            "updateDocuments",
            r#"{"documents":[{"id":"@today","location":{"destination":"unsorted"}}]}"#,
            "RULE_VIOLATION documents[0].location",
        ),
        (
            "updateDocuments",
            r#"{"documents":[{"id":"@plan","title":"x"},{"id":"@rubbish","title":"x"}]}"#,
            "RULE_VIOLATION documents[1].title",
        ),
        ("updateDocuments", long, "LIMIT_EXCEEDED documents[1].title"),
        ("updateDocuments", &many, "LIMIT_EXCEEDED documents"),
        (
            "updateDocuments",
            r#"{"documents":[{"id":"@loose","location":{"destination":"unsorted"},"destination":{"folderId":"@Home"}}]}"#,
            "VALIDATION documents[0].destination",
        ),
        (
            "updateDocuments",
            r#"{"documents":[{"id":"@loose","location":{}}]}"#,
            "VALIDATION documents[0].location",
        ),
        (
            "updateDocuments",
            r#"{"documents":[{"id":"@loose","name":"x"}]}"#,
            "VALIDATION documents[0].name",
        ),
    ]);
    assert_eq!(library.line("updateDocuments", r#"{"documents":[{"id":"@plan"}]}"#), "plan:Work");
}

#[test]
fn a_change_is_one_write_and_can_be_undone() {
    let library = Library::new();
    for (body, expected) in [
        (r#"{"documents":[{"id":"@loose","title":"*new*"}]}"#, "loose:unsorted"),
        (r#"{"documents":[{"id":"@today","title":"x"}]}"#, "today:daily_notes"),
        (
            r#"{"documents":[{"id":"@loose","title":"x","location":{"folderId":"@Garden"}},{"id":"@plan","destination":{"destination":"templates"}}]}"#,
            "loose:Garden plan:templates",
        ),
        // Restored, and with another title at once.
        (
            r#"{"documents":[{"id":"@rubbish","title":"x","location":{"folderId":"unsorted"}}]}"#,
            "rubbish:unsorted",
        ),
    ] {
        library.undone("updateDocuments", body, expected);
    }
}

/// Each document in every place, as a listing and as a move tell it.
#[test]
fn a_document_of_a_reply_sent_back_changes_nothing() {
    let library = Library::new();
    let notes = &library.notes;
    let listed = notes.list_documents(ListDocuments::new().with_metadata()).unwrap();
    let mut replies: Vec<Value> =
        listed.iter().map(|document| serde_json::to_value(document).unwrap()).collect();
    assert_eq!(replies.len(), 10);
    for reply in &mut replies {
        reply["clickableLink"] = json!("https://notes.example/x");
    }
    let (before, last) = (library.state(), notes.last_sequence().unwrap());
    let request: UpdateDocuments =
        serde_json::from_value(json!({"documents": replies.clone()})).unwrap();
    let updated = notes.update_documents(request).unwrap();
    let revs = |documents: &[Document]| documents.iter().map(Document::rev).collect::<Vec<_>>();
    assert_eq!(revs(&updated), revs(&listed));
    assert_eq!((library.state(), notes.last_sequence().unwrap()), (before, last));
    // The same with one field changed does just that.
    let mut changed = replies[0].clone();
    changed["title"] = json!("other");
    let request = serde_json::from_value(json!({"documents": [changed]})).unwrap();
    let updated = notes.update_documents(request).unwrap();
    assert_eq!((&*updated[0].title, updated[0].rev()), ("other", listed[0].rev() + 1));
    let root = notes.fetch(Fetch::new(updated[0].id()).depth(0)).unwrap();
    assert_eq!(root.data.inline, "other");
    assert_eq!(notes.last_sequence().unwrap(), last + 1);
}

#[test]
fn a_scoped_connection_changes_titles_and_keeps_what_is_hidden_in_them() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let hidden = notes.create_document("hidden").unwrap().id();
    let title = format!("see [x](block://{hidden})");
    let seen = notes.create_document(&title).unwrap().id();
    let guest = space.scoped([seen]);
    let shown = serde_json::to_value(guest.document(seen).unwrap()).unwrap();
    assert_eq!(shown["title"], "see [x](invalid:out_of_scope#1)");
    let update = |document: &Value| {
        let request: UpdateScopedDocuments =
            serde_json::from_value(json!({"documents": [document]})).unwrap();
        serde_json::to_value(guest.update_documents(request).unwrap()).unwrap()["items"][0].clone()
    };
    let last = notes.last_sequence().unwrap();
    assert_eq!(update(&shown)["title"], shown["title"]);
    assert_eq!(notes.last_sequence().unwrap(), last);
    let mut changed = shown.clone();
    changed["title"] = json!("do see [x](invalid:out_of_scope#1)");
    assert_eq!(update(&changed)["title"], changed["title"]);
    assert_eq!(notes.document(seen).unwrap().title, format!("do {title}"));
    let patch = ScopedDocumentPatch::of(hidden).titled("x");
    let error = guest.update_documents(UpdateScopedDocuments::new([patch])).unwrap_err();
    assert_eq!(wrong(&error), "NOT_FOUND documents[0].id");
    let json = json!({"documents": [{"id": seen, "location": {"destination": "unsorted"}}]});
    let error = space.read_json::<UpdateScopedDocuments>(&json.to_string()).unwrap_err();
    assert_eq!(wrong(&error), "VALIDATION documents[0].location");
}

#[test]
fn a_document_that_is_moved_only_keeps_its_revision() {
    let library = Library::new();
    let (notes, plan) = (&library.notes, library.id("plan"));
    let rev = notes.document(plan).unwrap().rev();
    let patch = DocumentPatch::of(plan).if_rev(rev).moved_to(leafbase::Destination::Unsorted);
    let moved = notes.update_documents(UpdateDocuments::new([patch])).unwrap();
    assert_eq!((moved[0].rev(), moved[0].record.location), (rev, Location::Unsorted));
}
