//! What goes with what goes.

use leafbase::{Author, Edit, ErrorKind};
use serde_json::{Value, json};

use super::shelves::Shelves;

const BEFORE: &str = "\
books(author sequel pages sequel_of notes) messiah author=frank sequel_of=dune notes=spice, \
dune author=frank sequel=messiah pages=412 notes=spice, omelas author=ursula+frank notes=walk
notes(about) spice about=dune+messiah, walk about=omelas
people(friends books) frank friends=ursula books=messiah+dune+omelas, ursula friends=frank books=omelas
";

#[test]
fn before() {
    assert_eq!(Shelves::of_books().show(), BEFORE);
}

/// Without each of these, in their order, and undone afterwards, back to the last purge.
#[track_caller]
fn check(steps: &[(&str, Value, &str)]) {
    let shelves = Shelves::of_books();
    let before = shelves.notes.last_sequence().unwrap();
    for (operation, body, after) in steps {
        shelves.run_json(operation, body.clone()).unwrap();
        assert_eq!(shelves.show(), *after, "{operation} {body}");
        shelves.check();
    }
    let changes: Vec<_> = shelves.notes.changes_since(before).map(Result::unwrap).collect();
    for change in changes.iter().rev() {
        if change.edits.iter().any(|edit| matches!(edit, Edit::PurgeDocument { .. })) {
            assert_eq!(change.inverse().unwrap_err().kind(), ErrorKind::HistoryGone);
            return;
        }
        let undone = change.inverse().unwrap();
        shelves.notes.space().apply(&Author::ANONYMOUS, &undone).unwrap();
        shelves.check();
    }
    assert_eq!(shelves.show(), BEFORE, "undone");
}

const WITHOUT_FRANK: &str = "\
books(author sequel pages sequel_of notes) messiah sequel_of=dune notes=spice, \
dune sequel=messiah pages=412 notes=spice, omelas author=ursula notes=walk
notes(about) spice about=dune+messiah, walk about=omelas
people(friends books) ursula books=omelas
";

const WITHOUT_DUNE: &str = "\
books(author sequel pages sequel_of) messiah author=frank, omelas author=ursula+frank
people(friends books) frank friends=ursula books=messiah+omelas, ursula friends=frank books=omelas
";

const WITHOUT_PEOPLE: &str = "\
books(sequel pages sequel_of notes) messiah sequel_of=dune notes=spice, \
dune sequel=messiah pages=412 notes=spice, omelas notes=walk
notes(about) spice about=dune+messiah, walk about=omelas
";

const WITHOUT_BOOKS: &str = "people(friends) frank friends=ursula, ursula friends=frank\n";

#[test]
fn items_leave_the_relations_of_those_that_stay() {
    check(&[(
        "delete_items",
        json!({"collectionId": "@people", "idsToDelete": ["@frank"]}),
        WITHOUT_FRANK,
    )]);
    check(&[("delete_blocks", json!({"blockIds": ["@frank"]}), WITHOUT_FRANK)]);
}

#[test]
fn a_collection_on_the_page_of_an_item_goes_with_it() {
    check(&[("delete_blocks", json!({"blockIds": ["@dune"]}), WITHOUT_DUNE)]);
    check(&[
        ("delete_items", json!({"collectionId": "@books", "idsToDelete": ["@dune"]}), WITHOUT_DUNE),
        (
            "delete_blocks",
            json!({"blockIds": ["@ursula", "@messiah"]}),
            "books(author sequel pages sequel_of) omelas author=frank\npeople(friends books) frank books=omelas\n",
        ),
    ]);
}

#[test]
fn collections_take_the_other_ends_along() {
    check(&[("delete_blocks", json!({"blockIds": ["@people"]}), WITHOUT_PEOPLE)]);
    check(&[("delete_blocks", json!({"blockIds": ["@books"]}), WITHOUT_BOOKS)]);
    check(&[("delete_blocks", json!({"blockIds": ["@books", "@people"]}), "")]);
    check(&[(
        "delete_blocks",
        json!({"blockIds": ["@frank", "@dune", "@books"]}),
        "people(friends) ursula\n",
    )]);
    check(&[(
        "delete_blocks",
        json!({"blockIds": ["@notes"]}),
        "books(author sequel pages sequel_of) messiah author=frank sequel_of=dune, \
         dune author=frank sequel=messiah pages=412, omelas author=ursula+frank\n\
         people(friends books) frank friends=ursula books=messiah+dune+omelas, ursula friends=frank books=omelas\n",
    )]);
}

