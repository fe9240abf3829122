//! The JSON Schema that is emitted says what our own check says, with another implementation as the
//! judge.

use std::cell::Cell;

use leafbase_collections::{
    AddedItem, ValueReader, complete, items_schema, read_added, read_updated,
};
use leafbase_model::json::FromJson;
use leafbase_model::{
    AddItems, BlockDraft, BlockId, BlockType, Error, ErrorKind, Limits, PropertyChange,
    PropertyValue, Result, Schema, SchemaDraft, UpdateItems,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::support::{fails, run};

/// Small ones, so that values pass them.
fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.block_text, limits.attribute, limits.title) = (24, 24, 12);
    (limits.select_options, limits.blocks_per_request) = (4, 3);
    limits
}

/// One way of a request to be wrong, or none.
fn verdict(schema: &Schema, new_options: bool, body: &Value) -> Result<()> {
    let limits = limits();
    let values = ValueReader { today: "2026-03-01".parse().unwrap(), limits: &limits, new_options };
    let mut content = Vec::new();
    let changes: Vec<Vec<PropertyChange>> = if body.get("itemsToUpdate").is_some() {
        let read =
            read_updated(schema, UpdateItems::from_json(body.clone())?.items_to_update, values)?;
        read.items.into_iter().map(|item| item.changes).collect()
    } else {
        let read = read_added(schema, AddItems::from_json(body.clone())?.items, values)?;
        let mut taken_apart = |item: AddedItem| {
            content.extend(item.content);
            item.changes
        };
        read.items.into_iter().map(&mut taken_apart).collect()
    };
    check_content(content)?;
    // Every ID exists in these tests but one that is malformed.
    let is_missing = |change: &PropertyChange| match &change.1 {
        Some(PropertyValue::Relations(items)) => items.contains(&BlockId::NIL),
        _ => false,
    };
    if changes.iter().flatten().any(is_missing) { Err(Error::no_collection()) } else { Ok(()) }
}

/// The rule of the block operations on which types they make.
fn check_content(mut waiting: Vec<BlockDraft>) -> Result<()> {
    while let Some(draft) = waiting.pop() {
        let (data, content) = draft.into_parts();
        if matches!(data.block_type(), BlockType::Collection | BlockType::CollectionItem) {
            return Err(Error::rule("is made by an operation of its own"));
        }
        waiting.extend(content);
    }
    Ok(())
}

/// What is wrong if the JSON Schema and our own check do not agree. What is past a limit only our
/// check can tell.
fn disagreement(
    emitted: &Value,
    schema: &Schema,
    new_options: bool,
    body: &Value,
) -> Option<String> {
    let validator = jsonschema::draft202012::new(emitted).unwrap();
    let told =
        validator.validate(body).map_err(|error| format!("{} at {}", error, error.instance_path()));
    match (verdict(schema, new_options, body), told) {
        (Ok(()), Ok(())) | (Err(_), Err(_)) => None,
        (Err(error), Ok(())) if error.kind() == ErrorKind::LimitExceeded => None,
        (ours, told) => {
            Some(format!("we say {ours:?}, the JSON Schema {told:?}\nof {body}\nwith {emitted:#}"))
        }
    }
}

