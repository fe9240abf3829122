//! Random queries beside a plain filter and sort of what `items` shows, while items, relations and
//! schemas change.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use leafbase::DeleteItems;
use leafbase_test_outline::Numbers;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use super::scene::{Scene, options};

const WORDS: [&str; 10] =
    ["", "apple", "Apple", "apples", "b", "B", "-3", "2", "2.5", "2026-03-02"];
const DAYS: [&str; 4] = ["2026-03-01", "2026-03-02", "2026-03-03", "0000-01-01"];
const OPTIONS: [&str; 3] = ["todo", "done", "Later"];

fn pick<T: Clone>(numbers: &mut Numbers<'_>, from: &[T]) -> T {
    from[numbers.below(from.len())].clone()
}

fn some<T: Clone>(numbers: &mut Numbers<'_>, from: &[T], most: usize) -> Vec<T> {
    let mut left = from.to_vec();
    let count = numbers.below(most.min(from.len()) + 1);
    (0..count).map(|_| left.remove(numbers.below(left.len()))).collect()
}

fn number(numbers: &mut Numbers<'_>) -> Value {
    pick(numbers, &[json!(-3), json!(0), json!(-0.0), json!(2), json!(2.5), json!(1e300)])
}

fn ids(items: &[Value]) -> Vec<Value> {
    items.iter().map(|item| item["id"].clone()).collect()
}

/// The two collections as they are shown.
struct Shown {
    schema: Value,
    things: Vec<Value>,
    people: Vec<Value>,
}

impl Shown {
    fn of(scene: &Scene) -> Self {
        let (things, people) = (scene.items(scene.things), scene.items(scene.people));
        Self { schema: scene.schema(scene.things), things, people }
    }

    fn properties(&self) -> &Vec<Value> {
        self.schema["properties"].as_array().unwrap()
    }

    fn type_of(&self, key: &str) -> &str {
        let found = self.properties().iter().find(|property| property["key"] == key);
        found.map_or("text", |property| property["type"].as_str().unwrap())
    }

    /// The IDs that a relation may have.
    fn targets(&self, key: &str) -> Vec<Value> {
        ids(if key == "owner" { &self.people } else { &self.things })
    }

    fn value(&self, numbers: &mut Numbers<'_>, key: &str) -> Value {
        match self.type_of(key) {
            _ if numbers.once_in(4) => Value::Null,
            "number" => number(numbers),
            "boolean" => json!(numbers.once_in(2)),
            "date" => json!(pick(numbers, &DAYS)),
            "singleSelect" => json!(pick(numbers, &OPTIONS)),
            "multiSelect" => json!(some(numbers, &OPTIONS, 3)),
            "relation" => json!(some(numbers, &self.targets(key), 3)),
            "text" => json!(pick(numbers, &WORDS)),
            _ => Value::Null,
        }
    }

    fn values(&self, numbers: &mut Numbers<'_>) -> Value {
        let keys: Vec<_> =
            self.properties().iter().map(|property| property["key"].as_str().unwrap()).collect();
        let chosen = some(numbers, &keys, 7);
        Value::Object(
            chosen
                .iter()
                .map(|key| ((*key).to_owned(), self.value(numbers, key)))
                .collect::<Map<_, _>>(),
        )
    }

    fn key(&self, numbers: &mut Numbers<'_>) -> String {
        let keys = self
            .properties()
            .iter()
            .map(|property| property["key"].as_str().unwrap())
            .chain(["name"]);
        pick(numbers, &keys.collect::<Vec<_>>()).to_owned()
    }

