//! Scopes: which documents are shown, how that changes while connections are open, and the changes
//! of a scope.

use std::collections::BTreeSet;
use std::io::Read;

use leafbase::{
    AddComments, BlockId, BlockPatch, CommentDraft, Connection, CreateFolders, DeleteBlocks,
    DeleteDocuments, Destination, DocumentId, ErrorKind, Fetch, FolderDraft, ListScopedDocuments,
    MoveBlocks, MoveDocuments, Position, PurgeDocuments, Scope, Scoped, ScopedChange, Space,
    UploadFile,
};
use serde_json::{Value, json};

use crate::world::read;

/// A space with the documents `a`, `b` and `c`, the first two of which are in the scope.
struct World {
    space: Space,
    all: Connection,
    scope: Scope,
    guest: Connection<Scoped>,
    a: DocumentId,
    b: DocumentId,
    c: DocumentId,
}

fn world() -> World {
    let space = Space::in_memory().unwrap();
    let all = space.connect();
    let [a, b, c] = ["a", "b", "c"].map(|title| all.create_document(title).unwrap().id());
    let scope = space.scope([b, a]);
    let guest = scope.connect().acting_as("guest");
    World { space, all, scope, guest, a, b, c }
}

/// The titles shown, sorted: IDs of one instant are in no order.
fn titles(guest: &Connection<Scoped>) -> String {
    let mut titles: Vec<_> =
        guest.documents().unwrap().0.into_iter().map(|document| document.title).collect();
    titles.sort_unstable();
    titles.concat()
}

#[test]
fn a_scope_shows_its_documents_as_they_are_when_a_call_begins() {
    let World { all, scope, guest, a, b, c, .. } = world();
    let never: DocumentId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    let purge = |id| all.purge_documents(PurgeDocuments::Documents(vec![id])).map(drop);
    let restore =
        |id| all.move_documents(MoveDocuments::new(vec![id], Destination::Unsorted)).map(drop);
    let steps: [(&str, &dyn Fn(), &str); 8] = [
        ("nothing", &|| (), "ab"),
        ("one is added", &|| scope.add([c]), "abc"),
        ("it is taken out", &|| scope.remove([c]), "ab"),
        ("one that never was is added", &|| scope.add([never]), "ab"),
        (
            "one is put into the trash",
            &|| drop(all.delete_documents(DeleteDocuments::from(a)).unwrap()),
            "b",
        ),
        ("it is restored", &|| restore(a).unwrap(), "ab"),
        (
            "one is purged",
            &|| {
                [all.delete_documents(DeleteDocuments::from(b)).map(drop), purge(b)]
                    .into_iter()
                    .for_each(|done| done.unwrap())
            },
            "a",
        ),
        ("all are taken out", &|| scope.remove([a, b, c, never]), ""),
    ];
    for (what, act, shown) in steps {
        act();
        assert_eq!(titles(&guest), shown, "{what}");
        for (title, id) in [("a", a), ("b", b), ("c", c)] {
            let found = guest.fetch(Fetch::new(id));
            assert_eq!(found.is_ok(), shown.contains(title), "{title}: {what}");
            assert_eq!(guest.document(id).is_ok(), shown.contains(title), "{title}: {what}");
            if let Err(error) = found {
                assert_eq!(
                    serde_json::to_value(&error).unwrap(),
                    serde_json::to_value(guest.fetch(Fetch::new(never)).unwrap_err()).unwrap()
                );
            }
        }
    }
    assert!(scope.documents().is_empty());
}

#[test]
fn a_document_is_shown_without_its_place() {
    let World { all, guest, a, .. } = world();
    let folder =
        all.create_folders(CreateFolders::new([FolderDraft::new("secret")])).unwrap()[0].id;
    let before = guest.document(a).unwrap();
    let json = serde_json::to_value(
        &guest.list_documents(ListScopedDocuments::new().with_metadata()).unwrap()[0],
    )
    .unwrap();
    assert_eq!(json["isDeleted"], false);
    let names: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["createdAt", "id", "isDeleted", "lastModifiedAt", "title"]);
    let json = serde_json::to_value(&guest.documents().unwrap()[0]).unwrap();
    assert_eq!(json.as_object().unwrap().len(), 3);

    // Where it is kept is not a change of it.
    all.move_documents(MoveDocuments::new(vec![a], Destination::Folder(folder))).unwrap();
    all.delete_folders(serde_json::from_value(serde_json::json!({"folderIds": [folder]})).unwrap())
        .unwrap();
    assert_eq!(guest.document(a).unwrap(), before);
    assert!(guest.changes_since(0).next().is_none());
}

