//! Scopes for reading only, and scopes of folders.

use std::thread;
use std::time::Duration;

use leafbase::{
    Connection, CreateFolders, DeleteBlocks, DeleteDocuments, DeleteFolders, Destination,
    DocumentId, Edit, ErrorKind, Fetch, FolderDestination, FolderDraft, FolderId,
    ListScopedDocuments, MoveDocuments, MoveFolders, Scoped, SearchDocuments, Space, UndoChanges,
};
use serde_json::json;

use crate::calls::{Call, OPERATIONS, answer};
use crate::world::limits;

/// What the operations that write are asked: of an ID that is seen, hidden, or unknown.
const WRITES: &[(&str, &str)] = &[
    ("insert", r#"{"markdown": "x", "position": {"position": "end", "pageId": "@id"}}"#),
    ("update", r#"{"blocks": [{"id": "@id", "markdown": "x"}]}"#),
    ("delete", r#"{"blockIds": ["@id"]}"#),
    ("run_batch", r#"{"operations": [{"operation": "delete_blocks", "blockIds": ["@id"]}]}"#),
    ("move", r#"{"blockIds": ["@id"], "position": {"position": "end", "pageId": "@id"}}"#),
    ("split", r#"{"blockId": "@id", "offset": 0}"#),
    ("merge", r#"{"blockId": "@id"}"#),
    ("indent", r#"{"firstId": "@id"}"#),
    ("duplicate", r#"{"firstId": "@id"}"#),
    ("shift", r#"{"firstId": "@id"}"#),
    ("sort", r#"{"parentId": "@id"}"#),
    ("replace", r#"{"find": "a", "replacement": "b", "blockIds": "@id"}"#),
    ("apply", r#"{"pageId": "@id", "markdown": "x"}"#),
    (
        "edit",
        r#"{"pageId": "@id", "edits": [{"edit": "insertAfter", "text": "a", "markdown": "b"}]}"#,
    ),
    ("undo", r#"{"sequences": [1]}"#),
    ("update_documents", r#"{"documents": [{"id": "@id", "title": "x"}]}"#),
    ("comment", r#"{"comments": [{"blockId": "@id", "content": "x"}]}"#),
    ("update_comments", r#"{"comments": [{"id": "@id"}]}"#),
    ("delete_comments", r#"{"commentIds": ["@id"]}"#),
    ("upload", r#"{"position": "end", "pageId": "@id"}"#),
    (
        "create_collection",
        r#"{"schema": {"name": "c", "properties": []}, "position": {"pageId": "@id"}}"#,
    ),
    ("replace_schema", r#"{"collectionId": "@id", "schema": {"name": "c", "properties": []}}"#),
    ("add_items", r#"{"collectionId": "@id", "items": []}"#),
    ("update_items", r#"{"collectionId": "@id", "itemsToUpdate": []}"#),
    ("delete_items", r#"{"collectionId": "@id", "idsToDelete": []}"#),
];

#[test]
fn every_write_of_a_read_only_scope_is_refused_alike_and_every_read_is_not() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let [seen, hidden] = ["seen", "hidden"].map(|title| notes.create_document(title).unwrap().id());
    let scope = space.scope([seen]);
    let reader = scope.read_only().connect();
    let last = notes.last_sequence().unwrap();
    for (operation, body) in WRITES {
        let replies = [seen, hidden, DocumentId::NIL].map(|id| {
            let body = body.replace("@id", &id.to_string());
            let call = Call::new(operation, serde_json::from_str(&body).unwrap());
            answer(&reader, &call, &limits())
        });
        assert!(replies[0].json.contains("READ_ONLY"), "{operation}: {replies:?}");
        assert!(replies.iter().all(|reply| *reply == replies[0]), "{operation}: {replies:?}");
    }
    assert_eq!(notes.last_sequence().unwrap(), last);
    let writes = WRITES.iter().map(|(operation, _)| *operation);
    for operation in OPERATIONS {
        let is_write = writes.clone().any(|write| write == operation);
        let call = Call::new(operation, json!({"id": seen}));
        let is_refused = answer(&reader, &call, &limits()).json.contains("READ_ONLY");
        assert!(is_write || !is_refused, "{operation}");
    }
    // The scope itself goes on writing, and the reader sees and follows it.
    scope.connect().insert_markdown("passport", seen).unwrap();
    assert_eq!(reader.content_markdown(seen).unwrap(), "passport");
    assert_eq!(reader.last_sequence().unwrap(), 1);
    scope.add([hidden]);
    assert_eq!(reader.documents().unwrap().len(), 2);
}

/// A folder with a subfolder, a folder beside it, and a guest of the first.
struct Shelf {
    space: Space,
    notes: Connection,
    shared: FolderId,
    inner: FolderId,
    other: FolderId,
    guest: Connection<Scoped>,
}

impl Shelf {
    fn new() -> Self {
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let shared = FolderDraft::new("Shared").with_folders([FolderDraft::new("Inner")]);
        let made = CreateFolders::new([shared, FolderDraft::new("Other")]);
        let made = notes.create_folders(made).unwrap();
        let (shared, inner, other) = (made[0].id, made[1].id, made[2].id);
        let guest = space.folder_scope([shared]).connect();
        Self { space, notes, shared, inner, other, guest }
    }

    fn document(&self, title: &str, at: impl Into<Destination>) -> DocumentId {
        let page = leafbase::BlockDraft::new(leafbase::BlockData::page(title));
        self.notes.create_document_of(page, at).unwrap().id()
    }

    fn put(&self, document: DocumentId, at: impl Into<Destination>) {
        self.notes.move_documents(MoveDocuments::new([document], at)).unwrap();
    }

    fn put_folder(&self, folder: FolderId, at: impl Into<FolderDestination>) {
        self.notes.move_folders(MoveFolders::new([folder], at)).unwrap();
    }

    /// Titles of the documents that the guest sees.
    fn seen(&self) -> Vec<String> {
        let mut seen: Vec<_> =
            self.guest.documents().unwrap().into_iter().map(|document| document.title).collect();
        seen.sort();
        seen
    }

    /// The rows of the guest's feed after the one of this number: titles, and numbers of blocks.
    fn told(&self, after: u64) -> Vec<String> {
        let title = |id: &DocumentId| self.notes.document(*id).unwrap().title;
        let rows = self.guest.changes_since(after).map(|change| {
            let change = change.unwrap();
            let titles: Vec<_> = change.documents.iter().map(title).collect();
            format!("{}: {}", titles.join(" "), change.blocks.len())
        });
        rows.collect()
    }
}

#[test]
fn a_folder_scope_has_the_documents_that_are_in_the_folder_when_a_call_begins() {
    let shelf = Shelf::new();
    let a = shelf.document("a", shelf.shared);
    let b = shelf.document("b", shelf.inner);
    let c = shelf.document("c", shelf.other);
    let d = shelf.document("d", Destination::Unsorted);
    assert_eq!(shelf.seen(), ["a", "b"]);
    shelf.put(d, shelf.inner);
    shelf.put(a, Destination::Templates);
    assert_eq!(shelf.seen(), ["b", "d"]);
    shelf.notes.delete_documents(DeleteDocuments::from(d)).unwrap();
    assert_eq!(shelf.seen(), ["b"]);
    shelf.put(d, shelf.shared);
    shelf.put_folder(shelf.other, shelf.inner);
    assert_eq!(shelf.seen(), ["b", "c", "d"]);
    shelf.put_folder(shelf.inner, FolderDestination::Root);
    assert_eq!(shelf.seen(), ["d"]);
    shelf.notes.delete_folders(DeleteFolders::new([shelf.shared])).unwrap();
    assert_eq!(shelf.seen(), [""; 0]);
    for document in [a, b, c, d] {
        let error = shelf.guest.insert_markdown("x", document).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
    // A folder that never was, and one named twice with a folder in it.
    let twice = shelf.space.folder_scope([FolderId::NIL, shelf.other, shelf.inner, shelf.other]);
    assert_eq!(twice.connect().documents().unwrap().len(), 2);
}

#[test]
fn watchers_of_a_folder_scope_notice_what_leaves_it() {
    let shelf = Shelf::new();
    let a = shelf.document("a", shelf.shared);
    let b = shelf.document("b", shelf.inner);
    let mut listing = shelf.guest.watch(ListScopedDocuments::new()).unwrap();
    let mut page = shelf.guest.watch(Fetch::new(a)).unwrap();
    shelf.put(a, shelf.other);
    assert_eq!(listing.try_next().unwrap().unwrap().steps.len(), 1);
    assert_eq!(listing.entries()[0].id, b);
    assert_eq!(page.try_next().unwrap_err().kind(), ErrorKind::NotFound);
    shelf.put(a, shelf.shared);
    assert_eq!(listing.try_next().unwrap().unwrap().steps.len(), 1);
    assert!(page.try_next().unwrap().is_none_or(|patch| patch.steps.len() == 1));
    // One that waits.
    let waiting = thread::spawn(move || {
        listing.next_within(Duration::from_secs(600)).unwrap();
        listing.entries().len()
    });
    shelf.put_folder(shelf.inner, FolderDestination::Root);
    assert_eq!(waiting.join().unwrap(), 1);
    shelf.notes.delete_documents(DeleteDocuments::from(a)).unwrap();
    assert_eq!(page.try_next().unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_folder_scope_is_searched_and_written() {
    let shelf = Shelf::new();
    let a = shelf.document("a", shelf.shared);
    let b = shelf.document("b", shelf.other);
    let line = shelf.guest.insert_markdown(&format!("amber [x](block://{b})"), a).unwrap()[0].id;
    shelf.notes.insert_markdown("amber", b).unwrap();
    let found = || {
        let found = shelf.guest.search(SearchDocuments::words("amber")).unwrap();
        found.iter().map(|found| found.document_id).collect::<Vec<_>>()
    };
    assert_eq!(found(), [a]);
    let shown = || shelf.guest.content_markdown(a).unwrap();
    assert_eq!(shown(), "amber [x](invalid:out_of_scope#1)");
    shelf.put(b, shelf.inner);
    assert_eq!(found().len(), 2);
    assert_eq!(shown(), format!("amber [x](block://{b})"));
    shelf.put(b, shelf.other);
    assert_eq!(found(), [a]);
    shelf.guest.delete_blocks(DeleteBlocks::from(line)).unwrap();
    assert_eq!(found(), []);
}

/// Documents that enter are told as they are, not what was written to them before.
#[test]
fn the_feed_of_a_folder_scope_tells_what_enters() {
    let shelf = Shelf::new();
    let notes = &shelf.notes;
    let a = shelf.document("a", shelf.shared);
    notes.insert_markdown("1", a).unwrap();
    let b = shelf.document("b", shelf.other);
    notes.insert_markdown("hidden", b).unwrap();
    assert_eq!(shelf.told(0), ["a: 0", "a: 1"]);
    shelf.put(b, shelf.inner);
    notes.insert_markdown("2", b).unwrap();
    shelf.put(b, shelf.shared); // within the scope
    notes.insert_markdown("3", b).unwrap();
    assert_eq!(shelf.told(2), ["b: 0", "b: 1", "b: 1"]);

    // Out, written, and in again: what was written outside is not told.
    shelf.put(a, shelf.other);
    notes.insert_markdown("hidden\n\nhidden", a).unwrap();
    shelf.put(a, shelf.shared);
    notes.insert_markdown("4", a).unwrap();
    assert_eq!(shelf.told(5), ["a: 0", "a: 1"]);

    // A folder with what is in it, after a folder from which a document came.
    let c = shelf.document("c", shelf.other);
    let d = shelf.document("d", shelf.other);
    notes.insert_markdown("hidden", c).unwrap();
    shelf.put(c, shelf.inner);
    notes.insert_markdown("5", c).unwrap();
    shelf.put_folder(shelf.other, shelf.inner);
    notes.insert_markdown("6", d).unwrap();
    assert_eq!(shelf.told(7), ["c: 0", "c: 1", "d: 0", "d: 1"]);

    // Trash and back.
    notes.delete_documents(DeleteDocuments::from(d)).unwrap();
    shelf.put(d, shelf.inner);
    assert_eq!(shelf.told(11), ["d: 0"]);
    assert_eq!(shelf.guest.last_sequence().unwrap(), 12);
}

/// What the host adds comes after what entered by the last write, whether others wrote in between.
#[test]
fn additions_and_entries_are_told_in_the_order_in_which_they_were_made() {
    for is_written_between in [false, true] {
        let shelf = Shelf::new();
        let (a, b) = (shelf.document("a", shelf.other), shelf.document("b", shelf.other));
        let scope = shelf.space.folder_scope([shelf.shared]);
        let guest = scope.connect();
        shelf.put(a, shelf.shared);
        if is_written_between {
            shelf.notes.create_document("elsewhere").unwrap();
        }
        scope.add([b]);
        let told: Vec<_> = guest.changes_since(0).map(|it| it.unwrap().documents).collect();
        assert_eq!(told, [[a], [b]], "{is_written_between}");
    }
}

/// A folder that is moved into the scope through one that was outside then.
#[test]
fn folders_that_enter_one_after_the_other_hide_what_was_before() {
    let shelf = Shelf::new();
    let below = shelf.notes.create_folder("Below", Some(shelf.other)).unwrap().id;
    let a = shelf.document("a", below);
    assert_eq!(shelf.told(0), [""; 0]);
    shelf.notes.insert_markdown("hidden", a).unwrap();
    shelf.put_folder(below, shelf.inner);
    shelf.notes.insert_markdown("1", a).unwrap();
    shelf.put_folder(shelf.other, shelf.inner);
    shelf.notes.insert_markdown("2", a).unwrap();
    // Told as an addition: it came out of a folder that is in the scope now, and was not then.
    assert_eq!(shelf.told(0), ["a: 0", "a: 1", "a: 1"]);
}

#[test]
fn a_kept_scope_is_there_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("space");
    let space = Space::create(&path).unwrap();
    let notes = space.connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let folder = notes.create_folder("Travel", None).unwrap().id;
    let lisbon = notes.create_document("Lisbon").unwrap().id();
    notes.move_documents(MoveDocuments::new([lisbon], folder)).unwrap();
    let folders = space.folder_scope([folder]);
    folders.add([trip]);
    space.keep_scope("b", &folders).unwrap();
    space.keep_scope("a", &space.scope([trip])).unwrap();
    space.keep_scope("a", &space.scope([trip]).read_only()).unwrap();
    let names = |space: &Space| -> Vec<String> {
        space.kept_scopes().unwrap().into_iter().map(|kept| kept.name).collect()
    };
    assert_eq!(names(&space), ["a", "b"]);
    let sequence = notes.last_sequence().unwrap();
    space.keep_scope("a", &space.scope([trip]).read_only()).unwrap();
    assert_eq!(notes.last_sequence().unwrap(), sequence, "nothing has changed");
    for (name, path) in [("", "name"), (" ", "name")] {
        let refused = space.keep_scope(name, &folders).unwrap_err();
        assert_eq!((refused.kind(), refused.path()), (ErrorKind::Validation, path));
    }
    // A scope is a row of its own, and its edit has no other one.
    let change = notes.changes_since(sequence - 1).next().unwrap().unwrap();
    let Some(Edit::SetScope { before: Some(before), after: Some(after) }) = change.edits.first()
    else {
        panic!("{change:?}")
    };
    assert_eq!((change.edits.len(), before.is_read_only, after.is_read_only), (1, false, true));
    notes.undo(UndoChanges::new([sequence])).unwrap();
    assert!(!space.kept_scopes().unwrap()[0].is_read_only);
    let refused = notes.undo(UndoChanges::new([sequence])).unwrap_err();
    assert_eq!(refused.details()[0].path, "scopes.a");
    space.keep_scope("a", &space.scope([trip]).read_only()).unwrap();
    let backup = directory.path().join("backup");
    space.backup_to(&backup).unwrap();
    drop((notes, folders));
    space.close().unwrap();

    for path in [path, backup] {
        let space = Space::open(&path).unwrap();
        let titles = |name: &str| -> Vec<String> {
            let listed = space.kept_scope(name).unwrap().connect().documents().unwrap();
            let mut titles: Vec<_> = listed.iter().map(|document| document.title.clone()).collect();
            titles.sort();
            titles
        };
        assert_eq!(
            (titles("a"), titles("b")),
            (vec!["Trip".into()], vec!["Lisbon".into(), "Trip".into()])
        );
        let reader = space.kept_scope("a").unwrap().connect();
        assert_eq!(reader.insert_markdown("x", trip).unwrap_err().kind(), ErrorKind::ReadOnly);
        space.kept_scope("b").unwrap().connect().insert_markdown("x", lisbon).unwrap();
        let shown = serde_json::to_string(&reader.info().unwrap()).unwrap();
        assert!(!shown.contains("scopes"), "{shown}");
        space.delete_kept_scope("a").unwrap();
        assert_eq!(names(&space), ["b"]);
        assert_eq!(space.delete_kept_scope("a").unwrap_err().kind(), ErrorKind::NotFound);
        assert!(space.check().unwrap().is_clean());
    }
}
