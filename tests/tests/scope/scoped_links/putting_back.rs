//! Placeholders that come back stand for what they stood for.

use super::*;
use crate::world::read;

/// The markdown of a block, what a guest writes over it, and what is kept then. `#1` is a
/// placeholder.
#[test]
fn placeholders_of_the_block_are_put_back() {
    let scene = scene();
    let [h, m] = ["block://@hidden", "block://@missing"];
    let two = format!("[a]({h}) [b]({m})");
    for (stored, given, kept) in [
        (two.as_str(), "[b](#2) [a](#1) c", format!("[b]({m}) [a]({h}) c")),
        (&two, "[a](#1)", format!("[a]({h})")),
        (&two, "[a](#1) [again](#1)", format!("[a]({h}) [again]({h})")),
        (&two, "[a](#3) #4 [b](#01)", "[a](#3) #4 [b](#01)".to_owned()),
        (&two, "`#1` [a](#1)", format!("`#1` [a]({h})")),
        (&two, "<#1> and #2, <a href='#2'>", format!("<{h}> and {m}, <a href='{m}'>")),
        (&two, "[a](<#1> 'b')", format!("[a]({h} 'b')")),
        (&two, "nothing", "nothing".to_owned()),
        (&two, "[c](block://@seen) [a](#1)", format!("[c](block://@seen) [a]({h})")),
        ("[a](<block://@hidden/b c>)", "[d](#1)", "[d](<block://@hidden/b c>)".to_owned()),
        ("[a](<block://@hidden/b c>)", "<#1>", "<block://@hidden/b%20c>".to_owned()),
        ("[a](#1) [b](block://@hidden)", "[a](#1) [c](#2)", format!("[a](#1) [c]({h})")),
        ("<a href='block&#58;//@hidden'>b</a>", "[b](#1)", format!("[b]({h})")),
        ("[b](block://@hidden?'c)", "<a href='#1'>b</a>", format!("<a href='{h}?&#39;c'>b</a>")),
        ("[a](<block://@hidden/b* c>)", "see #1", "see block://@hidden/b\\* c".to_owned()),
        ("no link", "[a](#1)", "[a](#1)".to_owned()),
    ] {
        let long = |text: &str| {
            scene.named(
                &text.replace("&#", "\0").replace('#', "invalid:out_of_scope#").replace('\0', "&#"),
            )
        };
        let block = scene.text(&long(stored));
        scene.update(block, &json!({"markdown": long(given)})).unwrap();
        assert_eq!(scene.kept(block)["markdown"], long(&kept), "{stored} <- {given}");
    }
}

#[test]
fn pieces_of_a_text_are_put_back_by_what_it_said() {
    let scene = scene();
    let block = scene.text("[a](block://@hidden) [b](block://@missing)");
    let given = format!("[a]({})\n\n[b]({})", out(1), out(2));
    let pieces = scene.update(block, &json!({"markdown": given})).unwrap();
    let second: BlockId = serde_json::from_value(pieces[1]["id"].clone()).unwrap();
    assert_eq!(pieces[1]["markdown"], format!("[b]({})", out(1)), "it is a block of its own now");
    assert_eq!(scene.kept(block)["markdown"], scene.named("[a](block://@hidden)"));
    assert_eq!(scene.kept(second)["markdown"], scene.named("[b](block://@missing)"));
}

#[test]
fn what_is_new_has_nothing_to_put_back() {
    let scene = scene();
    scene.text("[a](block://@hidden)");
    let literal = format!("[a]({})", out(1));
    let new = scene.guest.insert_markdown(&literal, scene.document).unwrap();
    assert_eq!(scene.kept(new[0].id)["markdown"], literal);
    assert_eq!(scene.guest_sees(new[0].id)["markdown"], literal);
}