#[test]
fn the_trash_keeps_relations_and_a_purge_ends_them() {
    let of = |document: &str| json!({"documentIds": [document]});
    let back = |document: &str| json!({"documentIds": [document], "destination": {"destination": "unsorted"}});
    check(&[
        ("delete_documents", of("@club"), BEFORE),
        ("move_documents", back("@club"), BEFORE),
        ("delete_documents", of("@club"), BEFORE),
        ("purge_documents", of("@club"), WITHOUT_PEOPLE),
    ]);
    check(&[
        ("delete_documents", of("@home"), BEFORE),
        // What stays is changed while the others are in the trash.
        ("delete_blocks", json!({"blockIds": ["@frank"]}), WITHOUT_FRANK),
        ("purge_documents", of("@home"), "people(friends) ursula\n"),
    ]);
    let both = json!({"documentIds": ["@club", "@home"]});
    check(&[("delete_documents", both.clone(), BEFORE), ("purge_documents", both, "")]);
}

#[test]
fn collections_are_moved_with_all_that_they_hold() {
    let to = |block: &str, page: &str| json!({"blockIds": [block], "position": {"position": "start", "pageId": page}});
    check(&[
        ("move_blocks", to("@books", "@other"), BEFORE),
        ("move_blocks", to("@notes", "@club"), BEFORE),
        ("delete_documents", json!({"documentIds": ["@other"]}), BEFORE),
        (
            "move_documents",
            json!({"documentIds": ["@other"], "destination": {"destination": "unsorted"}}),
            BEFORE,
        ),
        ("move_blocks", to("@books", "@spice"), BEFORE),
        ("delete_blocks", json!({"blockIds": ["@spice"]}), WITHOUT_BOOKS_BUT_NOTES),
    ]);
}

const WITHOUT_BOOKS_BUT_NOTES: &str =
    "notes() walk\npeople(friends) frank friends=ursula, ursula friends=frank\n";

#[test]
fn a_name_is_that_of_the_schema() {
    let shelves = Shelves::of_books();
    let named = |name: &str| json!({"blocks": [{"id": "@books", "markdown": name}, {"id": "@people", "color": "#ff0000"}]});
    shelves.run_json("update_blocks", named("Read *twice*")).unwrap();
    shelves.check();
    assert_eq!(shelves.notes.schema(shelves.id("books")).unwrap().name, "Read *twice*");
    let schema = serde_json::to_value(shelves.notes.schema(shelves.id("books")).unwrap()).unwrap();
    let mut renamed = schema.clone();
    renamed["name"] = "Library".into();
    shelves
        .run_json("replace_schema", json!({"collectionId": "@books", "schema": renamed}))
        .unwrap();
    shelves.check();
    assert_eq!(shelves.block(shelves.id("books")).data.inline, "Library");
    for blank in ["", " "] {
        let error = shelves.run_json("update_blocks", named(blank)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "blocks[0].markdown: the name of a collection cannot be blank"
        );
    }
    shelves.check();
}

#[test]
fn thousands_of_items_go_at_once() {
    let mut shelves = Shelves::empty();
    let relation = json!({"name": "Parts", "type": "relation", "targetCollectionId": "@parts"});
    shelves.create("parts", "home", json!({"name": "Parts", "properties": []}));
    shelves.create("things", "club", json!({"name": "Things", "properties": [relation]}));
    let numbers: Vec<_> = (0..1_000).map(|number| json!({"title": number.to_string()})).collect();
    for _ in 0..3 {
        let body = json!({"collectionId": "@parts", "items": numbers});
        shelves.notes.add_items(shelves.request(&body).unwrap()).unwrap();
    }
    let parts: Vec<_> =
        shelves.items(shelves.id("parts")).iter().map(|item| item.id.to_string()).collect();
    shelves.add(
        "things",
        &[("all", json!({"parts": parts})), ("last", json!({"parts": [parts[2_999]]}))],
    );
    shelves.run_json("delete_blocks", json!({"blockIds": parts[..1_000]})).unwrap();
    shelves.check();
    let count = |shelves: &Shelves, item: usize| {
        shelves.items(shelves.id("things"))[item].related("parts").len()
    };
    assert_eq!((count(&shelves, 0), count(&shelves, 1)), (2_000, 1));
    shelves.run_json("delete_blocks", json!({"blockIds": ["@parts"]})).unwrap();
    assert_eq!(shelves.show(), "things() all, last\n");
    shelves.check();
}

/// The harness tells ends that differ.
#[test]
fn an_end_that_is_missing_is_told() {
    let shelves = Shelves::of_books();
    let mut ends = shelves.ends();
    assert_eq!(shelves.differing(&ends), None);
    ends.retain(|end| end.key != "books");
    assert_eq!(shelves.differing(&ends).unwrap(), "author of @books and its other end differ");
}
