//! Queries: the plan and what is left of the filter give what a plain filter and sort give, and
//! keys sort as values do.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use leafbase_collections::{
    AccessPath, ColumnRef, Groups, IndexRange, IndexStatistics, ItemQuery, OrderKey,
    QueryPageBuilder, QueryPlan, QueryRow, SORT_KEY_BYTES, TEXT_BYTES, ValueReader, fold,
    index_keys, plan, sort_key,
};
use leafbase_model::{
    BlockId, Day, ItemFilter, Limits, Properties, PropertyKind, PropertyValue, Result, Schema,
    SelectOption, Sort,
};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;
use serde_json::{Value, json};

use crate::support::{fails, id, run, schema};

/// An item of a query's tests.
#[derive(Clone, Debug)]
struct Item {
    id: BlockId,
    title: String,
    values: Properties,
}

impl Item {
    fn row(&self) -> QueryRow<'_> {
        QueryRow { id: self.id, title: &self.title, values: &self.values }
    }

    fn get(&self, column: &ColumnRef) -> Option<PropertyValue> {
        let value = match column {
            ColumnRef::Title => Some(PropertyValue::Text(self.title.clone())),
            ColumnRef::Property(key) => self.values.get(key).cloned(),
        };
        value.filter(|value| *value != PropertyValue::Text(String::new()))
    }
}

fn things() -> Schema {
    let options = json!([{"name": "todo"}, {"name": "done"}, {"name": "Later"}]);
    schema(json!({"name": "Things", "properties": [
        {"name": "Note", "type": "text"}, {"name": "Size", "type": "number"}, {"name": "Done", "type": "boolean"},
        {"name": "Due", "type": "date"}, {"name": "State", "type": "select", "options": options},
        {"name": "Plan", "type": "select", "options": plans().map(|name| json!({"name": name}))},
        {"name": "Tags", "type": "multiSelect", "options": options},
        {"name": "Peers", "type": "relation", "targetCollectionId": id(1), "inverseKey": "peers"}]}))
}

/// Options of a select: two pairs have one index key each.
fn plans() -> [String; 5] {
    let long = "x".repeat(TEXT_BYTES + 1);
    ["a\u{1}b".into(), long.clone() + "1", "a\0b".into(), "b".into(), long + "2"]
}

/// Indexes as a store would keep them: keys followed by IDs, in order.
struct Indexes<'a> {
    schema: &'a Schema,
    items: &'a [Item],
    indexed: bool,
}

impl Indexes<'_> {
    fn rows(&self, column: &ColumnRef) -> Vec<(Vec<u8>, &Item)> {
        let kind = match column {
            ColumnRef::Title => &PropertyKind::Text,
            ColumnRef::Property(key) => &self.schema.property(key).unwrap().kind,
        };
        let mut rows = Vec::new();
        for item in self.items {
            let keys = item.get(column).map(|value| index_keys(kind, &value)).unwrap_or_default();
            rows.extend(
                keys.into_iter().map(|key| ([key, item.id.to_bytes().to_vec()].concat(), item)),
            );
        }
        rows.sort_by(|one, other| one.0.cmp(&other.0));
        rows
    }

    /// The rows of an access, in its order.
    fn read(&self, access: &AccessPath) -> Vec<&Item> {
        match access {
            AccessPath::All => self.items.iter().rev().collect(),
            AccessPath::Related { key, items } => {
                let is_related = |item: &&Item| match item.values.get(key) {
                    Some(PropertyValue::Relations(found)) => {
                        found.iter().any(|found| items.contains(found))
                    }
                    _ => false,
                };
                self.items.iter().filter(is_related).collect()
            }
            AccessPath::Index { column, ranges, backwards, then_empty } => {
                let rows = self.rows(column);
                let mut found = Vec::new();
                for range in ranges {
                    let mut some: Vec<_> = rows
                        .iter()
                        .filter(|(key, _)| range.contains(key))
                        .map(|(_, item)| *item)
                        .collect();
                    if *backwards {
                        some.reverse();
                    }
                    found.extend(some);
                }
                if *then_empty {
                    found.extend(self.items.iter().rev().filter(|item| item.get(column).is_none()));
                }
                found
            }
        }
    }
}