#[test]
fn blocks_move_within_a_scope_and_not_out_of_it() {
    let World { all, guest, a, b, c, .. } = world();
    let block = guest.insert_markdown("x", a).unwrap()[0].id;
    let beyond = all.insert_markdown("y", c).unwrap()[0].id;
    for position in [Position::end_of(c), Position::before(beyond)] {
        let error = guest.move_blocks(MoveBlocks::new([block], position)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
    assert_eq!(
        guest.move_blocks(MoveBlocks::new([beyond], Position::end_of(a))).unwrap_err().path(),
        "blockIds[0]"
    );
    guest.move_blocks(MoveBlocks::new([block], Position::end_of(b))).unwrap();
    assert_eq!(guest.document_of(block).unwrap(), b);
}

#[test]
fn what_is_printed_of_a_connection_names_no_document() {
    let World { scope, guest, a, .. } = world();
    let printed = format!("{guest:?} {scope:?} {:?}", guest.changes_since(0));
    assert!(!printed.contains(&a.to_string()) && !printed.contains("title"), "{printed}");
    assert!(printed.contains("guest"), "{printed}");
    assert_eq!(format!("{scope:?}"), "Scope { documents: 2, pages: 0, .. }");
}

#[test]
fn a_scope_tells_its_host_what_is_in_it() {
    let World { all, scope, a, b, c, .. } = world();
    let told = |expected: &[DocumentId]| {
        let expected = BTreeSet::from_iter(expected.iter().copied());
        assert_eq!(scope.documents(), expected.into_iter().collect::<Vec<_>>(), "by ID");
    };
    told(&[a, b]);
    all.delete_documents(DeleteDocuments::from(a)).unwrap();
    told(&[a, b]);
    scope.add([c, a]);
    told(&[a, b, c]);
    scope.remove([b]);
    told(&[a, c]);
}

/// The texts of a document, from the top, after each act; what is done is undone at the end.
#[test]
fn blocks_go_where_they_are_told() {
    let World { space, all, guest, a, .. } = world();
    let made = guest.insert_markdown("x\n\ny\n\nz", a).unwrap();
    let [x, y, z] = [0, 1, 2].map(|number| made[number].id);
    let first = all.last_sequence().unwrap();
    let insert = |position| drop(guest.insert_markdown("n", position).unwrap());
    let go = |block, position| drop(guest.move_blocks(MoveBlocks::new([block], position)).unwrap());
    let acts: [(&dyn Fn(), &str); 7] = [
        (&|| insert(Position::end_of(a)), "x y z n"),
        (&|| insert(Position::before(z)), "x y n z n"),
        (&|| insert(Position::start_of(a)), "n x y n z n"),
        (&|| go(z, Position::before(x)), "n z x y n n"),
        (&|| go(x, Position::end_of(a)), "n z y n n x"),
        (&|| drop(guest.delete_blocks(DeleteBlocks::from(y)).unwrap()), "n z n n x"),
        (&|| drop(guest.update_markdown(z, "z\n\nu").unwrap()), "n z u n n x"),
    ];
    let shown =
        || guest.content_markdown(a).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    for (number, (act, expected)) in acts.iter().enumerate() {
        act();
        assert_eq!(shown(), *expected, "after act {number}");
    }
    let changes: Vec<_> = all.changes_since(first).map(Result::unwrap).collect();
    let before = acts.iter().map(|(_, expected)| *expected).rev().skip(1).chain(["x y z"]);
    for (change, expected) in changes.iter().rev().zip(before) {
        space.apply(all.author(), &change.inverse().unwrap()).unwrap();
        assert_eq!(shown(), expected, "{} is undone", change.sequence);
    }
}

#[test]
fn a_page_is_shown_with_the_first_words_of_it() {
    let World { guest, a, .. } = world();
    let page = json!({"blocks": [{"type": "page", "markdown": "p", "content": [{"type": "text", "markdown": "child"}]}], "position": {"pageId": a}});
    let page = guest.insert_blocks(read(&page)).unwrap()[0].id;
    let shown = serde_json::to_value(guest.fetch(Fetch::new(page).depth(0)).unwrap()).unwrap();
    assert_eq!(shown["contentPreview"], "child");
}

/// The changes after one, as `number: documents blocks`, by how many.
fn changes(guest: &Connection<Scoped>, after: u64) -> Vec<String> {
    let shown = |change: ScopedChange| {
        format!(
            "{}: {} {} {}",
            change.sequence,
            change.documents.len(),
            change.blocks.len(),
            change.by
        )
    };
    guest.changes_since(after).map(|change| shown(change.unwrap())).collect()
}

#[test]
fn the_changes_of_a_scope_have_numbers_of_their_own() {
    let World { space, all, scope, guest, a, b, c } = world();
    assert_eq!((changes(&guest, 0), guest.last_sequence().unwrap()), (vec![], 0));
    let hidden = all.insert_markdown("h", c).unwrap()[0].id;
    let added = guest.insert_markdown("x\n\ny", a).unwrap();
    all.update_markdown(hidden, "hh").unwrap();
    all.add_comments(AddComments::new([
        CommentDraft::new(added[0].id, "why?"),
        CommentDraft::new(hidden, "oh"),
    ]))
    .unwrap();
    guest.move_blocks(MoveBlocks::new([added[0].id], Position::end_of(b))).unwrap();
    all.delete_blocks(DeleteBlocks::from(hidden)).unwrap();
    guest.update_blocks(BlockPatch::markdown(added[1].id, "yy").into()).unwrap();
    guest.delete_blocks(DeleteBlocks::from(added[0].id)).unwrap();
    all.delete_documents(DeleteDocuments::from(b)).unwrap();

    let expected =
        ["1: 1 2 guest", "2: 1 1 ", "3: 2 1 guest", "4: 1 1 guest", "5: 1 1 guest", "6: 1 0 "];
    assert_eq!(changes(&guest, 0), expected);
    assert_eq!(changes(&guest, 4), expected[4..]);
    assert_eq!(changes(&guest, 77), [""; 0]);
    assert_eq!(changes(&guest, u64::MAX), [""; 0]);
    assert_eq!(guest.last_sequence().unwrap(), 6);
    // Each connection of the scope sees the same; one of another scope has numbers of its own.
    assert_eq!(changes(&scope.connect(), 0), expected);
    assert_eq!(changes(&space.scoped([a]), 0), [""; 0]);

    // What leaves the scope leaves its changes, and no number is given twice.
    scope.remove([b]);
    assert_eq!(changes(&guest, 4), ["5: 0 0 guest", "6: 0 0 "]);
    scope.add([c]);
    all.insert_markdown("seen now", c).unwrap();
    assert_eq!(changes(&guest, 6), ["7: 1 0 ", "8: 1 1 "]);
    let change = serde_json::to_value(guest.changes_since(7).next().unwrap().unwrap()).unwrap();
    assert_eq!(change["documentIds"], serde_json::json!([c]));
}

/// A call may have an older snapshot than the call that has read the log before it.
#[test]
fn several_threads_read_a_feed_while_it_grows() {
    const WRITES: u64 = 400;
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let trip = notes.create_document("trip").unwrap().id();
    let guest = space.scoped([trip]);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| while guest.last_sequence().unwrap() < WRITES {});
        }
        for _ in 0..WRITES {
            notes.insert_markdown("passport", trip).unwrap();
        }
    });
    let numbers: Vec<_> = guest.changes_since(0).map(|change| change.unwrap().sequence).collect();
    assert_eq!(numbers, (1..=WRITES).collect::<Vec<_>>());
}

