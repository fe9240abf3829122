//! The hidden ends of relations: they stay where they are, go with what they lead to, and move
//! nothing at the other end.

use leafbase::{Author, Fetch, Timestamp};
use serde_json::{Value, json};

use super::worlds::{World, books, relation, unmarked, update};

fn replaced(world: &mut World, properties: Value) -> Value {
    let guest = world.guest();
    let body = json!({"collectionId": "@books", "dropUnconvertible": true,
        "schema": {"name": "Books", "properties": properties}});
    world.guest_does(&guest, "replace", &body)
}

fn keys_of(reply: &Value) -> String {
    let keys = reply["schema"]["properties"].as_array().unwrap_or_else(|| panic!("{reply}")).iter();
    keys.map(|property| unmarked(property["key"].as_str().unwrap())).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_schema_that_knows_nothing_of_hidden_columns_keeps_them_in_their_places() {
    let column = |key: &str| json!({"key": key, "name": key, "type": "text"});
    let some = |keys: &[&str]| -> Value {
        let all = books(json!([]));
        let found =
            |key: &str| all.as_array().unwrap().iter().find(|column| column["key"] == key).cloned();
        keys.iter().map(|key| found(key).unwrap_or_else(|| column(key))).collect()
    };
    for (keys, seen, stored) in [
        (
            &["note", "state", "by", "like"][..],
            "note state by like",
            "kept note state by thrown like extra lost",
        ),
        (
            &["like", "by", "note", "state"],
            "like by note state",
            "kept like extra lost by thrown note state",
        ),
        (&["note", "like"], "note like", "kept note thrown like extra lost"),
        (&["state"], "state", "kept state thrown extra lost"),
        (&[], "", "kept thrown extra lost"),
        (&["extra", "note"], "extra_* note", "kept extra_* note thrown extra lost"),
        (
            &["kept", "thrown", "new"],
            "kept_* thrown_* new_*",
            "kept thrown extra lost kept_* thrown_* new_*",
        ),
    ] {
        let mut world = World::new(true);
        assert_eq!(world.keys("books"), "kept note state by thrown like extra lost");
        let reply = replaced(&mut world, some(keys));
        assert_eq!(
            (keys_of(&reply), world.keys("books")),
            (seen.to_owned(), stored.to_owned()),
            "{keys:?}"
        );
        let held =
            [("extra", "gold silver"), ("kept", "gold"), ("lost", "peel"), ("thrown", "peel")];
        for (key, titles) in held {
            assert_eq!(world.related("books", "dune", key), titles, "{key} after {keys:?}");
        }
        world.check();
    }
}

#[test]
fn other_ends_that_a_scoped_writer_makes_have_keys_of_their_own() {
    let mut world = World::new(true);
    let reply = replaced(
        &mut world,
        books(json!([relation("Owner", "people", "guard"), relation("Next", "self", "extra")])),
    );
    assert_eq!(keys_of(&reply), "note state by like owner_* next_* extra_*");
    assert_eq!(
        world.keys("books"),
        "kept note state by thrown like extra lost owner_* next_* extra_*"
    );
    assert_eq!(world.keys("people"), "wrote guard guard_*");
    // What it has now it may send back, and the full space may, too.
    let again = json!({"collectionId": "@books", "schema": reply["schema"]});
    let guest = world.guest();
    assert_eq!(world.guest_does(&guest, "replace", &again), reply);
    let all = json!({"collectionId": "@books", "schema": serde_json::to_value(world.all.schema(world.id("books")).unwrap()).unwrap()});
    world.all_does("replace", &all);
    assert_eq!(
        world.keys("books"),
        "kept note state by thrown like extra lost owner_* next_* extra_*"
    );
    world.check();
}

#[test]
fn values_of_hidden_columns_stay_when_an_item_is_changed() {
    let mut world = World::new(true);
    let guest = world.guest();
    let changes = json!({"note": null, "state": "done", "by": ["@bob"], "like": []});
    world.guest_does(&guest, "update", &update("books", "dune", changes));
    for (key, titles) in [
        ("kept", "gold"),
        ("thrown", "peel"),
        ("extra", "gold silver"),
        ("by", "bob"),
        ("like", ""),
    ] {
        assert_eq!(world.related("books", "dune", key), titles, "{key}");
    }
}

#[test]
fn what_a_scoped_writer_deletes_takes_its_hidden_ends_along_until_it_is_undone() {
    let delete_item = json!({"collectionId": "@books", "idsToDelete": ["@dune"]});
    let delete_collection = json!({"blockIds": ["@books"]});
    for (operation, body, columns, held) in [
        ("delete", delete_item, ["holds keeps", "lost thrown"], ["emma", "emma", ""]),
        ("delete blocks", delete_collection, ["", ""], ["", "", ""]),
    ] {
        let mut world = World::new(true);
        let told = |world: &World| {
            let ends = [
                ("vault", "silver", "holds"),
                ("vault", "gold", "keeps"),
                ("waste", "peel", "lost"),
            ];
            ends.map(|(list, item, key)| world.related(list, item, key))
        };
        let before = told(&world);
        assert_eq!(before, ["dune emma", "dune emma", "dune"]);
        let guest = world.guest();
        world.guest_does(&guest, operation, &body);
        assert_eq!(
            (["vault", "waste"].map(|list| world.keys(list)), told(&world)),
            (columns.map(Into::into), held.map(Into::into))
        );
        world.check();
        let last = world
            .all
            .changes_since(world.all.last_sequence().unwrap() - 1)
            .next()
            .unwrap()
            .unwrap();
        world.all.space().apply(&Author::ANONYMOUS, &last.inverse().unwrap()).unwrap();
        assert_eq!(told(&world), before, "{operation} is undone");
        world.check();
    }
}

/// What tells of a change: of the document, and of an item of it.
fn times(world: &World, home: &str, item: &str) -> (Timestamp, u64, Timestamp, String) {
    let document = world.all.document_of(world.id(home)).unwrap();
    let modified = world.all.document(document).unwrap().record.modified_at;
    let block = world.all.fetch(Fetch::new(world.id(item)).depth(0).with_metadata()).unwrap();
    let stamp = block.metadata.unwrap().modified;
    (modified, block.rev, stamp.at, stamp.by.to_string())
}

/// On every connection: what is not named is not changed, whichever end holds the relation.
#[test]
fn the_other_end_of_a_relation_moves_no_time() {
    let acts = [
        ("update", update("vault", "gold", json!({"holds": [], "keeps": []}))),
        (
            "update",
            update(
                "vault",
                "gold",
                json!({"holds": ["@dune", "@emma"], "keeps": ["@emma", "@dune"]}),
            ),
        ),
        (
            "add",
            json!({"collectionId": "@vault", "items": [{"title": "tin", "properties": {"keeps": ["@dune"]}}]}),
        ),
        ("update", update("people", "ada", json!({"wrote": ["@emma"]}))),
        ("update", update("people", "ada", json!({"wrote": ["@emma", "@dune"]}))),
        ("delete", json!({"collectionId": "@vault", "idsToDelete": ["@gold"]})),
        (
            "create",
            super::worlds::collection("New", "secret", json!([relation("To", "books", "from")])),
        ),
        (
            "replace",
            json!({"collectionId": "@people", "schema": {"name": "People", "properties": []}}),
        ),
        (
            "replace",
            json!({"collectionId": "@vault", "schema": {"name": "Vault", "properties": []}}),
        ),
        ("delete blocks", json!({"blockIds": ["@vault"]})),
    ];
    let purges = [
        ("purge", json!({"documentIds": "@bin"})),
        ("trash", json!({"documentIds": "@secret"})),
        ("purge", json!({"documentIds": "@secret"})),
    ];
    let mut world = World::new(true);
    let before = times(&world, "home", "dune");
    let first = world.all.last_sequence().unwrap();
    for (operation, body) in acts {
        world.all_does(operation, &body);
        assert_eq!(times(&world, "home", "dune"), before, "{operation} {body}");
        world.check();
    }
    let changes: Vec<_> = world.all.changes_since(first).map(Result::unwrap).collect();
    let home = world.all.document_of(world.id("home")).unwrap();
    let naming = changes.iter().filter(|change| change.documents.contains(&home)).count();
    assert_eq!(naming, 9, "the change log names each document that it touched");
    for change in changes.iter().rev() {
        world.all.space().apply(&Author::ANONYMOUS, &change.inverse().unwrap()).unwrap();
        assert_eq!(times(&world, "home", "dune"), before, "{} is undone", change.sequence);
    }
    world.check();
    for (operation, body) in purges {
        world.all_does(operation, &body);
        assert_eq!(times(&world, "home", "dune"), before, "{operation} {body}");
        world.check();
    }
}

/// And what is named is, whichever end holds it.
#[test]
fn an_item_that_is_named_is_changed_by_what_it_then_shows() {
    for (list, home, item, values, is_changed) in [
        ("books", "home", "dune", json!({"by": ["@bob"]}), true),
        ("books", "home", "dune", json!({"by": ["@ada"]}), false),
        ("books", "home", "dune", json!({"extra": ["@gold"]}), true),
        ("books", "home", "dune", json!({"extra": ["@gold", "@silver"]}), false),
        ("books", "home", "emma", json!({"like": []}), true),
        ("books", "home", "emma", json!({"like": ["@dune"]}), false),
        ("people", "club", "ada", json!({"wrote": []}), true),
        ("people", "club", "ada", json!({"wrote": ["@dune"]}), false),
    ] {
        let mut world = World::new(true);
        let before = times(&world, home, item);
        world.all_does("update", &update(list, item, values.clone()));
        let after = times(&world, home, item);
        assert_eq!(
            (before.0 < after.0, before.1 + 1 == after.1, before.2 < after.2),
            (is_changed, is_changed, is_changed),
            "{item} {values}"
        );
        world.check();
    }
}