impl IndexStatistics for Indexes<'_> {
    fn is_indexed(&self, column: &ColumnRef) -> bool {
        self.indexed && *column != ColumnRef::Property("done".into())
    }

    fn count(&self, column: &ColumnRef, range: &IndexRange, at_most: usize) -> Result<usize> {
        Ok(self.rows(column).iter().filter(|(key, _)| range.contains(key)).count().min(at_most))
    }

    fn items(&self) -> Result<u64> {
        Ok(u64::try_from(self.items.len()).unwrap())
    }
}

fn words() -> impl Strategy<Value = String> {
    select(vec![
        "",
        "apple",
        "Apple",
        "ápple",
        "A\u{301}pple",
        "banana",
        "b",
        "Z",
        "ζ",
        "ς",
        "Σ",
        "\0",
        "\u{1}",
        "a\0b",
        "a",
    ])
    .prop_map(str::to_owned)
}

fn long_words() -> impl Strategy<Value = String> {
    prop_oneof![
        5 => words(),
        1 => (250..260_usize, words()).prop_map(|(length, end)| "x".repeat(length) + &end),
    ]
}

fn days() -> impl Strategy<Value = Day> {
    prop_oneof![
        (0..4_i64).prop_map(|day| Day::from_epoch_days(20_000 + day)),
        (-719_528..2_932_896_i64).prop_map(Day::from_epoch_days)
    ]
}

fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        select(vec![0.0, -0.0, 1.0, -1.0, 2.5, 1e300, -1e300, 5e-324, f64::MAX, f64::MIN]),
        -3.0..3.0_f64
    ]
}

const OPTIONS: [&str; 3] = ["todo", "done", "Later"];

fn items() -> impl Strategy<Value = Vec<Item>> {
    let value = (
        proptest::option::of(long_words()),
        proptest::option::of(numbers()),
        proptest::option::of(any::<bool>()),
        proptest::option::of(days()),
        proptest::option::of(select(OPTIONS.to_vec())),
        proptest::sample::subsequence(OPTIONS.to_vec(), 0..=3),
        proptest::sample::subsequence(vec![id(1), id(2), id(3)], 0..=2),
        words(),
        proptest::option::of(select(plans().to_vec())),
    );
    proptest::collection::vec(value, 0..24).prop_map(|all| {
        let item =
            |(number, (note, size, done, due, state, tags, peers, title, plan)): (usize, _)| {
                let mut values = Properties::default();
                values.set("note", Option::<String>::map(note, PropertyValue::Text));
                values.set("size", Option::<f64>::map(size, PropertyValue::Number));
                values.set("done", Option::<bool>::map(done, PropertyValue::Boolean));
                values.set("due", Option::<Day>::map(due, PropertyValue::Date));
                values.set(
                    "state",
                    Option::<&str>::map(state, |name| PropertyValue::Text(name.to_owned())),
                );
                let tags: Vec<String> = Vec::<&str>::into_iter(tags).map(str::to_owned).collect();
                values.set("tags", (!tags.is_empty()).then_some(PropertyValue::Options(tags)));
                values.set("plan", Option::<String>::map(plan, PropertyValue::Text));
                let peers: Vec<BlockId> = peers;
                values.set("peers", (!peers.is_empty()).then_some(PropertyValue::Relations(peers)));
                Item { id: id(100 + u8::try_from(number).unwrap()), title, values }
            };
        all.into_iter().enumerate().map(item).collect()
    })
}