/// Followers find each document that is added, and each later write to it, whenever they read.
#[test]
fn several_threads_follow_a_scope_while_documents_are_added() {
    const ADDED: usize = 300;
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let documents: Vec<_> =
        (0..ADDED).map(|_| notes.create_document("trip").unwrap().id()).collect();
    let scope = space.scope([]);
    let follow = || {
        let (guest, mut last) = (scope.connect(), 0);
        let (mut added, mut written) = (BTreeSet::new(), BTreeSet::new());
        while last < 2 * ADDED as u64 {
            for change in guest.changes_since(last).map(Result::unwrap) {
                assert_eq!(change.sequence, last + 1, "rows have no gaps");
                last = change.sequence;
                let told = if change.blocks.is_empty() { &mut added } else { &mut written };
                told.extend(change.documents);
            }
        }
        (added.len(), written.len())
    };
    std::thread::scope(|threads| {
        let followers: Vec<_> = (0..3).map(|_| threads.spawn(follow)).collect();
        for document in documents {
            scope.add([document]);
            notes.insert_markdown("passport", document).unwrap();
        }
        for follower in followers {
            assert_eq!(follower.join().unwrap(), (ADDED, ADDED));
        }
    });
}

/// What was written to a document while it was hidden is not told, whether the guest has read its
/// changes before the document was added or not.
#[test]
fn a_document_enters_a_scope_as_it_is() {
    for reads_before in [false, true] {
        let World { all, scope, guest, a, c, .. } = world();
        let author = all.acting_as("Secret Lawyer");
        let hidden = author.insert_markdown("x\n\ny", c).unwrap()[0].id;
        author.delete_blocks(DeleteBlocks::from(hidden)).unwrap();
        if reads_before {
            assert_eq!(changes(&guest, 0), [""; 0]);
        }
        scope.add([c, a]);
        // One write to a document that was there and one that was added, before the next read.
        let moved = author.insert_markdown("z", c).unwrap()[0].id;
        author.move_blocks(MoveBlocks::new([moved], Position::end_of(a))).unwrap();
        let expected = ["1: 1 0 ", "2: 1 1 Secret Lawyer", "3: 2 1 Secret Lawyer"];
        assert_eq!(changes(&guest, 0), expected, "{reads_before}");
        let entry = guest.changes_since(0).next().unwrap().unwrap();
        assert_eq!((entry.documents, entry.blocks), (vec![c], vec![]));

        // A document that is taken out and added again enters anew; what is in it already does not.
        scope.remove([c]);
        author.move_blocks(MoveBlocks::new([moved], Position::end_of(c))).unwrap();
        scope.add([c]);
        scope.add([c, a]);
        let again = ["4: 1 1 Secret Lawyer", "5: 1 0 "];
        assert_eq!(changes(&guest, 3), again, "{reads_before}");
        assert_eq!(changes(&guest, 0)[1..3], ["2: 0 0 Secret Lawyer", "3: 1 1 Secret Lawyer"]);
    }
}

