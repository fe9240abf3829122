//! Relations, set from either end: after every step the library checks that both ends show the
//! same.

use leafbase::{Error, GetItems, Item};

use super::library::{Library, Step};

/// The people Ada, Bob and Cy, and the books Dune, Emma and Faust.
fn library() -> Library {
    let mut library = Library::new();
    library.run(&[
        ("add people", r#"[{"title":"Ada"},{"title":"Bob"},{"title":"Cy"}]"#, "Ada Bob Cy"),
        ("add books", r#"[{"name":"Dune"},{"name":"Emma"},{"name":"Faust"}]"#, "Dune Emma Faust"),
    ]);
    library
}

fn run(steps: &[Step<'_>]) {
    library().run(steps);
}

const PEOPLE: (&str, &str) = ("items people", r#""maxDepth":0"#);
const BOOKS: (&str, &str) = ("items books", r#""maxDepth":0"#);

#[test]
fn either_end_sets_both() {
    run(&[
        (
            "update books",
            r#"[{"id":"@Dune","properties":{"by":["@Bob","@Ada"]}}]"#,
            "Dune(by=Bob&Ada)",
        ),
        (PEOPLE.0, PEOPLE.1, "Ada(wrote=Dune) Bob(wrote=Dune) Cy"),
        (
            "update people",
            r#"[{"id":"@Cy","properties":{"wrote":["@Faust","@Dune"]}}]"#,
            "Cy(wrote=Dune&Faust)",
        ),
        (BOOKS.0, BOOKS.1, "Dune(by=Bob&Ada&Cy) Emma Faust(by=Cy)"),
        ("update people", r#"[{"id":"@Bob","properties":{"wrote":null}}]"#, "Bob"),
        (
            "update books",
            r#"[{"id":"@Faust","properties":{"by":["@Ada","@Bob"]}}]"#,
            "Faust(by=Ada&Bob)",
        ),
        (PEOPLE.0, PEOPLE.1, "Ada(wrote=Dune&Faust) Bob(wrote=Faust) Cy(wrote=Dune)"),
        (
            "add people",
            r#"[{"title":"Di","properties":{"wrote":["@Emma","@Dune"]}}]"#,
            "Di(wrote=Dune&Emma)",
        ),
        ("add books", r#"[{"name":"It","properties":{"by":"@Di"}}]"#, "It(by=Di)"),
        (BOOKS.0, BOOKS.1, "Dune(by=Ada&Cy&Di) Emma(by=Di) Faust(by=Ada&Bob) It(by=Di)"),
        (
            "update books",
            r#"[{"id":"@Dune","properties":{"by":null}},{"id":"@Emma","properties":{"by":["@Ada"]}}]"#,
            "Dune Emma(by=Ada)",
        ),
        (PEOPLE.0, PEOPLE.1, "Ada(wrote=Emma&Faust) Bob(wrote=Faust) Cy Di(wrote=It)"),
    ]);
}

#[test]
fn titles_of_related_items_are_those_they_have() {
    run(&[
        (
            "update books",
            r#"[{"id":"@Dune","properties":{"by":"@Ada","editor":"@Ada"}}]"#,
            "Dune(by=Ada editor=Ada)",
        ),
        ("update people", r#"[{"id":"@Ada","title":"Ada L."}]"#, "Ada L.(wrote=Dune edited=Dune)"),
        (BOOKS.0, BOOKS.1, "Dune(by=Ada L. editor=Ada L.) Emma Faust"),
    ]);
}

/// Several changes in one request count together.
#[test]
fn an_end_that_takes_one_has_one() {
    let taken = |library: &Library, entry: &str, item: &str, key: &str, was: &str, wanted: &str| {
        let id = |name: &str| library.id::<leafbase::BlockId>(name);
        format!(
            "SCHEMA_MISMATCH {entry}: item {} takes one item as its {key:?}: it is related to {}, and cannot be to {} as well",
            id(item),
            id(was),
            id(wanted)
        )
    };
    let mut library = library();
    library.run(&[
        (
            "update books",
            r#"[{"id":"@Dune","properties":{"editor":"@Ada"}},{"id":"@Emma","properties":{"editor":"@Ada"}}]"#,
            "Dune(editor=Ada) Emma(editor=Ada)",
        ),
        (PEOPLE.0, PEOPLE.1, "Ada(edited=Dune&Emma) Bob Cy"),
        ("update books", r#"[{"id":"@Dune","properties":{"editor":"@Bob"}}]"#, "Dune(editor=Bob)"),
    ]);
    let refused =
        taken(&library, "itemsToUpdate[0].properties.edited", "Dune", "editor", "Bob", "Cy");
    library.run(&[
        ("update people", r#"[{"id":"@Cy","properties":{"edited":["@Dune"]}}]"#, &refused),
        // Unless the same request takes it away there.
        (
            "update people",
            r#"[{"id":"@Cy","properties":{"edited":["@Dune"]}},{"id":"@Bob","properties":{"edited":[]}}]"#,
            "Cy(edited=Dune) Bob",
        ),
    ]);
    let both = r#"[{"title":"Di","properties":{"edited":["@Faust"]}},{"title":"Eve","properties":{"edited":["@Faust"]}}]"#;
    let found = library.line("add people", both);
    let faust: leafbase::BlockId = library.id("Faust");
    let refused = format!(
        r#"SCHEMA_MISMATCH items[0].properties.edited: item {faust} takes one item as its "editor": "#
    );
    assert!(found.starts_with(&refused), "{found}");
}

#[test]
fn books_relate_to_each_other() {
    run(&[
        // One way: what follows, and what comes before.
        (
            "update books",
            r#"[{"id":"@Emma","properties":{"prequel":["@Dune"]}}]"#,
            "Emma(prequel=Dune)",
        ),
        (BOOKS.0, BOOKS.1, "Dune(sequel=Emma) Emma(prequel=Dune) Faust"),
        (
            "update books",
            r#"[{"id":"@Faust","properties":{"sequel":"@Emma"}}]"#,
            "Faust(sequel=Emma)",
        ),
        (
            "update books",
            r#"[{"id":"@Emma","properties":{"prequel":["@Emma"],"sequel":"@Emma"}}]"#,
            "Emma(sequel=Emma prequel=Emma)",
        ),
        (BOOKS.0, BOOKS.1, "Dune Emma(sequel=Emma prequel=Emma) Faust"),
        // Of two entries that contradict each other the later one decides.
        (
            "update books",
            r#"[{"id":"@Dune","properties":{"sequel":"@Faust"}},{"id":"@Faust","properties":{"prequel":[]}}]"#,
            "Dune Faust",
        ),
        (
            "update books",
            r#"[{"id":"@Faust","properties":{"prequel":[]}},{"id":"@Dune","properties":{"sequel":"@Faust"}}]"#,
            "Faust(prequel=Dune) Dune(sequel=Faust)",
        ),
        ("update books", r#"[{"id":"@Dune","properties":{"sequel":null}}]"#, "Dune"),
        // Alike from both.
        (
            "update books",
            r#"[{"id":"@Dune","properties":{"like":["@Faust","@Emma"]}}]"#,
            "Dune(like=Emma&Faust)",
        ),
        (
            "update books",
            r#"[{"id":"@Faust","properties":{"like":["@Faust","@Emma"]}}]"#,
            "Faust(like=Emma&Faust)",
        ),
        (
            BOOKS.0,
            BOOKS.1,
            "Dune(like=Emma) Emma(sequel=Emma like=Dune&Faust prequel=Emma) Faust(like=Emma&Faust)",
        ),
        (
            "add books",
            r#"[{"name":"It","properties":{"like":["@Faust"],"prequel":["@Dune"],"sequel":"@Dune"}}]"#,
            "It(sequel=Dune like=Faust prequel=Dune)",
        ),
        ("update books", r#"[{"id":"@Faust","properties":{"like":null}}]"#, "Faust"),
        (
            BOOKS.0,
            BOOKS.1,
            "Dune(sequel=It like=Emma prequel=It) Emma(sequel=Emma like=Dune prequel=Emma) Faust It(sequel=Dune prequel=Dune)",
        ),
    ]);
}

#[test]
fn a_deleted_item_is_related_to_nothing() {
    run(&[
        (
            "update books",
            r#"[{"id":"@Dune","properties":{"by":["@Ada","@Bob"],"sequel":"@Emma","like":["@Emma","@Faust"]}}]"#,
            "Dune(by=Ada&Bob sequel=Emma like=Emma&Faust)",
        ),
        ("delete people", r#"["@Ada"]"#, "Ada"),
        (
            BOOKS.0,
            BOOKS.1,
            "Dune(by=Bob sequel=Emma like=Emma&Faust) Emma(like=Dune prequel=Dune) Faust(like=Dune)",
        ),
        ("delete books", r#"["@Emma","@Dune"]"#, "Emma Dune"),
        (BOOKS.0, BOOKS.1, "Faust"),
        (PEOPLE.0, PEOPLE.1, "Bob Cy"),
    ]);
}

/// What is in the trash keeps its relations, and shows them; it gets no new ones.
#[test]
fn a_relation_to_an_item_in_the_trash_can_only_end() {
    let mut library = library();
    library.run(&[(
        "update books",
        r#"[{"id":"@Dune","properties":{"by":["@Ada"],"editor":"@Bob"}}]"#,
        "Dune(by=Ada editor=Bob)",
    )]);
    library.trash("attic");
    let id: leafbase::BlockId = library.id("Bob");
    let refused = |place: &str| {
        format!(
            "RULE_VIOLATION {place}.properties.by: item {id} is in the trash: restore its document to relate to it"
        )
    };
    let collection = "RULE_VIOLATION collectionId: the document is in the trash; restore it to change its blocks";
    library.run(&[
        (BOOKS.0, BOOKS.1, "Dune(by=Ada editor=Bob) Emma Faust"),
        (PEOPLE.0, PEOPLE.1, "Ada(wrote=Dune) Bob(edited=Dune) Cy"),
        (
            "update books",
            r#"[{"id":"@Emma"},{"id":"@Dune","properties":{"by":["@Ada","@Bob"]}}]"#,
            &refused("itemsToUpdate[1]"),
        ),
        ("add books", r#"[{"properties":{"by":["@Bob"]}}]"#, &refused("items[0]")),
        ("update people", r#"[{"id":"@Ada","title":"A"}]"#, collection),
        ("add people", r#"[{"title":"A"}]"#, collection),
        ("delete people", r#"["@Ada"]"#, collection),
        (
            "update books",
            r#"[{"id":"@Dune","properties":{"by":["@Ada"],"editor":null,"pages":3}}]"#,
            "Dune(pages=3 by=Ada)",
        ),
        ("update books", r#"[{"id":"@Dune","properties":{"by":null}}]"#, "Dune(pages=3)"),
        (PEOPLE.0, PEOPLE.1, "Ada Bob Cy"),
    ]);
}

/// Of the end that does not own a relation few items are looked up one by one, and many are read in
/// one pass over the owner's items.
#[test]
fn one_item_shows_what_it_shows_among_all() {
    let mut library = library();
    let books = (0..40).map(|number| {
        let by = ["Ada", "Bob"][number % 2];
        format!(r#"{{"name":"book {number}","properties":{{"by":["@{by}","@Cy"],"like":["@Dune"],"sequel":"@Emma"}}}}"#)
    });
    let books = format!("[{}]", books.collect::<Vec<_>>().join(","));
    library.line("add books", &books);
    library.check();
    for name in ["people", "books"] {
        let all = library.items(name);
        let ask = |request: GetItems| library.notes.items(request).map(|page| page.items);
        let one_by_one = (0..all.len()).map(|number| {
            let request = GetItems::of(library.id(name)).depth(0).limit(1);
            match number.checked_sub(1) {
                None => ask(request),
                Some(before) => ask(request.after(format!(
                    "c{}{}",
                    library.id::<leafbase::BlockId>(name),
                    all[before].id
                ))),
            }
        });
        let one_by_one: Vec<Item> = one_by_one.collect::<Result<Vec<_>, Error>>().unwrap().concat();
        assert_eq!(one_by_one, all.items);
    }
    let cy = library.items("people").items.pop().unwrap();
    assert_eq!((cy.title.as_str(), cy.related("wrote").len()), ("Cy", 40));
}
