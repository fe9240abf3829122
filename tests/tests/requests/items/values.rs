//! Titles and values of every type, from adding and updating alike.

use super::library::Library;

/// A property, what is given for it, and what the reply then shows; nothing for no value.
const TAKEN: &[(&str, &str, &str)] = &[
    ("note", r#""*dry*, but good""#, "note=*dry*, but good"),
    ("note", r#""""#, "note="),
    ("note", "null", ""),
    ("pages", "412", "pages=412"),
    ("pages", "-0.5", "pages=-0.5"),
    ("pages", "-0.0", "pages=0"),
    ("pages", "null", ""),
    ("read", "true", "read=true"),
    ("read", "false", "read=false"),
    ("read", "null", ""),
    ("due", r#""2026-12-24""#, "due=2026-12-24"),
    ("due", r#""today""#, "due=2026-03-01"),
    ("due", r#""tomorrow""#, "due=2026-03-02"),
    ("due", r#""yesterday""#, "due=2026-02-28"),
    ("due", "null", ""),
    ("web", r#""https://example.org/a?b=c""#, "web=https://example.org/a?b=c"),
    ("web", "null", ""),
    ("mail", r#""ada@example.org""#, "mail=ada@example.org"),
    ("mail", "null", ""),
    ("call", r#""+44 20 7946 0000""#, "call=+44 20 7946 0000"),
    ("call", "null", ""),
    ("state", r#""done""#, "state=done"),
    ("state", "null", ""),
    ("tags", r#"["poem","novel","poem"]"#, "tags=poem&novel"),
    ("tags", "[]", ""),
    ("tags", "null", ""),
    ("by", r#"{"relations":[{"blockId":"@Bob"},{"blockId":"@Ada"}]}"#, "by=Bob&Ada"),
    ("by", r#"["@Ada","@Bob"]"#, "by=Ada&Bob"),
    // As replies show it.
    (
        "by",
        r#"{"relations":[{"blockId":"@Bob","title":"Bob"},{"blockId":"@Ada","title":"another"}]}"#,
        "by=Bob&Ada",
    ),
    ("by", r#"["@Bob","@Ada","@Bob"]"#, "by=Bob&Ada"),
    ("by", r#""@Ada""#, "by=Ada"),
    ("by", r#"{"relations":[]}"#, ""),
    ("by", "[]", ""),
    ("by", "null", ""),
    ("editor", r#""@Ada""#, "editor=Ada"),
    ("sequel", r#""@Emma""#, "sequel=Emma"),
    ("prequel", r#"["@Emma"]"#, "prequel=Emma"),
    ("like", r#"["@Emma"]"#, "like=Emma"),
];

/// A property, what is given for it, and what is wrong with it.
const REFUSED: &[(&str, &str, &str)] = &[
    ("note", "3", "SCHEMA_MISMATCH {}: expected text, got 3"),
    ("note", r#"["a"]"#, "SCHEMA_MISMATCH {}: expected text, got an array"),
    ("pages", r#""412""#, r#"SCHEMA_MISMATCH {}: expected a number, got "412""#),
    ("read", r#""yes""#, r#"SCHEMA_MISMATCH {}: expected true or false, got "yes""#),
    ("due", r#""soon""#, r#"SCHEMA_MISMATCH {}: expected a day YYYY-MM-DD, got "soon""#),
    ("due", r#""2026-02-30""#, "SCHEMA_MISMATCH {}: the calendar has no day 2026-02-30"),
    ("web", r#""an example""#, r#"SCHEMA_MISMATCH {}: expected a URL, got "an example""#),
    ("mail", r#""ada""#, r#"SCHEMA_MISMATCH {}: expected an e-mail address, got "ada""#),
    ("call", r#""""#, r#"SCHEMA_MISMATCH {}: expected a phone number, got """#),
    ("state", r#""shut""#, r#"SCHEMA_MISMATCH {}: expected one of "open", "done", got "shut""#),
    (
        "tags",
        r#""novel""#,
        r#"SCHEMA_MISMATCH {}: expected an array of names of options, got "novel""#,
    ),
    (
        "tags",
        r#"["novel","play"]"#,
        r#"SCHEMA_MISMATCH {}[1]: expected one of "novel", "poem", got "play""#,
    ),
    ("by", r#"["Ada"]"#, "NOT_FOUND {}: no item has this ID"),
    ("by", r#"["@Ada","Ada"]"#, "NOT_FOUND {}[1]: no item has this ID"),
    (
        "by",
        r#"["@Ada","@Ada","01KASZ4ZJG0000000000000001","@Bob"]"#,
        "NOT_FOUND {}[2]: no item has this ID",
    ),
    (
        "by",
        r#"{"relations":[{"blockId":"@home"},{"blockId":"@Ada"}]}"#,
        "NOT_FOUND {}[0]: no item has this ID",
    ),
    (
        "by",
        r#"["@Ada","@Emma"]"#,
        "SCHEMA_MISMATCH {}[1]: expected an item of the collection @people, got @Emma",
    ),
    (
        "by",
        r#"{"relations":[{"blockId":"@Ada","title":1}]}"#,
        "SCHEMA_MISMATCH {}.relations[0].title: expected text, got 1",
    ),
    (
        "pages",
        "18446744073709551615",
        "LIMIT_EXCEEDED {}: expected a number that fits 64 bits of floating point, got 18446744073709551615",
    ),
    (
        "by",
        r#"{"items":[]}"#,
        "SCHEMA_MISMATCH {}.items: the field `items` is unknown, expected relations",
    ),
    ("by", r#"["01KASZ4ZJG0000000000000001"]"#, "NOT_FOUND {}: no item has this ID"),
    ("by", r#""@home""#, "NOT_FOUND {}: no item has this ID"),
    ("by", r#""@people""#, "NOT_FOUND {}: no item has this ID"),
    (
        "by",
        r#""@Emma""#,
        "SCHEMA_MISMATCH {}: expected an item of the collection @people, got @Emma",
    ),
    (
        "editor",
        r#"["@Ada","@Bob"]"#,
        "SCHEMA_MISMATCH {}: expected one item at most, got @Ada and @Bob",
    ),
    (
        "author",
        "null",
        "SCHEMA_MISMATCH {}: the collection has no such property, expected one of note, pages, read, due, web, mail, call, state, tags, by, editor, sequel and 2 more",
    ),
    (
        "name",
        r#""Dune""#,
        "SCHEMA_MISMATCH {}: the collection has no such property, expected one of note, pages, read, due, web, mail, call, state, tags, by, editor, sequel and 2 more",
    ),
];

/// The people Ada and Bob, and the book Emma.
fn library() -> Library {
    let mut library = Library::new();
    library.run(&[
        ("add people", r#"[{"title":"Ada"},{"title":"Bob"}]"#, "Ada Bob"),
        ("add books", r#"[{"name":"Emma"}]"#, "Emma"),
    ]);
    library
}

fn with(values: &str) -> String {
    if values.is_empty() { "Dune".to_owned() } else { format!("Dune({values})") }
}

#[test]
fn an_item_is_made_with_every_value() {
    for (key, value, shown) in TAKEN {
        let add = format!(r#"[{{"name":"Dune","properties":{{"{key}":{value}}}}}]"#);
        let mut library = library();
        library.run(&[("add books", &add, &with(shown))]);
        assert_eq!(
            library.line("items books", r#""maxDepth":0"#).split_once(' ').unwrap().1,
            with(shown)
        );
    }
}

#[test]
fn an_item_gets_every_value_and_loses_it() {
    for (key, value, shown) in TAKEN {
        let update =
            |value: &str| format!(r#"[{{"id":"@Dune","properties":{{"{key}":{value}}}}}]"#);
        let mut library = library();
        library.run(&[
            ("add books", r#"[{"name":"Dune"}]"#, "Dune"),
            ("update books", &update(value), &with(shown)),
            ("update books", r#"[{"id":"@Dune"}]"#, &with(shown)),
            ("update books", &update("null"), "Dune"),
        ]);
    }
}

#[test]
fn other_values_are_refused_with_their_place() {
    let mut library = library();
    library.run(&[("add books", r#"[{"name":"Dune"}]"#, "Dune")]);
    for (key, value, expected) in REFUSED {
        let mut expected = (*expected).to_owned();
        for name in ["people", "Emma", "Ada", "Bob"] {
            let id: leafbase::BlockId = library.id(name);
            expected = expected.replace(&format!("@{name}"), &id.to_string());
        }
        let at = |entry: &str| expected.replace("{}", &format!("{entry}.properties.{key}"));
        let add = format!(r#"[{{"name":"A"}},{{"name":"B","properties":{{"{key}":{value}}}}}]"#);
        let update =
            format!(r#"[{{"id":"@Emma"}},{{"id":"@Dune","properties":{{"{key}":{value}}}}}]"#);
        library.run(&[
            ("add books", &add, &at("items[1]")),
            ("update books", &update, &at("itemsToUpdate[1]")),
        ]);
    }
}

/// What stands beside the properties, and what comes of it. The title was `Dune`.
const TITLES: &[(&str, &str)] = &[
    (r#""name":"Emma, *again*""#, "Emma, *again*"),
    (r#""title":"Emma""#, "Emma"),
    (r#""name":"  Emma\n""#, "  Emma\n"),
    (r##""name":"# Emma""##, "# Emma"),
    (r#""name":"""#, ""),
    (
        r#""name":"Emma","title":"Emma""#,
        "SCHEMA_MISMATCH {}.title: the title is given twice, as \"name\" and \"title\"",
    ),
    (r#""name":3"#, "SCHEMA_MISMATCH {}.name: expected text, got 3"),
    (r#""name":"one\n\ntwo""#, "VALIDATION {}.name: the title of an item is one paragraph"),
    (r#""title":"one\n\ntwo""#, "VALIDATION {}.title: the title of an item is one paragraph"),
    (
        r#""name":"<highlight color='no'>x</highlight>""#,
        "INVALID_MARKDOWN {}.name: line 1, column 1: a highlight of an unknown color",
    ),
    (r#""by":"@Ada""#, "SCHEMA_MISMATCH {}.by: \"by\" is a property; it belongs in \"properties\""),
    (
        r#""color":"red""#,
        "SCHEMA_MISMATCH {}.color: unknown field \"color\"; the title is \"name\"",
    ),
];

#[test]
fn titles_stand_beside_the_properties() {
    for (fields, expected) in TITLES {
        let mut library = library();
        library.run(&[(
            "add books",
            r#"[{"name":"Dune","properties":{"pages":412}}]"#,
            "Dune(pages=412)",
        )]);
        let add = format!(r#"[{{{fields},"properties":{{"pages":412}}}}]"#);
        let update = format!(r#"[{{"id":"@Dune",{fields}}}]"#);
        let outcome = |entry: &str| match expected.contains("{}") {
            true => expected.replace("{}", entry),
            false => format!("{expected}(pages=412)"),
        };
        library.run(&[
            ("add books", &add, &outcome("items[0]")),
            ("update books", &update, &outcome("itemsToUpdate[0]")),
        ]);
    }
}

#[test]
fn only_what_is_given_changes_and_counts_as_one_change() {
    let mut library = library();
    library.run(&[(
        "add books",
        r#"[{"name":"Dune","properties":{"pages":412,"note":"dry","by":"@Ada"}}]"#,
        "Dune(note=dry pages=412 by=Ada)",
    )]);
    for (update, expected, rev) in [
        (r#""properties":{}"#, "Dune(note=dry pages=412 by=Ada)", 1),
        (
            r#""name":"Dune","properties":{"note":"dry","by":["@Ada"]}"#,
            "Dune(note=dry pages=412 by=Ada)",
            1,
        ),
        (
            r#""properties":{"note":"wet","pages":null,"by":"@Bob","editor":"@Bob"}"#,
            "Dune(note=wet by=Bob editor=Bob)",
            2,
        ),
        (
            r#""name":"Dune II","properties":{"prequel":["@Emma"]}"#,
            "Dune II(note=wet by=Bob editor=Bob prequel=Emma)",
            3,
        ),
        // The book that comes before holds the relation; this one is named.
        (r#""properties":{"prequel":null}"#, "Dune II(note=wet by=Bob editor=Bob)", 4),
    ] {
        library.run(&[("update books", &format!(r#"[{{"id":"@Dune",{update}}}]"#), expected)]);
        let dune = library
            .notes
            .fetch(leafbase::Fetch::new(library.id::<leafbase::BlockId>("Dune")))
            .unwrap();
        assert_eq!(dune.rev, rev, "{update}");
    }
}

#[test]
fn options_that_are_new_join_the_schema_with_leave() {
    let new = r#"[{"name":"Dune","properties":{"state":"lent","tags":["novel","play"]}},{"name":"It","properties":{"tags":["play","song"]}}]"#;
    let mut library = library();
    library.run(&[
        ("add books", new, r#"SCHEMA_MISMATCH items[0].properties.state: expected one of "open", "done", got "lent""#),
        ("add+ books", new, "Dune(state=lent tags=novel&play) It(tags=play&song)"),
        ("update books", r#"[{"id":"@It","properties":{"state":"lent"}}]"#, "It(state=lent tags=play&song)"),
        (
            "update books",
            r#"[{"id":"@It","properties":{"state":"lost"}}]"#,
            r#"SCHEMA_MISMATCH itemsToUpdate[0].properties.state: expected one of "open", "done", "lent", got "lost""#,
        ),
        ("update+ books", r#"[{"id":"@It","properties":{"state":"lost"}}]"#, "It(state=lost tags=play&song)"),
        (
            "add+ books",
            r#"[{"properties":{"state":"sold"}},{"properties":{"pages":"x"}}]"#,
            r#"SCHEMA_MISMATCH items[1].properties.pages: expected a number, got "x""#,
        ),
    ]);
    let schema = library.schema("books");
    let names = |key: &str| {
        let options = schema.property(key).unwrap().kind.options();
        options.iter().map(|option| option.name.as_str()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        (names("state"), names("tags")),
        ("open done lent lost".to_owned(), "novel poem play song".to_owned())
    );
}

/// Values stand in the order of the schema, and what there is not is left out.
#[test]
fn an_item_as_json() {
    let mut library = library();
    let add = r#"[{"name":"Dune","properties":{"by":["@Ada"],"like":["@Emma"],"tags":["novel"],"pages":412,"read":false}}]"#;
    library.run(&[("add books", add, "Dune(pages=412 read=false tags=novel by=Ada like=Emma)")]);
    let items = library.notes.items(leafbase::GetItems::of(library.id("books"))).unwrap();
    let id = |name: &str| library.id::<leafbase::BlockId>(name).to_string();
    let related =
        |name: &str| format!(r#"{{"relations":[{{"blockId":"{}","title":"{name}"}}]}}"#, id(name));
    let (dune, emma) = (related("Dune"), related("Emma"));
    let expected = [
        format!(
            r#"{{"id":"{}","name":"Emma","properties":{{"like":{dune}}},"content":[],"rev":1}}"#,
            id("Emma")
        ),
        format!(
            r#"{{"id":"{}","name":"Dune","properties":{{"pages":412,"read":false,"tags":["novel"],"by":{},"like":{emma}}},"content":[],"rev":1}}"#,
            id("Dune"),
            related("Ada")
        ),
    ];
    assert_eq!(
        serde_json::to_string(&items).unwrap(),
        format!(r#"{{"items":[{}]}}"#, expected.join(","))
    );
}
