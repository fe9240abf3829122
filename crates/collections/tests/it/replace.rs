//! Schemas replaced: what becomes of other ends and of values.

use leafbase_collections::{ReadCollections, replace, replace_with_keys};
use leafbase_model::{BlockId, ErrorKind, Limits, PropertyValue, SchemaDraft};
use serde_json::{Value, json};

use crate::memory::Memory;
use crate::support::id;

fn schema(properties: Value) -> Value {
    json!({"name": "Books", "properties": properties})
}

fn to(target: Value, name: &str) -> Value {
    json!({"name": name, "type": "relation", "targetCollectionId": target})
}

/// A relation with more fields.
fn with(mut property: Value, fields: Value) -> Value {
    property.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    property
}

/// Books (1) and people (2) without columns, with the items 10 and 11 in the one and 20 and 21 in
/// the other.
fn space() -> Memory {
    let mut space = Memory::default();
    for (collection, name) in [(1, "Books"), (2, "People")] {
        space.replace(id(collection), json!({"name": name, "properties": []}), false).unwrap();
        space.add(id(collection * 10), id(collection));
        space.add(id(collection * 10 + 1), id(collection));
    }
    space
}

/// The columns of a collection: `key>inverse`, with `*` at the end that owns it and `1` at one that
/// takes one item.
fn columns(space: &Memory, collection: u8) -> String {
    let shown = |property: &leafbase_model::Property| match property.kind.relation() {
        None => property.key.clone(),
        Some(relation) => {
            let (owner, single) =
                (if relation.owner { "*" } else { "" }, if relation.single { "1" } else { "" });
            format!("{}{owner}{single}>{}", property.key, relation.inverse_key.as_deref().unwrap())
        }
    };
    space.schemas[&id(collection)].properties.iter().map(shown).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_relation_gets_its_other_end() {
    let people = || json!(id(2));
    for (properties, books, in_people) in [
        (json!([to(people(), "Author")]), "author*>books", "books>author"),
        (
            json!([to(people(), "Author"), to(people(), "Editor")]),
            "author*>books editor*>books_2",
            "books>author books_2>editor",
        ),
        (
            json!([with(to(people(), "Author"), json!({"inverseKey": "wrote", "single": true}))]),
            "author*1>wrote",
            "wrote>author",
        ),
        (json!([to(json!("self"), "Sequel")]), "sequel*>sequel_of sequel_of>sequel", ""),
        (json!([to(json!(id(1)), "Sequel")]), "sequel*>sequel_of sequel_of>sequel", ""),
        (json!([with(to(json!("self"), "Like"), json!({"inverseKey": "like"}))]), "like*>like", ""),
        (
            json!([
                with(to(json!("self"), "Next"), json!({"inverseKey": "previous"})),
                to(json!("self"), "Previous")
            ]),
            "next*>previous previous>next",
            "",
        ),
        (
            json!([
                to(json!("self"), "Previous"),
                with(to(json!("self"), "Next"), json!({"inverseKey": "previous"}))
            ]),
            "previous*>next next>previous",
            "",
        ),
    ] {
        let mut space = space();
        space.replace(id(1), schema(properties.clone()), false).unwrap();
        space.check();
        assert_eq!(
            (columns(&space, 1).as_str(), columns(&space, 2).as_str()),
            (books, in_people),
            "{properties}"
        );
        // What came of it, asked for again, changes nothing.
        let before = space.clone();
        let kept = SchemaDraft::from(space.schemas[&id(1)].clone());
        space.replace(id(1), serde_json::to_value(kept).unwrap(), false).unwrap();
        assert_eq!(space, before);
    }
}

#[test]
fn relations_that_cannot_be_are_refused() {
    let wrong = |properties: Value| {
        let mut space = space();
        space
            .replace(
                id(1),
                schema(json!([
                    with(to(json!(id(2)), "Author"), json!({"inverseKey": "wrote"})),
                    to(json!("self"), "Sequel")
                ])),
                false,
            )
            .unwrap();
        let error = space.replace(id(1), schema(properties), false).unwrap_err();
        (error.kind(), error.to_string())
    };
    let author = || to(json!(id(2)), "Author");
    for (properties, kind, message) in [
        (
            json!([to(json!(id(9)), "X")]),
            ErrorKind::NotFound,
            "properties[0].targetCollectionId: no collection has this ID",
        ),
        (
            json!([to(json!("x"), "X")]),
            ErrorKind::NotFound,
            "properties[0].targetCollectionId: no collection has this ID",
        ),
        (
            json!([with(author(), json!({"inverseKey": "books"}))]),
            ErrorKind::Validation,
            r#"properties[0].inverseKey: the other end of "author" stays "wrote""#,
        ),
        (
            json!([author(), with(to(json!(id(2)), "X"), json!({"inverseKey": "wrote"}))]),
            ErrorKind::Validation,
            r#"properties[1].inverseKey: "wrote" is a key already in the collection "People""#,
        ),
        (
            json!([with(to(json!(id(2)), "X"), json!({"inverseKey": "title"}))]),
            ErrorKind::Validation,
            r#"properties[0].inverseKey: "title" is a key already in the collection "People""#,
        ),
        (
            json!([with(to(json!(id(2)), "X"), json!({"inverseKey": "A B"}))]),
            ErrorKind::Validation,
            r#"properties[0].inverseKey: "A B" cannot be a key"#,
        ),
        (
            json!([with(to(json!(id(2)), "X"), json!({"inverseKey": "x".repeat(1_001)}))]),
            ErrorKind::LimitExceeded,
            "properties[0].inverseKey: characters of a property key: at most 1000, got 1001",
        ),
        (
            json!([{"name": "A", "type": "text"}, with(to(json!("self"), "X"), json!({"inverseKey": "a"}))]),
            ErrorKind::Validation,
            r#"properties[1].inverseKey: the property "a" cannot be the other end of "x""#,
        ),
        (
            json!([to(json!("self"), "Sequel"), {"key": "sequel_of", "name": "Sequel of", "type": "text"}]),
            ErrorKind::Validation,
            r#"properties[0]: its other end "sequel_of" stays a relation to "sequel""#,
        ),
    ] {
        assert_eq!(wrong(properties), (kind, message.to_owned()));
    }
}

fn set(space: &mut Memory, collection: u8, item: u8, key: &str, value: PropertyValue) {
    space.change(vec![(id(item), id(collection), vec![(key.to_owned(), Some(value))])]).unwrap();
}

fn ids(items: &[u8]) -> PropertyValue {
    PropertyValue::Relations(items.iter().map(|item| id(*item)).collect())
}

fn shown(space: &Memory, collection: u8, key: &str, item: u8) -> Vec<BlockId> {
    leafbase_collections::related(space, id(collection), key, id(item)).unwrap()
}

#[test]
fn a_relation_that_goes_takes_its_other_end_along() {
    let with_author =
        || schema(json!([to(json!(id(2)), "Author"), {"name": "Note", "type": "text"}]));
    let without = || schema(json!([{"name": "Note", "type": "text"}]));
    // From the end that owns it, and from the other.
    for (collection, draft) in [(1, without()), (2, json!({"name": "People", "properties": []}))] {
        let mut space = space();
        space.replace(id(1), with_author(), false).unwrap();
        set(&mut space, 1, 10, "author", ids(&[20, 21]));
        set(&mut space, 1, 10, "note", PropertyValue::Text("x".into()));
        space.replace(id(collection), draft, false).unwrap();
        space.check();
        assert_eq!((columns(&space, 1).as_str(), columns(&space, 2).as_str()), ("note", ""));
        let keys: Vec<_> =
            space.items[&id(10)].values.iter().map(|(key, _)| key.to_owned()).collect();
        assert_eq!(keys, ["note"]);
    }
}

/// The books with a relation to themselves: `sequel` with `sequel_of` at the other end, and 11 the
/// sequel of 10.
fn space_with_sequels() -> Memory {
    let mut space = space();
    space
        .replace(
            id(1),
            schema(json!([{"name": "Note", "type": "text"}, to(json!("self"), "Sequel")])),
            false,
        )
        .unwrap();
    set(&mut space, 1, 10, "note", PropertyValue::Text("x".into()));
    set(&mut space, 1, 10, "sequel", ids(&[11]));
    space
}

/// Of a relation within a collection as of any other: the end that is left out takes the other
/// along, with what it shows. What is in the request beside it is as without it.
#[test]
fn one_end_of_a_relation_within_a_collection_goes_with_the_other() {
    let own = |name: &str| to(json!("self"), name);
    let note = || json!({"name": "Note", "type": "text"});
    for (properties, left) in [
        (json!([note(), own("Sequel")]), "note"),
        (json!([own("Sequel of"), note()]), "note"),
        (
            json!([
                note(),
                with(own("Sequel"), json!({"inverseKey": "sequel_of", "single": true}))
            ]),
            "note",
        ),
        (json!([note(), with(own("Follows"), json!({"key": "sequel_of"}))]), "note"),
        (json!([own("Like"), own("Sequel"), note()]), "like*>like_of note like_of>like"),
        (
            json!([own("Sequel"), with(own("Like"), json!({"inverseKey": "like"})), note()]),
            "like*>like note",
        ),
        (json!([own("Sequel"), note(), to(json!(id(2)), "Author")]), "note author*>books"),
        (
            json!([
                own("Sequel"),
                with(own("Like"), json!({"inverseKey": "liked"})),
                own("Liked"),
                note()
            ]),
            "like*>liked liked>like note",
        ),
        (
            json!([note(), own("Sequel"), own("Sequel of")]),
            "note sequel*>sequel_of sequel_of>sequel",
        ),
    ] {
        let mut space = space_with_sequels();
        space.replace(id(1), schema(properties.clone()), false).unwrap();
        space.check();
        assert_eq!(columns(&space, 1), left, "{properties}");
        let keys: Vec<_> =
            space.items[&id(10)].values.iter().map(|(key, _)| key.to_owned()).collect();
        let kept = if left.contains("sequel") { vec!["note", "sequel"] } else { vec!["note"] };
        assert_eq!(keys, kept, "{properties}");
    }
}

/// A key that the title takes is one that no property has.
#[test]
fn an_end_whose_key_the_title_takes_goes_with_the_other() {
    let mut space = space_with_sequels();
    let titled = json!({"name": "Books", "contentPropDetails": {"key": "sequel_of", "name": "Title"},
        "properties": [to(json!("self"), "Sequel")]});
    space.replace(id(1), titled, false).unwrap();
    space.check();
    assert_eq!(columns(&space, 1), "");
}

/// What is wrong is told where the request has it, and a relation that only lost its other end in
/// the request is not given another one.
#[test]
fn faults_beside_a_relation_that_goes_are_told_in_their_place() {
    let own = |name: &str| to(json!("self"), name);
    for (properties, message) in [
        (
            json!([own("Sequel"), to(json!(id(9)), "X")]),
            "properties[1].targetCollectionId: no collection has this ID",
        ),
        (
            json!([with(own("Sequel"), json!({"inverseKey": "liked"}))]),
            r#"properties[0].inverseKey: the other end of "sequel" stays "sequel_of""#,
        ),
        (
            json!([own("Sequel"), with(own("Like"), json!({"inverseKey": "B D"}))]),
            r#"properties[1].inverseKey: "B D" cannot be a key"#,
        ),
        (
            json!([
                own("Like"),
                own("Sequel"),
                with(own("X"), json!({"key": "sequel_of", "inverseKey": "like"}))
            ]),
            r#"properties[2].inverseKey: the other end of "sequel_of" stays "sequel""#,
        ),
    ] {
        let mut space = space_with_sequels();
        let error = space.replace(id(1), schema(properties), false).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

/// A new relation may make its other end under the key of one that goes: what is held there is of
/// another relation.
#[test]
fn the_other_end_of_a_new_relation_takes_over_no_values() {
    for first in [
        json!([with(to(json!("self"), "Like"), json!({"inverseKey": "like"}))]),
        json!([with(to(json!("self"), "Like"), json!({"inverseKey": "liked"}))]),
    ] {
        let mut space = space();
        space.replace(id(1), schema(first), false).unwrap();
        set(&mut space, 1, 10, "like", ids(&[11]));
        let second =
            schema(json!([with(to(json!("self"), "Next"), json!({"inverseKey": "like"}))]));
        let error = space.replace(id(1), second.clone(), false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
        space.replace(id(1), second, true).unwrap();
        space.check();
        assert_eq!(columns(&space, 1), "next*>like like>next");
        assert_eq!((shown(&space, 1, "like", 10), shown(&space, 1, "like", 11)), (vec![], vec![]));
    }
}

#[test]
fn new_renamed_and_moved_columns_touch_no_item() {
    let space = space_with_values();
    let mut draft = SchemaDraft::from(space.schemas[&id(1)].clone());
    draft.name = "Volumes".into();
    draft.properties.reverse();
    for property in &mut draft.properties {
        property.name = format!("New {}", property.name);
    }
    let more: SchemaDraft = serde_json::from_value(schema(
        json!([{"name": "More", "type": "date"}, to(json!(id(2)), "Owner")]),
    ))
    .unwrap();
    draft.properties.extend(more.properties);
    let old = space.schema(id(1)).unwrap();
    let plan = replace(&space, id(1), old.as_ref(), draft, &Limits::default()).unwrap();
    assert!(!plan.touches_items());
    assert_eq!(plan.dropped, []);
    let keys: Vec<_> =
        plan.schema.properties.iter().map(|property| property.key.as_str()).collect();
    assert_eq!(keys, ["author", "tags", "state", "size", "more", "owner"]);
}

#[test]
fn keys_that_come_may_be_made_by_the_caller() {
    let note = || json!({"key": "note", "name": "Note", "type": "text"});
    let made =
        |name: &str, inverse: &str| with(to(json!("self"), name), json!({"inverseKey": inverse}));
    for (properties, books, in_people) in [
        (json!([note()]), "note", ""),
        (json!([{"name": "Note", "type": "text"}]), "note", ""),
        (
            json!([note(), {"name": "Note", "type": "text"}, {"key": "k", "name": "K", "type": "text"}]),
            "note note_2_1 k_1",
            "",
        ),
        (json!([to(json!(id(2)), "Author")]), "author_1*>books_2", "books_2>author_1"),
        (json!([note(), made("Next", "last")]), "note next_1*>last_1 last_1>next_1", ""),
        (json!([made("Next", "last"), made("Last", "next")]), "next_1*>last_1 last_1>next_1", ""),
        (json!([made("Like", "like")]), "like_1*>like_1", ""),
    ] {
        let mut space = space();
        space.replace(id(1), schema(json!([note()])), false).unwrap();
        let draft: SchemaDraft = serde_json::from_value(schema(properties.clone())).unwrap();
        let old = space.schema(id(1)).unwrap();
        let mark = |collection: BlockId, key: String| {
            Ok(format!("{key}_{}", if collection == id(1) { 1 } else { 2 }))
        };
        let plan = replace_with_keys(&space, id(1), old.as_ref(), draft, &Limits::default(), &mark)
            .unwrap();
        space.schemas.insert(id(1), plan.schema);
        space.schemas.extend(plan.others);
        assert_eq!(
            (columns(&space, 1).as_str(), columns(&space, 2).as_str()),
            (books, in_people),
            "{properties}"
        );
    }
}

/// Those that a writer who does not see all adds may be more than there may be: who sees them may
/// keep them.
#[test]
fn as_many_columns_as_there_are_may_stay() {
    let mut space = space();
    let columns = |count: u8| {
        (0..count).map(|number| json!({"name": format!("c{number}"), "type": "text"})).collect()
    };
    space.replace(id(1), schema(columns(3)), false).unwrap();
    let mut limits = Limits::default();
    limits.schema_properties = 2;
    let old = space.schema(id(1)).unwrap();
    for (count, is_refused) in [(2, false), (3, false), (4, true)] {
        let draft: SchemaDraft = serde_json::from_value(schema(columns(count))).unwrap();
        let error = replace(&space, id(1), old.as_ref(), draft, &limits).err();
        assert_eq!(
            error.map(|error| error.kind()),
            is_refused.then_some(ErrorKind::LimitExceeded),
            "{count}"
        );
    }
}

fn space_with_values() -> Memory {
    let mut space = space();
    let options = json!([{"name": "open"}, {"name": "shut"}]);
    let properties = json!([
        {"name": "Size", "type": "text"}, {"name": "State", "type": "select", "options": options},
        {"name": "Tags", "type": "multiSelect", "options": options}, to(json!(id(2)), "Author")]);
    space.replace(id(1), schema(properties), false).unwrap();
    let text = |text: &str| PropertyValue::Text(text.into());
    set(&mut space, 1, 10, "size", text("12"));
    set(&mut space, 1, 11, "size", text("large"));
    set(&mut space, 1, 10, "state", text("open"));
    set(&mut space, 1, 10, "tags", PropertyValue::Options(vec!["shut".into(), "open".into()]));
    set(&mut space, 1, 10, "author", ids(&[21, 20]));
    set(&mut space, 1, 11, "author", ids(&[20]));
    space
}

/// The column `key` of the books becomes this: the items in the way, and what 10 and 11 hold after
/// they had to give way.
fn becomes(property: Value) -> (String, Value, Value) {
    let mut space = space_with_values();
    let key = property["key"].as_str().unwrap().to_owned();
    let kept = SchemaDraft::from(space.schemas[&id(1)].clone());
    let mut draft = serde_json::to_value(kept).unwrap();
    let columns = draft["properties"].as_array_mut().unwrap();
    columns
        .iter_mut()
        .filter(|column| column["key"] == property["key"])
        .for_each(|column| *column = property.clone());
    let before = space.clone();
    let in_the_way = match space.replace(id(1), draft.clone(), false) {
        Ok(()) => String::new(),
        Err(error) => {
            assert_eq!((error.kind(), &space), (ErrorKind::SchemaMismatch, &before));
            space.replace(id(1), draft, true).unwrap();
            error.message().split_once("not set: ").unwrap().1.to_owned()
        }
    };
    space.check();
    let value = |item: u8| serde_json::to_value(space.items[&id(item)].values.get(&key)).unwrap();
    (in_the_way, value(10), value(11))
}

#[test]
fn values_convert_or_are_in_the_way() {
    let named = |item: u8, key: &str| format!("{} \"\" ({key})", id(item));
    let related = |items: &[u8]| serde_json::to_value(ids(items)).unwrap();
    for (property, in_the_way, first, second) in [
        (
            json!({"key": "size", "name": "Size", "type": "number"}),
            named(11, "size"),
            json!(12),
            json!(null),
        ),
        (
            json!({"key": "size", "name": "Size", "type": "url"}),
            String::new(),
            json!("12"),
            json!("large"),
        ),
        (
            json!({"key": "size", "name": "Size", "type": "select", "options": [{"name": "12"}, {"name": "large"}]}),
            String::new(),
            json!("12"),
            json!("large"),
        ),
        (
            json!({"key": "state", "name": "State", "type": "text"}),
            String::new(),
            json!("open"),
            json!(null),
        ),
        (
            json!({"key": "state", "name": "State", "type": "multiSelect", "options": [{"name": "open"}]}),
            String::new(),
            json!(["open"]),
            json!(null),
        ),
        (
            json!({"key": "state", "name": "State", "type": "select", "options": [{"name": "open"}]}),
            String::new(),
            json!("open"),
            json!(null),
        ),
        (
            json!({"key": "state", "name": "State", "type": "select", "options": [{"name": "shut"}]}),
            named(10, r#"state: "open""#),
            json!(null),
            json!(null),
        ),
        (
            json!({"key": "tags", "name": "Tags", "type": "multiSelect", "options": [{"name": "open"}]}),
            named(10, r#"tags: "shut""#),
            json!(["open"]),
            json!(null),
        ),
        (
            with(to(json!(id(2)), "Author"), json!({"key": "author", "single": true})),
            named(10, "author"),
            json!(null),
            related(&[20]),
        ),
        (
            with(to(json!(id(1)), "Author"), json!({"key": "author"})),
            format!("{}, {}", named(10, "author"), named(11, "author")),
            json!(null),
            json!(null),
        ),
        (
            json!({"key": "author", "name": "Author", "type": "text"}),
            format!("{}, {}", named(10, "author"), named(11, "author")),
            json!(null),
            json!(null),
        ),
    ] {
        assert_eq!(becomes(property.clone()), (in_the_way, first, second), "{property}");
    }
}

/// It counts as no value.
#[test]
fn an_empty_text_is_not_in_the_way() {
    let mut space = space_with_values();
    set(&mut space, 1, 11, "size", PropertyValue::Text(String::new()));
    let number = json!({"key": "size", "name": "Size", "type": "number"});
    space.replace(id(1), schema(json!([number])), false).unwrap();
    let value = |item: u8| space.items[&id(item)].values.get("size").cloned();
    assert_eq!((value(10), value(11)), (Some(PropertyValue::Number(12.0)), None));
}

#[test]
fn the_other_end_is_in_the_way_just_as_well() {
    let people = |property: Value| json!({"name": "People", "properties": [property]});
    for property in [
        with(to(json!(id(1)), "Books"), json!({"single": true})),
        json!({"key": "books", "name": "Books", "type": "text"}),
        with(to(json!(id(2)), "Books"), json!({"inverseKey": "books"})),
    ] {
        let mut space = space_with_values();
        let error = space.replace(id(2), people(property.clone()), false).unwrap_err();
        assert!(error.message().contains(&id(20).to_string()), "{error}");
        space.replace(id(2), people(property.clone()), true).unwrap();
        space.check();
        if property.get("single").is_some() {
            // 21 has one book and keeps it, 20 had two.
            assert_eq!(
                (shown(&space, 2, "books", 20), shown(&space, 2, "books", 21)),
                (vec![], vec![id(10)])
            );
        } else {
            assert_eq!(space.items[&id(10)].values.get("author"), None);
        }
    }
}

#[test]
fn keys_stay_under_renaming() {
    let mut space = space();
    let titled = |name: &str, titles: Value| json!({"name": name, "contentPropDetails": titles, "properties": []});
    space.replace(id(1), titled("Books", json!({"key": "book", "name": "Book"})), false).unwrap();
    for (draft, keys) in [
        (json!({"name": "Volumes", "properties": []}), "books, book: Book"),
        (titled("Volumes", json!({"name": "Volume"})), "books, book: Volume"),
        (json!({"key": "v", "name": "Volumes", "properties": []}), "v, book: Volume"),
        (titled("Volumes", json!({"key": "title", "name": "Volume"})), "v, title: Volume"),
    ] {
        space.replace(id(1), draft.clone(), false).unwrap();
        let schema = &space.schemas[&id(1)];
        assert_eq!(
            format!("{}, {}: {}", schema.key, schema.content.key, schema.content.name),
            keys,
            "{draft}"
        );
    }
}

/// It is the other collection that is full, not the schema of the request.
#[test]
fn a_collection_without_room_for_the_other_end_is_named() {
    let mut space = space();
    let most = Limits::default().schema_properties;
    let texts: Vec<_> =
        (0..most).map(|number| json!({"name": format!("P{number}"), "type": "text"})).collect();
    space.replace(id(2), json!({"name": "People", "properties": texts}), false).unwrap();
    let error =
        space.replace(id(1), schema(json!([to(json!(id(2)), "Author")])), false).unwrap_err();
    let message = format!(
        r#"properties[0]: properties of the collection "People", which gets the other end: at most {most}, got {}"#,
        most + 1
    );
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::LimitExceeded, message));
}

#[test]
fn a_message_names_some_of_many_items() {
    let mut space = space_with_values();
    for number in 30..50 {
        space.add(id(number), id(1));
        set(&mut space, 1, number, "size", PropertyValue::Text("x".into()));
    }
    let error = space
        .replace(id(1), schema(json!([{"name": "Size", "type": "number"}])), false)
        .unwrap_err();
    assert!(error.message().ends_with(", and 11 more") && error.message().len() < 1_000, "{error}");
}
