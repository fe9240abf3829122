//! Queries over items: which are found, in which order, page by page, and how many.

#[path = "item_queries/random.rs"]
mod random;
#[path = "item_queries/scene.rs"]
mod scene;

use std::sync::Arc;

use leafbase::{BlockId, CountItems, DeleteItems, Direction, QueryItems, Sort, Space};
use leafbase_test_outline::SequentialIds;
use serde_json::{Value, json};

use crate::host::wrong;
use crate::stores::Wrapped;
use scene::{Scene, titles};

/// 30 things: `a` to `z`, `É` with one letter and `é` with two, `ZZ top` and one without a title.
/// What they have goes by their number, with gaps in every column.
fn thirty() -> (Scene, Vec<BlockId>) {
    let scene = Scene::new();
    let people =
        scene.add(scene.people, &["Ada", "Ben", "Cleo"].map(|name| json!({"title": name})));
    let title = |number: u8| match number {
        26 => "É".to_owned(),
        27 => "e\u{301}".to_owned(),
        28 => "ZZ top".to_owned(),
        29 => String::new(),
        _ => char::from(b'a' + number).to_string(),
    };
    let item = |number: u8| {
        let nth = |of: &[Value]| of[usize::from(number) % of.len()].clone();
        json!({"name": title(number), "properties": {
            "note": match number { 3 => json!("Straße"), 4 => json!("nota bene"), 5 => json!("NOTA"), 6 => json!(""), _ => Value::Null },
            "site": if number == 7 { json!("https://a.example/x") } else { Value::Null },
            "mail": if number == 8 { json!("ada@a.example") } else { Value::Null },
            "phone": if number == 9 { json!("+44 20 7946 0958") } else { Value::Null },
            "size": nth(&[json!(null), json!(1), json!(2), json!(2.5), json!(-3), json!(0), json!(40)]),
            "done": nth(&[json!(true), json!(false), json!(null)]),
            "due": nth(&[json!(null), json!("2026-03-03"), json!("2026-03-04"), json!("2026-03-05"), json!("2027-01-01")]),
            "state": nth(&[json!("todo"), json!("done"), json!("Later"), json!(null)]),
            "tags": nth(&[json!(["todo"]), json!(["Later", "todo"]), json!([]), json!(["done"])]),
            "owner": nth(&[json!([people[0]]), json!([people[1]]), json!([people[1], people[0]]), json!(null), json!(null), json!(null)]),
        }})
    };
    let things = scene.add(scene.things, &(0..30).map(item).collect::<Vec<_>>());
    for (one, others) in [(0, [1, 2]), (3, [0, 3])] {
        let others = others.map(|other: usize| things[other]);
        scene.update(scene.things, &json!(things[one]), &json!({"peers": others})).unwrap();
    }
    (scene, things)
}

/// Replaces `@Ada` and the like by IDs: titles of people and things.
fn with_ids(scene: &Scene, text: &str) -> Value {
    let mut text = text.to_owned();
    for item in scene.items(scene.people).iter().chain(&scene.items(scene.things)) {
        let title = item["title"].as_str().or(item["name"].as_str()).unwrap();
        text = text.replace(&format!("\"@{title}\""), &item["id"].to_string());
    }
    serde_json::from_str(&text).unwrap()
}