#[test]
fn fields_take_each_others_placeholders_and_leave_what_is_not_given() {
    let scene = scene();
    let hidden = format!("block://{}", scene.target("hidden"));
    let rich = scene.insert(json!({"type": "richUrl", "url": hidden, "title": "a"}));
    // Another field, one and the same call.
    scene.update(rich, &json!({"title": "b"})).unwrap();
    assert_eq!(
        [&scene.kept(rich)["url"], &scene.kept(rich)["title"]],
        [&json!(hidden), &json!("b")]
    );
    scene
        .update(rich, &json!({"title": format!("see {}", out(1)), "description": out(1)}))
        .unwrap();
    let kept = scene.kept(rich);
    assert_eq!(
        [&kept["title"], &kept["description"]],
        [&json!(format!("see {hidden}")), &json!(hidden)]
    );
    // As markdown, changed.
    scene.update(rich, &json!({"markdown": format!("[c]({})", out(1))})).unwrap();
    assert_eq!(
        [&scene.kept(rich)["url"], &scene.kept(rich)["title"]],
        [&json!(hidden), &json!("c")]
    );
    // What the block is shown to say may stand beside its fields; something else may not.
    let shown = scene.guest_sees(rich);
    scene.update(rich, &json!({"markdown": shown["markdown"], "url": shown["url"]})).unwrap();
    assert_eq!(scene.kept(rich)["url"], hidden);
    for address in [&hidden, "block://01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        let error = scene
            .update(
                rich,
                &json!({"markdown": format!("[c]({address})"), "url": "https://b.example"}),
            )
            .unwrap_err();
        assert_eq!(
            (error.code(), error.path()),
            ("VALIDATION", "blocks[0].markdown"),
            "a guess tells nothing"
        );
    }
}

#[test]
fn titles_of_documents_are_put_back() {
    let scene = scene();
    let link = scene.named("[a](block://@hidden)");
    scene.notes.update_markdown(scene.document, &link).unwrap();
    for field in ["markdown", "title"] {
        scene.update(scene.document.root(), &json!({field: format!("b [a]({})", out(1))})).unwrap();
        assert_eq!(scene.kept(scene.document.root())["markdown"], format!("b {link}"));
    }
}

/// An address is written as the place that it is put back to asks for.
#[test]
fn an_address_is_put_back_into_words_as_it_is_and_into_a_link_as_one() {
    let scene = scene();
    let address = scene.named("block://@hidden/b* c");
    for (title, kept) in [("see {}", "see {}"), ("{}", "{}"), ("[d]({})", "[d](<{}>)")] {
        let rich = scene.insert(json!({"type": "richUrl", "url": address, "title": "a"}));
        scene.update(rich, &json!({"title": title.replace("{}", &out(1))})).unwrap();
        assert_eq!(
            scene.kept(rich)["title"],
            scene.named(&kept.replace("{}", &address)),
            "{title}"
        );
    }
}

#[test]
fn columns_options_and_titles_are_put_back() {
    let scene = scene();
    let link = scene.named("[a](block://@hidden)");
    let tags = json!({"key": "tags", "name": "Tags", "type": "multiSelect", "options": [{"name": link}, {"name": "b"}]});
    let schema =
        json!({"name": "Books", "properties": [{"key": "t", "name": link, "type": "text"}, tags]});
    let request =
        json!({"schema": schema, "position": {"position": "end", "pageId": scene.document}});
    let made = scene.notes.create_collection(read(&request)).unwrap().id;
    let item = json!({"title": link, "properties": {"tags": [link, "b"]}});
    let item =
        scene.notes.add_items(read(&json!({"collectionId": made, "items": [item]}))).unwrap()[0].id;
    let told = || (scene.notes.schema(made).unwrap(), scene.kept(item));

    let before = told();
    let shown = serde_json::to_value(scene.guest.schema(made).unwrap()).unwrap();
    let placeholder = |number: u32| json!(format!("[a]({})", out(number)));
    assert_eq!(shown.pointer("/properties/0/name"), Some(&placeholder(1)), "{shown}");
    assert_eq!(shown.pointer("/properties/1/options/0/name"), Some(&placeholder(2)), "{shown}");
    scene.guest.replace_schema(read(&json!({"collectionId": made, "schema": shown}))).unwrap();
    let seen = scene.guest_sees(item);
    assert_eq!(
        (&seen["title"], &seen["properties"]["tags"]),
        (&placeholder(1), &json!([placeholder(2), "b"]))
    );
    let update = json!({"id": item, "title": seen["title"], "properties": seen["properties"]});
    scene
        .guest
        .update_items(read(&json!({"collectionId": made, "itemsToUpdate": [update]})))
        .unwrap();
    assert_eq!(told(), before);
}