/// A document in the trash, one that never was and one that was purged enter alike.
#[test]
fn a_document_that_cannot_be_seen_enters_unnamed() {
    let never: DocumentId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    for purges in [None, Some(false), Some(true)] {
        let World { all, scope, guest, c, .. } = world();
        all.delete_documents(DeleteDocuments::from(c)).unwrap();
        if purges == Some(true) {
            all.purge_documents(PurgeDocuments::Documents(vec![c])).unwrap();
        }
        scope.add([purges.map_or(never, |_| c)]);
        assert_eq!(changes(&guest, 0), ["1: 0 0 "]);
        if purges == Some(false) {
            all.move_documents(MoveDocuments::new([c], Destination::Unsorted)).unwrap();
            assert_eq!(changes(&guest, 1), ["2: 1 0 "]);
        }
    }
}

/// What is done by a connection that sees all, and what a scope tells of it: whose document, and
/// how many of its blocks.
#[test]
fn a_write_is_a_change_by_what_is_seen_of_it() {
    let World { all, scope, guest, a, b, c, .. } = world();
    let collection = |home: DocumentId, name: &str| {
        let position = json!({"position": "end", "pageId": home});
        all.create_collection(read(
            &json!({"schema": {"name": name, "properties": []}, "position": position}),
        ))
        .unwrap()
        .id
    };
    let (books, vault) = (collection(a, "Books"), collection(c, "Vault"));
    let dune = json!({"collectionId": books, "items": [{"title": "Dune"}]});
    let dune = all.add_items(read(&dune)).unwrap()[0].id;
    let [x, h] = [a, c].map(|home| all.insert_markdown("x", home).unwrap()[0].id);
    let folder = all.create_folders(CreateFolders::new([FolderDraft::new("f")])).unwrap()[0].id;
    let go = |block, home| {
        drop(all.move_blocks(MoveBlocks::new([block], Position::end_of(home))).unwrap())
    };
    let comment = |block| {
        drop(all.add_comments(AddComments::new([CommentDraft::new(block, "why?")])).unwrap())
    };
    let delete = |block| drop(all.delete_blocks(DeleteBlocks::from(block)).unwrap());
    let column = |collection: BlockId, column: Value| {
        let mut schema = serde_json::to_value(all.schema(collection).unwrap()).unwrap();
        schema["properties"].as_array_mut().unwrap().push(column);
        all.replace_schema(read(&json!({"collectionId": collection, "schema": schema}))).unwrap();
    };
    let related = |key: &str| {
        let item = json!({"title": "gold", "properties": {key: [dune]}});
        all.add_items(read(&json!({"collectionId": vault, "items": [item]}))).unwrap();
    };
    let keep = |document, destination| {
        drop(all.move_documents(MoveDocuments::new([document], destination)).unwrap())
    };
    let trash = |document| drop(all.delete_documents(DeleteDocuments::from(document)).unwrap());
    let purge = || drop(all.purge_documents(PurgeDocuments::Documents(vec![b])).unwrap());
    let create = |is_in_it: bool| {
        let made = all.create_document("n").unwrap().id();
        scope.add(is_in_it.then_some(made));
    };
    let text = json!({"name": "Note", "type": "text"});
    let holds = json!({"name": "Holds", "type": "relation", "targetCollectionId": books, "inverseKey": "held"});
    let kept = json!({"name": "Kept", "type": "relation", "targetCollectionId": vault, "inverseKey": "keeps"});
    let steps: [(&str, &dyn Fn(), &str); 22] = [
        ("a text is changed", &|| drop(all.update_markdown(x, "y").unwrap()), "a: 1"),
        ("a text of the rest is changed", &|| drop(all.update_markdown(h, "y").unwrap()), ""),
        ("a block moves out of the scope", &|| go(x, c), "a: 1"),
        ("a block moves in the rest", &|| go(x, c), ""),
        ("a block moves into the scope", &|| go(x, a), "a: 1"),
        ("a block is commented on", &|| comment(x), "a: 1"),
        ("a block of the rest is commented on", &|| comment(h), ""),
        ("a block is deleted", &|| delete(x), "a: 1"),
        ("a block of the rest is deleted", &|| delete(h), ""),
        ("a collection gets a column", &|| column(books, text.clone()), "a: 1"),
        ("a collection of the rest gets a column", &|| column(vault, text.clone()), ""),
        ("a collection of the rest is related to one", &|| column(vault, holds.clone()), ""),
        ("one is related to a collection of the rest", &|| column(books, kept.clone()), ""),
        ("an item of the rest is related to one", &|| related("holds"), ""),
        ("an item of the rest is related to one that holds it", &|| related("keeps"), ""),
        ("a document is put into a folder", &|| keep(a, Destination::Folder(folder)), ""),
        ("a document is put into the trash", &|| trash(b), "b: 0"),
        ("a document is restored", &|| keep(b, Destination::Unsorted), "b: 0"),
        ("it goes again", &|| trash(b), "b: 0"),
        ("it is purged", &purge, ""),
        ("a document is made that then is in the scope", &|| create(true), "other: 0"),
        ("a document is made that is not", &|| create(false), ""),
    ];
    let name = |document: &DocumentId| {
        [(a, "a"), (b, "b"), (c, "c")]
            .iter()
            .find(|(id, _)| id == document)
            .map_or("other", |(_, name)| name)
    };
    let mut last = guest.last_sequence().unwrap();
    for (what, act, expected) in steps {
        act();
        let changes: Vec<_> = guest.changes_since(last).map(Result::unwrap).collect();
        let told: Vec<_> = changes
            .iter()
            .map(|change| {
                format!(
                    "{}: {}",
                    change.documents.iter().map(name).collect::<String>(),
                    change.blocks.len()
                )
            })
            .collect();
        assert_eq!(told.join(", "), expected, "{what}");
        last += changes.len() as u64;
        assert_eq!(guest.last_sequence().unwrap(), last, "{what}");
    }
}