const NAMES: [&str; 5] = ["open", "shut", "a b", "Ä", "twelve chars"];
const IDS: [&str; 3] =
    ["01KASZ4ZJG0000000000000001", "01kasz4zjg0000000000000002", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"];

fn property() -> impl Strategy<Value = Value> {
    let name = select(vec!["Due", "State", "Title", "Name", "Größe", "x"]);
    let options = proptest::sample::subsequence(NAMES.to_vec(), 0..=3);
    let kind = select(vec![
        "text",
        "number",
        "boolean",
        "date",
        "url",
        "email",
        "phone",
        "singleSelect",
        "multiSelect",
        "relation",
    ]);
    (name, kind, options, any::<bool>()).prop_map(|(name, kind, options, single)| {
        let mut property = json!({"name": name, "type": kind});
        match kind {
            "singleSelect" | "multiSelect" => {
                property["options"] = options.iter().map(|name| json!({"name": name})).collect();
            }
            "relation" => {
                property["targetCollectionId"] = json!(IDS[0]);
                property["single"] = json!(single);
            }
            _ => {}
        }
        property
    })
}

fn schemas() -> impl Strategy<Value = Schema> {
    let properties = proptest::collection::vec(property(), 0..6);
    (select(vec!["title", "name", "x"]), properties).prop_map(|(content, properties)| {
        let draft = json!({"name": "Things", "contentPropDetails": {"name": content}, "properties": properties});
        complete(SchemaDraft::from_json(draft).unwrap(), &Limits::default()).unwrap()
    })
}

/// Values of all types, those at the borders among them.
fn any_value() -> impl Strategy<Value = Value> {
    let texts = prop_oneof![
        select(NAMES.to_vec()).prop_map(str::to_owned),
        select(IDS.to_vec()).prop_map(str::to_owned),
        select(vec![
            "",
            " ",
            "\u{2028}",
            "new one",
            "thirteen char",
            "https://a.example/b?c",
            "example.org",
            "a b",
            "a@b",
            "a@@b",
            "@",
            "a@b c",
            "+351 21 000",
            "1\n2",
            "today",
            "tomorrow",
            "yesterday",
            "Today",
            "2026-02-28",
            "2026-02-29",
            "2026-02-30",
            "2024-02-29",
            "1900-02-29",
            "2000-02-29",
            "2026-04-31",
            "2026-13-01",
            "2026-00-10",
            "2026-01-00",
            "2026-1-1",
            "26-01-01",
            "2026-01-01 ",
            "2026-01-01\n",
            "0000-02-29",
            "٢٠٢٦-٠١-٠١",
            "01KASZ4ZJG000000000000000",
            "01KASZ4ZJG000000000000000U",
            "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "true",
            "3",
            "äääääääääääääääää",
            "a text of more than 24 bytes",
            "null",
        ])
        .prop_map(str::to_owned),
        (0..=9_999_u16, 1..=13_u8, 0..=32_u8)
            .prop_map(|(year, month, day)| format!("{year:04}-{month:02}-{day:02}")),
    ];
    let numbers = select(vec![
        json!(0),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!(-0.0),
        json!(9_007_199_254_740_993_u64),
        json!(u64::MAX),
        json!(1_u64 << 60),
    ]);
    let scalar = prop_oneof![
        6 => texts.prop_map(Value::from),
        2 => numbers,
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    let listed = proptest::collection::vec(scalar.clone(), 0..5).prop_map(Value::from);
    let related = proptest::collection::vec(
        prop_oneof![
            6 => select(IDS.to_vec()).prop_map(|id| json!({"blockId": id})),
            1 => scalar.clone(),
            1 => scalar.clone().prop_map(|id| json!({"blockId": id})),
            2 => select(IDS.to_vec()).prop_map(|id| json!({"blockId": id, "title": "x"})),
            1 => scalar.clone().prop_map(|title| json!({"blockId": IDS[0], "title": title})),
            1 => Just(json!({"blockId": IDS[0], "name": "x"})),
        ],
        0..4,
    );
    prop_oneof![
        5 => scalar,
        2 => listed,
        2 => related.clone().prop_map(|items| json!({"relations": items})),
        1 => related.prop_map(Value::from),
        1 => Just(json!({})),
        1 => Just(json!({"relations": [], "more": 1})),
        1 => Just(json!({"relations": IDS[0]})),
    ]
}

/// Values that mostly fit the property.
fn value_of(kind: &str, options: &[String]) -> BoxedStrategy<Value> {
    let id = || select(IDS.to_vec());
    let good = match kind {
        "text" => select(vec!["", "two\nlines", "ä"]).prop_map(Value::from).boxed(),
        "number" => select(vec![json!(3), json!(-0.25), json!(1e300)]).boxed(),
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "date" => (0..3_000_000_i64)
            .prop_map(|days| json!(leafbase_model::Day::from_epoch_days(days - 700_000)))
            .boxed(),
        "url" => select(vec!["https://a.example", "example.org/ä"]).prop_map(Value::from).boxed(),
        "email" => Just(json!("anna@example.org")).boxed(),
        "phone" => Just(json!("+351 (0) 21 ext. 7")).boxed(),
        "singleSelect" if !options.is_empty() => {
            select(options.to_vec()).prop_map(Value::from).boxed()
        }
        "multiSelect" => {
            proptest::collection::vec(select([options, &["open".to_owned()]].concat()), 0..3)
                .prop_map(Value::from)
                .boxed()
        }
        "relation" => prop_oneof![
            id().prop_map(Value::from),
            proptest::collection::vec(id(), 0..3).prop_map(Value::from),
            id().prop_map(|id| json!({"relations": [{"blockId": id}]})),
            id().prop_map(|id| json!({"relations": [{"blockId": id, "title": "*Dune*"}]})),
        ]
        .boxed(),
        _ => Just(Value::Null).boxed(),
    };
    prop_oneof![9 => good, 1 => Just(Value::Null), 2 => any_value()].boxed()
}

fn properties_of(schema: &Schema) -> BoxedStrategy<Value> {
    let fields: Vec<_> = schema
        .properties
        .iter()
        .map(|property| {
            let names: Vec<_> =
                property.kind.options().iter().map(|option| option.name.clone()).collect();
            let value = value_of(property.kind.property_type().as_str(), &names);
            (Just(property.key.clone()), proptest::option::weighted(0.7, value))
        })
        .collect();
    let stray = proptest::option::weighted(
        0.05,
        (select(vec!["due", "Due", "title", "content", ""]), any_value()),
    );
    (fields, stray)
        .prop_map(|(fields, stray)| {
            let given = fields.into_iter().filter_map(|(key, value)| Some((key, value?)));
            let stray = stray.map(|(key, value)| (key.to_owned(), value));
            Value::Object(given.chain(stray).collect())
        })
        .boxed()
}

fn item_of(schema: &Schema, is_update: bool, index: usize) -> BoxedStrategy<Value> {
    let title = prop_oneof![8 => select(vec!["", "Dune", "ääääääääääää"]).prop_map(Value::from), 1 => any_value()];
    let named = (select(vec![schema.content.key.clone(), "title".into()]), title);
    let twice = proptest::bool::weighted(0.05);
    let content = prop_oneof![
        8 => Just(json!([])),
        4 => Just(json!([{"type": "text", "markdown": "x"}, {"type": "page", "content": []}])),
        1 => any_value(),
        1 => Just(json!([{"type": "tex"}])),
        2 => select(vec!["collection", "collectionItem", "table"]).prop_map(|name| json!([{"type": name}])),
        2 => select(vec!["collection", "collectionItem", "line", ""])
            .prop_map(|name| json!([{"type": "page", "content": [{"type": "text"}, {"type": name}]}])),
        1 => any_value().prop_map(|content| json!([{"type": "page", "content": content}])),
        1 => Just(json!([{"markdown": "x"}])),
    ];
    let content = proptest::option::weighted(if is_update { 0.03 } else { 0.4 }, content);
    let stray = proptest::option::weighted(0.04, select(vec!["due", "id", "rev", "Title"]));
    let properties = prop_oneof![20 => properties_of(schema), 1 => any_value()];
    let content_key = schema.content.key.clone();
    (
        proptest::option::of(named),
        twice,
        content,
        stray,
        proptest::option::weighted(0.9, properties),
    )
        .prop_map(move |(named, twice, content, stray, properties)| {
            let mut item = Map::new();
            if is_update {
                item.insert(
                    "id".into(),
                    json!(BlockId::from_bytes([u8::try_from(index).unwrap(); 16])),
                );
            }
            if let Some(name) = stray {
                // An ID that comes to nothing is another matter: see `verdict`.
                item.entry(name).or_insert(json!("x"));
            }
            if twice {
                item.insert(content_key.clone(), json!("one"));
                item.insert("title".into(), json!("two"));
            } else if let Some((key, title)) = named {
                item.insert(key, title);
            }
            item.extend(content.map(|content| ("content".to_owned(), content)));
            item.extend(properties.map(|properties| ("properties".to_owned(), properties)));
            Value::Object(item)
        })
        .boxed()
}

fn bodies(schema: &Schema) -> BoxedStrategy<Value> {
    let schema = schema.clone();
    any::<bool>()
        .prop_flat_map(move |is_update| {
            let items: Vec<_> = (1..=2).map(|index| item_of(&schema, is_update, index)).collect();
            let list = prop_oneof![30 => items.prop_map(Value::from), 1 => any_value()];
            let stray =
                proptest::option::weighted(0.03, select(vec!["blocks", "allowNewSelectOptions"]));
            (list, stray).prop_map(move |(list, stray)| {
                let name = if is_update { "itemsToUpdate" } else { "items" };
                let mut body =
                    json!({"collectionId": IDS[0], "allowNewSelectOptions": true, name: list});
                if let Some(stray) = stray {
                    body[stray] = json!("x");
                }
                body
            })
        })
        .boxed()
}

fn cases() -> impl Strategy<Value = (Schema, bool, Value)> {
    (schemas(), any::<bool>()).prop_flat_map(|(schema, new_options)| {
        let body = bodies(&schema);
        (Just(schema), Just(new_options), body)
    })
}

#[test]
fn the_emitted_schema_agrees_with_our_own_check() {
    let (taken, refused) = (Cell::new(0), Cell::new(0));
    run(3_000, &cases(), |(schema, new_options, body)| {
        let emitted = items_schema(&schema, new_options, &limits());
        prop_assert!(jsonschema::draft202012::meta::is_valid(&emitted), "{:#}", emitted);
        let found = disagreement(&emitted, &schema, new_options, &body);
        prop_assert!(found.is_none(), "{}", found.unwrap_or_default());
        let count = if verdict(&schema, new_options, &body).is_ok() { &taken } else { &refused };
        count.set(count.get() + 1);
        Ok(())
    })
    .unwrap();
    let (taken, refused) = (taken.get(), refused.get());
    assert!(taken > 600 && refused > 600, "one-sided cases: {taken} taken, {refused} refused");
}

/// A violation, and how it is made.
type Doctor = (&'static str, fn(&mut Value));

/// Control: each of these faults of an emitted schema is noticed.
#[test]
fn faults_of_an_emitted_schema_are_noticed() {
    let doctors: [Doctor; 8] = [
        ("any text is a day", |emitted| {
            drop(emitted["$defs"]["day"].as_object_mut().unwrap().remove("pattern"));
        }),
        ("other keys", |emitted| {
            emitted["$defs"]["properties"]["additionalProperties"] = json!(true);
        }),
        ("content in updates", |emitted| {
            emitted["$defs"]["itemToUpdate"]["additionalProperties"] = json!(true);
        }),
        ("collections in pages", |emitted| {
            emitted["$defs"]["block"]["properties"]["type"] = json!({"type": "string"});
        }),
        ("any blocks below blocks", |emitted| {
            drop(
                emitted["$defs"]["block"]["properties"].as_object_mut().unwrap().remove("content"),
            );
        }),
        ("no titles of related items", |emitted| {
            drop(
                emitted["$defs"]["relatedItem"]["properties"]
                    .as_object_mut()
                    .unwrap()
                    .remove("title"),
            );
        }),
        ("two titles", |emitted| {
            drop(emitted["$defs"]["itemToAdd"].as_object_mut().unwrap().remove("not"));
        }),
        ("any text is an ID", |emitted| {
            drop(emitted["$defs"]["blockId"].as_object_mut().unwrap().remove("pattern"));
        }),
    ];
    for (violation, doctor) in doctors {
        let is_noticed = fails(8_000, &cases(), |(schema, new_options, body)| {
            let mut emitted = items_schema(&schema, new_options, &limits());
            doctor(&mut emitted);
            prop_assert!(disagreement(&emitted, &schema, new_options, &body).is_none());
            Ok(())
        });
        assert!(is_noticed, "{violation}");
    }
}

#[test]
fn the_schema_of_a_small_collection() {
    let schema = crate::support::schema(json!({"name": "Chores", "properties": [
        {"name": "Due", "type": "date"}, {"name": "State", "type": "select", "options": [{"name": "open"}]}]}));
    let emitted = items_schema(&schema, false, &Limits::default());
    assert_eq!(
        emitted["$defs"]["properties"],
        json!({"type": "object", "additionalProperties": false, "properties": {
            "due": {"title": "Due", "$ref": "#/$defs/day"},
            "state": {"title": "State", "anyOf": [{"type": "null"}, {"enum": ["open"]}]},
        }})
    );
    assert_eq!(emitted["$defs"]["itemToUpdate"]["required"], json!(["id"]));
    assert_eq!(emitted["$schema"], json!("https://json-schema.org/draft/2020-12/schema"));
}