#[test]
fn filters_find_what_they_mean() {
    let (scene, _) = thirty();
    for (filter, expected) in [
        // Texts.
        (r#"{"property":"name","equals":"B"}"#, "b"),
        (r#"{"property":"title","equals":"é"}"#, "É e\u{301}"),
        (r#"{"property":"title","startsWith":"z"}"#, "z ZZ top"),
        (r#"{"property":"title","contains":"TO"}"#, "ZZ top"),
        (r#"{"property":"title","equals":""}"#, "_"),
        (r#"{"property":"name","anyOf":["x","Y","none"]}"#, "x y"),
        (r#"{"property":"note","startsWith":"nota"}"#, "e f"),
        (r#"{"property":"note","contains":"AßE"}"#, "d"),
        (
            r#"{"and":[{"property":"note","notEquals":"nota"},{"property":"note","isNotEmpty":true}]}"#,
            "d e",
        ),
        (r#"{"property":"site","startsWith":"HTTPS://a.example"}"#, "h"),
        (r#"{"property":"mail","equals":"ADA@a.example"}"#, "i"),
        (r#"{"property":"phone","contains":"7946"}"#, "j"),
        // Numbers.
        (r#"{"property":"size","equals":2}"#, "c j q x"),
        (r#"{"property":"size","greaterThan":2.5}"#, "g n u e\u{301}"),
        (r#"{"property":"size","greaterThanOrEqual":2.5}"#, "d g k n r u y e\u{301}"),
        (r#"{"property":"size","lessThan":0}"#, "e l s z"),
        (r#"{"property":"size","lessThanOrEqual":-0.0}"#, "e f l m s t z É"),
        (r#"{"property":"size","anyOf":[1,-3]}"#, "b e i l p s w z _"),
        (r#"{"property":"size","isEmpty":true}"#, "a h o v ZZ top"),
        // Days, from the 4th of March on.
        (r#"{"property":"due","equals":"today"}"#, "c h m r w e\u{301}"),
        (r#"{"property":"due","before":"today"}"#, "b g l q v É"),
        (r#"{"property":"due","after":"2026-03-05"}"#, "e j o t y _"),
        (r#"{"property":"due","onOrBefore":"yesterday"}"#, "b g l q v É"),
        (r#"{"property":"due","onOrAfter":"2027-01-01"}"#, "e j o t y _"),
        (r#"{"property":"due","anyOf":["tomorrow"]}"#, "d i n s x ZZ top"),
        // Yes and no.
        (r#"{"property":"done","equals":false}"#, "b e h k n q t w z ZZ top"),
        (
            r#"{"and":[{"property":"done","notEquals":false},{"property":"done","isEmpty":false}]}"#,
            "a d g j m p s v y e\u{301}",
        ),
        // Options.
        (r#"{"property":"state","equals":"Later"}"#, "c g k o s w É"),
        (r#"{"property":"state","anyOf":["done"]}"#, "b f j n r v z _"),
        (r#"{"property":"tags","equals":["todo","Later"]}"#, "b f j n r v z _"),
        (r#"{"property":"tags","contains":"done"}"#, "d h l p t x e\u{301}"),
        (r#"{"property":"tags","anyOf":["done","Later"]}"#, "b d f h j l n p r t v x z e\u{301} _"),
        (r#"{"property":"tags","allOf":["Later","todo"]}"#, "b f j n r v z _"),
        (r#"{"property":"tags","equals":[]}"#, "c g k o s w É"),
        // Relations, from either side and to each other.
        (r#"{"property":"owner","contains":"@Ada"}"#, "a c g i m o s u y É"),
        (r#"{"property":"owner","equals":["@Ada","@Ben"]}"#, "c i o u É"),
        (r#"{"property":"owner","anyOf":["@Cleo"]}"#, ""),
        (r#"{"property":"owner","allOf":["@Ben"]}"#, "b c h i n o t u z É"),
        (r#"{"property":"owner","anyOf":["@b"]}"#, ""),
        (r#"{"property":"peers","contains":"@a"}"#, "b c d"),
        (r#"{"property":"peers","equals":["@b","@c","@d"]}"#, "a"),
        (r#"{"property":"peers","contains":"@d"}"#, "a d"),
        (r#"{"property":"peers","isNotEmpty":true}"#, "a b c d"),
        // Put together.
        (
            r#"{"and":[]}"#,
            "a b c d e f g h i j k l m n o p q r s t u v w x y z É e\u{301} ZZ top _",
        ),
        (r#"{"or":[]}"#, ""),
        (
            r#"{"and":[{"property":"state","equals":"done"},{"property":"size","greaterThan":1}]}"#,
            "j n r",
        ),
        (
            r#"{"or":[{"property":"note","contains":"nota"},{"property":"due","isEmpty":true}]}"#,
            "a e f k p u z",
        ),
        (
            r#"{"not":{"or":[{"property":"tags","isEmpty":true},{"property":"size","lessThan":40}]}}"#,
            "a h n u v e\u{301} ZZ top",
        ),
    ] {
        let found =
            scene.query(scene.things, &json!({"filter": with_ids(&scene, filter)})).unwrap();
        assert_eq!(titles(found["items"].as_array().unwrap()), expected, "{filter}");
    }
    for (filter, expected) in [
        (r#"{"property":"owns","contains":"@c"}"#, "Ada Ben"),
        (r#"{"property":"owns","isEmpty":true}"#, "Cleo"),
        (r#"{"not":{"property":"owns","allOf":["@a","@c"]}}"#, "Ben Cleo"),
    ] {
        let found =
            scene.query(scene.people, &json!({"filter": with_ids(&scene, filter)})).unwrap();
        let titles: Vec<_> =
            found["items"].as_array().unwrap().iter().map(|item| &item["title"]).collect();
        assert_eq!(json!(titles), json!(expected.split(' ').collect::<Vec<_>>()), "{filter}");
    }
}

#[test]
fn items_come_in_the_order_asked_for() {
    let (scene, _) = thirty();
    for (sort, expected) in [
        (r#"[{"property":"name"}]"#, "a b c d e É e\u{301} f g h"),
        (r#"[{"property":"name","direction":"descending"}]"#, "ZZ top z y x w v u t s r"),
        // Equal ones by ID, in the same direction.
        (r#"[{"property":"size"}]"#, "e l s z f m t É b i"),
        (r#"[{"property":"size","direction":"descending"}]"#, "e\u{301} u n g y r k d x q"),
        // By the place in the schema.
        (
            r#"[{"property":"state"},{"property":"name","direction":"descending"}]"#,
            "ZZ top y u q m i e a z v",
        ),
        (r#"{"property":"state","direction":"descending"}"#, "É w s o k g c _ z v"),
        // Those without a value last, either way.
        (r#"[{"property":"note"}]"#, "f e d a b c g h i j"),
        (r#"[{"property":"note","direction":"descending"}]"#, "d e f _ ZZ top e\u{301} É z y x"),
        (
            r#"[{"property":"done"},{"property":"due","direction":"descending"},{"property":"size"}]"#,
            "e t n ZZ top w h b q z k",
        ),
    ] {
        let sort: Value = serde_json::from_str(sort).unwrap();
        let found = scene.query(scene.things, &json!({"sort": sort, "limit": 10})).unwrap();
        assert_eq!(titles(found["items"].as_array().unwrap()), expected, "{sort}");
    }
}

#[test]
fn pages_give_each_item_once_in_every_order() {
    let (scene, _) = thirty();
    let columns = ["name", "note", "site", "mail", "phone", "size", "done", "due", "state"];
    for (column, then) in columns.iter().zip(columns.iter().cycle().skip(4)) {
        for direction in ["ascending", "descending"] {
            let first = json!({"property": column, "direction": direction});
            for sort in [json!([first]), json!([first, {"property": then}])] {
                let filter = json!({"not": {"property": "size", "equals": 1}});
                for fields in [json!({"sort": sort}), json!({"sort": sort, "filter": filter})] {
                    let whole = scene.pages(scene.things, &fields, 100);
                    assert_eq!(whole.len(), if fields.get("filter").is_some() { 25 } else { 30 });
                    for limit in [1, 4, 25, 30] {
                        assert_eq!(
                            scene.pages(scene.things, &fields, limit),
                            whole,
                            "{fields} {limit}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_cursor_holds_while_items_come_and_go() {
    let (scene, things) = thirty();
    let mut fields = json!({"sort": {"property": "name"}, "limit": 4});
    let first = scene.query(scene.things, &fields).unwrap();
    assert_eq!(titles(first["items"].as_array().unwrap()), "a b c d");
    // The last one given goes; one comes before the place and one behind it.
    scene.notes.delete_items(DeleteItems::new(scene.things, [things[3], things[4]])).unwrap();
    scene.add(scene.things, &[json!({"name": "bb"}), json!({"name": "dd"})]);
    fields["cursor"] = first["nextCursor"].clone();
    let second = scene.query(scene.things, &fields).unwrap();
    assert_eq!(titles(second["items"].as_array().unwrap()), "dd É e\u{301} f");
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let (scene, _) = thirty();
    let cursor = |fields: Value| scene.query(scene.things, &fields).unwrap()["nextCursor"].clone();
    let by_size = cursor(json!({"sort": {"property": "size"}, "limit": 3}));
    let filtered = cursor(json!({"filter": {"property": "done", "equals": true}, "limit": 3}));
    for (fields, expected) in [
        (json!({"filter": {"property": "color", "equals": 1}}), "SCHEMA_MISMATCH filter.property"),
        (
            json!({"filter": {"and": [{"not": {"property": "due", "before": "soon"}}]}}),
            "SCHEMA_MISMATCH filter.and[0].not.before",
        ),
        (
            json!({"filter": {"property": "state", "anyOf": ["todo", "gone"]}}),
            "SCHEMA_MISMATCH filter.anyOf[1]",
        ),
        (json!({"filter": {"property": "size", "contains": 1}}), "SCHEMA_MISMATCH filter.contains"),
        (json!({"filter": {"property": "size"}}), "VALIDATION filter"),
        (json!({"filter": {"property": "size", "equals": 1, "lessThan": 2}}), "VALIDATION filter"),
        (
            json!({"sort": [{"property": "name"}, {"property": "owner"}]}),
            "SCHEMA_MISMATCH sort[1].property",
        ),
        (json!({"sort": [{"property": "tags"}]}), "SCHEMA_MISMATCH sort[0].property"),
        (json!({"sort": [{"property": "color"}]}), "SCHEMA_MISMATCH sort[0].property"),
        (json!({"sort": vec![json!({"property": "name"}); 201]}), "LIMIT_EXCEEDED sort"),
        (json!({"limit": 0}), "VALIDATION limit"),
        (json!({"cursor": "x"}), "VALIDATION cursor"),
        (json!({"cursor": by_size}), "VALIDATION cursor"),
        (
            json!({"cursor": by_size, "sort": {"property": "size", "direction": "descending"}}),
            "VALIDATION cursor",
        ),
        (
            json!({"cursor": filtered, "filter": {"property": "done", "equals": false}}),
            "VALIDATION cursor",
        ),
        (json!({"groupBy": "size"}), "VALIDATION groupBy"),
    ] {
        let found = scene
            .query(scene.things, &fields)
            .map_or_else(|error| wrong(&error), |page| page.to_string());
        assert_eq!(found, expected, "{fields}");
    }
    for (fields, expected) in [
        (json!({"groupBy": "color"}), "SCHEMA_MISMATCH groupBy"),
        (
            json!({"groupBy": "size", "filter": {"property": "color", "isEmpty": true}}),
            "SCHEMA_MISMATCH filter.property",
        ),
        (json!({"limit": 3}), "VALIDATION limit"),
    ] {
        let found = scene
            .count(scene.things, &fields)
            .map_or_else(|error| wrong(&error), |page| page.to_string());
        assert_eq!(found, expected, "{fields}");
    }
    let home = scene.notes.document_of(scene.things).unwrap().root();
    let thing = scene.notes.items(scene.things).unwrap()[0].id;
    for other in [home, thing, "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap()] {
        let error = scene
            .notes
            .query_items(QueryItems::of(other).sorted(Sort::ascending("?")).after("?"))
            .unwrap_err();
        assert_eq!(wrong(&error), "NOT_FOUND collectionId");
        let error = scene.notes.count_items(CountItems::of(other).grouped_by("?")).unwrap_err();
        assert_eq!(wrong(&error), "NOT_FOUND collectionId");
    }
}

#[test]
fn a_cursor_ends_with_the_type_that_it_goes_by() {
    let (scene, _) = thirty();
    let mut fields = json!({"sort": {"property": "size"}, "limit": 3});
    fields["cursor"] = scene.query(scene.things, &fields).unwrap()["nextCursor"].clone();
    let mut schema = scene.schema(scene.things);
    schema["properties"][0]["name"] = json!("Remark");
    scene.replace(scene.things, &schema);
    scene.query(scene.things, &fields).unwrap();
    schema["properties"][4]["type"] = json!("text");
    scene.replace(scene.things, &schema);
    assert_eq!(wrong(&scene.query(scene.things, &fields).unwrap_err()), "VALIDATION cursor");
}

#[test]
fn items_are_counted_by_value() {
    let (scene, _) = thirty();
    let done = json!({"property": "done", "equals": true});
    for (fields, expected) in [
        (json!({}), json!({"count": 30})),
        (json!({"filter": done}), json!({"count": 10})),
        (
            json!({"groupBy": "state"}),
            json!({"count": 30, "groups": [["todo", 8], ["done", 8], ["Later", 7], [null, 7]]}),
        ),
        (
            json!({"groupBy": "done"}),
            json!({"count": 30, "groups": [[false, 10], [true, 10], [null, 10]]}),
        ),
        (
            json!({"groupBy": "state", "filter": done}),
            json!({"count": 10, "groups": [["todo", 3], ["done", 2], ["Later", 2], [null, 3]]}),
        ),
        (
            json!({"groupBy": "tags"}),
            json!({"count": 30, "groups": [["todo", 16], ["done", 7], ["Later", 8], [null, 7]]}),
        ),
        (
            json!({"groupBy": "due", "filter": {"property": "due", "before": "tomorrow"}}),
            json!({"count": 12, "groups": [["2026-03-03", 6], ["2026-03-04", 6]]}),
        ),
        (
            json!({"groupBy": "note"}),
            json!({"count": 30, "groups": [["NOTA", 1], ["nota bene", 1], ["Straße", 1], [null, 27]]}),
        ),
        (
            json!({"groupBy": "owner"}),
            json!({"count": 30, "groups": [["Ada", 10], ["Ben", 10], [null, 15]]}),
        ),
        (
            json!({"groupBy": "peers"}),
            json!({"count": 30, "groups": [["a", 3], ["b", 1], ["c", 1], ["d", 2], [null, 26]]}),
        ),
    ] {
        let mut found = scene.count(scene.things, &fields).unwrap();
        for group in found.get_mut("groups").and_then(Value::as_array_mut).into_iter().flatten() {
            let value =
                if group["value"].is_object() { &group["value"]["title"] } else { &group["value"] };
            *group = json!([value, group["count"]]);
        }
        assert_eq!(found, expected, "{fields}");
    }
    let found = scene.count(scene.people, &json!({"groupBy": "owns"})).unwrap();
    assert_eq!(
        (found["groups"].as_array().unwrap().len(), &found["groups"][15]),
        (16, &json!({"value": null, "count": 1}))
    );
}

#[test]
fn items_come_with_their_pages_as_deep_as_asked_for() {
    let scene = Scene::new();
    let content = json!([{"type": "text", "markdown": "in it"}]);
    scene.add(
        scene.things,
        &[json!({"name": "full", "content": content}), json!({"name": "blank"})],
    );
    let shown = |fields: Value| {
        let found = scene.query(scene.things, &fields).unwrap();
        let content =
            |item: &Value| item.get("content").map(|content| content[0]["markdown"].clone());
        found["items"].as_array().unwrap().iter().map(content).collect::<Vec<_>>()
    };
    let sort = json!({"property": "name", "direction": "descending"});
    assert_eq!(shown(json!({"sort": sort, "maxDepth": 0})), [None, None]);
    for fields in [json!({"sort": sort}), json!({"sort": sort, "maxDepth": 1})] {
        assert_eq!(shown(fields), [Some(json!("in it")), Some(Value::Null)]);
    }
}

#[test]
fn a_collection_in_the_trash_can_be_asked() {
    let (scene, _) = thirty();
    let ask = || {
        (
            scene.query(scene.things, &json!({"limit": 5})).unwrap(),
            scene.count(scene.things, &json!({})).unwrap(),
        )
    };
    let before = ask();
    scene.notes.delete_documents(scene.notes.document_of(scene.things).unwrap()).unwrap();
    assert_eq!(ask(), before);
}

/// The keyspaces of blocks and of the indexes of items.
const READ: [u8; 2] = [0x10, 0x72];

/// So many things, over a store that counts.
fn many(count: usize) -> (Wrapped, Scene) {
    let store = Wrapped::new();
    let builder = Space::builder().ids(SequentialIds::new(1));
    let scene = Scene::over(builder.over(Arc::new(store.clone()), true).unwrap());
    let people = scene.add(scene.people, &[json!({"title": "Ada"}), json!({"title": "Ben"})]);
    let thing = |number: usize| {
        let state = ["todo", "done", "Later"][number % 3];
        let tags = if number.is_multiple_of(count / 4) { "Later" } else { "todo" };
        let owner = people[usize::from(!number.is_multiple_of(count / 4))];
        json!({"name": format!("{number:06}"), "properties": {
            "size": number * 7 % count, "state": state, "tags": [tags], "owner": [owner],
            "note": format!("{number} bottles"), "done": number.is_multiple_of(2)}})
    };
    let things: Vec<_> = (0..count).map(thing).collect();
    for some in things.chunks(500) {
        scene.add(scene.things, some);
    }
    (store, scene)
}

#[test]
fn a_page_reads_the_rows_that_it_needs() {
    let spaces = [1_000, 4_000].map(|count| (count, many(count)));
    let ada = json!([spaces[0].1.1.items(spaces[0].1.1.people)[0]["id"]]);
    // What is asked, how many items come, and how many rows of blocks and of indexes are read at
    // most; none: as many as there are items.
    for (fields, items, most) in [
        (json!({"sort": {"property": "size"}}), 20, Some([80, 40])),
        (json!({"sort": {"property": "name", "direction": "descending"}}), 20, Some([80, 40])),
        (
            json!({"sort": [{"property": "state"}], "filter": {"property": "done", "equals": true}}),
            20,
            Some([160, 400]),
        ),
        (
            json!({"filter": {"property": "size", "lessThan": 9}, "sort": {"property": "note"}}),
            9,
            Some([40, 40]),
        ),
        (json!({"filter": {"property": "name", "startsWith": "00001"}}), 10, Some([40, 40])),
        (
            json!({"filter": {"property": "tags", "contains": "Later"}, "sort": {"property": "note"}}),
            4,
            Some([20, 1_200]),
        ),
        (json!({"filter": {"property": "state", "equals": "done"}}), 20, Some([80, 400])),
        (json!({"filter": {"property": "owner", "anyOf": ada}}), 4, Some([20, 0])),
        // The control: what no index serves looks at each item.
        (json!({"filter": {"property": "note", "contains": "bottles"}}), 20, None),
    ] {
        for (count, (store, scene)) in &spaces {
            let mut fields = fields.clone();
            (fields["limit"], fields["maxDepth"]) = (json!(20), json!(0));
            let ask = || scene.query(scene.things, &fields).unwrap();
            let found = READ.map(|keyspace| store.counting(keyspace, ask));
            assert_eq!(found[0].0["items"].as_array().unwrap().len(), items, "{fields}");
            let read = found.map(|(_, rows)| rows);
            match most {
                Some(most) => assert!(
                    read[0] <= most[0] && read[1] <= most[1],
                    "{fields} of {count}: {read:?}"
                ),
                None => assert!(read[0] >= count / 100, "{fields} of {count}: {read:?}"),
            }
        }
    }
}

/// Conditions beside an order by something else: every page is as if each item was asked, and few
/// items are looked at.
#[test]
fn a_filter_beside_an_order_looks_at_few_items() {
    let (store, scene) = many(4_000);
    let below = |size: u16| json!({"property": "size", "lessThan": size});
    let state = |name: &str| json!({"property": "state", "equals": name});
    let is = |key: &str, value: bool| json!({"property": key, "equals": value});
    let (bottles, rare) = (|part: &str| json!({"property": "note", "contains": part}), ["Later"]);
    let both = |one: &Value, other: &Value| json!({"and": [one, other]});
    for (filter, sort, blocks) in [
        // Told by signatures.
        (state("done"), "note", Some(80)),
        (both(&state("done"), &is("done", false)), "note", Some(80)),
        (json!({"property": "state", "anyOf": ["done", "Later"]}), "size", Some(80)),
        (json!({"property": "tags", "allOf": ["todo"]}), "size", Some(80)),
        (json!({"property": "tags", "equals": rare}), "size", Some(80)),
        // By a range: of few rows, of more, of some that lead to none in the order, and of many,
        // which lie in clumps.
        (below(70), "note", Some(200)),
        (below(300), "note", Some(160)),
        (both(&below(300), &state("todo")), "name", Some(200)),
        (both(&below(300), &bottles("99 ")), "name", Some(500)),
        (below(300), "due", Some(400)),
        (below(3_000), "note", Some(250)),
        (both(&below(3_000), &below(300)), "note", Some(160)),
        // The control: what every item is asked for.
        (bottles("99 "), "note", None),
    ] {
        for direction in ["ascending", "descending"] {
            let sort = json!({"property": sort, "direction": direction});
            let fields = |filter: &Value, limit: usize| json!({"filter": filter, "sort": &sort, "limit": limit, "maxDepth": 0});
            let asked = json!({"or": [&filter, &filter]});
            let expected = scene.query(scene.things, &fields(&asked, 4_000)).unwrap();
            let pages = scene.pages(scene.things, &fields(&filter, 0), 45);
            assert!(!pages.is_empty() && json!(pages) == expected["items"], "{filter} {sort}");
            let (_, rows) =
                store.counting(0x10, || scene.query(scene.things, &fields(&filter, 20)).unwrap());
            match blocks {
                Some(most) => assert!(rows <= most, "{filter} {sort}: {rows}"),
                None => assert!(rows > 600, "{filter} {sort}: {rows}"),
            }
        }
    }
}

#[test]
fn a_page_in_the_middle_costs_as_much_as_the_first() {
    let (store, scene) = many(1_000);
    for direction in [Direction::Ascending, Direction::Descending] {
        let mut request = QueryItems::of(scene.things)
            .sorted(Sort { property: "size".into(), direction })
            .limit(20)
            .depth(0);
        for _ in 0..50 {
            let (page, rows) =
                store.counting(0x10, || scene.notes.query_items(request.clone()).unwrap());
            assert!(rows <= 80, "{rows}");
            request.paging.cursor = page.next_cursor;
        }
        assert_eq!(request.paging.cursor, None);
    }
}

#[test]
fn counts_that_an_index_knows_look_at_no_item() {
    let (store, scene) = many(1_000);
    for (fields, looks) in [
        (json!({}), false),
        (json!({"groupBy": "state"}), false),
        (json!({"groupBy": "done"}), false),
        // The control.
        (json!({"groupBy": "size"}), true),
    ] {
        let (found, rows) = store.counting(0x10, || scene.count(scene.things, &fields).unwrap());
        assert_eq!(found["count"], 1_000);
        assert_eq!(rows > 10, looks, "{fields}: {rows}");
    }
}