/// Without a filter groups are counted in the index, which has the names of options as stored.
#[test]
fn groups_of_options_are_counted_as_items_show_them() {
    let scene = scene();
    let topics = json!([{"name": scene.named("block://@hidden")}, {"name": "b"}]);
    let topic = json!({"key": "topic", "name": "Topic", "type": "singleSelect", "options": topics});
    let request = json!({"schema": {"name": "Books", "properties": [topic]}, "position": {"position": "end", "pageId": scene.document}});
    let made = scene.notes.create_collection(read(&request)).unwrap().id;
    let item = |topic: &str| json!({"title": "x", "properties": {"topic": scene.named(topic)}});
    let items = json!([item("block://@hidden"), item("b"), item("b")]);
    scene.notes.add_items(read(&json!({"collectionId": made, "items": items}))).unwrap();
    let is_named = json!({"property": "title", "equals": "x"});
    for filter in [json!(null), is_named] {
        let request = json!({"collectionId": made, "groupBy": "topic", "filter": filter});
        let counts = serde_json::to_value(scene.guest.count_items(read(&request)).unwrap());
        // A placeholder has no rank among the options.
        let groups = json!([{"value": "b", "count": 2}, {"value": out(1), "count": 1}]);
        assert_eq!(counts.unwrap(), json!({"count": 3, "groups": groups}), "{filter}");
    }
}

/// Whether a guess at the link in an option is right shows in no condition.
#[test]
fn conditions_name_no_option_with_a_hidden_link() {
    let scene = scene();
    let topics = json!([{"name": scene.named("block://@hidden")}, {"name": "b"}]);
    let topic = json!({"key": "topic", "name": "Topic", "type": "singleSelect", "options": topics});
    let request = json!({"schema": {"name": "Books", "properties": [topic]}, "position": {"position": "end", "pageId": scene.document}});
    let made = scene.notes.create_collection(read(&request)).unwrap().id;
    let item = json!({"title": "x", "properties": {"topic": scene.named("block://@hidden")}});
    let items = json!([item, {"title": "y", "properties": {"topic": "b"}}]);
    scene.notes.add_items(read(&json!({"collectionId": made, "items": items}))).unwrap();
    let asked = |operator: &str, operand: serde_json::Value| {
        let filter = json!({"property": "topic", operator: operand});
        let request = json!({"collectionId": made, "filter": filter});
        let found = scene.guest.query_items(read(&request)).map(|page| page.items.len());
        let counted = scene.guest.count_items(read(&request)).map(|counts| counts.count);
        assert_eq!(
            counted.map_err(|error| error.to_string()).ok(),
            found.as_ref().ok().map(|n| *n as u64)
        );
        found.map_err(|error| format!("{} {error}", error.code()))
    };
    assert_eq!([asked("equals", json!("b")), asked("isEmpty", json!(false))], [Ok(1), Ok(2)]);
    let [hidden, missing] = ["block://@hidden", "block://@missing"].map(|name| scene.named(name));
    let guessed = asked("equals", json!(hidden));
    assert_eq!(guessed, asked("equals", json!(missing)));
    assert!(guessed.unwrap_err().starts_with("SCHEMA_MISMATCH filter.equals: expected one of"));
    for (operator, operand, path) in
        [("equals", json!(out(1)), "equals"), ("anyOf", json!(["b", out(1)]), "anyOf[1]")]
    {
        let error = format!(
            "SCHEMA_MISMATCH filter.{path}: no condition names an option with a link out of scope"
        );
        assert_eq!(asked(operator, operand), Err(error));
    }
}