    fn condition(&self, numbers: &mut Numbers<'_>) -> Value {
        let key = self.key(numbers);
        if numbers.once_in(6) {
            return json!({"property": key, pick(numbers, &["isEmpty", "isNotEmpty"]): numbers.once_in(2)});
        }
        let kind = self.type_of(&key).to_owned();
        let operators: &[&str] = match kind.as_str() {
            "number" => &[
                "equals",
                "notEquals",
                "greaterThan",
                "greaterThanOrEqual",
                "lessThan",
                "lessThanOrEqual",
                "anyOf",
            ],
            "date" => {
                &["equals", "notEquals", "before", "after", "onOrBefore", "onOrAfter", "anyOf"]
            }
            "boolean" => &["equals", "notEquals"],
            "singleSelect" => &["equals", "notEquals", "anyOf"],
            "multiSelect" | "relation" => &["equals", "notEquals", "contains", "anyOf", "allOf"],
            _ => &["equals", "notEquals", "contains", "startsWith", "anyOf"],
        };
        let operator = pick(numbers, operators);
        let one = |numbers: &mut Numbers<'_>| match kind.as_str() {
            "number" => number(numbers),
            "date" => json!(pick(numbers, &DAYS)),
            "boolean" => json!(numbers.once_in(2)),
            "singleSelect" | "multiSelect" => json!(pick(numbers, &OPTIONS)),
            "relation" => self
                .targets(&key)
                .get(numbers.below(4))
                .cloned()
                .unwrap_or(json!("01ARZ3NDEKTSV4RRFFQ69G5FAV")),
            _ => json!(pick(numbers, &WORDS)),
        };
        let is_set = kind == "multiSelect" || kind == "relation";
        let operand = if operator == "anyOf" || (is_set && operator != "contains") {
            let mut all: Vec<_> = (0..numbers.below(3)).map(|_| one(numbers)).collect();
            all.dedup();
            json!(all)
        } else if kind == "relation" {
            json!([one(numbers)])
        } else {
            one(numbers)
        };
        json!({"property": key, operator: operand})
    }

    fn filter(&self, numbers: &mut Numbers<'_>, depth: usize) -> Value {
        let each = |numbers: &mut Numbers<'_>| {
            (0..numbers.below(3)).map(|_| self.filter(numbers, depth - 1)).collect::<Vec<_>>()
        };
        match numbers.below(6) {
            0 if depth > 0 => json!({"or": each(numbers)}),
            1 if depth > 0 => json!({"not": self.filter(numbers, depth - 1)}),
            2 | 3 if depth > 0 => json!({"and": each(numbers)}),
            _ => self.condition(numbers),
        }
    }

    fn sort(&self, numbers: &mut Numbers<'_>) -> Value {
        let sortable = |key: &String| !matches!(self.type_of(key), "multiSelect" | "relation");
        let keys: Vec<_> =
            (0..numbers.below(3)).map(|_| self.key(numbers)).filter(sortable).collect();
        let directions = ["ascending", "descending"];
        let sort =
            |key: &String| json!({"property": key, "direction": directions[numbers.below(2)]});
        json!(keys.iter().map(sort).collect::<Vec<_>>())
    }
}

