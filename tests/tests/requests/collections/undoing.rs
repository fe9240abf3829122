//! Changes of collections that are undone late: refused where they no longer fit, and nothing is
//! written.

use leafbase::{Author, Change, Edit, ErrorKind};
use leafbase_test_outline::Numbers;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::shelves::Shelves;

/// An operation and its request; `add` makes an item without values, whose title is its name.
type Step = (&'static str, Value);

fn relation(key: &str, inverse: &str, target: &str) -> Value {
    json!({"key": key, "name": key, "type": "relation", "targetCollectionId": target, "inverseKey": inverse})
}

fn single(mut relation: Value) -> Value {
    relation["single"] = true.into();
    relation
}

/// Books with authors and keepers, each person being the keeper of one, and a twin.
fn base() -> Vec<Value> {
    vec![
        relation("author", "wrote", "@people"),
        relation("keeper", "keeps", "@people"),
        single(relation("twin", "twin", "@books")),
    ]
}

fn replaced(collection: &str, properties: &[Value]) -> Step {
    let body = json!({
        "collectionId": format!("@{collection}"), "schema": {"name": collection, "properties": properties},
        "dropUnconvertible": true,
    });
    ("replace_schema", body)
}

/// The columns of the books, and these.
fn books(more: &[Value]) -> Step {
    replaced("books", &[&base(), more].concat())
}

/// People with the other ends of what books have: `keeps` is this one.
fn people(keeps: &[Value]) -> Step {
    replaced("people", &[&[relation("wrote", "author", "@books")], keeps].concat())
}

fn set(collection: &str, item: &str, properties: Value) -> Step {
    let items = json!([{"id": format!("@{item}"), "properties": properties}]);
    ("update_items", json!({"collectionId": format!("@{collection}"), "itemsToUpdate": items}))
}

fn book(item: &str, properties: Value) -> Step {
    set("books", item, properties)
}

fn delete(block: &str) -> Step {
    ("delete_blocks", json!({"blockIds": [format!("@{block}")]}))
}

fn add(collection: &'static str, name: &str) -> Step {
    ("add", json!([collection, name]))
}

fn column(key: &str, property_type: &str) -> Value {
    json!({"key": key, "name": key, "type": property_type})
}

fn select(options: &[&str]) -> Value {
    let options: Vec<_> = options.iter().map(|name| json!({"name": name})).collect();
    json!({"key": "state", "name": "state", "type": "select", "options": options})
}

fn library() -> Shelves {
    let mut shelves = Shelves::empty();
    shelves.create("people", "club", json!({"name": "people", "properties": []}));
    shelves.create("books", "home", json!({"name": "books", "properties": base()[..2]}));
    let keeps = single(relation("keeps", "keeper", "@books"));
    for step in [books(&[]), people(&[keeps])] {
        run(&mut shelves, &step).unwrap();
    }
    for (collection, name) in
        [("people", "p1"), ("people", "p2"), ("books", "b1"), ("books", "b2"), ("books", "b3")]
    {
        shelves.add(collection, &[(name, json!({}))]);
    }
    shelves
}

fn run(shelves: &mut Shelves, (operation, body): &Step) -> Result<(), leafbase::Error> {
    if *operation != "add" {
        return shelves.run_json(operation, body.clone()).map(drop);
    }
    shelves.add(body[0].as_str().unwrap(), &[(body[1].as_str().unwrap(), json!({}))]);
    Ok(())
}

/// Runs the steps and gives their changes, each with what was there before.
#[track_caller]
fn play(shelves: &mut Shelves, steps: &[Step]) -> Vec<(Change, String)> {
    let mut played = Vec::new();
    for step in steps {
        let before = (shelves.notes.last_sequence().unwrap(), shelves.show());
        run(shelves, step).unwrap_or_else(|error| panic!("{step:?}: {error}"));
        let changes: Vec<_> = shelves.notes.changes_since(before.0).map(Result::unwrap).collect();
        let [change] = <[Change; 1]>::try_from(changes).unwrap();
        played.push((change, before.1));
    }
    played
}

fn apply(shelves: &Shelves, edits: &[Edit]) -> Result<(), leafbase::Error> {
    shelves.notes.space().apply(&Author::ANONYMOUS, edits).map(drop)
}

/// That these edits are refused with this message, and leave no trace.
#[track_caller]
fn refused(shelves: &Shelves, edits: &[Edit], message: &str) {
    let before = (shelves.notes.last_sequence().unwrap(), shelves.show());
    let error = apply(shelves, edits).expect_err(message);
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    // Without a message the store refuses it: it is no longer what the edits describe.
    assert!(message.is_empty() || shelves.with_names(&error.to_string()) == message, "{error}");
    assert_eq!((shelves.notes.last_sequence().unwrap(), shelves.show()), before);
    shelves.check();
}

/// A change that is undone after others: what was there before it, it, the others, and why it is
/// refused.
struct Stale {
    before: Vec<Step>,
    undone: Step,
    since: Vec<Step>,
    message: &'static str,
}

fn stale() -> Vec<Stale> {
    let row = |before: &[Step], undone: Step, since: &[Step], message| Stale {
        before: before.to_vec(),
        undone,
        since: since.to_vec(),
        message,
    };
    let kept = || book("b1", json!({"keeper": ["@p1"]}));
    let rival = || book("b2", json!({"keeper": ["@p1"]}));
    let keeps = || relation("keeps", "keeper", "@books");
    let lone = |author: Value| replaced("books", &[author, base()[1].clone(), base()[2].clone()]);
    vec![
        row(
            &[],
            add("people", "p3"),
            &[book("b1", json!({"author": ["@p1", "@p3"]}))],
            r#"property "author" of item @b1: it names item @p3, which would be gone"#,
        ),
        row(
            &[],
            books(&[column("n", "number")]),
            &[book("b1", json!({"n": 5}))],
            r#"property "n" of item @b1: the collection has no such property"#,
        ),
        row(
            &[books(&[column("n", "text")])],
            books(&[column("n", "number")]),
            &[book("b1", json!({"n": 5}))],
            r#"property "n" of item @b1: the property, of type text, does not take its value"#,
        ),
        row(
            &[books(&[column("link", "url")])],
            books(&[column("link", "text")]),
            &[book("b1", json!({"link": "two words"}))],
            r#"property "link" of item @b1: the property, of type url, does not take its value"#,
        ),
        row(
            &[books(&[select(&["open"])])],
            books(&[select(&["open", "ajar"])]),
            &[book("b1", json!({"state": "ajar"}))],
            r#"property "state" of item @b1: the property, of type singleSelect, does not take its value"#,
        ),
        row(
            &[kept()],
            book("b1", json!({"keeper": null})),
            &[rival()],
            r#"property "keeper" of item @b1: @p1, which takes one item, is related to @b2"#,
        ),
        row(
            &[kept()],
            set("people", "p1", json!({"keeps": null})),
            &[rival()],
            r#"property "keeper" of item @b1: @p1, which takes one item, is related to @b2"#,
        ),
        // The item that was named has changed since.
        row(
            &[kept()],
            set("people", "p1", json!({"keeps": null})),
            &[set("people", "p1", json!({"keeps": ["@b2"]}))],
            "",
        ),
        row(
            &[kept()],
            delete("b1"),
            &[rival()],
            r#"property "keeper" of item @b1: @p1, which takes one item, is related to @b2"#,
        ),
        row(
            &[kept()],
            delete("b1"),
            &[people(&[])],
            r#"property "keeper" of item @b1: the collection has no such property"#,
        ),
        row(
            &[book("b1", json!({"author": ["@p1"]}))],
            delete("b1"),
            &[lone(column("other", "text")), lone(relation("author", "by", "@books"))],
            r#"property "author" of item @b1: @p1 is not an item of collection @books"#,
        ),
        row(
            &[book("b1", json!({"author": ["@p1"]}))],
            book("b1", json!({"author": null})),
            &[delete("p1")],
            r#"property "author" of item @b1: @p1 is not an item of collection @people"#,
        ),
        row(
            &[],
            people(&[keeps()]),
            &[kept(), rival()],
            r#"property "keeper" of item @b1: @p1, which takes one item, is related to @b2"#,
        ),
        row(
            &[lone(single(base().remove(0)))],
            lone(base().remove(0)),
            &[book("b1", json!({"author": ["@p1", "@p2"]}))],
            r#"property "author" of item @b1: it takes one item"#,
        ),
        row(
            &[book("b1", json!({"twin": ["@b2"]}))],
            book("b1", json!({"twin": null})),
            &[book("b3", json!({"twin": ["@b2"]}))],
            r#"property "twin" of item @b1: @b2, which takes one item, is related to more"#,
        ),
        row(
            &[book("b1", json!({"author": ["@p1"]}))],
            delete("p1"),
            &[book("b1", json!({"author": ["@p2"]}))],
            "",
        ),
        row(&[], add("people", "p3"), &[set("people", "p3", json!({"wrote": ["@b1"]}))], ""),
    ]
}

#[test]
fn what_no_longer_fits_is_refused_and_what_fits_is_not() {
    for Stale { before, undone, since, message } in stale() {
        let mut shelves = library();
        play(&mut shelves, &before);
        let chain = play(&mut shelves, &[&[undone], since.as_slice()].concat());
        let after = shelves.show();
        refused(&shelves, &chain[0].0.inverse().unwrap(), message);
        // In its turn it is undone, and everything is done again.
        for (change, state) in chain.iter().rev() {
            apply(&shelves, &change.inverse().unwrap()).unwrap();
            shelves.check();
            assert_eq!(shelves.show(), *state, "{message}");
        }
        for (change, state) in &chain {
            assert_eq!(shelves.show(), *state, "{message}");
            apply(&shelves, &change.edits).unwrap();
            shelves.check();
        }
        assert_eq!(shelves.show(), after, "{message}");
        // At once it is undone, too.
        let whole: Vec<_> =
            chain.iter().rev().flat_map(|(change, _)| change.inverse().unwrap()).collect();
        apply(&shelves, &whole).unwrap();
        shelves.check();
        assert_eq!(shelves.show(), chain[0].1, "{message}");
    }
}

/// Redoing is no other thing.
#[test]
fn what_no_longer_fits_is_not_redone() {
    let mut shelves = library();
    let (change, _) = play(&mut shelves, &[book("b1", json!({"keeper": ["@p1"]}))]).remove(0);
    apply(&shelves, &change.inverse().unwrap()).unwrap();
    play(&mut shelves, &[book("b2", json!({"keeper": ["@p1"]}))]);
    let message = r#"property "keeper" of item @b1: @p1, which takes one item, is related to @b2"#;
    refused(&shelves, &change.edits, message);
}

/// Schemas come from outside, too: an end of a relation neither goes nor comes alone.
#[test]
fn ends_of_relations_are_set_in_pairs() {
    let shelves = library();
    let (people, document) = (shelves.id("people"), shelves.document("club"));
    let stored = shelves.notes.schema(people).unwrap();
    for (key, message) in [
        ("wrote", r#"property "author" of collection @books: its other end would be missing"#),
        ("keeps", r#"property "keeper" of collection @books: its other end would be missing"#),
    ] {
        let mut without = stored.clone();
        without.properties.retain(|property| property.key != key);
        let (before, after) = (Some(Box::new(stored.clone())), Some(Box::new(without)));
        refused(
            &shelves,
            &[Edit::SetSchema { document, collection: people, before, after, quiet: false }],
            message,
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is undone or redone, and whenever: it is refused, or the space is in order.
    #[test]
    fn undone_at_random(numbers in prop::collection::vec(any::<u32>(), 300)) {
        let (mut shelves, mut numbers) = (library(), Numbers::new(&numbers));
        let first = shelves.notes.last_sequence().unwrap();
        let rows = stale().into_iter();
        let steps: Vec<_> = rows.flat_map(|row| [row.before, vec![row.undone], row.since].concat()).collect();
        shelves.add("people", &[("p3", json!({}))]);
        let steps: Vec<_> = steps.into_iter().filter(|(operation, _)| *operation != "add").collect();
        for _ in 0..60 {
            if numbers.below(2) == 0 {
                let _ = run(&mut shelves, &steps[numbers.below(steps.len())]);
                continue;
            }
            let changes: Vec<_> = shelves.notes.changes_since(first).map(Result::unwrap).collect();
            let change = &changes[numbers.below(changes.len())];
            let edits = if numbers.below(3) == 0 { change.edits.clone() } else { change.inverse().unwrap() };
            let before = shelves.show();
            let is_applied = apply(&shelves, &edits).is_ok();
            prop_assert!(is_applied || shelves.show() == before);
            shelves.check();
        }
    }
}
