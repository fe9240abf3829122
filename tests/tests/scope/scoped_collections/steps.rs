//! Every operation on collections, answered alike whether there is something hidden or not.

use leafbase::{Connection, Scoped};
use serde_json::{Value, json};

use super::worlds::{World, books, collection, relation, update};

/// Keys of hidden columns.
const HIDDEN: [&str; 4] = ["kept", "thrown", "extra", "lost"];

/// An operation of a scoped connection, its body, and what the first thing that it makes is called.
type Step = (&'static str, Value, &'static str);

fn on(list: &str, more: Value) -> Value {
    let mut body = json!({"collectionId": format!("@{list}")});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn replacement(properties: Value) -> Value {
    on("books", json!({"schema": {"name": "Books", "properties": properties}}))
}

fn filtered(condition: Value) -> Value {
    on("books", json!({"filter": condition, "sort": [{"property": "title"}], "maxDepth": 0}))
}

/// Every step is told the same in a space with hidden relations as in one without: what names them
/// is answered as if there were none.
fn steps() -> Vec<Step> {
    let mut steps = vec![
        ("list", json!({}), ""),
        ("list", json!({"documentIds": "@home"}), ""),
        ("list", json!({"documentIds": ["@home"], "documentFilterMode": "exclude"}), ""),
        ("list", json!({"documentIds": ["@home", "@secret"]}), ""),
        ("list", json!({"documentIds": ["@bin"], "documentFilterMode": "exclude"}), ""),
        ("schema", on("books", json!({"format": "json-schema-items"})), ""),
        ("items", on("books", json!({"maxDepth": 0})), ""),
        ("query", filtered(json!({"property": "by", "contains": ["@ada"]})), ""),
        ("query", filtered(json!({"property": "by", "contains": ["@secret"]})), ""),
        ("query", filtered(json!({"property": "by", "isEmpty": true})), ""),
        ("query", on("books", json!({"sort": [{"property": "state"}], "limit": 1})), ""),
        ("count", on("books", json!({"groupBy": "by"})), ""),
        ("count", on("people", json!({"groupBy": "wrote"})), ""),
        ("markdown", json!({"id": "@home"}), ""),
        (
            "add",
            on("books", json!({"items": [{"title": "faust", "properties": {"by": ["@bob"]}}]})),
            "faust",
        ),
        (
            "add",
            on("books", json!({"items": [{"title": "x", "properties": {"by": ["@secret"]}}]})),
            "",
        ),
        (
            "update",
            update("books", "faust", json!({"note": "new", "like": ["@dune", "@emma"]})),
            "",
        ),
        ("update", update("people", "ada", json!({"wrote": ["@faust"]})), ""),
        ("update blocks", json!({"blocks": [{"id": "@dune", "markdown": "Dune"}]}), ""),
        (
            "move blocks",
            json!({"blockIds": ["@books"], "position": {"position": "end", "pageId": "@club"}}),
            "",
        ),
        // Columns that come: their names and keys are those of hidden ones, too.
        (
            "replace",
            replacement(books(
                json!([{"name": "Extra", "type": "number"}, {"name": "Kept", "type": "text"}]),
            )),
            "",
        ),
        (
            "replace",
            replacement(books(json!([{"key": "lost", "name": "Found", "type": "date"}]))),
            "",
        ),
        ("replace", replacement(books(json!([relation("Owner", "people", "guard")]))), ""),
        ("replace", replacement(books(json!([relation("Next", "self", "thrown")]))), ""),
        (
            "create",
            collection("Shelves", "home", json!([relation("Holds", "books", "extra")])),
            "shelves",
        ),
        (
            "add",
            on(
                "books",
                json!({"items": [{"properties": {"state": "lent"}}], "allowNewSelectOptions": true}),
            ),
            "untitled",
        ),
        // What is refused.
        (
            "replace",
            replacement(books(json!([{"name": "Note", "key": "note", "type": "text"}]))),
            "",
        ),
        ("replace", replacement(books(json!([relation("Kept", "secret", "keeps")]))), ""),
        ("create", collection("Other", "home", json!([relation("r", "bin", "r")])), ""),
        ("replace", replacement(json!([{"key": "note", "name": "Note", "type": "number"}])), ""),
        // Columns that go, are turned round, and change their types.
        (
            "replace",
            on(
                "books",
                json!({"dropUnconvertible": true, "schema": {"name": "My books", "properties": [
                    {"key": "state", "name": "State", "type": "text"},
                    {"key": "note", "name": "Note", "type": "number"},
                    {"key": "like", "name": "Like", "type": "relation", "targetCollectionId": "self", "single": true},
                ]}}),
            ),
            "",
        ),
        ("replace", on("people", json!({"schema": {"name": "People", "properties": []}})), ""),
        ("delete", on("books", json!({"idsToDelete": ["@dune"]})), ""),
        ("delete blocks", json!({"blockIds": ["@emma"]}), ""),
        ("delete blocks", json!({"blockIds": ["@people"]}), ""),
    ];
    for key in HIDDEN {
        let named = [
            ("query", filtered(json!({"property": key, "isEmpty": true})), ""),
            ("query", on("books", json!({"sort": [{"property": key}]})), ""),
            ("count", on("books", json!({"groupBy": key})), ""),
            ("update", update("books", "dune", json!({key: null})), ""),
            ("add", on("books", json!({"items": [{"properties": {key: []}}]})), ""),
            ("update", update("books", "dune", json!({"by": ["@dune"]})), ""),
        ];
        steps.splice(14..14, named);
    }
    steps
}

/// What is done to the rest of the space between two steps, in turn.
fn hidden_acts() -> Vec<(&'static str, Value)> {
    let schema = |properties: Value| json!({"name": "Vault", "properties": properties});
    let kept = json!({"key": "keeps", "name": "Keeps", "type": "relation", "targetCollectionId": "@books"});
    let holds = json!({"key": "holds", "name": "Holds it", "type": "relation", "targetCollectionId": "@books", "single": true});
    let item = |title: &str, more: Value| {
        on("vault", json!({"items": [{"title": title, "properties": more}]}))
    };
    vec![
        ("update", update("vault", "gold", json!({"holds": ["@emma"], "keeps": []}))),
        ("update", update("vault", "silver", json!({"holds": null, "keeps": ["@emma"]}))),
        ("add", item("tin", json!({"holds": ["@emma"], "keeps": ["@emma"]}))),
        ("update", update("guards", "dog", json!({"guards": ["@bob"]}))),
        ("delete", on("vault", json!({"idsToDelete": ["@gold"]}))),
        ("replace", on("vault", json!({"schema": schema(json!([holds, kept]))}))),
        ("trash", json!({"documentIds": "@secret"})),
        ("restore", json!({"documentIds": "@secret", "destination": {"destination": "unsorted"}})),
        (
            "replace",
            on(
                "vault",
                json!({"schema": schema(json!([holds, kept, relation("Again", "books", "again")]))}),
            ),
        ),
        ("purge", json!({"documentIds": "@bin"})),
        ("replace", on("vault", json!({"schema": schema(json!([kept]))}))),
        ("delete", on("vault", json!({"idsToDelete": ["@silver"]}))),
        ("delete blocks", json!({"blockIds": ["@guards"]})),
        ("trash", json!({"documentIds": "@secret"})),
        ("purge", json!({"documentIds": "@secret"})),
    ]
}

/// Does every step in both spaces, and something hidden in one of them before each. The first
/// difference, if there is one.
fn difference(connect: fn(&World) -> Connection<Scoped>, every: usize) -> Option<String> {
    let (mut plain, mut related) = (World::new(false), World::new(true));
    let (alone, beside) = (connect(&plain), connect(&related));
    let mut acts = hidden_acts().into_iter();
    for (number, (operation, body, name)) in steps().into_iter().enumerate() {
        let act = acts.next().filter(|_| number % every == 0);
        if let Some((act, body)) = act {
            related.hidden_does(act, &body);
        }
        let (expected, found) = (
            plain.guest_does(&alone, operation, &body),
            related.guest_does(&beside, operation, &body),
        );
        let views = [plain.view(&alone), related.view(&beside)];
        if expected != found || views[0] != views[1] {
            let [expected, found] = [(expected, &views[0]), (found, &views[1])]
                .map(|(told, view)| format!("{told}\n{view}"));
            return Some(format!(
                "{operation} {body}\n{}\n{}",
                plain.with_names(&expected),
                related.with_names(&found)
            ));
        }
        if !name.is_empty() {
            let id = expected.pointer("/items/0/id").unwrap_or(&expected["id"]).clone();
            plain.name(name, &id);
            related.name(name, &id);
        }
    }
    plain.check();
    related.check();
    None
}

#[test]
fn hidden_relations_are_nowhere() {
    for every in [usize::MAX, 1] {
        if let Some(difference) = difference(World::guest, every) {
            panic!("{difference}");
        }
    }
}

/// Control: relations to documents that the scope contains are noticed.
#[test]
fn relations_that_leak_are_noticed() {
    assert!(difference(World::unguarded, usize::MAX).is_some());
}

/// Control: steps that are all refused would show nothing.
#[test]
fn most_steps_that_name_nothing_hidden_are_done() {
    let mut world = World::new(true);
    let guest = world.guest();
    let mut refused = Vec::new();
    for (operation, body, name) in steps() {
        let told = world.guest_does(&guest, operation, &body);
        if let Some(error) = told.get("error") {
            refused.push(format!("{operation} {}", error["details"][0]["path"].as_str().unwrap()));
        } else if !name.is_empty() {
            world.name(name, told.pointer("/items/0/id").unwrap_or(&told["id"]));
        }
    }
    refused.retain(|refused| HIDDEN.iter().all(|key| !refused.ends_with(&format!(".{key}"))));
    refused.sort();
    refused.dedup();
    let expected = [
        "add items[0].properties.by",
        "count groupBy",
        "create schema.properties[0].targetCollectionId",
        "list documentIds[0]",
        "list documentIds[1]",
        "query filter.property",
        "query sort[0].property",
        "replace schema",
        "replace schema.properties[4].key",
        "replace schema.properties[4].targetCollectionId",
        "update itemsToUpdate[0].properties.by",
    ];
    assert_eq!(refused, expected);
}