fn conditions() -> BoxedStrategy<Value> {
    let text = (
        select(vec!["title", "note"]),
        select(vec!["equals", "notEquals", "contains", "startsWith"]),
        long_words(),
    )
        .prop_map(|(key, operator, word)| json!({"property": key, operator: word}));
    let texts = (select(vec!["title", "note"]), proptest::collection::vec(long_words(), 0..3))
        .prop_map(|(key, words)| json!({"property": key, "anyOf": words}));
    let number = (
        select(vec![
            "equals",
            "notEquals",
            "greaterThan",
            "greaterThanOrEqual",
            "lessThan",
            "lessThanOrEqual",
        ]),
        numbers(),
    )
        .prop_map(|(operator, number)| json!({"property": "size", operator: number}));
    let day =
        (select(vec!["equals", "notEquals", "before", "after", "onOrBefore", "onOrAfter"]), days())
            .prop_map(|(operator, day)| json!({"property": "due", operator: day}));
    let days = proptest::collection::vec(days(), 0..3)
        .prop_map(|days| json!({"property": "due", "anyOf": days}));
    let boolean = (select(vec!["equals", "notEquals"]), any::<bool>())
        .prop_map(|(operator, value)| json!({"property": "done", operator: value}));
    let names = || proptest::sample::subsequence(OPTIONS.to_vec(), 0..=3);
    let option = names().prop_map(|names| json!({"property": "state", "anyOf": names}));
    let plan = proptest::sample::subsequence(plans().to_vec(), 0..=3)
        .prop_map(|names| json!({"property": "plan", "anyOf": names}));
    let tags = (select(vec!["equals", "notEquals", "anyOf", "allOf"]), names())
        .prop_map(|(operator, names)| json!({"property": "tags", operator: names}));
    let tag =
        select(OPTIONS.to_vec()).prop_map(|name| json!({"property": "tags", "contains": name}));
    let peers = (
        select(vec!["equals", "notEquals", "anyOf", "allOf"]),
        proptest::sample::subsequence(vec![id(1), id(2), id(3)], 0..=2),
    )
        .prop_map(|(operator, peers)| json!({"property": "peers", operator: peers}));
    let empty = (
        select(vec!["title", "note", "size", "done", "due", "state", "plan", "tags", "peers"]),
        select(vec!["isEmpty", "isNotEmpty"]),
        any::<bool>(),
    )
        .prop_map(|(key, operator, flag)| json!({"property": key, operator: flag}));
    prop_oneof![text, texts, number, day, days, boolean, option, plan, tags, tag, peers, empty]
        .boxed()
}

fn filters() -> impl Strategy<Value = Value> {
    conditions().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            3 => proptest::collection::vec(inner.clone(), 0..3).prop_map(|all| json!({"and": all})),
            1 => proptest::collection::vec(inner.clone(), 0..3).prop_map(|any| json!({"or": any})),
            1 => inner.prop_map(|filter| json!({"not": filter})),
        ]
    })
}

fn sorts() -> impl Strategy<Value = Vec<Sort>> {
    let keys = vec!["title", "note", "size", "done", "due", "state", "plan"];
    let sort = (select(keys), any::<bool>());
    let sort = sort
        .prop_map(|(key, down)| if down { Sort::descending(key) } else { Sort::ascending(key) });
    proptest::collection::vec(sort, 0..3)
}