/// Nor in what a value may be, whether new options are allowed or not.
#[test]
fn values_name_no_option_with_a_hidden_link() {
    let scene = scene();
    let topics = json!([{"name": scene.named("block://@hidden")}, {"name": "b"}]);
    let properties = json!([
        {"key": "topic", "name": "Topic", "type": "singleSelect", "options": topics},
        {"key": "tags", "name": "Tags", "type": "multiSelect", "options": topics},
    ]);
    let request = json!({"schema": {"name": "Books", "properties": properties}, "position": {"position": "end", "pageId": scene.document}});
    let made = scene.notes.create_collection(read(&request)).unwrap().id;
    let item = json!({"title": "x", "properties": {"topic": "b"}});
    let add = json!({"collectionId": made, "items": [item]});
    let item = scene.notes.add_items(read(&add)).unwrap()[0].id;
    let kept = || (scene.kept(item), scene.notes.schema(made).unwrap());
    let before = kept();
    for (given, path) in [("block://@hidden", "topic"), ("[a](block://@missing)", "topic")]
        .into_iter()
        .chain([("block://@missing", "tags[1]"), ("block://@hidden", "tags[1]")])
    {
        let name = scene.named(given);
        let properties = match path {
            "topic" => json!({"topic": name}),
            _ => json!({"tags": ["b", name]}),
        };
        for allows_new in [false, true] {
            let items = json!([{"title": "y"}, {"title": "z", "properties": properties}]);
            let add =
                json!({"collectionId": made, "items": items, "allowNewSelectOptions": allows_new});
            let updates = json!([{"id": item, "properties": properties}]);
            let update = json!({"collectionId": made, "itemsToUpdate": updates, "allowNewSelectOptions": allows_new});
            for (refused, list) in [
                (scene.guest.add_items(read(&add)).unwrap_err(), "items[1]"),
                (scene.guest.update_items(read(&update)).unwrap_err(), "itemsToUpdate[0]"),
            ] {
                assert_eq!(
                    (refused.code(), refused.path(), refused.message()),
                    (
                        "SCHEMA_MISMATCH",
                        format!("{list}.properties.{path}").as_str(),
                        "no option is named by a link out of scope"
                    ),
                    "{given}"
                );
            }
        }
    }
    // Nor in a new schema.
    let mut shown = serde_json::to_value(scene.guest.schema(made).unwrap()).unwrap();
    for name in ["block://@hidden", "block://@missing"].map(|name| scene.named(name)) {
        let rename = |from: &str, to: &str| json!([{"property": "topic", "from": from, "to": to}]);
        let mut options = shown.clone();
        options["properties"][0]["options"][0]["name"] = json!(name);
        for (schema, renames, path) in [
            (&options, json!([]), "schema.properties[0].options[0].name"),
            (&shown, rename(&name, "b"), "renameOptions[0].from"),
            (&shown, rename("b", &name), "renameOptions[0].to"),
        ] {
            let request = json!({"collectionId": made, "schema": schema, "renameOptions": renames});
            let refused = scene.guest.replace_schema(read(&request)).unwrap_err();
            let message = "no option is named by a link out of scope";
            assert_eq!(
                (refused.code(), refused.path(), refused.message()),
                ("SCHEMA_MISMATCH", path, message)
            );
        }
    }
    // The message for a name that is not an option shows options as the guest sees them.
    let update = json!({"collectionId": made, "itemsToUpdate": [{"id": item, "properties": {"topic": "c"}}]});
    let refused = scene.guest.update_items(read(&update)).unwrap_err();
    assert!(!refused.message().contains("block://"), "{refused}");
    assert_eq!(kept(), before);
    // A placeholder stands for its link in a rename as well.
    shown["properties"][0]["options"][0]["name"] = json!("c");
    let renames = json!([{"property": "topic", "from": out(1), "to": "c"}]);
    let request = json!({"collectionId": made, "schema": shown, "renameOptions": renames});
    scene.guest.replace_schema(read(&request)).unwrap();
    // A link to what is shown, and a placeholder, are names as before.
    let tags = json!([scene.named("block://@seen"), out(1)]);
    let update = json!([{"id": item, "properties": {"tags": tags}}]);
    let update =
        json!({"collectionId": made, "itemsToUpdate": update, "allowNewSelectOptions": true});
    scene.guest.update_items(read(&update)).unwrap();
    let tags = [scene.named("block://@seen"), scene.named("block://@hidden")];
    assert_eq!(scene.kept(item)["properties"]["tags"], json!(tags));
}