/// More rows than one look-up reads, of the space and of the scope.
#[test]
fn a_long_story_is_told_whole() {
    let World { all, guest, a, c, .. } = world();
    for number in 0..200 {
        all.insert_markdown("x", if number % 2 == 0 { a } else { c }).unwrap();
    }
    let told: Vec<_> = guest.changes_since(0).map(|change| change.unwrap().sequence).collect();
    assert_eq!(told, (1..=100).collect::<Vec<_>>());
    assert_eq!(guest.changes_since(30).map(|change| change.unwrap().sequence).next(), Some(31));
}

#[test]
fn an_open_file_is_read_for_as_long_as_it_is_seen() {
    for is_shown_elsewhere in [true, false] {
        let World { all, guest, a, c, .. } = world();
        let bytes = vec![b'x'; 200_000];
        let uploaded = guest.upload_file(UploadFile::new(a), &bytes[..]).unwrap();
        if is_shown_elsewhere {
            all.insert_markdown(&format!("[it]({})", uploaded.asset_url), c).unwrap();
        }
        let mut reader = guest.open_file(uploaded.asset_url.id()).unwrap();
        let mut part = vec![0; 1_000];
        reader.read_exact(&mut part).unwrap();
        guest.delete_blocks(DeleteBlocks::from(uploaded.block_id)).unwrap();
        let error = std::io::copy(&mut reader, &mut std::io::sink()).unwrap_err();
        let text = format!("file {} is gone: no block shows it any more", uploaded.asset_url.id());
        assert_eq!((error.kind(), error.to_string()), (std::io::ErrorKind::NotFound, text));
    }
}