/// The value of a thing under a key: an empty text is none, a relation its IDs.
fn value(item: &Value, key: &str) -> Option<Value> {
    let value = if key == "name" { &item["name"] } else { &item["properties"][key] };
    match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::Object(relation) => {
            let items = relation["relations"].as_array().unwrap();
            Some(items.iter().map(|item| item["blockId"].clone()).collect())
        }
        value => Some(value.clone()),
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The words of these tests are folded by their case alone.
fn folded(value: &Value) -> String {
    value.as_str().unwrap().to_lowercase()
}

/// What the documentation says of filters, said once more over JSON.
fn meets(shown: &Shown, filter: &Value, item: &Value) -> bool {
    if let Some(all) = filter.get("and") {
        return array(all).iter().all(|filter| meets(shown, filter, item));
    }
    if let Some(any) = filter.get("or") {
        return array(any).iter().any(|filter| meets(shown, filter, item));
    }
    if let Some(filter) = filter.get("not") {
        return !meets(shown, filter, item);
    }
    let key = filter["property"].as_str().unwrap();
    let (operator, operand) =
        filter.as_object().unwrap().iter().find(|(name, _)| *name != "property").unwrap();
    let (kind, value) = (shown.type_of(key), value(item, key));
    match operator.as_str() {
        "isEmpty" => return value.is_none() == operand.as_bool().unwrap(),
        "isNotEmpty" => return value.is_some() == operand.as_bool().unwrap(),
        _ => {}
    }
    if kind == "multiSelect" || kind == "relation" {
        let found = value.as_ref().map_or(&[][..], array);
        let wanted =
            if operand.is_array() { array(operand) } else { std::slice::from_ref(operand) };
        let (has_all, has_any) = (
            wanted.iter().all(|one| found.contains(one)),
            wanted.iter().any(|one| found.contains(one)),
        );
        let is_just = has_all && found.iter().all(|one| wanted.contains(one));
        return match operator.as_str() {
            "equals" => is_just,
            "notEquals" => !is_just,
            "allOf" => has_all,
            _ => has_any,
        };
    }
    let equal = |operand: &Value| match &value {
        None => operand == "",
        Some(value) => compare(shown, key, value, operand).is_eq(),
    };
    match operator.as_str() {
        "equals" => equal(operand),
        "notEquals" => !equal(operand),
        "anyOf" => array(operand).iter().any(equal),
        operator => value.is_some_and(|value| match operator {
            "contains" => folded(&value).contains(&folded(operand)),
            "startsWith" => folded(&value).starts_with(&folded(operand)),
            "greaterThan" | "after" => compare(shown, key, &value, operand).is_gt(),
            "greaterThanOrEqual" | "onOrAfter" => compare(shown, key, &value, operand).is_ge(),
            "lessThan" | "before" => compare(shown, key, &value, operand).is_lt(),
            _ => compare(shown, key, &value, operand).is_le(),
        }),
    }
}

fn compare(shown: &Shown, key: &str, one: &Value, other: &Value) -> Ordering {
    match shown.type_of(key) {
        "number" => one.as_f64().unwrap().partial_cmp(&other.as_f64().unwrap()).unwrap(),
        "boolean" => one.as_bool().cmp(&other.as_bool()),
        "singleSelect" => {
            let property =
                shown.properties().iter().find(|property| property["key"] == key).unwrap();
            let place = |name: &Value| {
                array(&property["options"]).iter().position(|option| option["name"] == *name)
            };
            place(one).cmp(&place(other))
        }
        _ => folded(one).cmp(&folded(other)),
    }
}

fn ordered(shown: &Shown, sorts: &Value, one: &Value, other: &Value) -> Ordering {
    for sort in array(sorts) {
        let key = sort["property"].as_str().unwrap();
        let ordering = match (value(one, key), value(other, key)) {
            (Some(one), Some(other)) if sort["direction"] == "descending" => {
                compare(shown, key, &other, &one)
            }
            (Some(one), Some(other)) => compare(shown, key, &one, &other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
    let by_id = one["id"].as_str().cmp(&other["id"].as_str());
    if array(sorts).first().is_some_and(|sort| sort["direction"] == "descending") {
        by_id.reverse()
    } else {
        by_id
    }
}

/// Both zeros are one value.
fn name(value: &Value) -> String {
    if value.as_f64() == Some(0.0) { "0".to_owned() } else { value.to_string() }
}

/// How many of these have each value, by its JSON.
fn grouped(items: &[&Value], key: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for item in items {
        match value(item, key) {
            Some(Value::Array(values)) => {
                values.iter().for_each(|value| *counts.entry(value.to_string()).or_default() += 1)
            }
            found => *counts.entry(name(&found.unwrap_or_default())).or_default() += 1,
        }
    }
    counts
}

fn ask(scene: &Scene, shown: &Shown, numbers: &mut Numbers<'_>) -> TestCaseResult {
    let (filter, sorts) = (shown.filter(numbers, 2), shown.sort(numbers));
    let mut expected: Vec<_> =
        shown.things.iter().filter(|item| meets(shown, &filter, item)).collect();
    let key = shown.key(numbers);
    let counted = scene.count(scene.things, &json!({"filter": filter, "groupBy": key})).unwrap();
    let value = |group: &Value| {
        if group["value"].is_object() {
            name(&group["value"]["blockId"])
        } else {
            name(&group["value"])
        }
    };
    let groups = array(&counted["groups"])
        .iter()
        .map(|group| (value(group), group["count"].as_u64().unwrap()))
        .collect();
    prop_assert_eq!(grouped(&expected, &key), groups, "{} {}", &filter, key);
    prop_assert_eq!(counted["count"].as_u64(), u64::try_from(expected.len()).ok());

    expected.sort_by(|one, other| ordered(shown, &sorts, one, other));
    let expected: Vec<_> = expected.into_iter().cloned().collect();
    let fields = json!({"filter": filter, "sort": sorts});
    let limit = pick(numbers, &[1, 2, 3, 5, 100]);
    prop_assert_eq!(
        scene.pages(scene.things, &fields, limit),
        expected,
        "{} by {}",
        &fields,
        limit
    );
    Ok(())
}

fn change_schema(scene: &Scene, shown: &Shown, numbers: &mut Numbers<'_>) {
    let mut schema = shown.schema.clone();
    let properties = schema["properties"].as_array_mut().unwrap();
    let find = |properties: &[Value], key: &str| {
        properties.iter().position(|property| property["key"] == key)
    };
    match numbers.below(4) {
        0 => {
            for key in ["state", "tags"] {
                let place = find(properties, key).unwrap();
                properties[place]["options"].as_array_mut().unwrap().rotate_left(1);
            }
        }
        1 => {
            let place = find(properties, "size").unwrap();
            properties[place]["type"] = json!(pick(numbers, &["number", "text", "date"]));
        }
        2 => match find(properties, "note") {
            Some(place) => drop(properties.remove(place)),
            None => properties
                .push(json!({"key": "note", "name": "Note", "type": pick(numbers, &["text", "date", "boolean"])})),
        },
        _ => {
            let place = find(properties, "state").unwrap();
            let is_single = properties[place]["type"] == "singleSelect";
            let kind = if is_single { "multiSelect" } else { "singleSelect" };
            properties[place] = json!({"key": "state", "name": "State", "type": kind, "options": options()});
        }
    }
    scene.replace(scene.things, &schema);
}

fn change(scene: &Scene, shown: &Shown, numbers: &mut Numbers<'_>) {
    match numbers.below(7) {
        0 | 1 => {
            let items: Vec<_> = (0..=numbers.below(5))
                .map(
                    |_| json!({"name": pick(numbers, &WORDS), "properties": shown.values(numbers)}),
                )
                .collect();
            scene.add(scene.things, &items);
        }
        2 => drop(scene.add(scene.people, &[json!({"title": "Ada"})])),
        // From the other end.
        3 if !shown.people.is_empty() => {
            let owns = some(numbers, &ids(&shown.things), 4);
            let person = pick(numbers, &ids(&shown.people));
            scene.update(scene.people, &person, &json!({"owns": owns})).unwrap();
        }
        4 => change_schema(scene, shown, numbers),
        5 if numbers.once_in(2) => {
            let (things, people) =
                (some(numbers, &ids(&shown.things), 2), some(numbers, &ids(&shown.people), 1));
            for (collection, gone) in [(scene.things, things), (scene.people, people)] {
                let gone =
                    gone.iter().map(|id| id.as_str().unwrap().parse().unwrap()).collect::<Vec<_>>();
                scene.notes.delete_items(DeleteItems::new(collection, gone)).unwrap();
            }
        }
        _ => {
            for thing in some(numbers, &ids(&shown.things), 3) {
                scene.update(scene.things, &thing, &shown.values(numbers)).unwrap();
            }
        }
    }
}

const STEPS: usize = 12;

/// `spoil` may change what queries are compared with.
fn run(cases: u32, spoil: fn(&mut Shown)) -> Result<(), String> {
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let asked = Cell::new(0);
    let outcome = runner.run(&proptest::collection::vec(any::<u32>(), 1_500), |tape| {
        let (scene, mut numbers) = (Scene::new(), Numbers::new(&tape));
        for _ in 0..STEPS {
            change(&scene, &Shown::of(&scene), &mut numbers);
            let mut shown = Shown::of(&scene);
            spoil(&mut shown);
            for _ in 0..3 {
                ask(&scene, &shown, &mut numbers)?;
                asked.set(asked.get() + usize::from(shown.things.len() > 3));
            }
        }
        let report = scene.notes.space().check().unwrap();
        prop_assert!(report.is_clean(), "{:?}", report);
        Ok(())
    });
    assert!(
        outcome.is_err() || asked.get() > usize::try_from(cases).unwrap() * STEPS,
        "few queries met items: {}",
        asked.get()
    );
    outcome.map_err(|error| error.to_string().chars().take(2_000).collect())
}

#[test]
fn queries_answer_as_a_plain_filter_and_sort_do() {
    run(150, |_| {}).unwrap();
}

/// Control: an item that only one of both knows is noticed.
#[test]
fn an_item_that_is_left_out_is_noticed() {
    assert!(run(150, |shown| drop(shown.things.pop())).is_err());
}
