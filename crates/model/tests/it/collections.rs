//! Requests and replies of collections as JSON.

use leafbase_model::json::FromJson;
use leafbase_model::{
    AddItems, Block, BlockData, Collection, CollectionSchema, Content, ContentProperty, CountItems,
    CreateCollection, DeleteItems, DocumentFilterMode, DocumentId, GetItems, GetSchema, GroupValue,
    Item, ItemCounts, ItemDraft, ItemFilter, ItemGroup, ItemUpdate, ItemValue, ItemValues,
    ListCollections, Operator, Position, Properties, PropertyDraft, PropertyKind, PropertyValue,
    QueryItems, RelatedItem, ReplaceSchema, Schema, SchemaDraft, SchemaFormat, SchemaReply, Sort,
    UpdateItems,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::support::id;
use crate::wire::without_known_fields;

const C: &str = "00000000000000000000000007";
const A: &str = "0000000000000000000000000A";

fn document() -> DocumentId {
    DocumentId::of_root(id(10))
}

/// `request` is written as `json`, and read from it.
fn both<T: FromJson + Serialize + PartialEq + std::fmt::Debug>(request: &T, json: Value) {
    assert_eq!(serde_json::to_value(request).unwrap(), json);
    assert_eq!(&T::from_json(json).unwrap(), request);
}

#[test]
fn requests_are_read_as_they_are_written() {
    let schema = || SchemaDraft::new("Chores", [PropertyDraft::new("Due", PropertyKind::Date)]);
    let schema_json = json!({"name": "Chores", "properties": [{"name": "Due", "type": "date"}]});
    both(&ListCollections::default(), json!({}));
    both(&ListCollections::of([document()]), json!({"documentIds": [A]}));
    let all_but = ListCollections {
        mode: Some(DocumentFilterMode::Exclude),
        ..ListCollections::of([document()])
    };
    both(&all_but, json!({"documentIds": [A], "documentFilterMode": "exclude"}));
    both(
        &CreateCollection::new(schema(), Position::end_of(id(10))),
        json!({"schema": schema_json, "position": {"position": "end", "pageId": A}}),
    );
    both(
        &GetSchema::new(id(7), SchemaFormat::Schema),
        json!({"collectionId": C, "format": "schema"}),
    );
    both(&ReplaceSchema::new(id(7), schema()), json!({"collectionId": C, "schema": schema_json}));
    both(
        &ReplaceSchema::new(id(7), schema()).dropping_unconvertible(),
        json!({"collectionId": C, "schema": schema_json, "dropUnconvertible": true}),
    );
    both(&GetItems::of(id(7)), json!({"collectionId": C}));
    both(
        &GetItems::of(id(7)).depth(0).limit(5).after("x"),
        json!({"collectionId": C, "maxDepth": 0, "limit": 5, "cursor": "x"}),
    );
    let item = ItemDraft::new("Sweep")
        .with("due", "today")
        .with_content([BlockData::text("stairs").into()]);
    let item_json = json!({"title": "Sweep", "properties": {"due": "today"}, "content": [{"type": "text", "inlineMarkdown": "stairs"}]});
    both(&AddItems::new(id(7), [item.clone()]), json!({"collectionId": C, "items": [item_json]}));
    both(
        &AddItems::new(id(7), [item]).allowing_new_select_options(),
        json!({"collectionId": C, "items": [item_json], "allowNewSelectOptions": true}),
    );
    both(
        &UpdateItems::new(id(7), [ItemUpdate::of(id(10)).with_title("Mop").with("due", ())]),
        json!({"collectionId": C, "itemsToUpdate": [{"id": A, "title": "Mop", "properties": {"due": null}}]}),
    );
    both(&DeleteItems::new(id(7), [id(10)]), json!({"collectionId": C, "idsToDelete": [A]}));
    let filter = ItemFilter::on("due", Operator::OnOrBefore, "today").or(ItemFilter::on(
        "due",
        Operator::IsEmpty,
        true,
    )
    .negated());
    let filter_json = json!({"or": [{"property": "due", "onOrBefore": "today"}, {"not": {"property": "due", "isEmpty": true}}]});
    both(
        &QueryItems::of(id(7))
            .filtered(filter.clone())
            .sorted(Sort::descending("due"))
            .sorted(Sort::ascending("a"))
            .depth(1)
            .limit(2),
        json!({"collectionId": C, "filter": filter_json, "sort": [{"property": "due", "direction": "descending"}, {"property": "a"}],
            "maxDepth": 1, "limit": 2}),
    );
    both(
        &CountItems::of(id(7)).filtered(filter).grouped_by("due"),
        json!({"collectionId": C, "filter": filter_json, "groupBy": "due"}),
    );
}

#[test]
fn defaults_and_other_forms() {
    let read = |json| QueryItems::from_json(json).unwrap();
    assert_eq!(
        read(
            json!({"collectionId": C, "sort": {"property": "due", "direction": "ascending"}, "maxDepth": -1})
        ),
        QueryItems::of(id(7)).sorted(Sort::ascending("due"))
    );
    assert_eq!(
        GetSchema::from_json(json!({"collectionId": C})).unwrap().format,
        SchemaFormat::JsonSchemaItems
    );
    assert_eq!(
        DeleteItems::from_json(json!({"collectionId": C, "idsToDelete": A})).unwrap(),
        DeleteItems::new(id(7), [id(10)])
    );
    assert_eq!(ItemDraft::from_json(json!({})).unwrap(), ItemDraft::default());
    let nowhere = json!({"schema": {"name": "B", "properties": []}});
    let position: Position = serde_json::from_value(json!({})).unwrap();
    assert_eq!(CreateCollection::from_json(nowhere).unwrap().position, position);
}

#[test]
fn what_does_not_fit_is_named() {
    fn fault<T: FromJson + std::fmt::Debug>(json: Value) -> String {
        T::from_json(json).unwrap_err().to_string()
    }
    let query = |filter| fault::<QueryItems>(json!({"collectionId": C, "filter": filter}));
    let operators = "equals, notEquals, contains, startsWith, before, after, onOrBefore, onOrAfter, greaterThan, \
        greaterThanOrEqual, lessThan, lessThanOrEqual, isEmpty, isNotEmpty, anyOf, allOf";
    let deep =
        (0..17).fold(json!({"property": "a", "equals": 1}), |filter, _| json!({"not": filter}));
    for (found, expected) in [
        (
            fault::<ListCollections>(json!({"documentFilterMode": "both"})),
            "documentFilterMode: unknown document filter mode \"both\", expected one of include, exclude",
        ),
        (
            fault::<GetItems>(json!({"maxDepth": 0})),
            "collectionId: the field `collectionId` is missing",
        ),
        (
            fault::<AddItems>(json!({"collectionId": C, "items": [{}], "dropUnconvertible": true})),
            "dropUnconvertible: unknown field `dropUnconvertible`",
        ),
        (
            fault::<AddItems>(json!({"collectionId": C, "items": [{"properties": []}]})),
            "items[0].properties: expected an object, got an array",
        ),
        (
            fault::<AddItems>(json!({"collectionId": C, "items": [{}, {"content": [{}]}]})),
            "items[1].content[0].type: the field `type` is missing",
        ),
        (
            fault::<UpdateItems>(json!({"collectionId": C, "itemsToUpdate": [{}]})),
            "itemsToUpdate[0].id: the field `id` is missing",
        ),
        (
            fault::<DeleteItems>(json!({"collectionId": C})),
            "idsToDelete: the field `idsToDelete` is missing",
        ),
        (
            fault::<ReplaceSchema>(json!({"collectionId": C, "schema": {}})),
            "schema.name: the field `name` is missing",
        ),
        (query(json!([])), "filter: expected an object, got an array"),
        (
            query(json!({"and": [{"or": [], "not": {}}]})),
            "filter.and[0]: name exactly one of and, or, not and a property",
        ),
        (query(json!({"or": {}})), "filter.or: expected an array, got an object"),
        (query(json!({"and": [], "property": "a"})), "filter.property: unknown field `property`"),
        (query(json!({"equals": 1})), "filter.property: the field `property` is missing"),
        (query(json!({"property": "a", "like": 1})), "filter.like: unknown field `like`"),
        (
            query(json!({"not": {"property": "a"}})),
            &format!("filter.not: name exactly one of {operators}"),
        ),
        (
            query(json!({"property": "a", "equals": 1, "isEmpty": true})),
            &format!("filter: name exactly one of {operators}"),
        ),
        (
            query(deep),
            &format!("filter{}: nesting of a filter: at most 16, got 17", ".not".repeat(17)),
        ),
        (
            fault::<QueryItems>(
                json!({"collectionId": C, "sort": [{"property": "a", "direction": "up"}]}),
            ),
            r#"sort[0].direction: unknown direction "up", expected one of ascending, descending"#,
        ),
    ] {
        assert_eq!(without_known_fields(&found), expected);
    }
}

fn json(reply: &impl Serialize) -> Value {
    serde_json::to_value(reply).unwrap()
}

#[test]
fn replies() {
    let related = || RelatedItem { block_id: id(10), title: "Ann".into() };
    let item = Item {
        id: id(7),
        rev: 3,
        content_key: "name".into(),
        title: "Dune".into(),
        properties: ItemValues::from_iter([
            ("pages", ItemValue::Value(PropertyValue::Number(412.0))),
            ("author", ItemValue::Relations(vec![related()])),
        ]),
        content: Content::Blocks(Vec::<Block>::new()),
    };
    assert_eq!((item.related("author"), item.related("pages").len()), (&[related()][..], 0));
    let schema = Schema {
        key: "books".into(),
        name: "Books".into(),
        content: ContentProperty { key: "name".into(), name: "Name".into() },
        properties: vec![],
    };
    let schema_json = json!({"key": "books", "name": "Books", "contentPropDetails": {"key": "name", "name": "Name"}, "properties": []});
    let bare = Item { properties: ItemValues::default(), content: Content::None, ..item.clone() };
    let cut = Item { content: Content::Preview("Arrakis".into()), ..bare.clone() };
    let group = |value, count| ItemGroup { value, count };
    let groups = vec![
        group(Some(GroupValue::Value(PropertyValue::Text("open".into()))), 2),
        group(Some(GroupValue::Related(related())), 1),
        group(None, 3),
    ];
    for (reply, expected) in [
        (
            json(&item),
            json!({"id": C, "name": "Dune",
                "properties": {"pages": 412, "author": {"relations": [{"blockId": A, "title": "Ann"}]}}, "content": [], "rev": 3}),
        ),
        (json(&bare), json!({"id": C, "name": "Dune", "properties": {}, "rev": 3})),
        (
            json(&cut),
            json!({"id": C, "name": "Dune", "properties": {}, "contentPreview": "Arrakis", "rev": 3}),
        ),
        (
            json(&Collection {
                id: id(7),
                name: "Books".into(),
                item_count: 3,
                document_id: document(),
            }),
            json!({"id": C, "name": "Books", "itemCount": 3, "documentId": A}),
        ),
        (
            json(&CollectionSchema { id: id(7), name: "Books".into(), schema: schema.clone() }),
            json!({"id": C, "collectionBlockId": C, "name": "Books", "schema": schema_json}),
        ),
        (json(&SchemaReply::Schema(schema)), schema_json.clone()),
        (json(&SchemaReply::JsonSchema(json!({"type": "object"}))), json!({"type": "object"})),
        (json(&ItemCounts { count: 6, groups: None }), json!({"count": 6})),
        (
            json(&ItemCounts { count: 6, groups: Some(groups) }),
            json!({"count": 6, "groups": [{"value": "open", "count": 2},
                {"value": {"blockId": A, "title": "Ann"}, "count": 1}, {"value": null, "count": 3}]}),
        ),
    ] {
        assert_eq!(reply, expected);
    }
}

/// In whichever order values come, the last of a key counts.
#[test]
fn values_of_an_item_lie_in_the_order_of_their_keys() {
    let number = |number| PropertyValue::Number(number);
    let given = [("b", 1.0), ("a", 2.0), ("c", 3.0), ("b", 4.0)];
    let read: Properties =
        given.iter().map(|(key, value)| ((*key).to_owned(), number(*value))).collect();
    let mut set = Properties::default();
    set.apply(given.iter().map(|(key, value)| ((*key).to_owned(), Some(number(*value)))));
    assert_eq!(read, set);
    assert_eq!(
        read.iter().collect::<Vec<_>>(),
        [("a", &number(2.0)), ("b", &number(4.0)), ("c", &number(3.0))]
    );

    set.set("b", None);
    assert_eq!((set.get("b"), set.get("c")), (None, Some(&number(3.0))));
    assert_eq!(set.take("a"), Some(("a".to_owned(), number(2.0))));
    assert_eq!((set.take("a"), set.iter().count()), (None, 1));
}
