//! Collections: properties, options, names, keys and values, and what a query may ask.

use leafbase::{Error, ItemDraft, ItemFilter, Limits, Operator, QueryItems};
use serde_json::{Value, json};

use super::around;
use super::asking::ask;
use crate::host::{Host, wrong};

fn send(host: &Host, operation: &str, body: &Value) -> Result<(), Error> {
    ask(&host.notes, operation, &body.to_string()).map(drop)
}

fn create(host: &Host, name: &str, properties: &Value) -> Result<(), Error> {
    let end = json!({"pageId": host.id("root").to_string(), "position": "end"});
    let schema = json!({"name": name, "properties": properties});
    send(host, "create_collection", &json!({"schema": schema, "position": end}))
}

fn replace(host: &Host, properties: &Value) -> Result<(), Error> {
    let schema = json!({"name": "collection", "properties": properties});
    send(
        host,
        "replace_schema",
        &json!({"collectionId": host.id("collection").to_string(), "schema": schema, "dropUnconvertible": true}),
    )
}

fn add(host: &Host, item: &Value) -> Result<(), Error> {
    let body = json!({"collectionId": host.id("collection").to_string(), "items": [item], "allowNewSelectOptions": true});
    send(host, "add_items", &body)
}

fn columns(count: usize) -> Value {
    (0..count).map(|number| json!({"name": format!("P{number}"), "type": "text"})).collect()
}

fn options(count: usize) -> Value {
    let options: Value = (0..count).map(|number| json!({"name": format!("o{number}")})).collect();
    json!([{"name": "Tags", "type": "multiSelect", "options": options}])
}

#[test]
fn properties_and_options() {
    let host = Host::new();
    around(&host.notes, 200, "schema.properties", |size| create(&host, "x", &columns(size)));
    around(&host.notes, 200, "schema.properties", |size| replace(&host, &columns(size)));
    around(&host.notes, 1_000, "schema.properties[0].options", |size| {
        create(&host, "x", &options(size))
    });
    around(&host.notes, 1_000, "schema.properties[0].options", |size| {
        replace(&host, &options(size))
    });
}

#[test]
fn options_that_items_bring() {
    let mut limits = Limits::default();
    limits.select_options = 5;
    let host = Host::with_limits(limits);
    replace(&host, &json!([{"name": "Tags", "type": "multiSelect"}, {"name": "State", "type": "singleSelect"}]))
        .unwrap();
    around(&host.notes, 5, "items[0].properties.tags", |size| {
        let names: Vec<String> = (0..size).map(|number| format!("o{number}")).collect();
        add(&host, &json!({"title": "x", "properties": {"tags": names}}))
    });
    let state = |name: &str| add(&host, &json!({"title": "x", "properties": {"state": name}}));
    for name in ["a", "b", "c", "d", "e"] {
        state(name).unwrap();
    }
    let before = host.notes.space().stats().unwrap();
    assert_eq!(wrong(&state("f").unwrap_err()), "LIMIT_EXCEEDED items[0].properties.state");
    assert_eq!(host.notes.space().stats().unwrap(), before);
}

#[test]
fn characters_of_names_and_keys() {
    let host = Host::new();
    let long = |size: usize| "x".repeat(size);
    around(&host.notes, 1_000, "schema.name", |size| create(&host, &"é".repeat(size), &json!([])));
    let schema_with = |properties: Value| replace(&host, &properties);
    around(&host.notes, 1_000, "schema.properties[0].name", |size| {
        schema_with(json!([{"key": "a", "name": "é".repeat(size), "type": "text"}]))
    });
    around(&host.notes, 1_000, "schema.properties[0].key", |size| {
        schema_with(json!([{"key": long(size), "name": "a", "type": "text"}]))
    });
    around(&host.notes, 1_000, "schema.properties[0].options[0].name", |size| {
        schema_with(
            json!([{"key": "s", "name": "a", "type": "singleSelect", "options": [{"name": "é".repeat(size)}]}]),
        )
    });
    around(&host.notes, 1_000, "items[0].title", |size| {
        add(&host, &json!({"title": "é".repeat(size)}))
    });
    around(&host.notes, 1_000, "items[0].properties.s", |size| {
        add(&host, &json!({"properties": {"s": long(size)}}))
    });
}

#[test]
fn lengths_of_values() {
    let mut limits = Limits::default();
    (limits.block_text, limits.attribute, limits.blocks_per_request) = (64, 48, 5);
    let host = Host::with_limits(limits);
    replace(
        &host,
        &json!([
            {"name": "Note", "type": "text"}, {"name": "Site", "type": "url"}, {"name": "Mail", "type": "email"},
            {"name": "Peers", "type": "relation", "targetCollectionId": "self"},
        ]),
    )
    .unwrap();
    let value =
        |key: &str, value: Value| add(&host, &json!({"title": "x", "properties": {key: value}}));
    around(&host.notes, 64, "items[0].properties.note", |size| {
        value("note", json!("x".repeat(size)))
    });
    around(&host.notes, 48, "items[0].properties.site", |size| {
        value("site", json!(format!("https://x.y/{}", "x".repeat(size - 12))))
    });
    around(&host.notes, 48, "items[0].properties.mail", |size| {
        value("mail", json!(format!("{}@x.example", "x".repeat(size - 10))))
    });
    let item = host.id("collectionItem").to_string();
    around(&host.notes, 5, "items[0].properties.peers", |size| {
        value("peers", json!(vec![&item; size]))
    });
}

#[test]
fn conditions_and_orders_of_a_query() {
    let host = Host::new();
    let collection = host.id("collection");
    let condition = || ItemFilter::on("title", Operator::Equals, "x");
    let ask = |filter: ItemFilter| {
        host.notes.query_items(QueryItems::of(collection).filtered(filter)).map(drop)
    };
    around(&host.notes, 200, "filter", |size| {
        ask(ItemFilter::And((0..size).map(|_| condition()).collect()))
    });
    around(&host.notes, 200, "filter", |size| {
        let pairs = (0..size / 2).map(|_| condition().and(condition()).negated());
        let last = (0..size % 2).map(|_| condition());
        ask(ItemFilter::Or(pairs.chain(last).collect()))
    });
    around(&host.notes, 200, "sort", |size| {
        let sort = vec![json!({"property": "title"}); size];
        send(&host, "query_items", &json!({"collectionId": collection.to_string(), "sort": sort}))
    });
    around(&host.notes, 16, &format!("filter{}", ".not".repeat(17)), |size| {
        ask((0..size).fold(condition(), |filter, _| filter.negated()))
    });
}

#[test]
fn values_that_items_are_counted_by() {
    let host = Host::new();
    replace(&host, &json!([{"name": "Size", "type": "number"}])).unwrap();
    let collection = host.id("collection");
    let add = |numbers: std::ops::Range<u32>| {
        let items = numbers.map(|number| ItemDraft::new("x").with("size", number));
        host.notes.add_items(leafbase::AddItems::new(collection, items)).unwrap();
    };
    let count = || {
        send(
            &host,
            "count_items",
            &json!({"collectionId": collection.to_string(), "groupBy": "size"}),
        )
    };
    // The item that the host has is without one.
    add(0..9_999);
    count().unwrap();
    add(9_999..10_000);
    count().unwrap();
    add(10_000..10_001);
    assert_eq!(wrong(&count().unwrap_err()), "LIMIT_EXCEEDED groupBy");
}