/// The meaning of a filter said once more, over JSON and without indexes.
fn meets(filter: &Value, item: &Item) -> bool {
    let each = |filters: &Value| filters.as_array().unwrap().clone();
    if let Some(all) = filter.get("and") {
        return each(all).iter().all(|filter| meets(filter, item));
    }
    if let Some(any) = filter.get("or") {
        return each(any).iter().any(|filter| meets(filter, item));
    }
    if let Some(filter) = filter.get("not") {
        return !meets(filter, item);
    }
    let key = filter["property"].as_str().unwrap();
    let column = if key == "title" { ColumnRef::Title } else { ColumnRef::Property(key.into()) };
    let (operator, operand) =
        filter.as_object().unwrap().iter().find(|(name, _)| *name != "property").unwrap();
    let value = item.get(&column);
    let flag = operand.as_bool();
    match operator.as_str() {
        "isEmpty" => return value.is_none() == flag.unwrap(),
        "isNotEmpty" => return value.is_some() == flag.unwrap(),
        _ => {}
    }
    let ids = |value: &Value| {
        each(value).iter().map(|name| name.as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
    };
    match (key, operator.as_str()) {
        ("tags" | "peers", operator) => {
            let found: BTreeSet<String> = match value {
                Some(PropertyValue::Options(names)) => names.into_iter().collect(),
                Some(PropertyValue::Relations(items)) => {
                    items.iter().map(BlockId::to_string).collect()
                }
                _ => BTreeSet::new(),
            };
            match operator {
                "equals" => found == ids(operand),
                "notEquals" => found != ids(operand),
                "anyOf" => !found.is_disjoint(&ids(operand)),
                "allOf" => found.is_superset(&ids(operand)),
                _ => found.contains(operand.as_str().unwrap()),
            }
        }
        (_, "notEquals") => !equal(key, value.as_ref(), operand),
        (_, "equals") => equal(key, value.as_ref(), operand),
        (_, "anyOf") => each(operand).iter().any(|operand| equal(key, value.as_ref(), operand)),
        (_, operator) => match value {
            Some(PropertyValue::Text(text)) => {
                let (text, part) = (fold(&text), fold(operand.as_str().unwrap()));
                if operator == "contains" { text.contains(&part) } else { text.starts_with(&part) }
            }
            Some(PropertyValue::Number(number)) => {
                compares(operator, number.partial_cmp(&operand.as_f64().unwrap()).unwrap())
            }
            Some(PropertyValue::Date(day)) => {
                compares(operator, day.to_string().as_str().cmp(operand.as_str().unwrap()))
            }
            _ => false,
        },
    }
}

fn equal(key: &str, value: Option<&PropertyValue>, operand: &Value) -> bool {
    match value {
        Some(PropertyValue::Text(text)) if ["state", "plan"].contains(&key) => {
            text == operand.as_str().unwrap()
        }
        Some(PropertyValue::Text(text)) => fold(text) == fold(operand.as_str().unwrap()),
        Some(PropertyValue::Number(number)) => Some(*number) == operand.as_f64(),
        Some(PropertyValue::Boolean(value)) => Some(*value) == operand.as_bool(),
        Some(PropertyValue::Date(day)) => Some(day.to_string().as_str()) == operand.as_str(),
        _ => operand.as_str() == Some(""),
    }
}

fn compares(operator: &str, ordering: Ordering) -> bool {
    match operator {
        "greaterThan" | "after" => ordering.is_gt(),
        "greaterThanOrEqual" | "onOrAfter" => ordering.is_ge(),
        "lessThan" | "before" => ordering.is_lt(),
        _ => ordering.is_le(),
    }
}

/// The order of values said once more: no values last.
fn compare(key: &str, one: &PropertyValue, other: &PropertyValue) -> Ordering {
    match (one, other) {
        (PropertyValue::Text(one), PropertyValue::Text(other)) if key == "state" => {
            let place = |name: &str| OPTIONS.iter().position(|option| *option == name);
            place(one).cmp(&place(other))
        }
        (PropertyValue::Text(one), PropertyValue::Text(other)) if key == "plan" => {
            let options = plans();
            let place = |name: &String| options.iter().position(|option| option == name);
            place(one).cmp(&place(other))
        }
        (PropertyValue::Text(one), PropertyValue::Text(other)) => {
            let (one, other) = (fold(one).into_bytes(), fold(other).into_bytes());
            let cut = |text: &[u8]| {
                (text.iter().copied().take(TEXT_BYTES).collect::<Vec<_>>(), text.len() > TEXT_BYTES)
            };
            cut(&one).cmp(&cut(&other))
        }
        (PropertyValue::Number(one), PropertyValue::Number(other)) => {
            one.partial_cmp(other).unwrap()
        }
        (PropertyValue::Boolean(one), PropertyValue::Boolean(other)) => one.cmp(other),
        (PropertyValue::Date(one), PropertyValue::Date(other)) => one.cmp(other),
        _ => Ordering::Equal,
    }
}

fn ordered(sorts: &[Sort], one: &Item, other: &Item) -> Ordering {
    use leafbase_model::Direction::Descending;
    for sort in sorts {
        let column = if sort.property == "title" {
            ColumnRef::Title
        } else {
            ColumnRef::Property(sort.property.clone())
        };
        let ordering = match (one.get(&column), other.get(&column)) {
            (Some(one), Some(other)) if sort.direction == Descending => {
                compare(&sort.property, &other, &one)
            }
            (Some(one), Some(other)) => compare(&sort.property, &one, &other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
    let ids = one.id.cmp(&other.id);
    if sorts.first().is_some_and(|sort| sort.direction == Descending) { ids.reverse() } else { ids }
}

fn naive(filter: Option<&Value>, sorts: &[Sort], items: &[Item]) -> Vec<BlockId> {
    let mut found: Vec<_> =
        items.iter().filter(|item| filter.is_none_or(|filter| meets(filter, item))).collect();
    found.sort_by(|one, other| ordered(sorts, one, other));
    found.iter().map(|item| item.id).collect()
}

fn read(schema: &Schema, filter: Option<&Value>, sorts: &[Sort]) -> Result<ItemQuery> {
    let limits = Limits::default();
    let values =
        ValueReader { today: "2026-03-01".parse().unwrap(), limits: &limits, new_options: true };
    let filter: Option<ItemFilter> =
        filter.map(|filter| serde_json::from_value(filter.clone()).unwrap());
    ItemQuery::new(schema, filter.as_ref(), sorts, values)
}

/// All pages, each by a plan of its own, and how many rows were looked at.
fn paged(
    query: &ItemQuery,
    indexes: &Indexes<'_>,
    limit: Option<usize>,
) -> (Vec<BlockId>, usize, Vec<QueryPlan>) {
    let (mut found, mut looked, mut plans, mut after) =
        (Vec::new(), 0, Vec::new(), None::<OrderKey>);
    loop {
        let plan = plan(query, indexes, limit, after.as_ref()).unwrap();
        let mut page = QueryPageBuilder::new(query, &plan, limit, after);
        for item in indexes.read(&plan.access) {
            looked += 1;
            if !page.push(item.row()).may_change {
                break;
            }
        }
        let kept: BTreeSet<_> = page.kept().collect();
        plans.push(plan);
        let part = page.finish();
        assert!(
            part.items.iter().all(|id| kept.contains(id)) && kept.len() <= part.items.len() + 1
        );
        found.extend(part.items);
        match part.next {
            // A cursor goes through its text.
            Some(next) => after = Some(next.to_string().parse().unwrap()),
            None => return (found, looked, plans),
        }
    }
}

type Case = (Vec<Item>, Option<Value>, Vec<Sort>, Option<usize>, bool);

fn cases() -> impl Strategy<Value = Case> {
    (
        items(),
        proptest::option::weighted(0.8, filters()),
        sorts(),
        proptest::option::of(1..6_usize),
        proptest::bool::weighted(0.85),
    )
}

/// `spoil` may change the plans' ground: the indexes' items.
fn differ(
    (items, filter, sorts, limit, indexed): Case,
    spoil: fn(&mut Vec<Item>),
    seen: &[Cell<usize>; 4],
) -> TestCaseResult {
    let schema = things();
    let query = read(&schema, filter.as_ref(), &sorts).unwrap();
    let expected = naive(filter.as_ref(), &sorts, &items);
    let mut kept = items;
    spoil(&mut kept);
    let (found, _, plans) =
        paged(&query, &Indexes { schema: &schema, items: &kept, indexed }, limit);
    prop_assert_eq!(&found, &expected, "{:?}", plans);
    for plan in plans {
        let kind = match plan.access {
            AccessPath::All => 0,
            AccessPath::Index { .. } if plan.is_sorted => 1,
            AccessPath::Index { .. } => 2,
            AccessPath::Related { .. } => 3,
        };
        seen[kind].set(seen[kind].get() + 1);
    }
    Ok(())
}

#[test]
fn plans_answer_as_a_plain_filter_and_sort_do() {
    let seen = [const { Cell::new(0) }; 4];
    run(8_000, &cases(), |case| differ(case, |_| {}, &seen)).unwrap();
    assert!(seen.iter().all(|count| count.get() > 100), "{seen:?}");
}

/// Control: an item that the indexes do not have is noticed.
#[test]
fn a_missing_item_is_noticed() {
    let seen = [const { Cell::new(0) }; 4];
    assert!(fails(8_000, &cases(), |case| differ(case, |items| drop(items.pop()), &seen)));
}

#[test]
fn keys_sort_as_values_do() {
    let values = prop_oneof![
        (long_words(), long_words()).prop_map(|(one, other)| (
            "note",
            PropertyValue::Text(one),
            PropertyValue::Text(other)
        )),
        (select(OPTIONS.to_vec()), select(OPTIONS.to_vec())).prop_map(|(one, other)| (
            "state",
            PropertyValue::Text(one.into()),
            PropertyValue::Text(other.into())
        )),
        (numbers(), numbers()).prop_map(|(one, other)| (
            "size",
            PropertyValue::Number(one),
            PropertyValue::Number(other)
        )),
        (any::<f64>(), any::<f64>())
            .prop_filter("numbers are finite", |(one, other)| one.is_finite() && other.is_finite())
            .prop_map(|(one, other)| (
                "size",
                PropertyValue::Number(one),
                PropertyValue::Number(other)
            )),
        (days(), days()).prop_map(|(one, other)| (
            "due",
            PropertyValue::Date(one),
            PropertyValue::Date(other)
        )),
        (any::<bool>(), any::<bool>()).prop_map(|(one, other)| (
            "done",
            PropertyValue::Boolean(one),
            PropertyValue::Boolean(other)
        )),
    ];
    let schema = things();
    run(20_000, &values, |(key, one, other)| {
        let kind = &schema.property(key).unwrap().kind;
        let (Some(first), Some(second)) = (sort_key(kind, &one), sort_key(kind, &other)) else {
            return Ok(());
        };
        prop_assert_eq!(first.cmp(&second), compare(key, &one, &other));
        prop_assert!(
            first.len() <= SORT_KEY_BYTES && (first == second || !second.starts_with(&first))
        );
        let index = |value| index_keys(kind, value).pop().unwrap();
        prop_assert_eq!(index(&one) == index(&other), first == second);
        Ok(())
    })
    .unwrap();
}

/// 1,000 items of which 20 are asked for.
#[test]
fn a_page_looks_at_few_rows() {
    let schema = things();
    let item = |number: u16| {
        let mut bytes = [0; 16];
        bytes[14..].copy_from_slice(&number.to_be_bytes());
        let state = OPTIONS[usize::from(number % 3)];
        let values = [
            ("size".to_owned(), PropertyValue::Number(f64::from(number * 7 % 1_000))),
            ("state".to_owned(), PropertyValue::Text(state.to_owned())),
            (
                "tags".to_owned(),
                PropertyValue::Options(vec![if number < 5 { "Later" } else { "todo" }.to_owned()]),
            ),
            ("done".to_owned(), PropertyValue::Boolean(number.is_multiple_of(2))),
        ];
        Item {
            id: BlockId::from_bytes(bytes),
            title: format!("{number:04}"),
            values: values.into_iter().collect(),
        }
    };
    let items: Vec<_> = (0..1_000).map(item).collect();
    let indexes = Indexes { schema: &schema, items: &items, indexed: true };
    for (filter, sorts, most) in [
        (None, vec![Sort::ascending("size")], 22),
        (None, vec![Sort::descending("state")], 22),
        (None, vec![Sort::descending("state"), Sort::ascending("size")], 335),
        (Some(json!({"property": "size", "lessThan": 30})), vec![Sort::descending("size")], 22),
        (Some(json!({"property": "state", "equals": "done"})), vec![Sort::ascending("title")], 70),
        (Some(json!({"property": "tags", "contains": "Later"})), vec![Sort::ascending("title")], 5),
        // A range with two ends, most of the collection on either side of it.
        (
            Some(
                json!({"and": [{"property": "size", "greaterThan": 500}, {"property": "size", "lessThan": 511}]}),
            ),
            vec![Sort::ascending("title")],
            10,
        ),
        (
            Some(
                json!({"and": [{"property": "done", "equals": true}, {"property": "title", "startsWith": "00"}]}),
            ),
            vec![],
            100,
        ),
        (Some(json!({"property": "due", "isEmpty": true})), vec![], 1_000),
        // Of one value, by ID.
        (Some(json!({"property": "state", "equals": "done"})), vec![], 22),
        (
            Some(
                json!({"and": [{"property": "state", "equals": "done"}, {"property": "size", "lessThan": 500}]}),
            ),
            vec![],
            50,
        ),
        (
            Some(
                json!({"and": [{"property": "tags", "contains": "todo"}, {"property": "tags", "contains": "Later"}]}),
            ),
            vec![],
            5,
        ),
    ] {
        let query = read(&schema, filter.as_ref(), &sorts).unwrap();
        let plan = plan(&query, &indexes, Some(20), None).unwrap();
        let mut page = QueryPageBuilder::new(&query, &plan, Some(20), None);
        let looked = indexes
            .read(&plan.access)
            .iter()
            .position(|item| !page.push(item.row()).may_change)
            .map_or_else(|| indexes.read(&plan.access).len(), |place| place + 1);
        assert!(looked <= most, "{filter:?} {sorts:?} looked at {looked} rows by {plan:?}");
        assert_eq!(
            page.finish().items,
            naive(filter.as_ref(), &sorts, &items)
                [..20.min(naive(filter.as_ref(), &sorts, &items).len())]
        );
    }
}

#[test]
fn most_of_a_collection_is_read_without_an_index() {
    let schema = things();
    let item = |number: u16| {
        let mut bytes = [0; 16];
        bytes[14..].copy_from_slice(&number.to_be_bytes());
        let values = [("size".to_owned(), PropertyValue::Number(f64::from(number)))];
        Item {
            id: BlockId::from_bytes(bytes),
            title: String::new(),
            values: values.into_iter().collect(),
        }
    };
    let items: Vec<_> = (0..1_000).map(item).collect();
    let indexes = Indexes { schema: &schema, items: &items, indexed: true };
    let below = |size: u16| Some(json!({"property": "size", "lessThan": size}));
    let by_size = || vec![Sort::ascending("size")];
    for (filter, sorts, limit, is_indexed) in [
        (below(250), vec![], None, true),
        (below(251), vec![], Some(20), false),
        (below(250), by_size(), None, true),
        (below(251), by_size(), None, false),
        (None, by_size(), Some(250), true),
        (None, by_size(), Some(251), false),
        (None, by_size(), None, false),
    ] {
        let query = read(&schema, filter.as_ref(), &sorts).unwrap();
        let plan = plan(&query, &indexes, limit, None).unwrap();
        assert_eq!(plan.access != AccessPath::All, is_indexed, "{filter:?} {sorts:?} {limit:?}");
    }
}

#[test]
fn a_later_page_does_not_read_the_ones_before() {
    let schema = things();
    let item = |number: u8| {
        let values = [("state".to_owned(), PropertyValue::Text("done".to_owned()))];
        Item { id: id(number), title: String::new(), values: values.into_iter().collect() }
    };
    let items: Vec<_> = (1..=200).map(item).collect();
    let indexes = Indexes { schema: &schema, items: &items, indexed: true };
    let done = json!({"property": "state", "equals": "done"});
    for (filter, sorts) in [
        (None, vec![Sort::ascending("state")]),
        (None, vec![Sort::descending("state")]),
        (Some(done), vec![]),
    ] {
        let query = read(&schema, filter.as_ref(), &sorts).unwrap();
        let (found, looked, _) = paged(&query, &indexes, Some(10));
        assert_eq!(found.len(), 200);
        assert!(looked < 300, "{looked}");
    }
}

/// What may be asked of things.
const KNOWN: &str = ", expected one of note, size, done, due, state, plan, tags, peers, title";

#[test]
fn what_does_not_fit_is_named() {
    let schema = things();
    for (filter, sorts, message) in [
        (
            json!({"property": "x", "equals": 1}),
            vec![],
            r#"filter.property: the collection has no property "x""#,
        ),
        (
            json!({"and": [{"property": "due", "isEmpty": true}, {"not": {"property": "due", "before": "soon"}}]}),
            vec![],
            r#"filter.and[1].not.before: expected a day YYYY-MM-DD, got "soon""#,
        ),
        (
            json!({"property": "size", "contains": "1"}),
            vec![],
            "filter.contains: a property of type number cannot be compared by contains",
        ),
        (
            json!({"property": "size", "anyOf": [1, "2"]}),
            vec![],
            r#"filter.anyOf[1]: expected a number, got "2""#,
        ),
        (
            json!({"property": "done", "anyOf": [true]}),
            vec![],
            "filter.anyOf: a property of type boolean cannot be compared by anyOf",
        ),
        (
            json!({"or": [{"property": "state", "anyOf": ["todo", "gone"]}]}),
            vec![],
            r#"filter.or[0].anyOf[1]: expected one of "todo", "done", "Later", got "gone""#,
        ),
        (
            json!({"property": "tags", "contains": ["todo", "done"]}),
            vec![],
            "filter.contains: expected one, got an array",
        ),
        (
            json!({"property": "title", "startsWith": 1}),
            vec![],
            "filter.startsWith: expected text, got 1",
        ),
        (
            json!({"property": "due", "isEmpty": 1}),
            vec![],
            "filter.isEmpty: expected true or false, got 1",
        ),
        (
            json!({"and": []}),
            vec![Sort::ascending("x")],
            r#"sort[0].property: the collection has no property "x""#,
        ),
        (
            json!({"and": []}),
            vec![Sort::ascending("size"), Sort::ascending("tags")],
            "sort[1].property: items cannot be sorted by a property of type multiSelect",
        ),
    ] {
        let error = read(&schema, Some(&filter), &sorts).unwrap_err().to_string();
        assert_eq!(error.replace(KNOWN, ""), message);
    }
    let deep = (0..20_000).fold(ItemFilter::And(vec![]), |filter, _| filter.negated());
    let limits = Limits::default();
    let values =
        ValueReader { today: "2026-03-01".parse().unwrap(), limits: &limits, new_options: false };
    let error = ItemQuery::new(&schema, Some(&deep), &[], values).unwrap_err();
    assert_eq!(error.message(), "nesting of a filter: at most 16, got 17");
    std::mem::forget(deep);
    assert_eq!("zz".parse::<OrderKey>().unwrap_err().path(), "cursor");
}

#[test]
fn groups_are_counted_in_order() {
    let schema = things();
    let item = |number: u8, properties: Value| {
        let limits = Limits::default();
        let values = ValueReader {
            today: "2026-03-01".parse().unwrap(),
            limits: &limits,
            new_options: false,
        };
        let mut kept = Properties::default();
        kept.apply(values.read_all(&schema, properties.as_object().unwrap()).unwrap());
        Item {
            id: id(number),
            title: ["b", "B", "a", ""][usize::from(number)].into(),
            values: kept,
        }
    };
    let items = [
        item(
            0,
            json!({
                "state": "done", "tags": ["Later", "todo"], "size": 2, "peers": [id(7)],
                "note": "", "plan": plans()[2]
            }),
        ),
        item(1, json!({"state": "todo", "tags": ["todo"], "size": -1, "plan": plans()[0]})),
        item(2, json!({"state": "done", "size": 2, "due": "today"})),
        item(3, json!({"done": false})),
    ];
    let related = json!({"blockId": id(7), "title": ""});
    for (key, expected) in [
        ("state", json!([["todo", 1], ["done", 2], [null, 1]])),
        ("plan", json!([[plans()[0], 1], [plans()[2], 1], [null, 2]])),
        ("tags", json!([["todo", 2], ["Later", 1], [null, 2]])),
        ("size", json!([[-1, 1], [2, 2], [null, 1]])),
        ("title", json!([["a", 1], ["B", 1], ["b", 1], [null, 1]])),
        ("note", json!([[null, 4]])),
        ("done", json!([[false, 1], [null, 3]])),
        ("due", json!([["2026-03-01", 1], [null, 3]])),
        ("peers", json!([[related, 1], [null, 3]])),
    ] {
        let mut groups = Groups::new(&schema, key).unwrap();
        assert_eq!(groups.relation_needed().is_some(), key == "peers");
        let indexes = |indexed| Indexes { schema: &schema, items: &items, indexed };
        let counted = groups.of_all(&indexes(true)).unwrap();
        assert_eq!(
            counted.is_some(),
            key == "state",
            "there is no index of {key}, or its values are not known"
        );
        assert_eq!(groups.of_all(&indexes(false)).unwrap(), None);
        for item in &items {
            groups.add(item.row()).unwrap();
        }
        let groups = groups.finish();
        assert!(counted.is_none_or(|counted| counted == groups), "{key}");
        let found: Vec<_> = groups.iter().map(|group| json!([group.value, group.count])).collect();
        assert_eq!(json!(found), expected, "{key}");
    }
    let error = Groups::new(&schema, "x").unwrap_err();
    let expected = format!(r#"groupBy: the collection has no property "x"{KNOWN}"#);
    assert_eq!(error.to_string(), expected);
}

#[test]
fn options_have_the_order_of_the_schema() {
    let options = ["b", "a"].map(SelectOption::new).to_vec();
    let key = |name: &str| {
        sort_key(&PropertyKind::SingleSelect(options.clone()), &PropertyValue::Text(name.into()))
    };
    assert!(key("b") < key("a") && key("a") < key("gone"));
}