/// Two options that look alike where they are shown: one by its number in an item, the other by
/// that in the schema.
#[test]
fn options_are_put_back_as_the_item_shows_them_or_else_as_the_schema_does() {
    let scene = scene();
    let (one, two) = (scene.named("[a](block://@hidden)"), scene.named("[a](block://@missing)"));
    let options = json!([{"name": one}, {"name": two}, {"name": "b"}]);
    let properties = json!([
        {"key": "tags", "name": "Tags", "type": "multiSelect", "options": options},
        {"key": "topic", "name": "Topic", "type": "singleSelect", "options": options},
        {"key": "note", "name": "Note", "type": "text"},
    ]);
    let request = json!({"schema": {"name": "Books", "properties": properties}, "position": {"position": "end", "pageId": scene.document}});
    let made = scene.notes.create_collection(read(&request)).unwrap().id;
    let shown = |number: u32| format!("[a]({})", out(number));
    let add = |properties: serde_json::Value| {
        let items = json!([{"title": "x", "properties": properties}]);
        scene
            .guest
            .add_items(read(&json!({"collectionId": made, "items": items})))
            .map(|items| items[0].id)
    };
    // The schema's first is #1, its second #2; those of the other column go on from there.
    let item = add(json!({"tags": ["b", shown(2)], "note": shown(1)})).unwrap();
    let kept = |key: &str| scene.kept(item)["properties"][key].clone();
    assert_eq!(
        (kept("tags"), kept("note")),
        (json!(["b", two]), json!(shown(1))),
        "a new text has nothing to put back"
    );
    let update = |properties: serde_json::Value| {
        let update = json!([{"id": item, "properties": properties}]);
        scene
            .guest
            .update_items(read(&json!({"collectionId": made, "itemsToUpdate": update})))
            .map(drop)
    };
    for (given, tags, tag) in [
        // The note has a placeholder of its own: what the item hides counts from #2.
        (json!({"tags": [shown(2)]}), json!([two]), json!(null)),
        (json!({"topic": shown(1)}), json!([two]), json!(one)),
        (json!({"tags": [shown(4), shown(1)], "note": null}), json!([two, one]), json!(one)),
        // As the item shows it; the schema's first is another one.
        (json!({"tags": [shown(1)]}), json!([two]), json!(one)),
        (json!({"tags": ["b"], "topic": null}), json!(["b"]), json!(null)),
    ] {
        update(given.clone()).unwrap_or_else(|error| panic!("{given}: {error}"));
        assert_eq!((kept("tags"), kept("topic")), (tags, tag), "{given}");
    }
    for given in [
        json!({"tags": [shown(9)]}),
        json!({"topic": format!("{} ", shown(1))}),
        json!({"tags": [1]}),
    ] {
        assert_eq!(update(given.clone()).unwrap_err().code(), "SCHEMA_MISMATCH", "{given}");
        assert_eq!(add(given.clone()).unwrap_err().code(), "SCHEMA_MISMATCH", "{given}");
    }
}
