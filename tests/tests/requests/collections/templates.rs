//! Copies of templates with collections.

use serde_json::json;

use super::shelves::Shelves;

/// The home is kept among the templates; makes a copy of it, whose collections are named `books2`
/// and `notes2`.
fn copied(shelves: &mut Shelves) {
    let to = json!({"documentIds": ["@home"], "destination": {"destination": "templates"}});
    shelves.run_json("move_documents", to).unwrap();
    let made = shelves.run_json("create_from_template", json!({"templateId": "@home"})).unwrap();
    shelves.name("copy", made["id"].as_str().unwrap().parse().unwrap());
    let copy = shelves.notes.fetch(leafbase::Fetch::new(shelves.id("copy"))).unwrap();
    shelves.name("books2", copy.children()[0].id);
    let dune = shelves
        .items(shelves.id("books2"))
        .into_iter()
        .find(|item| item.title == "dune")
        .unwrap()
        .id;
    let page = shelves.notes.fetch(leafbase::Fetch::new(dune)).unwrap();
    shelves.name("notes2", page.children()[0].id);
    shelves.check();
}

#[test]
fn copies_relate_to_copies_and_to_what_is_outside() {
    let mut shelves = Shelves::of_books();
    copied(&mut shelves);
    let expected = "\
books(author sequel pages sequel_of notes) messiah author=frank sequel_of=dune notes=spice, \
dune author=frank sequel=messiah pages=412 notes=spice, omelas author=ursula+frank notes=walk
books2(author sequel pages sequel_of notes) messiah author=frank sequel_of=dune notes=spice, \
dune author=frank sequel=messiah pages=412 notes=spice, omelas author=ursula+frank notes=walk
notes(about) spice about=dune+messiah, walk about=omelas
notes2(about) spice about=dune+messiah, walk about=omelas
people(friends books books_2) frank friends=ursula books=messiah+dune+omelas books_2=messiah+dune+omelas, \
ursula friends=frank books=omelas books_2=omelas
";
    assert_eq!(shelves.show(), expected);
    // The copy is on its own: what goes there goes nowhere else.
    shelves.run_json("delete_documents", json!({"documentIds": ["@copy"]})).unwrap();
    shelves.run_json("purge_documents", json!({"documentIds": ["@copy"]})).unwrap();
    shelves.check();
    let rest: Vec<_> = expected.lines().filter(|line| !line.contains('2')).collect();
    assert!(rest.iter().all(|line| shelves.show().contains(line)), "{}", shelves.show());
}

/// Here the collection outside is the end that holds the relation.
#[test]
fn a_copy_holds_its_relations_with_what_is_outside() {
    let mut shelves = Shelves::of_books();
    let outside = json!({"name": "Loans", "properties": [
        {"name": "Book", "type": "relation", "targetCollectionId": "@books", "single": true},
    ]});
    shelves.create("loans", "club", outside);
    shelves.add(
        "loans",
        &[("first", json!({"book": ["@dune"]})), ("second", json!({"book": ["@dune"]}))],
    );
    shelves.check();
    copied(&mut shelves);
    let shown = shelves.show();
    assert!(
        shown.contains("loans(book books) first book=dune books=dune, second book=dune books=dune"),
        "{shown}"
    );
    assert!(
        shown.contains("dune author=frank sequel=messiah pages=412 notes=spice loans=first+second"),
        "{shown}"
    );
    // The limit on related items goes along.
    let schema = serde_json::to_value(shelves.notes.schema(shelves.id("loans")).unwrap()).unwrap();
    assert_eq!(
        (&schema["properties"][1]["key"], &schema["properties"][1]["single"]),
        (&json!("books"), &json!(true))
    );
}

#[test]
fn what_is_in_the_trash_gets_no_relation() {
    let mut shelves = Shelves::of_books();
    shelves.run_json("delete_documents", json!({"documentIds": ["@club"]})).unwrap();
    copied(&mut shelves);
    let shown = shelves.show();
    assert!(
        shown.contains(
            "books2(sequel pages sequel_of notes) messiah sequel_of=dune notes=spice, dune"
        ),
        "{shown}"
    );
    assert!(shown.contains("people(friends books) "), "{shown}");
}

#[test]
fn what_is_outside_needs_room() {
    let mut limits = leafbase::Limits::default();
    limits.schema_properties = 1;
    let mut shelves = Shelves::with_limits(limits);
    shelves.create("people", "club", json!({"name": "People", "properties": []}));
    let relation = json!({"name": "Author", "type": "relation", "targetCollectionId": "@people"});
    shelves.create("books", "home", json!({"name": "Books", "properties": [relation]}));
    let to = json!({"documentIds": ["@home"], "destination": {"destination": "templates"}});
    shelves.run_json("move_documents", to).unwrap();
    let error =
        shelves.run_json("create_from_template", json!({"templateId": "@home"})).unwrap_err();
    let message = r#"templateId: properties of the collection "People", which the template relates to: at most 1, got 2"#;
    assert_eq!(error.to_string(), message);
    shelves.check();
}
