//! Whether the ends of relations fit, where no operation saw to it.

use leafbase_collections::ConstraintCheck;
use leafbase_model::{BlockId, ErrorKind, PropertyKind, PropertyValue, Relation};
use serde_json::json;

use crate::memory::Memory;
use crate::support::id;

/// Books (1) by people (2), and people who are friends.
fn space() -> Memory {
    let mut space = Memory::default();
    let friends = json!({"name": "Friends", "type": "relation", "targetCollectionId": "self", "inverseKey": "friends"});
    space.replace(id(2), json!({"name": "People", "properties": [friends]}), false).unwrap();
    let by = json!({"name": "By", "type": "relation", "targetCollectionId": id(2), "inverseKey": "wrote"});
    space.replace(id(1), json!({"name": "Books", "properties": [by]}), false).unwrap();
    space
}

fn change(space: &mut Memory, collection: BlockId, key: &str, change: impl Fn(&mut Relation)) {
    let schema = space.schemas.get_mut(&collection).unwrap();
    let property = schema.properties.iter_mut().find(|property| property.key == key).unwrap();
    let PropertyKind::Relation(relation) = &mut property.kind else {
        panic!("{key} is not a relation")
    };
    change(relation);
}

#[test]
fn ends_of_relations_fit() {
    type Change = fn(&mut Relation);
    let cases: [(u8, &str, Change, Option<&str>); 7] = [
        (2, "wrote", |_| (), None),
        (2, "wrote", |end| end.target = id(2), Some("its other end would lead elsewhere")),
        (
            2,
            "wrote",
            |end| end.inverse_key = Some("with".into()),
            Some("its other end would lead elsewhere"),
        ),
        (2, "wrote", |end| end.owner = true, Some("not exactly one end would own it")),
        (1, "by", |end| end.owner = false, Some("not exactly one end would own it")),
        (
            1,
            "by",
            |end| end.inverse_key = Some("none".into()),
            Some("its other end would be missing"),
        ),
        (2, "friends", |end| end.owner = false, Some("nothing would own it")),
    ];
    for (collection, key, act, expected) in cases {
        let mut space = space();
        change(&mut space, id(collection), key, act);
        let verify = |collection| ConstraintCheck::new(&space).ends(collection);
        let told: Vec<String> = [id(1), id(2)]
            .map(verify)
            .into_iter()
            .filter_map(Result::err)
            .map(|error| {
                assert_eq!(error.kind(), ErrorKind::Conflict);
                error.message().to_owned()
            })
            .collect();
        assert_eq!(told.is_empty(), expected.is_none(), "{key}: {told:?}");
        assert!(
            expected.is_none_or(|expected| told.iter().any(|told| told.contains(expected))),
            "{key}: {told:?}"
        );
    }
}

#[test]
fn items_fit_their_columns() {
    let relation = |name: &str, inverse: &str| json!({"name": name, "type": "relation", "targetCollectionId": id(2), "inverseKey": inverse});
    let mut space = space();
    let columns = json!([relation("By", "wrote"), relation("Editor", "edited"), {"name": "Site", "type": "url"}, {"name": "Mail", "type": "email"}, {"name": "Phone", "type": "phone"}, {"name": "Tags", "type": "multiSelect", "options": [{"name": "old"}]}]);
    space.replace(id(1), json!({"name": "Books", "properties": columns}), false).unwrap();
    change(&mut space, id(1), "by", |end| end.single = true);
    change(&mut space, id(2), "wrote", |end| end.single = true);
    for book in [10, 11] {
        space.add(id(book), id(1));
    }
    for person in [20, 21] {
        space.add(id(person), id(2));
    }
    // Who is related to another by another column is no rival.
    let editor = PropertyValue::Relations(vec![id(20)]);
    space.items.get_mut(&id(11)).unwrap().values.set("editor", Some(editor));
    let people =
        |people: &[u8]| PropertyValue::Relations(people.iter().map(|person| id(*person)).collect());
    let text = |text: &str| PropertyValue::Text(text.into());
    for (key, value, fits) in [
        ("by", people(&[20]), true),
        ("by", people(&[20, 21]), false),
        ("by", people(&[10]), false),
        ("editor", people(&[20, 21]), true),
        ("site", text("https://a.example"), true),
        ("site", text("no address"), false),
        ("mail", text("ada@a.example"), true),
        ("mail", text("ada"), false),
        ("phone", text("+49 30 123456"), true),
        ("tags", PropertyValue::Options(vec!["old".into()]), true),
        ("tags", PropertyValue::Options(vec!["new".into()]), false),
    ] {
        let mut space = space.clone();
        space.items.get_mut(&id(10)).unwrap().values.set(key, Some(value.clone()));
        let told =
            ConstraintCheck::new(&space)
                .item(id(10), id(1), &space.items[&id(10)].values, &|_| true);
        assert_eq!(told.is_ok(), fits, "{key} {value:?}: {told:?}");
    }
    // And another book by the one who is taken is.
    let mut space = space.clone();
    for book in [10, 11] {
        space.items.get_mut(&id(book)).unwrap().values.set("by", Some(people(&[20])));
    }
    ConstraintCheck::new(&space)
        .item(id(10), id(1), &space.items[&id(10)].values, &|_| true)
        .unwrap_err();
}
