//! Numbers at which something else happens, and one more and one less.

use leafbase_collections::related;
use leafbase_model::{BlockId, ErrorKind, PropertyValue};
use serde_json::{Value, json};

use crate::memory::Memory;
use crate::support::id;

fn space(properties: &Value) -> Memory {
    let mut space = Memory::default();
    space.replace(id(2), json!({"name": "People", "properties": []}), false).unwrap();
    space.replace(id(1), json!({"name": "Books", "properties": properties}), false).unwrap();
    space
}

/// Back links are read so many at a time.
#[test]
fn an_item_is_named_by_as_many_as_there_are() {
    for count in [255_u16, 256, 257, 512, 600] {
        let people = json!({"name": "Author", "type": "relation", "targetCollectionId": id(2), "inverseKey": "wrote"});
        let mut space = space(&json!([people]));
        space.add(id(20), id(2));
        for number in 0..count {
            let mut bytes = [1; 16];
            bytes[14..].copy_from_slice(&number.to_be_bytes());
            let book = BlockId::from_bytes(bytes);
            space.add(book, id(1));
            let author = PropertyValue::Relations(vec![id(20)]);
            space.items.get_mut(&book).unwrap().values.set("author", Some(author));
        }
        assert_eq!(related(&space, id(2), "wrote", id(20)).unwrap().len(), usize::from(count));
    }
}

/// A message names so many of the options that go.
#[test]
fn a_message_names_some_of_many_options() {
    for (count, named, is_cut) in [(9, 9, false), (10, 10, false), (11, 10, true), (12, 10, true)] {
        let names: Vec<String> = (10..10 + count).map(|number| format!("o{number}")).collect();
        let options: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
        let mut space =
            space(&json!([{"name": "Tags", "type": "multiSelect", "options": options}]));
        space.add(id(10), id(1));
        space
            .items
            .get_mut(&id(10))
            .unwrap()
            .values
            .set("tags", Some(PropertyValue::Options(names)));
        let none = json!({"name": "Books", "properties": [{"name": "Tags", "type": "multiSelect", "options": []}]});
        let error = space.replace(id(1), none, false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
        assert_eq!(
            (error.message().matches("\"o").count(), error.message().contains("..")),
            (named, is_cut),
            "{error}"
        );
    }
}

/// The other end of a relation of a collection with itself counts.
#[test]
fn an_end_that_is_made_has_to_have_room() {
    for (texts, is_refused) in [(198, false), (199, true)] {
        let mut properties: Vec<Value> = (0..texts)
            .map(|number| json!({"name": format!("t{number}"), "type": "text"}))
            .collect();
        properties.push(json!({"name": "Next", "type": "relation", "targetCollectionId": "self"}));
        let mut space = Memory::default();
        let made = space.replace(id(1), json!({"name": "Books", "properties": properties}), false);
        assert_eq!(
            made.map_err(|error| error.kind()),
            if is_refused { Err(ErrorKind::LimitExceeded) } else { Ok(()) }
        );
    }
}

/// What is named as the other end names this one or none, and leads here.
#[test]
fn a_partner_is_one_of_both_sides() {
    let relation = |name: &str, target: Value, inverse: &str| json!({"name": name, "type": "relation", "targetCollectionId": target, "inverseKey": inverse});
    for (other, is_partner) in [
        (relation("B", json!("self"), "a"), true),
        (json!({"name": "B", "type": "relation", "targetCollectionId": "self"}), true),
        (relation("B", json!("self"), "c"), false),
        (relation("B", json!(id(2)), "a"), false),
    ] {
        let mut space = space(&json!([]));
        let properties = json!([relation("A", json!("self"), "b"), other]);
        let told = space.replace(id(1), json!({"name": "Books", "properties": properties}), false);
        let path = told.map_err(|error| error.path().to_owned());
        assert_eq!(
            path,
            if is_partner { Ok(()) } else { Err("properties[0].inverseKey".to_owned()) },
            "{other}"
        );
        space.check();
    }
}
